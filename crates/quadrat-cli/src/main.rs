//! The program `quadrat`, all of which is in the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    quadrat_cli::main()
}
