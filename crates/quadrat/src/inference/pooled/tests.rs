//! Pooled rows against brute force, the engine of ordinary rows, and differences.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::testing::{NODES, kinds, pools};
use super::*;
use crate::inference::Evidence;
use crate::inference::sites::tests::Toy;
use crate::inference::sites::{Method, SiteEvidence, SiteOptions, condition_sites};
use crate::likelihood::Poisson;
use crate::likelihood::local::Local;
use crate::linalg::{Cholesky, Mat, dot, matvec};
use crate::link::{Link, Moments};

#[test]
fn the_mode_is_stationary_and_no_neighbour_is_better() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for (name, link, table) in kinds() {
        let toy = Toy::new(&NODES, vec![table]);
        let (theta, pools) = (toy.theta(), pools(link));
        let mode = find_mode(&toy, &pools, &theta, &PooledOptions::default()).unwrap();
        assert!(mode.converged, "{name} {link}: {}", mode.residual);
        let rows = crate::inference::sites::rows::Rows::new(&toy, &theta);
        let k = toy.covariance(&theta);
        let prior = toy.prior_mean().to_vec();
        // f = m + K b, so that (f - m)' K^-1 (f - m) = b' K b.
        let objective = |b: &[f64]| -> f64 {
            let away = matvec(k.as_ref(), b);
            let f: Vec<f64> = away.iter().zip(&prior).map(|(x, m)| m + x).collect();
            let rows = pools.means(&f).into_iter().enumerate().map(|(row, z)| {
                let (likelihood, own, at) = rows.at(row);
                likelihood.log_density(own, at, z.value).value
            });
            rows.sum::<f64>() - 0.5 * dot(b, &away)
        };
        let best = objective(&mode.dual);
        let scale = mode.dual.iter().fold(0.0_f64, |m, b| m.max(b.abs()));
        for i in 0..9 {
            let h = 1e-4 * scale;
            let moved = |step: f64| {
                let mut b = mode.dual.clone();
                b[i] += step;
                objective(&b)
            };
            // Central differences, extrapolated: truncation h^4, rounding eps / h.
            let central = |h: f64| (moved(h) - moved(-h)) / (2.0 * h);
            let slope = (4.0 * central(0.5 * h) - central(h)) / 3.0;
            assert!(
                slope.abs() < 1e-7 * (1.0 + best.abs()),
                "{name} {link} {i}: {slope}"
            );
        }
        for _ in 0..50 {
            let away: Vec<f64> = mode
                .dual
                .iter()
                .map(|b| b + 0.3 * scale * random.sample::<f64, _>(StandardNormal))
                .collect();
            assert!(objective(&away) <= best, "{name} {link}");
        }
    }
}

#[test]
fn rows_of_one_node_are_ordinary_rows() {
    for (name, link, table) in kinds() {
        let toy = Toy::new(&[0.0, 0.7, 1.9], vec![table]);
        let theta = toy.theta();
        let mut single = Pools::new(3);
        (0..3).for_each(|i| single.push(link, [(i, 3.0)]));
        let mut options = SiteOptions::new(Method::Laplace);
        options.tolerance = 1e-12;
        let ordinary = condition_sites(&toy, &theta, &options).unwrap();
        let tight = PooledOptions {
            tolerance: 1e-11,
            ..PooledOptions::default()
        };
        let mode = find_mode(&toy, &single, &theta, &tight).unwrap();
        assert!(mode.converged, "{name} {link}");
        let off = (mode.log_evidence - ordinary.log_evidence).abs();
        // Both modes are found to 1e-11 of a standard deviation or better.
        assert!(off < 1e-10, "{name} {link}: {off}");
        // The same from its definition: log det(I + W K) as det(W^-1 + K) det(W).
        let k = toy.covariance(&theta);
        let w: Vec<f64> = mode.jets.iter().map(|jet| (-jet.second).max(0.0)).collect();
        let scaled = Mat::from_fn(3, 3, |i, j| {
            (w[i] * w[j]).sqrt() * k[(i, j)] + if i == j { 1.0 } else { 0.0 }
        });
        let log_det = Cholesky::factor(scaled.as_ref()).unwrap().log_det();
        let away = matvec(k.as_ref(), &mode.dual);
        let total: f64 = mode.jets.iter().map(|jet| jet.value).sum();
        let want = total - 0.5 * (dot(&mode.dual, &away) + log_det);
        // Both at the same mode: rounding of sums of some ten nats, and of a determinant.
        assert!(
            (mode.log_evidence - want).abs() < 1e-10,
            "{name} {link}: {want}"
        );
        for (a, b) in mode.values.iter().zip(ordinary.mean()) {
            // The mode itself is found to 1e-9 of its standard deviation.
            assert!((a - b).abs() < 1e-8, "{name} {link}: {a} {b}");
        }
        let pooled = PooledEvidence::new(&toy, &single, PooledOptions::default());
        let (_, got) = pooled.evaluate(&theta).unwrap();
        let (_, want) = SiteEvidence::new(&toy, options).evaluate(&theta).unwrap();
        for (g, w) in got.iter().zip(&want) {
            assert!(
                (g - w).abs() < 1e-7 * (1.0 + w.abs()),
                "{name} {link}: {got:?} {want:?}"
            );
        }
        // On average, a row of one node is the variational approximation.
        let average = condition_pooled(&toy, &single, &theta, &PooledOptions::default()).unwrap();
        let mut options = SiteOptions::new(Method::Variational);
        options.tolerance = 1e-10;
        let variational = condition_sites(&toy, &theta, &options).unwrap();
        if !variational.found.converged {
            continue;
        }
        let k = toy.covariance(&theta);
        let shift = matvec(k.as_ref(), &average.alpha);
        for (i, mean) in variational.mean().iter().enumerate() {
            let off = (toy.prior_mean()[i] + shift[i] - mean).abs();
            // Both are fixed points, followed to 1e-7 and to 1e-10 of a standard deviation.
            assert!(off < 1e-6, "{name} {link}: {off}");
        }
    }
}

