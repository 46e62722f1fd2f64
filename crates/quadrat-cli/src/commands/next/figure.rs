//! What each kind would tell, over one or two inputs, as a figure.

use std::path::Path;

use anyhow::Result;
use quadrat::model::Scale;
use quadrat_plot::{
    Axis, CurveFigure, Figure, Heading, Panel, Pixel, Places as At, Predicted, Reference,
    SurfaceFigure,
};
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::engine::Posterior;
use quadrat_study::functionals::functionals;
use quadrat_study::numbers::{count, human};
use quadrat_study::places::Places;

use super::super::figures::drawn;
use super::said::{Told, bits};

/// Candidates that lie on no grid are squares of this share of the range.
const SHARE: f64 = 0.02;
/// Candidates that are drawn at most.
const MOST: usize = 40_000;

/// Refuses a figure of what cannot be drawn, before anything is computed.
pub fn drawable(places: &Places, posterior: &Posterior) -> Result<(), Problems> {
    if places.dims.len() == 2 && !posterior.outputs().is_empty() {
        let message = "--plot draws maps of models with one output";
        return Err(Problem::new(message)
            .remedy("leave --plot out; `-o OUT.csv --all` has all numbers")
            .into());
    }
    let is_point = places.shapes.is_none() && places.dims.iter().all(|dim| dim.second.is_none());
    if is_point && (1..=2).contains(&places.dims.len()) && places.len() <= MOST {
        return Ok(());
    }
    let message = "--plot draws points along one input or over two, up to 40,000 of them";
    Err(Problem::new(message)
        .remedy("leave --plot out; `-o OUT.csv --all` has all numbers")
        .into())
}

/// The figure as the file that is asked for.
pub fn figure(path: &Path, told: &Told<'_>, posterior: &Posterior) -> Result<Vec<u8>> {
    let figure = match told.places.dims.len() {
        1 => curve(told, posterior)?,
        _ => surface(told, posterior)?,
    };
    let title = "What to measure next";
    drawn(path, title, vec![caption(told)], Vec::new(), vec![figure])
}

fn caption(told: &Told<'_>) -> String {
    let kinds: Vec<String> = told
        .offers
        .iter()
        .map(|offer| format!("{} costs {}", offer.name, human(offer.cost)))
        .collect();
    format!(
        "What one more measurement of each kind would tell of the function for its cost, before any is made ({}), and the {} chosen.",
        kinds.join(", "),
        count(told.chosen.choices.len(), "measurement")
    )
}

/// Means and sds of the function at the candidates, with 95 % intervals, where it has one output.
fn believed(told: &Told<'_>, posterior: &Posterior) -> Result<Option<[Vec<f64>; 4]>> {
    if !posterior.outputs().is_empty() {
        return Ok(None);
    }
    let at = functionals(told.places, 0..told.places.len())?;
    let p = posterior.predict(&at, Scale::Latent)?;
    let [lower, upper] = [0.025, 0.975].map(|q| p.quantile(q));
    Ok(Some([p.mean().to_vec(), p.sd().to_vec(), lower, upper]))
}

fn curve(told: &Told<'_>, posterior: &Posterior) -> Result<Figure> {
    let dim = &told.places.dims[0];
    let x = &dim.first;
    let mut panels = Vec::new();
    if let Some([mean, _, lower, upper]) = believed(told, posterior)? {
        panels.push(Panel {
            title: "The function".to_owned(),
            y: Axis::new("Function"),
            predicted: vec![Predicted {
                label: "Mean".to_owned(),
                at: At::Points(x.clone()),
                mean,
                lower,
                upper,
                level: 0.95,
            }],
            ..Panel::default()
        });
    }
    let kinds = 0..told.offers.len();
    let best = kinds.flat_map(|kind| {
        let cost = told.offers[kind].cost;
        told.alone(kind).iter().map(move |nats| bits(*nats) / cost)
    });
    // One scale for all, and some room above.
    let top = 1.05 * best.fold(0.0, f64::max);
    for (kind, offer) in told.offers.iter().enumerate() {
        let each: Vec<f64> = told
            .alone(kind)
            .iter()
            .map(|nats| bits(*nats) / offer.cost)
            .collect();
        let own = told.chosen.choices.iter().map(|c| c.question);
        let own: Vec<usize> = own.filter(|q| q.kind == kind).map(|q| q.place).collect();
        panels.push(Panel {
            title: offer.name.clone(),
            y: Axis::new("Bits per cost"),
            domain: (top > 0.0).then_some((0.0, top)),
            reference: (!own.is_empty()).then(|| Reference {
                label: "Chosen".to_owned(),
                x: own.iter().map(|&p| x[p]).collect(),
                y: own.iter().map(|&p| each[p]).collect(),
            }),
            predicted: vec![Predicted {
                label: "Bits per cost".to_owned(),
                at: At::Points(x.clone()),
                mean: each,
                lower: Vec::new(),
                upper: Vec::new(),
                level: 0.0,
            }],
            ..Panel::default()
        });
    }
    Ok(Figure::Curve(CurveFigure {
        heading: Heading::new("next", "What to measure next").with_caption(caption(told)),
        x: Axis::new(&dim.name),
        panels,
    }))
}

fn surface(told: &Told<'_>, posterior: &Posterior) -> Result<Figure> {
    let [x, y] = [0, 1].map(|d: usize| &told.places.dims[d]);
    let sides = [half(&x.first), half(&y.first)];
    let believed = believed(told, posterior)?;
    let share = |kind: usize, place: usize| told.alone(kind)[place] / told.offers[kind].cost;
    let numbers = (0..told.offers.len()).flat_map(|k| (0..told.places.len()).map(move |p| (k, p)));
    let most = numbers
        .map(|(k, p)| share(k, p))
        .fold(f64::MIN_POSITIVE, f64::max);
    let pixel = |place: usize| {
        let at = |column: usize| believed.as_ref().map_or(0.0, |all| all[column][place]);
        Pixel {
            x0: x.first[place] - sides[0],
            x1: x.first[place] + sides[0],
            y0: y.first[place] - sides[1],
            y1: y.first[place] + sides[1],
            mean: at(0),
            sd: at(1),
            lower: at(2),
            upper: at(3),
            chances: (0..told.offers.len())
                .map(|kind| share(kind, place) / most)
                .collect(),
        }
    };
    let chosen = told.chosen.choices.iter().map(|c| c.question.place);
    Ok(Figure::Surface(SurfaceFigure {
        heading: Heading::new("next", "What to measure next").with_caption(format!(
            "{} Maps of the kinds are shares of the largest of all, {} bits per cost.",
            caption(told),
            human(bits(most))
        )),
        x: Axis::new(&x.name),
        y: Axis::new(&y.name),
        value: Axis::new("function"),
        predicted: (0..told.places.len()).map(pixel).collect(),
        marked: chosen.map(|p| [x.first[p], y.first[p]]).collect(),
        marked_label: "Chosen".to_owned(),
        level: 0.95,
        chances: told.offers.iter().map(|offer| offer.name.clone()).collect(),
        ..SurfaceFigure::default()
    }))
}

/// Half the distance of neighbours on a grid; of what lies on none a share of the range.
fn half(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let range = sorted.last().unwrap_or(&0.0) - sorted.first().unwrap_or(&0.0);
    let on_grid = sorted.len() * sorted.len() <= 4 * values.len() && sorted.len() > 1;
    match on_grid {
        true => 0.5 * range / (sorted.len() - 1) as f64,
        false if range > 0.0 => 0.5 * SHARE * range,
        false => 0.5,
    }
}
