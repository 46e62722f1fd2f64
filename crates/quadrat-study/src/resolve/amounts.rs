//! `exposure` and `trials` in `[[predict]]`: at what new counts and successes are predicted.

use quadrat::likelihood::{Likelihood, Outcomes};

use super::asked::{Asked, reporting};
use super::columns::find;
use super::files::Files;
use super::labels;
use super::observed::Observed;
use crate::diagnostic::{Problem, Problems, Remedy};
use crate::numbers::exact;
use crate::places::{Amounts, Places};
use crate::study::fields::Check;
use crate::study::likelihood::Given;
use crate::study::observe::MOST_TIMES;
use crate::study::{Beside, Scale, Study};
use crate::table::Table;

/// Larger exposures are refused: squares of expected counts would not fit.
const MOST_EXPOSURE: f64 = 1e100;
/// How many rows of one problem are listed.
const SHOWN_ROWS: usize = 20;

/// Gives places what is asked of rows besides, from the table they are read from.
pub fn with_table(
    files: &Files<'_>,
    table: &Table,
    beside: &Beside,
    places: &mut Places,
) -> Option<()> {
    labels::add(files.check, table, &beside.keep, places)?;
    add(files, Some(table), beside, places)
}

/// Gives places what is asked of rows besides, where no table says anything of them.
pub fn without_table(files: &Files<'_>, beside: &Beside, places: &mut Places) -> Option<()> {
    labels::without_table(files.check, &beside.keep);
    add(files, None, beside, places)
}

/// Gives places what the prediction says of exposure and trials; nothing where it was refused.
fn add(
    files: &Files<'_>,
    table: Option<&Table>,
    beside: &Beside,
    places: &mut Places,
) -> Option<()> {
    if let (Some(_), Some(trials)) = (&beside.exposure, &beside.trials) {
        files.check.refuse(
            trials.span(),
            "a prediction has both `exposure` and `trials`",
            "keep `exposure` for counts, `trials` for successes",
        );
        return None;
    }
    if let Some(given) = &beside.exposure {
        let values = read(files, table, (given, "exposure"), places.len(), |x| {
            x > 0.0 && x <= MOST_EXPOSURE
        })?;
        places.amounts = Some(Amounts::Exposure(values));
    }
    if let Some(given) = &beside.trials {
        let is_number = |n: f64| n.fract() == 0.0 && (1.0..=MOST_TIMES).contains(&n);
        let values = read(files, table, (given, "trials"), places.len(), is_number)?;
        places.amounts = Some(Amounts::Trials(values));
    }
    Some(())
}

fn read(
    files: &Files<'_>,
    table: Option<&Table>,
    (given, key): (&Given, &str),
    rows: usize,
    is_usable: impl Fn(f64) -> bool,
) -> Option<Vec<f64>> {
    let check = files.check;
    let wanted = match key {
        "trials" => "a whole number above zero and at most 1e15",
        _ => "above zero and at most 1e100",
    };
    let name = match given {
        Given::Number(number) if is_usable(number.value) => return Some(vec![number.value; rows]),
        Given::Number(number) => {
            let message = format!("`{key}` is {}; it must be {wanted}", exact(number.value));
            check.refuse(&number.span, message, "mend the number");
            return None;
        }
        Given::Column(name) => name,
    };
    let Some(table) = table else {
        let message = format!("`{key}` names the column `{}`, but no table", name.value);
        let remedy = Remedy::or_flags(
            "give a number, or places from a table by `file`",
            "give a number: bags are no rows of a table",
        );
        check.refuse(&name.span, message, remedy);
        return None;
    };
    let at = find(check, table, &[name])?[0];
    let read = table.numbers(&[at]);
    let values = read.map_err(|problems| check.extend(problems)).ok()?;
    let values = values.into_iter().next()?;
    let mut problems = Problems::default();
    let bad = values.iter().enumerate().filter(|(_, v)| !is_usable(**v));
    for (row, value) in bad.take(SHOWN_ROWS) {
        let message = format!("the {key} is {}; it must be {wanted}", exact(*value));
        let problem = Problem::new(message).at(table.place(row, at));
        problems.push(problem.remedy("mend it, or delete the row"));
    }
    let is_fine = problems.0.is_empty();
    check.extend(problems);
    is_fine.then_some(values)
}

/// Refuses exposures and trials of what has none.
pub(super) fn suit(check: &Check<'_>, study: &Study, tables: &[Observed], predictions: &[Asked]) {
    for asked in predictions {
        let likelihood = reporting(tables, asked).map(|table| &table.likelihood);
        let beside = &study.predict[asked.of].beside;
        amounts_suit(check, (beside, &asked.places), (asked.scale, likelihood));
    }
}

/// Refuses the exposures or trials of a prediction on a scale, about what a likelihood reports,
/// that has none.
pub fn amounts_suit(
    check: &Check<'_>,
    (beside, places): (&Beside, &Places),
    (scale, likelihood): (Scale, Option<&Likelihood>),
) {
    let Some(amounts) = &places.amounts else {
        return;
    };
    let (given, message, remedy) = match (amounts, likelihood.map(Likelihood::outcomes)) {
        (Amounts::Exposure(_), Some(Outcomes::Counts(_))) => match scale {
            Scale::Latent => (
                &beside.exposure,
                "the scale `latent` is that of the function, which knows no exposure",
                "leave `exposure` out, or predict the scale `response` or `observation`".into(),
            ),
            _ => return,
        },
        (Amounts::Exposure(_), _) => (
            &beside.exposure,
            "`exposure` is of counts, and this prediction is about none",
            "leave it out; successes are predicted among `trials`".into(),
        ),
        (Amounts::Trials(_), Some(Outcomes::Successes { .. })) => match scale {
            _ if scale.is_observed() => return,
            _ => (
                &beside.trials,
                "`trials` are of new successes, and this prediction is about their probability",
                Remedy::or_flags(
                    "add `scale = \"observation\"`, or leave `trials` out",
                    "add `--scale observation`, or leave `--trials` out",
                ),
            ),
        },
        (Amounts::Trials(_), _) => (
            &beside.trials,
            "`trials` are of `binomial` rows, and this prediction is about none",
            "leave it out; counts are predicted at an `exposure`".into(),
        ),
    };
    if let Some(given) = given {
        check.refuse(given.span(), message, remedy);
    }
}
