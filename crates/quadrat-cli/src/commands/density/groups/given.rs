//! `--given` with `--group`: conditional densities of every group, and how the medians of the first
//! differ from those of the others.

use std::sync::Arc;

use quadrat::density::MedianDifference;
use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Panel, Places, Predicted};
use serde_json::{Value, json};

use super::super::answers::Answers;
use super::super::asked::Of;
use super::super::common::{interval, quoted};
use super::super::given::said::{Said, aligned, json as json_of, sentences, warnings_of};
use super::super::given::{builder, figure as figures_of, once};
use super::super::rows::Rows;
use super::super::table::{Table, csv};
use super::parts::{parts, refused_group};
use crate::args::Density;
use crate::diagnostic::{Paint, Problems};
use crate::numbers::{count, human, percent};

/// Places at which medians are compared.
const COMPARED: usize = 50;
/// Groups whose densities are shaded on a page.
const SHADED: usize = 8;

/// Conditional densities of every group.
pub struct Given<'a> {
    rows: &'a Rows,
    column: &'a str,
    groups: Vec<(String, Said<'a>)>,
    differences: Vec<MedianDifference>,
}

impl<'a> Given<'a> {
    /// Estimates them.
    pub fn new(args: &'a Density, rows: &'a Rows, column: &'a str) -> Result<Self, Problems> {
        once(args)?;
        let mut groups = Vec::new();
        for (name, part) in parts(rows, column)? {
            let estimate = builder(args, &part)?.estimate();
            let estimate = estimate.map_err(|error| refused_group(&part, &name, &error))?;
            groups.push((name, Said::new(args, Arc::new(part), estimate)));
        }
        let given = rows.pairs().map_or(&[][..], |[x, _]| x);
        let finite = given.iter().copied().filter(|x| x.is_finite());
        let (from, to) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
            (a.min(x), b.max(x))
        });
        let step = (to - from) / (COMPARED - 1) as f64;
        let places: Vec<f64> = (0..COMPARED).map(|i| from + step * i as f64).collect();
        let first = &groups[0].1.estimate;
        let others = groups[1..].iter();
        let differences =
            others.map(|(_, said)| first.compare_medians(&said.estimate, &places, args.seed));
        Ok(Self {
            rows,
            column,
            differences: differences.collect(),
            groups,
        })
    }

    /// How the medians of the first group differ from those of each other one, in words.
    fn told(&self) -> Vec<String> {
        let clean = |name: &str| crate::terminal::clean(name);
        let [given, value] = [0, 1].map(|axis| clean(&self.rows.names[axis]));
        let (first, others) = (&self.groups[0].0, &self.groups[1..]);
        let pairs = others.iter().zip(&self.differences);
        pairs
            .map(|((name, _), d)| {
                let pair = format!("{} less {}", clean(first), clean(name));
                let Some(last) = d.places.len().checked_sub(1) else {
                    return format!("{pair}: no {given} in common");
                };
                let at = |i: usize| {
                    let answer = quadrat::density::Answer {
                        value: d.value[i],
                        lower: d.lower[i],
                        upper: d.upper[i],
                    };
                    format!("{} at {}", interval(&answer), human(d.places[i]))
                };
                let all = [0, last / 2, last].map(at).join(", ");
                format!("{pair}: median of {value} {all}")
            })
            .collect()
    }
}

