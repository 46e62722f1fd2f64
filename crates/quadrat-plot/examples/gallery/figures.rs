//! One figure of every kind, from made-up numbers.

use std::f64::consts::PI;

use quadrat_plot::{
    Area, Axis, CalibrationFigure, Compared, Correlated, CorrelationFigure, Coverage, CurveFigure,
    ForestFigure, ForestRow, Heading, LeftOut, MarkError, Marks, Observed, Panel, Pixel, Places,
    Predicted, Side, SurfaceFigure,
};

use crate::Noise;

/// Readings, error bars, detection limits and intervals; two outputs.
pub fn clinic() -> Result<CurveFigure, MarkError> {
    let mut noise = Noise(11);
    let truth = |x: f64, shift: f64| 4.0 + 2.2 * (x / 9.0 + shift).sin() + 0.04 * x;
    let at: Vec<f64> = (0..160).map(|i| f64::from(i) * 0.25).collect();
    let panel = |title: &str, shift: f64, noise: &mut Noise| {
        let (mut observed, mut limits, mut within) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..14 {
            let x = 1.0 + 2.3 * f64::from(i);
            let y = truth(x, shift) + 0.35 * noise.normal();
            match i % 5 {
                0 => limits.push((x, y + 0.6, Side::Below)),
                1 => within.push((x, y - 0.7, y + 0.9)),
                2 => observed.push(Observed::Level {
                    x0: x - 1.0,
                    x1: x + 1.4,
                    y,
                    label: "composite sample".to_owned(),
                }),
                3 => limits.push((x, y - 0.5, Side::Above)),
                _ => observed.push(Observed::Point {
                    x,
                    y,
                    error: Some(0.7),
                    label: String::new(),
                }),
            }
        }
        let ends = |of: fn(&(f64, f64, f64)) -> f64| within.iter().map(of).collect::<Vec<_>>();
        let (lower, upper) = (ends(|w| w.1), ends(|w| w.2));
        let at_limits = limits.iter().map(|l| l.0);
        let values: Vec<f64> = limits.iter().map(|l| l.1).collect();
        let sides: Vec<Side> = limits.iter().map(|l| l.2).collect();
        let marks = [
            Marks::intervals(ends(|w| w.0), &lower, &upper),
            Marks::censored(at_limits, &values, &sides),
        ];
        let marks = marks.into_iter().collect::<Result<_, _>>()?;
        let mean: Vec<f64> = at.iter().map(|&x| truth(x, shift)).collect();
        let half = |x: f64| {
            0.45 + 0.1 * (x * 1.3).sin().abs() + if x > 33.0 { 0.22 * (x - 33.0) } else { 0.0 }
        };
        Ok(Panel {
            title: title.to_owned(),
            y: Axis::new("cadmium").with_unit("µg/L"),
            observed,
            marks,
            predicted: vec![Predicted {
                at: Places::Points(at.clone()),
                lower: at.iter().zip(&mean).map(|(&x, m)| m - half(x)).collect(),
                upper: at.iter().zip(&mean).map(|(&x, m)| m + half(x)).collect(),
                mean,
                level: 0.9,
                ..Predicted::default()
            }],
            ..Panel::default()
        })
    };
    Ok(CurveFigure {
        heading: Heading::new("clinic", "Exact readings, intervals and limits on one curve")
            .with_caption("Arrows are readings known only to lie below or above a limit; level lines are averages of composites."),
        x: Axis::new("day"),
        panels: vec![panel("Upper well", 0.0, &mut noise)?, panel("Lower well", 1.9, &mut noise)?],
    })
}

