//! The variational normal of the rows' latent values, linearised at the mode.

use super::super::mode::Mode;
use super::super::pools::Pools;
use crate::error::LinalgError;
use crate::inference::sites::Site;
use crate::inference::sites::resolvent::Scaled;
use crate::inference::sites::rows::Rows;
use crate::inference::sites::site::Term;
use crate::inference::sites::swept::Sweep;
use crate::likelihood::local::{Belief, Jet};
use crate::linalg::Mat;
use crate::link::FAR_OUT;

/// Fixed-point steps at most; a few do, and what is left is made up for by the weights.
const STEPS: usize = 30;
/// Steps end when no mean moves by more than this part of its sd.
const SETTLED: f64 = 1e-4;
/// A log density is level where a slope like this one changes it by no more over [`FAR_OUT`].
const LEVEL: f64 = 1e-3;

/// What is believed of all rows together, and what each of them said.
pub(super) struct Variational<'a> {
    mode: &'a Mode,
    rows: &'a Rows<'a>,
    /// `S = J K J'`.
    s: &'a Mat<f64>,
    /// Prior means of what is linear at the mode.
    centre: Vec<f64>,
    /// Latent values at the mode, and what of them is linear there.
    pub at_mode: Vec<(f64, f64)>,
    pub sweep: Sweep<Scaled>,
    pub terms: Vec<Term>,
}

impl<'a> Variational<'a> {
    /// Starts at the mode, and takes expected slopes and curvatures in place of those there.
    pub fn new(
        mode: &'a Mode,
        pools: &Pools,
        rows: &'a Rows<'a>,
        prior_mean: &[f64],
        s: &'a Mat<f64>,
    ) -> Result<Self, LinalgError> {
        let linear = mode.slopes.gather(pools, &mode.values);
        let own = mode.slopes.gather(pools, prior_mean);
        let at_mode: Vec<(f64, f64)> = mode.means.iter().map(|z| z.value).zip(linear).collect();
        let centre: Vec<f64> = at_mode
            .iter()
            .zip(&own)
            .map(|((z, l), m)| z - l + m)
            .collect();
        let term = |(row, (jet, (z, _))): (usize, (&Jet, &(f64, f64)))| {
            let precision = (-jet.second).max(0.0);
            let site = || Site {
                precision,
                shift: jet.first + precision * z,
            };
            let known = mode.pinned.term(row);
            known.unwrap_or_else(|| Term::Chosen(site()))
        };
        let rows_at_mode = mode.jets.iter().zip(&at_mode);
        let terms: Vec<Term> = rows_at_mode.enumerate().map(term).collect();
        let sweep = Sweep::new(s.as_ref(), &centre, &terms, 0.0)?;
        let mut own = Self {
            mode,
            rows,
            s,
            centre,
            at_mode,
            sweep,
            terms,
        };
        for _ in 0..STEPS {
            let terms = own.expected();
            let Ok(sweep) = own.given(&terms) else {
                break;
            };
            let mut numbers = sweep.mean.iter().chain(&sweep.variance);
            if !numbers.all(|x| x.is_finite()) {
                break;
            }
            let most = own.most_moved(&sweep);
            (own.sweep, own.terms) = (sweep, terms);
            if most < SETTLED {
                break;
            }
        }
        Ok(own)
    }

    /// The value of a row that is known exactly.
    pub fn known(&self, row: usize) -> Option<f64> {
        self.mode.pinned.target(row)
    }

    /// What is believed when each row says this.
    pub fn given(&self, terms: &[Term]) -> Result<Sweep<Scaled>, LinalgError> {
        Sweep::new(self.s.as_ref(), &self.centre, terms, 0.0)
    }

    /// What each row says of what is believed.
    fn expected(&self) -> Vec<Term> {
        let beliefs = self.sweep.mean.iter().zip(&self.sweep.variance);
        let one = |(row, (&mean, &variance)): (usize, (&f64, &f64))| {
            if let Some(known) = self.mode.pinned.term(row) {
                return known;
            }
            let (likelihood, own, at) = self.rows.at(row);
            let seen = likelihood.expected(own, at, Belief { mean, variance });
            let precision = (-seen.second).max(0.0);
            Term::Chosen(Site {
                precision,
                shift: seen.first + precision * mean,
            })
        };
        beliefs.enumerate().map(one).collect()
    }

    /// By how many sds a step moves a mean at most.
    fn most_moved(&self, next: &Sweep<Scaled>) -> f64 {
        let moves = next.mean.iter().zip(&self.sweep.mean).zip(&next.variance);
        let open = moves
            .enumerate()
            .filter(|(row, _)| self.known(*row).is_none());
        open.fold(0.0, |most: f64, (_, ((new, old), v))| {
            most.max((new - old).abs() / v.max(f64::MIN_POSITIVE).sqrt())
        })
    }

    /// Whether a row leaves its value open to one side: far there its density is level, and no less
    /// than at the mode.
    pub fn is_one_sided(&self, row: usize) -> bool {
        let (likelihood, own, at) = self.rows.at(row);
        if self.known(row).is_some() || likelihood.gaussian(own, at).is_some() {
            return false;
        }
        let near = self.mode.jets[row].value;
        [-FAR_OUT, FAR_OUT].into_iter().any(|z| {
            let far = likelihood.log_density(own, at, z);
            far.value >= near && far.first.abs() * FAR_OUT < LEVEL
        })
    }
}
