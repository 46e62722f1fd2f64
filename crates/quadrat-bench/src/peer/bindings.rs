//! Fits and predictions that the Python package makes too, one for each line that is asked;
//! `peers/bindings.py` asks both sides in turn.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;

use anyhow::{Context, Result, bail};
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Scale};
use quadrat::support::Functionals;
use serde_json::{Value, json};

/// Of the answers one in so many is told.
const EVERY: usize = 1000;

/// Columns of the rows, inputs first.
struct Rows {
    inputs: Vec<Vec<f64>>,
    values: Vec<f64>,
}

/// Answers lines such as `fit plane 1000` and `predict 1000000` until there are no more.
///
/// # Arguments
/// * `folder` - holds `line.csv` (`x,value`) and `plane.csv` (`x,y,value`)
pub fn run(folder: &Path) -> Result<()> {
    let line: Vec<[f64; 2]> = crate::table::read(&folder.join("line.csv"))?;
    let plane: Vec<[f64; 3]> = crate::table::read(&folder.join("plane.csv"))?;
    let (line, plane) = (columns(&line), columns(&plane));
    let mut known = None;
    for order in stdin().lock().lines() {
        let order = order?;
        let words: Vec<&str> = order.split_whitespace().collect();
        let answer = match words[..] {
            ["fit", where_, rows] => {
                let all = if where_ == "line" { &line } else { &plane };
                let fitted = fit(all, rows.parse()?)?;
                let answer = json!({ "log_evidence": fitted.summary().log_evidence });
                known = Some(fitted);
                answer
            }
            ["predict", points] => {
                let fitted = known.as_ref().context("nothing is fitted yet")?;
                predict(fitted, points.parse()?)?
            }
            _ => bail!("`{order}` is no order"),
        };
        println!("{answer}");
        stdout().flush()?;
    }
    Ok(())
}

fn columns<const N: usize>(rows: &[[f64; N]]) -> Rows {
    let column = |at: usize| rows.iter().map(|row| row[at]).collect();
    Rows {
        inputs: (0..N - 1).map(column).collect(),
        values: column(N - 1),
    }
}

/// The first so many rows, from columns to the posterior.
fn fit(all: &Rows, rows: usize) -> Result<Posterior> {
    let names = &["x", "y"][..all.inputs.len()];
    let some = |column: &Vec<f64>| column[..rows.min(column.len())].to_vec();
    let at = quadrat::support::Columns {
        lower: all.inputs.iter().map(some).collect(),
        ..Default::default()
    };
    let dims = names.iter().map(|&name| name.to_owned()).collect();
    let at = Functionals::from_columns(dims, at)?;
    let table = Observations::gaussian(at, some(&all.values), Noise::Learned)?;
    let model = Model::new(Kernel::matern32(names.iter().copied())).observe(table);
    let options = FitOptions::default()
        .with_hyperparameters(Hyperparameters::Map)
        .with_starts(1)
        .with_threads(1);
    Ok(model.fit(&options)?)
}

/// Points along the line from 0 to 10: means and sds, and the interval with the median.
fn predict(fitted: &Posterior, points: usize) -> Result<Value> {
    let step = 10.0 / (points - 1) as f64;
    let at: Vec<f64> = (0..points).map(|i| i as f64 * step).collect();
    let told = fitted.predict(&Functionals::points("x", &at)?, Scale::Response)?;
    // The same roundings as of a level.
    let tail = (1.0 - 0.95) / 2.0;
    let ends = [tail, 0.5, 1.0 - tail].map(|p| told.quantile(p));
    // Some of them, so that checking takes no time.
    let sum = |column: &[f64]| column.iter().step_by(EVERY).sum::<f64>();
    Ok(json!({
        "mean": sum(told.mean()),
        "sd": sum(told.sd()),
        "lower": sum(&ends[0]),
        "median": sum(&ends[1]),
        "upper": sum(&ends[2]),
    }))
}
