//! The ways in which rows condition the prior.
//!
//! | file | rows | inference |
//! |---|---|---|
//! | `exact` | values with normal noise | in closed form |
//! | `sites` | any report of a functional of the function | Gaussian sites, one for each row |
//! | `pooled` | sums after a link, at nodes | Gaussian sites of the sums, draws that meet them |
//! | `sparse` | any, of up to millions of points | sites of inducing points, in chunks |
//!
//! What the rest of the house asks of each is in `interface`; how many rows they take, in `limits`;
//! the values that `sites` and `pooled` approximate, in `latents`.

mod chain_rows;
pub(crate) mod exact;
mod interface;
pub(crate) mod latents;
pub(crate) mod limits;
pub(crate) mod pooled;
pub(crate) mod sites;
pub(crate) mod sparse;

pub(crate) use interface::Engine;
