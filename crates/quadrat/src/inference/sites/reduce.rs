//! Sites of the rows that have to be searched, under the prior given all others.
//!
//! Gaussian rows `A` never change their sites, so that the chosen rows `C` may be searched alone
//! under
//!
//! $$ z_C \mid y_A \sim N(m_C + K_{CA} R_A (y_A - m_A),\; K_{CC} - K_{CA} R_A K_{AC}), \quad R_A =
//! (K_{AA} + V_A)^{-1} $$
//!
//! at the cost of one factorisation of all Gaussian rows. The difference cancels where these leave
//! little to learn: what is found here is where the search over all rows begins, which decides.

use super::options::SiteOptions;
use super::process::Process;
use super::rows::Rows;
use super::search::{Ran, Search};
use super::site::Term;
use crate::linalg::{Cholesky, Mat, dot, gemm};

/// Share of the rows that are chosen up to which the detour is worth it.
const MOST: f64 = 0.5;
/// Fewer rows are searched faster than reduced.
const LEAST_ROWS: usize = 40;

/// Replaces the sites of the chosen rows by those found given the Gaussian rows; as they were where
/// that fails.
pub(super) fn ahead(
    process: &Process<'_>,
    rows: &Rows<'_>,
    options: &SiteOptions,
    jitter: f64,
    terms: &mut [Term],
) {
    let is_chosen = |row: &usize| matches!(terms[*row], Term::Chosen(_));
    let (chosen, given): (Vec<usize>, Vec<usize>) = (0..terms.len()).partition(is_chosen);
    if chosen.is_empty()
        || terms.len() < LEAST_ROWS
        || chosen.len() as f64 > MOST * terms.len() as f64
    {
        return;
    }
    let Some((k, prior_mean)) = remaining(process, terms, [&chosen, &given], jitter) else {
        return;
    };
    let own = [Process {
        k: k.as_ref(),
        prior_mean: &prior_mean,
        parts: None,
        root: None,
    }];
    let only = rows.only(&chosen);
    let search = Search {
        processes: &own,
        rows: &only,
        options,
        jitter,
    };
    let begin = chosen.iter().map(|&row| terms[row]).collect();
    if let Ok(Ran { found, .. }) = search.run(vec![begin])
        && found.converged
    {
        for (&row, site) in chosen.iter().zip(&found.sites) {
            terms[row] = Term::Chosen(*site);
        }
    }
}

/// Covariance and mean of the chosen rows given the Gaussian ones.
fn remaining(
    process: &Process<'_>,
    terms: &[Term],
    [chosen, given]: [&[usize]; 2],
    jitter: f64,
) -> Option<(Mat<f64>, Vec<f64>)> {
    let Process { k, prior_mean, .. } = process;
    let (n, left) = (given.len(), chosen.len());
    // Scaled to a unit diagonal, as in a sweep.
    let mut scale = vec![0.0; n];
    let mut unit = vec![0.0; n];
    let mut off = vec![0.0; n];
    for (i, &row) in given.iter().enumerate() {
        let Term::Gaussian { value, variance } = terms[row] else {
            return None;
        };
        let total = (k[(row, row)] + variance).max(f64::MIN_POSITIVE);
        scale[i] = total.sqrt().recip();
        unit[i] = variance / total + jitter;
        off[i] = scale[i] * (value - prior_mean[row]);
    }
    let b = Mat::from_fn(n, n, |i, j| {
        let scaled = scale[i] * k[(given[i], given[j])] * scale[j];
        if i == j { scaled + unit[i] } else { scaled }
    });
    let factor = Cholesky::factor_owned(b).ok()?;
    let mut columns = Mat::from_fn(n, left, |i, j| scale[i] * k[(given[i], chosen[j])]);
    factor.half_solve_in_place(columns.as_mut());
    let off = factor.half_solve(&off);
    let known = gemm(columns.as_ref().transpose(), columns.as_ref());
    let covariance = Mat::from_fn(left, left, |i, j| k[(chosen[i], chosen[j])] - known[(i, j)]);
    let mean = (0..left).map(|j| prior_mean[chosen[j]] + dot(columns.col_as_slice(j), &off));
    Some((covariance, mean.collect()))
}
