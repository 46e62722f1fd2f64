//! Cases of small areas from those of zones of them, beside what users of maps do today.

use anyhow::{Context, Result, bail, ensure};
use geojson::{GeoJson, GeometryValue, Position};
use quadrat::baseline::{BinHeight, Constant, Predict};
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{FitOptions, Model, Observations, Scale};
use quadrat::support::Functionals;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::simple::{self, Scores};
use crate::data;
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{coverage, mean};
use crate::steps::Steps;

const FILE: &str = "areal/ny8_leukemia.geojson";
/// How many zones there are.
const ZONES: [usize; 2] = [30, 80];
const METHODS: [&str; 4] = ["ours", "by people", "by area", "overall rate"];

/// A tract at its middle, in km.
struct Tract {
    at: [f64; 2],
    people: f64,
    area: f64,
    cases: f64,
}

/// Runs the study.
///
/// # Errors
/// [`crate::data::Missing`]; a file that cannot be read; a fit that fails.
pub fn run(settings: &Settings) -> Result<Report> {
    let tracts = read(settings)?;
    let repeats = settings.repeats(2, 20);
    let mut report = Report::new("Cases of small areas from those of zones");
    report.setting(format!(
        "data: {FILE}, {} census tracts with {:.0} people and {:.0} cases of leukaemia (parts of cases, since some could be placed in several tracts)",
        tracts.len(),
        tracts.iter().map(|t| t.people).sum::<f64>(),
        tracts.iter().map(|t| t.cases).sum::<f64>()
    ));
    report.setting(format!(
        "{repeats} random zonings: as many tracts as zones are drawn, and every tract joins the nearest; the cases of a zone, rounded, are given, those of every tract predicted"
    ));
    report.setting("ours: matern32(x, y) behind an exponential, counts of bags of tracts weighted by people, default settings; by people: dasymetric weighting, the cases of a zone in proportion to people; by area: areal weighting; overall rate: all cases in proportion to people");
    let title = |zones: usize| {
        format!(
            "{zones} zones: squared error of the cases of a tract and m - y log m (NLL up to a constant), means over the zonings +- one standard error; p: Wilcoxon's signed-rank test over the zonings"
        )
    };
    let mut held = Table::new(
        "share of tracts whose cases lie in the intervals of new counts, 95 %",
        &["zones", "share"],
    );
    for zones in ZONES {
        let mut all: Vec<Scores> = METHODS
            .into_iter()
            .map(|method| Scores {
                method,
                square: Vec::new(),
                nll: Vec::new(),
            })
            .collect();
        let mut inside = Vec::new();
        let steps = Steps::new(format!("{zones} zones"), repeats);
        for repeat in 0..repeats as u64 {
            let mut random = settings.random(11_000 + repeat);
            let (found, share) = steps.after(one(&tracts, zones, &mut random))?;
            inside.push(share);
            for (scores, (square, nll)) in all.iter_mut().zip(found) {
                scores.square.push(square);
                scores.nll.push(nll);
            }
        }
        held.row(vec![zones.to_string(), format!("{:.3}", mean(&inside))]);
        report.check(
            format!("{zones} zones: NLL of ours less the best of the others"),
            mean(&all[0].nll) - best(&all[1..]),
            f64::NEG_INFINITY,
            0.0,
        );
        report.tables.push(simple::table(&title(zones), &all));
    }
    report.tables.push(held);
    Ok(report)
}

fn best(others: &[Scores]) -> f64 {
    let all = others.iter().map(|scores| mean(&scores.nll));
    all.fold(f64::INFINITY, f64::min)
}

fn read(settings: &Settings) -> Result<Vec<Tract>> {
    let path = data::find(&settings.data, FILE)?;
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let GeoJson::FeatureCollection(collection) = text.parse().context(FILE)? else {
        bail!("{FILE} is not a collection of features");
    };
    let one = |(row, feature): (usize, &geojson::Feature)| {
        let number = |name: &str| {
            let value = feature.property(name).and_then(|v| v.as_f64());
            value.with_context(|| format!("{FILE}: feature {row} has no {name}"))
        };
        let geometry = feature.geometry.as_ref().map(|g| &g.value);
        let area = match geometry {
            Some(GeometryValue::Polygon { coordinates }) => area(coordinates),
            Some(GeometryValue::MultiPolygon { coordinates }) => {
                coordinates.iter().map(|part| area(part)).sum()
            }
            _ => bail!("{FILE}: feature {row} is not a polygon"),
        };
        Ok(Tract {
            at: [number("X")?, number("Y")?],
            people: number("POP8")?,
            area,
            cases: number("TRACTCAS")?,
        })
    };
    let tracts: Vec<Tract> = collection
        .features
        .iter()
        .enumerate()
        .map(one)
        .collect::<Result<_>>()?;
    ensure!(
        tracts.len() > 100,
        "{FILE} has only {} tracts",
        tracts.len()
    );
    Ok(tracts)
}

