//! Joint draws of the values behind rows.

use faer::Mat;
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};
use rayon::prelude::*;

use super::beliefs::{Beliefs, Part, Within};
use super::cells::{Cells, CountLaw, added_up};
use super::law::Law;
use super::table::Behind;
use super::told::Told;
use crate::error::{FitError, InputError};
use crate::likelihood::distribution::{NegativeBinomial, Poisson};
use crate::special::scalar::normal_cdf;

/// Rows that are not known and drawn together, at most.
pub(super) const MOST_DRAWN: usize = 4000;
/// Draws of sums of few rows and of many.
const DRAWS: (usize, usize) = (10_000, 2000);
/// Rows that are not known, up to which more draws are made.
const FEW: usize = 500;
/// Draws of a count before its range is looked at number by number.
const TRIES: usize = 6;
/// Uniform numbers are kept this far from 0 and 1, where quantiles are infinite.
const EDGE: f64 = 1e-15;

/// How many draws sums of so many rows are made of.
pub(super) fn draws_of(rows: usize) -> usize {
    if rows <= FEW { DRAWS.0 } else { DRAWS.1 }
}

/// How one row is drawn, given the function under it.
struct Drawing {
    told: Told,
    parts: Vec<Part>,
    /// What is known of the value at each part, where it is no count.
    within: Vec<Within>,
    /// The law of draws of a count, and that of the count, where they differ.
    apart: Option<(Law, Law)>,
}

impl Behind<'_> {
    /// Joint draws of the values behind rows, shape `[rows, draws]`, reproducible for a seed:
    /// multiple imputations. A row whose value was reported has that in every draw.
    ///
    /// One function (one value of the hyperparameters) is drawn for all rows of a draw, then each
    /// value given it and its own report. So sums, maxima and differences of rows of a draw are
    /// draws of these.
    ///
    /// # Errors
    /// As [`Self::values`]; [`InputError::TooManyDrawn`] for more than 4,000 rows whose values
    /// are not known; those of
    /// [`Posterior::sample_responses`](super::super::Posterior::sample_responses).
    ///
    /// # Numerics
    /// Of values between ends each row's draws have its distribution in [`Self::values`] exactly;
    /// rows depend on each other as their functions do, by a normal copula.
    pub fn sample(&self, rows: &[usize], draws: usize, seed: u64) -> Result<Mat<f64>, FitError> {
        let hidden = self.hidden(rows)?;
        // As many as sums take, so that these are sums of the same draws.
        let made = draws.max(draws_of(hidden.len()));
        let drawn = self.draw(&hidden, made, seed)?;
        let mut next = 0;
        let source: Vec<Result<usize, f64>> = rows
            .iter()
            .map(|&row| match self.told(row) {
                Told::Value(value) => Err(value),
                _ => {
                    next += 1;
                    Ok(next - 1)
                }
            })
            .collect();
        Ok(Mat::from_fn(rows.len(), draws, |i, draw| match source[i] {
            Ok(at) => drawn[at][draw],
            Err(value) => value,
        }))
    }

    /// Draws of rows whose values are not known: a list for every row.
    pub(super) fn draw(
        &self,
        hidden: &[usize],
        draws: usize,
        seed: u64,
    ) -> Result<Vec<Vec<f64>>, FitError> {
        if hidden.is_empty() || draws == 0 {
            return Ok(vec![Vec::new(); hidden.len()]);
        }
        if hidden.len() > MOST_DRAWN {
            return Err(InputError::TooManyDrawn {
                got: hidden.len(),
                limit: MOST_DRAWN,
            }
            .into());
        }
        let beliefs = Beliefs::new(self, hidden)?;
        let posterior = self.posterior;
        // The draws of functions choose their nodes first, from the same seed.
        let nodes = posterior.nodes_of_draws(draws, &mut ChaCha8Rng::seed_from_u64(seed));
        let is_total = beliefs.link.is_some() && !beliefs.is_simple;
        let functions = match is_total {
            true => posterior.sample_responses(&beliefs.at, draws, seed)?,
            false => posterior.sample(&beliefs.at, draws, seed)?,
        };
        let one = |i: usize| {
            let drawing = Drawing::new(&beliefs, i);
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(1 + hidden[i] as u64);
            let values = (0..draws).map(|draw| {
                let f = functions[(i, draw)];
                drawing.value(&beliefs, (f, is_total), nodes[draw], &mut random)
            });
            values.collect()
        };
        Ok((0..hidden.len()).into_par_iter().map(one).collect())
    }
}

