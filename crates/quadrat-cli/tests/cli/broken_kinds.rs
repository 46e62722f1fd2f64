//! Broken likelihoods, links and methods, and broken columns for each kind: refused with file,
//! line, column, value and remedy.

use crate::harness::{none, refused};

/// A study of points on which every kind can stand; `{}` is the likelihood on line 6, then more
/// lines.
fn study(likelihood: &str, more: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = {{ point = ["t"] }}
likelihood = {{ {likelihood} }}
{more}"#
    )
}

/// The likelihood, more of the study, texts expected; the table suits them all.
#[rustfmt::skip]
const STUDIES: &[(&str, &str, &[&str])] = &[
    // Kinds and their keys.
    ("posson = { count = \"n\" }", "", &["unknown key `posson` in likelihood", "s.toml:6:16", "did you mean `poisson`?"]),
    ("gaussian = { value = \"y\" }, poisson = { count = \"n\" }", "", &["`likelihood` is both `gaussian` and `poisson`", "s.toml:6:44", "two [[observe]] sections"]),
    ("", "", &["`likelihood` is empty", "s.toml:6:14", "`ordinal`"]),
    ("ordinal = { rank = \"n\", treshold = [1] }", "", &["unknown key `treshold` in ordinal", "s.toml:6:40", "did you mean `thresholds`?"]),
    ("ordinal = { thresholds = [1] }", "", &["ordinal needs `rank`", "s.toml:6:26"]),
    ("ordinal = { rank = \"n\", thresholds = [1, 3, 2] }", "", &["the threshold 2 is not above the one before it, 3", "s.toml:6:60", "sort them"]),
    ("ordinal = { rank = \"n\", thresholds = [1, 1] }", "", &["the threshold 1 is not above the one before it, 1", "repetitions"]),
    ("ordinal = { rank = \"n\", thresholds = [] }", "", &["`thresholds` is empty, so that there is only one rank", "s.toml:6:53"]),
    ("ordinal = { rank = \"n\", thresholds = \"lern\" }", "", &["`thresholds` must be an array of numbers or \"learn\", not the text \"lern\"", "s.toml:6:53"]),
    ("ordinal = { rank = \"n\", thresholds = [1, inf] }", "", &["a threshold must be a finite number", "s.toml:6:57"]),
    ("ordinal = { rank = \"n\", thresholds = [1], variance = 0 }", "", &["`variance` is 0, but `ordinal` needs some noise", "s.toml:6:69"]),
    ("interval = { variance = 1 }", "", &["interval needs `lower`", "s.toml:6:27", "one may be absent"]),
    ("interval = { lower = 3, upper = 1 }", "", &["`upper` is 1, which is not above `lower`, 3", "s.toml:6:48", "exchange"]),
    ("interval = { lower = true, upper = \"y\" }", "", &["`lower` must be a number or the name of a column, not true", "s.toml:6:37"]),
    ("censored = { value = \"y\", side = \"s\", lower = 1 }", "", &["both `side` and limits", "s.toml:6:49"]),
    ("censored = { side = \"s\" }", "", &["censored needs `value`", "s.toml:6:27"]),
    ("laplace = { value = \"y\" }", "", &["laplace needs `scale`", "s.toml:6:26", "mean absolute error"]),
    ("laplace = { value = \"y\", scale = 0 }", "", &["`scale` is 0; it must be above zero", "s.toml:6:49", "`gaussian`"]),
    ("student_t = { value = \"y\", degrees = 0 }", "", &["`degrees` is 0; it must be above zero", "s.toml:6:53"]),
    ("student_t = { value = \"y\", degrees = \"many\" }", "", &["`degrees` must be a number or \"learn\", not the text \"many\""]),
    ("positive = { margin = \"y\" }", "", &["`margin` must be a number", "s.toml:6:38"]),
    ("positive = { sd = -1 }", "", &["`sd` is -1; it must be above zero", "s.toml:6:34"]),
    ("positive = {}", "", &["`positive` only bounds the function", "s.toml:6:16", "add an [[observe]]"]),
    ("poisson = { count = \"n\", link = \"identity\" }", "", &["`link = \"identity\"` would let the mean of `poisson` become negative", "s.toml:6:48", "`softplus`"]),
    ("exponential = { value = \"y\", link = \"square\" }", "", &["`link = \"square\"` cannot be used with `exponential`", "s.toml:6:52"]),
    ("poisson = { count = \"n\", link = \"square\" }", "[[observe]]
file = \"d.csv\"
support = { point = [\"t\"] }
likelihood = { poisson = { count = \"n\" } }", &["`link` is `exp` here and `square` in an earlier table of the same function", "s.toml:10:16", "another `output`"]),
    ("bernoulli = { value = \"n\", link = \"exp\" }", "", &["`exp` is not a known `link`", "s.toml:6:50", "`logit` and `probit`"]),
    ("binomial = { successes = \"n\" }", "", &["binomial needs `trials`", "s.toml:6:27"]),
    ("binomial = { successes = \"n\", trials = 2.5 }", "", &["`trials` is 2.5; it must be a whole number", "s.toml:6:55"]),
    ("poisson = { count = \"n\", lower = \"y\" }", "", &["both a `count` and ends of a range", "s.toml:6:36"]),
    ("poisson = { exposure = \"y\" }", "", &["poisson needs `count`", "s.toml:6:26"]),
    ("poisson = { count = \"n\", exposure = 0 }", "", &["`exposure` is 0; it must be above zero", "s.toml:6:52"]),
    ("poisson = { count = \"n\", exposure = \"yy\" }", "", &["there is no column `yy` in d.csv; did you mean `y`?", "s.toml:6:52"]),
    ("negative_binomial = { count = \"n\", dispersion = -1 }", "", &["`dispersion` is -1; it must be above zero", "s.toml:6:64"]),
    ("gamma = { value = \"y\", shape = 0 }", "", &["`shape` is 0; it must be above zero", "s.toml:6:47"]),
    ("gamma = { value = \"y\", shape = \"wide\" }", "", &["`shape` must be a number or \"learn\"", "s.toml:6:47"]),
    ("lognormal = { value = \"y\", sd = 0 }", "", &["`sd` is 0; it must be above zero", "s.toml:6:48"]),
    ("lognormal = { value = \"y\", link = \"softplus\" }", "", &["unknown key `link` in lognormal", "s.toml:6:43"]),
    ("gamma = { }", "", &["gamma needs `value`", "s.toml:6:24"]),
    ("exponential = { }", "", &["exponential needs `value`", "s.toml:6:30"]),
    ("poisson = { count = \"n\" }", "share_noise = true", &["`share_noise` needs a noise variance that is learned", "s.toml:7:15"]),
    // Links.
    ("poisson = { count = \"n\" }", "[[observe]]\nfile = \"d.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }", &["`gaussian` beside `poisson`", "not available in this version", "s.toml:10:16", "two studies"]),
    // Methods.
    ("poisson = { count = \"n\" }", "[inference]\nmethod = \"exact\"", &["exact inference needs `gaussian` values in every table, but d.csv holds `poisson`", "s.toml:8:10", "`ep`, `variational` or `laplace`"]),
    ("laplace = { value = \"y\", scale = 1 }", "[inference]\nmethod = \"laplace\"", &["Laplace's method learns nothing from d.csv", "s.toml:8:10", "`ep` or `variational`"]),
    // Predictions.
    ("bernoulli = { value = \"n\" }", "[[predict]]\nname = \"p\"\naggregate = \"sum\"\nscale = \"observation\"\nsupport = { grid = { t = { from = 0, to = 3, step = 1, cells = true } } }", &["probabilities that were added up have no new observation of `bernoulli`", "s.toml:11:22", "write `aggregate = \"mean\"`"]),
    // Averages of probabilities.
    ("bernoulli = { value = \"n\" }", "[[observe]]\nfile = \"d.csv\"\nsupport = { box = { t = [\"t\", \"y\"] } }\naggregate = \"sum\"\nlikelihood = { binomial = { successes = \"n\", trials = 2 } }", &["`aggregate = \"sum\"` adds up probabilities, and `binomial` reports one", "s.toml:10:13", "write `aggregate = \"mean\"`"]),
    ("gaussian = { value = \"y\" }", "[[observe]]\nfile = \"d.csv\"\nsupport = { box = { t = [\"t\", \"y\"] } }\naggregate = \"mean\"\nlikelihood = { binomial = { successes = \"n\", trials = 2 } }", &["`gaussian` beside `binomial` over boxes, regions or bags", "s.toml:6:16", "write two studies"]),
    ("bernoulli = { value = \"n\" }", "[[observe]]\nfile = \"d.csv\"\nsupport = { box = { t = [\"t\", \"y\"] } }\naggregate = \"mean\"\nlikelihood = { binomial = { successes = \"n\", trials = 2 } }\n[inference]\nmethod = \"ep\"", &["sums after a link", "use auto, laplace or sparse"]),
    ("bernoulli = { value = \"n\" }", "[[observe]]\nfile = \"d.csv\"\nsupport = { box = { t = [\"t\", \"y\"] } }\naggregate = \"mean\"\nlikelihood = { binomial = { successes = \"n\", trials = 2 } }\n[inference]\nmethod = \"sparse\"\nlog_sum = \"lemma\"", &["`log_sum = \"lemma\"` is not there for probabilities, which d.csv holds", "s.toml:14:11"]),
    ("interval = { lower = \"y\", upper = 99, variance = \"y\" }", "[[predict]]
name = \"p\"
scale = \"observation\"
support = { grid = { t = { from = 0, to = 3, step = 1 } } }", &["that of a new observation is not known", "s.toml:9:9"]),
];

/// Links of the latent function on line 3.
#[rustfmt::skip]
const LINKS: &[(&str, &str, &[&str])] = &[
    ("link = \"identity\"", "poisson = { count = \"n\" }", &["`link = \"identity\"` would let the mean of `poisson` become negative", "s.toml:3:8", "`softplus`"]),
    ("link = \"square\"", "exponential = { value = \"y\" }", &["`link = \"square\"` cannot be used with `exponential`", "s.toml:3:8"]),
    ("link = \"exp\"", "interval = { lower = \"y\" }", &["`link = \"exp\"` with `interval` is not available in this version", "s.toml:3:8", "logarithms"]),
    ("link = \"softplus\"", "bernoulli = { value = \"n\" }", &["`bernoulli` has a link of its own", "s.toml:3:8", "leave it out"]),
    ("link = 3", "poisson = { count = \"n\" }", &["`link` must be a text in quotes, not the number 3", "s.toml:3:8"]),
    ("link = \"sofplus\"", "poisson = { count = \"n\" }", &["did you mean `softplus`?", "s.toml:3:8"]),
];

const TABLE: &[u8] = b"t,y,n,s\n0,1.5,1,none\n1,2.5,0,left\n2,3.5,1,right\n";

#[test]
fn broken_likelihoods_are_refused_with_place_and_remedy() {
    let table = &[("d.csv", TABLE)];
    let mut wrong = Vec::new();
    for (likelihood, more, expected) in STUDIES {
        wrong.extend(refused(likelihood, &study(likelihood, more), table, expected).err());
    }
    for (link, likelihood, expected) in LINKS {
        let text = study(likelihood, "").replace("[[observe]]", &format!("{link}\n[[observe]]"));
        wrong.extend(refused(link, &text, table, expected).err());
    }
    none(&wrong);
}

/// The likelihood, a table, texts expected.
#[rustfmt::skip]
const TABLES: &[(&str, &[u8], &[&str])] = &[
    ("ordinal = { rank = \"n\", thresholds = [1, 2] }", b"t,n\n0,1\n1,4\n2,2.5\n3,0\n", &["the rank is 4, but 2 thresholds tell 3 ranks apart", "d.csv:3:3 (column `n`)", "add a threshold", "the rank is 2.5; it must be a whole number", "d.csv:4:3", "the rank is 0; ranks count from 1", "d.csv:5:3"]),
    ("ordinal = { rank = \"n\" }", b"t,n\n0,1\n1,4000\n", &["the rank is 4000; thresholds are learned for at most 1000 ranks", "d.csv:3:3"]),
    ("censored = { value = \"y\" }", b"t,y\n0,<\n1,30+\n", &["`<` stands without a number", "d.csv:2:3 (column `y`)", "`30+` is not a number", "d.csv:3:3", "written >30"]),
    ("poisson = { count = \"n\" }", b"t,n\n0,<\n1,3\n", &["`<` stands without a number", "d.csv:2:3 (column `n`)"]),
    ("ordinal = { rank = \"n\" }", b"t,n\n0,1\n1,1\n", &["every rank is 1", "d.csv:2:3", "thresholds = [..]"]),
    ("ordinal = { rank = \"n\" }", b"t,n\n0,low\n1,1\n", &["`low` is not a number", "d.csv:2:3 (column `n`)"]),
    ("interval = { lower = \"a\", upper = \"b\" }", b"t,a,b\n0,1,2\n1,3,2\n2,,\n3,inf,4\n", &["`inf` leaves nothing on this side", "d.csv:5:3 (column `a`)", "-inf"]),
    ("interval = { lower = \"a\", upper = \"b\" }", b"t,a,b\n0,1,2\n1,3,2\n2,,\n", &["the upper end is 2, below the lower end, 3", "d.csv:3:5 (column `b`)", "exchange the two ends", "both ends are open", "d.csv:4:4"]),
    ("interval = { lower = \"a\", upper = \"b\", variance = \"v\" }", b"t,a,b,v\n0,1,1,0\n1,1,2,0\n2,1,3,-1\n", &["the variance is -1; it cannot be negative", "d.csv:4:7 (column `v`)", "the variance of this row is 0", "d.csv:3:5"]),
    ("censored = { value = \"y\", side = \"s\" }", b"t,y,s\n0,1,none\n1,2,below\n2,3,\n", &["`below` does not say how the value is censored", "d.csv:3:5 (column `s`)", "none, left", "d.csv:4:5"]),
    ("censored = { value = \"y\", lower = \"a\", upper = \"b\" }", b"t,y,a,b\n0,1,0,5\n1,2,6,5\n", &["the upper limit is 5, not above the lower one, 6", "d.csv:3:7 (column `b`)"]),
    ("censored = { value = \"y\" }", b"t,y\n0,<0.5\n1,<low\n", &["`<low` is not a number", "d.csv:3:3 (column `y`)"]),
    ("censored = { value = \"y\", lower = 1 }", b"t,y\n0,2\n1,<1\n", &["`<1` is not a number", "d.csv:3:3 (column `y`)"]),
    ("poisson = { count = \"n\" }", b"t,n\n0,3\n1,-2\n2,2.5\n3,few\n", &["the count is -2; it cannot be negative", "d.csv:3:3 (column `n`)", "the count is 2.5; it must be a whole number", "d.csv:4:3", "`exposure`", "`few` is not a number", "d.csv:5:3", "<5"]),
    ("poisson = { count = \"n\" }", b"t,n\n0,3\n1,<0\n2,9-3\n", &["`<0` leaves no count", "d.csv:3:3", "the range `9-3` ends before it begins", "d.csv:4:3"]),
    ("poisson = { count = \"n\", exposure = \"e\" }", b"t,n,e\n0,3,10\n1,2,0\n2,0,0\n3,1,-4\n", &["the exposure is 0, but 2 were counted there", "d.csv:3:5 (column `e`)", "the exposure is -4; it cannot be negative", "d.csv:5:5"]),
    ("poisson = { lower = \"a\", upper = \"b\" }", b"t,a,b\n0,1,2\n1,3,2\n2,0.5,4\n3,-1,4\n", &["the upper end is 2, below the lower end, 3", "d.csv:3:5", "the lower count is 0.5; it must be a whole number", "d.csv:4:3", "the lower count is -1; it cannot be negative", "d.csv:5:3"]),
    ("negative_binomial = { count = \"n\" }", b"t,n\n0,3\n1,1e99\n", &["the count is 1e99, too large", "d.csv:3:3"]),
    ("bernoulli = { value = \"n\" }", b"t,n\n0,yes\n1,2\n2,perhaps\n", &["`2` is neither yes nor no", "d.csv:3:3 (column `n`)", "`perhaps` is neither yes nor no", "d.csv:4:3", "yes or no"]),
    ("binomial = { successes = \"k\", trials = \"n\" }", b"t,k,n\n0,3,5\n1,6,5\n2,1.5,5\n3,1,-2\n", &["there are 6 successes among 5 trials", "d.csv:3:3 (column `k`)", "the number of successes is 1.5", "d.csv:4:3", "the number of trials is -2", "d.csv:5:5"]),
    ("exponential = { value = \"y\" }", b"t,y\n0,3\n1,0\n2,-1\n", &["the value is 0; it must be above zero", "d.csv:3:3 (column `y`)", "the value is -1", "d.csv:4:3"]),
    ("laplace = { value = \"y\", scale = \"b\" }", b"t,y,b\n0,3,1\n1,0,0\n", &["the scale is 0; it must be above zero", "d.csv:3:5 (column `b`)"]),
    ("student_t = { value = \"y\", variance = \"v\" }", b"t,y,v\n0,3,1\n1,0,0\n", &["the variance of this row is 0", "d.csv:3:3", "extra = \"learn\""]),
];

#[test]
fn broken_columns_are_refused_with_place_and_remedy() {
    let wrong: Vec<String> = TABLES
        .iter()
        .filter_map(|(likelihood, table, expected)| {
            refused(
                likelihood,
                &study(likelihood, ""),
                &[("d.csv", table)],
                expected,
            )
            .err()
        })
        .collect();
    none(&wrong);
}
