//! `quadrat score`: scores, their table, and that nothing held out is seen.

use std::collections::HashMap;
use std::path::Path;

use crate::harness::{done, folder};

/// A study of one table with a likelihood over points.
fn points(likelihood: &str) -> String {
    format!(
        "[latent]\nkernel = \"se(x)\"\n[[observe]]\nfile = \"rows.csv\"\nsupport = {{ point = [\"x\"] }}\nlikelihood = {{ {likelihood} }}\n[inference]\nhyperparameters = \"map\"\n"
    )
}

/// Rows of a wave at x = 0, 1, .., with a column of noise that repeats.
fn wave(rows: usize) -> Vec<(f64, f64)> {
    let noise = [0.3, -0.8, 0.5, 0.1, -0.4, 0.9, -0.6, 0.2, -0.1, -0.3];
    let at = |i: usize| i as f64;
    (0..rows)
        .map(|i| (at(i), 3.0 * (at(i) / 4.0).sin() + noise[i * 7 % 10]))
        .collect()
}

fn table(rows: &[(f64, f64)]) -> String {
    let lines = rows.iter().map(|(x, y)| format!("{x},{y}\n"));
    format!("x,y\n{}", lines.collect::<String>())
}

/// The scores in a table, by method and score: value, standard error, p-value.
fn scores(path: &Path) -> HashMap<(String, String), [Option<f64>; 3]> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("method,score,value,se,p_value"));
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), 5, "{line}");
        let number = |at: usize| cells[at].parse().ok();
        let key = (cells[0].to_owned(), cells[1].to_owned());
        (key, [number(2), number(3), number(4)])
    };
    lines.map(line).collect()
}

/// Ours on a row, by the table of predictions: mean and sd as they are written.
fn told(path: &Path, row: &str) -> (String, String) {
    let text = std::fs::read_to_string(path).unwrap();
    let is_it = |line: &&str| line.starts_with(&format!("quadrat,{row},"));
    let line = text.lines().find(is_it).unwrap();
    let cells: Vec<&str> = line.split(',').collect();
    (cells[5].to_owned(), cells[6].to_owned())
}

const ASK: [&str; 6] = ["score", "s.toml", "-o", "o.csv", "--predictions", "p.csv"];

fn run(study: &str, rows: &str, more: &[&str]) -> (tempfile::TempDir, String) {
    let folder = folder(&[("s.toml", study.as_bytes()), ("rows.csv", rows.as_bytes())]);
    let args: Vec<&str> = ASK.iter().chain(more).copied().collect();
    let said = done(folder.path(), &args);
    (folder, said)
}

#[test]
fn a_smooth_wave_is_told_better_than_by_its_mean() {
    let rows = wave(30);
    let (first, said) = run(&points("gaussian = { value = \"y\" }"), &table(&rows), &[]);
    assert!(said.contains("quadrat is better than constant"), "{said}");
    let all = scores(&first.path().join("o.csv"));
    let of = |method: &str, score: &str| all[&(method.to_owned(), score.to_owned())];
    assert!(of("quadrat", "crps")[0] < of("constant", "crps")[0]);
    assert!(of("constant", "crps")[2].unwrap() < 0.001);
    assert_eq!(of("quadrat", "crps")[2], None);
    assert!(of("quadrat", "coverage_95")[2].is_some());
    // The mean of the others, by hand from the folds that are told.
    let text = std::fs::read_to_string(first.path().join("p.csv")).unwrap();
    let constant = text.lines().filter(|line| line.starts_with("constant,"));
    let cells: Vec<Vec<String>> = constant
        .map(|l| l.split(',').map(str::to_owned).collect())
        .collect();
    let mut squares = 0.0;
    for (at, (_, y)) in rows.iter().enumerate() {
        let fold = &cells[at][2];
        let others = (0..rows.len()).filter(|&i| &cells[i][2] != fold);
        let others: Vec<f64> = others.map(|i| rows[i].1).collect();
        let mean = others.iter().sum::<f64>() / others.len() as f64;
        // Sums of 27 numbers in another order.
        assert!((cells[at][5].parse::<f64>().unwrap() - mean).abs() < 1e-12);
        squares += (y - mean).powi(2);
    }
    let mse = of("constant", "mse")[0].unwrap();
    assert!((mse - squares / 30.0).abs() < 1e-12 * mse);
    // The same seed, the same folds, the same numbers.
    let (again, _) = run(&points("gaussian = { value = \"y\" }"), &table(&rows), &[]);
    let bytes = |folder: &tempfile::TempDir| std::fs::read(folder.path().join("o.csv")).unwrap();
    assert_eq!(bytes(&first), bytes(&again));
}

