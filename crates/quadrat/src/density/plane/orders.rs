//! Which products of cosines a density over a plane is made of.

use super::super::basis::Kernel;
use super::functions::Functions;
use super::grid::{CellGrid, Normalisation};
use super::prior::AxisCovariance;

/// Products up to a thousand rows, more by the root of their number, and the most there may be.
const FUNCTIONS: f64 = 200.0;
const MOST: f64 = 600.0;
/// What no choice of products exceeds.
pub(super) const MOST_TAKEN: usize = MOST as usize;
/// Variance of the function, times the number of rows, that may be left out.
const LEFT_OUT: f64 = 1e-3;
/// Cosines of an axis are never more.
pub(super) const COSINES: usize = 100;
/// Lengthscales may turn out shorter by this.
const SHORTER: f64 = 1.5;

/// How many products may be taken.
pub(super) fn most(total: f64) -> usize {
    (FUNCTIONS * (total / 1000.0).max(1.0).sqrt()).min(MOST) as usize
}

/// The products of lowest frequency in units of the lengthscales, as many as leave out little of
/// the variance of the function, or the most there may be.
pub(super) fn choose(
    grid: &CellGrid,
    kernel: Kernel,
    sd: f64,
    lengths: [f64; 2],
    most: usize,
) -> Vec<(usize, usize)> {
    let lengths = lengths.map(|l| l / SHORTER);
    let shape = grid.shape();
    let known = shape.map(|m| m.min(COSINES));
    let variances = [0, 1].map(|a| {
        let axis = AxisCovariance::new(kernel, &grid.axes[a], lengths[a], known[a]);
        (0..known[a])
            .map(|k| axis.value[(k, k)])
            .collect::<Vec<f64>>()
    });
    let frequency =
        |a: usize, k: usize| k as f64 * lengths[a] / (shape[a] as f64 * grid.axes[a].step);
    let mut all: Vec<(f64, (usize, usize))> = (0..known[0])
        .flat_map(|i| (0..known[1]).map(move |j| (i, j)))
        .map(|(i, j)| (frequency(0, i).powi(2) + frequency(1, j).powi(2), (i, j)))
        .collect();
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let cells = (shape[0] * shape[1]) as f64;
    let mut left = 1.0;
    let allowed = LEFT_OUT / (grid.total * sd * sd);
    let mut out = Vec::new();
    for (_, (i, j)) in all {
        if out.len() >= most || left <= allowed {
            break;
        }
        left -= variances[0][i] * variances[1][j] / cells;
        // What is constant along the second axis no conditional density sees.
        if j > 0 || grid.kind == Normalisation::Joint {
            out.push((i, j));
        }
    }
    out
}

/// Coefficients of some functions as those of others; what the others lack is lost.
pub(super) fn moved(from: &Functions, theta: &[f64], to: &Functions) -> Vec<f64> {
    let mut out = vec![0.0; to.len()];
    let q = from.q;
    let have = q.min(theta.len());
    out[..have].copy_from_slice(&theta[..have]);
    let known: std::collections::BTreeMap<(usize, usize), f64> = (q..from.len().min(theta.len()))
        .map(|i| (from.order(i), theta[i]))
        .collect();
    for (i, out) in out.iter_mut().enumerate().skip(to.q) {
        *out = known.get(&to.order(i)).copied().unwrap_or(0.0);
    }
    out
}
