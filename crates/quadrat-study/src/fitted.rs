//! What a fit says of the rows it used, when they are bags.

use anyhow::Result;
use quadrat::likelihood::{Likelihood as Reported, Noise};
use quadrat::model::Scale;

use crate::functionals::scaled_bags;
use crate::outcome::Outcome;
use crate::resolve::Observed;
use crate::shapes::Kind;

/// Levels of the bands, and half their widths in standard deviations of a normal distribution.
pub const LEVELS: [(f64, f64); 3] = [(0.5, 0.674_490), (0.8, 1.281_552), (0.95, 1.959_964)];
/// Rows that are predicted, at most.
const MOST: usize = 1000;

/// One row, what it reported and what is predicted of a new row of the same support and exposure.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Which row of the table.
    pub row: usize,
    /// What numbers are divided by to be rates: volume times exposure.
    pub unit: f64,
    /// What was reported.
    pub observed: f64,
    /// Mean of its prediction.
    pub mean: f64,
    /// Bands at [`LEVELS`].
    pub bands: [(f64, f64); 3],
}

/// The rows of a table of counts or normal values over bags, predicted by the fit that used them;
/// none for other tables, and where the noise of a row is not known.
pub fn rows(outcome: &Outcome, table: &Observed) -> Result<Option<Vec<Fitted>>> {
    let Some(exposures) = exposures(outcome, table) else {
        return Ok(None);
    };
    let usable = exposures.iter().enumerate().filter_map(|(row, &exposure)| {
        let unit = exposure * table.places.volume(row);
        Some((row, exposure, unit, table.height(row)? * unit))
    });
    let usable: Vec<(usize, f64, f64, f64)> = usable.collect();
    let kept = usable.len().min(MOST);
    let kept: Vec<_> = (0..kept).map(|i| usable[i * usable.len() / kept]).collect();
    let scaled: Vec<(usize, f64)> = kept.iter().map(|k| (k.0, k.1)).collect();
    let at = scaled_bags(&table.places, &scaled)?;
    if at.is_empty() {
        return Ok(None);
    }
    let at = match &table.places.output {
        Some(output) => outcome.posterior.at_output(&at, output)?,
        None => at,
    };
    let known = match &table.likelihood {
        Reported::Gaussian(x) => match x.noise() {
            Noise::Known(known) => Some(known),
            _ => None,
        },
        _ => None,
    };
    let scale = match known {
        Some(_) => Scale::Response,
        None => Scale::Observation,
    };
    let mut tables = outcome.resolved.tables.iter();
    let own = tables.position(|other| std::ptr::eq(other, table));
    let prediction = outcome.posterior.predict_as(&at, scale, own)?;
    let mean = prediction.mean();
    let bands: Vec<(Vec<f64>, Vec<f64>)> = match known {
        // Known variances differ from row to row: each has its own.
        Some(known) => {
            let sds = kept.iter().zip(prediction.sd());
            let sds: Vec<f64> = sds.map(|(k, sd)| sd.hypot(known[k.0].sqrt())).collect();
            let end = |side: f64| {
                let pairs = mean.iter().zip(&sds);
                pairs.map(|(m, sd)| m + side * sd).collect::<Vec<f64>>()
            };
            LEVELS.map(|(_, z)| (end(-z), end(z))).to_vec()
        }
        None => {
            let ends = LEVELS.map(|(level, _)| [0.5 - level / 2.0, 0.5 + level / 2.0]);
            let told = prediction.tabulate(ends.as_flattened(), &[]).quantiles;
            let pairs = told.chunks(2);
            pairs
                .map(|ends| (ends[0].clone(), ends[1].clone()))
                .collect()
        }
    };
    let rows = kept
        .iter()
        .enumerate()
        .map(|(i, &(row, _, unit, observed))| Fitted {
            row,
            unit,
            observed,
            mean: mean[i],
            bands: [0, 1, 2].map(|b: usize| (bands[b].0[i], bands[b].1[i])),
        });
    Ok(Some(rows.collect()))
}

/// The exposure of every row, one for values; none for tables whose rows cannot be predicted.
fn exposures(outcome: &Outcome, table: &Observed) -> Option<Vec<f64>> {
    let shapes = table.places.shapes.as_ref()?;
    if !matches!(shapes.kind, Kind::Bags(_)) {
        return None;
    }
    let varies = outcome.resolved.study.vary_of(&table.likelihood).is_some();
    match &table.likelihood {
        Reported::Poisson(x) => Some(x.exposure().to_vec()),
        Reported::NegativeBinomial(x) if !varies => Some(x.exposure().to_vec()),
        Reported::Gaussian(x) => {
            let has_one = match x.noise() {
                Noise::Known(_) => true,
                Noise::Learned => !varies,
                Noise::KnownPlusLearned(_) => false,
            };
            has_one.then(|| vec![1.0; table.places.len()])
        }
        _ => None,
    }
}
