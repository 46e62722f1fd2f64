//! Sparse fits that are stopped or killed, and go on.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{column, done, fit, folder, interrupt, names, quadrat, stderr};

/// By `taylor`, since else dense inference learns the hyperparameters of so few rows, and keeps
/// nothing.
const STUDY: &str = r#"[latent]
kernel = "se(u, v)"
[[observe]]
file = "cases.csv"
support = { bag = { file = "pixels.csv", key = "district", dims = ["u", "v"], weight = "people" } }
aggregate = "sum"
likelihood = { poisson = { count = "cases" } }
[[predict]]
name = "all"
support = { file = "cases.csv", bag = { file = "pixels.csv", key = "district", dims = ["u", "v"], weight = "people" } }
aggregate = "sum"
[inference]
method = "sparse"
inducing = 80
log_sum = "taylor"
"#;

/// Two hundred districts of forty pixels: a fit of some seconds.
fn country() -> tempfile::TempDir {
    let (mut pixels, mut cases) = (
        String::from("district,u,v,people\n"),
        String::from("district,cases\n"),
    );
    for district in 0..200_u32 {
        let (x, y) = (f64::from(district % 20), f64::from(district / 20));
        let mut total = 0.0;
        for pixel in 0..40_u32 {
            let u = x + f64::from(pixel % 8) / 8.0;
            let v = y + f64::from(pixel / 8) / 5.0;
            let people = f64::from(1 + (district * 31 + pixel * 17) % 9);
            total += people * (0.4 * (0.6 * u).sin() + 0.3 * (0.9 * v).cos() - 2.0).exp();
            pixels.push_str(&format!("{district},{u},{v},{people}\n"));
        }
        let scatter = f64::from((district * 7919) % 7) - 3.0;
        cases.push_str(&format!(
            "{district},{}\n",
            (total + scatter).max(0.0).round()
        ));
    }
    folder(&[
        ("s.toml", STUDY.as_bytes()),
        ("pixels.csv", pixels.as_bytes()),
        ("cases.csv", cases.as_bytes()),
    ])
}

/// A run that has kept something.
fn begun(folder: &Path, more: &[&str]) -> Child {
    let args = [&["run", "s.toml", "-o", "out"], more].concat();
    keeping(folder, &args, "out.checkpoint")
}

