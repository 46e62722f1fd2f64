//! The special functions against an mpmath table (`reference/special.py`, mpmath 1.3.0, 25 digits),
//! and their laws.

#![allow(clippy::unwrap_used)]

use quadrat::special::{
    erf_into, erfc_into, erfcx_into, exp, exp_into, log_cdf_difference_into, log_cdf_into,
    normal_cdf_into, normal_pdf_into, scalar,
};

type Map = fn(&[f64], &mut [f64]);
type Function = fn(f64) -> f64;

const TABLE: &str = include_str!("reference/special.csv");

/// Distance from the spacing of doubles at `exact`: |value - exact| / ulp(exact), exact to half a
/// unit.
///
/// `exact` is the double next to the table's value, so a correctly rounded result counts 0.
fn ulps(value: f64, exact: f64) -> f64 {
    if value == exact || (value.is_nan() && exact.is_nan()) {
        return 0.0;
    }
    if !value.is_finite() || !exact.is_finite() {
        return f64::INFINITY;
    }
    let order = |x: f64| {
        let bits = x.abs().to_bits() as i64;
        if x < 0.0 { -bits } else { bits }
    };
    order(value).abs_diff(order(exact)) as f64
}

/// Rows of one function: arguments and value.
fn rows(function: &str) -> Vec<(f64, f64, f64)> {
    let number = |field: Option<&str>| match field.unwrap() {
        "" => f64::NAN,
        text => text.parse().unwrap(),
    };
    TABLE
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split(',');
            (fields.next() == Some(function)).then(|| {
                (
                    number(fields.next()),
                    number(fields.next()),
                    number(fields.next()),
                )
            })
        })
        .collect()
}

/// Worst distance in ulps over the rows of a function, with the argument where it is met.
fn worst(function: &str, map: Map) -> (f64, f64) {
    let rows = rows(function);
    assert!(rows.len() > 200, "{function}: only {} rows", rows.len());
    let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let mut out = vec![0.0; x.len()];
    map(&x, &mut out);
    let mut worst = (0.0, f64::NAN);
    for (row, value) in rows.iter().zip(&out) {
        let distance = ulps(*value, row.2);
        if distance > worst.0 {
            worst = (distance, row.0);
        }
    }
    println!("{function}: {} ulp at {:e}", worst.0, worst.1);
    worst
}

fn one(map: Map, x: f64) -> f64 {
    let mut out = [0.0];
    map(&[x], &mut out);
    out[0]
}

/// Deterministic numbers spread over sizes and signs, without a generator's dependence.
fn spread(n: usize) -> Vec<f64> {
    (0..n)
        .map(|i| {
            let u = (i as f64 * 0.618_033_988_749_895).fract();
            let v = (i as f64 * 0.754_877_666_246_693).fract();
            (2.0 * u - 1.0) * 10f64.powf(4.0 * v - 2.5)
        })
        .collect()
}

/// Every array function with the largest distance allowed, in ulps.
const FUNCTIONS: [(&str, Map, f64); 7] = [
    ("exp", exp_into, 2.0),
    ("erf", erf_into, 2.0),
    ("erfc", erfc_into, 2.0),
    ("erfcx", erfcx_into, 2.0),
    ("normal_cdf", normal_cdf_into, 3.0),
    ("normal_pdf", normal_pdf_into, 2.0),
    ("log_cdf", log_cdf_into, 4.0),
];

/// Applies a scalar function to a slice.
fn each(f: Function, x: &[f64], out: &mut [f64]) {
    for (x, out) in x.iter().zip(out) {
        *out = f(*x);
    }
}

#[test]
fn array_functions_agree_with_mpmath() {
    for (name, map, limit) in FUNCTIONS {
        let (distance, x) = worst(name, map);
        assert!(distance <= limit, "{name}({x:e}) is {distance} ulp off");
    }
}

