//! `cumulative` in `[[observe]]`: rows that tell running totals.

use std::ops::Range;

use toml_edit::Item;

use super::fields::{Section, Spanned, distinct, kind, number, text};
use super::likelihood::{Counts, Given, Likelihood, Reports};
use super::shape::Shape;
use super::support::{Aggregate, Dim, Edge, Extent, Support};

/// Rows that tell what was counted or measured since some start.
#[derive(Debug, Clone, PartialEq)]
pub struct Cumulative {
    /// The dimension along which totals run.
    pub along: String,
    /// Whether its column has the times of readings; else edges of boxes.
    pub are_readings: bool,
    /// Columns that tell totals apart, besides the support and the output.
    pub by: Vec<Spanned<String>>,
    /// What a total that falls means.
    pub falls: Falls,
    /// Where this is said.
    pub span: Range<usize>,
}

/// What a running total that falls means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Falls {
    /// A mistake.
    Refused,
    /// It began anew at zero, and has counted to what it tells.
    Zero,
    /// It was set to another number; how much was added in between is not known.
    Unknown,
    /// The quantity itself became less.
    Negative,
    /// It begins anew at zero when it reaches this number.
    Beyond(f64),
}

const LIKE: &str =
    "such as `cumulative = true`, or `cumulative = { by = \"meter\", falls = \"zero\" }`";
const FALLS: &str = "`falls` is \"zero\" (it began anew at zero), \"unknown\" (a meter was replaced by one that stood elsewhere), \"negative\" (the quantity itself became less), or the number at which a counter begins anew";

/// The keys as they are written, before it is known of what.
pub(super) struct Said {
    along: Option<Spanned<String>>,
    by: Vec<Spanned<String>>,
    falls: Option<Spanned<Falls>>,
    span: Range<usize>,
}

/// The key `cumulative`; nothing where it was refused.
pub(super) fn read(section: &Section<'_>) -> Option<Option<Said>> {
    let Some(item) = section.get("cumulative") else {
        return Some(None);
    };
    let span = section.span_of("cumulative");
    let mut said = Said {
        along: None,
        by: Vec::new(),
        falls: None,
        span,
    };
    if let Some(is) = item.as_bool() {
        return Some(is.then_some(said));
    }
    if item.as_table_like().is_none() {
        let message = format!(
            "`cumulative` must be true or a table of keys, not {}",
            kind(item)
        );
        section.check.refuse(&said.span, message, LIKE);
        return None;
    }
    let own = Section::from_item(section.check, "cumulative", item, LIKE)?;
    own.keys(&["along", "by", "falls"], &[]);
    if own.get("along").is_some() {
        said.along = Some(own.text("along")?);
    }
    said.by = columns(&own)?;
    if let Some(item) = own.get("falls") {
        said.falls = Some(falls(&own, item)?);
    }
    Some(Some(said))
}

/// The columns of `by`: one, or an array.
fn columns(own: &Section<'_>) -> Option<Vec<Spanned<String>>> {
    let Some(item) = own.get("by") else {
        return Some(Vec::new());
    };
    if item.is_str() {
        return Some(vec![text(own.check, "`by`", item)?]);
    }
    let Some(array) = item.as_array() else {
        let message = format!(
            "`by` must be a column or an array of columns, not {}",
            kind(item)
        );
        let remedy = "such as `by = \"meter\"`";
        own.check.refuse(&own.span_of("by"), message, remedy);
        return None;
    };
    distinct(own, "by", array)
}

fn falls(own: &Section<'_>, item: &Item) -> Option<Spanned<Falls>> {
    let span = own.span_of("falls");
    let value = match item.as_str() {
        Some("zero") => Falls::Zero,
        Some("unknown") => Falls::Unknown,
        Some("negative") => Falls::Negative,
        Some(other) => {
            let message = format!(
                "`{}` is not a known `falls`",
                crate::diagnostic::shown(other)
            );
            own.check.refuse(&span, message, FALLS);
            return None;
        }
        None if item.as_integer().is_none() && item.as_float().is_none() => {
            let message = format!("`falls` must be a word or a number, not {}", kind(item));
            own.check.refuse(&span, message, FALLS);
            return None;
        }
        None => {
            let at = number(own.check, "`falls`", item)?;
            if at.value <= 0.0 {
                let message = format!("`falls` is {}; it must be above zero", at.value);
                own.check.refuse(&span, message, FALLS);
                return None;
            }
            Falls::Beyond(at.value)
        }
    };
    Some(Spanned { value, span })
}

/// Whether a running total adds up, which it must: said or not.
pub(super) fn adds_up(section: &Section<'_>) -> Option<Aggregate> {
    let word = section.word("aggregate", &["sum", "mean"], &[]);
    if let Some(word) = word.filter(|word| word.value == "mean") {
        section.check.refuse(
            &word.span,
            "a running total is a sum, and `aggregate` is \"mean\"",
            "write `aggregate = \"sum\"`, or leave it out",
        );
    }
    Some(Aggregate::Sum)
}

