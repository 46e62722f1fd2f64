//! What is believed once the measurements that were chosen are made, but not known yet.

use rayon::prelude::*;

use super::conditioned::ConditionedJoint;
use super::survey::{Question, Survey};
use crate::likelihood::local::Belief;

/// What is believed at one value of the hyperparameters, given measurements.
struct Given {
    belief: ConditionedJoint,
    /// The average entropy of every report were its latent value known; see `Report::known`.
    known: Vec<Vec<f64>>,
}

/// The survey given measurements that are not known yet.
pub(super) struct State<'s, 'a> {
    survey: &'s Survey<'a>,
    given: Vec<Given>,
}

impl<'s, 'a> State<'s, 'a> {
    /// Before any.
    pub fn new(survey: &'s Survey<'a>) -> Self {
        let given = survey.members.iter().map(|member| {
            let (mean, variance) = (member.joint.mean(), member.joint.variance());
            let known = member
                .reports
                .iter()
                .zip(&survey.kinds)
                .map(|(report, kind)| {
                    let places = (0..survey.places).into_par_iter();
                    let known = places.map(|place| {
                        let row = kind.first + place;
                        report.known(Belief {
                            mean: mean[row],
                            variance: variance[row],
                        })
                    });
                    known.collect()
                });
            Given {
                belief: ConditionedJoint::new(&*member.joint),
                known: known.collect(),
            }
        });
        Self {
            survey,
            given: given.collect(),
        }
    }

    /// Variances of the latent values at one value of the hyperparameters.
    pub fn variance(&self, member: usize) -> &[f64] {
        &self.given[member].belief.variance
    }

    /// What [`Report::known`](super::report::Report::known) says of a measurement.
    pub fn known(&self, member: usize, asked: Question) -> f64 {
        self.given[member].known[asked.kind][asked.place]
    }

    /// What the last measurement that was made took from the covariance, for every value of the
    /// hyperparameters.
    pub fn taken(&self) -> Vec<&[f64]> {
        let last = self
            .given
            .iter()
            .filter_map(|given| given.belief.taken.last());
        last.map(Vec::as_slice).collect()
    }

    /// What a measurement would tell at one value of the hyperparameters, in nats.
    pub fn information_at(&self, member: usize, asked: Question) -> f64 {
        let (of, given) = (&self.survey.members[member], &self.given[member]);
        let row = self.survey.row(asked);
        let before = Belief {
            mean: of.joint.mean()[row],
            variance: of.joint.variance()[row],
        };
        let left = given.belief.variance[row];
        of.reports[asked.kind].information_after(before, left, self.known(member, asked))
    }

    /// What a measurement would tell of the function, in nats: on average over hyperparameters.
    pub fn information(&self, asked: Question) -> f64 {
        let members = self.survey.members.iter().enumerate();
        members
            .map(|(k, member)| member.weight * self.information_at(k, asked))
            .sum()
    }

    /// Makes a measurement: what follows is expected of its site, a normal observation that tells
    /// as much, of precision `(exp(2 I) - 1) / v`. Of normal rows it is the row itself.
    ///
    /// Returns that precision for every value of the hyperparameters.
    pub fn make(&mut self, asked: Question) -> Vec<f64> {
        let row = self.survey.row(asked);
        let members = 0..self.given.len();
        let precisions = members.map(|member| {
            let nats = self.information_at(member, asked);
            let belief = &mut self.given[member].belief;
            let tau = (2.0 * nats).exp_m1() / belief.variance[row];
            belief.observe(&*self.survey.members[member].joint, row, tau);
            tau
        });
        precisions.collect()
    }
}
