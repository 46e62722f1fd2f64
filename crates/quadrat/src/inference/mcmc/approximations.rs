//! Gaussian approximations for rows, which choose the coordinates of the sampler
//! ([`super::frame`]).

use super::approximation::{Approximation, FirstApproximation};
use std::sync::Arc;

use super::joint::JointApproximation;
use super::prior::SampledLatents;
use super::rows::SampledRows;
use crate::inference::pooled::{Mode, PooledOptions, find_mode};
use crate::inference::sites::{Method, SiteOptions, converge};

/// What chooses the coordinates.
#[derive(Clone)]
pub(super) struct Approximations {
    /// Those of the first function.
    pub first: FirstApproximation,
    /// Sites of the second latent values.
    pub second: Vec<Approximation>,
}

impl Approximations {
    /// Those that say nothing: the coordinates are the whitened latents themselves, `w = v`.
    pub fn none(latents: SampledLatents<'_>) -> Self {
        let (problem, n) = (latents.problem, latents.values());
        let seconds = problem
            .second()
            .map_or(0, |second| second.prior_mean().len());
        Self {
            first: match latents.pools {
                Some(_) => FirstApproximation::Joint(Arc::new(JointApproximation::none(n))),
                None => FirstApproximation::Each(vec![Some(Approximation::default()); n]),
            },
            second: vec![Approximation::default(); seconds],
        }
    }

    /// Those of an approximation at `theta`: Laplace's where rows see several values; else
    /// expectation propagation, else Laplace's (the variational one where there is a second latent
    /// function). [`Approximations::none`] where that does not converge.
    pub fn find(latents: SampledLatents<'_>, theta: &[f64]) -> Self {
        let (problem, mut out) = (latents.problem, Self::none(latents));
        if let Some(pools) = latents.pools {
            let mode = find_mode(problem, pools, theta, &PooledOptions::default());
            if let Ok(mode) = mode.and_then(Mode::converged) {
                out.first =
                    FirstApproximation::Joint(Arc::new(JointApproximation::at(&mode, pools)));
            }
            return out;
        }
        let other = match problem.second() {
            Some(_) => Method::Variational,
            None => Method::Laplace,
        };
        let found = [Method::Ep, other]
            .into_iter()
            .find_map(|method| converge(problem, theta, &SiteOptions::new(method)).ok());
        let mut sites = vec![Some(Approximation::default()); latents.values()];
        if let Some(fit) = found {
            sites = fit.found.sites.into_iter().map(Some).collect();
            out.second = fit.found.second;
        }
        let gaussian = SampledRows::new(latents, theta).gaussian(latents.second_mean());
        for (site, gaussian) in sites.iter_mut().zip(gaussian) {
            if gaussian.is_some() {
                *site = None;
            }
        }
        out.first = FirstApproximation::Each(sites);
        out
    }
}
