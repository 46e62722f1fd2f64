//! The marginal posterior of one row's latent value, as a map from a normal distribution.

use crate::inference::tilted_grid::tilted_grid;
use crate::likelihood::local::Belief;
use crate::special::scalar::normal_cdf;

/// Knots of the map reach so many standard deviations to both sides, and are so far apart: between
/// them it is linear, and so it is beyond them.
const KNOTS_REACH: f64 = 6.0;
const KNOTS_STEP: f64 = 0.125;
/// With fewer knots of different values than this the distribution is next to a point mass.
const FEWEST: usize = 48;
/// Between neighbouring places the logarithm of the density changes by no more than this, where
/// the density is not nothing beside its largest.
const CHANGE: f64 = 1.0;
const NOTHING: f64 = 1e-9;
/// Times that the way between two places is halved.
const HALVINGS: usize = 8;
/// Above this standard deviation a cavity is wide, and the grid coarse: so many places to both
/// sides. It is refined more closely, and more often: a tenth of an sd of a million is halved 24
/// times to less than a hundredth.
const WIDE: f64 = 40.0;
const COARSE: i32 = 80;
const FINE: f64 = 0.3;
const FINE_HALVINGS: usize = 24;

/// An increasing map `M`, linear between knots: where `a ~ N(m, v)` is what is believed of a row,
/// `M(a) = G^-1(Phi((a - m) / sqrt(v)))` has the law `G` of its cavity times its likelihood.
#[derive(Clone)]
pub(super) struct Margin {
    /// Knots and their values, ascending.
    from: Vec<f64>,
    to: Vec<f64>,
}

impl Margin {
    /// None where the distribution is next to a point mass.
    ///
    /// # Arguments
    /// * `believed` - of the latent value, with the row
    /// * `cavity` - without it
    /// * `log_density` - `log p(y | t)` of the row
    pub fn new(believed: Belief, cavity: Belief, log_density: impl Fn(f64) -> f64) -> Option<Self> {
        let sd = believed.variance.sqrt();
        let is_finite = |b: Belief| b.mean.is_finite() && b.variance.is_finite();
        if !(is_finite(believed) && is_finite(cavity) && cavity.variance > 0.0 && sd > 0.0) {
            return None;
        }
        let law = refined((believed, cavity), log_density);
        let below = cumulated(&law);
        let whole = *below.last()?;
        let above: Vec<f64> = {
            let turned: Vec<(f64, f64)> = law.iter().rev().map(|(t, d)| (-t, *d)).collect();
            cumulated(&turned)
        };
        let count = (2.0 * KNOTS_REACH / KNOTS_STEP) as usize;
        let (mut from, mut to): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for k in 0..=count {
            let z = KNOTS_STEP * k as f64 - KNOTS_REACH;
            // From the nearer end, so that tails keep their digits.
            let value = match z <= 0.0 {
                true => crossing(&below, normal_cdf(z) * whole, |at| law[at].0),
                false => {
                    let last = law.len() - 1;
                    crossing(&above, normal_cdf(-z) * whole, |at| law[last - at].0)
                }
            };
            // Of knots with the same value the last is kept below the mean, the first above it.
            if to.last().is_some_and(|last| value <= *last) {
                if z > 0.0 {
                    continue;
                }
                from.pop();
                to.pop();
            }
            from.push(believed.mean + sd * z);
            to.push(value);
        }
        (to.len() > FEWEST).then_some(Self { from, to })
    }

    /// `M(a)`.
    pub fn value(&self, a: f64) -> f64 {
        let k = piece(&self.from, a);
        self.to[k] + self.slope(k) * (a - self.from[k])
    }

    /// `a` where `M(a)` is `t`, and `M'` there.
    pub fn inverse(&self, t: f64) -> (f64, f64) {
        let k = piece(&self.to, t);
        let slope = self.slope(k);
        (self.from[k] + (t - self.to[k]) / slope, slope)
    }

    fn slope(&self, k: usize) -> f64 {
        (self.to[k + 1] - self.to[k]) / (self.from[k + 1] - self.from[k])
    }
}

