//! Modes, evidence, gradients and draws against dense algebra.

use super::super::functions::Functions;
use super::super::grid::{CellGrid, Normalisation};
use super::super::hyper::{Component, EvidenceAt, HyperOptions, evidence};
use super::super::left_out::left_out;
use super::super::newton::{CellProblem, look};
use super::super::pairs::clean;
use super::super::patches::Patches;
use super::super::prior::JITTER;
use super::super::spread::spread;
use super::normals;
use crate::density::basis::Kernel;
use crate::density::cells::Cells;
use crate::density::odds::Held;
use crate::density::scale::scale;
use crate::linalg::{Cholesky, Mat, dot, gemm, matvec, symmetric_from_fn};

const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const VARIANCE: f64 = 10.0;

fn small(kind: Normalisation, bounds: [(f64, f64); 2], shape: [usize; 2]) -> CellGrid {
    let [x, y] = normals(80, 0.6, 5);
    let pairs = clean([&x, &y], None, bounds, [false; 2]).unwrap();
    let axes = [0, 1].map(|a| {
        let scale = scale(&pairs.column(a, false)).unwrap();
        Cells::lay(shape[a], &scale, bounds[a], None, false).unwrap()
    });
    CellGrid::new(axes, &pairs, kind, (None, &[]), &mut Vec::new()).unwrap()
}

/// All products of cosines.
fn all(grid: &CellGrid) -> Functions {
    let [m, n] = grid.shape();
    // What is constant along a line no conditional density sees.
    let first = usize::from(grid.kind == Normalisation::Conditional);
    let orders = (0..m).flat_map(|i| (first..n).map(move |j| (i, j)));
    Functions::new(grid, &orders.collect::<Vec<(usize, usize)>>())
}

fn columns(functions: &Functions) -> Vec<Vec<f64>> {
    (0..functions.len())
        .map(|i| {
            let mut theta = vec![0.0; functions.len()];
            theta[i] = 1.0;
            functions.eta(&theta)
        })
        .collect()
}

/// `C = sd^2 (K_1 (x) K_2 + jitter) + variance H H'` on the cells.
fn dense(grid: &CellGrid, kernel: Kernel, at: [f64; 3]) -> Mat<f64> {
    let n = grid.shape()[1];
    let cells = grid.counts.len();
    let (sd, lengths) = (at[0].exp(), [at[1].exp(), at[2].exp()]);
    let lag = |a: usize, d: usize| kernel.at(d as f64 * grid.axes[a].step / lengths[a]).0;
    let polynomials = Functions::new(grid, &[]);
    let h = columns(&polynomials);
    symmetric_from_fn(cells, |i, j| {
        let (a, b) = ((i / n).abs_diff(j / n), (i % n).abs_diff(j % n));
        let jitter = if i == j { JITTER * cells as f64 } else { 0.0 };
        let flat: f64 = h.iter().take(polynomials.q).map(|h| h[i] * h[j]).sum();
        sd * sd * (lag(0, a) * lag(1, b) + jitter) + VARIANCE * flat
    })
}

