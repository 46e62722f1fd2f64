//! Against brute force, against sampling, and on samples that nobody would wish for.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::basis::{Basis, Kernel, Length};
use super::cells::Cells;
use super::counts::Counts;
use super::curves::curves;
use super::hyper::{Component, explore};
use super::map::evidence;
use super::newton::Problem;
use super::rows::{Rows, clean};
use super::scale::scale;
use super::split::sample;
use super::*;
use crate::linalg::{Cholesky, dot, gemm, matvec, symmetric_from_fn};
use crate::linalg::{Mat, symmetric_eigen};

const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut random = random(seed);
    (0..n).map(|_| StandardNormal.sample(&mut random)).collect()
}

struct Small {
    cells: Cells,
    counts: Counts,
    basis: Basis,
}

fn small(rows: Rows<'_>, cells: usize) -> Small {
    let rows = clean(rows, None, OPEN, false).unwrap();
    let scale = scale(&rows).unwrap();
    let cells = Cells::lay(cells, &scale, OPEN, None, false).unwrap();
    let counts = Counts::new(&rows, &cells, &mut Vec::new()).unwrap();
    let basis = Basis::new(
        cells.len(),
        &estimate::polynomials(&cells, false),
        cells.len(),
    );
    Small {
        cells,
        counts,
        basis,
    }
}

/// `C = sd^2 (K + jitter) + variance H H'` on the cells.
fn dense(small: &Small, kernel: Kernel, length: f64, sd: f64, variance: f64) -> Mat<f64> {
    let m = small.cells.len();
    let view = small.basis.view(0);
    symmetric_from_fn(m, |i, j| {
        let h: f64 = (0..view.q)
            .map(|k| view.phi[(i, k)] * view.phi[(j, k)])
            .sum();
        let jitter = if i == j { 1e-9 * m as f64 } else { 0.0 };
        let k = kernel.at((i - j) as f64 * small.cells.step / length).0 + jitter;
        sd * sd * k + variance * h
    })
}

/// Newton's method on the cells with the multinomial likelihood: equations 13 to 16 of Riihimaki & Vehtari. Returns mode, evidence, posterior covariance.
fn brute(small: &Small, c: &Mat<f64>) -> (Vec<f64>, f64, Mat<f64>) {
    let (m, n) = (c.nrows(), small.counts.total);
    let mut f = vec![0.0; m];
    let mut f_next = f.clone();
    let mut out = (0.0, Mat::zeros(m, m));
    let mut a = vec![0.0; m];
    for _ in 0..100 {
        f = f_next;
        let look = small.counts.look(&f, &small.cells.log_measure);
        let u = &look.u;
        let root: Vec<f64> = u.iter().map(|u| u.sqrt()).collect();
        let r = Mat::from_fn(m, m, |i, j| {
            n.sqrt() * (if i == j { root[i] } else { 0.0 } - u[i] * root[j])
        });
        let cr = gemm(c.as_ref(), r.as_ref());
        let inner = gemm(r.transpose(), cr.as_ref());
        let inner = symmetric_from_fn(m, |i, j| inner[(i, j)] + if i == j { 1.0 } else { 0.0 });
        let factor = Cholesky::factor(inner.as_ref()).unwrap();
        let uf = dot(u, &f);
        let b: Vec<f64> = (0..m)
            .map(|j| n * u[j] * (f[j] - uf) + look.slope[j])
            .collect();
        let inside = factor.solve(&matvec(cr.transpose(), &b));
        let outside = matvec(r.as_ref(), &inside);
        a = b.iter().zip(&outside).map(|(b, o)| b - o).collect();
        f_next = matvec(c.as_ref(), &a);
        let moved = f
            .iter()
            .zip(&f_next)
            .map(|(x, y)| (x - y).abs())
            .fold(0.0, f64::max);
        let half = {
            let mut x = cr.transpose().to_owned();
            factor.half_solve_in_place(x.as_mut());
            x
        };
        let covariance = c - gemm(half.transpose(), half.as_ref());
        let value = look.value - 0.5 * dot(&a, &f) - 0.5 * factor.log_det();
        out = (value, covariance);
        if moved < 1e-11 {
            break;
        }
        // Halve long steps: the mode is unique.
        if moved > 3.0 {
            f_next
                .iter_mut()
                .zip(&f)
                .for_each(|(x, y)| *x = y + (*x - y) * 3.0 / moved);
        }
    }
    assert!(!a.is_empty());
    (f, out.0, out.1)
}

