//! The noise that the study gives the rows of a table.

use quadrat::likelihood::Noise;

use super::cells::Cells;
use crate::diagnostic::Problems;
use crate::study::likelihood::Likelihood;

/// The noise of a table, where its kind has one.
pub fn of(cells: &Cells<'_>, says: &Likelihood, problems: &mut Problems) -> Option<Noise> {
    let keys = says.noise.as_ref()?;
    let Some(known) = &keys.known else {
        return Some(Noise::Learned);
    };
    let mut known = cells.given(known)?;
    let what = if keys.are_sds { "sd" } else { "variance" };
    cells.refuse(problems, &known, |row| {
        let value = known.lower[row];
        (value < 0.0).then(|| {
            let fact = format!("the {what} is {value}; it cannot be negative");
            (fact, "a variance is the square of the standard deviation")
        })
    });
    let is_column = keys
        .known
        .as_ref()
        .is_some_and(|given| given.column().is_some());
    if keys.are_sds && is_column {
        known.lower.iter_mut().for_each(|sd| *sd *= *sd);
    }
    Some(if keys.learned {
        Noise::KnownPlusLearned(known.lower)
    } else {
        Noise::Known(known.lower)
    })
}