/// Running totals of a table, whose support becomes the time between two rows.
pub(super) fn of(
    section: &Section<'_>,
    said: Said,
    support: &mut Support,
    likelihood: &Likelihood,
) -> Option<Cumulative> {
    let check = section.check;
    if let Some(Shape::Bag(_)) = &support.shape {
        let message = "running totals of bags are not taken apart";
        let remedy = "give `region` and the times as `point`, or the differences of consecutive rows without `cumulative`";
        check.refuse(&said.span, message, remedy);
        return None;
    }
    if section.get("times").is_some() {
        let message = "`times` repeats rows, and a running total has each once";
        let remedy = "leave `times` out";
        check.refuse(&section.span_of("times"), message, remedy);
        return None;
    }
    can_run(section, &said, likelihood)?;
    let at = along(section, &said, &support.dims)?;
    let dim = &mut support.dims[at];
    let are_readings = dim.extent == Extent::Point;
    if are_readings {
        let column = || Edge::Column(dim.name.clone());
        dim.extent = Extent::Edges(column(), column());
    }
    Some(Cumulative {
        along: dim.name.value.clone(),
        are_readings,
        by: said.by,
        falls: said.falls.map_or(Falls::Refused, |falls| falls.value),
        span: said.span,
    })
}

/// Refuses reports of which no differences can be told.
fn can_run(section: &Section<'_>, said: &Said, likelihood: &Likelihood) -> Option<()> {
    let refuse = |span: &Range<usize>, message: String, remedy: &str| {
        section.check.refuse(span, message, remedy);
        None
    };
    let falls = said.falls.as_ref();
    match &likelihood.reports {
        Reports::Counts {
            counts: Counts::One(_),
            ..
        } => match falls {
            Some(falls) if falls.value == Falls::Negative => refuse(
                &falls.span,
                "counts cannot become less, and `falls` is \"negative\"".to_owned(),
                "choose \"zero\", \"unknown\" or a number, or report the values as `gaussian`",
            ),
            _ => Some(()),
        },
        Reports::Counts { .. } => refuse(
            &said.span,
            "running totals of counts that are told as ranges have no increments".to_owned(),
            "give one column, `count`; or leave `cumulative` out, and give boxes that do not overlap",
        ),
        Reports::Gaussian { .. } => {
            let noise = likelihood.noise.as_ref();
            if let Some(known) = noise
                .filter(|noise| noise.learned)
                .and_then(|n| n.known.as_ref())
            {
                return refuse(
                    known.span(),
                    "the noise is partly known and partly learned: a known one is of readings, a learned one of increments".to_owned(),
                    "keep `variance` where readings have a known error, or leave it out where they are exact",
                );
            }
            // Whether readings have errors is known once a column of these is read.
            Some(())
        }
        _ => refuse(
            &said.span,
            format!(
                "`cumulative` is of counts and of `gaussian` values, not of `{}`",
                likelihood.name.value
            ),
            "leave it out: totals from one start with errors of their own may overlap, `box = { t = [0, \"t\"] }`",
        ),
    }
}

/// The known variance of readings with an error; none where they are exact.
pub fn reading_errors(likelihood: &Likelihood) -> Option<&Given> {
    let known = likelihood.noise.as_ref()?.known.as_ref()?;
    match known {
        Given::Number(number) if number.value == 0.0 => None,
        _ => Some(known),
    }
}

/// The dimension along which totals run: the one that is said, or the only one.
fn along(section: &Section<'_>, said: &Said, dims: &[Dim]) -> Option<usize> {
    let names: Vec<String> = dims.iter().map(|dim| dim.name.value.clone()).collect();
    if let Some(name) = &said.along {
        let at = names.iter().position(|known| *known == name.value);
        if at.is_none() {
            let message = format!("`support` has no point or box along `{}`", name.value);
            let remedy = match names.is_empty() {
                true => "add the times of the readings, `point = [\"day\"]`".to_owned(),
                false => format!("it has {}", crate::suggest::list(&names)),
            };
            section.check.refuse(&name.span, message, remedy);
        }
        return at;
    }
    match names.len() {
        1 => Some(0),
        0 => {
            let message = "a running total runs along an input, and `support` has none";
            let remedy = "add the times of the readings, `point = [\"day\"]`";
            section.check.refuse(&said.span, message, remedy);
            None
        }
        _ => {
            let message = "along which input the totals run is not said";
            let remedy = format!(
                "write `cumulative = {{ along = \"{}\" }}`, or another of {}",
                names[0],
                crate::suggest::list(&names)
            );
            section.check.refuse(&said.span, message, remedy);
            None
        }
    }
}
