//! What a fit believes of the functions under some rows of a table.

use super::cells::CountLaw;
use super::cut::Cut;
use super::law::Law;
use super::table::Behind;
use super::told::{Told, told};
use crate::error::{FitError, InputError};
use crate::inference::sites::Method;
use crate::inference::sites::pair::scale;
use crate::likelihood::local::Belief;
use crate::likelihood::{Dispersion, Likelihood, Noise};
use crate::link::Link;
use crate::posterior::prediction::{Prediction, log_sum_exp};
use crate::posterior::summary::COVERED;
use crate::problem::scale::Scale;
use crate::special::scalar::normal_pdf;
use crate::support::Functionals;

/// Standard deviations of the function to either side that are integrated over: all but 1e-9.
const REACH: f64 = 6.0;
/// Fewest and most values of the function that stand for a belief. Steps of 0.6 standard deviations
/// integrate a smooth function to rounding.
const NODES: (usize, usize) = (21, 401);
/// Values of a spread that is a function, to either side, and their step in standard deviations.
const SPREADS: (i32, f64) = (4, 0.75);
/// Steps that look for the belief without a row.
const MOST_STEPS: usize = 400;
/// A belief without a row is found when with the row it has the mean and variance that it should,
/// to this share of the standard deviation.
const FOUND: f64 = 1e-7;

/// What is known of a function without a row is at least this part of what is known with it: less
/// is a difference of rounding.
const LEAST_LEFT: f64 = 1e-6;

/// The values of the function that stand for a belief, in standard deviations.
fn node(at: usize, count: usize) -> f64 {
    2.0 * REACH * at as f64 / (count - 1) as f64 - REACH
}

/// Rows of a table with what is believed of the functions under them.
pub(super) struct Beliefs<'a> {
    /// What they reported, with the noise that the fit used.
    likelihood: &'a Likelihood,
    /// The rows, by their places in the table, and what each told.
    pub rows: Vec<(usize, Told)>,
    /// The supports, as functions of the kernel's columns.
    pub at: Functionals,
    /// From the function to the mean of a count.
    pub link: Option<Link>,
    /// Whether the mean of a count is that of the function at a point, not of a total.
    pub is_simple: bool,
    latent: Prediction,
    /// The likelihood's hyperparameters at every node.
    own: Vec<Vec<f64>>,
    /// The spread, where it is a function.
    spread: Option<(Prediction, Link)>,
    is_non_negative: bool,
    /// How the fit approximates what a row says of its function.
    way: Method,
}

/// A component of what is believed of the function under a row.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The node of the hyperparameters.
    pub node: usize,
    pub weight: f64,
    pub mean: f64,
    pub sd: f64,
    /// The likelihood's hyperparameters, with the spread that is a function before the others.
    pub own: Vec<f64>,
}

/// The value behind a row at one component: in closed form, or as values of the function that stand
/// for it, under each of which the noise has this sd.
pub(super) enum Within {
    Cut(Cut),
    Nodes { noise: f64, cuts: Vec<Cut> },
}

impl<'a> Beliefs<'a> {
    /// Of rows by their places in the table.
    ///
    /// # Errors
    /// [`InputError::Range`] for a row that does not exist, and
    /// those of predictions.
    pub fn new(behind: &Behind<'a>, rows: &[usize]) -> Result<Self, FitError> {
        let (posterior, table) = (behind.posterior, behind.table);
        let observed = &posterior.tables[table];
        let count = observed.likelihood().rows();
        if let Some(position) = rows.iter().position(|row| *row >= count) {
            return Err(InputError::Range {
                what: "the number of a row".into(),
                row: position,
                value: rows[position] as f64,
                requirement: "below the number of rows of the table",
            }
            .into());
        }
        let told: Vec<(usize, Told)> = rows
            .iter()
            .map(|&row| (row, told(observed.likelihood(), row)))
            .collect();
        let at = observed.supports().rows(rows);
        let at = match observed.output() {
            Some(output) => posterior.at_output(&at, output)?,
            None => posterior.place(&at)?,
        };
        let likelihood = posterior.problem.likelihood(table);
        let link = likelihood.link();
        let is_simple = (0..at.len()).all(|row| at.is_point(row) && at.size(row) == 1.0);
        let latent = match link {
            Some(link) if !is_simple => posterior.latent_totals(&at, link)?,
            _ => posterior.predict(&at, Scale::Latent)?,
        };
        let names = &posterior.problem.tables().own[table];
        let own = posterior.components.iter();
        let own = own.map(|c| names.iter().map(|&i| c.theta[i]).collect());
        let second = posterior.problem.seconds().of(likelihood);
        let spread = second.map(|second| {
            let g = posterior.varying_at(second, &at)?;
            Ok::<_, FitError>((g, second.spec.link))
        });
        Ok(Self {
            likelihood,
            rows: told,
            link,
            is_simple,
            latent,
            own: own.collect(),
            spread: spread.transpose()?,
            at,
            is_non_negative: behind.is_non_negative,
            way: match posterior.problem.sparse() {
                Some(_) => Method::Variational,
                None => posterior.problem.method().unwrap_or(Method::Ep),
            },
        })
    }