/// Of a ring and its holes, square km.
fn area(rings: &[Vec<Position>]) -> f64 {
    let signed = |ring: &Vec<Position>| -> f64 {
        let corners = ring.iter().zip(ring.iter().skip(1));
        let twice: f64 = corners.map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum();
        (0.5e-6 * twice).abs()
    };
    let mut areas = rings.iter().map(signed);
    areas.next().unwrap_or(0.0) - areas.sum::<f64>()
}

/// The tracts of every zone.
fn zoned(tracts: &[Tract], zones: usize, random: &mut ChaCha8Rng) -> Vec<Vec<usize>> {
    let mut seeds: Vec<usize> = (0..tracts.len()).collect();
    seeds.shuffle(random);
    seeds.truncate(zones);
    let distance = |a: usize, b: usize| {
        let (a, b) = (tracts[a].at, tracts[b].at);
        (a[0] - b[0]).hypot(a[1] - b[1])
    };
    let mut out = vec![Vec::new(); zones];
    for tract in 0..tracts.len() {
        let near = (0..zones)
            .min_by(|&a, &b| distance(tract, seeds[a]).total_cmp(&distance(tract, seeds[b])));
        out[near.unwrap_or(0)].push(tract);
    }
    out
}

/// Bags of the tracts of zones, with a weight of each tract.
fn bags(tracts: &[Tract], zones: &[Vec<usize>], weight: fn(&Tract) -> f64) -> Result<Functionals> {
    let mut bags = Functionals::new(vec!["x".into(), "y".into()]);
    for zone in zones {
        let points: Vec<Vec<f64>> = zone.iter().map(|&t| tracts[t].at.to_vec()).collect();
        let weights: Vec<f64> = zone.iter().map(|&t| weight(&tracts[t])).collect();
        bags.push_nodes(&points, &weights)?;
    }
    Ok(bags)
}

/// Squared error and score of every method, and the share of tracts inside our intervals.
fn one(
    tracts: &[Tract],
    zones: usize,
    random: &mut ChaCha8Rng,
) -> Result<([(f64, f64); METHODS.len()], f64)> {
    let zones = zoned(tracts, zones, random);
    let cases = |zone: &Vec<usize>| zone.iter().map(|&t| tracts[t].cases).sum::<f64>().round();
    let counts: Vec<f64> = zones.iter().map(cases).collect();
    let single: Vec<Vec<usize>> = (0..tracts.len()).map(|t| vec![t]).collect();
    let people = |t: &Tract| t.people;
    let rows = |weight: fn(&Tract) -> f64| -> Result<Observations> {
        let exposure = vec![1.0; counts.len()];
        let counts = Poisson::new(counts.clone(), exposure, Link::Exp)?;
        Ok(Observations::new(bags(tracts, &zones, weight)?, counts)?)
    };
    let (by_people, by_area) = (rows(people)?, rows(|t| t.area)?);
    let at = bags(tracts, &single, people)?;
    let kernel: Kernel = "matern32(x, y)".parse()?;
    let posterior = Model::new(kernel)
        .observe(by_people.clone())
        .fit(&FitOptions::default())?;
    let ours = posterior.predict(&at, Scale::Response)?;
    let new = Observations::new(
        at.clone(),
        Poisson::new(vec![0.0; tracts.len()], vec![1.0; tracts.len()], Link::Exp)?,
    )?;
    let told = posterior.predict_rows(&new, 0)?;
    let truth: Vec<f64> = tracts.iter().map(|t| t.cases).collect();
    let share = coverage(&truth, &told.quantile(0.025), &told.quantile(0.975));
    let judged = |means: &[f64]| {
        let pairs = || means.iter().zip(&truth);
        let squares: Vec<f64> = pairs().map(|(m, y)| (m - y).powi(2)).collect();
        // A zone without a case has no chance of one: half a case over all tracts in its place.
        let least = 0.5 / tracts.len() as f64;
        let nll = pairs().map(|(m, y)| m - y * m.max(least).ln());
        (mean(&squares), mean(&nll.collect::<Vec<f64>>()))
    };
    let of = |method: &dyn Predict, at: &Functionals| -> Result<(f64, f64)> {
        Ok(judged(method.predict_response(at)?.mean()))
    };
    let found = [
        judged(ours.mean()),
        of(&BinHeight::new(&by_people)?, &at)?,
        of(
            &BinHeight::new(&by_area)?,
            &bags(tracts, &single, |t| t.area)?,
        )?,
        of(&Constant::new(&by_people)?, &at)?,
    ];
    Ok((found, share))
}
