//! Amounts that are no counts: totals of a positive function, known exactly or with noise.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Gaussian, Likelihood};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::support::{Aggregate, Functionals};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Yearly rain, one year of which is small.
const RAIN: [f64; 6] = [612.0, 548.0, 31.0, 702.5, 655.0, 590.25];

fn intervals(edges: impl IntoIterator<Item = (f64, f64)>) -> Functionals {
    let edges: Vec<(f64, f64)> = edges.into_iter().collect();
    Functionals::intervals("t", &edges, Aggregate::Sum).unwrap()
}

fn cells(count: usize, parts: usize) -> Functionals {
    let edge = move |i: usize| i as f64 / parts as f64;
    intervals((0..count * parts).map(move |i| (edge(i), edge(i + 1))))
}

fn amounts(values: &[f64], noise: Noise, link: Link) -> Likelihood {
    let made = Gaussian::new(values.to_vec(), noise).unwrap();
    made.behind(link).unwrap().into()
}

fn exact(values: &[f64], link: Link) -> Observations {
    let noise = Noise::Known(vec![0.0; values.len()]);
    Observations::new(cells(values.len(), 1), amounts(values, noise, link)).unwrap()
}

fn model(table: Observations) -> Model {
    Model::new(Kernel::matern32(["t"])).observe(table)
}

fn map() -> FitOptions {
    FitOptions::default().with_hyperparameters(Hyperparameters::Map)
}

/// The largest relative difference of sums of parts from the totals.
fn off(totals: &[f64], parts: &[f64]) -> f64 {
    let each = totals.iter().zip(parts.chunks(parts.len() / totals.len()));
    each.map(|(y, parts)| (parts.iter().sum::<f64>() / y - 1.0).abs())
        .fold(0.0, f64::max)
}

#[test]
fn every_draw_meets_every_exact_row_and_parts_add_up() {
    for link in [Link::Exp, Link::Softplus] {
        // Behind softplus values of hundreds are linear: the function has their unit.
        let posterior = model(exact(&RAIN, link)).fit(&map()).unwrap();
        let quarters = cells(6, 4);
        let draws = posterior.sample_responses(&quarters, 40, 5).unwrap();
        for draw in 0..40 {
            let column: Vec<f64> = (0..24).map(|row| draws[(row, draw)]).collect();
            assert!(column.iter().all(|x| *x > 0.0), "{link}: {column:?}");
            // Sums of some ten numbers, each to rounding.
            assert!(
                off(&RAIN, &column) < 1e-9,
                "{link}: {}",
                off(&RAIN, &column)
            );
        }
        let years = posterior.predict(&cells(6, 1), Scale::Response).unwrap();
        for (row, (mean, sd)) in years.mean().iter().zip(years.sd()).enumerate() {
            let y = RAIN[row];
            // Every draw meets every row to 1e-9 of its logarithm.
            assert!((mean / y - 1.0).abs() < 1e-9, "{link} {row}: {mean}");
            // The root of the rounding of a variance, 1e-16 of the square of a mean: found is 2e-8.
            assert!(*sd < 1e-6 * y, "{link} {row}: {sd}");
        }
        let parts = posterior.predict(&quarters, Scale::Response).unwrap();
        // Means are those of a distribution with the moments of the draws, to its root finding.
        let worst = off(&RAIN, parts.mean());
        assert!(worst < 1e-7, "{link}: {worst}");
        for (row, upper) in parts.quantile(0.975).into_iter().enumerate() {
            let y = RAIN[row / 4];
            assert!(parts.quantile(0.025)[row] > 0.0);
            // No quarter is more than its year; the largest eighth of the draws is told by its
            // moments, which leaves some room.
            assert!(upper < 1.1 * y, "{link} {row}: {upper} {y}");
        }
    }
}

