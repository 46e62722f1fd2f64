//! A map figure, ready to draw.

mod colour;
mod geometry;

use crate::figure::MapFigure;
use crate::format::{count, number};
use geometry::Sheet;

use colour::Legend;
pub(crate) use geometry::Ring;

/// Regions on a sheet and one coloured map per panel.
pub(crate) struct Map {
    /// Width and height of the sheet, in units of the grid.
    pub size: (f64, f64),
    /// How long a round length is, where the unit of coordinates is known.
    pub bar: Option<Bar>,
    /// Polygons of each region, outer rings one way round and holes the other; y points down.
    pub regions: Vec<Vec<Vec<Ring>>>,
    /// Region and part of every polygon, in an order in which what lies in a hole comes after what
    /// is around it.
    pub order: Vec<(usize, usize)>,
    /// Lines over each region that has no value in some panel.
    pub hatching: Vec<Vec<[[i32; 2]; 2]>>,
    pub panels: Vec<Coloured>,
    /// Vertices of all regions.
    pub vertices: usize,
    pub remarks: Vec<String>,
}

/// A length on the map, below the regions.
#[derive(Debug, PartialEq)]
pub(crate) struct Bar {
    pub from: [i32; 2],
    pub to: [i32; 2],
    /// "100 km".
    pub label: String,
}

/// Height of the strip below the regions that holds the bar, as a share of the sheet's width.
const STRIP: f64 = 0.09;
/// The longest a bar may be, as a share of the sheet's width.
const LONGEST: f64 = 0.35;

/// The bar of a round length, and the sheet with room for it.
fn bar(per_unit: Option<(f64, &str)>, size: (f64, f64)) -> (Option<Bar>, (f64, f64)) {
    let longest = |(steps, unit)| (steps, LONGEST * size.0 / steps, unit);
    let known = per_unit.map(longest).filter(|(_, l, _)| l.is_normal());
    let Some((steps, longest, unit)) = known else {
        return (None, size);
    };
    let power = 10_f64.powf(longest.log10().floor());
    let round = [5.0, 2.0, 1.0].map(|factor| factor * power);
    let length = round.into_iter().find(|l| *l <= longest).unwrap_or(power);
    let strip = STRIP * size.0;
    let y = (size.1 + 0.6 * strip).round() as i32;
    let bar = Bar {
        from: [0, y],
        to: [(length * steps).round() as i32, y],
        label: format!("{} {unit}", number(length)),
    };
    (Some(bar), (size.0, size.1 + strip))
}

/// One panel.
pub(crate) struct Coloured {
    pub title: String,
    pub unit: String,
    /// None where the value is missing.
    pub colours: Vec<Option<(u8, u8, u8)>>,
    /// The value of every region in words.
    pub words: Vec<String>,
    /// None without any value.
    pub legend: Option<Legend>,
    /// Colour of borders that shows on all colours of the panel.
    pub border: &'static str,
}

impl Map {
    /// Maps side by side on a wide sheet: wide regions need more room.
    pub(crate) fn columns(&self) -> usize {
        // Four make two rows of two.
        let most = match self.panels.len() {
            4 => 2,
            _ if self.size.1 / self.size.0 < 0.6 => 2,
            _ => 3,
        };
        self.panels.len().min(most)
    }

    /// Width of borders in pixels: the more regions, the thinner, or nothing but borders would be
    /// seen.
    pub(crate) fn border_width(&self) -> f64 {
        (10.0 / (self.order.len() as f64).sqrt()).clamp(0.2, 0.9)
    }
}

/// Projects, rounds and colours a figure.
pub(crate) fn prepare(figure: &MapFigure) -> Map {
    let sheet = Sheet::new(figure);
    let regions: Vec<_> = figure.regions.iter().map(|r| sheet.region(r)).collect();
    let mut remarks = Vec::new();
    let (mut log, mut beyond) = (Vec::new(), Vec::new());
    let panels: Vec<Coloured> = figure
        .panels
        .iter()
        .map(|panel| {
            let colours = colour::panel(panel, &figure.panels);
            if colours.log {
                log.push(panel.title.as_str());
            }
            if colours.beyond {
                beyond.push(panel.title.as_str());
            }
            let unit = &panel.value.unit;
            let words = panel.values.iter().map(|value| match value {
                None => "no value".to_owned(),
                Some(v) if unit.is_empty() => number(*v),
                Some(v) => format!("{} {unit}", number(*v)),
            });
            Coloured {
                title: panel.title.clone(),
                unit: panel.value.title(),
                words: words.collect(),
                colours: colours.of,
                legend: colours.legend,
                border: colours.border,
            }
        })
        .collect();
    tell(&mut remarks, "Logarithmic colour scale", &log);
    tell(
        &mut remarks,
        "Values beyond the ends of the colour scale have the colours of its ends",
        &beyond,
    );
    tell_missing(figure, &mut remarks);
    let hatching = (0..regions.len())
        .map(|i| {
            if panels.iter().any(|p| p.colours[i].is_none()) {
                geometry::hatching(&regions[i])
            } else {
                Vec::new()
            }
        })
        .collect();
    let (bar, size) = bar(sheet.per_unit(figure), sheet.size());
    Map {
        size,
        bar,
        order: geometry::order(&regions),
        vertices: regions.iter().flatten().flatten().map(Vec::len).sum(),
        regions,
        hatching,
        panels,
        remarks,
    }
}

