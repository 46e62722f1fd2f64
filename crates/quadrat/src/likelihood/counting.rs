//! Log-probability of a count, or of a range of counts, as a function of the log of its mean.

use crate::link::{CLIP, Link};
use crate::special::elementary;
use crate::special::{CountMean, EdgeTail};

/// Terms on either side of the largest that are summed one by one; longer ranges are integrated.
const TERMS: usize = 300;
/// Terms below this share of the sum are left out.
const NEGLIGIBLE: f64 = 1e-20;
/// Below this logarithm there is no double above zero.
const VANISHED: f64 = -745.0;
/// Above this log-probability, 2 %, what is left of one keeps all but two of its digits.
pub(super) const LIKELY: f64 = -3.9;
/// Above this log-probability the sum goes over the counts outside.
pub(super) const NEARLY_CERTAIN: f64 = -0.3;
/// Counts further out are no longer spaced by one.
const LARGEST: f64 = 9.0e15;

/// `log P`, its derivatives in `u = log mean`, and the slopes of value, first and second in the
/// dispersion where these were asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LogMass {
    pub value: f64,
    pub derivatives: [f64; 3],
    pub slopes: [f64; 3],
}

/// The mean of a count, `exposure link(f)`, with its logarithm.
pub(super) fn mean(
    link: Link,
    log_jet: &[f64; 4],
    exposure: f64,
    dispersion: f64,
    f: f64,
) -> CountMean {
    let log_mean = log_jet[0] + elementary::log(exposure);
    let mean = match link {
        Link::Exp => elementary::exp(log_mean.min(CLIP)),
        _ => exposure * link.value(f),
    };
    CountMean {
        log_mean: log_mean.min(CLIP),
        mean,
        dispersion,
    }
}

/// Whether slopes in the dispersion are wanted; else what stands in their place means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DispersionSlopes {
    No,
    Yes,
}

/// The slope of a count's log-probability in the dispersion; 0 where there is none, which is then
/// no hyperparameter.
fn slope_of(count: &CountMean, slopes: DispersionSlopes, k: f64) -> f64 {
    if slopes == DispersionSlopes::Yes && count.dispersion > 0.0 {
        count.dispersion_slope(k)
    } else {
        0.0
    }
}

/// A single count.
pub(super) fn exact(count: &CountMean, slopes: DispersionSlopes, k: f64) -> LogMass {
    let w = count.weight();
    let q = count.dispersion * count.mean * w;
    let (excess, size) = (w * (k - count.mean), q * k + w * count.mean);
    LogMass {
        value: count.log_probability(k),
        derivatives: [excess, -w * size, w * (q - w) * size],
        slopes: [
            slope_of(count, slopes, k),
            -count.mean * w * excess,
            count.mean * w * w * (size - w * (k - count.mean)),
        ],
    }
}

/// Counts from `lower` to `upper`, both included; `lower < upper`, which may be infinite.
///
/// # Numerics
/// An open range without slopes is a tail, or what the other tail leaves. Else few terms are summed
/// from the largest outwards, and derivatives follow from the moments of the count inside the
/// range; else the range is a difference of two tails. With `A = lower p(lower) / P` and `B =
/// (upper + 1) p(upper + 1) / P` the derivative is `A - B` in either case: of the two forms the one
/// is taken that cancels less.
pub(super) fn range(
    count: &CountMean,
    slopes: DispersionSlopes,
    lower: f64,
    upper: f64,
) -> LogMass {
    let parts = Parts::new(count, slopes, lower, upper);
    // Nearer to the mean than half of it, so that the term next to the edge cannot vanish before
    // its sum.
    if upper == f64::INFINITY
        && lower <= TERMS as f64
        && count.mean > 0.5 * lower
        && let Some(curve) = parts.by_complement()
        && curve.value >= LIKELY
    {
        // "At least": the few terms outside, not the many inside.
        return curve;
    }
    if upper == f64::INFINITY && slopes == DispersionSlopes::No {
        // One tail, or what the other leaves where that is enough. Slopes far out lose digits so.
        let curve = parts.by_tails();
        if count.mean <= lower || curve.value >= LIKELY {
            return curve;
        }
    }
    let Some((sums, start)) = parts.sum() else {
        return parts.by_tails();
    };
    let curve = parts.by_terms(&sums, start);
    if curve.value < NEARLY_CERTAIN {
        return curve;
    }
    // The little that is outside has its own digits.
    parts.by_complement().unwrap_or_else(|| parts.by_tails())
}

