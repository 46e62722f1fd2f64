//! Supports as points of positive weight, for sums that are taken after a link.
//!
//! A sum after a link is no linear functional, so no closed form helps: boxes become tensors of
//! Gauss-Legendre nodes, regions nodes in cells of their bounding box, whose moments are right up
//! to a degree; points and bags stay. A width of `u` steps gets `1 + 2 u` nodes, at least two, and
//! three to eight where rows are few: with a step of one lengthscale of a smooth kernel the mean of
//! `e^f` is right to about 1e-5, but large counts know their sums far better than the prior does,
//! and what they leave open inside a box is then much less than a step suggests.

use super::Covariance;
use super::plan::KernelFactor;
use super::regions::resolution;
use crate::quadrature::{Cubature, compress, gauss_legendre, simplex_volume};
use crate::support::{AtomSpread, Functionals, Placed};

/// Widest cell of a region, in steps.
const CELL: f64 = 1.5;
/// Most nodes along one side of a simplex, and most along one side of a box.
const MOST_ALONG: usize = 12;
const MOST_LINE: f64 = 1e6;
/// Fewest nodes along a side where rows are many, and where they are few.
const FEWEST: f64 = 2.0;
const FEWEST_OF_FEW: f64 = 8.0;
/// A side that is so many times as wide as half of them has no more nodes than this one would have,
/// and this many: a band that is open to one side, or a box around all others, is an average over
/// more of the function than can be told apart.
const WIDER: f64 = 10.0;
const ENOUGH: f64 = 200.0;

/// How finely supports are spread over nodes: a step along every column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeRule {
    steps: Vec<f64>,
    /// Most nodes along a side, per column.
    most: Vec<f64>,
    /// Whether functions are polynomials along a column, whatever the step.
    is_linear: Vec<bool>,
    /// Fewest nodes along sides as wide as the narrowest of the rows, and how wide these are;
    /// narrower sides, of what is predicted inside rows, have fewer in proportion.
    fewest: f64,
    narrowest: Vec<f64>,
}

impl Covariance {
    /// The rule whose steps are what a smooth kernel varies over: a lengthscale, less for rough or
    /// periodic ones.
    ///
    /// # Arguments
    /// * `columns` - of the supports
    pub(crate) fn node_rule(&self, theta: &[f64], columns: usize) -> NodeRule {
        let step = |column: usize| {
            let steps = self
                .terms
                .iter()
                .map(|term| resolution(term, theta, column));
            steps.fold(f64::INFINITY, f64::min)
        };
        let is_linear = |column: usize| {
            let mut factors = self.terms.iter().flat_map(|term| &term.factors);
            self.beside.contains(&column)
                || factors
                    .any(|f| matches!(f, KernelFactor::Linear { .. }) && f.dims().contains(&column))
        };
        NodeRule {
            steps: (0..columns).map(step).collect(),
            most: vec![MOST_LINE; columns],
            is_linear: (0..columns).map(is_linear).collect(),
            fewest: FEWEST,
            narrowest: vec![f64::INFINITY; columns],
        }
    }
}

impl NodeRule {
    /// The same with longer steps.
    pub fn coarser(&self, factor: f64) -> Self {
        Self {
            steps: self.steps.iter().map(|s| s * factor).collect(),
            ..self.clone()
        }
    }

    /// The same with more nodes along every side, up to eight, as far as all rows together have no
    /// more than `most`.
    pub fn of_few(mut self, set: &Functionals, most: f64) -> Self {
        let wide = |d: usize| set.width(d).iter().copied().filter(|w| *w > 0.0);
        let columns = 0..self.steps.len();
        self.narrowest = columns
            .map(|d| wide(d).fold(f64::INFINITY, f64::min))
            .collect();
        while self.fewest < FEWEST_OF_FEW {
            let more = Self {
                fewest: self.fewest + 1.0,
                ..self.clone()
            };
            if more.demand(set) > most {
                break;
            }
            self = more;
        }
        self
    }

