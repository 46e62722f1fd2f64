//! From an optimum of the hyperparameters to the posterior, with all that is to be told of it.

use std::time::Instant;

use rayon::prelude::*;

use super::bounds::warn_about_bounds;
use super::certificate::Certificate;
use crate::error::FitError;
use crate::inference::{
    Conditioned, Evidence, IntegrateOptions, Interval, Optimum, Watched, integrate,
};
use crate::parameter::Parameter;
use crate::posterior::component::{
    Component, Node, leave_out_without_draws, poor_share, share_out,
};
use crate::posterior::correlation::correlations;
use crate::posterior::levels::mean_hypers;
use crate::posterior::mixture::Posterior;
use crate::posterior::summary::COVERED;
use crate::posterior::summary::{FitSummary, Hyper};
use crate::posterior::{fine_noise, misfit};
use crate::problem::assembly::Problem;
use crate::problem::observations::Observations;
use crate::problem::settings::Setting;
use crate::progress::{Keeper, Progress};

/// Values of the hyperparameters that are conditioned at a time.
const AT_ONCE: usize = 16;
/// Most values of the hyperparameters with draws that meet their rows, each of which has to have
/// some: of more some are taken.
const MOST_DRAWN: usize = 256;
/// Up to this lost weight nothing is warned of: [`COVERED`] leaves out as much anyway.
const LOST_UNSAID: f64 = 1.0 - COVERED;
/// Share of the nodes of the integration that may be left out unsaid because the evidence cannot be
/// evaluated there.
const UNKNOWN: f64 = 0.05;

/// Integration over the hyperparameters, or the optimum alone.
pub(super) struct HyperNodes {
    pub nodes: Vec<Node>,
    pub intervals: Vec<Interval>,
    pub evaluations: usize,
}

/// Integrates, and says where that stopped too early.
pub(super) fn integrate_over_hyperparameters(
    evidence: &dyn Evidence,
    optimum: &Optimum,
    (has_lattice, max_nodes): (bool, usize),
    progress: &dyn Progress,
    warnings: &mut Vec<String>,
) -> Result<HyperNodes, FitError> {
    let defaults = IntegrateOptions::default();
    let settings = IntegrateOptions {
        progress,
        max_nodes,
        lattice_up_to: if has_lattice {
            defaults.lattice_up_to
        } else {
            0
        },
        ..defaults
    };
    let integration = integrate(evidence, optimum, &settings)?;
    if integration.capped {
        warnings.push(format!(
            "the integration over the hyperparameters stopped at {} nodes before the posterior had fallen off everywhere",
            integration.nodes.len()
        ));
    }
    if integration.unknown > UNKNOWN {
        warnings.push(format!(
            "the evidence could not be evaluated for about {:.0} % of the places to which the integration over the hyperparameters looked, which count for nothing: intervals may be too short",
            100.0 * integration.unknown
        ));
    }
    let parameters = evidence.parameters();
    warnings.extend(misfit::passed_by(parameters, &integration.nodes, optimum));
    let intervals = integration.intervals(parameters, 0.95);
    let evaluations = integration.evaluations;
    let nodes = integration.nodes.into_iter().map(|n| Node {
        weight: n.weight,
        theta: n.theta,
        log_evidence: n.log_evidence,
    });
    Ok(HyperNodes {
        nodes: nodes.collect(),
        intervals,
        evaluations,
    })
}

/// The optimum as the only node.
pub(super) fn alone(optimum: &Optimum) -> Vec<Node> {
    vec![Node {
        weight: 1.0,
        theta: optimum.theta.clone(),
        log_evidence: optimum.log_evidence,
    }]
}

/// Where a search ended, and how it was begun.
pub(super) struct SearchOutcome<'a> {
    pub optimum: Optimum,
    /// Evaluations of the evidence, coarse ones too.
    pub evaluations: usize,
    /// Whether hyperparameters are integrated about the optimum.
    pub integrated: bool,
    /// What the user said of hyperparameters, where that is known.
    pub settings: Option<&'a [(String, Setting)]>,
    pub progress: &'a dyn Progress,
    /// Who may have stopped the search, or stops the integration.
    pub keeper: Option<&'a dyn Keeper>,
    pub started: Instant,
}

