//! Moments of cavity times likelihood, and expectations under a normal belief, by quadrature.

use crate::special::elementary;
use std::f64::consts::PI;

use super::adaptive::{Integrals, Panels, integrate, integrate_many};
use super::local::{Belief, Expected, Jet, Tilted};
use super::smooth;
use super::trapezoid::trapezoid;

/// Nats below the peak where a tilted density ends: e^-38 = 3e-17.
const FALL: f64 = 38.0;
/// Belief sds on both sides; the density underflows there.
const REACH: f64 = 38.0;
/// Belief sds within which nearly every integral lies.
const NEAR: f64 = 9.0;
/// A weighted integrand beyond them that is smaller than this, relative to the integral, does not
/// count.
const NEGLIGIBLE: f64 = 1e-15;
/// Below this ratio of cavity variance to site variance the site follows from derivatives of `log
/// Z`.
const WIDE: f64 = 1e-3;
/// Nats below the mode where a search for it ends, in any case and where Newton's step is small.
const CLOSE: f64 = 0.01;
const FAIR: f64 = 3.0;

/// A place near the mode of cavity times a log-concave likelihood, at most a few nats below it.
///
/// Newton's method, kept inside the bracket of the slopes' signs.
///
/// # Arguments
/// * `guess` - where the likelihood is finite
pub(super) fn mode(cavity: Belief, guess: f64, jet: impl Fn(f64) -> Jet) -> f64 {
    let Belief { mean, variance } = cavity;
    let usable = |x: f64| {
        let at = jet(x);
        at.value.is_finite() && at.first.is_finite() && at.second.is_finite()
    };
    let mut x = if usable(mean) { mean } else { guess };
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    // The mode lies between those of cavity and likelihood, so that a fair guess gives the other
    // end.
    let slope = jet(guess).first - (guess - mean) / variance;
    if slope > 0.0 {
        low = guess;
    } else if slope < 0.0 {
        high = guess;
    }
    for round in 0..300 {
        let at = jet(x);
        let slope = at.first - (x - mean) / variance;
        let curvature = 1.0 / variance - at.second;
        if slope > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let step = slope / curvature;
        // By concavity the mode is no higher than this above x; a small step alone may be due to a
        // sharp bend.
        let rest = if slope > 0.0 { high - x } else { x - low };
        let gain = slope.abs() * rest;
        let small = step.abs() <= 0.1 / curvature.sqrt();
        if gain <= CLOSE || (small && (gain <= FAIR || rest == f64::INFINITY)) {
            return x;
        }
        let newton = x + step;
        let inside = newton > low && newton < high;
        let bracketed = low.is_finite() && high.is_finite();
        // Newton's steps may be short for long (exponential rises): halve every third time.
        let next = if bracketed && (!inside || round % 3 == 2) {
            0.5 * (low + high)
        } else if newton.is_finite() {
            newton
        } else {
            0.5 * (x + guess)
        };
        if next == x || high - low <= 4.0 * f64::EPSILON * x.abs() {
            return x;
        }
        x = next;
    }
    x
}

/// A local maximum of cavity times likelihood uphill from `start`, within a hundredth of its width.
///
/// Newton's method where the curvature has the right sign and the bracket allows, else growing
/// steps, else halving. A short step is believed only when the slope changes sign behind it: where
/// a likelihood goes flat its curvature falls so fast that steps are short far from the peak.
///
/// # Arguments
/// * `start` - inside `line`, where the likelihood is finite
/// * `line` - where to look; at finite ends the density must fall to 0
pub(super) fn climb(cavity: Belief, start: f64, line: (f64, f64), jet: impl Fn(f64) -> Jet) -> f64 {
    let (mut low, mut high) = line;
    let slopes = |x: f64| {
        let at = jet(x);
        let slope = at.first - (x - cavity.mean) / cavity.variance;
        (slope, 1.0 / cavity.variance - at.second)
    };
    let mut x = start;
    let mut stride: f64 = 0.0;
    for round in 0..400 {
        let (slope, curvature) = slopes(x);
        if slope > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let newton = slope / curvature;
        let short = curvature > 0.0 && newton.abs() <= 1e-2 / curvature.sqrt();
        let inside = curvature > 0.0 && x + newton > low && x + newton < high;
        let bracketed = low.is_finite() && high.is_finite();
        let next = if short && (inside || newton == 0.0) {
            let beyond = x + 2.0 * newton;
            if newton == 0.0 || !(beyond > low && beyond < high) || slopes(beyond).0 * slope <= 0.0
            {
                return x + newton;
            }
            let far = x + (2.0 * newton.abs()).max(2.0 * stride).copysign(slope);
            if far > low && far < high { far } else { beyond }
        } else if inside && !(bracketed && round % 3 == 2) {
            // Newton's steps may be short for long where the likelihood falls exponentially: halve
            // now and then.
            x + newton
        } else if bracketed {
            0.5 * (low + high)
        } else {
            let unit = (curvature.abs() + 1.0 / cavity.variance).sqrt().recip();
            x + (2.0 * stride).max(unit).copysign(slope)
        };
        if next == x || high - low <= 4.0 * f64::EPSILON * x.abs() {
            return x;
        }
        stride = (next - x).abs();
        x = next;
    }
    x
}

