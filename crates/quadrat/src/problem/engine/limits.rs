//! How many rows the engines take.

use crate::error::InputError;
use crate::support::Functionals;

/// Most rows whose dense covariance is factorised: 20,000 rows need 3.2 GB per matrix.
pub(crate) const MAX_DENSE_ROWS: usize = 20_000;

/// Most points, boxes and regions in all rows: their covariances are computed in pairs.
pub(crate) const MAX_ATOMS: usize = 40_000;
/// Most rows of approximate inference: every evaluation factorises their covariance about ten
/// times.
const MAX_SITE_ROWS: usize = 5000;
/// Most rows along a line, which keeps about a kilobyte of each where no two steps are alike, and
/// as much for a cycle with all its harmonics.
const MAX_LINE_ROWS: usize = 200_000;
/// Most rows for which the hyperparameters are integrated over a lattice of hundreds of nodes;
/// above, their posterior is close to normal and a design of tens does.
pub(super) const LATTICE_ROWS: usize = 200;

/// Whether every dense engine takes so many rows of so many atoms, unless they are sums after a
/// link, whose nodes count.
pub(crate) fn all_take(rows: usize, atoms: usize) -> bool {
    // The least of the three, so that nothing need be assembled to tell.
    const { assert!(MAX_SITE_ROWS <= MAX_DENSE_ROWS && MAX_SITE_ROWS <= MAX_LINE_ROWS) };
    rows <= MAX_SITE_ROWS && atoms <= MAX_ATOMS
}

/// Refuses more rows than a dense covariance may have.
pub(super) fn check_dense(rows: usize) -> Result<(), InputError> {
    at_most(rows, MAX_DENSE_ROWS)
}

/// Refuses more rows than are kept along a line.
pub(super) fn check_line(rows: usize) -> Result<(), InputError> {
    at_most(rows, MAX_LINE_ROWS)
}

fn at_most(rows: usize, limit: usize) -> Result<(), InputError> {
    match rows > limit {
        true => Err(InputError::TooManyRows { rows, limit }),
        false => Ok(()),
    }
}

/// Refuses more points, boxes and regions than are compared in pairs.
pub(super) fn check_atoms(supports: &Functionals, rows: usize) -> Result<(), InputError> {
    let atoms = supports.atom_count();
    match atoms > MAX_ATOMS {
        true => Err(InputError::TooManyAtoms {
            atoms,
            rows,
            limit: MAX_ATOMS,
        }),
        false => Ok(()),
    }
}

/// Refuses more rows than have sites of their own.
pub(super) fn check_sites(rows: usize) -> Result<(), InputError> {
    match rows > MAX_SITE_ROWS {
        true => Err(InputError::Unavailable {
            what: "approximate inference above 5,000 rows",
            remedy: "use sparse inference, merge rows of one place, or thin the table",
        }),
        false => Ok(()),
    }
}
