//! What the gradient of expectation propagation lacks where sites are held at a precision of zero.
//!
//! With all sites at their fixed point the evidence is stationary in them, because cavity times
//! likelihood has the moments of the posterior. A row that is not log-concave may ask for a
//! negative precision. Held at zero it still shares the mean, but not the variance, `v_t` against
//! `v`, and the evidence then also changes with that variance:
//!
//! $$ d \log Z = \text{(with sites fixed)} + \sum_{\text{held}} w_j \, d v_j, \qquad w_j =
//! \frac{v_{t,j} - v_j}{2 v_j^2} $$
//!
//! `dv_j` is the whole change, that of all other sites included. Sites `s = F(s, theta)` move by
//! `(I - F_s)^-1 F_theta`, so that one linear system for their adjoints gives the derivatives in
//! all hyperparameters. With `Sigma` the posterior covariance, `P = Sigma K^-1`, `(m_c, v_c)` the
//! cavity of a row and a bar for the adjoint of what is below it:
//!
//! | step | adjoints |
//! |---|---|
//! | sites of a row from its cavity | `(m_c, v_c)` bar = `J'` (sites bar), `J` of one row: of two latent values as in `pair_jacobian.rs`, of one by central differences |
//! | cavity from posterior and site | `mu` bar = `m_c` bar `v_c / v`, `v` bar = `v_c` bar `(v_c / v)^2` + `m_c` bar `v_c (m_c - mu) / v^2` |
//! | | `T` bar = `v_c` bar `v_c^2` + `m_c` bar `m_c v_c`, `nu` bar = `- m_c` bar `v_c` |
//! | posterior from sites | `T_k` bar -= `mu_k (Sigma mu` bar`)_k + sum_i v_i` bar `Sigma_ik^2`, `nu` bar += `Sigma mu` bar |
//! | posterior from `K` | `G` += sym(`P' mu` bar `alpha'`) + `P' diag(v` bar`) P` |
//!
//! # Source
//! The implicit function theorem; the evidence as a function of its sites: Minka 2001, *Expectation
//! propagation for approximate Bayesian inference*, section 2.

use rayon::prelude::*;

use super::accelerate::History;
use super::pair::Pair;
use super::resolvent::SitesPosterior;
use super::rows::Rows;
use super::site::{Site, Term};
use super::swept::Sweep;
use super::{SiteFit, ep};
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, MatRef, map_lower, matvec};

/// Rows asked by one task.
const ROWS_PER_TASK: usize = 8;
/// Step of differences, in sds of a cavity, of the logarithm of its variance and of a
/// hyperparameter. Their error, its square, is one of a term that is itself a small part of the
/// gradient.
const STEP: f64 = 1e-3;
/// The linear system is solved when its last step was this small, relative to the solution, or as
/// small as that of the sites had to be.
const SOLVED: f64 = 1e-9;
/// Iterations at most.
const ITERATIONS: usize = 300;

/// What is to be added to a gradient.
pub(super) struct Held {
    /// By latent function: to the adjoint of its covariance.
    pub adjoints: Vec<Mat<f64>>,
    /// Derivatives in the noise variance of Gaussian rows; zero for others.
    pub noise: Vec<f64>,
    /// Adjoints of the sites that rows ask for.
    sites: Vec<[f64; 4]>,
}

/// A latent function: its sweep, its terms and what follows from them.
struct Function<'a> {
    sweep: &'a Sweep,
    sites: Vec<Option<Site>>,
    posterior: SitesPosterior<'a>,
    /// `Sigma o Sigma`.
    squares: Mat<f64>,
    /// `w`.
    source: Vec<f64>,
    /// Prior variances, the units of sites.
    unit: Vec<f64>,
}