/// Which piece between knots holds a value; the first and the last hold all beyond.
fn piece(knots: &[f64], value: f64) -> usize {
    let after = knots.partition_point(|knot| *knot <= value);
    after.clamp(1, knots.len() - 1) - 1
}

/// Places, ascending, and the density there up to a factor: the grid of [`tilted_grid`], refined
/// where the density rises or falls fast, as at the edge of what a row allows. Of a wide cavity,
/// over which that grid would have thousands of places, it is a coarse one.
fn refined(
    (believed, cavity): (Belief, Belief),
    log_density: impl Fn(f64) -> f64,
) -> Vec<(f64, f64)> {
    let is_wide = cavity.variance > WIDE * WIDE;
    let (mut law, change, halvings) = match is_wide {
        true => (
            coarse((believed, cavity), &log_density),
            FINE,
            FINE_HALVINGS,
        ),
        false => (tilted_grid(cavity, &log_density), CHANGE, HALVINGS),
    };
    let top = law.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((top, _)) = top else {
        return law;
    };
    let log = |t: f64| log_density(t) - 0.5 * (t - cavity.mean).powi(2) / cavity.variance;
    let highest = log(top);
    // Places without a density are left out of the grid: its ends may be edges.
    if let [(first, _), (second, _), .., (last, _)] = law[..] {
        let step = second - first;
        law.insert(0, (first - step, 0.0));
        law.push((last + step, 0.0));
    }
    for _ in 0..halvings {
        let is_steep = |pair: &[(f64, f64)]| {
            let (low, high) = (pair[0].1.min(pair[1].1), pair[0].1.max(pair[1].1));
            high > NOTHING && low < high * (-change).exp()
        };
        let mut next = Vec::with_capacity(law.len() + 8);
        for pair in law.windows(2) {
            next.push(pair[0]);
            if is_steep(pair) {
                let middle = f64::midpoint(pair[0].0, pair[1].0);
                let density = (log(middle) - highest).exp();
                next.push((middle, if density.is_finite() { density } else { 0.0 }));
            }
        }
        next.extend(law.last());
        let is_done = next.len() == law.len();
        law = next;
        if is_done {
            break;
        }
    }
    law
}

/// Places of a coarse grid, a tenth of a standard deviation apart, of the cavity and of the
/// narrower belief with the row, and the density there up to a factor, at most one.
fn coarse(
    (believed, cavity): (Belief, Belief),
    log_density: impl Fn(f64) -> f64,
) -> Vec<(f64, f64)> {
    let of = |belief: Belief| {
        let sd = belief.variance.sqrt();
        (-COARSE..=COARSE).map(move |k| belief.mean + 0.1 * sd * f64::from(k))
    };
    let log = |t: f64| log_density(t) - 0.5 * (t - cavity.mean).powi(2) / cavity.variance;
    let mut places: Vec<f64> = of(cavity).chain(of(believed)).collect();
    places.sort_unstable_by(f64::total_cmp);
    places.dedup();
    let logs = places.into_iter().map(|t| (t, log(t)));
    let mut law: Vec<(f64, f64)> = logs.filter(|(_, log)| log.is_finite()).collect();
    let top = law.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    law.iter_mut().for_each(|p| p.1 = (p.1 - top).exp());
    law
}

/// Integrals of the density from the first place to every place, by the trapezoidal rule.
fn cumulated(law: &[(f64, f64)]) -> Vec<f64> {
    let mut sum = 0.0;
    let first = law.first().map(|_| 0.0);
    let others = law.windows(2).map(|pair| {
        sum += 0.5 * (pair[0].1 + pair[1].1) * (pair[1].0 - pair[0].0);
        sum
    });
    first.into_iter().chain(others).collect()
}