/// Newton's method on the cells: equations 13 to 16, and 23, of Riihimaki & Vehtari. Returns mode,
/// evidence, posterior covariance.
fn brute(grid: &CellGrid, c: &Mat<f64>) -> (Vec<f64>, f64, Mat<f64>) {
    let (m, size) = (c.nrows(), grid.part());
    let total = |cell: usize| grid.totals[cell / size];
    let mut f = vec![0.0; m];
    let mut out = (0.0, Mat::zeros(m, m));
    for _ in 0..200 {
        let (value, u) = look(grid, &f);
        let root: Vec<f64> = u.iter().map(|u| u.sqrt()).collect();
        let r = Mat::from_fn(m, m, |i, j| match i / size == j / size {
            true => total(i).sqrt() * (if i == j { root[i] } else { 0.0 } - u[i] * root[j]),
            false => 0.0,
        });
        let cr = gemm(c.as_ref(), r.as_ref());
        let inner = gemm(r.transpose(), cr.as_ref());
        let inner = symmetric_from_fn(m, |i, j| inner[(i, j)] + if i == j { 1.0 } else { 0.0 });
        let factor = Cholesky::factor(inner.as_ref()).unwrap();
        let parts = u.chunks(size).zip(f.chunks(size));
        let means: Vec<f64> = parts.map(|(u, f)| dot(u, f)).collect();
        let b: Vec<f64> = (0..m)
            .map(|j| total(j) * u[j] * (f[j] - means[j / size] - 1.0) + grid.counts[j])
            .collect();
        let inside = factor.solve(&matvec(cr.transpose(), &b));
        let outside = matvec(r.as_ref(), &inside);
        let a: Vec<f64> = b.iter().zip(&outside).map(|(b, o)| b - o).collect();
        let mut next = matvec(c.as_ref(), &a);
        let pairs = || f.iter().zip(&next);
        let moved = pairs().map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        let mut half = cr.transpose().to_owned();
        factor.half_solve_in_place(half.as_mut());
        let covariance = c - gemm(half.transpose(), half.as_ref());
        out = (
            value - 0.5 * dot(&a, &f) - 0.5 * factor.log_det(),
            covariance,
        );
        if moved < 1e-11 {
            break;
        }
        // Halve long steps: the mode is unique.
        if moved > 3.0 {
            let pairs = next.iter_mut().zip(&f);
            pairs.for_each(|(x, y)| *x = y + (*x - y) * 3.0 / moved);
        }
        f = next;
    }
    (f, out.0, out.1)
}

fn wanted(kernel: Kernel) -> HyperOptions {
    HyperOptions {
        kernel,
        variance: VARIANCE,
        tolerance: 1e-10,
        integrate: false,
    }
}

/// What no density sees is taken off: the average of each part.
fn centred(x: &[f64], part: usize) -> Vec<f64> {
    let parts = x
        .chunks(part)
        .map(|x| (x, x.iter().sum::<f64>() / part as f64));
    parts
        .flat_map(|(x, mean)| x.iter().map(move |x| x - mean))
        .collect()
}

/// `(I - J) S (I - J)`, with `J` the average of each part.
fn contrasts(s: &Mat<f64>, part: usize) -> Mat<f64> {
    let m = s.nrows();
    let j = Mat::from_fn(m, m, |i, k| {
        let one = if i == k { 1.0 } else { 0.0 };
        let mean = if i / part == k / part { 1.0 } else { 0.0 };
        one - mean / part as f64
    });
    gemm(gemm(j.as_ref(), s.as_ref()).as_ref(), j.as_ref())
}

#[test]
fn mode_evidence_and_covariance_are_those_of_brute_force() {
    for (kind, bounds, kernel) in [
        (Normalisation::Joint, [OPEN; 2], Kernel::Matern32),
        (Normalisation::Joint, [OPEN, (-5.0, 6.0)], Kernel::Matern52),
        (Normalisation::Conditional, [OPEN; 2], Kernel::Matern32),
        (
            Normalisation::Conditional,
            [OPEN, (-5.0, 6.0)],
            Kernel::Matern52,
        ),
    ] {
        let grid = small(kind, bounds, [9, 8]);
        let part = grid.part();
        let at = [0.2, -0.1, 0.4];
        let (f, value, covariance) = brute(&grid, &dense(&grid, kernel, at));
        let functions = all(&grid);
        let problem = CellProblem {
            grid: &grid,
            functions: &functions,
        };
        let got = evidence(problem, wanted(kernel), at, &[], false)
            .unwrap()
            .mode;
        for (got, want) in centred(&got.eta, part).iter().zip(centred(&f, part)) {
            // Two searches that share nothing, each to its own rounding.
            assert!((got - want).abs() < 1e-8, "{got} {want}");
        }
        // The constant is integrated exactly: it is part of the prior alone.
        assert!(
            (got.log_evidence - value).abs() < 1e-8,
            "{} {value}",
            got.log_evidence
        );
        let columns = columns(&functions);
        let phi = Mat::from_fn(grid.counts.len(), functions.len(), |i, k| columns[k][i]);
        let inverse = got.factor.inverse();
        let spread = gemm(
            gemm(phi.as_ref(), inverse.as_ref()).as_ref(),
            phi.transpose(),
        );
        let error = (contrasts(&spread, part) - contrasts(&covariance, part)).norm_max();
        // As above: found are 4e-11.
        assert!(error < 1e-8, "{error:e}");
        let diagonal = functions.diagonal(&inverse);
        for (i, got) in diagonal.iter().enumerate() {
            // Sums of 77^2 terms, and of some that cancel.
            assert!((got - spread[(i, i)]).abs() < 1e-10 * spread[(i, i)].abs().max(1.0));
        }
    }
}

