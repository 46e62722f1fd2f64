//! What every likelihood must satisfy. Each check returns a report, so that a test can also see one
//! refuse.

use quadrat::likelihood::distribution::Distribution;
use quadrat::likelihood::local::{Belief, Circumstances, Jet, Local};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::brute::{self, Averages};
use crate::by_draws;

/// (place, width) pairs of a row, from likelihood, own hyperparameters and row.
pub type Features = fn(&dyn Local, &[f64], usize) -> Vec<(f64, f64)>;
/// Of an observation's distribution and a row.
pub type LogProbability = Box<dyn Fn(&Distribution, usize) -> f64>;

/// A likelihood under contract.
pub struct Case {
    pub name: &'static str,
    pub likelihood: Box<dyn Local>,
    /// Settings of its own hyperparameters to try.
    pub own: Vec<Vec<f64>>,
    /// Places and widths of everything that bends in `log p(row | f)`; the first sets the scale of
    /// the beliefs.
    pub features: Features,
    /// What is known of a new observation that is like the row.
    pub circumstances: fn(usize) -> Circumstances,
    /// `log p(row | f)`, from the distribution of a new observation like it.
    pub log_probability: LogProbability,
    /// Whether `log p` has kinks, so that differences at random places and `E (log p)''` as an
    /// average do not apply.
    pub kinked: bool,
    /// Sd of the belief over width of the first feature.
    pub ratios: &'static [f64],
    /// Distance of the belief's mean from the first feature, in sds of belief and width together.
    pub distances: &'static [f64],
}

/// Subnormal numbers have fewer digits.
const SMALLEST: f64 = 1e-300;
pub const RATIOS: &[f64] = &[1e-6, 1e-3, 0.1, 1.0, 7.0, 1e3, 1e6];
pub const DISTANCES: &[f64] = &[0.0, 0.4, -1.5, 6.0, -40.0, 1e3];

impl Case {
    /// Every setting, row and belief.
    pub fn beliefs(&self, mut visit: impl FnMut(&[f64], usize, Belief, &[(f64, f64)])) {
        for own in &self.own {
            for row in 0..self.likelihood.rows() {
                let features = (self.features)(&*self.likelihood, own, row);
                let (place, width) = features[0];
                for &ratio in self.ratios {
                    for &distance in self.distances {
                        let sd = ratio * width;
                        let belief = Belief {
                            mean: place + distance * sd.hypot(width),
                            variance: sd * sd,
                        };
                        visit(own, row, belief, &features);
                    }
                }
            }
        }
    }
}

/// Failures, and the worst error as a fraction of what is allowed.
#[derive(Default)]
pub struct Report {
    pub failures: Vec<String>,
    pub worst: f64,
    pub compared: usize,
}

impl Report {
    pub fn compare(&mut self, what: impl FnOnce() -> String, got: f64, want: f64, tolerance: f64) {
        self.compared += 1;
        let error = (got - want).abs() / tolerance;
        if got == want || error <= 1.0 {
            if error.is_finite() {
                self.worst = self.worst.max(error);
            }
            return;
        }
        let text = format!(
            "{}: {got:e}, not {want:e} ({error:.3e} of the tolerance)",
            what()
        );
        self.failures.push(text);
    }

    pub fn insist(&mut self, what: impl FnOnce() -> String, holds: bool) {
        self.compared += 1;
        if !holds {
            self.failures.push(what());
        }
    }
}

/// Derivative by central differences with Ridders' extrapolation: value and error estimate.
///
/// Source: Ridders 1982, Adv. Eng. Software 4, 75.
pub fn derivative(f: impl Fn(f64) -> f64, x: f64, step: f64) -> (f64, f64) {
    let mut best = (f64::NAN, f64::INFINITY);
    let mut last: Vec<f64> = Vec::new();
    let mut h = step;
    for _ in 0..10 {
        let mut row = vec![(f(x + h) - f(x - h)) / (2.0 * h)];
        for (j, previous) in last.iter().enumerate() {
            let factor = 1.4f64.powi(2 * (j as i32 + 1));
            let next = (factor * row[j] - previous) / (factor - 1.0);
            let error = (next - row[j]).abs().max((next - previous).abs());
            if error < best.1 {
                best = (next, error);
            }
            row.push(next);
        }
        last = row;
        h /= 1.4;
    }
    best
}

/// `own` with one entry replaced.
fn with(own: &[f64], k: usize, value: f64) -> Vec<f64> {
    let mut own = own.to_vec();
    own[k] = value;
    own
}

