//! `[[predict]]` of the studies.

use crate::draw::Draw;
use crate::likelihood::Sort;
use crate::study::{Parts, Second, Shape};

/// Sections, and the name of the one at the observed rows whose standard deviations are bounded by
/// what is known there.
pub fn sections(parts: &Parts, draw: &mut Draw) -> (String, Option<String>) {
    let mut text = String::new();
    let mut known = None;
    for i in 0..1 + draw.below(2) {
        let name = draw.word(&["p", "by-year", "a b", "\u{e4}"]);
        let name = format!("{name}{i}");
        let at_rows = draw.percent(50);
        let mut rest = scale(parts, draw);
        let is_plain = !rest.contains("observation") && !rest.contains("non_negative");
        if at_rows && is_plain && !parts.outputs && parts.second.is_none() && !parts.truncated {
            known = Some(name.clone());
        }
        if parts.outputs && draw.percent(25) {
            rest.push_str("output = \"north\"\n");
        }
        if draw.percent(20) {
            rest.push_str(&format!(
                "level = {}\n",
                draw.word(&["0.5", "0.99", "0.05"])
            ));
        }
        let place = match at_rows {
            true => format!(
                "support = {{ file = \"{}\", {} }}\n{}",
                parts.place.table(),
                parts.place.support(),
                parts.place.aggregated()
            ),
            false => elsewhere(parts, draw),
        };
        text.push_str(&format!("[[predict]]\nname = \"{name}\"\n{place}{rest}"));
    }
    (text, known)
}

/// A grid, or every region or bag of a file.
fn elsewhere(parts: &Parts, draw: &mut Draw) -> String {
    let aggregate = parts.place.aggregated();
    let is_chance = parts.likelihood.sort == Sort::Chance;
    match parts.place.shape {
        Shape::Point | Shape::Box if draw.percent(20) => "support = { grid = { t = 2 } }\n".into(),
        Shape::Box if !is_chance => {
            format!(
                "support = {{ grid = {{ t = {{ from = 0, to = 4, step = {}, cells = true }} }} }}\n{aggregate}",
                draw.word(&["1", "0.5", "2"])
            )
        }
        Shape::Point | Shape::Box => {
            "support = { grid = { t = { from = 0, to = 6, step = 1.5 } } }\n".into()
        }
        Shape::Plane | Shape::BoxPoint => {
            "support = { grid = { t = { from = 0, to = 4, step = 2 }, u = 1 } }\n".into()
        }
        Shape::Bag => {
            let support = parts.place.support();
            format!("support = {{ {support} }}\n{aggregate}")
        }
        Shape::Region => {
            let support = parts
                .place
                .support()
                .replace("region = { key", "region = { file = \"z.geojson\", key");
            format!("support = {{ {support} }}\n{aggregate}")
        }
    }
}

/// The scale, and what depends on it.
fn scale(parts: &Parts, draw: &mut Draw) -> String {
    let likelihood = &parts.likelihood;
    let is_point = parts.place.shape.is_point();
    let is_free = parts.second.is_none() && parts.varying.is_none() && parts.preset.is_none();
    let has_new_rows = is_free
        && (likelihood.is_learned || !likelihood.has_noise)
        && is_point
        && likelihood.name != "laplace";
    let mut text = match draw.below(4) {
        0 => "scale = \"latent\"\n",
        1 => "scale = \"response\"\n",
        2 if has_new_rows => "scale = \"observation\"\n",
        _ => "",
    }
    .to_owned();
    let is_observation = text.contains("observation");
    if is_observation && likelihood.name == "ordinal" && draw.percent(60) {
        text.push_str("ranks = true\n");
    }
    if draw.percent(25) {
        text.push_str(draw.word(&["above = 0.5\n", "above = [0, 1]\n", "above = [-1e3, 1e3]\n"]));
    }
    let is_chance = likelihood.sort == Sort::Chance;
    if !is_observation && !parts.truncated && !is_chance && draw.percent(20) {
        text.push_str(&format!("draws = {}\n", 1 + draw.below(3)));
    } else if likelihood.sort == Sort::Value && likelihood.name != "ordinal" && draw.percent(8) {
        text.push_str("non_negative = true\n");
    }
    if parts.second == Some(Second::Values)
        && draw.percent(30)
        && is_point
        && likelihood.name == "gaussian"
    {
        text = "scale = \"observation\"\nas = \"second\"\n".into();
    }
    text
}