#[test]
fn curvatures_are_those_of_products() {
    let grid = small(Normalisation::Joint, [OPEN, (-5.0, 6.0)], [11, 7]);
    let functions = Functions::new(&grid, &[(0, 0), (3, 1), (1, 3), (0, 2), (4, 4), (2, 2)]);
    let columns = columns(&functions);
    let d: Vec<f64> = (0..77).map(|j| f64::from(j).sin() + 0.3).collect();
    let got = functions.curvature(&d);
    let projected = functions.project(&d);
    for i in 0..functions.len() {
        for j in 0..=i {
            let want: f64 = (0..77).map(|c| d[c] * columns[i][c] * columns[j][c]).sum();
            // Sums of 77 terms of order up to a thousand.
            assert!(
                (got[(i, j)] - want).abs() < 1e-10 * want.abs().max(1.0),
                "{i} {j}"
            );
        }
        let want = dot(&d, &columns[i]);
        assert!((projected[i] - want).abs() < 1e-11 * want.abs().max(1.0));
    }
}

#[test]
fn gradients_of_the_evidence_are_differences() {
    let kinds = [Normalisation::Joint, Normalisation::Conditional];
    let grids = kinds.map(|kind| small(kind, [OPEN; 2], [10, 9]));
    let orders: Vec<(usize, usize)> = (0..5)
        .flat_map(|i| (1..6 - i).map(move |j| (i, j)))
        .collect();
    let cases = grids.iter().flat_map(|grid| {
        [all(grid), Functions::new(grid, &orders)].map(|functions| (grid, functions))
    });
    for (grid, functions) in cases {
        for kernel in [Kernel::Matern32, Kernel::Matern52, Kernel::Se] {
            let problem = CellProblem {
                grid,
                functions: &functions,
            };
            let at = [0.3, 0.2, -0.2];
            let value = |at: [f64; 3]| {
                let found = evidence(problem, wanted(kernel), at, &[], false).unwrap();
                found.mode.log_evidence
            };
            let slopes = evidence(problem, wanted(kernel), at, &[], true)
                .unwrap()
                .slopes;
            for a in 0..3 {
                let moved = |h: f64| {
                    let mut at = at;
                    at[a] += h;
                    value(at)
                };
                let difference = (moved(1e-4) - moved(-1e-4)) / 2e-4;
                // Central differences err by h^2, and by 1e-11 / h from the evidence.
                assert!(
                    (slopes[a] - difference).abs() < 2e-6 * difference.abs().max(1.0),
                    "{kernel:?} {a}: {} {difference}",
                    slopes[a]
                );
            }
        }
    }
}

#[test]
fn spread_normals_are_those_nearest_to_the_posterior() {
    for kind in [Normalisation::Joint, Normalisation::Conditional] {
        let grid = small(kind, [OPEN; 2], [7, 9]);
        let functions = all(&grid);
        let problem = CellProblem {
            grid: &grid,
            functions: &functions,
        };
        let found = evidence(
            problem,
            wanted(Kernel::Matern52),
            [0.9, -0.5, 0.0],
            &[],
            false,
        );
        let EvidenceAt { mode, prior, .. } = found.unwrap();
        let mode_mass = mode.mass.clone();
        let component = Component {
            lengths: [0.6, 1.0],
            sd: 2.5,
            weight: 1.0,
            reference: mode.log_joint(),
            prior,
            mode,
        };
        let [near] = spread(&grid, &functions, &[component])
            .unwrap()
            .try_into()
            .unwrap();
        // What it expects: variances depend on it, and it on them.
        let a = near.mode.factor.inverse();
        let mut expected = mode_mass;
        for _ in 0..200 {
            let v = problem.variances(&expected, &a);
            expected = (0..v.len())
                .map(|i| near.mode.eta[i] + grid.log_measure[i] + 0.5 * v[i])
                .collect();
            grid.look(&mut expected);
        }
        let parts = expected.chunks_mut(grid.part()).zip(&grid.totals);
        parts.for_each(|(part, n)| part.iter_mut().for_each(|u| *u *= n));
        let gap: Vec<f64> = (0..expected.len())
            .map(|i| grid.counts[i] - expected[i])
            .collect();
        let pull = near.prior.pull(&near.mode.theta);
        let slope = functions.project(&gap);
        // In standard deviations: half a percent of the rows, of which there are 80, may be missing
        // from some cell.
        let gradient: Vec<f64> = slope.iter().zip(&pull).map(|(s, p)| s - p).collect();
        let left = dot(&gradient, &matvec(a.as_ref(), &gradient)).sqrt();
        assert!(left < 0.4, "{kind:?}: {left}");
    }
}

