//! What the columns of a table hold, by its kind.

use quadrat::likelihood::Sigmoid;

use super::noise::Given;
use crate::study::fields::Spanned;
use crate::table::Reading;

/// What the columns of a table hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Reports {
    /// Values with normal noise.
    Gaussian {
        /// Their column.
        value: Spanned<String>,
    },
    /// Values with double exponential noise.
    Laplace {
        /// Their column.
        value: Spanned<String>,
        /// The mean absolute error.
        scale: Given,
    },
    /// Values with heavy-tailed noise.
    StudentT {
        /// Their column.
        value: Spanned<String>,
        /// Degrees of freedom; learned when absent.
        degrees: Option<f64>,
    },
    /// Intervals that hold the values.
    Interval(Ends),
    /// Values, some of which lie beyond a limit.
    Censored {
        /// Their column.
        value: Spanned<String>,
        /// How it is known which.
        limits: Limits,
    },
    /// Values of which none was recorded beyond a limit.
    Truncated {
        /// Their column.
        value: Spanned<String>,
        /// The limits.
        limits: Ends,
    },
    /// Ranks from 1 on.
    Ordinal {
        /// Their column.
        rank: Spanned<String>,
        /// Where one rank ends and the next begins; learned when absent.
        thresholds: Option<Vec<f64>>,
        /// How many ranks the scale has; as many as the table shows when absent.
        ranks: Option<usize>,
    },
    /// Nothing but that the values exceed a margin.
    Positive {
        /// The margin.
        margin: f64,
        /// How soft it is; taken from the other tables when absent.
        sd: Option<f64>,
    },
    /// Yes or no.
    Bernoulli {
        /// Their column.
        value: Spanned<String>,
        /// From the latent value to the probability.
        sigmoid: Sigmoid,
    },
    /// Successes among trials.
    Binomial {
        /// Their column.
        successes: Spanned<String>,
        /// Number of trials.
        trials: Given,
        /// From the latent value to the probability.
        sigmoid: Sigmoid,
    },
    /// Counts.
    Counts {
        /// Their columns.
        counts: Counts,
        /// What rates are multiplied by; 1 when absent.
        exposure: Option<Given>,
        /// `None`: Poisson. Else the dispersion of the negative binomial, learned when that is
        /// `None`.
        dispersion: Option<Option<f64>>,
    },
    /// Waiting times and other positive values.
    Amounts {
        /// Their column.
        value: Spanned<String>,
        /// How they are distributed.
        law: Law,
    },
}

/// How positive values are distributed around their mean.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// Exponentially.
    Exponential,
    /// By a gamma distribution of this shape, learned when that is `None`.
    Gamma(Option<f64>),
    /// With a normal logarithm of this sd, learned when that is `None`.
    LogNormal(Option<Given>),
}

/// Two ends, at least one of which is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Ends {
    /// The lower one; open when absent.
    pub lower: Option<Given>,
    /// The upper one; open when absent.
    pub upper: Option<Given>,
}

impl Ends {
    /// The columns of the ends, and how their cells are read.
    pub fn columns(&self) -> impl Iterator<Item = (&Spanned<String>, Reading)> {
        let lower = self.lower.as_ref().and_then(Given::column);
        let upper = self.upper.as_ref().and_then(Given::column);
        lower
            .map(|column| (column, Reading::Lower))
            .into_iter()
            .chain(upper.map(|column| (column, Reading::Upper)))
    }
}

/// How it is known which values are censored.
#[derive(Debug, Clone, PartialEq)]
pub enum Limits {
    /// By a column of `none`, `left` and `right`.
    Side(Spanned<String>),
    /// By a column of yes and no, and the side of those that are censored.
    Flag {
        /// The column.
        column: Spanned<String>,
        /// Whether the value is at most the number, not at least.
        is_left: bool,
        /// What the column says of censored values.
        when: bool,
    },
    /// By the limits of the instrument: what lies there or beyond was not measured.
    Of(Ends),
    /// By the cells themselves: `<0.5`.
    Written,
}

/// Where counts stand.
#[derive(Debug, Clone, PartialEq)]
pub enum Counts {
    /// In one column, which may hold ranges: `<5`.
    One(Spanned<String>),
    /// Between two columns, both ends included.
    Between(Ends),
}
