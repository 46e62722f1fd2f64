//! A run: measurements chosen by a policy until a budget is spent.

use anyhow::Result;
use quadrat::acquire::{Dense, Kind, Member, Plan, Policy, Survey, choose};
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Interval, Ordinal, Thresholds};
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior, Setting,
};
use quadrat::support::Functionals;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::world::{NOISE_SD, Seen, Truth, World};

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

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// Root mean square error of the posterior mean over the grid.
    pub rmse: f64,
    /// See [`divergence`].
    pub kl: f64,
    /// What was spent.
    pub spent: f64,
    /// Measurements of each kind.
    pub made: [usize; 3],
}

/// Plays a run. Points known before are the same for one `first`, noise for one `noise`.
///
/// # Errors
/// As [`Model::fit`].
pub fn play(
    world: &World,
    truth: &Truth,
    rules: &Rules,
    (mut first, mut noise): (ChaCha8Rng, ChaCha8Rng),
) -> Result<End> {
    let mut seen: Vec<(usize, Seen)> = (0..FIRST)
        .map(|_| {
            let place = first.random_range(0..world.points.len());
            (place, truth.measure(0, place, &mut first))
        })
        .collect();
    let (mut left, mut made) = (rules.budget, [0; 3]);
    let mut posterior = fit(world, truth, &seen)?;
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
            seed: noise.random_range(0..u64::MAX),
        };
        let chosen = choose(&survey(world, truth, rules, &posterior)?, &plan)?;
        for choice in chosen.choices {
            let (kind, place) = (choice.question.kind, choice.question.place);
            seen.push((place, truth.measure(kind, place, &mut noise)));
            made[kind] += 1;
            left -= rules.costs[kind];
        }
        posterior = fit(world, truth, &seen)?;
    }
    let p = posterior.predict(&world.at, quadrat::model::Scale::Latent)?;
    let errors = p.mean().iter().zip(&truth.values).map(|(m, f)| m - f);
    let squares: f64 = errors.map(|e| e * e).sum();
    Ok(End {
        rmse: (squares / truth.values.len() as f64).sqrt(),
        kl: divergence(&truth.values, p.mean(), p.sd()),
        spent: rules.budget - left,
        made,
    })
}

/// Mean over places of the Kullback-Leibler divergence of what a point measurement would show from
/// what is predicted of one, `KL(N(f, s^2) || N(m, v + s^2))`, in nats.
pub fn divergence(truth: &[f64], mean: &[f64], sd: &[f64]) -> f64 {
    let noise = NOISE_SD * NOISE_SD;
    let each = truth.iter().zip(mean.iter().zip(sd)).map(|(f, (m, sd))| {
        let open = sd * sd + noise;
        0.5 * ((noise + (f - m) * (f - m)) / open - 1.0 + (open / noise).ln())
    });
    each.sum::<f64>() / truth.len() as f64
}

/// What may be measured, and what is believed.
fn survey(
    world: &World,
    truth: &Truth,
    rules: &Rules,
    posterior: &Posterior,
) -> Result<Survey<'static>> {
    let p = posterior.predict(&world.at, quadrat::model::Scale::Latent)?;
    let joint = Dense::new(p.mean().to_vec(), posterior.covariance(&world.at)?)?;
    let names = ["point", "interval", "ordinal"];
    let kinds = names.iter().zip(rules.costs).map(|(name, cost)| Kind {
        name: (*name).to_owned(),
        cost,
        first: 0,
    });
    Ok(Survey {
        places: world.points.len(),
        kinds: kinds.collect(),
        members: vec![Member {
            weight: 1.0,
            joint: Box::new(joint),
            reports: truth.reports(),
        }],
        targets: Vec::new(),
    })
}

/// The posterior given what was seen, at the hyperparameters that drew the function.
fn fit(world: &World, truth: &Truth, seen: &[(usize, Seen)]) -> Result<Posterior> {
    let places = |own: &[usize]| -> Result<Functionals> {
        let mut at = Functionals::new(world.dims.clone());
        for place in own {
            at.push_point(&world.points[*place])?;
        }
        Ok(at)
    };
    let noise = |n: usize| Noise::Known(vec![NOISE_SD * NOISE_SD; n]);
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
    let mut model = Model::new(Kernel::se(world.dims.iter().map(String::as_str)))
        .mean(Mean::Zero)
        .set("se.variance", Setting::fixed(1.0));
    for dim in &world.dims {
        let name = format!("se.lengthscale.{dim}");
        model = model.set(&name, Setting::fixed(world.lengthscale));
    }
    model = model.observe(Observations::gaussian(
        places(&points)?,
        values,
        noise(points.len()),
    )?);
    if !strips.is_empty() {
        let rows = Interval::new(lower, upper, noise(strips.len()))?;
        model = model.observe(Observations::new(places(&strips)?, rows)?);
    }
    if !grades.is_empty() {
        let thresholds = Thresholds::Known(truth.thresholds.clone());
        let rows = Ordinal::new(ranks, thresholds, noise(grades.len()))?;
        model = model.observe(Observations::new(places(&grades)?, rows)?);
    }
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    Ok(model.fit(&options)?)
}
