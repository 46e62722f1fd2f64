//! Studies of quadrat, from files to answers in memory.
//!
//! A study file (TOML) names tables (CSV, GeoJSON, and Parquet with the feature `parquet`), says
//! what their rows are and which predictions are wanted. [`run()`] reads and checks all of it, fits
//! the model and answers: what `quadrat run` computes. It writes no file, knows no terminal and
//! ends no process; what is wrong comes back as values, with file, line, column and a remedy.
//!
//! ```
//! use quadrat_study::{Column, Found, Options, Running, Source, run};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = std::env::temp_dir().join(format!("quadrat-study-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! std::fs::write(folder.join("rain.csv"), "day,mm\n0,1\n1,2\n2,1.5\n3,0.5\n")?;
//! let study = r#"
//! [latent]
//! kernel = "se(day)"
//! [[observe]]
//! file = "rain.csv"
//! support = { point = ["day"] }
//! likelihood = { gaussian = { value = "mm", variance = 0.1 } }
//! [[predict]]
//! name = "noon"
//! support = { grid = { day = { from = 0.5, to = 2.5, step = 1 } } }
//! "#;
//! let source = Source::Text(study, &folder);
//! let outcome = run(source, &Options::default(), &Running::default());
//! std::fs::remove_dir_all(&folder)?;
//! let found = Found::of(outcome?)?;
//! let (name, days) = &found.tables[0].columns[0];
//! assert_eq!((name.as_str(), days), ("day", &Column::Numbers(vec![0.5, 1.5, 2.5])));
//! # Ok(())
//! # }
//! ```
//!
//! A run has three steps. [`open()`] goes from TOML to a checked study (`study`), [`check()`] to
//! tables that are read and compared (`resolve`); [`Checked::run`] makes library objects and
//! answers (`engine`, `outcome`). Before the last the program `quadrat` refuses outputs in the
//! place of inputs and opens its checkpoint. An [`AnyOutcome`] is one of three kinds, of a
//! function, a density or bands; its files are those that the program writes, and [`Found`] has the
//! same numbers column by column. The modules are for the program, and change without notice.

#![cfg_attr(test, allow(clippy::unwrap_used))]
// What is said is handed back: there is nobody here to print to.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

#[doc(hidden)]
pub mod answer;
#[doc(hidden)]
pub mod beside;
#[doc(hidden)]
pub mod codes;
mod columns;
#[doc(hidden)]
pub mod density;
#[doc(hidden)]
pub mod diagnostic;
#[doc(hidden)]
pub mod engine;
mod expressions;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod fit_json;
#[doc(hidden)]
pub mod fitted;
mod found;
mod function;
#[doc(hidden)]
pub mod functionals;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
#[doc(hidden)]
pub mod geo_file;
#[doc(hidden)]
pub mod geographic;
#[doc(hidden)]
pub mod grid;
mod guard;
mod instrument;
mod kept;
#[doc(hidden)]
pub mod keys;
mod limits;
#[doc(hidden)]
pub mod measure;
#[doc(hidden)]
pub mod new_row;
#[doc(hidden)]
pub mod numbers;
#[doc(hidden)]
pub mod outcome;
#[doc(hidden)]
pub mod overlap;
#[doc(hidden)]
pub mod places;
#[doc(hidden)]
pub mod prediction_csv;
#[cfg(test)]
mod properties;
#[doc(hidden)]
pub mod reconciled;
#[doc(hidden)]
pub mod redundant;
mod refused;
#[doc(hidden)]
pub mod resolve;
mod run;
mod run_id;
#[doc(hidden)]
pub mod shapes;
#[doc(hidden)]
pub mod simple;
#[doc(hidden)]
pub mod study;
#[doc(hidden)]
pub mod suggest;
#[doc(hidden)]
pub mod sums;
#[doc(hidden)]
pub mod table;
#[doc(hidden)]
pub mod ungroup;
#[doc(hidden)]
pub mod version;
#[doc(hidden)]
pub mod words;

pub use columns::{Column, Table, Writer};
pub use engine::Running;
pub use found::Found;
pub use function::CheckedFunction;
pub use refused::{Fault, Refused, refused};
pub use run::{AnyOutcome, Checked, Options, Source, check, open, run};
pub use ungroup::group::random_stream;
