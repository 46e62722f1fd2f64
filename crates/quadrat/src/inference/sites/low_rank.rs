//! The posterior under given sites where the covariance of the prior has a rank far below the
//! number of rows.
//!
//! Curves that are smooth, or observed at places that repeat (the hours of a day), have `K = L L'`
//! with `L` of shape `[n, r]` to the last digits. With `z = m + L u`, `u ~ N(0, I)`,
//!
//! $$ A = I + L' T L, \quad \bar u = A^{-1} L' (\nu - T m), \quad \mu = m + L \bar u, \quad \Sigma
//! = L A^{-1} L', \quad \log\det(I + T K) = \log\det A, \quad \alpha = \nu - T \mu, \quad
//! \alpha'(\mu - m) = \bar u'\bar u $$
//!
//! at a cost of `2 n r^2` in place of some `n^3` flops. `A` has no eigenvalue below one, so it is
//! factorised without jitter.

use super::process::Process;
use super::resolvent::{LowRankResolvent, Resolvent};
use super::site::{Site, Term, gaussian_share};
use super::swept::Sweep;
use crate::error::LinalgError;
use crate::inference::rank::STRONGEST;
use crate::likelihood::local::Belief;
use crate::linalg::{Cholesky, Mat, MatRef, dot, matvec, par_gemm_lower_into, scale_columns};

/// The sites of all rows; `None` where one is so precise that this form would cancel.
fn sites(k: MatRef<'_, f64>, terms: &[Term]) -> Option<Vec<Site>> {
    let one = |(row, term): (usize, &Term)| {
        let site = match *term {
            Term::Gaussian { value, variance } => Site {
                precision: variance.recip(),
                shift: value / variance,
            },
            Term::Chosen(site) => site,
        };
        (site.precision * k[(row, row)] <= STRONGEST).then_some(site)
    };
    terms.iter().enumerate().map(one).collect()
}

/// The sweep by a root of the covariance; `None` where there is none, or where sites are too
/// precise for it.
pub(super) fn sweep(process: &Process<'_>, terms: &[Term]) -> Option<Result<Sweep, LinalgError>> {
    let root = process.root?;
    let sites = sites(process.k, terms)?;
    Some(swept(process, root, terms, &sites))
}

