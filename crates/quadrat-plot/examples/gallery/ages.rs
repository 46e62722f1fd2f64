//! The report people see first.

use quadrat_plot::{
    Axis, CurveFigure, Evidence, Fact, Figure, Heading, HyperRow, Observed, Panel, Places,
    Predicted, Reference, Report, TablePreview,
};

use crate::Noise;
use crate::figures::calibration;

fn people(age: f64) -> f64 {
    let cohort = 620.0
        + 260.0 * (-((age - 34.0) / 13.0).powi(2)).exp()
        + 190.0 * (-((age - 58.0) / 8.0).powi(2)).exp();
    let survival = 1.0 / (1.0 + ((age - 81.0) / 5.5).exp());
    1000.0 * cohort * survival / 2.0
}

/// The report people see first: people by year of age from a coarse table.
pub fn report() -> Report {
    let mut noise = Noise(3);
    let edges = [
        0.0, 5.0, 15.0, 18.0, 25.0, 35.0, 45.0, 50.0, 65.0, 75.0, 85.0, 100.0,
    ];
    let total = |from: f64, to: f64| {
        (from as usize..to as usize)
            .map(|a| people(a as f64 + 0.5))
            .sum::<f64>()
    };
    let observed: Vec<Observed> = edges
        .windows(2)
        .map(|e| Observed::total(e[0], e[1], total(e[0], e[1]).round()))
        .collect();
    let cells: Vec<(f64, f64)> = (0..100)
        .map(|a| (f64::from(a), f64::from(a) + 1.0))
        .collect();
    let mean: Vec<f64> = cells
        .iter()
        .map(|c| people(c.0 + 0.5) * (1.0 + 0.012 * (c.0 / 7.0).sin()))
        .collect();
    let width = |age: f64| {
        let bin = edges
            .windows(2)
            .find(|e| e[0] <= age && age < e[1])
            .map_or(1.0, |e| {
                let share = (age - e[0]) / (e[1] - e[0]);
                (e[1] - e[0]).sqrt() * (0.5 + (share - 0.5).abs())
            });
        3800.0 * bin
    };
    let lower: Vec<f64> = cells
        .iter()
        .zip(&mean)
        .map(|(c, m)| (m - width(c.0 + 0.5)).max(0.0))
        .collect();
    let upper: Vec<f64> = cells
        .iter()
        .zip(&mean)
        .map(|(c, m)| m + width(c.0 + 0.5))
        .collect();
    let truth: Vec<f64> = cells
        .iter()
        .map(|c| people(c.0 + 0.5) + 1500.0 * noise.normal())
        .collect();
    let rows = (0..100)
        .map(|i| {
            [
                cells[i].0,
                cells[i].1,
                mean[i],
                (upper[i] - mean[i]) / 1.96,
                lower[i],
                mean[i],
                upper[i],
            ]
        })
        .map(|row| row.map(Into::into).to_vec())
        .collect();
    let figure = CurveFigure {
        heading: Heading::new("by-year", "People in every year of age").with_caption(
            "Eleven published age groups (bars), what they imply for single years (line, with its 95 % interval), \
             and the single-year counts that the groups were made from (dots), which the model has not seen.",
        ),
        x: Axis::new("age").with_unit("years"),
        panels: vec![Panel {
            y: Axis::new("people per year of age"),
            observed,
            observed_label: "Published age groups (area of a bar = people)".to_owned(),
            predicted: vec![Predicted {
                label: "Predicted mean".to_owned(),
                at: Places::Cells(cells.clone()),
                mean,
                lower,
                upper,
                level: 0.95,
            }],
            reference: Some(Reference {
                label: "True single-year counts".to_owned(),
                x: cells.iter().map(|c| c.0 + 0.5).collect(),
                y: truth,
            }),
            ..Panel::default()
        }],
    };
    Report {
        title: "People by year of age".to_owned(),
        generated_by: "quadrat 0.1.0".to_owned(),
        summary: vec![
            "Eleven age groups of unequal width were turned into one hundred single years of age.".to_owned(),
            "The curve keeps every published total, is smooth over about 12 years, and its 95 % intervals held 10 of the 11 \
             groups when each was left out in turn."
                .to_owned(),
        ],
        facts: vec![
            fact("People in all", "36,204,118", "exact: the sum of the groups"),
            fact("Largest single year", "age 34", "442,000; 95 %: 431,000 to 453,000"),
            fact("Aged 67 or over", "6,120,000", "95 %: 6,090,000 to 6,150,000"),
        ],
        figures: vec![Figure::Curve(figure)],
        calibration: Some(calibration(11)),
        hyperparameters: vec![
            hyper("se.lengthscale.age", 12.31, Some((8.02, 18.9)), false, "Ages this far apart are still alike, in years"),
            hyper("se.variance", 2.41e9, Some((8.1e8, 9.7e9)), false, "How far the curve strays from its mean, squared"),
            hyper("mean.constant", 361_204.0, Some((212_000.0, 498_000.0)), false, "Level the curve returns to without data"),
            hyper("noise.variance", 4.0, None, true, "Variance of the published totals around the truth"),
        ],
        evidence: Some(Evidence {
            log_evidence: -124.73,
            kind: "exact".to_owned(),
            bound: None,
            inference: "exact".to_owned(),
            rows: 11,
            integrated: true,
            nodes: 45,
            iterations: 37,
            seconds: 0.214,
            converged: true,
        }),
        predictions: vec![TablePreview {
            name: "by-year".to_owned(),
            file: "by-year.csv".to_owned(),
            note: "People per year of age; response scale; 95 % intervals.".to_owned(),
            columns: ["from", "to", "mean", "sd", "lower", "median", "upper"].map(str::to_owned).to_vec(),
            rows,
            total_rows: 100,
        }],
        study: "title  = \"People by year of age\"\n\n[latent]\nkernel = \"se(age)\"\n\n[[observe]]\nfile       = \"ages.csv\"\n\
                support    = { box = { age = [\"from\", \"to\"] } }\naggregate  = \"sum\"\n\
                likelihood = { gaussian = { value = \"people\", variance = 4 } }\n"
            .to_owned(),
        notes: vec!["Made-up numbers for the gallery of figures.".to_owned()],
        ..Report::default()
    }
}

pub fn fact(label: &str, value: &str, detail: &str) -> Fact {
    Fact {
        label: label.to_owned(),
        value: value.to_owned(),
        detail: detail.to_owned(),
    }
}

pub fn hyper(
    name: &str,
    value: f64,
    interval: Option<(f64, f64)>,
    fixed: bool,
    meaning: &str,
) -> HyperRow {
    HyperRow {
        name: name.to_owned(),
        value,
        lower: interval.map(|i| i.0),
        upper: interval.map(|i| i.1),
        fixed,
        meaning: meaning.to_owned(),
    }
}