impl Answers for Given<'_> {
    fn title(&self) -> String {
        let names = &self.rows.names;
        format!(
            "Density of {} given {} by {}",
            names[1], names[0], self.column
        )
    }

    fn parts(&self) -> Vec<(String, Of<'_>)> {
        let groups = self.groups.iter();
        groups
            .map(|(name, said)| (name.clone(), Of::Given(&said.estimate)))
            .collect()
    }

    /// As of one group, behind a column of its name.
    fn csv(&self) -> Result<String, Problems> {
        let (mut out, head) = (String::new(), quoted(self.column));
        for (k, (name, said)) in self.groups.iter().enumerate() {
            let text = csv(said.args, &self.rows.names, Table::given(&said.estimate))?;
            let name = quoted(name);
            for (i, line) in text.lines().enumerate() {
                let before = match (i, k) {
                    (0, 0) => &head,
                    (0, _) => continue,
                    _ => &name,
                };
                out.push_str(&format!("{before},{line}\n"));
            }
        }
        Ok(out)
    }

    fn figures(&self) -> Vec<Figure> {
        let mut out = vec![self.curves()];
        for (k, (name, said)) in self.groups.iter().take(SHADED).enumerate() {
            let mut figure = figures_of::surface(&format!("{} {name}", self.column), said);
            if let Figure::Surface(surface) = &mut figure {
                // Files of a study are named by it.
                surface.heading.id = format!("density-{}", k + 1);
            }
            out.push(figure);
        }
        out
    }

    fn sentences(&self) -> Vec<String> {
        let of = |(name, said): &(String, Said<'_>)| {
            let told = sentences(said).into_iter();
            told.map(|words| format!("{name}: {words}"))
                .collect::<Vec<String>>()
        };
        let mut out: Vec<String> = self.groups.iter().flat_map(of).collect();
        out.extend(self.told().into_iter().map(|words| words + "."));
        out
    }

    fn warnings(&self) -> Vec<String> {
        let of = |(name, said): &(String, Said<'_>)| {
            let name = crate::terminal::clean(name);
            let told = warnings_of(said).into_iter();
            told.map(|words| format!("group `{name}`: {words}"))
                .collect::<Vec<String>>()
        };
        self.groups.iter().flat_map(of).collect()
    }

    fn json(&self) -> Value {
        let group = |(name, said): &(String, Said<'_>)| {
            let mut out = json_of(said);
            out["group"] = json!(name);
            out
        };
        let pairs = self.groups[1..].iter().zip(&self.differences);
        let differences = pairs.map(|((name, _), d)| {
            json!({
                "of": self.groups[0].0,
                "less": name,
                "places": d.places,
                "median": d.value,
                "lower": d.lower,
                "upper": d.upper,
                "larger": d.larger,
            })
        });
        json!({
            "given": self.rows.names[0],
            "column": self.rows.names[1],
            "group": self.column,
            "level": self.groups[0].1.estimate.level(),
            "groups": self.groups.iter().map(group).collect::<Vec<Value>>(),
            "differences": differences.collect::<Vec<Value>>(),
            "warnings": self.warnings(),
        })
    }

    fn summary(&self, paint: Paint) -> String {
        let clean = |name: &str| crate::terminal::clean(name);
        let [given, value] = [0, 1].map(|axis| clean(&self.rows.names[axis]));
        let mut out = format!(
            "{} of `{value}` given `{given}` in {} of `{}`, {} intervals\n",
            count(self.rows.len(), "row"),
            count(self.groups.len(), "group"),
            clean(self.column),
            percent(self.groups[0].1.estimate.level())
        );
        for (name, said) in &self.groups {
            out.push_str(&format!(
                "\n{}: {}\n",
                clean(name),
                count(said.rows.len(), "row")
            ));
            out.push_str(&aligned(&said.table()));
        }
        out.push('\n');
        for line in self.told() {
            out.push_str(&format!("{line}\n"));
        }
        for warning in self.warnings() {
            out.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
        }
        out
    }
}

impl Given<'_> {
    /// Curves of quantiles of every group on one scale, and the difference of the medians of two.
    fn curves(&self) -> Figure {
        let names = &self.rows.names;
        let level = self.groups[0].1.estimate.level();
        let ends = self.groups.iter().map(|(_, said)| said.seen());
        let ends = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |a, b| {
            (a.0.min(b.0), a.1.max(b.1))
        });
        let mut panels: Vec<Panel> = self
            .groups
            .iter()
            .map(|(name, said)| {
                let Figure::Curve(mut figure) = figures_of::curves(said) else {
                    return Panel::default();
                };
                let own = figure.panels.pop().unwrap_or_default();
                Panel {
                    title: name.clone(),
                    domain: Some(ends),
                    ..own
                }
            })
            .collect();
        if let [d] = self.differences.as_slice()
            && !d.places.is_empty()
        {
            panels.push(Panel {
                title: format!("{} less {}", self.groups[0].0, self.groups[1].0),
                y: Axis::new("Difference of medians"),
                predicted: vec![Predicted {
                    label: "Difference of medians".to_owned(),
                    at: Places::Points(d.places.clone()),
                    mean: d.value.clone(),
                    lower: d.lower.clone(),
                    upper: d.upper.clone(),
                    level,
                }],
                ..Panel::default()
            });
        }
        let caption = format!(
            "Quantiles of every group as curves on one scale, each with its pointwise {} band.",
            percent(level)
        );
        Figure::Curve(CurveFigure {
            heading: Heading::new("quantiles", self.title()).with_caption(caption),
            x: Axis::new(&names[0]),
            panels,
        })
    }
}
