//! Covariances of regions against closed forms, cubature, differences and each other.

mod kept;
mod large;
mod sets;
mod slivers;
mod values;

use std::sync::Arc;

use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::quadrature::gauss_legendre;
use quadrat::support::{Functionals, Polygon, Region};
use rand_chacha::ChaCha8Rng;

use crate::common::{below, uniform};

fn plane() -> Functionals {
    Functionals::new(vec!["x".into(), "y".into()])
}

fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    uniform(rng, low.ln(), high.ln()).exp()
}

fn kernel(text: &str) -> (Kernel, Covariance) {
    let kernel: Kernel = text.parse().unwrap();
    let covariance = Covariance::new(&kernel);
    (kernel, covariance)
}

type Box2 = [(f64, f64); 2];

/// A pair of rectangles that are the same, share a border or a corner, overlap, or lie apart.
fn rectangles(rng: &mut ChaCha8Rng) -> [Box2; 2] {
    let mut sides = || {
        let w = log_uniform(rng, 0.01, 20.0);
        (w, w * log_uniform(rng, 0.03, 1.0))
    };
    let ((w, h), (v, g)) = (sides(), sides());
    let a = [(0.0, w), (0.0, h)];
    let b = match below(rng, 6) {
        0 => a,
        1 => [(w, w + v), (0.0, h)],
        2 => [(w, w + v), (h, h + g)],
        3 => [(0.3 * w, 0.3 * w + v), (0.6 * h, 0.6 * h + g)],
        4 => [(0.25 * w, 0.75 * w), (0.25 * h, 0.75 * h)],
        _ => {
            let (dx, dy) = (uniform(rng, -8.0, 8.0), uniform(rng, -8.0, 8.0));
            [(dx, dx + v), (dy, dy + g)]
        }
    };
    [a, b]
}

/// A rectangle turned by an angle and moved.
fn turned(b: Box2, angle: f64, shift: [f64; 2]) -> Arc<Region> {
    let (s, c) = angle.sin_cos();
    let [(l, r), (lo, hi)] = b;
    let ring = [[l, lo], [r, lo], [r, hi], [l, hi]]
        .map(|[x, y]| [shift[0] + c * x - s * y, shift[1] + s * x + c * y]);
    Arc::new(Polygon::new(vec![vec![ring.to_vec()]]).unwrap().into())
}

/// A star of `n` vertices about a centre, some with a hole, some squeezed to a sliver.
fn star(rng: &mut ChaCha8Rng, size: f64, centre: [f64; 2]) -> Polygon {
    let n = 3 + below(rng, 30);
    let squeeze = match below(rng, 4) {
        0 => log_uniform(rng, 0.01, 0.2),
        _ => 1.0,
    };
    let turn = uniform(rng, 0.0, 6.0);
    let (s, c) = turn.sin_cos();
    let place = |radius: f64, k: usize, n: usize| {
        let (v, u) = (std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
        let (x, y) = (0.5 * size * radius * u, 0.5 * size * radius * v * squeeze);
        [centre[0] + c * x - s * y, centre[1] + s * x + c * y]
    };
    let outer = (0..n)
        .map(|k| place(uniform(rng, 0.4, 1.0), k, n))
        .collect();
    let mut rings = vec![outer];
    if below(rng, 3) == 0 && n > 5 {
        let m = 3 + below(rng, 4);
        rings.push((0..m).map(|k| place(0.15, k, m)).collect());
    }
    Polygon::new(vec![rings]).unwrap()
}

/// Nodes of the average over a polygon from signed triangles between its edges and a point near
/// it, by collapsed Gauss-Legendre rules: no triangulation, no edge rule.
fn fan(polygon: &Polygon, step: f64, order: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let [x, y] = polygon.bounds();
    let o = [0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1)];
    let rule = gauss_legendre(order);
    let (mut points, mut weights) = (Vec::new(), Vec::new());
    for (p, q) in polygon.edges() {
        let (u, v) = ([p[0] - o[0], p[1] - o[1]], [q[0] - o[0], q[1] - o[1]]);
        let cross = u[0] * v[1] - u[1] * v[0];
        let reach = u[0].hypot(u[1]).max(v[0].hypot(v[1]));
        let length = (q[0] - p[0]).hypot(q[1] - p[1]);
        let (m, k) = (
            (reach / step).ceil() as usize,
            (length / step).ceil() as usize,
        );
        for i in 0..m {
            for (r, wr) in rule.on(i as f64 / m as f64, (i + 1) as f64 / m as f64) {
                for j in 0..k {
                    for (t, wt) in rule.on(j as f64 / k as f64, (j + 1) as f64 / k as f64) {
                        let at = [0, 1].map(|d| o[d] + r * ((1.0 - t) * u[d] + t * v[d]));
                        points.push(at.to_vec());
                        weights.push(cross * r * wr * wt / polygon.area());
                    }
                }
            }
        }
    }
    (points, weights)
}
