//! Black-box tests of the program.

mod broken_studies;
mod broken_tables;
mod harness;
mod outputs;
