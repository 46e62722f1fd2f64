//! The density that is sampled, and its gradient.

use super::coordinate::{Coordinate, Placed};
use super::frame::{Frame, Guide};
use super::prior::Prior;
use super::rows::Rows;
use crate::error::FitError;
use crate::inference::sites::{LatentGaussian, Method, SiteOptions, settle};
use crate::linalg::dot;

/// `log p(w, u, y)` of a problem, flat priors of hyperparameters counting as one.
///
/// A position holds `w` (one per row, then one per row that has a second latent value, see [`super::frame`]), then `u`
/// (one per free hyperparameter, see [`super::coordinate`]):
///
/// $$ \sum_r \log p(y_r \mid z_r) + \sum_f \left[- \tfrac12 v_f'v_f - \tfrac{n_f}2 \log 2\pi - \log\det R_f\right] + \log p(\phi) + \log |d\phi/du| $$
///
/// with one term `f` for every latent function.
pub(super) struct Target<'a> {
    problem: &'a dyn LatentGaussian,
    /// One per latent function.
    priors: Vec<Prior<'a>>,
    free: Vec<(usize, Coordinate)>,
    /// Hyperparameters, natural units; the free ones are overwritten.
    theta: Vec<f64>,
    guides: Guides,
    /// The factors at the last value of the hyperparameters, one per latent function.
    frames: Option<(Vec<f64>, Vec<Frame>)>,
}

/// What chooses the coordinates.
#[derive(Clone)]
pub(super) struct Guides {
    /// Sites of the rows; `None` for a Gaussian row, whose guide is its own density.
    pub first: Vec<Option<Guide>>,
    /// Sites of the second latent values.
    pub second: Vec<Guide>,
}

impl<'a> Target<'a> {
    /// The density in coordinates guided by an approximation at `theta` (all hyperparameters, natural units):
    /// expectation propagation, else Laplace's (the variational one where there is a second latent function), else those
    /// of [`Target::plain`].
    ///
    /// # Errors
    /// [`FitError::Input`] for an unusable hyperparameter, or a Gaussian row without noise.
    pub fn new(problem: &'a dyn LatentGaussian, theta: &[f64]) -> Result<Self, FitError> {
        let mut guides = Self::plain(problem, theta)?.into_guides();
        let other = match problem.second() {
            Some(_) => Method::Variational,
            None => Method::Laplace,
        };
        let found = [Method::Ep, other]
            .into_iter()
            .find_map(|method| settle(problem, theta, &SiteOptions::new(method)).ok());
        if let Some(fit) = found {
            guides.first = fit.found.sites.into_iter().map(Some).collect();
            guides.second = fit.found.second;
        }
        for (row, gaussian) in Rows::new(problem, theta).gaussian() {
            if gaussian.is_some() {
                guides.first[row] = None;
            }
        }
        Self::guided(problem, theta, guides)
    }

    /// The density in the coordinates of given guides.
    ///
    /// # Errors
    /// As [`Target::new`].
    pub fn guided(
        problem: &'a dyn LatentGaussian,
        theta: &[f64],
        guides: Guides,
    ) -> Result<Self, FitError> {
        Ok(Self {
            guides,
            ..Self::plain(problem, theta)?
        })
    }

    /// The guides.
    pub fn into_guides(self) -> Guides {
        self.guides
    }

    /// The density in the whitened latents themselves, `w = v`.
    ///
    /// # Errors
    /// As [`Target::new`].
    pub fn plain(problem: &'a dyn LatentGaussian, theta: &[f64]) -> Result<Self, FitError> {
        let parameters = problem.parameters();
        for parameter in parameters {
            parameter.validate()?;
        }
        Rows::new(problem, theta).check()?;
        let priors = Prior::all(problem, theta);
        Ok(Self {
            problem,
            free: (0..parameters.len())
                .filter(|i| !parameters[*i].fixed)
                .map(|i| (i, Coordinate::new(&parameters[i])))
                .collect(),
            theta: theta.to_vec(),
            guides: Guides {
                first: vec![Some(Guide::default()); priors[0].rows()],
                second: vec![Guide::default(); priors.get(1).map_or(0, Prior::rows)],
            },
            priors,
            frames: None,
        })
    }

    /// Number of latent values, of all functions.
    pub fn latents(&self) -> usize {
        self.priors.iter().map(Prior::rows).sum()
    }

    /// Number of coordinates of a position.
    pub fn size(&self) -> usize {
        self.latents() + self.free.len()
    }

    /// `u` at the hyperparameters that the target was made with.
    pub fn start(&self, theta: &[f64]) -> Vec<f64> {
        let parameters = self.problem.parameters();
        let find = |(i, c): &(usize, Coordinate)| c.find(parameters[*i].to_free(theta[*i]));
        self.free.iter().map(find).collect()
    }

