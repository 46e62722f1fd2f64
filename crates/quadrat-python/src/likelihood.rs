//! Likelihoods: what the rows reported.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadrat::error::InputError;
use quadrat::likelihood::{
    Bernoulli, Binomial, Censored, Degrees, Dispersion, Exponential, Gamma, Gaussian, Interval,
    Laplace, Likelihood as Reported, LogNormal, LogSd, NegativeBinomial, Noise, Ordinal, Poisson,
    Positive, Shape, Side, Sigmoid, StudentT, Thresholds, Truncated,
};
use quadrat::link::Link;
use quadrat_study::new_row::NewRow;

use crate::buffers::Numbers;
use crate::errors::{Failure, Outcome};

/// Rows of one likelihood.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Likelihood {
    pub reported: Reported,
    /// What a new row is, besides.
    pub new_row: NewRow,
}

/// The arguments of a likelihood by name, as Python hands them over.
struct Given<'py>(Bound<'py, PyDict>);

impl Given<'_> {
    fn numbers(&self, name: &str) -> PyResult<Option<Vec<f64>>> {
        let found = self.0.get_item(name)?.filter(|value| !value.is_none());
        found
            .map(|value| Ok(value.extract::<Numbers>()?.0))
            .transpose()
    }

    /// A column that must be there.
    fn column(&self, name: &str) -> PyResult<Vec<f64>> {
        Ok(self.numbers(name)?.unwrap_or_default())
    }

    fn number(&self, name: &str) -> PyResult<Option<f64>> {
        let found = self.0.get_item(name)?.filter(|value| !value.is_none());
        found.map(|value| value.extract()).transpose()
    }

    fn word(&self, name: &str) -> PyResult<Option<String>> {
        let found = self.0.get_item(name)?.filter(|value| !value.is_none());
        found.map(|value| value.extract()).transpose()
    }

    /// The column `variance`, and whether a learned one is added.
    fn noise(&self) -> PyResult<Noise> {
        let extra = self.word("extra")?.is_some();
        Ok(match self.numbers("variance")? {
            None => Noise::Learned,
            Some(known) if extra => Noise::KnownPlusLearned(known),
            Some(known) => Noise::Known(known),
        })
    }

    /// `exp` unless another is given.
    fn link(&self) -> PyResult<Outcome<Link>> {
        Ok(match self.word("link")? {
            None => Ok(Link::Exp),
            Some(word) => word.parse::<Link>().map_err(Failure::from),
        })
    }

    fn sigmoid(&self) -> PyResult<Outcome<Sigmoid>> {
        Ok(match self.word("sigmoid")?.as_deref() {
            None | Some("logit") => Ok(Sigmoid::Logit),
            Some("probit") => Ok(Sigmoid::Probit),
            Some(other) => Err(Failure::Data(format!(
                "sigmoid is \"{other}\"; it must be \"logit\" or \"probit\""
            ))),
        })
    }

    /// Ones where a column is not given.
    fn or_ones(&self, name: &str, rows: usize) -> PyResult<Vec<f64>> {
        Ok(self.numbers(name)?.unwrap_or_else(|| vec![1.0; rows]))
    }
}

#[pymethods]
impl Likelihood {
    /// One by its name in study files, from columns and numbers by name.
    #[new]
    fn new(py: Python<'_>, name: &str, given: Bound<'_, PyDict>) -> PyResult<Self> {
        let given = Given(given);
        let made = match name {
            "poisson" | "negative_binomial" => counts(name, &given)?,
            "exponential" | "gamma" | "lognormal" => amounts(name, &given)?,
            "bernoulli" | "binomial" => answers(name, &given)?,
            _ => values(name, &given)?,
        };
        let reported = made.map_err(|failure| failure.raise(py))?;
        let new_row = match name {
            "censored" => limits(&given)?,
            _ => NewRow::default(),
        };
        Ok(Self { reported, new_row })
    }

    /// Its name in study files.
    #[getter]
    fn name(&self) -> &'static str {
        self.reported.name()
    }

    fn __len__(&self) -> usize {
        self.reported.rows()
    }
}

type Made = PyResult<Outcome<Reported>>;

/// The limits of an instrument, which are those of a new row where all rows have the same.
fn limits(given: &Given<'_>) -> PyResult<NewRow> {
    let (lower, upper) = (given.numbers("lower")?, given.numbers("upper")?);
    Ok(NewRow::limited([lower.as_deref(), upper.as_deref()]))
}

fn of<T: Into<Reported>>(made: Result<T, InputError>) -> Outcome<Reported> {
    made.map(Into::into).map_err(Failure::from)
}

/// Values of the function itself.
fn values(name: &str, given: &Given<'_>) -> Made {
    Ok(match name {
        "gaussian" => {
            let made = Gaussian::new(given.column("value")?, given.noise()?);
            match given.word("link")? {
                None => of(made),
                Some(link) => link
                    .parse::<Link>()
                    .and_then(|link| made?.behind(link))
                    .map(Into::into)
                    .map_err(Failure::from),
            }
        }
        "laplace" => of(Laplace::new(given.column("value")?, given.column("scale")?)),
        "student_t" => {
            let degrees = given.number("degrees")?;
            let degrees = degrees.map_or(Degrees::Learned, Degrees::Known);
            of(StudentT::new(
                given.column("value")?,
                given.noise()?,
                degrees,
            ))
        }
        "interval" => {
            let (lower, upper) = (given.column("lower")?, given.column("upper")?);
            of(Interval::new(lower, upper, given.noise()?))
        }
        "censored" => censored(given)?,
        "truncated" => {
            let value = given.column("value")?;
            let lower = given.numbers("lower")?;
            let upper = given.numbers("upper")?;
            let lower = lower.unwrap_or_else(|| vec![f64::NEG_INFINITY; value.len()]);
            let upper = upper.unwrap_or_else(|| vec![f64::INFINITY; value.len()]);
            of(Truncated::new(value, lower, upper, given.noise()?))
        }
        "ordinal" => ordinal(given)?,
        "positive" => {
            let rows = given.column("rows")?.len();
            let margin = given.number("margin")?.unwrap_or(0.0);
            of(Positive::new(
                rows,
                margin,
                given.number("sd")?.unwrap_or(1.0),
            ))
        }
        other => {
            let known = Reported::NAMES.join(", ");
            Err(Failure::Data(format!(
                "there is no likelihood `{other}`; there are: {known}"
            )))
        }
    })
}

