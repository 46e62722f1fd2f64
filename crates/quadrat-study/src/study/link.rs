//! The key `link`, of the study or of a table.

use quadrat::link::Link;

use super::fields::{Section, Spanned, kind};
use crate::suggest;

/// The key `link`, when it is there.
pub fn read(section: &Section<'_>) -> Option<Spanned<Link>> {
    let names = Link::ALL.map(Link::name);
    let item = section.get("link")?;
    if item.as_str().is_none() {
        let message = format!("`link` must be a text in quotes, not {}", kind(item));
        let remedy = format!("`link` is one of {}", suggest::list(&names));
        section
            .check
            .refuse(&section.span_of("link"), message, remedy);
        return None;
    }
    let word = section.word("link", &names, &[])?;
    Some(Spanned {
        value: word.value.parse().ok()?,
        span: word.span,
    })
}