fn component(small: &Small, kernel: Kernel, length: f64, sd: f64, r: usize) -> Component {
    let view = small.basis.view(r);
    let laid = Length::new(kernel, &small.cells, length, r).unwrap();
    let prior = laid.prior(view.q, r, 10.0, sd).unwrap();
    let problem = Problem {
        counts: &small.counts,
        basis: view,
        log_measure: &small.cells.log_measure,
    };
    let mode = problem.mode(&prior, &[], 1e-10).unwrap();
    Component {
        length,
        sd,
        weight: 1.0,
        r,
        prior,
        mode,
    }
}

#[test]
fn mode_evidence_and_covariance_are_those_of_brute_force() {
    let values = normals(60, 3);
    let small = small(Rows::Values(&values), 40);
    let (length, sd, m) = (0.8, 0.9, 40);
    let c = dense(&small, Kernel::Matern32, length, sd, 10.0);
    let (f, value, covariance) = brute(&small, &c);
    let got = component(&small, Kernel::Matern32, length, sd, m - 1);
    let view = small.basis.view(m - 1);
    // Constants are seen by neither: compare what is left without the mean.
    let centred = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / m as f64;
        x.iter().map(|x| x - mean).collect::<Vec<f64>>()
    };
    for (got, want) in centred(&got.mode.eta).iter().zip(centred(&f)) {
        assert!((got - want).abs() < 1e-8, "{got} {want}");
    }
    assert!(
        (got.mode.log_evidence - value).abs() < 1e-8,
        "{} {value}",
        got.mode.log_evidence
    );
    let inverse = got.mode.factor.inverse();
    let ours = gemm(
        gemm(view.phi, inverse.as_ref()).as_ref(),
        view.phi.transpose(),
    );
    let project = |a: &Mat<f64>| {
        let columns: Vec<Vec<f64>> = (0..m).map(|j| centred(a.col_as_slice(j))).collect();
        let rows: Vec<Vec<f64>> = (0..m)
            .map(|i| centred(&columns.iter().map(|c| c[i]).collect::<Vec<f64>>()))
            .collect();
        Mat::from_fn(m, m, |i, j| rows[i][j])
    };
    assert!((project(&ours).as_ref() - project(&covariance).as_ref()).norm_max() < 1e-8);
}

/// The multinomial likelihood is Poisson's with a free intercept.
#[test]
fn the_evidence_is_that_of_counts_with_a_free_intercept() {
    let values = normals(60, 4);
    let small = small(Rows::Values(&values), 40);
    let c = dense(&small, Kernel::Se, 1.1, 0.7, 10.0);
    let got = component(&small, Kernel::Se, 1.1, 0.7, 39);
    let (n, m) = (small.counts.total, 40);
    let s: Vec<f64> = got.mode.look.u.iter().map(|u| (n * u).sqrt()).collect();
    let inner = symmetric_from_fn(m, |i, j| {
        s[i] * c[(i, j)] * s[j] + if i == j { 1.0 } else { 0.0 }
    });
    let factor = Cholesky::factor(inner.as_ref()).unwrap();
    // E = S^1/2 (I + S^1/2 C S^1/2)^-1 S^1/2.
    let ones = factor.half_solve(&s);
    let log_det = factor.log_det() + (dot(&ones, &ones) / n).ln();
    let want = got.mode.look.value - 0.5 * got.mode.square - 0.5 * log_det;
    assert!(
        (got.mode.log_evidence - want).abs() < 1e-8,
        "{} {want}",
        got.mode.log_evidence
    );
}

