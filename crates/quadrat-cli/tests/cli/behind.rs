//! Values behind observed rows, and reports of instruments with limits: tables, sums, draws,
//! figures, refusals.

use std::path::Path;

use crate::harness::{column, done, folder, none, quadrat, refused, stderr};

const CELLS: &str = "district,region,t,n,w\nash,north,0,9,52\nbeech,north,1,<5,15\ncedar,north,2,11,49\nelm,north,3,<5,24\nfir,south,4,6,31\nhazel,south,5,<5,9\nlarch,south,6,<5,19\nmaple,south,7,8,43\n";

const STUDY: &str = r#"[latent]
kernel = "matern32(t)"
[[observe]]
file = "cells.csv"
support = { point = ["t"] }
likelihood = { poisson = { count = "n", exposure = "w" } }
[[predict]]
name = "cells"
rows = "cells.csv"
scale = "row"
keep = ["district"]
above = [3, 8]
draws = 5
[[predict]]
name = "regions"
rows = "cells.csv"
scale = "row"
by = "region"
draws = 5
above = 40
[[predict]]
name = "all"
rows = "cells.csv"
scale = "row"
by = []
[[predict]]
name = "next"
scale = "report"
exposure = "w"
above = 4
support = { file = "cells.csv", point = ["t"] }
[[predict]]
name = "value"
scale = "observation"
exposure = "w"
above = 4
support = { file = "cells.csv", point = ["t"] }
[inference]
hyperparameters = "map"
"#;

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join("out").join(name)).unwrap()
}

#[test]
fn hidden_cells_have_tables_sums_draws_and_figures() {
    let folder = folder(&[
        ("s.toml", STUDY.as_bytes()),
        ("cells.csv", CELLS.as_bytes()),
    ]);
    let path = folder.path();
    let said = done(path, &["run", "s.toml", "-o", "out"]);
    assert!(said.contains("cells (row, 95 % interval)"), "{said}");
    let cells = text(path, "cells.csv");
    let header = "district,t,mean,sd,lower,median,upper,above_3,above_8,draw_1";
    assert!(cells.starts_with(header), "{cells}");
    let get = |name: &str, of: &str| column(path, name, of);
    let (mean, sd) = (get("cells", "mean"), get("cells", "sd"));
    let (lower, upper) = (get("cells", "lower"), get("cells", "upper"));
    for row in 0..8 {
        let hidden = [1, 3, 5, 6].contains(&row);
        assert_eq!(sd[row] > 0.0, hidden, "{cells}");
        if hidden {
            assert!(lower[row] >= 0.0 && upper[row] <= 4.0, "{cells}");
            assert!(mean[row] > 0.0 && mean[row] < 4.0);
        }
    }
    assert_eq!(
        (
            mean[0],
            get("cells", "above_8")[0],
            get("cells", "above_8")[1]
        ),
        (9.0, 1.0, 0.0)
    );
    // A draw of a region is the sum of the same draw of its cells.
    for draw in 1..=5 {
        let name = format!("draw_{draw}");
        let (own, sums) = (get("cells", &name), get("regions", &name));
        assert_eq!(sums, [own[..4].iter().sum::<f64>(), own[4..].iter().sum()]);
        assert!(own.iter().all(|y| y.fract() == 0.0));
    }
    let regions = text(path, "regions.csv");
    assert!(
        regions.starts_with("region,mean,sd,lower,median,upper,above_40,draw_1"),
        "{regions}"
    );
    assert!(
        regions.contains("\nnorth,") && regions.contains("\nsouth,"),
        "{regions}"
    );
    let all = text(path, "all.csv");
    assert!(
        all.starts_with("mean,sd,lower,median,upper\n") && all.lines().count() == 2,
        "{all}"
    );
    let (sum, parts) = (get("all", "mean")[0], get("regions", "mean"));
    // The same numbers added up in another order.
    assert!(
        (sum - parts.iter().sum::<f64>()).abs() < 1e-9
            && (sum - mean.iter().sum::<f64>()).abs() < 1e-9
    );
    // Sums of eight counts between 0 and 4 and those that were told.
    assert!(
        get("all", "lower")[0] >= 34.0 && get("all", "upper")[0] <= 50.0,
        "{all}"
    );
    let report = text(path, "report.html");
    for words in [
        "Values behind observed rows",
        "Sums of the values behind observed rows",
        "beech",
    ] {
        assert!(report.contains(words), "{words}");
    }
    for figure in ["cells.svg", "regions.svg", "all.svg"] {
        assert!(path.join("out").join(figure).exists(), "{figure}");
    }
    // A hidden count stands as 4 in the report of a new one; the chance of being shown is the same.
    let (report, value) = (get("next", "mean"), get("value", "mean"));
    for row in 0..8 {
        assert!(report[row] > value[row] && get("next", "lower")[row] >= 4.0);
        assert!((get("next", "above_4")[row] - get("value", "above_4")[row]).abs() < 1e-12);
    }
}

