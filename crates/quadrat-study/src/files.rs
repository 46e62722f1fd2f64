//! What a path must lead to before it is read.

use std::path::Path;

use crate::diagnostic::Problem;

/// Why nothing is read from a device or a pipe, which may never begin or never end.
///
/// # Arguments
/// * `name` - of the path, as people know it
#[must_use]
pub fn not_a_file(path: &Path, name: &str) -> Option<Problem> {
    let is_other = std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    is_other.then(|| {
        let problem = Problem::new(format!("`{name}` is a device or pipe, not a file"));
        problem.remedy("save what it holds as a file")
    })
}
