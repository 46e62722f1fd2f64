//! Conditional densities of every group, and how the medians of the first differ from those of the
//! others.

use std::sync::Arc;

use quadrat::density::MedianDifference;
use quadrat::progress::Progress;
use serde_json::{Value, json};

use super::super::answers::Answers;
use super::super::asked::Of;
use super::super::common::{interval, own_table};
use super::super::given::said::{Said, json as json_of, sentences, warnings_of};
use super::super::given::{builder, once};
use super::super::rows::Rows;
use super::super::table::{Cells, fill};
use super::parts::{parts, refused_group};
use crate::columns::Table;
use crate::diagnostic::Problems;
use crate::numbers::human;
use crate::study::density::Density;
use crate::words::clean;

/// Places at which medians are compared.
const COMPARED: usize = 50;

/// Conditional densities of every group.
pub struct Given {
    pub rows: Arc<Rows>,
    pub column: String,
    pub groups: Vec<(String, Said)>,
    pub differences: Vec<MedianDifference>,
}

impl Given {
    /// Estimates them.
    pub fn new(
        args: &Arc<Density>,
        rows: &Arc<Rows>,
        column: &str,
        progress: &dyn Progress,
    ) -> Result<Self, Problems> {
        once(args)?;
        let mut groups = Vec::new();
        for (name, part) in parts(rows, column)? {
            let estimate = builder(args, &part)?.progress(progress).estimate();
            let estimate = estimate.map_err(|error| refused_group(&part, &name, &error))?;
            groups.push((name, Said::new(Arc::clone(args), Arc::new(part), estimate)));
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
            rows: Arc::clone(rows),
            column: column.to_owned(),
            differences: differences.collect(),
            groups,
        })
    }

    /// How the medians of the first group differ from those of each other one, in words.
    pub fn told(&self) -> Vec<String> {
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

impl Answers for Given {
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
    fn table(&self) -> Result<Table, Problems> {
        let args = &self.groups[0].1.args;
        let draws = args.draws.map_or(0, usize::from);
        let mut out = own_table(Some(&self.column), &self.rows.names, draws);
        for (name, said) in &self.groups {
            fill(args, &mut out, Some(name), Cells::given(&said.estimate))?;
        }
        Ok(out)
    }

    fn sentences(&self) -> Vec<String> {
        let of = |(name, said): &(String, Said)| {
            let told = sentences(said).into_iter();
            told.map(|words| format!("{name}: {words}"))
                .collect::<Vec<String>>()
        };
        let mut out: Vec<String> = self.groups.iter().flat_map(of).collect();
        out.extend(self.told().into_iter().map(|words| words + "."));
        out
    }

    fn warnings(&self) -> Vec<String> {
        let of = |(name, said): &(String, Said)| {
            let name = clean(name);
            let told = warnings_of(said).into_iter();
            told.map(|words| format!("group `{name}`: {words}"))
                .collect::<Vec<String>>()
        };
        self.groups.iter().flat_map(of).collect()
    }

    fn json(&self) -> Value {
        let group = |(name, said): &(String, Said)| {
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
}
