//! Faults of the machine: the program is killed, the disk is full, two runs write into one folder,
//! nobody reads.

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use crate::draw::Draw;

const STUDY: &str = r#"title = "TITLE"
[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
likelihood = { gaussian = { value = "COLUMN", variance = 0.1 } }
[[predict]]
name = "p"
support = { grid = { t = { from = 0, to = 4, step = 0.5 } } }
[[predict]]
name = "q"
support = { file = "d.csv", point = ["t"] }
[inference]
hyperparameters = "map"
"#;

const TABLE: &str = "t,a,b\n0,1.0,-20\n1,1.5,-30\n2,0.7,-25\n3,0.5,-27\n4,0.4,-21\n";

/// A folder with two studies, `a.toml` and `b.toml`, whose answers have other signs.
fn studies() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        let text = STUDY.replace("TITLE", name).replace("COLUMN", name);
        fs::write(folder.path().join(format!("{name}.toml")), text).unwrap();
    }
    fs::write(folder.path().join("d.csv"), TABLE).unwrap();
    folder
}

fn program(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quadrat"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    program(folder, args).output().unwrap()
}

fn begun(folder: &Path, args: &[&str]) -> Child {
    program(folder, args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Refused, in words, without a panic.
fn is_refused(output: &Output, words: &str) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(words) && !said.contains("panicked"), "{said}");
}

/// Names below a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Whose results a folder holds: the study that all its files are of; nothing where they are of
/// several, or not all there.
fn owner(out: &Path) -> Option<String> {
    let read = |name: &str| fs::read_to_string(out.join(name)).ok();
    let fit: serde_json::Value = serde_json::from_str(&read("fit.json")?).ok()?;
    let title = fit["title"].as_str()?.to_owned();
    let is_of = |name: &str| {
        let table = read(name)?;
        let rows = table.lines().skip(1).count();
        let mean: f64 = table.lines().nth(1)?.split(',').nth(1)?.parse().ok()?;
        Some((mean < 0.0) == (title == "b") && rows == if name == "p.csv" { 9 } else { 5 })
    };
    let is_whole = ["p.svg", "p.png", "q.svg", "q.png"]
        .iter()
        .all(|name| out.join(name).exists());
    let report = read("report.html")?;
    let is_report =
        report.contains(&format!("<title>{title}")) && report.trim_end().ends_with("</html>");
    (is_of("p.csv")? && is_of("q.csv")? && is_whole && is_report).then_some(title)
}

#[test]
fn a_run_that_is_killed_leaves_old_or_new_results_or_no_seal() {
    let folder = studies();
    let out = folder.path().join("out");
    assert!(
        run(folder.path(), &["run", "a.toml", "-o", "out"])
            .status
            .success()
    );
    assert_eq!(owner(&out).as_deref(), Some("a"));
    let whole = names(&out);
    let start = Instant::now();
    assert!(
        run(folder.path(), &["run", "b.toml", "-o", "out"])
            .status
            .success()
    );
    let usual = start.elapsed();
    let mut draw = Draw::seeded(20);
    let mut before = Some("b".to_owned());
    let mut broken = 0;
    for i in 0..20 {
        let next = if before.as_deref() == Some("a") {
            "b"
        } else {
            "a"
        };
        let study = format!("{next}.toml");
        let mut child = begun(folder.path(), &["run", &study, "-o", "out"]);
        // Half of them while files are written, which is at the end.
        let share = if i % 2 == 0 {
            draw.between(0.0, 1.0)
        } else {
            draw.between(0.7, 1.1)
        };
        std::thread::sleep(usual.mul_f64(share));
        drop(child.kill());
        child.wait().unwrap();
        let now = owner(&out);
        // Between two renamings files are of both, and `fit.json` is away.
        let is_between = now.is_none() && !out.join("fit.json").exists();
        broken += usize::from(is_between);
        let is_whole = now.is_some() && (now == before || now.as_deref() == Some(next));
        assert!(
            is_whole || is_between,
            "after {share} of {usual:?}: {now:?}, {:?}",
            names(&out)
        );
        before = now;
        // What the killed run left is in nobody's way, and goes with the next run.
        if i % 5 == 4 {
            let output = run(folder.path(), &["run", "a.toml", "-o", "out"]);
            assert!(output.status.success(), "{}", said(&output));
            assert_eq!(
                (owner(&out).as_deref(), names(&out)),
                (Some("a"), whole.clone())
            );
            before = Some("a".into());
        }
    }
    println!("{broken} of 20 between two renamings");
    assert_eq!(names(folder.path()), ["a.toml", "b.toml", "d.csv", "out"]);
}

