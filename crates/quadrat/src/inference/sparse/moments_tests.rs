//! Moments of sums against dense ones, their derivatives against differences, samples against all
//! pairs.

use super::*;
use crate::inference::pooled::total;
use crate::inference::sparse::Bags;
use crate::linalg::symmetric_from_fn;

/// Weights, means and covariance, and the part of it that is known of all pairs, by its columns.
type Case = (Vec<f64>, Vec<f64>, Mat<f64>, Option<Mat<f64>>);

fn case(n: usize) -> Case {
    let weights = (0..n).map(|i| 0.3 + 0.1 * (i % 5) as f64).collect();
    let mean = (0..n).map(|i| (0.7 * i as f64).sin() + 0.4).collect();
    let s = symmetric_from_fn(n, |i, j| {
        0.6 * (-0.3 * (i as f64 - j as f64).abs()).exp() + if i == j { 0.1 } else { 0.0 }
    });
    (weights, mean, s, None)
}

/// Three directions in which inducing points explain something.
fn columns_of(n: usize) -> Mat<f64> {
    Mat::from_fn(3, n, |m, i| 0.3 * (0.4 * (1 + m) as f64 * i as f64).cos())
}

/// Moments and adjoints; last that in the columns of the known part.
fn evaluate(link: Link, (w, m, s, b): &Case, sample: &[usize]) -> Evaluated {
    let variance: Vec<f64> = (0..w.len()).map(|i| s[(i, i)]).collect();
    let k = sample.len();
    let covariance = Mat::from_fn(k, k, |i, j| s[(sample[i], sample[j])]);
    let seen = b.as_ref().map(|b| columns(b.as_ref(), sample));
    let part = seen.as_ref().map(|b| gemm(b.transpose(), b.as_ref()));
    let points = RowPoints {
        link,
        weights: w,
        mean: m,
        variance: &variance,
        sample,
        covariance: &covariance,
        low_rank: b
            .as_ref()
            .zip(part.as_ref())
            .map(|(b, part)| ExplainedPart {
                columns: b.as_ref(),
                less: None,
                sample: part,
            }),
    };
    let found = SumMoments::new(&points);
    let (mut dm, mut dv) = (vec![0.0; w.len()], vec![0.0; w.len()]);
    let (mut dc, mut low) = (Mat::zeros(k, k), None);
    let mut out = MarginalSlopes {
        to_mean: &mut dm,
        to_variance: &mut dv,
        to_covariance: &mut dc,
        to_low_rank: &mut low,
        to_own: &mut [],
    };
    found.adjoint(&points, 0.7, -0.4, &mut out);
    // Of B'B: `by l l'` over all pairs, and `block` over those of the sample.
    let db = b.as_ref().zip(low).map(|(b, low)| {
        let along = crate::linalg::matvec(b.as_ref(), &low.direction);
        let mut db = Mat::from_fn(b.nrows(), w.len(), |m, i| {
            2.0 * low.by * along[m] * low.direction[i]
        });
        for (j, &at) in sample.iter().enumerate() {
            for m in 0..b.nrows() {
                let own = sample.iter().enumerate();
                let own = own.map(|(i, &from)| b[(m, from)] * low.block[(i, j)]);
                db[(m, at)] += 2.0 * own.sum::<f64>();
            }
        }
        db
    });
    Evaluated {
        mean: found.mean,
        variance: found.variance,
        dm,
        dv,
        dc,
        db,
    }
}

struct Evaluated {
    mean: f64,
    variance: f64,
    dm: Vec<f64>,
    dv: Vec<f64>,
    dc: Mat<f64>,
    db: Option<Mat<f64>>,
}

#[test]
fn moments_are_those_of_dense_inference() {
    let one = case(7);
    let all: Vec<usize> = (0..7).collect();
    for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
        let Evaluated { mean, variance, .. } = evaluate(link, &one, &all);
        let at: Vec<Belief> = (0..7)
            .map(|i| Belief {
                mean: one.1[i],
                variance: one.2[(i, i)],
            })
            .collect();
        let want = total(link, &one.0, &at, |i, j| one.2[(i, j)]);
        // Rounding of sums over 49 pairs: n eps = 1e-14, and that of the link.
        assert!((mean / want.mean - 1.0).abs() < 1e-13, "{link}");
        assert!((variance / want.variance - 1.0).abs() < 1e-13, "{link}");
    }
}

/// Points whose sum is known almost: so many pairs that go against each other tell a sample that
/// the variance is negative.
#[test]
fn a_variance_that_was_lifted_to_zero_has_no_slope() {
    let (weights, ..) = case(9);
    let mean = vec![1.0; 9];
    let s = symmetric_from_fn(9, |i, j| if i == j { 0.5 } else { -0.3 });
    let found = evaluate(
        Link::Square,
        &(weights.clone(), mean.clone(), s, None),
        &[0, 2, 5],
    );
    let Evaluated { dm, dv, dc, .. } = found;
    assert_eq!(found.variance, 0.0);
    for i in 0..9 {
        // Of the mean alone, 0.7 w (m^2 + v).
        assert!((dm[i] - 1.4 * weights[i] * mean[i]).abs() < 1e-15);
        assert!((dv[i] - 0.7 * weights[i]).abs() < 1e-15);
    }
    assert!(dc.col_iter().all(|column| column.iter().all(|d| *d == 0.0)));
}

