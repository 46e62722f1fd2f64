//! Places that a density can be asked at.

use std::ops::Range;

use super::{Named, QUANTILE};
use crate::study::fields::{Check, Spanned};
use crate::study::shape::Shape;
use crate::study::support::{Dim, Extent, Support};
use crate::suggest;

/// Refuses places that are none of the columns of a density.
///
/// # Arguments
/// * `quantiles` - where quantiles are asked for, if they are
pub fn suits(
    check: &Check<'_>,
    named: Named<'_>,
    support: &Support,
    quantiles: Option<&Range<usize>>,
) {
    let names = named.names;
    known(check, names, support);
    let given = |name: &String| support.names().any(|n| &n.value == name);
    let missing = names.iter().find(|name| !given(name));
    match (named.is_given, names, quantiles) {
        (true, [first, value], Some(span)) => {
            if given(value) {
                let message = format!("quantiles of `{value}` are asked at places of `{value}`");
                let remedy = format!("give places of `{first}` alone");
                check.refuse(span, message, remedy);
            }
            needs(check, support, first);
        }
        (true, [first, _], None) => {
            if let Some(name) = missing {
                needs(check, support, name);
            }
            let along = support.dims.iter().find(|dim| &dim.name.value == first);
            if let Some(dim) = along.filter(|dim| dim.extent != Extent::Point) {
                let message = format!("`{first}` is given: its values are places, not boxes");
                check.refuse(
                    &dim.name.span,
                    message,
                    format!("give `{first}` as a point"),
                );
            }
        }
        (_, [_, _], Some(span)) => {
            let message = "quantiles are of one column, and the density is of two";
            check.refuse(span, message, "ask for probabilities of boxes");
        }
        (_, [name], Some(span)) if given(name) => {
            let message = format!("quantiles of `{name}` are asked at places of `{name}`");
            check.refuse(span, message, "leave the places out");
        }
        (_, [name], None) if !given(name) => needs(check, support, name),
        _ => {}
    }
    if let (Some(span), Some(_)) = (quantiles, names.iter().find(|n| n.as_str() == QUANTILE)) {
        let message = format!("the column `{QUANTILE}` has the name of that of probabilities");
        check.refuse(span, message, "rename it in the table of the density");
    }
    shapes(check, named, support);
}

/// Columns that the density has, each once.
fn known(check: &Check<'_>, names: &[String], support: &Support) {
    let seen: Vec<&Spanned<String>> = support.names().collect();
    for (i, name) in seen.iter().enumerate() {
        if seen[..i].iter().any(|earlier| earlier.value == name.value) {
            let message = format!("`{}` is given twice", name.value);
            check.refuse(&name.span, message, "give each column once");
        } else if !names.contains(&name.value) {
            let near = suggest::nearest(&name.value, names.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let message = format!("the density is not of `{}`{hint}", name.value);
            check.refuse(
                &name.span,
                message,
                format!("it is of {}", suggest::list(names)),
            );
        }
    }
}

fn needs(check: &Check<'_>, support: &Support, name: &str) {
    if !support.names().any(|n| n.value == name) {
        let message = format!("`{name}`, which the density is of, is not given");
        let remedy = format!("name the column `{name}` as a point, or the edges of a box of it");
        check.refuse(&support.span, message, remedy);
    }
}

/// Boxes beside points, regions, bags.
fn shapes(check: &Check<'_>, named: Named<'_>, support: &Support) {
    let names = named.names;
    let is_point = |dim: &Dim| dim.extent == Extent::Point;
    let is_plane = names.len() == 2 && !named.is_given;
    let mixed = support.dims.iter().any(is_point) && !support.dims.iter().all(is_point);
    if is_plane && mixed {
        let message = "a density of two columns is asked at points or over boxes, not of both";
        let remedy = "give both columns as points, or both as boxes";
        check.refuse(&support.span, message, remedy);
    }
    match &support.shape {
        Some(Shape::Bag(bag)) => check.refuse(
            &bag.span,
            "a density has no bags: points have densities, boxes and regions probabilities",
            "give points, boxes or regions",
        ),
        Some(Shape::Region(region)) => {
            let wanted: Vec<&String> = names.iter().collect();
            let dims: Vec<&String> = region.dims.iter().map(|dim| &dim.value).collect();
            if !is_plane || dims != wanted || !support.dims.is_empty() {
                let message = "regions are of a density of two columns, in their order";
                let remedy = match is_plane {
                    true => format!("write {}", names.join(",")),
                    false => "give points or boxes".to_owned(),
                };
                check.refuse(&region.span, message, remedy);
            }
        }
        None => {}
    }
    let has_width = support.shape.is_some() || support.has_boxes();
    if has_width && support.aggregate.is_none() {
        let message = "boxes and regions need what is asked of them";
        let remedy = "`sum` for their probability, `mean` for the average density";
        check.refuse(&support.span, message, remedy);
    }
}
