//! Writes a gallery: every kind of figure as a report page, SVG and PNG, from made-up numbers.
//!
//! `cargo run -p quadrat-plot --example gallery -- FOLDER`

mod ages;
mod figures;
mod marks;
mod nasty;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use quadrat_plot::{CalibrationFigure, Compared, Figure, Heading, MarkError, Report};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .unwrap_or_else(|| "gallery".to_owned()),
    );
    fs::create_dir_all(&folder)?;
    for (name, report) in [
        ("ages", ages::report()),
        ("gallery", gallery()?),
        ("nasty", nasty::report()),
        ("marks", marks::report()?),
        ("plain", plain()),
    ] {
        fs::write(
            folder.join(format!("{name}.html")),
            quadrat_plot::html(&report),
        )?;
    }
    let calibration = Figure::Calibration(figures::calibration(10));
    for figure in gallery()?
        .figures
        .iter()
        .chain(&ages::report().figures)
        .chain(&nasty::report().figures)
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

/// Rows beside the predictions of the fit that used them.
fn fitted() -> CalibrationFigure {
    CalibrationFigure {
        heading: Heading::new("fitted", "Observed and predicted rows"),
        pit: Vec::new(),
        compared: Compared::Fitted,
        ..figures::calibration(40)
    }
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

/// Every kind of figure.
fn gallery() -> Result<Report, MarkError> {
    let mut report = ages::report();
    report.title = "A gallery of every figure".to_owned();
    report.summary = vec!["Made-up numbers in every kind of figure that quadrat draws.".to_owned()];
    report.warnings = vec![
        "12 of 160 predictions lie outside the data (extrapolation): their intervals rest on the kernel alone.".to_owned(),
        "The optimiser stopped at the bound of se.lengthscale.ndvi = 0.01.".to_owned(),
    ];
    report.figures = vec![
        Figure::Curve(figures::clinic()?),
        Figure::Surface(figures::surface("income", 36, 28, false)),
        Figure::Surface(figures::surface("large", 300, 220, true)),
        Figure::Forest(figures::forest(14)),
        Figure::Forest(figures::ratios()),
        Figure::Calibration(fitted()),
        Figure::Correlation(figures::correlations(6)),
        Figure::Curve(figures::long()),
    ];
    report.calibration = Some(figures::calibration(240));
    Ok(report)
}

/// A report without a figure.
fn plain() -> Report {
    Report {
        title: "Only words".to_owned(),
        generated_by: "quadrat 0.1.0".to_owned(),
        ..Report::default()
    }
}
