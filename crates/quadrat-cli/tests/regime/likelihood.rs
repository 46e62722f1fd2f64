//! What rows of the studies report.

use crate::data::Rows;
use crate::draw::Draw;
use crate::study::Shape;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Value,
    Count,
    /// Yes and no, successes.
    Chance,
    Wait,
}

pub struct Likelihood {
    pub name: &'static str,
    /// The inside of `likelihood`.
    pub text: String,
    pub columns: Vec<&'static str>,
    pub sort: Sort,
    /// Whether it takes a noise variance.
    pub has_noise: bool,
    pub is_learned: bool,
    /// Whether values are known without noise.
    pub is_exact: bool,
    /// What is known of the noise: a number, or a column, and whether it is a variance.
    noise: Option<(Noise, bool)>,
    /// The text without any word of noise, dispersion or degrees.
    bare: String,
}

#[derive(Clone, Copy)]
enum Noise {
    All(f64),
    Column(&'static str),
}

impl Likelihood {
    /// Leaves noise and the like to be learned.
    pub fn learn(&mut self) {
        self.text.clone_from(&self.bare);
        self.noise = None;
        self.is_exact = false;
        self.is_learned = true;
    }

    /// The standard deviations with which rows are known, where they are normal.
    pub fn known(&self, rows: &Rows) -> Option<Vec<f64>> {
        let (noise, is_variance) = self.noise.filter(|_| self.name == "gaussian")?;
        let sd = |value: f64| if is_variance { value.sqrt() } else { value };
        let of = |i: usize| match noise {
            Noise::All(value) => Some(sd(value)),
            Noise::Column(name) => rows.cell(name, i).parse().ok().map(sd),
        };
        (0..rows.n).map(of).collect()
    }
}

/// A likelihood that a shape can have.
pub fn draw(draw: &mut Draw, shape: Shape) -> Likelihood {
    let all = [
        "gaussian",
        "gaussian",
        "gaussian",
        "poisson",
        "laplace",
        "student_t",
        "interval",
        "censored",
        "ordinal",
        "negative_binomial",
        "bernoulli",
        "binomial",
        "exponential",
        "gamma",
        "lognormal",
    ];
    let among = if shape.is_point() { all.len() } else { 10 };
    let name = all[draw.below(among)];
    let sort = match name {
        "poisson" | "negative_binomial" => Sort::Count,
        "bernoulli" | "binomial" => Sort::Chance,
        "exponential" | "gamma" | "lognormal" => Sort::Wait,
        _ => Sort::Value,
    };
    let (inside, mut columns) = keys(name, draw);
    let bare = match name {
        // What of it is learned where nothing is said.
        "negative_binomial" => inside
            .split(", dispersion")
            .next()
            .unwrap_or_default()
            .to_owned(),
        _ => inside.clone(),
    };
    let has_noise = ["gaussian", "student_t", "interval", "censored", "ordinal"].contains(&name);
    let mut noise = None;
    let mut words = String::new();
    if has_noise && draw.percent(60) {
        let (text, what): (&str, (Noise, bool)) = *draw.of(&[
            (", variance = 0.1", (Noise::All(0.1), true)),
            (", variance = \"v\"", (Noise::Column("v"), true)),
            (", sd = 0.3", (Noise::All(0.3), false)),
            (", sd = \"v\"", (Noise::Column("v"), false)),
        ]);
        if let Noise::Column(column) = what.0 {
            columns.push(column);
        }
        words.push_str(text);
        noise = Some(what);
        if draw.percent(15) {
            words.push_str(", extra = \"learn\"");
            noise = None;
        }
    }
    let is_exact = name == "gaussian" && draw.percent(10);
    if is_exact {
        words = ", variance = 0".into();
        noise = Some((Noise::All(0.0), true));
    }
    Likelihood {
        text: format!("{name} = {{ {inside}{words} }}"),
        bare: format!("{name} = {{ {bare} }}"),
        name,
        columns,
        sort,
        has_noise,
        is_learned: words.is_empty(),
        is_exact,
        noise,
    }
}

/// Keys apart from noise, and their columns.
fn keys(name: &str, draw: &mut Draw) -> (String, Vec<&'static str>) {
    let (text, columns): (&str, &[&'static str]) = match name {
        "laplace" => *draw.of(&[
            ("value = \"y\", scale = 0.3", &["y"] as &[&str]),
            ("value = \"y\", scale = \"v\"", &["y", "v"]),
        ]),
        "student_t" => *draw.of(&[
            ("value = \"y\", degrees = 4", &["y"] as &[&str]),
            ("value = \"y\"", &["y"]),
            ("value = \"y\", degrees = \"learn\"", &["y"]),
        ]),
        "interval" => *draw.of(&[
            ("lower = \"lo\", upper = \"hi\"", &["lo", "hi"] as &[&str]),
            ("lower = \"lo\"", &["lo"]),
            ("lower = \"lo\", upper = 3", &["lo"]),
        ]),
        "censored" => *draw.of(&[
            ("value = \"y\", side = \"side\"", &["y", "side"] as &[&str]),
            ("value = \"y\", upper = 0.9", &["y"]),
            ("value = \"y\", lower = -0.9, upper = \"hi\"", &["y", "hi"]),
            ("value = \"y\", left = \"flag\"", &["y", "flag"]),
            ("value = \"y\", event = \"flag\"", &["y", "flag"]),
            ("value = \"y\"", &["y"]),
        ]),
        "ordinal" => *draw.of(&[
            ("rank = \"g\"", &["g"] as &[&str]),
            ("rank = \"g\", thresholds = [0, 0.8]", &["g"]),
            ("rank = \"g\", ranks = 5", &["g"]),
        ]),
        "bernoulli" => *draw.of(&[
            ("value = \"flag\"", &["flag"] as &[&str]),
            ("value = \"flag\", link = \"probit\"", &["flag"]),
        ]),
        "binomial" => *draw.of(&[
            ("successes = \"n\", trials = \"m\"", &["n", "m"] as &[&str]),
            ("successes = \"n\", trials = 20, link = \"probit\"", &["n"]),
        ]),
        "poisson" => *draw.of(&[
            ("count = \"n\"", &["n"] as &[&str]),
            ("count = \"n\", exposure = \"w\"", &["n", "w"]),
            ("count = \"range\"", &["range"]),
            (
                "lower = \"n\", upper = \"most\", exposure = 2.5",
                &["n", "most"],
            ),
            ("count = \"n\"", &["n"]),
        ]),
        "negative_binomial" => *draw.of(&[
            ("count = \"n\"", &["n"] as &[&str]),
            (
                "count = \"n\", exposure = \"w\", dispersion = 0.5",
                &["n", "w"],
            ),
        ]),
        "exponential" => ("value = \"w\"", &["w"]),
        "gamma" => *draw.of(&[
            ("value = \"w\"", &["w"] as &[&str]),
            ("value = \"w\", shape = 3", &["w"]),
            ("value = \"w\", shape = \"learn\"", &["w"]),
        ]),
        "lognormal" => *draw.of(&[
            ("value = \"w\"", &["w"] as &[&str]),
            ("value = \"w\", sd = 0.2", &["w"]),
            ("value = \"w\", sd = \"learn\"", &["w"]),
        ]),
        _ => ("value = \"y\"", &["y"]),
    };
    (text.to_owned(), columns.to_vec())
}