/// A gauge that stops at zero, of which the study says so; and a sensor that says so in its cells.
#[test]
fn reports_of_new_rows_stay_within_limits() {
    let rain = "from,to,mm,s\n0,1,3.2,<0.8\n1,2,0,1.2\n2,5,9.1,<0.8\n5,6,0,2.5\n6,7,2.4,1.9\n7,8,0,<0.8\n8,9,0.6,1.1\n";
    let study = |likelihood: &str, scale: &str| {
        format!(
            "[latent]\nkernel = \"matern32(d)\"\n[[observe]]\nfile = \"rain.csv\"\nname = \"gauge\"\nsupport = {{ box = {{ d = [\"from\", \"to\"] }} }}\naggregate = \"mean\"\nlikelihood = {{ {likelihood} }}\n[[predict]]\nname = \"p\"\nscale = \"{scale}\"\nabove = 0.8\nsupport = {{ grid = {{ d = {{ from = 0, to = 9, step = 1, cells = true }} }} }}\naggregate = \"mean\"\n[inference]\nhyperparameters = \"map\"\n"
        )
    };
    let gauge = "censored = { value = \"mm\", lower = 0 }";
    let cells = "censored = { value = \"s\" }";
    for (likelihood, limit) in [(gauge, 0.0), (cells, 0.8)] {
        let text = study(likelihood, "report");
        let other = study(likelihood, "observation");
        let folder = folder(&[
            ("s.toml", text.as_bytes()),
            ("o.toml", other.as_bytes()),
            ("rain.csv", rain.as_bytes()),
        ]);
        let path = folder.path();
        done(path, &["run", "o.toml", "-o", "out"]);
        let (mean, sd) = (column(path, "p", "mean"), column(path, "p", "sd"));
        let above = column(path, "p", "above_0.8");
        done(path, &["run", "s.toml", "-o", "out"]);
        let found = column(path, "p", "mean");
        for (row, (m, s)) in mean.iter().zip(&sd).enumerate() {
            let z = (m - limit) / s;
            let cdf = quadrat::special::scalar::normal_cdf(z);
            let right = limit + (m - limit) * cdf + s * quadrat::special::scalar::normal_pdf(z);
            // Numbers of order one, written to all their digits.
            assert!(
                (found[row] - right).abs() < 1e-9,
                "{likelihood} {row}: {} {right}",
                found[row]
            );
        }
        assert!(column(path, "p", "lower").iter().all(|y| *y >= limit));
        assert_eq!(column(path, "p", "above_0.8"), above);
        // The saved model knows the limits too.
        done(path, &["fit", "s.toml", "-o", "m.quadrat"]);
        let flags = [
            "--at",
            "rain.csv",
            "--box",
            "d=from,to",
            "--aggregate",
            "mean",
        ];
        let flags = [
            &["predict", "m.quadrat"][..],
            &flags,
            &["--scale", "report"],
        ]
        .concat();
        let table = done(path, &flags);
        let lower = table.lines().skip(1).map(|line| {
            let cells: Vec<f64> = line.split(',').map(|c| c.parse().unwrap()).collect();
            cells[4]
        });
        assert!(
            lower.clone().all(|y| y >= limit) && lower.count() == 7,
            "{table}"
        );
    }
}

