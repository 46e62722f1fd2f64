//! Answers of an estimate at places.

use quadrat::density::{Drawn, Question, Question2d, QuestionGiven};

use super::{Of, QUANTILE, Wanted};
use crate::answer::Answer;
use crate::places::{Along, Places};
use crate::study::support::Aggregate;

/// What an estimate says at places that suit it.
///
/// # Arguments
/// * `names` - of its columns, a given one first
pub fn answer(of: Of<'_>, names: &[String], places: &Places, wanted: &Wanted) -> Answer {
    let rows = places.len();
    let picks = match (wanted.chances.draws, of) {
        (0, _) => Vec::new(),
        (n, Of::Line(estimate)) => estimate.picks(n, wanted.seed),
        (n, Of::Plane(estimate)) => estimate.picks(n, wanted.seed),
        (n, Of::Given(estimate)) => estimate.picks(n, wanted.seed),
    };
    let zeros = || vec![0.0; rows];
    let mut out = Answer {
        mean: zeros(),
        sd: zeros(),
        lower: zeros(),
        median: zeros(),
        upper: zeros(),
        chances: wanted
            .chances
            .columns()
            .into_iter()
            .map(|name| (name, zeros()))
            .collect(),
        draws: vec![zeros(); picks.len()],
        ..Answer::default()
    };
    let tail = 0.5 * (1.0 - wanted.level.unwrap_or(of.level()));
    let by: Vec<f64> = (0..rows).map(|row| 1.0 / size(places, row)).collect();
    let mut take = |row: usize, drawn: &Drawn<'_>| {
        let [lower, median, upper] = drawn.quantiles([tail, 0.5, 1.0 - tail]);
        let by = by[row];
        out.mean[row] = by * drawn.value;
        out.sd[row] = by * drawn.sd();
        (out.lower[row], out.median[row], out.upper[row]) = (by * lower, by * median, by * upper);
        let limits = out.chances.iter_mut().zip(&wanted.chances.above);
        limits.for_each(|((_, column), limit)| column[row] = drawn.above(limit / by));
        let draws = out.draws.iter_mut().zip(&picks);
        draws.for_each(|(column, pick)| column[row] = by * drawn.of(*pick));
    };
    match of {
        Of::Line(estimate) => {
            let asked: Vec<Question> = (0..rows).map(|row| line(names, places, row)).collect();
            estimate.ask(&asked, &mut take);
        }
        Of::Plane(estimate) => {
            let regions = places.shapes.as_ref().and_then(|shapes| shapes.regions());
            let region = |row: usize| {
                let at = places.shapes.as_ref()?.of_row[row];
                regions?.given[at].as_ref()
            };
            let of_row = |row: usize| match region(row) {
                Some(polygon) => Question2d::Inside(std::slice::from_ref(polygon)),
                None => plane(names, places, row),
            };
            let asked: Vec<Question2d<'_>> = (0..rows).map(of_row).collect();
            estimate.ask(&asked, &mut take);
        }
        Of::Given(estimate) => {
            let place = |row: usize| places.dim(&names[0]).map_or(f64::NAN, |a| a.first[row]);
            let asked: Vec<(f64, QuestionGiven)> = (0..rows)
                .map(|row| (place(row), given(&names[1], places, row)))
                .collect();
            estimate.ask(&asked, &mut take);
        }
    }
    out
}

/// What probabilities are divided by: the size of a box or region where averages are asked.
fn size(places: &Places, row: usize) -> f64 {
    if places.aggregate != Some(Aggregate::Mean) {
        return 1.0;
    }
    let shapes = places.shapes.iter();
    let of_shape = shapes.map(|shapes| {
        let given = shapes
            .regions()
            .and_then(|r| r.given[shapes.of_row[row]].as_ref());
        given.map_or(1.0, quadrat::support::Polygon::area)
    });
    let of_box = |along: &Along| {
        let (lower, upper) = along.ends(row);
        along.second.as_ref().map_or(1.0, |_| upper - lower)
    };
    of_shape.chain(places.dims.iter().map(of_box)).product()
}

fn quantile(places: &Places, row: usize) -> Option<f64> {
    places.dim(QUANTILE).map(|along| along.first[row])
}

/// Of one column: its quantile, or what is asked at its place.
fn line(names: &[String], places: &Places, row: usize) -> Question {
    match (places.dim(&names[0]), quantile(places, row)) {
        (Some(along), None) if along.second.is_some() => {
            let (from, to) = along.ends(row);
            Question::Probability(from, to)
        }
        (Some(along), None) => Question::Density(along.first[row]),
        (_, p) => Question::Quantile(p.unwrap_or(f64::NAN)),
    }
}

/// Of two columns: at a point, of a rectangle, and of one of the columns alone.
fn plane(names: &[String], places: &Places, row: usize) -> Question2d<'static> {
    let along = [0, 1].map(|axis| places.dim(&names[axis]));
    let ends = |axis: usize| match along[axis] {
        Some(along) => along.ends(row),
        None => (f64::NEG_INFINITY, f64::INFINITY),
    };
    let has_width = along.iter().flatten().any(|a| a.second.is_some());
    match along {
        _ if has_width => Question2d::Probability(ends(0), ends(1)),
        [Some(x), Some(y)] => Question2d::Density(x.first[row], y.first[row]),
        [Some(x), None] => Question2d::Marginal(0, x.first[row]),
        [None, Some(y)] => Question2d::Marginal(1, y.first[row]),
        [None, None] => Question2d::Probability(ends(0), ends(1)),
    }
}

/// Of a column given another: its quantile, or what is asked at its place.
fn given(name: &str, places: &Places, row: usize) -> QuestionGiven {
    match (places.dim(name), quantile(places, row)) {
        (Some(along), None) if along.second.is_some() => {
            let (from, to) = along.ends(row);
            QuestionGiven::Probability(from, to)
        }
        (Some(along), None) => QuestionGiven::Density(along.first[row]),
        (_, p) => QuestionGiven::Quantile(p.unwrap_or(f64::NAN)),
    }
}
