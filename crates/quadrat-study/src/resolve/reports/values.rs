//! Kinds that report something about the values themselves.

use quadrat::error::InputError;
use quadrat::likelihood::{
    Censored, Degrees, Gaussian, Interval, Laplace, Likelihood as Reported, Noise, Ordinal, Side,
    StudentT, Thresholds, Truncated,
};
use quadrat::link::Link;

use super::cells::{Cells, Values};
use super::noise;
use crate::diagnostic::Problems;
use crate::study::fields::Spanned;
use crate::study::likelihood::{Ends, Likelihood, Limits, MOST_RANKS, Reports};

/// Refuses amounts that are known exactly and not above zero, which nothing behind a link is.
fn some_amount(cells: &Cells<'_>, values: &Values, noise: &Noise, problems: &mut Problems) {
    let Noise::Known(known) = noise else {
        return;
    };
    cells.refuse(problems, values, |row| {
        let value = values.lower[row];
        (known[row] == 0.0 && value <= 0.0).then(|| {
            let fact = format!(
                "the value is {value}, known exactly; behind a `link` it must be above zero"
            );
            (
                fact,
                "give the row a `variance`, delete it, or add it to a neighbour in a wider row",
            )
        })
    });
}

type Made = Option<Result<Reported, InputError>>;

/// The likelihood; `None` when a column could not be had.
pub fn reported(cells: &Cells<'_>, says: &Likelihood, link: Link, problems: &mut Problems) -> Made {
    let noise = noise::of(cells, says, problems);
    match &says.reports {
        Reports::Gaussian { value } => {
            let (values, noise) = (cells.column(value)?, noise?);
            if says.link.is_some() {
                some_amount(cells, &values, &noise, problems);
            }
            let made = Gaussian::new(values.lower, noise);
            Some(made.and_then(|made| made.behind(link)).map(Into::into))
        }
        Reports::Laplace { value, scale } => {
            let (values, scale) = (cells.column(value)?.lower, cells.given(scale)?);
            cells.refuse(problems, &scale, |row| {
                let value = scale.lower[row];
                (value <= 0.0).then(|| {
                    let fact = format!("the scale is {value}; it must be above zero");
                    (fact, "give the mean absolute error of the row")
                })
            });
            Some(Laplace::new(values, scale.lower).map(Into::into))
        }
        Reports::StudentT { value, degrees } => {
            let values = cells.column(value)?;
            let noise = noise?;
            some_noise(cells, &values, &noise, problems, |_| true);
            let degrees = degrees.map_or(Degrees::Learned, Degrees::Known);
            Some(StudentT::new(values.lower, noise, degrees).map(Into::into))
        }
        Reports::Interval(ends) => {
            let (lower, upper) = cells.ends(ends)?;
            in_order(cells, &lower, &upper, problems);
            let noise = noise?;
            let wide = |row: usize| lower.lower[row] < upper.upper[row];
            some_noise(cells, &upper, &noise, problems, wide);
            Some(Interval::new(lower.lower, upper.upper, noise).map(Into::into))
        }
        Reports::Censored { value, limits } if says.ignores_limits.is_some() => {
            let values = cells.column(value)?;
            // The sides and limits must hold all the same.
            if let Err(error) = censored(cells, &values, limits, Noise::Learned, problems)? {
                return Some(Err(error));
            }
            let recorded = values.lower.iter().zip(&values.upper);
            let recorded = recorded.map(|(&l, &u)| if l.is_finite() { l } else { u });
            Some(Gaussian::new(recorded.collect(), noise?).map(Into::into))
        }
        Reports::Censored { value, limits } => {
            let values = cells.column(value)?;
            let made = censored(cells, &values, limits, noise?, problems)?;
            if let Ok(made) = &made {
                let readings = made.readings();
                let wide = |row: usize| readings.lower()[row] < readings.upper()[row];
                some_noise(cells, &values, made.noise(), problems, wide);
            }
            Some(made.map(Into::into))
        }
        Reports::Truncated { value, limits } => {
            let (values, noise) = (cells.column(value)?, noise?);
            some_noise(cells, &values, &noise, problems, |_| true);
            truncated(cells, values, limits, noise, problems)
        }
        Reports::Ordinal {
            rank,
            thresholds,
            ranks: told,
        } => {
            let ranks = cells.column(rank)?;
            let noise = noise?;
            some_noise(cells, &ranks, &noise, problems, |_| true);
            let scale = (thresholds.as_deref(), *told);
            let thresholds = thresholds_of(cells, &ranks, scale, problems);
            let whole = ranks.lower.iter().map(|rank| *rank as usize).collect();
            Some(Ordinal::new(whole, thresholds, noise).map(Into::into))
        }
        _ => None,
    }
}

