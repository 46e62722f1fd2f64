//! The loop that finds the sites.

use rayon::prelude::*;

use super::accelerate::History;
use super::options::{SiteOptions, Sites};
use super::pair::Pair;
use super::process::Process;
use super::project::project;
use super::rows::Rows;
use super::site::Reply;
use super::site::{Site, Term};
use super::swept::Sweep;
use super::{Method, ep, laplace, variational};
use crate::error::LinalgError;

/// Rows asked by one task.
const ROWS_PER_TASK: usize = 32;
/// Sites may be this many times more precise than the prior.
const MOST_PRECISE: f64 = 1e10;

/// Full steps in a row that come no closer before EP is damped.
const PATIENCE: f64 = 3.0;
/// Roundings that a residual is made of, per unit of a row's precision.
const ROUNDING: f64 = 64.0;
/// Tolerance from which on negative precisions are cut at zero, in place of projecting all of them.
const CUT: f64 = 1e-3;
/// The smallest part of a step.
const SMALLEST_STEP: f64 = 0.02;
/// Steps of the variational approximation become careful ones after this many sweeps, or where the
/// bound fell at a step of this length or less.
const QUICK: usize = 30;
const LONG: f64 = 0.5;

pub(in crate::inference) struct Search<'a> {
    pub processes: &'a [Process<'a>],
    pub rows: &'a Rows<'a>,
    pub options: &'a SiteOptions,
    pub jitter: f64,
}

/// Of one latent function: the terms, and the sweep that was made with them.
pub(in crate::inference) struct Half {
    pub terms: Vec<Term>,
    pub sweep: Sweep,
    /// By how much the precisions of the variational approximation exceed those that rows ask for;
    /// empty where none asks for less than zero.
    pub excess: Vec<f64>,
}

/// Sweeps, the sites they were made with, and what the rows replied.
struct State {
    /// The latent function, and the second one where there is one.
    halves: Vec<Half>,
    /// The sites that the rows ask for, in the same order.
    asked: Vec<Vec<Site>>,
    shares: f64,
    residual: f64,
}

/// Where a search ended.
pub(in crate::inference) struct Ran {
    pub halves: Vec<Half>,
    pub found: Sites,
    /// What the rows contribute to the evidence.
    pub shares: f64,
}

