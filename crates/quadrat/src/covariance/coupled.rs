//! Products of leaves on common dimensions, such as `se(t) * periodic(t)`, over boxes.
//!
//! Between points the product is direct. In one dimension there is [`Product`]. In several
//! dimensions each box becomes a tensor of Gauss-Legendre nodes: to rounding for smooth leaves,
//! less for those with a kink at zero (Matern 1/2: about `1e-3` of the variance of a box).

use std::sync::LazyLock;

use super::aligned::Aligned;
use super::line::Intervals;
use super::product::Product;
use crate::kernel::{IndexedLeaf, Kind};
use crate::quadrature::gauss_legendre;

/// Nodes and weights on `[0, 1]`.
static RULE: LazyLock<Vec<(f64, f64)>> =
    LazyLock::new(|| gauss_legendre(12).on(0.0, 1.0).collect());

/// Nodes a box should not exceed when it is integrated by a tensor rule.
const MAX_NODES: usize = 1296;

/// Leaves that share dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coupled {
    leaves: Vec<IndexedLeaf>,
    dims: Vec<usize>,
    parameters: Vec<usize>,
    /// Length of the coordinate vectors handed to the leaves.
    columns: usize,
}

impl Coupled {
    pub fn new(leaves: Vec<IndexedLeaf>) -> Self {
        let mut dims: Vec<usize> = leaves.iter().flat_map(|l| l.columns.clone()).collect();
        dims.sort_unstable();
        dims.dedup();
        let mut parameters: Vec<usize> = leaves
            .iter()
            .flat_map(|l| {
                l.lengthscales
                    .iter()
                    .chain(&l.alpha)
                    .chain(&l.periods)
                    .copied()
                    .collect::<Vec<_>>()
            })
            .collect();
        parameters.sort_unstable();
        parameters.dedup();
        let columns = dims.last().map_or(0, |d| d + 1);
        Self {
            leaves,
            dims,
            parameters,
            columns,
        }
    }

    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    pub fn parameters(&self) -> &[usize] {
        &self.parameters
    }

    pub fn is_stationary(&self) -> bool {
        self.leaves.iter().all(|leaf| match leaf.kind {
            Kind::Se | Kind::Matern12 | Kind::Matern32 | Kind::Matern52 => true,
            Kind::Rq | Kind::Periodic | Kind::Constant => true,
            Kind::Linear | Kind::Iid | Kind::Coregion => false,
        })
    }

