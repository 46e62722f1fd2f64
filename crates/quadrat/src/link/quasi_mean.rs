//! Means taken after a link.

use super::scalars::logistic;
use super::{Link, logit, probit, scalars};
use crate::special::{self, elementary};

/// Square links are not looked at nearer to 0 than this: their inverse has no slope there.
const NEAREST: f64 = 1e-90;

/// The quasi-arithmetic mean `z = link^-1(sum_i p_i link(f_i))`, with its derivatives.
///
/// $$ \frac{\partial z}{\partial f_i} = j_i = \frac{p_i \psi'(f_i)}{\psi'(z)}, \qquad
///    \frac{\partial^2 z}{\partial f_i \partial f_k} = \delta_{ik} d_i - c\, j_i j_k,
///    \quad d_i = \frac{p_i \psi''(f_i)}{\psi'(z)}, \quad c = \frac{\psi''(z)}{\psi'(z)} $$
///
/// Shares of probabilities sum to one.
///
/// For the `exp` link it is `log sum_i p_i e^(f_i)`; of one value it is that value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuasiMean {
    /// `z`.
    pub value: f64,
    /// `j`, one per value.
    pub slopes: Vec<f64>,
    /// `d`, one per value.
    pub own: Vec<f64>,
    /// `c`.
    pub shared: f64,
}

impl QuasiMean {
    /// The mean of `values` after a link.
    ///
    /// # Arguments
    /// * `shares` - `p`, each above zero; shape `[n]`. Where several do not sum to one, `z` is the
    ///   latent value of the sum; the derivatives hold as they stand
    /// * `values` - `f`, shape `[n]`
    /// # Numerics
    /// `exp` relative to the largest value, so that nothing overflows. The square link takes the
    /// positive root.
    /// # Source
    /// Hardy, Littlewood and Polya 1934, chapter 3.
    /// # Examples
    /// ```
    /// use quadrat::link::{Link, QuasiMean};
    /// let z = QuasiMean::new(Link::Exp, &[0.5, 0.5], &[1000.0, 1000.0 + 3f64.ln()]);
    /// assert!((z.value - (1000.0 + 2f64.ln())).abs() < 1e-12);
    /// assert!((z.slopes[1] - 0.75).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn new(link: Link, shares: &[f64], values: &[f64]) -> Self {
        if let ([_], [f]) = (shares, values) {
            return Self {
                value: *f,
                slopes: vec![1.0],
                own: vec![0.0],
                shared: 0.0,
            };
        }
        let mean = |g: &dyn Fn(f64) -> f64| -> f64 {
            shares.iter().zip(values).map(|(p, f)| p * g(*f)).sum()
        };
        let each = |g: &dyn Fn(f64) -> f64| -> Vec<f64> {
            shares.iter().zip(values).map(|(p, f)| p * g(*f)).collect()
        };
        match link {
            Link::Identity => Self {
                value: mean(&|f| f),
                slopes: shares.to_vec(),
                own: vec![0.0; shares.len()],
                shared: 0.0,
            },
            Link::Exp => Self::of_exp(shares, values),
            Link::Logit => Self::of(logit::average(shares, values)),
            Link::Probit => Self::of(probit::average(shares, values)),
            Link::Square => {
                let z = mean(&|f| f * f).sqrt().max(NEAREST);
                Self {
                    value: z,
                    slopes: each(&|f| f / z),
                    own: each(&|_| 1.0 / z),
                    shared: 1.0 / z,
                }
            }
            Link::Softplus => {
                let Some(z) = link.inverse(mean(&scalars::softplus)) else {
                    // All of them are so far below zero that softplus is the exponential.
                    return Self::of_exp(shares, values);
                };
                let slope = logistic(z);
                Self {
                    value: z,
                    slopes: each(&|f| logistic(f) / slope),
                    own: each(&|f| logistic(f) * logistic(-f) / slope),
                    shared: logistic(-z),
                }
            }
        }
    }

    fn of((value, slopes, own, shared): logit::Average) -> Self {
        Self {
            value,
            slopes,
            own,
            shared,
        }
    }

    fn of_exp(shares: &[f64], values: &[f64]) -> Self {
        let mut slopes = values.to_vec();
        Self {
            value: log_average(shares, &mut slopes),
            own: slopes.clone(),
            slopes,
            shared: 1.0,
        }
    }
}

/// `log sum_i p_i e^{f_i}`; `values` are `f` before and the slopes behind.
pub(crate) fn log_average(shares: &[f64], values: &mut [f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter_mut().for_each(|f| *f -= most);
    special::exp(values);
    let mut total = 0.0;
    for (p, e) in shares.iter().zip(&mut *values) {
        *e *= p;
        total += *e;
    }
    values.iter_mut().for_each(|j| *j /= total);
    most + elementary::log(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_differences() {
        let shares = [0.2, 0.5, 0.3];
        for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
            for values in [[0.3, 1.2, 0.7], [-2.0, 1.0, 3.0], [-31.0, -30.0, -29.5]] {
                let at = QuasiMean::new(link, &shares, &values);
                let h = 1e-4;
                let moved = |i: usize, step: f64| {
                    let mut values = values;
                    values[i] += step;
                    QuasiMean::new(link, &shares, &values)
                };
                for i in 0..3 {
                    let (up, down) = (moved(i, h), moved(i, -h));
                    // Central differences: h^2 / 6 of the third derivative.
                    let slope = (up.value - down.value) / (2.0 * h);
                    assert!((at.slopes[i] - slope).abs() < 1e-7, "{link} {values:?} {i}");
                    for k in 0..3 {
                        let bend = (up.slopes[k] - down.slopes[k]) / (2.0 * h);
                        let own = if i == k { at.own[i] } else { 0.0 };
                        let got = own - at.shared * at.slopes[i] * at.slopes[k];
                        assert!((got - bend).abs() < 1e-7, "{link} {values:?} {i} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn equal_values_are_their_own_mean() {
        for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
            for f in [0.4, 30.0, 700.0] {
                let at = QuasiMean::new(link, &[0.25, 0.75], &[f, f]);
                // Some roundings.
                assert!((at.value - f).abs() < 1e-13 * f, "{link} {f}: {}", at.value);
            }
        }
    }
}
