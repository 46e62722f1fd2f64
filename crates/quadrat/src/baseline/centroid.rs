//! A Gaussian process on the centres of the bins.

use super::Predict;
use crate::error::{FitError, InputError};
use crate::model::{FitOptions, Model, Noise, Observations, Posterior, Prediction, Scale};
use crate::support::Functionals;

/// A Gaussian process on `value / volume` at the centre of every bin, as is commonly done in
/// place of integrating the kernel. Predictions over a box are its density at the centre, times
/// the volume.
#[derive(Debug)]
pub struct Centroid {
    posterior: Posterior,
}

impl Centroid {
    /// Fits `model`, which must have no observations yet, to the centres of the table's boxes.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] when a row is not a single box or point; as [`Model::fit`].
    pub fn fit(
        model: &Model,
        table: &Observations,
        options: &FitOptions,
    ) -> Result<Self, FitError> {
        let supports = table.supports();
        if !supports.all_single() {
            return Err(InputError::Unavailable {
                what: "the centroid",
                remedy: "it needs one box per row; use the posterior for bags of nodes",
            }
            .into());
        }
        let mut points = Functionals::new(supports.dims().to_vec());
        for row in 0..supports.len() {
            points.push_point(&centre(supports, row))?;
        }
        let size: Vec<f64> = (0..supports.len()).map(|row| supports.size(row)).collect();
        let gaussian = table.as_gaussian().ok_or(NOT_GAUSSIAN)?;
        let values = gaussian
            .values()
            .iter()
            .zip(&size)
            .map(|(y, s)| y / s)
            .collect();
        let scaled = |v: &[f64]| v.iter().zip(&size).map(|(v, s)| v / (s * s)).collect();
        let noise = match gaussian.noise() {
            Noise::Learned => Noise::Learned,
            Noise::Known(v) => Noise::Known(scaled(v)),
            Noise::KnownPlusLearned(v) => Noise::KnownPlusLearned(scaled(v)),
        };
        let densities = Observations::gaussian(points, values, noise)?;
        let posterior = model.clone().observe(densities).fit(options)?;
        Ok(Self { posterior })
    }

    /// The Gaussian process behind it.
    #[must_use]
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }
}

const NOT_GAUSSIAN: InputError = InputError::Unavailable {
    what: "the centroid",
    remedy: "it needs values with normal noise",
};

/// The centre of the first atom of a row.
fn centre(set: &Functionals, row: usize) -> Vec<f64> {
    let atom = set.atoms(row).start;
    (0..set.dims().len())
        .map(|d| set.lower(d)[atom] + 0.5 * set.width(d)[atom])
        .collect()
}

impl Predict for Centroid {
    /// # Errors
    /// As [`Posterior::predict`].
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = at.select(self.posterior.dims())?;
        let mut nodes = Functionals::new(at.dims().to_vec());
        for row in 0..at.len() {
            let atoms = at.atoms(row);
            let points: Vec<Vec<f64>> = atoms
                .clone()
                .map(|a| {
                    (0..at.dims().len())
                        .map(|d| at.lower(d)[a] + 0.5 * at.width(d)[a])
                        .collect()
                })
                .collect();
            nodes.push_nodes(&points, &at.weight()[atoms])?;
        }
        self.posterior.predict(&nodes, Scale::Response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::model::Setting;
    use crate::support::Aggregate;

    #[test]
    fn narrow_bins_and_their_centres_agree_and_wide_ones_do_not() {
        let fit = |width: f64| {
            let edges: Vec<(f64, f64)> = (0..12)
                .map(|i| (f64::from(i) - 0.5 * width, f64::from(i) + 0.5 * width))
                .collect();
            let supports = Functionals::intervals("x", &edges, Aggregate::Sum).unwrap();
            let values = edges
                .iter()
                .map(|e| width * (e.0 + 0.5 * width).sin())
                .collect();
            let noise = Noise::Known(vec![1e-6 * width * width; 12]);
            let table = Observations::gaussian(supports, values, noise).unwrap();
            let model = Model::new(Kernel::se(["x"]))
                .set("se.variance", Setting::fixed(1.0))
                .set("se.lengthscale.x", Setting::fixed(1.2));
            let options = FitOptions::default();
            let centroid = Centroid::fit(&model, &table, &options).unwrap();
            let integral = model.observe(table).fit(&options).unwrap();
            let at = Functionals::points("x", &[1.57, 4.3]).unwrap();
            let a = centroid.predict_response(&at).unwrap();
            let b = integral.predict_response(&at).unwrap();
            (a.mean()[0] - b.mean()[0]).abs()
        };
        // The average over a narrow bin differs from its centre by width^2 / 24 of the curvature.
        assert!(fit(0.01) < 1e-4);
        assert!(fit(1.0) > 0.02);
    }
}
