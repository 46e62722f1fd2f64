//! Cases of other files and commands: tables in Parquet, `quadrat noise` and `quadrat simulate`.

use crate::data::Rows;
use crate::draw::Draw;
use crate::judge::Judged;
use crate::mutate;
use crate::study::{Facts, Study};

/// Files, what was changed of them, and what is done with them.
pub struct Made {
    pub files: Vec<(String, Vec<u8>)>,
    pub change: String,
    pub commands: Vec<String>,
    pub facts: Facts,
    pub judged: Judged,
    /// Whether nothing was changed, so that it must be answered.
    pub is_whole: bool,
}

/// Numbers that a flag may be given; the last ones are of no use anywhere.
const ODD: [&str; 9] = [
    "0", "-1", "1e300", "1e-300", "inf", "1e999", "nan", "", "two",
];

/// A number, a few times of a hundred one of no use; whether it is.
fn number(draw: &mut Draw, usual: &[&'static str]) -> (&'static str, bool) {
    match draw.percent(8) {
        true => (draw.word(&ODD), true),
        false => (draw.word(usual), false),
    }
}

/// The study of a case with its tables as Parquet files, which may be changed.
#[cfg(feature = "parquet")]
pub fn parquet(study: Study, draw: &mut Draw) -> Made {
    use crate::parquet::{Changed, as_parquet};
    let mut files = study.files;
    let is_whole = draw.percent(30);
    let of_table = if is_whole || draw.percent(25) {
        None
    } else {
        Some(Changed::draw(draw))
    };
    let mut change = match &of_table {
        Some(changed) => format!("{changed:?}"),
        None => "as it is".to_owned(),
    };
    let mut renamed = Vec::new();
    for (name, content) in &mut files {
        let Some(stem) = name.strip_suffix(".csv") else {
            continue;
        };
        let new = format!("{stem}.parquet");
        *content = as_parquet(content, of_table.as_ref(), draw);
        renamed.push((name.clone(), new.clone()));
        *name = new;
    }
    for (_, content) in files.iter_mut().take(1) {
        let mut text = String::from_utf8(std::mem::take(content)).unwrap();
        for (old, new) in &renamed {
            text = text.replace(&format!("\"{old}\""), &format!("\"{new}\""));
        }
        *content = text.into_bytes();
    }
    if !is_whole && of_table.is_none() {
        let of = mutate::one(&mut files, draw);
        change = format!("{}: {}", of.file, of.what);
    }
    Made {
        files,
        change,
        commands: vec!["run s.toml -o out".into()],
        facts: match is_whole {
            true => study.facts,
            false => Facts::any(),
        },
        judged: Judged::Predictions,
        is_whole,
    }
}

/// Without that feature there are no such files.
#[cfg(not(feature = "parquet"))]
pub fn parquet(_: Study, draw: &mut Draw) -> Made {
    noise(draw)
}

/// A table of counts and how it is released.
pub fn noise(draw: &mut Draw) -> Made {
    let rows = Rows::draw(draw);
    let columns: Vec<String> = ["k", "n", "from", "m", "site"]
        .iter()
        .filter(|name| **name == "n" || draw.percent(70))
        .map(|name| (*name).to_owned())
        .collect();
    let mut files = vec![("d.csv".to_owned(), rows.csv(&columns).into_bytes())];
    let (epsilon, odd) = number(draw, &["1", "0.1", "20", "1e-3"]);
    let (sensitivity, odder) = number(draw, &["1", "3", "0.5"]);
    let has_two = columns.iter().any(|name| name == "m") && draw.percent(50);
    let chosen = if has_two { "n,m" } else { "n" };
    let mut command = format!(
        "noise d.csv --column {chosen} --epsilon={epsilon} --sensitivity={sensitivity} --seed {} -o out.csv",
        draw.below(1000)
    );
    let is_geometric = draw.percent(40);
    if is_geometric {
        command.push_str(" --mechanism geometric");
    }
    let is_clipped = draw.percent(30);
    if is_clipped {
        command.push_str(" --clip");
    }
    let is_changed = draw.percent(60);
    let change = match is_changed {
        true => {
            let of = mutate::one(&mut files, draw);
            format!("{}: {}", of.file, of.what)
        }
        false => "as it is".to_owned(),
    };
    let is_odd = odd || odder || is_geometric && sensitivity == "0.5";
    let is_whole = !(is_changed || is_odd);
    Made {
        files,
        change,
        commands: vec![command],
        facts: Facts::any(),
        judged: Judged::Released {
            columns: chosen.split(',').map(str::to_owned).collect(),
            is_whole,
            is_geometric,
            is_clipped,
        },
        is_whole,
    }
}

/// Artificial data, made twice, and their study.
pub fn simulate(draw: &mut Draw) -> Made {
    let mut is_whole = true;
    let mut flags = String::new();
    let mut flag = |draw: &mut Draw, chance: usize, name: &str, usual: &[&'static str]| {
        if draw.percent(chance) {
            let (value, odd) = number(draw, usual);
            is_whole &= !odd;
            flags.push_str(&format!(" --{name}={value}"));
        }
    };
    let what = draw.word(&["mixed", "censored"]);
    flag(draw, 60, "seed", &["2", "77"]);
    flag(draw, 40, "lengthscale", &["0.3", "1"]);
    flag(draw, 40, "variance", &["1", "0.25", "9"]);
    flag(draw, 40, "noise", &["0.1", "0.5"]);
    if what == "mixed" {
        flag(draw, 100, "points", &["3", "5", "0"]);
        flag(draw, 100, "intervals", &["0", "3"]);
        flag(draw, 100, "ordinals", &["4", "6", "0"]);
        flag(draw, 40, "levels", &["2", "3"]);
        flag(draw, 30, "dims", &["1", "2"]);
        flag(draw, 30, "width", &["0.2", "1"]);
        flag(draw, 20, "low", &["-1", "0.5"]);
        flag(draw, 20, "high", &["3", "2.5"]);
        flag(draw, 30, "grid", &["9", "15"]);
    } else {
        flag(draw, 100, "points", &["12", "16"]);
        flag(
            draw,
            50,
            "overlap",
            &["none", "zero", "half", "pieces", "stretch"],
        );
        flag(draw, 50, "record", &["random", "clipped"]);
        flag(draw, 30, "correlation", &["0.5", "0"]);
        flag(draw, 30, "share", &["0.3", "0.9"]);
        flag(draw, 30, "noise-variance", &["0", "1"]);
        flag(draw, 30, "noise-lengthscale", &["1", "5"]);
    }
    let simulated = |folder: &str| format!("simulate {what}{flags} -o out/{folder}");
    let mut commands = vec![simulated("a"), simulated("b")];
    // Fits of two outputs with noise that is a function take too long here.
    if what == "mixed" {
        commands.push("run out/a/study.toml -o out/c".into());
    }
    Made {
        files: Vec::new(),
        change: flags.trim().to_owned(),
        commands,
        facts: Facts::any(),
        judged: Judged::Simulated,
        // Few rows may be refused by the command or the study.
        is_whole: false,
    }
}