/// Two instruments of different limits: the study says which report is meant.
#[test]
fn instruments_of_different_limits_are_chosen_by_name() {
    let rows = "t,a,b\n0,1.0,1.1\n1,<0.5,0.4\n2,1.4,1.3\n3,0.9,<0.2\n4,<0.5,0.3\n5,0.8,0.7\n";
    let study = |more: &str| {
        let table = |name: &str, column: &str| {
            format!(
                "[[observe]]\nfile = \"d.csv\"\nname = \"{name}\"\nsupport = {{ point = [\"t\"] }}\nlikelihood = {{ censored = {{ value = \"{column}\", variance = 0.04 }} }}\n"
            )
        };
        format!(
            "[latent]\nkernel = \"matern32(t)\"\n{}{}[[predict]]\nname = \"p\"\n{more}\nsupport = {{ file = \"d.csv\", point = [\"t\"] }}\n[inference]\nhyperparameters = \"map\"\n",
            table("coarse", "a"),
            table("fine", "b")
        )
    };
    let files: [(&str, &[u8]); 1] = [("d.csv", rows.as_bytes())];
    // Values are alike, reports are not.
    let text = study("scale = \"observation\"");
    let one = folder(&[("s.toml", text.as_bytes()), files[0]]);
    done(one.path(), &["run", "s.toml", "-o", "out"]);
    let mut wrong = Vec::new();
    wrong.extend(
        refused(
            "no name",
            &study("scale = \"report\""),
            &files,
            &["new reports differ", "as = \"coarse\""],
        )
        .err(),
    );
    none(&wrong);
    for (name, limit) in [("coarse", 0.5), ("fine", 0.2)] {
        let text = study(&format!("scale = \"report\"\nas = \"{name}\""));
        let folder = folder(&[("s.toml", text.as_bytes()), files[0]]);
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        let lower = column(folder.path(), "p", "lower");
        assert_eq!(
            lower.iter().copied().fold(f64::INFINITY, f64::min),
            limit,
            "{name}"
        );
    }
}

/// Privacy-noised totals, rows of two outputs, and rows that follow from others.
#[test]
fn noisy_totals_and_outputs_and_rows_left_out() {
    let rows = "from,to,y,v,site\n0,1,4.0,1,a\n1,2,-0.5,1,a\n2,3,3.0,0,a\n3,4,5.0,0,a\n2,4,8.0,0,a\n0,1,2.0,1,b\n1,2,2.5,1,b\n2,3,1.0,1,b\n";
    let study = "[latent]\nkernel = \"matern32(t)\"\nnon_negative = \"truncate\"\n[[observe]]\nfile = \"d.csv\"\nsupport = { box = { t = [\"from\", \"to\"] } }\naggregate = \"sum\"\noutput_column = \"site\"\nlikelihood = { gaussian = { value = \"y\", variance = \"v\" } }\n[[predict]]\nname = \"p\"\nrows = \"d.csv\"\nscale = \"row\"\ndraws = 2\n[[predict]]\nname = \"sums\"\nrows = \"d.csv\"\nscale = \"row\"\nby = []\noutput = \"a\"\ndraws = 2\n[inference]\nhyperparameters = \"map\"\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", rows.as_bytes())]);
    let path = folder.path();
    done(path, &["run", "s.toml", "-o", "out"]);
    let table = text(path, "p.csv");
    assert!(table.starts_with("output,from,to,mean,sd,"), "{table}");
    assert_eq!(table.lines().count(), 9, "{table}");
    let (mean, sd) = (column(path, "p", "mean"), column(path, "p", "sd"));
    // The total of two exact rows follows from them, and is told all the same.
    assert_eq!((mean[4], sd[4], mean[2], sd[2]), (8.0, 0.0, 3.0, 0.0));
    assert!(column(path, "p", "lower").iter().all(|y| *y >= 0.0) && mean[1] > 0.0);
    let sum: f64 = mean[..5].iter().sum();
    assert!((column(path, "sums", "mean")[0] - sum).abs() < 1e-9);
    let drawn: f64 = column(path, "p", "draw_2")[..5].iter().sum();
    assert!((column(path, "sums", "draw_2")[0] - drawn).abs() < 1e-9);
}