impl Drawing {
    fn new(beliefs: &Beliefs<'_>, i: usize) -> Self {
        let told = beliefs.rows[i].1;
        let parts = beliefs.parts(i);
        let within = match told {
            Told::Count { .. } => Vec::new(),
            _ => parts.iter().map(|part| beliefs.within(i, part)).collect(),
        };
        Self {
            told,
            parts,
            within,
            apart: beliefs.laws_apart(i),
        }
    }

    /// A part at a node, by the shares of its parts; the heaviest of all where the node has none.
    fn part(&self, node: usize, random: &mut ChaCha8Rng) -> usize {
        let own = || (0..self.parts.len()).filter(|p| self.parts[*p].node == node);
        let total: f64 = own().map(|p| self.parts[p].weight).sum();
        let mut left = random.random::<f64>() * total;
        let mut last = 0;
        for p in own() {
            last = p;
            left -= self.parts[p].weight;
            if left <= 0.0 {
                break;
            }
        }
        last
    }

    /// A value where the function, or the total after the link, is `f`.
    fn value(
        &self,
        beliefs: &Beliefs<'_>,
        (f, is_total): (f64, bool),
        node: usize,
        random: &mut ChaCha8Rng,
    ) -> f64 {
        let at = self.part(node, random);
        let part = &self.parts[at];
        if let Told::Count {
            lower,
            upper,
            exposure,
        } = self.told
        {
            let rate = match beliefs.link {
                Some(link) if !is_total => link.value(f),
                _ => f,
            };
            let law = CountLaw {
                weight: 1.0,
                mean: exposure * rate.max(0.0),
                dispersion: beliefs.dispersion(&part.own),
            };
            let drawn = count(law, lower, upper, random);
            return match &self.apart {
                Some((from, to)) => carried(drawn, from, to, random),
                None => drawn,
            };
        }
        let noise: f64 = StandardNormal.sample(random);
        match &self.within[at] {
            Within::Cut(cut) => {
                let z = if part.sd > 0.0 {
                    (f - part.mean) / part.sd
                } else {
                    0.0
                };
                let rest = (1.0 - cut.follows * cut.follows).max(0.0).sqrt();
                let p = normal_cdf(cut.follows * z + rest * noise);
                let law = Law::Cuts(vec![super::cut::Cut {
                    weight: 1.0,
                    ..*cut
                }]);
                quantile(law, beliefs, p)
            }
            Within::Nodes { noise: sd, cuts } => {
                let law = Law::Cuts(vec![super::cut::Cut {
                    weight: 1.0,
                    mean: f,
                    sd: *sd,
                    ..cuts[0]
                }]);
                quantile(law, beliefs, normal_cdf(noise))
            }
        }
    }
}

/// The quantile of a law, not negative where values are known not to be.
fn quantile(law: Law, beliefs: &Beliefs<'_>, p: f64) -> f64 {
    let law = match beliefs.is_non_negative() {
        true => law.non_negative(),
        false => law,
    };
    law.quantile(p.clamp(EDGE, 1.0 - EDGE))
}

/// A count at the same level of one law as a draw at that of another; within the step of a whole
/// number at any level.
fn carried(drawn: f64, from: &Law, to: &Law, random: &mut ChaCha8Rng) -> f64 {
    let (before, at) = (from.cdf(drawn - 1.0), from.cdf(drawn));
    let level = before + random.random::<f64>() * (at - before);
    to.quantile(level.clamp(EDGE, 1.0 - EDGE))
}

/// A draw of a count between two.
fn count(law: CountLaw, lower: f64, upper: f64, random: &mut ChaCha8Rng) -> f64 {
    for _ in 0..TRIES {
        let value = match law.dispersion > 0.0 {
            true => NegativeBinomial {
                mean: law.mean,
                dispersion: law.dispersion,
            }
            .sample(random),
            false => Poisson { mean: law.mean }.sample(random),
        };
        if (lower..=upper).contains(&value) {
            return value;
        }
    }
    let cells = Cells::new(lower, upper, &[law]);
    let below = added_up(&cells.shares(&[law]));
    cells.quantile(&below, random.random::<f64>().max(EDGE))
}
