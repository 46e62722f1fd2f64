//! Small studies that a seed draws from the grammar of `docs/study-file.md`, with their data.

use crate::data::{KEYS, Rows};
use crate::draw::Draw;
use crate::kernels::{self, Kernel};
use crate::likelihood::{self, Likelihood, Sort};
use crate::predict;

/// The file of the study in its folder.
pub const STUDY: &str = "s.toml";

/// A study with its files, and what is known of its answers.
pub struct Study {
    /// Names and contents, the study first.
    pub files: Vec<(String, Vec<u8>)>,
    pub facts: Facts,
    /// How a saved model of it is asked for predictions at [`Study::at`].
    pub flags: Vec<String>,
    /// The file of the places of these predictions.
    pub at: &'static str,
}

/// What must hold of the answers of a study that nobody changed.
#[derive(Clone, Default)]
pub struct Facts {
    /// Whether a standard deviation may be zero: values known exactly, lines through a known point,
    /// probabilities.
    pub may_be_exact: bool,
    /// The prediction at the observed rows, and the standard deviations with which these are known.
    pub known: Option<(String, Vec<f64>)>,
}

impl Facts {
    /// What holds of files that somebody changed.
    pub fn any() -> Self {
        Self {
            may_be_exact: true,
            known: None,
        }
    }
}

/// What rows look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Point,
    Plane,
    Box,
    BoxPoint,
    Bag,
    Region,
}

impl Shape {
    /// What the kernel is about.
    fn dims(self) -> &'static [&'static str] {
        match self {
            Self::Point | Self::Box => &["t"],
            Self::Plane | Self::BoxPoint | Self::Bag => &["t", "u"],
            Self::Region => &["x", "y"],
        }
    }

    pub fn is_point(self) -> bool {
        matches!(self, Self::Point | Self::Plane)
    }

    /// The columns of a table that looks there.
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Point => &["t"],
            Self::Plane => &["t", "u"],
            Self::Box => &["from", "to"],
            Self::BoxPoint => &["from", "to", "u"],
            Self::Bag | Self::Region => &["k"],
        }
    }
}

/// Where a study looks, said once.
pub struct Place {
    pub shape: Shape,
    pub aggregate: &'static str,
    /// Whether regions are in the plane.
    pub planar: bool,
    /// Whether the table of rows is the map itself.
    pub is_map: bool,
    weight: &'static str,
    more: &'static str,
}

impl Place {
    fn draw(draw: &mut Draw, shape: Shape) -> Self {
        Self {
            shape,
            aggregate: draw.word(&["sum", "mean"]),
            planar: draw.percent(60),
            is_map: shape == Shape::Region && draw.percent(40),
            weight: draw.word(&["", ", weight = \"weight\""]),
            more: draw.word(&["", "", "", ", empty = \"skip\"", ", missing = \"mean\""]),
        }
    }

