//! Periodic kernels of short lengthscale between intervals: a comb of narrow teeth.
//!
//! The Fourier series of [`super::series`] has as many terms as the lengthscale is short. Here the
//! cost does not depend on it. With the trapezoid `T` of [`super::line`], the overlap of two
//! intervals as a function of their shift `u`,
//!
//! `K = 1/(w w') int T(u) kappa(u) du`,
//!
//! a tooth that lies within a straight piece of `T` counts as its area times the height of `T` at
//! its middle, and one at a corner of `T` for the second antiderivative of the tooth's tail
//! besides:
//!
//! `w w' K = area sum_k T(k period) + R(t_1) + R(t_2) - R(t_3) - R(t_4)`,
//!
//! `t_i` the distances of the four corners from the nearest whole period, `R` of
//! [`ToothTail::second`].
//! The sum of heights is one of positive terms, closed however many periods the intervals reach
//! over. Intervals that are narrow beside a tooth are integrated by Gauss-Legendre on the ramps of
//! `T`, as there.
//!
//! Error below `1e-13 sqrt(K_ii K_jj)`; slopes in the period lose digits in proportion to the
//! periods between the intervals.

use super::line::{Intervals, NARROW, NARROW_RULE};
use crate::kernel::{Periodic, Tooth, ToothTail, remainder};

/// Intervals of so many periods are averages over whole cycles, to rounding.
const MANY: f64 = 1e15;
/// The shortest lengthscale that is told from zero, so that ratios are numbers.
const SHORTEST: f64 = 1e-250;

/// A value with its derivatives in the logarithms of lengthscale and period.
#[derive(Debug, Clone, Copy, Default)]
struct Jet {
    k: f64,
    lengthscale: f64,
    period: f64,
}

impl Jet {
    fn add(&mut self, by: f64, other: Self) {
        self.k += by * other.k;
        self.lengthscale += by * other.lengthscale;
        self.period += by * other.period;
    }
}

/// Fills `value` and, when given, the derivatives in lengthscale and period.
pub(super) fn fill(
    lengthscale: f64,
    period: f64,
    a: Intervals<'_>,
    b: Intervals<'_>,
    value: &mut [f64],
    mut slopes: Option<(&mut [f64], &mut [f64])>,
) {
    let comb = Comb::new(lengthscale, period);
    let sides = [a, b].map(|x| comb.ends(x));
    let na = a.len();
    for (j, b) in sides[1].iter().enumerate() {
        for (i, a) in sides[0].iter().enumerate() {
            let at = j * na + i;
            let jet = comb.pair(a, b);
            value[at] = jet.k;
            if let Some((d_lengthscale, d_period)) = &mut slopes {
                d_lengthscale[at] = jet.lengthscale / comb.lengthscale;
                d_period[at] = jet.period / period;
            }
        }
    }
}

struct Comb {
    tooth: Tooth,
    lengthscale: f64,
    period: f64,
}

/// An interval: its lower edge and width, what they are more than whole periods, and the width in
/// units of a tooth.
struct End {
    lower: f64,
    width: f64,
    lower_rest: f64,
    /// In `[0, period)`.
    width_rest: f64,
    scaled: f64,
}

/// A shift between two intervals: the nearest tooth, and the distance to it in units of a tooth.
#[derive(Clone, Copy)]
struct Corner {
    shift: f64,
    tooth: f64,
    rest: f64,
}

impl Corner {
    fn sign(self) -> f64 {
        if self.rest == 0.0 {
            0.0
        } else {
            self.rest.signum()
        }
    }
}

impl Comb {
    fn new(lengthscale: f64, period: f64) -> Self {
        let lengthscale = lengthscale.max(SHORTEST);
        Self {
            tooth: Tooth::new(lengthscale),
            lengthscale,
            period,
        }
    }

    /// A length in units of a tooth.
    fn scaled(&self, length: f64) -> f64 {
        (length / self.period) * self.tooth.period
    }

    fn ends(&self, x: Intervals<'_>) -> Vec<End> {
        let end = |i: usize| End {
            lower: x.lower[i],
            width: x.width[i],
            lower_rest: remainder(x.lower[i], self.period),
            width_rest: x.width[i] % self.period,
            scaled: self.scaled(x.width[i]),
        };
        (0..x.len()).map(end).collect()
    }