/// A sentence about some of the panels.
fn tell(remarks: &mut Vec<String>, words: &str, titles: &[&str]) {
    let named: Vec<&str> = titles.iter().copied().filter(|t| !t.is_empty()).collect();
    if !named.is_empty() {
        remarks.push(format!("{words}: {}.", named.join(", ")));
    } else if !titles.is_empty() {
        remarks.push(format!("{words}."));
    }
}

/// Which maps miss how many values.
fn tell_missing(figure: &MapFigure, remarks: &mut Vec<String>) {
    let total = figure.regions.len();
    let told: Vec<String> = figure
        .panels
        .iter()
        .filter_map(|panel| {
            let missing = panel.values.iter().filter(|v| v.is_none()).count();
            let name = if panel.title.is_empty() {
                String::new()
            } else {
                format!("{}: ", panel.title)
            };
            (missing > 0).then(|| format!("{name}{} of {}", count(missing), count(total)))
        })
        .collect();
    if !told.is_empty() {
        remarks.push(format!(
            "Hatched regions have no value ({}).",
            told.join("; ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Heading, MapPanel, MapRegion};

    #[test]
    fn a_length_is_shown_where_degrees_are_kilometres() {
        let ring = vec![[10.0, 59.5], [12.0, 59.5], [12.0, 60.5], [10.0, 60.5]];
        let region = MapRegion::new("", "", vec![vec![ring]]);
        let panel = MapPanel {
            values: vec![Some(1.0)],
            ..MapPanel::default()
        };
        let figure = MapFigure::new(Heading::default(), vec![region], vec![panel]).unwrap();
        assert_eq!(prepare(&figure).bar, None);
        let planar = prepare(&figure.clone().with_unit("m"));
        // Two units are the whole width; half of one is at most 0.35 of that.
        let bar = planar.bar.unwrap();
        assert_eq!(
            (bar.label.as_str(), bar.to[0] - bar.from[0]),
            ("0.5 m", 500)
        );
        let drawn = prepare(&figure.geographic().unwrap());
        let bar = drawn.bar.unwrap();
        // Two degrees at 60 degrees north are 111.2 km and 2000 steps; 20 km are at most 0.35 of
        // that.
        assert_eq!(bar.label, "20 km");
        assert!((bar.to[0] - bar.from[0] - 360).abs() <= 1, "{bar:?}");
        assert!(f64::from(bar.from[1]) > 2000.0 && f64::from(bar.from[1]) < drawn.size.1);
    }

    #[test]
    fn a_missing_value_is_hatched_and_told() {
        let square = |x: f64| {
            let ring = vec![[x, 0.0], [x + 1.0, 0.0], [x + 1.0, 1.0], [x, 1.0]];
            MapRegion::new("", "", vec![vec![ring]])
        };
        let panel = MapPanel {
            title: "Observed".to_owned(),
            value: Axis::new("rain").with_unit("mm"),
            values: vec![Some(1234.5), None],
            ..MapPanel::default()
        };
        let figure = MapFigure::new(
            Heading::default(),
            vec![square(0.0), square(1.0)],
            vec![panel],
        );
        let drawn = prepare(&figure.unwrap());
        assert_eq!(
            drawn.remarks,
            ["Hatched regions have no value (Observed: 1 of 2)."]
        );
        assert_eq!(drawn.panels[0].words, ["1,234 mm", "no value"]);
        assert!(drawn.hatching[0].is_empty() && drawn.hatching[1].len() > 20);
        assert!(drawn.panels[0].colours[1].is_none());
    }
}
