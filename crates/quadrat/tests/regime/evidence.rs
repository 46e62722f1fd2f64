//! The evidence of normal rows against numbers computed with 60 digits.

use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Setting};
use quadrat::parameter::PriorDensity;
use quadrat::support::{Aggregate, Functionals};

/// Written by `evidence.py`.
const TABLE: &str = include_str!("../reference/evidence.csv");

struct Reference {
    model: Model,
    log_evidence: f64,
    /// How far double precision can know it.
    allowed: f64,
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

fn reference(line: &str) -> Reference {
    let fields: Vec<&str> = line.split(',').collect();
    let (kernel, rows) = (fields[0], fields[5]);
    let mut set = Functionals::new(vec!["x".into()]);
    let (mut values, mut noise) = (Vec::new(), Vec::new());
    for row in rows.split(';') {
        let parts: Vec<&str> = row.split(':').collect();
        let edges = (number(parts[0]), number(parts[1]));
        let aggregate = match parts[2] {
            "sum" => Aggregate::Sum,
            _ => Aggregate::Mean,
        };
        set.push_box(&[edges], aggregate).unwrap();
        values.push(number(parts[3]));
        noise.push(number(parts[4]));
    }
    let n = values.len();
    let table = Observations::gaussian(set, values, Noise::Known(noise)).unwrap();
    let (mean, sd) = (number(fields[3]), number(fields[4]));
    let mut model = Model::new(Kernel::parse(&format!("{kernel}(x)")).unwrap())
        .observe(table)
        .set(
            &format!("{kernel}.variance"),
            Setting::fixed(number(fields[1])),
        )
        .set(
            &format!("{kernel}.lengthscale.x"),
            Setting::fixed(number(fields[2])),
        );
    model = match sd {
        0.0 => model.mean(Mean::Fixed(mean)),
        sd => model.set(
            "mean.constant",
            Setting::prior(PriorDensity::Normal { mean, sd }),
        ),
    };
    let [log_evidence, square, condition] = [6, 7, 8].map(|i| number(fields[i]));
    // A backward stable factorisation answers for a matrix whose entries differ by some n eps:
    // eigenvalues move by that share of the largest, and with them the quadratic form and every
    // logarithm.
    let relative = n as f64 * f64::EPSILON * condition;
    Reference {
        model,
        log_evidence,
        allowed: relative * (square + n as f64) + 1e-14 * log_evidence.abs(),
    }
}

fn evidence(known: &Reference) -> f64 {
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    known.model.fit(&options).unwrap().summary().log_evidence
}

#[test]
fn the_evidence_of_normal_rows_is_that_of_sixty_digits() {
    let all: Vec<Reference> = TABLE.lines().skip(1).map(reference).collect();
    assert!(all.len() > 50);
    for (line, known) in all.iter().enumerate() {
        let (own, right) = (evidence(known), known.log_evidence);
        let off = (own - right).abs();
        assert!(
            off <= known.allowed,
            "line {}: {own}, right {right}, may be off by {:e}",
            line + 2,
            known.allowed
        );
    }
}

/// The numbers are exact enough to tell a covariance that is off by a millionth.
#[test]
fn another_variance_has_another_evidence() {
    let mut told = 0;
    for text in TABLE.lines().skip(1) {
        let (kernel, variance) = text
            .split_once(',')
            .map(|(k, rest)| (k, rest.split_once(',').unwrap()))
            .unwrap();
        let other = number(variance.0) * (1.0 + 1e-6);
        let known = reference(&format!("{kernel},{other:?},{}", variance.1));
        told += usize::from((evidence(&known) - known.log_evidence).abs() > known.allowed);
    }
    assert!(told > 40, "{told}");
}
