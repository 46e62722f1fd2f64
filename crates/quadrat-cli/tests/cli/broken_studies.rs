//! Broken studies: each is refused with file, line, value and remedy.

use crate::harness::{STUDY, TABLE, none, refused, study};

/// Replaced text, replacement, texts expected.
type Case = (&'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Keys and shapes.
    ("support = { box", "suport = { box", &["unknown key `suport` in [[observe]]", "s.toml:8:1", "did you mean `support`?", "^^^^^^"]),
    ("title =", "titel =", &["unknown key `titel`", "s.toml:1:1", "did you mean `title`?"]),
    ("[latent]", "[latant]", &["unknown key `latant`", "s.toml:3:2", "did you mean `latent`?", "needs `[latent]`"]),
    ("title = \"Ages\"", "title = 7", &["`title` must be a text in quotes, not the number 7", "s.toml:1:9"]),
    ("title = \"Ages\"", "title = \"Ages", &["not valid TOML", "s.toml:1:"]),
    ("aggregate = \"sum\"\nlikelihood", "aggregate = \"sum\"\naggregate = \"sum\"\nlikelihood", &["not valid TOML", "duplicate key", "s.toml:10:1"]),
    ("[[observe]]", "[observe]", &["`observe` can occur several times", "s.toml:6:1", "write [[observe]]"]),
    ("[[observe]]", "[[obsrve]]", &["unknown key `obsrve`", "did you mean `observe`?", "needs `[[observe]]`"]),
    ("file = \"ages.csv\"\n", "", &["[[observe]] needs `file`", "s.toml:6:1"]),
    ("file = \"ages.csv\"", "file = \"\"", &["`file` is empty", "s.toml:7:8"]),
    // The latent function.
    ("kernel = \"se(age)\"\n", "", &["[latent] needs `kernel`", "s.toml:3:1", "se(age)"]),
    ("se(age)", "se(age", &["in the kernel", "s.toml:4:"]),
    ("se(age)", "se(age))", &["in the kernel", "s.toml:4:18"]),
    ("se(age)", "see(age)", &["in the kernel", "s.toml:4:11", "see"]),
    ("se(age)", "se(agee)", &["the kernel uses `agee`", "s.toml:4:14", "did you mean `age`?"]),
    ("se(age)", "se(age) * se(year)", &["the kernel uses `year`", "s.toml:4:24", "the supports give `age`"]),
    ("kernel = \"se(age)\"", "kernel = \"\"", &["`kernel` is empty", "s.toml:4:10"]),
    ("kernel = \"se(age)\"", "kernel = \"se(age)\"\nlink = \"exp\"", &["`link = \"exp\"` with `gaussian` is not available in this version (0.1.0)", "s.toml:5:8", "leave it out"]),
    ("kernel = \"se(age)\"", "kernel = \"se(age)\"\nlink = \"expo\"", &["`expo` is not a known `link`", "s.toml:5:8", "did you mean `exp`?"]),
    ("kernel = \"se(age)\"", "kernel = \"se(age)\"\nmean = \"constnt\"", &["`constnt` is not a known `mean`", "s.toml:5:8"]),
    ("kernel = \"se(age)\"", "kernel = \"se(age)\"\nmean = nan", &["`mean` is NaN; it must be finite", "s.toml:5:8"]),
    // Supports and aggregates.
    ("box = {", "region = {", &["unknown key `age` in region", "s.toml:8:24", "`file`, `key`, `dims`, `planar` and `empty`"]),
    ("{ box = { age = [\"from\", \"to\"] } }", "{ }", &["`support` says nothing", "s.toml:8:11"]),
    ("[\"from\", \"to\"]", "[\"from\"]", &["the edges of `age` must be two names of columns", "s.toml:8:27"]),
    ("[\"from\", \"to\"]", "\"from\"", &["the edges of `age` must be two names", "not the text \"from\"", "s.toml:8:27"]),
    ("[\"from\", \"to\"] } }", "[\"from\", \"to\"] }, point = [\"age\"] }", &["dimension `age` is given twice", "s.toml:8:54"]),
    ("{ box = { age = [\"from\", \"to\"] } }", "{ point = [\"from\"] }", &["aggregate = \"sum\"` over it is zero", "s.toml:9:13", "leave `aggregate` out"]),
    ("{ box = { age = [\"from\", \"to\"] } }", "{ point = [] }", &["`point` names no column", "s.toml:8:21"]),
    ("{ box = { age = [\"from\", \"to\"] } }", "{ point = \"age\" }", &["`point` must be an array of columns", "s.toml:8:21"]),
    ("aggregate = \"sum\"\nlike", "aggregate = \"avg\"\nlike", &["`avg` is not a known `aggregate`", "s.toml:9:13", "`sum` and `mean`"]),
    ("aggregate = \"sum\"\nlike", "like", &["[[observe]] needs `aggregate`", "totals", "s.toml:6:1"]),
    ("[\"from\", \"to\"]", "[\"form\", \"to\"]", &["there is no column `form` in ages.csv; did you mean `from`?", "s.toml:8:28", "`from`, `to`, `people` and `var`"]),
    // Likelihoods.
    ("value = \"people\"", "value = \"peple\"", &["there is no column `peple` in ages.csv; did you mean `people`?", "s.toml:10:37"]),
    ("value = \"people\", ", "", &["gaussian needs `value`", "s.toml:10:27"]),
    ("gaussian = { value = \"people\", variance = 1 }", "binomial = { successes = \"people\", trials = 100 }", &["`aggregate = \"sum\"` adds up probabilities, and `binomial` reports one", "write `aggregate = \"mean\"`"]),
    ("gaussian", "gausian", &["unknown key `gausian` in likelihood", "did you mean `gaussian`?", "s.toml:10:16"]),
    ("variance = 1", "variance = -1", &["`variance` is -1; it cannot be negative", "s.toml:10:58"]),
    ("variance = 1", "variance = inf", &["`variance` is inf; it must be finite", "s.toml:10:58"]),
    ("variance = 1", "variance = true", &["`variance` must be a number or the name of a column, not true", "s.toml:10:58"]),
    ("variance = 1", "variance = \"vra\"", &["there is no column `vra` in ages.csv; did you mean `var`?", "s.toml:10:58"]),
    ("variance = 1", "variance = 0, extra = \"learn\"", &["a known variance of 0 adds nothing", "s.toml:10:58"]),
    ("variance = 1", "extra = \"learn\"", &["but none is given", "s.toml:10:55"]),
    ("variance = 1", "sdd = 1", &["unknown key `sdd` in gaussian", "did you mean `sd`?"]),
    // Files.
    ("ages.csv", "agse.csv", &["the file `agse.csv` does not exist", "s.toml:7:8", "did you mean `ages.csv`?"]),
    ("ages.csv", "ages.xlsx", &["`ages.xlsx`: the extension does not tell a known format", "s.toml:7:8", "`.csv`"]),
    ("ages.csv", ".", &["s.toml:7:8", "extension"]),
    // Predictions.
    ("name = \"by-year\"\n", "", &["[[predict]] needs `name`", "s.toml:12:1"]),
    ("by-year", "../x", &["the name `../x` leaves the output folder", "s.toml:13:8"]),
    ("by-year", "/tmp/x", &["the name `/tmp/x` leaves the output folder", "s.toml:13:8"]),
    ("by-year", "a\\\\b", &["leaves the output folder", "s.toml:13:8"]),
    ("by-year", "..", &["the name `..` leaves the output folder", "s.toml:13:8"]),
    ("by-year", "NUL", &["the name `NUL` is reserved", "s.toml:13:8"]),
    ("by-year", ".hidden", &["the name `.hidden` starts or ends", "s.toml:13:8"]),
    ("step = 1", "step = 0", &["`step` is 0; it must be positive", "s.toml:14:56"]),
    ("step = 1", "step = -1", &["`step` is -1; it must be positive", "s.toml:14:56"]),
    ("step = 1", "step = 1e-9", &["more than 10^7 cells", "s.toml:14:56", "larger step"]),
    ("step = 1", "step = 3", &["does not cut 0 to 20 into whole cells", "end at 18 or 21"]),
    ("to = 20, step", "to = 0, step", &["`from` is 0 and `to` is 0; a grid must rise", "s.toml:14:37"]),
    ("from = 0", "from = nan", &["`from` is NaN; it must be finite", "s.toml:14:37"]),
    ("to = 20, ", "", &["the grid of `age` needs `to`", "s.toml:14:28"]),
    ("cells = true", "cell = true", &["unknown key `cell`", "did you mean `cells`?"]),
    ("cells = true", "cells = 1", &["`cells` must be true or false, not the number 1"]),
    ("{ age = { from = 0, to = 20, step = 1, cells = true } } }", "{ age = { from = 0, to = 20, step = 1, cells = true }, year = { from = 0, to = 3e6, step = 1, cells = true } } }", &["20 x 3000000 cells, more than 10^7", "s.toml:14:20"]),
    ("{ grid = { age =", "{ grid = { year =", &["this support lacks `age`", "s.toml:14:"]),
    ("grid = { age = { from = 0, to = 20, step = 1, cells = true } }", "file = \"at.csv\", box = { age = [\"lo\", \"hi\"] }", &["the file `at.csv` does not exist", "s.toml:14:20"]),
    ("[\"from\", \"to\"]", "[\"from\"]", &["must be two names of columns, or numbers, not an array of 1", "s.toml:8:27"]),
    ("gaussian = { value", "poisson = { value", &["unknown key `value` in poisson", "s.toml:10:28", "`count`, `lower`, `upper`, `exposure` and `link`"]),
    ("variance = 1 ", "variance = 1e308 ", &["`variance` is 1e308, which is too large", "s.toml:10:", "squared unit"]),
    ("from = 0, to = 20, step = 1", "from = 1e300, to = 1.1e300, step = 1", &["a step of 1 is lost in rounding between 1e300 and 1.1e300", "s.toml:14:", "larger step"]),
    ("aggregate = \"sum\"\nlike", "aggregate = \"sum\"\nlevel = 1\nlike", &["unknown key `level` in [[observe]]"]),
    ("name = \"by-year\"", "name = \"by-year\"\nlevel = 1.5", &["`level` is 1.5; it must lie between 0 and 1", "s.toml:14:9"]),
    ("name = \"by-year\"", "name = \"by-year\"\nscale = \"log\"", &["`log` is not a known `scale`", "`observation`, `report` and `row`"]),
];

