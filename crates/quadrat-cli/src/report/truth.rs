//! True values that a built-in example knows.

use quadrat_study::answer::Answer;
use quadrat_study::places::Places;
use quadrat_study::prediction_csv::{self, Cell};
use quadrat_study::resolve::Asked;

use super::slices;
use crate::demo::{Extras, Truth};

/// The truth of a prediction.
pub fn of<'a>(asked: &Asked, extras: Option<&'a Extras>) -> Option<&'a Truth> {
    extras?
        .truths
        .iter()
        .find(|truth| truth.prediction == asked.name)
}

/// The row of a prediction that holds a place, and what its total is divided by.
pub fn row_at(asked: &Asked, x: f64) -> Option<usize> {
    let places = &asked.places;
    let along = (0..places.dims.len()).find(|&d| slices::varies(places, d));
    let dim = places.dims.get(along.unwrap_or(0))?;
    (0..places.len()).find(|&row| {
        let (lower, upper) = dim.ends(row);
        lower == x || (lower < x && x < upper)
    })
}

/// True values, each with the row of the prediction that it belongs to.
pub fn rows(asked: &Asked, truth: &Truth) -> Vec<(usize, f64)> {
    let rows = truth.rows().into_iter();
    let Some(columns) = columns(&asked.places, truth) else {
        let along = |at: Vec<&str>| row_at(asked, at.first()?.parse().ok()?);
        return rows
            .filter_map(|(at, value)| Some((along(at)?, value)))
            .collect();
    };
    let places: Vec<Vec<Cell>> = (0..asked.places.len())
        .map(|row| prediction_csv::place(&asked.places, row))
        .collect();
    let find = |at: Vec<&str>| {
        let same = |place: &Vec<Cell>| {
            columns
                .iter()
                .zip(&at)
                .all(|(&c, text)| is(&place[c], text))
        };
        places.iter().position(same)
    };
    rows.filter_map(|(at, value)| Some((find(at)?, value)))
        .collect()
}

/// The true value of every row, none where it is not known.
pub fn by_row(asked: &Asked, truth: &Truth) -> Vec<Option<f64>> {
    let mut values = vec![None; asked.places.len()];
    for (row, value) in rows(asked, truth) {
        values[row] = Some(value);
    }
    values
}

/// How many true values lie inside the interval, of how many.
pub fn inside(asked: &Asked, answer: &Answer, extras: Option<&Extras>) -> Option<(usize, usize)> {
    let rows = rows(asked, of(asked, extras)?);
    if rows.is_empty() {
        return None;
    }
    let inside = rows
        .iter()
        .filter(|(row, value)| (answer.lower[*row]..=answer.upper[*row]).contains(value))
        .count();
    Some((inside, rows.len()))
}

/// Where the columns of the truth stand among those of the places, if all do.
fn columns(places: &Places, truth: &Truth) -> Option<Vec<usize>> {
    let own = prediction_csv::of_places(places);
    let find = |name: &&str| own.iter().position(|column| column == name);
    truth.on.iter().map(find).collect()
}

fn is(cell: &Cell, text: &str) -> bool {
    match cell {
        Cell::Text(key) => key == text,
        other => other
            .number()
            .is_some_and(|value| text.parse() == Ok(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrat_study::grid::Axis;
    use quadrat_study::study::Scale;
    use quadrat_study::study::fields::Spanned;
    use quadrat_study::study::support::Aggregate;

    fn asked(axes: &[(&str, Axis)], aggregate: Option<Aggregate>) -> Asked {
        let named = |(name, axis): &(&str, Axis)| {
            let name = Spanned {
                value: (*name).to_owned(),
                span: 0..0,
            };
            (name, axis.clone())
        };
        let axes: Vec<_> = axes.iter().map(named).collect();
        Asked {
            name: "p".into(),
            id: "p".into(),
            places: Places::grid(&axes, aggregate, None),
            scale: Scale::Response,
            level: 0.95,
            of: 0,
            non_negative: false,
            chances: quadrat_study::answer::Chances::default(),
            table: None,
            like: None,
            limits: None,
            rows: None,
            meet: None,
        }
    }

    #[test]
    fn a_truth_belongs_to_the_row_of_the_same_columns() {
        let age = Axis::new(0.0, 2.0, 1.0, true).unwrap();
        let year = Axis::new(0.0, 2.0, 1.0, false).unwrap();
        let asked = asked(&[("age", age), ("year", year)], None);
        let truth = Truth {
            prediction: "p",
            table: "year,age_upper,age_lower,people\n2,2,1,5\n1.0,1,0,7\n9,1,0,8",
            on: &["age_lower", "age_upper", "year"],
            value: "people",
            label: "True",
        };
        // Ages in rows of three years; nobody asked for the year 9.
        assert_eq!(rows(&asked, &truth), [(5, 5.0), (1, 7.0)]);
        assert_eq!(by_row(&asked, &truth)[..3], [None, Some(7.0), None]);
    }

    #[test]
    fn a_truth_belongs_to_the_row_along_the_dimension_that_varies() {
        let age = Axis::new(67.0, 68.0, 1.0, true).unwrap();
        let year = Axis::new(2000.0, 2003.0, 1.0, true).unwrap();
        let cells = asked(&[("age", age), ("year", year)], Some(Aggregate::Sum));
        assert_eq!(row_at(&cells, 2001.5), Some(1));
        assert_eq!(row_at(&cells, 2003.5), None);
        let points = asked(&[("hour", Axis::new(0.0, 3.0, 1.0, false).unwrap())], None);
        assert_eq!(row_at(&points, 2.0), Some(2));
        assert_eq!(row_at(&points, 2.5), None);
    }
}
