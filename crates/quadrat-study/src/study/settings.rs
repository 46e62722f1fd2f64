//! `[hyperparameters]` and `[inference]`.

use std::ops::Range;

use quadrat::inference::sites::Method;
use quadrat::inference::sparse::LogSum;
use quadrat::model::Inference as Way;

use super::fields::{Check, Section, Spanned, kind};
use super::likelihood::Reports;
use super::observe::Observe;
use super::sparse::{self, Inducing};
use crate::expressions;

/// What the study says about one hyperparameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: Spanned<String>,
    /// Where the optimiser starts.
    pub start: Option<f64>,
    /// The value it is held at.
    pub value: Option<f64>,
    /// Whether it is held there.
    pub fixed: bool,
    /// A prior, as text that parses.
    pub prior: Option<String>,
    /// Lower bound.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
}

/// How to infer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inference {
    /// How rows condition the prior.
    pub method: Way,
    /// Where that is said.
    pub method_span: Range<usize>,
    /// Where the inducing points of sparse inference lie.
    pub inducing: Inducing,
    /// Whether they are moved.
    pub move_inducing: bool,
    /// What is put for expectations of sums after a link.
    pub log_sum: Option<Spanned<LogSum>>,
    /// What to do with hyperparameters.
    pub hyperparameters: Integration,
    /// Fixes everything random.
    pub seed: u64,
}

/// What to do with hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Integration {
    /// Integrate when the problem is small.
    #[default]
    Auto,
    /// The maximum a posteriori.
    Map,
    /// A mixture over a design.
    Integrate,
}

/// Every entry of `[hyperparameters]`.
pub fn hyperparameters(root: &Section<'_>) -> Vec<Setting> {
    let Some(item) = root.get("hyperparameters") else {
        return Vec::new();
    };
    let Some(section) = Section::from_item(
        root.check,
        "[hyperparameters]",
        item,
        "[hyperparameters] above the names",
    ) else {
        return Vec::new();
    };
    section
        .entries()
        .into_iter()
        .filter_map(|(name, item)| setting(&section, name, item))
        .collect()
}

const KEYS: [&str; 6] = ["start", "value", "fixed", "prior", "lower", "upper"];

fn setting(
    section: &Section<'_>,
    name: Spanned<String>,
    item: &toml_edit::Item,
) -> Option<Setting> {
    let check = section.check;
    let Some(table) = item.as_table_like() else {
        let message = format!(
            "hyperparameter `{}` must be a table, not {}",
            name.value,
            kind(item)
        );
        check.refuse(
            &item.span().unwrap_or(name.span),
            message,
            "write `{ start = 1.0 }`, or `{ value = 1.0, fixed = true }` to hold it there",
        );
        return None;
    };
    if !name.value.contains('.')
        && table
            .iter()
            .any(|(key, inner)| inner.is_table_like() && !KEYS.contains(&key))
    {
        let message = format!(
            "the name of the hyperparameter that starts with `{}` is not in quotes",
            name.value
        );
        check.refuse(
            &name.span,
            message,
            "write `\"se.lengthscale.age\" = { start = 10.0 }`",
        );
        return None;
    }
    let span = item.span().unwrap_or_else(|| name.span.clone());
    let own = Section::new(
        check,
        format!("hyperparameter `{}`", name.value),
        table,
        span,
    );
    own.keys(&KEYS, &[]);
    says_something(&own, &name.value);
    let number = |key: &str| own.number(key).map(|number| number.value);
    let setting = Setting {
        start: number("start"),
        value: number("value"),
        fixed: own.flag("fixed").unwrap_or(false),
        prior: prior(&own),
        lower: number("lower"),
        upper: number("upper"),
        name,
    };
    consistent(&own, &setting);
    Some(setting)
}

/// Refuses an entry that leaves everything as it is without it.
fn says_something(own: &Section<'_>, name: &str) {
    let is_default = |key: &str| {
        let flag = own.get(key).and_then(toml_edit::Item::as_bool);
        key == "fixed" && flag == Some(false)
    };
    if own.entries().iter().all(|(key, _)| is_default(&key.value)) {
        own.check.refuse(
            &own.span,
            format!("nothing is said of `{name}`, so this line has no effect"),
            "leave it out, or write `{ start = 1.0 }` or `{ value = 1.0, fixed = true }`",
        );
    }
}

fn prior(own: &Section<'_>) -> Option<String> {
    let text = own.text("prior")?;
    match expressions::check_prior(&text.value) {
        Ok(()) => Some(text.value),
        Err(message) => {
            own.check.refuse(
                &text.span,
                format!("`prior`: {message}"),
                "a prior reads like \"flat\", \"log_normal(0, 1)\" or \"half_student_t(1, 1)\"",
            );
            None
        }
    }
}

