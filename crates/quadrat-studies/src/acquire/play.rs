//! A run: measurements chosen by a policy until a budget is spent.

use anyhow::Result;
use quadrat::acquire::{Dense, Kind, Member, Plan, Policy, Survey, choose};
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Interval, Ordinal, Thresholds};
use quadrat::model::{FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Setting};
use quadrat::support::Functionals;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::ground::{Ground, Learned, Seen};

/// Points that are known before anything is chosen.
const FIRST: usize = 3;

/// How a run goes.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// How measurements are chosen.
    pub policy: Policy,
    /// What a point, an interval and a rank cost.
    pub costs: [f64; 3],
    /// What all may cost together.
    pub budget: f64,
    /// Measurements at most.
    pub steps: usize,
    /// How many are chosen before any of them is known.
    pub batch: usize,
}

/// How a run stood after some measurements.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// Root mean square error of the posterior mean over the places that are judged.
    pub rmse: f64,
    /// See [`divergence`].
    pub kl: f64,
    /// What was spent.
    pub spent: f64,
    /// Measurements of each kind.
    pub made: [usize; 3],
}

/// Plays a run; returns how it stood after every batch. Points known before are the same for one
/// `first`, noise for one `noise`.
///
/// # Errors
/// As [`Model::fit`].
pub fn play(
    ground: &Ground,
    rules: &Rules,
    (mut first, mut noise): (ChaCha8Rng, ChaCha8Rng),
) -> Result<Vec<End>> {
    let asked = &ground.candidates;
    let mut seen: Vec<(usize, Seen)> = (0..FIRST)
        .map(|_| {
            let place = asked[first.random_range(0..asked.len())];
            (place, ground.measure(0, place, &mut first))
        })
        .collect();
    let (mut left, mut made) = (rules.budget, [0; 3]);
    let at = ground.at(asked)?;
    let judged = ground.at(&ground.judged)?;
    let mut posterior = fit(ground, &seen)?;
    let mut ends = Vec::new();
    loop {
        let steps = rules.steps - made.iter().sum::<usize>();
        let cheapest = rules.costs.iter().copied().fold(f64::INFINITY, f64::min);
        if steps == 0 || left < cheapest {
            break;
        }
        let plan = Plan {
            policy: rules.policy,
            batch: rules.batch.min(steps),
            budget: Some(left),
            steps: Some(steps),
            limit: None,
            seed: noise.random_range(0..u64::MAX),
        };
        let chosen = choose(&survey(ground, &at, rules, &posterior)?, &plan)?;
        for choice in chosen.choices {
            let (kind, place) = (choice.question.kind, asked[choice.question.place]);
            seen.push((place, ground.measure(kind, place, &mut noise)));
            made[kind] += 1;
            left -= rules.costs[kind];
        }
        posterior = fit(ground, &seen)?;
        let p = posterior.predict(&judged, quadrat::model::Scale::Latent)?;
        let truth: Vec<f64> = ground.judged.iter().map(|i| ground.values[*i]).collect();
        ends.push(End {
            rmse: error(&truth, p.mean()),
            kl: divergence(&truth, p.mean(), p.sd(), ground.noise_sd),
            spent: rules.budget - left,
            made,
        });
    }
    Ok(ends)
}

/// The root mean square error.
pub fn error(truth: &[f64], mean: &[f64]) -> f64 {
    let squares = truth.iter().zip(mean).map(|(f, m)| (m - f) * (m - f));
    (squares.sum::<f64>() / truth.len() as f64).sqrt()
}

/// Mean over places of the Kullback-Leibler divergence of what a point measurement would show from
/// what is predicted of one, `KL(N(f, s^2) || N(m, v + s^2))`, in nats.
pub fn divergence(truth: &[f64], mean: &[f64], sd: &[f64], noise_sd: f64) -> f64 {
    let noise = noise_sd * noise_sd;
    let each = truth.iter().zip(mean.iter().zip(sd)).map(|(f, (m, sd))| {
        let open = sd * sd + noise;
        0.5 * ((noise + (f - m) * (f - m)) / open - 1.0 + (open / noise).ln())
    });
    each.sum::<f64>() / truth.len() as f64
}

/// What may be measured, and what is believed.
fn survey(
    ground: &Ground,
    at: &Functionals,
    rules: &Rules,
    posterior: &Posterior,
) -> Result<Survey<'static>> {
    let p = posterior.predict(at, quadrat::model::Scale::Latent)?;
    let joint = Dense::new(p.mean().to_vec(), posterior.covariance(at)?)?;
    let names = ["point", "interval", "ordinal"];
    let kinds = names.iter().zip(rules.costs).map(|(name, cost)| Kind {
        name: (*name).to_owned(),
        cost,
        first: 0,
    });
    Ok(Survey {
        places: at.len(),
        kinds: kinds.collect(),
        members: vec![Member {
            weight: 1.0,
            joint: Box::new(joint),
            reports: ground.reports(),
        }],
        targets: Vec::new(),
    })
}

/// The posterior given what was seen.
fn fit(ground: &Ground, seen: &[(usize, Seen)]) -> Result<Posterior> {
    let noise = |n: usize| Noise::Known(vec![ground.noise_sd * ground.noise_sd; n]);
    let (mut points, mut values) = (Vec::new(), Vec::new());
    let (mut strips, mut lower, mut upper) = (Vec::new(), Vec::new(), Vec::new());
    let (mut grades, mut ranks) = (Vec::new(), Vec::new());
    for (place, what) in seen {
        match what {
            Seen::Point(value) => {
                points.push(*place);
                values.push(*value);
            }
            Seen::Interval(low, high) => {
                strips.push(*place);
                lower.push(*low);
                upper.push(*high);
            }
            Seen::Rank(rank) => {
                grades.push(*place);
                ranks.push(*rank);
            }
        }
    }
    let mut model = Model::new(Kernel::se(ground.dims.iter().map(String::as_str)));
    if let Learned::Known {
        variance,
        lengthscales,
        mean,
    } = &ground.learned
    {
        model = model
            .mean(mean.clone())
            .set("se.variance", Setting::fixed(*variance));
        for (dim, lengthscale) in ground.dims.iter().zip(lengthscales) {
            let name = format!("se.lengthscale.{dim}");
            model = model.set(&name, Setting::fixed(*lengthscale));
        }
    }
    model = model.observe(Observations::gaussian(
        ground.at(&points)?,
        values,
        noise(points.len()),
    )?);
    if !strips.is_empty() {
        let rows = Interval::new(lower, upper, noise(strips.len()))?;
        model = model.observe(Observations::new(ground.at(&strips)?, rows)?);
    }
    if !grades.is_empty() {
        let thresholds = Thresholds::Known(ground.thresholds.clone());
        let rows = Ordinal::new(ranks, thresholds, noise(grades.len()))?;
        model = model.observe(Observations::new(ground.at(&grades)?, rows)?);
    }
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    Ok(model.fit(&options)?)
}
