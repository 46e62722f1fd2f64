//! Writes a gallery: every kind of figure as a report page, SVG and PNG, from made-up numbers.
//!
//! `cargo run -p quadrat-plot --example gallery -- FOLDER`

mod marks;

use std::error::Error;
use std::f64::consts::PI;
use std::fs;
use std::path::PathBuf;

use quadrat_plot::{
    Area, Axis, CalibrationFigure, Correlated, CorrelationFigure, Coverage, CurveFigure, Evidence,
    Fact, Figure, ForestFigure, ForestRow, Heading, HyperRow, LeftOut, Observed, Panel, Pixel,
    Places, Predicted, Reference, Report, SurfaceFigure, TablePreview,
};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .unwrap_or_else(|| "gallery".to_owned()),
    );
    fs::create_dir_all(&folder)?;
    for (name, report) in [
        ("ages", ages()),
        ("gallery", gallery()),
        ("nasty", nasty()),
        ("marks", marks::report()?),
        ("plain", plain()),
    ] {
        fs::write(
            folder.join(format!("{name}.html")),
            quadrat_plot::html(&report),
        )?;
    }
    let calibration = Figure::Calibration(calibration(10));
    for figure in gallery()
        .figures
        .iter()
        .chain(&ages().figures)
        .chain(&nasty().figures)
        .chain(&marks::report()?.figures)
        .chain([&calibration])
    {
        let name = figure
            .id()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        fs::write(
            folder.join(format!("{name}.svg")),
            quadrat_plot::svg(figure),
        )?;
        fs::write(
            folder.join(format!("{name}.png")),
            quadrat_plot::png(figure, 2.0)?,
        )?;
    }
    Ok(())
}

/// A small generator of numbers that look random: the same on every machine.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn people(age: f64) -> f64 {
    let cohort = 620.0
        + 260.0 * (-((age - 34.0) / 13.0).powi(2)).exp()
        + 190.0 * (-((age - 58.0) / 8.0).powi(2)).exp();
    let survival = 1.0 / (1.0 + ((age - 81.0) / 5.5).exp());
    1000.0 * cohort * survival / 2.0
}

