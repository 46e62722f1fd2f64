//! The support that the flags of `quadrat predict` describe.

use std::ops::Range;
use std::path::Path;

use clap::ValueEnum;
use quadrat_study::codes::Codes;
use quadrat_study::diagnostic::Source;
use quadrat_study::geographic::Geographic;
use quadrat_study::resolve::together;
use quadrat_study::study::Beside;
use quadrat_study::study::fields::{Check, Spanned};
use quadrat_study::study::likelihood::Given;
use quadrat_study::study::shape::{BagKeys, RegionKeys, Shape};
use quadrat_study::study::support::{Aggregate, Dim, Edge, Extent, Support};

use crate::args::{Aggregation, Looks, Predict, ScaleWord};

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

/// What a command line says of places.
pub(in crate::commands) struct Line<'a> {
    /// The command, and the flag of the table.
    pub(in crate::commands) words: [&'a str; 2],
    /// The model.
    pub(in crate::commands) model: &'a Path,
    /// The table.
    pub(in crate::commands) at: &'a Path,
    /// Where its rows look.
    pub(in crate::commands) looks: &'a Looks,
    /// Whether missing coordinates of points of bags are filled in.
    pub(in crate::commands) fills: bool,
    /// What rates are multiplied by.
    pub(in crate::commands) exposure: Option<&'a str>,
    /// Among how many trials successes are predicted.
    pub(in crate::commands) trials: Option<&'a str>,
    /// Columns to copy.
    pub(in crate::commands) keep: &'a [String],
    /// The other flags, which no problem points into.
    pub(in crate::commands) further: String,
}

impl<'a> From<&'a Predict> for Line<'a> {
    fn from(args: &'a Predict) -> Self {
        Self {
            words: ["predict", "--at"],
            model: &args.model,
            at: args.at(),
            looks: &args.looks,
            fills: args.missing.is_some(),
            exposure: args.exposure.as_deref(),
            trials: args.trials.as_deref(),
            keep: &args.keep,
            further: further(args),
        }
    }
}

/// A command line as a text that problems can point into.
struct Text(String);

impl Text {
    /// Adds a flag and its value.
    fn word(&mut self, before: &str, word: &str) -> Spanned<String> {
        self.0.push_str(before);
        let start = self.0.len();
        self.0.push_str(word);
        Spanned {
            value: word.to_owned(),
            span: start..self.0.len(),
        }
    }

    /// Adds a flag and the values that it is given, if there are any.
    fn list(&mut self, before: &str, list: &[String]) -> Vec<Spanned<String>> {
        let each = list.iter().enumerate();
        each.map(|(i, item)| self.word(if i == 0 { before } else { "," }, item))
            .collect()
    }

    /// Adds a flag and its value, if there is one.
    fn maybe(&mut self, before: &str, word: Option<&str>) -> Option<Spanned<String>> {
        Some(self.word(before, word?))
    }
}

