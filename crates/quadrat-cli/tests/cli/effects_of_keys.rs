//! Every key and flag has an effect: it changes what is written, or it is refused at its line, or a
//! warning names it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use crate::effects::table;
use crate::effects_cases::{BANDS, COUNTS, DENSITY, POINTS, VALUES, cases};
use crate::harness::{done, folder, in_halves, none, quadrat, stderr, stdout};

fn files(folder: &Path) -> BTreeMap<String, String> {
    let out = folder.join("out");
    let entries = std::fs::read_dir(&out).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let tables = names.filter(|name| name.ends_with(".csv") || name == "fit.json");
    let text = |name: &String| std::fs::read_to_string(out.join(name)).unwrap_or_default();
    // Times differ from run to run, and its number from study to study, whatever a key does.
    let untimed = |text: String| {
        let is_own = |line: &str| line.contains("\"seconds\"") || line.contains("\"run\"");
        let lines = text.lines().filter(|line| !is_own(line));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    tables
        .map(|name| (name.clone(), untimed(text(&name))))
        .collect()
}

/// What a study says and writes.
struct Ran {
    code: Option<i32>,
    said: String,
    wrote: BTreeMap<String, String>,
}

/// Two rectangles a distance apart; `turned` has their names the other way round.
fn squares(apart: f64) -> String {
    let feature = |id: &str, turned: &str, west: f64, n: u32| {
        let east = west + 1.0;
        format!(
            "{{\"type\":\"Feature\",\"properties\":{{\"id\":\"{id}\",\"turned\":\"{turned}\",\"n\":{n},\"m\":9}},\"geometry\":{{\"type\":\"Polygon\",\"coordinates\":[[[{west},0],[{east},0],[{east},0.5],[{west},0.5],[{west},0]]]}}}}"
        )
    };
    format!(
        "{{\"type\":\"FeatureCollection\",\"features\":[{},{}]}}",
        feature("a", "b", 0.0, 12),
        feature("b", "a", 1.0 + apart, 30)
    )
}

fn run(study: &str) -> Ran {
    let mut rows = table().replacen("site\n", "site,yes,w,most,side,turned\n", 1);
    let sides = ["none", "left", "right"];
    let with_more = |(i, line): (usize, &str)| match i {
        0 => format!("{line}\n"),
        _ => format!(
            "{line},{},{},{},{},{}\n",
            i % 3 % 2,
            1 + i % 5,
            10 + i % 4,
            sides[i % 3],
            sides[(2 * i) % 3]
        ),
    };
    rows = rows.lines().enumerate().map(with_more).collect();
    let files_in = [
        ("s.toml", study),
        ("d.csv", rows.as_str()),
        ("e.csv", "t,y,site\n0,1,a\n1,2,b\n2,1,a\n3,0,b\n"),
        (
            "b.csv",
            "from,to,end,n,sum\n0,3,2,12,12\n3,5,4,9,21\n5,9,7,30,51\n9,12,10,8,59\n",
        ),
        (
            "u.csv",
            "site,from,to,low,high,n,m,who,year\na,0,5,1,5,10,4,900,1990\na,5,10,5,10,20,7,800,1990\na,10,20,10,20,25,9,700,1990\na,20,30,20,40,12,3,300,1990\n",
        ),
        (
            "v.csv",
            "site,from,to,n,who\na,0,5,12,800\na,5,20,41,1600\na,20,30,15,250\n",
        ),
        ("o.csv", "from,to,n\n,5,12\n5,20,41\n20,,15\n"),
        (
            "l.csv",
            "column,aggregate,distribution,scale\ny,Sum,Float Laplace,0.3\nn,Sum,Integer Laplace,1.0\nn,Frame Length,Integer Gaussian,2.0\n",
        ),
        ("k.csv", "site,yes,v\na,0,1.5\nb,1,0.5\n"),
        ("z.csv", "id,turned,v\na,a,1.5\nb,b,0.5\n"),
        ("z.geojson", &squares(0.0)),
        ("far.geojson", &squares(1.5)),
        (
            "all.geojson",
            r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[[-9,-9],[19,-9],[19,9],[-9,19],[-9,-9]]]}}]}"#,
        ),
    ];
    let bytes: Vec<(&str, &[u8])> = files_in.iter().map(|(n, t)| (*n, t.as_bytes())).collect();
    let folder = folder(&bytes);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    Ran {
        code: output.status.code(),
        said: stderr(&output) + &stdout(&output),
        wrote: files(folder.path()),
    }
}

