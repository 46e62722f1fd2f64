//! Settings and answers that all estimates of densities have, written once.

/// Settings of a builder whose fields are its own or those of a plan within.
macro_rules! settings {
    ($name:ident $(, $plan:tt)?) => {
        impl<'a> $name<'a> {
            /// A weight of every row: how many like it were seen, which may be a fraction.
            #[must_use]
            pub fn weights(mut self, weights: &'a [f64]) -> Self {
                self$(.$plan)?.weights = Some(weights);
                self
            }

            /// Probability of bands and intervals, 0.95 by default.
            #[must_use]
            pub fn level(mut self, level: f64) -> Self {
                self$(.$plan)?.level = level;
                self
            }

            /// The kernel, in place of the default: of one column [`Kernel::Matern32`] (of the
            /// published prior [`Kernel::Se`]), of both axes of two [`Kernel::Matern52`], which has
            /// smooth draws.
            ///
            /// [`Kernel::Matern32`]: crate::density::Kernel::Matern32
            /// [`Kernel::Matern52`]: crate::density::Kernel::Matern52
            /// [`Kernel::Se`]: crate::density::Kernel::Se
            #[must_use]
            pub fn kernel(mut self, kernel: crate::density::basis::Kernel) -> Self {
                self$(.$plan)?.kernel = Some(kernel);
                self
            }

            /// How draws are mended.
            #[must_use]
            pub fn correct(mut self, correction: crate::density::kinds::Correction) -> Self {
                self$(.$plan)?.correction = correction;
                self
            }

            /// What is done with hyperparameters; the published prior has the most probable ones.
            #[must_use]
            pub fn integrate(mut self, integration: crate::density::kinds::Integration) -> Self {
                self$(.$plan)?.integration = integration;
                self
            }

            /// Number of draws, 8,000 by default.
            #[must_use]
            pub fn draws(mut self, draws: usize) -> Self {
                self$(.$plan)?.draws = draws;
                self
            }

            /// Whom to tell how far the estimate is: an event for each setting of hyperparameters
            /// that is looked at; of two columns then one for every batch of draws.
            #[must_use]
            pub fn progress(mut self, progress: &'a dyn crate::progress::Progress) -> Self {
                self$(.$plan)?.watcher = crate::progress::Watcher(progress);
                self
            }

            /// The seed of the draws.
            #[must_use]
            pub fn seed(mut self, seed: u64) -> Self {
                self$(.$plan)?.seed = seed;
                self
            }
        }
    };
}

/// Answers of an estimate whose fields are its own or those of a fit within.
macro_rules! answers {
    ($name:ident $(, $fit:tt)?) => {
        impl $name {
            /// The density in each cell, per unit of the data: the posterior mean, or, where draws
            /// are not weighted, the average of modes; see [`Self::is_weighted`].
            #[must_use]
            pub fn density(&self) -> &[f64] {
                &self$(.$fit)?.density
            }

            /// Lower ends of the pointwise band.
            #[must_use]
            pub fn lower(&self) -> &[f64] {
                &self$(.$fit)?.lower
            }

            /// Upper ends of the pointwise band.
            #[must_use]
            pub fn upper(&self) -> &[f64] {
                &self$(.$fit)?.upper
            }

            /// Probability of each cell.
            #[must_use]
            pub fn masses(&self) -> &[f64] {
                &self$(.$fit)?.mass
            }

            /// Probability of bands and intervals.
            #[must_use]
            pub fn level(&self) -> f64 {
                self$(.$fit)?.level
            }

            /// What should be known before the answer is trusted.
            #[must_use]
            pub fn warnings(&self) -> &[crate::density::warning::Warning] {
                &self$(.$fit)?.warnings
            }

            /// Effective number of draws, `1 / sum w^2` of their importance weights.
            #[must_use]
            pub fn effective_size(&self) -> f64 {
                self$(.$fit)?.curves.effective
            }

            /// Shape of the tail of the importance weights: above one they are not used. Minus
            /// infinity where they have no tail.
            #[must_use]
            pub fn pareto_k(&self) -> f64 {
                self$(.$fit)?.curves.shape
            }

            /// Whether draws carry importance weights. Else they are those of the Laplace
            /// approximation, beside the average of modes; of two columns, where weights were too
            /// uneven, those of the normal nearest to the posterior, beside their mean.
            #[must_use]
            pub fn is_weighted(&self) -> bool {
                self$(.$fit)?.is_weighted
            }

            /// The sum of the weights of the rows.
            #[must_use]
            pub fn total(&self) -> f64 {
                self$(.$fit)?.total
            }
        }
    };
}

/// Answers of an estimate of two columns.
macro_rules! answers_of_two {
    ($name:ident) => {
        answers!($name, fit);

        impl $name {
            /// Numbers of cells along the two axes.
            #[must_use]
            pub fn shape(&self) -> [usize; 2] {
                self.fit.grid.shape()
            }

            /// Edges of the cells of an axis (0 or 1), one more than cells, ascending.
            ///
            /// # Panics
            /// Where there is no such axis.
            #[must_use]
            pub fn edges(&self, axis: usize) -> &[f64] {
                &self.fit.grid.axes[axis].edges
            }

            /// The middle of each cell of an axis (0 or 1), on the axis of the estimate.
            ///
            /// # Panics
            /// Where there is no such axis.
            #[must_use]
            pub fn places(&self, axis: usize) -> Vec<f64> {
                self.fit.grid.axes[axis].places()
            }

            /// Whether an axis (0 or 1) is logarithmic.
            ///
            /// # Panics
            /// Where there is no such axis.
            #[must_use]
            pub fn is_log(&self, axis: usize) -> bool {
                self.fit.grid.axes[axis].axis.is_log()
            }

            /// The cell that a place lies in; none outside of all.
            #[must_use]
            pub fn cell(&self, x: f64, y: f64) -> Option<usize> {
                let [first, second] = &self.fit.grid.axes;
                Some(first.find(x)? * second.len() + second.find(y)?)
            }

            /// The density at a place; zero outside of the cells.
            #[must_use]
            pub fn density_at(&self, x: f64, y: f64) -> f64 {
                self.cell(x, y).map_or(0.0, |cell| self.fit.density[cell])
            }

            /// The band that holds the whole density at the level, over the densest cells that hold
            /// 90 % of the probability: lower and upper ends.
            ///
            /// # Numerics
            /// One pass over all draws, as of the pointwise bands.
            #[must_use]
            pub fn simultaneous(&self) -> (Vec<f64>, Vec<f64>) {
                self.fit.simultaneous()
            }

            /// The standard deviation of the density in each cell.
            #[must_use]
            pub fn sd(&self) -> &[f64] {
                &self.fit.sd
            }

            /// Hyperparameters that were averaged over, the most probable first.
            #[must_use]
            pub fn settings(&self) -> &[Setting2d] {
                &self.fit.settings
            }

            /// Functions that the logarithm of the density is made of.
            #[must_use]
            pub fn functions(&self) -> usize {
                self.fit.functions
            }
        }
    };
}

pub(super) use {answers, answers_of_two, settings};