/// A place, and the jet there.
#[derive(Clone, Copy)]
struct Place {
    at: f64,
    jet: Jet,
}

/// The peak where cavity times likelihood is largest.
fn highest(cavity: Belief, peaks: &[f64], jet: impl Fn(f64) -> Jet) -> Place {
    let place = |at: f64| {
        let there = Place { at, jet: jet(at) };
        let away = at - cavity.mean;
        (there.jet.value - 0.5 * away * away / cavity.variance, there)
    };
    let (mut height, mut best) = place(peaks[0]);
    for &peak in &peaks[1..] {
        let (other, there) = place(peak);
        if other > height {
            (height, best) = (other, there);
        }
    }
    best
}

/// `log Z` and integrals of `g` against the tilted density that has the given peaks.
///
/// # Arguments
/// * `peaks` - every local maximum of cavity times likelihood, roughly; not empty
/// * `is_concave` - whether the likelihood is log-concave, so that there is one hump; a step of it
///   is no hump, and noticed
/// * `g` - of the latent value, its distance to the origin, and the jet there; its first entry must
///   be 1
/// # Returns
/// `log Z`; the origin (the highest peak); averages of `g`
pub(super) fn tilted_averages<const N: usize>(
    cavity: Belief,
    peaks: &[f64],
    is_concave: bool,
    jet: impl Fn(f64) -> Jet,
    g: impl Fn(f64, f64, &Jet) -> [f64; N],
) -> (f64, f64, [f64; N]) {
    let origin = highest(cavity, peaks, &jet);
    let (log_z, averages) = averages_around(cavity, origin, peaks, is_concave, jet, g);
    (log_z, origin.at, averages)
}

/// As [`tilted_averages`], from the highest peak.
fn averages_around<const N: usize>(
    cavity: Belief,
    highest: Place,
    peaks: &[f64],
    is_concave: bool,
    jet: impl Fn(f64) -> Jet,
    g: impl Fn(f64, f64, &Jet) -> [f64; N],
) -> (f64, [f64; N]) {
    let Belief { mean, variance } = cavity;
    let Place {
        at: origin,
        jet: top,
    } = highest;
    // log-density relative to the origin, its Gaussian part free of cancellation.
    let rise = |u: f64, at: &Jet| at.value - top.value - u * (0.5 * u + (origin - mean)) / variance;
    let width_of = |jet: &Jet| (1.0 / variance - jet.second.min(0.0)).sqrt().recip();
    let width = |x: f64| width_of(&jet(x));
    let node = |u: f64| {
        let at = jet(origin + u);
        (rise(u, &at), g(origin + u, u, &at))
    };
    let away = (origin - mean) * (origin - mean) / variance;
    let finish = |value: [f64; N]| {
        let log_z = top.value - 0.5 * away - 0.5 * elementary::log(2.0 * PI * variance)
            + elementary::log(value[0]);
        (log_z, value.map(|y| y / value[0]))
    };
    let unit = width_of(&top);
    // More peaks than that of cavity times likelihood and that of the likelihood: several humps, or
    // holes.
    let is_one = |&peak: &f64| {
        let u = peak - origin;
        u.abs() <= 3.0 * unit || rise(u, &jet(peak)) < -FALL
    };
    let one_hump = is_concave || (peaks.len() <= 2 && peaks.iter().all(is_one));
    if one_hump && let Some(value) = trapezoid(unit, node) {
        return finish(value);
    }
    let lowest = peaks.iter().copied().fold(origin, f64::min);
    let highest = peaks.iter().copied().fold(origin, f64::max);
    let left = end(lowest - origin, -width(lowest), unit, |u| {
        rise(u, &jet(origin + u))
    });
    let right = end(highest - origin, width(highest), unit, |u| {
        rise(u, &jet(origin + u))
    });
    let mut panels = Panels::new(left, right);
    for (k, &peak) in peaks.iter().enumerate() {
        // Two searches may end at one peak.
        let again = |other: &f64| (peak - other).abs() < 0.5 * width(peak);
        if peaks[..k].iter().any(again) {
            continue;
        }
        let nearest = (right - (peak - origin)).min((peak - origin) - left);
        panels.around(peak - origin, width(peak).min(nearest));
    }
    let Integrals { value, .. } = integrate(&panels, |u| {
        let (log, mut y) = node(u);
        let weight = elementary::exp(log);
        if weight == 0.0 {
            return [0.0; N];
        }
        for y in &mut y {
            *y *= weight;
        }
        y
    });
    finish(value)
}