/// Why a key has no effect, if it has none; `base` is what the study without it does.
fn fault(name: &str, base: &Ran, before: &str, after: &str) -> Option<String> {
    let ran = run(after);
    if base.code != Some(0) {
        return Some(format!("{name}: the study without it fails: {}", base.said));
    }
    // The lines that differ from those before.
    let own = after
        .lines()
        .enumerate()
        .filter(|(_, line)| !before.lines().any(|b| b == *line));
    let lines: Vec<usize> = own.map(|(at, _)| at + 1).collect();
    let at_its_line = lines
        .iter()
        .any(|line| ran.said.contains(&format!("s.toml:{line}:")));
    let effect = match ran.code {
        Some(0) => ran.wrote != base.wrote,
        Some(1) => at_its_line && ran.wrote.is_empty(),
        _ => false,
    };
    (!effect).then(|| format!("{name}: code {:?}, lines {lines:?}\n{}", ran.code, ran.said))
}

#[test]
fn every_key_changes_what_is_written_or_is_refused_at_its_line() {
    let all = cases();
    let wrong = in_halves(&all, |own| {
        // Many keys are tried on one study.
        let mut known: HashMap<&str, Ran> = HashMap::new();
        own.filter_map(|(name, before, after)| {
            let base = known.entry(before).or_insert_with(|| run(before));
            fault(name, base, before, after)
        })
        .collect()
    });
    none(&wrong);
}

/// Flags of `quadrat predict` beside `--at at.csv`: a base, and what is added to it.
#[rustfmt::skip]
const FLAGS: &[(&str, &[&str], &[&str])] = &[
    ("values", &["--point", "t"], &["--scale", "observation"]),
    ("counts", &["--point", "t"], &["--scale", "latent"]),
    ("values", &["--point", "t"], &["--level", "0.5"]),
    ("values", &["--point", "t"], &["--above", "0.5"]),
    ("values", &["--point", "t"], &["--ranks"]),
    ("grades", &["--point", "t", "--scale", "observation"], &["--ranks"]),
    ("values", &["--point", "t"], &["--draws", "2"]),
    ("values", &["--point", "t", "--draws", "2"], &["--seed", "3"]),
    ("values", &["--point", "t"], &["--seed", "3"]),
    ("values", &["--point", "t"], &["--non-negative"]),
    ("counts", &["--point", "t"], &["--non-negative"]),
    ("values", &["--point", "t"], &["--of", "north"]),
    ("outputs", &["--point", "t"], &["--of", "a"]),
    ("values", &["--point", "t"], &["--as", "d.csv"]),
    ("values", &["--point", "t"], &["--as", "other.csv", "--scale", "observation"]),
    ("values", &["--point", "t"], &["--aggregate", "mean"]),
    ("values", &["--point", "t"], &["--key", "k"]),
    ("values", &["--point", "t"], &["--weight", "t"]),
    ("values", &["--point", "t"], &["--missing", "mean"]),
    ("values", &["--point", "t"], &["--planar"]),
    ("counts", &["--point", "t"], &["--exposure", "w"]),
    ("counts", &["--point", "t", "--scale", "observation"], &["--exposure", "7"]),
    ("values", &["--point", "t"], &["--exposure", "7"]),
    ("counts", &["--point", "t"], &["--trials", "7"]),
    ("values", &["--point", "t"], &["--keep", "k"]),
    ("values", &["--box", "t=t,to", "--aggregate", "mean"], &["--key", "k"]),
    ("values", &["--bag", "t", "--key", "k", "--aggregate", "mean"], &["--weight", "w"]),
];

#[test]
fn every_flag_of_predict_changes_the_table_or_is_refused_by_its_name() {
    let likelihoods = [
        ("values", VALUES, ""),
        ("counts", COUNTS, ""),
        ("grades", "ordinal = { rank = \"g\" }", ""),
        ("outputs", VALUES, "output_column = \"site\""),
    ];
    let table = table();
    let folder = folder(&[
        ("d.csv", table.as_bytes()),
        ("at.csv", b"t,to,k,w\n1,2,a,1\n2,3,a,3\n4,6,b,1\n"),
    ]);
    for (name, likelihood, observe) in likelihoods {
        let study = POINTS
            .replacen(VALUES, likelihood, 1)
            .replacen("#observe", observe, 1);
        std::fs::write(folder.path().join("s.toml"), study).unwrap();
        done(
            folder.path(),
            &["fit", "s.toml", "-o", &format!("{name}.quadrat")],
        );
    }
    let mut wrong = Vec::new();
    for (model, base, added) in FLAGS {
        let model = format!("{model}.quadrat");
        let mut args = vec!["predict", &model, "--at", "at.csv"];
        args.extend(*base);
        let before = quadrat(folder.path(), &args);
        args.extend(*added);
        let after = quadrat(folder.path(), &args);
        let said = stderr(&after);
        let flag = added[0].trim_start_matches('-');
        let effect = match after.status.code() {
            Some(0) => before.stdout != after.stdout,
            // A name of a table or output stands for its flag.
            _ => {
                said.contains(flag)
                    || added.get(1).is_some_and(|value| said.contains(value))
                    || said.contains("naming a table")
            }
        };
        if !before.status.success() || !effect {
            wrong.push(format!(
                "{args:?}: {:?} {said}{}",
                after.status.code(),
                stderr(&before)
            ));
        }
    }
    none(&wrong);
}

