//! Nodes on many simplices for kernels of given lengthscales.

use super::Cubature;

/// Weighted points: an average is `sum_k weights[k] f(point k)`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nodes {
    /// Coordinate `d` of node `k` is `columns[d][k]`.
    pub columns: Vec<Vec<f64>>,
    /// One per node, of either sign, summing to one.
    pub weights: Vec<f64>,
}

impl Nodes {
    /// No nodes in `dim` dimensions.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        Self {
            columns: vec![Vec::new(); dim],
            weights: Vec::new(),
        }
    }

    /// Adds a node.
    pub fn push(&mut self, point: impl IntoIterator<Item = f64>, weight: f64) {
        for (column, c) in self.columns.iter_mut().zip(point) {
            column.push(c);
        }
        self.weights.push(weight);
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The coordinates of one node.
    #[must_use]
    pub fn point(&self, k: usize) -> Vec<f64> {
        self.columns.iter().map(|column| column[k]).collect()
    }

    /// The coordinates of all nodes, as [`Functional::nodes`](crate::support::Functional::nodes)
    /// takes them.
    #[must_use]
    pub fn points(&self) -> Vec<Vec<f64>> {
        (0..self.len()).map(|k| self.point(k)).collect()
    }

    /// The average of a function.
    pub fn mean(&self, mut f: impl FnMut(&[f64]) -> f64) -> f64 {
        let mut x = vec![0.0; self.columns.len()];
        let mut sum = 0.0;
        for (k, w) in self.weights.iter().enumerate() {
            for (x, column) in x.iter_mut().zip(&self.columns) {
                *x = column[k];
            }
            sum += w * f(&x);
        }
        sum
    }

    /// Largest difference between the averages of `k(., x)` by these nodes and by others, relative
    /// to the largest average, over up to 16 places `x` among the nodes.
    ///
    /// An estimate of the relative error of the variance of an average, when the others are finer.
    pub fn disagreement(&self, finer: &Self, kernel: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
        let step = (self.len() / 16).max(1);
        let (mut worst, mut size) = (0.0f64, f64::MIN_POSITIVE);
        for k in (0..self.len()).step_by(step) {
            let at = self.point(k);
            let here = self.mean(|x| kernel(x, &at));
            let there = finer.mean(|x| kernel(x, &at));
            worst = worst.max((here - there).abs());
            size = size.max(there.abs());
        }
        worst / size
    }
}

/// Tolerances for which the longest edges are known.
const TOLERANCES: [f64; 4] = [1e-4, 1e-6, 1e-8, 1e-10];

/// Looser tolerances than this are not believed of a piece, however small its share.
const LOOSEST: f64 = 1e-3;

/// As many nodes as this are refused: a covariance of such supports cannot be computed anyway.
const MOST_NODES: usize = 1 << 21;

/// A rule and the longest edge, in lengthscales, that it bears for each of [`TOLERANCES`].
type Reach = (usize, [f64; 4]);

/// Longest edges by degree, measured: for the squared-exponential kernel and simplices cut into
/// pieces of up to this edge, covariances of the average with itself and with the values at points
/// are right to the tolerance, relative to the standard deviations. Edges were lengthened by 1.12
/// until one failed; the test of these tables asks that they hold, and that 1.3 times as long does
/// not. The last are the worst of four to six dimensions.
const LINE: [Reach; 6] = [
    (1, [0.031, 0.0032, 3.3e-4, 3.1e-5]),
    (3, [0.53, 0.15, 0.049, 0.015]),
    (5, [1.6, 0.75, 0.27, 0.13]),
    (7, [2.6, 1.4, 0.94, 0.42]),
    (9, [3.6, 2.1, 1.3, 0.94]),
    (13, [5.8, 4.6, 2.6, 1.8]),
];
const TRIANGLE: [Reach; 6] = [
    (1, [0.039, 0.0041, 3.8e-4, 3.9e-5]),
    (2, [0.67, 0.19, 0.062, 0.020]),
    (4, [1.8, 0.84, 0.34, 0.17]),
    (8, [4.1, 2.6, 1.4, 0.94]),
    (11, [6.5, 3.6, 2.3, 1.6]),
    (15, [9.1, 5.8, 4.1, 2.9]),
];
const TETRAHEDRON: [Reach; 5] = [
    (1, [0.055, 0.0057, 5.9e-4, 5.5e-5]),
    (2, [0.84, 0.27, 0.078, 0.025]),
    (5, [1.8, 0.75, 0.34, 0.15]),
    (7, [2.9, 1.6, 0.84, 0.48]),
    (9, [4.1, 2.3, 1.4, 0.94]),
];
const HIGHER: [Reach; 4] = [
    (1, [0.055, 0.0057, 5.9e-4, 5.5e-5]),
    (2, [0.84, 0.24, 0.078, 0.022]),
    (5, [1.6, 0.75, 0.34, 0.17]),
    (7, [2.9, 1.4, 0.84, 0.48]),
];