/// Where integrals that ascend cross a level, between places that are asked for by number; the
/// nearer end where they never do.
fn crossing(sums: &[f64], level: f64, place: impl Fn(usize) -> f64) -> f64 {
    let after = sums.partition_point(|sum| *sum <= level);
    let last = sums.len() - 1;
    if after == 0 || after > last {
        return place(after.min(last));
    }
    let (low, high) = (sums[after - 1], sums[after]);
    let part = (level - low) / (high - low);
    place(after - 1) + part * (place(after) - place(after - 1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn normal(mean: f64, variance: f64) -> Belief {
        Belief { mean, variance }
    }

    /// A row that says nothing: the law is the cavity, and the map to it linear.
    #[test]
    fn a_row_that_says_nothing_leaves_the_cavity() {
        let map = Margin::new(normal(1.0, 0.25), normal(3.0, 4.0), |_| 0.0).unwrap();
        for k in -50..=50 {
            let z = f64::from(k) / 10.0;
            let (value, right) = (map.value(1.0 + 0.5 * z), 3.0 + 2.0 * z);
            // Places are a tenth of an sd apart and sums linear between: some 1e-3 of an sd,
            // more where the density falls by half from place to place.
            assert!((value - right).abs() < 0.02, "{z}: {value} {right}");
            let (back, slope) = map.inverse(value);
            assert!((back - 1.0 - 0.5 * z).abs() < 1e-12);
            assert!((slope / 4.0 - 1.0).abs() < 0.2, "{z}: {slope}");
        }
    }

    /// Of a wide cavity the grid is coarse: a count of zero behind a hinge cuts it at zero, and the
    /// law is what is left.
    #[test]
    fn a_wide_cavity_is_cut_as_finely() {
        for sd in [50.0, 1e3, 1e5] {
            let hinge = |t: f64| -(1.0_f64.ln_1p() + t.max(0.0) + (-t.abs()).exp().ln_1p());
            let map = Margin::new(
                normal(-0.5 * sd, 0.1 * sd * sd),
                normal(0.0, sd * sd),
                hinge,
            );
            let map = map.unwrap();
            let at = |z: f64| map.value(-0.5 * sd + 0.1_f64.sqrt() * sd * z);
            // The edge is as wide as some units: a few of them are left of the law above zero,
            // `1 / (sd sqrt(2 pi) / 2)` of it for each.
            for z in [-3.0, -1.0, 0.0, 1.0, 1.5] {
                let below = normal_cdf(at(z) / sd) / 0.5;
                let off = below / normal_cdf(z) - 1.0;
                // Sums are linear between places a tenth of an sd apart, as above; near zero the
                // part that reaches beyond the hinge, of order of one over the sd.
                assert!(off.abs() < 0.05 + 3.0 / sd, "{sd} {z}: {off}");
            }
            // Next to nothing reaches above zero by more than the hinge lets it.
            assert!(at(4.0) < 15.0, "{sd}: {}", at(4.0));
        }
    }

    /// Above an edge the law is the rest of a normal one, wherever the edge lies on the grid, and
    /// whether places below it have a density next to none or none.
    #[test]
    fn a_row_with_an_edge_has_a_cut_law() {
        for (at, below) in [(0.0, -1e4), (0.537, -1e4), (1.513, f64::NEG_INFINITY)] {
            let edge = |t: f64| if t > at { 0.0 } else { below };
            let map = Margin::new(normal(1.2, 0.36), normal(0.0, 1.0), edge).unwrap();
            let rest = normal_cdf(-at);
            for z in [-3.0, -1.0, 0.0, 1.0, 2.0, 3.0, 5.0] {
                let above = normal_cdf(-map.value(1.2 + 0.6 * z)) / rest;
                // Places are a tenth of an sd apart, over which the density far out falls by half.
                let off = above / normal_cdf(-z) - 1.0;
                assert!(off.abs() < 0.08, "{at}, {z}: {off}");
            }
            // Next to nothing is proposed below the edge, less than one in 1,000.
            assert!(map.inverse(at).0 < 1.2 - 0.6 * 3.0, "{at}");
            let slope = |a: f64| map.inverse(map.value(a)).1;
            assert!(map.from.iter().all(|a| slope(*a) > 0.0));
        }
    }
}
