//! Single years from exact five-year and ten-year bands: whether intervals hold what they say,
//! beside demographers' methods.

pub(crate) mod composite_link;
mod methods;
mod populations;
pub(crate) mod scores;

use anyhow::{Context, Result};
use methods::{Method, P, Told};
use populations::{COUNTRY, Population};
use rayon::prelude::*;
use scores::Scores;

use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::mean;
use crate::steps::Steps;

/// Widths of the bands in years.
const WIDTHS: [usize; 2] = [5, 10];
/// 95 % intervals that hold less than this share are bad: what the warning should tell.
const BAD: f64 = 0.85;
/// With `--quick` every so many populations.
const QUICK: usize = 10;

/// One method on one population's bands.
struct Outcome {
    country: bool,
    width: usize,
    method: &'static str,
    scores: Scores,
    /// Whether the fit warned of predictions finer than the rows; none from other methods.
    warned: Option<bool>,
}

/// Runs the study.
///
/// # Errors
/// When a table is not there or a fit fails.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Single years of age from bands: coverage over 61 populations");
    let every = if settings.quick { QUICK } else { 1 };
    let all = populations::read(settings)?;
    let all: Vec<Population> = all.into_iter().step_by(every).collect();
    report.setting(populations::STATEMENT);
    if settings.quick {
        report.setting(format!("only every tenth of them: {}", all.len()));
    }
    for statement in methods::STATEMENTS {
        report.setting(statement);
    }
    report.setting("c95, c50: share of true years inside 95 % and 50 % intervals; central: without the first and last band, ends: in these two; wid: mean width of 95 % intervals, rmse: error of the mean, iscore: interval score (width + 40 times what is missed by), all three over S, the root mean square of the truth about its band's average (sharing out evenly has rmse 1); z: root mean square of (truth - mean) / (width / 3.92), 1 is right; p10: c95 of the population at the lowest tenth. Means over populations");
    let outcomes = all_outcomes(&all)?;
    for width in WIDTHS {
        report.tables.push(table(&outcomes, width, false));
    }
    if all.iter().any(|p| p.name == COUNTRY) {
        for width in WIDTHS {
            report.tables.push(table(&outcomes, width, true));
        }
    }
    report.tables.push(warnings(&outcomes));
    if !settings.quick {
        checks(&mut report, &outcomes);
    }
    report.note("authorities and constituencies are of one country and mostly of one census, so that cohorts are common to all: far fewer than 61 independent cases");
    report.note("the prior P was chosen by looking at these populations; it held as much (.933 and .952) over 40 other authorities kept for that");
    Ok(report)
}

fn all_outcomes(all: &[Population]) -> Result<Vec<Outcome>> {
    let steps = Steps::new("populations", all.len());
    let of = |population: &Population| -> Result<Vec<Outcome>> {
        let mut out = Vec::new();
        for width in WIDTHS {
            let told = methods::all(&population.years, width)
                .with_context(|| format!("{}, bands of {width}", population.name))?;
            out.extend(told.into_iter().map(
                |Told {
                     method,
                     predicted,
                     warned,
                 }| Outcome {
                    country: population.name == COUNTRY,
                    width,
                    method,
                    scores: Scores::new(&population.years, width, &predicted),
                    warned,
                },
            ));
        }
        Ok(steps.after(out))
    };
    let nested: Result<Vec<Vec<Outcome>>> = all.par_iter().map(of).collect();
    Ok(nested?.into_iter().flatten().collect())
}

/// Outcomes of one method on bands of one width.
fn of<'a>(all: &'a [Outcome], method: &str, width: usize) -> Vec<&'a Outcome> {
    let own = all.iter();
    own.filter(|o| o.method == method && o.width == width)
        .collect()
}

