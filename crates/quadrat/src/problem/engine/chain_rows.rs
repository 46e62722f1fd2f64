//! The evidence of rows along a line, without a matrix.

use std::sync::OnceLock;

use super::super::normal_rows::NormalRows;
use super::super::prior::{Apart, Prior};
use crate::covariance::{Chain, ChainFactor, LineTerm, MOST_HARMONICS, MOST_PARAMETERS};
use crate::inference::log_evidence;
use crate::linalg::Dual;
use crate::support::Functionals;

/// From this many rows on a chain is faster than a matrix.
const LEAST_ROWS: usize = 100;
/// Most parameters of chain and functions together.
const MOST: usize = 16;

/// Rows along a line whose evidence a chain has.
pub(super) struct ChainRows {
    chain: Chain,
    /// The parameters of the chain's kernel and of the noise, and after them those of the
    /// functions apart alone.
    parameters: Vec<usize>,
    of_chain: usize,
    /// Lines of the kernel at the rows, for coefficients of variance one.
    lines: Vec<Vec<f64>>,
    /// Harmonics of every periodic leaf at the rows, which are computed when they are asked for.
    harmonics: Vec<Vec<OnceLock<[Vec<f64>; 2]>>>,
}

impl ChainRows {
    /// None where there are few rows, or they or the kernel have no chain. Else the prior has
    /// periodic leaves apart, but where these may be sharp: then they are left to the matrix.
    pub fn new(
        prior: &mut Prior,
        supports: &Functionals,
        rows: &NormalRows,
        may_be_sharp: bool,
    ) -> Option<Self> {
        // Rows known exactly take the digits of the matrix, which the search then has to see.
        if supports.len() < LEAST_ROWS || rows.has_exact() {
            return None;
        }
        let apart = prior.periodic_apart();
        if let Some(apart) = &apart
            && (may_be_sharp || !prior.begins_apart(apart))
        {
            return None;
        }
        let line = Self::of(
            apart.as_ref().unwrap_or(prior.apart_always()),
            prior,
            supports,
            rows,
        );
        if let (Some(_), Some(apart)) = (&line, apart) {
            prior.take_apart(apart);
        }
        line
    }

    fn of(apart: &Apart, prior: &Prior, supports: &Functionals, rows: &NormalRows) -> Option<Self> {
        let chain = Chain::new(&apart.covariance, supports)?;
        let mut parameters = chain.parameters();
        parameters.extend(rows.group.iter().flatten());
        parameters.sort_unstable();
        parameters.dedup();
        let of_chain = parameters.len();
        let lines = apart.lines.iter().flat_map(LineTerm::variances).copied();
        let periodic = apart.periodic.iter();
        let periodic =
            periodic.flat_map(|term| term.variances().iter().copied().chain([term.lengthscale()]));
        for own in lines.chain(periodic) {
            if !parameters.contains(&own) {
                parameters.push(own);
            }
        }
        let of_each = 2 * MOST_HARMONICS + 1;
        let functions = prior.mean.columns(supports).ncols()
            + apart.lines.len()
            + apart.periodic.len() * of_each;
        let is_few = of_chain <= MOST_PARAMETERS && parameters.len() <= MOST;
        let none_yet = || (0..=MOST_HARMONICS).map(|_| OnceLock::new()).collect();
        (is_few && chain.takes(1 + functions)).then(|| Self {
            chain,
            parameters,
            of_chain,
            lines: apart
                .lines
                .iter()
                .map(|line| line.unit_values(supports))
                .collect(),
            harmonics: apart.periodic.iter().map(|_| none_yet()).collect(),
        })
    }

    /// The factor of the covariance of the rows under the chain's kernel alone, with noise of these
    /// variances. None where rounding decides, or periodic leaves are left to the matrix.
    pub fn factor(&self, prior: &Prior, theta: &[f64], noise: &[f64]) -> Option<ChainFactor> {
        let is_apart = prior.is_most_apart(theta);
        is_apart.then(|| self.chain.factor(theta, noise)).flatten()
    }

    /// Rows with what is asked after them; none where these have no chain together.
    pub fn chain_beside(&self, rows: &Functionals, asked: &Functionals) -> Option<Chain> {
        let mut all = rows.clone();
        all.extend(asked).ok()?;
        self.chain.along(&all)
    }

