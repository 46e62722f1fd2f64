//! What a posterior says at places: marginals, probabilities and joint draws.

use std::ops::Range;

use anyhow::{Context, Result};
use quadrat::model::{Finer, Posterior, Prediction, Scale as LibraryScale};
use quadrat::support::Functionals;

use super::{reporting, reports_probabilities, shapes};
use crate::answer::{Answer, Wanted};
use crate::functionals::functionals;
use crate::guard;
use crate::places::{Amounts, Places};
use crate::resolve::{MOST_POINTS, SUMMED};
use crate::study::Scale;
use crate::study::support::Aggregate;

/// Predictions are computed this many rows at a time, which bounds memory.
const CHUNK: usize = 50_000;

/// Answers at places, chunk by chunk.
pub fn predict(posterior: &Posterior, places: &Places, wanted: &Wanted) -> Result<Answer> {
    let Wanted {
        scale,
        level,
        non_negative,
        ref chances,
        table,
        limits,
    } = *wanted;
    if scale.is_observed()
        && places.aggregate == Some(Aggregate::Sum)
        && reports_probabilities(posterior, places, table)
    {
        anyhow::bail!(
            "{SUMMED}; ask for the average (`mean`), or for the scale `response`, the expected successes of the sum"
        );
    }
    let scale = scale.for_library();
    let tail = (1.0 - level) / 2.0;
    let named = |name| (name, Vec::with_capacity(places.len()));
    let mut answer = Answer {
        chances: chances.columns().into_iter().map(named).collect(),
        ..Answer::default()
    };
    let mut start = 0;
    while start < places.len() {
        let end = places.len().min(start + CHUNK);
        let at = functionals(places, start..end)?;
        let mut prediction = placed(posterior, places, (&at, start..end), (scale, table))?;
        if non_negative {
            answer.uncut.extend_from_slice(prediction.mean());
            prediction = prediction.non_negative();
        }
        if let Some(limits) = limits {
            prediction = prediction.reported(limits);
        }
        let unresolved = prediction.unresolved().iter().map(|row| row + start);
        answer.unresolved.extend(unresolved);
        answer.mean.extend_from_slice(prediction.mean());
        answer.sd.extend_from_slice(prediction.sd());
        let told = prediction.tabulate(&[tail, 0.5, 1.0 - tail], &chances.above);
        let [lower, median, upper] = &told.quantiles[..] else {
            anyhow::bail!("three quantiles were asked for");
        };
        // Quantiles of close levels can differ by less than they are solved to.
        let ordered = |ends: &[f64], pick: fn(f64, f64) -> f64| {
            let pairs = ends.iter().zip(median);
            pairs.map(|(&end, &m)| pick(end, m)).collect::<Vec<f64>>()
        };
        answer.lower.extend(ordered(lower, f64::min));
        answer.upper.extend(ordered(upper, f64::max));
        answer.median.extend(median);
        let (above, ranks) = answer.chances.split_at_mut(chances.above.len());
        for ((_, column), exceedance) in above.iter_mut().zip(&told.exceedances) {
            column.extend(exceedance);
        }
        if !ranks.is_empty() {
            let rows = prediction
                .rank_probabilities()
                .context("ranks are predicted on the scale of observations alone")?;
            for row in rows {
                ranks.iter_mut().zip(row).for_each(|((_, c), p)| c.push(p));
            }
        }
        answer.far.extend(
            posterior
                .extrapolation(&at)?
                .into_iter()
                .map(|row| row + start),
        );
        let new = posterior.new_labels(&at)?.into_iter();
        answer.new_labels.extend(new.map(|row| row + start));
        add_finer(&mut answer.finer, posterior.finer_than_rows(&at)?, start);
        start = end;
    }
    if let Some(held) = shapes::Held::of_model(posterior)? {
        shapes::hold(&held, posterior, (places, wanted), &mut answer)?;
    }
    guard::numbers(places, &answer)?;
    Ok(answer)
}

/// The distributions of some rows of places, with what is wanted of them.
pub fn prediction(
    posterior: &Posterior,
    places: &Places,
    rows: Range<usize>,
    wanted: &Wanted,
) -> Result<Prediction> {
    let at = functionals(places, rows.clone())?;
    let scale = (wanted.scale.for_library(), wanted.table);
    let told = placed(posterior, places, (&at, rows), scale)?;
    let told = match wanted.non_negative {
        true => told.non_negative(),
        false => told,
    };
    Ok(match wanted.limits {
        Some(limits) => told.reported(limits),
        None => told,
    })
}