/// Values, and intervals of several cells.
#[test]
fn gradients_of_the_evidence_are_differences() {
    let values = normals(50, 5);
    let lower: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(i, x)| x - 0.1 * (i % 7) as f64)
        .collect();
    let upper: Vec<f64> = lower
        .iter()
        .enumerate()
        .map(|(i, x)| x + 0.2 * (i % 7) as f64)
        .collect();
    for rows in [Rows::Values(&values), Rows::Intervals(&lower, &upper)] {
        let small = small(rows, 60);
        assert_eq!(
            small.counts.spans.is_empty(),
            matches!(rows, Rows::Values(_))
        );
        for (kernel, at) in [(Kernel::Se, [0.2, -0.4]), (Kernel::Matern32, [-0.3, 0.5])] {
            let view = small.basis.view(30);
            let look = |at: [f64; 2]| {
                evidence(
                    &small.counts,
                    view,
                    &small.cells,
                    kernel,
                    100.0,
                    at,
                    &[],
                    1e-10,
                )
                .unwrap()
            };
            let slope = look(at).slope;
            for k in 0..2 {
                let h = 1e-4;
                let side = |sign: f64| {
                    let mut at = at;
                    at[k] += sign * h;
                    look(at).value
                };
                let want = (side(1.0) - side(-1.0)) / (2.0 * h);
                // Differences err by h^2 times a third derivative of about ten.
                assert!(
                    (slope[k] - want).abs() < 1e-6,
                    "{kernel:?} {k}: {} {want}",
                    slope[k]
                );
            }
        }
    }
}

/// Elliptical slice sampling of the function on the cells: means of the probabilities, and their standard errors by batches.
fn slice_sampler(small: &Small, c: &Mat<f64>, steps: usize) -> (Vec<f64>, Vec<f64>) {
    const BATCHES: usize = 40;
    let m = c.nrows();
    let mut random = random(17);
    let eigen = symmetric_eigen(c.as_ref()).unwrap();
    let root = Mat::from_fn(m, m, |i, j| {
        eigen.vectors[(i, j)] * eigen.values[j].max(0.0).sqrt()
    });
    let value = |f: &[f64]| small.counts.look(f, &small.cells.log_measure).value;
    let (mut f, _, _) = brute(small, c);
    let mut now = value(&f);
    let mut batches = vec![vec![0.0; m]; BATCHES];
    let warm = steps / 10;
    for step in 0..steps + warm {
        let z: Vec<f64> = (0..m).map(|_| StandardNormal.sample(&mut random)).collect();
        let nu = matvec(root.as_ref(), &z);
        let threshold = now + random.random::<f64>().ln();
        let turn = std::f64::consts::TAU;
        let mut angle = turn * random.random::<f64>();
        let (mut low, mut high) = (angle - turn, angle);
        loop {
            let (s, c) = angle.sin_cos();
            let next: Vec<f64> = f.iter().zip(&nu).map(|(f, n)| f * c + n * s).collect();
            let at = value(&next);
            if at > threshold {
                (f, now) = (next, at);
                break;
            }
            if angle < 0.0 {
                low = angle
            } else {
                high = angle
            }
            angle = low + (high - low) * random.random::<f64>();
        }
        if step >= warm {
            let u = small.counts.look(&f, &small.cells.log_measure).u;
            let batch = &mut batches[(step - warm) * BATCHES / steps];
            batch
                .iter_mut()
                .zip(&u)
                .for_each(|(b, u)| *b += u * BATCHES as f64 / steps as f64);
        }
    }
    let mean = |j: usize| batches.iter().map(|b| b[j]).sum::<f64>() / BATCHES as f64;
    let error = |j: usize| {
        let mean = mean(j);
        let variance: f64 = batches.iter().map(|b| (b[j] - mean).powi(2)).sum();
        (variance / (BATCHES * (BATCHES - 1)) as f64).sqrt()
    };
    ((0..m).map(mean).collect(), (0..m).map(error).collect())
}