/// Rows that overlap, or lie within each other, say the same as what they have not in common: the
/// determinant of the sums is one, so that the evidence is the same too.
#[test]
fn overlapping_totals_say_what_their_differences_do() {
    type Rows = Vec<((f64, f64), f64)>;
    let overlapping: Rows = vec![((0.0, 2.0), 30.0), ((1.0, 3.0), 35.0), ((0.0, 3.0), 45.0)];
    let apart: Rows = vec![((0.0, 1.0), 10.0), ((1.0, 2.0), 20.0), ((2.0, 3.0), 15.0)];
    let nested: Rows = vec![
        ((0.0, 1.0), 10.0),
        ((0.0, 2.0), 12.0),
        ((0.0, 4.0), 40.0),
        ((0.0, 6.0), 70.0),
    ];
    let steps: Rows = vec![
        ((0.0, 1.0), 10.0),
        ((1.0, 2.0), 2.0),
        ((2.0, 4.0), 28.0),
        ((4.0, 6.0), 30.0),
    ];
    let fit = |rows: &Rows, link: Link| {
        let values: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let noise = Noise::Known(vec![0.0; values.len()]);
        let set = intervals(rows.iter().map(|row| row.0));
        let table = Observations::new(set, amounts(&values, noise, link)).unwrap();
        // Default priors are read off the rows, that of the mean too.
        let model = model(table)
            .mean(quadrat::model::Mean::Zero)
            .set("matern32.variance", Setting::fixed(4.0))
            .set("matern32.lengthscale.t", Setting::fixed(1.0));
        model.fit(&map()).unwrap()
    };
    for (rows, differences) in [(overlapping, apart), (nested, steps)] {
        for link in [Link::Exp, Link::Softplus] {
            let (one, other) = (fit(&rows, link), fit(&differences, link));
            let evidence = one.summary().log_evidence - other.summary().log_evidence;
            // Draws correct the evidence, to a few hundredths.
            let name = rows.len();
            assert!(evidence.abs() < 0.1, "{link} {name}: {evidence}");
            let end = rows.iter().map(|row| row.0.1).fold(0.0, f64::max);
            let halves = intervals((0..2 * end as usize).map(|i| {
                let low = 0.5 * i as f64;
                (low, low + 0.5)
            }));
            let ours = one.predict(&halves, Scale::Response).unwrap();
            let theirs = other.predict(&halves, Scale::Response).unwrap();
            for i in 0..halves.len() {
                let away = (ours.mean()[i] - theirs.mean()[i]).abs() / theirs.sd()[i];
                let wider = ours.sd()[i] / theirs.sd()[i];
                // Some thousand draws each.
                assert!(away < 0.2, "{link} {i}: {away}");
                assert!((wider - 1.0).abs() < 0.15, "{link} {i}: {wider}");
            }
            // Every row is met by its prediction, and by draws of its parts.
            let observed = intervals(rows.iter().map(|row| row.0));
            let again = one.predict(&observed, Scale::Response).unwrap();
            let draws = one.sample_responses(&halves, 20, 3).unwrap();
            for (i, ((low, high), y)) in rows.iter().enumerate() {
                assert!((again.mean()[i] / y - 1.0).abs() < 1e-7, "{link} {i}");
                assert!(again.sd()[i] < 1e-6 * y, "{link} {i}: {}", again.sd()[i]);
                let own = (2.0 * low) as usize..(2.0 * high) as usize;
                for draw in 0..20 {
                    let sum: f64 = own.clone().map(|row| draws[(row, draw)]).sum();
                    // Draws meet rows to 1e-9 of logarithms.
                    assert!((sum / y - 1.0).abs() < 1e-9, "{link} {i}: {sum} {y}");
                }
            }
        }
    }
}

/// A part that is more than its total leaves nothing above zero for the rest.
#[test]
fn a_part_that_exceeds_its_total_is_no_fit() {
    let noise = Noise::Known(vec![0.0; 3]);
    let set = intervals([(0.0, 1.0), (0.0, 2.0), (2.0, 4.0)]);
    let table = Observations::new(set, amounts(&[3.0, 2.0, 5.0], noise, Link::Exp)).unwrap();
    assert!(model(table).fit(&map()).is_err());
}

#[test]
fn other_units_and_orders_have_the_same_answers() {
    let posterior = |scale: f64, order: &[usize]| {
        let values: Vec<f64> = order.iter().map(|&i| scale * RAIN[i]).collect();
        let set = cells(6, 1).rows(order);
        let noise = Noise::Known(vec![0.0; 6]);
        let table = Observations::new(set, amounts(&values, noise, Link::Exp)).unwrap();
        model(table).fit(&map()).unwrap()
    };
    let answers = |posterior: &Posterior| {
        let seen = posterior.predict(&cells(6, 4), Scale::Response).unwrap();
        (seen.mean().to_vec(), seen.sd().to_vec())
    };
    let (means, sds) = answers(&posterior(1.0, &[0, 1, 2, 3, 4, 5]));
    for (scale, order) in [(1000.0, [0, 1, 2, 3, 4, 5]), (1.0, [3, 5, 0, 2, 4, 1])] {
        let (other, spread) = answers(&posterior(scale, &order));
        for i in 0..24 {
            let ratio = other[i] / (scale * means[i]);
            // The searches for the hyperparameters end apart by some 1e-6 of a unit, and draws are
            // of other rows.
            assert!((ratio - 1.0).abs() < 0.02, "{scale} {i}: {ratio}");
            let ratio = spread[i] / (scale * sds[i]);
            assert!((ratio - 1.0).abs() < 0.08, "{scale} {i}: {ratio}");
        }
    }
}

