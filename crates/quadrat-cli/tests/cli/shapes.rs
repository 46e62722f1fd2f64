//! `monotone`, `convex`, `concave`, `between`: predictions of the shape, and what has none.

use crate::harness::{column, done, fit, folder, quadrat, refused, stderr, stdout};

/// A dose response that levels off, with noise that falls here and there.
const DOSES: [(f64, f64); 15] = [
    (0.1, 0.06),
    (0.6, -0.05),
    (1.1, 0.04),
    (1.7, 0.02),
    (2.2, 0.21),
    (2.8, 0.17),
    (3.3, 0.43),
    (3.9, 0.66),
    (4.4, 0.85),
    (5.0, 0.83),
    (5.6, 1.04),
    (6.1, 0.91),
    (6.7, 1.06),
    (7.2, 0.94),
    (7.8, 1.02),
];

/// The table with inputs and values in other units.
fn table(input: f64, value: f64) -> String {
    let rows = DOSES.iter();
    let rows = rows.map(|(x, y)| format!("{},{}\n", x * input, y * value));
    format!("dose,y\n{}", rows.collect::<String>())
}

fn study(latent: &str, step: f64, predict: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(dose)"
{latent}
[[observe]]
file = "d.csv"
support = {{ point = ["dose"] }}
likelihood = {{ gaussian = {{ value = "y" }} }}
[[predict]]
name = "p"
support = {{ grid = {{ dose = {{ from = 0, to = {}, step = {step} }} }} }}
{predict}
"#,
        step * 40.0
    )
}

/// Mean, lower and upper ends of 41 places, with inputs and values in other units.
fn curves(
    latent: &str,
    (input, value): (f64, f64),
    predict: &str,
) -> (tempfile::TempDir, [Vec<f64>; 3]) {
    let text = study(latent, 0.2 * input, predict);
    let table = table(input, value);
    let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", table.as_bytes())]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let curves = ["mean", "lower", "upper"].map(|name| column(folder.path(), "p", name));
    (folder, curves)
}

fn rises(values: &[f64]) -> bool {
    values.windows(2).all(|v| v[1] >= v[0])
}

#[test]
fn what_is_monotone_rises_in_means_ends_and_draws() {
    let (folder, held) = curves("monotone = \"dose\"", (1.0, 1.0), "draws = 5");
    assert!(held.iter().all(|curve| rises(curve)), "{held:?}");
    for draw in 1..=5 {
        assert!(rises(&column(folder.path(), "p", &format!("draw_{draw}"))));
    }
    let (_, free) = curves("", (1.0, 1.0), "");
    assert!(!rises(&free[0]), "{free:?}");
    // The same fit, and intervals that are narrower on the whole.
    let width = |c: &[Vec<f64>; 3]| -> f64 { c[2].iter().zip(&c[1]).map(|(u, l)| u - l).sum() };
    assert!(width(&held) < 0.95 * width(&free));
    let json = fit(folder.path());
    assert_eq!(json["inference"], "exact");
    assert_eq!(json["shapes"][0]["key"], "monotone");
    assert_eq!(json["shapes"][0]["is"], "rising");
    assert!(json["shapes"][0]["places"].as_u64() >= Some(129));
}

/// Nothing depends on units: values a million times as large, inputs a thousandth.
#[test]
fn other_units_give_the_same_curve() {
    let latent = "monotone = \"dose\"";
    let (_, plain) = curves(latent, (1.0, 1.0), "");
    let (_, other) = curves(latent, (1e-3, 1e6), "");
    for (plain, other) in plain.iter().zip(&other) {
        for (a, b) in plain.iter().zip(other) {
            // The searches end where the evidence is flat: 1e-4 of the spread.
            assert!((a - b / 1e6).abs() < 1e-3, "{a} {b}");
        }
    }
}