#[test]
fn weighted_draws_agree_with_a_slice_sampler() {
    let values = normals(12, 8);
    let small = small(Rows::Values(&values), 24);
    let (kernel, length, sd) = (Kernel::Matern32, 1.0, 1.2);
    let c = dense(&small, kernel, length, sd, 10.0);
    let (want, error) = slice_sampler(&small, &c, 120_000);
    let parts = [component(&small, kernel, length, sd, 23)];
    let measure = &small.cells.log_measure;
    let draw = sample(
        &small.counts,
        &small.basis,
        measure,
        &parts,
        40_000,
        5,
        true,
    )
    .unwrap();
    let found = curves(&small.counts, draw, true);
    assert!(found.effective > 4000.0, "{}", found.effective);
    let mode = &parts[0].mode.look.u;
    let mut gap_of_mode = 0.0_f64;
    for j in 0..want.len() {
        let own: f64 = found
            .log_mass
            .col_as_slice(j)
            .iter()
            .zip(&found.weights)
            .map(|(x, w)| (w * (x.exp() - found.mean[j])).powi(2))
            .sum();
        let error = (error[j].powi(2) + own).sqrt();
        let gap = (found.mean[j] - want[j]).abs();
        // 24 comparisons: one beyond 4.5 standard errors in 6,000 such tests.
        assert!(
            gap < 4.5 * error,
            "{j}: {} {} +- {error}",
            found.mean[j],
            want[j]
        );
        gap_of_mode = gap_of_mode.max((mode[j] - want[j]).abs() / error);
    }
    // The mode alone would be told apart, so the test can fail.
    assert!(gap_of_mode > 10.0, "{gap_of_mode}");
}

/// What cosines leave out changes the evidence by less than a thousandth of a nat, and the density by less than its Monte Carlo error.
#[test]
fn ranks_of_the_default_are_enough() {
    let values = normals(100, 9);
    let mut small = small(Rows::Values(&values), 200);
    let full = small.basis.clone();
    small.basis = Basis::new(200, &estimate::polynomials(&small.cells, false), 100);
    let look = |basis: &Basis| {
        explore(
            &small.counts,
            basis,
            &small.cells,
            Kernel::Matern32,
            10.0,
            &[],
            1e-6,
        )
        .unwrap()
    };
    let cut = look(&small.basis);
    for part in cut.iter().filter(|c| c.length > 0.3) {
        let whole = component(
            &Small {
                cells: small.cells.clone(),
                counts: small.counts.clone(),
                basis: full.clone(),
            },
            Kernel::Matern32,
            part.length,
            part.sd,
            199,
        );
        let gap = (whole.mode.log_evidence - part.mode.log_evidence).abs();
        // Half of what is left out, or more where the density is above average.
        assert!(gap < 3e-3, "{} {}: {gap:e}", part.length, part.sd);
        let largest = whole.mode.look.u.iter().copied().fold(0.0, f64::max);
        for (a, b) in whole.mode.look.u.iter().zip(&part.mode.look.u) {
            // The function left out has a standard deviation of sqrt(1e-3 / 100) = .003 a priori.
            assert!(
                (a - b).abs() < 4e-3 * largest,
                "{} {}: {a} {b}",
                part.length,
                part.sd
            );
        }
    }
    assert!(cut.len() > 10);
}

fn is_a_density(estimate: &Estimate) {
    let edges = estimate.edges();
    let sum: f64 = estimate
        .density()
        .iter()
        .zip(edges.windows(2))
        .map(|(p, e)| p * (e[1] - e[0]))
        .sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    assert!(
        estimate
            .density()
            .iter()
            .all(|p| p.is_finite() && *p >= 0.0)
    );
    let bands = estimate.lower().iter().zip(estimate.upper());
    assert!(
        bands
            .clone()
            .all(|(a, b)| a.is_finite() && *a >= 0.0 && b >= a && !b.is_nan())
    );
}

