//! How long it takes to refuse files that are broken all over, against the time to read them.

use std::path::Path;

use anyhow::{Context, Result};
use quadrat_cli::fuzz::{Broken, broken_all_over, resolved};

use crate::clock::best;

/// Rows, columns, features, properties or keys.
const MANY: usize = 100_000;

/// Seconds of reading the bytes as text, and of the refusal; how much is said.
fn times((name, files): &Broken) -> Result<(f64, f64, usize)> {
    let folder = tempfile::tempdir()?;
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text)?;
    }
    let path = |name: &str| folder.path().join(name);
    let read = best(3, || {
        let texts = files
            .iter()
            .map(|(name, _)| std::fs::read_to_string(path(name)));
        texts
            .filter_map(Result::ok)
            .map(|text| text.len())
            .sum::<usize>()
    });
    let refuse = |path: &Path| resolved(path).err();
    let said = refuse(&path("s.toml")).with_context(|| format!("{name}: not refused"))?;
    let refused = best(1, || refuse(&path("s.toml")));
    Ok((read.processor, refused.processor, said.len()))
}

/// One line for every way in which a file can be broken: the growth is the power of the number, from a tenth of it on.
pub fn run() -> Result<()> {
    println!("{MANY} broken parts        read ms  refused ms   ratio  growth  bytes said");
    for (few, many) in broken_all_over(MANY / 10)
        .iter()
        .zip(&broken_all_over(MANY))
    {
        let ((_, before, _), (read, refused, said)) = (times(few)?, times(many)?);
        let growth = (refused / before).log10();
        println!(
            "{:<24} {:>9.1} {:>11.1} {:>7.1} {growth:>7.2} {said:>11}",
            many.0,
            1e3 * read,
            1e3 * refused,
            refused / read,
        );
    }
    Ok(())
}
