//! Constructors refuse what no likelihood is defined for, and say where.

use quadrat::error::InputError;
use quadrat::likelihood::{
    Censored, Degrees, Gaussian, Interval, Laplace, Noise, Ordinal, Positive, Side, StudentT,
    Thresholds, Truncated,
};

fn message<T: std::fmt::Debug>(result: Result<T, InputError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn bad_input_is_refused_with_row_and_remedy() {
    let nan = f64::NAN;
    let infinite = f64::INFINITY;
    let known = |v: f64| Noise::Known(vec![1.0, v]);
    let two = || vec![1.0, 2.0];
    let learned = || Noise::Learned;
    let list = [
        (
            message(Gaussian::new(vec![1.0, nan], learned())),
            "the value of row 1 is NaN",
        ),
        (
            message(Gaussian::new(two(), known(-1.0))),
            "the variance of row 1 is -1",
        ),
        (
            message(Gaussian::new(two(), Noise::Known(vec![1.0]))),
            "the variance has length 1",
        ),
        (
            message(Gaussian::new(two(), known(infinite))),
            "the variance of row 1 is inf",
        ),
        (
            message(Laplace::new(vec![infinite, 1.0], two())),
            "the value of row 0 is inf",
        ),
        (
            message(Laplace::new(two(), vec![1.0, 0.0])),
            "the scale of row 1 is 0",
        ),
        (
            message(Laplace::new(two(), vec![1.0])),
            "the scale has length 1, expected 2",
        ),
        (
            message(StudentT::new(two(), known(0.0), Degrees::Learned)),
            "let a variance be learned",
        ),
        (
            message(StudentT::new(two(), learned(), Degrees::Known(0.0))),
            "the degrees of freedom",
        ),
        (
            message(StudentT::new(two(), learned(), Degrees::Known(infinite))),
            "Gaussian likelihood",
        ),
        (
            message(StudentT::new(vec![nan], learned(), Degrees::Learned)),
            "the value of row 0",
        ),
        (
            message(Interval::new(two(), vec![1.0], learned())),
            "the upper end has length 1",
        ),
        (
            message(Interval::new(two(), vec![1.0, 1.9], learned())),
            "exchange the two ends",
        ),
        (
            message(Interval::new(vec![nan, 0.0], two(), learned())),
            "the lower end of row 0 is NaN",
        ),
        (
            message(Interval::new(two(), vec![3.0, nan], learned())),
            "the upper end of row 1 is NaN",
        ),
        (
            message(Interval::new(
                vec![infinite; 2],
                vec![infinite; 2],
                learned(),
            )),
            "below inf",
        ),
        (
            message(Interval::new(
                vec![-infinite; 2],
                vec![-infinite; 2],
                learned(),
            )),
            "above -inf",
        ),
        (
            message(Interval::new(two(), vec![1.0, 3.0], known(0.0))),
            "the error of a reading",
        ),
        (
            message(Censored::new(two(), &[Side::None], learned())),
            "the side has length 1",
        ),
        (
            message(Censored::new(vec![1.0, nan], &[Side::Left; 2], learned())),
            "row 1 is NaN",
        ),
        (
            message(Censored::new(two(), &[Side::Right; 2], known(0.0))),
            "the variance of row 1",
        ),
        (
            message(Censored::between(two(), vec![0.0, 3.0], learned())),
            "the upper end of row 0",
        ),
        (
            message(Censored::clipped(&two(), &[1.0; 2], &[0.0; 2], learned())),
            "exchange the two limits",
        ),
        (
            message(Censored::clipped(&two(), &[nan; 2], &[0.0; 2], learned())),
            "the upper limit",
        ),
        (
            message(Truncated::new(two(), vec![1.5; 2], vec![3.0; 2], learned())),
            "the value of row 0 is 1; it must be within its limits",
        ),
        (
            message(Truncated::new(
                two(),
                vec![0.0; 2],
                vec![3.0, 0.0],
                learned(),
            )),
            "exchange the two limits",
        ),
        (
            message(Truncated::new(two(), vec![nan; 2], vec![3.0; 2], learned())),
            "the lower limit of row 0 is NaN",
        ),
        (
            message(Truncated::new(
                two(),
                vec![0.0; 2],
                vec![3.0; 2],
                known(0.0),
            )),
            "the variance of row 1",
        ),
        (
            message(Truncated::new(two(), vec![0.0; 2], vec![3.0], learned())),
            "the upper limit has length 1",
        ),
        (
            message(Ordinal::new(
                vec![1, 4],
                Thresholds::Known(two()),
                learned(),
            )),
            "the rank of row 1 is 4",
        ),
        (
            message(Ordinal::new(vec![0], Thresholds::Learned(3), learned())),
            "the rank of row 0 is 0",
        ),
        (
            message(Ordinal::new(
                vec![1],
                Thresholds::Known(vec![1.0, 1.0]),
                learned(),
            )),
            "above the one before",
        ),
        (
            message(Ordinal::new(
                vec![1],
                Thresholds::Known(vec![nan]),
                learned(),
            )),
            "the threshold of row 0",
        ),
        (
            message(Ordinal::new(vec![1], Thresholds::Known(vec![]), learned())),
            "at least 2",
        ),
        (
            message(Ordinal::new(vec![1], Thresholds::Learned(1), learned())),
            "at least 2",
        ),
        (
            message(Ordinal::new(vec![1, 2], Thresholds::Learned(2), known(0.0))),
            "the variance of row 1",
        ),
        (message(Positive::new(3, nan, 1.0)), "the margin"),
        (message(Positive::new(3, 0.0, 0.0)), "the sd of the sign"),
    ];
    for (number, (text, want)) in list.iter().enumerate() {
        assert!(
            text.contains(want),
            "{number}: `{text}` does not say `{want}`"
        );
    }
}

#[test]
fn exact_rows_may_be_without_noise() {
    let low = f64::NEG_INFINITY;
    assert!(Interval::new(vec![1.0, low], vec![1.0, 2.0], Noise::Known(vec![0.0, 0.1])).is_ok());
    assert!(Interval::new(vec![0.0], vec![2.0], Noise::KnownPlusLearned(vec![0.0])).is_ok());
}
