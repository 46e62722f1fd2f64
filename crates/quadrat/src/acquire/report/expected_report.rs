//! Distributions of reports, of which mixtures have an entropy.

use crate::special::scalar::{normal_cdf, normal_pdf};

/// Sds on either side that are integrated over.
const REACH: f64 = 8.5;
/// Step in the smallest sd: densities are analytic within some sds.
const STEP: f64 = 0.25;
/// Most nodes; beyond, the step is longer than `STEP`, and the integral less exact.
const MOST: f64 = 200_000.0;

/// What is expected of a report.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::acquire) enum ExpectedReport {
    /// A normal value plus one even over some width, which may be zero.
    Even {
        /// Mean.
        mean: f64,
        /// Standard deviation of the normal part, > 0.
        sd: f64,
        /// Width of the even part.
        width: f64,
    },
    /// Probabilities.
    Ranks(Vec<f64>),
}

impl ExpectedReport {
    fn density(&self, y: f64) -> f64 {
        match self {
            Self::Even { mean, sd, width } if *width > 0.0 => {
                let z = (y - mean).abs();
                let (a, b) = ((0.5 * width - z) / sd, (-0.5 * width - z) / sd);
                (normal_cdf(a) - normal_cdf(b)) / width
            }
            Self::Even { mean, sd, .. } => normal_pdf((y - mean) / sd) / sd,
            Self::Ranks(_) => 0.0,
        }
    }

    /// What a report tells of which member of a mixture it comes from, in nats:
    ///
    /// $$ I = \sum_k w_k \int p_k(y) \log \frac{p_k(y)}{\sum_l w_l p_l(y)} dy $$
    pub(in crate::acquire) fn told_apart(members: &[(f64, Self)]) -> f64 {
        if let Some((_, Self::Ranks(first))) = members.first() {
            let answers = 0..first.len();
            let each = answers.map(|k| {
                let p = members.iter().map(|(w, seen)| match seen {
                    Self::Ranks(p) => (*w, p.get(k).copied().unwrap_or(0.0)),
                    Self::Even { .. } => (*w, 0.0),
                });
                gap(p)
            });
            return each.sum::<f64>().max(0.0);
        }
        let (mut low, mut high, mut finest) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
        for (_, seen) in members {
            if let Self::Even { mean, sd, width } = seen {
                let reach = REACH * sd + 0.5 * width;
                low = low.min(mean - reach);
                high = high.max(mean + reach);
                finest = finest.min(*sd);
            }
        }
        let step = (STEP * finest).max((high - low) / MOST);
        if !(step > 0.0 && step.is_finite()) {
            return 0.0;
        }
        let nodes = ((high - low) / step).ceil() as usize;
        let one = |i: usize| {
            let y = low + step * i as f64;
            gap(members.iter().map(|(w, seen)| (*w, seen.density(y))))
        };
        (step * (0..=nodes).map(one).sum::<f64>()).max(0.0)
    }
}

/// `sum w p log(p / sum w p)`.
fn gap(members: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let all: f64 = members.clone().map(|(w, p)| w * p).sum();
    // The product may vanish where neither does.
    let terms = members.filter(|(w, p)| w * p > 0.0);
    terms.map(|(w, p)| w * p * (p / all).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(mean: f64, sd: f64, width: f64) -> ExpectedReport {
        ExpectedReport::Even { mean, sd, width }
    }

    /// Alike nothing is told, apart all; between, a sum over a hundred thousand bins of the line.
    #[test]
    fn members_are_told_apart_by_what_differs() {
        let of = |a: ExpectedReport, b: ExpectedReport| {
            ExpectedReport::told_apart(&[(0.3, a), (0.7, b)])
        };
        let all = -0.3 * 0.3_f64.ln() - 0.7 * 0.7_f64.ln();
        for width in [0.0, 1.0] {
            assert!(of(even(0.2, 1.0, width), even(0.2, 1.0, width)) < 1e-15);
            let apart = of(even(0.0, 0.1, width), even(90.0, 1.0, width));
            // What is beyond the reach of either.
            assert!((apart - all).abs() < 1e-12, "{apart}");
            let (a, b) = (even(0.0, 0.5, width), even(0.7, 1.2, width));
            let told = of(a.clone(), b.clone());
            let bins = (-100_000..100_000).map(|i| {
                let y = (f64::from(i) + 0.5) * 2e-4;
                2e-4 * gap([(0.3, a.density(y)), (0.7, b.density(y))].into_iter())
            });
            let expected: f64 = bins.sum();
            // Both rules are exact to rounding for what is so smooth.
            assert!((told - expected).abs() < 1e-11, "{told} {expected}");
        }
        // Where a share times a density is nothing in floating point, nothing else is lost.
        let tiny = [(0.5, 0.4), (0.5, 0.1), (1e-300, 1e-300)];
        let expected = 0.5 * (0.4 * (0.4_f64 / 0.25).ln() + 0.1 * (0.1_f64 / 0.25).ln());
        assert!((gap(tiny.into_iter()) - expected).abs() < 1e-15);
        assert!(gap([(1e-300, 1e-300)].into_iter()) == 0.0);
        let ranks = of(
            ExpectedReport::Ranks(vec![0.2, 0.8]),
            ExpectedReport::Ranks(vec![0.6, 0.4]),
        );
        let (p, q) = (0.3 * 0.2 + 0.7 * 0.6, 0.3 * 0.8 + 0.7 * 0.4);
        let expected = 0.3 * (0.2 * (0.2_f64 / p).ln() + 0.8 * (0.8_f64 / q).ln())
            + 0.7 * (0.6 * (0.6_f64 / p).ln() + 0.4 * (0.4_f64 / q).ln());
        // Rounding of four terms below one.
        assert!((ranks - expected).abs() < 1e-15);
    }
}
