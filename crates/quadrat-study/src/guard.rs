//! The last look at answers: one that is no number is told with its row, and never becomes a cell.

use anyhow::{Result, bail};

use crate::answer::{Answer, draw_name};
use crate::places::Places;
use crate::prediction_csv::COLUMNS;

/// Refuses answers of which some number is NaN.
///
/// # Errors
/// Names the column, the row and its place. Infinite numbers pass: means behind a link may be.
pub fn numbers(places: &Places, answer: &Answer) -> Result<()> {
    let own = [
        &answer.mean,
        &answer.sd,
        &answer.lower,
        &answer.median,
        &answer.upper,
    ];
    let own = COLUMNS.into_iter().zip(own.map(Vec::as_slice));
    let chances = answer.chances.iter();
    let chances = chances.map(|(name, column)| (name.as_str(), column.as_slice()));
    own.chain(chances)
        .try_for_each(|(name, column)| in_column(places, name, column))
}

/// The same of joint draws, a column each.
///
/// # Errors
/// As [`numbers`].
pub fn draws(places: &Places, draws: &[Vec<f64>]) -> Result<()> {
    let mut named = draws.iter().zip(1..);
    named.try_for_each(|(column, k)| in_column(places, &draw_name(k), column))
}

fn in_column(places: &Places, name: &str, column: &[f64]) -> Result<()> {
    let Some(row) = column.iter().position(|x| x.is_nan()) else {
        return Ok(());
    };
    bail!(
        "`{name}` of row {} ({}) is not a number: values, places or hyperparameters are too large or too small to calculate with there; leave the row out, or give values and places in another unit",
        row + 1,
        places.describe(row)
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::grid::Axis;
    use crate::study::fields::Spanned;

    /// Two points, at 4 and 7.5.
    fn places() -> Places {
        let name = Spanned {
            value: "t".to_owned(),
            span: 0..0,
        };
        Places::grid(
            &[(name, Axis::new(4.0, 7.5, 3.5, false).unwrap())],
            None,
            None,
        )
    }

    #[test]
    fn what_is_no_number_is_refused_by_its_row_and_infinite_means_pass() {
        let good = Answer {
            mean: vec![1.0, f64::INFINITY],
            sd: vec![0.0, 2.0],
            chances: vec![("above_1".into(), vec![0.5, 0.5])],
            ..Answer::default()
        };
        numbers(&places(), &good).unwrap();
        let mut bad = good.clone();
        bad.sd[1] = f64::NAN;
        let told = numbers(&places(), &bad).unwrap_err().to_string();
        assert!(
            told.starts_with("`sd` of row 2 (t = 7.5) is not a number"),
            "{told}"
        );
        let mut bad = good;
        bad.chances[0].1[0] = f64::NAN;
        let told = numbers(&places(), &bad).unwrap_err().to_string();
        assert!(told.starts_with("`above_1` of row 1 (t = 4)"), "{told}");
        let drawn = [vec![1.0, 2.0], vec![1.0, f64::NAN]];
        let told = draws(&places(), &drawn).unwrap_err().to_string();
        assert!(
            told.contains("draw_2") && told.contains("t = 7.5"),
            "{told}"
        );
        draws(&places(), &drawn[..1]).unwrap();
    }
}
