//! Errors of the library, one enum per stage. Every message states the fact and the remedy.

use thiserror::Error;

/// Something the caller handed over is not usable; nothing was computed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum InputError {
    /// Two lengths that must agree do not.
    #[error("{what} has length {got}, expected {expected}")]
    Shape {
        /// What was measured.
        what: &'static str,
        /// The length that was needed.
        expected: usize,
        /// The length that was given.
        got: usize,
    },
    /// A number that must be finite is NaN or infinite.
    #[error("{what} of row {row} is {value}; every number must be finite")]
    NotFinite {
        /// Which quantity.
        what: String,
        /// Row, counted from 0.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// A number lies outside the range where the model is defined.
    #[error("{what} of row {row} is {value}; it must be {requirement}")]
    Range {
        /// Which quantity.
        what: String,
        /// Row, counted from 0.
        row: usize,
        /// The value found.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// A box of zero width was combined with `sum`: its integral is zero.
    #[error(
        "the box of row {row} has zero width along `{dim}`, so its sum is zero whatever the function; use `mean` or a point"
    )]
    ZeroWidth {
        /// Row, counted from 0.
        row: usize,
        /// The dimension.
        dim: String,
    },
    /// A table without rows.
    #[error("there are no observations; at least one row is needed")]
    Empty,
    /// Too few rows to learn anything from.
    #[error(
        "{rows} row cannot teach {} hyperparameters ({}); add rows, or fix them with `value = .., fixed = true`",
        free.len(), free.join(", ")
    )]
    TooFewRows {
        /// How many there are.
        rows: usize,
        /// The hyperparameters to be learned.
        free: Vec<String>,
    },
    /// Every row has the same support and the same value.
    #[error(
        "all {rows} rows are equal (same support, same value), so nothing can be learned about {}; add rows elsewhere, or fix the hyperparameters with `value = .., fixed = true`",
        free.join(", ")
    )]
    AllRowsEqual {
        /// How many there are.
        rows: usize,
        /// The hyperparameters to be learned.
        free: Vec<String>,
    },
    /// More rows than a dense covariance can hold.
    #[error(
        "exact inference on {rows} rows that are not a complete grid needs a {rows} x {rows} matrix; at most {limit} rows are accepted: aggregate repeated rows, or thin the table"
    )]
    TooManyRows {
        /// How many there are.
        rows: usize,
        /// How many are accepted.
        limit: usize,
    },
    /// Bags with more points than pairs of them can be compared.
    #[error(
        "{rows} rows add up {atoms} points, and exact inference compares every pair of them; at most {limit} are accepted: thin the bags, merge points that are close, or give the places as boxes or regions"
    )]
    TooManyAtoms {
        /// Points, boxes and regions in all rows.
        atoms: usize,
        /// Rows.
        rows: usize,
        /// How many are accepted.
        limit: usize,
    },
    /// Sums after a link that need more nodes than their covariance can hold.
    #[error(
        "{}: sums after a link look at {nodes} points within the boxes, regions or bags, and every pair of them is compared; at most {limit} are accepted: {remedy}",
        if *rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
    )]
    TooManyNodes {
        /// Points in all rows.
        nodes: usize,
        /// Rows.
        rows: usize,
        /// How many points are accepted.
        limit: usize,
        /// What helps.
        remedy: String,
    },
    /// More than a check by sampling can take.
    #[error(
        "a check by sampling takes at most {limit} {what}, and these are {got}: every step would take minutes; check the fit of a thinned table, or of a part of the rows"
    )]
    TooManyToSample {
        /// What is too many.
        what: &'static str,
        /// How many there are.
        got: usize,
        /// How many are accepted.
        limit: usize,
    },
    /// More places than have a joint distribution: covariances of every pair of them are kept.
    #[error(
        "the joint distribution of {places} places and nodes within boxes has a covariance of every pair of them; at most {limit} are accepted: ask for fewer places at a time, or for each by itself"
    )]
    TooManyTogether {
        /// Places, and nodes within boxes and regions behind a link.
        places: usize,
        /// How many are accepted.
        limit: usize,
    },
    /// Values behind more rows than are drawn together.
    #[error(
        "values behind {got} rows would be drawn together, more than {limit}: ask for groups of fewer rows, or for the rows one by one and without draws"
    )]
    TooManyDrawn {
        /// How many rows there are whose values are not known.
        got: usize,
        /// How many are accepted.
        limit: usize,
    },
    /// A parameter name that the model does not have.
    #[error("there is no hyperparameter `{name}`; the model has: {}", known.join(", "))]
    UnknownParameter {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A setting of a hyperparameter (value, bound or prior) is not usable.
    #[error("hyperparameter `{name}`: {reason}")]
    Parameter {
        /// Its name.
        name: String,
        /// What is wrong and how to mend it.
        reason: String,
    },
    /// A column along which the mean cannot be a line.
    #[error("the mean cannot be linear in `{column}`: {reason}")]
    MeanColumn {
        /// The column.
        column: String,
        /// What is wrong and how to mend it.
        reason: String,
    },
    /// A kernel that could not be written as an expression.
    #[error("the kernel cannot be used: {reason}")]
    Kernel {
        /// What is wrong and how to mend it.
        reason: String,
    },
    /// A dimension name that the supports do not have.
    #[error("there is no input named `{name}`; the inputs are: {}", known.join(", "))]
    UnknownDimension {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// An output that the kernel does not have, or none where it has several.
    #[error("{}", output_message(name.as_deref(), known))]
    Output {
        /// The name that was given.
        name: Option<String>,
        /// The outputs of the kernel.
        known: Vec<String>,
    },
    /// An output of the kernel without a row.
    #[error("no row is of the output `{output}`; observe it, or leave it out")]
    Unobserved {
        /// Its name.
        output: String,
    },
    /// Fewer inducing points than the labels of the kernel need.
    #[error(
        "{asked} inducing points are too few for the labels of the kernel (`iid`): every label needs one, and what is common to them at least one more; take at least {least} (some tens more make it accurate), or dense inference"
    )]
    FewInducing {
        /// How many were asked for.
        asked: usize,
        /// How many are needed.
        least: usize,
    },
    /// A link name that does not exist.
    #[error("there is no link `{name}`; the links are: identity, exp, square, softplus")]
    UnknownLink {
        /// The name that was asked for.
        name: String,
    },
    /// Something asked for does not exist for this model.
    #[error("{what} is not available: {remedy}")]
    Unavailable {
        /// What was asked for.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
}

