//! What densities refuse, by the names of the arguments that it is about.

use quadrat::density::DensityError;

use crate::errors::{Failure, named};

/// What arguments are called.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// Those that hold values, along each axis; or the one that holds them of all.
    pub values: &'a [&'a str],
    pub weights: &'a str,
    /// The one whose polygons hold all that is told.
    pub polygons: &'a str,
    /// The ranges along each axis.
    pub ranges: &'a [&'a str],
}

impl Names<'_> {
    /// A refusal of the library.
    pub fn refused(self, error: &DensityError) -> Failure {
        let (column, error) = match error {
            DensityError::Column { column, error } => (Some(*column), &**error),
            other => (None, other),
        };
        let own = column.and_then(|column| self.values.get(column).or(self.values.first()));
        let all = || self.values.join(", ");
        let argument = match error {
            DensityError::TooFew { .. }
            | DensityError::Constant { .. }
            | DensityError::OneEnd { .. }
            | DensityError::Unresolved { .. }
            | DensityError::TooWide
            | DensityError::NoLogarithm { .. }
            | DensityError::Outside { .. }
            | DensityError::Interval { .. }
            | DensityError::Line { .. }
            | DensityError::SaysNothing => own.map_or_else(all, |own| (*own).to_owned()),
            DensityError::OnePlace { .. } => "given".to_owned(),
            DensityError::TooMany { .. } | DensityError::Weight { .. } => self.weights.to_owned(),
            DensityError::Beyond { .. } | DensityError::NoReach { .. } | DensityError::NoArea => {
                self.polygons.to_owned()
            }
            DensityError::Setting { what, .. } => {
                let setting = match *what {
                    "the upper bound" | "a bound" => "bounds",
                    "the end of the range" | "the beginning of the range" => {
                        let range = self.ranges.get(column.unwrap_or(0));
                        return named(range.unwrap_or(&"range"), &error.to_string());
                    }
                    "the number of draws" => "draws",
                    "the level" => "level",
                    _ => "cells",
                };
                match own {
                    Some(own) => format!("{setting} of {own}"),
                    None => setting.to_owned(),
                }
            }
            other => return Failure::Data(other.to_string()),
        };
        named(&argument, &error.to_string())
    }
}
