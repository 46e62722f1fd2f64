//! What is believed once the measurements that were chosen are made, but not known yet.

use rayon::prelude::*;

use super::survey::{Question, Survey};
use crate::likelihood::local::Belief;

/// Variances of all latent values at one value of the hyperparameters, given measurements.
struct Given {
    variance: Vec<f64>,
    /// One for every measurement: `sum u u'` is what they took from the covariance.
    taken: Vec<Vec<f64>>,
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
                variance: variance.to_vec(),
                taken: Vec::new(),
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
        &self.given[member].variance
    }

    /// What a measurement would tell at one value of the hyperparameters, in nats.
    pub fn information_at(&self, member: usize, asked: Question) -> f64 {
        let (of, given) = (&self.survey.members[member], &self.given[member]);
        let row = self.survey.row(asked);
        let before = Belief {
            mean: of.joint.mean()[row],
            variance: of.joint.variance()[row],
        };
        let known = given.known[asked.kind][asked.place];
        of.reports[asked.kind].information_after(before, given.variance[row], known)
    }

    /// What a measurement would tell of the function, in nats: on average over hyperparameters.
    pub fn information(&self, asked: Question) -> f64 {
        let members = self.survey.members.iter().enumerate();
        members
            .map(|(k, member)| member.weight * self.information_at(k, asked))
            .sum()
    }

    /// Information of all measurements, by their numbers.
    pub fn all(&self) -> Vec<f64> {
        let numbers = (0..self.survey.len()).into_par_iter();
        numbers
            .map(|number| self.information(self.survey.question(number)))
            .collect()
    }

    /// Makes a measurement: what follows is expected of its site, a normal observation that tells
    /// as much, of precision `(exp(2 I) - 1) / v`. Of normal rows it is the row itself.
    ///
    /// Returns for every value of the hyperparameters what it took: the covariance falls by `u u'`.
    pub fn make(&mut self, asked: Question) -> Vec<&[f64]> {
        let row = self.survey.row(asked);
        for member in 0..self.given.len() {
            let nats = self.information_at(member, asked);
            let of = &self.survey.members[member];
            let given = &mut self.given[member];
            let mut column = of.joint.column(row);
            for u in &given.taken {
                let at = u[row];
                column.iter_mut().zip(u).for_each(|(c, u)| *c -= at * u);
            }
            // v^2 tau / (1 + v tau) of the variance is taken, with v tau = exp(2 I) - 1.
            let variance = given.variance[row];
            let share = -(-2.0 * nats).exp_m1();
            let scale = match variance > 0.0 {
                true => (share / variance).sqrt(),
                false => 0.0,
            };
            for (c, v) in column.iter_mut().zip(&mut given.variance) {
                *c *= scale;
                // No more than there is: columns have roundings of their own.
                *v = (*v - *c * *c).max(0.0);
            }
            given.taken.push(column);
        }
        let last = self.given.iter().filter_map(|given| given.taken.last());
        last.map(Vec::as_slice).collect()
    }
}
