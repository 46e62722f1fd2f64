//! A density over a plane in blocks.

use quadrat::density::Estimate2d;
use quadrat_study::density::common;
use quadrat_study::density::plane::said::HELD;
use quadrat_study::numbers::human;

/// Characters across and down.
const WIDE: usize = 56;
const HIGH: usize = 18;
/// Regions of highest density that are told apart, and how they are filled.
pub const REGIONS: [(f64, char); 4] = [
    (HELD[0], '█'),
    (HELD[1], '▓'),
    (HELD[2], '▒'),
    (HELD[3], '░'),
];

/// Cells of an axis within which there is something to see.
pub fn seen(estimate: &Estimate2d, axis: usize) -> std::ops::Range<usize> {
    let [m, n] = estimate.shape();
    let mut along = vec![0.0; [m, n][axis]];
    for (cell, mass) in estimate.masses().iter().enumerate() {
        along[[cell / n, cell % n][axis]] += mass;
    }
    common::seen(&along, 1.0)
}

/// The smallest regions that hold given shares of the probability, darkest first.
pub fn picture(estimate: &Estimate2d) -> String {
    let regions = REGIONS.map(|(level, _)| estimate.smallest_region(level));
    let ends = [0, 1].map(|axis| {
        let (cells, edges) = (seen(estimate, axis), estimate.edges(axis));
        (edges[cells.start], edges[cells.end])
    });
    let inside = |cell: Option<usize>, region: &Vec<bool>| cell.is_some_and(|cell| region[cell]);
    shaded(ends, |x, y| {
        let cell = estimate.cell(x, y);
        regions.iter().position(|region| inside(cell, region))
    })
}

/// A picture of which of the regions, if any, each place lies in.
pub fn shaded(
    [(left, right), (low, high)]: [(f64, f64); 2],
    region: impl Fn(f64, f64) -> Option<usize>,
) -> String {
    let labels = [human(high), human(low)];
    let margin = labels.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for row in 0..HIGH {
        let y = high - (high - low) * (row as f64 + 0.5) / HIGH as f64;
        let fill = |column: usize| {
            let x = left + (right - left) * (column as f64 + 0.5) / WIDE as f64;
            region(x, y).map_or(' ', |i| REGIONS[i].1)
        };
        let line: String = (0..WIDE).map(fill).collect();
        let label = match row {
            0 => labels[0].as_str(),
            row if row + 1 == HIGH => labels[1].as_str(),
            _ => "",
        };
        let padding = " ".repeat(margin - label.chars().count());
        out.push_str(format!("{padding}{label} │{line}").trim_end());
        out.push('\n');
    }
    let (left, right) = (human(left), human(right));
    let used = left.chars().count() + right.chars().count();
    let gap = " ".repeat(WIDE.saturating_sub(used).max(1));
    out.push_str(&format!("{} {left}{gap}{right}\n", " ".repeat(margin + 1)));
    out
}
