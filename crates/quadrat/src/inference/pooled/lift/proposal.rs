//! What the rows know of their latent values: the normals from which targets are drawn.
//!
//! A row that leaves its value open to one side, as a count of 0 or of fewer than five does, makes
//! the posterior wider there than its variational normal, and many such rows near each other do so
//! together: a few draws would then carry the weight. Half of the targets therefore come from a
//! wider normal, in which such rows have a tenth of their say. All are weighed by the mixture
//!
//! $$ q(t) = \sum_k a_k \, N(t; \mu_k, V_k), \qquad a = (1/2, 1/2) $$
//!
//! # Source
//! Mixtures with a wide part: Hesterberg 1995, Technometrics 37:185.

use super::variational::Variational;
use crate::error::LinalgError;
use crate::inference::sites::Site;
use crate::inference::sites::resolvent::Scaled;
use crate::inference::sites::site::Term;
use crate::inference::sites::swept::Sweep;
use crate::linalg::{Cholesky, Mat, dot, gemm};
use crate::special::scalar::log_sum_exp;

/// Added to the diagonal of `V`, relative to it, until it can be factorised.
const JITTERS: [f64; 4] = [0.0, 1e-12, 1e-9, 1e-6];
/// The share of the wider normal.
const WIDE: f64 = 0.5;
/// What part of what rows say that are open to one side is taken into it.
const HEARD: f64 = 0.1;

/// The variational normal of the rows' latent values, linearised at the mode, and a wider one where
/// rows are open to one side; rows that are known exactly have their value.
pub(super) struct Proposal {
    /// The known value of every row that is met, where it has one.
    known: Vec<Option<f64>>,
    /// Of the others.
    normals: Vec<Normal>,
    /// Latent values of the rows that are met at the mode, and what of them is linear there.
    at_mode: Vec<(f64, f64)>,
}

/// `N(mu, V)`, `R R' = V`.
struct Normal {
    /// How many pairs of draws come from it.
    pairs: usize,
    mean: Vec<f64>,
    root: Option<Cholesky>,
}

impl Proposal {
    /// # Arguments
    /// * `all` - what is believed of all rows
    /// * `met` - the rows that are met: the normals are theirs, given all rows
    /// * `pairs` - how many pairs of draws there are
    pub fn new(all: &Variational<'_>, met: &[usize], pairs: usize) -> Result<Self, LinalgError> {
        let is_open = |row: &usize| all.known(*row).is_none();
        let open: Vec<usize> = met.iter().copied().filter(is_open).collect();
        let of_wide = (WIDE * pairs as f64).round() as usize;
        let wide = widened(all)
            .filter(|_| of_wide > 0)
            .and_then(|terms| Some((all.given(&terms).ok()?, terms)))
            .filter(|(sweep, _)| sweep.mean.iter().all(|mean| mean.is_finite()))
            .and_then(|(sweep, terms)| Normal::new(of_wide, &all.s, (&sweep, &terms), &open).ok());
        let rest = pairs - wide.as_ref().map_or(0, |wide| wide.pairs);
        let own = Normal::new(rest, &all.s, (&all.sweep, &all.terms), &open)?;
        Ok(Self {
            known: met.iter().map(|&row| all.known(row)).collect(),
            normals: [own].into_iter().chain(wide).collect(),
            at_mode: met.iter().map(|&row| all.at_mode[row]).collect(),
        })
    }

    /// How many rows that are met are not known exactly.
    pub fn open(&self) -> usize {
        self.normals[0].mean.len()
    }

    /// How many pairs of draws each normal has.
    pub fn pairs(&self) -> Vec<usize> {
        self.normals.iter().map(|normal| normal.pairs).collect()
    }

    /// From which of the normals a draw comes: the wider one has the last.
    pub fn which(&self, draw: usize) -> usize {
        usize::from(draw >= 2 * self.normals[0].pairs)
    }

    /// `t = mu + R x`, `R R' = V`, of the rows that are open, from one of the normals; what is
    /// known of the others.
    pub fn draw(&self, which: usize, standard: &[f64]) -> Vec<f64> {
        let Normal { mean, root, .. } = &self.normals[which];
        let away = root.as_ref().map(|root| root.multiply(standard));
        let away = away.unwrap_or_default();
        let mut open = away.iter().zip(mean).map(|(x, m)| m + x);
        let one = |known: &Option<f64>| known.or_else(|| open.next()).unwrap_or(f64::NAN);
        self.known.iter().map(one).collect()
    }

