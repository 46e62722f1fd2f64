//! Regular grids of points or cells.

use crate::study::fields::{Check, Section, Spanned, number};
use std::ops::Range;

use crate::numbers::exact;

/// The most points or cells a grid may have in all.
pub const MOST: usize = 10_000_000;

/// One axis of a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// First point or edge.
    pub from: f64,
    /// Last point or edge.
    pub to: f64,
    /// Whether it is cut into cells; else it holds points.
    pub cells: bool,
    /// Number of cells or points.
    pub len: usize,
    step: f64,
    divides: bool,
}

impl Axis {
    /// A single point, as for one year or one depth of a map.
    pub fn point(at: f64) -> Self {
        Self {
            from: at,
            to: at,
            cells: false,
            len: 1,
            step: 1.0,
            divides: false,
        }
    }

    /// An axis; the error is the fact and the remedy.
    pub fn new(from: f64, to: f64, step: f64, cells: bool) -> Result<Self, (String, String)> {
        let (shown_from, shown_to, shown_step) = (exact(from), exact(to), exact(step));
        if from == to && !cells {
            return Ok(Self::point(from));
        }
        if from >= to {
            return Err((
                format!("`from` is {shown_from} and `to` is {shown_to}; a grid must rise"),
                "make `to` larger than `from`".into(),
            ));
        }
        if step <= 0.0 {
            return Err((
                format!("`step` is {shown_step}; it must be positive"),
                "give the distance between neighbours".into(),
            ));
        }
        if from.abs().max(to.abs()) + step / 2.0 == from.abs().max(to.abs()) {
            return Err((
                format!(
                    "a step of {shown_step} is lost in rounding between {shown_from} and {shown_to}"
                ),
                "use a larger step, or count this dimension from a nearer origin".into(),
            ));
        }
        let count = (to - from) / step;
        if !count.is_finite() || count > MOST as f64 {
            return Err((
                format!(
                    "a step of {shown_step} from {shown_from} to {shown_to} makes more than 10^7 cells"
                ),
                "use a larger step".into(),
            ));
        }
        let whole = count.round();
        // Edges are given with about 15 digits; a thousand times that may be lost in the division.
        let divides = whole >= 1.0 && (count - whole).abs() <= 1e-9 * whole.max(1.0);
        if cells && !divides {
            let ends: Vec<String> = [count.floor(), count.ceil()]
                .into_iter()
                .filter(|&n| n >= 1.0)
                .map(|n| exact(from + n * step))
                .collect();
            let message = format!(
                "a step of {shown_step} does not cut {shown_from} to {shown_to} into whole cells"
            );
            return Err((
                message,
                format!(
                    "let the grid end at {}, or change the step",
                    ends.join(" or ")
                ),
            ));
        }
        let intervals = if divides { whole } else { count.floor() } as usize;
        let len = if cells { intervals } else { intervals + 1 };
        Ok(Self {
            from,
            to,
            cells,
            len,
            step,
            divides,
        })
    }

    /// The edge or point of a number from 0; the ends are exact.
    fn at(&self, i: usize) -> f64 {
        if !self.divides {
            return self.from + i as f64 * self.step;
        }
        let intervals = if self.cells { self.len } else { self.len - 1 };
        if i == intervals {
            self.to
        } else {
            self.from + (self.to - self.from) * i as f64 / intervals as f64
        }
    }

    /// Lower and upper end of an entry; equal for points.
    pub fn ends(&self, i: usize) -> (f64, f64) {
        if self.cells {
            (self.at(i), self.at(i + 1))
        } else {
            (self.at(i), self.at(i))
        }
    }
}

