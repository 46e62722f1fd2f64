//! The support that the flags of `quadrat predict` describe.

use std::ops::Range;

use clap::ValueEnum;

use crate::args::{Aggregation, LEVEL, Predict, ScaleWord};
use crate::diagnostic::Source;
use crate::geographic::Geographic;
use crate::resolve::together;
use crate::study::Beside;
use crate::study::fields::{Check, Spanned};
use crate::study::likelihood::Given;
use crate::study::shape::{BagKeys, RegionKeys, Shape};
use crate::study::support::{Aggregate, Dim, Edge, Extent, Support};

/// What the flags describe.
pub(in crate::commands) struct Described {
    /// The flags as a text that problems can point into.
    pub(in crate::commands) source: Source,
    /// Where to answer.
    pub(in crate::commands) support: Support,
    /// The file of these places.
    pub(in crate::commands) at: Spanned<String>,
    /// What else is asked of its rows.
    pub(in crate::commands) beside: Beside,
}

/// The support that the flags describe, and the flags as a text that problems can point into.
pub(in crate::commands) fn described(args: &Predict, [command, at]: [&str; 2]) -> Described {
    let mut text = format!("quadrat {command} {}", args.model.display());
    let word = |text: &mut String, before: &str, word: &str| {
        text.push_str(before);
        let start = text.len();
        text.push_str(word);
        Spanned {
            value: word.to_owned(),
            span: start..text.len(),
        }
    };
    // A path that is not UTF-8 is shown, and then not found, with a replacement character.
    let at = word(&mut text, &format!(" {at} "), &args.at.to_string_lossy());
    let start = text.len();
    let words = |text: &mut String, before: &str, list: &[String]| -> Vec<Spanned<String>> {
        let each = list.iter().enumerate();
        each.map(|(i, item)| word(text, if i == 0 { before } else { "," }, item))
            .collect()
    };
    let of_region = words(&mut text, " --region ", &args.region);
    let of_bag = words(&mut text, " --bag ", &args.bag);
    let key = args.key.as_ref().map(|key| word(&mut text, " --key ", key));
    let weight = args.weight.as_ref();
    let weight = weight.map(|weight| word(&mut text, " --weight ", weight));
    if args.planar {
        text.push_str(" --planar");
    }
    if args.missing.is_some() {
        text.push_str(" --missing mean");
    }
    let span = start + 1..text.len().max(start + 1);
    let shape = if !of_region.is_empty() {
        Some(Shape::Region(RegionKeys {
            file: None,
            key,
            dims: of_region,
            planar: args.planar,
            skips: false,
            span,
        }))
    } else {
        key.filter(|_| !of_bag.is_empty()).map(|key| {
            Shape::Bag(BagKeys {
                file: at.clone(),
                key,
                dims: of_bag,
                weight,
                fills: args.missing.is_some(),
                skips: false,
                span,
            })
        })
    };
    let mut dims = Vec::new();
    for edges in &args.boxes {
        let name = word(&mut text, " --box ", &edges.dim);
        let first = word(&mut text, "=", &edges.first);
        let second = word(&mut text, ",", &edges.second);
        dims.push(Dim {
            name,
            extent: Extent::Edges(Edge::Column(first), Edge::Column(second)),
        });
    }
    for (i, column) in args.point.iter().enumerate() {
        let name = word(&mut text, if i == 0 { " --point " } else { "," }, column);
        dims.push(Dim {
            name,
            extent: Extent::Point,
        });
    }
    let aggregate = match args.aggregate {
        Some(Aggregation::Sum) if shape.is_some() || !args.boxes.is_empty() => Some(Aggregate::Sum),
        Some(Aggregation::Mean) if shape.is_some() || !args.boxes.is_empty() => {
            Some(Aggregate::Mean)
        }
        _ => None,
    };
    let amount = |text: &mut String, flag: &str, given: &Option<String>| {
        Some(amount(word(text, flag, given.as_ref()?)))
    };
    let beside = Beside {
        exposure: amount(&mut text, " --exposure ", &args.exposure),
        trials: amount(&mut text, " --trials ", &args.trials),
        keep: words(&mut text, " --keep ", &args.keep),
    };
    text.push_str(&further(args));
    let span: Range<usize> = 0..text.len();
    let source = Source::named("command line".to_owned(), text.into());
    Described {
        source,
        support: Support {
            shape,
            dims,
            aggregate,
            span,
        },
        at,
        beside,
    }
}

/// A number or a column; `inf` and `nan` may be columns.
fn amount(word: Spanned<String>) -> Given {
    let has_digits = word.value.bytes().any(|byte| byte.is_ascii_digit());
    match word.value.trim().parse() {
        Ok(value) if has_digits => Given::Number(Spanned {
            value,
            span: word.span,
        }),
        _ => Given::Column(word),
    }
}

