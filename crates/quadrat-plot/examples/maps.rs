//! Writes maps as report pages, SVG and PNG: of a made-up island, and of the counties of North
//! Carolina.
//!
//! `cargo run -p quadrat-plot --example maps -- FOLDER [GEOJSON]`
//!
//! The file is `nc_sids.geojson` with the births of 1974 to 1978 (`BIR74`), by default the one in
//! `../shared/data/areal`; without it the counties are skipped.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

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
    write(&folder, "island", vec![Figure::Map(island()?)])?;
    let Ok(text) = fs::read_to_string(&path) else {
        println!("counties skipped: there is no {}", path.display());
        return Ok(());
    };
    let counties = counties(&serde_json::from_str(&text)?)?;
    let figures = vec![
        Figure::Map(births(&counties)?),
        Figure::Map(deaths(&counties)?),
    ];
    write(&folder, "counties", figures)
}

fn write(folder: &Path, name: &str, figures: Vec<Figure>) -> Result<(), Box<dyn Error>> {
    let folder = folder.join(name);
    fs::create_dir_all(&folder)?;
    for figure in &figures {
        let path = folder.join(figure.id());
        fs::write(path.with_extension("svg"), quadrat_plot::svg(figure))?;
        fs::write(path.with_extension("png"), quadrat_plot::png(figure, 2.0)?)?;
    }
    let report = Report {
        title: format!("Maps: {name}"),
        figures,
        ..Report::default()
    };
    Ok(fs::write(
        folder.join("report.html"),
        quadrat_plot::html(&report),
    )?)
}

/// Hexagons with a lake, a town inside a district, islets of one district, districts without a
/// value, and markup for a name.
fn island() -> Result<MapFigure, Box<dyn Error>> {
    let hexagon = |x: f64, y: f64, r: f64| -> Ring {
        (0..6)
            .map(|k| (f64::from(k) + 0.5) * std::f64::consts::FRAC_PI_3)
            .map(|a| [x + r * a.cos(), y + r * a.sin()])
            .collect()
    };
    let (mut regions, mut values) = (Vec::new(), Vec::new());
    for row in 0..9 {
        for column in 0..8 {
            let (i, j) = (f64::from(column), f64::from(row));
            let (x, y) = (3.0_f64.sqrt() * (i + 0.5 * (j % 2.0)), 1.5 * j);
            let from_middle = ((x - 6.5) / 7.0).hypot((y - 6.0) / 6.5);
            if from_middle > 1.0 {
                continue;
            }
            let mut parts = vec![vec![hexagon(x, y, 1.0)]];
            match (row, column) {
                (4, 3) => parts[0].push(hexagon(x, y, 0.5)),
                (6, 4) => {
                    parts[0].push(hexagon(x, y, 0.45));
                    let town = vec![vec![hexagon(x, y, 0.45)]];
                    regions.push(MapRegion::new("town", "The town", town));
                    values.push(Some(9.0));
                }
                (4, 7) => parts.extend([0.3, 1.1].map(|d| vec![hexagon(x + 2.3, y + d, 0.25)])),
                _ => {}
            }
            let name = match (row, column) {
                (3, 2) => "<b>\"Bold\"</b> & </script><img src=x>".to_owned(),
                _ => format!("District {row}-{column}"),
            };
            regions.push(MapRegion::new(format!("{row}{column}"), name, parts));
            values.push((row + column != 9).then_some(8.0 * (1.0 - from_middle)));
        }
    }
    let panels = [
        ("Observed", Colours::Sequential),
        ("Change", Colours::Diverging { centre: 4.0 }),
        ("Standard deviation", Colours::Spread),
    ];
    let panels = panels.map(|(title, colours)| MapPanel {
        title: title.to_owned(),
        value: Axis::new("rain").with_unit("mm"),
        values: values.clone(),
        colours,
        ..MapPanel::default()
    });
    let heading = Heading::new("island", "Rain on a made-up island");
    Ok(MapFigure::new(heading, regions, panels.to_vec())?)
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

/// Births per area, and what a Poisson interval says of them; three counties are left without a
/// value.
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
