//! Demand for bicycles at stations of New York, hidden in part: Table 4 of the source.

use anyhow::{Context, Result, ensure};
use quadrat::error::FitError;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Censored, Dispersion, Gaussian, Likelihood, NegativeBinomial, Poisson, Side,
};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Scale, Varying,
};

use super::models::{FAMILIES, Family};
use super::stations::{LEARN, SKIPPED, Station, TEST};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, mean_absolute, standard_error};
use crate::steps::Steps;

/// The station of the source's table, and the one beside it.
const STATIONS: [&str; 2] = ["3711", "366"];

/// What rows are taken for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rows {
    Gaussian,
    Poisson,
    NegativeBinomial,
}

impl Rows {
    const ALL: [Self; 3] = [Self::Gaussian, Self::Poisson, Self::NegativeBinomial];

    fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "Gaussian",
            Self::Poisson => "Poisson",
            Self::NegativeBinomial => "negative binomial",
        }
    }

    /// What a second function may be about.
    fn varying(self) -> Option<Varying> {
        match self {
            Self::Gaussian => Some(Varying::Noise),
            Self::Poisson => None,
            Self::NegativeBinomial => Some(Varying::Dispersion),
        }
    }
}

/// A line of the table.
#[derive(Clone, Copy)]
struct Case {
    rows: Rows,
    family: Family,
    /// Whether every part of the kernel has a mixing matrix of its own, as the source's equation 5
    /// has it, in place of one for all.
    by_parts: bool,
    /// R2 in the source, for station 3711.
    published: Option<f64>,
    /// R2 that prototypes reached.
    reached: Option<f64>,
}

/// R2 of station 3711 in the source, by rows and model.
const PUBLISHED: [[Option<f64>; 6]; 3] = [
    [
        Some(0.172),
        Some(0.190),
        Some(0.339),
        Some(0.366),
        None,
        Some(0.381),
    ],
    [
        Some(0.150),
        Some(0.218),
        Some(0.201),
        None,
        Some(0.262),
        None,
    ],
    [
        Some(0.150),
        Some(0.170),
        Some(0.174),
        None,
        None,
        Some(0.224),
    ],
];
/// What prototypes reached: rows, model, by parts, R2.
const REACHED: [(usize, usize, bool, f64); 3] =
    [(0, 2, false, 0.60), (1, 2, false, 0.62), (1, 4, true, 0.68)];
/// The model that is mixed in both ways.
const MOCGP: usize = 4;

/// All that there are: without a scale, counts have nothing that could be a second function.
fn cases() -> impl Iterator<Item = Case> {
    let ways = |f: usize| [false, true].into_iter().take(1 + usize::from(f == MOCGP));
    let all = (0..Rows::ALL.len()).flat_map(move |r| {
        (0..FAMILIES.len()).flat_map(move |f| ways(f).map(move |by_parts| (r, f, by_parts)))
    });
    let case = |(r, f, by_parts): (usize, usize, bool)| Case {
        rows: Rows::ALL[r],
        family: FAMILIES[f],
        by_parts,
        published: PUBLISHED[r][f],
        reached: REACHED
            .iter()
            .find(|known| (known.0, known.1, known.2) == (r, f, by_parts))
            .map(|known| known.3),
    };
    all.map(case)
        .filter(|case| !case.family.varies || case.rows.varying().is_some())
}

impl Case {
    fn name(&self) -> String {
        format!("{} {}", self.rows.name(), self.model())
    }

    fn model(&self) -> String {
        let ending = if self.by_parts { " by parts" } else { "" };
        format!("{}{ending}", self.family.name)
    }

    /// Whether another case has the same rows and model, whatever mixes the stations.
    fn same_but_mixing(&self, other: &Self) -> bool {
        self.rows == other.rows && self.family.name == other.family.name
    }

    /// The stations that a fit of it judges: both at once, or each by a fit of its own.
    fn fits(&self) -> Vec<Vec<usize>> {
        match self.family.several {
            true => vec![vec![0, 1]],
            false => vec![vec![0], vec![1]],
        }
    }
}

