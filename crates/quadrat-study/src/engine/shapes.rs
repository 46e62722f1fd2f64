//! Predictions of functions that are held to shapes.

use anyhow::{Context, Result};
use quadrat::model::{Posterior, Shape, Shaped};
use serde::{Deserialize, Serialize};

use super::reporting;
use crate::answer::{Answer, Wanted};
use crate::functionals::functionals;
use crate::places::Places;
use crate::resolve::Resolved;
use crate::study::Scale;
use crate::study::shapes::NOT_OBSERVED;

/// The note of a saved model with the shapes that its study held the function to.
const NOTE: &str = "shapes";
/// Functions drawn: an end of a 95 % interval is then known to 4 % of the sd.
const DRAWS: usize = 4000;
/// The same of very many places, 8 % of the sd.
const FEWEST: usize = 1000;
/// Values of all functions at all places, where these are few enough functions.
const VALUES: usize = 160_000_000;
/// Which they are, the same for every prediction of a function.
const SEED: u64 = 0;
/// Rows whose draws are kept at a time.
const CHUNK: usize = 512;

/// The shapes of a function, and where it is held to them besides the range of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    shapes: Vec<Saved>,
    range: Option<(f64, f64)>,
}

/// A shape in a note; what has no number there is open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Saved {
    Rising,
    Falling,
    Convex,
    Concave,
    Between(Option<f64>, Option<f64>),
}

impl From<Shape> for Saved {
    fn from(shape: Shape) -> Self {
        let end = |end: f64| Some(end).filter(|end| end.is_finite());
        match shape {
            Shape::Rising => Self::Rising,
            Shape::Falling => Self::Falling,
            Shape::Convex => Self::Convex,
            Shape::Concave => Self::Concave,
            Shape::Between { lower, upper } => Self::Between(end(lower), end(upper)),
        }
    }
}

impl From<Saved> for Shape {
    fn from(saved: Saved) -> Self {
        match saved {
            Saved::Rising => Self::Rising,
            Saved::Falling => Self::Falling,
            Saved::Convex => Self::Convex,
            Saved::Concave => Self::Concave,
            Saved::Between(lower, upper) => Self::Between {
                lower: lower.unwrap_or(f64::NEG_INFINITY),
                upper: upper.unwrap_or(f64::INFINITY),
            },
        }
    }
}

impl Held {
    /// What a study says, over all that it predicts too; none where it says nothing.
    fn of_study(resolved: &Resolved) -> Option<Self> {
        let latent = &resolved.study.latent;
        let input = latent.of_kernel().first()?;
        let shapes: Vec<Saved> = latent.shapes.iter().map(|own| own.shape.into()).collect();
        let predicted = resolved.predictions.iter();
        let ends = predicted.filter_map(|asked| range(&asked.places, input));
        (!shapes.is_empty()).then(|| Self {
            shapes,
            range: ends.reduce(joined),
        })
    }

    /// What the note of a model says.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn of_model(posterior: &Posterior) -> Result<Option<Self>> {
        let note = posterior.note(NOTE).map(serde_json::from_str);
        note.transpose()
            .context("cannot use the shapes in the model")
    }

    /// Draws of the function of an output, over the range of some places besides.
    fn draw(
        &self,
        posterior: &Posterior,
        (besides, output): (Option<(f64, f64)>, Option<&str>),
        (draws, seed): (usize, u64),
    ) -> Result<Shaped> {
        let shapes: Vec<Shape> = self.shapes.iter().map(|&shape| shape.into()).collect();
        let range = self.range.into_iter().chain(besides).reduce(joined);
        Ok(posterior.shaped(&shapes, range, output, (draws, seed))?)
    }
}

fn joined(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// From the lowest to the highest coordinate of places along an input.
fn range(places: &Places, input: &str) -> Option<(f64, f64)> {
    if let Some(dim) = places.dim(input) {
        return (0..places.len()).map(|row| dim.ends(row)).reduce(joined);
    }
    // Bags have points of their own. What cannot be made is refused where it is predicted.
    let set = functionals(places, 0..places.len()).ok()?;
    let set = set.select(&[input.to_owned()]).ok()?;
    (!set.is_empty()).then(|| set.range(0))
}

/// Keeps what a study says in the model.
pub fn keep(posterior: &mut Posterior, resolved: &Resolved) -> Result<()> {
    if let Some(held) = Held::of_study(resolved) {
        posterior.set_note(NOTE, serde_json::to_string(&held)?);
    }
    Ok(())
}

/// What is told of the function that is held to a shape.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToldOfShape {
    /// How many places it is held at.
    pub places: usize,
    /// [`Shaped::broken`] and [`Shaped::moved`], at most over the outputs.
    pub broken: f64,
    pub moved: f64,
    /// [`Shaped::bent`], at least over the outputs.
    pub bent: f64,
}

/// What is told of shapes; none where the function is held to nothing.
pub fn told(posterior: &Posterior) -> Result<Option<ToldOfShape>> {
    let Some(held) = Held::of_model(posterior)? else {
        return Ok(None);
    };
    let outputs: Vec<Option<&str>> = match posterior.outputs() {
        [] => vec![None],
        several => several.iter().map(|name| Some(name.as_str())).collect(),
    };
    let mut most = ToldOfShape {
        bent: f64::INFINITY,
        ..ToldOfShape::default()
    };
    for output in outputs {
        let shaped = held.draw(posterior, (None, output), (DRAWS, SEED))?;
        most = ToldOfShape {
            places: shaped.places().len(),
            broken: most.broken.max(shaped.broken()),
            moved: most.moved.max(shaped.moved()),
            bent: most.bent.min(shaped.bent()),
        };
    }
    Ok(Some(most))
}

