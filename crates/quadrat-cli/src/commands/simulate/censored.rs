//! `quadrat simulate censored`.

use std::fmt::Write;

use quadrat::likelihood::Side;
use quadrat::simulate::{Censored, CensoredData, CensoredOutput, Overlap, Record};
use quadrat_study::diagnostic::Paint;
use quadrat_study::numbers::{count, exact, human};

use super::files::File;
use crate::args::{OverlapArg, RecordArg, SimulateCensored};

/// Names of the outputs, and of their tables.
const OUTPUTS: [(&str, &str); 2] = [("first", "first.csv"), ("second", "second.csv")];

/// What is simulated.
pub fn plan(args: &SimulateCensored) -> Censored {
    Censored {
        points: args.points,
        lengthscale: args.lengthscale,
        variance: args.variance,
        correlation: args.correlation,
        noise: args.noise,
        noise_variance: args.noise_variance,
        noise_lengthscale: args.noise_lengthscale,
        overlap: match args.overlap {
            OverlapArg::None => Overlap::None,
            OverlapArg::Zero => Overlap::Zero,
            OverlapArg::Half => Overlap::Half,
            OverlapArg::Pieces => Overlap::Pieces,
            OverlapArg::Stretch => Overlap::Stretch,
        },
        record: match args.record {
            RecordArg::Random => Record::Random,
            RecordArg::Clipped => Record::Clipped,
        },
        share: args.share,
        seed: args.seed,
        ..Censored::default()
    }
}

/// The name that an option has here, and a value of it that is accepted.
pub fn option(name: &str) -> (&str, String) {
    let usual = Censored::default();
    let (name, like) = match name {
        "lengthscale" => (name, usual.lengthscale),
        "variance" => (name, usual.variance),
        "correlation" => (name, usual.correlation),
        "noise" => (name, usual.noise),
        "noise_variance" => ("noise-variance", usual.noise_variance),
        "noise_lengthscale" => ("noise-lengthscale", usual.noise_lengthscale),
        "share" => (name, usual.share),
        _ => (name, usual.points as f64),
    };
    (name, like.to_string())
}

/// The files to write.
pub fn files(plan: &Censored, data: &CensoredData) -> Vec<File> {
    let mut files: Vec<File> = OUTPUTS
        .iter()
        .zip(&data.outputs)
        .map(|((_, name), output)| File {
            name,
            text: table(data, output),
            holds: held(output),
        })
        .collect();
    files.push(File {
        name: "truth.csv",
        text: truth(data),
        holds: "functions, noise and values without censoring".to_owned(),
    });
    files.push(File {
        name: "study.toml",
        text: study(plan, data),
        holds: "what to run".to_owned(),
    });
    files
}

fn hidden(output: &CensoredOutput) -> usize {
    output.sides.iter().filter(|s| **s != Side::None).count()
}

fn held(output: &CensoredOutput) -> String {
    let values = count(output.values.len(), "value");
    match (hidden(output), output.threshold) {
        (0, _) => format!("{values}, none censored"),
        (n, None) => format!("{values}, {n} of them censored"),
        (n, Some(limit)) => {
            format!("{values}, {n} of them censored at {}", human(limit))
        }
    }
}

fn table(data: &CensoredData, output: &CensoredOutput) -> String {
    let mut text = String::from("x,value,side\n");
    for ((x, value), side) in data.x.iter().zip(&output.recorded).zip(&output.sides) {
        let side = match side {
            Side::None => "none",
            Side::Left => "left",
            Side::Right => "right",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{},{},{side}", exact(*x), exact(*value));
    }
    text
}

fn truth(data: &CensoredData) -> String {
    let mut text = String::from("x");
    for (name, _) in OUTPUTS {
        let _ = write!(text, ",{name}_latent,{name}_noise_sd,{name}_value");
    }
    text.push('\n');
    for (i, x) in data.x.iter().enumerate() {
        text.push_str(&exact(*x));
        for output in &data.outputs {
            let (f, sd, y) = (output.latent[i], output.noise[i], output.values[i]);
            let _ = write!(text, ",{},{},{}", exact(f), exact(sd), exact(y));
        }
        text.push('\n');
    }
    text
}

/// The study that fits the files.
fn study(plan: &Censored, data: &CensoredData) -> String {
    let mut text = format!(
        "# Written by `{}`.\n\
         # The truth: draws of se with lengthscale {} and variance {}, their correlation {}; noise of sd about {}, the log of its variance\n\
         # a draw of se with lengthscale {} and variance {}.\n\
         title = \"Censored data, overlap {}, record {}, seed {}\"\n\n\
         [latent]\nkernel = \"se(x)\"\nmean   = \"zero\"\n\n\
         [coregionalization]                      # what one output says of the other\nlatents = 1\nrank    = 1\n\n\
         [noise]                                  # the noise changes along x\nkernel = \"se(x)\"\n",
        command(plan),
        exact(plan.lengthscale),
        exact(plan.variance),
        exact(data.correlation),
        exact(plan.noise),
        exact(plan.noise_lengthscale),
        exact(plan.noise_variance),
        plan.overlap.name(),
        plan.record.name(),
        plan.seed,
    );
    for (name, file) in OUTPUTS {
        let _ = write!(
            text,
            "\n[[observe]]\nfile       = \"{file}\"\nsupport    = {{ point = [\"x\"] }}\noutput     = \"{name}\"\n\
             likelihood = {{ censored = {{ value = \"value\", side = \"side\" }} }}\n"
        );
    }
    for (name, scale) in [("functions", "latent"), ("values", "observation")] {
        let _ = write!(
            text,
            "\n[[predict]]\nname    = \"{name}\"\nsupport = {{ file = \"truth.csv\", point = [\"x\"] }}\nscale   = \"{scale}\"\n"
        );
    }
    text.push_str(
        "\n[inference]\nhyperparameters = \"map\"                  # \"integrate\" takes many times as long\n",
    );
    text
}

/// The command that draws the same again, with every option.
fn command(plan: &Censored) -> String {
    format!(
        "quadrat simulate censored --overlap {} --record {} --seed {} --points {} --lengthscale {} --variance {} \
         --correlation {} --noise {} --noise-variance {} --noise-lengthscale {} --share {}",
        plan.overlap.name(),
        plan.record.name(),
        plan.seed,
        plan.points,
        exact(plan.lengthscale),
        exact(plan.variance),
        exact(plan.correlation),
        exact(plan.noise),
        exact(plan.noise_variance),
        exact(plan.noise_lengthscale),
        exact(plan.share),
    )
}

/// What was drawn, for people.
pub fn told(plan: &Censored, data: &CensoredData, paint: Paint) -> String {
    let (low, high) = Censored::RANGE;
    let mut text = paint.bold(&format!(
        "Censored data, overlap {}, record {}, seed {}",
        plan.overlap.name(),
        plan.record.name(),
        plan.seed
    ));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\n  functions  two draws of se on {} from {} to {}: lengthscale {}, variance {}, correlation {}\n  noise      of sd about {}, its log variance a draw of se: lengthscale {}, variance {}",
        count(plan.points, "point"),
        human(low),
        human(high),
        human(plan.lengthscale),
        human(plan.variance),
        human(data.correlation),
        human(plan.noise),
        human(plan.noise_lengthscale),
        human(plan.noise_variance)
    );
    text
}
