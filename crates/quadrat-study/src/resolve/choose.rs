//! `as` in `[[predict]]`: which table a prediction is about. And `share_noise`, which must say
//! which noise is shared.

use quadrat::model::{Instrument, Scale as LibraryScale, Varying, instruments};

use super::asked::Asked;
use super::observed::Observed;
use crate::instrument::{Choice, has_one_noise};
use crate::limits::{apart, limits};
use crate::study::fields::Check;
use crate::study::{Scale, Study};

/// The names of the tables: `name` in `[[observe]]`, else the file.
pub fn names(study: &Study, tables: &[Observed]) -> Vec<String> {
    let name = |table: &Observed| study.observe[table.of].shown_name().to_owned();
    tables.iter().map(name).collect()
}

/// Finds the table of every prediction; refuses predictions that must name one and do not, and
/// names that mean nothing.
pub(super) fn chosen(
    check: &Check<'_>,
    study: &Study,
    tables: &[Observed],
    predictions: &mut [Asked],
    warnings: &mut Vec<String>,
) {
    let names = names(study, tables);
    let all: Vec<Instrument<'_>> = tables.iter().map(Observed::instrument).collect();
    let varying: Vec<Varying> = study.vary.iter().map(|vary| vary.what).collect();
    let reports = |table: usize| limits(tables[table].says.limits(), &tables[table].likelihood);
    for asked in predictions {
        let predict = &study.predict[asked.of];
        if asked.rows.is_some() {
            continue;
        }
        let output = asked.places.output.as_deref();
        let grouped = |scale| instruments(&all, output, scale, &varying);
        let own = || {
            tables
                .iter()
                .filter(|table| table.places.output.as_deref() == output)
        };
        let varies = own().any(|table| study.vary_of(&table.likelihood).is_some());
        let is_noisy = varies && asked.scale == Scale::Response && asked.places.aggregate.is_none();
        let of_scale = |scale| match asked.scale {
            Scale::Report => apart(grouped(scale), reports),
            _ => grouped(scale),
        };
        let choice = Choice {
            names: &names,
            groups: of_scale(asked.scale.for_library()),
            observed: of_scale(LibraryScale::Observation),
            scale: asked.scale,
            is_noisy,
            output,
            how: |name| format!("as = \"{name}\""),
        };
        let named = predict.like.as_ref();
        let is_known = |table: usize| has_one_noise(&tables[table].likelihood);
        match choice.table(named.map(|n| n.value.as_str()), is_known) {
            Ok(table) => {
                if is_noisy && table.is_none() {
                    warnings.push(format!(
                        "prediction `{}`: the band of new observations is not drawn, since they differ between the tables; `as` says which one is meant",
                        asked.title()
                    ));
                }
                asked.table = table;
                let differ = choice.observed.len() > 1 && asked.scale.is_observed();
                let is_told = differ || named.is_some();
                asked.like = table.filter(|_| is_told).map(|table| names[table].clone());
                if let (Scale::Report, Some(table)) = (asked.scale, table) {
                    match reports(table) {
                        Ok(limits) => asked.limits = Some(limits),
                        Err(fault) => {
                            check.refuse(&predict.scale_span, fault.message, fault.remedy);
                        }
                    }
                }
            }
            Err(fault) => {
                let span = named.map_or(&predict.scale_span, |named| &named.span);
                check.refuse(span, fault.message, fault.remedy);
            }
        }
    }
}

/// A new observation needs a noise that is known for it.
pub(super) fn new_rows_have_noise(
    check: &Check<'_>,
    study: &Study,
    tables: &[Observed],
    predictions: &[Asked],
) {
    for asked in predictions.iter().filter(|asked| asked.scale.is_observed()) {
        let table = asked.table.and_then(|table| tables.get(table));
        if table.is_none_or(|table| has_one_noise(&table.likelihood)) {
            continue;
        }
        let message =
            "the noise differs from row to row, so that of a new observation is not known";
        let remedy = "predict `scale = \"response\"` and add the variance of the new row";
        check.refuse(&study.predict[asked.of].scale_span, message, remedy);
    }
}

/// Refuses `share_noise` where there is nothing to share, and where it could be the noise of
/// several tables: of the same output where one of these learns its own, else of any.
pub(super) fn shared_noise(check: &Check<'_>, study: &Study, tables: &[Observed]) {
    let learns = |table: &Observed| {
        let noise = table.likelihood.noise();
        noise.is_some_and(quadrat::likelihood::Noise::is_learned)
            && study.vary_of(&table.likelihood).is_none()
    };
    let learned = tables.iter().filter(|table| learns(table)).count();
    let own: Vec<&Observed> = tables
        .iter()
        .filter(|table| learns(table) && !table.share_noise)
        .collect();
    let choices = |table: &Observed| {
        let same = |other: &&&Observed| other.places.output == table.places.output;
        match own.iter().filter(same).count() {
            0 => own.len(),
            several => several,
        }
    };
    for (of, observe) in study.observe.iter().enumerate() {
        let Some(span) = observe.share_noise.as_ref() else {
            continue;
        };
        let mut parts = tables.iter().filter(|table| table.of == of);
        if parts.clone().any(|table| !learns(table)) {
            check.refuse(
                span,
                "`share_noise` has no effect: this noise variance is a function, the same for all tables of an output",
                "leave it out",
            );
        } else if learned < 2 {
            check.refuse(
                span,
                "`share_noise` has no effect: no other table learns a noise variance",
                "leave it out",
            );
        } else if parts.any(|table| choices(table) > 1) {
            check.refuse(
                span,
                "which noise variance is shared is not said: several tables learn one of their own",
                "let all tables of the output but one have `share_noise = true`, or none",
            );
        }
    }
}
