//! Conditioning a Gaussian prior on what was observed, and learning its hyperparameters.
//!
//! Dense inference knows no kernel and no support: the model hands over a [`LinearGaussian`] or
//! [`sites::LatentGaussian`] problem and takes back the adjoint of its covariance. Only `sparse`
//! holds [`Induced`](crate::covariance::Induced) covariances, whose blocks it asks for by chunks.
//!
//! Engines are `exact`, `sites` (expectation propagation, variational, Laplace), `pooled` (sums
//! after a link), `sparse` (inducing points) and `mcmc` (a check). [`Evidence`] and [`Conditioned`]
//! are common to them.
//!
//! | what | files |
//! |---|---|
//! | engines | `exact`, `sites`, `pooled`, `sparse`, `mcmc` |
//! | what engines have in common | `evidence`, `converged`, `warm_start`, `factor`, `row_factor` |
//! | covariances of rows that have a structure | `gram`, `kronecker`, `rank`, `products` |
//! | means and lines as functions with unknown coefficients | `basis` |
//! | exact rows that contradict each other | `exact_rows` |
//! | learning the hyperparameters | `free`, `learn` |
//! | Laplace's approximation in them | `refine`, `interval` |
//! | integration over them | `integrate`, `profile`, `lattice`, `ccd` |
//! | rows added; rows left out | `append`, `crossvalidate` |
//!
//! | symbol | meaning |
//! |---|---|
//! | `n` | rows (observed functionals) |
//! | `theta` | hyperparameters in natural units, fixed ones included |
//! | `phi` | the free hyperparameters in their optimised coordinates |
//! | `K` | prior covariance of the observed functionals |
//! | `Ky` | `K` + diag(noise variances) |
//! | `r` | residual: observed value - prior mean |
//! | `alpha` | `Ky^-1 r` |
//! | `G` | `d log evidence / d K` |

mod append;
mod basis;
mod ccd;
pub(crate) mod converged;
pub mod crossvalidate;
mod evidence;
pub mod exact;
pub mod exact_rows;
mod factor;
mod free;
mod gram;
pub mod integrate;
mod interval;
mod kronecker;
mod lattice;
pub mod learn;
#[cfg(feature = "mcmc")]
pub mod mcmc;
pub mod pooled;
mod products;
mod profile;
mod rank;
mod refine;
mod row_factor;
pub mod sites;
pub mod sparse;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod tilted_grid;
mod warm_start;
mod watched;

pub use append::{Further, append};
pub use basis::{Basis, Given};
pub use converged::{Converged, ConvergedMode, ConvergedSites};
pub use crossvalidate::{LeftOut, leave_one_out, leave_out};
pub use evidence::Evidence;
pub use exact::{Conditioned, Exact, condition, evidence_and_gradient};
pub use factor::Factor;
pub use gram::{Gram, LinearGaussian};
pub use integrate::{IntegrateOptions, Integration, Node, Rule, integrate};
pub use interval::Interval;
pub use kronecker::KroneckerFactor;
pub(crate) use learn::in_pool;
pub use learn::{LearnOptions, LocalOptimum, Optimum, Start, explore, maximise};
pub use products::log_evidence;
pub use row_factor::RowFactor;
pub use warm_start::WarmStart;
pub(crate) use watched::Watched;