/// The jet and its slopes are derivatives of the value.
pub fn derivatives(case: &Case) -> Report {
    let mut report = Report::default();
    let p = &case.likelihood;
    for own in &case.own {
        for row in 0..p.rows() {
            let features = (case.features)(&**p, own, row);
            for &(place, width) in &features {
                for offset in [-30.0, -4.2, -0.9, 0.13, 1.1, 2.7, 25.0] {
                    let f = place + offset * width;
                    let step = 0.1 * width * f64::abs(offset).clamp(0.5, 1.0);
                    let jet = |f: f64| p.log_density(own, row, f);
                    let at = jet(f);
                    let label =
                        |part: &str| format!("{} row {row} own {own:?} f {f}: {part}", case.name);
                    // Rounding of the differenced function, over the smallest step; and the size of
                    // its terms.
                    let mut check = |part: &str, got: f64, of: &dyn Fn(f64) -> f64| {
                        let (want, error) = derivative(of, f, step);
                        let rounding = 1e-13 * of(f).abs() / (0.03 * step);
                        report.compare(
                            || label(part),
                            got,
                            want,
                            1e-8 * want.abs() + 20.0 * error + rounding,
                        );
                    };
                    check("first", at.first, &|f| jet(f).value);
                    check("second", at.second, &|f| jet(f).first);
                    check("third", at.third, &|f| jet(f).second);
                    let mut slopes = vec![[f64::NAN; 3]; own.len()];
                    p.log_density_slopes(own, row, f, &mut slopes);
                    for (k, slopes) in slopes.iter().enumerate() {
                        let step = 0.02 * own[k].abs();
                        let parts: [fn(Jet) -> f64; 3] = [|j| j.value, |j| j.first, |j| j.second];
                        for (order, part) in parts.iter().enumerate() {
                            let of = |x: f64| part(p.log_density(&with(own, k, x), row, f));
                            let (want, error) = derivative(of, own[k], step);
                            let rounding = 1e-13 * part(at).abs() / (0.03 * step);
                            report.compare(
                                || label(&format!("slope {k} of part {order}")),
                                slopes[order],
                                want,
                                1e-8 * want.abs() + 20.0 * error + rounding,
                            );
                        }
                    }
                }
            }
        }
    }
    report
}

/// `log Z` and site against integration of the jets by a rule of the test's own.
pub fn tilted(case: &Case) -> Report {
    let mut report = Report::default();
    let p = &case.likelihood;
    case.beliefs(|own, row, cavity, features| {
        let label = |part: &str| format!("{} row {row} own {own:?} {cavity:?}: {part}", case.name);
        let got = p.tilted(own, row, cavity);
        if p.is_log_concave() {
            report.insist(|| label("precision is negative"), got.precision >= 0.0);
        }
        let Averages {
            log_z,
            mean,
            variance,
            precision,
            ..
        } = brute::tilted(cavity, features, |f| p.log_density(own, row, f));
        if !(log_z.is_finite() && variance > 0.0) {
            report.insist(|| label("the test's own integration failed"), false);
            return;
        }
        // The size of the terms whose difference log Z is.
        let at = p.log_density(own, row, mean).value.abs();
        let away = (mean - cavity.mean).powi(2) / cavity.variance;
        report.compare(
            || label("log Z"),
            got.log_z,
            log_z,
            1e-10 * (1.0 + at + away),
        );
        let tilted_variance = 1.0 / (1.0 / cavity.variance + got.precision);
        let tilted_mean = tilted_variance * (cavity.mean / cavity.variance + got.shift);
        // Doubles around the mean are this far apart.
        let spacing = 8.0 * f64::EPSILON * (mean.abs() + cavity.mean.abs() + features[0].0.abs());
        report.compare(
            || label("mean"),
            tilted_mean,
            mean,
            1e-9 * variance.sqrt() + spacing,
        );
        let rough = 1e-9 + 4.0 * spacing / variance.sqrt();
        report.compare(
            || label("variance"),
            tilted_variance,
            variance,
            rough * variance,
        );
        // A site much wider than the cavity moves nothing: to a part in 1e7 of itself, or 1e-12 of
        // the cavity.
        let scale = 1e-7 * precision.abs() + 1e-12 / cavity.variance;
        report.compare(
            || label("precision"),
            got.precision,
            precision,
            scale + rough * precision.abs(),
        );
    });
    report
}