#[test]
fn weights_are_repetitions_and_counts_in_cells_are_values() {
    let values = [0.1, 0.4, 0.4, 0.9, 1.7, 1.7, 1.7, 2.2, 3.0, 3.1, 3.3, 4.0];
    let distinct = [0.1, 0.4, 0.9, 1.7, 2.2, 3.0, 3.1, 3.3, 4.0];
    let weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let quick = |d: Density<'_>| d.bounds(0.0, 5.0).cells(60).draws(400).estimate().unwrap();
    let repeated = quick(Density::new(&values));
    let weighted = quick(Density::new(&distinct).weights(&weights));
    let point = quick(Density::from_intervals(&distinct, &distinct).weights(&weights));
    // Quartiles of weighted values are not interpolated, so that the scales differ a little; the two ways to give weights agree.
    let pairs = weighted.density().iter().zip(point.density());
    assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-12));
    let largest = repeated.density().iter().copied().fold(0.0, f64::max);
    for (a, b) in repeated.density().iter().zip(weighted.density()) {
        assert!((a - b).abs() < 0.1 * largest, "{a} {b}");
    }
}

#[test]
fn units_do_not_matter() {
    let values = normals(80, 11);
    let one = Density::new(&values)
        .cells(80)
        .draws(500)
        .estimate()
        .unwrap();
    let moved: Vec<f64> = values.iter().map(|x| 1e6 + 250.0 * x).collect();
    let other = Density::new(&moved)
        .cells(80)
        .draws(500)
        .estimate()
        .unwrap();
    for (a, b) in one.density().iter().zip(other.density()) {
        // Values near 1e6 have lost six digits.
        assert!((a - 250.0 * b).abs() < 1e-6, "{a} {b}");
    }
    let (a, b) = (one.quantile(0.3), other.quantile(0.3));
    assert!((1e6 + 250.0 * a.value - b.value).abs() < 1e-3);
}

#[test]
fn a_logarithmic_axis_is_the_density_of_the_logarithm() {
    let logs = normals(150, 12);
    let values: Vec<f64> = logs.iter().map(|x| (2.0 * x).exp()).collect();
    let on_logs: Vec<f64> = values.iter().map(|x| x.ln()).collect();
    let of = |d: Density<'_>| d.cells(120).draws(500).estimate().unwrap();
    let (a, b) = (
        of(Density::new(&values).log(true)),
        of(Density::new(&on_logs)),
    );
    is_a_density(&a);
    for (x, y) in a.masses().iter().zip(b.masses()) {
        assert!((x - y).abs() < 1e-9);
    }
    let (x, y) = (a.quantile(0.5), b.quantile(0.5));
    assert!((x.lower.ln() - y.lower).abs() < 0.05 && (x.upper.ln() - y.upper).abs() < 0.05);
}

#[test]
fn rounded_values_are_answered_like_exact_ones() {
    let values = normals(300, 13);
    let lower: Vec<f64> = values.iter().map(|x| (x / 0.25).floor() * 0.25).collect();
    let upper: Vec<f64> = lower.iter().map(|x| x + 0.25).collect();
    let of = |d: Density<'_>| d.cells(150).draws(1000).estimate().unwrap();
    let (a, b) = (
        of(Density::new(&values)),
        of(Density::from_intervals(&lower, &upper)),
    );
    for x in [-1.5, -0.5, 0.0, 0.7, 1.6] {
        let (i, j) = (a.cell(x).unwrap(), b.cell(x).unwrap());
        assert!(b.lower()[j] < a.density()[i] && a.density()[i] < b.upper()[j]);
    }
    let overlapping = of(Density::from_bins(
        &[f64::NEG_INFINITY, -1.0, -0.5, 0.0, 0.5],
        &[-1.0, 0.5, 1.0, 1.0, f64::INFINITY],
        &[50.0, 90.0, 70.0, 40.0, 50.0],
    ));
    is_a_density(&overlapping);
    assert!(
        overlapping
            .warnings()
            .iter()
            .any(|w| matches!(w, Warning::OpenEnd { .. }))
    );
}

