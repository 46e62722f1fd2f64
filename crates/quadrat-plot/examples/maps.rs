//! Writes maps of the counties of North Carolina as a report page, SVG and PNG.
//!
//! `cargo run -p quadrat-plot --example maps -- FOLDER [GEOJSON]`
//!
//! The file is `nc_sids.geojson` with the births of 1974 to 1978 (`BIR74`), by default the one in `../shared/data/areal`.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use quadrat_plot::{
    Axis, Colours, Figure, Heading, MapFigure, MapPanel, MapPrediction, MapRegion, Report, Ring,
};
use serde_json::Value;

/// Square kilometres of a square degree at the latitude of North Carolina (35.5° N).
const KM2: f64 = 111.2 * 111.2 * 0.814;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().unwrap_or_else(|| "maps".to_owned()));
    let path = args.next().map_or_else(
        || {
            PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join("../../../shared/data/areal/nc_sids.geojson")
        },
        PathBuf::from,
    );
    let Ok(text) = fs::read_to_string(&path) else {
        println!("skipped: there is no {}", path.display());
        return Ok(());
    };
    let counties = counties(&serde_json::from_str(&text)?)?;
    fs::create_dir_all(&folder)?;
    let figures = vec![
        Figure::Map(births(&counties)?),
        Figure::Map(deaths(&counties)?),
    ];
    for figure in &figures {
        let path = folder.join(figure.id());
        fs::write(path.with_extension("svg"), quadrat_plot::svg(figure))?;
        fs::write(path.with_extension("png"), quadrat_plot::png(figure, 2.0)?)?;
    }
    let report = Report {
        title: "Births in North Carolina".to_owned(),
        figures,
        ..Report::default()
    };
    fs::write(folder.join("report.html"), quadrat_plot::html(&report))?;
    Ok(())
}

struct County {
    region: MapRegion,
    area: f64,
    births: f64,
    deaths: f64,
}

fn counties(file: &Value) -> Result<Vec<County>, Box<dyn Error>> {
    let features = file["features"].as_array().ok_or("no features")?;
    let mut out = Vec::new();
    for feature in features {
        let known = &feature["properties"];
        let number = |key: &str| known[key].as_f64().ok_or(format!("no {key}"));
        let shape = &feature["geometry"];
        let parts: Vec<Vec<Ring>> = match shape["type"].as_str() {
            Some("Polygon") => vec![serde_json::from_value(shape["coordinates"].clone())?],
            _ => serde_json::from_value(shape["coordinates"].clone())?,
        };
        let text = |key: &str| known[key].as_str().unwrap_or_default().to_owned();
        out.push(County {
            region: MapRegion::new(text("FIPS"), text("NAME"), parts),
            area: number("AREA")? * KM2,
            births: number("BIR74")?,
            deaths: number("SID74")?,
        });
    }
    Ok(out)
}

/// Births per area, and what a Poisson interval says of them; three counties are left without a value.
fn births(counties: &[County]) -> Result<MapFigure, Box<dyn Error>> {
    let observed: Vec<_> = counties
        .iter()
        .enumerate()
        .map(|(i, c)| (i % 37 != 11).then_some(c.births / c.area))
        .collect();
    let predicted: Vec<_> = counties
        .iter()
        .map(|c| {
            let (mean, sd) = (c.births / c.area, c.births.sqrt() / c.area);
            Some(MapPrediction {
                mean,
                sd,
                lower: mean - 1.96 * sd,
                upper: mean + 1.96 * sd,
            })
        })
        .collect();
    let heading = Heading::new("births", "Births per square kilometre, 1974 to 1978")
        .with_caption("Point at a county to see it in all maps.");
    let value = Axis::new("births").with_unit("per km²");
    let regions = counties.iter().map(|c| c.region.clone()).collect();
    let figure = MapFigure::prediction(heading, &value, regions, &observed, &predicted, 0.95)?;
    Ok(figure.geographic()?)
}

/// Sudden infant deaths over those expected from the births.
fn deaths(counties: &[County]) -> Result<MapFigure, Box<dyn Error>> {
    let sum = |of: fn(&County) -> f64| counties.iter().map(of).sum::<f64>();
    let rate = sum(|c| c.deaths) / sum(|c| c.births);
    let panel = MapPanel {
        title: "Relative risk".to_owned(),
        value: Axis::new("observed over expected deaths"),
        values: counties
            .iter()
            .map(|c| Some(c.deaths / (rate * c.births)))
            .collect(),
        colours: Colours::Diverging { centre: 1.0 },
        domain: Some((0.0, 3.0)),
        ..MapPanel::default()
    };
    let regions = counties.iter().map(|c| c.region.clone()).collect();
    let heading = Heading::new("deaths", "Sudden infant deaths, 1974 to 1978");
    Ok(MapFigure::new(heading, regions, vec![panel])?.geographic()?)
}
