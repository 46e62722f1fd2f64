//! Modes, evidence, gradients and draws against dense algebra and against sampling.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::super::basis::{CellBasis, Kernel, Length};
use super::super::cells::Cells;
use super::super::counts::CellCounts;
use super::super::curves::curves;
use super::super::hyper::{Component, MOST_SETTINGS, explore};
use super::super::kept;
use super::super::map::evidence;
use super::super::newton::CellProblem;
use super::super::rows::{KnownOfRows, clean};
use super::super::scale::scale;
use super::super::split::sample;
use super::{normals, random};
use crate::linalg::{Cholesky, Mat, dot, gemm, matvec, symmetric_eigen, symmetric_from_fn};
use crate::progress::{Silent, Watched, Watcher};

const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

struct Small {
    cells: Cells,
    counts: CellCounts,
    basis: CellBasis,
}

fn small(rows: KnownOfRows<'_>, cells: usize) -> Small {
    let rows = clean(rows, None, OPEN, false).unwrap();
    let scale = scale(&rows).unwrap();
    let cells = Cells::lay(cells, &scale, OPEN, None, false).unwrap();
    let counts = CellCounts::new(&rows, &cells, &mut Vec::new()).unwrap();
    let basis = CellBasis::new(cells.len(), &kept::polynomials(&cells, false), cells.len());
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

/// Newton's method on the cells with the multinomial likelihood: equations 13 to 16 of Riihimaki &
/// Vehtari. Returns mode, evidence, posterior covariance.
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
    let problem = CellProblem {
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
    let small = small(KnownOfRows::Values(&values), 40);
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
    // Two inverses of a prior that holds a constant of variance 100: found are 2.5e-10.
    assert!((project(&ours).as_ref() - project(&covariance).as_ref()).norm_max() < 1e-8);
}

/// The multinomial likelihood is Poisson's with a free intercept.
#[test]
fn the_evidence_is_that_of_counts_with_a_free_intercept() {
    let values = normals(60, 4);
    let small = small(KnownOfRows::Values(&values), 40);
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
    for rows in [
        KnownOfRows::Values(&values),
        KnownOfRows::Intervals(&lower, &upper),
    ] {
        let small = small(rows, 60);
        assert_eq!(
            small.counts.spans.is_empty(),
            matches!(rows, KnownOfRows::Values(_))
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

/// Elliptical slice sampling of the function on the cells: means of the probabilities, and their
/// standard errors by batches.
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
    let small = small(KnownOfRows::Values(&values), 24);
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

/// What cosines leave out changes the evidence by less than a thousandth of a nat, and the density
/// by less than its Monte Carlo error.
#[test]
fn ranks_of_the_default_are_enough() {
    let values = normals(100, 9);
    let mut small = small(KnownOfRows::Values(&values), 200);
    let full = small.basis.clone();
    small.basis = CellBasis::new(200, &kept::polynomials(&small.cells, false), 100);
    let look = |basis: &CellBasis| {
        explore(
            &small.counts,
            basis,
            &small.cells,
            Kernel::Matern32,
            10.0,
            (&[], 1e-6),
            &Watched::new(Watcher(&Silent), MOST_SETTINGS),
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