    /// The latent values `z`, then `g`, then the free coordinates `phi` of the free hyperparameters.
    ///
    /// # Errors
    /// [`FitError::Linalg`] when a covariance cannot be factorised.
    pub fn expand(&mut self, position: &[f64]) -> Result<Vec<f64>, FitError> {
        let (w, u) = position.split_at(self.latents());
        let placed = self.place(u);
        self.move_frames()?;
        let whitened = whitened(self.frames(), w);
        let mut out = Vec::with_capacity(position.len());
        for ((frame, v), prior) in self.frames().iter().zip(&whitened).zip(&self.priors) {
            out.extend(latent(frame, v, prior.mean()));
        }
        out.extend(placed.iter().map(|p| p.phi));
        Ok(out)
    }

    /// The log density, and its gradient written to `gradient`.
    ///
    /// # Errors
    /// [`FitError::Linalg`] when a covariance cannot be factorised.
    ///
    /// # Numerics
    /// `O(n^3)` when the hyperparameters moved, else `O(n^2)`. The jitter on the covariances, 1e-10 of their
    /// diagonals, is part of the density.
    pub fn evaluate(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, FitError> {
        let (w, u) = position.split_at(self.latents());
        let placed = self.place(u);
        self.move_frames()?;
        let frames = self.frames();
        let whitened = whitened(frames, w);
        let parts = || frames.iter().zip(&whitened).zip(&self.priors);
        let mut value = 0.0;
        for ((frame, v), _) in parts() {
            let constant = v.len() as f64 * (2.0 * std::f64::consts::PI).ln();
            value += frame.log_volume() - 0.5 * (dot(v, v) + constant);
        }
        let mut latents = parts().map(|((frame, v), prior)| latent(frame, v, prior.mean()));
        let z = latents.next().unwrap_or_default();
        let g = latents.next().unwrap_or_default();

        let rows = Rows::new(self.problem, &self.theta);
        let density = rows.log_density(&z, &g);
        value += density.value;
        let mut d_theta = vec![0.0; self.theta.len()];
        let mut first = 0;
        for (at, ((frame, v), prior)) in parts().enumerate() {
            let slope = if at == 0 {
                &density.first
            } else {
                &density.second
            };
            let mut v_bar = frame.pull_back(slope);
            v_bar.iter_mut().zip(v).for_each(|(b, v)| *b -= v);
            let w_bar = frame.to_position(&v_bar);
            gradient[first..first + v.len()].copy_from_slice(&w_bar);
            first += v.len();
            if self.free.is_empty() {
                continue;
            }
            let adjoint = frame.adjoint(v, slope, &v_bar, &w_bar);
            prior.contract(&self.theta, adjoint.covariance.as_ref(), &mut d_theta);
            // Guides that move with hyperparameters are of the first function only.
            if at == 0 {
                let sites = &self.guides.first;
                rows.add_slopes([&z, &g], prior.mean(), sites, &adjoint, &mut d_theta);
            }
        }
        let parameters = self.problem.parameters();
        for (((i, _), at), out) in self.free.iter().zip(&placed).zip(&mut gradient[first..]) {
            let parameter = &parameters[*i];
            let (prior, d_prior) = parameter.log_prior_free(at.phi);
            value += prior + at.log_slope;
            let d_phi = d_theta[*i] * parameter.jacobian(self.theta[*i]) + d_prior;
            *out = d_phi * at.slope + at.log_slope_slope;
        }
        Ok(value)
    }

    /// Moves `theta` to `u`.
    fn place(&mut self, u: &[f64]) -> Vec<Placed> {
        let parameters = self.problem.parameters();
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

    /// Makes the factors anew where `theta` moved.
    fn move_frames(&mut self) -> Result<(), FitError> {
        if self
            .frames
            .as_ref()
            .is_some_and(|(at, _)| *at == self.theta)
        {
            return Ok(());
        }
        let first = Rows::new(self.problem, &self.theta).guides(&self.guides.first);
        let guides = [&first, &self.guides.second];
        let one = |(prior, guides): (&Prior<'_>, &Vec<Guide>)| {
            let k = prior.covariance(&self.theta);
            Frame::new(k, &prior.floor, prior.mean(), guides)
        };
        let frames = self.priors.iter().zip(guides).map(one);
        let frames = frames.collect::<Result<_, _>>()?;
        self.frames = Some((self.theta.clone(), frames));
        Ok(())
    }

    /// The factors, once made.
    fn frames(&self) -> &[Frame] {
        self.frames.as_ref().map_or(&[], |(_, frames)| frames)
    }
}

/// The whitened latents `v` of every function.
fn whitened(frames: &[Frame], w: &[f64]) -> Vec<Vec<f64>> {
    let mut rest = w;
    let one = |frame: &Frame| {
        let (own, others) = rest.split_at(frame.rows());
        rest = others;
        frame.whitened(own)
    };
    frames.iter().map(one).collect()
}

/// The latent values at `v`.
fn latent(frame: &Frame, v: &[f64], prior_mean: &[f64]) -> Vec<f64> {
    let mut z = frame.latent(v);
    z.iter_mut().zip(prior_mean).for_each(|(z, m)| *z += m);
    z
}