impl Search<'_> {
    /// # Arguments
    /// * `is_careful` - whether rows of the variational approximation are asked for the sites that
    ///   they will have with all others as they are
    fn state(&self, terms: Vec<Vec<Term>>, is_careful: bool) -> Result<State, LinalgError> {
        let half = |(process, terms): (&Process<'_>, Vec<Term>)| {
            let sweep = Sweep::of(process, &terms, self.jitter)?;
            Ok(Half {
                terms,
                sweep,
                excess: Vec::new(),
            })
        };
        let halves: Vec<Result<Half, LinalgError>> =
            self.processes.par_iter().zip(terms).map(half).collect();
        let halves = halves
            .into_iter()
            .collect::<Result<Vec<Half>, LinalgError>>()?;
        let replies: Vec<(Reply, Option<(usize, Site)>)> = (0..self.rows.count)
            .into_par_iter()
            .with_min_len(ROWS_PER_TASK)
            .map(|row| self.ask(&halves, row, is_careful))
            .collect();
        // Summed in order, so that the result does not depend on the number of threads.
        let shares = replies.iter().map(|(r, _)| r.share).sum();
        let worst = |most: f64, (r, _): &(Reply, _)| {
            if r.residual.is_nan() {
                f64::INFINITY
            } else {
                most.max(r.residual)
            }
        };
        let residual = replies.iter().fold(0.0, worst);
        let mut asked = vec![replies.iter().map(|(r, _)| r.site).collect::<Vec<Site>>()];
        if let Some(second) = halves.get(1) {
            let mut sites = vec![Site::default(); second.terms.len()];
            for (i, site) in replies.iter().filter_map(|(_, second)| *second) {
                sites[i] = site;
            }
            asked.push(sites);
        }
        let mut state = State {
            halves,
            asked,
            shares,
            residual,
        };
        if self.options.method == Method::Variational {
            for which in 0..state.halves.len() {
                let residual = self.raise(&mut state, which);
                state.residual = state.residual.max(residual);
            }
        }
        Ok(state)
    }

    /// Keeps the precisions that rows of the variational approximation ask for from being negative.
    ///
    /// # Returns
    /// How far those of the state are from rest, in posterior variances.
    fn raise(&self, state: &mut State, which: usize) -> f64 {
        let Half {
            terms,
            sweep,
            excess,
        } = &mut state.halves[which];
        let asked = &mut state.asked[which];
        let chosen = terms
            .iter()
            .enumerate()
            .filter_map(|(row, term)| match term {
                Term::Chosen(site) => Some((row, site.precision)),
                Term::Gaussian { .. } => None,
            });
        let (rows, current): (Vec<usize>, Vec<f64>) = chosen.unzip();
        let wanted: Vec<f64> = rows.iter().map(|&row| asked[row].precision).collect();
        if wanted.iter().any(|t| !t.is_finite()) {
            return f64::INFINITY;
        }
        let off = rows.iter().zip(wanted.iter().zip(&current));
        let one = |most: f64, (&row, (wanted, current)): (&usize, (&f64, &f64))| {
            most.max((wanted - current).abs() * sweep.variance[row])
        };
        if wanted.iter().all(|t| *t >= 0.0) {
            return off.fold(0.0, one);
        }
        *excess = vec![0.0; terms.len()];
        for (&row, (wanted, current)) in rows.iter().zip(wanted.iter().zip(&current)) {
            excess[row] = current - wanted;
        }
        let clipped = || wanted.iter().map(|t| t.max(0.0)).collect::<Vec<f64>>();
        if self.options.tolerance >= CUT {
            // A bound, if not the highest.
            let precisions = clipped();
            let at = rows.iter().zip(precisions.iter().zip(&current));
            let residual = at.fold(0.0, one);
            place(asked, &rows, &precisions, sweep);
            return residual;
        }
        let found = project(self.processes[which].k, sweep, &rows, &wanted, &current);
        // A step is better than none; it is no point of rest.
        let (precisions, residual) =
            found.map_or_else(|| (clipped(), f64::MAX), |p| (p.precisions, p.residual));
        place(asked, &rows, &precisions, sweep);
        residual
    }

    fn ask(&self, halves: &[Half], row: usize, is_careful: bool) -> (Reply, Option<(usize, Site)>) {
        let Half { terms, sweep, .. } = &halves[0];
        let Term::Chosen(site) = terms[row] else {
            return (Reply::default(), None);
        };
        let (belief, alpha) = (sweep.belief(row), sweep.alpha[row]);
        if let (Some((pair, i)), Some(second)) = (self.rows.second(row), halves.get(1)) {
            let Term::Chosen(of_second) = second.terms[i] else {
                return (Reply::default(), None);
            };
            let (mut reply, asked) = pair.reply(
                self.options.method,
                Pair {
                    f: belief,
                    g: second.sweep.belief(i),
                },
                Pair {
                    f: sweep.cavity[row],
                    g: second.sweep.cavity[i],
                },
                Pair {
                    f: alpha,
                    g: second.sweep.alpha[i],
                },
                Pair {
                    f: site,
                    g: of_second,
                },
            );
            self.hold(row, site, &mut reply);
            return (reply, Some((i, asked)));
        }
        let (likelihood, own, at) = self.rows.at(row);
        if belief.variance == 0.0 {
            // The prior knows the row: nothing can be learned from it.
            let reply = Reply {
                share: likelihood.log_density(own, at, belief.mean).value,
                ..Reply::default()
            };
            return (reply, None);
        }
        let mut reply = match self.options.method {
            Method::Laplace => laplace::reply(likelihood, own, at, belief, alpha),
            Method::Variational => variational::reply(likelihood, own, at, belief, alpha, site),
            Method::Ep => ep::reply(likelihood, own, at, belief, sweep.cavity[row], alpha),
        };
        if is_careful
            && let Some(site) = variational::given(likelihood, own, at, belief, sweep.cavity[row])
        {
            reply.site = site;
        }
        self.hold(row, site, &mut reply);
        (reply, None)
    }

    /// Keeps a site from becoming too precise for the arithmetic.
    fn hold(&self, row: usize, site: Site, reply: &mut Reply) {
        let most = MOST_PRECISE / self.processes[0].unit(row).max(f64::MIN_POSITIVE);
        if reply.site.precision > most {
            reply.site.shift *= most / reply.site.precision;
            reply.site.precision = most;
            // Held there, it can only come to rest against itself.
            let moved = (reply.site.shift - site.shift).abs();
            let unit = site.shift.abs().max(most.sqrt());
            let held = site.precision >= (1.0 - 1e-9) * most;
            reply.residual = if held { moved / unit } else { 1.0 };
        }
    }

    /// Sites and those asked for as numbers of order one: precisions and shifts in units of the
    /// prior.
    fn coordinates(&self, state: &State) -> (Vec<f64>, Vec<f64>) {
        let (mut point, mut image) = (Vec::new(), Vec::new());
        for ((half, asked), process) in state.halves.iter().zip(&state.asked).zip(self.processes) {
            for (i, (term, asked)) in half.terms.iter().zip(asked).enumerate() {
                let Term::Chosen(site) = term else { continue };
                let k = process.k[(i, i)];
                for (out, site) in [(&mut point, site), (&mut image, asked)] {
                    out.push(site.precision * k);
                    out.push(site.shift * k.sqrt());
                }
            }
        }
        (point, image)
    }

    /// The terms at such coordinates.
    fn terms_at(&self, state: &State, x: &[f64]) -> Vec<Vec<Term>> {
        let mut at = 0;
        let halves = state.halves.iter().zip(self.processes);
        let mut half = |(half, process): (&Half, &Process<'_>)| {
            let one = |(i, term): (usize, &Term)| match term {
                Term::Chosen(_) => {
                    let k = process.k[(i, i)].max(f64::MIN_POSITIVE);
                    let site = Site {
                        precision: (x[at] / k).max(0.0),
                        shift: x[at + 1] / k.sqrt(),
                    };
                    at += 2;
                    Term::Chosen(site)
                }
                fixed @ Term::Gaussian { .. } => *fixed,
            };
            half.terms.iter().enumerate().map(one).collect()
        };
        halves.map(&mut half).collect()
    }

    /// What rounding leaves of a residual: it grows with the largest precision in units of the
    /// prior, up to the most that a site of the latent function may have.
    fn rounding(&self, state: &State) -> f64 {
        let halves = state.halves.iter().zip(self.processes);
        let strengths = halves.flat_map(|(half, process)| {
            let strength = |(i, term): (usize, &Term)| match term {
                Term::Chosen(site) => site.precision * process.unit(i),
                Term::Gaussian { .. } => 0.0,
            };
            half.terms.iter().enumerate().map(strength)
        });
        ROUNDING * f64::EPSILON * strengths.fold(0.0, f64::max).min(MOST_PRECISE)
    }

    /// What must not fall: the log density at the mean, or the bound; EP has none.
    fn objective(&self, state: &State) -> Option<f64> {
        let Half { terms, sweep, .. } = state.halves.first()?;
        let of_second = |second: &Half| second.sweep.log_evidence(0.0);
        match self.options.method {
            Method::Laplace => {
                let at_mean = state.shares + gaussian_at_mean(terms, sweep);
                Some(at_mean - 0.5 * sweep.quadratic)
            }
            Method::Variational => {
                let second = state.halves.get(1).map_or(0.0, of_second);
                Some(sweep.log_evidence(state.shares) + second)
            }
            Method::Ep => None,
        }
    }

    /// Sweeps until the sites stay, from terms for every latent function.
    pub fn run(&self, terms: Vec<Vec<Term>>) -> Result<Ran, LinalgError> {
        let mut is_careful = false;
        let mut state = self.state(terms, is_careful)?;
        let mut sweeps = 1;
        let mut step = self.options.step;
        let mut history = History::default();
        let mut tolerance = self.options.tolerance.max(self.rounding(&state));
        let (mut closest, mut waited) = (state.residual, 0_u32);
        // Newton's steps to a mode need no help.
        let mut may_combine = self.options.method != Method::Laplace;
        while state.residual > tolerance && sweeps < self.options.sweeps {
            let objective = self.objective(&state);
            let combined = if step == self.options.step && may_combine {
                let (point, image) = self.coordinates(&state);
                history.push(point, image);
                history.combined().map(|x| self.terms_at(&state, &x))
            } else {
                None
            };
            may_combine = self.options.method != Method::Laplace;
            let is_combined = combined.is_some();
            let next = combined.unwrap_or_else(|| stepped(&state, step));
            let next = self.state(next, is_careful)?;
            sweeps += 1;
            let fell = match (objective, self.objective(&next)) {
                // Rounding of a sum of many terms is not a fall.
                (Some(old), Some(new)) => new.is_nan() || new < old - 1e-10 * (1.0 + old.abs()),
                _ => !next.residual.is_finite(),
            };
            if is_combined && (fell || next.residual > state.residual) {
                // Not the place for it: a plain step from here, and a new history.
                history.clear();
                may_combine = false;
                continue;
            }
            let is_slow = (fell && step <= LONG) || sweeps > QUICK;
            if is_slow && !is_careful && self.options.method == Method::Variational {
                (is_careful, step) = (true, self.options.step);
                let best = if fell { &state } else { &next };
                state = self.state(chosen(best), is_careful)?;
                sweeps += 1;
                history.clear();
                continue;
            }
            if fell && step > SMALLEST_STEP {
                step *= 0.5;
                history.clear();
                continue;
            }
            if !next.residual.is_finite() {
                // Whatever the step, there is no posterior ahead.
                break;
            }
            state = next;
            tolerance = self.options.tolerance.max(self.rounding(&state));
            if self.options.method == Method::Ep {
                if state.residual < 0.9 * closest {
                    (closest, waited) = (state.residual, 0);
                } else {
                    waited += 1;
                    // A short step comes closer by no more than its length.
                    if f64::from(waited) * step >= PATIENCE {
                        step = (step * 0.6_f64).max(SMALLEST_STEP);
                        (closest, waited) = (state.residual, 0);
                    }
                }
            } else {
                step = (2.0 * step).min(1.0);
            }
        }
        let is_chosen = |term: &Term| matches!(term, Term::Chosen(_));
        if self.options.method == Method::Laplace
            && state.residual <= tolerance
            && state.halves[0].terms.iter().any(is_chosen)
        {
            // The log determinant has the curvatures of the step before: off in first order of how
            // far the last one went.
            let next = self.state(stepped(&state, 1.0), false)?;
            if next.residual <= tolerance {
                sweeps += 1;
                state = next;
            }
        }
        let sites = |half: &Half| -> Vec<Site> {
            let site = |term: &Term| match term {
                Term::Chosen(site) => *site,
                Term::Gaussian { .. } => Site::default(),
            };
            half.terms.iter().map(site).collect()
        };
        let found = Sites {
            sites: sites(&state.halves[0]),
            second: state.halves.get(1).map(sites).unwrap_or_default(),
            sweeps,
            residual: state.residual,
            converged: state.residual <= tolerance,
        };
        Ok(Ran {
            halves: state.halves,
            found,
            shares: state.shares,
        })
    }
}

