//! Kernels: sums and products of leaves over named columns.
//!
//! A kernel here is a structure without parameter values. The values live in one flat vector
//! `theta`, in natural units, in the order of [`Kernel::parameters`]. One file holds one leaf;
//! supports are not known here (see [`crate::covariance`]).

mod constant;
mod coregion;
mod expression;
mod iid;
mod indexed;
mod labels;
mod leaf;
mod linear;
mod matern12;
mod matern32;
mod matern52;
mod mixing;
pub(crate) mod mixture;
mod origins;
mod parameter;
mod parse;
mod periodic;
mod pointwise;
mod potential;
mod potential_coefficients;
mod profile;
mod rational_quadratic;
mod se;
mod spare;
mod tooth;

pub use parameter::{KernelParameter, Role};
use std::fmt;
use std::ops::{Add, Mul};
use std::str::FromStr;

pub use constant::Constant;
pub use coregion::Coregion;
use expression::{Expression, Keeps};
pub use iid::Iid;
pub(crate) use iid::NO_LABEL;
pub(crate) use indexed::IndexedLeaf;
pub use leaf::{Kind, Leaf};
pub use linear::Linear;
pub use matern12::Matern12;
pub use matern32::Matern32;
pub use matern52::Matern52;
pub(crate) use mixing::Mixing;
pub use parse::KernelSyntaxError;
pub use periodic::Periodic;
pub(crate) use periodic::remainder;
pub use potential::Potential;
pub(crate) use profile::FARTHEST;
pub use profile::Profile;
pub use rational_quadratic::RationalQuadratic;
pub use se::Se;
use serde::{Deserialize, Serialize};
pub(crate) use tooth::{Tooth, ToothTail};

/// Terms an expression may expand to.
const MAX_TERMS: usize = 256;

/// A kernel expression over named columns.
///
/// # Examples
/// ```
/// use quadrat::kernel::Kernel;
/// let kernel = Kernel::parse("se(t) * periodic(t, period = 24) + linear(t)")?;
/// assert_eq!(kernel.columns(), ["t"]);
/// let names: Vec<_> = kernel.parameters().iter().map(|p| p.name.as_str()).collect();
/// assert_eq!(names, [
///     "se.variance", "se.lengthscale.t", "periodic.lengthscale.t", "periodic.period.t",
///     "linear.variance",
/// ]);
/// let rhythm = Kernel::se(["t"]) * Kernel::periodic("t", Some(24.0));
/// assert_eq!(kernel, rhythm + Kernel::linear(["t"]));
/// # Ok::<(), quadrat::kernel::KernelSyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Kernel {
    expression: Expression,
    columns: Vec<String>,
    inputs: Vec<String>,
    /// How many of the columns, the last, no leaf is over.
    spare: usize,
    outputs: Option<Outputs>,
    leaves: Vec<IndexedLeaf>,
    terms: Vec<Vec<usize>>,
    parameters: Vec<KernelParameter>,
}

/// Several outputs: the column whose levels tell them apart, and their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outputs {
    /// Position in [`Kernel::columns`].
    pub column: usize,
    /// `names[i]` is level `i`.
    pub names: Vec<String>,
}

impl Kernel {
    /// Reads a kernel expression.
    ///
    /// Leaves `se matern12 matern32 matern52 rq periodic linear constant iid` over named columns,
    /// `+`, `*`, parentheses; `se(x, y, shared = true)` shares one lengthscale;
    /// `periodic(t, period = 24)` fixes the period; `coregion(site, north, south, rank = 1)` mixes
    /// outputs.
    ///
    /// # Errors
    /// [`KernelSyntaxError`] with the byte offset of the character at fault.
    pub fn parse(expression: &str) -> Result<Self, KernelSyntaxError> {
        let tree = parse::parse(expression)?;
        if tree.term_count() > MAX_TERMS {
            return Err(KernelSyntaxError {
                expression: expression.to_owned(),
                at: 0,
                message: format!(
                    "this product of sums expands to more than {MAX_TERMS} terms; simplify it"
                ),
            });
        }
        Self::from_expression(tree).unambiguous()
    }

    fn leaf(kind: Kind, columns: Vec<String>, period: Option<f64>) -> Self {
        Self::from_expression(Expression::Leaf(Leaf {
            kind,
            columns,
            shared: false,
            period,
            origin: None,
            levels: Vec::new(),
            rank: 1,
        }))
    }