/// Values with a side each, or beyond limits.
fn censored(given: &Given<'_>) -> PyResult<Outcome<Reported>> {
    let (value, noise) = (given.column("value")?, given.noise()?);
    if let Some(sides) = given.numbers("side")? {
        let side = |code: &f64| match *code {
            code if code < 0.0 => Side::Left,
            code if code > 0.0 => Side::Right,
            _ => Side::None,
        };
        let sides: Vec<Side> = sides.iter().map(side).collect();
        return Ok(of(Censored::new(value, &sides, noise)));
    }
    let lower = given.numbers("lower")?;
    let upper = given.numbers("upper")?;
    let lower = lower.unwrap_or_else(|| vec![f64::NEG_INFINITY; value.len()]);
    let upper = upper.unwrap_or_else(|| vec![f64::INFINITY; value.len()]);
    Ok(of(Censored::clipped(&value, &lower, &upper, noise)))
}

fn ordinal(given: &Given<'_>) -> PyResult<Outcome<Reported>> {
    let ranks = given.column("rank")?;
    let is_rank = |rank: &f64| rank.fract() == 0.0 && (1.0..=1e9).contains(rank);
    if let Some(row) = ranks.iter().position(|rank| !is_rank(rank)) {
        let error = InputError::Range {
            what: "the rank".into(),
            row,
            value: ranks[row],
            requirement: "a whole number from 1 on",
        };
        return Ok(Err(error.into()));
    }
    let whole: Vec<usize> = ranks.iter().map(|rank| *rank as usize).collect();
    let most = whole.iter().copied().max().unwrap_or(0);
    let thresholds = match given.numbers("thresholds")? {
        Some(known) => Thresholds::Known(known),
        None => Thresholds::Learned(given.number("ranks")?.map_or(most, |n| n as usize)),
    };
    Ok(of(Ordinal::new(whole, thresholds, given.noise()?)))
}

/// Counts, or ranges of them.
fn counts(name: &str, given: &Given<'_>) -> Made {
    let (lower, upper) = match given.numbers("count")? {
        Some(count) => (count.clone(), count),
        None => (given.column("lower")?, given.column("upper")?),
    };
    let exposure = given.or_ones("exposure", lower.len())?;
    let link = match given.link()? {
        Ok(link) => link,
        Err(failure) => return Ok(Err(failure)),
    };
    Ok(match name {
        "poisson" => of(Poisson::ranges(lower, upper, exposure, link)),
        _ => {
            let known = given.number("dispersion")?;
            let dispersion = known.map_or(Dispersion::Learned, Dispersion::Known);
            of(NegativeBinomial::ranges(
                lower, upper, exposure, link, dispersion,
            ))
        }
    })
}

/// Positive values of a relative spread.
fn amounts(name: &str, given: &Given<'_>) -> Made {
    let value = given.column("value")?;
    let link = match given.link()? {
        Ok(link) => link,
        Err(failure) => return Ok(Err(failure)),
    };
    if name != "exponential" && link != Link::Exp {
        let message = format!("{name} rows have the link \"exp\" and no other; leave `link` out");
        return Ok(Err(Failure::Data(message)));
    }
    Ok(match name {
        "exponential" => of(Exponential::new(value, link)),
        "gamma" => {
            let shape = given.number("shape")?.map_or(Shape::Learned, Shape::Known);
            of(Gamma::new(value, shape))
        }
        _ => {
            let sd = match given.number("sd") {
                Ok(one) => one.map_or(LogSd::Learned, LogSd::Known),
                Err(_) => LogSd::Each(given.column("sd")?),
            };
            of(LogNormal::new(value, sd))
        }
    })
}

/// Yes or no, and successes among trials.
fn answers(name: &str, given: &Given<'_>) -> Made {
    let sigmoid = match given.sigmoid()? {
        Ok(sigmoid) => sigmoid,
        Err(failure) => return Ok(Err(failure)),
    };
    if name == "binomial" {
        let (successes, trials) = (given.column("successes")?, given.column("trials")?);
        return Ok(of(Binomial::new(successes, trials, sigmoid)));
    }
    let values = given.column("value")?;
    let is_answer = |value: &f64| [-1.0, 0.0, 1.0].contains(value);
    if let Some(row) = values.iter().position(|value| !is_answer(value)) {
        let error = InputError::Range {
            what: "the answer".into(),
            row,
            value: values[row],
            requirement: "1 for yes, and 0 or -1 for no",
        };
        return Ok(Err(error.into()));
    }
    let yes = values.iter().map(|value| *value > 0.0).collect();
    Ok(Ok(Bernoulli::new(yes, sigmoid).into()))
}
