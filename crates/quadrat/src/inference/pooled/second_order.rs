//! What rows report beyond the linear part of their sums.
//!
//! Around a normal belief `N(m, S)` of the nodes the latent value of a row is
//!
//! $$ z_r(f) = z_r + j_r'(f - m) + e_r, \qquad \operatorname{Var} e_r = q_r = v_r - j_r' S j_r $$
//!
//! with `v_r` the variance that matches the moments of the sum (see `expected.rs`). A row is about
//! `z_r`, not about its linear part: as an observation of `j_r'(f - m)` it has the variance `1 /
//! T_r + q_r`. To second order `e_r = ((f - m)' H_r (f - m) - tr(H_r S)) / 2`, `H_r` the curvature
//! of `z_r`, so that
//!
//! $$ \operatorname{Cov}(e_r, e_s) = \tfrac12 \operatorname{tr}(H_r S_{rs} H_s S_{sr}) $$
//!
//! Only their correlations are taken from this. The variance `q_r` completes that of the linear
//! part to the matched one; it exceeds the second-order form by the variance of `S_r j_r` over the
//! nodes, weighted by the shares of the row. Without `e_r` the variance of the linear part would be
//! too small, and that of the sum larger than its row says.
//!
//! # Source
//! Garcia-Fernandez, Svensson, Morelande and Sarkka 2015 (posterior linearisation), for one row
//! after another; the covariance of quadratic forms is Isserlis's.

use rayon::prelude::*;

use super::pools::Pools;
use super::total::Total;
use crate::linalg::{Mat, MatRef, dot};
use crate::link::{Link, QuasiMean};

/// Second-order parts smaller than this, relative to the terms that they are differences of, are
/// rounding.
const ROUNDING: f64 = 1e-9;

/// The second-order parts `e` of all rows.
#[derive(Debug, Clone)]
pub struct SecondOrder {
    /// `z_r` and its derivatives where rows were linearised.
    means: Vec<QuasiMean>,
    /// Standard deviations of `e_r` over those of its quadratic form; zero where a row does not
    /// bend.
    scale: Vec<f64>,
}

/// The second-order part of a sum that is predicted.
pub(crate) struct SecondOrderPart {
    /// The sum as a function of its nodes.
    pub mean: QuasiMean,
    /// As of [`SecondOrder`].
    pub scale: f64,
}

impl SecondOrderPart {
    /// # Arguments
    /// * `mean` - the sum at the means of its nodes
    /// * `excess` - `q`, its variance less that of its linear part, see [`excess`]
    /// * `within` - covariance of its nodes
    pub fn new(mean: QuasiMean, excess: f64, within: impl Fn(usize, usize) -> f64) -> Self {
        let strength = strength(&mean, within);
        let scale = (excess / strength).sqrt();
        // A row that does not bend has no strength.
        let scale = if scale.is_finite() { scale } else { 0.0 };
        Self { mean, scale }
    }
}

impl SecondOrder {
    /// # Arguments
    /// * `means` - `z_r` at the means of the nodes
    /// * `excess` - `q`, length `rows`
    /// * `within` - covariance of the nodes of each row
    pub(super) fn new(means: Vec<QuasiMean>, excess: &[f64], within: &[Mat<f64>]) -> Self {
        let each = means.into_par_iter().zip(excess).zip(within);
        let each: Vec<SecondOrderPart> = each
            .map(|((mean, q), s)| SecondOrderPart::new(mean, *q, |i, j| s[(i, j)]))
            .collect();
        let scale = each.iter().map(|b| b.scale).collect();
        Self {
            means: each.into_iter().map(|b| b.mean).collect(),
            scale,
        }
    }

    /// Whether no row has a second-order part: all have one node each, or links are the identity.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.scale.iter().all(|s| *s == 0.0)
    }

    /// Whether a row bends, that is, has a second-order part.
    pub(super) fn is_bent(&self, row: usize) -> bool {
        self.scale[row] > 0.0
    }

    /// `Cov(e_r, e_s)`, shape `[rows, rows]`.
    ///
    /// # Arguments
    /// * `s` - covariance of all nodes
    pub(super) fn covariance(&self, pools: &Pools, s: MatRef<'_, f64>) -> Mat<f64> {
        let n = self.means.len();
        let columns: Vec<Vec<f64>> = (0..n)
            .into_par_iter()
            .map(|column| {
                let (at, _) = pools.row(column);
                let own = (&self.means[column], self.scale[column]);
                (0..=column)
                    .map(|row| self.one(pools, row, own, |i, j| s[(i, at[j])]))
                    .collect()
            })
            .collect();
        Mat::from_fn(n, n, |i, j| columns[i.max(j)][i.min(j)])
    }

    /// `Cov(e_r, e)` of every row with another sum, length `rows`.
    ///
    /// # Arguments
    /// * `cross` - covariance of all nodes with the nodes of the sum
    pub(crate) fn against(
        &self,
        pools: &Pools,
        bend: &SecondOrderPart,
        cross: MatRef<'_, f64>,
    ) -> Vec<f64> {
        let own = (&bend.mean, bend.scale);
        (0..self.means.len())
            .into_par_iter()
            .map(|row| self.one(pools, row, own, |i, j| cross[(i, j)]))
            .collect()
    }

    fn one(
        &self,
        pools: &Pools,
        row: usize,
        (other, scale): (&QuasiMean, f64),
        s: impl Fn(usize, usize) -> f64,
    ) -> f64 {
        let scale = self.scale[row] * scale;
        if scale == 0.0 {
            return 0.0;
        }
        let (nodes, _) = pools.row(row);
        scale * trace(&self.means[row], other, |i, j| s(nodes[i], j)).0
    }
}

