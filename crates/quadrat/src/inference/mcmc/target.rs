//! The density that is sampled, and its gradient.

use super::approximation::RowsApproximation;
use super::approximations::Approximations;
use super::chain::LogDensity;
use super::coordinate::{self, Coordinate};
use super::prior::{ProcessPrior, SampledLatents};
use super::process::{ProcessValues, SampledProcess};
use super::rows::SampledRows;
use crate::error::FitError;

/// Spread of the first start in the coordinates of the hyperparameters, about as wide as their
/// posterior.
const SPREAD: f64 = 0.5;

/// `log p(w, u, y)` of a problem, flat priors of hyperparameters counting as one.
///
/// A position holds `w` (one per latent value: row, or node that rows see; then one per row that
/// has a second latent value, see [`super::frame`]), then `u` (one per free hyperparameter, see
/// [`super::coordinate`]):
///
/// $$ \sum_r \log p(y_r \mid z_r) + \sum_f \left[- \tfrac12 v_f'v_f - \tfrac{n_f}2 \log 2\pi -
/// \log\det R_f\right] + \log p(\phi) + \log |d\phi/du| $$
///
/// with one term `f` for every latent function.
pub(super) struct Target<'a> {
    latents: SampledLatents<'a>,
    first: SampledProcess<'a>,
    second: Option<SampledProcess<'a>>,
    free: Vec<(usize, Coordinate)>,
    /// Hyperparameters, natural units; the free ones are overwritten.
    theta: Vec<f64>,
    approximations: Approximations,
}

impl<'a> Target<'a> {
    /// The density in coordinates guided by an approximation at `theta` (all hyperparameters,
    /// natural units), see [`Approximations::find`].
    ///
    /// # Errors
    /// [`FitError::Input`] for an unusable hyperparameter, or a Gaussian row without noise.
    pub fn new(latents: SampledLatents<'a>, theta: &[f64]) -> Result<Self, FitError> {
        let plain = Self::plain(latents, theta)?;
        Ok(Self {
            approximations: Approximations::find(latents, theta),
            ..plain
        })
    }

    /// The density in the coordinates of given approximations.
    ///
    /// # Errors
    /// As [`Target::new`].
    pub fn guided(
        latents: SampledLatents<'a>,
        theta: &[f64],
        approximations: Approximations,
    ) -> Result<Self, FitError> {
        Ok(Self {
            approximations,
            ..Self::plain(latents, theta)?
        })
    }

    /// The approximations.
    pub fn approximations(&self) -> &Approximations {
        &self.approximations
    }

    /// The density in the whitened latents themselves, `w = v`.
    ///
    /// # Errors
    /// As [`Target::new`].
    pub fn plain(latents: SampledLatents<'a>, theta: &[f64]) -> Result<Self, FitError> {
        let problem = latents.problem;
        let parameters = problem.parameters();
        for parameter in parameters {
            parameter.validate()?;
        }
        SampledRows::new(latents, theta).check(latents.second_mean())?;
        let first = SampledProcess::new(ProcessPrior::first(problem, theta));
        let second = ProcessPrior::second(problem, theta).map(SampledProcess::new);
        Ok(Self {
            latents,
            free: (0..parameters.len())
                .filter(|i| !parameters[*i].fixed)
                .map(|i| (i, Coordinate::new(&parameters[i])))
                .collect(),
            theta: theta.to_vec(),
            approximations: Approximations::none(latents),
            first,
            second,
        })
    }

    /// Number of latent values, of both functions.
    pub fn latents(&self) -> usize {
        self.first.prior.rows() + self.approximations.second.len()
    }

    /// Number of values that rows see, of both functions.
    pub fn seen(&self) -> usize {
        self.latents.rows() + self.approximations.second.len()
    }

    /// `u` at the hyperparameters that the target was made with.
    pub fn start(&self, theta: &[f64]) -> Vec<f64> {
        let parameters = self.latents.problem.parameters();
        let find = |(i, c): &(usize, Coordinate)| c.find(parameters[*i].to_free(theta[*i]));
        self.free.iter().map(find).collect()
    }

    /// Centre and spread of the starts of all coordinates: standard normal latent values, and `u`
    /// about [`Self::start`].
    pub fn starts(&self, theta: &[f64]) -> Vec<(f64, f64)> {
        let mut out = vec![(0.0, 1.0); self.latents()];
        out.extend(self.start(theta).into_iter().map(|u| (u, SPREAD)));
        out
    }

