//! Whether intervals hold the function where it is censored.

use anyhow::Result;
use quadrat::likelihood::Side;
use quadrat::model::{Hyperparameters, Scale};
use quadrat::simulate::{Censored, Record};
use rayon::prelude::*;

use super::models::{FAMILIES, Family, Told, fit, is_wanted};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{coverage, mean, rms, standard_error};
use crate::steps::Steps;

/// Levels of the central intervals.
const LEVELS: [f64; 2] = [0.8, 0.95];
/// Models, by their places among all.
const MODELS: [usize; 3] = [2, 4, 5];
/// What becomes of the hyperparameters, and by how much coverage may be off beside two standard
/// errors.
const TREATMENTS: [(Hyperparameters, &str, f64); 2] = [
    (Hyperparameters::Map, "most probable", 0.08),
    (Hyperparameters::Integrate, "integrated", 0.04),
];

/// What is recorded, and what the model is told of it.
struct Way {
    name: &'static str,
    record: Record,
    bounded: bool,
    /// Whether intervals must be calibrated: whether the likelihood says how the records came
    /// about.
    holds: bool,
}

const WAYS: [Way; 3] = [
    Way {
        name: "clipped at a threshold",
        record: Record::Clipped,
        bounded: false,
        holds: true,
    },
    Way {
        name: "at random below",
        record: Record::Random,
        bounded: false,
        holds: false,
    },
    Way {
        name: "at random below, bound known",
        record: Record::Random,
        bounded: true,
        holds: true,
    },
];

struct Found {
    inside: [f64; 2],
    bias: f64,
    rmse: f64,
    width: f64,
}

/// Runs the study.
///
/// # Errors
/// As the fits, but for those that did not settle, which are counted.
pub fn run(settings: &Settings) -> Result<Report> {
    let seeds = settings.repeats(2, 100) as u64;
    let usual = Censored::default();
    let mut report = Report::new("Coverage of the function where it is censored");
    report.setting(format!(
        "{seeds} draws as in censored-synthetic, the second output not censored; clipped: at the threshold that {:.0} % of the 42 values in the stretch exceed; at random: the value less a uniform number from {} to {}",
        100.0 * usual.share,
        usual.shortfall.0,
        usual.shortfall.1
    ));
    report.setting("the likelihood of a censored row is that the value is at least what was recorded; with the bound known, that it lies between that and 3.55 more (`interval`)");
    report.setting("mean zero, defaults of the library; hyperparameters most probable, or integrated; judged at the censored rows of the first output: share of true values of the function inside central intervals, mean of posterior mean less truth, RMSE, half width of the 95 % interval; +- standard error over draws");
    let mut jobs = Vec::new();
    for way in &WAYS {
        let families = MODELS.map(|model| FAMILIES[model]);
        for family in families.into_iter().filter(|f| is_wanted(settings, *f)) {
            for treatment in &TREATMENTS {
                jobs.extend((0..seeds).map(|seed| (way, family, treatment, seed)));
            }
        }
    }
    let steps = Steps::new("censored-coverage", jobs.len());
    let outcomes = jobs
        .par_iter()
        .map(|(way, family, treatment, seed)| {
            steps.after(one(settings, way, *family, treatment.0, *seed))
        })
        .collect::<Result<Vec<Option<Found>>>>()?;
    let mut table = Table::new(
        "Censored rows of the first output, by what was recorded and told",
        &[
            "recorded",
            "model",
            "hyperparameters",
            "80 %",
            "95 %",
            "bias",
            "RMSE",
            "half width",
            "not settled",
        ],
    );
    let mut open = 0;
    for (all, (way, family, (_, treatment, slack), _)) in outcomes
        .chunks(seeds as usize)
        .zip(jobs.iter().step_by(seeds as usize))
    {
        let found: Vec<&Found> = all.iter().flatten().collect();
        let of = |f: fn(&Found) -> f64| -> Vec<f64> { found.iter().map(|o| f(o)).collect() };
        let plus = |v: &[f64]| format!("{:.3} +- {:.3}", mean(v), standard_error(v));
        let unsettled = all.len() - found.len();
        open += unsettled;
        let shares = [of(|o| o.inside[0]), of(|o| o.inside[1])];
        table.row(vec![
            way.name.to_owned(),
            family.name.to_owned(),
            (*treatment).to_owned(),
            plus(&shares[0]),
            plus(&shares[1]),
            plus(&of(|o| o.bias)),
            plus(&of(|o| o.rmse)),
            plus(&of(|o| o.width)),
            unsettled.to_string(),
        ]);
        if !way.holds {
            continue;
        }
        for (share, level) in shares.iter().zip(LEVELS) {
            // Few draws do not know their own standard error.
            let few = if share.len() < 10 { 0.3 } else { 0.0 };
            let error = standard_error(share);
            let slack = slack + few + if error.is_finite() { 2.0 * error } else { 0.0 };
            report.check(
                format!(
                    "{}, {}, {treatment}: coverage of {level}",
                    way.name, family.name
                ),
                mean(share),
                level - slack,
                (level + slack).min(1.0),
            );
        }
    }
    let share = open as f64 / outcomes.len() as f64;
    report.check("share of fits not settled", share, 0.0, 0.02);
    report.tables.push(table);
    report.note("`at least what was recorded` is all that is known of a capped value. Where records fall short by a random but bounded amount it is too little: nothing speaks against functions far above, and the more of them a kernel allows the higher the mean. Give the bound as an `interval` where there is one");
    Ok(report)
}

/// One fit; none when it did not settle.
fn one(
    settings: &Settings,
    way: &Way,
    family: Family,
    hyperparameters: Hyperparameters,
    seed: u64,
) -> Result<Option<Found>> {
    let plan = Censored {
        record: way.record,
        seed: settings.seed + 1000 * seed,
        ..Censored::default()
    };
    let data = plan.draw()?;
    let told = match way.bounded {
        true => Told::Within(plan.shortfall.1),
        false => Told::AtLeast,
    };
    let Some(fitted) = fit(family, told, hyperparameters, &data, settings.seed)? else {
        return Ok(None);
    };
    let own = &data.outputs[0];
    let hidden = (0..data.x.len()).filter(|&i| own.sides[i] == Side::Right);
    let (x, truth): (Vec<f64>, Vec<f64>) = hidden.map(|i| (data.x[i], own.latent[i])).unzip();
    let p = fitted.first(&x, Scale::Latent)?;
    let errors: Vec<f64> = p.mean().iter().zip(&truth).map(|(m, f)| m - f).collect();
    let ends = |level: f64| {
        (
            p.quantile(0.5 * (1.0 - level)),
            p.quantile(0.5 * (1.0 + level)),
        )
    };
    let inside = LEVELS.map(|level| {
        let (lower, upper) = ends(level);
        coverage(&truth, &lower, &upper)
    });
    let (lower, upper) = ends(0.95);
    let widths: Vec<f64> = lower
        .iter()
        .zip(&upper)
        .map(|(l, u)| 0.5 * (u - l))
        .collect();
    Ok(Some(Found {
        inside,
        bias: mean(&errors),
        rmse: rms(&errors),
        width: mean(&widths),
    }))
}
