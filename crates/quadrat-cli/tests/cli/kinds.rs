//! Every kind of likelihood from a study file to its predictions.

use crate::harness::{column, fit, folder, quadrat, stderr, stdout};

/// A kind: its name, the likelihood as it is written, a table over `t`, and what to expect.
struct Kind {
    name: &'static str,
    likelihood: &'static str,
    table: &'static str,
    /// Between which numbers the mean of the response lies at 0, 5 and 10.
    means: [(f64, f64); 3],
    /// Words of the summary.
    says: &'static [&'static str],
    /// Name of a hyperparameter that must have been learned.
    learned: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "laplace",
        likelihood: r#"{ laplace = { value = "y", scale = "b" } }"#,
        table: "t,y,b\n0,1.1,0.2\n1,1.9,0.2\n3,4.2,0.2\n4,4.8,0.2\n6,7.1,0.2\n7,7.9,0.2\n9,10.2,0.2\n10,10.9,0.3\n",
        means: [(0.5, 1.6), (5.5, 6.5), (10.4, 11.5)],
        says: &[
            "8 rows of d.csv: `y` at points of t",
            "double exponential noise of known scale",
        ],
        learned: "se.variance",
    },
    Kind {
        name: "student_t",
        likelihood: r#"{ student_t = { value = "y", degrees = 4 } }"#,
        table: "t,y\n0,1.1\n1,1.9\n2,3.2\n3,4.1\n4,4.8\n5,26\n6,7.1\n7,7.9\n8,9.2\n9,10.2\n10,10.9\n",
        means: [(0.0, 2.2), (4.5, 7.5), (9.5, 12.0)],
        says: &["Student's t noise, degrees of freedom 4", "noise learned"],
        learned: "noise.variance",
    },
    Kind {
        name: "interval",
        likelihood: r#"{ interval = { lower = "lo", upper = "hi", variance = 0.04 } }"#,
        table: "t,lo,hi\n0,0,2\n2,2.5,3.5\n3,4,4\n5,5,7\n6,,8\n8,8,\n9,9,11\n10,10,inf\n",
        means: [(0.0, 2.0), (5.0, 7.0), (9.8, 13.0)],
        says: &[
            "8 intervals `lo..hi` at points of t, 1 exact, 1 open below, 2 open above",
            "known noise variance",
        ],
        learned: "se.lengthscale.t",
    },
    Kind {
        name: "censored by side",
        likelihood: r#"{ censored = { value = "y", side = "how" } }"#,
        table: "t,y,how\n0,2,left\n1,2,left\n2,3.1,none\n3,4.1,none\n4,4.8,none\n5,6.2,none\n6,7.1,none\n7,7.9,none\n8,8.5,right\n9,8.5,right\n10,8.5,right\n",
        means: [(-3.0, 2.4), (5.5, 6.8), (8.3, 14.0)],
        says: &["11 values `y` at points of t, 2 below the number given, 3 above the number given"],
        learned: "noise.variance",
    },
    Kind {
        name: "censored by limits",
        likelihood: r#"{ censored = { value = "y", lower = 2, upper = "cap" } }"#,
        table: "t,y,cap\n0,2,8.5\n1,2,8.5\n2,3.1,8.5\n3,4.1,8.5\n4,4.8,8.5\n5,6.2,8.5\n6,7.1,8.5\n7,7.9,8.5\n8,8.5,8.5\n9,8.5,8.5\n10,8.5,\n",
        means: [(-3.0, 2.4), (5.5, 6.8), (7.0, 11.0)],
        says: &["11 values `y` at points of t, 2 below their limit, 2 above their limit"],
        learned: "noise.variance",
    },
    Kind {
        name: "censored as written",
        likelihood: r#"{ censored = { value = "y", variance = 0.01 } }"#,
        table: "t,y\n0,<2\n1,<2\n2,3.1\n3,4.1\n4,4.8\n5,6.2\n6,7.1\n7,7.9\n8,>8.5\n9,>8.5\n10,>8.5\n",
        means: [(-3.0, 2.1), (5.5, 6.8), (8.4, 14.0)],
        says: &["2 below their limit, 3 above their limit"],
        learned: "se.variance",
    },
    Kind {
        name: "truncated",
        likelihood: r#"{ truncated = { value = "y", lower = 1, upper = "most", variance = 1 } }"#,
        table: "t,y,most\n0,2.1,9\n1,1.9,9\n2,3.2,9\n3,4.1,9\n4,4.8,\n5,6.2,9\n6,7.1,9\n7,7.9,9\n8,8.5,12\n9,9.4,12\n10,10.1,12\n",
        means: [(-3.0, 2.0), (5.5, 6.8), (9.0, 13.0)],
        says: &[
            "11 values `y` at points of t, none recorded below 1 or above `most`, known noise variance",
        ],
        learned: "se.variance",
    },
    Kind {
        name: "ordinal",
        likelihood: r#"{ ordinal = { rank = "grade", thresholds = [2, 5, 9] } }"#,
        table: "t,grade\n0,1\n1,1\n2,2\n3,2\n4,2\n5,3\n6,3\n7,3\n8,3\n9,4\n10,4\n",
        means: [(-3.0, 2.5), (4.0, 7.0), (8.5, 14.0)],
        says: &["11 ranks `grade` from 1 to 4 at points of t, thresholds known"],
        learned: "noise.variance",
    },
    Kind {
        name: "ordinal with learned thresholds",
        likelihood: r#"{ ordinal = { rank = "grade" } }"#,
        table: "t,grade\n0,1\n1,1\n2,2\n3,1\n4,2\n5,2\n6,3\n7,2\n8,3\n9,3\n10,3\n",
        means: [(-9.0, 0.0), (-2.0, 2.0), (0.0, 9.0)],
        says: &[
            "11 ranks `grade` from 1 to 3 at points of t, thresholds learned",
            "thresholds between the ranks 1 to 3 of `grade`: ",
        ],
        learned: "ordinal.gap.2",
    },
    Kind {
        name: "bernoulli",
        likelihood: r#"{ bernoulli = { value = "ill", link = "probit" } }"#,
        table: "t,ill\n0,no\n1,no\n2,yes\n3,no\n4,no\n5,yes\n6,no\n7,yes\n8,yes\n9,yes\n10,yes\n",
        means: [(0.0, 0.45), (0.2, 0.8), (0.55, 1.0)],
        says: &["6 of 11 `ill` at points of t"],
        learned: "se.variance",
    },
    Kind {
        name: "binomial",
        likelihood: r#"{ binomial = { successes = "k", trials = "n" } }"#,
        table: "t,k,n\n0,2,20\n2,5,25\n4,8,20\n6,10,18\n8,19,25\n10,18,20\n",
        means: [(0.03, 0.25), (0.3, 0.65), (0.75, 0.97)],
        says: &["`k` of `n`, 62 successes among 128 trials"],
        learned: "se.lengthscale.t",
    },
    Kind {
        name: "poisson",
        likelihood: r#"{ poisson = { count = "cases", exposure = "people" } }"#,
        table: "t,cases,people\n0,<5,100\n1,6,100\n2,14,200\n3,9,100\n4,25,200\n5,>=20,150\n6,31,200\n7,20-29,120\n8,50,200\n9,0,0\n10,80,200\n",
        means: [(0.01, 0.07), (0.09, 0.18), (0.3, 0.5)],
        says: &["11 counts `cases` at points of t, 3 suppressed, exposure from `people`"],
        learned: "se.variance",
    },
    Kind {
        name: "poisson between columns",
        likelihood: r#"{ poisson = { lower = "lo", upper = "hi", exposure = 10 } }"#,
        table: "t,lo,hi\n0,,4\n2,3,8\n4,10,10\n6,15,20\n8,25,30\n10,40,\n",
        means: [(0.05, 0.6), (0.8, 2.0), (2.5, 8.0)],
        says: &["6 counts `lo..hi` at points of t, 5 suppressed, exposure 10"],
        learned: "se.variance",
    },
    Kind {
        name: "negative_binomial",
        likelihood: r#"{ negative_binomial = { count = "cases" } }"#,
        table: "t,cases\n0,3\n1,9\n2,4\n3,15\n4,8\n5,25\n6,12\n7,40\n8,30\n9,70\n10,45\n",
        means: [(1.0, 9.0), (8.0, 25.0), (30.0, 110.0)],
        says: &["11 counts `cases` at points of t, negative binomial, dispersion learned"],
        learned: "negative_binomial.dispersion",
    },
    Kind {
        name: "exponential",
        likelihood: r#"{ exponential = { value = "wait" } }"#,
        table: "t,wait\n0,1.2\n1,0.3\n2,2.1\n3,0.9\n4,4.5\n5,1.8\n6,7\n7,3\n8,11\n9,6\n10,20\n",
        means: [(0.2, 2.5), (1.5, 6.0), (6.0, 30.0)],
        says: &["`wait` at points of t, exponentially distributed"],
        learned: "se.variance",
    },
    Kind {
        name: "gamma",
        likelihood: r#"{ gamma = { value = "wait" } }"#,
        table: "t,wait\n0,1.2\n1,0.3\n2,2.1\n3,0.9\n4,4.5\n5,1.8\n6,7\n7,3\n8,11\n9,6\n10,20\n",
        means: [(0.2, 2.5), (1.5, 6.0), (6.0, 30.0)],
        says: &["`wait` at points of t, gamma distributed, shape learned"],
        learned: "gamma.shape",
    },
    Kind {
        name: "lognormal",
        likelihood: r#"{ lognormal = { value = "wait" } }"#,
        table: "t,wait\n0,1.2\n1,0.3\n2,2.1\n3,0.9\n4,4.5\n5,1.8\n6,7\n7,3\n8,11\n9,6\n10,20\n",
        means: [(0.2, 2.5), (1.5, 6.0), (6.0, 30.0)],
        says: &["`wait` at points of t, log-normal, sd of the logarithm learned"],
        learned: "lognormal.sd",
    },
];

