//! Contract of the expressions: names, printing, errors; slopes against central differences.

use super::*;

fn names(text: &str) -> Vec<String> {
    Kernel::parse(text)
        .unwrap()
        .parameters()
        .iter()
        .map(|p| p.name.clone())
        .collect()
}

#[test]
fn only_the_first_leaf_of_a_product_keeps_a_variance() {
    assert_eq!(
        names("se(x) * matern32(y) + se(x) * (periodic(t) + rq(t))"),
        [
            "se.variance",
            "se.lengthscale.x",
            "matern32.lengthscale.y",
            "se#2.variance",
            "se#2.lengthscale.x",
            "periodic.lengthscale.t",
            "periodic.period.t",
            "rq.variance",
            "rq.lengthscale.t",
            "rq.alpha",
        ]
    );
    assert_eq!(
        names("se(x, y, shared = true)"),
        ["se.variance", "se.lengthscale"]
    );
    assert_eq!(
        names("linear(x) + constant"),
        ["linear.variance", "constant.variance"]
    );
    assert_eq!(
        names("linear(x, y)"),
        [
            "linear.variance",
            "linear.lengthscale.x",
            "linear.lengthscale.y"
        ]
    );
}

#[test]
fn printing_an_expression_reads_back_as_itself() {
    for text in [
        "se(x)",
        "matern12(x, y, shared = true) * (rq(z) + constant)",
        "periodic(t, period = 24) * se(t) + linear('a b', x)",
        "(se(x) + se(y)) * (linear(t) + constant) * matern52(z)",
        "se(\"it's\")",
        "linear(t, origin = 2460005.5) + linear(x, origin = -1e-300)",
        "iid(district) + se(t) * iid('the site')",
    ] {
        let kernel = Kernel::parse(text).unwrap();
        let again = Kernel::parse(&kernel.to_string()).unwrap();
        assert_eq!(kernel, again, "{text} printed as {kernel}");
    }
}

#[test]
fn products_of_sums_expand() {
    let kernel = Kernel::parse("(se(x) + se(y)) * (rq(t) + constant)").unwrap();
    assert_eq!(
        kernel.terms(),
        [vec![0, 2], vec![0, 3], vec![1, 2], vec![1, 3]]
    );
    let theta = [2.0, 1.0, 3.0, 0.5, 1.2, 0.7, 4.0];
    assert_eq!(kernel.parameters().len(), theta.len());
    let (x, y) = ([0.1, 0.4, 0.2], [0.5, -0.3, 1.0]);
    let se = |i: usize, v: f64, l: f64| v * (-0.5 * ((x[i] - y[i]) / l).powi(2)).exp();
    let rq = (1.0 + (0.8f64 / 1.2).powi(2) / (2.0 * 0.7)).powf(-0.7);
    // A product of 14.3, whose last place is 1.8e-15: five of these.
    let expected = (se(0, 2.0, 1.0) + se(1, 3.0, 0.5)) * (rq + 4.0);
    assert!((kernel.value(&theta, &x, &y) - expected).abs() < 1e-14);
}

#[test]
fn errors_point_at_the_character() {
    for (text, at, part) in [
        ("", 0, "empty"),
        ("  ", 0, "empty"),
        ("se(x", 4, "expected `,` or `)`"),
        ("se x", 0, "needs the columns"),
        ("(se(x)", 6, "to close the `(` at character 1"),
        ("se(x))", 5, "closes nothing"),
        ("se(x) + ", 8, "ends where a kernel should follow"),
        ("se(x) ** se(y)", 7, "expected a kernel"),
        ("se(x) - se(y)", 6, "expected `+`, `*`"),
        ("rbf(x)", 0, "did you mean `se`?"),
        ("matern(x)", 0, "did you mean `matern52`?"),
        ("SE(x)", 0, "did you mean `se`?"),
        ("wobble(x)", 0, "the kernels are"),
        ("se(x, x)", 6, "stands twice"),
        ("se()", 0, "needs the columns"),
        ("constant(x)", 0, "takes no columns"),
        ("iid", 0, "needs the columns"),
        ("iid(a, b)", 0, "iid(site) * iid(year)"),
        ("iid(a, shared = true)", 7, "takes no options"),
        ("categorical(a)", 0, "did you mean `iid`?"),
        ("iid(a) * se(a, x)", 0, "`se(a)` says nothing more"),
        (
            "(linear(a) + se(x)) * iid(a)",
            0,
            "`linear(a)` says nothing more",
        ),
        ("se(x, lengthscale = 2)", 6, "no option `lengthscale`"),
        ("periodic(t, period = -1)", 21, "positive number"),
        ("periodic(t, period = nan)", 21, "positive number"),
        ("linear(t, origin = here)", 19, "must be a number"),
        ("linear(t, origin = inf)", 19, "must be a number"),
        ("linear(t, x, origin = 1)", 0, "a place in one column"),
        ("se(t, origin = 1)", 6, "no option `origin`"),
        ("se(x, shared = maybe)", 15, "true or false"),
        ("se('x)", 3, "not closed"),
        ("se(x,,y)", 5, "expected a column name"),
        ("se(é) + §", 9, "expected a kernel"),
    ] {
        let error = Kernel::parse(text).unwrap_err();
        assert!(error.message.contains(part), "{text}: {}", error.message);
        assert_eq!(error.at, at, "{text}: {}", error.message);
    }
    let deep = "(".repeat(5000) + "se(x)";
    assert!(
        Kernel::parse(&deep)
            .unwrap_err()
            .message
            .contains("too deeply")
    );
    let wide = ["(se(x) + se(y))"; 12].join(" * ");
    assert!(
        Kernel::parse(&wide)
            .unwrap_err()
            .message
            .contains("expands to more")
    );
}

#[test]
fn slopes_of_every_leaf_are_central_differences() {
    // A matrix between outputs has no levels before its kernel is given their names.
    let leaves = Kind::ALL.into_iter();
    let without = [Kind::Constant, Kind::Iid, Kind::Coregion];
    for kind in leaves.filter(|k| !without.contains(k)) {
        for columns in [vec!["x"], vec!["x", "y"]] {
            let kernel = Kernel::leaf(kind, collect(columns), None);
            let leaf = &kernel.leaves()[0];
            let theta: Vec<f64> = (0..kernel.parameters().len())
                .map(|i| 0.6 + 0.2 * i as f64)
                .collect();
            let (x, y) = ([0.3, -0.2], [-0.4, 0.5]);
            let mut slopes = vec![0.0; theta.len()];
            leaf.at(&theta, &x, &y, Some(&mut slopes));
            for i in 1..theta.len() {
                let h = 1e-5;
                let shifted = |d: f64| {
                    let mut t = theta.clone();
                    t[i] += d;
                    leaf.at(&t, &x, &y, None)
                };
                let difference = (shifted(h) - shifted(-h)) / (2.0 * h);
                // Second-order difference: h^2 = 1e-10 times a third derivative of order 10.
                assert!(
                    (slopes[i] - difference).abs() < 1e-8,
                    "{kernel} {i}: {} {difference}",
                    slopes[i]
                );
            }
        }
    }
}