/// A value that is held out may be anything: what is told of it stays the same to the last digit,
/// whatever the way in which rows are held out.
#[test]
fn what_is_held_out_is_never_seen() {
    let study = points("gaussian = { value = \"y\" }");
    for by in [
        &["--by", "rows", "--folds", "4"][..],
        &["--by", "block", "--folds", "3"],
    ] {
        let mut rows = wave(16);
        let before = run(&study, &table(&rows), by).0;
        rows[5].1 = 1e6;
        let after = run(&study, &table(&rows), by).0;
        let of = |folder: &tempfile::TempDir| told(&folder.path().join("p.csv"), "6");
        assert_eq!(of(&before), of(&after), "{by:?}");
        let other = |folder: &tempfile::TempDir| told(&folder.path().join("p.csv"), "15");
        assert_ne!(other(&before), other(&after), "{by:?}");
    }
}

/// A total beside its parts: differences of overlapping counts are made anew without what is held
/// out, so that a part's own count tells nothing of it.
#[test]
fn totals_do_not_betray_counts_that_are_held_out() {
    let study = "[latent]\nkernel = \"se(x)\"\nlink = \"exp\"\n[[observe]]\nfile = \"rows.csv\"\nsupport = { box = { x = [\"a\", \"b\"] } }\naggregate = \"sum\"\nlikelihood = { poisson = { count = \"n\" } }\n[[observe]]\nfile = \"whole.csv\"\nsupport = { box = { x = [\"a\", \"b\"] } }\naggregate = \"sum\"\nlikelihood = { poisson = { count = \"n\" } }\n[inference]\nhyperparameters = \"map\"\n";
    let rows = |third: u32| format!("a,b,n\n0,1,20\n1,2,25\n2,3,{third}\n3,4,31\n4,5,28\n5,6,19\n");
    let of = |third: u32| {
        let rows = rows(third);
        let files = [
            ("s.toml", study.as_bytes()),
            ("rows.csv", rows.as_bytes()),
            ("whole.csv", b"a,b,n\n0,6,150\n".as_slice()),
        ];
        let folder = folder(&files);
        let args: Vec<&str> = ASK.iter().chain(&["--folds", "6"]).copied().collect();
        done(folder.path(), &args);
        told(&folder.path().join("p.csv"), "3")
    };
    assert_eq!(of(27), of(3));
}

/// Noise that is said to be a tenth of what it is: intervals hold too few, and that is told.
#[test]
fn a_planted_miscalibration_is_found() {
    // Sums of twelve uniform numbers less six: nearly normal, with variance one.
    let mut state = 7_u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut noisy = wave(80);
    for (x, y) in &mut noisy {
        let sum: f64 = (0..12).map(|_| uniform()).sum();
        *y = 3.0 * (*x / 8.0).sin() + sum - 6.0;
    }
    let rows = table(&noisy);
    let known = "[hyperparameters]\n\"se.lengthscale.x\" = { value = 10, fixed = true }\n\"se.variance\" = { value = 5, fixed = true }\n";
    let coverage = |variance: &str| {
        let study = points(&format!(
            "gaussian = {{ value = \"y\", variance = {variance} }}"
        ));
        let (folder, said) = run(&(study + known), &rows, &["--against", "constant"]);
        let all = scores(&folder.path().join("o.csv"));
        let key = ("quadrat".to_owned(), "coverage_95".to_owned());
        (all[&key], said)
    };
    let (right, said) = coverage("1");
    assert!(right[2].unwrap() > 0.01, "{right:?}");
    assert!(said.contains("as they should"), "{said}");
    let (wrong, said) = coverage("0.1");
    assert!(
        wrong[2].unwrap() < 1e-6 && wrong[0].unwrap() < 0.8,
        "{wrong:?}"
    );
    assert!(said.contains("intervals are too narrow"), "{said}");
}

/// Five-year bands and the single years beneath them.
#[test]
fn true_values_judge_one_fit_beside_areal_and_mono() {
    let study = "[latent]\nkernel = \"se(age)\"\n[[observe]]\nfile = \"rows.csv\"\nsupport = { box = { age = [\"from\", \"to\"] } }\naggregate = \"sum\"\nlikelihood = { gaussian = { value = \"people\", variance = 1 } }\n[[predict]]\nname = \"years\"\nsupport = { grid = { age = { from = 0, to = 40, step = 1, cells = true } } }\naggregate = \"sum\"\n";
    let people = |year: i32| 100.0 + 60.0 * (f64::from(year) / 6.0).sin();
    let mut bands = String::from("from,to,people\n");
    for band in 0..8 {
        let sum: f64 = (5 * band..5 * band + 5).map(people).sum();
        bands.push_str(&format!("{},{},{sum}\n", 5 * band, 5 * band + 5));
    }
    // By the columns of the prediction, and by those of the table; in another order.
    for (lower, upper) in [("age_lower", "age_upper"), ("from", "to")] {
        let mut truth = format!("{upper},people,{lower}\n");
        for year in (0..40).rev() {
            truth.push_str(&format!("{},{},{year}\n", year + 1, people(year)));
        }
        let folder = folder(&[
            ("s.toml", study.as_bytes()),
            ("rows.csv", bands.as_bytes()),
            ("truth.csv", truth.as_bytes()),
        ]);
        let others = "mono,sprague,areal,pclm,pycnophylactic,centroid";
        let args = ["--truth", "truth.csv", "--against", others];
        let args: Vec<&str> = ASK.iter().chain(&args).copied().collect();
        let said = done(folder.path(), &args);
        assert!(said.contains("40 true values of `truth.csv`"), "{said}");
        let all = scores(&folder.path().join("o.csv"));
        let mse = |method: &str| all[&(method.to_owned(), "mse".to_owned())][0].unwrap();
        // Areal by hand: every year a fifth of its band.
        let by_hand: f64 = (0..40)
            .map(|year| {
                let band: f64 = (year / 5 * 5..year / 5 * 5 + 5).map(people).sum();
                (people(year) - band / 5.0).powi(2)
            })
            .sum();
        assert!((mse("areal") - by_hand / 40.0).abs() < 1e-9);
        for smooth in ["mono", "pclm", "pycnophylactic"] {
            assert!(mse("quadrat") < mse(smooth), "{smooth}");
            assert!(mse(smooth) < mse("areal"), "{smooth}");
        }
        assert!(mse("sprague") < mse("areal"));
        // The middle of a band stands for it: its height is right on average alone.
        assert!(mse("quadrat") < mse("centroid"));
        assert!(!all.contains_key(&("constant".to_owned(), "mse".to_owned())));
    }
}