/// How many values lie beyond what was recorded of them.
pub fn beyond(cells: &Cells<'_>, value: &Spanned<String>, limits: &Limits) -> Option<usize> {
    let values = cells.column(value)?;
    let noise = Noise::Learned;
    let made = censored(cells, &values, limits, noise, &mut Problems::default())?.ok()?;
    let readings = made.readings();
    let ends = readings.lower().iter().zip(readings.upper());
    Some(ends.filter(|(lower, upper)| lower != upper).count())
}

/// Refuses ends in the wrong order, and rows that say nothing.
pub fn in_order(cells: &Cells<'_>, lower: &Values, upper: &Values, problems: &mut Problems) {
    cells.refuse(problems, upper, |row| {
        let (low, high) = (lower.lower[row], upper.upper[row]);
        if high < low {
            let fact = format!("the upper end is {high}, below the lower end, {low}");
            return Some((fact, "exchange the two ends"));
        }
        (low == f64::NEG_INFINITY && high == f64::INFINITY).then(|| {
            let fact = "both ends are open, so the row says nothing".to_owned();
            (fact, "fill in an end, or delete the row")
        })
    });
}

fn censored(
    cells: &Cells<'_>,
    values: &Values,
    limits: &Limits,
    noise: Noise,
    problems: &mut Problems,
) -> Option<Result<Censored, InputError>> {
    match limits {
        Limits::Written => Some(Censored::between(
            values.lower.clone(),
            values.upper.clone(),
            noise,
        )),
        Limits::Side(name) => {
            let sides: Vec<Side> = cells
                .column(name)?
                .lower
                .iter()
                .map(|&side| match side {
                    s if s < 0.0 => Side::Left,
                    s if s > 0.0 => Side::Right,
                    _ => Side::None,
                })
                .collect();
            Some(Censored::new(values.lower.clone(), &sides, noise))
        }
        Limits::Flag {
            column,
            is_left,
            when,
        } => {
            let side = if *is_left { Side::Left } else { Side::Right };
            let flags = cells.column(column)?.lower;
            let of = |flag: &f64| {
                if (*flag != 0.0) == *when {
                    side
                } else {
                    Side::None
                }
            };
            let sides: Vec<Side> = flags.iter().map(of).collect();
            Some(Censored::new(values.lower.clone(), &sides, noise))
        }
        Limits::Of(ends) => {
            let (lower, upper) = cells.ends(ends)?;
            refuse_crossed(cells, &lower, &upper, problems);
            Some(Censored::clipped(
                &values.lower,
                &lower.lower,
                &upper.upper,
                noise,
            ))
        }
    }
}

/// Values within their limits.
fn truncated(
    cells: &Cells<'_>,
    values: Values,
    limits: &Ends,
    noise: Noise,
    problems: &mut Problems,
) -> Made {
    let (lower, upper) = cells.ends(limits)?;
    refuse_crossed(cells, &lower, &upper, problems);
    cells.refuse(problems, &values, |row| {
        let value = values.lower[row];
        let (low, high) = (lower.lower[row], upper.upper[row]);
        let (which, limit) = match value {
            y if y < low => ("lower", low),
            y if y > high => ("upper", high),
            _ => return None,
        };
        let fact = format!("the value is {value}, beyond its {which} limit, {limit}");
        let remedy = "nothing was recorded beyond the limits of `truncated` values: mend the value or the limit; values that were recorded as the limit itself are `censored`";
        (low < high).then_some((fact, remedy))
    });
    let made = Truncated::new(values.lower, lower.lower, upper.upper, noise);
    Some(made.map(Into::into))
}