/// A number to six digits, as people write it.
pub(crate) fn plain(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    match rounded.abs() {
        0.0 | 1e-5..1e15 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

/// What other exact rows want a row to be.
fn wanted(misfit: f64) -> String {
    match misfit {
        0.0 => "larger".to_owned(),
        by => format!("different by {}", plain(by)),
    }
}

fn output_message(name: Option<&str>, known: &[String]) -> String {
    let all = known.join(", ");
    match name {
        Some(name) if known.is_empty() => format!(
            "the output `{name}` was named, but the kernel has one output only: leave the name out, or tell outputs apart by a coregionalisation"
        ),
        Some(name) => format!("there is no output `{name}`; the outputs are: {all}"),
        None => format!("the kernel has several outputs ({all}): say which one is meant"),
    }
}

/// Linear algebra that failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LinalgError {
    /// A Cholesky factorisation met a pivot that is not positive.
    #[error(
        "the matrix of size {size} is not positive definite (pivot {pivot}): rows or supports repeat; remove repetitions or add noise"
    )]
    NotPositiveDefinite {
        /// Its size.
        size: usize,
        /// Index of the first pivot that failed.
        pivot: usize,
    },
    /// A symmetric eigendecomposition did not converge.
    #[error(
        "the eigenvalue iteration on a matrix of size {size} did not converge: values are too large or too small; change the units"
    )]
    Eigen {
        /// Its size.
        size: usize,
    },
}

