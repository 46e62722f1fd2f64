//! What `quadrat next` says: a table, numbers for people, JSON for programs.

use std::io::Write;

use anyhow::Result;
use quadrat::acquire::{Chosen, Offer, Policy, Question};
use quadrat_study::diagnostic::Paint;
/// The columns behind those of the candidates.
pub use quadrat_study::measure::CHOSEN as COLUMNS;
use quadrat_study::numbers::{coordinate, count, exact, human};
use quadrat_study::places::Places;
use quadrat_study::prediction_csv::{Cell, of_places, place};
use quadrat_study::words::clean;
use serde_json::{Value, json};

use crate::args::Next;
use crate::terminal::short;

/// Chosen measurements that are shown.
const SHOWN: usize = 20;

/// What was chosen, among what, by which rule.
pub struct Told<'a> {
    /// How it was asked for.
    pub args: &'a Next,
    /// The candidates.
    pub places: &'a Places,
    /// The kinds.
    pub offers: &'a [Offer],
    /// The choice.
    pub chosen: &'a Chosen,
    /// How many settings of the hyperparameters it is an average over.
    pub settings: usize,
    /// What each chosen measurement alone would tell of the hyperparameters, in nats, where that is
    /// known.
    pub besides: &'a [Option<f64>],
}

/// Nats as bits.
pub fn bits(nats: f64) -> f64 {
    nats / std::f64::consts::LN_2
}