    /// The log evidence in nats, and where asked for its gradient in every parameter, those of
    /// values that stand for several aside. None where rounding decides, or periodic leaves are
    /// left to the matrix.
    pub fn evidence(
        &self,
        (prior, supports, rows): (&Prior, &Functionals, &NormalRows),
        theta: &[f64],
        with_gradient: bool,
    ) -> Option<(f64, Vec<f64>)> {
        let of = (prior, supports, rows);
        if !with_gradient {
            return self.at::<0, 0>(of, theta);
        }
        match self.of_chain {
            0 => self.at::<0, MOST>(of, theta),
            1 => self.at::<1, MOST>(of, theta),
            2 => self.at::<2, MOST>(of, theta),
            3 => self.at::<3, MOST>(of, theta),
            4 => self.at::<4, MOST>(of, theta),
            5 => self.at::<5, MOST>(of, theta),
            6 => self.at::<6, MOST>(of, theta),
            7 => self.at::<7, MOST>(of, theta),
            _ => self.at::<MOST_PARAMETERS, MOST>(of, theta),
        }
    }

    /// The chain goes along with slopes in its own `P` parameters. Those of the functions apart
    /// only make these larger or smaller: all `W` are known afterwards.
    fn at<const P: usize, const W: usize>(
        &self,
        (prior, supports, rows): (&Prior, &Functionals, &NormalRows),
        theta: &[f64],
    ) -> Option<(f64, Vec<f64>)> {
        let in_chain = with_slopes::<P>(theta, &self.parameters);
        let noise = rows.known.iter().zip(&rows.group).zip(&rows.times);
        let noise: Vec<Dual<P>> = noise
            .map(|((known, group), n)| {
                let known = Dual::constant(*known);
                group.map_or(known, |g| known + in_chain[g] * n.recip())
            })
            .collect();
        let constants = prior.mean.columns(supports);
        let constants = (0..constants.ncols()).map(|c| constants.col_as_slice(c));
        let mut columns: Vec<&[f64]> = vec![&rows.residual];
        columns.extend(constants);
        let first = columns.len();
        let all = with_slopes::<W>(theta, &self.parameters);
        let sds = self.functions(prior.most_apart(), (supports, theta, &all), &mut columns)?;
        let found = self.chain.products(&in_chain, &noise, &columns)?;
        let mut found = found.widened::<W>();
        for (at, sd) in sds.into_iter().enumerate() {
            found.scale(columns.len(), first + at, sd);
        }
        let evidence = log_evidence(rows.values.len(), found.log_det, &found.products);
        let is_number = evidence.value.is_finite() && evidence.slopes.iter().all(|s| s.is_finite());
        let mut gradient = vec![0.0; theta.len()];
        for (parameter, slope) in self.parameters.iter().zip(evidence.slopes) {
            gradient[*parameter] = slope;
        }
        is_number.then_some((evidence.value, gradient))
    }

    /// Adds the functions that are apart to the columns, each for a coefficient of variance one,
    /// and returns the sds of their coefficients. None where periodic leaves are left to the
    /// matrix.
    fn functions<'a, const W: usize>(
        &'a self,
        apart: &Apart,
        (supports, theta, with_slopes): (&Functionals, &[f64], &[Dual<W>]),
        columns: &mut Vec<&'a [f64]>,
    ) -> Option<Vec<Dual<W>>> {
        let mut sds = Vec::new();
        let variance = |variances: &[usize]| {
            let each = variances.iter().map(|&v| with_slopes[v]);
            each.fold(Dual::constant(1.0), |all, v| all * v)
        };
        for (line, values) in apart.lines.iter().zip(&self.lines) {
            columns.push(values);
            sds.push(variance(line.variances()).sqrt());
        }
        for (term, harmonics) in apart.periodic.iter().zip(&self.harmonics) {
            let (shares, slopes) = term.shares(theta)?;
            let variance = variance(term.variances());
            let lengthscale = with_slopes[term.lengthscale()];
            for (m, (share, slope)) in shares.into_iter().zip(slopes).enumerate() {
                let waves = harmonics.get(m)?.get_or_init(|| term.harmonic(supports, m));
                let sd = (variance * lengthscale.through(share, slope)).sqrt();
                // Of the constant there is no sine.
                for wave in &waves[..if m == 0 { 1 } else { 2 }] {
                    columns.push(wave);
                    sds.push(sd);
                }
            }
        }
        Some(sds)
    }
}

