//! A kernel at two points: the definition every other computation is checked against.

use pulp::Scalar;

use super::{
    FARTHEST, Iid, IndexedLeaf, Kernel, Kind, Matern12, Matern32, Matern52, Periodic, Profile,
    RationalQuadratic, Se,
};

impl Kernel {
    /// `k(x, x')`, units of `f^2`.
    ///
    /// # Arguments
    /// * `theta` - parameter values in the order of [`Kernel::parameters`]
    /// * `x`, `y` - two points, coordinates in the order of [`Kernel::columns`]
    ///
    /// # Panics
    /// If a slice is shorter than the kernel needs.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// let k = Kernel::se(["x"]).value(&[2.0, 0.5], &[1.0], &[1.5]);
    /// assert!((k - 2.0 * (-0.5_f64).exp()).abs() < 1e-15);
    /// ```
    #[must_use]
    pub fn value(&self, theta: &[f64], x: &[f64], y: &[f64]) -> f64 {
        self.terms
            .iter()
            .map(|term| {
                term.iter()
                    .map(|&i| self.leaves[i].at(theta, x, y, None) * self.leaves[i].variance(theta))
                    .product::<f64>()
            })
            .sum()
    }
}

impl IndexedLeaf {
    pub(crate) fn variance(&self, theta: &[f64]) -> f64 {
        self.variance.map_or(1.0, |i| theta[i])
    }

    /// Correlation of the leaf at two points; `slopes[i]` receives its derivative in `theta[i]`
    /// (the variance excluded), added to what is there.
    pub(crate) fn at(
        &self,
        theta: &[f64],
        x: &[f64],
        y: &[f64],
        slopes: Option<&mut [f64]>,
    ) -> f64 {
        let s = Scalar::new();
        let radial = match self.kind {
            Kind::Constant => return 1.0,
            Kind::Periodic => return self.periodic_at(theta, x, y, slopes),
            Kind::Linear => return self.linear_at(theta, x, y, slopes),
            Kind::Iid => {
                let c = self.columns[0];
                return Iid::correlation(x[c], y[c]);
            }
            Kind::Coregion => {
                let mixing = self.mixing.as_ref();
                return mixing.map_or(1.0, |m| self.coregion_at(m, theta, x, y, slopes));
            }
            Kind::Se | Kind::Matern12 | Kind::Matern32 | Kind::Matern52 | Kind::Rq => self
                .columns
                .iter()
                .zip(&self.lengthscales)
                .map(|(&c, &l)| ((x[c] - y[c]) / theta[l]).powi(2))
                .sum::<f64>(),
        };
        let (k, slope) = match self.kind {
            Kind::Se => Se::radial(s, radial),
            Kind::Matern12 => Matern12::radial(s, radial),
            Kind::Matern32 => Matern32::radial(s, radial),
            Kind::Matern52 => Matern52::radial(s, radial),
            _ => {
                let alpha = self.alpha.map_or(1.0, |i| theta[i]);
                let (k, slope, d_alpha) = RationalQuadratic::radial(radial, alpha);
                if let Some(slopes) = slopes {
                    if let Some(i) = self.alpha {
                        slopes[i] += d_alpha;
                    }
                    self.add_lengthscale_slopes(theta, x, y, slope, slopes);
                }
                return k;
            }
        };
        if let Some(slopes) = slopes {
            self.add_lengthscale_slopes(theta, x, y, slope, slopes);
        }
        k
    }

    fn add_lengthscale_slopes(
        &self,
        theta: &[f64],
        x: &[f64],
        y: &[f64],
        slope: f64,
        slopes: &mut [f64],
    ) {
        for (&c, &l) in self.columns.iter().zip(&self.lengthscales) {
            // Scaled before it is squared; beyond this the slope is zero.
            let gap = ((x[c] - y[c]) / theta[l]).abs().min(FARTHEST);
            slopes[l] += slope * gap * gap / theta[l];
        }
    }

    fn periodic_at(&self, theta: &[f64], x: &[f64], y: &[f64], slopes: Option<&mut [f64]>) -> f64 {
        let parts: Vec<(f64, f64, f64)> = (0..self.columns.len())
            .map(|i| {
                let c = self.columns[i];
                Periodic::between(
                    x[c],
                    y[c],
                    theta[self.lengthscales[i]],
                    theta[self.periods[i]],
                )
            })
            .collect();
        let k = parts.iter().map(|p| p.0).product();
        if let Some(slopes) = slopes {
            for (i, part) in parts.iter().enumerate() {
                let others: f64 = parts
                    .iter()
                    .enumerate()
                    .filter(|(j, _)| *j != i)
                    .map(|(_, p)| p.0)
                    .product();
                slopes[self.lengthscales[i]] += others * part.1;
                slopes[self.periods[i]] += others * part.2;
            }
        }
        k
    }

    fn linear_at(&self, theta: &[f64], x: &[f64], y: &[f64], slopes: Option<&mut [f64]>) -> f64 {
        let product = |i: usize| {
            let c = self.columns[i];
            let l = self.lengthscales.get(i).map_or(1.0, |&l| theta[l]);
            ((x[c] - self.origin) / l) * ((y[c] - self.origin) / l)
        };
        if let Some(slopes) = slopes {
            for (i, &l) in self.lengthscales.iter().enumerate() {
                slopes[l] -= 2.0 * product(i) / theta[l];
            }
        }
        (0..self.columns.len()).map(product).sum()
    }
}
