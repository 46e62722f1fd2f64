//! Everything that can be observed otherwise than as a number.

use std::error::Error;

use quadrat_plot::{
    Axis, CurveFigure, Figure, Heading, Marks, Observed, Panel, Places, Predicted, Report, Side,
};

use crate::Noise;

/// One figure for each kind of mark, and one of thousands of rows.
pub fn report() -> Result<Report, Box<dyn Error>> {
    let figures = [
        intervals()?,
        groups()?,
        detection()?,
        grades()?,
        rates()?,
        answers()?,
        many()?,
    ];
    Ok(Report {
        title: "Observed otherwise than as a number".to_owned(),
        generated_by: "quadrat 0.1.0".to_owned(),
        figures: figures.into_iter().map(Figure::Curve).collect(),
        ..Report::default()
    })
}

fn truth(x: f64) -> f64 {
    5.0 + 2.4 * (x / 6.0).sin() + 0.05 * x
}

/// A curve with a band of a half-width.
fn predicted(of: impl Fn(f64) -> f64, half: f64, end: f64) -> Predicted {
    let at: Vec<f64> = (0..=200).map(|i| f64::from(i) * end / 200.0).collect();
    let mean: Vec<f64> = at.iter().map(|&x| of(x)).collect();
    Predicted {
        lower: mean.iter().map(|m| m - half).collect(),
        upper: mean.iter().map(|m| m + half).collect(),
        at: Places::Points(at),
        mean,
        level: 0.95,
        ..Predicted::default()
    }
}

fn figure(id: &str, title: &str, x: Axis, panels: Vec<Panel>) -> CurveFigure {
    CurveFigure {
        heading: Heading::new(id, title),
        x,
        panels,
    }
}

fn names(n: usize) -> Vec<String> {
    (1..=n).map(|i| format!("wells.csv, row {i}")).collect()
}

/// Bars between two ends, some of them open.
fn intervals() -> Result<CurveFigure, Box<dyn Error>> {
    let mut noise = Noise(31);
    let at: Vec<f64> = (0..24).map(|i| 0.5 + 1.6 * f64::from(i)).collect();
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for (i, &x) in at.iter().enumerate() {
        let middle = truth(x) + 0.4 * noise.normal();
        let half = 0.3 + 1.2 * noise.uniform();
        lower.push(if i % 6 == 1 {
            f64::NEG_INFINITY
        } else {
            middle - half
        });
        upper.push(if i % 7 == 4 {
            f64::INFINITY
        } else {
            middle + half
        });
    }
    let marks = Marks::intervals(at.iter().copied(), &lower, &upper)?.with_rows(names(24))?;
    let panel = Panel {
        y: Axis::new("depth of ground water").with_unit("m"),
        marks: vec![marks],
        predicted: vec![predicted(truth, 0.5, 38.0)],
        ..Panel::default()
    };
    let title = "Values known to lie between two ends";
    Ok(figure("intervals", title, Axis::new("day"), vec![panel]))
}

/// Boxes over stretches, the last without an upper end.
fn groups() -> Result<CurveFigure, Box<dyn Error>> {
    let edges = [0.0, 4.0, 9.0, 15.0, 18.0, 26.0, 31.0, 38.0];
    let stretches: Vec<(f64, f64)> = edges.windows(2).map(|e| (e[0], e[1])).collect();
    let middle = |s: &(f64, f64)| truth(f64::midpoint(s.0, s.1));
    let lower: Vec<f64> = stretches.iter().map(|s| middle(s) - 0.8).collect();
    let mut upper: Vec<f64> = stretches.iter().map(|s| middle(s) + 0.9).collect();
    upper[6] = f64::INFINITY;
    let panel = Panel {
        y: Axis::new("mean income").with_unit("1000 €"),
        marks: vec![
            Marks::intervals(stretches, &lower, &upper)?
                .with_label("Published class of the mean (arrow: top class)"),
        ],
        predicted: vec![predicted(truth, 0.4, 38.0)],
        ..Panel::default()
    };
    let title = "Classes over stretches";
    Ok(figure(
        "groups",
        title,
        Axis::new("years in the job"),
        vec![panel],
    ))
}

/// Exact readings beside limits of detection and caps.
fn detection() -> Result<CurveFigure, Box<dyn Error>> {
    let mut noise = Noise(37);
    let (mut exact, mut at, mut limits, mut sides) = (vec![], vec![], vec![], vec![]);
    for i in 0..46 {
        let x = 0.4 + 0.81 * f64::from(i);
        let y = truth(x) + 0.5 * noise.normal();
        match y {
            y if y < 3.6 => {
                at.push(x);
                limits.push(3.6);
                sides.push(Side::Below);
            }
            y if y > 8.0 => {
                at.push(x);
                limits.push(8.0);
                sides.push(Side::Above);
            }
            y => exact.push(Observed::point(x, y)),
        }
    }
    let stretch = Marks::censored([(12.5, 16.0)], &[5.6], &[Side::Below])?
        .with_label("Composite below its limit");
    let panel = Panel {
        y: Axis::new("cadmium").with_unit("µg/L"),
        observed: exact,
        observed_label: "Exact reading".to_owned(),
        marks: vec![Marks::censored(at, &limits, &sides)?, stretch],
        predicted: vec![predicted(truth, 0.5, 38.0)],
        ..Panel::default()
    };
    let title = "Readings beyond the limits of an instrument";
    Ok(figure("limits", title, Axis::new("day"), vec![panel]))
}

