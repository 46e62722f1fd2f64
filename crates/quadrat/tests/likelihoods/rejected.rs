//! The contract refuses likelihoods that are deliberately wrong.

use quadrat::likelihood::distribution::Distribution;
use quadrat::likelihood::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use quadrat::likelihood::{Gaussian, Noise};
use quadrat::parameter::Parameter;

use crate::by_draws;
use crate::contract::{self, Case, Report};

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    Value,
    First,
    Third,
    Slope,
    LogZ,
    Precision,
    Shift,
    TiltedSlope,
    Expected,
    ExpectedSecond,
    ExpectedSlope,
    Observation,
}

/// A Gaussian with one fault of a given size.
struct Broken(Gaussian, Fault, f64);

impl Broken {
    fn bend(&self, fault: Fault, x: f64) -> f64 {
        if self.1 == fault {
            (1.0 + self.2) * x + self.2
        } else {
            x
        }
    }
}

impl Local for Broken {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn parameters(&self, spread: f64) -> Vec<Parameter> {
        self.0.parameters(spread)
    }
    fn gaussian(&self, own: &[f64], row: usize) -> Option<(f64, f64)> {
        self.0.gaussian(own, row)
    }
    fn is_log_concave(&self) -> bool {
        true
    }
    fn guess(&self, own: &[f64], row: usize) -> f64 {
        self.0.guess(own, row)
    }
    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        let jet = self.0.log_density(own, row, f);
        Jet {
            value: self.bend(Fault::Value, jet.value),
            first: self.bend(Fault::First, jet.first),
            third: self.bend(Fault::Third, jet.third),
            ..jet
        }
    }
    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        self.0.log_density_slopes(own, row, f, out);
        out[0][1] = self.bend(Fault::Slope, out[0][1]);
    }
    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        let tilted = self.0.tilted(own, row, cavity);
        Tilted {
            log_z: self.bend(Fault::LogZ, tilted.log_z),
            precision: self.bend(Fault::Precision, tilted.precision),
            shift: self.bend(Fault::Shift, tilted.shift),
        }
    }
    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        self.0.tilted_slopes(own, row, cavity, out);
        out[0] = self.bend(Fault::TiltedSlope, out[0]);
    }
    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        let expected = self.0.expected(own, row, belief);
        Expected {
            value: self.bend(Fault::Expected, expected.value),
            second: self.bend(Fault::ExpectedSecond, expected.second),
            ..expected
        }
    }
    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        self.0.expected_slopes(own, row, belief, out);
        out[0] = self.bend(Fault::ExpectedSlope, out[0]);
    }
    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        match self.0.observation(own, circumstances, f) {
            Distribution::Normal(mut normal) => {
                normal.sd = self.bend(Fault::Observation, normal.sd);
                Distribution::Normal(normal)
            }
            other => other,
        }
    }
}

fn case(fault: Fault, size: f64) -> Case {
    let gaussian = Gaussian::new(vec![0.3, -2.0], Noise::Learned).unwrap();
    Case {
        name: "broken",
        likelihood: Box::new(Broken(gaussian, fault, size)),
        own: vec![vec![0.7]],
        features: |p, own, row| {
            let (value, variance) = p.gaussian(own, row).unwrap();
            vec![(value, variance.sqrt())]
        },
        circumstances: |_| Circumstances::default(),
        log_probability: Box::new(|d, row| d.log_density([0.3, -2.0][row])),
        kinked: false,
        ratios: &[0.1, 1.0, 10.0],
        distances: &[0.0, 0.5, -3.0],
    }
}

#[test]
fn the_contract_refuses_every_fault() {
    type Check = fn(&Case) -> Report;
    let faults: [(Fault, Check); 18] = [
        (Fault::Value, contract::derivatives),
        (Fault::Value, contract::observations),
        (Fault::First, contract::derivatives),
        (Fault::Third, contract::derivatives),
        (Fault::Slope, contract::derivatives),
        (Fault::LogZ, contract::tilted),
        (Fault::Precision, contract::tilted),
        (Fault::Shift, contract::tilted),
        (Fault::TiltedSlope, contract::slopes),
        (Fault::Expected, contract::expected),
        (Fault::ExpectedSecond, contract::expected_derivatives),
        (Fault::ExpectedSlope, contract::slopes),
        (Fault::Observation, contract::observations),
        (Fault::LogZ, by_draws::tilted),
        (Fault::Precision, by_draws::tilted),
        (Fault::Shift, by_draws::tilted),
        (Fault::Expected, by_draws::expected),
        (Fault::ExpectedSecond, by_draws::expected),
    ];
    for (number, (fault, check)) in faults.iter().enumerate() {
        // Some thousand draws see what a quadrature sees when it is a hundred times as large.
        let size = if number < 13 { 1e-3 } else { 0.1 };
        assert!(
            check(&case(Fault::None, 0.0)).failures.is_empty(),
            "fault {number}: the sound one is refused"
        );
        assert!(
            !check(&case(*fault, size)).failures.is_empty(),
            "fault {number} is not noticed"
        );
    }
}
