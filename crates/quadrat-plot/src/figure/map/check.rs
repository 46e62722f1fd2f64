//! What a map must be before it is drawn.

use super::panel::{Colours, MapPanel, Spacing};
use super::region::{MapRegion, MapRow};
use crate::error::MapError;

/// Everything about a figure but its latitudes.
pub(super) fn figure(
    regions: &[MapRegion],
    panels: &[MapPanel],
    rows: &[MapRow],
) -> Result<(), MapError> {
    if regions.is_empty() {
        return Err(MapError::NoRegions);
    }
    if panels.is_empty() {
        return Err(MapError::NoPanels);
    }
    regions.iter().try_for_each(region)?;
    extent(regions)?;
    for panel in panels {
        values(panel, regions)?;
    }
    rows.iter().try_for_each(|r| row(r, regions.len()))
}

/// Words for each region.
pub(super) fn row(row: &MapRow, regions: usize) -> Result<(), MapError> {
    if row.words.len() == regions {
        return Ok(());
    }
    Err(MapError::Length {
        what: row.name.clone(),
        expected: regions,
        got: row.words.len(),
    })
}

/// No latitude beyond a pole.
pub(super) fn latitudes(regions: &[MapRegion]) -> Result<(), MapError> {
    for region in regions {
        for vertex in region.parts.iter().flatten().flatten() {
            if !(-90.0..=90.0).contains(&vertex[1]) {
                return Err(MapError::Latitude {
                    region: region.name().to_owned(),
                    latitude: vertex[1],
                });
            }
        }
    }
    Ok(())
}

fn region(region: &MapRegion) -> Result<(), MapError> {
    let name = || region.name().to_owned();
    if region.parts.is_empty() || region.parts.iter().any(Vec::is_empty) {
        return Err(MapError::NoRing { region: name() });
    }
    for (part, rings) in region.parts.iter().enumerate() {
        for (ring, vertices) in rings.iter().enumerate() {
            if let Some(&[x, y]) = vertices.iter().find(|v| !v.iter().all(|c| c.is_finite())) {
                return Err(MapError::Coordinate {
                    region: name(),
                    part,
                    ring,
                    x,
                    y,
                });
            }
            let different = different(vertices);
            if different < 3 {
                return Err(MapError::Ring {
                    region: name(),
                    part,
                    ring,
                    different,
                });
            }
        }
    }
    Ok(())
}

/// Different vertices of a ring, counted to three.
fn different(vertices: &[[f64; 2]]) -> usize {
    let mut seen: Vec<[f64; 2]> = Vec::with_capacity(3);
    for vertex in vertices {
        if !seen.contains(vertex) {
            seen.push(*vertex);
        }
        if seen.len() == 3 {
            break;
        }
    }
    seen.len()
}