#[test]
fn a_mixture_of_results_is_told_from_whole_ones() {
    let folder = studies();
    for name in ["a", "b"] {
        let study = format!("{name}.toml");
        assert!(
            run(folder.path(), &["run", &study, "-o", name])
                .status
                .success()
        );
        assert_eq!(owner(&folder.path().join(name)).as_deref(), Some(name));
    }
    for name in ["p.csv", "fit.json", "report.html"] {
        let [a, b] = ["a", "b"].map(|out| folder.path().join(out).join(name));
        let own = fs::read(&a).unwrap();
        fs::copy(b, &a).unwrap();
        assert_eq!(owner(&folder.path().join("a")), None, "{name}");
        fs::write(a, own).unwrap();
    }
    fs::remove_file(folder.path().join("a/q.png")).unwrap();
    assert_eq!(owner(&folder.path().join("a")), None);
}

#[test]
fn two_runs_into_one_folder_never_mix() {
    for is_new in [true, false] {
        let folder = studies();
        let out = folder.path().join("out");
        if !is_new {
            assert!(
                run(folder.path(), &["run", "a.toml", "-o", "out"])
                    .status
                    .success()
            );
        }
        for _ in 0..3 {
            let both = ["a.toml", "b.toml"]
                .map(|study| begun(folder.path(), &["run", study, "-o", "out"]));
            let both = both.map(|child| child.wait_with_output().unwrap());
            assert!(both.iter().any(|output| output.status.success()));
            for output in both.iter().filter(|output| !output.status.success()) {
                is_refused(output, "another run is writing into `out`");
            }
            let now = owner(&out);
            assert!(now.is_some(), "{:?}", names(&out));
            assert!(names(&out).iter().all(|name| !name.starts_with('.')));
        }
    }
}

/// A file that is always full.
fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

#[test]
fn a_device_that_is_full_is_told() {
    let folder = studies();
    let here = folder.path();
    assert!(
        run(here, &["fit", "a.toml", "-o", "m.quadrat"])
            .status
            .success()
    );
    let predict = ["predict", "m.quadrat", "--at", "d.csv", "--point", "t"];
    let noise = [
        "noise",
        "d.csv",
        "--epsilon",
        "1",
        "--sensitivity",
        "1",
        "--column",
        "a",
    ];
    fn to(args: &[&'static str]) -> Vec<&'static str> {
        [args, &["-o", "/dev/full"]].concat()
    }
    for args in [to(&["fit", "a.toml"]), to(&predict), to(&noise)] {
        is_refused(&run(here, &args), "device or pipe");
    }
    is_refused(
        &run(here, &["run", "a.toml", "-o", "/dev/full"]),
        "/dev/full",
    );
    fs::create_dir(here.join("out")).unwrap();
    std::os::unix::fs::symlink("/dev/full", here.join("out/fit.json")).unwrap();
    is_refused(
        &run(here, &["run", "a.toml", "-o", "out"]),
        "device or pipe",
    );
    // A pipe into which nobody writes never begins.
    let made = std::process::Command::new("mkfifo")
        .arg(here.join("pipe"))
        .status();
    assert!(made.unwrap().success());
    for args in [
        ["run", "pipe", "-o", "new"],
        ["tell", "pipe", "d.csv", "-q"],
    ] {
        is_refused(&run(here, &args), "device or pipe");
    }
    // What is said to a full device is an error; where that cannot be said either, the status
    // tells.
    let said: [&[&str]; 5] = [
        &["run", "a.toml", "-o", "new"],
        &["run", "a.toml", "-o", "new", "--json"],
        &predict,
        &noise,
        &["demo", "--list"],
    ];
    for args in said {
        let output = program(here, args).stdout(full()).output().unwrap();
        is_refused(&output, "No space left on device");
        let silent = program(here, args)
            .stdout(full())
            .stderr(full())
            .status()
            .unwrap();
        assert_eq!(silent.code(), Some(1), "{args:?}");
    }
    // Errors and warnings that cannot be said change nothing.
    let broken = program(here, &["run", "absent.toml"])
        .stderr(full())
        .status()
        .unwrap();
    assert_eq!(broken.code(), Some(1));
    let far = "t\n900\n";
    fs::write(here.join("far.csv"), far).unwrap();
    let args = ["predict", "m.quadrat", "--at", "far.csv", "--point", "t"];
    let output = run(here, &args);
    assert!(
        output.status.success() && self::said(&output).contains("warning"),
        "{}",
        self::said(&output)
    );
    let output = program(here, &args)
        .stderr(full())
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.is_empty()),
        (Some(0), false)
    );
}