/// The report people see first: people by year of age from a coarse table.
fn ages() -> Report {
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

/// Every kind of figure.
fn gallery() -> Report {
    let mut report = ages();
    report.title = "A gallery of every figure".to_owned();
    report.summary = vec!["Made-up numbers in every kind of figure that quadrat draws.".to_owned()];
    report.warnings = vec![
        "12 of 160 predictions lie outside the data (extrapolation): their intervals rest on the kernel alone.".to_owned(),
        "The optimiser stopped at the bound of se.lengthscale.ndvi = 0.01.".to_owned(),
    ];
    report.figures = vec![
        Figure::Curve(clinic()),
        Figure::Surface(surface("income", 36, 28, false)),
        Figure::Surface(surface("large", 300, 220, true)),
        Figure::Forest(forest(14)),
        Figure::Correlation(correlations(6)),
        Figure::Curve(long()),
    ];
    report.calibration = Some(calibration(240));
    report
}

/// Readings, error bars, detection limits and intervals; two outputs.
fn clinic() -> CurveFigure {
    let mut noise = Noise(11);
    let truth = |x: f64, shift: f64| 4.0 + 2.2 * (x / 9.0 + shift).sin() + 0.04 * x;
    let at: Vec<f64> = (0..160).map(|i| f64::from(i) * 0.25).collect();
    let panel = |title: &str, shift: f64, noise: &mut Noise| {
        let mut observed = Vec::new();
        for i in 0..14 {
            let x = 1.0 + 2.3 * f64::from(i);
            let y = truth(x, shift) + 0.35 * noise.normal();
            observed.push(match i % 5 {
                0 => Observed::Range {
                    x,
                    lower: f64::NEG_INFINITY,
                    upper: y + 0.6,
                    label: "below the limit".to_owned(),
                },
                1 => Observed::Range {
                    x,
                    lower: y - 0.7,
                    upper: y + 0.9,
                    label: String::new(),
                },
                2 => Observed::Level {
                    x0: x - 1.0,
                    x1: x + 1.4,
                    y,
                    label: "composite sample".to_owned(),
                },
                3 => Observed::Range {
                    x,
                    lower: y - 0.5,
                    upper: f64::INFINITY,
                    label: "capped".to_owned(),
                },
                _ => Observed::Point {
                    x,
                    y,
                    error: Some(0.7),
                    label: String::new(),
                },
            });
        }
        let mean: Vec<f64> = at.iter().map(|&x| truth(x, shift)).collect();
        let half = |x: f64| {
            0.45 + 0.1 * (x * 1.3).sin().abs() + if x > 33.0 { 0.22 * (x - 33.0) } else { 0.0 }
        };
        Panel {
            title: title.to_owned(),
            y: Axis::new("cadmium").with_unit("µg/L"),
            observed,
            predicted: vec![Predicted {
                at: Places::Points(at.clone()),
                lower: at.iter().zip(&mean).map(|(&x, m)| m - half(x)).collect(),
                upper: at.iter().zip(&mean).map(|(&x, m)| m + half(x)).collect(),
                mean,
                level: 0.9,
                ..Predicted::default()
            }],
            ..Panel::default()
        }
    };
    CurveFigure {
        heading: Heading::new("clinic", "Exact readings, intervals and limits on one curve")
            .with_caption("Arrows are readings known only to lie below or above a limit; level lines are averages of composites."),
        x: Axis::new("day"),
        panels: vec![panel("Upper well", 0.0, &mut noise), panel("Lower well", 1.9, &mut noise)],
    }
}

fn surface(id: &str, nx: usize, ny: usize, map: bool) -> SurfaceFigure {
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
    SurfaceFigure {
        heading: Heading::new(id, title)
            .with_caption("Point at a cell to see the same place in all three maps."),
        x: x_axis,
        y: y_axis,
        value,
        observed,
        predicted,
        level: 0.95,
        equal_scale: map,
    }
}

fn forest(n: usize) -> ForestFigure {
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
        reference: String::new(),
        rows,
        level: 0.95,
    }
}

/// A hundred thousand predicted points.
/// Every pair of so many places, from the same to the opposite.
fn correlations(n: usize) -> CorrelationFigure {
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
    }
}

/// Long and dangerous names, more than fit, and pairs that are not there.
fn nasty_correlations() -> CorrelationFigure {
    let mut figure = correlations(20);
    figure.heading = Heading::new("nasty-correlations", "Correlations that are hard to draw");
    figure.names[0] = "<b>a name in markup</b>".into();
    figure.names[1] = "a name that is much longer than any column of cells could ever be".into();
    figure.pairs[0].value = f64::NAN;
    figure.pairs[1].lower = f64::NAN;
    figure.pairs.retain(|pair| pair.first != 5);
    figure
}

fn long() -> CurveFigure {
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

fn calibration(n: usize) -> CalibrationFigure {
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
    }
}

