//! Checks that the constructors share.

use crate::error::InputError;
use crate::link::{Form, Link};

/// Refuses links of which the mean of a count is none.
pub(super) fn link_of_counts(link: Link) -> Result<(), InputError> {
    let refuse = |what, remedy| Err(InputError::Unavailable { what, remedy });
    if link.is_probability() {
        return refuse(
            "a link of probabilities for counts",
            "counts have no upper end: use link exp, softplus or square, or successes among trials",
        );
    }
    match link.form() {
        Form::Line => refuse(
            "the identity link for counts",
            "a mean must not be negative: use link exp, softplus or square",
        ),
        Form::Exponential | Form::Square | Form::Smooth => Ok(()),
    }
}

/// Refuses numbers that are NaN or infinite.
pub(super) fn finite(what: &str, numbers: &[f64]) -> Result<(), InputError> {
    match numbers.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(row) => Err(InputError::NotFinite {
            what: what.to_owned(),
            row,
            value: numbers[row],
        }),
    }
}

/// Refuses numbers that do not satisfy `accept`, NaN included where it does not accept that.
pub(super) fn range(
    what: &str,
    numbers: &[f64],
    requirement: &'static str,
    accept: impl Fn(usize, f64) -> bool,
) -> Result<(), InputError> {
    for (row, &value) in numbers.iter().enumerate() {
        if !accept(row, value) {
            return Err(InputError::Range {
                what: what.to_owned(),
                row,
                value,
                requirement,
            });
        }
    }
    Ok(())
}

/// Refuses a column of another length.
pub(super) fn length(what: &'static str, expected: usize, got: usize) -> Result<(), InputError> {
    if got == expected {
        Ok(())
    } else {
        Err(InputError::Shape {
            what,
            expected,
            got,
        })
    }
}
