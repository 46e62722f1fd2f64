//! A folder of small files, the program run in it, and what came out.

use std::path::Path;
use std::process::{Child, Command, Output};

/// A study that runs; cases break it.
pub const STUDY: &str = r#"title = "Ages"

[latent]
kernel = "se(age)"

[[observe]]
file = "ages.csv"
support = { box = { age = ["from", "to"] } }
aggregate = "sum"
likelihood = { gaussian = { value = "people", variance = 1 } }

[[predict]]
name = "by-year"
support = { grid = { age = { from = 0, to = 20, step = 1, cells = true } } }
aggregate = "sum"
"#;

/// A table that suits [`STUDY`].
pub const TABLE: &str = "from,to,people,var\n0,10,5,1\n10,20,7,1\n20,30,6,1\n";

/// [`STUDY`] with one text replaced, which must occur.
pub fn study(from: &str, to: &str) -> String {
    assert!(STUDY.contains(from), "the study has no `{from}`");
    STUDY.replacen(from, to, 1)
}

/// A folder with the given files.
pub fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// The program with arguments, in a folder.
pub fn quadrat(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quadrat"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// What the program says where it succeeds, as it must.
pub fn done(folder: &Path, args: &[&str]) -> String {
    let output = quadrat(folder, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// What Ctrl-C does to a program that runs.
#[cfg(unix)]
pub fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    let status = Command::new("kill").args(["-INT", &pid]).status();
    assert!(status.unwrap().success());
}

/// `out/fit.json` of a folder.
pub fn fit(folder: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("out/fit.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A column of numbers of a prediction below `out/`.
pub fn column(folder: &Path, name: &str, column: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(folder.join(format!("out/{name}.csv"))).unwrap();
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|c| c == column);
    let value = |line: &str| line.split(',').nth(at.unwrap()).unwrap().parse().unwrap();
    lines.map(value).collect()
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Names of everything in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Runs a broken study: refused with every text expected, exit code 1, nothing written, no panic.
pub fn refused(
    name: &str,
    study: &str,
    files: &[(&str, &[u8])],
    expected: &[&str],
) -> Result<(), String> {
    let mut all: Vec<(&str, &[u8])> = vec![("s.toml", study.as_bytes())];
    all.extend_from_slice(files);
    let folder = folder(&all);
    let before = names(folder.path());
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    let text = stderr(&output);
    let mut wrong: Vec<String> = Vec::new();
    if output.status.code() != Some(1) {
        wrong.push(format!("exit code {:?}", output.status.code()));
    }
    if text.contains("panicked") {
        wrong.push("it panicked".into());
    }
    if names(folder.path()) != before || !output.stdout.is_empty() {
        wrong.push(format!("it wrote {:?}", names(folder.path())));
    }
    wrong.extend(
        expected
            .iter()
            .filter(|part| !text.contains(**part))
            .map(|part| format!("no `{part}`")),
    );
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{name}: {}\n{text}", wrong.join("; ")))
    }
}

/// Fails with every case that was not [`refused`] as expected.
pub fn none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n----\n")
    );
}

/// What is found of some items, half of them at a time on two threads.
pub fn in_halves<T: Sync>(
    items: &[T],
    find: impl Fn(&mut dyn Iterator<Item = &T>) -> Vec<String> + Sync,
) -> Vec<String> {
    std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            let find = &find;
            scope.spawn(move || find(&mut items.iter().skip(half).step_by(2)))
        });
        halves
            .into_iter()
            .flat_map(|half| half.join().unwrap())
            .collect()
    })
}
