//! One population's bands.

use std::collections::HashMap;

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
    /// Its name in front of what is said of it; nothing where there is but one population.
    pub fn in_front(&self) -> String {
        match self.name.is_empty() {
            true => String::new(),
            false => format!("`{}`: ", self.words()),
        }
    }

    /// Its name in words.
    pub fn words(&self) -> String {
        clean(&self.name.join(", "))
    }

    /// Its edges, by which populations of the same bands are known.
    pub fn edges(&self) -> Vec<u64> {
        let edges = self.lower.iter().chain(&self.upper);
        edges.map(|x| x.to_bits()).collect()
    }

    /// The stream of its random numbers: it depends on nothing but its name.
    pub fn stream(&self) -> u64 {
        random_stream(&self.name)
    }
}

/// What has the same edges together, in the order of the first of each.
pub fn alike<T>(all: impl IntoIterator<Item = (Vec<u64>, T)>) -> Vec<Vec<T>> {
    let mut places: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut out: Vec<Vec<T>> = Vec::new();
    for (edges, one) in all {
        let batch = *places.entry(edges).or_insert_with(|| {
            out.push(Vec::new());
            out.len() - 1
        });
        out[batch].push(one);
    }
    out
}

/// The stream of random numbers of a population that is ungrouped: it depends on nothing but the
/// cells of its name, of which there are none where there is one population.
#[must_use]
pub fn random_stream(name: &[String]) -> u64 {
    // Fowler, Noll and Vo's hash, 64 bits, 1a.
    let bytes = name.iter().flat_map(|cell| cell.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
