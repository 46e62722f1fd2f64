//! Counts behind the link `square` without the pole of `y log f^2` at 0, whose average is added in
//! closed form.

use super::count_rows::CountRows;
use super::counting::mean;
use super::local::{Belief, Expected, Jet};
use super::quadrature;
use crate::special::elementary;

/// Means below which what is left of a log-probability without its pole is a parabola.
const NEAR_POLE: f64 = 1e-6;

impl CountRows {
    /// `E (log p - y log f^2)`, of a range for its lower end `y`, and its derivatives.
    pub(super) fn expected_without_pole(
        &self,
        row: usize,
        dispersion: f64,
        belief: Belief,
        features: &[(f64, f64)],
    ) -> Expected {
        if self.is_exact(row) {
            let constant = self.square_constant(row, dispersion);
            return quadrature::expected(belief, features, |f| {
                self.without_pole(row, dispersion, constant, f)
            });
        }
        quadrature::expected(belief, features, |f| {
            self.range_without_pole(row, dispersion, f)
        })
    }

    /// What `log p - y log f^2` of a negative binomial count behind `square` has beside
    /// [`Self::without_pole`]: its value at 0.
    fn square_constant(&self, row: usize, dispersion: f64) -> f64 {
        let (y, exposure) = (self.lower[row], self.exposure[row]);
        // From a place where it is likely, so that no large numbers cancel.
        let f = ((y + 0.5) / exposure).sqrt();
        let logs = self.link.log_jet(f);
        let count = mean(self.link, &logs, exposure, dispersion, f);
        count.log_probability(y) - y * logs[0]
            + (y + 1.0 / dispersion) * elementary::log1p(dispersion * exposure * f * f)
    }

    /// `log p - y log f^2 = c - (y + 1 / alpha) log(1 + alpha mu)` of a negative binomial count
    /// behind `square`, `mu = e f^2`: smooth everywhere, where a difference of both terms would be
    /// lost in rounding beside the pole.
    fn without_pole(&self, row: usize, dispersion: f64, constant: f64, f: f64) -> Jet {
        let (y, exposure) = (self.lower[row], self.exposure[row]);
        let stretch = dispersion * exposure * f * f;
        let weight = 1.0 / (1.0 + stretch);
        let scale = 2.0 * exposure * (1.0 + dispersion * y) * weight;
        Jet {
            value: constant - (y + 1.0 / dispersion) * elementary::log1p(stretch),
            first: -scale * f,
            second: -scale * (1.0 - stretch) * weight,
            third: 0.0,
        }
    }

    /// `log p - y log f^2` of counts from `y` on behind `square`, an even function that is smooth.
    /// Where next to nothing is expected it is continued as a parabola, whose next term is 1e-12 or
    /// less: the difference would be lost in rounding.
    fn range_without_pole(&self, row: usize, dispersion: f64, f: f64) -> Jet {
        let y = self.lower[row];
        if y == 0.0 {
            return self.jet(row, dispersion, f);
        }
        let least = (NEAR_POLE / (self.exposure[row] * (1.0 + dispersion * y))).sqrt();
        let there = f.abs().max(least);
        let jet = self.jet(row, dispersion, there);
        let [u, u1, u2, _] = self.link.log_jet(there);
        let first = jet.first - y * u1;
        let second = jet.second - y * u2;
        Jet {
            value: jet.value - y * u - 0.5 * first * (there - f * f / there),
            first: first * (f / there),
            second,
            third: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::quadrature::adaptive_averages;
    use super::*;
    use crate::link::Link;

    /// Behind `square` the log-probability of a count has a pole at 0, which beliefs on either side
    /// of it, and just within reach of it, must not see: averages are those of the log-probability,
    /// and their derivatives belong together.
    #[test]
    fn beliefs_near_the_pole_of_a_square() {
        for (lower, upper) in [
            (1.0, 1.0),
            (7.0, 7.0),
            (40.0, 40.0),
            (3.0, 9.0),
            (20.0, f64::INFINITY),
            (0.0, 4.0),
        ] {
            let rows = CountRows::new(vec![lower], vec![upper], vec![1.3], Link::Square).unwrap();
            for dispersion in [0.0, 1e-3, 0.4, 3.0] {
                for sd in [0.03, 0.3, 1.5] {
                    for z in [0.0, 0.4, -2.0, 5.0, 9.0, 11.9, 12.1, 14.0, 20.0] {
                        let mean = z * sd;
                        let belief = |mean: f64| Belief {
                            mean,
                            variance: sd * sd,
                        };
                        let at = rows.expected(0, dispersion, belief(mean));
                        let step = 1e-3 * sd;
                        let [left, right] =
                            [-step, step].map(|h| rows.expected(0, dispersion, belief(mean + h)));
                        let name = format!(
                            "{lower}..{upper}, dispersion {dispersion}, mean {mean}, sd {sd}"
                        );
                        // Differences lose the square of the step relative to the sd, with a fourth
                        // derivative that is no larger than these scales.
                        let size = (1.0 + lower) / sd;
                        let first = (right.value - left.value) / (2.0 * step);
                        assert!(
                            (first - at.first).abs() < 1e-5 * size,
                            "{name}: {first} {at:?}"
                        );
                        let second = (right.first - left.first) / (2.0 * step);
                        assert!(
                            (second - at.second).abs() < 1e-5 * size / sd,
                            "{name}: {second} {at:?}"
                        );
                        let plain =
                            adaptive_averages(belief(mean), &[(0.0, 1e-9 * sd), (0.0, 1.0)], |f| {
                                [rows.jet(0, dispersion, f).value.max(-1e6)]
                            });
                        let away = (plain.value[0] - at.value).abs();
                        // Panels begin at 1e-9 of an sd beside the pole: found are 2e-12 of
                        // the size.
                        assert!(
                            away < 1e-7 * (1.0 + plain.size[0]),
                            "{name}: {} {at:?}",
                            plain.value[0]
                        );
                    }
                }
            }
        }
    }
}