    /// The shift from the lower or upper edge of one interval to that of another.
    fn corner(&self, a: &End, upper_a: bool, b: &End, upper_b: bool) -> Corner {
        let mut shift = b.lower - a.lower;
        let mut rest = b.lower_rest - a.lower_rest;
        if upper_b {
            (shift, rest) = (shift + b.width, rest + b.width_rest);
        }
        if upper_a {
            (shift, rest) = (shift - a.width, rest - a.width_rest);
        }
        let rest = remainder(rest, self.period);
        Corner {
            shift,
            tooth: ((shift - rest) / self.period).round(),
            rest: self.scaled(rest),
        }
    }

    fn pair(&self, a: &End, b: &End) -> Jet {
        let (small, large) = match a.scaled <= b.scaled {
            true => (a, b),
            false => (b, a),
        };
        if large.width / self.period > MANY {
            let area = self.tooth.area / self.tooth.period;
            let slope = self.tooth.area_slope / self.tooth.period;
            return Jet {
                k: area,
                lengthscale: slope,
                period: 0.0,
            };
        }
        // Where the trapezoid begins, its plateau begins, and that and it end; these two may be
        // one.
        let start = self.corner(a, true, b, false);
        let (mut ramp_end, mut plateau_end) = (
            self.corner(a, false, b, false),
            self.corner(a, true, b, true),
        );
        if a.scaled > b.scaled {
            std::mem::swap(&mut ramp_end, &mut plateau_end);
        }
        let end = self.corner(a, false, b, true);
        if small.scaled > NARROW {
            return self.wide((small, large), start, [ramp_end, plateau_end], end, a, b);
        }
        let ratio = if large.width > 0.0 {
            small.width / large.width
        } else {
            0.0
        };
        let mut jet = if large.scaled > NARROW {
            self.plateau(ramp_end, plateau_end, large)
        } else {
            let mut jet = Jet::default();
            let flat = large.width - small.width;
            jet.add(1.0 - ratio, self.segment(ramp_end, flat, 1.0, 0.0));
            jet
        };
        if ratio > 0.0 {
            jet.add(ratio, self.segment(start, small.width, 0.0, 1.0));
            jet.add(ratio, self.segment(plateau_end, small.width, 1.0, -1.0));
        }
        jet
    }

    /// `int_0^1 (p + q tau) kappa(from + length tau) d tau`, over a length that is short beside a
    /// tooth.
    fn segment(&self, from: Corner, length: f64, p: f64, q: f64) -> Jet {
        let mut jet = Jet::default();
        let start = from.rest * (self.period / self.tooth.period);
        for &(tau, weight) in NARROW_RULE.iter() {
            let along = length * tau;
            let (k, lengthscale, period) = Periodic::across(
                start + along,
                from.shift + along,
                self.lengthscale,
                self.period,
            );
            let value = Jet {
                k,
                lengthscale: lengthscale * self.lengthscale,
                period: period * self.period,
            };
            jet.add(weight * (p + q * tau), value);
        }
        jet
    }

    /// `1 / large int kappa` between two corners, by the antiderivative.
    fn plateau(&self, from: Corner, to: Corner, large: &End) -> Jet {
        let Tooth {
            area, area_slope, ..
        } = self.tooth;
        let mut jet = Jet::default();
        for (corner, sign) in [(from, -1.0), (to, 1.0)] {
            let tail = self.tooth.tail(corner.rest.abs());
            let side = corner.sign();
            let (value, ..) = Periodic::across(
                corner.rest * (self.period / self.tooth.period),
                0.0,
                self.lengthscale,
                self.period,
            );
            let whole = sign * corner.tooth;
            jet.k += whole * area + sign * side * (0.5 * area - tail.first);
            jet.lengthscale +=
                whole * area_slope + sign * side * (0.5 * area_slope - tail.first_slope);
            // d kappa / d log period = -u kappa'(u), by parts.
            jet.period -= sign * (corner.shift / large.width) * value;
        }
        let by = large.scaled.recip();
        jet.k *= by;
        jet.lengthscale *= by;
        jet.period += jet.k;
        jet
    }