/// Adjoints of posterior means and variances.
struct Moments {
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl<'a> Function<'a> {
    fn new(k: MatRef<'_, f64>, sweep: &'a Sweep, terms: Vec<Option<Site>>) -> Self {
        let n = sweep.mean.len();
        let posterior = sweep.resolvent.posterior(k);
        let mut squares = posterior.covariance.clone();
        for j in 0..n {
            let column = squares.col_as_slice_mut(j).iter_mut();
            column.for_each(|c| *c *= *c);
        }
        Self {
            sweep,
            sites: terms,
            squares,
            posterior,
            source: vec![0.0; n],
            unit: (0..n).map(|i| k[(i, i)].max(f64::MIN_POSITIVE)).collect(),
        }
    }

    /// Adjoints of posterior moments and of sites, from those of cavities `(mean, variance)`.
    fn back(&self, cavities: &[[f64; 2]]) -> (Moments, Vec<[f64; 2]>) {
        let n = self.sites.len();
        let mut moments = Moments {
            mean: vec![0.0; n],
            variance: self.source.clone(),
        };
        let mut sites = vec![[0.0; 2]; n];
        for i in (0..n).filter(|&i| self.sites[i].is_some()) {
            let [of_mean, of_variance] = cavities[i];
            let (mean, v) = (self.sweep.mean[i], self.sweep.variance[i]);
            let Belief {
                mean: m,
                variance: s,
            } = self.sweep.cavity[i];
            if v <= 0.0 {
                continue;
            }
            moments.mean[i] += of_mean * s / v;
            moments.variance[i] +=
                of_variance * (s / v).powi(2) + of_mean * s * (m - mean) / (v * v);
            sites[i] = [of_variance * s * s + of_mean * m * s, -of_mean * s];
        }
        let moved = self.posterior.times(&moments.mean);
        let spread = matvec(self.squares.as_ref(), &moments.variance);
        for i in (0..n).filter(|&i| self.sites[i].is_some()) {
            sites[i][0] -= self.sweep.mean[i] * moved[i] + spread[i];
            sites[i][1] += moved[i];
        }
        (moments, sites)
    }

    /// What the covariance of the prior has to do with posterior moments, and the noise of Gaussian
    /// rows.
    fn forward(&self, moments: &Moments) -> (Mat<f64>, Vec<f64>) {
        let n = self.sites.len();
        let alpha = &self.sweep.alpha;
        let pulled = self.posterior.push(&moments.mean);
        let mut adjoint = self.posterior.spread(&moments.variance);
        map_lower(&mut adjoint, |i, j, g| {
            g + 0.5 * (pulled[i] * alpha[j] + alpha[i] * pulled[j])
        });
        let noise = (0..n).map(|i| {
            if self.sites[i].is_some() {
                return 0.0;
            }
            let spread = self.posterior.reach(i, &moments.variance);
            spread - (moments.mean[i] - pulled[i]) * alpha[i]
        });
        (adjoint, noise.collect())
    }
}

/// Sites that a row asks for, `[T_f, nu_f, T_g, nu_g]`, with other own hyperparameters and
/// cavities.
fn asked(rows: &Rows<'_>, row: usize, own: &[f64], cavity: Pair<Belief>) -> [f64; 4] {
    if let Some((mut pair, _)) = rows.second(row) {
        pair.rest = own;
        let sites = pair.tilted(cavity).sites;
        return [
            sites.f.precision,
            sites.f.shift,
            sites.g.precision,
            sites.g.shift,
        ];
    }
    let (likelihood, _, at) = rows.at(row);
    let site = ep::ask(likelihood, own, at, cavity.f).site;
    [site.precision, site.shift, 0.0, 0.0]
}

fn cavities(fit: &SiteFit, rows: &Rows<'_>, row: usize) -> Pair<Belief> {
    let f = fit.sweep.cavity[row];
    let second = rows.second(row).zip(fit.second.as_ref());
    Pair {
        f,
        g: second.map_or(f, |((_, i), second)| second.cavity[i]),
    }
}

/// `d sites / d (m_f, v_f, m_g, v_g)` of a row: a column per entry of its cavities.
fn jacobian(rows: &Rows<'_>, row: usize, cavity: Pair<Belief>) -> [[f64; 4]; 4] {
    if let Some((pair, _)) = rows.second(row) {
        return pair.jacobian(cavity, STEP);
    }
    let (_, own, _) = rows.at(row);
    let mut out = [[0.0; 4]; 4];
    let v = cavity.f.variance;
    for (input, h) in [(0, STEP * v.sqrt()), (1, STEP * v)] {
        if !(h > 0.0 && h.is_finite()) {
            continue;
        }
        let at = |by: f64| {
            let mut moved = cavity;
            match input {
                0 => moved.f.mean += by,
                _ => moved.f.variance += by,
            }
            asked(rows, row, own, moved)
        };
        let (up, down) = (at(h), at(-h));
        for (c, (up, down)) in out[input].iter_mut().zip(up.iter().zip(&down)) {
            *c = (up - down) / (2.0 * h);
        }
    }
    out
}

/// What the gradient lacks; `None` where the linear system could not be solved.
///
/// # Arguments
/// * `covariances` - of the prior, by latent function
/// * `fit` - by expectation propagation
/// * `excesses` - those of its rows
///
/// # Numerics
/// Two symmetric products of matrices and two triangular solves for every latent function, three or
/// four tilted densities for every row, and products with a vector.
pub(super) fn complete(
    covariances: &[MatRef<'_, f64>],
    rows: &Rows<'_>,
    fit: &SiteFit,
    excesses: &[[f64; 2]],
) -> Option<Held> {
    let chosen = |term: &Term| match term {
        Term::Chosen(site) => Some(*site),
        Term::Gaussian { .. } => None,
    };
    let first = fit.terms.iter().map(chosen).collect();
    let mut parts: Vec<(_, _, Vec<Option<Site>>)> = vec![(covariances[0], &fit.sweep, first)];
    if let (Some(sweep), Some(k)) = (&fit.second, covariances.get(1)) {
        let sites = fit.found.second.iter().copied().map(Some).collect();
        parts.push((*k, sweep, sites));
    }
    let parts = parts.into_par_iter();
    let mut functions: Vec<Function<'_>> = parts
        .map(|(k, sweep, sites)| Function::new(k, sweep, sites))
        .collect();
    let live: Vec<usize> = (0..rows.count)
        .filter(|&row| functions[0].sites[row].is_some() && functions[0].sweep.variance[row] > 0.0)
        .collect();
    let told: Vec<[[f64; 4]; 4]> = live
        .par_iter()
        .with_min_len(ROWS_PER_TASK)
        .map(|&row| jacobian(rows, row, cavities(fit, rows, row)))
        .collect();
    let seconds: Vec<Option<usize>> = live
        .iter()
        .map(|&row| rows.second(row).map(|(_, i)| i))
        .collect();
    for (&row, second) in live.iter().zip(&seconds) {
        let excess = excesses[row];
        let mut hold = |which: usize, i: usize, excess: f64| {
            let function = &mut functions[which];
            let v = function.sweep.variance[i];
            if excess > 0.0 && v > 0.0 {
                function.source[i] = 0.5 * excess / (v * v);
            }
        };
        hold(0, row, excess[0]);
        if let Some(i) = *second {
            hold(1, i, excess[1]);
        }
    }

    // Adjoints of the sites of live rows, in units of the prior.
    let units: Vec<[f64; 4]> = live
        .iter()
        .zip(&seconds)
        .map(|(&row, second)| {
            let k = functions[0].unit[row];
            let g = second.map_or(1.0, |i| functions[1].unit[i]);
            [k, k.sqrt(), g, g.sqrt()]
        })
        .collect();
    let step = |sites: &[[f64; 4]]| {
        let mut cavities: Vec<Vec<[f64; 2]>> = functions
            .iter()
            .map(|f| vec![[0.0; 2]; f.sites.len()])
            .collect();
        for (((&row, second), j), bar) in live.iter().zip(&seconds).zip(&told).zip(sites) {
            let of = |input: usize| -> f64 { j[input].iter().zip(bar).map(|(j, b)| j * b).sum() };
            cavities[0][row] = [of(0), of(1)];
            if let Some(i) = *second {
                cavities[1][i] = [of(2), of(3)];
            }
        }
        let backs = functions.par_iter().zip(&cavities).map(|(f, c)| f.back(c));
        let (moments, all): (Vec<Moments>, Vec<Vec<[f64; 2]>>) = backs.unzip();
        let of_rows: Vec<[f64; 4]> = live
            .iter()
            .zip(&seconds)
            .map(|(&row, second)| {
                let [a, b] = all[0][row];
                let [c, d] = second.map_or([0.0; 2], |i| all[1][i]);
                [a, b, c, d]
            })
            .collect();
        (moments, of_rows)
    };
    let sites = solve(&units, SOLVED.max(fit.tolerance), |sites| step(sites).1)?;
    let (moments, _) = step(&sites);
    let forward = functions.par_iter().zip(&moments);
    let (adjoints, noises): (Vec<Mat<f64>>, Vec<Vec<f64>>) = forward
        .map(|(function, moments)| function.forward(moments))
        .unzip();
    let noise = noises.into_iter().next().unwrap_or_default();
    let mut all = vec![[0.0; 4]; rows.count];
    live.iter()
        .zip(sites)
        .for_each(|(&row, bar)| all[row] = bar);
    Some(Held {
        adjoints,
        noise,
        sites: all,
    })
}

/// By how much the variances of `f` and `g` under cavity times likelihood exceed those of the
/// cavity; none where they do for no row.
pub(super) fn excesses(rows: &Rows<'_>, fit: &SiteFit) -> Option<Vec<[f64; 2]>> {
    let one = |row: usize| match fit.terms[row] {
        Term::Chosen(_) if fit.sweep.variance[row] > 0.0 => {
            excess(rows, row, cavities(fit, rows, row))
        }
        _ => [0.0; 2],
    };
    let all: Vec<[f64; 2]> = (0..rows.count)
        .into_par_iter()
        .with_min_len(ROWS_PER_TASK)
        .map(one)
        .collect();
    all.iter()
        .flatten()
        .any(|excess| *excess > 0.0)
        .then_some(all)
}

fn excess(rows: &Rows<'_>, row: usize, cavity: Pair<Belief>) -> [f64; 2] {
    if let Some((pair, _)) = rows.second(row) {
        let lost = pair.tilted(cavity).lost;
        return [-lost.f, -lost.g];
    }
    let (likelihood, own, at) = rows.at(row);
    [ep::ask(likelihood, own, at, cavity.f).excess, 0.0]
}

/// The fixed point of an affine map of sites, found in their units.
fn solve(
    units: &[[f64; 4]],
    tolerance: f64,
    map: impl Fn(&[[f64; 4]]) -> Vec<[f64; 4]>,
) -> Option<Vec<[f64; 4]>> {
    let scaled = |sites: &[[f64; 4]]| -> Vec<f64> {
        let pairs = sites.iter().flatten().zip(units.iter().flatten());
        pairs.map(|(x, unit)| x / unit).collect()
    };
    let natural = |x: &[f64]| -> Vec<[f64; 4]> {
        let of = |(x, unit): (&[f64], &[f64; 4])| [0, 1, 2, 3].map(|i| x[i] * unit[i]);
        x.chunks_exact(4).zip(units).map(of).collect()
    };
    let mut history = History::default();
    let mut x = vec![0.0; 4 * units.len()];
    for _ in 0..ITERATIONS {
        let image = scaled(&map(&natural(&x)));
        let size = image.iter().fold(0.0_f64, |most, y| most.max(y.abs()));
        let moved = x.iter().zip(&image).map(|(x, y)| (x - y).abs());
        let moved = moved.fold(0.0_f64, f64::max);
        if !image.iter().all(|y| y.is_finite()) {
            return None;
        }
        if moved <= tolerance * size {
            return Some(natural(&image));
        }
        history.push(x, image.clone());
        x = history.combined().unwrap_or(image);
    }
    None
}

impl Held {
    /// Adds what the sites of a row have to do with its own hyperparameters.
    pub fn own_slopes(
        &self,
        rows: &Rows<'_>,
        row: usize,
        fit: (&Sweep, Option<&Sweep>),
        out: &mut [f64],
    ) {
        let bar = self.sites[row];
        if bar == [0.0; 4] {
            return;
        }
        let f = fit.0.cavity[row];
        let second = rows.second(row).zip(fit.1);
        let cavity = Pair {
            f,
            g: second.map_or(f, |((_, i), sweep)| sweep.cavity[i]),
        };
        let (_, own, _) = rows.at(row);
        let mut moved = own.to_vec();
        for (p, out) in out.iter_mut().enumerate() {
            let h = STEP * own[p].abs().max(STEP);
            let mut at = |by: f64| {
                moved[p] = own[p] + by;
                let sites = asked(rows, row, &moved, cavity);
                moved[p] = own[p];
                sites
            };
            let (up, down) = (at(h), at(-h));
            let change = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * h));
            *out += change.zip(&bar).map(|(c, b)| c * b).sum::<f64>();
        }
    }
}