/// Runs the study.
///
/// # Errors
/// [`crate::data::Missing`]; as the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(1, 3);
    let mut report = Report::new("Demand for bicycles in New York, hidden in part");
    report.setting(format!(
        "stations 3711 and 366, each by itself or both in models of two outputs: {LEARN} hours from 1 June 2018 on to learn from, the next {SKIPPED} left out, the {TEST} after them to test against the true demand"
    ));
    report.setting(format!(
        "{repeats} draws of the censoring: an hour is censored with probability sigmoid(pickups - dropoffs - 5) of the hour before, and then records a uniform share of its demand, rounded down"
    ));
    report.setting(
        "kernel periodic(hour, 24) + se(hour) + se(rain) + periodic(hour, 168), mixed by one matrix of rank one for two outputs, \"by parts\" by one for each of the four; exp link for counts; noise or dispersion as a function: periodic(hour, 24), mixed likewise; most probable hyperparameters, default priors and starts",
    );
    let mut scores = Table::new(
        "R2 of either station beside the source's (which judges 3711 with a neighbour of its own choice), mean absolute error in bicycles, mean negative log predictive density in nats; +- standard error over draws",
        &[
            "rows",
            "model",
            "R2, 3711",
            "source",
            "R2, 366",
            "MAE, 3711",
            "MAE, 366",
            "NLPD, 3711",
            "NLPD, 366",
        ],
    );
    let mut fits = Table::new(
        "Fits: of one station, or of both; not settled (left out above); by the variational approximation because expectation propagation did not settle; seconds on the wall clock with two threads; log evidence of the rows of both stations (of fits that settled), mean of the draws, of densities for Gaussian rows and probabilities for counts. The source gives one time: about 30 minutes for HMOCGP, on a graphics card",
        &[
            "rows",
            "model",
            "stations",
            "fits",
            "not settled",
            "variational",
            "s per fit",
            "longest",
            "log evidence",
        ],
    );
    let wanted: Vec<Case> = cases().filter(|c| settings.wants(&c.name())).collect();
    ensure!(
        !wanted.is_empty(),
        "no model of this study has a name that contains the text of --only; one is `{}`",
        cases().last().map_or(String::new(), |case| case.name())
    );
    let mut open = 0;
    let mut by_one: Option<Outcome> = None;
    for case in wanted {
        let name = case.name();
        let steps = Steps::new(&name, repeats);
        let draws = (0..repeats as u64)
            .map(|repeat| steps.after(one(&case, settings, repeat)))
            .collect::<Result<Vec<Draw>>>()
            .with_context(|| name.clone())?;
        let outcome = Outcome { case, draws };
        // A long study that is stopped has lost nothing.
        for (table, cells) in [
            (&mut scores, outcome.score_cells()),
            (&mut fits, outcome.fit_cells()),
        ] {
            eprintln!("| {} |", cells.join(" | "));
            table.row(cells);
        }
        open += outcome.unsettled();
        // The case before is the same model mixed by one matrix, unless `--only` left it out.
        let one =
            by_one.filter(|one| outcome.case.by_parts && one.case.same_but_mixing(&outcome.case));
        if let Some(gained) = one.and_then(|one| outcome.gained_over(&one)) {
            let what = format!("{name}: nats of evidence above one matrix");
            report.check(what, gained, 0.0, f64::INFINITY);
        }
        let r2 = mean(&outcome.of(0, |s| s.r2));
        for (by, least) in [
            ("that of the source", case.published),
            ("that of prototypes", case.reached),
        ] {
            if let Some(least) = least {
                report.check(format!("{name}: R2, {by}"), r2, least, 1.0);
            }
        }
        by_one = Some(outcome);
    }
    report.check("fits not settled", open as f64, 0.0, 0.0);
    report.tables.extend([scores, fits]);
    report.note("counts of station 366 are all even: they look summed twice in the source's file, and are taken as they are");
    Ok(report)
}

