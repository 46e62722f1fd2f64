//! How long it takes to refuse files that are broken all over, against the time to read good ones.

use anyhow::Result;
use quadrat_study::fuzz::{Broken, broken_all_over, resolved, whole};

use crate::clock::best;

/// Rows, columns, features, properties or keys.
const MANY: usize = 100_000;

/// Seconds until a study is refused or could be fitted; how much is said.
fn time((_, files): &Broken) -> Result<(f64, usize)> {
    let folder = tempfile::tempdir()?;
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text)?;
    }
    let path = folder.path().join("s.toml");
    let said = resolved(&path).err().map_or(0, |said| said.len());
    Ok((best(2, || resolved(&path).is_ok()).processor, said))
}

/// The long file of a study, and its size.
fn long((_, files): &Broken) -> (&'static str, usize) {
    let sizes = files.iter().map(|(name, text)| (*name, text.len()));
    sizes.max_by_key(|(_, size)| *size).unwrap_or_default()
}

/// One line for every way in which a file can be broken. The ratio is to a good file of as many
/// parts, byte by byte; the growth is the power of the number of parts, from a tenth of it on.
pub fn run() -> Result<()> {
    println!("{MANY} parts                 ms   ns/byte   ratio  growth  bytes said");
    let mut good = Vec::new();
    let all = |n| [whole(n), broken_all_over(n)].concat();
    for (few, many) in all(MANY / 10).iter().zip(&all(MANY)) {
        let ((before, _), (seconds, said)) = (time(few)?, time(many)?);
        let (file, size) = long(many);
        let (per_byte, growth) = (1e9 * seconds / size as f64, (seconds / before).log10());
        // A table of many columns has few lines.
        let is_wide = many.0.contains("columns") && !many.0.contains("two");
        if said == 0 {
            good.push((file, is_wide, per_byte));
        }
        let twin = good
            .iter()
            .find(|(name, wide, _)| (*name, *wide) == (file, is_wide));
        let ratio = per_byte / twin.map_or(f64::NAN, |(_, _, per_byte)| *per_byte);
        println!(
            "{:<24} {:>8.1} {per_byte:>9.1} {ratio:>7.2} {growth:>7.2} {said:>11}",
            many.0,
            1e3 * seconds,
        );
    }
    Ok(())
}
