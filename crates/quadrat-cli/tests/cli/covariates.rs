//! A mean that is linear in inputs, from the study to its answers.

use crate::harness::{column, done, fit, folder, none, quadrat, refused, stderr};

const STATIONS: &str = "t,elevation,slope,text,celsius
0,310,3,a,17.6
1,540,9,b,16.3
2,420,4,c,17.1
3,910,8,d,14.1
4,290,2,e,17.4
5,660,7,f,15.7
6,760,1,g,14.5
7,350,6,h,17.3
8,600,5,i,15.8
";

const STUDY: &str = r#"[latent]
kernel = "se(t)"
mean = "MEAN"
[[observe]]
file = "t.csv"
support = { point = ["t", "elevation", "slope"] }
likelihood = { gaussian = { value = "celsius" } }
[[predict]]
name = "top"
support = { file = "at.csv", point = ["t", "elevation", "slope"] }
[hyperparameters]
"se.lengthscale.t" = { value = 2, fixed = true }
[inference]
hyperparameters = "map"
"#;

/// Two thousand metres above the rows, near them along `t` and far.
const AT: &[u8] = b"t,elevation,slope\n4,2600,5\n50,2600,5\n";

fn study(mean: &str) -> String {
    STUDY.replace("MEAN", mean)
}

#[test]
fn coefficients_are_told_in_words_and_in_numbers() {
    let study = study("linear(elevation, slope)");
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("t.csv", STATIONS.as_bytes()),
        ("at.csv", AT),
    ]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    for words in [
        "se(t) with a learned mean that is linear in elevation and slope;",
        "slope     along elevation -0.006",
        " per unit, sd 0.0",
        "change of the mean of the curve per unit of elevation",
        "level of the mean of the curve where elevation is 537.7777778 and slope is 5",
    ] {
        assert!(said.contains(words), "no `{words}` in\n{said}");
    }
    let json = fit(folder.path());
    let (slopes, named) = (&json["slopes"], &json["hyperparameters"]);
    assert_eq!(slopes.as_array().map(Vec::len), Some(2));
    assert_eq!(slopes[0]["input"], "elevation");
    assert_eq!(slopes[0]["mean"], named["mean.linear.elevation"]);
    let number = |at: &str| slopes[0][at].as_f64().unwrap();
    assert!(number("lower") < -0.006 && number("upper") < 0.0 && number("sd") > 0.0);
    let (mean, sd) = (
        column(folder.path(), "top", "mean"),
        column(folder.path(), "top", "sd"),
    );
    for (mean, sd) in mean.iter().zip(sd) {
        let level = named["mean.constant"].as_f64().unwrap();
        let line = level + number("mean") * (2600.0 - 4840.0 / 9.0);
        assert!((mean - line).abs() < 1.0, "{mean} {line}");
        assert!(sd > 1900.0 * number("sd"), "{sd}");
    }
    let report = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(report.contains("Slope along elevation -0.006"));
}

/// A saved model asks for the input that the kernel does not have, and answers as the run did.
#[test]
fn a_saved_model_knows_the_line() {
    let study = study("constant + linear(elevation)");
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("t.csv", STATIONS.as_bytes()),
        ("at.csv", AT),
    ]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let ask = [
        "predict",
        "m.quadrat",
        "--at",
        "at.csv",
        "--point",
        "t,elevation",
        "-o",
        "got.csv",
    ];
    let asked = quadrat(folder.path(), &ask);
    let said = stderr(&asked);
    assert!(asked.status.success(), "{said}");
    let got = std::fs::read_to_string(folder.path().join("got.csv")).unwrap();
    let means: Vec<f64> = got
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(2).unwrap().parse().unwrap())
        .collect();
    assert_eq!(means, column(folder.path(), "top", "mean"));
}

#[test]
fn what_cannot_be_is_refused_at_its_line() {
    let table = |from: &str, to: &str| STATIONS.replace(from, to);
    let flat: String = STATIONS
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("{line},feet,same\n"),
            _ => {
                let metres: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
                format!("{line},{},7\n", metres * 3.281)
            }
        })
        .collect();
    let also = |name: &str| {
        let study = study(&format!("linear(elevation, {name})"));
        let named = format!("\"elevation\", \"{name}\"]");
        let study = study.replacen("\"elevation\", \"slope\"]", &named, 1);
        // The table of the prediction has no such column.
        let (before, after) = (study.find("[[predict]]"), study.find("[hyperparameters]"));
        study[..before.unwrap()].to_owned() + &study[after.unwrap()..]
    };
    let few: String = STATIONS.lines().take(3).map(|l| format!("{l}\n")).collect();
    let cases: [(&str, String, String, &[&str]); 10] = [
        (
            "unknown",
            study("linear(rain)"),
            table("", ""),
            &["the mean uses `rain`", "s.toml:3"],
        ),
        (
            "near",
            study("linear(elevatoin)"),
            table("", ""),
            &["did you mean `elevation`?"],
        ),
        (
            "same",
            also("same"),
            flat.clone(),
            &["`same`: it is the same in all rows", "s.toml:3"],
        ),
        (
            "feet",
            also("feet"),
            flat,
            &["`feet`: in the rows it follows from `elevation`"],
        ),
        (
            "few",
            study("linear(elevation, slope)"),
            few,
            &["2 rows cannot tell 3 coefficients"],
        ),
        ("text", also("text"), table("", ""), &["t.csv:2", "text"]),
        (
            "twice",
            study("linear(slope) + linear(slope)"),
            table("", ""),
            &["named twice", "s.toml:3"],
        ),
        (
            "curve",
            study("se(slope)"),
            table("", ""),
            &["`se(slope)` is not a known `mean`", "s.toml:3"],
        ),
        (
            "origin",
            study("linear(slope, origin = 3)"),
            table("", ""),
            &["`origin`", "s.toml:3"],
        ),
        (
            "broken",
            study("linear(slope"),
            table("", ""),
            &["in the `mean`", "s.toml:3"],
        ),
    ];
    let mut wrong = Vec::new();
    for (name, study, table, expected) in &cases {
        wrong.extend(
            refused(
                name,
                study,
                &[("t.csv", table.as_bytes()), ("at.csv", AT)],
                expected,
            )
            .err(),
        );
    }
    // A constant that is held has no meaning of its own beside a line.
    let held = study("linear(slope)").replace(
        "[inference]",
        "\"mean.constant\" = { value = 3, fixed = true }\n[inference]",
    );
    let files: [(&str, &[u8]); 2] = [("t.csv", STATIONS.as_bytes()), ("at.csv", AT)];
    wrong.extend(refused("held", &held, &files, &["always learned", "s.toml:13"]).err());
    let lacks = study("linear(elevation)").replace(
        "point = [\"t\", \"elevation\", \"slope\"]",
        "point = [\"t\", \"slope\"]",
    );
    wrong.extend(refused("lacks", &lacks, &files, &["the mean uses `elevation`"]).err());
    none(&wrong);
}

/// The kernel of a map that names none is not over what the mean is linear in.
#[test]
fn a_map_leaves_the_covariate_to_the_mean() {
    let study = r#"[latent]
mean = "linear(elevation)"
[[observe]]
file = "t.csv"
support = { point = ["x", "y", "elevation"] }
likelihood = { gaussian = { value = "celsius" } }
[inference]
hyperparameters = "map"
"#;
    let table = STATIONS.replace("t,elevation,slope", "x,elevation,y");
    let folder = folder(&[("s.toml", study.as_bytes()), ("t.csv", table.as_bytes())]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let model = "matern32(x, y) with a learned mean that is linear in elevation;";
    assert!(said.contains(model), "{said}");
}
