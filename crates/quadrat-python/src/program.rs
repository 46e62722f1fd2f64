//! The program `quadrat`, which the package installs.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

/// Runs the program on arguments, of which the first is its name; whether it did what was asked.
#[pyfunction]
pub fn program(py: Python<'_>, args: Vec<OsString>) -> bool {
    py.detach(|| {
        let is_done = quadrat_cli::answer(args);
        // Without a main function in Rust nothing else writes what waits for the end of a line; a
        // reader that went away needs it no more.
        let _ = std::io::stdout().flush();
        is_done
    })
}
