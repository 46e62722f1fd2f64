//! Sums behind a link that lie beside each other and differ by orders of magnitude: a row of
//! nothing stays a row of nothing, and parts add up to their rows.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Gaussian, Likelihood, Poisson};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::support::{Aggregate, Functionals};

/// Of neighbours, each as wide as this.
fn boxes(count: u32, width: f64) -> Functionals {
    let each = (0..count).map(|i| (width * f64::from(i), width * f64::from(i + 1)));
    Functionals::intervals("x", &each.collect::<Vec<_>>(), Aggregate::Sum).unwrap()
}

fn counted(counts: &[f64], link: Link) -> Observations {
    let rows = boxes(counts.len() as u32, 10.0);
    let counts = Poisson::new(counts.to_vec(), vec![1.0; counts.len()], link).unwrap();
    Observations::new(rows, counts).unwrap()
}

fn fit(model: Model, table: Observations, hyperparameters: Hyperparameters) -> Posterior {
    let options = FitOptions::default().with_hyperparameters(hyperparameters);
    model.observe(table).fit(&options).unwrap()
}

/// A count of zero has a mean of at most some ones: under a flat prior of the mean it is one, and
/// what a curve adds of its neighbours is less.
#[test]
fn zeros_beside_hundreds_stay_next_to_nothing_behind_softplus() {
    let counts = [0.0, 3.0, 500.0, 0.0, 0.0, 40.0];
    let kernels = [
        ("se", Kernel::se(["x"])),
        ("matern12", Kernel::matern12(["x"])),
    ];
    let ways = [Hyperparameters::Map, Hyperparameters::Auto];
    for ((name, kernel), how) in kernels.iter().flat_map(|k| ways.map(|how| (k, how))) {
        let length = format!("{name}.lengthscale.x");
        let model = Model::new(kernel.clone()).set(&length, Setting::fixed(7.0));
        let posterior = fit(model, counted(&counts, Link::Softplus), how);
        let rows = boxes(6, 10.0);
        let told = posterior.predict(&rows, Scale::Response).unwrap();
        for (row, count) in counts.iter().enumerate() {
            let (mean, sd) = (told.mean()[row], told.sd()[row]);
            assert!(
                (mean - count).abs() < 3.0 + 2.0 * count.sqrt(),
                "{row}: {mean}"
            );
            assert!(sd < 2.0 + 1.5 * count.sqrt(), "{row}: {sd}");
        }
    }
}

/// Amounts that are known exactly: quarters are numbers, and add up to them.
#[test]
fn parts_of_exact_amounts_add_up_behind_softplus() {
    let amounts = [612.0, 548.0, 31.0, 702.5, 655.0];
    let exact = Gaussian::new(amounts.to_vec(), Noise::Known(vec![0.0; 5])).unwrap();
    let exact: Likelihood = exact.behind(Link::Softplus).unwrap().into();
    let table = Observations::new(boxes(5, 10.0), exact).unwrap();
    let model =
        Model::new(Kernel::matern32(["x"])).set("matern32.lengthscale.x", Setting::fixed(8.0));
    let posterior = fit(model, table, Hyperparameters::Auto);
    let parts = posterior.predict(&boxes(20, 2.5), Scale::Response).unwrap();
    for (row, amount) in amounts.iter().enumerate() {
        let own = &parts.mean()[4 * row..4 * row + 4];
        assert!(own.iter().all(|mean| *mean >= 0.0));
        let sum: f64 = own.iter().sum();
        // Beliefs that take the place of draws have their means to 1e-9; next to nothing is lost
        // of draws in which a part vanishes.
        assert!((sum / amount - 1.0).abs() < 1e-3, "{row}: {sum}");
    }
}

/// Counts of thousands beside none under a rough kernel: the function moves by orders of magnitude
/// between the nodes of a row, whose parts still add up to it, in means and in every draw.
#[test]
fn parts_of_counts_add_up_where_the_function_is_steep() {
    let counts = [9000.0, 0.0, 200.0, 5000.0, 0.0];
    for link in [Link::Exp, Link::Softplus] {
        let variance = if link == Link::Exp { 80.0 } else { 1e6 };
        let model = Model::new(Kernel::matern32(["x"]))
            .set("matern32.variance", Setting::fixed(variance))
            .set("matern32.lengthscale.x", Setting::fixed(5.6));
        let posterior = fit(model, counted(&counts, link), Hyperparameters::Auto);
        let rows = posterior.predict(&boxes(5, 10.0), Scale::Response).unwrap();
        let cells = boxes(50, 1.0);
        let parts = posterior.predict(&cells, Scale::Response).unwrap();
        let whole: f64 = rows.mean().iter().sum();
        for row in 0..5 {
            let sum: f64 = parts.mean()[10 * row..10 * row + 10].iter().sum();
            let mean = rows.mean()[row];
            // What a part may miss before its row scales it; of a row of nothing, beside all.
            let most = 0.01 * mean + 1e-4 * whole;
            assert!((sum - mean).abs() < most, "{link} {row}: {sum} {mean}");
        }
        let draws = posterior.sample_responses(&cells, 400, 1).unwrap();
        let total = |draw: usize| draws.col_as_slice(draw).iter().sum::<f64>();
        let off = (0..400).map(|draw| (total(draw) / 14_200.0 - 1.0).abs());
        // Draws of Poisson means whose sum is 14,200 have an sd of .0084 of it: five of them.
        assert!(off.fold(0.0, f64::max) < 0.05, "{link}");
    }
}
