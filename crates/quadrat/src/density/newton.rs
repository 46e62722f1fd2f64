//! The mode of the coefficients at one setting of the hyperparameters, and Laplace's evidence.

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, dot, gemm_into, matvec};

use super::basis::{CoefficientPrior, View};
use super::counts::{CellCounts, Look};
use super::error::DensityError;

/// Newton steps.
const MOST_STEPS: usize = 200;
/// Halvings of a step.
const HALVINGS: i32 = 40;
/// The weight of the missing information in the curvature: all of it, or less where the posterior
/// is not convex.
const SHARES: [f64; 4] = [1.0, 0.7, 0.4, 0.0];

/// The problem: what the rows say of the cells, and the functions that may explain it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellProblem<'a> {
    /// Rows.
    pub counts: &'a CellCounts,
    /// Functions.
    pub basis: View<'a>,
    /// Logarithm of the measure of every cell.
    pub log_measure: &'a [f64],
}

/// A mode and what is around it.
#[derive(Debug, Clone)]
pub(super) struct Mode {
    /// Coefficients.
    pub theta: Vec<f64>,
    /// The function on the cells.
    pub eta: Vec<f64>,
    /// Likelihood there.
    pub look: Look,
    /// `theta' P theta`.
    pub square: f64,
    /// Factor of the precision `A` of the coefficients.
    pub factor: Cholesky,
    /// Laplace's log evidence, without constants in the rows.
    pub log_evidence: f64,
}

impl Mode {
    /// Log likelihood and log prior density, the latter without its constant.
    pub fn log_joint(&self) -> f64 {
        self.look.value - 0.5 * self.square
    }
}

