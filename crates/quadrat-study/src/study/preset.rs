//! `preset`: the models of Gammelli et al. 2022 by their names, in place of the keys that spell
//! them out.

use std::collections::BTreeSet;
use std::ops::Range;

use quadrat::link::Link;
use quadrat::model::Varying;

use super::coregionalization::Coregionalization;
use super::fields::{Check, Section, Spanned};
use super::latent::Latent;
use super::likelihood::Reports;
use super::observe::Observe;
use super::outputs::Output;
use super::varying;
use super::varying::{Vary, is_of};
use crate::suggest;

/// A family of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Family {
    name: &'static str,
    /// What was recorded is taken for exact.
    ignores: bool,
    /// Several outputs, correlated.
    several: bool,
    /// The noise variance or the dispersion is a function.
    varies: bool,
}

const fn family(name: &'static str, ignores: bool, several: bool, varies: bool) -> Family {
    Family {
        name,
        ignores,
        several,
        varies,
    }
}

const ALL: [Family; 6] = [
    family("ncgp", true, false, false),
    family("moncgp", true, true, false),
    family("cgp", false, false, false),
    family("hcgp", false, false, true),
    family("mocgp", false, true, false),
    family("hmocgp", false, true, true),
];

impl Family {
    /// The one that differs in the number of outputs.
    fn other(self) -> &'static str {
        self.named(|other| other.several != self.several && other.varies == self.varies)
            .unwrap_or(self.name)
    }

    /// The one whose noise does not vary, or does; there is none that ignores censoring.
    fn other_noise(self) -> Option<&'static str> {
        self.named(|other| other.several == self.several && other.varies != self.varies)
    }

    /// One that treats censoring alike.
    fn named(self, is: impl Fn(&Self) -> bool) -> Option<&'static str> {
        let mut alike = ALL.iter().filter(|other| other.ignores == self.ignores);
        alike.find(|other| is(other)).map(|other| other.name)
    }
}

/// What a preset changes: sections of the study as they were read.
pub struct Sections<'a> {
    pub latent: Option<&'a Latent>,
    pub observe: &'a mut [Observe],
    pub coregionalization: &'a mut Coregionalization,
    pub vary: &'a mut Vec<Vary>,
}

/// Lets the key `preset`, when it is there, say what the sections leave open; refuses what they say
/// against it.
pub fn apply(root: &Section<'_>, sections: &mut Sections<'_>) {
    let names = ALL.map(|family| family.name);
    let Some(word) = root.word("preset", &names, &[]) else {
        return;
    };
    let Some(family) = ALL.into_iter().find(|family| family.name == word.value) else {
        return;
    };
    let check = root.check;
    kinds(check, family, sections.observe);
    outputs(check, family, &word.span, sections);
    spread(check, family, &word, sections);
    if family.ignores {
        for table in sections.observe.iter_mut() {
            table.likelihood.ignores_limits = Some(family.name);
        }
    }
}

/// Refuses tables that are neither values nor counts.
fn kinds(check: &Check<'_>, family: Family, observe: &[Observe]) {
    let name = family.name;
    for table in observe {
        let kind = &table.likelihood.name;
        let (message, remedy) = match &table.likelihood.reports {
            Reports::Gaussian { .. } | Reports::Censored { .. } => continue,
            Reports::Counts {
                dispersion: None, ..
            } if family.varies => (
                format!(
                    "`{name}` lets the noise variance or the dispersion vary, and `poisson` has neither"
                ),
                format!(
                    "use `negative_binomial`, or `preset = \"{}\"`",
                    family.other_noise().unwrap_or_default()
                ),
            ),
            Reports::Counts { .. } => continue,
            Reports::Interval(_) | Reports::Truncated { .. } if !family.ignores => continue,
            Reports::Truncated { .. } => (
                format!(
                    "`{name}` takes what was recorded as if nothing were missing, and `truncated` says that values are"
                ),
                format!(
                    "use `gaussian`, or `preset = \"{}\"`, which keeps to the limits",
                    if family.several { "mocgp" } else { "cgp" }
                ),
            ),
            Reports::Interval(_) => (
                format!(
                    "`{name}` takes what was recorded for exact, and an interval records no value"
                ),
                format!(
                    "use `preset = \"{}\"`, which keeps to the intervals",
                    if family.several { "mocgp" } else { "cgp" }
                ),
            ),
            _ => (
                format!(
                    "`{name}` is a model of values and counts, and `{}` reports neither",
                    kind.value
                ),
                "leave `preset` out: without it tables of all kinds can be combined".to_owned(),
            ),
        };
        check.refuse(&kind.span, message, remedy);
    }
}

