//! Likelihoods of values.

use quadrat::likelihood::local::Circumstances;
use quadrat::likelihood::{Gaussian, Noise};

use crate::contract::{Case, DISTANCES, RATIOS, run};

#[test]
fn gaussian_keeps_the_contract() {
    let values = vec![0.3, -2.0, 15.0];
    let variances = vec![0.1, 4.0, 0.0];
    let own_values = values.clone();
    let case = Case {
        name: "gaussian",
        likelihood: Box::new(Gaussian::new(values, Noise::KnownPlusLearned(variances)).unwrap()),
        own: vec![vec![0.7], vec![1e-3]],
        features: |p, own, row| {
            let (value, variance) = p.gaussian(own, row).unwrap();
            vec![(value, variance.sqrt())]
        },
        circumstances: |row| Circumstances {
            variance: [0.1, 4.0, 0.0][row],
            ..Circumstances::default()
        },
        log_probability: Box::new(move |d, row| d.log_density(own_values[row])),
        kinked: false,
        ratios: RATIOS,
        distances: DISTANCES,
    };
    run(&case);
}
