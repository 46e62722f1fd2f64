//! What may be asked, where, at what price, and what is believed of the answers.

use super::joint::Joint;
use super::report::{ExpectedReport, Report};
use crate::likelihood::local::Belief;

/// One way of measuring.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// How it is called.
    pub name: String,
    /// What one measurement costs, > 0.
    pub cost: f64,
    /// The latent value of the first place that it looks at: those of all places follow.
    pub first: usize,
}

/// The belief at one value of the hyperparameters.
pub struct Member<'a> {
    /// Its share; those of all members add up to one.
    pub weight: f64,
    /// What is believed of the latent values: those of places for every output, and targets.
    pub joint: Box<dyn Joint + 'a>,
    /// What each kind would report.
    pub reports: Vec<Report>,
}

/// What may be measured: every kind at every place.
pub struct Survey<'a> {
    /// How many places there are.
    pub places: usize,
    /// The kinds.
    pub kinds: Vec<Kind>,
    /// What is believed, for every value of the hyperparameters.
    pub members: Vec<Member<'a>>,
    /// Latent values, besides those of places, that are to be known; where there are none, those of
    /// all places.
    pub targets: Vec<usize>,
}

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// Which kind.
    pub kind: usize,
    /// Where.
    pub place: usize,
}

impl Survey<'_> {
    /// How many measurements there are to choose from.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places * self.kinds.len()
    }

    /// Whether there is nothing to choose from.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a measurement alone would tell of the hyperparameters, in nats, where these are several
    /// members; besides what it tells of the function at known ones, so that the sum of the two is
    /// what it tells of both. None of reports between limits, counts, answers, waiting times, and
    /// other than normal noise; none of a question of another survey.
    ///
    /// $$ I(y; \theta) = \sum_k w_k \int p_k(y) \log \frac{p_k(y)}{p(y)} dy, \qquad
    /// I(y; f, \theta) = I(y; \theta) + \sum_k w_k I(y; f \mid \theta_k) $$
    #[must_use]
    pub fn of_hyperparameters(&self, asked: Question) -> Option<f64> {
        if asked.place >= self.places {
            return None;
        }
        let row = self.kinds.get(asked.kind)?.first.checked_add(asked.place)?;
        let members = self.members.iter().map(|member| {
            let belief = Belief {
                mean: *member.joint.mean().get(row)?,
                variance: *member.joint.variance().get(row)?,
            };
            Some((member.weight, member.reports.get(asked.kind)?.seen(belief)?))
        });
        members
            .collect::<Option<Vec<_>>>()
            .map(|members| ExpectedReport::told_apart(&members))
    }

    /// A measurement by its number: kind by kind.
    pub(super) fn question(&self, number: usize) -> Question {
        Question {
            kind: number / self.places,
            place: number % self.places,
        }
    }

    /// All measurements of some kinds: kind and number of each.
    pub(super) fn numbers<'k>(
        &self,
        kinds: &'k [usize],
    ) -> impl Iterator<Item = (usize, usize)> + use<'k> {
        let places = self.places;
        let of = move |&kind: &usize| (0..places).map(move |p| (kind, kind * places + p));
        kinds.iter().flat_map(of)
    }

    /// The number of a measurement.
    #[cfg(test)]
    pub(super) fn number(&self, asked: Question) -> usize {
        asked.kind * self.places + asked.place
    }

    /// The latent value that a measurement looks at.
    pub(super) fn row(&self, asked: Question) -> usize {
        self.kinds[asked.kind].first + asked.place
    }
}
