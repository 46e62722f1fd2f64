//! Joint draws of the values behind rows.

use faer::Mat;
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};
use rayon::prelude::*;

use super::beliefs::{BeliefComponent, Beliefs, ValueBehind};
use super::cells::{CountDistribution, CountRanges, added_up};
use super::table::Behind;
use super::told::ReportedValue;
use super::value_distribution::ValueDistribution;
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
pub(super) const EDGE: f64 = 1e-15;
/// Steps of a map from all draws to those that are not negative: some 60 for a standard deviation.
const STEPS: usize = 512;

/// How many draws sums of so many rows are made of.
pub(super) fn draws_of(rows: usize) -> usize {
    if rows <= FEW { DRAWS.0 } else { DRAWS.1 }
}

/// How one row is drawn, given the function under it.
struct Drawing {
    told: ReportedValue,
    parts: Vec<BeliefComponent>,
    /// What is known of the value at each part, where it is no count.
    within: Vec<ValueBehind>,
    /// Of counts: the law of those drawn given the fit's functions, and the law in
    /// [`Behind::values`] that they are mapped to; none where the two are the same.
    apart: Option<(ValueDistribution, ValueDistribution)>,
    /// Of values that are known not to be negative: their law without knowing that, and with it.
    /// None where one component is all, of which draws are made that are not negative.
    signs: Option<(ValueDistribution, ValueDistribution)>,
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
    /// [`Posterior::sample_responses`](crate::model::Posterior::sample_responses).
    ///
    /// # Numerics
    /// Each row's draws have its distribution in [`Self::values`], where values are known not to be
    /// negative to 1e-3 of a standard deviation; rows depend on each other as their functions do,
    /// by a normal copula. Counts of totals after a link are drawn given draws of the totals, which
    /// need not have the distribution that [`Self::values`] takes for these.
    pub fn sample(&self, rows: &[usize], draws: usize, seed: u64) -> Result<Mat<f64>, FitError> {
        let hidden = self.hidden(rows)?;
        // As many as sums take, so that these are sums of the same draws.
        let made = draws.max(draws_of(hidden.len()));
        let drawn = self.draw(&hidden, made, seed)?;
        let mut next = 0;
        let source: Vec<Result<usize, f64>> = rows
            .iter()
            .map(|&row| match self.told(row) {
                ReportedValue::Value(value) => Err(value),
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
            // As the table's own rows are linked: others of its output may be otherwise.
            true => {
                let link = posterior.problem.likelihood(self.table).mean_link();
                posterior.sample_linked(&beliefs.at, |_| Ok(link), draws, seed)?
            }
            false => posterior.sample(&beliefs.at, draws, seed)?,
        };
        let one = |i: usize| {
            let drawing = Drawing::new(&beliefs, i);
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(1 + hidden[i] as u64);
            let value = |draw: usize| {
                let f = functions[(i, draw)];
                drawing.value(&beliefs, (f, is_total), nodes[draw], &mut random)
            };
            let mut values: Vec<f64> = (0..draws).map(value).collect();
            if let Some((from, to)) = &drawing.signs {
                carry_all(&mut values, from, to);
            }
            values
        };
        Ok((0..hidden.len()).into_par_iter().map(one).collect())
    }
}

impl Drawing {
    fn new(beliefs: &Beliefs<'_>, i: usize) -> Self {
        let told = beliefs.rows[i].1;
        let parts = beliefs.parts(i);
        let within = match told {
            ReportedValue::Count { .. } => Vec::new(),
            _ => parts.iter().map(|part| beliefs.within(i, part)).collect(),
        };
        let is_alone = matches!(within.as_slice(), [] | [ValueBehind::Cut(_)]);
        let signs = match beliefs.is_non_negative() && !is_alone {
            true => Some((beliefs.law_of_any_sign(i), beliefs.law(i))),
            false => None,
        };
        Self {
            told,
            parts,
            within,
            apart: beliefs.laws_apart(i),
            signs,
        }
    }

