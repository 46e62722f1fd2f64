//! A network with one hidden layer, behind sums.

mod adam;
mod laplacian;
mod layers;
mod objective;
mod settings;
#[cfg(test)]
mod tests;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use self::adam::Adam;
use self::layers::Layers;
use self::objective::{Standard, Task};
pub use self::settings::NetworkSettings;
use super::Predict;
use super::bag_rows::{BagRows, sums};
use super::features::Features;
use crate::error::{FitError, InputError};
use crate::link::Link;
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

/// Rows a step.
const BATCH: usize = 32;
/// Times that all rows are gone through.
const MOST_EPOCHS: usize = 500;
/// Times without a lower loss of the rows that training is stopped by, after which it ends.
const PATIENCE: usize = 25;

/// A network with one hidden layer whose sums over bags are reported,
///
/// $$ f(x) = b + \sum_j a_j \max(0, w_j' x + c_j) $$
///
/// $$ \min \; \frac1b \sum_r -\log p\Big(y_r \,\Big|\, e_r \sum_j w_{rj} \, \Psi(f(x_{rj}))\Big) +
/// \frac{\gamma_1}{N^2} f' L f + \frac{\gamma_2}{b^2} F' L_{bags} F $$
///
/// over batches of `b` rows with `N` points, by Adam. `L = diag(K 1) - K` is the graph Laplacian of
/// the points with a squared exponential kernel through landmarks, `L_bags` that of the rows with
/// the mean of the kernel over the points of both, and `F` the means of `f` over the points of
/// every row. Inputs are standardised.
///
/// Training ends when other rows, which it does not see, have not been met better for 25 times
/// through all rows; the parameters that met them best are kept. Units, strengths and rate are not
/// learned: choose them, and the best of several seeds, by rows left out. There is no uncertainty:
/// every sd is zero. Beyond the points, the function goes on in straight lines.
///
/// # Source
/// Law, Sejdinovic, Cameron, Lucas, Flaxman, Battle and Fukumizu 2018, *Variational learning on
/// aggregate outputs with Gaussian processes*, appendices B to D; Kingma and Ba 2015, *Adam*. The
/// paper divides the Laplacian of rows by the number of points squared; dividing it by that of rows
/// keeps its strength when bags grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    dims: Vec<String>,
    link: Link,
    standard: Standard,
    layers: Layers,
    epochs: usize,
    loss: f64,
}

impl Network {
    /// # Arguments
    /// * `table` - points or bags; counts, or values with noise of known variance
    /// * `stop` - rows of the same kind that training is stopped by
    /// * `landmarks` - points over the inputs of the rows, for the Laplacians;
    ///   [`k_means`](crate::inference::sparse::k_means) chooses some
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where rows or landmarks are not points or bags, or report other
    /// than counts or values of known noise; [`InputError::UnknownDimension`],
    /// [`InputError::Shape`]; [`InputError::Parameter`] for settings out of range, no row to stop
    /// by, or another link; [`FitError::NotConverged`] where no finite loss is met.
    ///
    /// # Numerics
    /// `O(N H D + N m)` for every time through all `N` points, 500 times at most, with `H` units,
    /// `D` inputs and `m` landmarks; `O(N m^2)` once, where there is a Laplacian.
    pub fn fit(
        table: &Observations,
        stop: &Observations,
        landmarks: &Functionals,
        settings: &NetworkSettings,
    ) -> Result<Self, FitError> {
        let dims = table.supports().dims().to_vec();
        settings.check(dims.len())?;
        let (rows, others) = (BagRows::of(table, &dims)?, BagRows::of(stop, &dims)?);
        if others.rows.is_empty() || others.link != rows.link {
            return Err(InputError::Parameter {
                name: "stop".into(),
                reason: "give at least one row, behind the same link as the rows".into(),
            }
            .into());
        }
        let standard = Standard::of(&rows.places, dims.len());
        let features = Features::of(landmarks, &dims, &settings.lengthscales)?;
        let task = Task::new(&rows, &standard).smooth(&features, settings);
        let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
        let start = Layers::random(dims.len(), settings.units, rows.level()?, &mut random);
        let (layers, loss, epochs) = train(
            &task,
            &Task::new(&others, &standard),
            start,
            settings.rate,
            &mut random,
        )?;
        Ok(Self {
            link: rows.link,
            dims,
            standard,
            layers,
            epochs,
            loss,
        })
    }

    /// How often training went through all rows.
    #[must_use]
    pub fn epochs(&self) -> usize {
        self.epochs
    }

    /// The mean of minus the log-likelihood of the rows that training was stopped by, but for a
    /// constant.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.loss
    }
}

/// The parameters that meet the other rows best, their loss, and the times through all rows.
fn train(
    task: &Task<'_>,
    others: &Task<'_>,
    mut layers: Layers,
    rate: f64,
    random: &mut ChaCha8Rng,
) -> Result<(Layers, f64, usize), FitError> {
    let mut adam = Adam::new(layers.values.len(), rate);
    let mut order: Vec<usize> = (0..task.rows.rows.len()).collect();
    let mut best = (others.loss(&layers), 0, layers.clone());
    let mut epochs = 0;
    while epochs < MOST_EPOCHS && epochs - best.1 < PATIENCE {
        epochs += 1;
        order.shuffle(random);
        for batch in order.chunks(BATCH) {
            let (_, slopes) = task.objective(&layers, batch);
            adam.step(&mut layers.values, &slopes);
        }
        let loss = others.loss(&layers);
        // Steps so long that the function overflows are not mended by further ones.
        if loss.is_nan() {
            break;
        }
        if loss < best.0 {
            best = (loss, epochs, layers.clone());
        }
    }
    match best.0.is_finite() {
        true => Ok((best.2, best.0, epochs)),
        false => Err(FitError::NotConverged {
            method: "training a network",
            sweeps: epochs,
            residual: best.0,
        }),
    }
}

impl Predict for Network {
    /// # Errors
    /// [`InputError::UnknownDimension`]; [`InputError::Unavailable`] for boxes and regions.
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = at.select(&self.dims)?;
        let f = |x: &[f64]| self.layers.at(&self.standard.apply(x));
        let means = sums(&at, self.link, f)?;
        // Lines behind an exponential overflow far away.
        let most = |mean: f64| mean.clamp(f64::MIN, f64::MAX);
        Ok(Prediction::certain(means.into_iter().map(most).collect()))
    }
}
