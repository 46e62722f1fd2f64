//! `quadrat simulate`: artificial data with their truth, and a study that fits them.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

use anyhow::Result;
use quadrat::simulate::{Mixed, MixedData, Row, SimulateError};

use super::print;
use crate::args::{Simulate, SimulateMixed, Simulated};
use crate::diagnostic::{Paint, Problem, Problems};
use crate::numbers::{count, exact, human};
use crate::output::{Staged, writable};

/// Names of the inputs, as far as there are any.
const INPUTS: [&str; 3] = ["x", "y", "z"];

/// Runs the command.
pub fn run(args: &Simulate) -> Result<()> {
    match &args.what {
        Simulated::Mixed(args) => mixed(args),
    }
}

/// A file: its name, its text, what it holds.
struct File {
    name: &'static str,
    text: String,
    holds: String,
}

fn mixed(args: &SimulateMixed) -> Result<()> {
    let plan = plan(args);
    let data = plan.draw().map_err(refused)?;
    let files = files(&plan, &data);
    write(&files, &args.output)?;
    if args.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    print(&told(&plan, &files, &args.output, paint))
}

fn plan(args: &SimulateMixed) -> Mixed {
    let usual = Mixed::new(usize::from(args.dims));
    Mixed {
        low: args.low,
        high: args.high,
        grid: args.grid.unwrap_or(usual.grid),
        lengthscale: args.lengthscale.unwrap_or(usual.lengthscale),
        variance: args.variance,
        noise: args.noise,
        points: args.points.unwrap_or(usual.points),
        intervals: args.intervals.unwrap_or(usual.intervals),
        width: args.width,
        ordinals: args.ordinals.unwrap_or(usual.ordinals),
        ranks: args.levels,
        seed: args.seed,
        ..usual
    }
}

/// Options by the names they have here.
fn refused(error: SimulateError) -> anyhow::Error {
    let SimulateError::Option {
        option,
        value,
        requirement,
    } = error
    else {
        return error.into();
    };
    let name = if option == "ranks" { "levels" } else { option };
    let usual = Mixed::new(1);
    let like = match name {
        "noise" => usual.noise,
        "width" => usual.width,
        "variance" => usual.variance,
        "lengthscale" => usual.lengthscale,
        "high" => usual.high,
        "low" => usual.low,
        "levels" => usual.ranks as f64,
        "grid" => Mixed::new(3).grid as f64,
        _ => usual.points as f64,
    };
    let problem = Problem::new(format!("`--{name}` is {value}; it must be {requirement}"));
    Problems::from(problem.remedy(format!("such as `--{name} {like}`"))).into()
}

/// Writes all files or none; those that are there and hold something else are spared.
fn write(files: &[File], folder: &Path) -> Result<()> {
    let mut problems = Problems::default();
    for file in files {
        let path = folder.join(file.name);
        if std::fs::read(&path).is_ok_and(|present| present != file.text.as_bytes()) {
            problems.push(
                Problem::new(format!(
                    "`{}` is there already and holds something else; the simulation would replace it",
                    path.display()
                ))
                .remedy("move it away, or choose another folder with -o"),
            );
        }
    }
    problems.or(())?;
    let paths: Vec<_> = files.iter().map(|file| folder.join(file.name)).collect();
    writable(&paths)?;
    let mut staged = Staged::new();
    for (file, path) in files.iter().zip(&paths) {
        staged.bytes(path, file.text.as_bytes())?;
    }
    staged.finish()?;
    Ok(())
}

fn files(plan: &Mixed, data: &MixedData) -> Vec<File> {
    let inputs = &INPUTS[..plan.dims];
    let width = human(plan.width);
    let all = [
        File {
            name: "points.csv",
            text: table(inputs, "value", &data.points, |y| exact(*y)),
            holds: count(plan.points, "value"),
        },
        File {
            name: "intervals.csv",
            text: table(inputs, "lower,upper", &data.intervals, |(lower, upper)| {
                format!("{},{}", exact(*lower), exact(*upper))
            }),
            holds: format!("{} of width {width}", count(plan.intervals, "interval")),
        },
        File {
            name: "ordinals.csv",
            text: table(inputs, "rank", &data.ordinals, ToString::to_string),
            holds: format!("{} from 1 to {}", count(plan.ordinals, "rank"), plan.ranks),
        },
    ];
    let mut files: Vec<File> = all
        .into_iter()
        .zip([plan.points, plan.intervals, plan.ordinals])
        .filter_map(|(file, rows)| (rows > 0).then_some(file))
        .collect();
    let truth: Vec<Row<f64>> = data
        .places
        .iter()
        .zip(&data.truth)
        .map(|(place, &report)| Row {
            place: place.clone(),
            report,
        })
        .collect();
    files.push(File {
        name: "truth.csv",
        text: table(inputs, "value", &truth, |f| exact(*f)),
        holds: count(truth.len(), "true value"),
    });
    files.push(File {
        name: "study.toml",
        text: study(plan, data, inputs),
        holds: "what to run".to_owned(),
    });
    files
}

