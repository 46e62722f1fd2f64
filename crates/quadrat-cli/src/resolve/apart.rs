//! Names of predictions of outputs that no other prediction has.

use std::collections::HashSet;

use super::Asked;

/// A name as a part of a file name: no longer than any file system takes.
fn file_name(name: &str) -> String {
    const MOST: usize = 40;
    let plain = |c: char| match c.is_alphanumeric() || c == '-' || c == '_' {
        true => c,
        false => '-',
    };
    name.chars().take(MOST).map(plain).collect()
}

/// Gives predictions of outputs names of their own, that no other prediction has where case does
/// not count.
pub(super) fn name_apart(predictions: &mut [Asked]) {
    let mut taken: HashSet<String> = predictions.iter().map(|p| p.name.to_lowercase()).collect();
    for asked in predictions {
        let Some(output) = &asked.places.output else {
            continue;
        };
        let plain = format!("{}-{}", asked.name, file_name(output));
        let numbered = (2..).map(|n| format!("{plain}-{n}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        if let Some(free) = names.find(|id| taken.insert(id.to_lowercase())) {
            asked.id = free;
        }
    }
}