struct Parts<'a> {
    count: &'a CountMean,
    slopes: DispersionSlopes,
    w: f64,
    q: f64,
    lower: f64,
    upper: f64,
}

/// Sums over the range of `r d^i` and of `r d^i l`: `r` relative to the largest term, `d` the
/// distance from it and `l` the difference of the slopes in the dispersion.
#[derive(Default)]
struct Sums {
    power: [f64; 4],
    slope: [f64; 3],
    /// Terms at `lower` and at `upper + 1`, where the sum came so far.
    first: Option<f64>,
    beyond: Option<f64>,
}

impl Sums {
    fn add(&mut self, term: f64, d: f64, slope: f64) {
        let mut power = term;
        for i in 0..4 {
            self.power[i] += power;
            if i < 3 {
                self.slope[i] += power * slope;
            }
            power *= d;
        }
    }
}

impl<'a> Parts<'a> {
    fn new(count: &'a CountMean, slopes: DispersionSlopes, lower: f64, upper: f64) -> Self {
        let w = count.weight();
        Self {
            count,
            slopes,
            w,
            q: count.dispersion * count.mean * w,
            lower,
            upper,
        }
    }

    fn slope_of(&self, k: f64) -> f64 {
        slope_of(self.count, self.slopes, k)
    }

    fn sum(&self) -> Option<(Sums, f64)> {
        let (alpha, mean) = (self.count.dispersion, self.count.mean);
        let start = (mean - alpha * mean).floor().clamp(self.lower, self.upper);
        if start > LARGEST {
            return None;
        }
        let odds = mean * self.w;
        let mut sums = Sums::default();
        sums.add(1.0, 0.0, 0.0);
        let (mut term, mut slope, mut k) = (1.0, 0.0, start);
        for step in 1.. {
            term *= (1.0 + alpha * k) * odds / (k + 1.0);
            if k == self.upper {
                sums.beyond = Some(term);
                break;
            }
            if term < NEGLIGIBLE * sums.power[0] {
                break;
            }
            if step > TERMS {
                return None;
            }
            slope += k / (1.0 + alpha * k) - odds;
            k += 1.0;
            sums.add(term, k - start, slope);
        }
        (term, slope, k) = (1.0, 0.0, start);
        for step in 1.. {
            if k == self.lower {
                sums.first = Some(term);
                break;
            }
            k -= 1.0;
            term *= (k + 1.0) / ((1.0 + alpha * k) * odds);
            if term < NEGLIGIBLE * sums.power[0] {
                break;
            }
            if step > TERMS {
                return None;
            }
            slope -= k / (1.0 + alpha * k) - odds;
            sums.add(term, k - start, slope);
        }
        Some((sums, start))
    }

    fn by_terms(&self, sums: &Sums, start: f64) -> LogMass {
        let Self { count, w, q, .. } = *self;
        let mean = count.mean;
        let total = sums.power[0];
        let [d, d2, d3] = [1, 2, 3].map(|i| sums.power[i] / total);
        let [l, dl, d2l] = [0, 1, 2].map(|i| sums.slope[i] / total);
        let variance = d2 - d * d;
        let third = d3 - 3.0 * d * d2 + 2.0 * d * d * d;
        let cross = dl - d * l;
        let cross2 = d2l - 2.0 * d * dl - l * d2 + 2.0 * d * d * l;
        let k = start + d;
        // s = w (k - mu), the derivative of log p(k): s' = -w (q k + w mu), s'' = w (q - w) (q k +
        // w mu).
        let size = q * k + w * mean;
        let value = count.log_probability(start) + elementary::log(total);
        let mut curve = LogMass {
            value: value.min(0.0),
            derivatives: [
                w * (k - mean),
                w * w * variance - w * size,
                w * w * (w * third - 3.0 * q * variance) + w * (q - w) * size,
            ],
            slopes: [
                self.slope_of(start) + l,
                w * (cross - mean * w * (k - mean)),
                w * w * (cross2 - 2.0 * mean * w * variance) - w * q * cross
                    + mean * w * w * (size - w * (k - mean)),
            ],
        };
        let edge = |term: Option<f64>, k: f64| {
            if k == 0.0 || k == f64::INFINITY {
                0.0
            } else if let Some(term) = term {
                k * term / total
            } else {
                elementary::exp(count.log_probability(k) + elementary::log(k) - value)
            }
        };
        let a = edge(sums.first, self.lower);
        let b = edge(sums.beyond, self.upper + 1.0);
        let first = a - b;
        let excess = [self.lower, self.upper + 1.0].map(|k| w * (k - mean) - first);
        let lost = |term: f64, excess: f64| {
            if term > 0.0 {
                term * (excess.abs() + 2.0 * first.abs())
            } else {
                0.0
            }
        };
        if lost(a, excess[0]) + lost(b, excess[1]) < w * w * d2 + w * size {
            let by_edges = self.by_edges(value, [a, b], excess, curve.slopes[0]);
            curve.derivatives = by_edges.derivatives;
            curve.slopes = by_edges.slopes;
        }
        curve
    }