    /// The table of the rows.
    pub fn table(&self) -> &'static str {
        if self.is_map { "z.geojson" } else { "d.csv" }
    }

    /// The inside of `support`.
    pub fn support(&self) -> String {
        let more = if self.planar { ", planar = true" } else { "" };
        match self.shape {
            Shape::Point => "point = [\"t\"]".into(),
            Shape::Plane => "point = [\"t\", \"u\"]".into(),
            Shape::Box => "box = { t = [\"from\", \"to\"] }".into(),
            Shape::BoxPoint => "box = { t = [\"from\", \"to\"] }, point = [\"u\"]".into(),
            Shape::Bag => format!(
                "bag = {{ file = \"p.csv\", key = \"k\", dims = [\"t\", \"u\"]{}{} }}",
                self.weight, self.more
            ),
            Shape::Region if self.is_map => {
                format!("region = {{ key = \"k\", dims = [\"x\", \"y\"]{more} }}")
            }
            Shape::Region => format!(
                "region = {{ file = \"z.geojson\", key = \"k\", dims = [\"x\", \"y\"]{more} }}"
            ),
        }
    }

    /// The line with `aggregate`, where it has a place.
    pub fn aggregated(&self) -> String {
        match self.shape.is_point() {
            true => String::new(),
            false => format!("aggregate = \"{}\"\n", self.aggregate),
        }
    }

    /// The same for a saved model.
    fn flags(&self) -> Vec<String> {
        let words = match self.shape {
            Shape::Point => "--point t",
            Shape::Plane => "--point t,u",
            Shape::Box => "--box t=from,to",
            Shape::BoxPoint => "--box t=from,to --point u",
            Shape::Bag => "--bag t,u --key k",
            Shape::Region => "--region x,y --key k",
        };
        let mut flags: Vec<String> = words.split(' ').map(str::to_owned).collect();
        if !self.shape.is_point() {
            flags.extend(["--aggregate".to_owned(), self.aggregate.to_owned()]);
        }
        if self.shape == Shape::Region && self.planar {
            flags.push("--planar".into());
        }
        flags
    }
}

/// What a study is made of before it is written down.
pub struct Parts {
    pub place: Place,
    pub rows: Rows,
    pub likelihood: Likelihood,
    pub kernel: Kernel,
    /// Names of the outputs, where there are several.
    pub outputs: bool,
    /// The section of a spread that is a function.
    pub varying: Option<&'static str>,
    pub preset: Option<&'static str>,
    pub second: Option<Second>,
    pub truncated: bool,
}

/// Another table of the same function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Second {
    Positive,
    Values,
    Shared,
}

/// Draws a study.
pub fn draw(draw: &mut Draw) -> Study {
    let shapes = [
        Shape::Point,
        Shape::Plane,
        Shape::Box,
        Shape::BoxPoint,
        Shape::Bag,
        Shape::Region,
        Shape::Point,
        Shape::Box,
    ];
    let shape = *draw.of(&shapes);
    let place = Place::draw(draw, shape);
    let rows = Rows::draw(draw);
    let mut likelihood = likelihood::draw(draw, shape);
    let is_value = likelihood.sort == Sort::Value;
    let is_censored = likelihood.name == "censored" || likelihood.name == "gaussian";
    let outputs = shape.is_point() && draw.percent(15);
    let mut preset = None;
    if shape.is_point() && is_censored && draw.percent(12) {
        preset = Some(match outputs {
            true => draw.word(&["mocgp", "moncgp", "hmocgp"]),
            false => draw.word(&["cgp", "ncgp", "hcgp"]),
        });
        likelihood.learn();
    }
    let mut varying = None;
    let may_vary = shape.is_point() && preset.is_none() && likelihood.name != "ordinal";
    if may_vary && is_value && likelihood.has_noise && draw.percent(12) {
        varying = Some("noise");
        likelihood.learn();
    } else if may_vary && likelihood.name == "negative_binomial" && draw.percent(30) {
        varying = Some("dispersion");
        likelihood.learn();
    }
    let second = match is_value && !outputs && preset.is_none() && varying.is_none() {
        true if draw.percent(6) => Some(Second::Positive),
        true if draw.percent(8) => Some(Second::Values),
        true if likelihood.has_noise && draw.percent(4) => Some(Second::Shared),
        _ => None,
    };
    if second == Some(Second::Shared) {
        likelihood.learn();
    }
    let mut kernel = kernels::draw(draw, shape.dims(), place.planar);
    if is_pooled_at(&likelihood, shape) {
        kernel.name();
    }
    let truncated = is_value && likelihood.name != "ordinal" && draw.percent(10);
    let parts = Parts {
        place,
        rows,
        likelihood,
        kernel,
        outputs,
        varying,
        preset,
        second,
        truncated,
    };
    written(&parts, draw)
}

