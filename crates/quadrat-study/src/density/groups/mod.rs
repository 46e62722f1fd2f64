//! A density for each group of rows, and how the first differs from the others.

pub mod given;
pub mod parts;

use std::sync::Arc;

use quadrat::density::{Comparison, Warning};
use quadrat::progress::Progress;
use serde_json::{Value, json};

use parts::{Group, estimates};

use super::answers::Answers;
use super::asked::Of;
use super::common::{as_json, interval, own_table};
use super::rows::Rows;
use crate::columns::Table;
use crate::diagnostic::Problems;
use crate::numbers::{count, percent};
use crate::study::density::Density;
use crate::words::clean;

/// Places at which two densities are compared.
const COMPARED: usize = 200;

/// The densities of all groups, and the first beside each other one.
pub struct Groups {
    pub rows: Arc<Rows>,
    pub column: String,
    pub groups: Vec<Group>,
    pub compared: Vec<Comparison>,
}

impl Groups {
    /// Estimates them.
    pub fn new(
        args: &Density,
        rows: &Arc<Rows>,
        column: &str,
        progress: &dyn Progress,
    ) -> Result<Self, Problems> {
        let groups = estimates(args, rows, column, progress)?;
        let first = &groups[0].estimate;
        let compared = groups[1..]
            .iter()
            .map(|group| first.compare(&group.estimate, COMPARED, args.seed))
            .collect();
        Ok(Self {
            rows: Arc::clone(rows),
            column: column.to_owned(),
            groups,
            compared,
        })
    }
}

impl Answers for Groups {
    fn title(&self) -> String {
        format!("Density of {} by {}", self.rows.names[0], self.column)
    }

    fn parts(&self) -> Vec<(String, Of<'_>)> {
        let groups = self.groups.iter();
        groups
            .map(|g| (g.name.clone(), Of::Line(&g.estimate)))
            .collect()
    }

    /// One row per group and cell.
    fn table(&self) -> Result<Table, Problems> {
        let mut out = own_table(Some(&self.column), &self.rows.names, 0);
        for Group { name, estimate, .. } in &self.groups {
            for (j, place) in estimate.places().into_iter().enumerate() {
                let numbers = [
                    place,
                    estimate.density()[j],
                    estimate.lower()[j],
                    estimate.upper()[j],
                ];
                out.push([name], numbers);
            }
        }
        Ok(out)
    }

    fn sentences(&self) -> Vec<String> {
        let told = sentences(&self.rows, &self.column, &self.groups, &self.compared);
        told.into_iter().map(|words| words + ".").collect()
    }

    fn warnings(&self) -> Vec<String> {
        warnings(&self.groups)
    }

    fn json(&self) -> Value {
        json_of(&self.rows, &self.column, &self.groups, &self.compared)
    }
}

/// What is told of groups and of their differences, a line each.
pub fn sentences(
    rows: &Rows,
    column: &str,
    groups: &[Group],
    compared: &[Comparison],
) -> Vec<String> {
    let mut out = vec![format!(
        "{} of `{}` in {} of `{}`, {} intervals",
        count(rows.len(), "row"),
        clean(&rows.names[0]),
        count(groups.len(), "group"),
        clean(column),
        percent(groups[0].estimate.level())
    )];
    for group in groups {
        out.push(format!(
            "{}: {}, median {}, mean {}",
            clean(&group.name),
            count(group.rows, "row"),
            interval(&group.estimate.quantile(0.5)),
            interval(&group.estimate.mean())
        ));
    }
    for (group, compared) in groups[1..].iter().zip(compared) {
        out.push(format!(
            "{} less {}: median {}, larger with probability {:.3}; mean {}, larger with probability {:.3}",
            clean(&groups[0].name),
            clean(&group.name),
            interval(&compared.median),
            compared.median_larger,
            interval(&compared.mean),
            compared.mean_larger
        ));
    }
    out
}

/// Warnings of every group, by its name.
fn warnings(groups: &[Group]) -> Vec<String> {
    let told = |group: &Group, warning: &Warning| {
        let words = match warning {
            // Rows are counted within the group: their number alone says something.
            Warning::NotFinite { count: n, .. } => {
                format!("{} missing or not finite, and left out", count(*n, "value"))
            }
            Warning::Everywhere { count: n, .. } => format!(
                "{} all that is possible, which says nothing: left out",
                match n {
                    1 => "1 row holds".to_owned(),
                    n => format!("{n} rows hold"),
                }
            ),
            other => other.to_string(),
        };
        format!("group `{}`: {words}", clean(&group.name))
    };
    let all = groups.iter();
    all.flat_map(|g| g.estimate.warnings().iter().map(move |w| told(g, w)))
        .collect()
}

fn json_of(rows: &Rows, column: &str, groups: &[Group], compared: &[Comparison]) -> Value {
    let group = |group: &Group| {
        let estimate = &group.estimate;
        json!({
            "group": group.name,
            "rows": group.rows,
            "median": as_json(&estimate.quantile(0.5)),
            "mean": as_json(&estimate.mean()),
            "places": estimate.places(),
            "density": estimate.density(),
            "lower": estimate.lower(),
            "upper": estimate.upper(),
            "effective_size": estimate.effective_size(),
        })
    };
    let differences: Vec<Value> = groups[1..]
        .iter()
        .zip(compared)
        .map(|(group, c)| {
            json!({
                "of": groups[0].name,
                "less": group.name,
                "median": as_json(&c.median),
                "median_larger": c.median_larger,
                "mean": as_json(&c.mean),
                "mean_larger": c.mean_larger,
                "places": c.places,
                "difference": c.difference,
                "lower": c.lower,
                "upper": c.upper,
                "larger": c.larger,
            })
        })
        .collect();
    let groups_said: Vec<Value> = groups.iter().map(group).collect();
    json!({
        "column": rows.names[0],
        "group": column,
        "level": groups[0].estimate.level(),
        "groups": groups_said,
        "differences": differences,
        "warnings": warnings(groups),
    })
}