/// All draws of a line of the table.
struct Outcome {
    case: Case,
    draws: Vec<Draw>,
}

impl Outcome {
    /// A score of a station, of every draw whose fit settled.
    fn of(&self, station: usize, what: fn(&Score) -> f64) -> Vec<f64> {
        let scores = self.draws.iter().filter_map(|d| d.scores[station].as_ref());
        scores.map(what).collect()
    }

    fn told(&self) -> impl Iterator<Item = &Told> {
        self.draws.iter().flat_map(|draw| &draw.fits)
    }

    fn unsettled(&self) -> usize {
        self.told().filter(|fit| !fit.settled).count()
    }

    fn named(&self) -> Vec<String> {
        let rows = self.case.rows;
        vec![rows.name().to_owned(), self.case.model()]
    }

    /// Of every draw, that of both stations; none where a fit did not settle.
    fn evidences(&self) -> impl Iterator<Item = Option<f64>> {
        let of = |draw: &Draw| draw.fits.iter().map(|fit| fit.evidence).sum();
        self.draws.iter().map(of)
    }

    /// Mean over the draws whose fits settled.
    fn evidence(&self) -> f64 {
        mean(&self.evidences().flatten().collect::<Vec<f64>>())
    }

    /// By how much the evidence is above that of another model, over the draws where both settled;
    /// none where there is no such draw.
    fn gained_over(&self, other: &Self) -> Option<f64> {
        let both = self.evidences().zip(other.evidences());
        let gains: Vec<f64> = both.filter_map(|(a, b)| Some(a? - b?)).collect();
        (!gains.is_empty()).then(|| mean(&gains))
    }

    fn score_cells(&self) -> Vec<String> {
        let published = self.case.published;
        let mut cells = self.named();
        cells.extend([
            plus(&self.of(0, |s| s.r2)),
            published.map_or("-".to_owned(), |r| format!("{r:.3}")),
            plus(&self.of(1, |s| s.r2)),
            plus(&self.of(0, |s| s.mae)),
            plus(&self.of(1, |s| s.mae)),
            plus(&self.of(0, |s| s.nlpd)),
            plus(&self.of(1, |s| s.nlpd)),
        ]);
        cells
    }

    fn fit_cells(&self) -> Vec<String> {
        let seconds: Vec<f64> = self.told().map(|fit| fit.seconds).collect();
        let fell_back = self.told().filter(|fit| fit.fell_back).count();
        let longest = seconds.iter().copied().fold(0.0, f64::max);
        let mut cells = self.named();
        cells.push(if self.case.family.several { "2" } else { "1" }.to_owned());
        cells.extend([seconds.len(), self.unsettled(), fell_back].map(|n| n.to_string()));
        cells.extend([mean(&seconds), longest, self.evidence()].map(|s| format!("{s:.1}")));
        cells
    }
}

fn plus(values: &[f64]) -> String {
    match values {
        [] => "-".to_owned(),
        [only] => format!("{only:.3}"),
        _ => format!("{:.3} +- {:.3}", mean(values), standard_error(values)),
    }
}

/// What one draw came to.
struct Draw {
    /// By station; none where the fit did not settle.
    scores: [Option<Score>; 2],
    fits: Vec<Told>,
}

struct Score {
    r2: f64,
    mae: f64,
    nlpd: f64,
}

/// How a fit went.
struct Told {
    settled: bool,
    fell_back: bool,
    seconds: f64,
    /// In nats; none where it did not settle.
    evidence: Option<f64>,
}

