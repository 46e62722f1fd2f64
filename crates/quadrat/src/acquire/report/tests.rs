//! Reports against fine lattices that know nothing of their closed forms.

use super::*;
use crate::likelihood::local::Belief;

/// Entropy of probabilities, in nats.
fn entropy(p: impl IntoIterator<Item = f64>) -> f64 {
    p.into_iter()
        .filter(|p| *p > 0.0)
        .map(|p| -p * p.ln())
        .sum()
}

/// Latent values and their weights: a lattice of so many steps per sd, or per `finest`.
pub(super) fn lattice(belief: Belief, finest: f64) -> Vec<(f64, f64)> {
    let sd = belief.variance.sqrt();
    let step = 0.1 * sd.min(finest);
    let n = (9.0 * sd / step).ceil() as i64;
    let at = |i: i64| i as f64 * step / sd;
    let total: f64 = (-n..=n).map(|i| (-0.5 * at(i) * at(i)).exp()).sum();
    (-n..=n)
        .map(|i| {
            (
                belief.mean + sd * at(i),
                (-0.5 * at(i) * at(i)).exp() / total,
            )
        })
        .collect()
}

/// `H(y) - E H(y | f)` of answers with these probabilities at a latent value.
pub(super) fn brute(nodes: &[(f64, f64)], answers: impl Fn(f64) -> Vec<f64>) -> f64 {
    let mut all: Vec<f64> = Vec::new();
    let mut known = 0.0;
    for (f, w) in nodes {
        let p = answers(*f);
        all.resize(p.len(), 0.0);
        known += w * entropy(p.iter().copied());
        all.iter_mut().zip(&p).for_each(|(a, p)| *a += w * p);
    }
    entropy(all) - known
}

fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// Probabilities of the pieces between increasing edges.
fn pieces(edges: &[f64], f: f64, sd: f64) -> Vec<f64> {
    let at: Vec<f64> = edges.iter().map(|t| (t - f) / sd).collect();
    at.windows(2)
        .map(|w| {
            if w[0] > 0.0 {
                cdf(-w[0]) - cdf(-w[1])
            } else {
                cdf(w[1]) - cdf(w[0])
            }
        })
        .collect()
}

fn ranked(thresholds: &[f64], f: f64, sd: f64) -> Vec<f64> {
    let mut edges = vec![f64::NEG_INFINITY];
    edges.extend_from_slice(thresholds);
    edges.push(f64::INFINITY);
    pieces(&edges, f, sd)
}

pub(super) const BELIEFS: [(f64, f64); 8] = [
    (0.0, 1.0),
    (0.4, 0.3),
    (-1.3, 4.0),
    (0.2, 1e-3),
    (2.9, 0.05),
    (0.5, 25.0),
    (-0.6, 1e-6),
    (0.61, 0.4),
];

pub(super) fn belief((mean, variance): (f64, f64)) -> Belief {
    Belief { mean, variance }
}

/// Narrow and wide noise, ranks close together and far apart.
#[test]
fn ranks_tell_what_a_fine_lattice_says() {
    let thresholds: [&[f64]; 4] = [&[0.0], &[-0.5, 0.6], &[-1.0, -0.99, 0.2, 2.5], &[0.4, 7.0]];
    for thresholds in thresholds {
        for sd in [0.01, 0.1, 0.5, 3.0] {
            let report = Report::Ranks(Ranks::new(thresholds, sd * sd));
            for one in BELIEFS {
                let belief = belief(one);
                let nodes = lattice(belief, sd);
                let expected = brute(&nodes, |f| ranked(thresholds, f, sd));
                let told = report.information(belief);
                // Both are right to about 1e-12.
                assert!(
                    (told - expected).abs() < 1e-9,
                    "{thresholds:?} {sd} {one:?}: {told} {expected}"
                );
            }
        }
    }
}

