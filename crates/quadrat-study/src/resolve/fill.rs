//! Coordinates of points that are missing, filled in where people ask for it.

use std::ops::Range;

use crate::diagnostic::{Problem, shown};
use crate::numbers::count;
use crate::shapes::Points;

/// Replaces coordinates that are NaN by the mean of the others of their bag, by weight; where a bag
/// has none, by that of all points.
///
/// # Arguments
/// * `names` - of the coordinates
/// * `of_bag` - the names of the bags
/// * `table` - the file
/// # Returns
/// What was filled in, a sentence for every coordinate, or that there was nothing to fill; a
/// problem for a coordinate that no point has
pub fn fill(
    points: &mut Points,
    names: &[&str],
    of_bag: &[String],
    table: &str,
) -> Result<Vec<String>, Problem> {
    let mut told = Vec::new();
    for (d, name) in names.iter().enumerate() {
        let all = points.coordinates[d].iter().filter(|x| x.is_nan()).count();
        if all == 0 {
            continue;
        }
        let Some(overall) = mean(known(points, d, 0..points.weights.len())) else {
            let fact = format!("every cell of `{name}` in {table} is missing");
            return Err(Problem::new(fact).remedy("leave the column out of the kernel"));
        };
        let mut without = Vec::new();
        for (bag, of) in of_bag.iter().enumerate() {
            let own = points.of(bag);
            if !points.coordinates[d][own.clone()]
                .iter()
                .any(|x| x.is_nan())
            {
                continue;
            }
            let known = mean(known(points, d, own.clone()));
            if known.is_none() {
                without.push(shown(of));
            }
            let value = known.unwrap_or(overall);
            let cells = points.coordinates[d][own].iter_mut();
            cells.filter(|x| x.is_nan()).for_each(|x| *x = value);
        }
        let mut sentence = format!(
            "{} of `{name}` in {table} {} missing and taken as the mean of the bag's other points, as if known",
            count(all, "cell"),
            if all == 1 { "was" } else { "were" }
        );
        if let Some(first) = without.first() {
            sentence.push_str(&format!(
                "; {} without any (such as `{first}`) got the mean of all points",
                count(without.len(), "bag")
            ));
        }
        told.push(sentence);
    }
    if told.is_empty() {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        told.push(format!(
            "no cell of {} in {table} is missing, so `missing` changes nothing",
            names.join(", ")
        ));
    }
    Ok(told)
}

/// Coordinates that are known among some points, with weights.
fn known(points: &Points, d: usize, some: Range<usize>) -> impl Iterator<Item = (f64, f64)> {
    let weights = points.weights[some.clone()].iter().copied();
    let pairs = points.coordinates[d][some].iter().copied().zip(weights);
    pairs.filter(|(x, _)| !x.is_nan())
}

/// By weight, or plainly where no weight is positive; none of nothing.
fn mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut number, mut plain, mut weight, mut sum) = (0.0, 0.0, 0.0, 0.0);
    for (x, w) in values {
        number += 1.0;
        plain += x;
        weight += w;
        sum += w * x;
    }
    match (weight > 0.0, number > 0.0) {
        (true, _) => Some(sum / weight),
        (false, true) => Some(plain / number),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(bags: &[&[(f64, f64)]]) -> Points {
        let all = bags.concat();
        let ends = bags.iter().scan(0, |end, bag| {
            *end += bag.len();
            Some(*end)
        });
        Points {
            coordinates: vec![all.iter().map(|(x, _)| *x).collect()],
            weights: all.iter().map(|(_, w)| *w).collect(),
            offsets: [0].into_iter().chain(ends).collect(),
        }
    }

    #[test]
    fn missing_coordinates_are_means_by_weight() {
        let mut bags = points(&[
            &[(1.0, 1.0), (f64::NAN, 5.0), (3.0, 3.0)],
            &[(f64::NAN, 1.0)],
            &[(f64::NAN, 1.0), (7.0, 0.0)],
        ]);
        let names = ["a", "b", "c"].map(str::to_owned);
        let told = fill(&mut bags, &["green"], &names, "pixels.csv").unwrap();
        // Weights that are all zero, as in the last bag, say nothing of which counts more.
        assert_eq!(bags.coordinates[0], [1.0, 2.5, 3.0, 2.5, 7.0, 7.0]);
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("3 cells of `green` in pixels.csv were missing")
                && told[0].contains("1 bag without any (such as `b`)"),
            "{told:?}"
        );
    }

    #[test]
    fn nothing_known_is_refused_and_nothing_missing_is_told() {
        let names = ["a".to_owned()];
        let mut none = points(&[&[(f64::NAN, 1.0)]]);
        let problem = fill(&mut none, &["green"], &names, "pixels.csv").unwrap_err();
        assert!(problem.message.contains("every cell of `green`"));
        let mut all = points(&[&[(1.0, 1.0)]]);
        let told = fill(&mut all, &["green"], &names, "pixels.csv").unwrap();
        let none = "no cell of `green` in pixels.csv is missing, so `missing` changes nothing";
        assert_eq!(told, [none]);
    }
}
