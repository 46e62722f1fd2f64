//! `quadrat ungroup`: counts in bands become counts in single years, or other steps.

mod figure;
pub mod study;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;
use quadrat_study::diagnostic::{Paint, Problems};
use quadrat_study::fit_json::pretty;
use quadrat_study::study::ungroup::Ungroup as Asked;
use quadrat_study::ungroup::found::All;
use quadrat_study::ungroup::rows::Rows;
use quadrat_study::ungroup::table::{header, life_table, steps};
use quadrat_study::ungroup::{bounded, said};

use super::figures::drawn;
use super::{print, replaced};
use crate::args::Ungroup;
use crate::output::{Staged, apart, writable};
use crate::progress::Bar;
use figure::{DRAWN, figure, some, title};

/// Runs the command.
pub fn run(args: &Ungroup) -> Result<()> {
    let asked = args.asked();
    let here = Path::new("");
    let rows = Rows::read(&asked, (here, here)).map_err(Problems::by_flags)?;
    let is_written = args.output.is_some() || args.life_table.is_some();
    let header = is_written.then(|| header(&asked)).transpose()?;
    let header = header.unwrap_or_default();
    outputs(args)?;
    bounded(&asked, &rows)?;
    let bar = Bar::new(args.quiet || asked.along.is_none());
    let all = All::new(&asked, &rows, &*bar)?;
    bar.finish();
    if all.found.is_empty() {
        return Ok(all.whole()?);
    }
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        let table = steps(&asked, &header, &rows, &all);
        staged.write(output, |out| table.write(out))?;
    }
    if let Some(life) = &args.life_table {
        let table = life_table(&asked, &header, &rows, &all);
        staged.write(life, |out| table.write(out))?;
    }
    if let Some(plot) = &args.plot {
        let (summary, warnings) = (
            said::page(&asked, &rows, &all),
            said::warnings(&asked, &rows, &all),
        );
        let figures = vec![figure(&asked, &rows, &all)];
        let bytes = drawn(plot, &title(&asked), summary, warnings, figures)?;
        staged.bytes(plot, &bytes)?;
    }
    let written = staged.finish()?;
    told(args, (&asked, &rows, &all), &written)?;
    // What was ungrouped is written; the exit status tells of the rest.
    Ok(all.whole()?)
}

fn told(
    args: &Ungroup,
    (asked, rows, all): (&Asked, &Rows, &All),
    written: &[PathBuf],
) -> Result<()> {
    if args.json {
        return print(&pretty(&said::json(asked, rows, all))?);
    }
    if args.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut text = said::summary(asked, rows, all, paint);
    if args.plot.is_some() && all.found.len() > DRAWN {
        let of = all.found.len();
        text.push_str(&format!("the figure has {}\n", some(asked, of)));
    }
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
}

/// Checks the files that will be written.
fn outputs(args: &Ungroup) -> Result<(), Problems> {
    let outputs: Vec<PathBuf> = args
        .output
        .iter()
        .chain(&args.plot)
        .chain(&args.life_table)
        .cloned()
        .collect();
    let read = [Some(&args.table), args.exposure_table.as_ref()];
    let read: Vec<&Path> = read.into_iter().flatten().map(PathBuf::as_path).collect();
    let told = ("a table that is read", "choose another file");
    replaced(&read, &outputs, told).or(())?;
    apart(&outputs)?;
    writable(&outputs)
}
