//! Densities of samples from known ones: distance, and whether bands hold.

pub mod conditional;
pub mod draws;
pub mod plane;
mod truths;

use std::time::Instant;

use anyhow::Result;
use quadrat::density::{Density, Estimate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use truths::{TRUTHS, Truth};

use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, standard_error};

/// Level of the bands.
const LEVEL: f64 = 0.9;
/// Points at which densities are compared.
const POINTS: usize = 2048;
/// Bins of binned data.
const BINS: usize = 20;
/// The mass over which bands are looked at.
const CENTRAL: f64 = 0.9;
/// Seeds before this one were used to choose the prior.
const FIRST_SEED: u64 = 41;

/// How a sample is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// As it is.
    Raw,
    /// Counts of bins over its extent, or between bounds.
    Bins,
    /// Rounded to a tenth of its standard deviation.
    Rounded,
    /// Each value in an interval of an eighth of the extent, placed at random.
    Intervals,
}

impl Seen {
    fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Bins => "20 bins",
            Self::Rounded => "rounded",
            Self::Intervals => "intervals",
        }
    }
}

/// What one sample gave.
struct Outcome {
    divergence: f64,
    covered: f64,
    whole: bool,
    seconds: f64,
    effective: f64,
    uneven: bool,
}

/// Runs the study.
///
/// # Errors
/// Where a density is refused.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Densities of samples from known ones");
    let repeats = settings.repeats(3, 60);
    let seeds: Vec<u64> = (0..repeats as u64).map(|i| FIRST_SEED + i).collect();
    report.setting(format!(
        "{repeats} seeds from {FIRST_SEED} on, {LEVEL} bands looked at over the central {CENTRAL} of the mass; divergence in nats, on {POINTS} points"
    ));
    let head = [
        "truth",
        "KL",
        "se",
        "ssden",
        "prototype",
        "pointwise",
        "whole curve",
        "effective",
        "uneven",
        "ms",
    ];
    let few = settings.repeats(2, 30).min(repeats);
    let mut plan = vec![(Seen::Raw, 100, repeats)];
    if !settings.quick {
        plan.extend([(Seen::Raw, 30, few), (Seen::Raw, 1000, few)]);
        plan.extend([Seen::Bins, Seen::Rounded, Seen::Intervals].map(|seen| (seen, 100, few)));
    }
    let mut raw = Vec::new();
    for (seen, n, repeats) in plan {
        let mut table = Table::new(&format!("{}, n = {n}, {repeats} seeds", seen.name()), &head);
        let mut covered = Vec::new();
        for truth in TRUTHS.iter().filter(|t| settings.wants(t.name)) {
            let outcomes = seeds[..repeats]
                .par_iter()
                .map(|seed| outcome(truth, seen, n, *seed))
                .collect::<Result<Vec<Outcome>>>()?;
            let of = |f: fn(&Outcome) -> f64| outcomes.iter().map(f).collect::<Vec<f64>>();
            let divergence = of(|o| o.divergence);
            let holds = mean(&of(|o| o.covered));
            covered.push(holds);
            if (seen, n) == (Seen::Raw, 100) {
                raw.push((truth, mean(&divergence)));
            }
            let known = |x: Option<f64>| {
                x.filter(|_| (seen, n) == (Seen::Raw, 100))
                    .map_or(String::new(), |x| format!("{x:.4}"))
            };
            table.row(vec![
                truth.name.to_owned(),
                format!("{:.4}", mean(&divergence)),
                format!("{:.4}", standard_error(&divergence)),
                known(truth.ssden),
                known(truth.prototype),
                format!("{holds:.3}"),
                format!("{:.3}", mean(&of(|o| f64::from(u8::from(o.whole))))),
                format!("{:.0}", mean(&of(|o| o.effective))),
                outcomes.iter().filter(|o| o.uneven).count().to_string(),
                format!("{:.0}", 1000.0 * mean(&of(|o| o.seconds))),
            ]);
        }
        if !settings.quick && covered.len() == TRUTHS.len() && (seen, n) == (Seen::Raw, 100) {
            report.check(
                "mean coverage of pointwise bands, raw, n = 100",
                mean(&covered),
                0.85,
                0.97,
            );
            report.check(
                "least of them",
                covered.iter().copied().fold(1.0, f64::min),
                0.8,
                1.0,
            );
        }
        report.tables.push(table);
    }
    if !settings.quick {
        for (truth, ours) in raw.iter().take(4) {
            if let Some(ssden) = truth.ssden {
                // Other draws: a tenth is within the noise of two means.
                report.check(
                    format!("mean KL over that of ssden, {}", truth.name),
                    ours / ssden,
                    0.0,
                    1.1,
                );
            }
        }
    }
    report.note("ssden and the prototype were run on draws of their own: differences below two standard errors say nothing");
    Ok(report)
}