pub fn surface(id: &str, nx: usize, ny: usize, map: bool) -> SurfaceFigure {
    let height = |u: f64, v: f64| {
        140.0 * (-(((u - 0.35) / 0.22).powi(2) + ((v - 0.6) / 0.25).powi(2))).exp()
            + 90.0 * (-(((u - 0.75) / 0.12).powi(2) + ((v - 0.3) / 0.2).powi(2))).exp()
            + 8.0 * (1.0 + (6.0 * PI * u * v).sin())
    };
    let (x, y) = if map {
        ((0.0, 420.0), (0.0, 310.0))
    } else {
        ((15.0, 87.0), (0.0, 140.0))
    };
    let place = |range: (f64, f64), share: f64| range.0 + share * (range.1 - range.0);
    let step = |i: usize, n: usize| i as f64 / n as f64;
    let mut observed = Vec::new();
    let (us, vs) = (
        [0.0, 0.1, 0.25, 0.45, 0.6, 0.8, 1.0],
        [0.0, 0.2, 0.35, 0.5, 0.75, 1.0],
    );
    for u in us.windows(2) {
        for v in vs.windows(2) {
            let inner: f64 = (0..25)
                .map(|k| {
                    height(
                        u[0] + (u[1] - u[0]) * (0.1 + 0.2 * (k / 5) as f64),
                        v[0] + (v[1] - v[0]) * (0.1 + 0.2 * (k % 5) as f64),
                    )
                })
                .sum::<f64>()
                / 25.0;
            observed.push(Area {
                x0: place(x, u[0]),
                x1: place(x, u[1]),
                y0: place(y, v[0]),
                y1: place(y, v[1]),
                value: inner,
                label: format!("{:.0} in all", inner * (u[1] - u[0]) * (v[1] - v[0]) * 1e4),
            });
        }
    }
    let mut predicted = Vec::new();
    for i in 0..nx {
        for j in 0..ny {
            let (u, v) = (step(i, nx) + 0.5 / nx as f64, step(j, ny) + 0.5 / ny as f64);
            let (mean, sd) = (
                height(u, v),
                3.0 + 9.0 * ((u - 0.5).powi(2) + (v - 0.5).powi(2)).sqrt(),
            );
            predicted.push(Pixel {
                x0: place(x, step(i, nx)),
                x1: place(x, step(i + 1, nx)),
                y0: place(y, step(j, ny)),
                y1: place(y, step(j + 1, ny)),
                mean,
                sd,
                lower: (mean - 1.96 * sd).max(0.0),
                upper: mean + 1.96 * sd,
                chances: Vec::new(),
            });
        }
    }
    let (title, x_axis, y_axis, value) = if map {
        (
            "A map of 66,000 pixels",
            Axis::new("east").with_unit("km"),
            Axis::new("north").with_unit("km"),
            Axis::new("cases").with_unit("per km²"),
        )
    } else {
        (
            "Households by age and income",
            Axis::new("age").with_unit("years"),
            Axis::new("income").with_unit("1000 €"),
            Axis::new("households"),
        )
    };
    // One of them has its truth beside it, with noise, and marked places.
    let mut noise = Noise(11);
    let truth = predicted.iter().filter(|_| !map).map(|p: &Pixel| Area {
        x0: p.x0,
        x1: p.x1,
        y0: p.y0,
        y1: p.y1,
        value: p.mean + 2.0 * p.sd * noise.normal(),
        ..Area::default()
    });
    let reference: Vec<Area> = truth.collect();
    let marked = predicted.iter().step_by(29).filter(|_| !map);
    let marked: Vec<[f64; 2]> = marked.map(|p| [p.x0, p.y0]).collect();
    SurfaceFigure {
        heading: Heading::new(id, title)
            .with_caption("Point at a cell to see the same place in all maps."),
        x: x_axis,
        y: y_axis,
        value,
        observed,
        predicted,
        reference,
        reference_label: "True households".into(),
        marked_label: format!("{} inducing points", marked.len()),
        marked,
        level: 0.95,
        equal_scale: map,
        ..SurfaceFigure::default()
    }
}

pub fn forest(n: usize) -> ForestFigure {
    let names = [
        "Northern Isles",
        "Upper Valley",
        "Port & Harbour",
        "Old Town",
        "Lake District",
        "Heath",
        "Marshland with a rather long name of a district",
    ];
    let mut noise = Noise(5);
    let rows = (0..n)
        .map(|i| {
            let mean = 40.0 + 22.0 * noise.normal().abs();
            let half = 4.0 + 9.0 * noise.uniform();
            let (lower, upper) = (mean - half, mean + half);
            let label = format!("{} {}", names[i % names.len()], i / names.len() + 1);
            ForestRow {
                label,
                mean,
                lower,
                upper,
                observed: (i % 3 != 2).then(|| mean + 0.6 * half * noise.normal()),
                reference: None,
            }
        })
        .collect();
    ForestFigure {
        heading: Heading::new("forest", "Risk in every district")
            .with_caption("Sorted as in the file."),
        value: Axis::new("cases").with_unit("per 100,000"),
        rows,
        level: 0.95,
        ..ForestFigure::default()
    }
}