/// The posterior about an optimum, with all that is to be told of it.
pub(super) fn conclude(
    problem: Problem,
    tables: Vec<Observations>,
    found: SearchOutcome<'_>,
) -> Result<Posterior, FitError> {
    let SearchOutcome {
        optimum,
        mut evaluations,
        ..
    } = found;
    let is_stopped = found.keeper.is_some_and(Keeper::is_stopped);
    let mut integrated = found.integrated && !is_stopped;
    // Where a search was stopped nothing is known of the curvature, and no interval is told.
    let intervals_of = |optimum: &Optimum| match is_stopped && !optimum.converged {
        true => Ok(Vec::new()),
        false => optimum.intervals(problem.parameters(), 0.95),
    };
    let mut warnings = Vec::new();
    let evidence = problem.evidence()?;
    warnings.extend(not_converged(&optimum));
    warnings.extend(problem.engine().quadrature_warning(&optimum.theta));
    warn_about_bounds(
        problem.parameters(),
        found.settings,
        &optimum,
        Some(&*evidence),
        &mut warnings,
    );
    if integrated && problem.pooled().is_some_and(|p| !p.has_draws()) {
        // What does not converge at the most probable values is told before hundreds of others are
        // looked at.
        problem.condition(&optimum.theta)?;
    }
    let (nodes, intervals) = if integrated {
        let lattice = (
            problem.engine().has_lattice(),
            IntegrateOptions::default().max_nodes,
        );
        let watched = Watched {
            evidence: &*evidence,
            keeper: found.keeper,
        };
        let found = integrate_over_hyperparameters(
            &watched,
            &optimum,
            lattice,
            found.progress,
            &mut warnings,
        );
        match found {
            // Then the most probable values answer.
            Err(FitError::Stopped) => {
                integrated = false;
                (alone(&optimum), intervals_of(&optimum)?)
            }
            found => {
                let found = found.map_err(|e| problem.in_user_rows(e))?;
                evaluations += found.evaluations;
                (found.nodes, found.intervals)
            }
        }
    } else {
        (alone(&optimum), intervals_of(&optimum)?)
    };
    drop(evidence);
    let (components, lost) = condition_covering(&problem, &nodes, Vec::new())?;
    warnings.extend(left_out_hyperparameters(&problem, lost));
    warnings.extend(poor_draws(&components));
    let summary = summarised(&problem, &optimum, &intervals, &components)?;
    if summary.jitter > 0.0 {
        warnings.push(format!(
            "the covariance of the rows was nearly singular: jitter of {:e} of the variance of each was added to it, as if it were noise",
            summary.jitter
        ));
    }
    let bound = problem.engine().certificate(&optimum.theta);
    if let Some(Err(_)) = bound {
        warnings.push("the variational approximation did not converge at the hyperparameters found: no lower bound is told beside the log evidence by expectation propagation".to_owned());
    }
    if let Some(heaviest) = components.first() {
        warnings.extend(misfit::warnings(&problem, &heaviest.conditioned));
    }
    let summary = FitSummary {
        integrated,
        evaluations,
        variational_bound: bound.and_then(Result::ok),
        warnings,
        ..summary
    };
    let mut posterior = Posterior::new(problem, tables, nodes, components, summary);
    let mut told = posterior.draw_one_sided()?;
    told.extend(warnings_of(&posterior)?);
    posterior.summary.warnings.extend(told);
    posterior.summary.seconds = found.started.elapsed().as_secs_f64();
    Ok(posterior)
}

/// What to say of a search that did not end where it should.
pub(super) fn not_converged(optimum: &Optimum) -> Option<String> {
    (!optimum.converged).then(|| {
        format!(
            "learning the hyperparameters did not converge: {}",
            optimum.reason
        )
    })
}

