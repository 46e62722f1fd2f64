//! What a fit believes of the functions under some rows of a table.

use super::drawn::DrawnMeans;
use super::table::Behind;
use super::told::{ReportedValue, told};
use super::truncated_normal::TruncatedPart;
use super::value_distribution::ValueDistribution;
use crate::error::FitError;
use crate::inference::sites::Method;
use crate::inference::sites::pair::scale;
use crate::likelihood::{Dispersion, Likelihood, Noise, Outcomes, ends_of_rank};
use crate::link::Link;
use crate::posterior::component::Component;
use crate::posterior::mixture::Posterior;
use crate::posterior::prediction::Prediction;
use crate::posterior::summary::COVERED;
use crate::special::scalar::normal_pdf;
use crate::support::Functionals;

/// Standard deviations to either side that are integrated over: of a normal belief all but 2e-9.
pub(super) const REACH: f64 = 6.0;
/// Fewest and most values of the function that stand for a belief. Steps of 0.6 standard deviations
/// integrate a smooth function to rounding.
pub(super) const NODES: (usize, usize) = (21, 401);
/// Values of a spread that is a function, to either side, and their step in standard deviations.
const SPREADS: (i32, f64) = (4, 0.75);

/// How a fit took what a row says of its function into its belief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By mean and variance: expectation propagation, and draws that meet what rows report.
    Moments,
    /// By slope and curvature at the mean.
    Slopes,
    /// By expectations of these.
    Expectations,
}

/// The values of the function that stand for a belief, in standard deviations.
pub(super) fn node(at: usize, count: usize) -> f64 {
    2.0 * REACH * at as f64 / (count - 1) as f64 - REACH
}

/// Rows of a table with what is believed of the functions under them.
pub(super) struct Beliefs<'a> {
    /// What they reported, with the noise that the fit used.
    pub likelihood: &'a Likelihood,
    /// The rows, by their places in the table, and what each told.
    pub rows: Vec<(usize, ReportedValue)>,
    /// The supports, as functions of the kernel's columns.
    pub at: Functionals,
    /// From the function to the mean of a count.
    pub link: Option<Link>,
    /// Whether the mean of a count is that of the function at a point, not of a total.
    pub is_simple: bool,
    latent: Prediction,
    /// Draws of the means of counts, at every node, where they take the place of normal beliefs.
    pub drawn: Option<Vec<DrawnMeans>>,
    /// Whether these tell the counts better than what is believed without their rows.
    pub are_draws_better: bool,
    /// The likelihood's hyperparameters at every node.
    own: Vec<Vec<f64>>,
    /// The spread, where it is a function.
    pub spread: Option<(Prediction, Link)>,
    is_non_negative: bool,
    /// How the fit took in what a row says, at every node.
    pub ways: Vec<Way>,
    /// What inducing points leave open of the prior variance, at every node for every row; empty
    /// where there are none.
    pub left_open: Vec<Vec<f64>>,
}

/// A component of what is believed of the function under a row.
#[derive(Debug, Clone)]
pub(super) struct BeliefComponent {
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
pub(super) enum ValueBehind {
    Cut(TruncatedPart),
    Nodes {
        noise: f64,
        cuts: Vec<TruncatedPart>,
    },
}

impl<'a> Beliefs<'a> {
    /// Of rows by their places in the table.
    ///
    /// # Errors
    /// [`InputError::Range`] for a row that does not exist, and
    /// those of predictions.
    pub fn new(behind: &Behind<'a>, rows: &[usize]) -> Result<Self, FitError> {
        let mut own = Self::of(behind, rows)?;
        if own.drawn.is_some() {
            // All of the table decide, so that no row's answer depends on what else is asked.
            let all: Vec<usize> = (0..behind.rows()).collect();
            let together = Self::of(behind, &behind.hidden(&all)?)?;
            own.are_draws_better = together.do_draws_differ();
        }
        Ok(own)
    }