    /// Both wide beside a tooth.
    fn wide(
        &self,
        (small, large): (&End, &End),
        start: Corner,
        middle: [Corner; 2],
        end: Corner,
        a: &End,
        b: &End,
    ) -> Jet {
        let Tooth {
            area, area_slope, ..
        } = self.tooth;
        let heights = self.scaled(self.heights(a, b)) / small.scaled;
        let mut corners = Jet::default();
        for (corner, by) in [
            (start, 1.0),
            (end, 1.0),
            (middle[0], -1.0),
            (middle[1], -1.0),
        ] {
            let distance = corner.rest.abs();
            let ToothTail {
                first,
                second,
                second_slope,
                ..
            } = self.tooth.tail(distance);
            let (tooth, side) = (corner.tooth, corner.sign());
            // The teeth move with the period: sum_k k T'(k period) by parts, and the tails beside
            // them.
            let moved = tooth * side * first - 0.5 * area * tooth * (tooth + side);
            let jet = Jet {
                k: second,
                lengthscale: second_slope,
                period: 2.0 * second + distance * first + self.tooth.period * moved,
            };
            corners.add(by, jet);
        }
        let mut jet = Jet {
            k: area * heights,
            lengthscale: area_slope * heights,
            period: area * heights,
        };
        jet.add(small.scaled.recip(), corners);
        let by = large.scaled.recip();
        Jet {
            k: by * jet.k,
            lengthscale: by * jet.lengthscale,
            period: by * jet.period,
        }
    }

