//! The density of two columns on the terminal and as a figure.

mod contours;
mod figure;
pub mod picture;

use quadrat_plot::Figure;
use quadrat_study::density::Answers;
use quadrat_study::density::common::interval;
use quadrat_study::density::plane::Plane;
use quadrat_study::density::plane::said::{numbers, warnings};
use quadrat_study::diagnostic::Paint;
use quadrat_study::numbers::{count, percent};
use quadrat_study::words::clean;

use picture::{REGIONS, picture};

/// The figures.
pub fn figures(of: &Plane) -> Vec<Figure> {
    vec![figure::surface(&of.title(), &of.rows, &of.estimate)]
}

/// The summary for a terminal.
pub fn summary(of: &Plane, paint: Paint) -> String {
    let (args, rows, estimate) = (&of.args, &of.rows, &of.estimate);
    let [x, y] = [0, 1].map(|axis| clean(&rows.names[axis]));
    let mut out = format!(
        "{} of `{x}` (across) and `{y}` (up), {} band\n\n",
        count(rows.len(), "row"),
        percent(estimate.level())
    );
    out.push_str(&picture(estimate));
    let regions = REGIONS.map(|(level, fill)| format!("{fill} {}", percent(level)));
    out.push_str(&format!(
        "the smallest regions that hold {} of the probability\n\n",
        regions.join(", ")
    ));
    let numbers = numbers(args, rows, estimate);
    let wide = numbers
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    for (name, answer) in numbers {
        let gap = " ".repeat(wide - name.chars().count());
        out.push_str(&format!("{name}{gap}  {}\n", interval(&answer)));
    }
    for warning in warnings(rows, estimate.warnings()) {
        out.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
    }
    out
}
