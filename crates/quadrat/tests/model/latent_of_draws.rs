//! The function itself where weighted draws answer: its distribution has the shape of theirs.

use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{Mean, Model, Observations, Prediction, Scale, Setting};
use quadrat::support::Functionals;

use crate::common::map;

const VARIANCE: f64 = 16.0;
const ENDS: [f64; 5] = [0.025, 0.25, 0.5, 0.75, 0.975];

fn ends(told: &Prediction) -> Vec<Vec<f64>> {
    told.tabulate(&ENDS, &[]).quantiles
}

/// Quantiles of `f` whose density is `N(f; 0, VARIANCE) exp(count f - e^f)`, by sums over a lattice
/// of twelve prior standard deviations on either side.
fn exact(count: f64) -> Vec<f64> {
    let step = 1e-3;
    let places = (-48_000..=48_000).map(|i| step * f64::from(i));
    let density = |f: f64| (-0.5 * f * f / VARIANCE + count * f - f.exp()).exp();
    let all: Vec<(f64, f64)> = places.map(|f| (f, density(f))).collect();
    let whole: f64 = all.iter().map(|(_, p)| p).sum();
    let at = |share: f64| {
        let mut below = 0.0;
        let found = all.iter().find(|(_, p)| {
            below += p / whole;
            below >= share
        });
        found.unwrap().0
    };
    ENDS.map(at).to_vec()
}

#[test]
fn its_intervals_are_those_of_the_rows_own_law_and_of_the_rate() {
    let counts = [0.0, 3.0, 0.0, 0.0, 1.0];
    // So far from each other that they say nothing of each other.
    let places: Vec<f64> = (0..5).map(|i| 50.0 * f64::from(i)).collect();
    let at = Functionals::points("t", &places).unwrap();
    let rows = Poisson::new(counts.to_vec(), vec![1.0; 5], Link::Exp).unwrap();
    let model = Model::new(Kernel::se(["t"]))
        .mean(Mean::Zero)
        .set("se.variance", Setting::fixed(VARIANCE))
        .set("se.lengthscale.t", Setting::fixed(1.0))
        .observe(Observations::new(at.clone(), rows).unwrap());
    let posterior = map(&model);
    let latent = posterior.predict(&at, Scale::Latent).unwrap();
    let rate = posterior.predict(&at, Scale::Response).unwrap();
    let (latent_ends, rate_ends) = (ends(&latent), ends(&rate));
    for (row, count) in counts.into_iter().enumerate() {
        let sd = latent.sd()[row];
        for (k, want) in exact(count).into_iter().enumerate() {
            let (got, of_rate) = (latent_ends[k][row], rate_ends[k][row].ln());
            // Ends of 95 % of some 2,000 draws of equal weight are known to a tenth of a standard
            // deviation, and a stratum of 1 % of them is told by a normal law.
            assert!(
                (got - want).abs() < 0.2 * sd,
                "{row} {k}: {got} {want} {sd}"
            );
            assert!(
                (got - of_rate).abs() < 0.1 * sd,
                "{row} {k}: {got} {of_rate} {sd}"
            );
        }
    }
}
