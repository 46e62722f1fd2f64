//! The inputs of the model: what the kernel uses and what the supports give.

use std::ops::Range;

use crate::geographic::Geographic;
use crate::study::Study;
use crate::study::fields::Check;
use crate::study::shape::Shape;
use crate::study::support::{Aggregate, Extent, Support};
use crate::suggest;

/// The inputs of the model, and whether the tables give all that the kernel uses.
pub(super) struct Inputs<'a> {
    /// The inputs that the kernel uses and some table gives.
    pub dims: &'a [String],
    /// Whether the kernel and the mean use no others.
    pub all_known: bool,
    /// Those of the kernel.
    pub of_kernel: &'a [String],
    /// Longitude and latitude, when some regions are in them.
    pub geographic: Option<&'a Geographic>,
    /// Those that hold labels.
    pub labels: &'a [String],
}

/// The inputs of the model; unknown ones are noted once, at the kernel.
pub(super) fn dims(study: &Study, check: &Check<'_>) -> (Vec<String>, bool) {
    let given: Vec<&str> = study
        .observe
        .iter()
        .flat_map(|o| o.support.names().map(|name| name.value.as_str()))
        .collect();
    if study.latent.columns.is_empty() {
        let first = study
            .observe
            .first()
            .into_iter()
            .flat_map(|o| o.support.names());
        return (first.map(|name| name.value.clone()).collect(), true);
    }
    let (known, unknown): (Vec<String>, Vec<String>) = study
        .latent
        .columns
        .iter()
        .cloned()
        .partition(|column| given.contains(&column.as_str()));
    let all_known = unknown.is_empty();
    for column in unknown {
        let in_kernel = study.latent.of_kernel().contains(&column);
        let what = if in_kernel { "kernel" } else { "mean" };
        let mut message = format!("the {what} uses `{column}`, which no [[observe]] gives");
        if let Some(near) = suggest::nearest(&column, given.iter().copied()) {
            message.push_str(&format!("; did you mean `{near}`?"));
        }
        let mut all: Vec<&str> = given.clone();
        all.sort_unstable();
        all.dedup();
        let remedy = format!("the supports give {}", suggest::list(&all));
        let text = match in_kernel {
            true => &study.latent.kernel.span,
            false => &study.latent.mean.span,
        };
        check.refuse(&word_in(study, text, &column), message, remedy);
    }
    (known, all_known)
}

/// Where a column's name stands inside an expression, that of the kernel or of the mean.
fn word_in(study: &Study, text: &Range<usize>, column: &str) -> Range<usize> {
    let written = study.source.text.get(text.clone()).unwrap_or("");
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let found = written.match_indices(column).find(|(at, _)| {
        let before = written[..*at].chars().next_back();
        let after = written[at + column.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(|c| is_name(c) || c == '(')
    });
    match found {
        Some((at, _)) => text.start + at..text.start + at + column.len(),
        None => text.clone(),
    }
}

/// Whether a support gives every input, and what happens to those it gives in excess.
pub(super) fn usable(
    check: &Check<'_>,
    inputs: &Inputs<'_>,
    support: &Support,
    warnings: &mut Vec<String>,
) {
    let dims = inputs.dims;
    let given: Vec<&str> = support.names().map(|name| name.value.as_str()).collect();
    let lacking: Vec<&String> = dims
        .iter()
        .filter(|dim| !given.contains(&dim.as_str()))
        .collect();
    if !lacking.is_empty() {
        let message = format!(
            "this support lacks {}, which the {} uses",
            suggest::list(&lacking),
            if lacking.iter().any(|dim| inputs.of_kernel.contains(dim)) {
                "kernel"
            } else {
                "mean"
            }
        );
        check.refuse(
            &support.span,
            message,
            "name its columns under `point` or `box`, or in the `dims` of a `region` or `bag`",
        );
    }
    for name in support.shape.iter().flat_map(Shape::dims) {
        if inputs.all_known && !dims.contains(&name.value) {
            let message = format!(
                "`dims` names `{}`, which the kernel does not use",
                name.value
            );
            let remedy = format!("the kernel uses {}", suggest::list(dims));
            check.refuse(&name.span, message, remedy);
        }
    }
    no_width(check, inputs.labels, support);
    if let Some(geographic) = inputs.geographic {
        together(check, geographic, support);
    }
    for dim in &support.dims {
        if dims.contains(&dim.name.value) || !inputs.all_known {
            continue;
        }
        let name = &dim.name.value;
        if dim.extent != Extent::Point && support.aggregate == Some(Aggregate::Sum) {
            let message = format!(
                "the box has edges along `{name}`, which the kernel does not use, so its width would change the sum for no reason"
            );
            check.refuse(
                &dim.name.span,
                message,
                format!(
                    "leave `{name}` out of the box, or add it to the kernel, such as `* se({name})`"
                ),
            );
        } else {
            warnings.push(format!("the dimension `{name}` is given but the kernel does not use it: rows that differ only there are alike"));
        }
    }
}

/// Refuses boxes and regions along labels.
fn no_width(check: &Check<'_>, labels: &[String], support: &Support) {
    let boxes = support.dims.iter();
    let boxes = boxes.filter(|dim| dim.extent != Extent::Point);
    let boxes = boxes.map(|dim| (&dim.name, "a box"));
    let regions = match &support.shape {
        Some(Shape::Region(keys)) => &keys.dims[..],
        _ => &[],
    };
    let regions = regions.iter().map(|name| (name, "a region"));
    for (name, what) in boxes.chain(regions) {
        let dim = &name.value;
        if labels.contains(dim) {
            let message = format!(
                "`{dim}` holds labels, since the kernel has `iid({dim})`: they have no width between them, so that {what} cannot extend along it"
            );
            let remedy = format!(
                "name its column under `point`, which may stand beside a `box`, `region` or `bag` over the others: `point = [\"{dim}\"]`"
            );
            check.refuse(&name.span, message, remedy);
        }
    }
}

/// Longitude and latitude are projected together, so a support must give them alike.
pub fn together(check: &Check<'_>, geographic: &Geographic, support: &Support) {
    let shape: Vec<&str> = support
        .shape
        .iter()
        .flat_map(Shape::dims)
        .map(|dim| dim.value.as_str())
        .collect();
    let how = |name: &String| {
        let along = support.dims.iter().find(|dim| &dim.name.value == name);
        let in_shape = shape.contains(&name.as_str());
        (in_shape, along.map(|dim| dim.extent == Extent::Point))
    };
    let [lon, lat] = &geographic.dims;
    if how(lon) != how(lat) {
        let message = format!(
            "`{lon}` and `{lat}` are longitude and latitude in this study, but this support does not give them alike"
        );
        let remedy = "give both as points, both as boxes, or both in one region or bag";
        check.refuse(&support.span, message, remedy);
    }
}