    /// `log q(t)` of the draw of these standard normals, without the constant of its dimension.
    pub fn log_density(&self, which: usize, standard: &[f64], target: &[f64]) -> f64 {
        let known = self.known.iter().zip(target);
        let open = || known.clone().filter(|(known, _)| known.is_none());
        let pairs: usize = self.normals.iter().map(|normal| normal.pairs).sum();
        let of = |(k, normal): (usize, &Normal)| {
            let own = match (k == which, &normal.root) {
                (false, Some(root)) => {
                    let away = open().zip(&normal.mean).map(|((_, t), m)| t - m);
                    normal.log_density(&root.half_solve(&away.collect::<Vec<f64>>()))
                }
                _ => normal.log_density(standard),
            };
            (normal.pairs as f64 / pairs as f64).ln() + own
        };
        let each: Vec<f64> = self.normals.iter().enumerate().map(of).collect();
        log_sum_exp(&each)
    }

    /// `J f` where the linearised rows see `t`.
    pub fn linear(&self, target: &[f64]) -> Vec<f64> {
        let each = target.iter().zip(&self.at_mode);
        each.map(|(t, (z, linear))| linear + t - z).collect()
    }
}

impl Normal {
    /// Of the rows that are open, from the sites of all.
    fn new(
        pairs: usize,
        s: &Mat<f64>,
        (sweep, terms): (&Sweep<Scaled>, &[Term]),
        open: &[usize],
    ) -> Result<Self, LinalgError> {
        let v = covariance(s, sweep, terms);
        let root = (!open.is_empty()).then(|| factor(&v, open)).transpose()?;
        Ok(Self {
            pairs,
            mean: open.iter().map(|&row| sweep.mean[row]).collect(),
            root,
        })
    }

    /// `log N(t; mu, V)` where `R^-1 (t - mu)` is `x`.
    fn log_density(&self, x: &[f64]) -> f64 {
        let log_det = self.root.as_ref().map_or(0.0, Cholesky::log_det);
        -0.5 * (dot(x, x) + log_det)
    }
}

/// The terms of which those of rows that are open to one side say less; none where no row is.
fn widened(all: &Variational<'_>) -> Option<Vec<Term>> {
    let mut any = false;
    let one = |(row, term): (usize, &Term)| match term {
        Term::Chosen(site) if all.is_one_sided(row) => {
            any = true;
            Term::Chosen(Site {
                precision: HEARD * site.precision,
                shift: HEARD * site.shift,
            })
        }
        other => *other,
    };
    let terms = all.terms.iter().enumerate().map(one).collect();
    any.then_some(terms)
}

/// `V = S - S R S`, `R = (S + T^-1)^-1`.
fn covariance(s: &Mat<f64>, sweep: &Sweep<Scaled>, terms: &[Term]) -> Mat<f64> {
    let (scale, factor) = (&sweep.resolvent.scale, &sweep.resolvent.factor);
    // Where rows say much V = T^-1 - T^-1 R T^-1, which loses no digits.
    let strong = |row: usize| match terms[row] {
        Term::Chosen(site) if site.precision * s[(row, row)] > 1.0 => Some(site.precision),
        _ => None,
    };
    let n = terms.len();
    let mut reduced = Mat::from_fn(n, n, |i, j| {
        let along = match strong(j) {
            Some(precision) => f64::from(u8::from(i == j)) / precision,
            None => s[(i, j)],
        };
        scale[i] * along
    });
    factor.half_solve_in_place(reduced.as_mut());
    let taken = gemm(reduced.transpose(), reduced.as_ref());
    // With T^-1 on one side and S on the other this is S R T^-1 = S - S R S itself.
    Mat::from_fn(n, n, |i, j| match (strong(i), strong(j)) {
        (Some(precision), Some(_)) => f64::from(u8::from(i == j)) / precision - taken[(i, j)],
        (None, None) => s[(i, j)] - taken[(i, j)],
        _ => taken[(i, j)],
    })
}

/// The factor of `V` between the rows that are met.
fn factor(v: &Mat<f64>, met: &[usize]) -> Result<Cholesky, LinalgError> {
    let n = met.len();
    let mut last = Err(LinalgError::NotPositiveDefinite { size: n, pivot: 0 });
    for jitter in JITTERS {
        last = Cholesky::factor_owned(Mat::from_fn(n, n, |i, j| {
            let raised = 1.0 + if i == j { jitter } else { 0.0 };
            v[(met[i], met[j])] * raised
        }));
        if last.is_ok() {
            break;
        }
    }
    last
}
