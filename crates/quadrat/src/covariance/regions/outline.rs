//! Planar regions under one set of lengthscales: boundary nodes, area nodes, or both.

use std::sync::LazyLock;

use super::padua::{self, Padua, PaduaNodes};
use super::tensor::Tensor;
use crate::covariance::{PlanarRule, Resolution};
use crate::kernel::Potential;
use crate::linalg::MatRef;
use crate::quadrature::gauss_legendre;
use crate::support::Edge;

/// Where the kink of the kernel is felt, covariances may be this many times less accurate: kinks
/// cost more to resolve.
const KINK_EXCUSE: f64 = 3.0;
/// Most Gauss-Legendre nodes on one panel of an edge.
const MAX_LINE: usize = 12;
/// Most panels of one edge.
const MAX_PANELS: usize = 256;
/// Most boundary nodes of a region, or two for every edge: where more are needed it is large.
const MAX_NODES: usize = 256;
/// The same where edges must have nodes: regions of very many lengthscales are resolved less
/// finely.
const MAX_FINE_NODES: usize = 1024;
/// Half the diagonal, in lengthscales, of a region that is nearly a point. Beside a large region
/// its area nodes serve it: there covariances bend on the scale of the lengthscale, and by a third
/// power at most at an edge.
const TINY: f64 = 0.01;
/// Half a width in lengthscales below which a long region is no large one.
const THIN: f64 = 1e-3;
/// Nodes of the covariance in one direction of a line within a region's columns.
pub(super) static LINES: LazyLock<Vec<Vec<(f64, f64)>>> = LazyLock::new(|| {
    (0..=MAX_LINE)
        .map(|n| gauss_legendre(n).on(0.0, 1.0).collect())
        .collect()
});

/// A stretch of an edge with its nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel {
    /// First node and one past the last.
    pub nodes: (usize, usize),
    pub from: [f64; 2],
    /// `to - from`.
    pub along: [f64; 2],
    pub length: f64,
}

/// A region in scaled coordinates.
pub(super) struct Outline {
    pub panels: Vec<Panel>,
    /// Boundary nodes.
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// Edge vectors times weights.
    pub wx: Vec<f64>,
    pub wy: Vec<f64>,
    /// Inverse of the area.
    pub inverse_area: f64,
    /// Perimeter over area and root of the own covariance: what errors on the boundary grow by.
    pub growth: f64,
    /// Centre and half widths of the bounding box.
    pub centre: [f64; 2],
    pub half: [f64; 2],
    /// Area nodes, when few are enough.
    pub compact: Option<Compact>,
    /// Area nodes on a grid, for a squared exponential.
    pub tensor: Option<Tensor>,
    /// Whether it has too many lengthscales for nodes; then there is one panel for every edge.
    pub is_large: bool,
    tolerance: f64,
}

/// Area nodes of the average.
pub(super) struct Compact {
    pub nodes: PaduaNodes,
    /// Other supports must be this far from the bounding box, or the kink of the kernel is felt.
    pub clearance: f64,
}

/// The moments of a set, as a function of how many are needed.
type Tables<'a> = &'a dyn Fn(usize) -> MatRef<'a, f64>;

