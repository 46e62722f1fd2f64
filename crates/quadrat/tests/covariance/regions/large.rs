//! Regions of many lengthscales: against closed forms of boxes, cubature of cross-covariances, and
//! limits.

use std::f64::consts::PI;
use std::sync::Arc;

use quadrat::kernel::{Kernel, Role};
use quadrat::support::{Aggregate, Functionals, Polygon, Region};

use super::{fan, kernel, log_uniform, plane, rectangles, star, turned};
use crate::common::{below, random, uniform};

fn polygon(corners: &[[f64; 2]]) -> Polygon {
    Polygon::new(vec![vec![corners.to_vec()]]).unwrap()
}

fn push(set: &mut Functionals, polygon: &Polygon) {
    let region = Arc::new(Region::from(polygon.clone()));
    set.push_region(region, Aggregate::Mean).unwrap();
}

/// Of hundreds to thousands of millions of lengthscales, turned by any angle, beside each other and
/// one in the other; and points in and beside them.
#[test]
fn large_rectangles_agree_with_the_closed_form_of_boxes() {
    for family in ["se", "matern12", "matern32", "matern52", "rq"] {
        let (_, covariance) = kernel(&format!("{family}(x, y, shared = true)"));
        let mut rng = random(12);
        for _ in 0..if family == "rq" { 10 } else { 40 } {
            let pair = rectangles(&mut rng);
            let lengthscale = (pair[0][0].1 - pair[0][0].0) * log_uniform(&mut rng, 1e-9, 0.05);
            let theta = match family {
                "rq" => vec![1.0, lengthscale, log_uniform(&mut rng, 0.2, 20.0)],
                _ => vec![1.0, lengthscale],
            };
            let angle = match below(&mut rng, 3) {
                0 => 0.0,
                _ => uniform(&mut rng, 0.0, 6.0),
            };
            let (mut boxes, mut polygons) = (plane(), plane());
            for b in pair {
                boxes.push_box(&b, Aggregate::Mean).unwrap();
                let region = turned(b, angle, [0.3, 0.2]);
                polygons.push_region(region, Aggregate::Mean).unwrap();
            }
            let [(l, r), (b, t)] = pair[0];
            let (share, height) = (uniform(&mut rng, -0.2, 1.2), uniform(&mut rng, -0.2, 1.2));
            let point = [l + share * (r - l), b + height * (t - b)];
            boxes.push_point(&point).unwrap();
            let (s, c) = angle.sin_cos();
            let [x, y] = point;
            polygons
                .push_point(&[0.3 + c * x - s * y, 0.2 + s * x + c * y])
                .unwrap();
            let want = covariance.matrix(&theta, &boxes);
            let got = covariance.matrix(&theta, &polygons);
            for (i, j) in [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2)] {
                let scale = (want[(i, i)] * want[(j, j)]).sqrt();
                let error = (got[(i, j)] - want[(i, j)]).abs() / scale;
                // What small regions beside them promise under Matern 1/2 where they meet a point
                // is less.
                let most = if family == "matern12" { 1e-5 } else { 1e-6 };
                assert!(
                    error < most,
                    "{family} {theta:?} {angle} {pair:?} {point:?} ({i}, {j}): {error:e}"
                );
            }
        }
    }
}

/// A box and a polygon beside it: the closed form of a box and a point, by cubature over the
/// polygon. Borders that nearly coincide are turned against each other by all angles, parallel to
/// the rule or not.
#[test]
fn a_large_polygon_beside_a_box_agrees_with_cubature() {
    for family in ["se", "matern12"] {
        let (_, covariance) = kernel(&format!("{family}(x, y, shared = true)"));
        let (side, height) = (30.0, 12.0);
        for angle in [1e-8, 0.2] {
            let rise = side * f64::tan(angle);
            let other = polygon(&[
                [0.0, height],
                [side, height + rise],
                [side, height + 8.0],
                [4.0, height + 8.0],
            ]);
            let (mut regions, mut nodes) = (plane(), plane());
            let own = Polygon::rectangle((0.0, side), (0.0, height)).unwrap();
            push(&mut regions, &own);
            push(&mut regions, &other);
            nodes
                .push_box(&[(0.0, side), (0.0, height)], Aggregate::Mean)
                .unwrap();
            let (points, weights) = fan(&other, 1.0, 6);
            nodes.push_nodes(&points, &weights).unwrap();
            let theta = [1.0, 1.0];
            let got = covariance.matrix(&theta, &regions);
            let want = covariance.cross(&theta, &nodes.rows(&[0]), &nodes.rows(&[1]))[(0, 0)];
            let scale = (got[(0, 0)] * got[(1, 1)]).sqrt();
            let error = (got[(0, 1)] - want).abs() / scale;
            // Cells of a lengthscale at the border, where third derivatives of Matern 1/2 have no
            // limit.
            assert!(error < 1e-6, "{family} {angle:e}: {error:e}");
        }
    }
}