/// The one function is the average over offsets of bins that part the line.
#[test]
fn intervals_tell_what_bins_with_any_offset_do() {
    for (width, sd) in [(0.5, 0.2), (1.0, 0.1), (2.0, 1.0), (0.3, 0.5)] {
        let report = Report::Bins(Bins {
            width,
            noise: sd * sd,
        });
        for one in [(0.0, 1.0), (0.4, 0.3), (0.2, 1e-3), (-3.0, 6.0)] {
            let belief = belief(one);
            let nodes = lattice(belief, sd);
            let spread = 10.0 * (belief.variance + sd * sd).sqrt();
            // A smooth periodic function of the offset: the trapezoid rule is exact to rounding
            // once its step is below half the noise.
            let offsets = (4.0 * width / sd).ceil().max(16.0) as usize;
            let one_offset = |k: usize| {
                let o = width * k as f64 / offsets as f64;
                let first = ((belief.mean - spread - o) / width).floor() as i64;
                let last = ((belief.mean + spread - o) / width).ceil() as i64;
                let edges: Vec<f64> = (first..=last).map(|i| o + i as f64 * width).collect();
                brute(&nodes, |f| pieces(&edges, f, sd))
            };
            let expected = (0..offsets).map(one_offset).sum::<f64>() / offsets as f64;
            let told = report.information(belief);
            // Two rules that are exact to rounding once they are fine enough: found are 3e-14
            // between them.
            assert!(
                (told - expected).abs() < 1e-9,
                "{width} {sd} {one:?}: {told} {expected}"
            );
        }
    }
}

/// Bins of a lattice that is much finer than the noise tell what the value does.
#[test]
fn values_tell_what_very_fine_bins_do() {
    let report = Report::Value(Value { noise: 0.25 });
    for one in [(0.0, 1.0), (0.4, 0.3)] {
        let belief = belief(one);
        let nodes = lattice(belief, 0.5);
        let edges: Vec<f64> = (-60_000..=60_000).map(|i| f64::from(i) * 2e-4).collect();
        let expected = brute(&nodes, |f| pieces(&edges, f, 0.5));
        // Width^2 / 12 of variance is added by the bins, beside a noise of 0.25.
        assert!((report.information(belief) - expected).abs() < 1e-8);
    }
}

fn all_reports() -> Vec<Report> {
    vec![
        Report::Value(Value { noise: 0.3 }),
        Report::Bins(Bins {
            width: 0.7,
            noise: 0.04,
        }),
        Report::Bins(Bins {
            width: 0.7,
            noise: 0.0,
        }),
        Report::Ranks(Ranks::new(vec![-0.4, 0.5], 0.09)),
        Report::Ranks(Ranks::new(vec![0.0], 1.0)),
    ]
}

/// Zero at zero, and never more than the most. Never less with more variance either, but for ranks
/// of which a wide belief leaves the middle ones out: those tell at last what a coin does.
#[test]
fn information_grows_from_nothing_to_the_most() {
    for report in all_reports() {
        assert_eq!(
            report.information(Belief {
                mean: 0.2,
                variance: 0.0
            }),
            0.0
        );
        let grows = !matches!(&report, Report::Ranks(ranks) if ranks.count() > 2);
        let mut last = 0.0;
        for k in 0..120 {
            let variance = 1e-12 * 10_f64.powf(0.15 * f64::from(k));
            let told = report.information(Belief {
                mean: 0.0,
                variance,
            });
            // Entropies are right to some roundings of a nat.
            assert!(
                !grows || told >= last - 4e-15,
                "{report:?} {variance}: {told} < {last}"
            );
            assert!(
                told.is_finite() && told <= report.most(variance) + 1e-12,
                "{report:?}"
            );
            last = told;
        }
        assert!(last > 0.5 * report.most(1e6).min(1.0), "{report:?} {last}");
    }
}