/// Whether rows are sums after a link, for which a search for hyperparameters takes seconds.
fn is_pooled_at(likelihood: &Likelihood, shape: Shape) -> bool {
    likelihood.sort == Sort::Count && !shape.is_point()
}

/// Writes a study and its files.
fn written(parts: &Parts, draw: &mut Draw) -> Study {
    let Parts {
        place,
        rows,
        likelihood,
        kernel,
        ..
    } = parts;
    let mut text = String::new();
    if draw.percent(30) {
        text.push_str("title = \"A wave: \u{e4}, \u{2264} & <b>\"\n");
    }
    if let Some(preset) = parts.preset {
        text.push_str(&format!("preset = \"{preset}\"\n"));
    }
    text.push_str(&latent(parts, draw));
    text.push_str(&observe(parts, draw));
    let (sections, known) = predict::sections(parts, draw);
    text.push_str(&sections);
    if parts.outputs && draw.percent(50) {
        text.push_str(&format!(
            "[coregionalization]\nlatents = {}\nrank = {}\n",
            1 + draw.below(2),
            draw.below(3)
        ));
    }
    if let Some(section) = parts.varying {
        text.push_str(&format!(
            "[{section}]\nkernel = \"se(t)\"\n{}",
            draw.word(&["", "link = \"softplus\"\n"])
        ));
    }
    let is_pooled = is_pooled_at(likelihood, place.shape);
    let is_simple = !parts.outputs && parts.varying.is_none() && parts.preset.is_none();
    if is_simple && kernel.is_named {
        text.push_str(&kernels::hyperparameters(kernel, is_pooled, draw));
    }
    let inference = inference(parts, draw);
    // Of one set of hyperparameters, without inducing points, sds are those of normal values.
    let has_bound = inference.contains("map") && !inference.contains("sparse");
    text.push_str(&inference);
    let mut columns: Vec<String> = place
        .shape
        .columns()
        .iter()
        .chain(&likelihood.columns)
        .map(|c| (*c).to_owned())
        .collect();
    if parts.outputs {
        columns.push("site".into());
    }
    if draw.percent(20) {
        columns.push("spare".into());
    }
    let mut seen: Vec<String> = Vec::new();
    columns.retain(|name| {
        !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    let mut files = vec![(STUDY.to_owned(), text.into_bytes())];
    if !place.is_map {
        files.push(("d.csv".into(), rows.csv(&columns).into_bytes()));
    }
    match place.shape {
        Shape::Bag => files.push(("p.csv".into(), rows.points(draw).into_bytes())),
        Shape::Region => {
            let own = if place.is_map {
                columns
            } else {
                vec!["k".to_owned()]
            };
            files.push((
                "z.geojson".into(),
                rows.map(&own, !place.planar).into_bytes(),
            ));
        }
        _ => {}
    }
    if matches!(parts.second, Some(Second::Values | Second::Shared)) {
        let columns: Vec<String> = place
            .shape
            .columns()
            .iter()
            .chain(&["y"])
            .map(|c| (*c).to_owned())
            .collect();
        files.push(("e.csv".into(), rows.csv(&columns).into_bytes()));
    }
    let is_exact = likelihood.is_exact || kernel.may_vanish || likelihood.sort != Sort::Value;
    Study {
        files,
        facts: Facts {
            may_be_exact: is_exact || parts.truncated || parts.second == Some(Second::Positive),
            known: known.filter(|_| has_bound).zip(likelihood.known(rows)),
        },
        flags: place.flags(),
        at: match place.shape {
            Shape::Bag => "p.csv",
            Shape::Region => "z.geojson",
            _ => "d.csv",
        },
    }
}

fn latent(parts: &Parts, draw: &mut Draw) -> String {
    let mut text = String::from("[latent]\n");
    // Maps have a kernel without a word.
    let is_map = parts.place.shape == Shape::Region;
    if !is_map || parts.kernel.is_named {
        text.push_str(&format!("kernel = \"{}\"\n", parts.kernel.text));
    }
    if draw.percent(30) {
        text.push_str(draw.word(&["mean = \"zero\"\n", "mean = 0.5\n", "mean = \"constant\"\n"]));
    }
    if parts.likelihood.sort == Sort::Count && draw.percent(25) {
        text.push_str(draw.word(&[
            "link = \"exp\"\n",
            "link = \"softplus\"\n",
            "link = \"square\"\n",
        ]));
    }
    if parts.truncated {
        text.push_str("non_negative = \"truncate\"\n");
    }
    text
}

fn observe(parts: &Parts, draw: &mut Draw) -> String {
    let Parts {
        place, likelihood, ..
    } = parts;
    let table = |file: &str, more: &str, likelihood: &str| {
        let support = if file == "e.csv" {
            place
                .support()
                .replace("region = { key", "region = { file = \"z.geojson\", key")
        } else {
            place.support()
        };
        format!(
            "[[observe]]\nfile = \"{file}\"\nsupport = {{ {support} }}\n{}{more}likelihood = {{ {likelihood} }}\n",
            place.aggregated()
        )
    };
    let mut more = String::new();
    if parts.outputs {
        more.push_str("output_column = \"site\"\n");
        if likelihood.has_noise
            && likelihood.is_learned
            && parts.varying.is_none()
            && parts.preset.is_none()
            && draw.percent(30)
        {
            more.push_str("share_noise = true\n");
        }
    }
    let mut text = table(place.table(), &more, &likelihood.text);
    match parts.second {
        Some(Second::Positive) => {
            let likelihood = draw.word(&[
                "positive = {}",
                "positive = { margin = 0.1 }",
                "positive = { margin = -3, sd = 0.2 }",
            ]);
            text.push_str(&table(place.table(), "name = \"bound\"\n", likelihood));
        }
        Some(Second::Values) => text.push_str(&table(
            "e.csv",
            "name = \"second\"\n",
            "gaussian = { value = \"y\", variance = 0.2 }",
        )),
        Some(Second::Shared) => text.push_str(&table(
            "e.csv",
            "name = \"second\"\nshare_noise = true\n",
            "gaussian = { value = \"y\" }",
        )),
        None => {}
    }
    text
}

fn inference(parts: &Parts, draw: &mut Draw) -> String {
    let mut text = String::from("[inference]\n");
    let is_pooled = is_pooled_at(&parts.likelihood, parts.place.shape);
    if !draw.percent(12) {
        text.push_str("hyperparameters = \"map\"\n");
    } else if draw.percent(50) && !is_pooled {
        text.push_str("hyperparameters = \"integrate\"\n");
    }
    let varies =
        parts.varying.is_some() || parts.preset.is_some_and(|preset| preset.starts_with('h'));
    let method = match draw.below(6) {
        0 if !varies && !is_pooled => draw.word(&["ep", "variational"]),
        1 if !varies
            && parts.likelihood.name == "gaussian"
            && parts.second != Some(Second::Positive) =>
        {
            "exact"
        }
        2 if !varies && parts.likelihood.name != "laplace" => "laplace",
        3 if !varies => "sparse",
        4 => "auto",
        _ => "",
    };
    if !method.is_empty() {
        text.push_str(&format!("method = \"{method}\"\n"));
    }
    if method == "sparse" {
        text.push_str(draw.word(&[
            "",
            "inducing = 3\n",
            "inducing = \"rows\"\n",
            "inducing = 3\nmove_inducing = true\n",
        ]));
    }
    if draw.percent(20) {
        text.push_str(&format!("seed = {}\n", draw.below(9)));
    }
    text
}

/// The names of bags and regions are keys.
#[test]
fn there_are_keys_for_all_rows() {
    for seed in 0..20 {
        assert!(Rows::draw(&mut Draw::seeded(seed)).n <= KEYS.len());
    }
}