/// The other flags, which no problem points into.
fn further(args: &Predict) -> String {
    fn named(word: &impl ValueEnum) -> String {
        let value = word.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
    let mut text = String::new();
    let mut flag = |name: &str, value: String| text.push_str(&format!(" {name} {value}"));
    if let Some(aggregate) = &args.aggregate {
        flag("--aggregate", named(aggregate));
    }
    if args.scale != ScaleWord::Response {
        flag("--scale", named(&args.scale));
    }
    if args.level != LEVEL {
        flag("--level", args.level.to_string());
    }
    if !args.above.is_empty() {
        let limits: Vec<String> = args.above.iter().map(f64::to_string).collect();
        flag("--above", limits.join(","));
    }
    if let Some(of) = &args.of {
        flag("--of", of.clone());
    }
    if let Some(output) = &args.output {
        flag("-o", output.display().to_string());
    }
    if let Some(draws) = args.draws {
        text.push_str(&format!(" --draws {draws}"));
        if args.seed != 0 {
            text.push_str(&format!(" --seed {}", args.seed));
        }
    }
    if args.ranks {
        text.push_str(" --ranks");
    }
    if args.non_negative {
        text.push_str(" --non-negative");
    }
    if args.quiet {
        text.push_str(" --quiet");
    }
    text
}

/// The support must have exactly the inputs of the model.
pub(in crate::commands) fn suits(
    check: &Check<'_>,
    support: &Support,
    dims: &[String],
    args: &Predict,
) {
    let inputs = crate::suggest::list(dims);
    let given: Vec<&Spanned<String>> = support.names().collect();
    for (i, dim) in given.iter().enumerate() {
        let name = &dim.value;
        if !dims.contains(name) {
            let near = crate::suggest::nearest(name, dims.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let message = format!("the model has no input `{name}`{hint}");
            check.refuse(&dim.span, message, format!("its inputs are {inputs}"));
        } else if given[..i].iter().any(|earlier| &earlier.value == name) {
            check.refuse(
                &dim.span,
                format!("`{name}` is given twice"),
                "give each input once",
            );
        }
    }
    for dim in dims
        .iter()
        .filter(|dim| !given.iter().any(|given| &given.value == *dim))
    {
        let remedy = format!(
            "add `--point {dim}` or `--box {dim}=LO,HI`, or name it in `--region` or `--bag`; the inputs are {inputs}"
        );
        check.refuse(
            &support.span,
            format!("the model's input `{dim}` is not given"),
            remedy,
        );
    }
    let has_width = support.has_boxes() || support.shape.is_some();
    if let Some(Shape::Region(region)) = &support.shape
        && region.dims.len() != 2
    {
        check.refuse(
            &region.span,
            format!(
                "a region extends over two dimensions, not {}",
                region.dims.len()
            ),
            "such as `--region lon,lat`",
        );
    }
    if let (Some(Shape::Bag(bag)), true) = (&support.shape, !support.dims.is_empty()) {
        check.refuse(
            &bag.span,
            "`--bag` takes every bag of the file once, so nothing else can be given",
            "name all inputs in `--bag`",
        );
    }
    if args.key.is_some() && support.shape.is_none() {
        check.refuse(
            &support.span,
            "--key names regions or bags, and there are none, so it has no meaning",
            "leave --key out, or give `--region` or `--bag`; other columns of the table stay as they are",
        );
    }
    if !has_width && args.aggregate.is_some() {
        check.refuse(
            &support.span,
            "a point has neither a total nor an average, so --aggregate has no meaning",
            "leave --aggregate out, or give boxes with `--box`",
        );
    }
    if has_width && support.aggregate.is_none() {
        check.refuse(
            &support.span,
            "boxes, regions and bags need --aggregate",
            "add `--aggregate sum` or `--aggregate mean`",
        );
    }
}

/// No column may be kept twice.
pub(in crate::commands) fn kept_once(check: &Check<'_>, keep: &[Spanned<String>]) {
    for (i, name) in keep.iter().enumerate() {
        if keep[..i].iter().any(|earlier| earlier.value == name.value) {
            let message = format!("the column `{}` is given twice", name.value);
            check.refuse(&name.span, message, "name each column once");
        }
    }
}

/// Regions must be planar when those of the model were, and not otherwise.
pub(in crate::commands) fn same_map(
    check: &Check<'_>,
    support: &Support,
    geographic: Option<&Geographic>,
) {
    if let Some(Shape::Region(region)) = &support.shape {
        let names: Vec<&String> = region.dims.iter().map(|dim| &dim.value).collect();
        match geographic {
            Some(geographic) if region.planar => check.refuse(
                &region.span,
                format!(
                    "the model was fitted in longitude and latitude ({})",
                    geographic.words()
                ),
                "leave --planar out",
            ),
            Some(geographic) if names != geographic.dims.each_ref() => check.refuse(
                &region.span,
                "these are not the longitude and latitude of the model",
                format!("write `--region {}`", geographic.dims.join(",")),
            ),
            None if !region.planar => check.refuse(
                &region.span,
                "the model was not fitted in longitude and latitude",
                "add `--planar` to take the numbers of the file as they are",
            ),
            _ => {}
        }
    }
    if let Some(geographic) = geographic {
        together(check, geographic, support);
    }
}
