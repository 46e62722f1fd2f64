//! A complete grid of boxes through its Kronecker structure.

use std::path::Path;

use anyhow::{Result, ensure};
use quadrat::inference::{Evidence, Exact};
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Hyperparameters, Model, Noise, Observations};
use quadrat::support::{Aggregate, Functionals};
use serde_json::{Value, json};

use crate::cells::Cells;
use crate::clock::{best, once};

const ROUNDS: usize = 10;

pub fn run(data: &Path) -> Result<Value> {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    let mut values = Vec::new();
    for [x0, x1, y0, y1, value] in crate::table::read(data)? {
        set.push_box(&[(x0, x1), (y0, y1)], Aggregate::Sum)?;
        values.push(value);
    }
    let kernel = Kernel::se(["x", "y"]);
    let model = Model::new(kernel).observe(Observations::gaussian(
        set.clone(),
        values.clone(),
        Noise::Learned,
    )?);
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let (posterior, fitted) = once(|| model.fit(&options));
    let posterior = posterior?;
    let summary = posterior.summary();
    ensure!(summary.structure == "kronecker", "the grid was not found");
    let (single, one_start) = once(|| model.fit(&options.clone().with_starts(1)));
    let theta: Vec<f64> = summary.hyperparameters.iter().map(|h| h.value).collect();
    let cells = Cells::new(&set, values)?;
    let evaluation = best(ROUNDS, || Exact(&cells).evaluate(&theta[..4]));
    Ok(json!({
        "rows": cells.len(),
        "fit": {
            "starts": options.starts,
            "time": fitted.json(),
            "evaluations": summary.evaluations,
            "theta": theta,
        },
        "one_start": {
            "time": one_start.json(),
            "evaluations": single?.summary().evaluations,
        },
        "evaluation": evaluation.json(),
    }))
}
