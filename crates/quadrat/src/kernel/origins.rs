//! Lines through zero elsewhere.

use super::expression::Expression;
use super::{Kernel, Kind};

impl Kernel {
    /// The same kernel with lines through zero elsewhere, where a term is nothing but a line over
    /// one column, for one or several outputs, that has no origin yet.
    ///
    /// # Arguments
    /// * `origin` - of a column, by its position in [`Self::columns`]; none to leave it
    pub(crate) fn with_origins(&self, origin: impl Fn(usize) -> Option<f64>) -> Self {
        let mut expression = self.expression.clone();
        let terms = match &mut expression {
            Expression::Sum(terms) => terms.as_mut_slice(),
            one => std::slice::from_mut(one),
        };
        for term in terms {
            let Some(leaf) = term.own_leaf_mut() else {
                continue;
            };
            if let (Kind::Linear, [column], None) = (leaf.kind, &leaf.columns[..], leaf.origin) {
                let position = self.columns.iter().position(|name| name == column);
                leaf.origin = position.and_then(&origin);
            }
        }
        Self::from_expression(expression).with_spare(self.spare())
    }

    /// Columns, by their positions in [`Self::columns`], of lines through zero that are factors of
    /// a product and whose origin nobody gave: there a line elsewhere is another kernel.
    pub(crate) fn lines_in_products(&self) -> Vec<usize> {
        let others = self.with_origins(|_| Some(0.0)).expression;
        let lines = others.leaves().into_iter().filter_map(|(leaf, _)| {
            match (leaf.kind, &leaf.columns[..], leaf.origin) {
                (Kind::Linear, [column], None) => self.columns.iter().position(|c| c == column),
                _ => None,
            }
        });
        let mut found: Vec<usize> = lines.collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