/// Where the density beyond `from`, times the cube of the distance to the origin, has fallen by
/// `FALL`, to a factor of two: the second moment of Student's t falls like a power.
///
/// # Arguments
/// * `width` - first step, with its sign; `unit` - that of the distance to the origin
fn end(from: f64, width: f64, unit: f64, rise: impl Fn(f64) -> f64) -> f64 {
    let mut distance = width;
    // Up to 2^200 widths; not a number counts as fallen.
    let above = |distance: f64| {
        let u = from + distance;
        rise(u) + 3.0 * elementary::log1p((u / unit).abs()) > -FALL
    };
    if above(distance) {
        for _ in 0..200 {
            distance *= 2.0;
            if !above(distance) {
                break;
            }
        }
    } else {
        for _ in 0..200 {
            if above(0.5 * distance) {
                break;
            }
            distance *= 0.5;
        }
    }
    from + distance
}

/// `log Z` and site of a likelihood whose tilted density has the given peaks.
///
/// With averages under the tilted density, the site's slope `shift - precision f` is the linear
/// regression of `(log p)'` on `f`: `precision = -Cov((log p)', f) / V`, `shift = E (log p)' +
/// precision E f` (Stein's identity). No difference of nearly equal variances is taken, whichever
/// of cavity and likelihood is narrower.
pub(super) fn tilted_at(
    cavity: Belief,
    peaks: &[f64],
    is_concave: bool,
    jet: impl Fn(f64) -> Jet,
) -> Tilted {
    let highest = highest(cavity, peaks, &jet);
    let (origin, slope) = (highest.at, highest.jet.first);
    let (log_z, averages) = averages_around(cavity, highest, peaks, is_concave, jet, |_, u, at| {
        let excess = at.first - slope;
        [
            1.0,
            u,
            u * u,
            excess,
            excess * u,
            excess * excess,
            at.second,
        ]
    });
    let [_, centre, square, excess, product, excess_square, second] = averages;
    // d^2 log Z / d mean^2 = E (log p)'' + Var (log p)': better where the likelihood is nearly a
    // parabola over the cavity, whose points then differ too little for a regression. The terms
    // must not cancel.
    let spread = excess_square - excess * excess;
    let curvature = second + spread;
    let parabola = spread < 0.1 * second.abs();
    let precision = if parabola && (cavity.variance * curvature).abs() < WIDE {
        -curvature / (1.0 + cavity.variance * curvature)
    } else {
        (excess * centre - product) / (square - centre * centre)
    };
    Tilted {
        log_z,
        precision,
        shift: slope + excess + precision * (origin + centre),
    }
}

/// `log Z` and site of a log-concave likelihood.
pub(super) fn tilted(cavity: Belief, guess: f64, jet: impl Fn(f64) -> Jet) -> Tilted {
    let peak = mode(cavity, guess, &jet);
    // A cavity much wider than a step of the likelihood does not see it from the peak.
    tilted_at(cavity, &[peak, guess], true, jet)
}

/// A belief that is flat where any density is of interest.
const FLAT: f64 = 1e30;