/// A small disk of memory, where mounting is permitted.
struct Disk(tempfile::TempDir);

impl Disk {
    fn new(kilobytes: usize) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={kilobytes}k");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "none"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        mounted
            .is_ok_and(|status| status.success())
            .then_some(Self(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(self.0.path()).status());
    }
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let mut tried = 0;
    for kilobytes in [4, 40, 200] {
        let Some(disk) = Disk::new(kilobytes) else {
            println!("skipped: no disk may be mounted here");
            break;
        };
        tried += 1;
        let folder = studies();
        let out = disk.0.path().join("out");
        fs::create_dir(&out).unwrap();
        fs::write(out.join("p.csv"), "mine").unwrap();
        let output = run(
            folder.path(),
            &["run", "a.toml", "-o", out.to_str().unwrap()],
        );
        is_refused(&output, "No space left on device");
        assert_eq!(
            (names(&out), fs::read_to_string(out.join("p.csv")).unwrap()),
            (vec!["p.csv".to_owned()], "mine".to_owned())
        );
    }
    println!("{tried} disks");
}

#[test]
fn nobody_needs_to_read_what_is_said() {
    let folder = studies();
    let here = folder.path();
    assert!(
        run(here, &["fit", "a.toml", "-o", "m.quadrat"])
            .status
            .success()
    );
    let places: String = (0..20_000)
        .map(|i| format!("{}\n", f64::from(i) / 100.0))
        .collect();
    fs::write(here.join("many.csv"), format!("t\n{places}")).unwrap();
    let counts: String = (0..20_000).map(|i| format!("{i},{}\n", i % 7)).collect();
    fs::write(here.join("counts.csv"), format!("id,n\n{counts}")).unwrap();
    let predict = "predict m.quadrat --at many.csv --point t";
    for command in [
        predict,
        "noise counts.csv --epsilon 1 --sensitivity 1",
        "run a.toml -o new --json",
        "demo --list",
        "--help",
        "run --help",
    ] {
        // Of one line, of nothing, and with what is said to standard error in the same pipe.
        for reader in [
            "| head -n 1",
            "| true",
            "2>&1 | head -n 1",
            "2>&1 | true",
            ">&- 2>&-",
        ] {
            let text =
                format!("set -o pipefail; \"$0\" {command} {reader}; echo \"status $?\" >&2");
            let output = Command::new("bash")
                .args(["-c", &text, env!("CARGO_BIN_EXE_quadrat")])
                .current_dir(here)
                .output()
                .unwrap();
            let said = said(&output);
            assert!(!said.contains("panicked"), "{command} {reader}: {said}");
            assert!(
                said.ends_with("status 0\n") || reader.starts_with('>'),
                "{command} {reader}: {said}"
            );
            assert!(
                !said.contains("status 101") && !said.contains("status 134"),
                "{command} {reader}: {said}"
            );
        }
    }
}
