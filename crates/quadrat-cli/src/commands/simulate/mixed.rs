//! `quadrat simulate mixed`.

use std::fmt::Write;

use quadrat::simulate::{Mixed, MixedData, Row};
use quadrat_study::diagnostic::Paint;
use quadrat_study::numbers::{count, exact, human};

use super::files::File;
use crate::args::SimulateMixed;

/// Names of the inputs, as far as there are any.
const INPUTS: [&str; 3] = ["x", "y", "z"];

/// What is simulated.
pub fn plan(args: &SimulateMixed) -> Mixed {
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

/// The name that an option has here, and a value of it that is accepted.
pub fn option(name: &str) -> (&str, String) {
    let name = if name == "ranks" { "levels" } else { name };
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
    (name, like.to_string())
}

/// The files to write.
pub fn files(plan: &Mixed, data: &MixedData) -> Vec<File> {
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

/// What was drawn, for people.
pub fn told(plan: &Mixed, paint: Paint) -> String {
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
    text
}
