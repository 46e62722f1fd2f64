//! The mode of the coefficients at one setting of the hyperparameters, and Laplace's evidence.

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, dot, gemm};

use super::super::error::DensityError;
use super::functions::Functions;
use super::grid::CellGrid;
use super::prior::CoefficientPrior;

/// Newton steps.
const MOST_STEPS: usize = 200;
/// A decrement above which rounding does not explain that no step gains: half a nat was expected.
const UNEXPLAINED: f64 = 1.0;
/// Halvings of a step.
const HALVINGS: i32 = 40;
/// The weight of the missing information in the curvature: all of it, or less where the posterior
/// is not convex. Where little of the information is seen, steps of a weight far below one gain
/// next to nothing, so that weights are close to each other near one.
const SHARES: [f64; 6] = [1.0, 0.97, 0.9, 0.75, 0.5, 0.0];

/// The problem: rows in cells, and the functions that may explain them.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct CellProblem<'a> {
    pub grid: &'a CellGrid,
    pub functions: &'a Functions,
}

/// A mode and what is around it.
#[derive(Debug, Clone)]
pub(in super::super) struct Mode {
    /// Coefficients.
    pub theta: Vec<f64>,
    /// The function on the cells.
    pub eta: Vec<f64>,
    /// The probability of each cell.
    pub mass: Vec<f64>,
    /// Log likelihood.
    pub value: f64,
    /// `theta' P theta`.
    pub square: f64,
    /// Factor of the precision of the coefficients.
    pub factor: Cholesky,
    /// Laplace's log evidence, without constants in the rows.
    pub log_evidence: f64,
}

impl Mode {
    /// Log likelihood and log prior density, the latter without its constant.
    pub fn log_joint(&self) -> f64 {
        self.value - 0.5 * self.square
    }
}

/// The log likelihood at a function, and the probabilities of the cells.
pub(super) fn look(grid: &CellGrid, eta: &[f64]) -> (f64, Vec<f64>) {
    let pairs = eta.iter().zip(&grid.log_measure);
    let mut mass: Vec<f64> = pairs.map(|(e, w)| e + w).collect();
    let value = grid.look(&mut mass);
    (value, mass)
}

/// Coefficients and what follows from them.
struct Place {
    theta: Vec<f64>,
    eta: Vec<f64>,
    mass: Vec<f64>,
    value: f64,
    /// `P theta`.
    pull: Vec<f64>,
    square: f64,
}

impl Place {
    fn log_joint(&self) -> f64 {
        self.value - 0.5 * self.square
    }
}

