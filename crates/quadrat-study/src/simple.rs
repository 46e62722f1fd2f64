//! The names of the simple methods beside ours: of `quadrat score --against` and of `[baseline]`.

use crate::diagnostic::{Problem, Problems, shown};
use crate::suggest;

/// The name of ours.
pub const OURS: &str = "quadrat";

/// A simple method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simple {
    /// The overall rate or mean.
    Constant,
    /// Evenly within every row.
    Areal,
    /// A monotone spline through cumulated counts.
    Mono,
    /// Sprague's fifth-difference interpolation of cumulated counts.
    Sprague,
    /// The penalised composite link model.
    Pclm,
    /// The smoothest surface that keeps all totals.
    Pycnophylactic,
    /// The model of the study, at the centre of every row.
    Centroid,
}

impl Simple {
    /// All of them, the simplest first.
    pub const ALL: [Self; 7] = [
        Self::Constant,
        Self::Areal,
        Self::Mono,
        Self::Sprague,
        Self::Pclm,
        Self::Pycnophylactic,
        Self::Centroid,
    ];

    /// Those that are taken where none is named.
    const USUAL: [Self; 3] = [Self::Constant, Self::Areal, Self::Mono];

    /// Its name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Areal => "areal",
            Self::Mono => "mono",
            Self::Sprague => "sprague",
            Self::Pclm => "pclm",
            Self::Pycnophylactic => "pycnophylactic",
            Self::Centroid => "centroid",
        }
    }

    /// What it is, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Constant => "the overall rate or mean, everywhere",
            Self::Areal => "every row spread evenly over where it looked, the nearest one beyond",
            Self::Mono => "a monotone spline through the cumulated counts",
            Self::Sprague => "Sprague's interpolation of five-year bands by fifth differences",
            Self::Pclm => "a penalised composite link model, its strength by AIC",
            Self::Pycnophylactic => "the smoothest surface that keeps the totals of all rows",
            Self::Centroid => "the same kernel, every row taken for a point at its centre",
        }
    }
}

/// The names of all methods, for people.
pub fn known() -> String {
    suggest::list(&Simple::ALL.map(Simple::name).map(str::to_owned))
}

/// The methods that a flag names, and whether it names some: the usual ones where it does not. A
/// name that is not known is refused.
pub fn named(flag: &str, names: &[String]) -> Result<(Vec<Simple>, bool), Problems> {
    let mut found: Vec<Simple> = Vec::new();
    let mut problems = Problems::default();
    for name in names.iter().map(|name| name.trim()) {
        match Simple::ALL.into_iter().find(|simple| simple.name() == name) {
            Some(simple) if !found.contains(&simple) => found.push(simple),
            Some(_) => {}
            // Ours is always there.
            None if name == OURS => {}
            None => {
                let near = suggest::nearest(name, Simple::ALL.map(Simple::name));
                let hint =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let message = format!("{flag}: there is no method `{}`{hint}", shown(name));
                problems.push(Problem::new(message).remedy(format!("it may be {}", known())));
            }
        }
    }
    problems.or(())?;
    Ok(match names.is_empty() {
        true => (Simple::USUAL.to_vec(), false),
        false => (found, true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_names() {
        let names = |all: &[&str]| {
            named(
                "--against",
                &all.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(names(&[]).unwrap(), (Simple::USUAL.to_vec(), false));
        let (found, is_named) = names(&["mono", "quadrat", "mono", "areal"]).unwrap();
        assert_eq!(found, [Simple::Mono, Simple::Areal]);
        assert!(is_named);
        let problems = names(&["monos", "x"]).unwrap_err();
        assert_eq!(problems.0.len(), 2);
        assert!(problems.0[0].message.contains("did you mean `mono`"));
    }
}
