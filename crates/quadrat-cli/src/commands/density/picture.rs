//! A density in braille.

use std::ops::Range;

use quadrat::density::Estimate;
use quadrat_study::numbers::human;

/// Characters across, two dots each.
const WIDE: usize = 64;
/// Characters high, four dots each.
const HIGH: usize = 8;
/// The bits of the dots of a character, by row and column.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// Where braille begins.
const BRAILLE: u32 = 0x2800;

/// The curve as a line of dots, what lies below the band filled, the band itself with every other
/// dot.
pub fn picture(estimate: &Estimate, cells: Range<usize>) -> String {
    let places = estimate.places();
    let (from, to) = (places[cells.start], places[cells.end - 1]);
    let (wide, high) = (2 * WIDE, 4 * HIGH);
    let at = |column: usize| {
        let x = from + (to - from) * (column as f64 + 0.5) / wide as f64;
        estimate.cell(x).unwrap_or(cells.start)
    };
    let top = cells
        .clone()
        .map(|j| estimate.density()[j])
        .fold(0.0, f64::max)
        * 1.25;
    // Dots below a height.
    let dots = |p: f64| (p / top * high as f64).round().clamp(0.0, high as f64) as usize;
    let mut grid = vec![vec![0_u32; WIDE]; HIGH];
    for column in 0..wide {
        let j = at(column);
        let (lower, upper) = (dots(estimate.lower()[j]), dots(estimate.upper()[j]));
        let line = dots(estimate.density()[j]).saturating_sub(1);
        for row in 0..high {
            let between = row >= lower && row < upper && (row + column) % 2 == 0;
            if row < lower || row == line || between {
                let from_top = high - 1 - row;
                grid[from_top / 4][column / 2] |= DOTS[from_top % 4][column % 2];
            }
        }
    }
    let mut out = String::new();
    for row in &grid {
        let line: String = row
            .iter()
            .map(|bits| char::from_u32(BRAILLE + bits).unwrap_or(' '))
            .collect();
        out.push_str(line.trim_end_matches('\u{2800}'));
        out.push('\n');
    }
    let (left, right) = (human(from), human(to));
    let gap = WIDE
        .saturating_sub(left.chars().count() + right.chars().count())
        .max(1);
    out.push_str(&format!("{left}{}{right}\n", " ".repeat(gap)));
    out
}
