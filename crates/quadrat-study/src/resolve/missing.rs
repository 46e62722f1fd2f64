//! Numbers that may stand for missing ones.

use quadrat::likelihood::Likelihood as Reported;

use super::Observed;
use crate::numbers::count;
use crate::shapes::Kind;

/// What is written where nothing is known: by people, by rasters and by scientific arrays.
const CODES: [f64; 13] = [
    -99.0,
    -999.0,
    -9999.0,
    -99999.0,
    99.0,
    999.0,
    9999.0,
    99999.0,
    -32768.0,
    -999.9,
    -9999.9,
    1e20,
    f32::MIN as f64,
];
/// A code lies farther from all other numbers than so many times their range.
const FAR: f64 = 5.0;

/// Tells of numbers in columns of inputs and values that may stand for missing ones.
pub(super) fn codes(tables: &[Observed], dims: &[String], warnings: &mut Vec<String>) {
    for table in tables {
        let name = table.table.name();
        let places = &table.places;
        for along in &places.dims {
            if along.second.is_none() && along.labels.is_none() && dims.contains(&along.name) {
                let what = format!("the column `{}` of {name}", along.headers.join("` and `"));
                warnings.extend(told(&what, "row", &along.first));
            }
        }
        if let Some(shapes) = &places.shapes
            && let Kind::Bags(bags) = &shapes.kind
        {
            for (dim, coordinate) in shapes.dims.iter().zip(&bags.points.coordinates) {
                let what = format!("the column `{dim}` of {}", bags.name);
                warnings.extend(told(&what, "point", coordinate));
            }
        }
        let values = match &table.likelihood {
            Reported::Gaussian(rows) => rows.values(),
            Reported::StudentT(rows) => rows.values(),
            _ => &[],
        };
        warnings.extend(told(&format!("what was measured in {name}"), "row", values));
    }
}

fn told(what: &str, one: &str, column: &[f64]) -> Option<String> {
    let (code, number) = code(column)?;
    Some(format!(
        "{what} is {code} in {}, far from all else: where that stands for a missing value, leave {} out",
        count(number, one),
        if number == 1 { "it" } else { "them" }
    ))
}

/// A code at one end of a column, and how often it stands there.
fn code(column: &[f64]) -> Option<(f64, usize)> {
    let signed = |sign: f64| {
        // The end, and what comes next; the other end.
        let (mut end, mut next, mut other) = (f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY);
        for x in column.iter().map(|x| sign * x) {
            if x < end {
                (end, next) = (x, end);
            } else if x > end {
                next = next.min(x);
            }
            other = other.max(x);
        }
        // Of two numbers none is far from all else.
        let is_far = next < other && next - end > FAR * (other - next);
        let code = sign * end;
        (is_far && CODES.contains(&code)).then(|| {
            let number = column.iter().filter(|x| **x == code).count();
            (code, number)
        })
    };
    signed(1.0).or_else(|| signed(-1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_far_from_all_else() {
        let found = |column: &[f64]| code(column);
        assert_eq!(found(&[3.0, -999.0, 0.5, -999.0]), Some((-999.0, 2)));
        assert_eq!(found(&[99.0, 1.0, 0.0, 1.0]), Some((99.0, 1)));
        assert_eq!(found(&[1e20, 280.5, 290.0]), Some((1e20, 1)));
        // Temperatures and years that are what they say.
        assert_eq!(found(&[-99.0, -60.0, 20.0]), None);
        assert_eq!(found(&[999.0, 1000.0, 1003.0]), None);
        // Far, yet no code; nothing to be far from; nothing at all.
        assert_eq!(found(&[-1000.0, 0.5, 3.0]), None);
        assert_eq!(found(&[-999.0, 0.5, 0.5]), None);
        assert_eq!(found(&[]), None);
    }
}
