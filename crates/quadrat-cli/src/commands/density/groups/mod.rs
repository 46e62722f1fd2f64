//! A density for each group of rows, on the terminal and as figures.

mod figure;
pub mod given;

use quadrat_plot::Figure;
use quadrat_study::density::Answers;
use quadrat_study::density::groups::{Groups, sentences};
use quadrat_study::diagnostic::{Paint, brief};

/// The figures.
pub fn figures(of: &Groups) -> Vec<Figure> {
    let value = &of.rows.names[0];
    vec![
        figure::violins(&of.title(), value, &of.column, &of.groups),
        figure::curves(value, &of.groups, &of.compared),
    ]
}

/// The summary for a terminal.
pub fn summary(of: &Groups, paint: Paint) -> String {
    let told = sentences(&of.rows, &of.column, &of.groups, &of.compared);
    let mut text = told.join("\n");
    text.push('\n');
    for warning in of.warnings() {
        text.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
    }
    brief(&text)
}
