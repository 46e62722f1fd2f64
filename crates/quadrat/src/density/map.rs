//! The published prior: a squared exponential on the data's own axis, linear and quadratic terms,
//! hyperparameters at their most probable values.
//!
//! Riihimaki & Vehtari 2014, with the half-Student-t priors of their later code (four degrees of
//! freedom).

use crate::linalg::{Mat, dot, matvec};
use crate::optimise::{Options, minimise};
use crate::progress::Watched;

use super::basis::{CellBasis, CoefficientPrior, Kernel, Length, View, covariance};
use super::cells::Cells;
use super::counts::CellCounts;
use super::error::DensityError;
use super::hyper::Component;
use super::newton::{CellProblem, Mode};

/// Prior variance of the coefficients of polynomials.
pub(super) const POLYNOMIALS: f64 = 100.0;
/// Degrees of freedom and squared scales of the priors of standard deviation and lengthscale.
const DEGREES: f64 = 4.0;
const SD_SQUARED: f64 = 10.0;
const LENGTH_SQUARED: f64 = 1.0;
/// Newton's decrement: the gradient of the evidence errs by about as much.
const TOLERANCE: f64 = 1e-7;
/// Slope of the log posterior at which the search ends.
const SLOPE: f64 = 1e-4;
/// Limits of the standard deviation, and the largest lengthscale.
const SDS: (f64, f64) = (0.01, 100.0);
const LONGEST: f64 = 100.0;

/// The evidence with its slopes in the logarithms of standard deviation and lengthscale.
pub(super) struct Sloped {
    /// Log evidence.
    pub value: f64,
    /// Slopes.
    pub slope: [f64; 2],
    /// The mode there.
    pub mode: Mode,
    /// The prior there.
    pub prior: CoefficientPrior,
}

/// Laplace's evidence and its exact gradient, the movement of the mode included.
///
/// # Numerics
/// With `alpha = P theta`, `S = Phi A^-1 Phi'` and `u` the density,
///
/// $$ \frac{d \log Z}{d t} = \tfrac12 \alpha' \dot\Sigma \alpha - \tfrac12 \mathrm{tr}\, (P - P
/// A^{-1} P) \dot\Sigma + s' \Phi A^{-1} P \dot\Sigma \alpha $$
///
/// where `s = -1/2 (N T(u) - sum_b Y_b T(r_b))` and `T(u) = u (q - u'q - 2 (S u - u' S u))`, `q =
/// diag S`.
pub(super) fn evidence(
    counts: &CellCounts,
    view: View<'_>,
    cells: &Cells,
    kernel: Kernel,
    variance: f64,
    at: [f64; 2],
    start: &[f64],
    tolerance: f64,
) -> Result<Sloped, DensityError> {
    let (sd, length) = (at[0].exp(), at[1].exp());
    let (q, r) = (view.q, view.r());
    let laid = Length::new(kernel, cells, length, r)?;
    let prior = laid.prior(q, r, variance, sd)?;
    let problem = CellProblem {
        counts,
        basis: view,
        log_measure: &cells.log_measure,
    };
    let mode = problem.mode(&prior, start, tolerance)?;
    let lag: Vec<f64> = (0..cells.len())
        .map(|d| kernel.at(d as f64 * cells.step / length).1)
        .collect();
    let moved = covariance(&lag, r);
    let inverse = mode.factor.inverse();
    let alpha = matvec(prior.precision.as_ref(), &mode.theta);
    // P - P A^-1 P, of which the block of cosines is asked.
    let half = crate::linalg::gemm(prior.precision.as_ref(), inverse.as_ref());
    let mut trace = prior.precision.clone();
    crate::linalg::gemm_into(
        trace.as_mut(),
        true,
        -1.0,
        half.as_ref(),
        prior.precision.as_ref(),
    );
    // Phi A^-1 P x needs only Phi' s.
    let pushed = {
        let s = shift(counts, &mode, view, &inverse);
        let mut x = view.project(&s);
        mode.factor.solve_in_place(faer_column(&mut x));
        matvec(prior.precision.as_ref(), &x)
    };
    let along = |by: f64, of: &Mat<f64>| {
        let moved = matvec(of.as_ref(), &alpha[q..]);
        let explicit = dot(&alpha[q..], &moved);
        let mut traced = 0.0;
        for j in 0..r {
            traced += dot(&trace.col_as_slice(q + j)[q..], of.col_as_slice(j));
        }
        by * (0.5 * (explicit - traced) + dot(&pushed[q..], &moved))
    };
    let slope = [
        along(2.0 * sd * sd, &laid.covariance),
        along(sd * sd, &moved),
    ];
    Ok(Sloped {
        value: mode.log_evidence,
        slope,
        mode,
        prior,
    })
}

