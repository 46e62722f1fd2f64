//! How much the function changes along every input: what automatic relevance determination found.

use quadrat::kernel::Role;
use quadrat_plot::{Axis, Figure, ForestFigure, ForestRow, Heading};
use quadrat_study::outcome::Outcome;

/// A lengthscale of one input.
struct Own<'a> {
    /// The leaf of the kernel, such as `se#2`.
    leaf: &'a str,
    input: &'a str,
    row: ForestRow,
}

/// The figure, when two inputs or more have lengthscales of their own.
pub fn figure(outcome: &Outcome) -> Option<Figure> {
    let mut all: Vec<Own<'_>> = own(outcome);
    let first = all.first()?.input;
    if all.iter().all(|own| own.input == first) {
        return None;
    }
    all.sort_by(|a, b| b.row.mean.total_cmp(&a.row.mean));
    let leaf = all[0].leaf;
    let one_leaf = all.iter().all(|own| own.leaf == leaf);
    let label = |own: &Own<'_>| match one_leaf {
        true => own.input.to_owned(),
        false => format!("{} ({})", own.input, own.leaf),
    };
    let rows: Vec<ForestRow> = all
        .iter()
        .map(|own| ForestRow {
            label: label(own),
            ..own.row.clone()
        })
        .collect();
    let mut caption = "The standard deviation of an input over everything the rows look at, divided by its lengthscale: how many lengthscales the data spread over. Around 1 and above, the function changes along the input; where it is far smaller, the input matters little, or only as a slow trend.".to_owned();
    if !one_leaf {
        caption.push_str(" Parts of a sum differ in their variances too.");
    }
    if rows.iter().any(|row| row.lower == row.upper) {
        caption.push_str(" Rows without an interval have a lengthscale that was fixed, or whose interval is not known.");
    }
    Some(Figure::Forest(ForestFigure {
        heading: Heading::new("input-relevance", "Relevance of the inputs").with_caption(caption),
        value: Axis::new("standard deviation of the input / lengthscale"),
        rows,
        level: 0.95,
        label: "Relevance".to_owned(),
        logarithmic: true,
        ..ForestFigure::default()
    }))
}

/// Every lengthscale that belongs to one input, with the intervals of the hyperparameters.
fn own(outcome: &Outcome) -> Vec<Own<'_>> {
    let posterior = &outcome.posterior;
    let kernel = posterior.kernel();
    let (inputs, sds) = (posterior.dims(), posterior.input_sd());
    let one = |parameter: &'_ quadrat::kernel::KernelParameter| {
        let Role::Lengthscale(columns) = &parameter.role else {
            return None;
        };
        let [column] = columns.as_slice() else {
            return None;
        };
        let name = &kernel.columns()[*column];
        let at = inputs.iter().position(|input| input == name)?;
        let known = posterior.summary().hyperparameters.iter();
        let hyper = known.clone().find(|hyper| hyper.name == parameter.name)?;
        let relevance = |lengthscale: f64| sds[at] / lengthscale;
        let mean = relevance(hyper.value);
        let is_known = !hyper.fixed && hyper.lower > 0.0 && hyper.upper.is_finite();
        let (lower, upper) = match is_known {
            true => (relevance(hyper.upper), relevance(hyper.lower)),
            false => (mean, mean),
        };
        let row = ForestRow {
            mean,
            lower,
            upper,
            ..ForestRow::default()
        };
        (mean > 0.0 && mean.is_finite()).then_some((at, row))
    };
    let found = kernel.parameters().iter();
    let found = found.filter_map(|parameter| Some((parameter, one(parameter)?)));
    let leaf = |name: &'_ str| name.find(".lengthscale").unwrap_or(name.len());
    found
        .map(|(parameter, (at, row))| Own {
            leaf: &parameter.name[..leaf(&parameter.name)],
            input: &inputs[at],
            row,
        })
        .collect()
}
