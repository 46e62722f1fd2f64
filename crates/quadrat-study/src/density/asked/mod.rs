//! What is asked of a density at places: densities, probabilities, quantiles.

mod answer;
mod groups;
mod suits;
mod tables;

use quadrat::density::{ConditionalEstimate, Estimate, Estimate2d};

pub use groups::{Densities, Which, answers, which};
pub use suits::suits;
pub use tables::{Table, clash, planar, repeated, tables};

use crate::answer::Chances;
use crate::diagnostic::{Problem, Problems};
use crate::places::{Along, Labels, Places};

/// The column of the probabilities of quantiles.
pub const QUANTILE: &str = "quantile";

/// An estimate of any kind.
#[derive(Debug, Clone, Copy)]
pub enum Of<'a> {
    Line(&'a Estimate),
    Plane(&'a Estimate2d),
    Given(&'a ConditionalEstimate),
}

impl Of<'_> {
    /// Probability of its bands.
    pub fn level(self) -> f64 {
        match self {
            Self::Line(estimate) => estimate.level(),
            Self::Plane(estimate) => estimate.level(),
            Self::Given(estimate) => estimate.level(),
        }
    }

    /// What it covers along one of its columns.
    pub fn range(self, column: usize) -> (f64, f64) {
        let edges = match self {
            Self::Line(estimate) => estimate.edges(),
            Self::Plane(estimate) => estimate.edges(column),
            Self::Given(estimate) => estimate.edges(column),
        };
        (edges[0], edges[edges.len() - 1])
    }
}

/// What a density is of.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Its columns; a given one first.
    pub names: &'a [String],
    /// Whether the first is given.
    pub is_given: bool,
    /// The column that names the groups, where there are several densities.
    pub group: Option<&'a str>,
}

/// What is wanted of every row.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Probability of the intervals; that of the estimate where nothing is said.
    pub level: Option<f64>,
    /// Probabilities that limits are exceeded, and draws.
    pub chances: Chances,
    /// The seed of the draws.
    pub seed: u64,
}

/// Places with a row for each of some probabilities, where quantiles are asked.
pub fn with_quantiles(places: Places, quantiles: &[f64]) -> Places {
    if quantiles.is_empty() {
        return places;
    }
    let n = places.len().max(1);
    let each = |i: usize| i / quantiles.len();
    let rows = n * quantiles.len();
    let labels = places.labels.iter().map(|labels| Labels {
        header: labels.header.clone(),
        cells: (0..rows).map(|i| labels.cells[each(i)].clone()).collect(),
    });
    let mut out = Places::named(rows, labels.collect());
    let repeated = |values: &[f64]| (0..rows).map(|i| values[each(i)]).collect::<Vec<f64>>();
    for along in &places.dims {
        out.dims.push(Along {
            name: along.name.clone(),
            headers: along.headers.clone(),
            first: repeated(&along.first),
            second: along.second.as_deref().map(repeated),
            labels: along.labels.clone(),
        });
    }
    out.dims.push(Along {
        name: QUANTILE.to_owned(),
        headers: vec![QUANTILE.to_owned()],
        first: (0..rows).map(|i| quantiles[i % quantiles.len()]).collect(),
        second: None,
        labels: None,
    });
    out
}

/// Rows of given places that lie beyond the slices have no density.
///
/// # Errors
/// The first of them, of the file that people know under a name.
pub fn within(of: Of<'_>, name: &str, places: &Places) -> Result<(), Problems> {
    let (Of::Given(estimate), Some(along)) = (of, places.dim(name)) else {
        return Ok(());
    };
    let Some(row) = (0..places.len()).find(|row| estimate.slice(along.first[*row]).is_none())
    else {
        return Ok(());
    };
    let edges = estimate.edges(0);
    let message = format!(
        "`{name}` is {}, and the densities are of {} to {}: nothing is said beyond",
        along.first[row],
        edges[0],
        edges[edges.len() - 1]
    );
    let remedy = format!(
        "delete the row ({}) from what is asked",
        places.describe(row)
    );
    Err(Problem::new(message).remedy(remedy).into())
}

/// How many points and boxes lie wholly beyond what a density covers, where it is zero. Those
/// beyond the slices of a given column are refused: see [`within`].
pub fn beyond(of: Of<'_>, named: Named<'_>, places: &Places) -> Option<String> {
    let columns = usize::from(named.is_given)..named.names.len();
    let asked = columns.filter_map(|column| {
        let along = places.dim(&named.names[column])?;
        Some((&named.names[column], along, of.range(column)))
    });
    let asked: Vec<(&String, &Along, (f64, f64))> = asked.collect();
    let is_out = |row: usize| {
        asked.iter().any(|(_, along, (from, to))| {
            let (low, high) = along.ends(row);
            // A box that touches an end holds nothing of what is covered.
            match low < high {
                true => high <= *from || low >= *to,
                false => low < *from || low > *to,
            }
        })
    };
    let n = (0..places.len()).filter(|row| is_out(*row)).count();
    let covered = asked.iter().map(|(name, _, (from, to))| {
        let [low, high] = [*from, *to].map(crate::numbers::human);
        format!("{low} to {high} of `{name}`")
    });
    (n > 0).then(|| {
        format!(
            "{} of {} lie beyond what the density covers, {}, where it is zero",
            crate::numbers::count(n, "row"),
            places.len(),
            covered.collect::<Vec<String>>().join(" and ")
        )
    })
}
