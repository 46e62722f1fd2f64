#![allow(clippy::unwrap_used, clippy::panic)]

use super::super::exact::{Exact, condition};
use super::super::testing::SePoints;
use super::*;
use crate::parameter::{Parameter, PriorDensity};

fn prior() -> PriorDensity {
    PriorDensity::LogNormal {
        mu: 0.0,
        sigma: 1.5,
    }
}

fn learn(problem: &SePoints, options: &LearnOptions<'_>) -> Optimum {
    maximise(&Exact(problem), options).unwrap()
}

#[test]
fn the_optimum_beats_its_neighbours_and_is_stationary() {
    let problem = SePoints::wave(30, prior());
    let best = learn(&problem, &LearnOptions::default());
    assert!(best.converged);
    assert!(
        // Newton steps go on to 1e-10 of a coordinate, where curvatures are some ten.
        best.projected_gradient < 1e-8,
        "{:e}",
        best.projected_gradient
    );
    let log_posterior = |theta: &[f64]| {
        let prior: f64 = problem
            .parameters
            .iter()
            .zip(theta)
            .map(|(p, t)| p.log_prior_free(t.ln()).0)
            .sum();
        condition(&problem, theta).unwrap().log_evidence + prior
    };
    // The same sums: rounding of some ten nats.
    assert!((log_posterior(&best.theta) - best.log_posterior).abs() < 1e-12);
    for i in 0..3 {
        // The second difference of the value is the Hessian's diagonal: error h^2 + eps / h^2.
        let h = 1e-3f64;
        let at = |sign: f64| {
            let mut theta = best.theta.clone();
            theta[i] *= (sign * h).exp();
            log_posterior(&theta)
        };
        assert!(at(1.0) < best.log_posterior && at(-1.0) < best.log_posterior);
        let second = (2.0 * best.log_posterior - at(1.0) - at(-1.0)) / (h * h);
        // As above: eps times some ten nats over h^2 is 2e-9, the fourth derivative times h^2 some
        // 1e-5.
        assert!((second - best.hessian[(i, i)]).abs() < 1e-4 * (1.0 + second.abs()));
    }
}

#[test]
fn neither_threads_nor_starts_nor_units_move_the_optimum() {
    let problem = SePoints::wave(25, prior());
    let options = LearnOptions {
        threads: 1,
        ..LearnOptions::default()
    };
    let one = learn(&problem, &options);
    let two = learn(
        &problem,
        &LearnOptions {
            threads: 2,
            ..options
        },
    );
    assert_eq!(one.theta, two.theta);
    assert_eq!(one.starts, two.starts);
    assert_eq!(one.log_posterior, two.log_posterior);
    let many = learn(
        &problem,
        &LearnOptions {
            starts: 9,
            seed: 5,
            ..options
        },
    );
    // x in thousandths, y in millions: variances scale by 1e12, the lengthscale by 1e3.
    let scale = [1e12, 1e3, 1e12];
    let mut units = SePoints::new(
        problem.x.iter().map(|x| x * 1e3).collect(),
        problem.residual.iter().map(|y| y * 1e6).collect(),
        prior(),
    );
    for (parameter, scale) in units.parameters.iter_mut().zip(scale) {
        parameter.start *= scale;
        parameter.prior = PriorDensity::LogNormal {
            mu: f64::ln(scale),
            sigma: 1.5,
        };
    }
    let moved = learn(&units, &options);
    for i in 0..3 {
        // Steps go on to 1e-10 of a coordinate; the evidence is stationary, and rounds by eps of
        // some hundred nats.
        assert!((many.theta[i] / one.theta[i]).ln().abs() < 1e-8);
        assert!((moved.theta[i] / scale[i] / one.theta[i]).ln().abs() < 1e-8);
    }
    assert!((moved.log_evidence - one.log_evidence + 25.0 * 1e6f64.ln()).abs() < 1e-8);
}

#[test]
fn fixed_parameters_and_bounds_are_kept() {
    let mut problem = SePoints::wave(20, PriorDensity::Flat);
    problem.parameters[2].fixed = true;
    problem.parameters[2].start = 0.37;
    problem.parameters[1].upper = 1.05;
    let best = learn(&problem, &LearnOptions::default());
    assert_eq!(best.theta[2], 0.37);
    assert_eq!(best.theta[1], 1.05);
    assert_eq!(best.at_bound, [1]);
    assert_eq!(best.hessian.nrows(), 2);
    assert!(best.converged);
    for parameter in &mut problem.parameters {
        parameter.fixed = true;
    }
    let nothing_free = learn(&problem, &LearnOptions::default());
    assert_eq!(nothing_free.theta, [1.0, 1.0, 0.37]);
    assert!(nothing_free.converged);
}

