//! Shapes beside rows that know the function well, and fits that came to no end.

use crate::harness::{column, done, folder, quadrat, stderr, stdout};

fn study(latent: &str, variance: &str) -> String {
    format!(
        r#"[latent]
{latent}
[[observe]]
file = "r.csv"
support = {{ point = ["x"] }}
likelihood = {{ gaussian = {{ value = "y", {variance} }} }}
[[predict]]
name = "c"
support = {{ grid = {{ x = {{ from = 0, to = 6, step = 1 }} }} }}
"#
    )
}

/// What the program says of a study and a table, and how it ends.
fn told(study: &str, table: &str) -> (String, Option<i32>, tempfile::TempDir) {
    let folder = folder(&[("s.toml", study.as_bytes()), ("r.csv", table.as_bytes())]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    let words = stdout(&output) + &stderr(&output);
    (words, output.status.code(), folder)
}

const FALL: &str = "x,y\n0,0\n1,1\n2,10\n3,2\n4,12\n6,13\n";

#[test]
fn precise_rows_that_contradict_the_shape_are_named() {
    let latent = "kernel = \"matern52(x)\"\nmonotone = \"x\"";
    let (words, code, _) = told(&study(latent, "variance = 0.001"), FALL);
    assert_eq!(code, Some(0), "{words}");
    let expected = "the rows contradict that the function is rising: without that it falls from r.csv:4 to r.csv:5, by 179 standard deviations";
    assert!(words.contains(expected), "{words}");
    let latent = "kernel = \"matern52(x)\"\nconvex = \"x\"";
    let (words, _, _) = told(&study(latent, "variance = 0.001"), FALL);
    let expected = "above the line from r.csv:2 to r.csv:5 at r.csv:4";
    assert!(words.contains(expected), "{words}");
}

#[test]
fn exact_rows_that_contradict_the_shape_are_refused_by_their_lines() {
    let latent = "kernel = \"matern52(x)\"\nmonotone = \"x\"";
    let (words, code, _) = told(&study(latent, "variance = 0"), FALL);
    assert_eq!(code, Some(1), "{words}");
    let expected = "r.csv:4 (10) and r.csv:5 (2) are known exactly, and no function that is rising has both values";
    assert!(words.contains(expected), "{words}");
    let latent = "kernel = \"matern52(x)\"\nconcave = \"x\"";
    let (words, code, _) = told(&study(latent, "variance = 0"), FALL);
    assert_eq!(code, Some(1), "{words}");
    let expected = "r.csv:2 (0), r.csv:3 (1) and r.csv:4 (10) are known exactly, and no function that is concave has all three values";
    assert!(words.contains(expected), "{words}");
}

#[test]
fn exact_rows_are_met_by_what_is_predicted() {
    let rows: Vec<(f64, f64)> = (0..7)
        .map(f64::from)
        .map(|x| (x, (x / 3.0).exp()))
        .collect();
    let table: String = rows.iter().map(|(x, y)| format!("{x},{y}\n")).collect();
    let latent = "kernel = \"se(x)\"\nmonotone = \"x\"";
    let (words, code, folder) = told(&study(latent, "variance = 0"), &format!("x,y\n{table}"));
    assert_eq!(code, Some(0), "{words}");
    assert!(!words.contains("warning"), "{words}");
    for name in ["mean", "lower", "median", "upper"] {
        let found = column(folder.path(), "c", name);
        let is_met = |((_, y), found): (&(f64, f64), &f64)| (found - y).abs() < 1e-9 * y;
        assert!(rows.iter().zip(&found).all(is_met), "{name} {found:?}");
    }
}

/// The mean of equal values is that value, in every unit: it lies within its own interval.
#[test]
fn exact_rows_are_their_own_mean_in_every_unit() {
    for (scale, shift) in [(1.0, 0.0), (1e9, 0.0), (1e-9, 0.0), (1e9, 1e3)] {
        let y = |x: f64| scale * ((x / 3.0).exp() + shift);
        let rows = (0..7).map(f64::from);
        let rows: String = rows.map(|x| format!("{x},{}\n", y(x))).collect();
        for shape in ["monotone", "convex"] {
            let latent = format!("kernel = \"se(x)\"\n{shape} = \"x\"");
            let study = study(&latent, "variance = 0");
            let (words, code, folder) = told(&study, &format!("x,y\n{rows}"));
            assert_eq!(code, Some(0), "{words}");
            let of = |name: &str| column(folder.path(), "c", name);
            let (mean, sd) = (of("mean"), of("sd"));
            for (i, mean) in mean.iter().enumerate() {
                let ends = (of("lower")[i], of("upper")[i]);
                let is_within = ends.0 <= *mean && *mean <= ends.1;
                assert!(is_within, "{shape} {scale} {shift} {i}: {mean} {ends:?}");
            }
            // The first and the last value are put in as they are.
            assert!(sd[0] == 0.0 && mean[0] == y(0.0), "{mean:?} {sd:?}");
        }
    }
}

#[test]
fn a_straight_line_is_warned_of_only_where_the_rows_may_be_one() {
    let latent = "kernel = \"se(x)\"\nconvex = \"x\"";
    let rows = |f: fn(f64) -> f64| {
        let one = |i: i32| {
            let x = 0.5 * f64::from(i);
            let noise = if i % 3 == 0 { 0.2 } else { -0.1 };
            format!("{x},{}\n", f(x) + noise)
        };
        let rows: String = (0..13).map(one).collect();
        let (words, code, _) = told(&study(latent, "variance = 0.02"), &format!("x,y\n{rows}"));
        assert_eq!(code, Some(0), "{words}");
        words
    };
    let line = rows(|x| 2.0 * x);
    let expected = "do not tell the function from a straight line, of which `convex` makes intervals too narrow";
    assert!(line.contains(expected), "{line}");
    let bend = rows(|x| x * x);
    assert!(!bend.contains("straight"), "{bend}");
}

#[test]
fn rows_that_repeat_exact_ones_are_named() {
    let study = study("kernel = \"matern52(x)\"\nmonotone = \"x\"", "variance = 0");
    let (words, code, _) = told(&study, "x,y\n0,0\n1,1\n1,1\n2,3\n3,4\n");
    assert_eq!(code, Some(0), "{words}");
    let expected = "1 row repeats an earlier exact row and was left out: r.csv:4 that of r.csv:3";
    assert!(words.contains(expected), "{words}");
    let table = format!("x,y\n0,0\n3,4\n{}", "0,0\n".repeat(4));
    let (words, _, _) = told(&study, &table);
    let expected = "4 rows repeat an earlier exact row and were left out: r.csv:4 that of r.csv:2; r.csv:5 that of r.csv:2; r.csv:6 that of r.csv:2; ..";
    assert!(words.contains(expected), "{words}");
}

/// Behind a link the function is above zero: no part holds all of a whole that is larger.
#[test]
fn an_exact_part_that_holds_all_of_a_whole_is_named() {
    let amount = "gaussian = { value = \"n\", variance = 0, link = \"exp\" }";
    for table in [
        "lo,hi,n\n0,0.8571428571428571,2\n0,1,2\n1,2,3\n",
        "lo,hi,n\n0,0.8571428571428571,2\n0,1,2.00000000000001\n1,2,3\n",
    ] {
        let (words, code, _) = told(&bands("sum", amount), table);
        assert_eq!(code, Some(1), "{words}");
        let expected = "r.csv:3 says exactly no more than r.csv:2 and other parts of it together, which leaves nothing to the rest of it";
        assert!(words.contains(expected), "{words}");
    }
}

#[test]
fn exact_values_of_a_parabola_have_an_answer() {
    let table: String = (0..7)
        .map(f64::from)
        .map(|x| format!("{x},{}\n", x * x / 3.0))
        .collect();
    let (words, code, folder) = told(
        &study("kernel = \"se(x)\"", "variance = 0"),
        &format!("x,y\n{table}"),
    );
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("exact rows determine each other"), "{words}");
    let found = column(folder.path(), "c", "mean");
    for (x, mean) in (0..7).map(f64::from).zip(found) {
        // Noise that was added has an sd of 1e-5 of that of the values, 4.
        assert!((mean - x * x / 3.0).abs() < 1e-3, "{x} {mean}");
    }
}

