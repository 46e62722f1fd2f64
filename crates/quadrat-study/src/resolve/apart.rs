//! Names of predictions of outputs that no other prediction has.

use std::collections::HashSet;

/// A name as a part of a file name: no longer than any file system takes.
fn file_name(name: &str) -> String {
    const MOST: usize = 40;
    let plain = |c: char| match c.is_alphanumeric() || c == '-' || c == '_' {
        true => c,
        false => '-',
    };
    name.chars().take(MOST).map(plain).collect()
}

/// Names of their own for predictions of outputs, that no other prediction has where case does not
/// count; none for predictions without an output.
///
/// # Arguments
/// * `all` - the name and the output of every prediction
pub(super) fn names_apart(all: &[(&str, Option<&str>)]) -> Vec<Option<String>> {
    let mut taken: HashSet<String> = all.iter().map(|(name, _)| name.to_lowercase()).collect();
    let mut one = |(name, output): &(&str, Option<&str>)| {
        let plain = format!("{name}-{}", file_name((*output)?));
        let numbered = (2..).map(|n| format!("{plain}-{n}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        names.find(|id| taken.insert(id.to_lowercase()))
    };
    all.iter().map(&mut one).collect()
}