/// The support that the flags describe, and the flags as a text that problems can point into.
pub(in crate::commands) fn described(line: &Line<'_>) -> Described {
    let ([command, at], looks) = (line.words, line.looks);
    let mut text = Text(format!("quadrat {command} {}", line.model.display()));
    // A path that is not UTF-8 is shown, and then not found, with a replacement character.
    let at = text.word(&format!(" {at} "), &line.at.to_string_lossy());
    let shape = shape(&mut text, line, &at);
    let dims = dims(&mut text, looks);
    let aggregate = match looks.aggregate {
        Some(Aggregation::Sum) if shape.is_some() || !looks.boxes.is_empty() => {
            Some(Aggregate::Sum)
        }
        Some(Aggregation::Mean) if shape.is_some() || !looks.boxes.is_empty() => {
            Some(Aggregate::Mean)
        }
        _ => None,
    };
    let beside = Beside {
        exposure: text.maybe(" --exposure ", line.exposure).map(amount),
        trials: text.maybe(" --trials ", line.trials).map(amount),
        keep: text.list(" --keep ", line.keep),
    };
    if let Some(aggregate) = &looks.aggregate {
        text.word(" --aggregate ", &named(aggregate));
    }
    text.0.push_str(&line.further);
    let span: Range<usize> = 0..text.0.len();
    Described {
        source: Source::named("command line".to_owned(), text.0.into()),
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

/// The regions or bags that the flags name.
fn shape(text: &mut Text, line: &Line<'_>, at: &Spanned<String>) -> Option<Shape> {
    let looks = line.looks;
    let start = text.0.len();
    let of_region = text.list(" --region ", &looks.region);
    let of_bag = text.list(" --bag ", &looks.bag);
    let key = text.maybe(" --key ", looks.key.as_deref());
    let weight = text.maybe(" --weight ", looks.weight.as_deref());
    if looks.planar {
        text.0.push_str(" --planar");
    }
    if line.fills {
        text.0.push_str(" --missing mean");
    }
    let span = start + 1..text.0.len().max(start + 1);
    if !of_region.is_empty() {
        return Some(Shape::Region(RegionKeys {
            file: None,
            key,
            dims: of_region,
            planar: looks.planar,
            skips: false,
            span,
        }));
    }
    key.filter(|_| !of_bag.is_empty()).map(|key| {
        Shape::Bag(BagKeys {
            file: at.clone(),
            key,
            dims: of_bag,
            weight,
            fills: line.fills,
            skips: false,
            span,
        })
    })
}

/// The sides of boxes and the coordinates of points that the flags name.
fn dims(text: &mut Text, looks: &Looks) -> Vec<Dim> {
    let mut dims = Vec::new();
    for edges in &looks.boxes {
        let name = text.word(" --box ", &edges.dim);
        let first = text.word("=", &edges.first);
        let second = text.word(",", &edges.second);
        dims.push(Dim {
            name,
            extent: Extent::Edges(Edge::Column(first), Edge::Column(second)),
        });
    }
    let points = text.list(" --point ", &looks.point);
    dims.extend(points.into_iter().map(|name| Dim {
        name,
        extent: Extent::Point,
    }));
    dims
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

/// A word as it is written on the command line.
fn named(word: &impl ValueEnum) -> String {
    let value = word.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The other flags of a prediction.
fn further(args: &Predict) -> String {
    let mut text = String::new();
    let mut flag = |name: &str, value: String| text.push_str(&format!(" {name} {value}"));
    if args.scale != ScaleWord::Response {
        flag("--scale", named(&args.scale));
    }
    if let Some(level) = args.level {
        flag("--level", level.to_string());
    }
    if !args.quantile.is_empty() {
        let asked: Vec<String> = args.quantile.iter().map(f64::to_string).collect();
        flag("--quantile", asked.join(","));
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
    looks: &Looks,
) {
    let inputs = quadrat_study::suggest::list(dims);
    let given: Vec<&Spanned<String>> = support.names().collect();
    for (i, dim) in given.iter().enumerate() {
        let name = &dim.value;
        if !dims.contains(name) {
            let near = quadrat_study::suggest::nearest(name, dims.iter().map(String::as_str));
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
    if looks.key.is_some() && support.shape.is_none() {
        check.refuse(
            &support.span,
            "--key names regions or bags, and there are none, so it has no meaning",
            "leave --key out, or give `--region` or `--bag`; other columns of the table stay as they are",
        );
    }
    if !has_width && looks.aggregate.is_some() {
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

/// Boxes and regions cannot extend along labels.
pub(in crate::commands) fn no_width(check: &Check<'_>, support: &Support, labels: &Codes) {
    let boxes = support.dims.iter();
    let boxes = boxes.filter(|dim| dim.extent != Extent::Point);
    let regions = match &support.shape {
        Some(Shape::Region(keys)) => &keys.dims[..],
        _ => &[],
    };
    for name in boxes.map(|dim| &dim.name).chain(regions) {
        let dim = &name.value;
        if labels.holds(dim) {
            let message = format!("`{dim}` holds labels, which have no width between them");
            check.refuse(&name.span, message, format!("write `--point {dim}`"));
        }
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