#[test]
fn log_cdf_difference_agrees_with_mpmath() {
    let rows = rows("log_cdf_difference");
    assert!(rows.len() > 400);
    let (a, b): (Vec<f64>, Vec<f64>) = rows.iter().map(|row| (row.0, row.1)).unzip();
    let mirrored: (Vec<f64>, Vec<f64>) = rows.iter().map(|row| (-row.1, -row.0)).unzip();
    let (mut out, mut mirrored_out) = (vec![0.0; a.len()], vec![0.0; a.len()]);
    log_cdf_difference_into(&a, &b, &mut out);
    log_cdf_difference_into(&mirrored.0, &mirrored.1, &mut mirrored_out);
    let mut worst: f64 = 0.0;
    for i in 0..rows.len() {
        assert_eq!(
            out[i], mirrored_out[i],
            "mirror image of [{}, {}]",
            a[i], b[i]
        );
        assert_eq!(
            out[i].to_bits(),
            scalar::log_cdf_difference(a[i], b[i]).to_bits()
        );
        let distance = ulps(out[i], rows[i].2);
        assert!(
            distance <= 4.0,
            "[{:e}, {:e}]: {} is {distance} ulp off",
            a[i],
            b[i],
            out[i]
        );
        worst = worst.max(distance);
    }
    println!("log_cdf_difference: {worst} ulp");
}

#[test]
fn scalar_functions_agree_with_mpmath() {
    let (distance, p) = worst("normal_quantile", |x, out| {
        each(scalar::normal_quantile, x, out)
    });
    assert!(
        distance <= 3.0,
        "normal_quantile({p:e}) is {distance} ulp off"
    );
    // libm documents no bound; sums of two terms of either sign stay within these on the positive
    // axis.
    let (distance, x) = worst("ln_gamma", |x, out| each(scalar::ln_gamma, x, out));
    assert!(distance <= 8.0, "ln_gamma({x:e}) is {distance} ulp off");
    for (x, _, exact) in rows("digamma") {
        let value = scalar::digamma(x);
        if x > 0.0 {
            assert!(
                ulps(value, exact) <= 8.0,
                "digamma({x:e}) = {value}, exact {exact}"
            );
        } else {
            // Reflection subtracts terms of the size of pi cot(pi x).
            let scale =
                exact.abs() + (std::f64::consts::PI / (std::f64::consts::PI * x).tan()).abs();
            assert!(
                (value - exact).abs() <= 8.0 * f64::EPSILON * scale,
                "digamma({x:e})"
            );
        }
    }
}

#[test]
fn ulp_checker_rejects_a_perturbed_function() {
    fn perturbed(x: &[f64], out: &mut [f64]) {
        exp_into(x, out);
        for value in out {
            // Six to twelve ulps, depending on the leading digits.
            *value *= 1.0 + 6.0 * f64::EPSILON;
        }
    }
    assert!(worst("exp", perturbed).0 > 2.0);
    assert_eq!(ulps(1.0, 1.0 + f64::EPSILON), 1.0);
    assert_eq!(ulps(-5e-324, 5e-324), 2.0);
    assert_eq!(ulps(f64::NAN, 1.0), f64::INFINITY);
    assert_eq!(ulps(f64::INFINITY, f64::MAX), f64::INFINITY);
}

