//! Rows that were measured, added to a saved model.

use crate::harness::{done, folder, none, quadrat, stderr};
use crate::next::{COSTS, field, read};

/// Rows that are told are in the model: it knows more where they were measured.
#[test]
fn told_rows_are_in_the_model() {
    let folder = field();
    let path = folder.path();
    let asked = [
        "next",
        "m.quadrat",
        "--candidates",
        "c.csv",
        "--cost",
        COSTS,
        "--batch",
        "6",
        "-o",
        "n.csv",
    ];
    done(path, &asked);
    let rows = read(path, "n.csv");
    // Answers to what was asked, but for one.
    let mut told = String::from("x,kind,value,lower,upper\n");
    for (i, row) in rows[1..].iter().enumerate() {
        let answer = match (i, row[2].as_str()) {
            (5, _) => ",,",
            (_, "point") => "5.5,,",
            (_, "interval") => ",5.25,5.75",
            _ => "2,,",
        };
        told.push_str(&format!("{},{},{answer}\n", row[1], row[2]));
    }
    std::fs::write(path.join("t.csv"), told).unwrap();
    let output = quadrat(path, &["tell", "m.quadrat", "t.csv", "-o", "after.quadrat"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 row without an answer left out"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("added 5 rows") && said.contains("the model has 17 rows"),
        "{said}"
    );
    let sd = |model: &str| -> f64 {
        done(
            path,
            &[
                "predict", model, "--at", "c.csv", "--point", "x", "-o", "p.csv",
            ],
        );
        let rows = read(path, "p.csv");
        let at = rows[0].iter().position(|name| name == "sd").unwrap();
        rows[1..]
            .iter()
            .map(|row| row[at].parse::<f64>().unwrap())
            .sum()
    };
    assert!(sd("after.quadrat") < 0.9 * sd("m.quadrat"));
    // In place, and again: as all at once.
    std::fs::write(path.join("one.csv"), "x,kind,value\n2.5,point,6.1\n").unwrap();
    std::fs::write(path.join("two.csv"), "x,value\n7.5,5.4\n").unwrap();
    done(path, &["tell", "m.quadrat", "one.csv"]);
    done(path, &["tell", "m.quadrat", "two.csv", "--kind", "meter"]);
    assert!(sd("m.quadrat").is_finite());
    let asked = [
        "next",
        "m.quadrat",
        "--candidates",
        "c.csv",
        "--cost",
        COSTS,
        "--json",
    ];
    assert!(done(path, &asked).contains("\"kind\""));
}

#[test]
fn answers_that_are_none_are_refused() {
    let folder = field();
    let path = folder.path();
    let cases: [(&str, &[&str]); 7] = [
        (
            "x,kind,value\n1,point,2\n2,point,1e308\n",
            &["t.csv:3", "`value` is too large"],
        ),
        (
            "x,kind,value\n1,point,much\n",
            &["t.csv:2", "`value` is `much`"],
        ),
        (
            "x,kind,value\n1,tilt,2\n",
            &["t.csv:2", "cannot observe `tilt`"],
        ),
        ("x,value\n1,2\n", &["no column `kind`", "--kind"]),
        (
            "x,kind,value\n1,ordinal,2.5\n",
            &["t.csv:2:11", "this is no rank"],
        ),
        (
            "x,kind,lower,upper\n1,interval,6,5\n",
            &["t.csv:2:12", "`lower` lies above `upper`"],
        ),
        ("x,kind,value\n1,point,\n", &["no row has an answer"]),
    ];
    let model = std::fs::read(path.join("m.quadrat")).unwrap();
    let mut wrong = Vec::new();
    for (table, words) in cases {
        std::fs::write(path.join("t.csv"), table).unwrap();
        let output = quadrat(path, &["tell", "m.quadrat", "t.csv"]);
        let text = stderr(&output);
        if output.status.code() != Some(1) || !words.iter().all(|word| text.contains(word)) {
            wrong.push(format!("{table}: {text}"));
        }
    }
    none(&wrong);
    assert!(std::fs::read(path.join("m.quadrat")).unwrap() == model);
}

/// Rows of all calls are one table, which says the same when it is told to the first model.
#[test]
fn told_rows_are_a_table_that_can_be_told_again() {
    let folder = field();
    let path = folder.path();
    std::fs::copy(path.join("m.quadrat"), path.join("first.quadrat")).unwrap();
    let one = "x,kind,value,by\n2.5,point,6.10,Ana\n3.5,point,,\n4.5,ordinal,2,\n";
    std::fs::write(path.join("one.csv"), one).unwrap();
    std::fs::write(path.join("two.csv"), "x,lower,upper\n7.5,5.25,5.75\n").unwrap();
    let none = quadrat(path, &["tell", "m.quadrat", "--told", "all.csv"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("no rows were added to this model"));
    done(path, &["tell", "m.quadrat", "one.csv"]);
    done(
        path,
        &["tell", "m.quadrat", "two.csv", "--kind", "interval"],
    );
    let before = std::fs::read(path.join("m.quadrat")).unwrap();
    done(path, &["tell", "m.quadrat", "--told", "all.csv"]);
    assert!(std::fs::read(path.join("m.quadrat")).unwrap() == before);
    let told = std::fs::read_to_string(path.join("all.csv")).unwrap();
    let expected = "x,value,by,kind,lower,upper\n2.5,6.10,Ana,point,,\n4.5,2,,ordinal,,\n\
                    7.5,,,interval,5.25,5.75\n";
    assert_eq!(told, expected);
    done(path, &["tell", "first.quadrat", "all.csv"]);
    let sd = |model: &str| -> Vec<f64> {
        let ask = [
            "predict", model, "--at", "c.csv", "--point", "x", "-o", "p.csv",
        ];
        done(path, &ask);
        let rows = read(path, "p.csv");
        let at = rows[0].iter().position(|name| name == "sd").unwrap();
        rows[1..]
            .iter()
            .map(|row| row[at].parse().unwrap())
            .collect()
    };
    for (a, b) in sd("first.quadrat").iter().zip(sd("m.quadrat")) {
        // Sites of expectation propagation end within 1e-6 or so.
        assert!((a - b).abs() < 1e-5 * b, "{a} {b}");
    }
    // Nothing that is read is written over.
    for asked in [
        ["tell", "m.quadrat", "one.csv", "-o", "one.csv"],
        ["tell", "m.quadrat", "one.csv", "--told", "one.csv"],
        ["tell", "m.quadrat", "one.csv", "--told", "m.quadrat"],
    ] {
        let output = quadrat(path, &asked);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains("would replace a file"));
    }
    // Without rows there is nothing to do but what is asked.
    assert_eq!(quadrat(path, &["tell", "m.quadrat"]).status.code(), Some(2));
}

/// Rows far steeper than those of the fit shorten the lengthscale, and it is said from where.
#[test]
fn hyperparameters_are_learned_again() {
    let folder = field();
    let path = folder.path();
    let rows = (0..12).map(|i| {
        let x = 0.4 + 0.8 * f64::from(i);
        format!("{x},point,{}\n", 5.6 + (4.0 * x).sin())
    });
    let table: String = std::iter::once("x,kind,value\n".to_owned())
        .chain(rows)
        .collect();
    std::fs::write(path.join("rows.csv"), table).unwrap();
    let told = done(path, &["tell", "m.quadrat", "rows.csv", "--relearn"]);
    assert!(told.contains("added 12 rows: 12 point"), "{told}");
    let line = told
        .lines()
        .find(|l| l.contains("se.lengthscale.x"))
        .unwrap();
    let (_, line) = line.split_once("se.lengthscale.x").unwrap();
    let (before, after) = line.split_once(" -> ").unwrap();
    let number = |text: &str| -> f64 { text.trim().parse().unwrap() };
    assert!(number(after) < 0.7 * number(before), "{told}");
    // Again changes nothing.
    let again = done(path, &["tell", "m.quadrat", "--relearn"]);
    let line = again
        .lines()
        .find(|l| l.contains("se.lengthscale.x"))
        .unwrap();
    let (_, line) = line.split_once("se.lengthscale.x").unwrap();
    let (before, after) = line.split_once(" -> ").unwrap();
    assert!(
        (number(before) / number(after) - 1.0).abs() < 0.01,
        "{again}"
    );
}

/// A new row's own noise, told as a variance or as an sd; two of them are one too many.
#[test]
fn rows_have_noise_of_their_own() {
    let study = "[latent]\nkernel = \"se(x)\"\n\n[[observe]]\nfile = \"d.csv\"\nsupport = { point = [\"x\"] }\nlikelihood = { gaussian = { value = \"y\", variance = \"v\" } }\n";
    let files: [(&str, &str); 6] = [
        ("s.toml", study),
        ("d.csv", "x,y,v\n0,1,0.1\n1,2,0.2\n2,1,0.1\n"),
        ("variance.csv", "x,value,variance\n3,1.5,0.49\n"),
        ("sd.csv", "x,value,sd\n3,1.5,0.7\n"),
        ("both.csv", "x,value,sd,variance\n3,1.5,0.7,0.49\n"),
        ("c.csv", "x\n3\n"),
    ];
    let files = files.map(|(name, text)| (name, text.as_bytes()));
    let folder = crate::harness::folder(&files);
    let path = folder.path();
    done(path, &["fit", "s.toml", "-o", "m.quadrat"]);
    let predicted = |rows: &str| {
        done(
            path,
            &[
                "tell",
                "m.quadrat",
                rows,
                "--kind",
                "point",
                "-o",
                "n.quadrat",
            ],
        );
        let asked = [
            "predict",
            "n.quadrat",
            "--at",
            "c.csv",
            "--point",
            "x",
            "-o",
            "p.csv",
        ];
        done(path, &asked);
        std::fs::read_to_string(path.join("p.csv")).unwrap()
    };
    let number = |table: &str| -> f64 {
        let row = table.lines().nth(1).unwrap();
        row.split(',').nth(2).unwrap().parse().unwrap()
    };
    let [a, b] = ["variance.csv", "sd.csv"].map(|rows| number(&predicted(rows)));
    // Rounding of the square.
    assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
    let told = quadrat(path, &["tell", "m.quadrat", "both.csv", "--kind", "point"]);
    assert_eq!(told.status.code(), Some(1));
    assert!(
        stderr(&told).contains("leave one of the columns out"),
        "{}",
        stderr(&told)
    );
}

/// A total of days that were fitted is left out as `run` leaves it out, and named.
#[test]
fn a_total_of_counts_that_are_known_tells_nothing() {
    let study = r#"[latent]
kernel = "matern52(t)"
[[observe]]
file = "t.csv"
support = { box = { t = ["from", "to"] } }
aggregate = "sum"
likelihood = { poisson = { count = "n" } }
[inference]
hyperparameters = "map"
"#;
    let days = "from,to,n\n0,1,18\n1,2,14\n2,3,22\n3,4,29\n";
    let files: [(&str, &[u8]); 3] = [
        ("s.toml", study.as_bytes()),
        ("t.csv", days.as_bytes()),
        ("more.csv", b"from,to,value\n0,4,83\n4,5,20\n"),
    ];
    let folder = folder(&files);
    let path = folder.path();
    done(path, &["fit", "s.toml", "-o", "m.quadrat"]);
    let tell = [
        "tell",
        "m.quadrat",
        "more.csv",
        "--kind",
        "t.csv",
        "--box",
        "t=from,to",
        "--aggregate",
        "sum",
        "-o",
        "after.quadrat",
    ];
    let output = quadrat(path, &tell);
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    let words = "1 row of counts is the total of others, which count the same events, and was left out: more.csv:2 of row 1 of `";
    assert!(told.contains(words), "{told}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("the model has 5 rows"), "{said}");
}
