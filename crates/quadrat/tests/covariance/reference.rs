//! Values and slopes against `reference/box_covariance.csv` (mpmath 1.4.1, 50 to 120 digits,
//! printed to 17).
//!
//! Errors are measured against `sqrt(k_aa k_bb)`: the scale on which a covariance matters. A slope
//! is multiplied by its parameter first.

use std::collections::HashMap;

use faer::Mat;
use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::support::{Aggregate, Functionals};

const TABLE: &str = include_str!("../reference/box_covariance.csv");

type Edges = Vec<(f64, f64)>;

/// One kernel of the table.
struct Case {
    kernel: Kernel,
    /// All parameters; variances are one.
    theta: Vec<f64>,
    /// Positions of those with a slope in the table.
    free: Vec<usize>,
    rows: Vec<Row>,
}

struct Row {
    a: Edges,
    b: Edges,
    scale: f64,
    value: f64,
    slopes: Vec<f64>,
}

fn numbers(text: &str) -> Vec<f64> {
    let parse = |word: &str| word.parse().unwrap();
    text.split_whitespace().map(parse).collect()
}

fn edges(text: &str) -> Edges {
    numbers(text)
        .chunks_exact(2)
        .map(|e| (e[0], e[1]))
        .collect()
}

fn cases() -> Vec<Case> {
    let mut pairs: HashMap<&str, Vec<(Edges, Edges)>> = HashMap::new();
    let mut cases: Vec<Case> = Vec::new();
    let mut current = "";
    for line in TABLE.lines().filter(|l| !l.starts_with('#')) {
        let fields: Vec<&str> = line.split(';').collect();
        match fields[..] {
            ["pair", name, a, b] => pairs.entry(name).or_default().push((edges(a), edges(b))),
            ["kernel", expression, theta, name] => {
                current = name;
                let kernel = Kernel::parse(expression).unwrap();
                let mut given = numbers(theta).into_iter();
                let mut free = Vec::new();
                let theta = kernel
                    .parameters()
                    .iter()
                    .enumerate()
                    .map(|(i, p)| {
                        if p.name.ends_with(".variance") {
                            return 1.0;
                        }
                        free.push(i);
                        given.next().unwrap()
                    })
                    .collect();
                let rows = Vec::new();
                cases.push(Case {
                    kernel,
                    theta,
                    free,
                    rows,
                });
            }
            [scale, value, slopes] => {
                let rows = &mut cases.last_mut().unwrap().rows;
                let (a, b) = pairs[current][rows.len()].clone();
                rows.push(Row {
                    a,
                    b,
                    scale: scale.parse().unwrap(),
                    value: value.parse().unwrap(),
                    slopes: numbers(slopes),
                });
            }
            _ => panic!("{line}"),
        }
    }
    cases
}

fn set<'a>(kernel: &Kernel, boxes: impl Iterator<Item = &'a Edges>) -> Functionals {
    let mut set = Functionals::new(kernel.columns().to_vec());
    for edges in boxes {
        set.push_box(edges, Aggregate::Mean).unwrap();
    }
    set
}

/// Worst error and the pair where it is met.
struct Worst(f64, String);

impl Worst {
    fn see(&mut self, error: f64, row: &Row) {
        // NaN must not pass.
        if error > self.0 || error.is_nan() {
            self.0 = error;
            self.1 = format!("{:?} {:?} expected {:e}", row.a, row.b, row.value);
        }
    }
}

/// Worst errors of values and slopes. Pairs go through tiles of 16 x 16, so that widths of every
/// class meet in one.
fn errors(case: &Case) -> (Worst, Worst) {
    let covariance = Covariance::new(&case.kernel);
    let mut value = Worst(0.0, String::new());
    let mut slope = Worst(0.0, String::new());
    for rows in case.rows.chunks(16) {
        let a = set(&case.kernel, rows.iter().map(|r| &r.a));
        let b = set(&case.kernel, rows.iter().map(|r| &r.b));
        let k = covariance.cross(&case.theta, &a, &b);
        let back = covariance.cross(&case.theta, &b, &a);
        for (i, row) in rows.iter().enumerate() {
            for k in [k[(i, i)], back[(i, i)]] {
                value.see((k - row.value).abs() / row.scale, row);
            }
            let (a, b) = (a.rows(&[i]), b.rows(&[i]));
            let mut gradient = vec![0.0; case.theta.len()];
            let one = Mat::from_fn(1, 1, |_, _| 1.0);
            covariance.contract_cross(&case.theta, &a, &b, one.as_ref(), &mut gradient);
            for (&p, exact) in case.free.iter().zip(&row.slopes) {
                let error = (gradient[p] - exact).abs() * case.theta[p] / row.scale;
                slope.see(error, row);
            }
        }
    }
    (value, slope)
}