/// All hyperparameters, with slopes in the first `P` of some of them.
fn with_slopes<const P: usize>(theta: &[f64], parameters: &[usize]) -> Vec<Dual<P>> {
    let mut all: Vec<Dual<P>> = theta.iter().map(|v| Dual::constant(*v)).collect();
    for (which, &parameter) in parameters.iter().enumerate().take(P) {
        all[parameter] = Dual::parameter(theta[parameter], which);
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::error::FitError;
    use crate::inference::{Basis, Factor, RowFactor, leave_one_out};
    use crate::kernel::Kernel;
    use crate::likelihood::Noise;
    use crate::linalg::{Cholesky, dot};
    use crate::model::{FitOptions, Hyperparameters, Model, Observations, Scale};
    use crate::support::{Aggregate, Functionals};

    /// Kernels of parts that a chain has, with a line and with a cycle of known length apart.
    fn kernels() -> [Kernel; 4] {
        [
            Kernel::matern32(["x"]),
            Kernel::matern52(["x"]) + Kernel::matern12(["x"]) + Kernel::linear(["x"]),
            Kernel::matern32(["x"]) + Kernel::periodic("x", Some(2.5)),
            Kernel::matern12(["x"])
                + Kernel::periodic("x", Some(2.5))
                + Kernel::periodic("x", Some(1.7))
                + Kernel::linear(["x"]),
        ]
    }

    /// More rows than are added up at a time, and with two cycles more columns than are led together:
    /// bins of uneven width, some seen several times, and points with a noise of their own, with
    /// an unknown level and a line in the kernel.
    fn model(kernel: Kernel) -> Result<Model, FitError> {
        let ends: Vec<f64> = (0..=130)
            .map(|i| 0.1 * f64::from(i) + 0.04 * f64::from(i % 3))
            .collect();
        let boxes: Vec<(f64, f64)> = ends.windows(2).map(|w| (w[0], w[1])).collect();
        let value = |x: f64| 3.0 + x.sin() + 0.2 * x;
        let means: Vec<f64> = boxes
            .iter()
            .map(|(a, b)| value(f64::midpoint(*a, *b)))
            .collect();
        let bins = Functionals::intervals("x", &boxes, Aggregate::Mean)?;
        let noise = Noise::KnownPlusLearned((0..130).map(|i| 0.01 * f64::from(i % 4)).collect());
        let places: Vec<f64> = (0..30).map(|i| 0.31 * f64::from(i) + 0.007).collect();
        let values: Vec<f64> = places
            .iter()
            .map(|x| value(*x) + 0.1 * (9.0 * x).cos())
            .collect();
        let points = Functionals::points("x", &places)?;
        let times: Vec<f64> = (0..130).map(|i| f64::from(1 + i % 5)).collect();
        Ok(Model::new(kernel)
            .observe(Observations::gaussian(bins, means, noise)?.seen(times)?)
            .observe(Observations::gaussian(points, values, Noise::Learned)?))
    }

    #[test]
    fn the_evidence_along_a_line_is_that_of_the_matrix() -> Result<(), FitError> {
        for kernel in kernels() {
            let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
            let fitted = model(kernel)?.fit(&options)?;
            assert_eq!(fitted.summary().structure, "line");
            let problem = &fitted.problem;
            let evidence = problem.engine().evidence().unwrap();
            let mut theta = fitted.components[0].theta.clone();
            // Away from the mode, where slopes are none.
            let parameters = &problem.prior().parameters;
            let moved = [1.3, 0.8, 1.1, 1.5, 0.7, 1.2, 0.9, 1.4].into_iter().cycle();
            for ((value, by), own) in theta.iter_mut().zip(moved).zip(parameters) {
                *value *= if own.fixed { 1.0 } else { by };
            }
            // By the matrix of all rows, beside what values that stand for several have on top.
            let whole = |theta: &[f64]| -> Result<f64, FitError> {
                let along = problem.engine().condition(theta, Default::default())?;
                let residual = &problem.engine().normal().unwrap().residual;
                let form = |solved: &[f64], log_det: f64| -0.5 * (dot(residual, solved) + log_det);
                let rest = along.log_evidence - form(&along.alpha, along.factor.log_det());
                let (prior, rows) = (problem.prior(), problem.supports());
                let mut k = prior.covariance_apart(theta, rows);
                along
                    .noise
                    .iter()
                    .enumerate()
                    .for_each(|(i, v)| k[(i, i)] += v);
                let dense = RowFactor::Dense(Cholesky::factor_owned(k)?);
                let basis = Basis::new(dense, prior.functions(theta, rows))?;
                Ok(rest + form(&basis.explain(residual).1, basis.log_det()))
            };
            let (value, gradient) = evidence.evaluate(&theta)?;
            // Some hundred nats, through 160 rows of noise .01.
            assert!((value - whole(&theta)?).abs() < 1e-9);
            assert!((value - evidence.value(&theta)?).abs() < 1e-9);
            let along = problem.engine().condition(&theta, Default::default())?;
            assert!((along.log_evidence - value).abs() < 1e-9);
            assert!(matches!(&along.factor, Factor::Basis(basis)
                if matches!(basis.factor(), RowFactor::Line(_))));
            for i in (0..theta.len()).filter(|i| !parameters[*i].fixed) {
                let step = 1e-4 * theta[i];
                let at = |sign: f64| {
                    let mut moved = theta.clone();
                    moved[i] += sign * step;
                    whole(&moved)
                };
                let slope = (at(1.0)? - at(-1.0)?) / (2.0 * step);
                let off = (gradient[i] - slope).abs() / slope.abs().max(1.0);
                // Differences of numbers that are 1e-11 right, over steps of 1e-4.
                assert!(off < 1e-5, "{i}: {} {slope}", gradient[i]);
            }
        }
        Ok(())
    }

    /// Predictions at points and of boxes, within, between and beyond the rows, and of rows that
    /// are left out, beside those of the matrix of all rows.
    #[test]
    fn answers_along_a_line_are_those_of_the_matrix() -> Result<(), FitError> {
        let [_, with_line, with_cycle, with_both] = kernels();
        compare_answers(with_line)?;
        compare_answers(with_cycle)?;
        compare_answers(with_both)
    }

    fn compare_answers(kernel: Kernel) -> Result<(), FitError> {
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let fitted = model(kernel)?.fit(&options)?;
        let (problem, component) = (&fitted.problem, &fitted.components[0]);
        let theta = &component.theta;
        let rows = problem.supports();
        let mut asked = Functionals::points("x", &[-3.0, 0.05, 4.321, 9.02, 30.0])?;
        asked.push_box(&[(2.0, 5.0)], Aggregate::Sum)?;
        asked.push_box(&[(-1.0, 20.0)], Aggregate::Mean)?;
        let prior = problem.prior();
        let mut k = prior.covariance(theta, rows);
        let noise = &component.conditioned.noise;
        noise.iter().enumerate().for_each(|(i, v)| k[(i, i)] += v);
        let dense = Cholesky::factor_owned(k)?;
        let residual = &problem.engine().normal().unwrap().residual;
        let cross = problem.cross(theta, &asked);
        let told = fitted.predict(&asked, Scale::Latent)?;
        let variance = prior.variance(theta, &asked);
        let level = problem.mean().means(&asked);
        for j in 0..asked.len() {
            let weights = dense.solve(cross.col_as_slice(j));
            let mean = level[j] + dot(&weights, residual);
            let left = variance[j] - dot(&weights, cross.col_as_slice(j));
            // Sums over 160 rows of noise .01 under a level of which little is known beforehand.
            assert!((told.mean()[j] - mean).abs() < 1e-6, "{j}");
            assert!(
                (told.sd()[j].powi(2) - left).abs() < 1e-6 * variance[j],
                "{j}"
            );
        }
        // Many at a time, on one way along the line, and each beside the same as above.
        let places: Vec<f64> = (0..400).map(|i| 0.03 * f64::from(i) - 1.5).collect();
        let mut many = Functionals::points("x", &places)?;
        many.push_box(&[(-9.0, -2.0)], Aggregate::Sum)?;
        many.push_box(&[(20.0, 23.0)], Aggregate::Mean)?;
        let smoothed = fitted.predict(&many, Scale::Latent)?;
        assert!(problem.engine().chain_beside(&many).is_some());
        let before = prior.variance_apart(theta, &many);
        for j in 0..many.len() {
            let each = fitted.predict(&many.rows(&[j]), Scale::Latent)?;
            // Rows of next to no noise: both are the prior less nearly all of it, so that a part of
            // the prior's digits is what they share.
            let off = smoothed.mean()[j] - each.mean()[0];
            assert!(off.abs() < 1e-8 * before[j].sqrt(), "{j}: {off}");
            let off = smoothed.sd()[j].powi(2) - each.sd()[0].powi(2);
            assert!(off.abs() < 1e-10 * before[j], "{j}: {off}");
        }
        let (means, variances) = leave_one_out(residual, &component.conditioned);
        let (alpha, inverse) = (dense.solve(residual), dense.inverse_diagonal());
        for i in 0..rows.len() {
            assert!(
                (variances[i] - 1.0 / inverse[i]).abs() < 1e-7 * variances[i],
                "{i}"
            );
            let mean = residual[i] - alpha[i] / inverse[i];
            assert!((means[i] - mean).abs() < 1e-7, "{i}");
        }
        Ok(())
    }
}
