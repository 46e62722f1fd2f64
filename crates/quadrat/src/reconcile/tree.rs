//! Areas within areas.

use super::ReconcileError;

/// Areas of which each is the sum of those within it: a tree, or several.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The areas, each after what it lies within.
    pub(super) order: Vec<usize>,
    /// Where the parts of each area begin in `parts`.
    pub(super) starts: Vec<usize>,
    pub(super) parts: Vec<usize>,
}

impl Tree {
    /// Areas by what each lies within.
    ///
    /// # Arguments
    /// * `within` - for every area the number of the one around it, counted from 0; `None` for an
    ///   area within no other
    /// # Errors
    /// [`ReconcileError::Empty`], [`ReconcileError::Parent`], [`ReconcileError::Circle`].
    pub fn new(within: &[Option<usize>]) -> Result<Self, ReconcileError> {
        let nodes = within.len();
        if nodes == 0 {
            return Err(ReconcileError::Empty);
        }
        let mut starts = vec![0; nodes + 1];
        for (node, parent) in within.iter().enumerate() {
            let Some(parent) = *parent else {
                continue;
            };
            if parent >= nodes {
                return Err(ReconcileError::Parent {
                    node,
                    parent,
                    nodes,
                });
            }
            starts[parent + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let (mut parts, mut next) = (vec![0; starts[nodes]], starts.clone());
        let mut order = Vec::with_capacity(nodes);
        for (node, parent) in within.iter().enumerate() {
            match *parent {
                Some(parent) => {
                    parts[next[parent]] = node;
                    next[parent] += 1;
                }
                None => order.push(node),
            }
        }
        let mut at = 0;
        while at < order.len() {
            let node = order[at];
            order.extend_from_slice(&parts[starts[node]..starts[node + 1]]);
            at += 1;
        }
        if order.len() < nodes {
            let mut is_reached = vec![false; nodes];
            order.iter().for_each(|&node| is_reached[node] = true);
            // What hangs on a circle is not reached either: go up until one comes again.
            let mut node = is_reached.iter().position(|reached| !reached).unwrap_or(0);
            let mut is_seen = vec![false; nodes];
            while !is_seen[node] {
                is_seen[node] = true;
                node = within[node].unwrap_or(node);
            }
            return Err(ReconcileError::Circle { node });
        }
        Ok(Self {
            order,
            starts,
            parts,
        })
    }

    /// Number of areas.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none, which cannot be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The areas right within one.
    #[must_use]
    pub fn parts(&self, node: usize) -> &[usize] {
        &self.parts[self.starts[node]..self.starts[node + 1]]
    }
}
