//! The rows of the benchmark of chained outputs.

use anyhow::Result;
use quadrat::model::{Posterior, Scale};
use quadrat::simulate::{Censored as Draws, CensoredData, CensoredOutput};
use quadrat::support::Functionals;
use rand::Rng;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(super) const ROWS: usize = 100;

pub(super) const SEED: u64 = 1;

pub(super) const OUTPUTS: [&str; 2] = ["first", "second"];

/// Two series as `quadrat simulate censored` draws them by default, a stretch of the first of which
/// is only known to lie above what was recorded: the data of the study `censored-synthetic`.
pub struct Rows {
    pub x: Vec<f64>,
    pub outputs: [CensoredOutput; 2],
    pub(super) counts: Vec<f64>,
}

/// How well the first output was found.
#[derive(Clone, Copy)]
pub struct Scores {
    /// Share of the variance of the function that its mean explains.
    pub r2: f64,
    /// Minus the mean log density of the values before censoring; times the rows it is that of the
    /// study.
    pub nlpd: f64,
}

impl std::fmt::Display for Scores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, " {:>7.4} {:>8.4}", self.r2, self.nlpd)
    }
}

impl Rows {
    pub(super) fn draw() -> Result<Self> {
        let plan = Draws {
            points: ROWS,
            seed: SEED,
            ..Draws::default()
        };
        let CensoredData { x, outputs, .. } = plan.draw()?;
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let rates = outputs[0].latent.iter().map(|f| (1.5 + 0.6 * f).exp());
        let counts = rates.map(|rate| poisson(rate, &mut random)).collect();
        Ok(Self { x, outputs, counts })
    }

    pub(super) fn scores(&self, posterior: &Posterior) -> Result<Scores> {
        let mut at = Functionals::points("x", &self.x)?;
        if !posterior.outputs().is_empty() {
            at = posterior.at_output(&at, OUTPUTS[0])?;
        }
        let latent = posterior.predict(&at, Scale::Latent)?;
        let new = posterior.predict(&at, Scale::Observation)?;
        let own = &self.outputs[0];
        let truth = &own.latent;
        let centre = truth.iter().sum::<f64>() / ROWS as f64;
        let squares = |of: &dyn Fn(usize) -> f64| -> f64 {
            (0..ROWS).map(|i| (truth[i] - of(i)).powi(2)).sum()
        };
        let densities = new.log_density(&own.values);
        Ok(Scores {
            r2: 1.0 - squares(&|i| latent.mean()[i]) / squares(&|_| centre),
            nlpd: -densities.iter().sum::<f64>() / ROWS as f64,
        })
    }
}

pub(super) fn poisson(mean: f64, random: &mut impl Rng) -> f64 {
    let (mut left, mut count) = (mean, 0.0);
    loop {
        left += (1.0 - random.random::<f64>()).ln();
        if left < 0.0 {
            return count;
        }
        count += 1.0;
    }
}
