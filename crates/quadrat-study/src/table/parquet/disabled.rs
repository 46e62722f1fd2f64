//! What Parquet tables get without the feature.

use crate::diagnostic::{Problem, Problems};

/// Cannot be made without the feature.
#[derive(Debug)]
pub enum Parquet {}

impl Parquet {
    /// Refuses the file.
    pub fn parse(_bytes: Vec<u8>, name: &str) -> Result<(Self, Vec<String>), Problem> {
        Err(Problem::new(format!(
            "`{name}`: this build of quadrat reads no Parquet files"
        ))
        .remedy(
            "save the table as CSV, or install with `cargo install quadrat-cli --features parquet`",
        ))
    }

    /// Never called.
    pub fn keys(&self, _: &str, _: &[String], _: usize) -> Result<Vec<String>, Problems> {
        match *self {}
    }

    /// Never called.
    pub fn written(&self, _: &str, _: &[String], _: usize) -> Result<Vec<String>, Problems> {
        match *self {}
    }

    /// Never called.
    pub fn numbers(&self, _: &str, _: &[String], _: &[usize]) -> Result<Vec<Vec<f64>>, Problems> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_the_feature_says_what_to_do() {
        let problem = Parquet::parse(b"PAR1".to_vec(), "ages.parquet").unwrap_err();
        assert!(
            problem
                .message
                .contains("`ages.parquet`: this build of quadrat reads no Parquet")
        );
        assert!(
            problem.remedies[0]
                .to_string()
                .contains("--features parquet")
        );
    }
}
