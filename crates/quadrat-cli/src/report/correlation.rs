//! How alike the outputs are.

use quadrat_plot::{Correlated, CorrelationFigure, Figure, Heading};

use crate::outcome::Outcome;

/// The figure, where there are several outputs.
pub fn figure(outcome: &Outcome) -> Option<Figure> {
    let pairs = &outcome.summary().correlations;
    if pairs.is_empty() {
        return None;
    }
    let names = &outcome.resolved.outputs;
    let place = |output: &String| names.iter().position(|name| name == output);
    let correlated = pairs.iter().filter_map(|pair| {
        Some(Correlated {
            first: place(&pair.first)?,
            second: place(&pair.second)?,
            value: pair.value,
            lower: pair.lower,
            upper: pair.upper,
        })
    });
    let heading = Heading::new("output-correlations", "How alike the outputs are").with_caption(
        "Correlations of the latent functions of two outputs at one place, as the fitted coregionalisation says: \
         1 where they move together, \u{2212}1 where they move against each other, 0 where one says nothing about the other.",
    );
    Some(Figure::Correlation(CorrelationFigure {
        heading,
        names: names.clone(),
        pairs: correlated.collect(),
        level: 0.95,
    }))
}
