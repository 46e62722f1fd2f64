//! What people should know of predictions, whoever asked for them.

use anyhow::Result;
use quadrat::error::InputError;
use quadrat::support::Functionals;

use crate::engine::{self, Answer, Finer, Posterior};
use crate::functionals::functionals;
use crate::numbers::{count, human, percent};
use crate::places::Places;
use crate::study::support::Aggregate;
use crate::sums;

/// Where predictions were asked for, as warnings speak of it.
pub trait Where {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// What a row is called: "row 3 (x = 2)".
    fn called(&self, row: usize) -> String;

    /// The output of all rows, where there are several.
    fn output(&self) -> Option<&str>;

    /// Sum or average over what has a width; `None` for points.
    fn aggregate(&self) -> Option<Aggregate>;

    /// All rows at their output, as the library takes them.
    ///
    /// # Errors
    /// Where they cannot be made.
    fn functionals(&self, posterior: &Posterior) -> Result<Functionals, InputError>;
}

impl Where for Places {
    fn rows(&self) -> usize {
        self.len()
    }

    fn called(&self, row: usize) -> String {
        format!("row {} ({})", row + 1, self.describe(row))
    }

    fn output(&self) -> Option<&str> {
        self.output.as_deref()
    }

    fn aggregate(&self) -> Option<Aggregate> {
        self.aggregate
    }

    fn functionals(&self, posterior: &Posterior) -> Result<Functionals, InputError> {
        let at = functionals(self, 0..self.len())?;
        match &self.output {
            Some(output) => posterior.at_output(&at, output),
            None => Ok(at),
        }
    }
}

/// Everything people should know of the predictions at some places.
///
/// # Arguments
/// * `answer` - without ends of intervals, where nobody has asked for them: what is said of ends is
///   left out
/// * `address` - of a row of a table that was observed, for people
///
/// # Errors
/// Where the places cannot be made.
pub fn warnings(
    posterior: &Posterior,
    places: &impl Where,
    answer: &Answer,
    level: f64,
    address: impl Fn(usize, usize) -> String,
) -> Result<Vec<String>> {
    let mut told: Vec<String> = far(places, answer).into_iter().collect();
    told.extend(of_places(places, answer, level));
    told.extend(finer(answer, places.rows()));
    told.extend(sums::warnings(posterior, places, answer, address)?);
    Ok(told)
}

/// What a careful reader should know of an answer at its places.
pub fn of_places(places: &impl Where, answer: &Answer, level: f64) -> impl Iterator<Item = String> {
    let told = [
        heavy(answer, level),
        unresolved(places, answer),
        new_labels(places, answer),
    ];
    told.into_iter().flatten()
}

/// A warning when means lie above their own intervals: a tail that has hardly any probability
/// carries them. That is no news of narrow intervals, nor of counts, answers and ranks, whose
/// intervals end at whole numbers: most counts of mean 0.01 are 0; nor of rows that are known to
/// some roundings.
pub fn heavy(answer: &Answer, level: f64) -> Option<String> {
    const WIDE: f64 = 0.9;
    const ROUNDING: f64 = 1e-9;
    let pairs = answer.mean.iter().zip(&answer.upper);
    // A mean may be beyond all numbers.
    let size = |mean: f64, upper: f64| mean.abs().min(f64::MAX) + upper.abs();
    let is_above = |mean: f64, upper: f64| mean - upper > ROUNDING * size(mean, upper);
    let above = pairs.filter(|(mean, upper)| is_above(**mean, **upper) && upper.fract() != 0.0);
    let rows = above.count();
    (rows > 0 && level >= WIDE).then(|| {
        format!(
            "the mean of {} lies above its {} interval: values of enormous size and next to no probability carry it; use the median, or say more about the variance, by an upper bound or a prior",
            count(rows, "row"),
            percent(level)
        )
    })
}

/// A warning for every input along which predictions are finer than the rows and rest on a smooth
/// kernel.
pub fn finer(answer: &Answer, rows: usize) -> Vec<String> {
    let one = |finer: &Finer| {
        let is = if finer.rows.len() == 1 { "is" } else { "are" };
        format!(
            "{} of {} {is} finer along {dim} than the rows observed, which are {} wide; the kernel takes the function for smooth over {}: inside the bands this rests on smoothness that these rows cannot show, and intervals may be too narrow. Leaving rows out does not test it. Add a rough part to the kernel, `+ {}`, and compare",
            finer.rows.len(),
            count(rows, "row"),
            human(finer.width),
            human(finer.lengthscale),
            engine::rough_part(&finer.dim),
            dim = finer.dim,
        )
    };
    answer.finer.iter().map(one).collect()
}

/// A warning when sds are smaller than arithmetic can tell.
fn unresolved(places: &impl Where, answer: &Answer) -> Option<String> {
    let first = *answer.unresolved.first()?;
    Some(format!(
        "sds of {} of {} are not known, first {}: values vary so much more than their noise that double precision cannot tell such small sds; what stands there is the rounding, which the sds do not exceed; ask for places that were observed, or subtract a rough fit from the values",
        answer.unresolved.len(),
        count(places.rows(), "row"),
        places.called(first)
    ))
}

/// A warning when some rows have a label that was not observed.
fn new_labels(places: &impl Where, answer: &Answer) -> Option<String> {
    let first = *answer.new_labels.first()?;
    let (rows, has) = match answer.new_labels.len() {
        1 => ("1 row".to_owned(), "has"),
        several => (count(several, "row"), "have"),
    };
    Some(format!(
        "{rows} of {} {has} a label that no row was observed with, first {}: its effect in the kernel (`iid`) is predicted from the prior, as that of a new label",
        places.rows(),
        places.called(first)
    ))
}

/// A warning when some rows lie far outside the data.
pub fn far(places: &impl Where, answer: &Answer) -> Option<String> {
    let first = *answer.far.first()?;
    Some(format!(
        "{} of {} far outside the data, first {}; they say more about the prior than about the data",
        answer.far.len(),
        count(places.rows(), "row")
            + if answer.far.len() == 1 {
                " lies"
            } else {
                " lie"
            },
        places.called(first)
    ))
}