/// Expectations against integration, and their derivatives.
pub fn expected(case: &Case) -> Report {
    let mut report = Report::default();
    let p = &case.likelihood;
    case.beliefs(|own, row, belief, features| {
        let label = |part: &str| format!("{} row {row} own {own:?} {belief:?}: {part}", case.name);
        let got = p.expected(own, row, belief);
        let want = brute::expected(belief, features, |f| p.log_density(own, row, f));
        // Points next to a bend are told apart no better than the spacing of doubles.
        let spacing = f64::EPSILON * (belief.mean.abs() + features[0].0.abs());
        let rough = 1e-9 + 1e3 * spacing / features[0].1.min(belief.variance.sqrt());
        report.compare(
            || label("value"),
            got.value,
            want.value,
            rough * want.size[0] + SMALLEST,
        );
        report.compare(
            || label("first"),
            got.first,
            want.first,
            rough * want.size[1] + SMALLEST,
        );
        if !case.kinked {
            // The smaller of two equal averages sets the scale.
            report.compare(
                || label("second"),
                got.second,
                want.second,
                rough * want.size[2] + SMALLEST,
            );
        }
    });
    report
}

/// `first` and `second` are derivatives of the expectation in mean and variance.
pub fn expected_derivatives(case: &Case) -> Report {
    let mut report = Report::default();
    let p = &case.likelihood;
    case.beliefs(|own, row, belief, features| {
        let sd = belief.variance.sqrt();
        if !(0.05..1e4).contains(&(sd / features[0].1)) {
            // The differences would be of rounding.
            return;
        }
        let label = |part: &str| format!("{} row {row} own {own:?} {belief:?}: {part}", case.name);
        let at = p.expected(own, row, belief);
        let in_mean = |mean: f64| p.expected(own, row, Belief { mean, ..belief });
        let in_variance = |variance: f64| p.expected(own, row, Belief { variance, ..belief });
        let step = 0.1 * sd;
        // Differences carry the errors of what they are taken of: 1e-11 of it.
        let (want, error) = derivative(|m| in_mean(m).value, belief.mean, step);
        let noise = 1e-11 * at.value.abs() / (0.1 * step);
        report.compare(
            || label("d value / d mean"),
            at.first,
            want,
            1e-7 * want.abs() + 20.0 * error + noise + SMALLEST,
        );
        let (want, error) = derivative(|m| in_mean(m).first, belief.mean, step);
        let noise_first = 1e-11 * (at.first.abs() + at.value.abs() / sd) / (0.1 * step);
        report.compare(
            || label("d first / d mean"),
            at.second,
            want,
            1e-7 * want.abs() + 20.0 * error + noise_first,
        );
        let step = 0.1 * belief.variance;
        let (want, error) = derivative(|v| in_variance(v).value, belief.variance, step);
        let noise = 1e-11 * at.value.abs() / (0.1 * step);
        report.compare(
            || label("d value / d variance"),
            0.5 * at.second,
            want,
            1e-7 * want.abs() + 20.0 * error + noise,
        );
    });
    report
}

/// Slopes of `log Z` and of the expectation in the own hyperparameters.
pub fn slopes(case: &Case) -> Report {
    let mut report = Report::default();
    let p = &case.likelihood;
    case.beliefs(|own, row, belief, _| {
        let label = |part: &str, k: usize| {
            format!(
                "{} row {row} own {own:?} {belief:?}: {part} in own {k}",
                case.name
            )
        };
        let (mut z, mut e) = (vec![f64::NAN; own.len()], vec![f64::NAN; own.len()]);
        p.tilted_slopes(own, row, belief, &mut z);
        p.expected_slopes(own, row, belief, &mut e);
        for k in 0..own.len() {
            let step = 0.02 * own[k].abs();
            let of = |x: f64| p.tilted(&with(own, k, x), row, belief).log_z;
            let (want, error) = derivative(of, own[k], step);
            // Ten digits of the value, and its rounding next to 1, over a step.
            let noise = (1e-11 * of(own[k]).abs() + 1e-15) / (0.1 * step);
            report.compare(
                || label("log Z", k),
                z[k],
                want,
                1e-7 * want.abs() + 20.0 * error + noise,
            );
            let of = |x: f64| p.expected(&with(own, k, x), row, belief).value;
            let (want, error) = derivative(of, own[k], step);
            let noise = 1e-11 * of(own[k]).abs() / (0.1 * step);
            report.compare(
                || label("E log p", k),
                e[k],
                want,
                1e-7 * want.abs() + 20.0 * error + noise,
            );
        }
    });
    report
}

