//! What predictions must obey together: parts of an observed row add up to it, and what was never
//! below zero is not predicted there.

use std::collections::BTreeMap;

use anyhow::Result;
use quadrat::likelihood::Likelihood;

use crate::answer::Answer;
use crate::engine::{Posterior, reporting};
use crate::numbers::{count, human};
use crate::outcome::Where;
use crate::study::support::Aggregate;

/// Sums that differ by a smaller part are the same to a reader.
const SAME: f64 = 0.01;
/// Means below zero by less than this part of the largest one are zero up to rounding.
const ROUNDING: f64 = 1e-9;
/// A row is made of its parts where no more than this share of it is missing, for rounding.
const MISSING: f64 = 1e-6;
/// Points within a row from which on their average stands for it.
const FEW: usize = 3;

/// Sums of means before and after they were cut off at zero.
#[derive(Default, Clone, Copy)]
struct Sums {
    uncut: f64,
    cut: f64,
    /// Of the row, that the parts are.
    share: f64,
    parts: usize,
}

impl Sums {
    /// By which part of what it should be the sum differs from it.
    fn error(&self) -> f64 {
        (self.cut - self.uncut).abs() / self.uncut.abs().max(f64::MIN_POSITIVE)
    }

    /// "add up to 2,290 in place of 150, 15.3 times as much".
    fn told(&self) -> String {
        let (cut, uncut) = (human(self.cut), human(self.uncut));
        let times = match self.uncut > 0.0 {
            true => format!(", {:.3} times as much", self.cut / self.uncut),
            false => String::new(),
        };
        format!("{cut} in place of {uncut}{times}")
    }
}

/// What people should know of the predictions at some places as a whole.
///
/// # Arguments
/// * `address` - of a row of a table, for people
pub fn warnings(
    posterior: &Posterior,
    places: &impl Where,
    answer: &Answer,
    address: impl Fn(usize, usize) -> String,
) -> Result<Vec<String>> {
    let told = match answer.uncut.is_empty() {
        true => below_zero(posterior, places, answer),
        false => not_met(posterior, places, answer, address)?,
    };
    let above = above_one(posterior, places, answer);
    Ok(told.into_iter().chain(above).collect())
}

/// Means that were cut off at zero, where parts no longer add up to their row.
fn not_met(
    posterior: &Posterior,
    places: &impl Where,
    answer: &Answer,
    address: impl Fn(usize, usize) -> String,
) -> Result<Option<String>> {
    let at = places.functionals(posterior)?;
    let is_sum = places.aggregate() == Some(Aggregate::Sum);
    let mut rows: BTreeMap<(usize, usize), Sums> = BTreeMap::new();
    let mut all = Sums::default();
    for (row, part) in posterior.parts(&at)?.into_iter().enumerate() {
        // Averages count by their size; points, which have none, alike.
        let weight = match &part {
            Some(part) if !is_sum && part.share > 0.0 => part.share,
            _ => 1.0,
        };
        let (uncut, cut) = (weight * answer.uncut[row], weight * answer.mean[row]);
        let own = part.map(|part| (rows.entry((part.table, part.row)).or_default(), part.share));
        for (sums, share) in own.into_iter().chain([(&mut all, 0.0)]) {
            sums.uncut += uncut;
            sums.cut += cut;
            sums.share += share;
            sums.parts += 1;
        }
    }
    let is_whole = |sums: &Sums| match sums.share > 0.0 {
        true => sums.share >= 1.0 - MISSING && sums.parts > 1,
        false => sums.parts >= FEW,
    };
    let worst = rows.iter().filter(|(_, sums)| is_whole(sums));
    let worst = worst.max_by(|a, b| a.1.error().total_cmp(&b.1.error()));
    let worst = worst.filter(|(_, sums)| sums.error() > SAME);
    let is_off = all.parts > 1 && all.error() > SAME;
    let of_row = worst.map(|((table, row), sums)| {
        format!("those of {} make {}", address(*table, *row), sums.told())
    });
    let of_all = is_off.then(|| match places.aggregate() {
        Some(Aggregate::Sum) => format!("all together make {}", all.told()),
        _ => format!(
            "all together are {:.3} times what they were",
            all.cut / all.uncut
        ),
    });
    let told: Vec<String> = of_row.into_iter().chain(of_all).collect();
    Ok((!told.is_empty()).then(|| {
        format!(
            "every value was cut off at zero by itself, so that parts no longer add up to their totals: {}; {}",
            told.join(", "),
            way(posterior, places)
        )
    }))
}