/// Tolerances of values and slopes, with their reasons.
fn tolerances(case: &Case) -> (f64, f64) {
    let text = case.kernel.to_string();
    // The contract: 1e-13 everywhere. Slopes of the same functional of -z kappa'(z), which is
    // larger than kappa by a small factor.
    let (value, slope) = (1e-13, 2e-13);
    if text == "periodic(x)" {
        // p dk/dp is u/p times up to 4 pi sin / l^2, with sin to eps: u/p reaches 43 in the table
        // (over wider boxes sin is averaged away), so eps pi^2 4 43 / l^2. And a box of 1e4 periods
        // is stored as lower edge and width: the rounding eps/2 1e4 of the width in periods, times
        // 2 pi.
        return (value, 4e-13 / case.theta[1].powi(2) + 7e-12);
    }
    (value, slope)
}

#[test]
fn covariances_and_slopes_equal_the_table() {
    let cases = cases();
    assert!(cases.len() > 20, "{} kernels", cases.len());
    let mut failures = String::new();
    for case in &cases {
        let (value, slope) = errors(case);
        let (allowed, allowed_slope) = tolerances(case);
        println!(
            "{:28} {:?}: {} pairs, value {:.1e}, slopes {:.1e}",
            case.kernel.to_string(),
            case.theta,
            case.rows.len(),
            value.0,
            slope.0
        );
        for (worst, allowed) in [(value, allowed), (slope, allowed_slope)] {
            if worst.0 > allowed || worst.0.is_nan() {
                failures += &format!(
                    "{} {:?}: {:e} at {}\n",
                    case.kernel, case.theta, worst.0, worst.1
                );
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn the_comparison_rejects_a_lengthscale_that_is_off_in_the_twelfth_digit() {
    for mut case in cases() {
        let p = case.free[0];
        // Moves values by 1e-11 times their logarithmic slopes, of which a hundredth is noticed.
        case.theta[p] *= 1.0 + 1e-11;
        let (value, _) = errors(&case);
        assert!(
            value.0 > tolerances(&case).0,
            "{}: {:e}",
            case.kernel,
            value.0
        );
    }
}

#[test]
fn linear_and_constant_kernels_see_the_centre_and_nothing() {
    let pair = |line: &'static str| {
        let fields: Vec<&str> = line.split(';').collect();
        (edges(fields[2])[0], edges(fields[3])[0])
    };
    let pairs: Vec<_> = TABLE
        .lines()
        .filter(|l| l.starts_with("pair;1d;"))
        .map(pair)
        .collect();
    assert!(pairs.len() > 200);
    let [linear, constant] =
        [Kernel::linear(["x"]), Kernel::constant()].map(|k| Covariance::new(&k));
    for (a, b) in pairs {
        let of = |e| Functionals::intervals("x", &[e], Aggregate::Mean).unwrap();
        let (s, t) = (of(a), of(b));
        let k = linear.cross(&[2.0], &s, &t)[(0, 0)];
        let (x, y) = (0.5 * (a.0 + a.1), 0.5 * (b.0 + b.1));
        // A width is rounded to eps/2 of itself or of an edge.
        let rounding = |e: (f64, f64)| f64::EPSILON * e.0.abs().max(e.1.abs());
        let allowed = 2.0
            * (2.0 * x.abs() * rounding(b)
                + 2.0 * y.abs() * rounding(a)
                + rounding(a) * rounding(b));
        assert!((k - 2.0 * x * y).abs() <= allowed, "{a:?} {b:?}: {k}");
        let none = |e: &Functionals| e.select(&[]).unwrap();
        assert_eq!(constant.cross(&[2.0], &none(&s), &none(&t))[(0, 0)], 2.0);
    }
}