/// New observations: the density integrates to one and is that of the rows; cdf, moments and draws
/// agree with it.
pub fn observations(case: &Case) -> Report {
    const DRAWS: usize = 4000;
    let mut report = Report::default();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let p = &case.likelihood;
    for own in &case.own {
        for row in 0..p.rows() {
            let features = (case.features)(&**p, own, row);
            let circumstances = (case.circumstances)(row);
            for offset in [-3.3, -0.6, 0.0, 1.9] {
                let f = features[0].0 + offset * features[0].1;
                let label =
                    |part: &str| format!("{} row {row} own {own:?} f {f}: {part}", case.name);
                let d = p.observation(own, &circumstances, f);
                let of_row = (case.log_probability)(&d, row);
                let value = p.log_density(own, row, f).value;
                let scale = 1e-11 * (1.0 + value.abs()) + 1e-13 / value.exp().max(1e-3);
                report.compare(|| label("log p of the row"), of_row, value, scale);

                let sums = brute::sums(&d);
                // Student's t with few degrees has no moments.
                report.compare(|| label("total probability"), sums.total, 1.0, 1e-9);
                let sd = d.variance().sqrt();
                let is_below = matches!(d.variance(), v if v < 0.0);
                report.insist(|| label("variance below zero"), !is_below);
                if sd.is_finite() {
                    report.compare(
                        || label("mean"),
                        d.mean(),
                        sums.mean,
                        1e-8 * sd + 1e-12 * d.mean().abs(),
                    );
                    report.compare(
                        || label("variance"),
                        d.variance(),
                        sums.variance,
                        1e-6 * d.variance(),
                    );
                }
                let mut last = 0.0;
                for (y, below) in &sums.below {
                    let cdf = d.cdf(*y);
                    report.compare(|| label(&format!("cdf at {y}")), cdf, *below, 1e-9);
                    report.insist(|| label("cdf falls"), cdf >= last && cdf <= 1.0);
                    last = cdf;
                }
                let draws: Vec<f64> = (0..DRAWS).map(|_| d.sample(&mut rng)).collect();
                let n = DRAWS as f64;
                if sd.is_finite() {
                    let mean = draws.iter().sum::<f64>() / n;
                    // Six standard errors.
                    report.compare(
                        || label("mean of draws"),
                        mean,
                        d.mean(),
                        6.0 * sd / n.sqrt() + 1e-12,
                    );
                }
                // Kolmogorov's distance at a few points: five standard errors.
                for (y, below) in &sums.below {
                    let share = draws.iter().filter(|&x| x <= y).count() as f64 / n;
                    let error = (below * (1.0 - below) / n).max(0.0).sqrt();
                    report.compare(
                        || label(&format!("draws up to {y}")),
                        share,
                        *below,
                        6.0 * error + 2.0 / n,
                    );
                }
            }
        }
    }
    report
}

pub type Check = fn(&Case) -> Report;

/// Every check by name.
pub const CHECKS: &[(&str, Check)] = &[
    ("derivatives", derivatives),
    ("tilted", tilted),
    ("tilted by draws", by_draws::tilted),
    ("expected by draws", by_draws::expected),
    ("expected", expected),
    ("derivatives of expected", expected_derivatives),
    ("observations", observations),
];

/// Runs every check that applies.
pub fn run(case: &Case) {
    assert!(case.likelihood.rows() > 0 && !case.own.is_empty());
    for own in &case.own {
        assert_eq!(
            own.len(),
            case.likelihood.parameters(1.0).len(),
            "{}",
            case.name
        );
    }
    for parameter in case.likelihood.parameters(1.7) {
        parameter.validate().unwrap();
    }
    let mut failures = Vec::new();
    let learned = !case.own[0].is_empty();
    let checks = CHECKS
        .iter()
        .copied()
        .chain(learned.then_some(("slopes", slopes as Check)));
    for (name, check) in checks {
        let started = std::time::Instant::now();
        let report = check(case);
        println!(
            "{} / {name}: {} comparisons, {} failures, worst {:.1e} of the tolerance, {:.1} s",
            case.name,
            report.compared,
            report.failures.len(),
            report.worst,
            started.elapsed().as_secs_f64()
        );
        failures.extend(
            report
                .failures
                .into_iter()
                .take(6)
                .map(|text| format!("[{name}] {text}")),
        );
    }
    assert!(
        failures.is_empty(),
        "{}\n{}",
        case.name,
        failures.join("\n")
    );
}