#[test]
fn a_row_very_many_cycles_away_is_named() {
    let rows = (0..40).map(|i| {
        let x = 0.5 * f64::from(i);
        let noise = if i % 2 == 0 { 0.05 } else { -0.05 };
        format!("{x},{}\n", (std::f64::consts::TAU * x / 3.0).sin() + noise)
    });
    let table = format!("x,y\n{}1000000.75,1\n", rows.collect::<String>());
    let text = study("kernel = \"periodic(x)\"", "").replace("\"y\", ", "\"y\"");
    let (words, code, _) = told(&text, &table);
    assert_ne!(
        code,
        Some(0),
        "where the search ends well there is nothing to tell"
    );
    assert!(words.contains("r.csv:42 lies 999981.25 away"), "{words}");
    assert!(words.contains("periodic(x, period = ..)"), "{words}");
    let fixed = text.replace("periodic(x)", "periodic(x, period = 3)");
    let (words, code, _) = told(&fixed, &table);
    assert_eq!(code, Some(0), "{words}");
}

fn bands(aggregate: &str, likelihood: &str) -> String {
    format!(
        "[latent]\nkernel = \"se(x)\"\n[[observe]]\nfile = \"r.csv\"\nsupport = {{ box = {{ x = [\"lo\", \"hi\"] }} }}\naggregate = \"{aggregate}\"\nlikelihood = {{ {likelihood} }}\n"
    )
}