    fn of(behind: &Behind<'a>, rows: &[usize]) -> Result<Self, FitError> {
        let (posterior, table) = (behind.posterior, behind.table);
        let observed = &posterior.tables[table];
        behind.check(rows)?;
        let told: Vec<(usize, ReportedValue)> = rows
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
        let first = posterior.problem.blocks()[table].first;
        let places: Vec<usize> = rows.iter().map(|row| first + row).collect();
        let is_simple = (0..at.len()).all(|row| at.is_point(row) && at.size(row) == 1.0);
        let latent = match link {
            Some(link) if !is_simple => posterior.latent_totals(&at, link)?,
            // What a site and its cavity say of a row is no draw.
            _ if posterior.has_draws_beside_sites() => posterior.normal_beliefs(&at),
            _ => posterior.one_belief_each(&at)?,
        };
        let names = &posterior.problem.tables().own[table];
        let own = posterior.components.iter();
        let own = own.map(|c| names.iter().map(|&i| c.theta[i]).collect());
        let second = posterior.problem.seconds().of(likelihood);
        let spread = second.map(|second| {
            let g = posterior.varying_at(second, &at)?;
            Ok::<_, FitError>((g, second.spec.link))
        });
        let is_count =
            |(_, told): &(usize, ReportedValue)| matches!(told, ReportedValue::Count { .. });
        let drawn = match told.iter().any(is_count) {
            true => DrawnMeans::of(posterior, &places, (&at, link))?,
            false => None,
        };
        Ok(Self {
            likelihood,
            rows: told,
            link,
            is_simple,
            latent,
            drawn,
            are_draws_better: false,
            own: own.collect(),
            spread: spread.transpose()?,
            is_non_negative: behind.is_non_negative,
            ways: posterior
                .components
                .iter()
                .map(|c| way(posterior, c))
                .collect(),
            left_open: posterior
                .components
                .iter()
                .filter_map(|c| posterior.left_open(c, &at))
                .collect(),
            at,
        })
    }

