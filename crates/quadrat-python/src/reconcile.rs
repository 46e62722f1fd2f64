//! Noisy counts of areas within areas, made to add up.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use quadrat::reconcile::{Measurement, ReconcileError, Reconciled, Tree};
use quadrat::special::scalar::normal_quantile;
use quadrat_study::diagnostic::shown;
use quadrat_study::numbers::exact;
use quadrat_study::reconciled::Told;

use crate::buffers::{Numbers, bytes};
use crate::errors::{Failure, Outcome, few_enough};
use crate::work;

/// Areas within areas, with what was measured of them in every row.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Areas {
    names: Vec<String>,
    /// What each lies within.
    within: Vec<Option<usize>>,
    /// The area of every row.
    node: Vec<usize>,
    value: Numbers,
    variance: Numbers,
    level: f64,
}

/// Areas that add up.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct ReconciledAreas {
    kept: Arc<Kept>,
    facts: Facts,
}

/// What everything is found from.
struct Kept {
    names: Vec<String>,
    tree: Tree,
    measurements: Vec<Measurement>,
}

/// What is told at once.
struct Facts {
    columns: [Vec<f64>; 5],
    measured: usize,
    unknown: usize,
    chi_square: (f64, f64),
    degrees: usize,
    far: Vec<(usize, f64, f64)>,
    warnings: Vec<String>,
}

impl Areas {
    /// The rows that have a value, and what they measured.
    fn measured(&self) -> Outcome<(Vec<usize>, Vec<Measurement>)> {
        let (mut rows, mut measurements) = (Vec::new(), Vec::new());
        let values = self.value.0.iter().zip(&self.variance.0);
        for ((row, &node), (&value, &variance)) in self.node.iter().enumerate().zip(values) {
            if value.is_nan() {
                continue;
            }
            if variance.is_nan() {
                return Err(Failure::Data(format!(
                    "variance is missing in row {row}, which has a value; write that of its error, 0 where it is exact, or leave the value empty"
                )));
            }
            rows.push(row);
            measurements.push(Measurement {
                node,
                value,
                variance,
            });
        }
        if rows.is_empty() {
            let message = "value is missing in every row; fill in what was measured";
            return Err(Failure::Data(message.to_owned()));
        }
        Ok((rows, measurements))
    }

    /// A refusal of the library in words of the arguments.
    fn refused(&self, rows: &[usize], error: &ReconcileError) -> Failure {
        let name = |node: usize| format!("`{}`", shown(&self.names[node]));
        Failure::Data(match *error {
            ReconcileError::Circle { node } => {
                let name = name(node);
                format!("within: {name} lies within itself, by way of what it lies within")
            }
            ReconcileError::Number {
                row,
                what,
                value,
                requirement,
            } => {
                let (row, value) = (rows[row], exact(value));
                format!("{what} is {value} in row {row}; it must be {requirement}")
            }
            ReconcileError::Twice {
                first,
                second,
                values: (one, other),
            } => format!(
                "value: {} is exactly {} in row {}, and {} in row {}; mend one of them, or give variances above 0",
                name(self.node[rows[first]]),
                exact(one),
                rows[first],
                exact(other),
                rows[second],
            ),
            ReconcileError::Contradiction {
                node,
                row,
                total,
                parts,
            } => format!(
                "value: {} is exactly {} in row {}, and its parts, which are exact too, add up to {}; mend them, or give one side variances above 0",
                name(node),
                exact(total),
                rows[row],
                exact(parts),
            ),
            ref other => other.to_string(),
        })
    }

    fn found(self) -> Outcome<(Kept, Facts)> {
        let (rows, measurements) = self.measured()?;
        let refused = |error| self.refused(&rows, &error);
        let tree = Tree::new(&self.within).map_err(refused)?;
        let found = tree.reconcile(&measurements).map_err(refused)?;
        let facts = self.facts(Told {
            areas: self.names.len(),
            measurements: &measurements,
            found: &found,
        });
        let kept = Kept {
            names: self.names,
            tree,
            measurements,
        };
        Ok((kept, facts))
    }

    fn facts(&self, told: Told<'_>) -> Facts {
        let (found, z) = (told.found, normal_quantile(0.5 + 0.5 * self.level));
        let mut columns: [Vec<f64>; 5] = Default::default();
        for node in 0..told.areas {
            let (mean, sd) = (found.mean(node), found.variance(node).sqrt());
            let numbers = [mean, sd, mean - z * sd, mean, mean + z * sd];
            for (column, number) in columns.iter_mut().zip(numbers) {
                // Nothing is told of what nothing tells.
                column.push(if found.is_known(node) {
                    number
                } else {
                    f64::NAN
                });
            }
        }
        let far = told.far();
        Facts {
            columns,
            measured: told.measured(),
            unknown: told.unknown(),
            chi_square: found.chi_square(),
            degrees: found.gaps().len(),
            far: far
                .iter()
                .map(|gap| (gap.node, gap.difference, gap.sd))
                .collect(),
            warnings: told.warnings(|node| format!("`{}`", shown(&self.names[node]))),
        }
    }
}

/// Makes areas add up.
#[pyfunction]
pub fn reconcile(py: Python<'_>, areas: Areas) -> PyResult<ReconciledAreas> {
    let (kept, facts) = work::run(py, move || areas.found())?;
    Ok(ReconciledAreas {
        kept: Arc::new(kept),
        facts,
    })
}

impl Kept {
    /// Draws of all areas, one after the other.
    fn draws(&self, count: usize, seed: u64) -> Outcome<Vec<f64>> {
        few_enough(count, self.tree.len())?;
        // Found again, which takes no longer than one draw.
        let found: Result<Reconciled<'_>, _> = self.tree.reconcile(&self.measurements);
        let draws = found.and_then(|found| found.draws(count, seed));
        let draws = draws.map_err(|error| {
            Failure::Data(match error {
                ReconcileError::Undetermined { node } => {
                    let name = shown(&self.names[node]);
                    format!("value: nothing tells `{name}`, so it cannot be drawn; measure it")
                }
                other => other.to_string(),
            })
        })?;
        Ok(draws.concat())
    }
}

#[pymethods]
impl ReconciledAreas {
    /// What is told of each area, column by column.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        let names = ["mean", "sd", "lower", "median", "upper"];
        for (name, column) in names.iter().zip(&self.facts.columns) {
            all.set_item(name, bytes(py, column)?)?;
        }
        Ok(all)
    }

    /// How many areas were measured, and how many nothing tells.
    fn counts(&self) -> (usize, usize) {
        (self.facts.measured, self.facts.unknown)
    }

    /// Chi-square of the gaps, their number, and the probability of as large a one.
    fn chi_square(&self) -> (f64, usize, f64) {
        let (square, chance) = self.facts.chi_square;
        (square, self.facts.degrees, chance)
    }

    /// Areas far from the sums of their parts: difference and standard deviation.
    fn far(&self) -> Vec<(usize, f64, f64)> {
        self.facts.far.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.facts.warnings.clone()
    }

    /// Draws of all areas, one after the other.
    fn draws<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let kept = Arc::clone(&self.kept);
        let drawn = work::run(py, move || kept.draws(count, seed))?;
        bytes(py, &drawn)
    }
}
