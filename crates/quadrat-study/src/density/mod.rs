//! Densities of one and two columns, of groups and of one column given another: estimated, told,
//! asked at places, and as studies.

pub mod answers;
pub mod asked;
pub mod checked;
pub mod common;
pub mod given;
pub mod groups;
pub mod line;
pub mod model;
pub mod plane;
mod polygons;
mod rows;
pub mod said;
pub mod study;
mod table;

use std::sync::Arc;

pub use answers::Answers;
pub use rows::Rows;

use common::{configured, refused};
use quadrat::progress::Progress;

use crate::diagnostic::{Problem, Problems};
use crate::study::density::Density;

/// An estimate of any form.
pub enum Estimated {
    /// Of one column.
    Line(Box<line::Line>),
    /// Of two columns.
    Plane(Box<plane::Plane>),
    /// Of one column given another.
    Given(Box<given::said::Said>),
    /// Of every group.
    Groups(groups::Groups),
    /// Of every group, of one column given another.
    GroupsGiven(groups::given::Given),
}

impl Estimated {
    /// What is told of it.
    pub fn answers(&self) -> &dyn Answers {
        match self {
            Self::Line(one) => one.as_ref(),
            Self::Plane(one) => one.as_ref(),
            Self::Given(one) => one.as_ref(),
            Self::Groups(all) => all,
            Self::GroupsGiven(all) => all,
        }
    }
}

/// Estimates what is asked for; groups are told of one after the other.
pub fn estimated(
    args: &Arc<Density>,
    rows: &Arc<Rows>,
    progress: &dyn Progress,
) -> Result<Estimated, Problems> {
    if let (Some(column), true) = (&args.group, args.given.is_some()) {
        let all = groups::given::Given::new(args, rows, column, progress)?;
        return Ok(Estimated::GroupsGiven(all));
    }
    if let Some(column) = &args.group {
        one_axis(args)?;
        let all = groups::Groups::new(args, rows, column, progress)?;
        return Ok(Estimated::Groups(all));
    }
    if args.given.is_some() {
        let one = given::estimated(args, rows, progress)?;
        return Ok(Estimated::Given(Box::new(one)));
    }
    if rows.names.len() == 2 {
        let one = plane::Plane::new(args, rows, progress)?;
        return Ok(Estimated::Plane(Box::new(one)));
    }
    one_axis(args)?;
    let density = configured(rows.density(), args).progress(progress);
    let estimate = density.estimate().map_err(|error| refused(rows, &error))?;
    Ok(Estimated::Line(Box::new(line::Line {
        args: Arc::clone(args),
        rows: Arc::clone(rows),
        estimate,
    })))
}

/// What only two columns have.
fn one_axis(args: &Density) -> Result<(), Problems> {
    let two = [
        ("--bounds", args.bounds.len() > 1),
        ("--range", args.range.len() > 1),
        ("--within", args.within.len() > 1),
        ("--column", args.group.is_some() && args.column.len() > 1),
        ("--bins", args.group.is_some() && args.bins.len() > 3),
        ("--grid", args.grid.is_some_and(|[m, n]| m != n)),
    ];
    let Some((flag, _)) = two.iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    let message = format!("{flag} speaks of two columns, and the density is of one");
    let remedy = match args.group {
        Some(_) => format!("give {flag} for one: groups are of one column"),
        None => format!("give --column twice, or {flag} for one"),
    };
    Err(Problem::new(message).remedy(remedy).into())
}