    /// The components of a row that matter.
    pub fn parts(&self, i: usize) -> Vec<BeliefComponent> {
        let mut held = 0.0;
        let mut parts = Vec::new();
        let spreads = self.spread.as_ref();
        let spreads: Option<Vec<_>> = spreads.map(|(g, _)| g.row(i).components().collect());
        for (node, (weight, mean, sd)) in self.latent.row(i).components().enumerate() {
            if held >= COVERED {
                break;
            }
            held += weight;
            let part = |share: f64, spread: Option<f64>| BeliefComponent {
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

    /// The dispersion of counts at some hyperparameters.
    pub fn dispersion(&self, own: &[f64]) -> f64 {
        match self.likelihood.dispersion() {
            Some(Dispersion::Known(value)) => value,
            Some(Dispersion::Learned) => own.first().copied().unwrap_or(f64::NAN),
            None => 0.0,
        }
    }

    /// Between which ends a row puts its value.
    fn ends(&self, i: usize, own: &[f64]) -> (f64, f64) {
        let open = (f64::NEG_INFINITY, f64::INFINITY);
        match self.rows[i].1 {
            ReportedValue::Between { lower, upper } => (lower, upper),
            ReportedValue::Rank(rank) => {
                let Outcomes::Ranks(ordinal) = self.likelihood.outcomes() else {
                    return open;
                };
                ends_of_rank(rank, &ordinal.thresholds(own))
            }
            ReportedValue::Value(_)
            | ReportedValue::Count { .. }
            | ReportedValue::Noisy { .. }
            | ReportedValue::Function => open,
        }
    }

    /// The value behind a row that is no count, at a component.
    pub fn within(&self, i: usize, part: &BeliefComponent) -> ValueBehind {
        let (row, told) = self.rows[i];
        let variance = part.sd * part.sd;
        let cut = |mean: f64, sd: f64, correlation: f64| TruncatedPart {
            weight: part.weight,
            mean,
            sd,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            correlation,
        };
        if let ReportedValue::Noisy { reported, known } = told {
            // Of the noise that is left after the function the learned share is the value's own.
            let learned = match self.likelihood.noise() {
                Some(noise) if noise.is_learned() => part.own.first().copied().unwrap_or(0.0),
                _ => 0.0,
            };
            let share = learned / (learned + known);
            let (mean, rest) = (part.mean + share * (reported - part.mean), 1.0 - share);
            let sd = (rest * rest * variance + share * known).sqrt();
            let correlation = if sd > 0.0 { rest * part.sd / sd } else { 0.0 };
            return ValueBehind::Cut(cut(mean, sd, correlation));
        }
        if told == ReportedValue::Function {
            return ValueBehind::Cut(cut(part.mean, part.sd, 1.0));
        }
        let noise = self.noise(row, &part.own);
        let (lower, upper) = self.ends(i, &part.own);
        let between = |weight: f64, mean: f64, sd: f64, correlation: f64| TruncatedPart {
            weight,
            mean,
            sd,
            lower,
            upper,
            correlation,
        };
        if let Some(other) = self.cavity(i, part) {
            let all = other.variance + noise;
            let cut = between(part.weight, other.mean, all.sqrt(), 0.0);
            let (_, left) = cut.moments();
            // The function follows the value by this share, and has the rest for itself.
            let share = other.variance / all;
            let function = share * share * left + share * noise;
            let correlation = share * (left / function).sqrt();
            let correlation = if correlation.is_finite() {
                correlation
            } else {
                0.0
            };
            return ValueBehind::Cut(TruncatedPart {
                correlation: correlation.clamp(0.0, 1.0),
                ..cut
            });
        }
        let step = 2.0 * REACH / (NODES.0 - 1) as f64;
        let nodes = (0..NODES.0).map(|at| node(at, NODES.0));
        let cuts = nodes.map(|z| {
            let weight = part.weight * step * normal_pdf(z);
            between(weight, part.mean + part.sd * z, noise.sqrt(), 0.0)
        });
        ValueBehind::Nodes {
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

    /// The distribution of the value behind a row.
    pub fn law(&self, i: usize) -> ValueDistribution {
        match self.is_non_negative {
            true => self.law_of_any_sign(i).non_negative(),
            false => self.law_of_any_sign(i),
        }
    }

    /// The same without knowing that values are not negative.
    pub fn law_of_any_sign(&self, i: usize) -> ValueDistribution {
        let parts = self.parts(i);
        match self.rows[i].1 {
            ReportedValue::Value(value) => ValueDistribution::Value(value),
            ReportedValue::Count { lower, upper, .. } => match self.laws_of_row(i, &parts) {
                Some(laws) => ValueDistribution::counts(lower, upper, &laws),
                None => self.law_of_draws(i, &parts),
            },
            _ => {
                let cuts = parts.iter().flat_map(|part| match self.within(i, part) {
                    ValueBehind::Cut(cut) => vec![cut],
                    ValueBehind::Nodes { cuts, .. } => cuts,
                });
                let mut cuts: Vec<TruncatedPart> = cuts.collect();
                let total: f64 = cuts.iter().map(|cut| cut.weight).sum();
                cuts.iter_mut().for_each(|cut| cut.weight /= total);
                ValueDistribution::Cuts(cuts)
            }
        }
    }

    /// Whether values are known not to be negative.
    pub fn is_non_negative(&self) -> bool {
        self.is_non_negative
    }
}

/// How a fit took in what rows say, at one value of the hyperparameters.
fn way(posterior: &Posterior, component: &Component) -> Way {
    let problem = &posterior.problem;
    if component.has_draws() && !posterior.has_draws_beside_sites() {
        return Way::Moments;
    }
    let method = match problem.sparse() {
        Some(_) => Some(Method::Variational),
        None => problem.method(),
    };
    match method {
        // Sums after a link without draws, whose mode is only the start.
        Some(Method::Laplace) if problem.pooled().is_some() => Way::Expectations,
        Some(Method::Laplace) => Way::Slopes,
        Some(Method::Variational) => Way::Expectations,
        Some(Method::Ep) | None => Way::Moments,
    }
}