#[test]
fn parts_are_projected_like_all_of_the_cells() {
    let grid = small(Normalisation::Conditional, [OPEN; 2], [6, 5]);
    let functions = all(&grid);
    let columns = columns(&functions);
    let x: Vec<f64> = (0..30).map(|j| f64::from(j).cos()).collect();
    let parts = functions.project_parts(&x, 1);
    let eta = functions.eta_parts(&parts, 1);
    for part in 0..6 {
        let cells = 5 * part..5 * (part + 1);
        let theta = parts.col_as_slice(part);
        for (i, column) in columns.iter().enumerate() {
            let want = dot(&x[cells.clone()], &column[cells.clone()]);
            // Sums of five terms of order up to a hundred.
            assert!((theta[i] - want).abs() < 1e-11);
        }
        let whole = functions.eta(theta);
        for cell in cells {
            assert!((eta[cell] - whole[cell]).abs() < 1e-9 * whole[cell].abs().max(1.0));
        }
    }
}

/// What functions leave out of the variance of log odds is all of it where there are none, by dense
/// sums over the kernel, and nothing where all products are taken.
#[test]
fn what_functions_leave_out_is_theirs_to_take() {
    let grid = small(Normalisation::Joint, [(-4.0, 4.0); 2], [7, 9]);
    let boxes = [
        ([(-4.0, -1.0), (-4.0, 4.0)], 5.0),
        ([(0.5, 2.5), (-1.0, 2.0)], 3.0),
    ];
    let mut counts = grid.counts.clone();
    let bins = Patches::new(&grid.axes, &boxes, &mut counts, &mut Vec::new()).unwrap();
    let bins = bins.with_rest(&counts, |_| false, |_| 1.0);
    let weights = vec![0.0; bins.weights.len()];
    let held = Held {
        of: &|cell| bins.of(cell),
        weights: &weights,
        exact: &grid.counts,
    };
    let (_, u) = look(&grid, &vec![0.1; grid.counts.len()]);
    let odds = held.odds(&u);
    let (sd, lengths) = (1.7, [0.8, 1.3]);
    let of = |functions: &Functions| {
        let on = (&grid, functions);
        left_out(on, Kernel::Matern52, (sd, lengths), &u, &bins, &odds)
    };
    let (none, every) = (of(&Functions::new(&grid, &[])), of(&all(&grid)));
    let (n, cells) = (grid.shape()[1], grid.counts.len());
    let lag = |a: usize, d: usize| {
        Kernel::Matern52
            .at(d as f64 * grid.axes[a].step / lengths[a])
            .0
    };
    let kernel = symmetric_from_fn(cells, |i, j| {
        sd * sd * lag(0, (i / n).abs_diff(j / n)) * lag(1, (i % n).abs_diff(j % n))
    });
    for (b, odds) in odds.iter().enumerate() {
        let slope = |cell: usize| {
            let own = bins.of(cell).iter().find(|(at, _)| *at == b);
            let share = own.map_or(0.0, |(_, share)| *share);
            (share * u[cell] / odds.probability - u[cell]) / (1.0 - odds.probability)
        };
        let slope: Vec<f64> = (0..cells).map(slope).collect();
        let wanted = dot(&slope, &matvec(kernel.as_ref(), &slope));
        // Rounding of sums over 63 cells.
        assert!(
            (none[b] - wanted).abs() < 1e-11 * wanted.max(1.0),
            "{} {wanted}",
            none[b]
        );
        assert!(every[b] < 1e-20, "{}", every[b]);
    }
}