/// Puts predictions of functions of the shape in the place of those of any.
pub fn hold(
    held: &Held,
    posterior: &Posterior,
    (places, wanted): (&Places, &Wanted),
    answer: &mut Answer,
) -> Result<()> {
    if !matches!(wanted.scale, Scale::Latent | Scale::Response) {
        anyhow::bail!("{NOT_OBSERVED}; ask for the scale `response`");
    }
    if wanted.non_negative {
        anyhow::bail!(
            "a function that is held to a shape is not cut off at zero besides; leave `non_negative` out"
        );
    }
    let output = places.output.as_deref();
    let input = posterior.dims().first().map_or("", String::as_str);
    let draws = (VALUES / places.len().max(1)).clamp(FEWEST, DRAWS);
    let shaped = held.draw(posterior, (range(places, input), output), (draws, SEED))?;
    let told = reporting(posterior, output, wanted.table);
    let link = told.and_then(|own| own.mean_link());
    let link = link.filter(|_| wanted.scale == Scale::Response);
    if link.is_some() && places.aggregate.is_some() {
        anyhow::bail!("shapes are told at points behind a link; ask for points");
    }
    let amounts = places.amounts.as_ref().map(|all| all.values());
    let tail = (1.0 - wanted.level) / 2.0;
    for start in (0..places.len()).step_by(CHUNK) {
        let rows = start..places.len().min(start + CHUNK);
        let draws = shaped.at(&functionals(places, rows.clone())?)?;
        for row in rows.clone() {
            let amount = amounts.map_or(1.0, |all| all[row]);
            let own = (0..draws.ncols()).map(|draw| draws[(row - rows.start, draw)]);
            let own = own.map(|f| amount * link.map_or(f, |link| link.value(f)));
            let mut own: Vec<f64> = own.collect();
            own.sort_unstable_by(f64::total_cmp);
            let count = own.len() as f64;
            let quantile = |p: f64| own[((p * count).ceil() as usize).clamp(1, own.len()) - 1];
            (answer.mean[row], answer.sd[row]) = moments(&own, quantile(0.5));
            answer.lower[row] = quantile(tail);
            answer.median[row] = quantile(0.5);
            answer.upper[row] = quantile(1.0 - tail);
            for ((_, column), limit) in answer.chances.iter_mut().zip(&wanted.chances.above) {
                let below = own.partition_point(|value| value <= limit);
                column[row] = (own.len() - below) as f64 / count;
            }
        }
    }
    Ok(())
}

/// Mean and sd of values, summed from one amid them: where all are the same these are that and
/// zero to the last digit, which sums of values of any size are not.
fn moments(values: &[f64], amid: f64) -> (f64, f64) {
    let count = values.len() as f64;
    let off = values.iter().map(|v| v - amid).sum::<f64>() / count;
    let squares = values.iter().map(|v| (v - amid - off).powi(2));
    (amid + off, (squares.sum::<f64>() / count).sqrt())
}

/// Joint draws at all places that want some, one function for those of an output.
pub fn draw(
    held: &Held,
    posterior: &Posterior,
    (scale, wanted): (Scale, &[(&Places, usize)]),
    (most, seed): (usize, u64),
) -> Result<Vec<Vec<Vec<f64>>>> {
    if wanted.iter().any(|(places, _)| places.output.is_some()) {
        anyhow::bail!(
            "draws of several outputs that are held to a shape do not belong together; leave `draws` out"
        );
    }
    let input = posterior.dims().first().map_or("", String::as_str);
    let besides = wanted.iter().filter_map(|(places, _)| range(places, input));
    let besides = besides.reduce(joined);
    let one = |(places, draws): &(&Places, usize)| {
        let output = places.output.as_deref();
        let shaped = held.draw(posterior, (besides, output), (most, seed))?;
        let link = match (scale, reporting(posterior, output, None)) {
            (Scale::Response, Some(own)) => own.mean_link(),
            (Scale::Response, None) => anyhow::bail!(
                "several tables answer differently; draw at the scale `latent`, or predict without draws"
            ),
            _ => None,
        };
        let drawn = shaped.at(&functionals(places, 0..places.len())?)?;
        let amounts = places.amounts.as_ref().map(|all| all.values());
        let value = |row: usize, draw: usize| {
            let f = drawn[(row, draw)];
            amounts.map_or(1.0, |all| all[row]) * link.map_or(f, |link| link.value(f))
        };
        let column = |draw: usize| (0..places.len()).map(|row| value(row, draw)).collect();
        Ok((0..*draws).map(column).collect())
    };
    wanted.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::moments;

    #[test]
    fn equal_values_of_any_size_are_their_own_mean() {
        for size in [1e-300, 1e-9, 1.0, 1e9, 1e300] {
            let value = 1.395_612_425_086_089_5 * size;
            assert_eq!(moments(&[value; 4000], value), (value, 0.0));
        }
        let (mean, sd) = moments(&[1e9, 1e9 + 1.0, 1e9 + 2.0], 1e9 + 1.0);
        // Whole numbers of this size have all their digits.
        assert_eq!(mean, 1e9 + 1.0);
        assert!((sd - (2.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    }
}