#[test]
fn logarithms_at_points_are_log_normal_algebra() {
    // Exact amounts at points are exact logarithms: the function is a normal process.
    let at = [0.0, 1.0, 2.5, 4.0];
    let y = [3.0, 5.0, 2.0, 2.5];
    let points = Functionals::points("t", &at).unwrap();
    let fit = |values: &[f64], link: Option<Link>| {
        let noise = Noise::Known(vec![0.0; 4]);
        let likelihood: Likelihood = match link {
            Some(link) => amounts(values, noise, link),
            None => Gaussian::new(values.to_vec(), noise).unwrap().into(),
        };
        let table = Observations::new(points.clone(), likelihood).unwrap();
        let model = Model::new(Kernel::se(["t"])).mean(quadrat::model::Mean::Zero);
        let model = model
            .set("se.variance", Setting::fixed(1.3))
            .set("se.lengthscale.t", Setting::fixed(0.9));
        model.observe(table).fit(&map()).unwrap()
    };
    let logs = y.map(f64::ln);
    let (linear, linked) = (fit(&logs, None), fit(&y, Some(Link::Exp)));
    let new = Functionals::points("t", &[0.6, 3.1, 6.0]).unwrap();
    let (want, got) = (
        linear.predict(&new, Scale::Response).unwrap(),
        linked.predict(&new, Scale::Response).unwrap(),
    );
    for i in 0..3 {
        let (m, v) = (want.mean()[i], want.sd()[i].powi(2));
        let mean = (m + 0.5 * v).exp();
        // Closed forms on both sides: some roundings, with room.
        assert!((got.mean()[i] / mean - 1.0).abs() < 1e-8, "{i}");
        let sd = mean * v.exp_m1().sqrt();
        // As above.
        assert!((got.sd()[i] / sd - 1.0).abs() < 1e-8, "{i}");
        let upper = want.quantile(0.975)[i].exp();
        // As above: a quantile of a normal distribution, through the link.
        assert!((got.quantile(0.975)[i] / upper - 1.0).abs() < 1e-6, "{i}");
    }
    // The density of values is that of logarithms over the values.
    let change: f64 = logs.iter().sum();
    let (a, b) = (linear.summary().log_evidence, linked.summary().log_evidence);
    assert!((b - (a - change)).abs() < 1e-8, "{a} {b} {change}");
}

#[test]
fn known_noise_is_between_exact_and_nothing() {
    let fit = |variance: f64| {
        let noise = Noise::Known(vec![variance; 6]);
        let table = Observations::new(cells(6, 1), amounts(&RAIN, noise, Link::Exp)).unwrap();
        let model = model(table)
            .set("matern32.variance", Setting::fixed(1.0))
            .set("matern32.lengthscale.t", Setting::fixed(2.0));
        let posterior = model.fit(&map()).unwrap();
        let years = posterior.predict(&cells(6, 1), Scale::Response).unwrap();
        (years.mean().to_vec(), years.sd().to_vec())
    };
    let (mean, sd) = fit(1.0);
    for (row, y) in RAIN.iter().enumerate() {
        // The small year is six sds of its neighbours' logarithms away, which pull it up by the
        // slope of the prior there, 0.8 a unit, times the variance.
        assert!((mean[row] - y).abs() < 1.5, "{row}: {}", mean[row]);
        assert!(sd[row] < 1.05 && sd[row] > 0.5, "{row}: {}", sd[row]);
    }
    let (_, less) = fit(0.04);
    assert!(less.iter().zip(&sd).all(|(a, b)| a < b));
}

#[test]
fn learned_noise_has_the_unit_of_the_values() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let truth = |t: f64| 300.0 * (0.6 * (0.8 * t).sin()).exp();
    let values: Vec<f64> = (0..40)
        .map(|i| {
            let t = f64::from(i);
            let fine = (0..50).map(|k| truth(0.5 * (t + (f64::from(k) + 0.5) / 50.0)));
            let noise: f64 = random.sample(StandardNormal);
            fine.sum::<f64>() / 50.0 + 20.0 * noise
        })
        .collect();
    let edge = |i: usize| 0.5 * i as f64;
    let set = Functionals::intervals(
        "t",
        &(0..40).map(|i| (edge(i), edge(i + 1))).collect::<Vec<_>>(),
        Aggregate::Mean,
    );
    let table =
        Observations::new(set.unwrap(), amounts(&values, Noise::Learned, Link::Exp)).unwrap();
    let posterior = model(table).fit(&map()).unwrap();
    let noise = posterior
        .summary()
        .hyperparameters
        .iter()
        .find(|p| p.name == "noise.variance")
        .map(|p| p.value)
        .unwrap();
    // Forty rows tell an sd to 11 %: within three of these.
    assert!((noise.sqrt() / 20.0 - 1.0).abs() < 0.35, "{noise}");
}

