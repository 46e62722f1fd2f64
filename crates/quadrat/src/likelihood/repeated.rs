//! Rows that were seen several times over.

use super::Likelihood;
use super::distribution::Distribution;
use super::local::{Belief, Circumstances, Expected, Jet, Local, SumTerms, Tilted};
use super::{exact, quadrature};
use crate::link::Link;
use crate::parameter::Parameter;
use crate::special::elementary;

/// Rows of a likelihood, each as if it stood there `n_i` times: `p(y_i | f)^(n_i)`.
///
/// # Numerics
/// Values with normal noise of variance `v` are one of variance `v / n`, times what depends on the
/// noise alone. Site and `log Z` of other rows are by quadrature, at a cost that does not depend on
/// `n`; expectations are `n` times those of one row. Expectation propagation so has one site for
/// all `n`, and is nearer to the truth than with `n` sites.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Repeated {
    of: Likelihood,
    times: Vec<f64>,
}

impl Repeated {
    /// # Arguments
    /// * `times` - how often each row was seen, whole numbers from 1 on
    pub fn new(of: Likelihood, times: Vec<f64>) -> Self {
        Self { of, times }
    }

    /// Value, variance and number of a value with normal noise that was seen more than once.
    fn values(&self, own: &[f64], row: usize) -> Option<(f64, f64, f64)> {
        let (value, variance) = self.of.local().gaussian(own, row)?;
        Some((value, variance, self.times[row]))
    }

    fn jet(&self, own: &[f64], row: usize, f: f64) -> Jet {
        let n = self.times[row];
        let at = self.of.local().log_density(own, row, f);
        Jet {
            value: n * at.value,
            first: n * at.first,
            second: n * at.second,
            third: n * at.third,
        }
    }

    /// The modes of cavity times likelihood, and how they are integrated.
    fn peaks(&self, own: &[f64], row: usize, cavity: Belief) -> Vec<f64> {
        let local = self.of.local();
        let guess = local.guess(own, row);
        let jet = |f: f64| self.jet(own, row, f);
        if local.is_log_concave() {
            return vec![quadrature::mode(cavity, guess, jet), guess];
        }
        let everywhere = (f64::NEG_INFINITY, f64::INFINITY);
        let mut starts = vec![guess, cavity.mean];
        if self.of.link() == Some(Link::Square) {
            starts.push(-guess);
        }
        let climbed = starts.into_iter().map(|start| {
            let usable = jet(start).value.is_finite();
            quadrature::climb(cavity, if usable { start } else { guess }, everywhere, jet)
        });
        climbed.collect()
    }
}

/// What `n` values of noise variance `v` have beside one of variance `v / n`: `log N(y; f, v)^n -
/// log N(y; f, v / n)`.
pub(crate) fn rest_of_values(n: f64, variance: f64) -> f64 {
    let root = elementary::log(2.0 * std::f64::consts::PI * variance);
    -0.5 * ((n - 1.0) * root + elementary::log(n))
}

/// Its derivative in `v`.
pub(crate) fn rest_of_values_slope(n: f64, variance: f64) -> f64 {
    -0.5 * (n - 1.0) / variance
}

impl Local for Repeated {
    fn rows(&self) -> usize {
        self.of.rows()
    }

    fn parameters(&self, spread: f64) -> Vec<Parameter> {
        self.of.local().parameters(spread)
    }

    /// Only of rows that were seen once, or are exact: of others the density has a factor that is
    /// not of this form.
    fn gaussian(&self, own: &[f64], row: usize) -> Option<(f64, f64)> {
        let found = self.of.local().gaussian(own, row)?;
        (self.times[row] == 1.0 || found.1 == 0.0).then_some(found)
    }

    fn gaussian_rest(&self, row: usize) -> f64 {
        self.times[row] * self.of.local().gaussian_rest(row)
    }

    fn is_log_concave(&self) -> bool {
        self.of.local().is_log_concave()
    }

    fn guess(&self, own: &[f64], row: usize) -> f64 {
        self.of.local().guess(own, row)
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        self.jet(own, row, f)
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        self.of.local().log_density_slopes(own, row, f, out);
        let n = self.times[row];
        out.iter_mut().flatten().for_each(|slope| *slope *= n);
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        if self.times[row] == 1.0 {
            return self.of.local().tilted(own, row, cavity);
        }
        if let Some((value, variance, n)) = self.values(own, row) {
            let one = exact::tilted(value, variance / n, cavity);
            return Tilted {
                log_z: one.log_z + rest_of_values(n, variance) + self.gaussian_rest(row),
                ..one
            };
        }
        let peaks = self.peaks(own, row, cavity);
        let is_concave = self.is_log_concave();
        quadrature::tilted_at(cavity, &peaks, is_concave, |f| self.jet(own, row, f))
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        if self.times[row] == 1.0 || out.is_empty() {
            self.of.local().tilted_slopes(own, row, cavity, out);
            return;
        }
        if let Some((value, variance, n)) = self.values(own, row) {
            let slope = exact::tilted_slope(value, variance / n, cavity) / n;
            // The noise is the only own hyperparameter of such rows.
            out[0] = slope + rest_of_values_slope(n, variance);
            return;
        }
        let peaks = self.peaks(own, row, cavity);
        let is_concave = self.is_log_concave();
        let jet = |f: f64| self.jet(own, row, f);
        for (k, out) in out.iter_mut().enumerate() {
            let slope = |f: f64| {
                let mut slopes = vec![[0.0; 3]; own.len()];
                self.log_density_slopes(own, row, f, &mut slopes);
                slopes[k][0]
            };
            let (_, _, [_, average]) =
                quadrature::tilted_averages(cavity, &peaks, is_concave, jet, |f, _, _| {
                    [1.0, slope(f)]
                });
            *out = average;
        }
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        times(self.of.local().expected(own, row, belief), self.times[row])
    }

    fn expected_over(
        &self,
        first: &[f64],
        rest: &[f64],
        row: usize,
        belief: Belief,
        out: &mut [Expected],
    ) {
        self.of.local().expected_over(first, rest, row, belief, out);
        let n = self.times[row];
        out.iter_mut().for_each(|one| *one = times(*one, n));
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        self.of.local().expected_slopes(own, row, belief, out);
        let n = self.times[row];
        out.iter_mut().for_each(|slope| *slope *= n);
    }

    fn sum_terms(&self, row: usize) -> Option<SumTerms> {
        let (one, n) = (self.of.local().sum_terms(row)?, self.times[row]);
        Some(SumTerms {
            constant: n * one.constant,
            log: n * one.log,
            linear: n * one.linear,
            inverse: n * one.inverse,
        })
    }

    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        self.of.local().observation(own, circumstances, f)
    }
}

fn times(one: Expected, n: f64) -> Expected {
    Expected {
        value: n * one.value,
        first: n * one.first,
        second: n * one.second,
    }
}