/// Sections to add at the end, texts expected.
#[rustfmt::skip]
const ADDED: &[(&str, &[&str])] = &[
    ("[[predict]]\nname = \"BY-YEAR\"\nsupport = { grid = { age = { from = 0, to = 1, step = 1 } } }\n", &["the predictions `by-year` and `BY-YEAR` would be one file", "s.toml:17:8"]),
    ("[[predict]]\nname = \"by-year\"\nsupport = { grid = { age = { from = 0, to = 1, step = 1 } } }\n", &["two predictions are named `by-year`", "s.toml:17:8"]),
    ("[hyperparameters]\n\"se.lenghtscale.age\" = { start = 1 }\n", &["the model has no hyperparameter `se.lenghtscale.age`; did you mean `se.lengthscale.age`?", "s.toml:17:1", "it has `se.variance` and `se.lengthscale.age`"]),
    ("[hyperparameters]\nse.lengthscale.age = { start = 1 }\n", &["is not in quotes", "s.toml:17:1"]),
    ("[hyperparameters]\n\"se.variance\" = 4\n", &["hyperparameter `se.variance` must be a table, not the number 4", "s.toml:17:17"]),
    ("[hyperparameters]\n\"se.variance\" = { fixed = true }\n", &["no `value` says at what", "s.toml:17:"]),
    ("[hyperparameters]\n\"se.variance\" = { value = 4 }\n", &["has the value 4 but is not fixed", "s.toml:17:27"]),
    ("[hyperparameters]\n\"se.variance\" = { lower = 2, upper = 1 }\n", &["the bounds of `se.variance` are 2 and 1", "s.toml:17:38"]),
    ("[hyperparameters]\n\"se.variance\" = { start = 9, upper = 1 }\n", &["starts at 9, outside its bounds", "s.toml:17:27"]),
    ("[hyperparameters]\n\"se.variance\" = { prior = \"flatt\" }\n", &["`prior`", "flatt", "s.toml:17:27"]),
    ("[hyperparameters]\n\"se.variance\" = { strat = 1 }\n", &["unknown key `strat` in hyperparameter `se.variance`", "did you mean `start`?"]),
    ("[inference]\nmethod = \"sparse\"\ninducing = 0\n", &["`inducing` must be a whole number from 1 on", "s.toml:18:12"]),
    ("[inference]\nmethod = \"sparse\"\ninducing = \"row\"\n", &["`rows`, or a table with a `file`, not", "s.toml:18:12"]),
    ("[inference]\nmethod = \"mcmc\"\n", &["`method = \"mcmc\"` is not available in this version", "s.toml:17:10", "`auto`, `exact`, `laplace`, `ep`, `variational` and `sparse`"]),
    ("[inference]\nmethod = \"elbo\"\n", &["`elbo` is not a known `method`", "s.toml:17:10"]),
    ("[inference]\nmethod = \"exat\"\n", &["`exat` is not a known `method`", "did you mean `exact`?"]),
    ("[inference]\nseed = -1\n", &["`seed` must be a whole number from 0 on, not the number -1", "s.toml:17:8"]),
    ("[inference]\nmethod = \"exact\"\ninducing = 100\n", &["`inducing` is for sparse inference only", "s.toml:18:12"]),
    ("[inference]\nmethod = \"exact\"\nmove_inducing = true\n", &["`move_inducing` is for sparse inference only", "s.toml:18:17"]),
    ("[inference]\nmethod = \"sparse\"\nmove_inducing = 3\n", &["`move_inducing` must be true or false", "s.toml:18:17"]),
];