    /// The components of a row that matter.
    pub fn parts(&self, i: usize) -> Vec<Part> {
        let mut held = 0.0;
        let mut parts = Vec::new();
        let spreads = self.spread.as_ref();
        let spreads: Option<Vec<_>> = spreads.map(|(g, _)| g.row(i).components().collect());
        for (node, (weight, mean, sd)) in self.latent.row(i).components().enumerate() {
            if held >= COVERED {
                break;
            }
            held += weight;
            let part = |share: f64, spread: Option<f64>| Part {
                node,
                weight: weight * share,
                mean,
                sd,
                own: spread
                    .into_iter()
                    .chain(self.own[node].iter().copied())
                    .collect(),
            };
            let (Some(spreads), Some((_, link))) = (&spreads, &self.spread) else {
                parts.push(part(1.0, None));
                continue;
            };
            let (_, centre, width) = spreads[node];
            let count = if width > 0.0 { SPREADS.0 } else { 0 };
            for step in -count..=count {
                let z = SPREADS.1 * f64::from(step);
                let share = if count > 0 {
                    SPREADS.1 * normal_pdf(z)
                } else {
                    1.0
                };
                parts.push(part(share, Some(scale(*link, centre + width * z))));
            }
        }
        let total: f64 = parts.iter().map(|part| part.weight).sum();
        parts.iter_mut().for_each(|part| part.weight /= total);
        parts
    }

    /// The mean of a count at a value of the function.
    fn count_mean(&self, f: f64, exposure: f64) -> f64 {
        exposure * self.link.map_or(f, |link| link.value(f))
    }

    /// The dispersion of counts at some hyperparameters.
    pub fn dispersion(&self, own: &[f64]) -> f64 {
        match self.likelihood {
            Likelihood::NegativeBinomial(x) => match x.dispersion() {
                Dispersion::Known(value) => value,
                Dispersion::Learned => own.first().copied().unwrap_or(f64::NAN),
            },
            _ => 0.0,
        }
    }

    /// The same where the row's own likelihood takes the place of what the fit made of it; none
    /// where these are the same (expectation propagation), or the belief without the row is not
    /// known.
    fn count_laws_of_row(&self, i: usize, part: &Part, exposure: f64) -> Option<Vec<CountLaw>> {
        if self.way == Method::Ep || !self.is_simple || part.sd == 0.0 {
            return None;
        }
        let row = self.rows[i].0;
        let other = self.without(row, part)?;
        let local = self.likelihood.local();
        let mut laws = self.count_laws(part, exposure);
        let sd = other.variance.sqrt();
        let count = laws.len();
        let log = |at: usize| {
            let f = part.mean + part.sd * node(at, count);
            let z = (f - other.mean) / sd;
            local.log_density(&part.own, row, f).value - 0.5 * z * z
        };
        let logs: Vec<f64> = (0..count).map(log).collect();
        let total = log_sum_exp(&logs);
        if !total.is_finite() {
            return None;
        }
        for (law, log) in laws.iter_mut().zip(logs) {
            law.weight = part.weight * (log - total).exp();
        }
        Some(laws)
    }

