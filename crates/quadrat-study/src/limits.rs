//! Between which numbers the instrument of a table reports: as the study says, else as its rows
//! show.

use quadrat::error::InputError;
use quadrat::likelihood::Likelihood as Reported;
use quadrat::model::Limits;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Remedy;

/// What a study says of the limits of one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The lower one, where it is a number.
    pub lower: Option<f64>,
    /// The upper one, where it is a number.
    pub upper: Option<f64>,
    /// Whether a limit is a column, and may differ from row to row.
    pub differ: bool,
}

/// Why there is no report, and what to do instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: Remedy,
}

/// The limits of a table.
///
/// # Errors
/// A [`Fault`] where its reports are no numbers, or its limits not the same for all rows.
pub fn limits(said: Said, reported: &Reported) -> Result<Limits, Fault> {
    if said.differ {
        return Err(Fault {
            message: "the limits of this instrument are columns, so that those of a new report are not known".to_owned(),
            remedy: Remedy::or_flags(
                "give the limits as numbers, in a table for each instrument; or predict `scale = \"observation\"`",
                "give the limits as numbers, in a table for each instrument; or predict `--scale observation`",
            ),
        });
    }
    let limits = match (said.lower, said.upper) {
        (None, None) => Limits::shown(reported),
        (lower, upper) => Limits::new(
            lower.unwrap_or(f64::NEG_INFINITY),
            upper.unwrap_or(f64::INFINITY),
        ),
    };
    limits.map_err(|error| match error {
        InputError::Unavailable { what, remedy } => Fault {
            message: format!("there is no scale `report` here: it would be {what}"),
            remedy: remedy.into(),
        },
        other => Fault {
            message: other.to_string(),
            remedy: Remedy::or_flags(
                "predict `scale = \"observation\"`",
                "predict `--scale observation`",
            ),
        },
    })
}

/// Tables that answer alike on the scale of observations, apart by their limits: those whose
/// reports are no numbers are a group of their own.
pub fn apart(
    groups: Vec<Vec<usize>>,
    of: impl Fn(usize) -> Result<Limits, Fault>,
) -> Vec<Vec<usize>> {
    let mut apart: Vec<(Option<Limits>, Vec<usize>)> = Vec::new();
    for group in groups {
        let first = apart.len();
        for table in group {
            let own = of(table).ok();
            match apart[first..].iter_mut().find(|(limits, _)| *limits == own) {
                Some((_, members)) => members.push(table),
                None => apart.push((own, vec![table])),
            }
        }
    }
    apart.into_iter().map(|(_, members)| members).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use quadrat::likelihood::{Noise, Poisson};
    use quadrat::link::Link;

    #[test]
    fn limits_are_those_of_the_study_or_of_the_rows() {
        let hidden = Poisson::ranges(vec![0.0, 7.0], vec![4.0, 7.0], vec![1.0; 2], Link::Exp);
        let hidden: Reported = hidden.unwrap().into();
        let found = limits(Said::default(), &hidden).unwrap();
        assert_eq!((found.lower(), found.upper()), (4.0, f64::INFINITY));
        let by_key = Said {
            upper: Some(9.0),
            ..Said::default()
        };
        assert_eq!(limits(by_key, &hidden).unwrap().upper(), 9.0);
        let bands = quadrat::likelihood::Interval::new(vec![0.0], vec![1.0], Noise::Learned);
        let fault = limits(Said::default(), &bands.unwrap().into()).unwrap_err();
        assert!(fault.message.contains("intervals"), "{fault:?}");
        let each = [Ok(found), Ok(Limits::none()), Ok(found), Err(fault)];
        let groups = apart(vec![vec![0, 1, 2], vec![3]], |table| each[table].clone());
        assert_eq!(groups, [vec![0, 2], vec![1], vec![3]]);
    }
}
