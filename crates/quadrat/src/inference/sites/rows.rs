//! The rows of a problem at one value of the hyperparameters, and the sites they begin with.

use super::options::SiteOptions;
use super::pair::PairRow;
use super::process::Process;
use super::site::{Site, Term};
use super::{Block, LatentGaussian};

/// The rows of all blocks at one value of the hyperparameters.
pub(in crate::inference) struct Rows<'a> {
    pub blocks: Vec<(Block<'a>, Vec<f64>)>,
    pub count: usize,
    /// Which rows of the blocks these are, where they are not all.
    kept: Option<Vec<usize>>,
    /// Whether few nodes of rows with two latent values will do.
    pub is_coarse: bool,
}

impl<'a> Rows<'a> {
    pub fn new(problem: &'a dyn LatentGaussian, theta: &[f64]) -> Self {
        Self::of_blocks(problem.blocks(), theta, problem.prior_mean().len())
    }

    /// Of tables that have `count` rows together.
    pub fn of_blocks(blocks: Vec<Block<'a>>, theta: &[f64], count: usize) -> Self {
        let with_own = |block: Block<'a>| {
            let own = block.own_values(theta);
            (block, own)
        };
        Self {
            blocks: blocks.into_iter().map(with_own).collect(),
            count,
            kept: None,
            is_coarse: false,
        }
    }

    /// Where the hyperparameters of a row's likelihood stand in `theta`.
    pub fn own(&self, row: usize) -> &'a [usize] {
        self.block(row).0.own
    }

    /// Some of all rows.
    pub(super) fn only(&self, rows: &[usize]) -> Self {
        Self {
            blocks: self.blocks.clone(),
            count: rows.len(),
            kept: Some(rows.to_vec()),
            is_coarse: self.is_coarse,
        }
    }

    /// Block, own hyperparameters and row in the block.
    fn block(&self, row: usize) -> (&Block<'a>, &[f64], usize) {
        let row = self.kept.as_ref().map_or(row, |kept| kept[row]);
        let last = self.blocks.partition_point(|(b, _)| b.first <= row);
        let (block, own) = &self.blocks[last.max(1) - 1];
        (block, own, row - block.first)
    }

    /// Likelihood, own hyperparameters and row in the block.
    pub fn at(&self, row: usize) -> (&'a dyn crate::likelihood::local::Local, &[f64], usize) {
        let (block, own, row) = self.block(row);
        (block.likelihood, own, row)
    }

    /// `log p(y | z)` of all rows together, in nats; of rows that are known exactly, which are met,
    /// the change of variables.
    pub fn log_density(&self, latent: &[f64]) -> f64 {
        let one = |(row, z): (usize, &f64)| {
            let (likelihood, own, at) = self.at(row);
            match likelihood.gaussian(own, at) {
                Some((_, 0.0)) => likelihood.gaussian_rest(at),
                _ => likelihood.log_density(own, at, *z).value,
            }
        };
        latent.iter().enumerate().map(one).sum()
    }

    /// Nats that the densities of rows with a Gaussian term have beside these.
    pub fn gaussian_rest(&self) -> f64 {
        let one = |row: usize| {
            let (likelihood, own, at) = self.at(row);
            // With a second latent value the noise is none of its own.
            let is_gaussian = self.second(row).is_none() && likelihood.gaussian(own, at).is_some();
            match is_gaussian {
                true => likelihood.gaussian_rest(at),
                false => 0.0,
            }
        };
        (0..self.count).map(one).sum()
    }

    /// The second latent value of a row, as seen by the row's likelihood; with its index.
    pub(super) fn second(&self, row: usize) -> Option<(PairRow<'_>, usize)> {
        let (block, own, row) = self.block(row);
        let second = block.second?;
        let pair = PairRow {
            likelihood: block.likelihood,
            rest: own,
            row,
            link: second.link,
            is_coarse: self.is_coarse,
        };
        Some((pair, second.first + row))
    }

    pub(super) fn first_terms(
        &self,
        options: &SiteOptions,
        processes: &[Process<'_>],
    ) -> Vec<Vec<Term>> {
        let k = processes[0].k;
        let one = |row: usize| {
            let (likelihood, own, at) = self.at(row);
            let pair = self.second(row);
            if pair.is_none()
                && let Some((value, variance)) = likelihood.gaussian(own, at)
            {
                return Term::Gaussian { value, variance };
            }
            if let Some(&site) = options.start.get(row) {
                return Term::Chosen(site);
            }
            // As precise as the prior at a plausible value: Newton's steps from the prior mean may
            // overshoot.
            let precision = k[(row, row)].max(f64::MIN_POSITIVE).recip();
            let guess = match pair {
                None => likelihood.guess(own, at),
                Some((pair, i)) => pair.guess(processes[1].prior_mean[i]),
            };
            let shift = precision * guess;
            let usable = precision.is_finite() && shift.is_finite();
            Term::Chosen(if usable {
                Site { precision, shift }
            } else {
                Site::default()
            })
        };
        let mut terms = vec![(0..self.count).map(one).collect()];
        if let Some(second) = processes.get(1) {
            let start = |i: usize| options.start_second.get(i).copied().unwrap_or_default();
            terms.push(
                (0..second.prior_mean.len())
                    .map(|i| Term::Chosen(start(i)))
                    .collect(),
            );
        }
        terms
    }
}
