//! The evidence of rows along a line, without a matrix.

use super::super::normal_rows::NormalRows;
use super::super::prior::Prior;
use crate::covariance::{Chain, MOST_PARAMETERS};
use crate::inference::log_evidence;
use crate::linalg::Dual;
use crate::support::Functionals;

/// From this many rows on a chain is faster than a matrix.
const LEAST_ROWS: usize = 100;

/// Rows along a line whose evidence a chain has.
pub(super) struct Line {
    chain: Chain,
    /// The parameters of the kernel and of the noise.
    parameters: Vec<usize>,
}

impl Line {
    /// None where there are few rows, or they or the kernel have no chain.
    pub fn new(prior: &Prior, supports: &Functionals, rows: &NormalRows) -> Option<Self> {
        if supports.len() < LEAST_ROWS || !prior.is_kernel_alone() {
            return None;
        }
        let chain = Chain::new(&prior.of_kernel, supports)?;
        let mut parameters = chain.parameters();
        parameters.extend(rows.group.iter().flatten());
        parameters.sort_unstable();
        parameters.dedup();
        (parameters.len() <= MOST_PARAMETERS).then_some(Self { chain, parameters })
    }

    /// The log evidence in nats, and where asked for its gradient in every parameter, those of
    /// values that stand for several aside. None where rounding decides.
    pub fn evidence(
        &self,
        (prior, supports, rows): (&Prior, &Functionals, &NormalRows),
        theta: &[f64],
        with_slopes: bool,
    ) -> Option<(f64, Vec<f64>)> {
        let of = (prior, supports, rows);
        let count = if with_slopes {
            self.parameters.len()
        } else {
            0
        };
        match count {
            0 => self.at::<0>(of, theta),
            1 => self.at::<1>(of, theta),
            2 => self.at::<2>(of, theta),
            3 => self.at::<3>(of, theta),
            4 => self.at::<4>(of, theta),
            5 => self.at::<5>(of, theta),
            6 => self.at::<6>(of, theta),
            7 => self.at::<7>(of, theta),
            _ => self.at::<MOST_PARAMETERS>(of, theta),
        }
    }

    fn at<const P: usize>(
        &self,
        (prior, supports, rows): (&Prior, &Functionals, &NormalRows),
        theta: &[f64],
    ) -> Option<(f64, Vec<f64>)> {
        let mut with_slopes: Vec<Dual<P>> = theta.iter().map(|v| Dual::constant(*v)).collect();
        for (which, &parameter) in self.parameters.iter().enumerate() {
            with_slopes[parameter] = Dual::parameter(theta[parameter], which);
        }
        let noise = rows.known.iter().zip(&rows.group).zip(&rows.times);
        let noise: Vec<Dual<P>> = noise
            .map(|((known, group), n)| {
                let known = Dual::constant(*known);
                group.map_or(known, |g| known + with_slopes[g] * n.recip())
            })
            .collect();
        let functions = prior.mean.columns(supports);
        let functions = (0..functions.ncols()).map(|c| functions.col_as_slice(c));
        let columns: Vec<&[f64]> = std::iter::once(&rows.residual[..])
            .chain(functions)
            .collect();
        let found = self.chain.products(&with_slopes, &noise, &columns)?;
        let evidence = log_evidence(rows.values.len(), found.log_det, &found.products);
        let is_number = evidence.value.is_finite() && evidence.slopes.iter().all(|s| s.is_finite());
        let mut gradient = vec![0.0; theta.len()];
        for (parameter, slope) in self.parameters.iter().zip(evidence.slopes) {
            gradient[*parameter] = slope;
        }
        is_number.then_some((evidence.value, gradient))
    }
}