impl CellProblem<'_> {
    /// `Phi' W Phi` with `W` less the Hessian of the log likelihood, its missing information
    /// weighted by `share`.
    pub fn curvature(&self, look: &Look, share: f64) -> Mat<f64> {
        let n = self.counts.total;
        let spans = &self.counts.spans;
        let mixed: Vec<f64>;
        let diagonal = if share < 1.0 && !spans.is_empty() {
            let complete = look.u.iter().map(|u| n * u);
            mixed = complete
                .zip(&look.diagonal)
                .map(|(c, d)| c + share * (d - c))
                .collect();
            &mixed
        } else {
            &look.diagonal
        };
        let mut out = self.basis.curvature(diagonal);
        if !spans.is_empty() && share > 0.0 {
            let g = self.responsibilities(look, share);
            gemm_into(out.as_mut(), true, 1.0, g.as_ref(), g.transpose());
        }
        let c = self.basis.project(&look.u);
        for j in 0..c.len() {
            let by = n * c[j];
            let column = out.col_as_slice_mut(j);
            column.iter_mut().zip(&c).for_each(|(a, c)| *a -= by * c);
        }
        out
    }

    /// `Phi' r_b sqrt(share Y_b)` in columns, `r_b` being the density within span `b`.
    fn responsibilities(&self, look: &Look, share: f64) -> Mat<f64> {
        let (phi, spans) = (self.basis.phi, &self.counts.spans);
        let mut inside = Mat::zeros(phi.nrows(), spans.len());
        for (b, (span, total)) in spans.iter().zip(&look.spans).enumerate() {
            let by = (share * span.weight).sqrt() / total;
            for j in span.cells() {
                inside[(j, b)] = by * span.share(j) * look.u[j];
            }
        }
        let mut out = Mat::zeros(phi.ncols(), spans.len());
        gemm_into(out.as_mut(), false, 1.0, phi.transpose(), inside.as_ref());
        out
    }

    /// The precision `A = P + Phi' W Phi` and its factor, with as much of the missing information
    /// as leaves it positive.
    fn precision(&self, look: &Look, prior: &CoefficientPrior) -> Result<Cholesky, LinalgError> {
        let mut last = None;
        for share in SHARES {
            let mut a = self.curvature(look, share);
            for j in 0..a.ncols() {
                let column = a.col_as_slice_mut(j);
                column
                    .iter_mut()
                    .zip(prior.precision.col_as_slice(j))
                    .for_each(|(a, p)| *a += p);
            }
            match Cholesky::factor_owned(a) {
                Ok(factor) => return Ok(factor),
                Err(error) => last = Some(error),
            }
            if self.counts.spans.is_empty() {
                break;
            }
        }
        Err(last.unwrap_or(LinalgError::NotPositiveDefinite { size: 0, pivot: 0 }))
    }

    /// Newton's method from a start, of which cosines may be missing or too many, until the
    /// decrement is below a tolerance. That step is still taken, but the factor stays where it
    /// began: the mode is as much nearer as the method converges, quadratically.
    ///
    /// # Errors
    /// Where a precision is not positive, or the search does not end.
    pub fn mode(
        &self,
        prior: &CoefficientPrior,
        start: &[f64],
        tolerance: f64,
    ) -> Result<Mode, DensityError> {
        let mut at = self.place(
            prior,
            start
                .iter()
                .copied()
                .chain(std::iter::repeat(0.0))
                .take(self.basis.len())
                .collect(),
        );
        for _ in 0..MOST_STEPS {
            let factor = self.precision(&at.look, prior)?;
            let mut gradient = self.basis.project(&at.look.slope);
            gradient.iter_mut().zip(&at.pull).for_each(|(g, p)| *g -= p);
            let step = factor.solve(&gradient);
            let decrement = dot(&gradient, &step).max(0.0).sqrt();
            let along = self.basis.eta(&step);
            let next = self.search(prior, &at, &step, &along, decrement);
            let is_last = decrement < tolerance || next.is_none();
            at = next.unwrap_or(at);
            if is_last {
                let Place {
                    theta,
                    eta,
                    look,
                    square,
                    ..
                } = at;
                let log_evidence =
                    look.value - 0.5 * square - 0.5 * factor.log_det() + 0.5 * prior.log_det;
                return Ok(Mode {
                    theta,
                    eta,
                    look,
                    square,
                    factor,
                    log_evidence,
                });
            }
        }
        Err(DensityError::NoMode {
            reason: format!("{MOST_STEPS} Newton steps were not enough"),
        })
    }

    fn place(&self, prior: &CoefficientPrior, theta: Vec<f64>) -> Place {
        let eta = self.basis.eta(&theta);
        self.place_at(prior, theta, eta)
    }

    fn place_at(&self, prior: &CoefficientPrior, theta: Vec<f64>, eta: Vec<f64>) -> Place {
        let look = self.counts.look(&eta, self.log_measure);
        let pull = matvec(prior.precision.as_ref(), &theta);
        let square = dot(&theta, &pull);
        Place {
            theta,
            eta,
            look,
            pull,
            square,
        }
    }

    /// The first place along a step, halved as often as needed, that gains what its slope promises;
    /// none where rounding hides all gains.
    fn search(
        &self,
        prior: &CoefficientPrior,
        at: &Place,
        step: &[f64],
        along: &[f64],
        decrement: f64,
    ) -> Option<Place> {
        let before = at.value();
        // Near the mode a step gains less than rounding takes.
        let slack = 1e-13 * (1.0 + before.abs());
        let moved = |x: &[f64], by: &[f64], size: f64| -> Vec<f64> {
            x.iter().zip(by).map(|(x, s)| x + size * s).collect()
        };
        (0..HALVINGS).find_map(|i| {
            let size = 0.5_f64.powi(i);
            let theta = moved(&at.theta, step, size);
            let next = self.place_at(prior, theta, moved(&at.eta, along, size));
            let wanted = before + 1e-4 * size * decrement * decrement - slack;
            (next.value() >= wanted).then_some(next)
        })
    }
}

/// Coefficients and what follows from them.
struct Place {
    theta: Vec<f64>,
    eta: Vec<f64>,
    look: Look,
    /// `P theta`.
    pull: Vec<f64>,
    /// `theta' P theta`.
    square: f64,
}

impl Place {
    /// Log likelihood and log prior density, the latter without its constant.
    fn value(&self) -> f64 {
        self.look.value - 0.5 * self.square
    }
}