/// Where keys stand, and a study with one there that nobody knows.
fn unknown_keys() -> Vec<(String, String)> {
    const UNKNOWN: &str = "zzzzzzzzzz = 1";
    let in_points = |from: &str, to: &str| POINTS.replacen(from, &to.replace('?', UNKNOWN), 1);
    let section = |name: &str| (name.to_owned(), in_points("#more", &format!("[{name}]\n?")));
    let mut all = vec![
        (String::new(), in_points("[latent]", "?\n[latent]")),
        ("latent".into(), in_points("[latent]", "[latent]\n?")),
        ("observe".into(), in_points("#observe", "?")),
        (
            "observe.support".into(),
            in_points("[\"t\"] }", "[\"t\"], ? }"),
        ),
        ("predict".into(), in_points("#predict", "?")),
        ("predict.support".into(), in_points("3 } } }", "3 } }, ? }")),
        (
            "predict.support.grid.t".into(),
            in_points("3 } } }", "3, ? } } }"),
        ),
        ("inference".into(), in_points("#inference", "?")),
        ("density".into(), DENSITY.replacen("#density", UNKNOWN, 1)),
        ("ungroup".into(), BANDS.replacen("#ungroup", UNKNOWN, 1)),
        (
            "inference.inducing".into(),
            in_points("#inference", "inducing = { ? }"),
        ),
        (
            "observe.support.bag".into(),
            in_points("point = [\"t\"]", "bag = { ?, dims = [\"t\"] }"),
        ),
        (
            "observe.support.region".into(),
            in_points("point = [\"t\"]", "region = { ?, dims = [\"t\", \"u\"] }"),
        ),
    ];
    all.extend(["coregionalization", "noise", "dispersion"].map(section));
    for kind in keys_told(&in_points(VALUES, "?")) {
        let study = in_points(VALUES, &format!("{kind} = {{ ? }}"));
        all.push((format!("observe.likelihood.{kind}"), study));
    }
    all
}

/// The keys that the program lists where it meets one that it does not know.
fn keys_told(study: &str) -> Vec<String> {
    let said = run(study).said;
    let list = said.split("the keys here are ").nth(1).unwrap_or_default();
    let list = list.lines().next().unwrap_or_default();
    let names = list.split('`').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

/// Every key of a document with its value, as `observe.likelihood.gaussian.value`.
fn paths(item: &toml_edit::Item, path: &str, all: &mut BTreeSet<(String, String)>) {
    if let Some(tables) = item.as_array_of_tables() {
        tables.iter().for_each(|table| entries(table, path, all));
    } else if let Some(table) = item.as_table_like() {
        entries(table, path, all);
    }
}

fn entries(table: &dyn toml_edit::TableLike, path: &str, all: &mut BTreeSet<(String, String)>) {
    for (key, item) in table.iter() {
        let own = format!("{path}.{key}").trim_start_matches('.').to_owned();
        all.insert((own.clone(), item.to_string()));
        paths(item, &own, all);
    }
}

#[test]
fn every_key_that_the_program_knows_is_tried() {
    let of = |study: &str| {
        let document: toml_edit::DocumentMut = study.parse().unwrap();
        let mut all = BTreeSet::new();
        entries(document.as_table(), "", &mut all);
        all
    };
    let mut tried = BTreeSet::new();
    for (_, before, after) in cases() {
        let before = of(&before);
        let own = of(&after).into_iter().filter(|pair| !before.contains(pair));
        tried.extend(own.map(|(path, _)| path));
    }
    let mut wrong = Vec::new();
    for (place, study) in unknown_keys() {
        let told = keys_told(&study);
        if told.is_empty() {
            wrong.push(format!("{place}: no keys are listed: {}", run(&study).said));
        }
        let paths = told.iter().map(|key| format!("{place}.{key}"));
        let paths = paths.map(|path| path.trim_start_matches('.').to_owned());
        wrong.extend(paths.filter(|path| !tried.contains(path)));
    }
    none(&wrong);
}