#[test]
fn parts_of_simulated_rain_are_inside_their_intervals() {
    // Months within years of a log-normal process: 20 tables of six years.
    let (mut inside, mut all) = (0, 0);
    for seed in 0..20 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // An autoregression of weeks: a `matern12` of lengthscale 0.7 years.
        let keep = (-1.0_f64 / (48.0 * 0.7)).exp();
        let mut f: f64 = random.sample(StandardNormal);
        let weeks: Vec<f64> = (0..6 * 48)
            .map(|_| {
                let next: f64 = random.sample(StandardNormal);
                f = keep * f + (1.0 - keep * keep).sqrt() * next;
                12.0 * (0.7 * f).exp()
            })
            .collect();
        let months: Vec<f64> = weeks.chunks(12).map(|w| w.iter().sum()).collect();
        let years: Vec<f64> = months.chunks(4).map(|m| m.iter().sum()).collect();
        let fitted = Model::new(Kernel::matern12(["t"]))
            .set("matern12.variance", Setting::fixed(0.49))
            .set("matern12.lengthscale.t", Setting::fixed(0.7))
            .observe(exact(&years, Link::Exp))
            .fit(&map())
            .unwrap();
        let seen = fitted.predict(&cells(6, 4), Scale::Response).unwrap();
        let (lower, upper) = (seen.quantile(0.025), seen.quantile(0.975));
        for (i, y) in months.iter().enumerate() {
            inside += usize::from(lower[i] <= *y && *y <= upper[i]);
            all += 1;
        }
    }
    let share = inside as f64 / f64::from(all);
    // 480 quarters, 95 % of them: one sd is .010 where they are independent, some .015 here.
    assert!((0.90..=0.99).contains(&share), "{share}");
}

#[test]
fn what_cannot_be_is_refused() {
    let zero = Gaussian::new(vec![3.0, 0.0], Noise::Known(vec![0.0, 0.0])).unwrap();
    let told = zero.behind(Link::Exp).unwrap_err().to_string();
    assert!(
        told.contains("more than zero where it has no noise"),
        "{told}"
    );
    let noisy = Gaussian::new(vec![3.0, -1.0], Noise::Learned).unwrap();
    assert!(noisy.clone().behind(Link::Exp).is_ok());
    for link in [Link::Square, Link::Logit] {
        assert!(noisy.clone().behind(link).is_err());
    }
    let sparse = FitOptions::default().with_inference(quadrat::model::Inference::Sparse);
    let told = model(exact(&RAIN, Link::Exp)).fit(&sparse).unwrap_err();
    assert!(told.to_string().contains("known exactly"), "{told}");
    let values = Observations::gaussian(cells(2, 1), vec![1.0, 2.0], Noise::Learned).unwrap();
    let told = model(exact(&RAIN, Link::Exp)).observe(values).fit(&map());
    let told = told.unwrap_err().to_string();
    assert!(
        told.contains("beside values of the same function"),
        "{told}"
    );
}

/// Pixels of bags that are known exactly add up to these, and none exceeds its bag.
#[test]
fn points_of_exact_bags_add_up_in_the_mean() {
    let mut bags = Functionals::new(vec!["t".into()]);
    let one = |x: f64| vec![x];
    bags.push_nodes(&[one(0.0), one(1.0)], &[1.0, 3.0]).unwrap();
    bags.push_nodes(&[one(2.0), one(3.0)], &[2.0, 2.0]).unwrap();
    let totals = [8.0, 20.0];
    let noise = Noise::Known(vec![0.0; 2]);
    let table = Observations::new(bags, amounts(&totals, noise, Link::Exp)).unwrap();
    let posterior = model(table).fit(&map()).unwrap();
    let points = Functionals::points("t", &[0.0, 1.0, 2.0, 3.0]).unwrap();
    let seen = posterior.predict(&points, Scale::Response).unwrap();
    let (mean, upper) = (seen.mean(), seen.quantile(0.999));
    // Of a distribution with the moments of the draws, to its root finding.
    assert!(
        ((mean[0] + 3.0 * mean[1]) / 8.0 - 1.0).abs() < 1e-7,
        "{mean:?}"
    );
    assert!(
        (2.0 * (mean[2] + mean[3]) / 20.0 - 1.0).abs() < 1e-7,
        "{mean:?}"
    );
    for (upper, most) in upper.iter().zip([8.0, 8.0 / 3.0, 10.0, 10.0]) {
        // The last stratum of draws ends near the largest that there can be.
        assert!(*upper < 1.15 * most, "{upper} {most}");
    }
}
