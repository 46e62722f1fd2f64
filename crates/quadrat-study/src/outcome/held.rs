//! What a function is held to, and which rows contradict that.

use anyhow::{Context, Result};
use quadrat::model::{Breach, Shape};
use quadrat::support::Functionals;

use crate::engine::{self, Posterior};
use crate::resolve::Resolved;

/// A shape that the function is held to.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ShapeHeld {
    /// The key of the study.
    pub key: &'static str,
    /// What the function is.
    #[serde(rename = "is")]
    pub words: String,
    /// How many places it is drawn at; between them it is a quadratic spline of the shape.
    pub places: usize,
}

/// Sds by which the function without a shape breaks it, beyond which that is told: in 200 tables of
/// curves that have it the most was 5.1.
const BROKEN: f64 = 6.0;
/// How many sds all of it is moved, beyond which that is told: in 56 tables of curves that have the
/// shape none was.
const MOVED: f64 = 2.5;

/// How far from a straight line, in its own sd, a function held to a bend is at least where nothing
/// is told: of 210 tables of 20 rows of lines, and of bends that noise hides, 206 were nearer; of
/// 104 tables of growth and cumulative shares 98 were farther.
const BENT: f64 = 1.25;

/// What the function is held to, in the order of the study; and what people should know of it.
pub(super) fn shapes(
    resolved: &Resolved,
    posterior: &Posterior,
) -> Result<(Vec<ShapeHeld>, Vec<String>)> {
    let told = engine::told_of_shapes(posterior).context("the shape of the function failed")?;
    let Some(told) = told else {
        return Ok((Vec::new(), Vec::new()));
    };
    let held = resolved.study.latent.shapes.iter();
    let held = held.map(|own| ShapeHeld {
        key: own.key,
        words: own.words(),
        places: told.places,
    });
    let held: Vec<ShapeHeld> = held.collect();
    let words: Vec<&str> = held.iter().map(|own| own.words.as_str()).collect();
    let words = words.join(" and ");
    let rows = rows_against(posterior, resolved);
    let rows = rows.context("the shape of the function failed")?;
    let but = match rows {
        Some((breach, addresses)) if breach.sds > BROKEN => Some(of_rows(&breach, &addresses)),
        _ if told.broken > BROKEN => Some(format!(
            "without that it is not, by up to {:.0} standard deviations",
            told.broken
        )),
        _ if told.moved > MOVED => Some(format!(
            "the nearest such function is {:.1} standard deviations away, over all places together",
            told.moved
        )),
        _ => None,
    };
    let against = but.map(|but| format!("the rows contradict that the function is {words}: {but}"));
    let mut shapes = resolved.study.latent.shapes.iter();
    let bend = shapes.find(|own| matches!(own.shape, Shape::Convex | Shape::Concave));
    let straight = bend.filter(|_| told.bent < BENT && against.is_none());
    let straight = straight.map(|own| {
        format!(
            "the rows do not tell the function from a straight line, of which `{}` makes intervals too narrow: those of 95 % then held 90 % of the truth",
            own.key
        )
    });
    Ok((held, against.into_iter().chain(straight).collect()))
}

/// The rows that contradict the shapes most, and where they stand; none where the function is held
/// to nothing.
fn rows_against(
    posterior: &Posterior,
    resolved: &Resolved,
) -> Result<Option<(Breach, Vec<String>)>> {
    let held = &resolved.study.latent.shapes;
    if held.is_empty() {
        return Ok(None);
    }
    let shapes: Vec<Shape> = held.iter().map(|own| own.shape).collect();
    let outputs: Vec<Option<&str>> = match posterior.outputs() {
        [] => vec![None],
        several => several.iter().map(|name| Some(name.as_str())).collect(),
    };
    let mut worst: Option<(Breach, Vec<String>)> = None;
    for output in outputs {
        let mut set = Functionals::new(posterior.dims().to_vec());
        let mut rows = Vec::new();
        for table in &resolved.tables {
            if output.is_some() && table.places.output.as_deref() != output {
                continue;
            }
            set.extend(
                &engine::observations(table)?
                    .supports()
                    .select(posterior.dims())?,
            )?;
            rows.extend(
                (rows.len()..set.len())
                    .enumerate()
                    .map(|(row, _)| (table, row)),
            );
        }
        let Some(breach) = posterior.breach_of_shapes(&shapes, &set, output)? else {
            continue;
        };
        if worst.as_ref().is_none_or(|(most, _)| most.sds < breach.sds) {
            let address = |row: &usize| rows.get(*row).map(|(table, row)| table.address(*row));
            let addresses = breach.rows.iter().filter_map(address).collect();
            worst = Some((breach, addresses));
        }
    }
    Ok(worst)
}

/// How rows break a shape.
fn of_rows(breach: &Breach, addresses: &[String]) -> String {
    let sds = format!("by {:.0} standard deviations", breach.sds);
    match (addresses, breach.shape) {
        ([first, last], shape) => {
            let goes = if shape == Shape::Rising {
                "falls"
            } else {
                "rises"
            };
            format!("without that it {goes} from {first} to {last}, {sds}")
        }
        ([first, middle, last], shape) => {
            let side = if shape == Shape::Convex {
                "above"
            } else {
                "below"
            };
            format!(
                "without that it lies {side} the line from {first} to {last} at {middle}, {sds}"
            )
        }
        (others, _) => format!("without that it is not at {}, {sds}", others.join(", ")),
    }
}