/// Fitting or conditioning that failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FitError {
    /// The input was refused.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The covariance of the observations could not be factorised even with jitter.
    #[error(
        "the covariance of the observations under `{kernel}` with {parameters} is not positive definite, even with jitter {jitter:e}; rows {} and {} are the most collinear (correlation {correlation:.12}): merge them, give them a noise variance, or shorten the lengthscale",
        rows.0, rows.1
    )]
    Factorisation {
        /// The kernel expression.
        kernel: String,
        /// Parameter values, as `name = value, ..`.
        parameters: String,
        /// The largest jitter tried, relative to the mean diagonal.
        jitter: f64,
        /// The two rows with the largest correlation, counted from 0.
        rows: (usize, usize),
        /// Their correlation.
        correlation: f64,
    },
    /// The covariance of inducing points could not be factorised.
    #[error(
        "the covariance of {points} inducing points under `{kernel}` with {parameters} is not positive definite: take fewer of them, or bound the lengthscale from above"
    )]
    Inducing {
        /// How many there are.
        points: usize,
        /// The kernel expression.
        kernel: String,
        /// Parameter values, as `name = value, ..`.
        parameters: String,
    },
    /// Every start of the optimiser failed.
    #[error(
        "the evidence was not finite at any of {starts} optimiser starts; give starts or bounds of the hyperparameters that fit the units of the data"
    )]
    NoStart {
        /// How many were tried.
        starts: usize,
    },
    /// Rows that are known exactly cannot all be right.
    #[error(
        "row {row} is known exactly, yet other rows that are known exactly (row {partner} is the most alike) want it to be {}: they look at the same place, one is made of the others, or parts hold as much as the whole or more; leave one out, or give them a variance",
        wanted(*misfit)
    )]
    Contradiction {
        /// A row that is missed, counted from 0.
        row: usize,
        /// The row most correlated with it.
        partner: usize,
        /// By how much it is missed; zero where it must be larger, by however little: parts of it
        /// hold as much.
        misfit: f64,
    },
    /// A given total that predictions cannot meet.
    #[error(
        "the total of `{group}` is given as {total}, but {reason}; mend it, or leave its group out"
    )]
    Total {
        /// The name of its group.
        group: String,
        /// The total as it was given.
        total: f64,
        /// Why it cannot be met.
        reason: String,
    },
    /// The sites of an approximation did not converge.
    #[error(
        "{method} did not converge in {sweeps} sweeps: a row still moves by {residual:.1e} of its standard deviation; try another method, or bounds on the hyperparameters"
    )]
    NotConverged {
        /// Which approximation.
        method: &'static str,
        /// Sweeps made.
        sweeps: usize,
        /// Largest distance from a fixed point.
        residual: f64,
    },
    /// The bound of sparse inference is no number where a search begins.
    #[error(
        "under {parameters} the bound of sparse inference is no number at the average of the rows, or beside it: weights, exposures, counts or a given mean are too large or too small for the link; change their units, or the start of the hyperparameter"
    )]
    NoBound {
        /// Parameter values, as `name = value, ..`.
        parameters: String,
    },
    /// Sparse inference found no best belief about the inducing points.
    #[error(
        "the bound of sparse inference is still {left:.1e} nats or more below the best one after {passes} passes over the rows: what it would say is of no use; take another number of inducing points (`inducing`), or the link `exp` in place of another one, or a dense `method` where rows are few, or give the variance an upper bound in [hyperparameters]"
    )]
    NotSettled {
        /// Passes made.
        passes: usize,
        /// About what is left to gain, in nats.
        left: f64,
    },
    /// Rows that are elsewhere could not be asked.
    #[error("a part of the rows gave no answer: {reason}")]
    Shards {
        /// What was told of it.
        reason: String,
    },
    /// What a [`Keeper`](crate::progress::Keeper) kept cannot be gone on from.
    #[error("what was kept of the fit {reason}; begin anew, without it")]
    Kept {
        /// What is wrong with it, as `is damaged`.
        reason: &'static str,
    },
    /// A [`Keeper`](crate::progress::Keeper) stopped the search before the answer was there.
    #[error("the fit was stopped before it was over; go on from where it stood, or begin anew")]
    Stopped,
    /// A chain of a sampler found no place to begin.
    #[error(
        "chain {chain} of the sampler found no start with a finite density near the fit; give bounds or narrower priors to the hyperparameters"
    )]
    NoChain {
        /// Which chain, counted from 0.
        chain: usize,
    },
    /// A chain of a sampler could not go on.
    #[error(
        "chain {chain} of the sampler stopped at draw {draw}: {reason}; give bounds or narrower priors to the hyperparameters"
    )]
    ChainStopped {
        /// Which chain, counted from 0.
        chain: usize,
        /// Its draw, warm-up included, counted from 0.
        draw: usize,
        /// What happened.
        reason: String,
    },
    /// Other linear algebra that failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

impl FitError {
    /// Whether an optimiser may step back from here and go on.
    #[must_use]
    pub fn is_recoverable(&self) -> bool {
        matches!(
            self,
            Self::Factorisation { .. }
                | Self::Inducing { .. }
                | Self::Contradiction { .. }
                | Self::NotConverged { .. }
                | Self::NoBound { .. }
                | Self::NotSettled { .. }
                | Self::Linalg(_)
        )
    }
}

/// A saved model that cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Not a quadrat model at all.
    #[error("this is not a quadrat model file; write one with `quadrat fit`")]
    NotAModel,
    /// Written by a newer version.
    #[error(
        "this model was saved in format {found}, this program reads up to {supported}; install a newer quadrat"
    )]
    Newer {
        /// Format of the file.
        found: u32,
        /// Highest format this program reads.
        supported: u32,
    },
    /// Written by an older version, with another layout.
    #[error(
        "this model was saved in format {found}, and this program reads format {supported}: fit the study again with `quadrat fit`"
    )]
    Older {
        /// Format of the file.
        found: u32,
        /// The format this program reads.
        supported: u32,
    },
    /// Cut off or changed after saving.
    #[error("this model file is damaged ({detail}); save it again")]
    Damaged {
        /// What did not fit.
        detail: String,
    },
    /// Intact, but its contents cannot be conditioned again.
    #[error("the saved model cannot be restored: {0}")]
    Restore(#[from] FitError),
}