fn outcome(truth: &Truth, seen: Seen, n: usize, seed: u64) -> Result<Outcome> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let values: Vec<f64> = (0..n).map(|_| (truth.draw)(&mut random)).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let open = |bound: f64, range: f64, data: f64| {
        if bound.is_finite() {
            bound
        } else {
            range + data
        }
    };
    let from = open(
        truth.bounds.0,
        truth.range.0,
        (least - 0.1 - truth.range.0).min(0.0),
    );
    let to = open(
        truth.bounds.1,
        truth.range.1,
        (most + 0.1 - truth.range.1).max(0.0),
    );
    let extent = if truth.bounds.0.is_finite() {
        (from, to)
    } else {
        (least, most)
    };
    let (lower, upper, counts) = indirect(&values, seen, extent, truth.bounds, &mut random);
    let density = match seen {
        Seen::Raw => Density::new(&values),
        Seen::Bins => Density::from_bins(&lower, &upper, &counts),
        Seen::Rounded | Seen::Intervals => Density::from_intervals(&lower, &upper),
    };
    let start = Instant::now();
    let estimate = density
        .bounds(truth.bounds.0, truth.bounds.1)
        .range(from, to)
        .level(LEVEL)
        .seed(seed)
        .estimate()?;
    let seconds = start.elapsed().as_secs_f64();
    let (divergence, covered, whole) = compare(truth, &estimate, from, to);
    let (effective, uneven) = (estimate.effective_size(), !estimate.is_weighted());
    Ok(Outcome {
        divergence,
        covered,
        whole,
        seconds,
        effective,
        uneven,
    })
}

/// Ends of intervals, and counts of bins.
fn indirect(
    values: &[f64],
    seen: Seen,
    (from, to): (f64, f64),
    bounds: (f64, f64),
    random: &mut ChaCha8Rng,
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let within = |x: f64| x.clamp(bounds.0, bounds.1);
    match seen {
        Seen::Raw => (Vec::new(), Vec::new(), Vec::new()),
        Seen::Bins => {
            let width = (to - from) / BINS as f64;
            let edge = |i: usize| {
                if i == BINS {
                    to
                } else {
                    from + width * i as f64
                }
            };
            let mut counts = vec![0.0; BINS];
            for x in values {
                counts[(((x - from) / width) as usize).min(BINS - 1)] += 1.0;
            }
            (
                (0..BINS).map(edge).collect(),
                (1..=BINS).map(edge).collect(),
                counts,
            )
        }
        Seen::Rounded => {
            let centre = mean(values);
            let sd = (values.iter().map(|x| (x - centre).powi(2)).sum::<f64>()
                / values.len() as f64)
                .sqrt();
            let step = 0.1 * sd;
            let lower: Vec<f64> = values.iter().map(|x| (x / step).floor() * step).collect();
            let upper = lower.iter().map(|a| within(a + step)).collect();
            (
                lower.iter().map(|a| within(*a)).collect(),
                upper,
                Vec::new(),
            )
        }
        Seen::Intervals => {
            let width = (to - from) / 8.0;
            let lower: Vec<f64> = values
                .iter()
                .map(|x| x - width * random.random::<f64>())
                .collect();
            let upper = lower
                .iter()
                .zip(values)
                .map(|(a, x)| within((a + width).max(*x)))
                .collect();
            (
                lower.iter().map(|a| within(*a)).collect(),
                upper,
                Vec::new(),
            )
        }
    }
}

/// Divergence from the truth, the share of the mass over which the pointwise band holds, and
/// whether the simultaneous band holds everywhere.
fn compare(truth: &Truth, estimate: &Estimate, from: f64, to: f64) -> (f64, f64, bool) {
    let h = (to - from) / POINTS as f64;
    let at = |i: usize| from + h * (i as f64 + 0.5);
    let masses: Vec<f64> = (0..POINTS).map(|i| h * (truth.pdf)(at(i))).collect();
    let total: f64 = masses.iter().sum();
    let (mut divergence, mut inside, mut looked, mut before, mut whole) =
        (0.0, 0.0, 0.0, 0.0, true);
    let (low, high) = estimate.simultaneous();
    for (i, mass) in masses.iter().enumerate() {
        let p = mass / total;
        let Some(cell) = estimate.cell(at(i)) else {
            continue;
        };
        let density = p / h;
        if p > 0.0 {
            divergence += p * (density / estimate.density()[cell]).ln();
        }
        let middle = before + 0.5 * p;
        before += p;
        if (middle - 0.5).abs() < 0.5 * CENTRAL {
            looked += p;
            if (estimate.lower()[cell]..=estimate.upper()[cell]).contains(&density) {
                inside += p;
            }
            whole &= (low[cell]..=high[cell]).contains(&density);
        }
    }
    (divergence, inside / looked, whole)
}
