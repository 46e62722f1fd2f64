//! Rows with two latent values against grids and differences.

use super::*;
use crate::likelihood::{
    Censored, Degrees, Dispersion, Gaussian, Interval, Likelihood, NegativeBinomial, Noise, Side,
    StudentT, Truncated,
};

fn kinds() -> Vec<(Likelihood, Vec<f64>)> {
    let learned = || Noise::Learned;
    let nb = NegativeBinomial::new(vec![3.0], vec![2.0], Link::Exp, Dispersion::Learned);
    vec![
        (Gaussian::new(vec![0.7], learned()).unwrap().into(), vec![]),
        (
            StudentT::new(vec![1.7], learned(), Degrees::Learned)
                .unwrap()
                .into(),
            vec![5.0],
        ),
        (
            Interval::new(vec![0.2], vec![1.1], learned())
                .unwrap()
                .into(),
            vec![],
        ),
        (
            Censored::new(vec![0.4], &[Side::Right], learned())
                .unwrap()
                .into(),
            vec![],
        ),
        (
            Truncated::new(vec![0.4], vec![0.1], vec![f64::INFINITY], learned())
                .unwrap()
                .into(),
            vec![],
        ),
        (nb.unwrap().into(), vec![]),
    ]
}

const CAVITIES: [Pair<Belief>; 3] = [
    Pair {
        f: Belief {
            mean: 0.3,
            variance: 0.5,
        },
        g: Belief {
            mean: -1.0,
            variance: 0.6,
        },
    },
    Pair {
        f: Belief {
            mean: -1.0,
            variance: 2.0,
        },
        g: Belief {
            mean: 0.5,
            variance: 0.05,
        },
    },
    Pair {
        f: Belief {
            mean: 1.5,
            variance: 0.01,
        },
        g: Belief {
            mean: -3.0,
            variance: 2.5,
        },
    },
];

fn row_of(kind: &(Likelihood, Vec<f64>)) -> PairRow<'_> {
    PairRow {
        likelihood: kind.0.local(),
        rest: &kind.1,
        row: 0,
        link: Link::Exp,
        is_coarse: false,
    }
}

/// However uncertain `g` is, the nodes are few and integrate what is smooth within the range that
/// counts.
#[test]
fn nodes_have_a_limit_and_hold_the_whole_belief() {
    let kind = &kinds()[0];
    for coarse in [false, true] {
        let row = PairRow {
            is_coarse: coarse,
            ..row_of(kind)
        };
        for sd in [0.0, 1e-300, 1e-3, 1.0, 12.0, 14.0, 80.0, 1e3, 1e8, 1e150] {
            for mean in [0.0, -60.0, 300.0, -1e9] {
                let variance = sd * sd;
                let nodes: Vec<(f64, f64)> = row.nodes(Belief { mean, variance }).collect();
                assert!(nodes.len() < 420, "{sd:e} {mean:e}: {}", nodes.len());
                let total: f64 = nodes.iter().map(|n| n.1.exp()).sum();
                // What few nodes leave out is beyond five standard deviations.
                let allowed = if coarse { 2e-6 } else { 1e-10 };
                assert!((total - 1.0).abs() < allowed, "{sd:e} {mean:e}: {total}");
                let square: f64 = nodes.iter().map(|n| n.1.exp() * n.0 * n.0).sum();
                assert!(
                    (square - variance).abs() <= 20.0 * allowed * variance,
                    "{sd:e} {mean:e}"
                );
                // A logistic step in the middle of the range, half of a wide belief about it.
                let logistic = |n: &(f64, f64)| n.1.exp() / (1.0 + (-(mean + n.0)).exp());
                let above: f64 = nodes.iter().map(logistic).sum();
                if mean == 0.0 {
                    assert!((above - 0.5).abs() < allowed, "{sd:e}: {above}");
                }
            }
        }
    }
}

/// Weights and values of a fine grid over both latent values, written independently.
fn grid(kind: &(Likelihood, Vec<f64>), c: Pair<Belief>, mut visit: impl FnMut(f64, f64, f64, f64)) {
    let n = 700;
    let (sf, sg) = (c.f.variance.sqrt(), c.g.variance.sqrt());
    for i in -n..=n {
        for j in -60..=60 {
            let (zf, zg) = (9.0 * f64::from(i) / f64::from(n), 9.0 * f64::from(j) / 60.0);
            let (f, g) = (c.f.mean + sf * zf, c.g.mean + sg * zg);
            let mut own = vec![g.exp()];
            own.extend(&kind.1);
            let log = kind.0.local().log_density(&own, 0, f).value;
            let h = 81.0 / (f64::from(n) * 60.0) / (2.0 * std::f64::consts::PI);
            visit(h * (-0.5 * (zf * zf + zg * zg)).exp(), log, f, g);
        }
    }
}

