//! Where a search for a belief begins that knows nothing: at one level everywhere.

use super::pass::{Bound, Depth, Stream};
use super::{Normal, SparseOptions, SparseProblem};
use crate::error::FitError;
use crate::inference::sites::rows::Rows;
use crate::link::Link;

/// Variance of a point at most: after an exponential link wider ones are worth nothing to sums, or overflow.
const WIDEST: f64 = 1.0;

/// The better one of two beliefs and its bound: the function is at the level that the rows have on average, or where the prior has it. Two
/// passes.
pub(super) fn begin(
    stream: &Stream<'_>,
    problem: &dyn SparseProblem,
    options: &SparseOptions,
) -> Result<(Normal, Bound), FitError> {
    let prior = problem.prior();
    let variances = (0..problem.bags().chunks()).flat_map(|c| prior.diagonal(stream.theta(), c));
    let most = WIDEST / variances.fold(0.0, f64::max);
    let variance = options.start_variance.min(most);
    let size = prior.inducing();
    let narrow = Normal::isotropic(size, variance)?;
    let level = level(problem, stream.rows());
    let mean = stream.factor.half_solve(&vec![level; size]);
    let shift = mean.iter().map(|m| m / variance).collect();
    let raised = Normal::new(narrow.precision().to_owned(), shift)?;
    let [low, high] = [&narrow, &raised].map(|q| stream.run(q, Depth::Sites));
    // Also where the other is not a number.
    match high.value > low.value || !low.value.is_finite() {
        true => Ok((raised, high)),
        false => Ok((narrow, low)),
    }
}

/// By how much a constant function with the average that rows report lies above the prior mean. Sums are averaged after the link.
fn level(problem: &dyn SparseProblem, rows: &Rows<'_>) -> f64 {
    let bags = problem.bags();
    let (mut sum, mut count, mut expected) = (0.0, 0.0, 0.0);
    // Of every link: rows, what they report, and their weights.
    let mut behind = Link::ALL.map(|link| (link, 0.0, 0.0, 0.0));
    for chunk in 0..bags.chunks() {
        let first = bags.chunk_points(chunk).start;
        for row in bags.chunk_rows(chunk) {
            let (likelihood, own, at) = rows.at(row);
            let guess = likelihood.guess(own, at);
            expected += problem.prior_mean(chunk)[bags.row_points(row).start - first];
            count += 1.0;
            let link = bags.link(row);
            for one in behind.iter_mut().filter(|one| one.0 == link) {
                one.1 += 1.0;
                one.2 += link.value(guess);
                one.3 += bags.weights(row).iter().sum::<f64>();
            }
        }
    }
    for (link, rows, total, weight) in behind {
        if let Some(level) = link.inverse(total / weight).filter(|level| level.is_finite()) {
            sum += rows * level;
        }
    }
    (sum - expected) / count
}