/// Rows of a group are held out together, and count as one where methods are compared.
#[test]
fn rows_are_held_out_by_a_column() {
    let lines = wave(24);
    let lines = lines.iter().enumerate();
    let lines = lines.map(|(i, (x, y))| format!("{x},{y},s{}\n", i % 4));
    let rows = format!("x,y,site\n{}", lines.collect::<String>());
    let study = points("gaussian = { value = \"y\" }");
    let (folder, said) = run(&study, &rows, &["--by", "site"]);
    assert!(said.contains("4 folds, by `site`"), "{said}");
    let text = std::fs::read_to_string(folder.path().join("p.csv")).unwrap();
    let ours = text.lines().filter(|line| line.starts_with("quadrat,"));
    let folds: Vec<&str> = ours.map(|line| line.split(',').nth(2).unwrap()).collect();
    assert!((0..24).all(|i| folds[i] == folds[i % 4]));
    // Two-sided, of four units: 2 / 2^4 is the least there is.
    let all = scores(&folder.path().join("o.csv"));
    let p = all[&("constant".to_owned(), "crps".to_owned())][2].unwrap();
    assert!(p >= 0.125, "{p}");
}

/// Every kind of row can be held out: its noise, exposure and trials are its own.
#[test]
fn every_kind_of_row_is_judged() {
    let rows = "x,y,v,n,of,yes,lo,hi,rank\n0,2.1,0.1,3,9,1,1,3,1\n1,2.9,0.2,5,9,1,2,4,2\n2,3.2,0.1,4,8,0,2,4,2\n3,4.1,0.4,7,9,1,3,5,3\n4,4.0,0.1,6,7,1,3,5,3\n5,3.1,0.2,3,9,0,2,4,2\n6,2.2,0.3,2,8,0,1,3,1\n7,1.8,0.1,1,9,0,1,3,1\n8,2.5,0.2,4,9,1,2,3,2\n";
    for (likelihood, score) in [
        ("gaussian = { value = \"y\", variance = \"v\" }", "crps"),
        (
            "gaussian = { value = \"y\", variance = \"v\", extra = \"learn\" }",
            "crps",
        ),
        (
            "gaussian = { value = \"y\", variance = \"v\", link = \"exp\" }",
            "crps",
        ),
        ("laplace = { value = \"y\", scale = \"v\" }", "crps"),
        ("student_t = { value = \"y\" }", "crps"),
        ("lognormal = { value = \"y\" }", "log_mse"),
        ("gamma = { value = \"y\" }", "log_mse"),
        ("exponential = { value = \"y\" }", "nll"),
        ("poisson = { count = \"n\", exposure = \"of\" }", "nll"),
        (
            "negative_binomial = { count = \"n\", exposure = \"of\" }",
            "nll",
        ),
        ("binomial = { successes = \"n\", trials = \"of\" }", "nll"),
        ("bernoulli = { value = \"yes\" }", "nll"),
        ("interval = { lower = \"lo\", upper = \"hi\" }", "nll"),
        ("censored = { value = \"y\", lower = 2 }", "nll"),
        (
            "ordinal = { rank = \"rank\", thresholds = [2.5, 3.5] }",
            "nll",
        ),
    ] {
        let folder = run(&points(likelihood), rows, &["--folds", "3"]).0;
        let all = scores(&folder.path().join("o.csv"));
        let ours = all.get(&("quadrat".to_owned(), score.to_owned()));
        let value = ours.and_then(|ours| ours[0]);
        assert!(value.is_some_and(f64::is_finite), "{likelihood}: {all:?}");
    }
}
