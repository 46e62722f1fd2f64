//! The distribution from which the targets of the rows' latent values are drawn.
//!
//! A row that leaves its value open to one side, as a count of 0 or of fewer than five does, makes
//! the posterior wider to that side than the variational normal, and many such rows near each other
//! do so together: a few draws would then carry all the weight. Half of the targets therefore come
//! from a wider normal, in which the sites of such rows have a tenth of their precision. Hardly any
//! draw of it would agree with the reports of all rows: so each row's value is mapped to the
//! marginal posterior of that row (`margin.rs`), as in a normal copula. Another quarter comes from
//! the variational normal, mapped in the same way, and the last quarter from the variational normal
//! itself. All are weighted by the density of the mixture of the three,
//!
//! $$ q(t) = \sum_k a_k \, N(M_k^{-1}(t); \mu_k, V_k) \prod_r |d M_{kr}^{-1} / d t_r|, \qquad
//!    a = (1/4, 1/2, 1/4) $$
//!
//! where the first of the maps `M_k` is the identity.
//!
//! # Source
//! Mixtures with a wide part: Hesterberg 1995, Technometrics 37:185. Normal copulas with given
//! margins: Nelsen 2006, An introduction to copulas, section 2.3.

use rayon::prelude::*;

use super::margin::Margin;
use super::variational::Variational;
use crate::error::LinalgError;
use crate::inference::sites::Site;
use crate::inference::sites::resolvent::Scaled;
use crate::inference::sites::site::Term;
use crate::inference::sites::swept::Sweep;
use crate::likelihood::local::Belief;
use crate::linalg::{Cholesky, Mat, dot, gemm};
use crate::special::scalar::log_sum_exp;

/// Added to the diagonal of `V`, relative to it, until it can be factorised.
const JITTERS: [f64; 4] = [0.0, 1e-12, 1e-9, 1e-6];
/// Shares of the targets from the wider normal, and from the variational normal mapped to the rows'
/// marginal posteriors.
const WIDE: f64 = 0.5;
const CARRIED: f64 = 0.25;
/// What is left of a precision after others were subtracted is rounding below this part of it.
const LEAST_LEFT: f64 = 1e-9;
/// Factor of the site precisions of rows that are open to one side, in the wider normal.
const HEARD: f64 = 0.1;

/// The variational normal of the rows' latent values, linearised at the mode, and two that reach
/// further where rows are open to one side; rows that are known exactly have their value.
pub(super) struct Proposal {
    /// The known value of every row that is met, where it has one.
    known: Vec<Option<f64>>,
    /// The three normals, over the other rows.
    normals: Vec<Normal>,
    /// Latent values of the rows that are met at the mode, and what of them is linear there.
    at_mode: Vec<(f64, f64)>,
}

/// `M(N(mu, V))`, `R R' = V`.
#[derive(Clone)]
struct Normal {
    /// How many pairs of draws come from it.
    pairs: usize,
    mean: Vec<f64>,
    root: Option<Cholesky>,
    /// `M`, of every row; none where it is the identity, and no list where all are.
    margins: Option<Vec<Option<Margin>>>,
}