impl CellProblem<'_> {
    /// The precision `A = P + Phi' W Phi` and its factor, `W` of blocks `N (diag u - u u')`, one
    /// for each part.
    pub fn precision(
        &self,
        mass: &[f64],
        expected: &[f64],
        prior: &CoefficientPrior,
    ) -> Result<Cholesky, LinalgError> {
        let patches = &self.grid.patches;
        if patches.is_empty() {
            return Cholesky::factor_owned(self.complete(mass, expected, prior));
        }
        // What boxes leave open of where their rows lie is missing, all of it or, where the
        // posterior is not convex, less.
        let held = patches.held(mass);
        let mut last = None;
        for share in SHARES {
            let pairs = expected.iter().zip(&held);
            let seen: Vec<f64> = pairs.map(|(e, h)| e - share * h).collect();
            let mut a = self.complete(mass, &seen, prior);
            if share > 0.0 {
                patches.add_to(&mut a, self.functions, mass, share);
            }
            match Cholesky::factor_owned(a) {
                Ok(factor) => return Ok(factor),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or(LinalgError::NotPositiveDefinite { size: 0, pivot: 0 }))
    }

    /// `P + Phi' (diag expected - N u u') Phi`.
    fn complete(&self, mass: &[f64], expected: &[f64], prior: &CoefficientPrior) -> Mat<f64> {
        let mut a: Mat<f64> = self.functions.curvature(expected);
        let means = self.functions.project_parts(mass, self.grid.lines());
        for (part, n) in self.grid.totals.iter().enumerate() {
            let c = means.col_as_slice(part);
            if *n == 0.0 {
                continue;
            }
            for j in 0..c.len() {
                let by = n * c[j];
                let below = a.col_as_slice_mut(j)[j..].iter_mut().zip(&c[j..]);
                below.for_each(|(a, c)| *a -= by * c);
            }
        }
        prior.add_to(&mut a);
        a
    }

    /// What each cell is expected to hold.
    pub fn expected(&self, mass: &[f64]) -> Vec<f64> {
        let parts = mass.chunks_exact(self.grid.part()).zip(&self.grid.totals);
        parts
            .flat_map(|(part, n)| part.iter().map(move |u| n * u))
            .collect()
    }

    /// Variances of the logarithm of the probability of each cell, but for what does not depend on
    /// the cell, with `S` the covariance of the coefficients.
    pub fn variances(&self, mass: &[f64], s: &Mat<f64>) -> Vec<f64> {
        let (lines, size) = (self.grid.lines(), self.grid.part());
        let means = self.functions.project_parts(mass, lines);
        let with_means = gemm(s.as_ref(), means.as_ref());
        let with_means = self.functions.eta_parts(&with_means, lines);
        let mut out = self.functions.diagonal(s);
        let parts = out.chunks_exact_mut(size).zip(mass.chunks_exact(size));
        for ((v, u), c) in parts.zip(with_means.chunks_exact(size)) {
            let square = dot(u, c);
            v.iter_mut()
                .zip(c)
                .for_each(|(v, c)| *v += square - 2.0 * c);
        }
        out
    }

    /// Newton's method from a start until the decrement is below a tolerance. That step is still
    /// taken, but the factor stays where it began.
    ///
    /// # Errors
    /// Where a precision is not positive, or the search does not end.
    pub fn mode(
        &self,
        prior: &CoefficientPrior,
        start: &[f64],
        tolerance: f64,
    ) -> Result<Mode, DensityError> {
        let mut theta = start.to_vec();
        theta.resize(self.functions.len(), 0.0);
        let eta = self.functions.eta(&theta);
        let mut at = self.place(prior, theta, eta);
        let counted = self.functions.project(&self.grid.counts);
        for _ in 0..MOST_STEPS {
            let expected = self.expected(&at.mass);
            let factor = self.precision(&at.mass, &expected, prior)?;
            let mut beyond = expected;
            if !self.grid.patches.is_empty() {
                let held = self.grid.patches.held(&at.mass);
                beyond.iter_mut().zip(held).for_each(|(e, h)| *e -= h);
            }
            let expected = self.functions.project(&beyond);
            let gradient: Vec<f64> = (0..counted.len())
                .map(|i| counted[i] - expected[i] - at.pull[i])
                .collect();
            let step = factor.solve(&gradient);
            let decrement = dot(&gradient, &step).max(0.0).sqrt();
            let next = self.search(prior, &at, &step, decrement);
            if next.is_none() && decrement > UNEXPLAINED {
                return Err(DensityError::NoMode {
                    reason: format!(
                        "no step gains, where {:.1e} nats were expected",
                        0.5 * decrement * decrement
                    ),
                });
            }
            let is_last = decrement < tolerance || next.is_none();
            at = next.unwrap_or(at);
            if is_last {
                let log_evidence = at.log_joint() - 0.5 * factor.log_det() + 0.5 * prior.log_det;
                return Ok(Mode {
                    theta: at.theta,
                    eta: at.eta,
                    mass: at.mass,
                    value: at.value,
                    square: at.square,
                    factor,
                    log_evidence,
                });
            }
        }
        Err(DensityError::NoMode {
            reason: format!("{MOST_STEPS} Newton steps were not enough"),
        })
    }

    fn place(&self, prior: &CoefficientPrior, theta: Vec<f64>, eta: Vec<f64>) -> Place {
        let (value, mass) = look(self.grid, &eta);
        let pull = prior.pull(&theta);
        let square = dot(&theta, &pull);
        Place {
            theta,
            eta,
            mass,
            value,
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
        decrement: f64,
    ) -> Option<Place> {
        let along = self.functions.eta(step);
        let before = at.log_joint();
        // Near the mode a step gains less than rounding takes.
        let slack = 1e-13 * (1.0 + before.abs());
        let moved = |x: &[f64], by: &[f64], size: f64| -> Vec<f64> {
            x.iter().zip(by).map(|(x, s)| x + size * s).collect()
        };
        (0..HALVINGS).find_map(|i| {
            let size = 0.5_f64.powi(i);
            let theta = moved(&at.theta, step, size);
            let next = self.place(prior, theta, moved(&at.eta, &along, size));
            let wanted = before + 1e-4 * size * decrement * decrement - slack;
            (next.log_joint() >= wanted).then_some(next)
        })
    }
}