fn table(dim: usize) -> &'static [Reach] {
    match dim {
        1 => &LINE,
        2 => &TRIANGLE,
        3 => &TETRAHEDRON,
        _ => &HIGHER,
    }
}

/// Straight in logarithms between and beyond the tolerances of the table.
fn reach(edges: &[f64; 4], tolerance: f64) -> f64 {
    let place = (tolerance.clamp(1e-14, LOOSEST).log10() + 4.0) / -2.0;
    let k = (place.floor().max(0.0) as usize).min(TOLERANCES.len() - 2);
    let (a, b) = (edges[k].ln(), edges[k + 1].ln());
    (a + (place - k as f64) * (b - a)).exp()
}

/// Nodes on disjoint simplices for averages of functions that vary over given lengthscales.
///
/// Every simplex is bisected across its longest edge, in units of the lengthscales, until one of
/// the rules of [`Cubature`] is known to bear it, and takes the one of these with the fewest nodes:
/// one node when it is far below a lengthscale. Slivers with a small share of the volume are
/// allowed a larger error of their own.
///
/// # Arguments
/// * `simplices` - vertices one after the other, `(dim + 1) * dim` numbers each
/// * `lengthscales` - one per dimension, positive
/// * `tolerance` - of covariances of the average under a squared-exponential kernel, relative to
///   the standard deviations; between 1e-14 and 1e-3
/// * `finer` - the next rule instead on every piece, to estimate the error
/// # Returns
/// The nodes; none when they would be more than two million.
/// # Numerics
/// Rougher kernels converge slowly in the variance of the average of a region, because of the kink
/// where both points meet; see [`region_nodes`](crate::support::region_nodes) for what they reach.
#[must_use]
pub fn simplex_nodes(
    simplices: &[Vec<f64>],
    lengthscales: &[f64],
    tolerance: f64,
    finer: bool,
) -> Option<Nodes> {
    let dim = lengthscales.len();
    let steps: Vec<(Cubature, Cubature, f64)> = table(dim)
        .iter()
        .map(|&(degree, _)| {
            let rule = Cubature::new(dim, degree);
            let next = Cubature::new(dim, rule.degree() + 2);
            (rule, next, 0.0)
        })
        .collect();
    let volumes: Vec<f64> = simplices.iter().map(|s| simplex_volume(s, dim)).collect();
    let total: f64 = volumes.iter().sum();
    let mut nodes = Nodes::new(dim);
    let mut stack: Vec<(Vec<f64>, f64)> = Vec::new();
    for (simplex, volume) in simplices.iter().zip(&volumes) {
        stack.push((simplex.clone(), volume / total));
        while let Some((piece, share)) = stack.pop() {
            let (edge, from, to) = longest_edge(&piece, lengthscales);
            let even = (share * simplices.len() as f64).min(1.0);
            let own = (tolerance / even).min(LOOSEST);
            let bears = |(_, edges): &Reach| edge <= reach(edges, own);
            let Some(k) = table(dim).iter().position(bears) else {
                let [a, b] = bisected(&piece, dim, from, to);
                stack.push((b, 0.5 * share));
                stack.push((a, 0.5 * share));
                if stack.len() + nodes.len() > MOST_NODES {
                    return None;
                }
                continue;
            };
            let rule = if finer { &steps[k].1 } else { &steps[k].0 };
            place(rule, &piece, share, &mut nodes);
            if nodes.len() > MOST_NODES {
                return None;
            }
        }
    }
    Some(nodes)
}

/// Puts a rule on a simplex of the given share of the volume.
fn place(rule: &Cubature, vertices: &[f64], share: f64, nodes: &mut Nodes) {
    let dim = nodes.columns.len();
    for (barycentric, w) in rule.iter() {
        // From the first vertex, so that rounding is relative to the size of the simplex.
        let coordinate = |d: usize| {
            let from_first =
                (1..=dim).map(|v| barycentric[v] * (vertices[v * dim + d] - vertices[d]));
            vertices[d] + from_first.sum::<f64>()
        };
        nodes.push((0..dim).map(coordinate), w * share);
    }
}