fn consistent(own: &Section<'_>, setting: &Setting) {
    let name = &setting.name.value;
    let refuse = |key: &str, message: String, remedy: &str| {
        own.check.refuse(&own.span_of(key), message, remedy)
    };
    match (setting.value, setting.fixed) {
        (None, true) if own.get("value").is_none() => {
            refuse(
                "fixed",
                format!("`{name}` is fixed, but no `value` says at what"),
                "write `{ value = 1.0, fixed = true }`",
            );
        }
        (Some(value), false)
            if own.get("fixed").and_then(toml_edit::Item::as_bool) != Some(true) =>
        {
            refuse(
                "value",
                format!("`{name}` has the value {value} but is not fixed"),
                "add `fixed = true`, or say `start` instead of `value`",
            );
        }
        _ => {}
    }
    if setting.fixed {
        for key in ["start", "prior", "lower", "upper"] {
            if own.get(key).is_some() {
                refuse(
                    key,
                    format!("`{name}` is fixed, so its `{key}` has no effect"),
                    "leave it out",
                );
            }
        }
    }
    if let (Some(lower), Some(upper)) = (setting.lower, setting.upper)
        && lower >= upper
    {
        refuse(
            "upper",
            format!("the bounds of `{name}` are {lower} and {upper}; `upper` must be larger"),
            "swap them; to hold a value, use `{ value = .., fixed = true }`",
        );
    } else if let Some(start) = setting.start
        && (setting.lower.is_some_and(|lower| start < lower)
            || setting.upper.is_some_and(|upper| start > upper))
    {
        refuse(
            "start",
            format!("`{name}` starts at {start}, outside its bounds"),
            "start between `lower` and `upper`",
        );
    }
}

/// The section `[inference]`.
pub fn inference(root: &Section<'_>) -> Inference {
    let Some(item) = root.get("inference") else {
        return Inference::default();
    };
    let Some(section) = Section::from_item(
        root.check,
        "[inference]",
        item,
        "[inference] above `method = ...`",
    ) else {
        return Inference::default();
    };
    section.keys(
        &[
            "method",
            "hyperparameters",
            "seed",
            "inducing",
            "move_inducing",
            "log_sum",
        ],
        &[],
    );
    let word = section.word(
        "method",
        &["auto", "exact", "laplace", "ep", "variational", "sparse"],
        &["mcmc"],
    );
    let method = match word.as_ref().map(|word| word.value.as_str()) {
        Some("exact") => Way::Exact,
        Some("laplace") => Way::Sites(Method::Laplace),
        Some("ep") => Way::Sites(Method::Ep),
        Some("variational") => Way::Sites(Method::Variational),
        Some("sparse") => Way::Sparse,
        _ => Way::Auto,
    };
    let hyperparameters = match section.word("hyperparameters", &["auto", "map", "integrate"], &[])
    {
        Some(word) if word.value == "map" => Integration::Map,
        Some(word) if word.value == "integrate" => Integration::Integrate,
        _ => Integration::Auto,
    };
    let mut seed = Inference::default().seed;
    if let Some(item) = section.get("seed") {
        match item.as_integer().and_then(|seed| u64::try_from(seed).ok()) {
            Some(value) => seed = value,
            None => {
                let message = format!(
                    "`seed` must be a whole number from 0 on, not {}",
                    kind(item)
                );
                section
                    .check
                    .refuse(&section.span_of("seed"), message, "such as `seed = 1`");
            }
        }
    }
    Inference {
        method,
        method_span: section.span_of("method"),
        inducing: sparse::inducing(&section, method),
        move_inducing: sparse::move_inducing(&section, method),
        log_sum: sparse::log_sum(&section, method),
        hyperparameters,
        seed,
    }
}

impl Inference {
    /// Whether it says which inducing points there should be.
    pub fn speaks_of_inducing(&self) -> bool {
        self.inducing != sparse::Inducing::Auto || self.move_inducing
    }
}

/// Refuses a method that some table cannot have.
pub fn suits(check: &Check<'_>, inference: &Inference, observe: &[Observe]) {
    sparse::suits(check, inference.log_sum.as_ref(), observe);
    let named = |unsuitable: fn(&Observe) -> bool| observe.iter().find(|o| unsuitable(o));
    let span = &inference.method_span;
    if inference.method == Way::Exact
        && let Some(table) = named(|o| !o.likelihood.is_gaussian())
    {
        let message = format!(
            "exact inference needs `gaussian` values in every table, but {} holds `{}`",
            table.file.value, table.likelihood.name.value
        );
        let remedy = "leave `method` out, or choose `ep`, `variational` or `laplace`";
        check.refuse(span, message, remedy);
    }
    if inference.method == Way::Sites(Method::Laplace)
        && let Some(table) = named(|o| matches!(o.likelihood.reports, Reports::Laplace { .. }))
    {
        let message = format!(
            "Laplace's method learns nothing from {}: the density of double exponential noise has a kink and no curvature",
            table.file.value
        );
        check.refuse(span, message, "choose `ep` or `variational`");
    }
}
