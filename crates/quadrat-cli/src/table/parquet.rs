//! Parquet tables; without the feature `parquet` they are refused.

#[cfg(not(feature = "parquet"))]
pub use disabled::{Parquet, spot};

#[cfg(not(feature = "parquet"))]
mod disabled {
    use crate::diagnostic::{Problem, Problems, Spot};

    /// Cannot be made without the feature.
    #[derive(Debug)]
    pub enum Parquet {}

    impl Parquet {
        pub fn parse(_bytes: Vec<u8>, name: &str) -> Result<(Self, Vec<String>), Problem> {
            Err(Problem::new(format!("`{name}`: this build of quadrat reads no Parquet files"))
                .remedy("save the table as CSV, or install with `cargo install quadrat-cli --features parquet`"))
        }

        pub fn numbers(&self, _: &str, _: &[String], _: &[usize]) -> Result<Vec<Vec<f64>>, Problems> {
            match *self {}
        }
    }

    pub fn spot(_row: usize) -> Option<Spot> {
        None
    }
}
