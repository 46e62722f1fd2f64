//! Where the rows of a table look, on a command line.

use clap::{Args, ValueEnum};

/// The supports of rows of a table.
#[derive(Debug, Clone, Default, Args)]
pub struct Looks {
    /// Columns of coordinates, named as in the kernel; `next` and `tell` take all inputs that
    /// nothing else names when absent
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', num_args = 1..)]
    pub point: Vec<String>,
    /// The two dimensions of the polygons in the file, such as `lon,lat`
    #[arg(long, value_name = "DIM,DIM", value_delimiter = ',', num_args = 1.., requires = "aggregate", conflicts_with_all = ["bag", "weight"])]
    pub region: Vec<String>,
    /// Property that names the regions, or column that says which bag a point is in
    #[arg(long, value_name = "NAME")]
    pub key: Option<String>,
    /// Take the coordinates of the polygons as they are, not as longitude and latitude
    #[arg(long, requires = "region")]
    pub planar: bool,
    /// Columns of coordinates of the points in the file that make up bags; needs --key
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', num_args = 1.., requires = "key", requires = "aggregate")]
    pub bag: Vec<String>,
    /// Column of the weights of the points of bags
    #[arg(long, value_name = "COLUMN", requires = "bag")]
    pub weight: Option<String>,
    /// A dimension and the columns of its two edges, such as `age=from,to`; may be repeated
    #[arg(long = "box", id = "boxes", value_name = "DIM=LO,HI", value_parser = edges, requires = "aggregate")]
    pub boxes: Vec<Edges>,
    /// Whether totals or averages of the boxes, regions or bags are meant
    #[arg(long, value_enum)]
    pub aggregate: Option<Aggregation>,
}

/// A dimension and the columns of its edges.
#[derive(Debug, Clone)]
pub struct Edges {
    /// The dimension.
    pub dim: String,
    /// Column of one edge.
    pub first: String,
    /// Column of the other.
    pub second: String,
}

/// `sum` or `mean`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Aggregation {
    /// Totals
    Sum,
    /// Averages
    Mean,
}

/// A dimension and its columns, as they are written.
pub fn edges(text: &str) -> Result<Edges, String> {
    let parts = text
        .split_once('=')
        .and_then(|(dim, edges)| Some((dim, edges.split_once(',')?)));
    match parts {
        Some((dim, (first, second)))
            if !dim.is_empty() && !first.is_empty() && !second.is_empty() =>
        {
            Ok(Edges {
                dim: dim.trim().into(),
                first: first.trim().into(),
                second: second.trim().into(),
            })
        }
        _ => Err("write a dimension and two columns, such as `age=from,to`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_need_a_dimension_and_two_columns() {
        assert!(edges("age=from,to").is_ok());
        for bad in ["age", "age=from", "=from,to", "age=,to"] {
            assert!(edges(bad).is_err());
        }
    }
}