fn swept(
    process: &Process<'_>,
    root: MatRef<'_, f64>,
    terms: &[Term],
    sites: &[Site],
) -> Result<Sweep, LinalgError> {
    let Process { k, prior_mean, .. } = process;
    let (rank, n) = (root.nrows(), root.ncols());
    let mut weighted = root.to_owned();
    scale_columns(
        &mut weighted,
        sites.iter().map(|site| site.precision.sqrt()),
    );
    let mut a = Mat::zeros(rank, rank);
    par_gemm_lower_into(a.as_mut(), 1.0, weighted.as_ref(), weighted.transpose());
    for i in 0..rank {
        a[(i, i)] += 1.0;
    }
    let factor = Cholesky::factor_owned(a)?;
    let pull: Vec<f64> = sites
        .iter()
        .zip(*prior_mean)
        .map(|(site, m)| site.shift - site.precision * m)
        .collect();
    let u = factor.solve(&matvec(root, &pull));
    let moved = matvec(root.transpose(), &u);
    let mean: Vec<f64> = prior_mean.iter().zip(&moved).map(|(m, x)| m + x).collect();
    // In the memory of the weighted root.
    let mut half = weighted;
    half.as_mut().copy_from(root);
    factor.par_half_solve_in_place(half.as_mut());

    let mut alpha = vec![0.0; n];
    let mut variance = vec![0.0; n];
    let mut cavity = Vec::with_capacity(n);
    let mut inverse_diagonal = vec![0.0; n];
    let mut log_det = factor.log_det();
    let mut gaussian = 0.0;
    for (i, site) in sites.iter().enumerate() {
        alpha[i] = pull[i] - site.precision * moved[i];
        let column = half.col_as_slice(i);
        let s = dot(column, column);
        let left = (1.0 - site.precision * s).max(f64::MIN_POSITIVE);
        variance[i] = s;
        inverse_diagonal[i] = site.precision * left;
        cavity.push(Belief {
            mean: mean[i] - s / left * alpha[i],
            variance: s / left,
        });
        if let Term::Gaussian { variance, .. } = terms[i] {
            log_det -= (k[(i, i)] / variance).ln_1p();
            gaussian += gaussian_share(k[(i, i)], variance, alpha[i]);
        }
    }
    Ok(Sweep {
        quadratic: dot(&u, &u),
        alpha,
        mean,
        variance,
        cavity,
        log_det,
        gaussian,
        inverse_diagonal,
        resolvent: Resolvent::LowRank(LowRankResolvent {
            precision: sites.iter().map(|site| site.precision).collect(),
            half,
        }),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::inference::rank::root;
    use crate::inference::sites::resolvent::SitesPosterior;
    use crate::linalg::symmetric_from_fn;

    /// A smooth curve at many places, and rows of all kinds: some silent, some four orders more
    /// precise than the prior.
    fn process(n: usize) -> (Mat<f64>, Vec<f64>, Vec<Term>) {
        let k = symmetric_from_fn(n, |i, j| {
            let d = (i as f64 - j as f64) / 30.0;
            (1.0 + (i % 3) as f64) * (1.0 + (j % 3) as f64) * (-0.5 * d * d).exp()
        });
        let mean = (0..n).map(|i| 0.5 + (0.1 * i as f64).cos()).collect();
        let term = |i: usize| {
            let value = (0.05 * i as f64).sin();
            match i % 4 {
                0 => Term::Gaussian {
                    value,
                    variance: 0.3,
                },
                1 => Term::Chosen(Site::default()),
                2 => Term::Chosen(Site {
                    precision: 1e4,
                    shift: 1e4 * value,
                }),
                _ => Term::Chosen(Site {
                    precision: 0.7,
                    shift: 0.2,
                }),
            }
        };
        (k, mean, (0..n).map(term).collect())
    }

    /// Of the largest entry: what the root leaves out, 300 eps, times precisions of up to 9e4 in
    /// units of the prior.
    fn assert_near(name: &str, a: &[f64], b: &[f64]) {
        let size = b.iter().fold(0.0_f64, |m, b| m.max(b.abs()));
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            assert!((a - b).abs() < 1e-9 * size, "{name} {i}: {a} {b}");
        }
    }

    fn lower(a: &Mat<f64>) -> Vec<f64> {
        let column = |j: usize| a.col_as_slice(j)[j..].to_vec();
        (0..a.ncols()).flat_map(column).collect()
    }

    #[test]
    fn a_low_rank_changes_nothing() {
        let (k, mean, terms) = process(300);
        let found = root(k.as_ref()).unwrap();
        assert!(found.nrows() < 100, "{}", found.nrows());
        let of = |root| {
            let process = Process {
                k: k.as_ref(),
                prior_mean: &mean,
                parts: None,
                root,
            };
            Sweep::of(&process, &terms, 0.0).unwrap()
        };
        let (a, b) = (of(Some(found.as_ref())), of(None));
        assert!(matches!(a.resolvent, Resolvent::LowRank(_)));
        assert!(matches!(b.resolvent, Resolvent::Scaled(_)));
        assert_near("alpha", &a.alpha, &b.alpha);
        assert_near("mean", &a.mean, &b.mean);
        assert_near("inverse", &a.inverse_diagonal, &b.inverse_diagonal);
        for i in 0..300 {
            let pairs = [
                (a.variance[i], b.variance[i]),
                (a.cavity[i].variance, b.cavity[i].variance),
            ];
            for (a, b) in pairs {
                // The share that is left of a variance is as small as 1e-5.
                assert!((a / b - 1.0).abs() < 1e-8, "{i}: {a} {b}");
            }
            // A difference of pulls 1e4 times as large as what is left of them.
            let off = a.cavity[i].mean - b.cavity[i].mean;
            assert!(
                off.abs() < 1e-7 * b.cavity[i].variance.sqrt(),
                "{i}: {off:e}"
            );
        }
        let sums = |s: &Sweep| [s.quadratic, s.log_det, s.gaussian];
        for (a, b) in sums(&a).into_iter().zip(sums(&b)) {
            assert!((a / b - 1.0).abs() < 1e-8, "{a} {b}");
        }

        let x: Vec<f64> = (0..300).map(|i| (0.3 * i as f64).sin()).collect();
        assert_near("R x", &a.resolvent.times(&x), &b.resolvent.times(&x));
        let (pa, pb) = (
            a.resolvent.posterior(k.as_ref()),
            b.resolvent.posterior(k.as_ref()),
        );
        assert_near("Sigma", &lower(&pa.covariance), &lower(&pb.covariance));
        assert_near("Sigma x", &pa.times(&x), &pb.times(&x));
        assert_near("P' x", &pa.push(&x), &pb.push(&x));
        assert_near("P' V P", &lower(&pa.spread(&x)), &lower(&pb.spread(&x)));
        let reach =
            |p: &SitesPosterior<'_>| -> Vec<f64> { (0..300).map(|i| p.reach(i, &x)).collect() };
        assert_near("reach", &reach(&pa), &reach(&pb));
        let some = [3, 8, 200];
        let part = |r: &Resolvent| {
            let m = r.covariance_of(k.as_ref(), &some);
            (0..3)
                .flat_map(|j| m.col_as_slice(j).to_vec())
                .collect::<Vec<f64>>()
        };
        assert_near("part", &part(&a.resolvent), &part(&b.resolvent));
        let (ra, rb) = (a.resolvent.into_lower(), b.resolvent.into_lower());
        assert_near("R", &lower(&ra), &lower(&rb));
    }

    /// Rows that are all but exact are left to the form that does not cancel.
    #[test]
    fn rows_too_precise_are_swept_without() {
        let (k, mean, mut terms) = process(300);
        terms[0] = Term::Gaussian {
            value: 1.0,
            variance: 0.0,
        };
        let found = root(k.as_ref()).unwrap();
        let process = Process {
            k: k.as_ref(),
            prior_mean: &mean,
            parts: None,
            root: Some(found.as_ref()),
        };
        assert!(sweep(&process, &terms).is_none());
        let swept = Sweep::of(&process, &terms, 0.0).unwrap();
        // An exact row, to the rounding of a solve of 300 rows.
        assert!((swept.mean[0] - 1.0).abs() < 1e-9, "{}", swept.mean[0]);
    }
}