#[test]
fn special_values() {
    let inf = f64::INFINITY;
    for (x, value) in [
        (0.0, 1.0),
        (-0.0, 1.0),
        (inf, inf),
        (-inf, 0.0),
        (710.0, inf),
        (f64::MAX, inf),
        (f64::MIN, 0.0),
        (-745.2, 0.0),
    ] {
        assert_eq!(one(exp_into, x), value, "exp({x})");
    }
    for (x, value) in [
        (0.0, 0.0),
        (inf, 1.0),
        (-inf, -1.0),
        (6.0, 1.0),
        (f64::MIN, -1.0),
        (5e-324, 5e-324),
    ] {
        assert_eq!(one(erf_into, x), value, "erf({x})");
    }
    assert!(one(erf_into, -0.0).is_sign_negative());
    for (x, value) in [
        (0.0, 1.0),
        (-0.0, 1.0),
        (inf, 0.0),
        (-inf, 2.0),
        (28.0, 0.0),
        (f64::MAX, 0.0),
        (f64::MIN, 2.0),
    ] {
        assert_eq!(one(erfc_into, x), value, "erfc({x})");
    }
    for (x, value) in [
        (0.0, 1.0),
        (-0.0, 1.0),
        (inf, 0.0),
        (-inf, inf),
        (-26.7, inf),
        (-27.5, inf),
        (f64::MIN, inf),
    ] {
        assert_eq!(one(erfcx_into, x), value, "erfcx({x})");
    }
    for (x, value) in [
        (0.0, 0.5),
        (inf, 1.0),
        (-inf, 0.0),
        (-39.0, 0.0),
        (9.0, 1.0),
        (f64::MIN, 0.0),
    ] {
        assert_eq!(one(normal_cdf_into, x), value, "normal_cdf({x})");
    }
    for (x, value) in [(inf, 0.0), (-inf, 0.0), (f64::MAX, 0.0), (39.0, 0.0)] {
        assert_eq!(one(normal_pdf_into, x), value, "normal_pdf({x})");
    }
    for (x, value) in [
        (0.0, -std::f64::consts::LN_2),
        (inf, 0.0),
        (-inf, -inf),
        (f64::MIN, -inf),
        (40.0, 0.0),
    ] {
        assert_eq!(one(log_cdf_into, x), value, "log_cdf({x})");
    }
    for (a, b, value) in [
        (-inf, inf, 0.0),
        (-inf, -inf, -inf),
        (inf, inf, -inf),
        (1.0, 1.0, -inf),
        (0.0, 0.0, -inf),
        (-inf, 50.0, 0.0),
        (f64::MAX, inf, -inf),
        (-inf, 0.0, -std::f64::consts::LN_2),
    ] {
        assert_eq!(scalar::log_cdf_difference(a, b), value, "[{a}, {b}]");
    }
    for (a, b) in [
        (1.0, 0.5),
        (inf, -inf),
        (f64::NAN, 1.0),
        (1.0, f64::NAN),
        (f64::NAN, f64::NAN),
        (3.0, -3.0),
    ] {
        assert!(scalar::log_cdf_difference(a, b).is_nan(), "[{a}, {b}]");
    }
    for (p, x) in [(0.0, -inf), (-0.0, -inf), (1.0, inf), (0.5, 0.0)] {
        assert_eq!(scalar::normal_quantile(p), x, "normal_quantile({p})");
    }
    for p in [-1e-300, 1.0 + f64::EPSILON, f64::NAN, inf] {
        assert!(scalar::normal_quantile(p).is_nan(), "normal_quantile({p})");
    }
    for x in [0.0, -0.0, -1.0, -1e300, f64::NAN, -inf] {
        assert!(scalar::digamma(x).is_nan(), "digamma({x})");
    }
    assert_eq!(scalar::digamma(inf), inf);
    for (name, map, _) in FUNCTIONS {
        for nan in [f64::NAN, -f64::NAN] {
            assert!(one(map, nan).is_nan(), "{name}(NaN)");
        }
        // A NaN must not spoil its neighbours.
        let mut out = [0.0; 9];
        map(
            &[1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, f64::NAN],
            &mut out,
        );
        assert_eq!(out.iter().filter(|v| v.is_nan()).count(), 2, "{name}");
        assert_eq!(out[0], out[7], "{name}");
    }
}

#[test]
fn value_does_not_depend_on_place_or_length() {
    let x = spread(64);
    for (name, map, _) in FUNCTIONS {
        for length in 0..=40 {
            for start in 0..8 {
                let part = &x[start..start + length];
                let mut buffer = vec![7.0; length + 3];
                map(part, &mut buffer[1..=length]);
                for (x, value) in part.iter().zip(&buffer[1..]) {
                    assert_eq!(
                        value.to_bits(),
                        one(map, *x).to_bits(),
                        "{name}({x}) in a slice of {length}"
                    );
                }
                assert_eq!(
                    [buffer[0], buffer[length + 1], buffer[length + 2]],
                    [7.0; 3],
                    "{name} wrote outside"
                );
            }
        }
    }
    let (mut in_place, mut out) = (x.clone(), vec![0.0; x.len()]);
    exp(&mut in_place);
    exp_into(&x, &mut out);
    assert_eq!(in_place, out);
}

