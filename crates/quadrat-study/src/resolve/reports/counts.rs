//! Kinds whose mean lies behind a link.

use quadrat::error::InputError;
use quadrat::likelihood::{
    Bernoulli, Binomial, Dispersion, Exponential, Gamma, Likelihood as Reported, LogNormal, LogSd,
    NegativeBinomial, Poisson, Shape,
};
use quadrat::link::Link;

use super::cells::{Cells, Values};
use super::values::in_order;
use crate::diagnostic::Problems;
use crate::study::likelihood::{Counts, Ends, Given, Law, Likelihood, Reports};

type Made = Option<Result<Reported, InputError>>;

/// The likelihood; `None` when a column could not be had.
pub fn reported(cells: &Cells<'_>, says: &Likelihood, link: Link, problems: &mut Problems) -> Made {
    match &says.reports {
        Reports::Bernoulli { value, sigmoid } => {
            let values = cells.column(value)?.lower;
            let values = values.into_iter().map(|value| value > 0.0).collect();
            Some(Ok(Bernoulli::new(values, *sigmoid).into()))
        }
        Reports::Binomial {
            successes,
            trials,
            sigmoid,
        } => {
            let (successes, trials) = (cells.column(successes)?, cells.given(trials)?);
            whole(cells, &trials, "the number of trials", problems);
            whole(cells, &successes, "the number of successes", problems);
            cells.refuse(problems, &successes, |row| {
                let (k, n) = (successes.lower[row], trials.lower[row]);
                (k > n && k.fract() == 0.0 && n >= 0.0).then(|| {
                    let fact = format!("there are {k} successes among {n} trials");
                    (fact, "mend one of the two numbers")
                })
            });
            Some(Binomial::new(successes.lower, trials.lower, *sigmoid).map(Into::into))
        }
        Reports::Counts {
            counts,
            exposure,
            dispersion,
        } => {
            let (lower, mut upper) = match counts {
                Counts::One(count) => (cells.column(count)?, cells.column(count)?),
                Counts::Between(ends) => between(cells, ends, problems)?,
            };
            if let Some(preset) = says.ignores_limits {
                one_number(cells, &lower, &upper, preset, problems);
                upper.upper.clone_from(&lower.lower);
            }
            let exposure = match exposure {
                Some(exposure) => {
                    let exposure = cells.given(exposure)?;
                    exposed(cells, &exposure, &lower.lower, problems);
                    exposure.lower
                }
                None => vec![1.0; cells.rows()],
            };
            let (lower, upper) = (lower.lower, upper.upper);
            Some(match dispersion {
                None => Poisson::ranges(lower, upper, exposure, link).map(Into::into),
                Some(dispersion) => {
                    let dispersion = dispersion.map_or(Dispersion::Learned, Dispersion::Known);
                    NegativeBinomial::ranges(lower, upper, exposure, link, dispersion)
                        .map(Into::into)
                }
            })
        }
        Reports::Amounts { value, law } => {
            let values = cells.column(value)?;
            cells.refuse(problems, &values, |row| {
                let value = values.lower[row];
                (value <= 0.0).then(|| {
                    let fact = format!("the value is {value}; it must be above zero");
                    (
                        fact,
                        "mend it, or delete the row; times that round to 0 need a finer unit",
                    )
                })
            });
            Some(match law {
                Law::Exponential => Exponential::new(values.lower, link).map(Into::into),
                Law::Gamma(shape) => {
                    let shape = shape.map_or(Shape::Learned, Shape::Known);
                    Gamma::new(values.lower, shape).map(Into::into)
                }
                Law::LogNormal(sd) => {
                    let sd = match sd {
                        None => LogSd::Learned,
                        Some(Given::Number(sd)) => LogSd::Known(sd.value),
                        Some(column) => LogSd::Each(sds(cells, column, problems)?),
                    };
                    LogNormal::new(values.lower, sd).map(Into::into)
                }
            })
        }
        _ => None,
    }
}

/// Standard deviations of logarithms, row by row.
fn sds(cells: &Cells<'_>, column: &Given, problems: &mut Problems) -> Option<Vec<f64>> {
    let sds = cells.given(column)?;
    cells.refuse(problems, &sds, |row| {
        let sd = sds.lower[row];
        (sd <= 0.0).then(|| {
            let fact = format!("the sd is {sd}; it must be above zero");
            (
                fact,
                "an exact total is `gaussian = { .., variance = 0, link = \"exp\" }`",
            )
        })
    });
    Some(sds.lower)
}

/// Refuses ranges of counts in which no single one was recorded.
fn one_number(
    cells: &Cells<'_>,
    lower: &Values,
    upper: &Values,
    preset: &str,
    problems: &mut Problems,
) {
    cells.refuse(problems, upper, |row| {
        let (low, high) = (lower.lower[row], upper.upper[row]);
        (low < high && high.is_finite()).then(|| {
            let fact = format!("`{preset}` takes what was recorded for exact, but this count is only known to lie between {low} and {high}");
            (fact, "choose a preset that keeps to ranges (`cgp`, `mocgp`), or leave such rows out")
        })
    });
}

/// How many counts are only known to reach what was recorded of them.
pub fn beyond(cells: &Cells<'_>, counts: &Counts) -> Option<usize> {
    let (lower, upper) = match counts {
        Counts::One(count) => (cells.column(count)?, cells.column(count)?),
        Counts::Between(ends) => between(cells, ends, &mut Problems::default())?,
    };
    let ends = lower.lower.iter().zip(&upper.upper);
    Some(ends.filter(|(lower, upper)| lower != upper).count())
}

/// Ranges of counts between two columns.
fn between(cells: &Cells<'_>, ends: &Ends, problems: &mut Problems) -> Option<(Values, Values)> {
    let (mut lower, upper) = cells.ends(ends)?;
    in_order(cells, &lower, &upper, problems);
    // No lower end is zero.
    for low in lower
        .lower
        .iter_mut()
        .filter(|low| **low == f64::NEG_INFINITY)
    {
        *low = 0.0;
    }
    whole(cells, &lower, "the lower count", problems);
    whole(cells, &upper, "the upper count", problems);
    Some((lower, upper))
}

fn whole(cells: &Cells<'_>, values: &Values, what: &str, problems: &mut Problems) {
    cells.refuse(problems, values, |row| {
        let value = values.lower[row];
        if value < 0.0 {
            let fact = format!("{what} is {value}; it cannot be negative");
            return Some((fact, "mend it, or delete the row"));
        }
        (value.is_finite() && value.fract() != 0.0).then(|| {
            let fact = format!("{what} is {value}; it must be a whole number");
            (fact, "give what was counted, not a rate")
        })
    });
}

/// A count of one at less than this has a rate whose cube is no number.
const SMALLEST_EXPOSURE: f64 = 1e-100;

/// What rates are multiplied by.
fn exposed(cells: &Cells<'_>, exposure: &Values, counts: &[f64], problems: &mut Problems) {
    cells.refuse(problems, exposure, |row| {
        let value = exposure.lower[row];
        if value < 0.0 {
            let fact = format!("the exposure is {value}; it cannot be negative");
            return Some((
                fact,
                "give the population, area or time that the count is of",
            ));
        }
        if value > 0.0 && value < SMALLEST_EXPOSURE {
            let fact = format!("the exposure is {value:e}: a rate of it is too large a number");
            return Some((fact, "mend it, or change its unit"));
        }
        (value == 0.0 && counts[row] > 0.0).then(|| {
            let fact = format!("the exposure is 0, but {} were counted there", counts[row]);
            (fact, "mend the exposure, or delete the row")
        })
    });
}