/// Everything that has ever broken a page: markup in words, numbers that are none, empty and lonely data.
fn nasty() -> Report {
    let evil = "</script><script>alert(\"1\")</script> <b>'quoted'</b> & \"double\" <!-- \u{2028} \\ $5 and $6";
    let predicted = |at: Places, mean: Vec<f64>| Predicted {
        label: evil.to_owned(),
        lower: mean.iter().map(|m| m - 1.0).collect(),
        upper: mean.iter().map(|m| m + f64::INFINITY).collect(),
        at,
        mean,
        level: 0.95,
    };
    let panel = |observed: Vec<Observed>, predicted: Vec<Predicted>| Panel {
        title: evil.to_owned(),
        y: Axis::new(evil).with_unit("%"),
        observed,
        observed_label: evil.to_owned(),
        marks: Vec::new(),
        predicted,
        reference: Some(Reference {
            label: evil.to_owned(),
            x: vec![0.5, f64::NAN],
            y: vec![1.0, 2.0],
        }),
    };
    let figure = CurveFigure {
        heading: Heading::new(evil, evil).with_caption(evil),
        x: Axis::new(evil),
        panels: vec![
            panel(
                vec![
                    Observed::total(0.0, 2.0, f64::NAN),
                    Observed::total(2.0, 3.0, 4.0),
                    Observed::total(1.0, 1.0, 1.0),
                ],
                vec![predicted(
                    Places::Cells(vec![(0.0, 1.0), (1.0, 2.0), (4.0, 5.0)]),
                    vec![1.0, f64::NAN, 2.0],
                )],
            ),
            panel(
                vec![],
                vec![predicted(Places::Points(vec![3.0]), vec![2.0])],
            ),
            panel(vec![], vec![]),
        ],
    };
    let row = ForestRow {
        label: evil.to_owned(),
        mean: 1.0,
        lower: f64::NEG_INFINITY,
        upper: 3.0,
        observed: Some(f64::NAN),
        reference: None,
    };
    let forest = ForestFigure {
        heading: Heading::new(evil, evil),
        rows: vec![
            row.clone(),
            row,
            ForestRow {
                mean: f64::NAN,
                ..ForestRow::default()
            },
        ],
        ..ForestFigure::default()
    };
    let one = Pixel {
        x0: 0.0,
        x1: 1.0,
        y0: 0.0,
        y1: 1.0,
        mean: 2.0,
        sd: f64::NAN,
        lower: 1.0,
        upper: 3.0,
    };
    let surface = SurfaceFigure {
        heading: Heading::new("one", evil),
        x: Axis::new(evil),
        predicted: vec![
            one.clone(),
            Pixel {
                mean: f64::INFINITY,
                ..one
            },
        ],
        ..SurfaceFigure::default()
    };
    let mut check = calibration(1);
    check.rows[0].label = evil.to_owned();
    check.pit = vec![f64::NAN, 1.0];
    Report {
        title: evil.to_owned(),
        generated_by: evil.to_owned(),
        summary: vec![evil.to_owned()],
        facts: vec![fact(evil, evil, evil)],
        warnings: vec![evil.to_owned()],
        figures: vec![
            Figure::Curve(figure),
            Figure::Forest(forest),
            Figure::Surface(surface),
            Figure::Surface(SurfaceFigure::default()),
            Figure::Curve(CurveFigure::default()),
            Figure::Forest(ForestFigure::default()),
            Figure::Correlation(nasty_correlations()),
            Figure::Correlation(CorrelationFigure::default()),
            Figure::Calibration(CalibrationFigure::default()),
        ],
        calibration: Some(check),
        hyperparameters: vec![hyper(
            evil,
            f64::NAN,
            Some((f64::NEG_INFINITY, f64::INFINITY)),
            false,
            evil,
        )],
        evidence: Some(Evidence {
            log_evidence: f64::NAN,
            kind: evil.to_owned(),
            seconds: f64::NAN,
            ..Evidence::default()
        }),
        predictions: vec![TablePreview {
            name: evil.to_owned(),
            file: evil.to_owned(),
            note: evil.to_owned(),
            columns: vec![evil.to_owned(), "x".to_owned(), "missing".to_owned()],
            rows: vec![vec![evil.into(), f64::NAN.into()], vec![]],
            total_rows: 0,
        }],
        study: evil.to_owned(),
        notes: vec![evil.to_owned()],
    }
}

/// A report without a figure.
fn plain() -> Report {
    Report {
        title: "Only words".to_owned(),
        generated_by: "quadrat 0.1.0".to_owned(),
        ..Report::default()
    }
}

fn fact(label: &str, value: &str, detail: &str) -> Fact {
    Fact {
        label: label.to_owned(),
        value: value.to_owned(),
        detail: detail.to_owned(),
    }
}

fn hyper(
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
