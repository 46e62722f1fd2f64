//! The Gaussian prior of the function: kernel and mean with unknown coefficients.

use super::mean::Means;
use crate::covariance::{Covariance, KeptPairs, LEAST_PERIODIC, LineTerm, NodeRule, PeriodicTerm};
use crate::inference::sites::Parted;
use crate::kernel::Kernel;
use crate::linalg::Mat;
use crate::parameter::Parameter;
use crate::support::Functionals;

/// `f ~ GP(m, k)`, where the unknown coefficients of the mean are integrated: their columns are
/// part of every covariance that does not say otherwise.
pub(crate) struct Prior {
    pub kernel: Kernel,
    pub(super) of_kernel: Covariance,
    /// For exact inference: the covariance without its linear leaves in one column, and those
    /// leaves, which join the unknown constants as functions with coefficients.
    apart: Apart,
    /// For rows along a line: periodic leaves join them too, where harmonics are few enough.
    with_periodic: Option<Apart>,
    pub mean: Means,
    /// All hyperparameters of the model, in the order of `theta`; those of the kernel come first.
    pub parameters: Vec<Parameter>,
}

/// A covariance, and what is apart from it as functions with unknown coefficients.
pub(crate) struct Apart {
    pub covariance: Covariance,
    pub lines: Vec<LineTerm>,
    pub periodic: Vec<PeriodicTerm>,
}

impl Prior {
    pub fn new(kernel: Kernel, mean: Means, parameters: Vec<Parameter>) -> Self {
        let (covariance, lines) = Covariance::with_lines_apart(&kernel);
        Self {
            of_kernel: Covariance::new(&kernel),
            apart: Apart {
                covariance,
                lines,
                periodic: Vec::new(),
            },
            with_periodic: None,
            kernel,
            mean,
            parameters,
        }
    }

    /// What is apart at any hyperparameters.
    pub fn apart_always(&self) -> &Apart {
        &self.apart
    }

    /// What is apart with periodic leaves of known periods; none where there are none.
    pub fn periodic_apart(&self) -> Option<Apart> {
        let known = |at: usize| {
            let parameter = self.parameters.get(at).filter(|p| p.fixed);
            parameter.map(|p| p.start)
        };
        let covariance = self.apart.covariance.clone();
        let (covariance, periodic) = covariance.with_periodic_apart(known);
        (!periodic.is_empty()).then(|| Apart {
            covariance,
            lines: self.apart.lines.clone(),
            periodic,
        })
    }

    /// Whether a search that begins at the starts may keep periodic leaves apart.
    pub fn begins_apart(&self, apart: &Apart) -> bool {
        let start: Vec<f64> = self.parameters.iter().map(|p| p.start).collect();
        let is_bounded = |term: &PeriodicTerm| {
            let own = &self.parameters[term.lengthscale()];
            own.fixed || own.start.min(own.upper) > LEAST_PERIODIC
        };
        let mut all = apart.periodic.iter();
        all.all(|term| term.shares(&start).is_some() && is_bounded(term))
    }

    /// Takes periodic leaves apart wherever harmonics are few enough, and keeps lengthscales that
    /// are learned there.
    pub fn take_apart(&mut self, apart: Apart) {
        for term in &apart.periodic {
            let own = &mut self.parameters[term.lengthscale()];
            if !own.fixed {
                own.lower = own.lower.max(LEAST_PERIODIC);
            }
        }
        self.with_periodic = Some(apart);
    }

    /// What is apart wherever harmonics are few enough.
    pub fn most_apart(&self) -> &Apart {
        self.with_periodic.as_ref().unwrap_or(&self.apart)
    }

    /// Whether that is apart at these hyperparameters.
    pub fn is_most_apart(&self, theta: &[f64]) -> bool {
        let mut periodic = self.most_apart().periodic.iter();
        periodic.all(|term| term.shares(theta).is_some())
    }

    /// What exact inference has apart.
    fn apart(&self, theta: &[f64]) -> &Apart {
        match self.is_most_apart(theta) {
            true => self.most_apart(),
            false => &self.apart,
        }
    }

    /// Whether exact inference has functions with coefficients beside the covariance.
    pub fn has_functions(&self, theta: &[f64]) -> bool {
        let apart = self.apart(theta);
        self.mean.is_unknown() || !(apart.lines.is_empty() && apart.periodic.is_empty())
    }

    /// What functionals see of the unknown constants, of lines and of harmonics, in prior sds of
    /// their coefficients, shape `[at.len(), functions]`; the constants come first.
    pub fn functions(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        let constants = self.mean.columns(at);
        let apart = self.apart(theta);
        let lines = apart.lines.iter().map(|line| line.values(theta, at));
        let periodic = apart
            .periodic
            .iter()
            .filter_map(|term| term.values(theta, at));
        let others: Vec<Vec<f64>> = lines.chain(periodic.flatten()).collect();
        let first = constants.ncols();
        Mat::from_fn(at.len(), first + others.len(), |i, j| match j < first {
            true => constants[(i, j)],
            false => others[j - first][i],
        })
    }