/// On both sides of where the rules change, and at the change.
#[test]
fn rules_meet_where_they_change() {
    for family in ["se", "matern12", "matern32", "matern52"] {
        let (_, covariance) = kernel(&format!("{family}(x, y, shared = true)"));
        let shape = star(&mut random(31), 1.0, [0.0, 0.0]);
        let beside = polygon(&[[0.0, 0.0], [0.7, 0.1], [0.3, 0.9]]);
        let mut set = plane();
        push(&mut set, &shape);
        push(&mut set, &beside);
        set.push_point(&[0.2, 0.2]).unwrap();
        let at = |lengthscale: f64| covariance.matrix(&[1.0, lengthscale], &set);
        for l in (0..20).map(|k| 0.8_f64.powi(k)) {
            // Three steps apart a third difference of a smooth function is some 1e-9.
            let step = 1e-3;
            let k: Vec<_> = (0..4)
                .map(|i| at(l * (1.0 + step * f64::from(i))))
                .collect();
            for (i, j) in [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2)] {
                let scale = (k[0][(i, i)] * k[0][(j, j)]).sqrt();
                let v: Vec<f64> = k.iter().map(|k| k[(i, j)] / scale).collect();
                let third = v[3] - 3.0 * v[2] + 3.0 * v[1] - v[0];
                // Eight times what an entry may be off by, three times more for kinks.
                assert!(third.abs() < 3e-6, "{family} {l} ({i}, {j}): {third:e}");
            }
        }
    }
}

/// `2 pi l_x l_y` times the area in common, over both areas: less what is lost at the border, `l`
/// times its length times `E r / pi`, where it is small.
#[test]
fn short_lengthscales_leave_the_area_in_common() {
    let ell = polygon(&[
        [0.0, 0.0],
        [2.0, 0.0],
        [2.0, 1.0],
        [1.0, 1.0],
        [1.0, 2.0],
        [0.0, 2.0],
    ]);
    let diamond = polygon(&[[0.3, 0.5], [0.8, 0.1], [1.3, 0.5], [0.8, 0.9]]);
    let ringed = Polygon::new(vec![vec![
        vec![[-1.0, -1.0], [3.0, -1.0], [3.0, 3.0], [-1.0, 3.0]],
        vec![[0.0, 0.0], [0.0, 2.0], [1.0, 2.0], [1.0, 0.0]],
    ]])
    .unwrap();
    let mut set = plane();
    for shape in [&ell, &diamond, &ringed] {
        push(&mut set, shape);
    }
    set.push_point(&[0.8, 0.5]).unwrap();
    let areas = [3.0, 0.4, 14.0];
    let shared = [
        (0, 0, 3.0),
        (0, 1, 0.4),
        (1, 1, 0.4),
        (0, 2, 1.0),
        // The diamond beyond x = 1.
        (1, 2, 0.072),
        (2, 2, 14.0),
    ];
    for text in [
        "se(x, y)",
        "matern12(x, y)",
        "matern32(x, y)",
        "matern52(x, y)",
    ] {
        let (_, covariance) = kernel(text);
        for l in [1e-6, 1e-9, 1e-40, 1e-130] {
            let k = covariance.matrix(&[1.0, l, 3.0 * l], &set);
            let unit = 2.0 * PI * 3.0 * l * l;
            for (i, j, area) in shared {
                let want = area / areas[i] / areas[j];
                let got = k[(i, j)] / unit;
                // Borders of ten units times three lengthscales.
                let most = 100.0 * l * want + 1e-13;
                assert!(
                    (got - want).abs() < most,
                    "{text} {l:e} {i} {j}: {got} {want}"
                );
            }
            for (i, want) in [(0, 1.0 / 3.0), (1, 2.5), (2, 0.0)] {
                let got = k[(i, 3)] / unit;
                // Nothing is lost at a border far away: rounding of numbers of order one.
                assert!((got - want).abs() < 1e-12, "{text} {l:e} {i}: {got} {want}");
            }
        }
    }
}