    /// `sum_k T(k period)`: every whole period within one interval meets all of the other.
    fn heights(&self, a: &End, b: &End) -> f64 {
        let whole = |x: &End| ((x.width - x.width_rest) / self.period).round();
        let separation = remainder(b.lower_rest - a.lower_rest, self.period);
        let rests = [-1.0, 0.0, 1.0].map(|k| {
            let lower = separation + k * self.period;
            (a.width_rest.min(lower + b.width_rest) - lower.max(0.0)).max(0.0)
        });
        whole(b) * a.width + whole(a) * b.width_rest + rests.iter().sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::covariance::series;
    use crate::quadrature::gauss_legendre;

    /// Intervals of width zero, narrow, wide, of whole periods and more, aligned with the period
    /// and not, far away too.
    const EDGES: [(f64, f64); 9] = [
        (0.0, 0.0),
        (0.5, 0.0),
        (1.0, 1e-3),
        (0.7, 0.5),
        (2.0, 1.0),
        (-3.2, 1.0),
        (1.4, 2.6),
        (0.25, 7.75),
        (-40.1, 2e-4),
    ];

    type Filled = (Vec<f64>, Vec<f64>, Vec<f64>);

    fn filled(
        how: impl Fn(
            f64,
            f64,
            Intervals<'_>,
            Intervals<'_>,
            &mut [f64],
            Option<(&mut [f64], &mut [f64])>,
        ),
        lengthscale: f64,
        period: f64,
    ) -> Filled {
        let (lower, width): (Vec<f64>, Vec<f64>) = EDGES.into_iter().unzip();
        let x = Intervals {
            lower: &lower,
            width: &width,
        };
        let new = || vec![f64::NAN; lower.len() * lower.len()];
        let (mut value, mut l, mut p) = (new(), new(), new());
        how(
            lengthscale,
            period,
            x,
            x,
            &mut value,
            Some((&mut l, &mut p)),
        );
        (value, l, p)
    }

    /// `1/(w w') int T(u) kappa(u) du` on panels cut at the corners and at distances from every
    /// tooth.
    fn brute(lengthscale: f64, period: f64, a: (f64, f64), b: (f64, f64)) -> f64 {
        let delta = b.0 - a.0;
        let (w, v) = (a.1, b.1);
        let kappa = |u: f64| Periodic::value(u, lengthscale, period).0;
        if w.max(v) == 0.0 {
            return kappa(delta);
        }
        let corners = [delta - w, delta, delta - w + v, delta + v];
        let height = |u: f64| {
            if w.min(v) == 0.0 {
                return 1.0 / w.max(v);
            }
            let overlap = w.min(u - delta + w).min(v).min(delta + v - u);
            overlap.max(0.0) / (w * v)
        };
        let mut cuts: Vec<f64> = corners.to_vec();
        let (first, last) = (corners[0], corners[3]);
        let sigma = lengthscale * period / (2.0 * std::f64::consts::PI);
        let mut tooth = (first / period).floor() - 1.0;
        while tooth * period < last + period {
            cuts.extend((-24..=24).map(|i| tooth * period + 0.5 * f64::from(i) * sigma));
            tooth += 1.0;
        }
        cuts.retain(|u| (first..=last).contains(u));
        cuts.sort_by(f64::total_cmp);
        let rule = gauss_legendre(12);
        let panels = cuts.windows(2).flat_map(|c| rule.on(c[0], c[1]));
        panels
            .map(|(u, weight)| weight * height(u) * kappa(u))
            .sum()
    }

    fn worst(a: &[f64], b: &[f64]) -> f64 {
        let off = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        off.fold(0.0, |m, e| if e <= m { m } else { e })
    }

    #[test]
    fn teeth_and_the_fourier_series_meet() {
        for lengthscale in [0.1, 0.07, 0.05, 0.03, 0.02] {
            for period in [1.0, 0.73] {
                let (comb, series) = (
                    filled(fill, lengthscale, period),
                    filled(series::by_series, lengthscale, period),
                );
                // Rounding of some hundred terms, and of slopes of the size of 1 / lengthscale and
                // of the separation in sigmas.
                assert!(worst(&comb.0, &series.0) < 1e-12, "{lengthscale} {period}");
                assert!(worst(&comb.1, &series.1) < 1e-10, "{lengthscale} {period}");
                assert!(worst(&comb.2, &series.2) < 1e-9, "{lengthscale} {period}");
            }
        }
    }

    #[test]
    fn teeth_are_the_integrals_of_their_definition() {
        for lengthscale in [0.05, 1e-2, 1e-3, 1e-5] {
            for period in [1.0, 0.73] {
                let (value, ..) = filled(fill, lengthscale, period);
                for (j, b) in EDGES.into_iter().enumerate() {
                    for (i, a) in EDGES.into_iter().enumerate() {
                        let got = value[j * EDGES.len() + i];
                        let own = |k: usize| value[k * EDGES.len() + k];
                        let expected = brute(lengthscale, period, a, b);
                        let size = (own(i) * own(j)).sqrt();
                        // The phase of a tooth is known to the rounding of the places, in sigmas.
                        let allowed = (1e-13 + 1e-14 / lengthscale) * size;
                        assert!(
                            (got - expected).abs() < allowed,
                            "{lengthscale} {period} {a:?} {b:?}: {got:e} {expected:e}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn slopes_are_differences() {
        for lengthscale in [0.04_f64, 1e-3] {
            let period = 0.73_f64;
            let h = 1e-5;
            let at = |dl: f64, dp: f64| {
                filled(
                    fill,
                    lengthscale * (1.0 + dl),
                    period * (1.0 + dp * lengthscale),
                )
                .0
            };
            let (_, l, p) = filled(fill, lengthscale, period);
            let (up, down) = (at(h, 0.0), at(-h, 0.0));
            let (later, sooner) = (at(0.0, h), at(0.0, -h));
            for i in 0..l.len() {
                // Values are right to 1e-13, of which a difference keeps 1e-13 / h = 1e-8 at worst;
                // truncation is h^2 / 6 = 2e-11 times a third derivative.
                let numeric = (up[i] - down[i]) / (2.0 * h);
                assert!(
                    (lengthscale * l[i] - numeric).abs() < 1e-8,
                    "{lengthscale} {i}"
                );
                let numeric = (later[i] - sooner[i]) / (2.0 * h);
                // A hundred sigmas apart and more the third derivative is a million times larger.
                let got = period * lengthscale * p[i];
                assert!(
                    (got - numeric).abs() < 1e-3,
                    "{lengthscale} {i}: {got} {numeric}"
                );
            }
        }
    }

    #[test]
    fn nothing_is_left_of_boxes_at_the_shortest_lengthscales() {
        for lengthscale in [1e-100, 1e-160, 1e-300] {
            let (value, ..) = filled(fill, lengthscale, 1.0);
            let n = EDGES.len();
            for i in 0..n {
                let own = value[i * n + i];
                if EDGES[i].1 == 0.0 {
                    assert_eq!(own, 1.0);
                } else {
                    // The area of a tooth over the width: 0.4 x 1e-100 / 2e-4 = 2e-97 at most.
                    assert!((0.0..1e-95).contains(&own), "{own}");
                }
            }
        }
    }
}