    fn by_complement(&self) -> Option<LogMass> {
        let Self {
            count,
            w,
            lower,
            upper,
            ..
        } = *self;
        let (alpha, mean) = (count.dispersion, count.mean);
        let odds = mean * w;
        let (mut mass, mut slope) = (0.0, 0.0);
        let mut terms = [0.0; 2];
        if upper < f64::INFINITY {
            let mut k = upper + 1.0;
            let mut p = elementary::exp(count.log_probability(k));
            terms[1] = k * p;
            let mut l = self.slope_of(k);
            for step in 0.. {
                mass += p;
                slope += p * l;
                l += k / (1.0 + alpha * k) - odds;
                p *= (1.0 + alpha * k) * odds / (k + 1.0);
                k += 1.0;
                if p <= NEGLIGIBLE * mass {
                    break;
                }
                if step > TERMS {
                    return None;
                }
            }
        }
        if lower > 0.0 {
            let mut k = lower - 1.0;
            let mut p = elementary::exp(count.log_probability(k));
            // lower p(lower), from the ratio of neighbours.
            terms[0] = p * (1.0 + alpha * k) * odds;
            let mut l = self.slope_of(k);
            let mut below = 0.0;
            for step in 0.. {
                below += p;
                slope += p * l;
                if k == 0.0 || p <= NEGLIGIBLE * below {
                    break;
                }
                if step > TERMS {
                    return None;
                }
                k -= 1.0;
                l -= k / (1.0 + alpha * k) - odds;
                p *= (k + 1.0) / ((1.0 + alpha * k) * odds);
            }
            mass += below;
        }
        let inside = 1.0 - mass;
        let terms = terms.map(|x| x / inside);
        let first = terms[0] - terms[1];
        let excess = [lower, upper + 1.0].map(|k| w * (k - mean) - first);
        Some(self.by_edges(elementary::log1p(-mass), terms, excess, -slope / inside))
    }

    /// Derivatives from `A` and `B`, the first derivatives of their logs, and the slope of the
    /// value.
    fn by_edges(&self, value: f64, terms: [f64; 2], excess: [f64; 2], slope: f64) -> LogMass {
        let Self { count, w, q, .. } = *self;
        let mean = count.mean;
        let (mut second, mut third) = (0.0, 0.0);
        let mut slopes = [slope, 0.0, 0.0];
        let edges = [(self.lower, 1.0), (self.upper + 1.0, -1.0)];
        let present = |i: usize| terms[i] > 0.0 && edges[i].0 < f64::INFINITY;
        for i in (0..2).filter(|&i| present(i)) {
            let (k, sign) = edges[i];
            second += sign * terms[i] * excess[i];
            slopes[1] += sign * terms[i] * (self.slope_of(k) - slope);
        }
        for i in (0..2).filter(|&i| present(i)) {
            let (k, sign) = edges[i];
            let bend = -w * (q * k + w * mean);
            third += sign * terms[i] * (excess[i] * excess[i] + (bend - second));
            let change = (self.slope_of(k) - slope) * excess[i];
            slopes[2] += sign * terms[i] * (change - mean * w * w * (k - mean) - slopes[1]);
        }
        LogMass {
            value,
            derivatives: [terms[0] - terms[1], second, third],
            slopes,
        }
    }