fn table<T>(
    inputs: &[&str],
    reports: &str,
    rows: &[Row<T>],
    shown: impl Fn(&T) -> String,
) -> String {
    let mut text = format!("{},{reports}\n", inputs.join(","));
    for row in rows {
        for x in &row.place {
            text.push_str(&exact(*x));
            text.push(',');
        }
        text.push_str(&shown(&row.report));
        text.push('\n');
    }
    text
}

/// The study that fits the files.
fn study(plan: &Mixed, data: &MixedData, inputs: &[&str]) -> String {
    let shared = if inputs.len() > 1 {
        ", shared = true"
    } else {
        ""
    };
    let quoted: Vec<String> = inputs.iter().map(|name| format!("\"{name}\"")).collect();
    let support = format!("point = [{}]", quoted.join(", "));
    let mut text = format!(
        "# Written by `{}`.\n\
         # The truth: a draw of se with lengthscale {} and variance {}, seen with noise of variance {}.\n\
         title = \"Mixed data in {}, seed {}\"\n\n\
         [latent]\nkernel = \"se({}{shared})\"\nmean   = \"zero\"\n",
        command(plan),
        exact(plan.lengthscale),
        exact(plan.variance),
        human(plan.noise * plan.noise),
        count(plan.dims, "dimension"),
        plan.seed,
        inputs.join(", "),
    );
    let thresholds: Vec<String> = data.thresholds.iter().map(|t| exact(*t)).collect();
    let kinds = [
        (
            plan.points,
            "points.csv",
            "  # values".to_owned(),
            "{ gaussian = { value = \"value\" } }".to_owned(),
        ),
        (
            plan.intervals,
            "intervals.csv",
            "  # intervals at random offsets".to_owned(),
            "{ interval = { lower = \"lower\", upper = \"upper\" } }".to_owned(),
        ),
        (
            plan.ordinals,
            "ordinals.csv",
            "  # ranks between the quantiles of the truth; `thresholds = \"learn\"` would learn them".to_owned(),
            format!(
                "{{ ordinal = {{ rank = \"rank\", thresholds = [{}] }} }}",
                thresholds.join(", ")
            ),
        ),
    ];
    let mut shares = "";
    for (_, file, remark, likelihood) in kinds.into_iter().filter(|kind| kind.0 > 0) {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n[[observe]]{remark}\nfile        = \"{file}\"\nsupport     = {{ {support} }}\n\
             likelihood  = {likelihood}\n{shares}"
        );
        shares = "share_noise = true            # one noise for all kinds\n";
    }
    let _ = write!(
        text,
        "\n[[predict]]\nname    = \"function\"\nsupport = {{ file = \"truth.csv\", {support} }}\nscale   = \"latent\"\n"
    );
    text
}

/// The command that draws the same again, with every option.
fn command(plan: &Mixed) -> String {
    format!(
        "quadrat simulate mixed --dims {} --seed {} --points {} --intervals {} --ordinals {} --levels {} --lengthscale {} \
         --variance {} --noise {} --width {} --low {} --high {} --grid {}",
        plan.dims,
        plan.seed,
        plan.points,
        plan.intervals,
        plan.ordinals,
        plan.ranks,
        exact(plan.lengthscale),
        exact(plan.variance),
        exact(plan.noise),
        exact(plan.width),
        exact(plan.low),
        exact(plan.high),
        plan.grid
    )
}

/// What was written, for people.
fn told(plan: &Mixed, files: &[File], folder: &Path, paint: Paint) -> String {
    let mut text = paint.bold(&format!(
        "Mixed data in {}, seed {}",
        count(plan.dims, "dimension"),
        plan.seed
    ));
    let grid = vec![plan.grid.to_string(); plan.dims].join(" x ");
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\n  function  a draw of se on a grid of {grid} from {} to {}: lengthscale {}, variance {}; noise of sd {}",
        human(plan.low),
        human(plan.high),
        human(plan.lengthscale),
        human(plan.variance),
        human(plan.noise)
    );
    for file in files {
        let _ = writeln!(text, "  {:<13}  {}", file.name, file.holds);
    }
    let _ = writeln!(
        text,
        "wrote {}; run it with `quadrat run {}`",
        folder.display(),
        folder.join("study.toml").display()
    );
    text
}
