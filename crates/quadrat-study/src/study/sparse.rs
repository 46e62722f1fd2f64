//! The keys of `[inference]` that are about sparse inference.

use quadrat::inference::sparse::LogSum;
use quadrat::model::Inference as Way;

use super::fields::{Check, Section, Spanned, kind};
use super::likelihood::Scale;
use super::observe::Observe;

/// Where the inducing points of sparse inference lie.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Inducing {
    /// As many as is usual.
    #[default]
    Auto,
    /// So many.
    Number(usize),
    /// The centre of every row.
    PerRow,
    /// The rows of a table, relative to the study.
    File(Spanned<String>),
}

/// Where the inducing points lie.
pub(super) fn inducing(section: &Section<'_>, method: Way) -> Inducing {
    const LIKE: &str = "such as `inducing = 100`, or `inducing = { file = \"inducing.csv\" }` for points of your own";
    let Some(item) = section.get("inducing") else {
        return Inducing::Auto;
    };
    let span = section.span_of("inducing");
    for_sparse(section, "inducing", method);
    if item.is_table_like() {
        return file(section, item, LIKE).map_or(Inducing::Auto, Inducing::File);
    }
    let count = item.as_integer().and_then(|n| usize::try_from(n).ok());
    match (count, item.as_str()) {
        (Some(count), _) if count > 0 => Inducing::Number(count),
        (_, Some("rows")) => Inducing::PerRow,
        _ => {
            let message = format!(
                "`inducing` must be a whole number from 1 on, `rows`, or a table with a `file`, not {}",
                kind(item)
            );
            section.check.refuse(&span, message, LIKE);
            Inducing::Auto
        }
    }
}

fn file(section: &Section<'_>, item: &toml_edit::Item, like: &str) -> Option<Spanned<String>> {
    let inner = Section::from_item(section.check, "inducing", item, like)?;
    inner.keys(&["file"], &[]);
    if inner.get("file").is_none() {
        inner.missing("file", like);
    }
    inner.text("file")
}

/// Whether inducing points are moved.
pub(super) fn move_inducing(section: &Section<'_>, method: Way) -> bool {
    let Some(item) = section.get("move_inducing") else {
        return false;
    };
    for_sparse(section, "move_inducing", method);
    item.as_bool().unwrap_or_else(|| {
        let message = format!("`move_inducing` must be true or false, not {}", kind(item));
        let span = section.span_of("move_inducing");
        section
            .check
            .refuse(&span, message, "such as `move_inducing = true`");
        false
    })
}

/// What is put for expectations of sums after a link.
pub(super) fn log_sum(section: &Section<'_>, method: Way) -> Option<Spanned<LogSum>> {
    section.get("log_sum")?;
    for_sparse(section, "log_sum", method);
    let word = section.word("log_sum", &["matched", "lemma", "taylor"], &[])?;
    Some(Spanned {
        value: match word.value.as_str() {
            "lemma" => LogSum::Lemma,
            "taylor" => LogSum::Taylor,
            _ => LogSum::Matched,
        },
        span: word.span,
    })
}

/// Refuses a key of sparse inference where it cannot be what is chosen.
fn for_sparse(section: &Section<'_>, key: &str, method: Way) {
    // The choice of inducing points may wait for that of the method; what stands for the expected
    // logarithm says what is fitted.
    let may_be = method == Way::Auto && key != "log_sum";
    if method != Way::Sparse && !may_be {
        section.check.refuse(
            &section.span_of(key),
            format!("`{key}` is for sparse inference only"),
            format!("add `method = \"sparse\"`, or leave `{key}` out"),
        );
    }
}

/// Refuses a form of the expected logarithm of a sum where there is no sum.
pub(super) fn suits(check: &Check<'_>, log_sum: Option<&Spanned<LogSum>>, observe: &[Observe]) {
    let Some(form) = log_sum else {
        return;
    };
    let is_sum = |o: &Observe| {
        let has_width = o.support.has_boxes() || o.support.shape.is_some();
        has_width && o.likelihood.scale() != Scale::Linear
    };
    if !observe.iter().any(is_sum) && !observe.is_empty() {
        check.refuse(
            &form.span,
            "`log_sum` is about sums after a link, and no table has any",
            "leave it out; it is for counts, waiting times and answers over boxes, regions and bags",
        );
    }
}
