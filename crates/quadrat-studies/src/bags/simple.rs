//! The simple methods of Law et al. 2018, appendix B, on the same bags and points as ours.

use anyhow::Result;
use quadrat::baseline::{Centroid, Network, NetworkSettings, Nystrom, NystromSettings, Predict};
use quadrat::inference::sparse::k_means;
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Hyperparameters, Model, Observations};
use quadrat::score::signed_rank;
use quadrat::support::Functionals;

use crate::report::Table;
use crate::statistics::{mean, standard_error};

/// Multiples of the root of the number of inputs that lengthscales are tried at: inputs have
/// variance one.
const LENGTHS: [f64; 4] = [0.25, 0.5, 1.0, 2.0];
/// Prior variances of the coefficients.
const VARIANCES: [f64; 3] = [0.1, 1.0, 10.0];
/// Strengths of the graph Laplacian.
const STRENGTHS: [f64; 3] = [0.0, 10.0, 1000.0];
/// Units of a network.
const UNITS: [usize; 2] = [16, 64];
/// Strengths of the graph Laplacians over points and over bags.
const SMOOTH: [(f64, f64); 4] = [(0.0, 0.0), (10.0, 0.0), (1000.0, 0.0), (10.0, 100.0)];
/// First weights that are tried.
const STARTS: u64 = 2;
/// Length of the steps of a network.
const RATE: f64 = 0.01;

/// Bags to learn from, and bags to choose settings by.
pub struct Task<'a> {
    /// Bags to learn from.
    pub train: &'a Observations,
    /// The points in them.
    pub points: &'a [Vec<f64>],
    /// Bags to choose settings by, and what they report.
    pub chosen_by: (&'a Functionals, &'a [f64]),
    /// Bags that training is stopped by.
    pub stop: &'a Observations,
    /// For every input, which lengthscale it has among those that are tried: `0` for all where
    /// there is one.
    pub group: &'a [usize],
    /// One kernel over all inputs.
    pub kernel: &'a Kernel,
    /// Landmarks.
    pub landmarks: usize,
    /// Of landmarks.
    pub seed: u64,
}

/// Regression on the means of the covariates of bags (*bag-pixel*).
///
/// # Errors
/// When the fit fails.
pub fn bag_pixel(task: &Task<'_>) -> Result<Centroid> {
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let model = Model::new(task.kernel.clone());
    Ok(Centroid::fit(&model, task.train, &options)?)
}

/// Regression on features of landmarks, its settings those that lose least on the bags that they
/// are chosen by.
///
/// # Arguments
/// * `loss` - of the mean of a bag, for what it reports
///
/// # Errors
/// When no fit succeeds.
pub fn nystrom(task: &Task<'_>, loss: impl Fn(f64, f64) -> f64) -> Result<Nystrom> {
    let landmarks = landmarks(task)?;
    let settings = VARIANCES.into_iter().flat_map(|variance| {
        let lengths = lengthscales(task.group).into_iter();
        lengths.flat_map(move |lengthscales| {
            STRENGTHS.map(|manifold| NystromSettings {
                lengthscales: lengthscales.clone(),
                variance,
                manifold,
            })
        })
    });
    least(task, loss, settings, |settings| {
        Ok(Nystrom::fit(task.train, &landmarks, settings)?)
    })
}

/// A network with one hidden layer, its settings and first weights those that lose least on the
/// bags that they are chosen by.
///
/// # Arguments
/// * `loss` - of the mean of a bag, for what it reports
///
/// # Errors
/// When no fit succeeds.
pub fn network(task: &Task<'_>, loss: impl Fn(f64, f64) -> f64) -> Result<Network> {
    let landmarks = landmarks(task)?;
    let dims = task.group.len();
    let settings = UNITS.into_iter().flat_map(|units| {
        SMOOTH.into_iter().flat_map(move |(manifold, bags)| {
            (0..STARTS).map(move |start| NetworkSettings {
                units,
                rate: RATE,
                lengthscales: vec![(dims as f64).sqrt(); dims],
                manifold,
                bags,
                seed: task.seed + start,
            })
        })
    });
    least(task, loss, settings, |settings| {
        Ok(Network::fit(task.train, task.stop, &landmarks, settings)?)
    })
}