#[test]
fn answers_agree_with_each_other_and_with_a_normal_distribution() {
    let n = 400;
    let values: Vec<f64> = (0..n)
        .map(|i| crate::special::scalar::normal_quantile((f64::from(i) + 0.5) / f64::from(n)))
        .collect();
    let e = Density::new(&values).draws(2000).estimate().unwrap();
    is_a_density(&e);
    assert!(e.warnings().is_empty(), "{:?}", e.warnings());
    let near = |a: Answer, want: f64| {
        assert!(a.lower <= a.value && a.value <= a.upper, "{a:?}");
        assert!(a.lower < want && want < a.upper, "{a:?} {want}");
    };
    near(e.mean(), 0.0);
    near(e.sd(), 1.0);
    near(e.quantile(0.9), 1.281_551_565_544_600_4);
    near(e.cdf(1.0), 0.841_344_746_068_542_9);
    near(e.probability(-1.0, 1.0), 0.682_689_492_137_085_9);
    assert_eq!(e.modes().len(), 1);
    let region = e.highest_density_region(0.9);
    assert_eq!(region.len(), 1);
    assert!(
        (region[0].0 + 1.645).abs() < 0.25 && (region[0].1 - 1.645).abs() < 0.25,
        "{region:?}"
    );
    let draws = e.draws(50, 2);
    for k in 0..50 {
        let sum: f64 = draws
            .col_as_slice(k)
            .iter()
            .zip(e.edges().windows(2))
            .map(|(p, e)| p * (e[1] - e[0]))
            .sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
    let (lower, upper) = e.simultaneous();
    let middle = e.cell(0.0).unwrap();
    assert!(lower[middle] < e.lower()[middle] && upper[middle] > e.upper()[middle]);
    assert!(matches!(e.gini(), Err(DensityError::NotPositive { .. })));
}

/// An exponential distribution: Gini 1/2, and the top tenth holds `0.1 (1 + ln 10)`.
#[test]
fn inequality_of_an_exponential_distribution() {
    let n = 600;
    let values: Vec<f64> = (0..n)
        .map(|i| -(1.0 - (f64::from(i) + 0.5) / f64::from(n)).ln())
        .collect();
    let e = Density::new(&values)
        .bounds(0.0, f64::INFINITY)
        .draws(2000)
        .estimate()
        .unwrap();
    let gini = e.gini().unwrap();
    assert!(
        gini.lower < 0.5 && 0.5 < gini.upper && (gini.value - 0.5).abs() < 0.03,
        "{gini:?}"
    );
    let share = e.top_share(0.1).unwrap();
    assert!(share.lower < 0.3303 && 0.3303 < share.upper, "{share:?}");
}

#[test]
fn two_clusters_have_two_modes() {
    let mut values = normals(60, 14);
    values
        .iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x += if i % 2 == 0 { 0.0 } else { 8.0 });
    let e = Density::new(&values).draws(1000).estimate().unwrap();
    let modes = e.modes();
    assert_eq!(modes.len(), 2, "{modes:?}");
    assert!(modes.iter().all(|m| m.probability > 0.95));
    assert_eq!(e.highest_density_region(0.8).len(), 2);
}

#[test]
fn the_published_prior_is_an_option() {
    let values = normals(100, 15);
    let e = Density::new(&values)
        .prior(Prior::Published)
        .draws(1000)
        .estimate()
        .unwrap();
    is_a_density(&e);
    assert_eq!(e.settings().len(), 1);
    assert!((e.density_at(0.0) - 0.3989).abs() < 0.15);
}

/// Draws, and answers, are those of the seed.
#[test]
fn a_seed_repeats() {
    let values = normals(40, 16);
    let of = |seed| {
        Density::new(&values)
            .cells(80)
            .draws(300)
            .seed(seed)
            .estimate()
            .unwrap()
    };
    assert_eq!(of(1).upper(), of(1).upper());
    assert_ne!(of(1).upper(), of(2).upper());
}

