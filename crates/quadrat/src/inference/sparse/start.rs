//! Start of a search for `q` without a warm start: a constant function.

use super::options::SparseOptions;
use super::pass::{Bound, Stream};
use super::sums::Depth;
use super::{Normal, SparseProblem};
use crate::error::FitError;
use crate::inference::sites::rows::Rows;
use crate::link::Link;

/// Largest variance of a point at the start: behind an exponential link sums of wider ones are
/// useless or overflow.
const WIDEST: f64 = 1.0;

/// The better of two starts, with its bound: a function at the average level of the rows, or at the
/// prior mean. Takes two passes.
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
    let low = stream.run(&narrow, Depth::Sites)?;
    let high = stream.run(&raised, Depth::Sites)?;
    // Also where the bound at the prior mean is not a number.
    match high.value > low.value || !low.value.is_finite() {
        true => Ok((raised, high)),
        false => Ok((narrow, low)),
    }
}

/// By how much a constant function with the average that rows report lies above the prior mean.
/// Sums are averaged after the link.
fn level(problem: &dyn SparseProblem, rows: &Rows<'_>) -> f64 {
    let bags = problem.bags();
    // Of every link: rows, what they report, their weights, and prior means.
    let all = Link::ALL.into_iter().chain(Link::PROBABILITIES);
    let mut behind: Vec<(Link, [f64; 4])> = all.map(|link| (link, [0.0; 4])).collect();
    for chunk in 0..bags.chunks() {
        let first = bags.chunk_points(chunk).start;
        for row in bags.chunk_rows(chunk) {
            let (likelihood, own, at) = rows.at(row);
            let link = bags.link(row);
            let terms = [
                1.0,
                link.value(likelihood.guess(own, at)),
                bags.weights(row).iter().sum(),
                problem.prior_mean(chunk)[bags.row_points(row).start - first],
            ];
            for (_, sums) in behind.iter_mut().filter(|(other, _)| *other == link) {
                sums.iter_mut()
                    .zip(terms)
                    .for_each(|(sum, term)| *sum += term);
            }
        }
    }
    let (mut above, mut count) = (0.0, 0.0);
    for (link, [rows, total, weight, expected]) in behind {
        let level = link.inverse(total / weight);
        if let Some(level) = level.filter(|level| level.is_finite()) {
            above += rows * level - expected;
            count += rows;
        }
    }
    if count > 0.0 { above / count } else { 0.0 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::testing::{MEAN, Toy};
    use super::super::{LogSum, Within};
    use super::*;
    use crate::likelihood::local::Local;
    use crate::likelihood::{Gaussian, Noise, Poisson};

    fn toy(tables: Vec<(Box<dyn Local>, Link, Vec<usize>)>) -> Toy {
        Toy::new(tables, Within::default(), 8, None, 1e-6)
    }

    fn level_of(toy: &Toy) -> f64 {
        let theta = toy.theta();
        let stream = Stream::new(toy, &theta, LogSum::Matched, 0).unwrap();
        level(toy, stream.rows())
    }

    #[test]
    fn the_level_is_that_of_the_average_rate() {
        // Weights of the toy's bags: (1 + (i + row) mod 3) / size.
        let weight = |row: usize, size: usize| {
            let all = (0..size).map(|i| (1.0 + ((i + row) % 3) as f64) / size as f64);
            if size == 1 { 1.0 } else { all.sum::<f64>() }
        };
        let (counts, exposure, sizes) = ([30.0, 11.0, 25.0], [2.0, 1.0, 4.0], [4, 1, 6]);
        for link in [Link::Exp, Link::Square, Link::Softplus] {
            let rows = Poisson::new(counts.to_vec(), exposure.to_vec(), link).unwrap();
            let toy = toy(vec![(Box::new(rows), link, sizes.to_vec())]);
            // Half a count is added to every one.
            let rates = counts.iter().zip(exposure).map(|(y, e)| (y + 0.5) / e);
            let weights: f64 = (0..3).map(|row| weight(row, sizes[row])).sum();
            let want = link.inverse(rates.sum::<f64>() / weights).unwrap() - MEAN;
            // Links and their inverses round.
            assert!((level_of(&toy) - want).abs() < 1e-12, "{link}");
        }
        let values = Gaussian::new(vec![3.0, 5.0], Noise::Learned).unwrap();
        let toy = toy(vec![(Box::new(values), Link::Identity, vec![1, 1])]);
        assert!((level_of(&toy) - (4.0 - MEAN)).abs() < 1e-14);
    }

    #[test]
    fn searches_begin_at_the_better_belief() {
        let begun = |count: f64| {
            let rows = Poisson::new(vec![count; 6], vec![1.0; 6], Link::Exp).unwrap();
            let toy = toy(vec![(Box::new(rows), Link::Exp, vec![3; 6])]);
            let theta = toy.theta();
            let stream = Stream::new(&toy, &theta, LogSum::Matched, 0).unwrap();
            let (normal, bound) = begin(&stream, &toy, &SparseOptions::default()).unwrap();
            let still = Normal::isotropic(normal.size(), 0.1).unwrap();
            let still = stream.run(&still, Depth::Value).unwrap().value;
            (normal, bound.value - still)
        };
        let (raised, gained) = begun(4000.0);
        assert!(
            raised.mean().iter().any(|m| *m != 0.0) && gained > 1e4,
            "{gained}"
        );
        // The prior mean is the level: a count of 3 in bags whose weights are 2 in the mean.
        let (_, gained) = begun(2.0);
        assert!(gained >= 0.0);
    }
}
