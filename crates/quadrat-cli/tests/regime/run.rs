//! The program in a process of its own, with limits of memory and time.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Kilobytes of address space: what a study of six rows takes, many times over.
const MEMORY: u64 = 4 << 20;
/// Seconds of the processor after which a study of six rows hangs: other work on the machine does
/// not count.
const PROCESSOR: u64 = 10;
/// Seconds of the clock, for one that waits.
const CLOCK: u64 = 120;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Code(i32),
    Signal(i32),
    /// Too much time.
    Stopped,
}

/// A run that is over.
pub struct Ran {
    pub end: End,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
}

/// Runs the program in a folder; what it says goes to files elsewhere.
pub fn quadrat(folder: &Path, args: &[String]) -> Ran {
    let said = tempfile::tempdir().unwrap();
    let paths = [said.path().join("1"), said.path().join("2")];
    let [stdout, stderr] = paths
        .clone()
        .map(|path| std::fs::File::create(path).unwrap());
    let limits = format!("ulimit -v {MEMORY}; ulimit -t {PROCESSOR}; exec \"$0\" \"$@\"");
    let start = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", &limits, env!("CARGO_BIN_EXE_quadrat")])
        .args(args)
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .unwrap();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if start.elapsed() > Duration::from_secs(CLOCK) {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let end = match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => End::Code(code),
        // The limit of processor time ends in SIGXCPU, or SIGKILL.
        Some((_, Some(24 | 9))) | None => End::Stopped,
        Some((_, signal)) => End::Signal(signal.unwrap_or_default()),
    };
    let [stdout, stderr] =
        paths.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
    Ran {
        end,
        stdout,
        stderr,
        seconds: start.elapsed().as_secs_f64(),
    }
}
