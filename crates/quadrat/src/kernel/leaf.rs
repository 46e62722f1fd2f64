//! One leaf of a kernel expression: its kind, its columns and its options.

use serde::{Deserialize, Serialize};

/// The kinds of leaves. A new kernel is a file of its own plus one line here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// [`Se`](super::Se)
    Se,
    /// [`Matern12`](super::Matern12)
    Matern12,
    /// [`Matern32`](super::Matern32)
    Matern32,
    /// [`Matern52`](super::Matern52)
    Matern52,
    /// [`RationalQuadratic`](super::RationalQuadratic)
    Rq,
    /// [`Periodic`](super::Periodic)
    Periodic,
    /// [`Linear`](super::Linear)
    Linear,
    /// [`Constant`](super::Constant)
    Constant,
    /// [`Iid`](super::Iid)
    Iid,
    /// [`Coregion`](super::Coregion)
    Coregion,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Se,
        Self::Matern12,
        Self::Matern32,
        Self::Matern52,
        Self::Rq,
        Self::Periodic,
        Self::Linear,
        Self::Constant,
        Self::Iid,
        Self::Coregion,
    ];

    /// The word for it in a kernel expression and in parameter names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Se => "se",
            Self::Matern12 => "matern12",
            Self::Matern32 => "matern32",
            Self::Matern52 => "matern52",
            Self::Rq => "rq",
            Self::Periodic => "periodic",
            Self::Linear => "linear",
            Self::Constant => "constant",
            Self::Iid => "iid",
            Self::Coregion => "coregion",
        }
    }

    /// Whether the leaf has a lengthscale for a leaf over `columns` columns.
    ///
    /// A linear kernel over one column has none: its variance already is the squared slope.
    pub(super) fn has_lengthscale(self, columns: usize) -> bool {
        match self {
            Self::Constant | Self::Iid | Self::Coregion => false,
            Self::Linear => columns > 1,
            _ => true,
        }
    }
}

/// A leaf as written: `matern32(x, y, shared = true)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leaf {
    /// Which kernel.
    pub kind: Kind,
    /// The columns it acts on, distinct; empty for a constant.
    pub columns: Vec<String>,
    /// One lengthscale for all columns instead of one each.
    pub shared: bool,
    /// A fixed period, in the units of the column (periodic only).
    pub period: Option<f64>,
    /// Where its lines are zero, in the units of the column; 0 without (linear in one column only).
    pub origin: Option<f64>,
    /// The outputs, by name: level `i` of the column is `levels[i]` (coregion only).
    pub levels: Vec<String>,
    /// Columns of the mixing matrix (coregion only).
    pub rank: usize,
}

impl std::fmt::Display for Leaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind.name())?;
        if self.kind == Kind::Constant {
            return Ok(());
        }
        let mut parts: Vec<String> = self.columns.iter().map(|c| quoted(c)).collect();
        parts.extend(self.levels.iter().map(|l| quoted(l)));
        if self.shared {
            parts.push("shared = true".into());
        }
        if let Some(period) = self.period {
            parts.push(format!("period = {period}"));
        }
        if let Some(origin) = self.origin {
            parts.push(format!("origin = {origin}"));
        }
        if self.kind == Kind::Coregion {
            parts.push(format!("rank = {}", self.rank));
        }
        write!(f, "({})", parts.join(", "))
    }
}

/// A column name as it must stand in an expression.
fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match (plain, name.contains('\'')) {
        (true, _) => name.to_owned(),
        (false, false) => format!("'{name}'"),
        (false, true) => format!("\"{name}\""),
    }
}