/// A command that has kept something.
fn keeping(folder: &Path, args: &[&str], checkpoint: &str) -> Child {
    let said = std::fs::File::create(folder.join("said.txt")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_quadrat"))
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(said)
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !folder.join(checkpoint).exists() {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "nothing was kept"
        );
        assert!(
            child.try_wait().unwrap().is_none(),
            "it was over before it kept anything"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// A run that was killed when it had kept something so many times, and what it had kept last:
/// whole.
#[cfg(unix)]
fn killed_after(folder: &Path, more: &[&str], times: usize) -> Vec<u8> {
    let file = folder.join("out.checkpoint");
    let before = std::fs::read(&file).ok();
    let args = [&["run", "s.toml", "-o", "out"], more].concat();
    let mut child = Command::new(env!("CARGO_BIN_EXE_quadrat"))
        .args(args)
        .env("QUADRAT_CHECKPOINT_SECONDS", "0")
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let (mut last, mut seen) = (before, 0);
    while seen < times {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "kept {seen} times"
        );
        assert!(
            child.try_wait().unwrap().is_none(),
            "over after {seen} times"
        );
        let now = std::fs::read(&file).ok();
        if now.is_some() && now != last {
            (last, seen) = (now, seen + 1);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::read(&file).unwrap()
}

fn objective(folder: &Path) -> f64 {
    fit(folder)["log_posterior"].as_f64().unwrap_or(f64::NAN)
}

#[cfg(unix)]
#[test]
fn a_run_that_was_killed_goes_on_to_the_same_answer() {
    let folder = country();
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    // Nothing of what was kept is left.
    assert_eq!(
        names(folder.path()),
        ["cases.csv", "out", "pixels.csv", "s.toml"]
    );
    let whole = objective(folder.path());
    let [mean, sd] = ["mean", "sd"].map(|name| column(folder.path(), "all", name));
    std::fs::remove_dir_all(folder.path().join("out")).unwrap();

    // Before the first step, then while what was found so far is written again and again.
    let kept = killed_after(folder.path(), &[], 1);
    let later = killed_after(folder.path(), &["--resume"], 4);
    assert_ne!(kept, later);
    // At most the folder, which it had taken.
    let left = std::fs::read_dir(folder.path().join("out"));
    assert!(left.is_ok_and(|mut left| left.next().is_none()));
    let refused = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = stderr(&refused);
    assert!(
        said.contains("of a fit that was not finished") && said.contains("--resume"),
        "{said}"
    );

    done(folder.path(), &["run", "s.toml", "-o", "out", "--resume"]);
    // Searches end when a step gains less than 1e-4 nats.
    let again = objective(folder.path());
    assert!((again - whole).abs() < 1e-3, "{again} {whole}");
    // Where the objective ends within 1e-3 nats of its top, beliefs are within .05 of their sds,
    // and sds within as much.
    let [mean_again, sd_again] = ["mean", "sd"].map(|name| column(folder.path(), "all", name));
    for i in 0..mean.len() {
        assert!(
            (mean_again[i] - mean[i]).abs() < 0.05 * sd[i],
            "{i}: {} {}",
            mean_again[i],
            mean[i]
        );
        assert!(
            (sd_again[i] / sd[i] - 1.0).abs() < 0.05,
            "{i}: {} {}",
            sd_again[i],
            sd[i]
        );
    }
    assert!(!folder.path().join("out.checkpoint").exists());
}

#[cfg(unix)]
#[test]
fn an_interruption_keeps_the_best_so_far() {
    let folder = country();
    let mut child = begun(folder.path(), &[]);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let json = fit(folder.path());
    assert_eq!(json["converged"], false, "{json}");
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("stopped after"), "{warnings}");
    let stopped = objective(folder.path());
    assert!(folder.path().join("out.checkpoint").exists());
    done(folder.path(), &["run", "s.toml", "-o", "out", "--resume"]);
    assert_eq!(fit(folder.path())["converged"], true);
    // What a fit may leave to gain, in nats.
    assert!(objective(folder.path()) >= stopped - 1e-6);
}

#[cfg(unix)]
#[test]
fn predictions_of_a_fit_that_was_stopped_say_so() {
    let folder = country();
    let args = ["fit", "s.toml", "-o", "m.quadrat"];
    let mut child = keeping(folder.path(), &args, "m.quadrat.checkpoint");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let args = [
        "predict",
        "m.quadrat",
        "--at",
        "pixels.csv",
        "--point",
        "u,v",
    ];
    let output = quadrat(folder.path(), &args);
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(
        said.contains("`m.quadrat` is of a fit that was not over")
            && said.contains("stopped after"),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn a_second_interruption_tells_what_is_left() {
    let folder = country();
    let mut child = begun(folder.path(), &[]);
    // Between two passes the first is not yet heard; where it is, it may be over before the second.
    interrupt(&child);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let said = std::fs::read_to_string(folder.path().join("said.txt")).unwrap();
    if !folder.path().join("out").exists() {
        assert!(
            said.contains(
                "nothing was written; `out.checkpoint` holds where the fit stood: --resume goes on"
            ),
            "{said}"
        );
    }
    assert!(folder.path().join("out.checkpoint").exists(), "{said}");
    assert!(said.contains("--resume goes on"), "{said}");
}

#[test]
fn going_on_from_nothing_is_refused() {
    let folder = country();
    let refuse = |args: &[&str], expected: &str| {
        let output = quadrat(folder.path(), args);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    };
    refuse(
        &["run", "s.toml", "-o", "out", "--resume"],
        "there is no `out.checkpoint`",
    );
    std::fs::write(folder.path().join("m.quadrat.checkpoint"), b"nonsense").unwrap();
    refuse(
        &["fit", "s.toml", "-o", "m.quadrat", "--resume"],
        "`m.quadrat.checkpoint` is damaged",
    );
    let sparse = "method = \"sparse\"\ninducing = 80\nlog_sum = \"taylor\"";
    let dense = STUDY.replace(sparse, "method = \"laplace\"");
    std::fs::write(folder.path().join("s.toml"), dense).unwrap();
    refuse(
        &["run", "s.toml", "-o", "out", "--resume"],
        "--resume is for fits with `method = \"sparse\"`",
    );
    let left = ["cases.csv", "m.quadrat.checkpoint", "pixels.csv", "s.toml"];
    assert_eq!(names(folder.path()), left);
}
