//! The simple methods of Law et al. 2018, appendix B, on the same bags and points as ours.

use anyhow::Result;
use quadrat::baseline::{Centroid, Nystrom, NystromSettings, Predict};
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

/// Bags to learn from, and bags to choose settings by.
pub struct Task<'a> {
    /// Bags to learn from.
    pub train: &'a Observations,
    /// The points in them.
    pub points: &'a [Vec<f64>],
    /// Bags to choose settings by, and what they report.
    pub chosen_by: (&'a Functionals, &'a [f64]),
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
    let supports = task.train.supports();
    let columns: Vec<Vec<f64>> = (0..supports.dims().len())
        .map(|d| task.points.iter().map(|x| x[d]).collect())
        .collect();
    let mut landmarks = Functionals::new(supports.dims().to_vec());
    for i in k_means(&columns, task.landmarks, task.seed) {
        landmarks.push_point(&task.points[i])?;
    }
    let mut best: Option<(f64, Nystrom)> = None;
    let mut failed = None;
    for settings in grid(supports.dims().len()) {
        let found = match Nystrom::fit(task.train, &landmarks, &settings) {
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
        (None, Some(error)) => Err(error.into()),
        (None, None) => anyhow::bail!("no settings to try"),
    }
}

/// All settings that are tried.
fn grid(dims: usize) -> impl Iterator<Item = NystromSettings> {
    let one = move |length: f64, variance, manifold| NystromSettings {
        lengthscales: vec![length * (dims as f64).sqrt(); dims],
        variance,
        manifold,
    };
    LENGTHS.into_iter().flat_map(move |length| {
        let rest = VARIANCES.into_iter();
        rest.flat_map(move |v| STRENGTHS.into_iter().map(move |s| one(length, v, s)))
    })
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