/// Refuses limits of which the upper one is not above the lower one.
fn refuse_crossed(cells: &Cells<'_>, lower: &Values, upper: &Values, problems: &mut Problems) {
    cells.refuse(problems, upper, |row| {
        let (low, high) = (lower.lower[row], upper.upper[row]);
        (high <= low).then(|| {
            let fact = format!("the upper limit is {high}, not above the lower one, {low}");
            (fact, "exchange the two limits")
        })
    });
}

/// Refuses a known variance of zero on rows that are not exact values.
fn some_noise(
    cells: &Cells<'_>,
    values: &Values,
    noise: &Noise,
    problems: &mut Problems,
    needs: impl Fn(usize) -> bool,
) {
    let Noise::Known(known) = noise else {
        return;
    };
    cells.refuse(problems, values, |row| {
        (known[row] == 0.0 && needs(row)).then(|| {
            let fact = "the variance of this row is 0, but only an exact value can be without noise";
            let remedy = "give the square of the error of a reading, however small, or let `extra = \"learn\"` add to it";
            (fact.to_owned(), remedy)
        })
    });
}

/// The thresholds, where the ranks agree with them.
fn thresholds_of(
    cells: &Cells<'_>,
    ranks: &Values,
    (known, told): (Option<&[f64]>, Option<usize>),
    problems: &mut Problems,
) -> Thresholds {
    let highest = match (known, told) {
        (Some(known), _) => known.len() as f64 + 1.0,
        (None, Some(told)) => told as f64,
        (None, None) => ranks.lower.iter().fold(0.0, |a: f64, &b| a.max(b)),
    };
    cells.refuse(problems, ranks, |row| {
        let rank = ranks.lower[row];
        if rank.fract() != 0.0 {
            let fact = format!("the rank is {rank}; it must be a whole number");
            return Some((fact, "number the grades 1, 2, 3, .. from the lowest"));
        }
        if rank < 1.0 {
            let fact = format!("the rank is {rank}; ranks count from 1");
            return Some((fact, "number the grades 1, 2, 3, .. from the lowest"));
        }
        if known.is_some() && rank > highest {
            let fact = format!(
                "the rank is {rank}, but {} thresholds tell {highest} ranks apart",
                highest - 1.0
            );
            return Some((fact, "add a threshold, or mend the rank"));
        }
        if told.is_some() && rank > highest {
            let fact = format!("the rank is {rank}, but the scale has {highest} `ranks`");
            return Some((fact, "mend the rank, or `ranks` in the study"));
        }
        (known.is_none() && rank > MOST_RANKS).then(|| {
            // Not all of three hundred digits.
            let rank = if rank < 1e15 {
                rank.to_string()
            } else {
                format!("{rank:e}")
            };
            let fact = format!(
                "the rank is {rank}; thresholds are learned for at most {MOST_RANKS} ranks"
            );
            (fact, "mend the rank, join ranks, or give the thresholds")
        })
    });
    if known.is_none() && highest < 2.0 && problems.0.is_empty() {
        cells.refuse(problems, ranks, |row| {
            (row == 0).then(|| {
                let fact = "every rank is 1, from which no threshold can be learned".to_owned();
                (fact, "give the thresholds: `thresholds = [..]`")
            })
        });
    }
    match known {
        Some(known) => Thresholds::Known(known.to_vec()),
        None => Thresholds::Learned(highest.clamp(0.0, MOST_RANKS) as usize),
    }
}