/// Ratios on a logarithmic axis, one known very badly.
pub fn ratios() -> ForestFigure {
    let row = |(label, mean, lower, upper): (&str, f64, f64, f64)| ForestRow {
        label: label.into(),
        mean,
        lower,
        upper,
        ..ForestRow::default()
    };
    let rows = [
        ("slope", 2.4, 1.1, 5.2),
        ("elevation", 0.9, 0.3, 2.7),
        ("x", 0.31, 0.08, 1.2),
        ("distance to water", 0.02, 1e-7, 4e3),
    ];
    ForestFigure {
        heading: Heading::new("ratios", "How relevant every input is"),
        value: Axis::new("sd of the input / lengthscale"),
        rows: rows.into_iter().map(row).collect(),
        level: 0.95,
        label: "Relevance".into(),
        logarithmic: true,
        ..ForestFigure::default()
    }
}

/// A hundred thousand predicted points.
pub fn long() -> CurveFigure {
    let mut noise = Noise(17);
    let at: Vec<f64> = (0..100_000)
        .map(|i| 1950.0 + f64::from(i) * 7.2e-4)
        .collect();
    let mean: Vec<f64> = at
        .iter()
        .map(|t| {
            2.4e6 + 3e4 * (t - 1950.0) + 2e5 * (2.0 * PI * t / 11.0).sin() + 2e4 * noise.normal()
        })
        .collect();
    CurveFigure {
        heading: Heading::new("long", "A long series")
            .with_caption("A series of one hundred thousand rows."),
        x: Axis::new("year"),
        panels: vec![Panel {
            y: Axis::new("trips per day"),
            predicted: vec![Predicted {
                lower: mean.iter().map(|m| m - 1.5e5).collect(),
                upper: mean.iter().map(|m| m + 1.5e5).collect(),
                at: Places::Points(at),
                mean,
                level: 0.95,
                ..Predicted::default()
            }],
            ..Panel::default()
        }],
    }
}

pub fn calibration(n: usize) -> CalibrationFigure {
    let mut noise = Noise(23);
    let rows: Vec<LeftOut> = (0..n)
        .map(|i| {
            let mean = 20.0 + 160.0 * noise.uniform();
            let sd = 4.0 + 0.06 * mean;
            let observed = mean + sd * noise.normal();
            LeftOut {
                label: format!("row {}", i + 1),
                observed,
                mean,
                lower: mean - 1.96 * sd,
                upper: mean + 1.96 * sd,
            }
        })
        .collect();
    let share = |z: f64| {
        rows.iter()
            .filter(|r| (r.observed - r.mean).abs() < z * (r.upper - r.mean) / 1.96)
            .count()
    };
    CalibrationFigure {
        heading: Heading::new("calibration", ""),
        value: Axis::new("people"),
        coverage: [(0.5, 0.674), (0.8, 1.282), (0.95, 1.96)]
            .map(|(nominal, z)| Coverage {
                nominal,
                held: share(z),
                total: n,
            })
            .to_vec(),
        pit: rows
            .iter()
            .map(|r| {
                1.0 / (1.0 + (-1.702 * (r.observed - r.mean) * 1.96 / (r.upper - r.mean)).exp())
            })
            .collect(),
        rows,
        level: 0.95,
        compared: Compared::LeftOut,
    }
}

pub fn correlations(n: usize) -> CorrelationFigure {
    let pair = |(first, second): (usize, usize)| {
        let value = (0.9 * (second - first) as f64).cos();
        Correlated {
            first,
            second,
            value,
            lower: (value - 0.2).max(-1.0),
            upper: (value + 0.2).min(1.0),
        }
    };
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    CorrelationFigure {
        heading: Heading::new("stations", "How alike the stations are")
            .with_caption("Correlations of the curves of two stations at one place."),
        names: (0..n).map(|i| format!("Station {}", i + 1)).collect(),
        pairs: pairs.map(pair).collect(),
        level: 0.95,
        covariances: Vec::new(),
    }
}
