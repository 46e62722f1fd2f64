//! The density that is sampled, and its gradient.

use super::coordinate::{Coordinate, Placed};
use super::frame::{Frame, Guide};
use super::rows::Rows;
use crate::error::FitError;
use crate::inference::sites::{LatentGaussian, Method, SiteOptions, condition_sites};
use crate::linalg::dot;

/// `log p(w, u, y)` of a problem, flat priors of hyperparameters counting as one.
///
/// A position holds `w` (one per row, see [`super::frame`]), then `u` (one per free hyperparameter, see
/// [`super::coordinate`]):
///
/// $$ \sum_r \log p(y_r \mid z_r) - \tfrac12 v'v - \tfrac n2 \log 2\pi - \log\det R + \log p(\phi) + \log |d\phi/du| $$
pub(super) struct Target<'a> {
    problem: &'a dyn LatentGaussian,
    free: Vec<(usize, Coordinate)>,
    /// Hyperparameters, natural units; the free ones are overwritten.
    theta: Vec<f64>,
    /// Sites of the rows; `None` for a Gaussian row, whose guide is its own density.
    sites: Vec<Option<Guide>>,
    /// Added to the diagonal where a row has no prior variance.
    floor: Vec<f64>,
    /// The factors at the last value of the hyperparameters.
    frame: Option<(Vec<f64>, Frame)>,
}

impl<'a> Target<'a> {
    /// The density in coordinates guided by an approximation at `theta` (all hyperparameters, natural units):
    /// expectation propagation, else Laplace's, else those of [`Target::plain`].
    ///
    /// # Errors
    /// [`FitError::Input`] for an unusable hyperparameter, or a Gaussian row without noise.
    pub fn new(problem: &'a dyn LatentGaussian, theta: &[f64]) -> Result<Self, FitError> {
        let plain = Self::plain(problem, theta)?;
        let found = [Method::Ep, Method::Laplace]
            .into_iter()
            .find_map(|method| {
                let fit = condition_sites(problem, theta, &SiteOptions::new(method)).ok()?;
                fit.found.converged.then_some(fit.found.sites)
            });
        let mut sites = match found {
            Some(sites) => sites.into_iter().map(Some).collect(),
            None => plain.into_sites(),
        };
        for (row, gaussian) in Rows::new(problem, theta).gaussian() {
            if gaussian.is_some() {
                sites[row] = None;
            }
        }
        Self::guided(problem, theta, sites)
    }

    /// The density in the coordinates of given guides.
    ///
    /// # Errors
    /// As [`Target::new`].
    pub fn guided(
        problem: &'a dyn LatentGaussian,
        theta: &[f64],
        sites: Vec<Option<Guide>>,
    ) -> Result<Self, FitError> {
        Ok(Self {
            sites,
            ..Self::plain(problem, theta)?
        })
    }

    /// The guides.
    pub fn into_sites(self) -> Vec<Option<Guide>> {
        self.sites
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
        let k = problem.covariance(theta);
        let diagonal: Vec<f64> = (0..k.nrows()).map(|i| k[(i, i)]).collect();
        let typical = diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64;
        Ok(Self {
            problem,
            free: (0..parameters.len())
                .filter(|i| !parameters[*i].fixed)
                .map(|i| (i, Coordinate::new(&parameters[i])))
                .collect(),
            theta: theta.to_vec(),
            sites: vec![Some(Guide::default()); diagonal.len()],
            floor: diagonal
                .iter()
                .map(|k| if *k > 0.0 { 0.0 } else { 1e-10 * typical })
                .collect(),
            frame: None,
        })
    }

    /// Number of latent values.
    pub fn rows(&self) -> usize {
        self.sites.len()
    }

    /// Number of coordinates of a position.
    pub fn size(&self) -> usize {
        self.rows() + self.free.len()
    }

    /// `u` at the hyperparameters that the target was made with.
    pub fn start(&self, theta: &[f64]) -> Vec<f64> {
        let parameters = self.problem.parameters();
        let find = |(i, c): &(usize, Coordinate)| c.find(parameters[*i].to_free(theta[*i]));
        self.free.iter().map(find).collect()
    }

    /// The latent values `z`, then the free coordinates `phi` of the free hyperparameters.
    ///
    /// # Errors
    /// [`FitError::Linalg`] when the covariance cannot be factorised.
    pub fn expand(&mut self, position: &[f64]) -> Result<Vec<f64>, FitError> {
        let (w, u) = position.split_at(self.rows());
        let placed = self.place(u);
        let frame = frame(
            self.problem,
            &self.sites,
            &self.floor,
            &self.theta,
            &mut self.frame,
        )?;
        let mut out = frame.latent(&frame.whitened(w));
        for (z, m) in out.iter_mut().zip(self.problem.prior_mean()) {
            *z += m;
        }
        out.extend(placed.iter().map(|p| p.phi));
        Ok(out)
    }

    /// The log density, and its gradient written to `gradient`.
    ///
    /// # Errors
    /// [`FitError::Linalg`] when the covariance cannot be factorised.
    ///
    /// # Numerics
    /// `O(n^3)` when the hyperparameters moved, else `O(n^2)`. The jitter on the covariance, 1e-10 of its
    /// diagonal, is part of the density.
    pub fn evaluate(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, FitError> {
        let n = self.rows();
        let (w, u) = position.split_at(n);
        let placed = self.place(u);
        let frame = frame(
            self.problem,
            &self.sites,
            &self.floor,
            &self.theta,
            &mut self.frame,
        )?;
        let v = frame.whitened(w);
        let mut z = frame.latent(&v);
        for (z, m) in z.iter_mut().zip(self.problem.prior_mean()) {
            *z += m;
        }
        let mut value =
            frame.log_volume() - 0.5 * (dot(&v, &v) + n as f64 * (2.0 * std::f64::consts::PI).ln());

        let rows = Rows::new(self.problem, &self.theta);
        let (log_density, g) = rows.log_density(&z);
        value += log_density;
        let mut v_bar = frame.pull_back(&g);
        v_bar.iter_mut().zip(&v).for_each(|(b, v)| *b -= v);
        let w_bar = frame.to_position(&v_bar);
        gradient[..n].copy_from_slice(&w_bar);
        if self.free.is_empty() {
            return Ok(value);
        }

        let adjoint = frame.adjoint(&v, &g, &v_bar, &w_bar);
        let mut d_theta = vec![0.0; self.theta.len()];
        self.problem
            .contract_covariance(&self.theta, adjoint.covariance.as_ref(), &mut d_theta);
        rows.add_slopes(
            &z,
            self.problem.prior_mean(),
            &self.sites,
            &adjoint,
            &mut d_theta,
        );
        let parameters = self.problem.parameters();
        for (((i, _), at), out) in self.free.iter().zip(&placed).zip(&mut gradient[n..]) {
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
}

/// The factors at `theta`, made anew when it moved.
fn frame<'f>(
    problem: &dyn LatentGaussian,
    sites: &[Option<Guide>],
    floor: &[f64],
    theta: &[f64],
    kept: &'f mut Option<(Vec<f64>, Frame)>,
) -> Result<&'f Frame, FitError> {
    let fresh = match kept.take() {
        Some((at, frame)) if at == theta => frame,
        _ => {
            let guides = Rows::new(problem, theta).guides(sites);
            Frame::new(
                problem.covariance(theta),
                floor,
                problem.prior_mean(),
                &guides,
            )?
        }
    };
    Ok(&kept.insert((theta.to_vec(), fresh)).1)
}