fn nasty(kind: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    let n = [3, 7, 40, 120][random.random_range(0..4)];
    let mut normal = || -> f64 { StandardNormal.sample(random) };
    let mut x: Vec<f64> = (0..n).map(|_| normal()).collect();
    match kind {
        0 => x.iter_mut().for_each(|x| *x = (*x * 2.0).round()),
        1 => x
            .iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x += if i % 2 == 0 { 0.0 } else { 1e6 }),
        2 => x.truncate(3),
        3 => x.iter_mut().for_each(|x| *x = (5.0 * *x).exp()),
        4 => x.iter_mut().for_each(|x| *x = (*x * 30.0).round().abs()),
        5 => x.iter_mut().for_each(|x| *x = 4.2),
        6 => {
            x.iter_mut().for_each(|x| *x = -7.0);
            x[0] = -6.0;
        }
        7 => x[0] = 1e12,
        8 => {
            x[0] = f64::NAN;
            x[1] = f64::INFINITY;
        }
        9 => x.clear(),
        10 => x.iter_mut().for_each(|x| *x *= 1e-280),
        11 => x.iter_mut().for_each(|x| *x *= 1e300),
        12 => x.iter_mut().for_each(|x| *x = 1e15 + x.round()),
        13 => x
            .iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x = if i % 3 == 0 { 0.0 } else { x.tan() }),
        _ => x
            .iter_mut()
            .for_each(|x| *x = f64::from_bits(x.to_bits().rotate_left(7))),
    }
    x
}

/// Never a panic, nothing negative, everything sums to one, and doubts are told.
#[test]
fn a_thousand_nasty_samples() {
    let mut random = random(2026);
    let (mut answered, mut refused) = (0, 0);
    for i in 0..1000 {
        let kind = i % 15;
        let x = nasty(kind, &mut random);
        let positive = x.iter().all(|x| *x > 0.0) && random.random::<bool>();
        let mut d = Density::new(&x).cells(40).draws(150).seed(i as u64);
        if positive {
            d = d.log(true);
        }
        match d.estimate() {
            Ok(e) => {
                answered += 1;
                is_a_density(&e);
                assert!(e.quantile(0.5).value.is_finite());
                let doubtful = matches!(kind, 2 | 6 | 7 | 8) || (kind == 1 && x.len() >= 40);
                let log_tames = positive && kind == 7;
                assert!(
                    !doubtful || log_tames || !e.warnings().is_empty(),
                    "{kind}: {x:?}"
                );
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().len() > 30, "{error}");
                let allowed = matches!(kind, 0 | 4 | 5 | 8 | 9 | 10 | 11 | 12 | 14);
                assert!(allowed, "{kind}: {error} {x:?}");
            }
        }
    }
    assert!(answered > 600 && refused > 100, "{answered} {refused}");
}

#[test]
fn refusals_name_the_row() {
    let d = |x: &[f64]| {
        Density::new(x)
            .bounds(0.0, 1.0)
            .estimate()
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(
        d(&[0.2, 1.5, 0.3]),
        DensityError::Outside {
            row: 1,
            value: 1.5,
            lower: 0.0,
            upper: 1.0
        }
    );
    assert!(matches!(d(&[]), DensityError::TooFew { .. }));
    assert!(matches!(d(&[0.5, 0.5]), DensityError::Constant { .. }));
    let weighted = Density::new(&[1.0, 2.0]).weights(&[1.0, -1.0]).estimate();
    assert!(matches!(weighted, Err(DensityError::Weight { row: 1, .. })));
    let crossed = Density::from_intervals(&[1.0, 3.0], &[2.0, 2.5]).estimate();
    assert!(matches!(
        crossed,
        Err(DensityError::Interval { row: 1, .. })
    ));
    let idle = Density::from_intervals(&[f64::NEG_INFINITY; 2], &[f64::INFINITY; 2]).estimate();
    assert!(matches!(idle, Err(DensityError::SaysNothing)));
}
