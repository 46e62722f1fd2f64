//! Exact inference on points.

use std::path::Path;

use anyhow::Result;
use quadrat::inference::evidence_and_gradient;
use quadrat::model::{FitOptions, Hyperparameters, Mean, Model, Noise, Observations};
use serde_json::{Value, json};

use crate::clock::once;
use crate::points::Points;

pub fn run(data: &Path, evaluations: usize, theta: &[f64]) -> Result<Value> {
    let points = Points::read(data)?;
    let (last, evaluated) = once(|| {
        let mut last = Ok((0.0, Vec::new()));
        for _ in 0..evaluations {
            last = evidence_and_gradient(&points, theta);
        }
        last
    });
    let (log_evidence, gradient) = last?;
    let options = FitOptions::default()
        .with_hyperparameters(Hyperparameters::Map)
        .with_starts(1);
    let table = Observations::gaussian(
        points.supports.clone(),
        points.values.clone(),
        Noise::Learned,
    )?;
    let model = Model::new(points.kernel.clone())
        .mean(Mean::Zero)
        .observe(table);
    let (posterior, fitted) = once(|| model.fit(&options));
    let posterior = posterior?;
    let summary = posterior.summary();
    Ok(json!({
        "evaluations": evaluations,
        "time": evaluated.json(),
        "log_evidence": log_evidence,
        "gradient": gradient,
        "fit": {
            "time": fitted.json(),
            "evaluations": summary.evaluations,
            "log_evidence": summary.log_evidence,
            "theta": summary.hyperparameters.iter().map(|h| h.value).collect::<Vec<_>>(),
        },
    }))
}
