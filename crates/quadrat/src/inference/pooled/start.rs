//! Where the search for the mode of all nodes begins.

use super::mode::{NewtonIterate, ROUNDS, Search};
use crate::error::LinalgError;
use crate::inference::sites::Site;
use crate::inference::sites::site::Term;
use crate::inference::sites::swept::Sweep;
use crate::link::{Link, QuasiMean};

/// How many linearisations at the start may lead to a worse place.
const FIRST_ROUNDS: usize = 3;

impl Search<'_> {
    /// One linearisation from the values at another mode, where rows say what they said there; none
    /// where that is worse than the prior mean, or cannot be.
    ///
    /// Behind a square the sign of the function is open, and follows from where a search begins.
    pub fn near(&self, values: &[f64]) -> Option<NewtonIterate> {
        let mut links = (0..self.pools.rows()).map(|row| self.pools.link(row));
        if values.len() != self.prior.len() || links.any(|link| link == Link::Square) {
            return None;
        }
        let means = self.pools.means(values);
        let said = |(row, z): (usize, &QuasiMean)| {
            self.pinned.term(row).unwrap_or_else(|| {
                let (likelihood, own, at) = self.rows.at(row);
                let jet = likelihood.log_density(own, at, z.value);
                let precision = -jet.second;
                chosen(precision, precision * z.value + jet.first)
            })
        };
        let terms: Vec<Term> = means.iter().enumerate().map(said).collect();
        let first = self.linearised(&means, values, &terms).ok()?;
        let means = first.means.clone();
        let near = self.met(&means, first).ok()??;
        let at_prior = self.at(self.prior.to_vec(), vec![0.0; self.prior.len()]);
        (near.objective >= at_prior.objective).then_some(near)
    }

    /// The start of the search: each row gets a fixed site around a plausible latent value, and
    /// only the sums are linearised again and again. Far from the mode that takes fewer steps than
    /// Newton's method, in which a sum behind `exp` that is a million times too large comes down by
    /// a factor of `e` in every step.
    ///
    /// In the first round each row is about the plain average of its nodes: a square has no slope
    /// at zero. Behind a square the sign is open, and sites are as precise as the prior. Rows that
    /// are known exactly are met; none where they cannot be.
    pub fn start(&self) -> Result<Option<NewtonIterate>, LinalgError> {
        let rows = 0..self.pools.rows();
        let averages: Vec<QuasiMean> = rows
            .clone()
            .map(|row| {
                let (nodes, shares) = self.pools.row(row);
                let values: Vec<f64> = nodes.iter().map(|&i| self.prior[i]).collect();
                QuasiMean::new(Link::Identity, shares, &values)
            })
            .collect();
        let slopes = self.pools.slopes(&averages);
        let c = slopes.rows(
            self.pools,
            slopes.columns(self.pools, self.k.as_ref()).as_ref(),
        );
        let has_squares = rows.clone().any(|row| self.pools.link(row) == Link::Square);
        let site = |row: usize| {
            if let Some(term) = self.pinned.term(row) {
                return term;
            }
            let (likelihood, own, at) = self.rows.at(row);
            let guess = likelihood.guess(own, at);
            let precision = match has_squares {
                true => c[(row, row)].max(f64::MIN_POSITIVE).recip(),
                false => -likelihood.log_density(own, at, guess).second,
            };
            chosen(precision, precision * guess)
        };
        let terms: Vec<Term> = rows.map(site).collect();
        let first = self.linearised(&averages, self.prior, &terms)?;
        if has_squares {
            return Ok(Some(first));
        }
        let at_prior = self.at(self.prior.to_vec(), vec![0.0; self.prior.len()]);
        let means = at_prior.means.clone();
        let mut best = self.met(&means, at_prior)?;
        let mut last = Some(first);
        for round in 0..ROUNDS {
            let Some(next) = last.take() else { break };
            let (means, values) = (next.means.clone(), next.values.clone());
            let next = self.met(&means, next)?;
            let is_better = |next: &NewtonIterate| {
                // What is not a number is no place to begin at.
                let is_worse = |best: &NewtonIterate| next.objective > best.objective;
                best.as_ref()
                    .is_none_or(|best| is_worse(best) || best.objective.is_nan())
            };
            let gains = next.as_ref().is_some_and(is_better);
            if round < FIRST_ROUNDS || gains {
                last = Some(self.linearised(&means, &values, &terms)?);
            }
            if gains {
                best = next;
            }
        }
        Ok(best)
    }

    /// The mode of rows that are linear around some values and have given sites.
    ///
    /// # Arguments
    /// * `means` - what rows see there, and its slopes
    fn linearised(
        &self,
        means: &[QuasiMean],
        values: &[f64],
        terms: &[Term],
    ) -> Result<NewtonIterate, LinalgError> {
        let slopes = self.pools.slopes(means);
        let columns = slopes.columns(self.pools, self.k.as_ref());
        let c = slopes.rows(self.pools, columns.as_ref());
        let away: Vec<f64> = values.iter().zip(self.prior).map(|(f, m)| f - m).collect();
        let seen = slopes.gather(self.pools, &away);
        let prior = means.iter().zip(&seen).map(|(z, s)| z.value - s);
        let sweep = Sweep::new(c.as_ref(), &prior.collect::<Vec<f64>>(), terms, self.jitter)?;
        let dual = slopes.scatter(self.pools, &sweep.alpha);
        Ok(self.at(self.moved(&dual), dual))
    }
}

/// The site of a row, which says nothing where it would be no normal density.
fn chosen(precision: f64, shift: f64) -> Term {
    let usable = precision > 0.0 && precision.is_finite() && shift.is_finite();
    Term::Chosen(match usable {
        true => Site { precision, shift },
        false => Site::default(),
    })
}