/// Far from all thresholds a rank tells nothing; of a huge variance as much as a coin does.
#[test]
fn ranks_have_their_limits() {
    let report = Report::Ranks(Ranks::new(vec![0.0, 1.0], 0.01));
    let far = report.information(Belief {
        mean: 40.0,
        variance: 1.0,
    });
    assert!(far.abs() < 1e-15);
    let wide = report.information(Belief {
        mean: 0.0,
        variance: 1e12,
    });
    // The middle rank and the noise have a share of 1e-6 of all.
    assert!((wide - std::f64::consts::LN_2).abs() < 1e-5, "{wide}");
    // Of a tiny variance half of it times the Fisher information, phi(z)^2 / (Phi (1 - Phi)).
    let one = Report::Ranks(Ranks::new(vec![0.3], 1.0));
    let phi = (-0.5_f64 * 0.09).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let fisher = phi * phi / (cdf(0.3) * cdf(-0.3));
    let tiny = one.information(Belief {
        mean: 0.0,
        variance: 1e-7,
    });
    // The next term is of the order of the square of the variance.
    assert!((tiny - 0.5e-7 * fisher).abs() < 1e-13, "{tiny}");
}

/// What is expected after other answers is the average over what they may say.
#[test]
fn later_information_is_the_average_over_earlier_answers() {
    let before = Belief {
        mean: 0.2,
        variance: 1.0,
    };
    for report in all_reports() {
        for left in [0.9, 0.4, 0.05, 1e-4] {
            let moved = Belief {
                mean: before.mean,
                variance: before.variance - left,
            };
            let nodes = lattice(moved, 0.1);
            let each = nodes.iter().map(|(mean, w)| {
                w * report.information(Belief {
                    mean: *mean,
                    variance: left,
                })
            });
            let expected: f64 = each.sum();
            let told = report.information_after(before, left, report.known(before));
            // The lattice in steps of a tenth of the narrower scale, and the rules of the reports:
            // found are 3e-13 between them.
            assert!(
                (told - expected).abs() < 1e-9,
                "{report:?} {left}: {told} {expected}"
            );
        }
    }
}

/// Noise that is nothing beside the thresholds: the lattice has some nodes, and ends.
#[test]
fn ranks_of_next_to_no_noise_end() {
    for noise in [1e-26, 1e-32, 1e-300] {
        let report = Report::Ranks(Ranks::new(vec![5.2], noise));
        let told = report.information(Belief {
            mean: 5.2,
            variance: 0.5,
        });
        // The sd of the noise is at most 1e-13 of that of the belief.
        assert!(
            (told - std::f64::consts::LN_2).abs() < 1e-9,
            "{noise}: {told}"
        );
    }
}

/// Two limits, one, none in reach; the density between them on bins much finer than the noise.
#[test]
fn clipped_values_tell_what_very_fine_bins_do() {
    let open = f64::INFINITY;
    for (lower, upper) in [(0.0, open), (-0.5, 0.8), (-open, 0.3), (-9.0, open)] {
        let report = Report::Clipped(Clipped {
            lower,
            upper,
            noise: 0.25,
        });
        for one in [(0.0, 1.0), (0.4, 0.09)] {
            let belief = belief(one);
            let nodes = lattice(belief, 0.5);
            let (from, to) = (f64::max(lower, -9.0), f64::min(upper, 9.0));
            let n = 18_000;
            let mut edges: Vec<f64> = (0..=n)
                .map(|i| from + (to - from) * f64::from(i) / f64::from(n))
                .collect();
            edges.insert(0, -open);
            edges.push(open);
            let expected = brute(&nodes, |f| pieces(&edges, f, 0.5));
            // Bins of width 1e-3 add 1e-7 to the variance of the noise, 0.25.
            let told = report.information(belief);
            assert!(
                (told - expected).abs() < 1e-6,
                "{lower} {upper} {one:?}: {told} {expected}"
            );
        }
    }
    // Without limits it is a value, and between limits far away nearly.
    let value = Report::Value(Value { noise: 0.25 });
    let free = Report::Clipped(Clipped {
        lower: -open,
        upper: open,
        noise: 0.25,
    });
    for one in BELIEFS {
        let (told, expected) = (
            free.information(belief(one)),
            value.information(belief(one)),
        );
        // Two entropies of order one.
        assert!((told - expected).abs() < 1e-14, "{one:?}");
    }
}