    /// The same with a limit for sides far wider than most of a set.
    pub fn limited(mut self, set: &Functionals) -> Self {
        for d in 0..self.steps.len() {
            let mut widths: Vec<f64> = set.width(d).iter().copied().filter(|w| *w > 0.0).collect();
            if widths.is_empty() {
                continue;
            }
            let half = widths.len() / 2;
            let (_, median, _) = widths.select_nth_unstable_by(half, f64::total_cmp);
            self.most[d] = ENOUGH.max(self.along(d, WIDER * *median)).min(MOST_LINE);
        }
        self
    }

    /// By how much the steps are too long for what another rule asks for, along the columns in
    /// which a row is wide.
    pub fn excess(&self, wanted: &Self, set: &Functionals) -> f64 {
        let is_wide = |d: &usize| {
            let (low, high) = set.range(*d);
            let wide = set.width(*d).iter().any(|w| *w > wanted.steps[*d]);
            high > low && wide
        };
        let columns = (0..self.steps.len()).filter(is_wide);
        columns
            .map(|d| self.steps[d] / wanted.steps[d])
            .fold(0.0, f64::max)
    }

    /// Nodes along a side.
    fn along(&self, d: usize, width: f64) -> f64 {
        if width == 0.0 {
            return 1.0;
        }
        let step = if self.is_linear[d] {
            self.steps[d].min(width)
        } else {
            self.steps[d]
        };
        if step == f64::INFINITY {
            return 1.0;
        }
        let part = (width / self.narrowest[d]).min(1.0);
        let fewest = FEWEST + ((self.fewest - FEWEST) * part).ceil();
        (1.0 + 2.0 * width / step)
            .ceil()
            .clamp(fewest, self.most[d].max(fewest))
    }

    /// Cells of a region along its axes.
    fn cells(&self, placed: &Placed) -> Vec<usize> {
        let bounds = placed.region.bounds().into_iter().zip(&placed.columns);
        bounds
            .map(|((low, high), column)| {
                let step = column.map_or(f64::INFINITY, |c| self.steps[c]);
                ((high - low) / (CELL * step)).ceil().clamp(1.0, MOST_LINE) as usize
            })
            .collect()
    }

    /// About how many nodes all rows have, those that rows share counted for each.
    pub fn demand(&self, set: &Functionals) -> f64 {
        let dims = set.dims().len();
        let regions: Vec<f64> = set
            .regions()
            .iter()
            .map(|placed| {
                let cells = self.cells(placed);
                let degree = self.degree(placed, &cells);
                // Monomials up to that degree.
                let d = cells.len();
                let each = (1..=d).fold(1.0, |n, k| n * (degree + k) as f64 / k as f64);
                each * cells.iter().map(|&c| c as f64).product::<f64>()
            })
            .collect();
        let atom = |atom: usize| {
            let region = set.region(atom);
            let own = region.map_or(1.0, |r| regions[r]);
            let sides = (0..dims).filter(|d| !region.is_some_and(|r| lies_along(set, r, *d)));
            own * sides
                .map(|d| self.along(d, set.width(d)[atom]))
                .product::<f64>()
        };
        (0..set.atom_count()).map(atom).sum()
    }

    /// The same rows as weighted points; weights have the signs they had.
    pub fn apply(&self, set: &Functionals) -> Functionals {
        let dims = set.dims().len();
        let regions: Vec<Nodes> = set.regions().iter().map(|p| self.region(p)).collect();
        let one = |atom: usize| {
            let region = set.region(atom);
            let mut nodes = region.map_or_else(Nodes::single, |r| regions[r].clone());
            for d in (0..dims).filter(|d| !region.is_some_and(|r| lies_along(set, r, *d))) {
                let (low, width) = (set.lower(d)[atom], set.width(d)[atom]);
                if width > 0.0 {
                    let count = self.along(d, width) as usize;
                    let line: Vec<(f64, f64)> = gauss_legendre(count)
                        .on(0.0, 1.0)
                        .map(|(x, w)| (low + width * x, w))
                        .collect();
                    nodes = nodes.times(d, &line);
                }
            }
            nodes
        };
        let nodes: Vec<Nodes> = (0..set.atom_count()).map(one).collect();
        set.spread(|atom| {
            let own = &nodes[atom];
            if own.along.is_empty() && set.region(atom).is_none() {
                return AtomSpread::Keep;
            }
            AtomSpread::Nodes {
                along: own.along.iter().map(|(d, x)| (*d, x.as_slice())).collect(),
                weights: &own.weights,
            }
        })
    }