impl Outline {
    /// From directed edges (region on the left) in scaled coordinates, its area there, and its
    /// bounding box.
    pub fn new<P: Potential>(
        edges: &[Edge],
        area: f64,
        [x, y]: [(f64, f64); 2],
        Resolution { tolerance, rule }: Resolution,
        moments: Tables<'_>,
        most_points: usize,
    ) -> Self {
        let centre = [0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1)];
        let half = [0.5 * (x.1 - x.0), 0.5 * (y.1 - y.0)];
        let length = |(p, q): &([f64; 2], [f64; 2])| (q[0] - p[0]).hypot(q[1] - p[1]);
        let perimeter: f64 = edges.iter().map(length).sum();
        // The average of k over pairs of points of the bounding box, from below.
        let own = 1.0 / ((1.0 + half[0]) * (1.0 + half[1]));
        let growth = perimeter / (area * own.sqrt());
        let is_smooth = P::KINK.is_none();
        let by_area = rule == PlanarRule::Automatic;
        // Of what is thin in one column and long in the other, edges cancel to the last digit:
        // nodes that are too few are rough there, but a covariance. Products of columns have no
        // nodes.
        let is_thin = most_points > 0 && half[0].min(half[1]) < THIN;
        let mut out = Self {
            panels: Vec::new(),
            x: Vec::new(),
            y: Vec::new(),
            wx: Vec::new(),
            wy: Vec::new(),
            inverse_area: area.recip(),
            growth,
            centre,
            half,
            compact: (by_area && !is_smooth)
                .then(|| compact::<P>(moments, centre, half, tolerance))
                .flatten(),
            tensor: None,
            is_large: false,
            tolerance,
        };
        if by_area && is_smooth {
            // Two columns on two sides, each error times the Lebesgue constant of the other.
            let tolerance = tolerance * own.sqrt() / 16.0;
            let mut points = half.map(|h| Tensor::points(h, tolerance));
            out.is_large = points[0].max(points[1]) > most_points && !is_thin;
            if !out.is_large {
                points = points.map(|p| p.min(most_points));
                let needed = points[0].max(points[1]);
                out.tensor = Some(Tensor::new(moments(needed), centre, half, points));
            }
            out.panels = edges.iter().filter_map(whole_edge).collect();
            return out;
        }
        // Partners may be harder than the region itself.
        let allowed = tolerance / (2.0 * growth * growth.max(10.0));
        let mut shrink = 1.0;
        let rules = loop {
            let of = |edge| rule_of::<P>(length(edge) * shrink, allowed);
            let rules: Vec<(usize, usize)> = edges.iter().map(of).collect();
            let total: usize = rules.iter().map(|(panels, nodes)| panels * nodes).sum();
            // A sliver may ask for many nodes on its edges, and be small.
            let is_small = out.compact.is_some();
            if by_area && !is_small && total > MAX_NODES.max(2 * edges.len()) {
                out.is_large = true;
                out.panels = edges.iter().filter_map(whole_edge).collect();
                return out;
            }
            // No finer than the memory allows: a lengthscale the optimiser merely tries.
            if total <= MAX_FINE_NODES.max(2 * edges.len()) || shrink < 1e-6 {
                break rules;
            }
            shrink *= 0.7;
        };
        for (edge, (panels, nodes)) in edges.iter().zip(rules) {
            let whole = length(edge);
            if whole == 0.0 {
                continue;
            }
            let (from, to) = *edge;
            let share = (panels as f64).recip();
            let along = [(to[0] - from[0]) * share, (to[1] - from[1]) * share];
            for p in 0..panels {
                let p = p as f64;
                let start = [from[0] + p * along[0], from[1] + p * along[1]];
                let first = out.x.len();
                for &(t, w) in &LINES[nodes] {
                    out.x.push(start[0] + t * along[0]);
                    out.y.push(start[1] + t * along[1]);
                    out.wx.push(w * along[0]);
                    out.wy.push(w * along[1]);
                }
                out.panels.push(Panel {
                    nodes: (first, out.x.len()),
                    from: start,
                    along,
                    length: whole * share,
                });
            }
        }
        // An area node costs about a quarter of a boundary node.
        let few = |c: &Compact| c.nodes.weights.len() <= 4 * out.x.len();
        out.compact = out.compact.filter(few);
        out
    }

    /// The box that both bounding boxes have in common.
    pub fn frame(&self, other: &Self) -> [(f64, f64); 2] {
        [0, 1].map(|d| {
            let low = (self.centre[d] - self.half[d]).max(other.centre[d] - other.half[d]);
            let high = (self.centre[d] + self.half[d]).min(other.centre[d] + other.half[d]);
            (low, high)
        })
    }

    /// Whether it has area nodes that serve any partner, as it is nearly a point.
    pub fn is_tiny(&self) -> bool {
        let has_nodes = self.tensor.is_some() || self.compact.is_some();
        has_nodes && self.half[0].hypot(self.half[1]) < TINY
    }

    /// Places and weights of its area nodes, where it has some.
    pub fn area_nodes(&self) -> Vec<([f64; 2], f64)> {
        match (&self.tensor, &self.compact) {
            (Some(tensor), _) => tensor.grid().nodes(),
            (None, Some(Compact { nodes, .. })) => {
                let places = nodes.x.iter().zip(&nodes.y).map(|(x, y)| [*x, *y]);
                places.zip(nodes.weights.iter().copied()).collect()
            }
            (None, None) => Vec::new(),
        }
    }

    /// Distance between the bounding boxes of two supports.
    pub fn gap(centre: [f64; 2], half: [f64; 2], other: [f64; 2], other_half: [f64; 2]) -> f64 {
        let along = |d: usize| ((centre[d] - other[d]).abs() - half[d] - other_half[d]).max(0.0);
        along(0).hypot(along(1))
    }

    /// How the kink of the kernel is felt where panels of this region and another meet.
    pub fn kink<P: Potential>(&self, other_growth: f64) -> Option<Kink> {
        let (m, c) = P::KINK?;
        // H has the kink c r^(m+2) / (m+2)^2.
        let strength = c / f64::from((m + 2) * (m + 2)) * self.growth * other_growth
            / (KINK_EXCUSE * self.tolerance);
        Some(Kink {
            power: m + 2,
            strength,
            finest: (strength * MISSED).powf(-1.0 / f64::from(m + 2)),
        })
    }
}

/// The kink of `H` against what it may be off by, for one pair of regions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kink {
    power: i32,
    strength: f64,
    /// Panels shorter than this may touch.
    pub finest: f64,
}

impl Kink {
    /// Gauss-Legendre nodes for a panel of length `h` whose partner is at least as far away:
    /// `strength h^power rho^-2n <= 1`, `rho = 2 + sqrt(5)`.
    pub fn nodes(&self, h: f64) -> usize {
        if h <= self.finest {
            return TOUCHING;
        }
        let excess = (self.strength * h.powi(self.power)).ln();
        let nodes = (excess / (2.0 * RHO.ln())).ceil();
        nodes.clamp(2.0, MAX_LINE as f64) as usize
    }
}

