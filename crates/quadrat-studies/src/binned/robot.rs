//! Section 5.1, Table 1: the speed of a robot from the distances it went between times.

use anyhow::{Context, Result};
use quadrat::kernel::Kernel;
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::parameter::PriorDensity;
use quadrat::support::{Aggregate, Functionals};

use crate::report::{Report, Table};
use crate::settings::Settings;

/// Table 1: start, end, distance.
const DISTANCES: [(f64, f64, f64); 4] = [
    (0.0, 8.0, 33.47),
    (2.5, 3.5, 3.49),
    (4.0, 6.0, 9.56),
    (7.0, 8.0, 8.27),
];
/// What was asked: the speed at this time, which the data were made to have.
const TIME: f64 = 5.0;
const SPEED: f64 = 5.0;
/// Half of a normal 95 % interval in standard deviations.
const HALF: f64 = 1.959_963_984_540_054;

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(_: &Settings) -> Result<Report> {
    let mut report = Report::new("Speed of a robot (binned data, section 5.1, Table 1)");
    report.setting("data: the four distances printed in Table 1; nothing is random");
    report
        .setting("lengthscales as k = exp(-r^2 / (2 l^2)); the paper's are sqrt(2) times as long");

    // The paper's convention and numbers.
    let published = fit(Some([12.9, 7.1 / 2f64.sqrt(), 0.6]), Hyperparameters::Map)?;
    let ours = fit(None, Hyperparameters::Map)?;
    let integrated = integrated()?;

    let mut table = Table::new(
        "Hyperparameters and the speed at 5 s (truth 5), with half of its 95 % interval",
        &[
            "",
            "variance",
            "lengthscale",
            "noise variance",
            "-log evidence",
            "speed",
            "+-",
            "+- with noise",
        ],
    );
    table.row(
        [
            "paper, printed",
            "12.9",
            "5.02",
            "0.6",
            "-",
            "4.87",
            "1.70",
            "-",
        ]
        .map(str::to_owned)
        .to_vec(),
    );
    let rows = [
        ("its values, recomputed", &published),
        ("maximum of the evidence", &ours),
        ("defaults, integrated", &integrated),
    ];
    for (name, posterior) in rows {
        let [variance, lengthscale, noise] = hyperparameters(posterior)?;
        let (speed, half) = speed(posterior, Scale::Latent)?;
        let (_, noisy) = self::speed(posterior, Scale::Observation)?;
        table.row(vec![
            name.to_owned(),
            format!("{variance:.2}"),
            format!("{lengthscale:.3}"),
            format!("{noise:.3}"),
            format!("{:.3}", -posterior.summary().log_evidence),
            format!("{speed:.3}"),
            format!("{half:.3}"),
            format!("{noisy:.3}"),
        ]);
    }
    report.tables.push(table);

    // The optimum is known from high precision arithmetic to the digits given.
    let [variance, lengthscale, noise] = hyperparameters(&ours)?;
    report.check("variance", variance, 60.72, 60.74);
    report.check("lengthscale", lengthscale, 9.521, 9.523);
    report.check("noise variance", noise, 0.577, 0.579);
    report.check(
        "-log evidence",
        -ours.summary().log_evidence,
        10.7285,
        10.7295,
    );
    report.check(
        "that of the paper's values",
        -published.summary().log_evidence,
        11.5685,
        11.5695,
    );
    let (mean, half) = speed(&ours, Scale::Latent)?;
    report.check("speed at 5 s", mean, 5.051, 5.053);
    report.check("half of its 95 % interval", half, 0.573, 0.575);
    let (mean, half) = speed(&integrated, Scale::Latent)?;
    report.check(
        "integrated: distance of the truth in half widths",
        (mean - SPEED).abs() / half,
        0.0,
        1.0,
    );
    report.note(
        "the printed hyperparameters are not the maximum of the evidence of the printed data",
    );
    Ok(report)
}

fn table() -> Result<Observations> {
    let edges: Vec<(f64, f64)> = DISTANCES.iter().map(|d| (d.0, d.1)).collect();
    let supports = Functionals::intervals("time", &edges, Aggregate::Sum)?;
    let values = DISTANCES.iter().map(|d| d.2).collect();
    Ok(Observations::gaussian(supports, values, Noise::Learned)?)
}

/// Zero mean, at the hyperparameters given or else those of largest evidence.
fn fit(fixed: Option<[f64; 3]>, hyperparameters: Hyperparameters) -> Result<Posterior> {
    let mut model = Model::new(Kernel::se(["time"]))
        .mean(Mean::Zero)
        .observe(table()?);
    for (i, name) in NAMES.iter().enumerate() {
        let setting = match fixed {
            Some(values) => Setting::fixed(values[i]),
            None => Setting::prior(PriorDensity::Flat),
        };
        model = model.set(name, setting);
    }
    let options = FitOptions::default().with_hyperparameters(hyperparameters);
    Ok(model.fit(&options)?)
}

/// What one gets without asking for anything.
fn integrated() -> Result<Posterior> {
    Ok(Model::new(Kernel::se(["time"]))
        .observe(table()?)
        .fit(&FitOptions::default())?)
}

const NAMES: [&str; 3] = ["se.variance", "se.lengthscale.time", "noise.variance"];

fn hyperparameters(posterior: &Posterior) -> Result<[f64; 3]> {
    let all = &posterior.summary().hyperparameters;
    let mut out = [0.0; 3];
    for (out, name) in out.iter_mut().zip(NAMES) {
        let found = all.iter().find(|h| h.name == name);
        *out = found
            .with_context(|| format!("the fit has no {name}"))?
            .value;
    }
    Ok(out)
}

fn speed(posterior: &Posterior, scale: Scale) -> Result<(f64, f64)> {
    let prediction = posterior.predict(&Functionals::points("time", &[TIME])?, scale)?;
    let half = if posterior.summary().integrated {
        0.5 * (prediction.quantile(0.975)[0] - prediction.quantile(0.025)[0])
    } else {
        HALF * prediction.sd()[0]
    };
    Ok((prediction.mean()[0], half))
}
