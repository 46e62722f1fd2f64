//! Greedy choice of a batch.

use std::cmp::Reverse;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::aim::Aim;
use super::lazy::{Ranked, best};
use super::policy::{Plan, Policy};
use super::state::State;
use super::survey::{Question, Survey};
use crate::error::InputError;
use crate::progress::{Event, Progress, Silent};

/// Shares of a budget that rounding may add.
const ROUNDING: f64 = 1e-12;

/// Numbers at most that the choices keep, one for every latent value of every member: 1 GB.
const MOST: f64 = 125e6;

/// A measurement that was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Which.
    pub question: Question,
    /// What it is expected to tell beside those chosen before, in nats: of the function, by
    /// [`Policy::Target`] of the targets, by [`Policy::Exceedance`] of whether these exceed the
    /// limit, by [`Policy::Maximum`] and [`Policy::Minimum`] of their largest and smallest value.
    pub information: f64,
}

/// A batch, and what there was to choose from.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// In the order of the choice.
    pub choices: Vec<Choice>,
    /// What every measurement alone would tell of the same, in nats: kind by kind, shape `[kinds *
    /// places]`.
    pub information: Vec<f64>,
}

/// Chooses measurements one after the other, each the best beside those chosen before it.
///
/// What was chosen is conditioned on exactly, as far as its reports are normal: the covariance
/// loses `u u'` for each, in `O(rows)` for every measurement that was chosen before. Others count
/// as the normal observation that tells as much. A place is chosen again only where that is best.
///
/// # Errors
/// [`InputError::Range`] for a batch, cost or budget that is not above zero, or a budget below the
/// cheapest kind, and a place or target that no belief has; [`InputError::Shape`] for members of
/// several sizes, or with another number of reports than there are kinds; [`InputError::Empty`]
/// without places, kinds or beliefs; [`InputError::Unavailable`] for too many targets, and for more
/// choices among more candidates than memory holds; by [`Policy::Exceedance`] without a limit,
/// by [`Policy::Maximum`] and [`Policy::Minimum`] for kinds of several outputs.
///
/// # Numerics
/// A measurement whose last known information is below the best is not looked at again. Of normal
/// reports this changes nothing: their information never grows by what is chosen (it is
/// submodular). The batch then tells at least `1 - 1/e` of what the best one of its size does, by
/// [`Policy::Information`], [`Policy::PerCost`] and [`Policy::Pace`] where costs are equal. Other
/// reports are conditioned on as normal observations whose precision depends on the order of the
/// choice, and other policies look for something else: for these there is no such bound.
///
/// # Source
/// Nemhauser, Wolsey and Fisher 1978; Minoux 1978 (the lazy search).
///
/// # Examples
/// Two places that are nearly the same, and one apart:
/// ```
/// use quadrat::acquire::{Dense, Kind, Member, Plan, Report, Survey, Value, choose};
/// use quadrat::linalg::Mat;
///
/// let k = [[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 0.9]];
/// let survey = Survey {
///     places: 3,
///     kinds: vec![Kind { name: "point".into(), cost: 1.0, first: 0 }],
///     members: vec![Member {
///         weight: 1.0,
///         joint: Box::new(Dense::new(vec![0.0; 3], Mat::from_fn(3, 3, |i, j| k[i][j]))?),
///         reports: vec![Report::Value(Value { noise: 0.1 })],
///     }],
///     targets: Vec::new(),
/// };
/// let chosen = choose(&survey, &Plan { batch: 2, ..Plan::default() })?;
/// assert_eq!(chosen.choices[0].question.place, 0);
/// assert_eq!(chosen.choices[1].question.place, 2);
/// # Ok::<(), quadrat::error::InputError>(())
/// ```
pub fn choose(survey: &Survey<'_>, plan: &Plan) -> Result<Chosen, InputError> {
    choose_watched(survey, plan, &Silent)
}

/// The same with an event for every measurement that was chosen.
///
/// # Errors
/// As of [`choose`].
pub fn choose_watched(
    survey: &Survey<'_>,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<Chosen, InputError> {
    check(survey, plan)?;
    let mut state = State::new(survey);
    let aim = Aim::new(survey, &state, plan)?;
    let information = alone(survey, &state, &aim);
    let mut search = Search {
        survey,
        plan,
        bounds: information.clone(),
        seen: vec![0; survey.len()],
        most: most(survey),
        left: plan.budget,
        aim,
        random: ChaCha8Rng::seed_from_u64(plan.seed),
    };
    let mut choices = Vec::new();
    for step in 0..plan.batch {
        let Some(question) = search.next(&state, step) else {
            break;
        };
        choices.push(Choice {
            question,
            information: search.aim.information(survey, &state, question),
        });
        let precisions = state.make(question);
        search.aim.follow(survey, question, (&precisions, &state));
        if let Some(left) = &mut search.left {
            *left -= survey.kinds[question.kind].cost;
        }
        progress.report(Event::Choice {
            done: step + 1,
            total: plan.batch,
        });
    }
    Ok(Chosen {
        choices,
        information,
    })
}