/// `log integral exp(jet)` of a smooth log-concave hump; `None` where the trapezoid rule does not
/// find it smooth.
///
/// # Arguments
/// * `guess` - where it is finite
/// * `narrowest` - the sd of the steepest fall: steps do not pass over it
pub(super) fn log_integral(guess: f64, narrowest: f64, jet: impl Fn(f64) -> Jet) -> Option<f64> {
    let flat = Belief {
        mean: guess,
        variance: FLAT,
    };
    let peak = mode(flat, guess, &jet);
    let top = jet(peak);
    let width = (-top.second).sqrt().recip().min(4.0 * narrowest);
    let [sum] = trapezoid(width, |u| (jet(peak + u).value - top.value, [1.0]))?;
    let log = top.value + elementary::log(sum);
    log.is_finite().then_some(log)
}

/// Averages of `g` under a normal belief, with sizes of the integrands.
///
/// # Arguments
/// * `features` - (place, width) of every peak, bend or pole of `g`: its singularities are no
///   nearer to the real line than the least width
pub(super) fn averages<const N: usize>(
    belief: Belief,
    features: &[(f64, f64)],
    g: impl Fn(f64) -> [f64; N],
) -> Integrals<N> {
    if let Some(integrals) = smooth::averages(belief, features, &g) {
        return integrals;
    }
    adaptive_averages(belief, features, g)
}

/// As [`averages`], also where features are narrow.
pub(super) fn adaptive_averages<const N: usize>(
    belief: Belief,
    features: &[(f64, f64)],
    g: impl Fn(f64) -> [f64; N],
) -> Integrals<N> {
    adaptive_averages_of_many(belief, features, |places, out| {
        let pairs = places.iter().zip(out);
        pairs.for_each(|(f, out)| *out = g(*f));
    })
}

/// The same of functions that are quick at many places at once.
///
/// # Arguments
/// * `g` - fills in the functions at all of some places
pub(super) fn adaptive_averages_of_many<const N: usize>(
    belief: Belief,
    features: &[(f64, f64)],
    g: impl Fn(&[f64], &mut [[f64; N]]),
) -> Integrals<N> {
    let sd = belief.variance.sqrt();
    let scale = (2.0 * PI).sqrt().recip();
    let weighted = |z: &[f64], out: &mut [[f64; N]]| {
        let places: Vec<f64> = z.iter().map(|z| belief.mean + sd * z).collect();
        g(&places, out);
        let mut weights: Vec<f64> = z.iter().map(|z| -0.5 * z * z).collect();
        crate::special::exp(&mut weights);
        for (y, weight) in out.iter_mut().zip(&weights) {
            *y = y.map(|y| scale * weight * y);
        }
    };
    let part = |lower: f64, upper: f64| {
        let mut panels = Panels::new(lower, upper);
        for z in [-16.0, -3.5, 3.5, 16.0] {
            panels.split(z);
        }
        for &(place, width) in features {
            panels.around((place - belief.mean) / sd, width / sd);
        }
        integrate_many(&panels, weighted)
    };
    let mut integrals = part(-NEAR, NEAR);
    for side in [-1.0, 1.0] {
        // Rarely: nothing happens near the mean, or the functions grow exponentially.
        let mut there = [[0.0; N]; 3];
        weighted(
            &[1.0, 1.5, 2.5].map(|times| side * times * NEAR),
            &mut there,
        );
        let matters = there
            .iter()
            .any(|y| (0..N).any(|i| y[i].abs() > NEGLIGIBLE * integrals.size[i]));
        if matters {
            let far = if side < 0.0 {
                part(-REACH, -NEAR)
            } else {
                part(NEAR, REACH)
            };
            for i in 0..N {
                integrals.value[i] += far.value[i];
                integrals.size[i] += far.size[i];
            }
        }
    }
    integrals
}

/// `E log p` and its derivatives in the mean of the belief.
///
/// `E (log p)''` is also `E (log p)' (f - mean) / variance`; whichever integrand is smaller is
/// used.
pub(super) fn expected(
    belief: Belief,
    features: &[(f64, f64)],
    jet: impl Fn(f64) -> Jet,
) -> Expected {
    let Integrals { value, size } = averages(belief, features, |f| {
        let at = jet(f);
        let pull = at.first * (f - belief.mean) / belief.variance;
        [at.value, at.first, at.second, pull]
    });
    let smaller = if size[3] < size[2] { 3 } else { 2 };
    Expected {
        value: value[0],
        first: value[1],
        second: value[smaller],
    }
}
