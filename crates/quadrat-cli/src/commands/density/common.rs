//! What `quadrat density` writes and prints, of one column and of two.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;
use quadrat_study::density::checked::{CheckedPart, add_to, warnings};
use quadrat_study::density::common::no_column_twice;
use quadrat_study::density::{Estimated, Rows};
use quadrat_study::diagnostic::{Paint, Problems};
use quadrat_study::fit_json::pretty;

use super::super::figures::drawn;
use super::super::{print, replaced};
use super::checked;
use super::shown::{figures, summary};
use crate::args::Density;
use crate::output::{Staged, apart, writable};

/// Checks the files that will be written.
pub fn outputs(args: &Density, rows: &Rows) -> Result<(), Problems> {
    if args.output.is_some() {
        no_column_twice(&args.asked(), rows)?;
    }
    let outputs: Vec<PathBuf> = args.output.iter().chain(&args.plot).cloned().collect();
    let inputs: Vec<&Path> = [&args.table]
        .into_iter()
        .chain(&args.inside)
        .map(PathBuf::as_path)
        .collect();
    let told = ("a file that is read", "choose another file");
    replaced(&inputs, &outputs, told).or(())?;
    apart(&outputs)?;
    writable(&outputs)
}

/// Writes the files that are asked for; their names.
pub fn staged(args: &Density, estimated: &Estimated) -> Result<Vec<PathBuf>> {
    let answers = estimated.answers();
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        let table = answers.table()?;
        staged.write(output, |out| table.write(out))?;
    }
    if let Some(plot) = &args.plot {
        let (summary, warnings) = (answers.sentences(), answers.warnings());
        let figures = figures(estimated);
        let bytes = drawn(plot, &answers.title(), summary, warnings, figures)?;
        staged.bytes(plot, &bytes)?;
    }
    staged.finish()
}

/// Prints what is asked for: JSON, nothing, or the summary with the files written.
pub fn told(
    args: &Density,
    written: &[PathBuf],
    estimated: &Estimated,
    parts: &[CheckedPart],
) -> Result<()> {
    if args.json {
        let mut json = estimated.answers().json();
        if args.check.is_some() {
            add_to(&mut json, parts);
        }
        return print(&pretty(&json)?);
    }
    if args.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut text = summary(estimated, paint);
    text.push_str(&checked::text(parts, paint));
    for warning in warnings(parts) {
        text.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
    }
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
}