    /// A part at a node, by the shares of its parts; the heaviest of all where the node has none.
    fn part(&self, node: usize, random: &mut ChaCha8Rng) -> usize {
        let weight = |p: usize| self.parts[p].weight;
        let own = || (0..self.parts.len()).filter(|p| self.parts[*p].node == node);
        let total: f64 = own().map(weight).sum();
        let mut left = random.random::<f64>() * total;
        for p in own() {
            left -= weight(p);
            if left <= 0.0 {
                return p;
            }
        }
        let heavier = |a: &usize, b: &usize| weight(*a).total_cmp(&weight(*b));
        // Rounding may leave something after the last.
        let all = own()
            .next_back()
            .or_else(|| (0..self.parts.len()).max_by(heavier));
        all.unwrap_or(0)
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
        if let ReportedValue::Count {
            lower,
            upper,
            exposure,
        } = self.told
        {
            let rate = match beliefs.link {
                Some(link) if !is_total => link.value(f),
                _ => f,
            };
            let law = CountDistribution {
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
            ValueBehind::Cut(cut) => {
                let z = if part.sd > 0.0 {
                    (f - part.mean) / part.sd
                } else {
                    0.0
                };
                let rest = (1.0 - cut.correlation * cut.correlation).max(0.0).sqrt();
                let p = normal_cdf(cut.correlation * z + rest * noise);
                let law = ValueDistribution::Cuts(vec![super::truncated_normal::TruncatedPart {
                    weight: 1.0,
                    ..*cut
                }]);
                self.quantile(law, beliefs, p)
            }
            ValueBehind::Nodes { noise: sd, cuts } => {
                let law = ValueDistribution::Cuts(vec![super::truncated_normal::TruncatedPart {
                    weight: 1.0,
                    mean: f,
                    sd: *sd,
                    ..cuts[0]
                }]);
                self.quantile(law, beliefs, normal_cdf(noise))
            }
        }
    }

    /// The quantile of the law at one component; not negative where values are known not to be, and
    /// one component is all.
    fn quantile(&self, law: ValueDistribution, beliefs: &Beliefs<'_>, p: f64) -> f64 {
        let law = match beliefs.is_non_negative() && self.signs.is_none() {
            true => law.non_negative(),
            false => law,
        };
        law.quantile(p.clamp(EDGE, 1.0 - EDGE))
    }
}

/// Maps a count to the other law by its probability integral transform, uniform within its step.
fn carried(
    drawn: f64,
    from: &ValueDistribution,
    to: &ValueDistribution,
    random: &mut ChaCha8Rng,
) -> f64 {
    let (before, at) = (from.cdf(drawn - 1.0), from.cdf(drawn));
    let level = before + random.random::<f64>() * (at - before);
    to.quantile(level.clamp(EDGE, 1.0 - EDGE))
}

/// Maps values to the other law by their probability integral transform, between [`STEPS`] values
/// along a line.
///
/// A component is not reweighted by itself: its node is that of all rows of a draw.
fn carry_all(values: &mut [f64], from: &ValueDistribution, to: &ValueDistribution) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let step = (high - low) / STEPS as f64;
    let map = |y: f64| to.quantile(from.cdf(y).clamp(EDGE, 1.0 - EDGE));
    if from == to || !step.is_finite() {
        return;
    }
    let at: Vec<f64> = (0..=STEPS).map(|k| map(low + step * k as f64)).collect();
    for value in values {
        let place = if step > 0.0 {
            (*value - low) / step
        } else {
            0.0
        };
        let k = (place as usize).min(STEPS - 1);
        let part = place - k as f64;
        *value = at[k] + part * (at[k + 1] - at[k]);
    }
}

/// A draw of a count between two.
fn count(law: CountDistribution, lower: f64, upper: f64, random: &mut ChaCha8Rng) -> f64 {
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
    let cells = CountRanges::new(lower, upper, &[law]);
    let below = added_up(&cells.shares(&[law]));
    cells.quantile(&below, random.random::<f64>().max(EDGE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::behind::truncated_normal::TruncatedPart;

    /// Two components with different shares below zero: draws that are mapped have the mean of the
    /// mixture given that it is not negative, `(0.5 E Y_1^+ + 0.5 E Y_2^+) / P(Y >= 0)`, not that
    /// of components that are each given it.
    #[test]
    fn values_that_are_not_negative_have_the_law_of_the_mixture() {
        let part = |mean: f64| TruncatedPart {
            weight: 0.5,
            mean,
            sd: 1.0,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            correlation: 0.0,
        };
        let from = ValueDistribution::Cuts(vec![part(1.0), part(-1.0)]);
        let to = from.clone().non_negative();
        let levels = (0..4000).map(|k| (f64::from(k) + 0.5) / 4000.0);
        let mut values: Vec<f64> = levels.map(|p| from.quantile(p)).collect();
        carry_all(&mut values, &from, &to);
        let mean = values.iter().sum::<f64>() / 4000.0;
        // E Y^+ = m Phi(m) + phi(m) of either component; together they are not negative with 1/2.
        let right =
            normal_cdf(1.0) - normal_cdf(-1.0) + 2.0 * crate::special::scalar::normal_pdf(1.0);
        // The midpoint rule over 4,000 quantiles leaves out 1e-4 of the tail, and the steps 1e-4.
        assert!((mean - right).abs() < 1e-3, "{mean} {right}");
        assert!((to.moments().0 - right).abs() < 1e-12);
        assert!(values.iter().all(|y| *y >= 0.0) && values.is_sorted());
    }
}