/// Some of the points.
fn landmarks(task: &Task<'_>) -> Result<Functionals> {
    let dims = task.train.supports().dims();
    let column = |d: usize| task.points.iter().map(|x| x[d]).collect();
    let columns: Vec<Vec<f64>> = (0..dims.len()).map(column).collect();
    let mut landmarks = Functionals::new(dims.to_vec());
    for i in k_means(&columns, task.landmarks, task.seed) {
        landmarks.push_point(&task.points[i])?;
    }
    Ok(landmarks)
}

/// The method whose settings lose least on the bags that they are chosen by.
fn least<S, M: Predict>(
    task: &Task<'_>,
    loss: impl Fn(f64, f64) -> f64,
    all: impl Iterator<Item = S>,
    fit: impl Fn(&S) -> Result<M>,
) -> Result<M> {
    let (mut best, mut failed): (Option<(f64, M)>, _) = (None, None);
    for settings in all {
        let found = match fit(&settings) {
            Ok(found) => found,
            Err(error) => {
                failed = Some(error);
                continue;
            }
        };
        let (bags, reported) = task.chosen_by;
        let told = found.predict_response(bags)?;
        let pairs = told.mean().iter().zip(reported);
        let lost = mean(&pairs.map(|(m, y)| loss(*m, *y)).collect::<Vec<f64>>());
        if best.as_ref().is_none_or(|(least, _)| lost < *least) {
            best = Some((lost, found));
        }
    }
    match (best, failed) {
        (Some((_, found)), _) => Ok(found),
        (None, Some(error)) => Err(error),
        (None, None) => anyhow::bail!("no settings to try"),
    }
}

/// All lengthscales that are tried, one for every input: every choice of one for each group.
fn lengthscales(group: &[usize]) -> Vec<Vec<f64>> {
    let groups = group.iter().max().map_or(0, |last| last + 1);
    let mut all: Vec<Vec<f64>> = vec![Vec::new()];
    for of in 0..groups {
        let inputs = group.iter().filter(|g| **g == of).count() as f64;
        let longer = |chosen: Vec<f64>| {
            LENGTHS.map(|length| {
                let mut chosen = chosen.clone();
                chosen.push(length * inputs.sqrt());
                chosen
            })
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    let of_inputs = |chosen: Vec<f64>| group.iter().map(|g| chosen[*g]).collect();
    all.into_iter().map(of_inputs).collect()
}

/// What a method scores in every draw.
pub struct Scores {
    /// Its name.
    pub method: &'static str,
    /// Mean squared errors.
    pub square: Vec<f64>,
    /// Negative log-probabilities.
    pub nll: Vec<f64>,
}

/// The methods beside the first, which is ours, with Wilcoxon's signed-rank test over the draws.
#[must_use]
pub fn table(title: &str, all: &[Scores]) -> Table {
    let head = ["method", "square error", "p", "NLL", "p"];
    let mut table = Table::new(title, &head);
    let Some(ours) = all.first() else {
        return table;
    };
    let told = |values: &[f64]| format!("{:.4} +- {:.4}", mean(values), standard_error(values));
    let test = |own: &[f64], ours: &[f64]| {
        let differences: Vec<f64> = own.iter().zip(ours).map(|(a, b)| a - b).collect();
        let found = signed_rank(&differences).filter(|found| found.pairs > 0);
        found.map_or_else(|| "-".to_owned(), |found| format!("{:.4}", found.p_value))
    };
    for scores in all {
        table.row(vec![
            scores.method.to_owned(),
            told(&scores.square),
            test(&scores.square, &ours.square),
            told(&scores.nll),
            test(&scores.nll, &ours.nll),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_every_length() {
        let all = lengthscales(&[0, 0, 1]);
        assert_eq!(all.len(), 16);
        let root = 2_f64.sqrt();
        assert_eq!(all[0], [0.25 * root, 0.25 * root, 0.25]);
        assert_eq!(all[15], [2.0 * root, 2.0 * root, 2.0]);
        assert_eq!(lengthscales(&[0; 18]).len(), 4);
    }

    #[test]
    fn ours_has_no_p_value_and_six_draws_the_least_that_six_can_have() {
        let scores = |method, by: f64| Scores {
            method,
            square: (0..6).map(|k| by + f64::from(k * k) * by).collect(),
            nll: vec![by; 6],
        };
        let told = table("t", &[scores("ours", 1.0), scores("worse", 2.0)]);
        assert_eq!(told.rows[0][2], "-");
        // Two of the 64 signs of six differences are as one-sided.
        assert_eq!(told.rows[1][2], "0.0312");
    }
}
