//! Covariances of planar regions against closed forms, cubature and each other.

use std::sync::Arc;

use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::support::{Aggregate, Functionals, Polygon, Region};
use rand_chacha::ChaCha8Rng;

use crate::common::{below, random, uniform};

fn plane() -> Functionals {
    Functionals::new(vec!["x".into(), "y".into()])
}

fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    uniform(rng, low.ln(), high.ln()).exp()
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

#[test]
fn rectangles_given_as_polygons_agree_with_the_closed_form_of_boxes() {
    for (family, tolerance) in [
        ("se", 1e-6),
        ("matern12", 1e-5),
        ("matern32", 1e-6),
        ("matern52", 1e-6),
    ] {
        let kernel: Kernel = format!("{family}(x, y, shared = true)").parse().unwrap();
        let covariance = Covariance::new(&kernel);
        let mut rng = random(11);
        let mut worst = (0.0, [[(0.0, 0.0); 2]; 2]);
        for _ in 0..400 {
            let pair = rectangles(&mut rng);
            let angle = if below(&mut rng, 4) == 0 {
                0.0
            } else {
                uniform(&mut rng, 0.0, 6.0)
            };
            let shift = [uniform(&mut rng, -50.0, 50.0), 20.0];
            let (mut boxes, mut polygons) = (plane(), plane());
            for b in pair {
                boxes.push_box(&b, Aggregate::Mean).unwrap();
                polygons
                    .push_region(turned(b, angle, shift), Aggregate::Mean)
                    .unwrap();
            }
            let want = covariance.matrix(&[1.0, 1.0], &boxes);
            let got = covariance.matrix(&[1.0, 1.0], &polygons);
            for (i, j) in [(0, 0), (0, 1), (1, 1)] {
                let scale = (want[(i, i)] * want[(j, j)]).sqrt();
                let error = (got[(i, j)] - want[(i, j)]).abs() / scale;
                if error > worst.0 {
                    worst = (error, pair);
                }
            }
        }
        println!("{family}: {:.1e} at {:?}", worst.0, worst.1);
        assert!(
            worst.0 < tolerance,
            "{family}: {:e} at {:?}",
            worst.0,
            worst.1
        );
    }
}