impl Told<'_> {
    /// What all chosen measurements cost.
    fn cost(&self) -> f64 {
        let choices = self.chosen.choices.iter();
        choices.map(|c| self.offers[c.question.kind].cost).sum()
    }

    /// What they tell together.
    fn told(&self) -> f64 {
        let choices = self.chosen.choices.iter();
        bits(choices.map(|c| c.information).sum())
    }

    /// What one kind would tell at every place, before anything was chosen.
    pub fn alone(&self, kind: usize) -> &[f64] {
        let n = self.places.len();
        &self.chosen.information[kind * n..][..n]
    }

    /// The table: chosen measurements by their rank; with `--all` the others behind them, without
    /// one.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let mut table = csv::Writer::from_writer(out);
        let own = COLUMNS.iter().map(|name| (*name).to_owned());
        table.write_record(of_places(self.places).into_iter().chain(own))?;
        let mut row = |asked: Question, nats: f64, rank: String| -> Result<()> {
            let offer = &self.offers[asked.kind];
            let told = bits(nats);
            let at = place(self.places, asked.place).into_iter();
            let at = at.map(|cell| match cell {
                Cell::Text(text) => text,
                other => other.number().map_or_else(String::new, exact),
            });
            let own = [
                offer.name.clone(),
                exact(told),
                exact(offer.cost),
                exact(told / offer.cost),
                rank,
            ];
            Ok(table.write_record(at.chain(own))?)
        };
        for (rank, choice) in self.chosen.choices.iter().enumerate() {
            row(choice.question, choice.information, (rank + 1).to_string())?;
        }
        if self.args.all {
            let chosen = self.chosen.choices.iter().map(|c| c.question);
            let chosen: std::collections::BTreeSet<Question> = chosen.collect();
            for place in 0..self.places.len() {
                for kind in 0..self.offers.len() {
                    let asked = Question { kind, place };
                    if !chosen.contains(&asked) {
                        row(asked, self.alone(kind)[place], String::new())?;
                    }
                }
            }
        }
        Ok(table.flush()?)
    }

    /// For programs.
    pub fn json(&self) -> Result<String> {
        let header = of_places(self.places);
        let choices = self.chosen.choices.iter().enumerate().map(|(i, choice)| {
            let offer = &self.offers[choice.question.kind];
            let cells = place(self.places, choice.question.place).into_iter();
            let at: serde_json::Map<String, Value> = header
                .iter()
                .cloned()
                .zip(cells)
                .map(|(name, cell)| match cell {
                    Cell::Text(text) => (name, Value::from(text)),
                    other => (name, json!(other.number())),
                })
                .collect();
            let told = bits(choice.information);
            json!({
                "rank": i + 1,
                "at": at,
                "row": choice.question.place + 1,
                "kind": offer.name,
                "information_bits": told,
                "hyperparameter_bits": self.besides[i].map(bits),
                "cost": offer.cost,
                "bits_per_cost": told / offer.cost,
            })
        });
        let choices: Vec<Value> = choices.collect();
        let kinds: Vec<Value> = (0..self.offers.len())
            .map(|kind| {
                let most = self.alone(kind).iter().copied().fold(0.0, f64::max);
                json!({
                    "kind": self.offers[kind].name,
                    "cost": self.offers[kind].cost,
                    "largest_information_bits": bits(most),
                })
            })
            .collect();
        let counts: serde_json::Map<String, Value> = (0..self.offers.len())
            .map(|kind| {
                let own = self
                    .chosen
                    .choices
                    .iter()
                    .filter(|c| c.question.kind == kind);
                (self.offers[kind].name.clone(), Value::from(own.count()))
            })
            .collect();
        let value = json!({
            "quadrat": quadrat_study::version::VERSION,
            "format": 1,
            "counts": counts,
            "policy": self.args.policy.policy().name(),
            "above": self.args.above,
            "candidates": self.places.len(),
            "hyperparameter_settings": self.settings,
            "kinds": kinds,
            "chosen": choices,
            "information_bits": self.told(),
            "cost": self.cost(),
            "budget": self.args.budget,
        });
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }

    /// For people.
    pub fn summary(&self, paint: Paint) -> String {
        let mut text = String::new();
        let n = self.chosen.choices.len();
        let title = format!(
            "what to measure next: {} of {} x {}, by {}",
            count(n, "measurement"),
            count(self.places.len(), "place"),
            count(self.offers.len(), "kind"),
            self.rule()
        );
        text.push_str(&paint.bold(&title));
        text.push('\n');
        text.push_str(&self.kinds(paint));
        text.push_str(&self.choices(paint));
        let budget = match self.args.budget {
            Some(budget) => format!(" of {}", human(budget)),
            None => String::new(),
        };
        text.push_str(&format!(
            "  together {} bits for {}{budget}\n",
            human(self.told()),
            human(self.cost())
        ));
        if self.settings > 1 {
            let what = match self.args.policy.policy() {
                Policy::Target => "the targets",
                Policy::Exceedance => "where the limit is exceeded",
                Policy::Maximum => "the largest value",
                Policy::Minimum => "the smallest value",
                _ => "the function",
            };
            text.push_str(&format!(
                "  about {what}, on average over {} of the hyperparameters\n",
                count(self.settings, "setting")
            ));
        }
        text
    }

    fn rule(&self) -> String {
        let rule = match self.args.policy.policy() {
            Policy::Information => "information",
            Policy::PerCost => "information per cost",
            Policy::Normalised => "share of the most that a kind can tell",
            Policy::Pace => "information per cost, at the pace of the budget",
            Policy::Variance => "fall of the mean variance per cost",
            Policy::VariancePace => "fall of the mean variance per cost, at the pace of the budget",
            Policy::Target => "information about the targets per cost",
            Policy::Exceedance => "information about what exceeds",
            Policy::Maximum => "information about the largest value per cost",
            Policy::Minimum => "information about the smallest value per cost",
            Policy::Random => "chance",
            Policy::RandomKind => "chance among kinds, then information",
        };
        match self.args.above {
            Some(limit) => format!("{rule} {} per cost", human(limit)),
            None => rule.to_owned(),
        }
    }

    /// What each kind would tell where it tells most.
    fn kinds(&self, paint: Paint) -> String {
        let mut rows = vec![
            ["kind", "cost", "bits at best", "bits per cost"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for (kind, offer) in self.offers.iter().enumerate() {
            let most = bits(self.alone(kind).iter().copied().fold(0.0, f64::max));
            rows.push(vec![
                short(&offer.name),
                human(offer.cost),
                human(most),
                human(most / offer.cost),
            ]);
        }
        aligned(&rows, paint)
    }

    /// The first of the chosen measurements.
    fn choices(&self, paint: Paint) -> String {
        let mut header = vec!["rank".to_owned()];
        header.extend(of_places(self.places).iter().map(|name| short(name)));
        header.extend(["kind", "bits", "cost", "bits per cost"].map(str::to_owned));
        let mut rows = vec![header];
        for (i, choice) in self.chosen.choices.iter().enumerate().take(SHOWN) {
            let offer = &self.offers[choice.question.kind];
            let told = bits(choice.information);
            let mut row = vec![(i + 1).to_string()];
            let at = place(self.places, choice.question.place).into_iter();
            row.extend(at.map(|cell| match cell {
                Cell::Text(text) => short(&text),
                other => other.number().map_or_else(String::new, coordinate),
            }));
            row.extend([
                clean(&offer.name),
                human(told),
                human(offer.cost),
                human(told / offer.cost),
            ]);
            rows.push(row);
        }
        let mut text = aligned(&rows, paint);
        if self.chosen.choices.len() > SHOWN {
            let more = self.chosen.choices.len() - SHOWN;
            text.push_str(&format!("  ... and {more} more\n"));
        }
        text
    }
}

/// Rows with a header as columns.
fn aligned(rows: &[Vec<String>], paint: Paint) -> String {
    let width = |c: usize| {
        let cells = rows.iter().map(|row| row[c].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut text = String::new();
    for (i, row) in rows.iter().enumerate() {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, w)| format!("{cell:>w$}"));
        let line = format!("  {}", cells.collect::<Vec<String>>().join("  "));
        let line = line.trim_end();
        text.push_str(&match i {
            0 => paint.bold(line),
            _ => line.to_owned(),
        });
        text.push('\n');
    }
    text
}