    /// Squared exponential over the columns, one lengthscale each.
    #[must_use]
    pub fn se<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self::leaf(Kind::Se, collect(columns), None)
    }

    /// Matern 1/2 over the columns, one lengthscale each.
    #[must_use]
    pub fn matern12<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self::leaf(Kind::Matern12, collect(columns), None)
    }

    /// Matern 3/2 over the columns, one lengthscale each.
    #[must_use]
    pub fn matern32<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self::leaf(Kind::Matern32, collect(columns), None)
    }

    /// Matern 5/2 over the columns, one lengthscale each.
    #[must_use]
    pub fn matern52<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self::leaf(Kind::Matern52, collect(columns), None)
    }

    /// Rational quadratic over the columns, one lengthscale each.
    #[must_use]
    pub fn rq<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self::leaf(Kind::Rq, collect(columns), None)
    }

    /// Periodic in one column; the period is learned when absent.
    #[must_use]
    pub fn periodic(column: impl Into<String>, period: Option<f64>) -> Self {
        Self::leaf(Kind::Periodic, vec![column.into()], period)
    }

    /// Linear in the columns.
    #[must_use]
    pub fn linear<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self::leaf(Kind::Linear, collect(columns), None)
    }

    /// Constant.
    #[must_use]
    pub fn constant() -> Self {
        Self::leaf(Kind::Constant, Vec::new(), None)
    }

    /// An independent effect of every label in the column.
    #[must_use]
    pub fn iid(column: impl Into<String>) -> Self {
        Self::leaf(Kind::Iid, vec![column.into()], None)
    }

    /// Coregionalisation matrix over the outputs `levels`, told apart by `column`; zero where there
    /// are none.
    ///
    /// A [`Model`](crate::model::Model) refuses fewer than two outputs, and a rank above their
    /// number.
    #[must_use]
    pub fn coregion<S: Into<String>>(
        column: impl Into<String>,
        levels: impl IntoIterator<Item = S>,
        rank: usize,
    ) -> Self {
        Self::from_expression(Expression::Leaf(Leaf {
            kind: Kind::Coregion,
            columns: vec![column.into()],
            shared: false,
            period: None,
            origin: None,
            levels: collect(levels),
            rank,
        }))
    }

    /// The columns in the order of their first appearance.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The columns, without the one that tells outputs apart.
    #[must_use]
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// The names of the outputs, in the order of their levels; empty where there is one without a
    /// name.
    #[must_use]
    pub fn outputs(&self) -> &[String] {
        self.outputs.as_ref().map_or(&[], |o| &o.names)
    }

    /// The column of the outputs.
    pub(crate) fn output_column(&self) -> Option<usize> {
        self.outputs.as_ref().map(|o| o.column)
    }

    /// The parameters, in the order of `theta`.
    #[must_use]
    pub fn parameters(&self) -> &[KernelParameter] {
        &self.parameters
    }

    pub(crate) fn leaves(&self) -> &[IndexedLeaf] {
        &self.leaves
    }

    /// Products of leaves (indices into `leaves`) whose sum is the kernel.
    pub(crate) fn terms(&self) -> &[Vec<usize>] {
        &self.terms
    }

    /// Refuses what no expression says: a kernel must print as text that reads back as itself.
    ///
    /// # Errors
    /// What is wrong with that text: repeated or missing columns, a period that is not positive,
    /// a column name with both kinds of quotes, too many terms.
    pub(crate) fn check(&self) -> Result<(), KernelSyntaxError> {
        let text = self.to_string();
        if Self::parse(&text)?.with_spare(self.spare()) == *self {
            return Ok(());
        }
        Err(KernelSyntaxError {
            expression: text,
            at: 0,
            message: "this kernel reads back as another one; rename its columns".into(),
        })
    }

    /// Refuses outputs that are not told apart in one way, and functions of a label.
    fn unambiguous(self) -> Result<Self, KernelSyntaxError> {
        let refuse = |message: String| {
            Err(KernelSyntaxError {
                expression: self.to_string(),
                at: 0,
                message,
            })
        };
        if let Some((leaf, column)) = self.number_of_a_label() {
            return refuse(format!(
                "`iid({column})` is alike where `{column}` is equal, and there `{leaf}({column})` says nothing more: leave one out of the product, or add them"
            ));
        }
        let Some(outputs) = &self.outputs else {
            return Ok(self);
        };
        let column = &self.columns[outputs.column];
        for (leaf, _) in self.expression.leaves() {
            let own = leaf.kind == Kind::Coregion;
            if own && (leaf.columns[0] != *column || leaf.levels != outputs.names) {
                return refuse(
                    "every `coregion` of a kernel needs the same column and the same outputs in the same order".into(),
                );
            }
            if !own && leaf.columns.contains(column) {
                return refuse(format!(
                    "`{column}` tells outputs apart; it cannot be an input of `{}` too",
                    leaf.kind.name()
                ));
            }
        }
        let mixes = |&i: &usize| self.leaves[i].mixing.is_some();
        if self
            .terms
            .iter()
            .any(|t| t.iter().copied().filter(|i| mixes(i)).count() > 1)
        {
            return refuse("a product takes one `coregion` at most".into());
        }
        Ok(self)
    }

    fn from_expression(expression: Expression) -> Self {
        let mut columns: Vec<String> = Vec::new();
        let mut leaves = Vec::new();
        let mut parameters: Vec<KernelParameter> = Vec::new();
        let mut seen = [0usize; Kind::ALL.len()];
        let mut outputs: Option<Outputs> = None;
        for (leaf, keeps) in expression.leaves() {
            let indices: Vec<usize> = leaf
                .columns
                .iter()
                .map(|name| {
                    columns.iter().position(|c| c == name).unwrap_or_else(|| {
                        columns.push(name.clone());
                        columns.len() - 1
                    })
                })
                .collect();
            let count = &mut seen[leaf.kind as usize];
            *count += 1;
            let label = match *count {
                1 => leaf.kind.name().to_owned(),
                n => format!("{}#{n}", leaf.kind.name()),
            };
            let mut add = |suffix: String, role: Role, fixed: Option<f64>| {
                parameters.push(KernelParameter {
                    name: format!("{label}.{suffix}"),
                    role,
                    kind: leaf.kind,
                    leaf_columns: indices.clone(),
                    fixed,
                    relative: keeps == Keeps::Relative,
                });
                parameters.len() - 1
            };
            let mixing = (leaf.kind == Kind::Coregion).then(|| {
                let mut weights = Vec::with_capacity(leaf.levels.len() * leaf.rank);
                for (output, level) in leaf.levels.iter().enumerate() {
                    for column in 0..leaf.rank {
                        let name = match leaf.rank {
                            1 => format!("weight.{level}"),
                            _ => format!("weight.{level}.{}", column + 1),
                        };
                        weights.push(add(name, Role::Weight { output, column }, None));
                    }
                }
                let levels = leaf.levels.iter().enumerate();
                let kappa = levels
                    .map(|(output, level)| {
                        add(format!("kappa.{level}"), Role::Kappa { output }, None)
                    })
                    .collect();
                Mixing { weights, kappa }
            });
            if mixing.is_some() && outputs.is_none() {
                outputs = Some(Outputs {
                    column: indices[0],
                    names: leaf.levels.clone(),
                });
            }
            let keeps_variance = keeps != Keeps::Nothing && mixing.is_none();
            let variance = keeps_variance.then(|| add("variance".into(), Role::Variance, None));
            let periodic = leaf.kind == Kind::Periodic;
            let lengthscales = indexed::lengthscales(leaf, &indices, &mut add);
            let alpha = (leaf.kind == Kind::Rq).then(|| add("alpha".into(), Role::Alpha, None));
            let periods = if periodic {
                (0..indices.len())
                    .map(|i| {
                        let name = format!("period.{}", leaf.columns[i]);
                        add(name, Role::Period(indices[i]), leaf.period)
                    })
                    .collect()
            } else {
                Vec::new()
            };
            leaves.push(IndexedLeaf {
                kind: leaf.kind,
                columns: indices,
                variance,
                lengthscales,
                alpha,
                periods,
                origin: leaf.origin.unwrap_or(0.0),
                mixing,
            });
        }
        // Too many terms are refused by `check`, not expanded.
        let terms = if expression.term_count() <= MAX_TERMS {
            expression.terms()
        } else {
            Vec::new()
        };
        let inputs = columns
            .iter()
            .enumerate()
            .filter(|(c, _)| outputs.as_ref().is_none_or(|o| o.column != *c))
            .map(|(_, name)| name.clone())
            .collect();
        Self {
            expression,
            columns,
            inputs,
            spare: 0,
            outputs,
            leaves,
            terms,
            parameters,
        }
    }
}

fn collect<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Vec<String> {
    columns.into_iter().map(Into::into).collect()
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expression.fmt(f)
    }
}

impl FromStr for Kernel {
    type Err = KernelSyntaxError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Kernel {
    type Error = KernelSyntaxError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<Kernel> for String {
    fn from(kernel: Kernel) -> Self {
        kernel.to_string()
    }
}

impl Add for Kernel {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::from_expression(Expression::sum(vec![self.expression, other.expression]))
    }
}

impl Mul for Kernel {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::from_expression(Expression::product(vec![self.expression, other.expression]))
    }
}

#[cfg(test)]
mod tests;
