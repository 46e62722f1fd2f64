//! Figures as files.

use std::path::Path;

use anyhow::Result;
use quadrat_plot::{Figure, Report};

/// Pixels of a length in a PNG.
const FINE: f64 = 2.0;

/// Figures as the file that is asked for: a page holds all of them, an image the first.
pub fn drawn(
    path: &Path,
    title: &str,
    summary: Vec<String>,
    warnings: Vec<String>,
    mut figures: Vec<Figure>,
) -> Result<Vec<u8>> {
    let extension = path.extension().and_then(|e| e.to_str());
    if extension != Some("html") {
        figures.truncate(1);
    }
    Ok(match (extension, figures.as_slice()) {
        (Some("png"), [figure]) => quadrat_plot::png(figure, FINE)?,
        (Some("svg"), [figure]) => quadrat_plot::svg(figure).into_bytes(),
        _ => {
            let report = Report {
                title: title.to_owned(),
                generated_by: format!("quadrat {}", quadrat_study::version::VERSION),
                summary,
                warnings,
                figures,
                ..Report::default()
            };
            quadrat_plot::html(&report).into_bytes()
        }
    })
}