    /// Fills `value[j * na + i]` and, when given, one slope per parameter.
    ///
    /// `a[k]`, `b[k]` are the intervals along `self.dims()[k]`.
    pub fn fill(
        &self,
        theta: &[f64],
        a: &[Intervals<'_>],
        b: &[Intervals<'_>],
        value: &mut [f64],
        mut slopes: Option<&mut [Aligned]>,
    ) {
        if let ([a], [b]) = (a, b) {
            self.fill_line(theta, *a, *b, value, slopes);
            return;
        }
        let (na, nb) = (a[0].len(), b[0].len());
        let mut pair = PairSum::new(self, theta, slopes.is_some());
        let (nodes_a, nodes_b) = (self.all_nodes(theta, a), self.all_nodes(theta, b));
        for j in 0..nb {
            for i in 0..na {
                pair.reset();
                pair.nodes(&nodes_a[i], &nodes_b[j]);
                let at = j * na + i;
                value[at] = pair.value;
                if let Some(slopes) = &mut slopes {
                    for (out, &p) in slopes.iter_mut().zip(&self.parameters) {
                        out[at] = pair.slope[p];
                    }
                }
            }
        }
    }

    /// As [`Self::fill`] in one dimension.
    fn fill_line(
        &self,
        theta: &[f64],
        a: Intervals<'_>,
        b: Intervals<'_>,
        value: &mut [f64],
        mut slopes: Option<&mut [Aligned]>,
    ) {
        let mut product = Product::new(&self.leaves, &self.parameters, theta, slopes.is_some());
        let na = a.len();
        for j in 0..b.len() {
            for i in 0..na {
                product.pair((a.lower[i], a.width[i]), (b.lower[j], b.width[j]));
                let at = j * na + i;
                value[at] = product.value;
                if let Some(slopes) = &mut slopes {
                    for (out, slope) in slopes.iter_mut().zip(&product.slope) {
                        out[at] = *slope;
                    }
                }
            }
        }
    }

    /// Length along dimension `k` of `dims` that 12 nodes resolve to rounding.
    pub fn step(&self, theta: &[f64], k: usize) -> f64 {
        let mut step = f64::INFINITY;
        for leaf in &self.leaves {
            let Some(i) = leaf.columns.iter().position(|c| *c == self.dims[k]) else {
                continue;
            };
            let length = leaf
                .lengthscales
                .get(i)
                .map_or(f64::INFINITY, |&l| theta[l]);
            step = step.min(match leaf.kind {
                Kind::Periodic => 0.2 * theta[leaf.periods[i]] * length.min(1.0),
                Kind::Rq => {
                    let alpha = leaf.alpha.map_or(1.0, |a| theta[a]);
                    length * alpha.sqrt().min(1.0)
                }
                Kind::Linear | Kind::Constant | Kind::Iid | Kind::Coregion => f64::INFINITY,
                _ => length,
            });
        }
        step
    }

    fn all_nodes(&self, theta: &[f64], x: &[Intervals<'_>]) -> Vec<Nodes> {
        (0..x[0].len())
            .map(|i| {
                let mut nodes = Nodes {
                    points: vec![vec![0.0; self.columns]],
                    weights: vec![1.0],
                };
                let widths: Vec<f64> = x.iter().map(|intervals| intervals.width[i]).collect();
                let (panels, _) = self.panels(theta, &widths);
                for (k, intervals) in x.iter().enumerate() {
                    nodes.refine(self.dims[k], intervals.lower[i], widths[k], panels[k]);
                }
                nodes
            })
            .collect()
    }

    /// Panels along every dimension for a box of these widths, and how many times longer they
    /// are than needed: a budget of [`MAX_NODES`] is shared in proportion.
    fn panels(&self, theta: &[f64], widths: &[f64]) -> (Vec<usize>, f64) {
        let wanted: Vec<f64> = widths
            .iter()
            .enumerate()
            .map(|(k, w)| (w / self.step(theta, k)).max(1.0))
            .collect();
        let wide = widths.iter().filter(|w| **w > 0.0).count() as i32;
        let affordable = MAX_NODES as f64 / (RULE.len() as f64).powi(wide);
        let product: f64 = wanted.iter().product();
        let shrink = (affordable.max(1.0) / product)
            .powf(1.0 / f64::from(wide.max(1)))
            .min(1.0);
        let panels: Vec<usize> = wanted
            .iter()
            .map(|w| (w * shrink).ceil().max(1.0) as usize)
            .collect();
        let coarseness = wanted
            .iter()
            .zip(&panels)
            .map(|(w, &p)| w / p as f64)
            .fold(1.0, f64::max);
        (panels, coarseness)
    }

    /// Whether a leaf is not smooth where points meet.
    pub fn is_kinked(&self) -> bool {
        let kinked =
            |l: &IndexedLeaf| matches!(l.kind, Kind::Matern12 | Kind::Matern32 | Kind::Matern52);
        self.leaves.iter().any(kinked)
    }

    /// How many times longer panels are than needed for the widest box, or 1; kinked leaves over
    /// boxes of several dimensions count as at least 2, since panels cut through the kink.
    pub fn coarseness(&self, theta: &[f64], widths: &[f64]) -> f64 {
        if self.dims.len() == 1 || widths.iter().all(|w| *w == 0.0) {
            return 1.0;
        }
        let floor = if self.is_kinked() { 2.0 } else { 1.0 };
        self.panels(theta, widths).1.max(floor)
    }
}

/// Nodes of the average over a box.
struct Nodes {
    points: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl Nodes {
    fn refine(&mut self, dim: usize, lower: f64, width: f64, panels: usize) {
        let line: Vec<(f64, f64)> = if width == 0.0 {
            vec![(lower, 1.0)]
        } else {
            let share = 1.0 / panels as f64;
            (0..panels)
                .flat_map(|p| {
                    RULE.iter().map(move |(x, w)| {
                        let at = (p as f64 + x) * share;
                        (lower + width * at, w * share)
                    })
                })
                .collect()
        };
        let mut points = Vec::with_capacity(self.points.len() * line.len());
        let mut weights = Vec::with_capacity(points.capacity());
        for (point, weight) in self.points.iter().zip(&self.weights) {
            for &(x, w) in &line {
                let mut next = point.clone();
                next[dim] = x;
                points.push(next);
                weights.push(weight * w);
            }
        }
        *self = Self { points, weights };
    }
}

/// Accumulates the value and slopes of one pair.
struct PairSum<'a> {
    coupled: &'a Coupled,
    theta: &'a [f64],
    with_slopes: bool,
    value: f64,
    slope: Vec<f64>,
    /// Slopes of one leaf, and of the product, at one pair of points.
    leaf: Vec<f64>,
    product: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl<'a> PairSum<'a> {
    fn new(coupled: &'a Coupled, theta: &'a [f64], with_slopes: bool) -> Self {
        Self {
            coupled,
            theta,
            with_slopes,
            value: 0.0,
            slope: vec![0.0; theta.len()],
            leaf: vec![0.0; theta.len()],
            product: vec![0.0; theta.len()],
            x: vec![0.0; coupled.columns],
            y: vec![0.0; coupled.columns],
        }
    }

    fn reset(&mut self) {
        self.value = 0.0;
        self.slope.fill(0.0);
    }

    /// Adds `weight` times the product of the leaves at `self.x`, `self.y`.
    fn add(&mut self, weight: f64) {
        let mut k = 1.0;
        self.product.fill(0.0);
        for leaf in &self.coupled.leaves {
            if !self.with_slopes {
                k *= leaf.at(self.theta, &self.x, &self.y, None);
                continue;
            }
            self.leaf.fill(0.0);
            let factor = leaf.at(self.theta, &self.x, &self.y, Some(&mut self.leaf));
            for (p, d) in self.product.iter_mut().zip(&self.leaf) {
                *p = *p * factor + k * d;
            }
            k *= factor;
        }
        self.value += weight * k;
        if self.with_slopes {
            for (s, p) in self.slope.iter_mut().zip(&self.product) {
                *s += weight * p;
            }
        }
    }

    fn nodes(&mut self, a: &Nodes, b: &Nodes) {
        for (x, w) in a.points.iter().zip(&a.weights) {
            for (y, v) in b.points.iter().zip(&b.weights) {
                self.x.copy_from_slice(x);
                self.y.copy_from_slice(y);
                self.add(w * v);
            }
        }
    }
}