fn one(case: &Case, settings: &Settings, repeat: u64) -> Result<Draw> {
    let mut random = settings.random(repeat);
    let stations = STATIONS
        .iter()
        .map(|name| Station::draw(&settings.data, name, &mut random))
        .collect::<Result<Vec<Station>>>()?;
    let mut draw = Draw {
        scores: [None, None],
        fits: Vec::new(),
    };
    for judged in case.fits() {
        let started = std::time::Instant::now();
        let posterior = fit(case, &stations, &judged)?;
        draw.fits.push(Told {
            settled: posterior.is_some(),
            fell_back: posterior
                .as_ref()
                .is_some_and(|p| p.summary().inference == "variational"),
            seconds: started.elapsed().as_secs_f64(),
            evidence: posterior.as_ref().map(|p| p.summary().log_evidence),
        });
        let Some(posterior) = posterior else { continue };
        for &station in &judged {
            draw.scores[station] = Some(score(case, &posterior, &stations[station], station)?);
        }
    }
    Ok(draw)
}

fn score(case: &Case, posterior: &Posterior, judged: &Station, station: usize) -> Result<Score> {
    let (truth, mut at) = judged.test()?;
    if case.family.several {
        at = posterior.at_output(&at, STATIONS[station])?;
    }
    let p = posterior.predict(&at, Scale::Observation)?;
    let off: Vec<f64> = p.mean().iter().zip(truth).map(|(m, y)| m - y).collect();
    let level = mean(truth);
    let about: f64 = truth.iter().map(|y| (y - level).powi(2)).sum();
    let nlpd: Vec<f64> = p.log_density(truth).iter().map(|l| -l).collect();
    Ok(Score {
        r2: 1.0 - off.iter().map(|d| d * d).sum::<f64>() / about,
        mae: mean_absolute(&off),
        nlpd: mean(&nlpd),
    })
}

fn rows(case: &Case, station: &Station) -> Result<Likelihood> {
    let recorded = station.recorded[..LEARN].to_vec();
    let sides = &station.sides[..LEARN];
    let exposure = vec![1.0; LEARN];
    let upper: Vec<f64> = recorded
        .iter()
        .zip(sides)
        .map(|(y, side)| match side {
            Side::Right if !case.family.ignores => f64::INFINITY,
            _ => *y,
        })
        .collect();
    Ok(match case.rows {
        Rows::Gaussian if case.family.ignores => Gaussian::new(recorded, Noise::Learned)?.into(),
        Rows::Gaussian => Censored::new(recorded, sides, Noise::Learned)?.into(),
        Rows::Poisson => Poisson::ranges(recorded, upper, exposure, Link::Exp)?.into(),
        Rows::NegativeBinomial => {
            let dispersion = Dispersion::Learned;
            NegativeBinomial::ranges(recorded, upper, exposure, Link::Exp, dispersion)?.into()
        }
    })
}

/// A model of some stations; none when it did not settle.
fn fit(case: &Case, stations: &[Station], judged: &[usize]) -> Result<Option<Posterior>> {
    let day = || Kernel::periodic("hour", Some(24.0));
    let week = Kernel::periodic("hour", Some(168.0));
    let mixed = |kernel: Kernel| match case.family.several {
        true => Kernel::coregion("station", STATIONS, 1) * kernel,
        false => kernel,
    };
    let rest = [Kernel::se(["hour"]), Kernel::se(["rain"]), week];
    let sum = |kernel: Kernel, part: Kernel| kernel + part;
    let mut model = Model::new(match case.by_parts {
        true => rest.map(mixed).into_iter().fold(mixed(day()), sum),
        false => mixed(rest.into_iter().fold(day(), sum)),
    });
    for &station in judged {
        let own = &stations[station];
        let table = Observations::new(own.places(0..LEARN)?, rows(case, own)?)?;
        model = model.observe(match case.family.several {
            true => table.of_output(STATIONS[station]),
            false => table,
        });
    }
    if let Some(varying) = case.rows.varying().filter(|_| case.family.varies) {
        model = model.vary(varying, mixed(day()), Link::Exp);
    }
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    match model.fit(&options) {
        Ok(posterior) if posterior.summary().converged => Ok(Some(posterior)),
        Ok(_) | Err(FitError::NotConverged { .. } | FitError::NoStart { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