#[test]
fn gradients_are_central_differences() {
    for (name, link, table) in kinds() {
        let toy = Toy::new(&NODES, vec![table]);
        let (theta, pools) = (toy.theta(), pools(link));
        let evidence = PooledEvidence::new(&toy, &pools, PooledOptions::default());
        let (_, gradient) = evidence.evaluate(&theta).unwrap();
        for i in 0..theta.len() {
            let h = 1e-3 * theta[i].abs().max(0.1);
            let at = |factor: f64| {
                let mut moved = theta.clone();
                moved[i] += factor * h;
                evidence.value(&moved).unwrap()
            };
            // Fourth order: h^4, and the 1e-10 of the evidence over h.
            let numeric = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h);
            let error = (gradient[i] - numeric).abs();
            assert!(
                error < 1e-6 * numeric.abs().max(1.0),
                "{name} {link} {}: {} against {numeric}",
                toy.parameters[i].name,
                gradient[i]
            );
        }
    }
}

/// Means and covariance of the nodes.
fn normal(toy: &Toy, theta: &[f64], fit: &crate::inference::Conditioned) -> (Vec<f64>, Mat<f64>) {
    let k = toy.covariance(theta);
    let shift = matvec(k.as_ref(), &fit.alpha);
    let mean = shift
        .iter()
        .zip(toy.prior_mean())
        .map(|(x, m)| m + x)
        .collect();
    let reduced = fit.factor.whiten(k.clone());
    (mean, k - reduced.transpose() * &reduced)
}