#[test]
fn tilted_moments_are_those_of_a_grid() {
    for kind in &kinds() {
        for c in CAVITIES {
            let mut sums = [0.0; 5];
            grid(kind, c, |w, log, f, g| {
                let p = w * log.exp();
                let terms = [p, p * f, p * f * f, p * g, p * g * g];
                sums.iter_mut().zip(terms).for_each(|(s, t)| *s += t);
            });
            let row = row_of(kind);
            let TiltedPair { log_z, sites, .. } = row.tilted(c);
            let name = kind.0.name();
            // The grid's step in g, 0.15 sd, is exact; in f it is about a 10th of the narrowest
            // likelihood.
            assert!(
                (log_z - sums[0].ln()).abs() < 1e-6,
                "{name}: {log_z} {}",
                sums[0].ln()
            );
            for (site, c, k) in [(sites.f, c.f, 1), (sites.g, c.g, 3)] {
                let mean = sums[k] / sums[0];
                let variance = sums[k + 1] / sums[0] - mean * mean;
                let growth = 1.0 + c.variance * site.precision;
                let got = (c.mean + c.variance * site.shift) / growth;
                // The grid again, as above.
                assert!((got - mean).abs() < 1e-6 * c.variance.sqrt(), "{name} {k}");
                // A variance that would grow is kept.
                let expected = variance.min(c.variance);
                let got = c.variance / growth;
                assert!(
                    (got - expected).abs() < 2e-6 * c.variance,
                    "{name} {k}: {got} {expected}"
                );
            }
        }
    }
}

#[test]
fn jacobians_of_sites_are_differences() {
    for kind in &kinds() {
        for c in CAVITIES {
            let row = row_of(kind);
            let got = row.jacobian(c, 1e-3);
            let units = [
                c.f.variance.sqrt(),
                c.f.variance,
                c.g.variance.sqrt(),
                c.g.variance,
            ];
            for (input, unit) in units.into_iter().enumerate() {
                let at = |by: f64| {
                    let mut c = c;
                    match input {
                        0 => c.f.mean += by * unit,
                        1 => c.f.variance += by * unit,
                        2 => c.g.mean += by * unit,
                        _ => c.g.variance += by * unit,
                    }
                    let Pair { f, g } = row.tilted(c).sites;
                    [f.precision, f.shift, g.precision, g.shift]
                };
                let h = 1e-4;
                let (up, down) = (at(h), at(-h));
                for out in 0..4 {
                    let expected = (up[out] - down[out]) / (2.0 * h);
                    // In units of the cavity's own precision and shift; the rule's own error, times
                    // cubes of standard deviations, and that of the difference of variances.
                    let size = units[2 * (out / 2) + 1 - out % 2].recip();
                    let error = (got[input][out] * unit - expected).abs() / size;
                    let name = kind.0.name();
                    assert!(error < 2e-4, "{name} {input} {out}: {error:e} {c:?}");
                }
            }
        }
    }
}

#[test]
fn expectations_are_those_of_a_grid_and_their_slopes_differences() {
    for kind in &kinds() {
        for c in CAVITIES {
            let row = row_of(kind);
            let mut sum = 0.0;
            grid(kind, c, |w, log, _, _| sum += w * log);
            let (value, slopes) = row.expected(c);
            let name = kind.0.name();
            // Far tails of censored rows at tiny noise are of order a thousand.
            assert!(
                (value - sum).abs() < 1e-5 * (1.0 + sum.abs()),
                "{name}: {value} {sum}"
            );
            let h = 1e-3;
            for which in [0, 1] {
                let moved = |by: f64| {
                    let mut c = c;
                    let b = if which == 0 { &mut c.f } else { &mut c.g };
                    b.mean += by * b.variance.sqrt();
                    row.expected(c).0
                };
                let (b, got) = if which == 0 {
                    (c.f, slopes.f)
                } else {
                    (c.g, slopes.g)
                };
                let unit = h * b.variance.sqrt();
                let first = (moved(h) - moved(-h)) / (2.0 * unit);
                let second = (moved(h) - 2.0 * value + moved(-h)) / (unit * unit);
                // Truncation h^2 of the third and fourth derivative; rounding eps value / h^2.
                let size = (1.0 + value.abs()) / b.variance;
                assert!(
                    (got[0] - first).abs() < 1e-5 * size,
                    "{name} {which}: {got:?} {first}"
                );
                assert!(
                    (got[1] - second).abs() < 1e-4 * size,
                    "{name} {which}: {got:?} {second}"
                );
            }
        }
    }
}

/// How far beliefs are from cavity times site: nothing from their product, and as many sds as the
/// mean is moved, or as the logarithm of the variance.
#[test]
fn beliefs_are_off_by_what_they_are_moved() {
    let cavity = CAVITIES[0].f;
    let site = Site {
        precision: 3.0,
        shift: -0.7,
    };
    let variance = 1.0 / (1.0 / cavity.variance + site.precision);
    let mean = variance * (cavity.mean / cavity.variance + site.shift);
    let at = |sds: f64, log: f64| {
        let variance = variance * log.exp();
        let mean = mean + sds * variance.sqrt();
        off(cavity, site, Belief { mean, variance })
    };
    // A few roundings.
    assert!(at(0.0, 0.0) < 1e-14);
    for (sds, log, want) in [(0.3, 0.0, 0.3), (-0.3, 0.1, 0.3), (0.1, -0.4, 0.4)] {
        assert!((at(sds, log) - want).abs() < 1e-14, "{sds} {log}");
    }
}