/// Ranks in bands with names, and in many narrow bands.
fn grades() -> Result<CurveFigure, Box<dyn Error>> {
    let panel = |title: &str, thresholds: &[f64], names: &[&str], seed| {
        let mut noise = Noise(seed);
        let at: Vec<f64> = (0..90).map(|i| 0.2 + 0.42 * f64::from(i)).collect();
        let rank = |&x: &f64| {
            let y = truth(x) + 0.6 * noise.normal();
            1 + thresholds.iter().filter(|t| **t < y).count()
        };
        let ranks: Vec<usize> = at.iter().map(rank).collect();
        Ok::<_, Box<dyn Error>>(Panel {
            title: title.to_owned(),
            y: Axis::new("satisfaction, latent"),
            marks: vec![Marks::ranks(at, &ranks, thresholds, names)?],
            predicted: vec![predicted(truth, 0.4, 38.0)],
            ..Panel::default()
        })
    };
    let few = ["poor", "fair", "good", "very good", "excellent"];
    let many: Vec<f64> = (0..19).map(|i| 2.0 + 0.4 * f64::from(i)).collect();
    let panels = vec![
        panel("Five named grades", &[3.2, 4.6, 6.0, 7.6], &few, 41)?,
        panel("Twenty grades", &many, &[], 43)?,
    ];
    Ok(figure(
        "ranks",
        "Grades in their bands",
        Axis::new("week"),
        panels,
    ))
}

/// Cases per 100,000 people, small counts suppressed.
fn rates() -> Result<CurveFigure, Box<dyn Error>> {
    let mut noise = Noise(47);
    let rate = |x: f64| 40.0 + 25.0 * (x / 7.0).sin() + x;
    let (mut at, mut lower, mut upper, mut people) = (vec![], vec![], vec![], vec![]);
    for i in 0..48 {
        let x = 0.5 + 0.78 * f64::from(i);
        let n = (3.0 + 4.4 * noise.uniform()).exp() * 260.0;
        let mean = rate(x) * n / 1e5;
        let cases = (mean + mean.sqrt() * noise.normal()).round().max(0.0);
        let suppressed = (1.0..=4.0).contains(&cases);
        at.push(x);
        people.push(n.round());
        lower.push(if suppressed { 1.0 } else { cases });
        upper.push(if suppressed { 4.0 } else { cases });
    }
    let panel = Panel {
        y: Axis::new("cases").with_unit("per 100,000 people"),
        marks: vec![Marks::rates(at, &lower, &upper, &people, 1e5)?],
        predicted: vec![predicted(rate, 6.0, 38.0)],
        ..Panel::default()
    };
    let title = "Counts as rates, small counts suppressed";
    Ok(figure("rates", title, Axis::new("week"), vec![panel]))
}

/// Yes and no along a probability.
fn answers() -> Result<CurveFigure, Box<dyn Error>> {
    let mut noise = Noise(53);
    let chance = |x: f64| 1.0 / (1.0 + (-(truth(x) - 5.5)).exp());
    let at: Vec<f64> = (0..120).map(|i| 0.1 + 0.316 * f64::from(i)).collect();
    let yes: Vec<bool> = at.iter().map(|&x| noise.uniform() < chance(x)).collect();
    let panel = Panel {
        y: Axis::new("probability of yes"),
        marks: vec![Marks::signs(at, &yes)?],
        predicted: vec![predicted(chance, 0.06, 38.0)],
        ..Panel::default()
    };
    let title = "Answers of yes or no";
    Ok(figure(
        "answers",
        title,
        Axis::new("dose").with_unit("mg"),
        vec![panel],
    ))
}

/// Five thousand rows of each kind.
fn many() -> Result<CurveFigure, Box<dyn Error>> {
    let mut noise = Noise(59);
    let n = 5000;
    let at: Vec<f64> = (0..n).map(|_| 38.0 * noise.uniform()).collect();
    let y: Vec<f64> = at
        .iter()
        .map(|&x| truth(x) + 0.8 * noise.normal())
        .collect();
    let of = |change: &dyn Fn(f64) -> f64| -> Vec<f64> { y.iter().map(|&y| change(y)).collect() };
    let x = || at.iter().copied();
    let ranks: Vec<usize> = y
        .iter()
        .map(|y| (y / 2.0).clamp(0.0, 4.0) as usize + 1)
        .collect();
    let sides: Vec<Side> = y
        .iter()
        .map(|y| if *y < 5.0 { Side::Below } else { Side::Above })
        .collect();
    let yes: Vec<bool> = y.iter().map(|y| *y > 5.5).collect();
    let people: Vec<f64> = (0..n).map(|i| 10.0 + f64::from(i % 400)).collect();
    let counts: Vec<f64> = y
        .iter()
        .zip(&people)
        .map(|(y, n)| (y.max(0.0) * n).round())
        .collect();
    let kinds = [
        (
            "Intervals",
            Marks::intervals(x(), &of(&|y| y - 0.5), &of(&|y| y + 0.5))?,
        ),
        ("Limits", Marks::censored(x(), &y, &sides)?),
        (
            "Ranks",
            Marks::ranks(x(), &ranks, &[2.0, 4.0, 6.0, 8.0], &[])?,
        ),
        ("Rates", Marks::rates(x(), &counts, &counts, &people, 1.0)?),
        ("Signs", Marks::signs(x(), &yes)?),
    ];
    let panels = kinds.into_iter().map(|(title, marks)| Panel {
        title: title.to_owned(),
        y: Axis::new("value"),
        marks: vec![marks],
        predicted: vec![predicted(truth, 0.3, 38.0)],
        ..Panel::default()
    });
    let title = "Thousands of rows of every kind";
    Ok(figure("many", title, Axis::new("x"), panels.collect()))
}