/// Length of the longest edge in units of the lengthscales, and its ends.
pub(super) fn longest_edge(vertices: &[f64], lengthscales: &[f64]) -> (f64, usize, usize) {
    let dim = lengthscales.len();
    let mut longest = (0.0, 0, 1);
    for i in 0..dim {
        for j in i + 1..=dim {
            let square: f64 = (0..dim)
                .map(|d| {
                    ((vertices[i * dim + d] - vertices[j * dim + d]) / lengthscales[d]).powi(2)
                })
                .sum();
            if square > longest.0 {
                longest = (square, i, j);
            }
        }
    }
    (longest.0.sqrt(), longest.1, longest.2)
}

/// Both halves of a simplex cut at the middle of an edge.
fn bisected(vertices: &[f64], dim: usize, from: usize, to: usize) -> [Vec<f64>; 2] {
    let mut halves = [vertices.to_vec(), vertices.to_vec()];
    for d in 0..dim {
        let (a, b) = (vertices[from * dim + d], vertices[to * dim + d]);
        let middle = a + 0.5 * (b - a);
        halves[0][to * dim + d] = middle;
        halves[1][from * dim + d] = middle;
    }
    halves
}

/// `|det [v_1 - v_0, ..]| / d!` by elimination with pivoting; vertices one after the other.
///
/// # Source
/// Stein 1966, as in Algorithm 1 of Smith, Alvarez and Lawrence.
#[must_use]
pub fn simplex_volume(vertices: &[f64], dim: usize) -> f64 {
    let mut rows: Vec<Vec<f64>> = (1..=dim)
        .map(|k| {
            (0..dim)
                .map(|d| vertices[k * dim + d] - vertices[d])
                .collect()
        })
        .collect();
    let mut volume = 1.0;
    for c in 0..dim {
        let Some(pivot) = (c..dim).max_by(|&a, &b| rows[a][c].abs().total_cmp(&rows[b][c].abs()))
        else {
            return 0.0;
        };
        rows.swap(c, pivot);
        let head = rows[c][c];
        if head == 0.0 {
            return 0.0;
        }
        volume *= head.abs() / (c + 1) as f64;
        for r in c + 1..dim {
            let factor = rows[r][c] / head;
            for k in c..dim {
                rows[r][k] -= factor * rows[c][k];
            }
        }
    }
    volume
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of a simplex, none with an edge longer than `edge`.
    fn pieces(simplex: Vec<f64>, dim: usize, edge: f64) -> Vec<(Vec<f64>, f64)> {
        let (mut done, mut stack) = (Vec::new(), vec![(simplex, 1.0)]);
        while let Some((piece, share)) = stack.pop() {
            let (length, i, j) = longest_edge(&piece, &vec![1.0; dim]);
            if length <= edge * (1.0 + 1e-12) {
                done.push((piece, share));
            } else {
                let [a, b] = bisected(&piece, dim, i, j);
                stack.extend([(a, 0.5 * share), (b, 0.5 * share)]);
            }
        }
        done
    }

    fn variance(nodes: &Nodes, kernel: impl Fn(f64) -> f64) -> f64 {
        let n = nodes.len();
        let mut sum = 0.0;
        for a in 0..n {
            for b in 0..=a {
                let r2: f64 = nodes.columns.iter().map(|c| (c[a] - c[b]).powi(2)).sum();
                let twice = if a == b { 1.0 } else { 2.0 };
                sum += twice * nodes.weights[a] * nodes.weights[b] * kernel(r2);
            }
        }
        sum
    }

    fn se(r2: f64) -> f64 {
        (-0.5 * r2).exp()
    }

    fn on(rule: &Cubature, pieces: &[(Vec<f64>, f64)], dim: usize) -> Nodes {
        let mut nodes = Nodes::new(dim);
        pieces
            .iter()
            .for_each(|(p, share)| place(rule, p, *share, &mut nodes));
        nodes
    }

    /// Simplices of longest edge 1: a right-angled one, a path along the axes, and uneven ones.
    fn shapes(dim: usize) -> Vec<Vec<f64>> {
        let mut shapes: Vec<Vec<f64>> = Vec::new();
        let (mut corner, mut path) = (vec![0.0; dim], vec![0.0; dim]);
        for v in 0..dim {
            (0..dim).for_each(|d| corner.push(if d == v { 1.0 } else { 0.0 }));
            (0..dim).for_each(|d| path.push(if d <= v { 1.0 } else { 0.0 }));
        }
        shapes.push(corner);
        shapes.push(path);
        for seed in 1..=2u32 {
            let mut state = seed;
            let mut uneven = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(state >> 8) / f64::from(1u32 << 24)
            };
            shapes.push((0..(dim + 1) * dim).map(|_| uneven()).collect());
        }
        for shape in &mut shapes {
            let edge = longest_edge(shape, &vec![1.0; dim]).0;
            shape.iter_mut().for_each(|c| *c /= edge);
        }
        shapes
    }

    /// Largest error over the shapes: of the covariance of the average with the value at a point,
    /// and with itself, both relative to the standard deviations.
    fn worst(rule: &Cubature, dim: usize, edge: f64, kernel: impl Fn(f64) -> f64 + Copy) -> f64 {
        let size = if dim > 3 { 1.0 } else { 2.0 };
        let fine = match dim {
            1 => Cubature::conical(1, 31),
            2 => Cubature::conical(2, 17),
            3 => Cubature::conical(3, 13),
            _ => Cubature::grundmann_moeller(dim, 5),
        };
        let mut worst = 0.0f64;
        for shape in shapes(dim) {
            let whole: Vec<f64> = shape.iter().map(|c| c * edge * size).collect();
            let pieces = pieces(whole, dim, edge);
            let (here, exact) = (on(rule, &pieces, dim), on(&fine, &pieces, dim));
            let sparse = if dim < 3 {
                &fine
            } else {
                &Cubature::new(dim, 5)
            };
            let own = variance(&on(sparse, &pieces, dim), kernel);
            let corners = pieces[0].0.chunks(dim).map(<[f64]>::to_vec);
            let inside = Cubature::new(dim, 2);
            let at = corners.chain(on(&inside, &pieces[..1], dim).points());
            for y in at {
                let to = |x: &[f64]| kernel(x.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum());
                worst = worst.max((here.mean(to) - exact.mean(to)).abs() / own.sqrt());
            }
            if dim < 3 {
                worst = worst.max((variance(&here, kernel) / own - 1.0).abs());
            }
        }
        worst
    }

    #[test]
    fn pieces_as_long_as_the_table_says_reach_the_tolerance() {
        for dim in 1..=4 {
            for &(degree, edges) in table(dim) {
                let rule = Cubature::new(dim, degree);
                for k in 0..TOLERANCES.len() {
                    let error = worst(&rule, dim, edges[k], se);
                    assert!(error <= TOLERANCES[k], "{dim} {degree} {k}: {error}");
                    // And the table is not timid either; the step of its search is 1.12.
                    let error = worst(&rule, dim, 1.3 * edges[k], se);
                    assert!(error > 0.5 * TOLERANCES[k], "{dim} {degree} {k}: {error}");
                }
            }
        }
    }

    #[test]
    fn far_below_a_lengthscale_there_is_one_node() {
        let triangle = vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0];
        let nodes =
            simplex_nodes(std::slice::from_ref(&triangle), &[1e3, 1e3], 1e-6, false).unwrap();
        assert_eq!((nodes.len(), nodes.weights[0]), (1, 1.0));
        assert_eq!(nodes.point(0), [1.0 / 3.0, 1.0 / 3.0]);
        assert!(simplex_nodes(&[triangle], &[1e-4, 1e-4], 1e-6, false).is_none());
    }

    #[test]
    fn slivers_take_fewer_nodes() {
        let large = vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0];
        let sliver = vec![0.0, 0.0, 1.0, 0.0, 1.0, -1e-7];
        let l = [0.5, 0.5];
        let alone = simplex_nodes(std::slice::from_ref(&sliver), &l, 1e-8, false)
            .unwrap()
            .len();
        let one = simplex_nodes(std::slice::from_ref(&large), &l, 1e-8, false)
            .unwrap()
            .len();
        let both = simplex_nodes(&[large, sliver], &l, 1e-8, false)
            .unwrap()
            .len();
        assert!(both - one < alone, "{one} {both} {alone}");
    }

    #[test]
    fn anisotropic_lengthscales_are_coordinates_in_other_units() {
        let simplex = vec![0.0, 0.0, 3.0, 0.5, 1.0, 2.0];
        let l = [0.4, 20.0];
        let scaled: Vec<f64> = simplex
            .chunks(2)
            .flat_map(|v| [v[0] / l[0], v[1] / l[1]])
            .collect();
        let a = simplex_nodes(&[simplex], &l, 1e-6, false).unwrap();
        let b = simplex_nodes(&[scaled], &[1.0, 1.0], 1e-6, false).unwrap();
        assert_eq!(a.len(), b.len());
        // A few roundings of coordinates up to 3 / 0.4 = 7.5.
        for k in 0..a.len() {
            assert!((a.columns[0][k] / l[0] - b.columns[0][k]).abs() < 1e-13);
            assert!((a.columns[1][k] / l[1] - b.columns[1][k]).abs() < 1e-13);
        }
    }
}