    /// Total degree that is exact on the cells of a region.
    fn degree(&self, placed: &Placed, cells: &[usize]) -> usize {
        let bounds = placed.region.bounds();
        let sides = bounds.iter().zip(cells).zip(&placed.columns);
        let widest = sides
            .map(|(((low, high), &n), column)| {
                let step = column.map_or(f64::INFINITY, |c| self.steps[c]);
                (high - low) / (n as f64 * step)
            })
            .fold(0.0, f64::max);
        (1.0 + 4.0 * widest).ceil().clamp(2.0, 7.0) as usize
    }

    fn region(&self, placed: &Placed) -> Nodes {
        let dim = placed.region.dim();
        let bounds = placed.region.bounds();
        let cells = self.cells(placed);
        let degree = self.degree(placed, &cells);
        let mut columns = vec![Vec::new(); dim];
        let mut weights = Vec::new();
        let steps: Vec<f64> = placed
            .columns
            .iter()
            .map(|column| column.map_or(f64::INFINITY, |c| self.steps[c]))
            .collect();
        for simplex in placed.region.simplices() {
            let volume = simplex_volume(&simplex, dim);
            let longest = longest_edge(&simplex, dim, &steps);
            let count = ((1.0 + 2.0 * longest).ceil() as usize).clamp(2, MOST_ALONG);
            let wanted = (2 * count - 1).max(degree);
            for (place, weight) in Cubature::conical(dim, wanted).iter() {
                for (d, column) in columns.iter_mut().enumerate() {
                    let x = place
                        .iter()
                        .enumerate()
                        .map(|(v, b)| b * simplex[v * dim + d]);
                    column.push(x.sum::<f64>());
                }
                weights.push(weight * volume);
            }
        }
        let total: f64 = weights.iter().sum();
        // Sort into cells, and compress every cell.
        let mut members: std::collections::BTreeMap<Vec<usize>, Vec<usize>> = Default::default();
        let cell_of = |node: usize| -> Vec<usize> {
            let sides = bounds.iter().zip(&cells).zip(&columns);
            sides
                .map(|(((low, high), &n), x)| {
                    let place = (x[node] - low) / (high - low) * n as f64;
                    (place.max(0.0) as usize).min(n - 1)
                })
                .collect()
        };
        for node in 0..weights.len() {
            members.entry(cell_of(node)).or_default().push(node);
        }
        let mut out = vec![Vec::new(); dim];
        let mut kept_weights = Vec::new();
        for (cell, nodes) in members {
            let local: Vec<Vec<f64>> = (0..dim)
                .map(|d| {
                    let (low, high) = bounds[d];
                    let half = 0.5 * (high - low) / cells[d] as f64;
                    let centre = low + (2 * cell[d] + 1) as f64 * half;
                    nodes
                        .iter()
                        .map(|&i| (columns[d][i] - centre) / half)
                        .collect()
                })
                .collect();
            let own: Vec<f64> = nodes.iter().map(|&i| weights[i] / total).collect();
            for (at, weight) in compress(&local, &own, degree) {
                for (o, x) in out.iter_mut().zip(&columns) {
                    o.push(x[nodes[at]]);
                }
                kept_weights.push(weight);
            }
        }
        let along = out.into_iter().zip(&placed.columns);
        Nodes {
            along: along.filter_map(|(x, c)| c.map(|c| (c, x))).collect(),
            weights: kept_weights,
        }
    }
}