/// Means below zero of what was never observed there.
fn below_zero(posterior: &Posterior, places: &impl Where, answer: &Answer) -> Option<String> {
    if !is_positive(posterior, places) {
        return None;
    }
    let largest = answer.mean.iter().fold(0.0, |a: f64, m| a.max(m.abs()));
    let is_below = |x: &&f64| **x < -ROUNDING * largest;
    let means = answer.mean.iter().filter(is_below).count();
    if means == 0 {
        return None;
    }
    let least = answer.mean.iter().fold(0.0, |a: f64, m| a.min(*m));
    let ends = match answer.lower.is_empty() {
        true => String::new(),
        false => {
            let ends = answer.lower.iter().filter(is_below).count();
            format!(", and {ends} intervals reach there")
        }
    };
    Some(format!(
        "{} of {} below zero (down to {}){ends}, though nothing that was observed is negative: the function may have either sign; {}",
        count(means, "mean"),
        answer.mean.len().to_string() + if means == 1 { " is" } else { " are" },
        human(least),
        way(posterior, places)
    ))
}

/// Means above one of averages that were all observed between zero and one, as shares are.
fn above_one(posterior: &Posterior, places: &impl Where, answer: &Answer) -> Option<String> {
    if places.aggregate() == Some(Aggregate::Sum) || !are_shares(posterior, places) {
        return None;
    }
    let is_above = |x: &&f64| **x > 1.0 + ROUNDING;
    let means = answer.mean.iter().filter(is_above).count();
    if means == 0 {
        return None;
    }
    let most = answer.mean.iter().fold(1.0, |a: f64, m| a.max(*m));
    Some(format!(
        "{} of {} above one (up to {}), though all that was observed lies between 0 and 1: if these are shares of what was counted, give the cases as `poisson = {{ count = .., exposure = .. }}`, whose rates are not negative, or with their trials as `binomial`, whose chances end at 1",
        count(means, "mean"),
        answer.mean.len().to_string() + if means == 1 { " is" } else { " are" },
        human(most),
    ))
}

/// Tables of an output that report averages over something, all between zero and one.
fn are_shares(posterior: &Posterior, places: &impl Where) -> bool {
    let output = places.output();
    let own = posterior.observations().iter();
    let mut is_any = false;
    for table in own.filter(|table| table.output() == output) {
        let Likelihood::Gaussian(gaussian) = table.likelihood() else {
            return false;
        };
        let supports = table.supports();
        let rows = || 0..supports.len();
        let is_share =
            |row: usize| supports.size(row) == 1.0 && (0.0..=1.0).contains(&gaussian.values()[row]);
        if !rows().all(is_share) {
            return false;
        }
        is_any |= rows().any(|row| !supports.is_point(row));
    }
    is_any
}

/// Tables of an output that report values over something, none of them negative.
fn is_positive(posterior: &Posterior, places: &impl Where) -> bool {
    let output = places.output();
    let is_linear = reporting(posterior, output, None).is_some_and(Likelihood::is_linear);
    let own = posterior.observations().iter();
    let own = own.filter(|table| table.output() == output);
    let mut is_any = false;
    for table in own {
        match table.likelihood() {
            Likelihood::Gaussian(gaussian) => {
                if gaussian.values().iter().any(|value| *value < 0.0) {
                    return false;
                }
                let supports = table.supports();
                is_any |= (0..supports.len()).any(|row| !supports.is_point(row));
            }
            Likelihood::Positive(_) => {}
            _ => return false,
        }
    }
    is_linear && is_any
}

/// The way that keeps both signs and sums, where there is one.
fn way(posterior: &Posterior, places: &impl Where) -> &'static str {
    let output = places.output();
    let mut own = posterior.observations().iter();
    let are_counts = own.all(|table| match table.likelihood() {
        Likelihood::Gaussian(gaussian) if table.output() == output => {
            let is_count = |v: &f64| *v >= 0.0 && v.fract() == 0.0;
            let known = gaussian.noise().known();
            let has_noise = known.is_some_and(|known| known.iter().any(|v| *v > 0.0));
            !has_noise && gaussian.values().iter().all(is_count)
        }
        _ => true,
    });
    match are_counts {
        true => {
            "if these are counts of events, `poisson = { count = .. }` in place of `gaussian` keeps the rate behind them above zero, and its totals are known as counts tell a rate, to about the root of the count"
        }
        false => {
            "for amounts that are no counts `gaussian = { .., link = \"exp\" }` keeps both: parts are above zero and add up to their total"
        }
    }
}