    fn by_tails(&self) -> LogMass {
        let Self {
            count,
            lower,
            upper,
            w,
            ..
        } = *self;
        let above = upper + 1.0;
        // Log edge term, tail, and slope of the tail over edge term.
        let tail = |k: f64| {
            let none = EdgeTail {
                ratio: 0.0,
                slope: 0.0,
                excess: 0.0,
            };
            if k == 0.0 || k == f64::INFINITY {
                return (f64::NEG_INFINITY, none);
            }
            let edge = count.log_probability(k) + elementary::log(k);
            if upper == f64::INFINITY && count.mean > k && edge < VANISHED {
                // Nothing of one is outside.
                return (f64::NEG_INFINITY, none);
            }
            (edge, count.tail(k, self.slopes == DispersionSlopes::Yes))
        };
        let (low, low_tail) = tail(lower);
        let (high, high_tail) = tail(above);
        if count.mean <= lower {
            // Both above: the range is the larger tail less the smaller.
            let share = elementary::exp(high - low);
            let rest = low_tail.ratio - share * high_tail.ratio;
            let terms = [1.0, share].map(|x| x / rest);
            let excess = low_tail.excess + terms[1] * (1.0 - high_tail.ratio / low_tail.ratio);
            self.by_edges(
                low + elementary::log(rest),
                terms,
                [excess, excess + w * (above - lower)],
                (low_tail.slope - share * high_tail.slope) / rest,
            )
        } else if count.mean > above {
            let share = elementary::exp(low - high);
            let rest = high_tail.ratio - share * low_tail.ratio;
            let terms = [share, 1.0].map(|x| x / rest);
            let excess = high_tail.excess - terms[0] * (1.0 - low_tail.ratio / high_tail.ratio);
            self.by_edges(
                high + elementary::log(rest),
                terms,
                [excess - w * (above - lower), excess],
                (high_tail.slope - share * low_tail.slope) / rest,
            )
        } else {
            let (low, high) = (elementary::exp(low), elementary::exp(high));
            let outside = low * low_tail.ratio + high * high_tail.ratio;
            let terms = [low, high].map(|x| x / (1.0 - outside));
            let first = terms[0] - terms[1];
            self.by_edges(
                elementary::log1p(-outside),
                terms,
                [lower, above].map(|k| w * (k - count.mean) - first),
                -(low * low_tail.slope + high * high_tail.slope) / (1.0 - outside),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(got: f64, want: f64, tolerance: f64) -> bool {
        (got - want).abs() > tolerance
    }

    #[test]
    fn sums_and_tails_agree() {
        for alpha in [0.0, 1e-7, 0.03, 2.0, 400.0] {
            for (lower, upper) in [
                (0.0, 4.0),
                (1.0, 4.0),
                (100.0, f64::INFINITY),
                (30.0, 90.0),
                (1.0, 200.0),
            ] {
                for mean in [1e-3, 0.7, 3.0, 40.0, 101.0, 900.0] {
                    let count = CountMean::new(mean, alpha);
                    let parts = Parts::new(&count, DispersionSlopes::Yes, lower, upper);
                    let Some((sums, start)) = parts.sum() else {
                        continue;
                    };
                    let (one, other) = (parts.by_terms(&sums, start), parts.by_tails());
                    let place = format!("{alpha} {lower} {upper} {mean}: {one:?} {other:?}");
                    // Tails to 1e-12; what cancels is of the size of the counts involved.
                    let scale = 1e-11 * (1.0 + one.value.abs());
                    assert!(!differs(one.value, other.value, scale), "{place}");
                    let k = lower.max(mean) + 1.0;
                    for i in 0..3 {
                        let tolerance = 1e-10 * k.powi(i as i32 + 1);
                        assert!(
                            !differs(one.derivatives[i], other.derivatives[i], tolerance),
                            "{i} {place}"
                        );
                        if alpha == 0.0 {
                            continue;
                        }
                        let tolerance = 1e-9 * k.powi(i as i32 + 2);
                        assert!(
                            !differs(one.slopes[i], other.slopes[i], tolerance),
                            "slope {i} {place}"
                        );
                    }
                }
            }
        }
    }

    /// Whichever way an open range is summed, also where its probability or that of what is outside
    /// vanishes.
    #[test]
    fn open_ranges_are_their_tails() {
        for alpha in [0.0, 0.1, 3.0] {
            for lower in [1.0, 4.0, 30.0, 299.0] {
                for mean in [
                    1e-20,
                    0.1,
                    0.49 * lower,
                    0.51 * lower,
                    lower,
                    9.0 * lower,
                    1e6,
                ] {
                    let count = CountMean::new(mean, alpha);
                    let parts = Parts::new(&count, DispersionSlopes::Yes, lower, f64::INFINITY);
                    let (got, want) = (
                        range(&count, DispersionSlopes::Yes, lower, f64::INFINITY),
                        parts.by_tails(),
                    );
                    // As of sums and tails; two digits more may be lost at a probability of 2 %.
                    let tolerance = 1e-10 * (1.0 + want.value.abs());
                    let place = format!("{alpha} {lower} {mean}: {got:?} {want:?}");
                    assert!(!differs(got.value, want.value, tolerance), "{place}");
                    for i in 0..2 {
                        let tolerance = 1e-9 * lower.max(1.0).powi(i as i32 + 1);
                        let (got, want) = (got.derivatives[i], want.derivatives[i]);
                        assert!(!differs(got, want, tolerance), "{i} {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn derivatives_are_differences_for_long_ranges_too() {
        for alpha in [0.0, 1e-4, 0.5, 30.0] {
            for (lower, upper) in [
                (0.0, 4.0),
                (1e4, 2e6),
                (1e6, f64::INFINITY),
                (0.0, 1e5),
                (5.0, 3000.0),
            ] {
                for log_mean in [-3.0, 1.0, 6.0, 9.3, 11.4, 13.7, 15.0] {
                    let at = |u: f64, alpha: f64| {
                        range(
                            &CountMean {
                                log_mean: u,
                                mean: elementary::exp(u),
                                dispersion: alpha,
                            },
                            DispersionSlopes::Yes,
                            lower,
                            upper,
                        )
                    };
                    let curve = at(log_mean, alpha);
                    let h = 1e-3;
                    let slope = |g: &dyn Fn(f64) -> f64| {
                        (8.0 * (g(h) - g(-h)) - (g(2.0 * h) - g(-2.0 * h))) / (12.0 * h)
                    };
                    let place = format!("{alpha} {lower} {upper} {log_mean} {curve:?}");
                    // Sizes of the derivatives: a change of u by 1 / sqrt(k) is a change by one sd.
                    let k = elementary::exp(log_mean).max(lower).max(1.0);
                    let unit = (k / (1.0 + alpha * k)).max(1.0);
                    for i in 0..3 {
                        let want = slope(&|d| match i {
                            0 => at(log_mean + d, alpha).value,
                            _ => at(log_mean + d, alpha).derivatives[i - 1],
                        });
                        let error = (curve.derivatives[i] - want).abs();
                        let of = |i: usize| {
                            if i == 0 {
                                curve.value
                            } else {
                                curve.derivatives[i - 1]
                            }
                        };
                        // Rounding of what is differenced, over h; h^4/30 times the fifth
                        // derivative, which grows as unit^(5/2).
                        let tolerance = 1e-13 * unit.powf(0.5 * i as f64 + 2.5)
                            + 1e-9 * unit.powf(1.0 + 0.5 * i as f64)
                            + 3e-11 * of(i).abs();
                        assert!(error < tolerance, "{i}: {want} {place}");
                    }
                    if alpha > 0.0 {
                        for i in 0..3 {
                            let h = 1e-3 * alpha;
                            let g = |d: f64| match i {
                                0 => at(log_mean, alpha + d).value,
                                _ => at(log_mean, alpha + d).derivatives[i - 1],
                            };
                            let want =
                                (8.0 * (g(h) - g(-h)) - (g(2.0 * h) - g(-2.0 * h))) / (12.0 * h);
                            let error = alpha * (curve.slopes[i] - want).abs();
                            let of = if i == 0 {
                                curve.value
                            } else {
                                curve.derivatives[i - 1]
                            };
                            let tolerance = 1e-8 * unit.powf(1.0 + 0.5 * i as f64)
                                + 3e-11 * of.abs()
                                + 1e-7 * alpha * want.abs();
                            assert!(error < tolerance, "slope {i}: {want} {place}");
                        }
                    }
                }
            }
        }
    }
}