/// What every measurement alone would tell, by its number.
fn alone(survey: &Survey<'_>, state: &State<'_, '_>, aim: &Aim) -> Vec<f64> {
    let numbers = (0..survey.len()).into_par_iter();
    let nats = numbers.map(|number| aim.information(survey, state, survey.question(number)));
    nats.collect()
}

fn check(survey: &Survey<'_>, plan: &Plan) -> Result<(), InputError> {
    if survey.is_empty() || survey.members.is_empty() {
        return Err(InputError::Empty);
    }
    shapes(survey)?;
    let refuse = |what: &str, row: usize, value: f64, requirement: &'static str| {
        Err(InputError::Range {
            what: what.to_owned(),
            row,
            value,
            requirement,
        })
    };
    for (row, kind) in survey.kinds.iter().enumerate() {
        if !(kind.cost > 0.0 && kind.cost.is_finite()) {
            return refuse("the cost", row, kind.cost, "a finite number above zero");
        }
    }
    if plan.batch == 0 {
        return refuse("the batch", 0, 0.0, "at least one measurement");
    }
    let costs = survey.kinds.iter().map(|kind| kind.cost);
    let cheapest = costs.fold(f64::INFINITY, f64::min);
    match plan.budget {
        Some(budget) if !(budget.is_finite() && budget * (1.0 + ROUNDING) >= cheapest) => refuse(
            "the budget",
            0,
            budget,
            "finite, and no less than what the cheapest kind costs",
        ),
        _ => bounded(survey, plan, cheapest),
    }
}

/// Refuses a survey whose parts do not fit together.
fn shapes(survey: &Survey<'_>) -> Result<(), InputError> {
    let size = survey.members.first().map_or(0, |m| m.joint.mean().len());
    for member in &survey.members {
        let lengths = [
            (
                "the reports of a member",
                survey.kinds.len(),
                member.reports.len(),
            ),
            ("the means of a member", size, member.joint.mean().len()),
            (
                "the variances of a member",
                size,
                member.joint.variance().len(),
            ),
        ];
        for (what, expected, got) in lengths {
            if expected != got {
                return Err(InputError::Shape {
                    what,
                    expected,
                    got,
                });
            }
        }
    }
    let beyond = |what: &str, row: usize, value: usize| InputError::Range {
        what: what.to_owned(),
        row,
        value: value as f64,
        requirement: "below the number of latent values that members have beliefs of",
    };
    for (row, kind) in survey.kinds.iter().enumerate() {
        let last = kind.first.checked_add(survey.places - 1);
        if last.is_none_or(|last| last >= size) {
            let last = last.unwrap_or(usize::MAX);
            return Err(beyond("the last latent value of the kind", row, last));
        }
    }
    match survey.targets.iter().position(|target| *target >= size) {
        Some(row) => Err(beyond("the target", row, survey.targets[row])),
        None => Ok(()),
    }
}

/// Refuses choices of which every one keeps a number for every latent value of every member, where
/// these are too many.
fn bounded(survey: &Survey<'_>, plan: &Plan, cheapest: f64) -> Result<(), InputError> {
    let paid = plan.budget.map_or(f64::INFINITY, |all| {
        (all / cheapest * (1.0 + ROUNDING)).floor()
    });
    // All targets count as measured, besides, where information is about their values.
    let known = match plan.policy {
        Policy::Target => survey.targets.len() as f64,
        _ => 0.0,
    };
    let choices = paid.min(plan.batch as f64) * if known > 0.0 { 2.0 } else { 1.0 } + known;
    let sizes = survey.members.iter().map(|m| m.joint.mean().len() as f64);
    if choices * sizes.sum::<f64>() <= MOST {
        return Ok(());
    }
    Err(InputError::Unavailable {
        what: "so many choices among so many candidates at so many settings of the hyperparameters",
        remedy: "choose fewer at once (a smaller batch or budget), or take fewer candidates",
    })
}

/// The most that every kind may tell, of the largest variance before any measurement.
fn most(survey: &Survey<'_>) -> Vec<f64> {
    let each = survey.kinds.iter().enumerate();
    each.map(|(d, kind)| {
        let members = survey.members.iter();
        let own = members.map(|member| {
            let variances = &member.joint.variance()[kind.first..][..survey.places];
            let largest = variances.iter().copied().fold(0.0, f64::max);
            member.weight * member.reports[d].most(largest)
        });
        own.sum()
    })
    .collect()
}

