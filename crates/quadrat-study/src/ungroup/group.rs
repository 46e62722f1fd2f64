//! One population's bands.

use crate::random_stream;
use crate::words::clean;

/// One population.
#[derive(Debug, Clone)]
pub struct Group {
    /// Cells of the columns that name it; none of the only one.
    pub name: Vec<String>,
    /// Its rows of the table, by ascending lower edges.
    pub rows: Vec<usize>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub counts: Vec<f64>,
    /// Exposures of the same bands; none where counts are ungrouped, or they stand in a table of
    /// their own.
    pub exposure: Option<Vec<f64>>,
}

impl Group {
    /// Its name in words.
    pub fn words(&self) -> String {
        clean(&self.name.join(", "))
    }

    /// The stream of its random numbers: it depends on nothing but its name.
    pub fn stream(&self) -> u64 {
        random_stream(&self.name)
    }
}