/// One output or several.
fn outputs(check: &Check<'_>, family: Family, span: &Range<usize>, sections: &mut Sections<'_>) {
    let (name, other) = (family.name, family.other());
    let named: BTreeSet<&str> = sections
        .observe
        .iter()
        .filter_map(|table| match &table.output {
            Output::Named(name) => Some(name.value.as_str()),
            _ => None,
        })
        .collect();
    let by_column = sections
        .observe
        .iter()
        .any(|table| matches!(table.output, Output::Column(_)));
    let several = by_column || named.len() > 1;
    if family.several {
        if !several && !sections.observe.is_empty() {
            let have = match named.first() {
                Some(only) => format!("the tables have one, `{only}`"),
                None => "no table names its own".to_owned(),
            };
            check.refuse(
                span,
                format!("`{name}` is a model of several outputs, and {have}"),
                format!("use `preset = \"{other}\"`, or say `output = \"..\"` in tables of two outputs or more"),
            );
        }
        return;
    }
    if several {
        let all: Vec<&str> = named.into_iter().collect();
        let which = match all.as_slice() {
            [] | [_] => String::new(),
            all => format!(" ({})", suggest::list(all)),
        };
        check.refuse(
            span,
            format!("`{name}` is a model of one output, and the tables have several{which}"),
            format!(
                "use `preset = \"{other}\"`, or keep the table of one output, without `output`"
            ),
        );
    } else if let Some(latent) = sections.latent
        && !latent.outputs.is_empty()
    {
        check.refuse(
            &latent.kernel.span,
            format!(
                "the kernel mixes several outputs (`coregion`), and `{name}` is a model of one"
            ),
            format!("leave `coregion` out of the kernel, or use `preset = \"{other}\"`"),
        );
    }
    // Refused once: it is not looked at again.
    if let Some(span) = sections.coregionalization.span.take() {
        check.refuse(
            &span,
            format!("[coregionalization] mixes several outputs, and `{name}` is a model of one"),
            format!("leave it out, or use `preset = \"{other}\"`"),
        );
    }
}

/// A noise variance or dispersion that is a function, or not.
fn spread(check: &Check<'_>, family: Family, word: &Spanned<String>, sections: &mut Sections<'_>) {
    let name = family.name;
    if !family.varies {
        for vary in sections.vary.drain(..) {
            let remedy = match family.other_noise() {
                Some(other) => format!("leave it out, or use `preset = \"{other}\"`"),
                None => "leave it out, or leave `preset` out".to_owned(),
            };
            check.refuse(
                &vary.span,
                format!(
                    "{} lets the {} change, and `{name}` holds it constant",
                    vary.title,
                    vary.what.words()
                ),
                remedy,
            );
        }
        return;
    }
    let Some(latent) = sections.latent else {
        return;
    };
    let is_learned = |what: &Varying| sections.observe.iter().any(|table| is_of(*what, table));
    let kinds = [Varying::Noise, Varying::Dispersion].into_iter();
    let learned: Vec<Varying> = kinds.filter(is_learned).collect();
    if learned.is_empty() && sections.vary.is_empty() && !sections.observe.is_empty() {
        // Of counts without a dispersion it was said already.
        if !sections.observe.iter().any(varying::is_poisson) {
            check.refuse(
                &word.span,
                format!("`{name}` has nothing to let vary: no table learns a noise variance or a dispersion"),
                "leave `variance` or `dispersion` out of a table, so that it is learned",
            );
        }
        return;
    }
    for what in learned {
        if !sections.vary.iter().any(|vary| vary.what == what) {
            sections.vary.extend(like_latent(check, what, word, latent));
        }
    }
    sections.vary.sort_by_key(|vary| vary.what);
}

/// What varies under the kernel of `[latent]`, as no section says it.
fn like_latent(
    check: &Check<'_>,
    what: Varying,
    word: &Spanned<String>,
    latent: &Latent,
) -> Option<Vary> {
    let name = &word.value;
    if !latent.outputs.is_empty() {
        check.refuse(
            &word.span,
            format!("`{name}` would use the kernel of [latent] for the {} too, but that mixes the outputs itself", what.words()),
            format!("add [{}] with a kernel such as `kernel = \"se(t)\"`", what.name()),
        );
        return None;
    }
    Some(Vary {
        what,
        title: format!("`preset = \"{name}\"`"),
        kernel: latent.kernel.clone(),
        columns: latent.of_kernel().to_vec(),
        link: Link::Exp,
        span: word.span.clone(),
    })
}
