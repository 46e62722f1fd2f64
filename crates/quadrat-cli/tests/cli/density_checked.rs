//! `--check mcmc` of densities.

use crate::harness::{done, folder, quadrat, stderr};

fn table() -> String {
    let mut out = "minutes,team\n".to_owned();
    for i in 0..40_u32 {
        let p = (f64::from(i * 7 % 40) + 0.5) / 40.0;
        let team = if i % 2 == 0 { "red" } else { "blue" };
        out.push_str(&format!("{},{team}\n", 40.0 + 3.0 * (p / (1.0 - p)).ln()));
    }
    out
}

/// Summary and JSON of the command; a study adds it to `fit.json`.
#[test]
fn a_density_is_set_beside_its_draws() {
    let study = "[density]\nfile = \"t.csv\"\ncolumn = \"minutes\"\ngrid = 30\n";
    let files = [("t.csv", table()), ("s.toml", study.to_owned())];
    let files = files
        .each_ref()
        .map(|(name, text)| (*name, text.as_bytes()));
    let folder = folder(&files);
    let asked = "density t.csv --column minutes --grid 30 --check mcmc --json";
    let asked: Vec<&str> = asked.split(' ').collect();
    let json: serde_json::Value = serde_json::from_str(&done(folder.path(), &asked)).unwrap();
    let mcmc = &json["mcmc"];
    assert_eq!(mcmc["hyperparameters"].as_array().unwrap().len(), 2);
    let cells = mcmc["log_density"].as_array().unwrap();
    assert_eq!(cells.len(), mcmc["places"].as_array().unwrap().len());
    // The tests of the library compare more; thousands of draws leave a tenth open.
    for cell in cells {
        let (fit, sampled) = (&cell["fit"], &cell["sampled"]);
        let away = fit["mean"].as_f64().unwrap() - sampled["mean"].as_f64().unwrap();
        assert!(away.abs() < 0.5 * sampled["sd"].as_f64().unwrap(), "{cell}");
    }
    let run = "run s.toml --check mcmc --draws 150 -o out";
    let text = done(folder.path(), &run.split(' ').collect::<Vec<_>>());
    for part in [
        "Check by sampling (4 chains of 150 draws each",
        "lengthscale",
        "log density of",
        "at worst (at ",
        "R-hat up to",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let json = std::fs::read_to_string(folder.path().join("out/fit.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["mcmc"]["draws"], 600);
}

/// Every group by its name; bands have none.
#[test]
fn groups_are_checked_one_by_one() {
    let bands = "[ungroup]\nfile = \"b.csv\"\nlower = \"from\"\nupper = \"to\"\ncount = \"n\"\n";
    let study = "[density]\nfile = \"t.csv\"\ncolumn = \"minutes\"\ngroup = \"team\"\ngrid = 20\n";
    let counts = "from,to,n\n0,10,5\n10,20,9\n";
    let files = [
        ("t.csv", table()),
        ("b.csv", counts.to_owned()),
        ("s.toml", study.to_owned()),
        ("bands.toml", bands.to_owned()),
    ];
    let files = files
        .each_ref()
        .map(|(name, text)| (*name, text.as_bytes()));
    let folder = folder(&files);
    let run = "run s.toml --check mcmc --draws 100 -o out";
    let text = done(folder.path(), &run.split(' ').collect::<Vec<_>>());
    for part in ["Check by sampling of red (", "Check by sampling of blue ("] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let json = std::fs::read_to_string(folder.path().join("out/fit.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["mcmc"][1]["group"], "blue");
    assert_eq!(json["mcmc"][1]["check"]["chains"], 4);
    let refused = quadrat(folder.path(), &["run", "bands.toml", "--check", "mcmc"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("--check"), "{}", stderr(&refused));
}