#[test]
fn broken_studies_are_refused_with_place_and_remedy() {
    let table: &[(&str, &[u8])] = &[("ages.csv", TABLE.as_bytes())];
    let mut wrong = Vec::new();
    for (from, to, expected) in CASES {
        wrong.extend(refused(to, &study(from, to), table, expected).err());
    }
    for (added, expected) in ADDED {
        wrong.extend(refused(added, &format!("{STUDY}{added}"), table, expected).err());
    }
    none(&wrong);
}

#[test]
fn a_column_that_would_stand_twice_in_a_prediction_is_refused() {
    let text = STUDY
        .replace("box = { age = [\"from\", \"to\"] }", "point = [\"mean\"]")
        .replace("aggregate = \"sum\"\n", "")
        .replace(
            "{ age = { from = 0, to = 20, step = 1, cells = true } }",
            "{ mean = { from = 0, to = 20, step = 1 } }",
        )
        .replace("se(age)", "se(mean)");
    refused(
        "mean",
        &text,
        &[("ages.csv", b"mean,people\n0,3\n1,4\n2,4\n")],
        &["two columns named `mean`", "s.toml:12:8", "rename"],
    )
    .unwrap();
}

#[test]
fn all_problems_are_listed_together() {
    let text = STUDY
        .replace("se(age)", "see(age)")
        .replace("step = 1", "step = 0")
        .replace("title", "titel");
    let expected = [
        "`titel`",
        "in the kernel",
        "`step` is 0",
        "s.toml:1:1",
        "s.toml:4:11",
        "s.toml:14:56",
    ];
    refused(
        "several",
        &text,
        &[("ages.csv", TABLE.as_bytes())],
        &expected,
    )
    .unwrap();
}

#[test]
fn a_study_that_is_not_utf8_is_refused() {
    let folder = crate::harness::folder(&[("s.toml", b"title = \"\xff\"\n")]);
    let output = crate::harness::quadrat(folder.path(), &["run", "s.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(crate::harness::stderr(&output).contains("s.toml:1:10"));
}
