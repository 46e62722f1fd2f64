//! Rows that follow from others, read off their products.

use std::collections::HashMap;

use crate::linalg::dot;
use crate::support::Functionals;
use crate::support::overlap::OverlapProducts;

/// The most rows that hang together: their factorisation costs the cube.
pub(crate) const MOST_TOGETHER: usize = 1500;

/// Products of rows, each with the length one, by groups that hang together.
pub(crate) struct RowProducts {
    /// Rows of every group, those that stay first in front.
    groups: Vec<Vec<usize>>,
    /// Length of every row.
    length: Vec<f64>,
    /// Products with other rows, by row.
    near: Vec<Vec<(usize, f64)>>,
}

impl RowProducts {
    pub fn new(
        supports: &Functionals,
        found: &OverlapProducts,
        is_settled: impl Fn(usize) -> bool,
    ) -> Self {
        let n = supports.len();
        let mut square = vec![0.0; n];
        let mut near = vec![Vec::new(); n];
        for &(i, j, v) in found {
            if i == j {
                square[i] += v;
            } else {
                near[i].push((j, v));
                near[j].push((i, v));
            }
        }
        let length: Vec<f64> = square.iter().map(|v| v.sqrt()).collect();
        for (i, near) in near.iter_mut().enumerate() {
            near.iter_mut()
                .for_each(|(j, v)| *v /= length[i] * length[*j]);
        }
        // The narrower an average, the longer; rounded, so that rows of one width stay in their
        // order.
        let narrow = |row: usize| {
            let average = length[row] / supports.size(row).abs();
            let rank = (1e6 * average.ln()).round();
            (!is_settled(row), if rank.is_nan() { 0.0 } else { -rank })
        };
        let mut groups = groups(&near);
        for group in &mut groups {
            group.sort_by(|a, b| {
                let ((a_settled, a_rank), (b_settled, b_rank)) = (narrow(*a), narrow(*b));
                a_settled.cmp(&b_settled).then(a_rank.total_cmp(&b_rank))
            });
        }
        Self {
            groups,
            length,
            near,
        }
    }

    /// Rows of which less than `limit` is left beside those that stay, and what they are made of.
    pub fn dependent(&self, limit: f64) -> Vec<(usize, Vec<(usize, f64)>)> {
        let small = |g: &&Vec<usize>| g.len() > 1 && g.len() <= MOST_TOGETHER;
        let groups = self.groups.iter().filter(small);
        groups
            .flat_map(|group| self.dependent_in(group, limit))
            .collect()
    }

    fn dependent_in(&self, group: &[usize], limit: f64) -> Vec<(usize, Vec<(usize, f64)>)> {
        let mut kept: Vec<usize> = Vec::new();
        let mut place: HashMap<usize, usize> = HashMap::new();
        let mut factor: Vec<Vec<f64>> = Vec::new();
        let mut dependent = Vec::new();
        for &row in group {
            let mut z = vec![0.0; kept.len()];
            for (other, v) in &self.near[row] {
                if let Some(&at) = place.get(other) {
                    z[at] += v;
                }
            }
            for k in 0..z.len() {
                let (before, l) = (dot(&factor[k][..k], &z[..k]), factor[k][k]);
                z[k] = (z[k] - before) / l;
            }
            let left = 1.0 - dot(&z, &z);
            // Not a number for a row of length nothing, which nothing can be said of.
            if left > limit {
                place.insert(row, kept.len());
                kept.push(row);
                z.push(left.sqrt());
                factor.push(z);
            } else if left.is_finite() {
                for k in (0..z.len()).rev() {
                    z[k] /= factor[k][k];
                    let last = z[k];
                    for (j, l) in factor[k][..k].iter().enumerate() {
                        z[j] -= l * last;
                    }
                }
                // The rest is rounding, of products of rows of length one: coefficients also have
                // the units in which rows report.
                let most = z.iter().fold(0.0, |m: f64, c| m.max(c.abs()));
                let of = z.iter().zip(&kept).filter(|(c, _)| c.abs() > 1e-9 * most);
                let of = of.map(|(c, &other)| (other, c * self.length[row] / self.length[other]));
                let of = of.collect();
                dependent.push((row, of));
            }
        }
        dependent
    }
}

/// Rows that hang together, each group in the order of the rows.
fn groups(near: &[Vec<(usize, f64)>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; near.len()];
    let mut groups = Vec::new();
    for start in 0..near.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let (mut group, mut next) = (vec![start], 0);
        while next < group.len() {
            for &(other, _) in &near[group[next]] {
                if !std::mem::replace(&mut seen[other], true) {
                    group.push(other);
                }
            }
            next += 1;
        }
        group.sort_unstable();
        groups.push(group);
    }
    groups
}