/// A search for the next measurement.
struct Search<'s, 'a> {
    survey: &'s Survey<'a>,
    plan: &'s Plan,
    /// Information of every measurement when it was last looked at, no less than it is now.
    bounds: Vec<f64>,
    /// How many had been chosen then.
    seen: Vec<usize>,
    /// The most that every kind may tell.
    most: Vec<f64>,
    /// What is left to spend.
    left: Option<f64>,
    aim: Aim,
    random: ChaCha8Rng,
}

impl Search<'_, '_> {
    /// The best measurement that is not too dear, if any.
    fn next(&mut self, state: &State<'_, '_>, step: usize) -> Option<Question> {
        let is_open = |d: &usize| {
            let cost = self.survey.kinds[*d].cost;
            self.left
                .is_none_or(|left| cost <= left + ROUNDING * self.plan.budget.unwrap_or(0.0))
        };
        let mut kinds: Vec<usize> = (0..self.survey.kinds.len()).filter(is_open).collect();
        if kinds.is_empty() {
            return None;
        }
        match self.plan.policy {
            Policy::Random => {
                let kind = kinds[self.random.random_range(0..kinds.len())];
                let place = self.random.random_range(0..self.survey.places);
                return Some(Question { kind, place });
            }
            Policy::RandomKind => {
                kinds = vec![kinds[self.random.random_range(0..kinds.len())]];
            }
            _ => {}
        }
        let divisors = self.divisors(step);
        let found = match &mut self.aim {
            Aim::Function => self.lazily(state, step, &kinds, &divisors),
            Aim::Variance(targets) => targets.best(self.survey, state, step, (&kinds, &divisors)),
            Aim::Targets(_) | Aim::Exceedance(_) | Aim::Largest(_) => {
                self.of_all(state, step, &kinds, &divisors)
            }
        };
        found.map(|number| self.survey.question(number))
    }

    /// What information is divided by, kind by kind.
    fn divisors(&self, step: usize) -> Vec<f64> {
        let all = self.plan.steps.unwrap_or(self.plan.batch);
        let steps = all.saturating_sub(step).max(1) as f64;
        let pace = match (self.plan.policy.is_paced(), self.left) {
            (true, Some(left)) => left / steps,
            _ => 0.0,
        };
        let each = self.survey.kinds.iter().zip(&self.most);
        each.map(|(kind, most)| match self.plan.policy {
            Policy::Information | Policy::Random | Policy::RandomKind => 1.0,
            Policy::Normalised => most.max(f64::MIN_POSITIVE),
            Policy::PerCost
            | Policy::Pace
            | Policy::Variance
            | Policy::VariancePace
            | Policy::Target
            | Policy::Exceedance
            | Policy::Maximum
            | Policy::Minimum => kind.cost.max(pace),
        })
        .collect()
    }

    /// The measurement that tells most of the targets over its divisor. All are looked at: what one
    /// tells of a target may grow by what is chosen.
    fn of_all(
        &self,
        state: &State<'_, '_>,
        step: usize,
        kinds: &[usize],
        divisors: &[f64],
    ) -> Option<usize> {
        let all: Vec<(usize, usize)> = self.survey.numbers(kinds).collect();
        let scores = all.par_iter().map(|(kind, number)| {
            // Before the first choice they were looked at already.
            let nats = match step {
                0 => self.bounds[*number],
                _ => {
                    let asked = self.survey.question(*number);
                    self.aim.information(self.survey, state, asked)
                }
            };
            (nats / divisors[*kind], Reverse(*number))
        });
        // Of equals the first.
        let best = scores.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        best.map(|(_, Reverse(number))| number)
    }

    /// The measurement of the largest information over its divisor: those whose last known one is
    /// below the best are not looked at again.
    fn lazily(
        &mut self,
        state: &State<'_, '_>,
        step: usize,
        kinds: &[usize],
        divisors: &[f64],
    ) -> Option<usize> {
        let survey = self.survey;
        let (bounds, seen) = (&mut self.bounds, &mut self.seen);
        let all = survey.numbers(kinds).map(|(kind, number)| Ranked {
            score: bounds[number] / divisors[kind],
            number,
        });
        best(all.collect(), |number| {
            if seen[number] == step {
                return None;
            }
            let asked = survey.question(number);
            bounds[number] = state.information(asked);
            seen[number] = step;
            Some(bounds[number] / divisors[asked.kind])
        })
    }
}