/// `q = v - j' S j`, at least zero.
///
/// Zero for `square`: where the sign of the function is open a quadratic form can say all of a sum,
/// and the mean of the function nothing.
pub(super) fn excess(link: Link, total: &Total, s: impl Fn(usize, usize) -> f64) -> f64 {
    if link == Link::Square {
        return 0.0;
    }
    let mut linear = 0.0;
    for (i, a) in total.slopes.iter().enumerate() {
        let before = total.slopes[..i].iter().enumerate();
        let twice: f64 = before.map(|(j, b)| b * s(i, j)).sum();
        linear += a * (a * s(i, i) + 2.0 * twice);
    }
    (total.belief.variance - linear).max(0.0)
}

/// `tr(H S H S) / 2` of one row, zero where it is rounding.
fn strength(mean: &QuasiMean, within: impl Fn(usize, usize) -> f64) -> f64 {
    let (value, size) = trace(mean, mean, within);
    if value > ROUNDING * size { value } else { 0.0 }
}

/// `tr(H_a S H_b S') / 2` with `H = diag(d) - c j j'`, and the first of its terms, as a size.
fn trace(a: &QuasiMean, b: &QuasiMean, s: impl Fn(usize, usize) -> f64) -> (f64, f64) {
    let mut along_a = vec![0.0; b.slopes.len()];
    let (mut squares, mut along_b) = (0.0, 0.0);
    for (i, (d, slope)) in a.own.iter().zip(&a.slopes).enumerate() {
        let (mut square, mut along) = (0.0, 0.0);
        for (j, seen) in along_a.iter_mut().enumerate() {
            let value = s(i, j);
            square += b.own[j] * value * value;
            along += b.slopes[j] * value;
            *seen += slope * value;
        }
        squares += d * square;
        along_b += d * along * along;
    }
    let both = dot(&along_a, &b.slopes);
    let own = b.own.iter().zip(&along_a).map(|(d, x)| d * x * x);
    let value = squares - b.shared * along_b - a.shared * own.sum::<f64>()
        + a.shared * b.shared * both * both;
    (0.5 * value, 0.5 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    #[test]
    fn covariances_are_those_of_simulated_quadratic_forms() {
        // Two rows of two and three nodes which share one.
        let s = Mat::from_fn(4, 4, |i, j| {
            0.5 * (-0.7 * (i as f64 - j as f64).abs()).exp()
        });
        let root = Cholesky::factor(s.as_ref()).unwrap();
        for link in [
            Link::Exp,
            Link::Softplus,
            Link::Square,
            Link::Logit,
            Link::Probit,
        ] {
            let mut pools = Pools::new(4);
            pools.push(link, [(0, 1.0), (1, 2.0)]);
            pools.push(link, [(1, 1.0), (2, 0.5), (3, 1.0)]);
            let means = pools.means(&[0.3, 1.1, 0.8, 0.6]);
            let form = |row: usize, f: &[f64]| {
                let (nodes, _) = pools.row(row);
                let z = &means[row];
                let along: f64 = nodes.iter().zip(&z.slopes).map(|(&i, j)| j * f[i]).sum();
                let own: f64 = nodes
                    .iter()
                    .zip(&z.own)
                    .map(|(&i, d)| d * f[i] * f[i])
                    .sum();
                0.5 * (own - z.shared * along * along)
            };
            let mut random = ChaCha8Rng::seed_from_u64(5);
            let count = 200_000;
            let draws: Vec<[f64; 2]> = (0..count)
                .map(|_| {
                    let t: Vec<f64> = (0..4).map(|_| random.sample(StandardNormal)).collect();
                    let f = root.multiply(&t);
                    [form(0, &f), form(1, &f)]
                })
                .collect();
            let mean = |k: usize| draws.iter().map(|d| d[k]).sum::<f64>() / f64::from(count);
            let centre = [mean(0), mean(1)];
            for (a, b) in [(0, 0), (0, 1), (1, 1)] {
                let want = draws
                    .iter()
                    .map(|d| (d[a] - centre[a]) * (d[b] - centre[b]))
                    .sum::<f64>()
                    / f64::from(count);
                let (at, other) = (pools.row(a).0, pools.row(b).0);
                let (got, _) = trace(&means[a], &means[b], |i, j| s[(at[i], other[j])]);
                let size = trace(&means[a], &means[a], |i, j| s[(at[i], at[j])]).0
                    * trace(&means[b], &means[b], |i, j| s[(other[i], other[j])]).0;
                // Products of quadratic forms have a standard error of some 1.5 % of their sds with
                // 200,000 draws.
                assert!(
                    (got - want).abs() < 0.05 * size.sqrt(),
                    "{link} {a} {b}: {got} {want}"
                );
            }
        }
    }

    #[test]
    fn what_moves_together_does_not_bend() {
        let link = Link::Exp;
        let mut pools = Pools::new(3);
        pools.push(link, (0..3).map(|i| (i, 1.0)));
        pools.push(link, [(1, 1.0)]);
        let means = pools.means(&[0.2, 0.4, 0.1]);
        let same = vec![
            Mat::from_fn(3, 3, |_, _| 0.7),
            Mat::from_fn(1, 1, |_, _| 0.7),
        ];
        assert!(SecondOrder::new(means, &[1e-16, 0.0], &same).is_none());
    }
}
