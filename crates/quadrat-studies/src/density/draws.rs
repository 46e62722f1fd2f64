//! Densities beside draws from their posterior by the no-U-turn sampler: grid and design of
//! hyperparameters, their most probable values, with and without importance weights.

use anyhow::Result;
use quadrat::density::{Correction, Density, DensityCheck, Integration};
use quadrat::inference::mcmc::McmcOptions;
use quadrat::progress::Silent;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::truths::{TRUTHS, Truth};
use crate::data::{columns, find};
use crate::report::{Report, Table};
use crate::settings::Settings;

/// Values of every sample.
const SIZE: usize = 100;
/// Seed of the samples.
const SEED: u64 = 301;
/// Ways that are compared.
const WAYS: [(&str, Integration, Correction); 5] = [
    ("grid", Integration::Auto, Correction::ImportanceSampling),
    ("design", Integration::Ccd, Correction::ImportanceSampling),
    (
        "most probable",
        Integration::Map,
        Correction::ImportanceSampling,
    ),
    ("grid, Laplace", Integration::Auto, Correction::None),
    ("most probable, Laplace", Integration::Map, Correction::None),
];

/// A sample with its bounds.
struct Sample {
    name: String,
    values: Vec<f64>,
    bounds: (f64, f64),
}

/// Runs the study.
///
/// # Errors
/// Where the data cannot be read, or a density is refused.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Densities beside draws from their posterior");
    let draws = settings.repeats(500, 2000);
    report.setting(format!(
        "4 chains of {draws} draws after half as many; log densities of the cells that hold 98 % of each estimate: means apart in sds of the draws, and sds over those of the draws"
    ));
    report.setting(format!(
        "galaxies (82 velocities), and {SIZE} values of each of the four densities of Riihimaki & Vehtari 2014, seed {SEED}"
    ));
    let options = McmcOptions::default()
        .with_draws(draws / 2, draws)
        .with_seed(settings.seed);
    let head = [
        "way",
        "means, median",
        "means, worst",
        "sds, median",
        "sds, least",
        "sds, most",
        "log sd",
        "log length",
        "R-hat",
        "effective",
        "s",
    ];
    for sample in samples(settings)? {
        let mut table = Table::new(&sample.name, &head);
        for (way, integration, correction) in WAYS {
            let (lower, upper) = sample.bounds;
            let density = Density::new(&sample.values)
                .bounds(lower, upper)
                .integrate(integration)
                .correct(correction);
            let check = density.estimate()?.check_by_mcmc(&options, &Silent)?;
            let apart = sorted(&check, |c| c.mean_difference().abs());
            let ratios = sorted(&check, |c| c.sd_ratio());
            let (middle, last) = (apart.len() / 2, apart.len() - 1);
            let hyper = |k: usize| {
                let of = &check.hyperparameters[k];
                format!("{:+.2}", (of.fit.mean - of.sampled.mean) / of.sampled.sd)
            };
            table.row(vec![
                way.to_owned(),
                format!("{:.3}", apart[middle]),
                format!("{:.3}", apart[last]),
                format!("{:.3}", ratios[middle]),
                format!("{:.3}", ratios[0]),
                format!("{:.3}", ratios[last]),
                hyper(0),
                hyper(1),
                format!("{:.4}", check.worst_r_hat()),
                format!("{:.0}", check.smallest_effective_size()),
                format!("{:.0}", check.seconds),
            ]);
            if correction != Correction::None && integration != Integration::Map {
                let what = |of: &str| format!("{}, {way}: {of}", sample.name);
                // Some thousand draws leave a twentieth of a sd open; the grid steps by factors.
                report.check(what("means in sds, median"), apart[middle], 0.0, 0.15);
                report.check(
                    what("sds over those of draws, median"),
                    ratios[middle],
                    0.9,
                    1.1,
                );
            }
        }
        report.tables.push(table);
    }
    report.note("hyperparameters: how far the mean of the logarithm over the settings is from that of the draws, in sds of these");
    Ok(report)
}

fn sorted(check: &DensityCheck, of: impl Fn(&quadrat::model::RowCheck) -> f64) -> Vec<f64> {
    let mut out: Vec<f64> = check.log_density.iter().map(of).collect();
    out.sort_by(f64::total_cmp);
    out
}

fn samples(settings: &Settings) -> Result<Vec<Sample>> {
    let mut out = Vec::new();
    if settings.wants("galaxies") {
        let path = find(&settings.data, "density/galaxies.csv")?;
        let mut read = columns(&path, &["velocity_km_s"])?;
        out.push(Sample {
            name: "galaxies".to_owned(),
            values: read.swap_remove(0),
            bounds: (f64::NEG_INFINITY, f64::INFINITY),
        });
    }
    let truths = TRUTHS.iter().take(4);
    out.extend(truths.filter(|t| settings.wants(t.name)).map(drawn));
    Ok(out)
}

fn drawn(truth: &Truth) -> Sample {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    Sample {
        name: truth.name.to_owned(),
        values: (0..SIZE).map(|_| (truth.draw)(&mut random)).collect(),
        bounds: truth.bounds,
    }
}