/// A posterior with chosen peaks in the logs of two parameters.
struct Peaks {
    parameters: Vec<Parameter>,
}

impl Peaks {
    fn new() -> Self {
        let parameter = |name| Parameter::positive(name, "", 1.0, PriorDensity::Flat);
        Self {
            parameters: vec![parameter("a"), parameter("b")],
        }
    }
}

impl Evidence for Peaks {
    /// log(exp(-|phi - p|^2 / 2) + exp(-3 - |phi - q|^2 / 2)), p = (-2, 0), q = (2, 0); fails
    /// beyond |phi| = 6.
    fn evaluate_along(
        &self,
        theta: &[f64],
        _: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError> {
        let phi = [theta[0].ln(), theta[1].ln()];
        if phi[0].abs() > 6.0 {
            return Err(FitError::Linalg(crate::error::LinalgError::Eigen {
                size: 1,
            }));
        }
        let form = |c: f64| -0.5 * ((phi[0] - c).powi(2) + phi[1] * phi[1]);
        let (a, b) = (form(-2.0).exp(), (form(2.0) - 3.0).exp());
        let share = a / (a + b);
        let g0 = -(share * (phi[0] + 2.0) + (1.0 - share) * (phi[0] - 2.0));
        Ok(((a + b).ln(), vec![g0 / theta[0], -phi[1] / theta[1]]))
    }
    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}

#[test]
fn another_peak_is_reported() {
    let best = maximise(
        &Peaks::new(),
        &LearnOptions {
            starts: 12,
            ..LearnOptions::default()
        },
    )
    .unwrap();
    // The tail of the other peak moves the higher one by 7e-5 and the lower one by 0.030, and
    // raises the lower one by 0.007. Along the second coordinate both are parabolas, where steps
    // end below 1e-10.
    assert!((best.theta[0].ln() + 2.0).abs() < 0.1 && best.theta[1].ln().abs() < 1e-8);
    assert_eq!(best.others.len(), 1, "{:?}", best.others);
    assert!((best.others[0].theta[0].ln() - 2.0).abs() < 0.1);
    assert!((best.log_posterior - best.others[0].log_posterior - 3.0).abs() < 0.1);
    assert_eq!(best.starts.len(), 12);
}

#[test]
fn too_few_iterations_are_not_hidden() {
    let problem = SePoints::wave(30, prior());
    let search = optimise::Options {
        max_iterations: 1,
        ..optimise::Options::default()
    };
    let best = learn(
        &problem,
        &LearnOptions {
            starts: 1,
            search,
            ..LearnOptions::default()
        },
    );
    assert!(!best.starts[0].converged);
    // Newton refinement may still arrive; it says so honestly.
    assert_eq!(best.converged, best.projected_gradient <= 1e-4);
}

#[test]
fn no_usable_start_is_an_error_with_the_reason() {
    let mut peaks = Peaks::new();
    peaks.parameters[0].start = 1e6;
    peaks.parameters[0].lower = 1e5;
    let error = maximise(&peaks, &LearnOptions::default()).unwrap_err();
    assert!(error.to_string().contains("eigenvalue"), "{error}");
}

#[test]
fn invalid_parameters_are_refused() {
    let mut problem = SePoints::wave(5, prior());
    problem.parameters[0].start = -1.0;
    assert!(matches!(
        maximise(&Exact(&problem), &LearnOptions::default()),
        Err(FitError::Input(_))
    ));
}

#[test]
fn progress_counts_the_starts() {
    struct Count(Mutex<Vec<usize>>);
    impl Progress for Count {
        fn report(&self, event: Event) {
            if let Event::Start { done, total: 5, .. } = event {
                self.0.lock().unwrap().push(done);
            }
        }
    }
    let count = Count(Mutex::new(Vec::new()));
    learn(
        &SePoints::wave(8, prior()),
        &LearnOptions {
            progress: &count,
            ..LearnOptions::default()
        },
    );
    assert_eq!(*count.0.lock().unwrap(), [1, 2, 3, 4, 5]);
}

/// Rises up to a cliff at `theta = 1`, beyond which it cannot be evaluated.
struct Cliff(Vec<Parameter>);

impl Evidence for Cliff {
    fn evaluate_along(
        &self,
        theta: &[f64],
        _: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError> {
        if theta[0] > 1.0 {
            return Err(FitError::Linalg(crate::error::LinalgError::Eigen {
                size: 1,
            }));
        }
        Ok((theta[0].ln(), vec![1.0 / theta[0]]))
    }
    fn parameters(&self) -> &[Parameter] {
        &self.0
    }
}

#[test]
fn the_edge_of_a_cliff_is_not_called_an_optimum() {
    let parameter = Parameter::positive("a", "", 0.5, PriorDensity::Flat);
    let best = maximise(&Cliff(vec![parameter]), &LearnOptions::default()).unwrap();
    assert!(!best.converged);
    assert!(
        best.theta[0] > 0.9 && best.theta[0] <= 1.0,
        "{:?}",
        best.theta
    );
}

/// A normal density of precision 40 of the log of a parameter, with a ridge at zero of this slope on
/// both sides: as where rounding lets no step improve.
struct Ridge(f64, Vec<Parameter>);

impl Evidence for Ridge {
    fn evaluate_along(
        &self,
        theta: &[f64],
        _: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError> {
        let phi = theta[0].ln();
        let value = -20.0 * phi * phi - self.0 * phi.abs();
        let gradient = -40.0 * phi - self.0 * phi.signum();
        Ok((value, vec![gradient / theta[0]]))
    }
    fn rounding(&self) -> f64 {
        1e-3
    }
    fn parameters(&self) -> &[Parameter] {
        &self.1
    }
}

#[test]
fn an_optimum_without_a_flat_top_is_one_where_nothing_is_left_to_gain() {
    for slope in [0.01, 0.2] {
        let parameter = Parameter::positive("a", "", 0.5, PriorDensity::Flat);
        let ridge = Ridge(slope, vec![parameter]);
        let best = maximise(&ridge, &LearnOptions::default()).unwrap();
        // More than the gradient of an optimum that is smooth, and a hundredth of an sd away.
        assert!(best.projected_gradient > 1e-3 && best.converged, "{best:?}");
        assert!(best.theta[0].ln().abs() < 0.01 / 40.0_f64.sqrt());
    }
}

/// A normal density of the logs of two parameters, of precision [`BENT`] around zero.
struct Bowl {
    parameters: Vec<Parameter>,
    is_dear: bool,
}

const BENT: [[f64; 2]; 2] = [[40.0, 15.0], [15.0, 10.0]];

impl Evidence for Bowl {
    fn evaluate_along(
        &self,
        theta: &[f64],
        _: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError> {
        let phi = [theta[0].ln(), theta[1].ln()];
        let pull = [0, 1].map(|i| BENT[i][0] * phi[0] + BENT[i][1] * phi[1]);
        let value = -0.5 * (phi[0] * pull[0] + phi[1] * pull[1]);
        Ok((value, vec![-pull[0] / theta[0], -pull[1] / theta[1]]))
    }
    fn is_dear(&self) -> bool {
        self.is_dear
    }
    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}

/// Differences of a gradient that is linear are exact, on both sides, on one, and of first order.
#[test]
fn the_curvature_of_a_normal_density_is_its_precision() {
    for (is_dear, upper) in [
        (false, None),
        (false, Some(1.5)),
        (true, None),
        (true, Some(1.5)),
    ] {
        let mut parameters = ["a", "b"]
            .map(|name| Parameter::positive(name, "", 1.0, PriorDensity::Flat))
            .to_vec();
        // At its bound, the first can only be moved inwards.
        parameters[0].upper = upper.unwrap_or(parameters[0].upper);
        let bowl = Bowl {
            parameters,
            is_dear,
        };
        let space = FreeSpace::new(&bowl).unwrap();
        let z = space.coordinates_of(&[1.5, 0.8]);
        let mut warm_start = WarmStart::precise();
        let gradient = space.evaluate(&z, &mut warm_start).unwrap().gradient;
        let mut evaluations = 0;
        let got = space
            .curvature(&z, &gradient, &warm_start, &mut evaluations)
            .unwrap();
        assert_eq!(evaluations, if is_dear { 2 } else { 4 });
        for i in 0..2 {
            for j in 0..2 {
                let want = BENT[i][j] * space.units()[i] * space.units()[j];
                // Rounding of a gradient of some tens, over a step of 1e-4.
                let off = (got[(i, j)] - want).abs();
                assert!(off < 1e-8 * want, "{is_dear} {upper:?} {got:?}");
            }
        }
    }
}