    /// Moves `theta` to `u`.
    fn move_to(&mut self, u: &[f64]) -> Vec<coordinate::Transformed> {
        let parameters = self.latents.problem.parameters();
        let (free, theta) = (&self.free, &mut self.theta);
        free.iter()
            .zip(u)
            .map(|((i, coordinate), u)| {
                let at = coordinate.place(*u);
                theta[*i] = parameters[*i].from_free(at.phi);
                at
            })
            .collect()
    }
}

impl LogDensity for Target<'_> {
    fn size(&self) -> usize {
        self.latents() + self.free.len()
    }

    fn quantities(&self) -> usize {
        self.seen() + self.free.len()
    }

    /// The values `z` that rows see, then `g`, then the free coordinates `phi` of the free
    /// hyperparameters.
    fn expand(&mut self, position: &[f64]) -> Result<Vec<f64>, FitError> {
        let (w, u) = position.split_at(self.latents());
        let moved = self.move_to(u);
        let rows = SampledRows::new(self.latents, &self.theta);
        let Self {
            first,
            second,
            approximations,
            theta,
            ..
        } = self;
        let (first, second) = place([w, theta], &rows, approximations, first, second.as_mut())?;
        let mut out = rows.see(&first.z).z.into_owned();
        out.extend(second.into_iter().flat_map(|second| second.z));
        out.extend(moved.iter().map(|p| p.phi));
        Ok(out)
    }

    /// # Numerics
    /// `O(n^3)` when the hyperparameters moved, or the noise of a Gaussian row, else `O(n^2)`. The
    /// jitter on the covariances, 1e-10 of their diagonals, is part of the density.
    fn evaluate(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, FitError> {
        let (w, u) = position.split_at(self.latents());
        let moved = self.move_to(u);
        let rows = SampledRows::new(self.latents, &self.theta);
        let Self {
            first,
            second,
            approximations,
            theta,
            free,
            ..
        } = self;
        let (first, second) = place([w, theta], &rows, approximations, first, second.as_mut())?;
        let g = second.as_ref().map_or(&[][..], |second| &second.z);
        let seen = rows.see(&first.z);
        let density = rows.log_density(&seen.z, g);
        let slope = seen.pull(density.first);
        let mut value = density.value + first.log_prior();
        let mut d_theta = vec![0.0; theta.len()];
        let mut d_second = density.second;

        let pulled = first.pull(&slope);
        let (in_first, rest) = gradient.split_at_mut(pulled.w.len());
        in_first.copy_from_slice(&pulled.w);
        // Without free hyperparameters only approximations can move, with the second latent values.
        let moves = second.is_some() && approximations.first.moves();
        if moves || !free.is_empty() {
            let adjoint = first.adjoint(&slope, &pulled);
            rows.add_slopes(
                [&seen.z, g],
                self.latents.problem.prior_mean(),
                &approximations.first,
                &adjoint,
                [&mut d_theta, &mut d_second],
            );
            if !free.is_empty() {
                first.contract(theta, &adjoint, &mut d_theta);
            }
        }
        let (in_second, in_free) = rest.split_at_mut(g.len());
        if let Some(second) = &second {
            value += second.log_prior();
            let pulled = second.pull(&d_second);
            in_second.copy_from_slice(&pulled.w);
            if !free.is_empty() {
                let adjoint = second.adjoint(&d_second, &pulled);
                second.contract(theta, &adjoint, &mut d_theta);
            }
        }
        let parameters = self.latents.problem.parameters();
        for (((i, _), at), out) in free.iter().zip(&moved).zip(in_free) {
            let parameter = &parameters[*i];
            let (prior, d_prior) = parameter.log_prior_free(at.phi);
            value += prior + at.log_slope;
            let d_phi = d_theta[*i] * parameter.jacobian(theta[*i]) + d_prior;
            *out = d_phi * at.slope + at.log_slope_slope;
        }
        Ok(value)
    }
}

/// Both functions at `w` and `theta`: the second first, for the approximations of the first depend
/// on it.
fn place<'p, 'a>(
    [w, theta]: [&[f64]; 2],
    rows: &SampledRows<'_>,
    approximations: &Approximations,
    first: &'p mut SampledProcess<'a>,
    second: Option<&'p mut SampledProcess<'a>>,
) -> Result<(ProcessValues<'p, 'a>, Option<ProcessValues<'p, 'a>>), FitError> {
    let (own, others) = w.split_at(first.prior.rows());
    let second = second
        .map(|second| {
            second.place(
                theta,
                RowsApproximation::Each(approximations.second.clone()),
                others,
            )
        })
        .transpose()?;
    let g = second.as_ref().map_or(&[][..], |second| &second.z);
    let approximation = rows.approximation(&approximations.first, g);
    Ok((first.place(theta, approximation, own)?, second))
}