    /// `K_(rows, at)` without the functions of [`Self::functions`], and these beside it.
    pub fn cross_apart(&self, theta: &[f64], rows: &Functionals, at: &Functionals) -> Parted {
        Parted {
            kernel: self.apart(theta).covariance.cross(theta, rows, at),
            constants: self.functions(theta, at),
        }
    }

    /// Prior variance of every functional without those functions.
    pub fn variance_apart(&self, theta: &[f64], at: &Functionals) -> Vec<f64> {
        self.apart(theta).covariance.diagonal(theta, at)
    }

    /// Prior covariance of the functionals without those functions.
    pub fn covariance_apart(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        self.apart(theta).covariance.matrix(theta, at)
    }

    /// [`Self::covariance_apart`], and what its gradient can use again.
    pub fn covariance_kept(
        &self,
        theta: &[f64],
        at: &Functionals,
        is_rough: bool,
    ) -> (Mat<f64>, KeptPairs) {
        let covariance = &self.apart(theta).covariance;
        covariance.matrix_kept(theta, at, is_rough)
    }

    /// Prior covariance between functionals without those functions, shape `[a.len(), b.len()]`.
    pub fn between_apart(&self, theta: &[f64], a: &Functionals, b: &Functionals) -> Mat<f64> {
        self.apart(theta).covariance.cross(theta, a, b)
    }

    /// Prior covariance of the functionals under the kernel, with the unknown means beside it.
    pub fn parted(&self, theta: &[f64], at: &Functionals) -> Parted {
        Parted {
            kernel: self.of_kernel.matrix(theta, at),
            constants: self.mean.columns(at),
        }
    }

    /// `K_(rows, at)`, the unknown mean included; shape `[n, at.len()]`.
    pub fn cross(&self, theta: &[f64], rows: &Functionals, at: &Functionals) -> Mat<f64> {
        let mut cross = self.of_kernel.cross(theta, rows, at);
        self.mean.add_covariance(&mut cross, rows, at);
        cross
    }

    /// `K_(rows, at)` with the unknown means beside it.
    pub fn parted_cross(&self, theta: &[f64], rows: &Functionals, at: &Functionals) -> Parted {
        Parted {
            kernel: self.of_kernel.cross(theta, rows, at),
            constants: self.mean.columns(at),
        }
    }

    /// Prior variance of every functional under the kernel alone.
    pub fn kernel_variance(&self, theta: &[f64], at: &Functionals) -> Vec<f64> {
        self.of_kernel.diagonal(theta, at)
    }

    /// Prior covariance of the functionals under the kernel alone.
    pub fn kernel_covariance(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        self.of_kernel.matrix(theta, at)
    }

    /// Prior variance of every functional, the unknown mean included.
    pub fn variance(&self, theta: &[f64], at: &Functionals) -> Vec<f64> {
        let mut diagonal = self.of_kernel.diagonal(theta, at);
        for (j, v) in diagonal.iter_mut().enumerate() {
            *v += self.mean.variance(at, j);
        }
        diagonal
    }

    /// Prior covariance of the functionals, the unknown mean included.
    pub fn covariance(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        let mut k = self.of_kernel.matrix(theta, at);
        self.mean.add_covariance(&mut k, at, at);
        k
    }

    /// How nodes within boxes and regions are placed that resolve the kernel.
    pub fn node_rule(&self, theta: &[f64]) -> NodeRule {
        self.of_kernel.node_rule(theta, self.kernel.columns().len())
    }

    /// The hyperparameters by name.
    pub fn named(&self, theta: &[f64]) -> Vec<(String, f64)> {
        let pairs = self.parameters.iter().zip(theta);
        pairs.map(|(p, value)| (p.name.clone(), *value)).collect()
    }

    /// What to say where supports were integrated more coarsely than the kernel needs.
    pub fn quadrature_warning(&self, theta: &[f64], supports: &Functionals) -> Option<String> {
        if let Some(ratio) = self.of_kernel.coarseness(theta, supports) {
            return Some(format!(
                "some boxes are too wide for the quadrature of kernels that share columns: panels are {ratio:.1} times as long as the kernel needs, or its kinks are cut through; prefer products of kernels on separate columns"
            ));
        }
        // Below this the noise of any data hides it.
        let error = self.of_kernel.region_error(theta, supports);
        error.filter(|e| *e > 1e-5).map(|error| {
            format!(
                "variances of regions under `{}` are known to about {error:.0e} only: the kernel is rough, or its lengthscales are far below the size of the regions, and it has no rule on boundaries; one leaf over both coordinates has one, as `matern32(x, y)`, or one leaf for each, as `matern32(x) * se(y)`",
                self.kernel
            )
        })
    }
}