/// The distributions of rows of places at their exposures or among their trials.
fn placed(
    posterior: &Posterior,
    places: &Places,
    (at, rows): (&Functionals, Range<usize>),
    (scale, table): (LibraryScale, Option<usize>),
) -> Result<Prediction> {
    let asked = match &places.output {
        Some(output) => &posterior.at_output(at, output)?,
        None => at,
    };
    Ok(match &places.amounts {
        None => posterior.predict_as(asked, scale, table)?,
        Some(Amounts::Exposure(all)) => {
            posterior.predict_at_exposure(asked, scale, table, all[rows].to_vec())?
        }
        Some(Amounts::Trials(all)) => {
            let trials = all[rows].iter().map(|n| *n as u64).collect();
            posterior.predict_trials(asked, table, trials)?
        }
    })
}

/// Adds the rows of a chunk that begins at `start`.
fn add_finer(all: &mut Vec<Finer>, chunk: Vec<Finer>, start: usize) {
    for mut finer in chunk {
        finer.rows.iter_mut().for_each(|row| *row += start);
        match all.iter_mut().find(|known| known.dim == finer.dim) {
            Some(known) => known.rows.extend(finer.rows),
            None => all.push(finer),
        }
    }
}

/// Joint draws at all places that want some on one scale, one function for all of them: for every
/// set of places a column per draw.
pub fn draw(
    posterior: &Posterior,
    scale: Scale,
    wanted: &[(&Places, usize)],
    seed: u64,
) -> Result<Vec<Vec<Vec<f64>>>> {
    let Some(most) = wanted.iter().map(|(_, draws)| *draws).max() else {
        return Ok(Vec::new());
    };
    if let Some(held) = shapes::Held::of_model(posterior)? {
        let drawn = shapes::draw(&held, posterior, (scale, wanted), (most, seed))?;
        for ((places, _), columns) in wanted.iter().zip(&drawn) {
            guard::draws(places, columns)?;
        }
        return Ok(drawn);
    }
    let mut all: Option<Functionals> = None;
    for (places, _) in wanted {
        let at = functionals(places, 0..places.len())?.select(posterior.dims())?;
        let at = match &places.output {
            Some(output) => posterior.at_output(&at, output)?,
            None => at,
        };
        match &mut all {
            Some(all) => all.extend(&at)?,
            None => all = Some(at),
        }
    }
    let Some(all) = all else {
        return Ok(Vec::new());
    };
    if scale == Scale::Latent && all.len() > MOST_POINTS {
        anyhow::bail!(
            "functions would be drawn at {} at once, more than {MOST_POINTS}; ask for fewer places",
            crate::numbers::count(all.len(), "point")
        );
    }
    let drawn = match scale {
        Scale::Latent => posterior.sample(&all, most, seed),
        _ => posterior.sample_responses(&all, most, seed),
    }?;
    let mut first = 0;
    let own = wanted.iter().map(|(places, draws)| {
        let rows = first..first + places.len();
        first = rows.end;
        let columns = 0..*draws;
        let columns = columns.map(|draw| rows.clone().map(|row| drawn[(row, draw)]).collect());
        let mut columns: Vec<Vec<f64>> = columns.collect();
        if let Some(amounts) = &places.amounts {
            let columns = columns.iter_mut();
            columns.for_each(|column| {
                let rows = column.iter_mut().zip(amounts.values());
                rows.for_each(|(value, amount)| *value *= amount);
            });
        }
        guard::draws(places, &columns)?;
        Ok(columns)
    });
    own.collect()
}

/// Why truncating at zero would do nothing on a scale, or nothing sensible, where a prediction is
/// about a table.
pub fn not_truncated(
    posterior: &Posterior,
    places: &Places,
    (scale, table): (Scale, Option<usize>),
) -> Option<&'static str> {
    let likelihood = reporting(posterior, places.output.as_deref(), table)?;
    if !likelihood.is_linear() {
        return Some("what this model reports is behind a link");
    }
    let other = !likelihood.has_normal_noise() && !likelihood.is_bound();
    (other && scale.is_observed())
        .then_some("new observations of this model do not have normal noise")
}