#[test]
fn totals_agree_with_importance_sampling() {
    let mut worst = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    println!(
        "kind              link      log Z off  total off (sd)  sd ratio  of one unseen  node off (sd)  node sd ratio  share off mode"
    );
    for (name, link, table) in kinds() {
        if link == Link::Square {
            // Every node may have either sign, and a posterior keeps the one it began with.
            continue;
        }
        let toy = Toy::new(&NODES, vec![table]);
        let (mut theta, pools) = (toy.theta(), pools(link));
        // A sum that nobody saw, across rows.
        let mut other = Pools::new(9);
        other.push(link, (1..5).map(|i| (i, 1.0)));
        // Shorter than the rows: what makes the mode a bad mean.
        theta[1] = 0.35;
        let options = PooledOptions::default();
        let fit = condition_pooled(&toy, &pools, &theta, &options).unwrap();
        let (mean, covariance) = normal(&toy, &theta, &fit);
        let wide = Mat::from_fn(9, 9, |i, j| {
            1.3 * covariance[(i, j)] + if i == j { 1e-9 } else { 0.0 }
        });
        let proposal = Cholesky::factor(wide.as_ref()).unwrap();
        let k = toy.covariance(&theta);
        let prior = Cholesky::factor(
            Mat::from_fn(9, 9, |i, j| k[(i, j)] + if i == j { 1e-9 } else { 0.0 }).as_ref(),
        )
        .unwrap();
        let rows = crate::inference::sites::rows::Rows::new(&toy, &theta);
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let draws = 150_000;
        let mut logs = Vec::with_capacity(draws);
        let mut seen: Vec<Vec<f64>> = Vec::with_capacity(draws);
        for draw in 0..draws {
            // Antithetic pairs.
            let t: Vec<f64> = if draw % 2 == 0 {
                (0..9).map(|_| random.sample(StandardNormal)).collect()
            } else {
                let last: &Vec<f64> = &seen[draw - 1];
                last[13..22].iter().map(|t| -t).collect()
            };
            let step = proposal.multiply(&t);
            let f: Vec<f64> = step.iter().zip(&mean).map(|(s, m)| m + s).collect();
            let away: Vec<f64> = f.iter().zip(toy.prior_mean()).map(|(f, m)| f - m).collect();
            let z = prior.half_solve(&away);
            let mut log =
                -0.5 * (dot(&z, &z) - dot(&t, &t)) - 0.5 * (prior.log_det() - proposal.log_det());
            let mut values = f.clone();
            for (row, z) in pools.means(&f).into_iter().enumerate() {
                let (likelihood, own, at) = rows.at(row);
                log += likelihood.log_density(own, at, z.value).value;
                values.push(link.value(z.value));
            }
            values.push(link.value(other.means(&f)[0].value));
            values.extend(&t);
            logs.push(log);
            seen.push(values);
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|l| (l - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let effective = sum * sum / weights.iter().map(|w| w * w).sum::<f64>();
        // Means are known to 0.03 of a standard deviation.
        assert!(effective > 1500.0, "{name} {link}: {effective}");
        let log_z = most + (sum / draws as f64).ln();
        let moments = |c: usize| {
            let mean = weights
                .iter()
                .zip(&seen)
                .map(|(w, v)| w * v[c])
                .sum::<f64>()
                / sum;
            let square = weights
                .iter()
                .zip(&seen)
                .map(|(w, v)| w * (v[c] - mean).powi(2));
            (mean, (square.sum::<f64>() / sum).sqrt())
        };
        let told = OtherSums::new(&fit.factor, || toy.covariance(&theta));
        let (mut off, mut ratio, mut unseen, mut at_mode) = (0.0_f64, 1.0_f64, 1.0_f64, 0.0_f64);
        for row in 0..4 {
            let (nodes, shares) = if row < 3 {
                pools.row(row)
            } else {
                other.row(0)
            };
            let at: Vec<crate::likelihood::local::Belief> = nodes
                .iter()
                .map(|&i| crate::likelihood::local::Belief {
                    mean: mean[i],
                    variance: covariance[(i, i)],
                })
                .collect();
            let got = total(link, shares, &at, |i, j| covariance[(nodes[i], nodes[j])]);
            let (want, sd) = moments(9 + row);
            let cross = Mat::from_fn(9, nodes.len(), |i, j| covariance[(i, nodes[j])]);
            let here = Mat::from_fn(9, nodes.len(), |i, j| k[(i, nodes[j])]);
            let whitened = fit.factor.whiten(here);
            let values: Vec<f64> = nodes.iter().map(|&i| mean[i]).collect();
            let belief = told.as_ref().map_or(got.belief, |told| {
                let sum = SumNodes {
                    link,
                    weights: shares,
                    mean: &values,
                    cross: cross.as_ref(),
                    reduced: whitened.as_ref(),
                };
                told.belief(&got, &sum, |i, j| covariance[(nodes[i], nodes[j])])
            });
            let Moments {
                mean: told_mean,
                variance: told_variance,
                ..
            } = link.moments(belief);
            off = off.max((told_mean - want).abs() / sd);
            let own = told_variance.sqrt() / sd;
            let worst = if row < 3 { &mut ratio } else { &mut unseen };
            if own.ln().abs() > worst.ln().abs() {
                *worst = own;
            }
            // What the normal distribution around the mode would say.
            let mode = find_mode(&toy, &pools, &theta, &options).unwrap();
            let around: Vec<crate::likelihood::local::Belief> = nodes
                .iter()
                .zip(&at)
                .map(|(&i, b)| crate::likelihood::local::Belief {
                    mean: mode.values[i],
                    ..*b
                })
                .collect();
            let naive = total(link, shares, &around, |i, j| {
                covariance[(nodes[i], nodes[j])]
            });
            at_mode = at_mode.max((naive.mean / want - 1.0).abs());
        }
        let node = (0..9).fold(0.0_f64, |m, i| {
            let (want, sd) = moments(i);
            m.max((mean[i] - want).abs() / sd)
        });
        let stretch = (0..9).fold(1.0_f64, |m, i| {
            let ratio = covariance[(i, i)].sqrt() / moments(i).1;
            if ratio.ln().abs() > m.ln().abs() {
                ratio
            } else {
                m
            }
        });
        let error = fit.log_evidence - log_z;
        println!(
            "{name:17} {link:9} {error:10.3} {off:12.3} {ratio:9.3} {unseen:13.3} {node:12.3} {stretch:13.3} {at_mode:14.3}"
        );
        // Worse would be a wrong formula, not an approximation: values within a row have a prior sd
        // of 1.1 and hardly know of each other, which is as far from the linearisation as studies
        // go.
        worst = (
            worst.0.max(error.abs()),
            worst.1.max(off),
            worst.2.max(ratio.ln().abs()).max(unseen.ln().abs()),
            worst.3.max(node),
        );
    }
    assert!(worst.0 < 1.0, "log Z off by {}", worst.0);
    // Found are 0.24, 0.247 and 0.33, Monte Carlo errors included.
    assert!(worst.1 < 0.4, "a total is off by {} sd", worst.1);
    assert!(worst.2 < 0.25, "log ratio of sds {}", worst.2);
    assert!(worst.3 < 0.5, "a node is off by {} sd", worst.3);
}

#[test]
fn neither_the_order_of_rows_nor_repeated_nodes_matter() {
    let counts = |order: [usize; 3]| {
        let pick = |all: [f64; 3]| order.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        let table = Poisson::new(pick([7.0, 2.0, 12.0]), pick([1.5, 1.0, 2.0]), Link::Exp);
        Toy::new(&NODES, vec![Box::new(table.unwrap()) as Box<dyn Local>])
    };
    let plain = pools(Link::Exp);
    let mut other = Pools::new(9);
    for row in [2, 0, 1] {
        let (nodes, shares) = plain.row(row);
        // Every node twice, with half its share, all in another unit.
        let entries = nodes.iter().copied().zip(shares.iter().map(|p| 21.0 * p));
        other.push(Link::Exp, entries.clone().chain(entries));
    }
    let (first, second) = (counts([0, 1, 2]), counts([2, 0, 1]));
    let theta = first.theta();
    let options = PooledOptions::default();
    let a = condition_pooled(&first, &plain, &theta, &options).unwrap();
    let b = condition_pooled(&second, &other, &theta, &options).unwrap();
    // Modes are found to 1e-9 of a standard deviation, at which the evidence is stationary; the log
    // determinant moves with them.
    assert!((a.log_evidence - b.log_evidence).abs() < 1e-9);
    let ((mean, s), (other_mean, other_s)) =
        (normal(&first, &theta, &a), normal(&second, &theta, &b));
    for i in 0..9 {
        // The posterior is found to 1e-7 of its standard deviation.
        assert!((mean[i] - other_mean[i]).abs() < 1e-6);
        assert!((s[(i, i)] - other_s[(i, i)]).abs() < 1e-6);
    }
}

#[test]
fn a_factor_of_pools_is_the_matrix_it_stands_for() {
    let (_, link, table) = kinds().swap_remove(0);
    let toy = Toy::new(&NODES, vec![table]);
    let (theta, pools) = (toy.theta(), pools(link));
    let fit = condition_pooled(&toy, &pools, &theta, &PooledOptions::default()).unwrap();
    let factor = fit.factor;
    let inverse = factor.inverse().unwrap();
    let b: Vec<f64> = (0..9).map(|i| (i as f64).cos()).collect();
    let want = matvec(inverse.as_ref(), &b);
    for (got, want) in factor.solve(&b).iter().zip(&want) {
        // Rounding of solves of nine rows, times a small condition.
        assert!((got - want).abs() < 1e-11 * (1.0 + want.abs()));
    }
    for (i, d) in factor.inverse_diagonal().iter().enumerate() {
        // The same entries, by two sums of nine terms.
        assert!((d - inverse[(i, i)]).abs() < 1e-12 * (1.0 + d.abs()));
    }
    assert_eq!(factor.size(), 9);
}