#[test]
fn what_cannot_be_asked_of_rows_is_refused() {
    let files: [(&str, &[u8]); 1] = [("cells.csv", CELLS.as_bytes())];
    let with = |predict: &str| {
        let at = STUDY.find("[[predict]]").unwrap();
        format!("{}[[predict]]\nname = \"p\"\n{predict}\n", &STUDY[..at])
    };
    let rows = "rows = \"cells.csv\"\nscale = \"row\"\n";
    let of = |key: &str| with(&format!("{rows}{key}"));
    let cases: Vec<(&str, String, &[&str])> = vec![
        (
            "no rows",
            with("scale = \"row\""),
            &["no table is named", "s.toml:9"],
        ),
        (
            "no scale",
            with("rows = \"cells.csv\""),
            &["`rows` needs `scale = \"row\"`"],
        ),
        (
            "other scale",
            with("rows = \"cells.csv\"\nscale = \"latent\""),
            &["which is the scale `row`"],
        ),
        (
            "by alone",
            with("by = []\nsupport = { file = \"cells.csv\", point = [\"t\"] }"),
            &["`by` adds up observed rows"],
        ),
        (
            "other file",
            with("rows = \"cell.csv\"\nscale = \"row\""),
            &["no [[observe]] reads `cell.csv`; did you mean `cells.csv`?"],
        ),
        (
            "support",
            of("support = { file = \"cells.csv\", point = [\"t\"] }"),
            &["`support` has no meaning beside `rows`", "s.toml:11"],
        ),
        (
            "exposure",
            of("exposure = \"w\""),
            &["have their exposures already"],
        ),
        (
            "ranks",
            of("ranks = true"),
            &["the rank of an observed row is known"],
        ),
        (
            "as",
            of("as = \"cells.csv\""),
            &["`rows` names the table already"],
        ),
        (
            "keep and by",
            of("keep = [\"n\"]\nby = \"region\""),
            &["leave `keep` out"],
        ),
        (
            "no column",
            of("by = \"regions\""),
            &["regions", "did you mean `region`?"],
        ),
        (
            "twice",
            of("by = [\"region\", \"region\"]"),
            &["the column `region` is given twice"],
        ),
        (
            "number",
            of("by = 3"),
            &["`by` must be a column or an array of columns"],
        ),
        (
            "column of that name",
            of("keep = [\"t\"]"),
            &["two columns named `t`"],
        ),
        (
            "draws",
            of("draws = 0"),
            &["`draws` must be a whole number"],
        ),
    ];
    let mut wrong: Vec<String> = Vec::new();
    for (name, study, expected) in &cases {
        wrong.extend(refused(name, study, &files, expected).err());
    }
    none(&wrong);
}

#[test]
fn tables_whose_rows_tell_no_value_are_refused() {
    let files: [(&str, &[u8]); 1] = [("cells.csv", CELLS.as_bytes())];
    let at = STUDY.find("[[predict]]").unwrap();
    let plain = format!(
        "{}[[predict]]\nname = \"p\"\nrows = \"cells.csv\"\nscale = \"row\"\n",
        &STUDY[..at]
    );
    let mut wrong: Vec<String> = Vec::new();
    let replaced = |from: &str, to: &str| plain.replace(from, to);
    let more: Vec<(&str, String, &[&str])> = vec![
        (
            "times",
            replaced("[[predict]]", "times = \"w\"\n[[predict]]"),
            &["were seen several times", "write out every row"],
        ),
        (
            "positive",
            replaced("[[predict]]", "[[observe]]\nname = \"signs\"\nfile = \"cells.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { positive = {} }\n[[predict]]")
                .replace("rows = \"cells.csv\"", "rows = \"signs\"")
                .replace("poisson = { count = \"n\", exposure = \"w\" }", "gaussian = { value = \"w\" }"),
            &["have no value behind them"],
        ),
        (
            "several tables",
            replaced("[[predict]]", "[[observe]]\nfile = \"cells.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { poisson = { count = \"w\" } }\n[[predict]]"),
            &["several [[observe]] read `cells.csv`"],
        ),
        (
            "report of bands",
            replaced("poisson = { count = \"n\", exposure = \"w\" }", "interval = { lower = \"t\", upper = \"w\" }")
                .replace("rows = \"cells.csv\"\nscale = \"row\"", "scale = \"report\"\nsupport = { file = \"cells.csv\", point = [\"t\"] }"),
            &["there is no scale `report` here", "exceeds each edge"],
        ),
        (
            "report of columns",
            replaced("poisson = { count = \"n\", exposure = \"w\" }", "censored = { value = \"w\", lower = \"t\" }")
                .replace("rows = \"cells.csv\"\nscale = \"row\"", "scale = \"report\"\nsupport = { file = \"cells.csv\", point = [\"t\"] }"),
            &["limits of this instrument are columns"],
        ),
    ];
    for (name, study, expected) in &more {
        wrong.extend(refused(name, study, &files, expected).err());
    }
    let folder = folder(&[("s.toml", STUDY.as_bytes()), files[0]]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let output = quadrat(
        folder.path(),
        &[
            "predict",
            "m.quadrat",
            "--at",
            "cells.csv",
            "--point",
            "t",
            "--scale",
            "row",
        ],
    );
    if !stderr(&output).contains("is asked in a study") || output.status.code() != Some(1) {
        wrong.push(stderr(&output));
    }
    none(&wrong);
}