/// Nodes on panels so short that they may touch.
const TOUCHING: usize = 6;
/// `2 + sqrt(5)`: where a singularity at the distance of a panel's length lies.
const RHO: f64 = 4.236_067_977_499_79;
/// Part of a kink that Gauss-Legendre rules on touching panels miss.
const MISSED: f64 = 1e-5;

/// An edge as one panel without nodes.
fn whole_edge((from, to): &Edge) -> Option<Panel> {
    let along = [to[0] - from[0], to[1] - from[1]];
    let length = along[0].hypot(along[1]);
    (length > 0.0).then_some(Panel {
        nodes: (0, 0),
        from: *from,
        along,
        length,
    })
}

/// Panels and nodes per panel for an edge, at least cost.
fn rule_of<P: Potential>(length: f64, allowed: f64) -> (usize, usize) {
    let mut best = (usize::MAX, 0, 0);
    let least = (length / 8.0).ceil().clamp(1.0, MAX_PANELS as f64) as usize;
    for panels in (least..).take(24).chain([MAX_PANELS]) {
        let h = length / panels as f64;
        let Some(nodes) = (1..=MAX_LINE).find(|&n| line_error::<P>(n, h) <= allowed) else {
            continue;
        };
        if panels * nodes < best.0 {
            best = (panels * nodes, panels, nodes);
        }
        if nodes <= 2 {
            break;
        }
    }
    match best.2 {
        0 => (MAX_PANELS, MAX_LINE),
        nodes => (best.1, nodes),
    }
}

/// Error per unit length of `n` Gauss-Legendre nodes on a panel of length `h`.
///
/// `(n!)^4 / ((2n + 1) (2n)!^3) h^(2n) max |d^(2n) H|`; for kinked kernels also what the kink at
/// the distance of a panel's length leaves, `rho^-2n` with `rho = 2 + sqrt(5)`.
fn line_error<P: Potential>(n: usize, h: f64) -> f64 {
    let mut error = 1.0 / (2 * n + 1) as f64;
    for k in 1..=n {
        let (k, two) = (k as f64, 2.0 * k as f64);
        let factorials = k.powi(4) / (two * (two - 1.0)).powi(3);
        error *= factorials * (P::RATE * h).powi(2);
        // Largest derivatives of a squared exponential grow like double factorials.
        if P::KINK.is_none() && k >= 2.0 {
            error *= two - 3.0;
        }
    }
    if let Some((m, c)) = P::KINK {
        let kink = c / f64::from((m + 2) * (m + 2)) * h.min(1.0).powi(m + 2);
        error += kink * RHO.powi(-2 * n as i32);
    }
    error
}

/// Area nodes when a rule of moderate degree is enough for smooth partners.
fn compact<P: Potential>(
    moments: Tables<'_>,
    centre: [f64; 2],
    half: [f64; 2],
    tolerance: f64,
) -> Option<Compact> {
    let size = half[0].hypot(half[1]);
    let degree = (0..=padua::MAX_DEGREE).find(|&p| area_error::<P>(p, size) <= tolerance)?;
    let clearance_of = |degree: usize| -> f64 {
        let Some((m, c)) = P::KINK else { return 0.0 };
        // What the kink leaves decays like rho^-(degree + 1). The branch points of a partner beside
        // the box lie at x +- i clearance, on the ellipse of rho = d + sqrt(1 + d^2).
        let strength = 0.5 * c * size.powi(m) / tolerance;
        let rho = strength.powf(1.0 / (degree + 1) as f64);
        if rho <= 1.0 {
            0.0
        } else {
            0.5 * (rho - 1.0 / rho) * size
        }
    };
    // A few more nodes are cheaper than many partners that need the boundary.
    let degree = (degree..=padua::MAX_DEGREE.min(degree.max(8)))
        .find(|&p| clearance_of(p) <= 2.0 * size)
        .unwrap_or(degree.clamp(8, padua::MAX_DEGREE));
    let mut nodes = Padua::of(degree).nodes(moments(padua::MAX_DEGREE + 1));
    nodes
        .x
        .iter_mut()
        .for_each(|x| *x = centre[0] + half[0] * *x);
    nodes
        .y
        .iter_mut()
        .for_each(|y| *y = centre[1] + half[1] * *y);
    Some(Compact {
        nodes,
        clearance: clearance_of(degree),
    })
}

/// Error of the interpolant of degree `p` of a kernel over a box with half diagonal `size`, away
/// from any kink: `2 (size / 2)^(p+1) max |d^(p+1) k| / (p+1)!`.
pub(super) fn area_error<P: Potential>(p: usize, size: f64) -> f64 {
    let mut error = 2.0;
    for k in 1..=p + 1 {
        let k = k as f64;
        let derivative = if P::KINK.is_none() { k.sqrt() } else { P::RATE };
        error *= 0.5 * size * derivative / k;
    }
    error
}
