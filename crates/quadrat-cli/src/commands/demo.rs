//! `quadrat demo`: a built-in example, its files, results and report.

use std::path::Path;

use anyhow::Result;
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::suggest;

use super::begun::Besides;
use super::{print, run};
use crate::args::Demo;
use crate::demo::{EXAMPLES, Example};

/// Runs the command.
pub fn run(args: &Demo) -> Result<()> {
    if args.list {
        return print(&list());
    }
    let example = match &args.name {
        None => &EXAMPLES[0],
        Some(name) => find(name)?,
    };
    spare(example, &args.output)?;
    // The example is run from a folder of its own, so that nothing is written when it fails.
    let scratch = tempfile::tempdir()?;
    for (name, text) in example.files {
        std::fs::write(scratch.path().join(name), text)?;
    }
    let study = scratch.path().join("study.toml");
    let shown = args.output.join("study.toml");
    run::go(
        (&study, &shown),
        &args.output,
        Some(example),
        &Besides::default(),
        &args.saying,
    )
}

fn list() -> String {
    let width = EXAMPLES
        .iter()
        .map(|example| example.name.len())
        .max()
        .unwrap_or(0);
    EXAMPLES
        .iter()
        .map(|example| format!("{:<width$}  {}\n", example.name, example.about))
        .collect()
}

fn find(name: &str) -> Result<&'static Example, Problems> {
    let names: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
    EXAMPLES
        .iter()
        .find(|example| example.name == name)
        .ok_or_else(|| {
            let near = suggest::nearest(name, names.iter().copied());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            Problem::new(format!("there is no example `{name}`{hint}"))
                .remedy(format!("the examples are {}", suggest::list(&names)))
                .into()
        })
}

/// Refuses to replace files that were changed since a demo wrote them.
fn spare(example: &Example, folder: &Path) -> Result<(), Problems> {
    let mut problems = Problems::default();
    for (name, _) in example.files {
        let path = folder.join(name);
        let Ok(present) = std::fs::read(&path) else {
            continue;
        };
        let ours = EXAMPLES
            .iter()
            .flat_map(|e| e.files)
            .any(|(n, text)| n == name && text.as_bytes() == present);
        if !ours {
            problems.push(
                Problem::new(format!(
                    "`{}` was changed; the demo would replace it",
                    path.display()
                ))
                .remedy("move it away, or choose another folder with -o"),
            );
        }
    }
    problems.or(())
}