/// Both sides of the box around all regions can be divided by.
fn extent(regions: &[MapRegion]) -> Result<(), MapError> {
    let side = |axis: usize| {
        let along = || {
            regions
                .iter()
                .flat_map(|r| r.parts.iter().flatten().flatten())
                .map(move |v| v[axis])
        };
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    let (wide, high) = (side(0), side(1));
    // Also refuses what is so thin that no aspect of a sheet shows it.
    let usable = |s: f64| s.is_finite() && s > 0.0;
    if usable(wide) && usable(high) && usable(wide / high) && usable(high / wide) {
        Ok(())
    } else {
        Err(MapError::Extent { wide, high })
    }
}

fn values(panel: &MapPanel, regions: &[MapRegion]) -> Result<(), MapError> {
    if panel.values.len() != regions.len() {
        return Err(MapError::Length {
            what: panel.title.clone(),
            expected: regions.len(),
            got: panel.values.len(),
        });
    }
    for (value, region) in panel.values.iter().zip(regions) {
        let Some(value) = *value else { continue };
        let log = panel.spacing == Spacing::Log && value <= 0.0;
        if !value.is_finite() || log {
            return Err(MapError::Value {
                panel: panel.title.clone(),
                region: region.name().to_owned(),
                value,
                wanted: if log { "positive" } else { "finite" },
            });
        }
    }
    if let Some((low, high)) = panel.domain {
        let log = panel.spacing == Spacing::Log && low <= 0.0;
        if !(low.is_finite() && high.is_finite() && low < high) || log {
            return Err(MapError::Domain {
                panel: panel.title.clone(),
                low,
                high,
            });
        }
    }
    if let Colours::Diverging { centre } = panel.colours
        && (!centre.is_finite() || (panel.spacing == Spacing::Log && centre <= 0.0))
    {
        return Err(MapError::Centre {
            panel: panel.title.clone(),
            centre,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Heading, MapFigure, MapPrediction};

    fn square() -> MapRegion {
        let ring = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
        MapRegion::new("a", "Alpha", vec![vec![ring]])
    }

    fn panel(values: Vec<Option<f64>>) -> MapPanel {
        MapPanel {
            title: "Observed".to_owned(),
            values,
            ..MapPanel::default()
        }
    }

    fn with(region: MapRegion, panel: MapPanel) -> Result<MapFigure, MapError> {
        MapFigure::new(Heading::default(), vec![region], vec![panel])
    }

    fn bent(change: impl Fn(&mut MapRegion)) -> Result<MapFigure, MapError> {
        let mut region = square();
        change(&mut region);
        with(region, panel(vec![Some(1.0)]))
    }

    #[test]
    fn a_map_needs_regions_and_panels() {
        let none = MapFigure::new(Heading::default(), vec![], vec![panel(vec![])]);
        assert_eq!(none, Err(MapError::NoRegions));
        let none = MapFigure::new(Heading::default(), vec![square()], vec![]);
        assert_eq!(none, Err(MapError::NoPanels));
        assert!(with(square(), panel(vec![None])).is_ok());
    }

    #[test]
    fn lengths_must_agree() {
        let error = with(square(), panel(vec![])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"Observed\" has 0 values for 1 region; give one for each region, none where it is missing"
        );
        let figure = with(square(), panel(vec![Some(1.0)])).unwrap();
        let row = MapRow::intervals(0.95, &[None, None]);
        assert!(matches!(
            figure.with_row(row),
            Err(MapError::Length { got: 2, .. })
        ));
        let predicted = [Some(MapPrediction::default()); 2];
        let figure = MapFigure::prediction(
            Heading::default(),
            &crate::figure::Axis::default(),
            vec![square()],
            &[None],
            &predicted,
            0.95,
        );
        assert!(matches!(figure, Err(MapError::Length { got: 2, .. })));
    }

    #[test]
    fn numbers_must_be_finite_and_are_named() {
        for bad in [f64::NAN, f64::INFINITY] {
            let error = with(square(), panel(vec![Some(bad)])).unwrap_err();
            assert!(matches!(error, MapError::Value { .. }));
            assert!(error.to_string().contains("Alpha"), "{error}");
            let error = bent(|r| r.parts[0][0][2][1] = bad).unwrap_err();
            assert!(matches!(error, MapError::Coordinate { .. }), "{error}");
            let colours = Colours::Diverging { centre: bad };
            let domain = Some((0.0, bad));
            let base = || panel(vec![Some(1.0)]);
            let error = with(square(), MapPanel { colours, ..base() });
            assert!(matches!(error, Err(MapError::Centre { .. })));
            let error = with(square(), MapPanel { domain, ..base() });
            assert!(matches!(error, Err(MapError::Domain { .. })));
        }
    }

    #[test]
    fn a_logarithm_needs_positive_values() {
        let spacing = Spacing::Log;
        let base = |value| panel(vec![Some(value)]);
        let zero = with(
            square(),
            MapPanel {
                spacing,
                ..base(0.0)
            },
        );
        assert!(matches!(
            zero,
            Err(MapError::Value {
                wanted: "positive",
                ..
            })
        ));
        let colours = Colours::Diverging { centre: 0.0 };
        let zero = MapPanel {
            spacing,
            colours,
            ..base(1.0)
        };
        assert!(matches!(with(square(), zero), Err(MapError::Centre { .. })));
        let domain = Some((0.0, 1.0));
        let zero = with(
            square(),
            MapPanel {
                spacing,
                domain,
                ..base(1.0)
            },
        );
        assert!(matches!(zero, Err(MapError::Domain { .. })));
    }

    #[test]
    fn rings_must_enclose_something() {
        assert!(matches!(
            bent(|r| r.parts.clear()),
            Err(MapError::NoRing { .. })
        ));
        assert!(matches!(
            bent(|r| r.parts.push(vec![])),
            Err(MapError::NoRing { .. })
        ));
        let error = bent(|r| r.parts[0].push(vec![[0.2, 0.2], [0.4, 0.4], [0.2, 0.2]]));
        assert!(matches!(
            error,
            Err(MapError::Ring {
                ring: 1,
                different: 2,
                ..
            })
        ));
        let flat = bent(|r| r.parts[0][0] = vec![[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]);
        assert!(matches!(flat, Err(MapError::Extent { .. })));
        let huge = bent(|r| r.parts[0][0] = vec![[-1e308, 0.0], [1e308, 1.0], [0.0, 2.0]]);
        assert!(matches!(huge, Err(MapError::Extent { .. })));
    }

    #[test]
    fn latitudes_end_at_the_poles() {
        let figure = bent(|r| r.parts[0][0][2][1] = 90.5).unwrap();
        let error = figure.geographic().unwrap_err();
        assert!(error.to_string().contains("90.5"), "{error}");
    }
}
