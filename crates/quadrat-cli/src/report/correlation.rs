//! How alike the outputs are.

use quadrat::model::Coregionalization;
use quadrat_plot::{Correlated, CorrelationFigure, Figure, Heading};
use quadrat_study::outcome::Outcome;

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
            value: pair.median,
            lower: pair.lower,
            upper: pair.upper,
        })
    });
    let heading = Heading::new("output-correlations", "How alike the outputs are").with_caption(
        "Correlations of the latent functions of two outputs at one place, as the fitted coregionalisation says, medians with their intervals: \
         1 where they move together, \u{2212}1 where they move against each other, 0 where one says nothing about the other.",
    );
    Some(Figure::Correlation(CorrelationFigure {
        heading,
        names: names.clone(),
        pairs: correlated.collect(),
        level: 0.95,
        covariances: Vec::new(),
    }))
}

/// The coregionalisation matrices, a figure for each.
pub fn matrices(outcome: &Outcome) -> Vec<Figure> {
    let one = |of: Coregionalization| {
        let id = of.name.replace(['.', '#'], "-");
        let title = match of.name.as_str() {
            "coregion" => "Coregionalisation matrix".to_owned(),
            other => format!("Coregionalisation matrix of {other}"),
        };
        let heading = Heading::new(format!("{id}-matrix"), title).with_caption(
            "Entries of B = A A\u{2032} + diag(\u{3ba}) at the most probable hyperparameters, coloured by their correlation: times the kernel that it \
             multiplies, the covariance of what two outputs have of it, on the scale of the latent function.",
        );
        Figure::Correlation(CorrelationFigure {
            heading,
            names: of.outputs,
            covariances: of.matrix,
            ..CorrelationFigure::default()
        })
    };
    let all = outcome.posterior.coregionalizations();
    all.into_iter().map(one).collect()
}
