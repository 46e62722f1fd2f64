//! What is said of the rows of a table that was read.

use quadrat::likelihood::Likelihood as Reported;

use crate::numbers::count;
use crate::table::Table;

/// What to say of rows that are exact among rows with known noise, as where 0 stands for an error
/// that nobody wrote down.
pub(super) fn among_noisy(
    likelihood: &Reported,
    table: &Table,
    tells: impl Fn(usize) -> bool,
) -> Option<String> {
    let Reported::Gaussian(gaussian) = likelihood else {
        return None;
    };
    let known = gaussian.noise().known()?;
    let exact = || (0..known.len()).filter(|&row| known[row] == 0.0 && tells(row));
    let first = exact().next().filter(|_| known.iter().any(|v| *v > 0.0))?;
    Some(format!(
        "{}: the noise of {} is 0 beside rows with noise, the first at {}: it is taken for exact, and the function goes through its value; where the error is not known, leave out the row",
        table.name(),
        count(exact().count(), "row"),
        table.row_address(first)
    ))
}