/// What is told of an optimum and of what was conditioned about it, before anything is said of how
/// it was found.
pub(super) fn summarised(
    problem: &Problem,
    optimum: &Optimum,
    intervals: &[Interval],
    components: &[Component],
) -> Result<FitSummary, FitError> {
    let mut hyperparameters = hypers(problem.parameters(), &optimum.theta, intervals);
    hyperparameters.extend(mean_hypers(problem, components));
    let jitters = components.iter().map(|c| c.conditioned.jitter);
    Ok(FitSummary {
        inference: problem.engine().name().into(),
        structure: problem.engine().structure().into(),
        converged: optimum.converged,
        log_evidence: optimum.log_evidence,
        log_posterior: optimum.log_posterior,
        evidence: problem.engine().evidence_name().into(),
        hyperparameters,
        integrated: false,
        nodes: components.len(),
        rows: problem.rows(),
        iterations: optimum.iterations,
        evaluations: optimum.evaluations,
        seconds: 0.0,
        jitter: jitters.fold(0.0, f64::max),
        inducing_gain: None,
        variational_bound: None,
        correlations: correlations(problem, optimum)?,
        warnings: Vec::new(),
    })
}

/// What is to be told of what a posterior predicts of its own rows.
fn warnings_of(posterior: &Posterior) -> Result<Vec<String>, FitError> {
    let mut warnings = Vec::new();
    warnings.extend(Certificate::of(&posterior.summary).and_then(|bound| bound.warning()));
    if posterior.problem.method().is_some() {
        warnings.extend(misfit::of_known_tables(posterior)?);
        warnings.extend(misfit::limits_alone(posterior));
        warnings.extend(misfit::no_event(posterior));
    }
    warnings.extend(fine_noise::warning(posterior)?);
    warnings.extend(posterior.warnings_of_sums()?);
    Ok(warnings)
}