/// Means over populations, or those of the country.
fn table(all: &[Outcome], width: usize, country: bool) -> Table {
    let mut head = vec!["bands", "method"];
    head.extend(Scores::HEAD);
    let whom = if country {
        "The United States in 2020 alone"
    } else {
        head.extend(["p10", ">= .90"]);
        "Means over populations"
    };
    let mut table = Table::new(&format!("{whom}, bands of {width} years"), &head);
    for method in methods::names() {
        let mut own = of(all, method, width);
        own.retain(|o| o.country || !country);
        let number = |value: f64| match value.is_finite() {
            true => format!("{value:.3}"),
            false => "-".to_owned(),
        };
        let mut row = vec![width.to_string(), method.to_owned()];
        for at in 0..Scores::HEAD.len() {
            let values: Vec<f64> = own.iter().map(|o| o.scores.numbers()[at]).collect();
            row.push(number(mean(&values)));
        }
        if !country {
            let c95: Vec<f64> = own.iter().map(|o| o.scores.c95).collect();
            let good = c95.iter().filter(|c| **c >= 0.9).count() as f64 / c95.len() as f64;
            let known = c95.iter().all(|c| c.is_finite());
            row.push(number(tenth(c95)));
            row.push(number(if known { good } else { f64::NAN }));
        }
        table.row(row);
    }
    table
}

/// The value at the lowest tenth, between neighbours.
fn tenth(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let at = 0.1 * (values.len() as f64 - 1.0);
    let (below, share) = (at.floor() as usize, at.fract());
    let above = (below + 1).min(values.len() - 1);
    values[below] * (1.0 - share) + values[above] * share
}

/// How often fits warn, of those whose intervals hold too little and of the others.
struct Rates {
    bad: usize,
    good: usize,
    hit: f64,
    false_alarm: f64,
}

fn rates<'a>(own: impl Iterator<Item = &'a Outcome>) -> Rates {
    let (mut bad, mut good, mut hits, mut alarms) = (0, 0, 0, 0);
    for outcome in own {
        let warned = usize::from(outcome.warned == Some(true));
        if outcome.scores.c95 < BAD {
            bad += 1;
            hits += warned;
        } else {
            good += 1;
            alarms += warned;
        }
    }
    Rates {
        bad,
        good,
        hit: hits as f64 / bad as f64,
        false_alarm: alarms as f64 / good as f64,
    }
}

fn warnings(all: &[Outcome]) -> Table {
    let head = ["method", "bad", "of them warned", "good", "of them warned"];
    let mut table = Table::new(
        "Warnings that predictions are finer than the rows, five-year and ten-year bands together; bad: 95 % intervals hold less than .85",
        &head,
    );
    for method in methods::ALL {
        let Method::Process { name, .. } = method else {
            continue;
        };
        let r = rates(all.iter().filter(|o| o.method == name));
        let share = |n: usize, value: f64| match n {
            0 => "-".to_owned(),
            _ => format!("{value:.2}"),
        };
        table.row(vec![
            name.to_owned(),
            r.bad.to_string(),
            share(r.bad, r.hit),
            r.good.to_string(),
            share(r.good, r.false_alarm),
        ]);
    }
    table
}

fn checks(report: &mut Report, all: &[Outcome]) {
    let average = |method: &str, width: usize, what: fn(&Scores) -> f64| {
        let values: Vec<f64> = of(all, method, width)
            .iter()
            .map(|o| what(&o.scores))
            .collect();
        mean(&values)
    };
    for (width, least, most) in [(5, 0.92, 0.97), (10, 0.94, 0.98)] {
        let c95 = average(P, width, |s| s.c95);
        report.check(format!("{P}, bands of {width}: c95"), c95, least, most);
        let ratio = average(P, width, |s| s.rmse) / average(methods::SPLINE, width, |s| s.rmse);
        report.check(
            format!("{P}, bands of {width}: rmse over that of the monotone spline"),
            ratio,
            0.0,
            1.0,
        );
    }
    let narrower = average(P, 10, |s| s.width) / average("se + matern12", 10, |s| s.width);
    report.check(
        "bands of 10: width under P over that under the default prior",
        narrower,
        0.0,
        0.85,
    );
    for (method, hit, false_alarm) in [
        ("matern32", 0.6, 0.05),
        ("matern52", 0.75, 0.05),
        ("se", 0.75, 0.05),
    ] {
        let r = rates(all.iter().filter(|o| o.method == method));
        let what = |kind: &str| format!("{method}: share of {kind} fits that warn");
        report.check(what("bad"), r.hit, hit, 1.0);
        report.check(what("good"), r.false_alarm, 0.0, false_alarm);
    }
    let rough = all.iter().filter(|o| o.method.contains("matern12"));
    let warned = rough.filter(|o| o.warned == Some(true)).count();
    report.check(
        "kernels with a rough part: fits that warn",
        warned as f64,
        0.0,
        0.0,
    );
}
