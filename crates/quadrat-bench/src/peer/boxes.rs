//! Gram matrix and gradient of box sums.

use std::path::Path;

use anyhow::Result;
use faer::Mat;
use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::support::{Aggregate, Functionals};
use serde_json::{Value, json};

use crate::clock::best;

const ROUNDS: usize = 20;

pub fn run(data: &Path, theta: &[f64], out: &Path) -> Result<Value> {
    let names = &["x", "y"][..theta.len() - 1];
    let mut set = Functionals::new(names.iter().map(|&n| n.to_owned()).collect());
    for [x0, x1, y0, y1] in crate::table::read(data)? {
        set.push_box(&[(x0, x1), (y0, y1)][..names.len()], Aggregate::Sum)?;
    }
    let n = set.len();
    let covariance = Covariance::new(&Kernel::se(names.iter().copied()));
    // The peer makes the same one.
    let adjoint = Mat::from_fn(n, n, |i, j| (0.37 * (i + j) as f64).sin());
    let contracted = || {
        let mut gradient = vec![0.0; theta.len()];
        covariance.contract(theta, &set, adjoint.as_ref(), &mut gradient);
        gradient
    };
    let k = covariance.matrix(theta, &set);
    let bytes: Vec<u8> = k
        .col_iter()
        .flat_map(|column| column.iter().copied())
        .flat_map(f64::to_le_bytes)
        .collect();
    std::fs::write(out, bytes)?;
    Ok(json!({
        "rows": n,
        "gradient": contracted(),
        "matrix": best(ROUNDS, || covariance.matrix(theta, &set)).json(),
        "contract": best(ROUNDS, contracted).json(),
    }))
}
