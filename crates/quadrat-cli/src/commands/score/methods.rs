//! The simple methods of `--against`.

use quadrat::baseline::{BinHeight, Constant, MonotoneSpline, Predict};
use quadrat::error::FitError;
use quadrat::model::Observations;

use crate::diagnostic::{Problem, Problems, shown};
use crate::suggest;

/// The name of ours.
pub const OURS: &str = "quadrat";

/// A simple method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simple {
    /// The overall rate or mean.
    Constant,
    /// The height of the bin.
    Areal,
    /// A monotone spline through cumulated counts.
    Mono,
}

impl Simple {
    /// All of them, the simplest first.
    pub const ALL: [Self; 3] = [Self::Constant, Self::Areal, Self::Mono];

    /// Its name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Areal => "areal",
            Self::Mono => "mono",
        }
    }

    /// What it is, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Constant => "the overall rate or mean, everywhere",
            Self::Areal => "every row spread evenly over where it looked, the nearest one beyond",
            Self::Mono => "a monotone spline through the cumulated counts",
        }
    }

    /// Fits it to a table.
    pub fn fit(self, table: &Observations) -> Result<Box<dyn Predict>, FitError> {
        Ok(match self {
            Self::Constant => Box::new(Constant::new(table)?),
            Self::Areal => Box::new(BinHeight::new(table)?),
            Self::Mono => Box::new(MonotoneSpline::new(table)?),
        })
    }
}

/// The methods that are named, and whether they were: all of them where none is. A name that is not
/// known is refused.
pub fn named(against: &[String]) -> Result<(Vec<Simple>, bool), Problems> {
    let known = Simple::ALL.map(Simple::name);
    let mut found: Vec<Simple> = Vec::new();
    let mut problems = Problems::default();
    for name in against.iter().map(|name| name.trim()) {
        match Simple::ALL.into_iter().find(|simple| simple.name() == name) {
            Some(simple) if !found.contains(&simple) => found.push(simple),
            Some(_) => {}
            // Ours is always there.
            None if name == OURS => {}
            None => {
                let near = suggest::nearest(name, known.into_iter());
                let hint =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let message = format!("--against: there is no method `{}`{hint}", shown(name));
                let all = known.map(str::to_owned);
                problems.push(
                    Problem::new(message).remedy(format!("it may be {}", suggest::list(&all))),
                );
            }
        }
    }
    problems.or(())?;
    Ok(match against.is_empty() {
        true => (Simple::ALL.to_vec(), false),
        false => (found, true),
    })
}

/// Why a method that was named cannot do a study.
pub fn cannot(simple: Simple, when: &str, error: &FitError) -> Problems {
    let message = format!(
        "--against {}: it cannot be used {when}: {error}",
        simple.name()
    );
    let remedy = "leave it out; without --against all methods that can do the study are taken";
    Problem::new(message).remedy(remedy).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_names() {
        let names = |all: &[&str]| named(&all.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&[]).unwrap(), (Simple::ALL.to_vec(), false));
        let (found, is_named) = names(&["mono", "quadrat", "mono", "areal"]).unwrap();
        assert_eq!(found, [Simple::Mono, Simple::Areal]);
        assert!(is_named);
        let problems = names(&["monos", "x"]).unwrap_err();
        assert_eq!(problems.0.len(), 2);
        assert!(problems.0[0].message.contains("did you mean `mono`"));
    }
}