fn study(likelihood: &str, more: &str) -> String {
    format!(
        r#"title = "Kind"
[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = {{ point = ["t"] }}
likelihood = {likelihood}
[[predict]]
name = "at"
support = {{ grid = {{ t = {{ from = 0, to = 10, step = 5 }} }} }}
{more}[inference]
hyperparameters = "map"
"#
    )
}

fn wrong(kind: &Kind) -> Vec<String> {
    let text = study(
        kind.likelihood,
        "[[predict]]\nname = \"latent\"\nscale = \"latent\"\nsupport = { grid = { t = { from = 0, to = 10, step = 5 } } }\n",
    );
    let folder = folder(&[
        ("s.toml", text.as_bytes()),
        ("d.csv", kind.table.as_bytes()),
    ]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    if !output.status.success() {
        return vec![stderr(&output)];
    }
    let summary = stdout(&output);
    let mut wrong: Vec<String> = kind
        .says
        .iter()
        .filter(|words| !summary.contains(**words))
        .map(|words| format!("no `{words}` in\n{summary}"))
        .collect();
    if !summary.contains("expectation propagation") || summary.contains("left out one at a time") {
        wrong.push(summary.clone());
    }
    let means = column(folder.path(), "at", "mean");
    let fits = |(mean, (low, high)): (&f64, &(f64, f64))| low < mean && mean < high;
    if means.len() != 3 || !means.iter().zip(&kind.means).all(fits) {
        wrong.push(format!("means {means:?}"));
    }
    let latent = column(folder.path(), "latent", "mean");
    if !latent.is_sorted() {
        wrong.push(format!("latent means {latent:?}"));
    }
    let json = fit(folder.path());
    let facts = (&json["inference"], &json["evidence"], &json["converged"]);
    if facts != (&"ep".into(), &"ep".into(), &true.into()) {
        wrong.push(json.to_string());
    }
    if json["hyperparameter_intervals"][kind.learned].is_null() {
        wrong.push(format!("`{}` was not learned: {json}", kind.learned));
    }
    for file in ["report.html", "at.svg", "at.png"] {
        if !folder.path().join("out").join(file).exists() {
            wrong.push(format!("no {file}"));
        }
    }
    if folder.path().join("out/calibration.svg").exists() {
        wrong.push("a calibration figure without leave-one-out predictions".to_owned());
    }
    wrong
}

#[test]
fn every_kind_is_fitted_and_predicted() {
    let all: Vec<String> = KINDS
        .iter()
        .map(|kind| (kind.name, wrong(kind)))
        .filter(|(_, wrong)| !wrong.is_empty())
        .map(|(name, wrong)| format!("{name}: {}", wrong.join("; ")))
        .collect();
    assert!(all.is_empty(), "{}", all.join("\n----\n"));
}

#[test]
fn rows_that_say_nothing_are_told_and_nothing_else_is_refused() {
    let study = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
likelihood = { poisson = { count = "n", exposure = "e" } }
"#;
    let some = "t,n,e\n0,1,2\n1,0,0\n2,4,2\n";
    let none = "t,n,e\n0,0,0\n1,0,0\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", some.as_bytes())]);
    let told = stdout(&quadrat(folder.path(), &["run", "s.toml", "-o", "out"]));
    let want = "d.csv: 1 of 3 rows say nothing, the first at d.csv:3";
    assert!(told.contains(want), "{told}");
    std::fs::write(folder.path().join("d.csv"), none).unwrap();
    let refused = quadrat(folder.path(), &["run", "s.toml", "-o", "other"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("no row says anything"),
        "{}",
        stderr(&refused)
    );
    assert!(!folder.path().join("other").exists());
}