/// Whether the region of an atom extends along a column.
fn lies_along(set: &Functionals, region: usize, column: usize) -> bool {
    set.regions()[region].columns.contains(&Some(column))
}

/// Longest edge in steps; vertices one after the other.
fn longest_edge(simplex: &[f64], dim: usize, steps: &[f64]) -> f64 {
    let vertex = |v: usize| &simplex[v * dim..(v + 1) * dim];
    let pairs = (0..=dim).flat_map(|a| (0..a).map(move |b| (a, b)));
    let lengths = pairs.map(|(a, b)| {
        let sides = vertex(a).iter().zip(vertex(b)).zip(steps);
        sides
            .map(|((a, b), s)| ((a - b) / s).powi(2))
            .sum::<f64>()
            .sqrt()
    });
    lengths.fold(0.0, f64::max)
}

/// Weighted points along some columns, weights summing to one.
#[derive(Debug, Clone)]
struct Nodes {
    along: Vec<(usize, Vec<f64>)>,
    weights: Vec<f64>,
}

impl Nodes {
    fn single() -> Self {
        Self {
            along: Vec::new(),
            weights: vec![1.0],
        }
    }

    /// The product with nodes along another column.
    fn times(&self, column: usize, line: &[(f64, f64)]) -> Self {
        let repeated = |x: &Vec<f64>| -> Vec<f64> {
            x.iter()
                .flat_map(|x| std::iter::repeat_n(*x, line.len()))
                .collect()
        };
        let mut along: Vec<(usize, Vec<f64>)> =
            self.along.iter().map(|(d, x)| (*d, repeated(x))).collect();
        let own = self
            .weights
            .iter()
            .flat_map(|_| line.iter().map(|(x, _)| *x));
        along.push((column, own.collect()));
        let product = |w: &f64| {
            let w = *w;
            line.iter().map(move |(_, v)| w * v)
        };
        Self {
            along,
            weights: self.weights.iter().flat_map(product).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::kernel::Kernel;
    use crate::support::{Aggregate, Polygon, Region, Side};

    fn columns(names: &[&str]) -> Vec<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    /// `sum_i w_i exp(g(x_i))` of a row.
    fn sum(set: &Functionals, row: usize, g: impl Fn(&[f64]) -> f64) -> f64 {
        let dims = set.dims().len();
        set.atoms(row)
            .map(|a| {
                let x: Vec<f64> = (0..dims).map(|d| set.lower(d)[a]).collect();
                set.weight()[a] * g(&x).exp()
            })
            .sum()
    }

    /// One band that is open to one side takes no more nodes than ten of the others, or two
    /// hundred; all others keep theirs.
    #[test]
    fn a_row_far_wider_than_the_others_has_few_nodes() {
        let covariance = Covariance::new(&Kernel::se(["t"]));
        let rule = covariance.node_rule(&[1.0, 2.0], 1);
        let mut edges: Vec<(f64, f64)> = (0..9)
            .map(|i| (4.0 * f64::from(i), 4.0 * f64::from(i + 1)))
            .collect();
        let bands = Functionals::intervals("t", &edges, Aggregate::Mean).unwrap();
        edges.push((36.0, 1e12));
        let open = Functionals::intervals("t", &edges, Aggregate::Mean).unwrap();
        let (plain, limited) = (rule.apply(&bands), rule.clone().limited(&open).apply(&open));
        for row in 0..9 {
            assert_eq!(plain.rows(&[row]), limited.rows(&[row]));
        }
        assert_eq!(limited.atoms(9).len(), 200);
        assert_eq!(
            rule.clone().limited(&bands).demand(&bands),
            rule.demand(&bands)
        );
        let fine = covariance.node_rule(&[1.0, 0.02], 1);
        assert_eq!(
            fine.clone().limited(&bands),
            fine.limited(&open).limited(&bands)
        );
    }

    #[test]
    fn boxes_are_right_to_what_the_step_promises() {
        let covariance = Covariance::new(&Kernel::se(["t"]));
        for width in [0.1, 1.0, 4.0, 20.0] {
            let mut set = Functionals::new(columns(&["t"]));
            set.push_box(&[(0.0, width)], Aggregate::Sum).unwrap();
            set.push_point(&[3.0]).unwrap();
            let nodes = covariance.node_rule(&[1.0, 1.0], 1).apply(&set);
            // A wave whose curvature is that of a draw of lengthscale one.
            let got = sum(&nodes, 0, |x| x[0].sin());
            let panels = 20_000;
            let h = width / f64::from(panels);
            let want: f64 = (0..panels)
                .map(|i| h * (h * (f64::from(i) + 0.5)).sin().exp())
                .sum();
            assert!((got / want - 1.0).abs() < 1e-4, "{width}: {got} {want}");
            assert_eq!(nodes.atoms(1).len(), 1);
            // Rounding of a sum of the weights of a rule.
            assert!((nodes.size(0) - width).abs() < 1e-12 * width);
        }
    }

    #[test]
    fn regions_are_right_and_their_weights_positive() {
        // An L of three unit squares, times an interval of time.
        let ring = [
            [0.0, 0.0],
            [2.0, 0.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 2.0],
            [0.0, 2.0],
        ];
        let polygon = Polygon::new(vec![vec![ring.to_vec()]]).unwrap();
        let region: Arc<Region> = Arc::new(polygon.into());
        let mut set = Functionals::new(columns(&["x", "y", "t"]));
        let sides = [None, None, Some(Side::Interval(1.0, 2.0))];
        set.push_product(region, &sides, Aggregate::Sum).unwrap();
        let covariance = Covariance::new(&Kernel::se(["x", "y", "t"]));
        for (lengthscale, most) in [(5.0, 1e-4), (1.0, 1e-4), (0.3, 1e-4)] {
            let theta = [1.0, lengthscale, lengthscale, lengthscale];
            let rule = covariance.node_rule(&theta, 3);
            let nodes = rule.apply(&set);
            assert!(nodes.weight().iter().all(|w| *w > 0.0));
            assert!(nodes.atoms(0).len() as f64 <= rule.demand(&set));
            let g = |x: f64| (x / lengthscale).sin();
            let got = sum(&nodes, 0, |x| g(x[0]) + 0.5 * g(x[1] + x[0]) + g(x[2]));
            let cells = 400;
            let h = 2.0 / f64::from(cells);
            let (mut plane, mut time) = (0.0, 0.0);
            for i in 0..cells {
                let x = h * (f64::from(i) + 0.5);
                time += 0.5 * h * g(1.0 + 0.5 * x).exp();
                for j in 0..cells {
                    let y = h * (f64::from(j) + 0.5);
                    if x < 1.0 || y < 1.0 {
                        plane += h * h * (g(x) + 0.5 * g(x + y)).exp();
                    }
                }
            }
            let want = plane * time;
            assert!(
                // The rule is right to about 1e-5, of each of two factors; midpoints of 400 cells
                // are off by h^2 / 24 over l^2, 1.2e-5.
                (got / want - 1.0).abs() < most,
                "{lengthscale}: {got} {want}"
            );
        }
    }

    #[test]
    fn what_the_kernel_does_not_vary_along_needs_one_node() {
        let covariance = Covariance::new(&Kernel::parse("linear(u) * se(t)").unwrap());
        let mut set = Functionals::new(columns(&["u", "t"]));
        set.push_box(&[(0.0, 2.0), (0.0, 1e-9)], Aggregate::Mean)
            .unwrap();
        let theta = vec![1.0; covariance.parameters()];
        let nodes = covariance.node_rule(&theta, 2).apply(&set);
        // Three along the straight line, two along the narrow side.
        assert_eq!(nodes.atoms(0).len(), 6);
    }
}