/// Puts precisions in the place of those asked for, without a change of the slope at the mean.
fn place(asked: &mut [Site], rows: &[usize], precisions: &[f64], sweep: &Sweep) {
    for (&row, &precision) in rows.iter().zip(precisions) {
        let site = &mut asked[row];
        site.shift += (precision - site.precision) * sweep.mean[row];
        site.precision = precision;
    }
}

/// Between the sites of a state and those that its rows asked for.
fn stepped(state: &State, step: f64) -> Vec<Vec<Term>> {
    let between = |(term, asked): (&Term, &Site)| match term {
        Term::Chosen(site) => {
            let mix = |old: f64, new: f64| old + step * (new - old);
            let next = Site {
                precision: mix(site.precision, asked.precision).max(0.0),
                shift: mix(site.shift, asked.shift),
            };
            let usable = next.precision.is_finite() && next.shift.is_finite();
            Term::Chosen(if usable { next } else { *site })
        }
        fixed @ Term::Gaussian { .. } => *fixed,
    };
    let halves = state.halves.iter().zip(&state.asked);
    halves
        .map(|(half, asked)| half.terms.iter().zip(asked).map(between).collect())
        .collect()
}

/// The terms of a state.
fn chosen(state: &State) -> Vec<Vec<Term>> {
    state.halves.iter().map(|half| half.terms.clone()).collect()
}

/// Log density of the Gaussian rows at the posterior mean, up to a constant.
fn gaussian_at_mean(terms: &[Term], sweep: &Sweep) -> f64 {
    let one = |(term, alpha): (&Term, &f64)| match term {
        Term::Gaussian { variance, .. } => -0.5 * variance * alpha * alpha,
        Term::Chosen(_) => 0.0,
    };
    terms.iter().zip(&sweep.alpha).map(one).sum()
}