/// A squared exponential along one column and another kernel along the other.
#[test]
fn products_of_two_columns_agree_with_the_closed_form_of_boxes() {
    for text in [
        "se(x) * matern12(y)",
        "matern32(x) * se(y)",
        "se(x) * matern52(y)",
    ] {
        let (_, covariance) = kernel(text);
        let mut rng = random(13);
        for _ in 0..30 {
            let pair = rectangles(&mut rng);
            let lengthscale = log_uniform(&mut rng, 1e-7, 3.0);
            let other = lengthscale * log_uniform(&mut rng, 0.1, 10.0);
            let theta = [1.0, lengthscale, other];
            let (mut boxes, mut polygons) = (plane(), plane());
            for b in pair {
                boxes.push_box(&b, Aggregate::Mean).unwrap();
                let region = turned(b, 0.0, [0.0, 0.0]);
                polygons.push_region(region, Aggregate::Mean).unwrap();
            }
            let want = covariance.matrix(&theta, &boxes);
            let got = covariance.matrix(&theta, &polygons);
            for (i, j) in [(0, 0), (0, 1), (1, 1)] {
                let scale = (want[(i, i)] * want[(j, j)]).sqrt();
                let error = (got[(i, j)] - want[(i, j)]).abs() / scale;
                assert!(
                    // `Covariance::tolerance` is 1e-7, three times as much at the kinks of Matern
                    // kernels; another three for estimates of the error that fall short.
                    error < 1e-6,
                    "{text} {theta:?} {pair:?} ({i}, {j}): {error:e}"
                );
            }
        }
    }
}

fn theta(kernel: &Kernel, lengthscale: f64) -> Vec<f64> {
    let of = |(k, p): (usize, &quadrat::kernel::KernelParameter)| match p.role {
        Role::Lengthscale(_) => lengthscale * (1.0 + 0.3 * k as f64),
        _ => 1.3,
    };
    kernel.parameters().iter().enumerate().map(of).collect()
}

#[test]
fn gradients_of_large_regions_are_differences_and_covariances_definite() {
    for text in [
        "se(x, y)",
        "matern12(x, y)",
        "matern32(x, y)",
        "matern52(x, y)",
        "rq(x, y)",
        "se(x) * matern12(y)",
    ] {
        let (kernel, covariance) = kernel(text);
        for lengthscale in [0.03, 1e-3, 1e-6] {
            let mut rng = random(78);
            let mut set = plane();
            for _ in 0..if text.starts_with("rq") { 1 } else { 3 } {
                let size = log_uniform(&mut rng, 0.3, 3.0);
                let centre = [uniform(&mut rng, -1.0, 1.0), uniform(&mut rng, -1.0, 1.0)];
                push(&mut set, &star(&mut rng, size, centre));
            }
            // Beside each other, and a box that has one border with a polygon.
            push(
                &mut set,
                &Polygon::rectangle((0.0, 1.0), (0.0, 1.0)).unwrap(),
            );
            push(
                &mut set,
                &Polygon::rectangle((1.0, 1.5), (0.2, 1.0)).unwrap(),
            );
            set.push_box(&[(0.0, 1.0), (1.0, 1.2)], Aggregate::Mean)
                .unwrap();
            set.push_point(&[0.5, 0.5]).unwrap();
            let theta = theta(&kernel, lengthscale);
            let n = set.len();
            let k = covariance.matrix(&theta, &set);
            let scale: Vec<f64> = (0..n).map(|i| k[(i, i)].sqrt()).collect();
            let scaled = faer::Mat::from_fn(n, n, |i, j| k[(i, j)] / (scale[i] * scale[j]));
            let least = scaled.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()[0];
            assert!(least > -1e-7, "{text} {lengthscale}: {least:e}");
            // In units of the standard deviations, so that no row outweighs the others.
            let adjoint = faer::Mat::from_fn(n, n, |i, j| {
                ((i * j + i + j) as f64).sin() / (scale[i] * scale[j])
            });
            let mut gradient = vec![0.0; theta.len()];
            covariance.contract(&theta, &set, adjoint.as_ref(), &mut gradient);
            for p in 0..theta.len() {
                let h = 1e-3 * theta[p];
                let at = |s: f64| -> f64 {
                    let mut t = theta.clone();
                    t[p] += s * h;
                    let k = covariance.matrix(&t, &set);
                    let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                    entries.map(|(i, j)| adjoint[(i, j)] * k[(i, j)]).sum()
                };
                let difference = (8.0 * (at(1.0) - at(-1.0)) - at(2.0) + at(-2.0)) / (12.0 * h);
                let error = (difference - gradient[p]).abs() * theta[p];
                // Entries are right to 1e-8 or better, and steps are a thousandth.
                assert!(error < 1e-4, "{text} {lengthscale} {p}: {error:e}");
            }
        }
    }
}
