//! The values behind observed rows, one by one or added up.

use anyhow::Result;
use quadrat::model::{Behind, Posterior};

use crate::answer::{Answer, Chances};
use crate::guard;
use crate::places::Places;
use crate::resolve::RowsAsked;

/// What is asked of the rows.
pub struct WantedRows<'a> {
    /// Which rows, and how they are added up.
    pub rows: &'a RowsAsked,
    /// Where they stand in the answer.
    pub places: &'a Places,
    /// Probability of the interval.
    pub level: f64,
    /// Whether values are known not to be negative.
    pub non_negative: bool,
    /// Which probabilities and draws besides.
    pub chances: &'a Chances,
    /// Of the draws.
    pub seed: u64,
}

/// Numbers of rows or sums that the library has.
struct Numbers {
    mean: Vec<f64>,
    sd: Vec<f64>,
    /// Lower end, median, upper end.
    quantiles: [Vec<f64>; 3],
    above: Vec<Vec<f64>>,
    draws: Vec<Vec<f64>>,
}

/// Answers for rows of an observed table.
pub fn behind(posterior: &Posterior, wanted: &WantedRows<'_>) -> Result<Answer> {
    let tail = (1.0 - wanted.level) / 2.0;
    let levels = [tail, 0.5, 1.0 - tail];
    let behind = match wanted.rows.table {
        None => None,
        Some(table) if wanted.non_negative => Some(posterior.behind(table)?.non_negative()),
        Some(table) => Some(posterior.behind(table)?),
    };
    let numbers = match &wanted.rows.groups {
        None => one_by_one(behind.as_ref(), wanted, levels)?,
        Some(groups) => sums(behind.as_ref(), wanted, groups, levels)?,
    };
    let [lower, median, upper] = numbers.quantiles;
    let names = wanted.chances.columns();
    let count = wanted.chances.draws;
    let draw = |draw: usize| numbers.draws.iter().map(|own| own[draw]).collect();
    let answer = Answer {
        mean: numbers.mean,
        sd: numbers.sd,
        lower,
        median,
        upper,
        chances: names.into_iter().zip(numbers.above).collect(),
        draws: (0..count).map(draw).collect(),
        ..Answer::default()
    };
    guard::numbers(wanted.places, &answer)?;
    guard::draws(wanted.places, &answer.draws)?;
    Ok(answer)
}

/// The places in the table of rows that are in it.
fn in_table(at: &[Result<usize, f64>]) -> Vec<usize> {
    at.iter()
        .filter_map(|at| at.as_ref().ok().copied())
        .collect()
}

fn one_by_one(
    behind: Option<&Behind<'_>>,
    wanted: &WantedRows<'_>,
    levels: [f64; 3],
) -> Result<Numbers> {
    let at = &wanted.rows.at;
    let rows = in_table(at);
    let values = behind.map(|behind| behind.values(&rows)).transpose()?;
    // Rows that were left out stand between the others.
    let fill = |own: Vec<f64>, other: &dyn Fn(f64) -> f64| -> Vec<f64> {
        let mut own = own.into_iter();
        let one = |at: &Result<usize, f64>| match at {
            Ok(_) => own.next().unwrap_or(f64::NAN),
            Err(value) => other(*value),
        };
        at.iter().map(one).collect()
    };
    let (mut mean, mut sd) = (Vec::new(), Vec::new());
    if let Some(values) = &values {
        (mean, sd) = (values.mean().to_vec(), values.sd().to_vec());
    }
    let quantile = |p: f64| values.as_ref().map_or_else(Vec::new, |v| v.quantile(p));
    let above = |limit: f64| {
        values
            .as_ref()
            .map_or_else(Vec::new, |v| v.exceedance(limit))
    };
    let itself = |value: f64| value;
    let above = wanted.chances.above.iter().map(|&limit| {
        let is_above = move |value: f64| f64::from(u8::from(value > limit));
        fill(above(limit), &is_above)
    });
    let above = above.collect();
    let count = wanted.chances.draws;
    let drawn = match (behind, count) {
        (Some(behind), 1..) => Some(behind.sample(&rows, count, wanted.seed)?),
        _ => None,
    };
    let mut next = 0;
    let draws = at.iter().map(|at| match (at, &drawn) {
        (Ok(_), Some(drawn)) => {
            next += 1;
            (0..count).map(|draw| drawn[(next - 1, draw)]).collect()
        }
        (Err(value), _) => vec![*value; count],
        (Ok(_), None) => Vec::new(),
    });
    let draws = draws.collect();
    Ok(Numbers {
        mean: fill(mean, &itself),
        sd: fill(sd, &|_| 0.0),
        quantiles: levels.map(|p| fill(quantile(p), &itself)),
        above,
        draws,
    })
}

fn sums(
    behind: Option<&Behind<'_>>,
    wanted: &WantedRows<'_>,
    groups: &[Vec<usize>],
    levels: [f64; 3],
) -> Result<Numbers> {
    let at = &wanted.rows.at;
    let own = |rows: &Vec<usize>| -> Vec<Result<usize, f64>> {
        rows.iter().map(|&row| at[row]).collect()
    };
    let groups: Vec<Vec<Result<usize, f64>>> = groups.iter().map(own).collect();
    let left_out: Vec<f64> = groups
        .iter()
        .map(|rows| rows.iter().filter_map(|at| at.err()).sum())
        .collect();
    let add = |mut sums: Vec<f64>| -> Vec<f64> {
        sums.iter_mut()
            .zip(&left_out)
            .for_each(|(sum, more)| *sum += more);
        sums
    };
    let count = wanted.chances.draws;
    let Some(behind) = behind else {
        let above = wanted.chances.above.iter();
        let above = above.map(|limit| {
            left_out
                .iter()
                .map(|sum| f64::from(u8::from(sum > limit)))
                .collect()
        });
        return Ok(Numbers {
            mean: left_out.clone(),
            sd: vec![0.0; groups.len()],
            quantiles: levels.map(|_| left_out.clone()),
            above: above.collect(),
            draws: left_out.iter().map(|sum| vec![*sum; count]).collect(),
        });
    };
    let inside: Vec<Vec<usize>> = groups.iter().map(|rows| in_table(rows)).collect();
    let totals = behind.totals(&inside, wanted.seed)?;
    let above = wanted.chances.above.iter().map(|&limit| {
        // Each group has a limit of its own, less what was left out of it.
        let limits: Vec<f64> = left_out.iter().map(|more| limit - more).collect();
        totals.exceedance_of_each(&limits).unwrap_or_default()
    });
    let above = above.collect();
    let draws = totals.draws(count).into_iter().zip(&left_out);
    let draws = draws.map(|(draws, more)| draws.into_iter().map(|d| d + more).collect());
    Ok(Numbers {
        mean: add(totals.mean()),
        sd: totals.sd(),
        quantiles: levels.map(|p| add(totals.quantile(p))),
        above,
        draws: draws.collect(),
    })
}
