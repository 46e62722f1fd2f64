//! The rows of every group, and their densities.

use quadrat::density::{DensityError, Estimate};
use quadrat::progress::Progress;

use super::super::common::{configured, refused};
use super::super::rows::Rows;
use crate::diagnostic::{Problem, Problems};
use crate::study::density::Density;

/// More groups than this are refused: nobody looks at so many.
const MOST: usize = 40;

/// One group with the number of its rows, and their density.
pub struct Group {
    pub name: String,
    pub rows: usize,
    pub estimate: Estimate,
}

/// The rows of every group, in the order of their first ones.
pub fn parts(rows: &Rows, column: &str) -> Result<Vec<(String, Rows)>, Problems> {
    let labels = rows.labels(column)?;
    let mut named: Vec<(String, Vec<usize>)> = Vec::new();
    let mut place = std::collections::BTreeMap::new();
    for (row, label) in labels.into_iter().enumerate() {
        let at = *place.entry(label.clone()).or_insert_with(|| {
            named.push((label, Vec::new()));
            named.len() - 1
        });
        named[at].1.push(row);
    }
    if named.len() > MOST {
        let message = format!("column `{column}` has {} groups", named.len());
        let remedy = format!("choose a column of at most {MOST} different cells");
        return Err(Problem::new(message).remedy(remedy).into());
    }
    let part = |(name, members): (String, Vec<usize>)| (name, rows.part(&members));
    Ok(named.into_iter().map(part).collect())
}

/// The density of every group.
pub fn estimates(
    args: &Density,
    rows: &Rows,
    column: &str,
    progress: &dyn Progress,
) -> Result<Vec<Group>, Problems> {
    let parts = parts(rows, column)?;
    let estimate = |(name, rows): (String, Rows)| {
        let estimate = configured(rows.density(), args)
            .progress(progress)
            .estimate()
            .map_err(|error| refused_group(&rows, &name, &error))?;
        Ok(Group {
            name,
            rows: rows.len(),
            estimate,
        })
    };
    parts.into_iter().map(estimate).collect()
}

/// A refusal of one group: where its row stands, or the name of the group.
pub fn refused_group(rows: &Rows, name: &str, error: &DensityError) -> Problems {
    let told = refused(rows, error);
    if told.0.iter().all(|problem| problem.place.is_some()) {
        return told;
    }
    let remedy = "delete the rows of the group, or join it with another";
    Problem::new(format!("group `{name}`: {error}"))
        .remedy(remedy)
        .into()
}
