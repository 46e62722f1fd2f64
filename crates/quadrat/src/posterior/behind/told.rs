//! What rows leave open of their values.

use crate::error::InputError;
use crate::likelihood::{Likelihood, Noise};

/// What a row told of its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ReportedValue {
    /// The value itself.
    Value(f64),
    /// A count between these, both included, at an exposure above zero.
    Count {
        lower: f64,
        upper: f64,
        exposure: f64,
    },
    /// A value between these; infinite for no end.
    Between { lower: f64, upper: f64 },
    /// A rank, counted from 1.
    Rank(usize),
    /// A value to which normal noise of a known variance was added.
    Noisy { reported: f64, known: f64 },
    /// The function under the row, since all noise is known.
    Function,
}

const NO_VALUE: InputError = InputError::Unavailable {
    what: "the value behind rows that report none",
    remedy: "rows that only say that the function is positive have no value; ask for a table that reports something",
};

const TWO_NOISES: InputError = InputError::Unavailable {
    what: "the value behind Student-t rows whose noise is partly known and partly learned",
    remedy: "let the noise be known or learned, or predict the response",
};

const LINKED: InputError = InputError::Unavailable {
    what: "the value behind rows with noise behind a link",
    remedy: "predict the response: what is added up, without the noise",
};

/// Whether every value is known without noise.
fn is_exact(noise: &Noise) -> bool {
    matches!(noise, Noise::Known(known) if known.iter().all(|v| *v == 0.0))
}

/// Refuses tables whose rows have no value behind them, or none that can be told.
pub(super) fn possible(likelihood: &Likelihood) -> Result<(), InputError> {
    match likelihood {
        Likelihood::Positive(_) => Err(NO_VALUE),
        Likelihood::Gaussian(x) if !x.is_linear() && !is_exact(x.noise()) => Err(LINKED),
        Likelihood::StudentT(x) if matches!(x.noise(), Noise::KnownPlusLearned(_)) => {
            Err(TWO_NOISES)
        }
        Likelihood::Gaussian(_)
        | Likelihood::StudentT(_)
        | Likelihood::Laplace(_)
        | Likelihood::Interval(_)
        | Likelihood::Censored(_)
        | Likelihood::Truncated(_)
        | Likelihood::Ordinal(_)
        | Likelihood::Bernoulli(_)
        | Likelihood::Binomial(_)
        | Likelihood::Poisson(_)
        | Likelihood::NegativeBinomial(_)
        | Likelihood::Exponential(_)
        | Likelihood::Gamma(_)
        | Likelihood::LogNormal(_) => Ok(()),
    }
}

/// What a row of a likelihood that is [`possible`] told.
pub(super) fn told(likelihood: &Likelihood, row: usize) -> ReportedValue {
    let between = |lower: &[f64], upper: &[f64]| match lower[row] == upper[row] {
        true => ReportedValue::Value(lower[row]),
        false => ReportedValue::Between {
            lower: lower[row],
            upper: upper[row],
        },
    };
    let count = |lower: &[f64], upper: &[f64], exposure: &[f64]| {
        if lower[row] == upper[row] || exposure[row] == 0.0 {
            // Nothing is counted at an exposure of zero.
            return ReportedValue::Value(lower[row]);
        }
        ReportedValue::Count {
            lower: lower[row],
            upper: upper[row],
            exposure: exposure[row],
        }
    };
    match likelihood {
        Likelihood::Gaussian(x) => match x.noise().known().map(|known| known[row]) {
            Some(known) if known > 0.0 => ReportedValue::Noisy {
                reported: x.values()[row],
                known,
            },
            _ => ReportedValue::Value(x.values()[row]),
        },
        Likelihood::StudentT(x) => match x.noise() {
            Noise::Known(known) if known[row] > 0.0 => ReportedValue::Function,
            _ => ReportedValue::Value(x.values()[row]),
        },
        Likelihood::Laplace(_) | Likelihood::Positive(_) => ReportedValue::Function,
        Likelihood::Truncated(x) => ReportedValue::Value(x.values()[row]),
        Likelihood::Interval(x) => between(x.lower(), x.upper()),
        Likelihood::Censored(x) => between(x.readings().lower(), x.readings().upper()),
        Likelihood::Ordinal(x) => ReportedValue::Rank(x.ranks()[row]),
        Likelihood::Bernoulli(x) => ReportedValue::Value(f64::from(u8::from(x.values()[row]))),
        Likelihood::Binomial(x) => ReportedValue::Value(x.successes()[row]),
        Likelihood::Poisson(x) => count(x.lower(), x.upper(), x.exposure()),
        Likelihood::NegativeBinomial(x) => count(x.lower(), x.upper(), x.exposure()),
        Likelihood::Exponential(x) => ReportedValue::Value(x.values()[row]),
        Likelihood::Gamma(x) => ReportedValue::Value(x.values()[row]),
        Likelihood::LogNormal(x) => ReportedValue::Value(x.values()[row]),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::likelihood::{Censored, Gaussian, Laplace, Poisson, Positive, Side};
    use crate::link::Link;

    #[test]
    fn rows_tell_values_ranges_or_the_function() {
        let counts = Poisson::ranges(
            vec![0.0, 3.0, 0.0],
            vec![4.0, 3.0, 4.0],
            vec![2.0, 2.0, 0.0],
            Link::Exp,
        );
        let counts: Likelihood = counts.unwrap().into();
        assert_eq!(
            told(&counts, 0),
            ReportedValue::Count {
                lower: 0.0,
                upper: 4.0,
                exposure: 2.0
            }
        );
        assert_eq!(told(&counts, 1), ReportedValue::Value(3.0));
        assert_eq!(told(&counts, 2), ReportedValue::Value(0.0));
        let sides = [Side::Left, Side::None];
        let censored = Censored::new(vec![0.8, 1.5], &sides, Noise::Learned);
        let censored: Likelihood = censored.unwrap().into();
        let below = ReportedValue::Between {
            lower: f64::NEG_INFINITY,
            upper: 0.8,
        };
        assert_eq!(told(&censored, 0), below);
        assert_eq!(told(&censored, 1), ReportedValue::Value(1.5));
        let exact: Likelihood = Gaussian::new(vec![2.0], Noise::Learned).unwrap().into();
        assert_eq!(told(&exact, 0), ReportedValue::Value(2.0));
        let known = Noise::KnownPlusLearned(vec![4.0]);
        let noisy: Likelihood = Gaussian::new(vec![2.0], known).unwrap().into();
        let told_noisy = ReportedValue::Noisy {
            reported: 2.0,
            known: 4.0,
        };
        assert_eq!(told(&noisy, 0), told_noisy);
        let private: Likelihood = Laplace::new(vec![2.0], vec![1.0]).unwrap().into();
        assert_eq!(told(&private, 0), ReportedValue::Function);
        let bounds: Likelihood = Positive::new(1, 0.0, 1.0).unwrap().into();
        assert!(possible(&bounds).is_err() && possible(&private).is_ok());
    }
}