impl Proposal {
    /// # Arguments
    /// * `all` - what is believed of all rows
    /// * `met` - the rows that are met: the normals are theirs, given all rows
    /// * `pairs` - how many pairs of draws there are
    pub fn new(all: &Variational<'_>, met: &[usize], pairs: usize) -> Result<Self, LinalgError> {
        let is_open = |row: &usize| all.known(*row).is_none();
        let open: Vec<usize> = met.iter().copied().filter(is_open).collect();
        let of = |share: f64| Some((share * pairs as f64).round() as usize).filter(|n| *n > 0);
        let widened = widened(all).and_then(|terms| {
            let sweep = all.given(&terms).ok()?;
            let is_finite = sweep.mean.iter().all(|mean| mean.is_finite());
            is_finite.then_some((sweep, terms))
        });
        let wide = of(WIDE).zip(widened).and_then(|(pairs, (sweep, terms))| {
            let wide = Normal::new(pairs, &all.s, (&sweep, &terms), &open).ok()?;
            Some(Normal {
                margins: margins(all, (&sweep, &terms), &open),
                ..wide
            })
        });
        let mut own = Normal::new(0, &all.s, (&all.sweep, &all.terms), &open)?;
        let carried = of(CARRIED).zip(margins(all, (&all.sweep, &all.terms), &open));
        let carried = carried.map(|(pairs, margins)| Normal {
            pairs,
            margins: Some(margins),
            ..own.clone()
        });
        let others: Vec<Normal> = wide.into_iter().chain(carried).collect();
        own.pairs = pairs - others.iter().map(|normal| normal.pairs).sum::<usize>();
        let normals = [own].into_iter().chain(others);
        Ok(Self {
            known: met.iter().map(|&row| all.known(row)).collect(),
            normals: normals.collect(),
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

    /// From which of the normals a draw comes: they have theirs one after the other.
    pub fn which(&self, draw: usize) -> usize {
        let mut end = 0;
        let is_past = |normal: &&Normal| {
            end += 2 * normal.pairs;
            draw >= end
        };
        self.normals.iter().take_while(is_past).count()
    }

    /// `t = M(mu + R x)`, `R R' = V`, of the rows that are open, from one of the normals; what is
    /// known of the others.
    pub fn draw(&self, which: usize, standard: &[f64]) -> Vec<f64> {
        let mut open = self.normals[which].draw(standard).into_iter();
        let one = |known: &Option<f64>| known.or_else(|| open.next()).unwrap_or(f64::NAN);
        self.known.iter().map(one).collect()
    }

    /// `log q(t)` of the draw of these standard normals, without the constant of its dimension.
    pub fn log_density(&self, which: usize, standard: &[f64], target: &[f64]) -> f64 {
        let known = self.known.iter().zip(target);
        let open = known.filter(|(known, _)| known.is_none());
        let open: Vec<f64> = open.map(|(_, t)| *t).collect();
        let pairs: usize = self.normals.iter().map(|normal| normal.pairs).sum();
        let of = |(k, normal): (usize, &Normal)| {
            let share = normal.pairs as f64 / pairs as f64;
            share.ln() + normal.log_density(&open, (k == which).then_some(standard))
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
    /// Over the rows that are not known exactly, from the sites of all rows.
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
            margins: None,
        })
    }

    /// `M` of every row; none is the identity.
    fn margins(&self) -> impl Iterator<Item = Option<&Margin>> {
        let rows = 0..self.mean.len();
        rows.map(|row| self.margins.as_ref().and_then(|all| all[row].as_ref()))
    }

    /// `M(mu + R x)`.
    fn draw(&self, standard: &[f64]) -> Vec<f64> {
        let away = self.root.as_ref().map(|root| root.multiply(standard));
        let away = away.unwrap_or_default();
        let values = away.iter().zip(&self.mean).map(|(x, m)| m + x);
        let carried = values.zip(self.margins());
        let one = |(a, margin): (f64, Option<&Margin>)| margin.map_or(a, |m| m.value(a));
        carried.map(one).collect()
    }

    /// `log N(M^-1(t); mu, V) - log|d M|`.
    ///
    /// # Arguments
    /// * `standard` - `R^-1 (M^-1(t) - mu)`, where it is known: not rounded by the way back
    fn log_density(&self, target: &[f64], standard: Option<&[f64]>) -> f64 {
        let Some(root) = &self.root else {
            return 0.0;
        };
        let mut slopes = 0.0;
        let rows = target.iter().zip(&self.mean).zip(self.margins());
        let away = rows.map(|((t, mean), margin)| {
            let (a, slope) = margin.map_or((*t, 1.0), |margin| margin.inverse(*t));
            slopes += f64::ln(slope);
            a - mean
        });
        let away: Vec<f64> = away.collect();
        let square = match standard {
            Some(x) => dot(x, x),
            None => {
                let x = root.half_solve(&away);
                dot(&x, &x)
            }
        };
        -0.5 * (square + root.log_det()) - slopes
    }
}

/// The maps to the marginal posterior, for those of the rows that are met that are open to one
/// side; none where there is no such row.
///
/// # Arguments
/// * what is believed when each row says its term: the law of a row is what it reports itself, of
///   what the others leave
fn margins(
    all: &Variational<'_>,
    (sweep, terms): (&Sweep<Scaled>, &[Term]),
    open: &[usize],
) -> Option<Vec<Option<Margin>>> {
    let one = |&row: &usize| {
        if !all.is_one_sided(row) {
            return None;
        }
        let believed = Belief {
            mean: sweep.mean[row],
            variance: sweep.variance[row],
        };
        let alike = all.alike(row);
        let cavity = without((sweep, terms), row, &alike)?;
        let log_density = |t: f64| alike.iter().map(|&row| all.log_density(row, t)).sum();
        Margin::new(believed, cavity, log_density)
    };
    let each: Vec<Option<Margin>> = open.par_iter().map(one).collect();
    each.iter().any(Option::is_some).then_some(each)
}

/// The cavity of a row: its distribution without the sites of all rows with the same latent value
/// ([`Variational::alike`]); none where no precision is left.
fn without(
    (sweep, terms): (&Sweep<Scaled>, &[Term]),
    row: usize,
    alike: &[usize],
) -> Option<Belief> {
    let own = [row];
    if alike == own {
        return Some(sweep.cavity[row]);
    }
    let precision = sweep.variance[row].recip();
    let (mut left, mut shift) = (precision, sweep.mean[row] * precision);
    for &other in alike {
        if let Term::Chosen(site) = terms[other] {
            left -= site.precision;
            shift -= site.shift;
        }
    }
    (left > LEAST_LEFT * precision).then(|| Belief {
        mean: shift / left,
        variance: left.recip(),
    })
}

/// The terms, with weaker sites for rows that are open to one side; none where no row is.
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
    // For precise rows V = T^-1 - T^-1 R T^-1, which loses no digits.
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