fn faer_column(x: &mut [f64]) -> crate::linalg::MatMut<'_, f64> {
    let n = x.len();
    crate::linalg::MatMut::from_column_major_slice_mut(x, n, 1)
}

/// The slope of `-1/2 log |A|` in the function on the cells.
fn shift(counts: &CellCounts, mode: &Mode, view: View<'_>, inverse: &Mat<f64>) -> Vec<f64> {
    let spread = crate::linalg::gemm(view.phi, inverse.as_ref());
    let m = mode.eta.len();
    let variances: Vec<f64> = (0..m)
        .map(|j| {
            (0..view.len())
                .map(|k| spread[(j, k)] * view.phi[(j, k)])
                .sum()
        })
        .collect();
    let mut out = vec![0.0; m];
    let mut add = |weight: f64, u: &[f64]| {
        let seen = matvec(spread.as_ref(), &view.project(u));
        let (mean, square) = (dot(u, &variances), dot(u, &seen));
        for j in 0..m {
            out[j] -= 0.5 * weight * u[j] * (variances[j] - mean - 2.0 * (seen[j] - square));
        }
    };
    add(counts.total, &mode.look.u);
    for (span, inside) in counts.spans.iter().zip(&mode.look.spans) {
        let mut within = vec![0.0; m];
        for j in span.cells() {
            within[j] = span.share(j) * mode.look.u[j] / inside;
        }
        add(-span.weight, &within);
    }
    out
}

/// Log density of a half-Student-t in the logarithm of its argument, and the slope there.
fn half_t(x: f64, squared: f64) -> (f64, f64) {
    let ratio = x * x / (DEGREES * squared);
    let value = -0.5 * (DEGREES + 1.0) * ratio.ln_1p() + x.ln();
    (value, 1.0 - (DEGREES + 1.0) * ratio / (1.0 + ratio))
}

/// Log prior density of the logarithms of standard deviation and lengthscale, and its slopes.
pub(super) fn log_prior(at: [f64; 2]) -> (f64, [f64; 2]) {
    let (sd, of_sd) = half_t(at[0].exp(), SD_SQUARED);
    let (length, of_length) = half_t(at[1].exp(), LENGTH_SQUARED);
    (sd + length, [of_sd, of_length])
}

/// The one component at the most probable hyperparameters.
pub(super) fn most_probable(
    counts: &CellCounts,
    basis: &CellBasis,
    cells: &Cells,
    kernel: Kernel,
    start: &[f64],
    watched: &Watched<'_>,
) -> Result<Component, DensityError> {
    let view = basis.view(basis.r());
    let h = cells.step.powi(2).max(0.5 * counts.total.powf(-0.2));
    let evidence_at = |at: [f64; 2], last: &[f64]| {
        evidence(
            counts,
            view,
            cells,
            kernel,
            POLYNOMIALS,
            at,
            last,
            TOLERANCE,
        )
    };
    let mut last = start.to_vec();
    let mut failure = None;
    let mut objective = |at: &[f64], gradient: &mut [f64]| {
        let at = [at[0], at[1]];
        watched.searched(1);
        match evidence_at(at, &last) {
            Ok(found) => {
                let (prior, slopes) = log_prior(at);
                gradient[0] = -found.slope[0] - slopes[0];
                gradient[1] = -found.slope[1] - slopes[1];
                last = found.mode.theta;
                Some(-found.value - prior)
            }
            Err(error) => {
                failure = Some(error);
                None
            }
        }
    };
    let bounds = [
        (SDS.0.ln(), SDS.1.ln()),
        ((1.5 * cells.step).ln(), LONGEST.ln()),
    ];
    let options = Options {
        gradient_tolerance: SLOPE,
        ..Options::default()
    };
    let report = minimise(&mut objective, &[0.0, (2.0 * h).ln()], &bounds, &options);
    if !report.value.is_finite() {
        return Err(failure.unwrap_or(DensityError::NoMode {
            reason: report.reason,
        }));
    }
    let at = [report.x[0], report.x[1]];
    let found = evidence_at(at, &last)?;
    Ok(Component {
        length: at[1].exp(),
        sd: at[0].exp(),
        weight: 1.0,
        r: view.r(),
        prior: found.prior,
        mode: found.mode,
    })
}