/// The axes of a `grid` table, and whether any is meant to have cells; problems are noted.
pub fn axes(grid: &Section<'_>) -> (Vec<(Spanned<String>, Axis)>, bool) {
    const LIKE: &str = "`{ from = 0, to = 100, step = 1 }`, with `cells = true` for boxes, or a number for one point";
    let entries = grid.entries();
    if entries.is_empty() {
        grid.check.refuse(
            &grid.span,
            "`grid` names no dimension",
            "write `grid = { age = { from = 0, to = 100, step = 1 } }`",
        );
    }
    let mut axes = Vec::new();
    let mut has_cells = false;
    for (name, item) in entries {
        let title = format!("the grid of `{}`", name.value);
        if item.as_float().is_some() || item.as_integer().is_some() {
            if let Some(at) = number(grid.check, &title, item) {
                axes.push((name, Axis::point(at.value)));
            }
            continue;
        }
        let Some(section) = Section::from_item(grid.check, &title, item, LIKE) else {
            continue;
        };
        section.keys(&["from", "to", "step", "cells"], &[]);
        let cells = section.flag("cells").unwrap_or(false);
        has_cells |= cells;
        let (from, to) = (section.number("from"), section.number("to"));
        let is_point = matches!((&from, &to), (Some(a), Some(b)) if a.value == b.value) && !cells;
        if is_point && section.get("step").is_none() {
            axes.extend(from.map(|at| (name, Axis::point(at.value))));
            continue;
        }
        for key in ["from", "to", "step"] {
            if section.get(key).is_none() {
                section.missing(key, &format!("write {LIKE}"));
            }
        }
        let step = section.number("step");
        let (Some(from), Some(to), Some(step)) = (from, to, step) else {
            continue;
        };
        match Axis::new(from.value, to.value, step.value, cells) {
            Ok(axis) => axes.push((name, axis)),
            Err((fact, remedy)) => {
                let span = if from.value >= to.value {
                    from.span
                } else {
                    step.span
                };
                grid.check.refuse(&span, format!("{title}: {fact}"), remedy);
            }
        }
    }
    too_many(grid.check, &grid.span, &axes);
    (axes, has_cells)
}

fn too_many(check: &Check<'_>, span: &Range<usize>, axes: &[(Spanned<String>, Axis)]) {
    let total = axes
        .iter()
        .try_fold(1usize, |total, (_, axis)| total.checked_mul(axis.len));
    if total.is_none_or(|total| total > MOST) {
        let sizes: Vec<String> = axes.iter().map(|(_, axis)| axis.len.to_string()).collect();
        let message = format!("the grid has {} cells, more than 10^7", sizes.join(" x "));
        check.refuse(span, message, "use larger steps, or several predictions");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_end_exactly_and_read_well() {
        let axis = Axis::new(0.0, 1.0, 0.1, true).unwrap();
        assert_eq!(axis.len, 10);
        assert_eq!(axis.ends(2), (0.2, 0.3));
        assert_eq!(axis.ends(9).1, 1.0);
    }

    #[test]
    fn points_include_the_end_when_the_step_divides() {
        assert_eq!(Axis::new(0.0, 10.0, 2.5, false).unwrap().len, 5);
        let axis = Axis::new(0.0, 10.0, 3.0, false).unwrap();
        assert_eq!((axis.len, axis.ends(3)), (4, (9.0, 9.0)));
    }

    #[test]
    fn a_grid_may_be_one_point_but_no_cell_without_a_width() {
        let axis = Axis::new(5.0, 5.0, 1.0, false).unwrap();
        assert_eq!((axis.len, axis.ends(0)), (1, (5.0, 5.0)));
        assert!(Axis::new(5.0, 5.0, 1.0, true).is_err());
    }

    #[test]
    fn bad_axes_are_refused() {
        assert!(Axis::new(0.0, 10.0, 0.0, false).is_err());
        assert!(Axis::new(0.0, 10.0, -1.0, false).is_err());
        assert!(Axis::new(10.0, 0.0, 1.0, false).is_err());
        assert!(Axis::new(0.0, 1.0, 1e-300, false).is_err());
        assert!(
            Axis::new(0.0, 10.0, 3.0, true)
                .unwrap_err()
                .1
                .contains("9 or 12")
        );
    }
}