#[test]
fn scalar_forms_give_the_bits_of_the_array_forms() {
    let pairs: [(Map, Function); 7] = [
        (exp_into, scalar::exp),
        (erf_into, scalar::erf),
        (erfc_into, scalar::erfc),
        (erfcx_into, scalar::erfcx),
        (normal_cdf_into, scalar::normal_cdf),
        (normal_pdf_into, scalar::normal_pdf),
        (log_cdf_into, scalar::log_cdf),
    ];
    let x = spread(2000);
    for (map, f) in pairs {
        let mut out = vec![0.0; x.len()];
        map(&x, &mut out);
        for (x, value) in x.iter().zip(out) {
            assert_eq!(value.to_bits(), f(*x).to_bits(), "at {x}");
        }
    }
}

#[test]
fn quantile_inverts_the_distribution_function() {
    for i in 1..2000 {
        let p = f64::from(i) / 2000.0;
        let x = scalar::normal_quantile(p);
        // Rounding of x moves Phi by phi(x) ulp(x) / 2.
        let allowed = 3.0 * f64::EPSILON * (p + scalar::normal_pdf(x) * x.abs());
        assert!((scalar::normal_cdf(x) - p).abs() <= allowed, "p = {p}");
    }
}

#[test]
fn digamma_satisfies_its_recurrence() {
    for x in spread(500).iter().map(|x| x.abs() + 1e-3) {
        let (low, high) = (scalar::digamma(x), scalar::digamma(x + 1.0));
        // x + 1 is rounded too, which moves digamma by its slope times that.
        let allowed = 8.0 * f64::EPSILON * (low.abs() + high.abs() + 1.0 / x + 1.0);
        assert!((high - low - 1.0 / x).abs() <= allowed, "x = {x}");
    }
}

#[test]
fn error_functions_are_consistent() {
    let x = spread(5000);
    let negated: Vec<f64> = x.iter().map(|x| -x).collect();
    let run = |map: Map, x: &[f64]| {
        let mut out = vec![0.0; x.len()];
        map(x, &mut out);
        out
    };
    let (plus, minus) = (run(erf_into, &x), run(erf_into, &negated));
    let (upper, lower) = (run(erfc_into, &x), run(erfc_into, &negated));
    let scaled = run(erfcx_into, &x);
    for i in 0..x.len() {
        assert_eq!(plus[i], -minus[i], "erf is odd at {}", x[i]);
        // Each term is within 1 ulp of a number of size at most 2.
        assert!(
            (plus[i] + upper[i] - 1.0).abs() <= 4.0 * f64::EPSILON,
            "erf + erfc = 1 at {}",
            x[i]
        );
        assert!(
            (upper[i] + lower[i] - 2.0).abs() <= 4.0 * f64::EPSILON,
            "erfc(x) + erfc(-x) = 2 at {}",
            x[i]
        );
        if x[i].abs() < 5.0 {
            // The plain square costs x^2 eps.
            let expected = upper[i] * (x[i] * x[i]).exp();
            assert!(
                (scaled[i] / expected - 1.0).abs() < (4.0 + x[i] * x[i]) * f64::EPSILON,
                "erfcx at {}",
                x[i]
            );
        }
    }
}

#[test]
fn monotone_across_the_switches_of_method() {
    // One step of 1e-13 changes the value by far more than the 2 ulp of error.
    for (name, map, rising, centres) in [
        (
            "exp",
            exp_into as Map,
            true,
            vec![
                0.0,
                std::f64::consts::LN_2,
                -std::f64::consts::LN_2,
                3.0 * std::f64::consts::LN_2,
            ],
        ),
        ("erf", erf_into, true, vec![-1.0, 0.0, 1.0]),
        ("erfc", erfc_into, false, vec![-1.0, 0.0, 0.8325546, 4.0]),
        ("erfcx", erfcx_into, false, vec![-1.0, 0.0, 4.0]),
    ] {
        for centre in centres {
            let x: Vec<f64> = (-200..=200)
                .map(|i| centre + f64::from(i) * 1e-13)
                .collect();
            let mut out = vec![0.0; x.len()];
            map(&x, &mut out);
            for pair in out.windows(2) {
                assert!(
                    if rising {
                        pair[0] < pair[1]
                    } else {
                        pair[0] > pair[1]
                    },
                    "{name} near {centre}"
                );
            }
        }
    }
}