    /// The laws of a count, over values of the function that stand for a component.
    fn count_laws(&self, part: &Part, exposure: f64) -> Vec<CountLaw> {
        let dispersion = self.dispersion(&part.own);
        let law = |f: f64, weight: f64| CountLaw {
            weight,
            mean: self.count_mean(f, exposure),
            dispersion,
        };
        if part.sd == 0.0 {
            return vec![law(part.mean, part.weight)];
        }
        // Steps as fine as the count tells values of the function apart.
        let [low, middle, high] = [-1.0, 0.0, 1.0].map(|z| law(part.mean + z * part.sd, 1.0).mean);
        let sd = (middle * (1.0 + dispersion * middle)).sqrt();
        let wanted = NODES.0 as f64 * (high - low).abs() / sd.max(f64::MIN_POSITIVE);
        let count = wanted.clamp(NODES.0 as f64, NODES.1 as f64) as usize | 1;
        let step = 2.0 * REACH / (count - 1) as f64;
        let nodes = (0..count).map(|at| node(at, count));
        nodes
            .map(|z| law(part.mean + part.sd * z, part.weight * step * normal_pdf(z)))
            .collect()
    }

    /// Between which ends a row puts its value.
    fn ends(&self, i: usize, own: &[f64]) -> (f64, f64) {
        match (self.rows[i].1, self.likelihood) {
            (Told::Between { lower, upper }, _) => (lower, upper),
            (Told::Rank(rank), Likelihood::Ordinal(ordinal)) => {
                let all = ordinal.thresholds(own);
                let lower = rank.checked_sub(2).and_then(|k| all.get(k));
                let upper = all.get(rank - 1);
                (
                    lower.copied().unwrap_or(f64::NEG_INFINITY),
                    upper.copied().unwrap_or(f64::INFINITY),
                )
            }
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// The value behind a row that is no count, at a component.
    pub fn within(&self, i: usize, part: &Part) -> Within {
        let (row, told) = self.rows[i];
        let variance = part.sd * part.sd;
        let cut = |mean: f64, sd: f64, follows: f64| Cut {
            weight: part.weight,
            mean,
            sd,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            follows,
        };
        if let Told::Noisy { reported, known } = told {
            // Of the noise that is left after the function the learned share is the value's own.
            let learned = match self.likelihood.noise() {
                Some(noise) if noise.is_learned() => part.own.first().copied().unwrap_or(0.0),
                _ => 0.0,
            };
            let share = learned / (learned + known);
            let (mean, rest) = (part.mean + share * (reported - part.mean), 1.0 - share);
            let sd = (rest * rest * variance + share * known).sqrt();
            let follows = if sd > 0.0 { rest * part.sd / sd } else { 0.0 };
            return Within::Cut(cut(mean, sd, follows));
        }
        if told == Told::Function {
            return Within::Cut(cut(part.mean, part.sd, 1.0));
        }
        let noise = self.noise(row, &part.own);
        let (lower, upper) = self.ends(i, &part.own);
        let between = |weight: f64, mean: f64, sd: f64, follows: f64| Cut {
            weight,
            mean,
            sd,
            lower,
            upper,
            follows,
        };
        if let Some(other) = self.without(row, part) {
            let all = other.variance + noise;
            let cut = between(part.weight, other.mean, all.sqrt(), 0.0);
            let (_, left) = cut.moments();
            // The function follows the value by this share, and has the rest for itself.
            let share = other.variance / all;
            let function = share * share * left + share * noise;
            let follows = share * (left / function).sqrt();
            let follows = if follows.is_finite() { follows } else { 0.0 };
            return Within::Cut(Cut {
                follows: follows.clamp(0.0, 1.0),
                ..cut
            });
        }
        let step = 2.0 * REACH / (NODES.0 - 1) as f64;
        let nodes = (0..NODES.0).map(|at| node(at, NODES.0));
        let cuts = nodes.map(|z| {
            let weight = part.weight * step * normal_pdf(z);
            between(weight, part.mean + part.sd * z, noise.sqrt(), 0.0)
        });
        Within::Nodes {
            noise: noise.sqrt(),
            cuts: cuts.collect(),
        }
    }

    /// Noise variance of a row.
    fn noise(&self, row: usize, own: &[f64]) -> f64 {
        let learned = own.first().copied().unwrap_or(0.0);
        match self.likelihood.noise() {
            Some(Noise::Known(known)) => known[row],
            Some(Noise::Learned) => learned,
            Some(Noise::KnownPlusLearned(known)) => known[row] + learned,
            None => 0.0,
        }
    }

    /// What would be believed of the function without one row (seen once): the component less what
    /// the fit made of the row; none where that is more than all that is known.
    fn without(&self, row: usize, part: &Part) -> Option<Belief> {
        let target = Belief {
            mean: part.mean,
            variance: part.sd * part.sd,
        };
        let local = self.likelihood.local();
        let (first, second) = match self.way {
            Method::Ep => return self.without_moments(row, part, target),
            Method::Laplace => {
                let jet = local.log_density(&part.own, row, target.mean);
                (jet.first, jet.second)
            }
            Method::Variational => {
                let expected = local.expected(&part.own, row, target);
                (expected.first, expected.second)
            }
        };
        let left = 1.0 / target.variance + second;
        let shift = target.mean / target.variance - first + second * target.mean;
        let is_left = left * target.variance > LEAST_LEFT && shift.is_finite();
        is_left.then(|| Belief {
            mean: shift / left,
            variance: 1.0 / left,
        })
    }

    /// With expectation propagation: the normal belief that with the row has the mean and variance
    /// of the component; none where it was not found.
    fn without_moments(&self, row: usize, part: &Part, target: Belief) -> Option<Belief> {
        let local = self.likelihood.local();
        let mut at = target;
        for _ in 0..MOST_STEPS {
            let site = local.tilted(&part.own, row, at);
            let precision = 1.0 / at.variance + site.precision;
            let mean = (at.mean / at.variance + site.shift) / precision;
            let is_near = (mean - target.mean).abs() <= FOUND * part.sd
                && (precision * target.variance - 1.0).abs() <= FOUND;
            if is_near {
                return Some(at);
            }
            // What the row says of the belief is taken from the target.
            let left = 1.0 / target.variance - site.precision;
            let least = 0.25 / at.variance;
            let left = left.max(least);
            let shift = target.mean / target.variance - site.shift;
            at = Belief {
                mean: shift / left,
                variance: 1.0 / left,
            };
            if !(at.mean.is_finite() && at.variance.is_finite() && at.variance > 0.0) {
                return None;
            }
        }
        None
    }

    /// The distribution of the value behind a row.
    pub fn law(&self, i: usize) -> Law {
        let law = match self.rows[i].1 {
            Told::Value(value) => Law::Value(value),
            Told::Count {
                lower,
                upper,
                exposure,
            } => {
                let parts = self.parts(i);
                let own = parts.iter();
                let own: Option<Vec<_>> = own
                    .map(|part| self.count_laws_of_row(i, part, exposure))
                    .collect();
                match own {
                    Some(laws) => Law::counts(lower, upper, &laws.concat()),
                    None => self.law_of_draws(&parts, (lower, upper), exposure),
                }
            }
            _ => {
                let parts = self.parts(i);
                let cuts = parts.iter().flat_map(|part| match self.within(i, part) {
                    Within::Cut(cut) => vec![cut],
                    Within::Nodes { cuts, .. } => cuts,
                });
                let mut cuts: Vec<Cut> = cuts.collect();
                let total: f64 = cuts.iter().map(|cut| cut.weight).sum();
                cuts.iter_mut().for_each(|cut| cut.weight /= total);
                Law::Cuts(cuts)
            }
        };
        match self.is_non_negative {
            true => law.non_negative(),
            false => law,
        }
    }

    /// The law of draws of a count given draws of the function, as the fit has them.
    fn law_of_draws(&self, parts: &[Part], (lower, upper): (f64, f64), exposure: f64) -> Law {
        let laws = parts.iter();
        let laws = laws.flat_map(|part| self.count_laws(part, exposure));
        Law::counts(lower, upper, &laws.collect::<Vec<_>>())
    }

    /// The law of draws of a count, and that of the count, where they differ: the fit has another
    /// belief of the function than the row's own likelihood gives.
    pub fn laws_apart(&self, i: usize) -> Option<(Law, Law)> {
        let Told::Count {
            lower,
            upper,
            exposure,
        } = self.rows[i].1
        else {
            return None;
        };
        if self.way == Method::Ep || !self.is_simple {
            return None;
        }
        let drawn = self.law_of_draws(&self.parts(i), (lower, upper), exposure);
        Some((drawn, self.law(i)))
    }

    /// Whether values are known not to be negative.
    pub fn is_non_negative(&self) -> bool {
        self.is_non_negative
    }
}