#[test]
fn bounds_and_bends_are_kept() {
    let (_, held) = curves("monotone = \"dose\"\nbetween = [0, 1]", (1.0, 1.0), "");
    let inside = |v: &f64| (0.0..=1.0).contains(v);
    assert!(
        held.iter()
            .all(|curve| rises(curve) && curve.iter().all(inside))
    );
    let (_, [mean, ..]) = curves("concave = \"dose\"", (1.0, 1.0), "");
    let slopes: Vec<f64> = mean.windows(2).map(|v| v[1] - v[0]).collect();
    // Rounding of sums of draws of size one.
    assert!(slopes.windows(2).all(|s| s[1] <= s[0] + 1e-9), "{slopes:?}");
    let (_, [mean, ..]) = curves(
        "monotone = { input = \"dose\", direction = \"falling\" }",
        (1.0, -1.0),
        "",
    );
    assert!(mean.windows(2).all(|v| v[1] <= v[0]));
}

#[test]
fn a_saved_model_remembers_its_shape() {
    let text = study("monotone = \"dose\"", 0.2, "");
    let table = table(1.0, 1.0);
    let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", table.as_bytes())]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let ask = [
        "predict",
        "m.quadrat",
        "--at",
        "out/p.csv",
        "--point",
        "dose",
        "-o",
        "out/q.csv",
    ];
    done(folder.path(), &ask);
    // Written numbers have ten digits and more.
    let (p, q) = (
        column(folder.path(), "p", "mean"),
        column(folder.path(), "q", "mean"),
    );
    assert!(
        p.iter().zip(&q).all(|(p, q)| (p - q).abs() < 1e-6),
        "{p:?} {q:?}"
    );
    let ask = [&ask[..6], &["--scale", "observation"]].concat();
    let output = quadrat(folder.path(), &ask);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("not new observations"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn rows_that_contradict_the_shape_are_told() {
    let text = study(
        "monotone = { input = \"dose\", direction = \"falling\" }",
        0.2,
        "",
    );
    let table = table(1.0, 1.0);
    let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", table.as_bytes())]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    let words = stdout(&output) + &stderr(&output);
    assert!(
        words.contains("the rows contradict that the function is falling"),
        "{words}"
    );
}

/// A noisy sigmoid: no step breaks the shape by six sds, and all of it is far from convex.
#[test]
fn a_sigmoid_that_is_held_convex_is_told() {
    let values = [
        -0.078, -0.127, -0.012, 0.072, 0.182, 0.161, 0.24, 0.422, 0.779, 1.014, 0.959, 0.847,
        0.891, 1.155, 1.018,
    ];
    let mut table = String::from("dose,y\n");
    for (i, y) in values.iter().enumerate() {
        table.push_str(&format!("{},{y}\n", 0.2 + 7.6 * i as f64 / 14.0));
    }
    let text = |shape: &str| {
        format!(
            "[latent]\nkernel = \"matern52(dose)\"\n{shape} = \"dose\"\n[[observe]]\nfile = \"d.csv\"\nsupport = {{ point = [\"dose\"] }}\nlikelihood = {{ gaussian = {{ value = \"y\" }} }}\n"
        )
    };
    let (wrong, right) = (text("convex"), text("monotone"));
    let folder = folder(&[
        ("wrong.toml", wrong.as_bytes()),
        ("right.toml", right.as_bytes()),
        ("d.csv", table.as_bytes()),
    ]);
    let told = |study: &str| {
        let output = quadrat(folder.path(), &["run", study, "-o", "out"]);
        stdout(&output) + &stderr(&output)
    };
    let words = told("wrong.toml");
    assert!(
        words.contains("the rows contradict that the function is convex"),
        "{words}"
    );
    let words = told("right.toml");
    assert!(!words.contains("contradict"), "{words}");
}

#[test]
fn counts_behind_a_link_rise_too() {
    let text =
        study("monotone = \"dose\"", 0.2, "").replace("gaussian = { value", "poisson = { count");
    let counts = "dose,y\n0,3\n1,2\n2,4\n3,3\n4,9\n5,7\n6,12\n7,10\n8,11\n";
    let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", counts.as_bytes())]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let mean = column(folder.path(), "p", "mean");
    assert!(rises(&mean) && mean.iter().all(|m| *m > 0.0), "{mean:?}");
}

#[test]
fn what_has_no_shape_is_refused_with_place_and_remedy() {
    let of = |latent: &str, likelihood: &str, more: &str| {
        format!(
            "[latent]\n{latent}\n[[observe]]\nfile = \"d.csv\"\nsupport = {{ point = [\"t\", \"u\"] }}\nlikelihood = {{ {likelihood} }}\n{more}"
        )
    };
    let predict = |more: &str| {
        format!(
            "[[predict]]\nname = \"p\"\nsupport = {{ grid = {{ t = {{ from = 0, to = 2, step = 1 }} }} }}\n{more}"
        )
    };
    let one = |key: &str| format!("kernel = \"se(t)\"\n{key}");
    let (value, count) = (
        "gaussian = { value = \"y\" }",
        "poisson = { count = \"n\" }",
    );
    let exact = "gaussian = { value = \"y\", variance = 0 }";
    #[rustfmt::skip]
    let cases: &[(String, &str, String, &[&str])] = &[
        (one("monotone = true"), value, String::new(), &["`monotone` must name an input, not true", "s.toml:3:12", "such as `monotone = "]),
        (one("monotone = \"dose\""), value, String::new(), &["`monotone` is along `dose`, which is no input of the kernel", "s.toml:3:12", "`t`"]),
        (one("monotone = { direction = \"falling\" }"), value, String::new(), &["`monotone` needs `input`", "s.toml:3:12"]),
        (one("monotone = { input = \"t\", direction = \"down\" }"), value, String::new(), &["`down` is not a known `direction`", "`rising`"]),
        ("kernel = \"se(t) * se(u)\"\nmonotone = \"t\"".into(), value, String::new(), &["`monotone` needs a function of one input, and this one has 2", "s.toml:3:12"]),
        ("kernel = \"iid(t)\"\nmonotone = \"t\"".into(), value, String::new(), &["needs an order, which labels do not have", "s.toml:3:12"]),
        (one("convex = \"t\"\nconcave = \"t\""), value, String::new(), &["`concave` cannot be used with `convex`", "s.toml:4:11"]),
        (one("between = [1, 0]"), value, String::new(), &["`between` has no room from 1 to 0", "s.toml:3:11", "`[0, inf]`"]),
        (one("between = [0]"), value, String::new(), &["`between` needs two ends, not 1", "s.toml:3:11"]),
        (one("between = [-inf, inf]"), value, String::new(), &["both ends are open", "s.toml:3:11"]),
        (one("between = [\"a\", 1]"), value, String::new(), &["an end of `between` must be a number", "s.toml:3"]),
        (one("between = [5, 6]"), value, String::new(), &["3 of 3 values in d.csv are not between 5 and 6", "s.toml:3:11", "widen `between`"]),
        (one("between = [2, 6]"), exact, String::new(), &["the value 1.5 is known exactly and not between 2 and 6", "s.toml:3:11"]),
        (one("between = [0, 9]"), count, String::new(), &["`between` cannot be used with `poisson`", "s.toml:3:11", "`monotone` holds behind a link too"]),
        (format!("{}\nlink = \"square\"", one("monotone = \"t\"")), count, String::new(), &["`monotone` cannot be used with the link `square`", "s.toml:3:12"]),
        (format!("{}\nnon_negative = \"truncate\"", one("monotone = \"t\"")), value, String::new(), &["`non_negative` cannot be used with `monotone`", "s.toml:4:16", "`between = [0, inf]`"]),
        (one("monotone = \"t\""), value, predict("scale = \"observation\""), &["not new observations", "s.toml:11:9", "leave `scale` out"]),
        (one("monotone = \"t\""), value, "[noise]\nkernel = \"se(t)\"\n".into(), &["`monotone` cannot be used with [noise]", "s.toml:3:12"]),
    ];
    let table: &[(&str, &[u8])] = &[("d.csv", b"t,u,y,n\n0,1,1.5,1\n1,2,2.5,1\n2,2,3.5,2\n")];
    let mut wrong = Vec::new();
    for (latent, likelihood, more, expected) in cases {
        let mut text = of(latent, likelihood, more);
        if !latent.contains("se(u)") {
            text = text.replace("[\"t\", \"u\"]", "[\"t\"]");
        }
        wrong.extend(refused(latent, &text, table, expected).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
}
