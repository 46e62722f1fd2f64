use super::predicted::PLACES;
use super::*;
use crate::figure::{Axis, Heading, Observed, Places, Predicted};

fn figure(predicted: Predicted, observed: Vec<Observed>) -> CurveFigure {
    CurveFigure {
        heading: Heading::new("a", "A"),
        x: Axis::new("x"),
        panels: vec![Panel {
            predicted: vec![predicted],
            observed,
            ..Panel::default()
        }],
    }
}

fn cells(n: usize) -> Predicted {
    Predicted {
        at: Places::Cells((0..n).map(|i| (i as f64, i as f64 + 1.0)).collect()),
        mean: (0..n).map(|i| i as f64).collect(),
        ..Predicted::default()
    }
}

#[test]
fn a_cell_gives_two_vertices_and_a_gap_breaks_the_line() {
    let mut predicted = cells(4);
    predicted.at = Places::Cells(vec![(0.0, 1.0), (1.0, 2.0), (3.0, 4.0), (4.0, 5.0)]);
    let figure = figure(predicted, Vec::new());
    let drawn = prepare(&figure);
    let pieces = &drawn.panels[0].bands[0].pieces;
    assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
    assert_eq!(drawn.x_range, (0.0, 5.0));
}

#[test]
fn overlapping_cells_are_not_joined_in_any_order() {
    let asked = [(0.0, 100.0), (50.0, 100.0), (0.0, 50.0), (20.0, 60.0)];
    for turn in 0..4 {
        let mut predicted = cells(4);
        let mut at = asked.to_vec();
        at.rotate_left(turn);
        predicted.at = Places::Cells(at);
        let figure = figure(predicted, Vec::new());
        let drawn = prepare(&figure);
        let pieces = &drawn.panels[0].bands[0].pieces;
        assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [2; 4]);
        // Level over its own cell.
        assert!(
            pieces
                .iter()
                .all(|p| p[0][1..] == p[1][1..] && p[0][0] < p[1][0])
        );
    }
}

#[test]
fn cells_that_touch_are_joined_whatever_their_order() {
    let mut predicted = cells(3);
    predicted.at = Places::Cells(vec![(2.0, 3.0), (1.0, 0.0), (1.0, 2.0)]);
    let figure = figure(predicted, Vec::new());
    let drawn = prepare(&figure);
    let pieces = &drawn.panels[0].bands[0].pieces;
    assert_eq!(pieces.len(), 1);
    assert!(pieces[0].is_sorted_by(|a, b| a[0] <= b[0]));
}

#[test]
fn points_are_joined_by_their_places_and_those_at_one_place_are_not() {
    let predicted = Predicted {
        at: Places::Points(vec![3.0, 1.0, 2.0, 2.0, 0.0]),
        mean: vec![3.0, 1.0, 2.0, 9.0, 0.0],
        ..Predicted::default()
    };
    let figure = figure(predicted, Vec::new());
    let drawn = prepare(&figure);
    let pieces = &drawn.panels[0].bands[0].pieces;
    let places: Vec<Vec<f64>> = pieces
        .iter()
        .map(|p| p.iter().map(|v| v[0]).collect())
        .collect();
    assert_eq!(places, [vec![0.0, 1.0, 2.0], vec![2.0, 3.0]]);
}

#[test]
fn a_row_without_a_mean_breaks_the_line_and_is_told() {
    let mut predicted = cells(5);
    predicted.mean[2] = f64::NAN;
    let figure = figure(predicted, Vec::new());
    let drawn = prepare(&figure);
    assert_eq!(drawn.panels[0].bands[0].pieces.len(), 2);
    assert_eq!(
        drawn.remarks,
        ["1 of 5 predicted rows have no finite value and are not drawn."]
    );
}

#[test]
fn many_rows_are_thinned_without_holes_and_this_is_told() {
    let figure = figure(cells(100_000), Vec::new());
    let drawn = prepare(&figure);
    let pieces = &drawn.panels[0].bands[0].pieces;
    assert_eq!(pieces.len(), 1);
    assert!(pieces[0].len() <= 2 * (PLACES + 2));
    assert!(pieces[0].windows(2).all(|pair| pair[0][0] <= pair[1][0]));
    assert!(drawn.remarks[0].contains("of 100,000 predicted rows"));
}

#[test]
fn nothing_at_all_still_has_axes() {
    let figure = figure(Predicted::default(), Vec::new());
    let drawn = prepare(&figure);
    assert_eq!(drawn.x_range, (0.0, 1.0));
    assert!(drawn.panels[0].y_range.0 < drawn.panels[0].y_range.1);
}

#[test]
fn one_row_has_an_axis_with_a_width() {
    let predicted = Predicted {
        at: Places::Points(vec![3.0]),
        mean: vec![2.0],
        ..Predicted::default()
    };
    let figure = figure(predicted, Vec::new());
    let drawn = prepare(&figure);
    assert!(drawn.x_range.0 < 3.0 && 3.0 < drawn.x_range.1);
}

#[test]
fn a_zero_width_total_is_not_drawn() {
    let figure = figure(cells(3), vec![Observed::total(1.0, 1.0, 5.0)]);
    let drawn = prepare(&figure);
    assert!(drawn.panels[0].marks.is_empty());
    assert_eq!(drawn.remarks.len(), 1);
}