#[test]
fn advice_on_open_bands_is_of_averages_or_sums() {
    let table = "lo,hi,n\n0,1,5\n1,2,7\n2,inf,3\n";
    let gaussian = "gaussian = { value = \"n\" }";
    let (words, code, _) = told(&bands("mean", gaussian), table);
    assert_eq!(code, Some(1), "{words}");
    assert!(
        words.contains("up to which its average was taken"),
        "{words}"
    );
    assert!(!words.contains("ungroup"), "{words}");
    let (words, _, _) = told(&bands("sum", gaussian), table);
    assert!(words.contains("quadrat ungroup"), "{words}");
}

#[test]
fn advice_on_bands_that_folds_leave_out_is_of_a_truth() {
    let poisson = "poisson = { count = \"n\" }";
    let table = |width: usize, bands: usize| {
        let rows = (0..bands).map(|i| format!("{},{},{}\n", i * width, (i + 1) * width, 90 + i));
        format!("lo,hi,n\n{}", rows.collect::<String>())
    };
    let text = bands("sum", poisson);
    let told = |table: &str| {
        let folder = folder(&[("s.toml", text.as_bytes()), ("r.csv", table.as_bytes())]);
        let args = ["score", "s.toml", "--against", "sprague"];
        let output = quadrat(folder.path(), &args);
        stdout(&output) + &stderr(&output)
    };
    let words = told(&table(5, 8));
    assert!(words.contains("`--truth FILE`, with finer rows"), "{words}");
    let words = told(&table(10, 8));
    assert!(
        words.contains("not all 5 wide") && !words.contains("--truth"),
        "{words}"
    );
    let words = told(&table(5, 4));
    assert!(
        words.contains("fewer than five") && !words.contains("--truth"),
        "{words}"
    );
    let folder = folder(&[
        ("s.toml", text.as_bytes()),
        ("r.csv", table(5, 8).as_bytes()),
        ("t.csv", table(1, 40).as_bytes()),
    ]);
    let args = [
        "score",
        "s.toml",
        "--truth",
        "t.csv",
        "--against",
        "sprague",
    ];
    assert!(done(folder.path(), &args).contains("sprague"));
}