/// Conditions at the heaviest nodes, which together hold [`COVERED`] of the weight; also the weight
/// of those at which an approximation did not converge or no draws were found, which are left out
/// up to the share that the engine allows.
///
/// # Arguments
/// * `known` - of the first nodes, what is conditioned already, which is taken
pub(super) fn condition_covering(
    problem: &Problem,
    nodes: &[Node],
    mut known: Vec<Option<Conditioned>>,
) -> Result<(Vec<Component>, f64), FitError> {
    let (chosen, held) = answering(problem, nodes);
    known.resize_with(nodes.len(), || None);
    let mut known: Vec<_> = chosen.iter().map(|(at, _)| known[*at].take()).collect();
    let count = chosen.len();
    let one = |((at, node), known): (&(usize, Node), &mut Option<Conditioned>)| {
        let draws = problem.draws(node.weight / held.min(1.0), count);
        let anew = || problem.condition_with(&node.theta, draws.of_stream(*at));
        known.take().map_or_else(anew, Ok)
    };
    let most = problem.engine().most_lost();
    let mut lost = 0.0;
    let mut components = Vec::with_capacity(count);
    // The heaviest first: what is lost with them ends the work early.
    for (some, known) in chosen.chunks(AT_ONCE).zip(known.chunks_mut(AT_ONCE)) {
        let conditioned: Vec<_> = some.par_iter().zip(known).map(one).collect();
        for ((_, node), conditioned) in some.iter().zip(conditioned) {
            match conditioned {
                Ok(conditioned) => components.push(Component {
                    weight: node.weight,
                    theta: node.theta.clone(),
                    conditioned,
                }),
                Err(error) if nodes.len() > 1 && error.is_recoverable() => {
                    lost += node.weight;
                    if lost > most {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
    lost += leave_out_without_draws(&mut components, most - lost).unwrap_or(0.0);
    share_out(&mut components);
    Ok((components, lost))
}

/// The nodes that answer predictions, by their places among all and with the weights that they then
/// have; and what they hold together. Where draws answer, some of the [`covering`] ones do: those
/// at even distances of the summed weights, each of which stands for all up to the next.
pub(super) fn answering(problem: &Problem, nodes: &[Node]) -> (Vec<(usize, Node)>, f64) {
    let (kept, held) = covering(nodes);
    if problem.drawn().pooled().is_none() || kept.len() <= MOST_DRAWN {
        return (kept.iter().cloned().enumerate().collect(), held);
    }
    (at_even_distances(kept, held, MOST_DRAWN), held)
}

/// So many nodes at most, with the weights of those for which they stand.
fn at_even_distances(kept: &[Node], held: f64, most: usize) -> Vec<(usize, Node)> {
    let step = held / most as f64;
    let mut out = Vec::with_capacity(most);
    let (mut below, mut next) = (0.0, 0.5 * step);
    for (at, node) in kept.iter().enumerate() {
        below += node.weight;
        let times = ((below - next) / step).floor() + 1.0;
        if times >= 1.0 {
            next += times * step;
            let weight = times * step;
            let node = Node {
                weight,
                ..node.clone()
            };
            out.push((at, node));
        }
    }
    out
}

/// The heaviest nodes, which together hold [`COVERED`] of the weight; and what they hold.
pub(super) fn covering(nodes: &[Node]) -> (&[Node], f64) {
    let mut held = 0.0;
    let mut kept = nodes.iter().take_while(|node| {
        let wanted = held < COVERED;
        held += node.weight;
        wanted
    });
    let count = kept.by_ref().count();
    (&nodes[..count], held)
}

/// What to say of hyperparameters that were left out.
pub(super) fn left_out_hyperparameters(problem: &Problem, lost: f64) -> Option<String> {
    let what = problem.engine().why_lost();
    (lost > LOST_UNSAID).then(|| {
        format!(
            "{what} at hyperparameters that hold {:.1} % of their posterior; they were left out: an upper bound or a narrower prior for the variance helps",
            100.0 * lost
        )
    })
}

/// What to say where few of the draws that meet the rows' sums carry the weight.
pub(super) fn poor_draws(components: &[Component]) -> Option<String> {
    let share = poor_share(components)?;
    Some(format!(
        "the function varies so wildly within the rows that few of the draws that meet their sums carry the weight, at hyperparameters that hold {:.0} % of their posterior: their weights were evened out, so that sums of whole rows are nearly right and intervals inside rows are rough; a longer lengthscale, an upper bound of the variance or `--check mcmc` helps",
        100.0 * share
    ))
}

fn hypers(parameters: &[Parameter], theta: &[f64], intervals: &[Interval]) -> Vec<Hyper> {
    parameters
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let interval = intervals.iter().find(|v| v.parameter == i);
            // Where none was computed, none is told.
            let none = match p.fixed || !intervals.is_empty() {
                true => theta[i],
                false => f64::NAN,
            };
            Hyper {
                name: p.name.clone(),
                value: theta[i],
                median: interval.map_or(theta[i], |v| v.median),
                lower: interval.map_or(none, |v| v.lower),
                upper: interval.map_or(none, |v| v.upper),
                fixed: p.fixed,
                meaning: p.meaning.clone(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Node, at_even_distances};

    /// Of 800 values with weights of a normal density some stand for all: they hold as much, and
    /// have the mean and variance of all.
    #[test]
    fn some_values_of_the_hyperparameters_stand_for_all() {
        let places: Vec<f64> = (0..800).map(|i| 0.01 * f64::from(i) - 4.0).collect();
        let mut nodes: Vec<Node> = places
            .iter()
            .map(|z| Node {
                weight: 0.01 * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt(),
                theta: vec![*z],
                log_evidence: 0.0,
            })
            .collect();
        nodes.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let held: f64 = nodes.iter().map(|node| node.weight).sum();
        let some = at_even_distances(&nodes, held, 100);
        assert!(some.len() <= 100 && some.len() > 80, "{}", some.len());
        let sum = |power: i32| -> f64 {
            let each = some.iter().map(|(_, n)| n.weight * n.theta[0].powi(power));
            each.sum()
        };
        // Rounding of a hundred terms.
        assert!((sum(0) - held).abs() < 1e-12);
        // Means are no worse than twice those of as many independent draws; variances, which
        // weights order, are far better.
        assert!(sum(1).abs() < 0.2, "{}", sum(1));
        assert!((sum(2) - 1.0).abs() < 0.05, "{}", sum(2));
        let is_its_own = |(at, node): &(usize, Node)| nodes[*at].theta == node.theta;
        assert!(some.iter().all(is_its_own));
    }
}
