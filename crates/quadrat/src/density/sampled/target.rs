//! The density that is sampled, and its gradient.

use super::frame::Frame;
use super::posterior::{Block, Posterior};
use crate::error::{FitError, LinalgError};
use crate::inference::mcmc::{LogDensity, through_cholesky};
use crate::linalg::{Mat, dot};

/// The log density of a position: `w` (see [`Frame`]), then `log sd` and `log (l - least)` for each
/// lengthscale.
pub(super) struct Target<'a, P> {
    posterior: &'a P,
    frame: &'a Frame,
    /// Cells that are told.
    cells: &'a [usize],
    least: Vec<f64>,
    functions: usize,
}

/// What a position stands for.
struct Place {
    v: Vec<f64>,
    sd: f64,
    /// Logarithms of standard deviation and lengthscales.
    logs: Vec<f64>,
    blocks: Vec<Block>,
    theta: Vec<f64>,
}

impl<'a, P: Posterior> Target<'a, P> {
    pub fn new(posterior: &'a P, frame: &'a Frame, cells: &'a [usize]) -> Self {
        let least = posterior.least_lengths();
        Self {
            functions: frame.starts(posterior).len() - 1 - least.len(),
            least,
            posterior,
            frame,
            cells,
        }
    }

    fn place(&self, position: &[f64]) -> Result<Place, LinalgError> {
        let (w, u) = position.split_at(self.functions);
        let v = self.frame.place(w);
        let sd = u[0].exp();
        let lengths: Vec<f64> = u[1..]
            .iter()
            .zip(&self.least)
            .map(|(u, least)| least + u.exp())
            .collect();
        let blocks = self.posterior.blocks(&lengths)?;
        let (q, variance) = self.posterior.polynomials();
        let mut theta: Vec<f64> = v[..q].iter().map(|v| v * variance.sqrt()).collect();
        theta.resize(self.functions, 0.0);
        for block in &blocks {
            block.spread(sd, &v, &mut theta);
        }
        let logs = std::iter::once(u[0]).chain(lengths.iter().map(|l| l.ln()));
        Ok(Place {
            logs: logs.collect(),
            v,
            sd,
            blocks,
            theta,
        })
    }
}

impl<P: Posterior> LogDensity for Target<'_, P> {
    fn size(&self) -> usize {
        self.functions + 1 + self.least.len()
    }

    fn quantities(&self) -> usize {
        self.cells.len() + 1 + self.least.len()
    }

    /// Log probabilities of the cells that are told, then logarithms of the hyperparameters.
    fn expand(&mut self, position: &[f64]) -> Result<Vec<f64>, FitError> {
        let Place { theta, logs, .. } = self.place(position)?;
        let mass = self.posterior.look(&theta).mass;
        let mut out: Vec<f64> = self.cells.iter().map(|j| mass[*j].ln()).collect();
        out.extend(logs);
        Ok(out)
    }

    /// # Numerics
    /// With `g` the slope of the log likelihood in the coefficients, that in `v` is `C^(T/2) g -
    /// v`; that in a lengthscale is the product of the adjoint of the covariance, from `g v'`
    /// through the derivative of its factor, with how the covariance moves.
    fn evaluate(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, FitError> {
        let at = self.place(position)?;
        let look = self.posterior.look(&at.theta);
        let (prior, of_prior) = self.posterior.log_prior(&at.logs);
        let (q, variance) = self.posterior.polynomials();
        let (in_w, in_hypers) = gradient.split_at_mut(self.functions);
        in_hypers.copy_from_slice(&of_prior);
        let mut slope = vec![0.0; self.functions];
        for (slope, g) in slope.iter_mut().zip(&look.slope[..q]) {
            *slope = variance.sqrt() * g;
        }
        for block in &at.blocks {
            block.pull(at.sd, &look.slope, &mut slope);
            let (g, v) = (block.part(&look.slope), block.part(&at.v));
            in_hypers[0] += dot(&block.part(&at.theta), &g);
            let adjoint = Mat::from_fn(g.len(), g.len(), |i, j| match i >= j {
                true => at.sd * g[i] * v[j],
                false => 0.0,
            });
            let adjoint = through_cholesky(&block.factor, &adjoint);
            for (out, moved) in in_hypers[1..].iter_mut().zip(&block.slopes) {
                let columns = 0..g.len();
                let along = columns.map(|j| dot(adjoint.col_as_slice(j), moved.col_as_slice(j)));
                *out += along.sum::<f64>();
            }
        }
        slope.iter_mut().zip(&at.v).for_each(|(s, v)| *s -= v);
        self.frame.pull(&slope, in_w);
        let mut value = look.value - 0.5 * dot(&at.v, &at.v) + prior;
        // From the logarithm of a lengthscale to that of its excess over the least.
        for ((out, log), least) in in_hypers[1..]
            .iter_mut()
            .zip(&at.logs[1..])
            .zip(&self.least)
        {
            let share = 1.0 - least / log.exp();
            value += share.ln();
            *out = *out * share + 1.0 - share;
        }
        Ok(value)
    }
}