#[test]
fn adjoints_are_central_differences() {
    let all: Vec<usize> = (0..9).collect();
    let known = || {
        let mut known = case(9);
        known.3 = Some(columns_of(9));
        known
    };
    for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
        let cases: [(&[usize], &dyn Fn() -> Case); 3] = [
            (&all, &|| case(9)),
            (&[0, 2, 5, 8], &|| case(9)),
            (&[0, 2, 5, 8], &known),
        ];
        for (sample, make) in cases {
            let Evaluated { dm, dv, dc, db, .. } = evaluate(link, &make(), sample);
            let value = |one: &Case| {
                let found = evaluate(link, one, sample);
                0.7 * found.mean - 0.4 * found.variance
            };
            let slope = |change: &dyn Fn(&mut Case, f64)| {
                let at = |h: f64| {
                    let mut moved = make();
                    change(&mut moved, h);
                    value(&moved)
                };
                let h = 1e-3;
                (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
            };
            // Fourth order differences: h^4 of values of size one.
            let close = |got: f64, want: f64, what: &str| {
                assert!(
                    (got - want).abs() < 1e-9 * (1.0 + want.abs()),
                    "{link} {what}: {got} {want}"
                );
            };
            for i in 0..9 {
                close(dm[i], slope(&|c, h| c.1[i] += h), "mean");
                close(dv[i], slope(&|c, h| c.2[(i, i)] += h), "variance");
            }
            for (i, &a) in sample.iter().enumerate() {
                for (j, &b) in sample.iter().enumerate().take(i) {
                    let both = slope(&|c, h| {
                        c.2[(a, b)] += h;
                        c.2[(b, a)] += h;
                    });
                    close(dc[(i, j)] + dc[(j, i)], both, "covariance");
                }
            }
            assert_eq!(db.is_some(), make().3.is_some());
            for (m, i) in (0..3).flat_map(|m| (0..9).map(move |i| (m, i))) {
                let Some(db) = &db else { continue };
                let want = slope(&|c, h| {
                    if let Some(b) = &mut c.3 {
                        b[(m, i)] += h;
                    }
                });
                close(db[(m, i)], want, "known part");
            }
        }
    }
}

/// What varies from point to point is seen by pairs of neighbours, which a sample must have: points
/// in order, far more of them than a sample has.
#[test]
fn samples_are_right_on_average_where_only_neighbours_are_alike() {
    let n = 600;
    let (w, ..) = case(n);
    let s = symmetric_from_fn(n, |i, j| (-((i as f64 - j as f64) / 4.0).abs()).exp());
    let signs: Vec<f64> = (0..n)
        .map(|i| if i % 7 == 0 { -1.0 } else { 1.0 })
        .collect();
    for (link, weights) in [
        (Link::Exp, w.clone()),
        (Link::Softplus, w.clone()),
        (Link::Square, w),
        (Link::Identity, signs),
    ] {
        let one = (weights, vec![0.5; n], s.clone(), None);
        let all: Vec<usize> = (0..n).collect();
        let want = evaluate(link, &one, &all).variance;
        let ratios: Vec<f64> = (0..300)
            .map(|seed| {
                let mut bags = Bags::new(super::super::Within {
                    full: 0,
                    sample: 48,
                    seed,
                });
                bags.push(link, &one.0).unwrap();
                evaluate(link, &one, &bags.sample(0)).variance / want
            })
            .collect();
        let mean = ratios.iter().sum::<f64>() / 300.0;
        let square: f64 = ratios.iter().map(|r| (r - mean).powi(2)).sum();
        let error = (square / 299.0 / 300.0).sqrt();
        // Ratios of sums have a bias of the order of one in the size of the sample; one variance in
        // many is lifted to zero.
        assert!(
            (mean - 1.0).abs() < 3.0 * error + 0.02,
            "{link}: {mean} {error}"
        );
    }
}

/// A sample of a sum stands for all of it.
#[test]
fn samples_tend_to_the_whole() {
    let n = 600;
    let one = {
        let (w, ..) = case(n);
        let m = (0..n)
            .map(|i| 1.0 + 0.3 * (0.01 * i as f64).sin())
            .collect();
        let s = symmetric_from_fn(n, |i, j| {
            0.5 * (-((i as f64 - j as f64) / 150.0).abs()).exp()
        });
        (w, m, s, None)
    };
    for link in [
        Link::Exp,
        Link::Square,
        Link::Softplus,
        Link::Logit,
        Link::Probit,
    ] {
        let all: Vec<usize> = (0..n).collect();
        let want = evaluate(link, &one, &all).variance;
        let mut errors = Vec::new();
        for count in [24, 48, 96] {
            // Mean square over ten samples.
            let square: f64 = (0..10)
                .map(|seed| {
                    let mut bags = Bags::new(super::super::Within {
                        full: 0,
                        sample: count,
                        seed,
                    });
                    let _ = bags.push(link, &one.0);
                    let got = evaluate(link, &one, &bags.sample(0)).variance;
                    (got / want - 1.0_f64).powi(2)
                })
                .sum();
            errors.push((square / 10.0).sqrt());
        }
        // 48 of 600 points of four correlation lengths: some per cent of the variance of their sum.
        // Probabilities are nearer to their end than others to zero. Ten samples tell their mean
        // square to a half.
        let most = if link.is_probability() { 0.2 } else { 0.1 };
        assert!(errors[1] < most, "{link}: {errors:?}");
        assert!(errors[2] < errors[0], "{link}: {errors:?}");
    }
}
