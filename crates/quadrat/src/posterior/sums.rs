//! Whether a normal distribution can say what is known about sums after a link.

use super::mixture::Posterior;
use crate::error::FitError;
use crate::link::Link;
use crate::problem::pooled::is_pooled;
use crate::support::Functionals;

/// Sds of a sum that are larger than its own row allows by more than this factor are told.
const TOO_WIDE: f64 = 1.5;
/// The same under sparse inference, whose answers about sums are mended only where rows are few:
/// normal beliefs of sums err by some five in a hundred where all is well, and twice that is what a
/// reader would notice.
const TOO_WIDE_SPARSE: f64 = 1.1;
/// Behind a square, a function nearer to zero than this many sds has no known sign.
const SIGNED: f64 = 2.0;
/// Rows that are looked at, at most, and points of all of them: the rest of a large table is alike.
const LOOKED_AT: usize = 200;
const POINTS: usize = 50_000;

/// What was seen of some rows.
#[derive(Default)]
struct Seen {
    rows: usize,
    /// Sums that are told too widely, and by which factor at most.
    wide: usize,
    widest: f64,
    /// Rows behind a square at which the function has no known sign.
    unsigned: usize,
}

impl Posterior {
    /// What to say of the observed rows that are sums after a link; rows are taken at the heaviest
    /// hyperparameters, and of a large table some, evenly spread.
    ///
    /// Of a log-concave row the latent value `z` is known at least to `1 / W`, `W = -(log p)''`,
    /// whatever else is known. A normal belief about the function cannot hold a sum over values
    /// that move much within the row: its sum is known worse than that.
    pub(crate) fn warnings_of_sums(&self) -> Result<Vec<String>, FitError> {
        let is_sparse = self.problem.sparse().is_some();
        if !is_sparse && self.problem.pooled().is_none() {
            return Ok(Vec::new());
        }
        // Of sparse inference: no draws answer.
        let is_normal = is_sparse && self.problem.drawn().sparse().is_some();
        let limit = match is_normal {
            true => TOO_WIDE_SPARSE,
            false => TOO_WIDE,
        };
        let seen = self.seen_sums(limit)?;
        let all = self.problem.observed().len();
        let of = match seen.rows == all {
            true => format!("{all} rows"),
            false => format!("{} rows looked at", seen.rows),
        };
        let mut out = Vec::new();
        if seen.wide > 0 {
            let (wide, widest) = (seen.wide, seen.widest);
            let told = format!(
                "sums over {wide} of {of} are told up to {widest:.1} times less surely than the rows themselves tell: intervals of such sums are too wide, and their means may be off"
            );
            out.push(match is_normal {
                true => format!(
                    "{told}; the normal belief of sparse inference cannot hold such sums more surely: where rows are few, leave `method` out or take a dense one, else take more inducing points (`inducing`)"
                ),
                false => format!(
                    "the function varies so much within rows that {told}; a longer lengthscale or smaller bins help, and `--check mcmc` shows how far it matters"
                ),
            });
        }
        if seen.unsigned > 0 {
            out.push(format!(
                "behind the link `square` the function may have either sign at {} of {of}, which a normal distribution cannot say: answers near zero are rough; use link `exp` or `softplus`",
                seen.unsigned
            ));
        }
        Ok(out)
    }

    /// Rows that are sums after a link, beside what their likelihoods alone say of them.
    fn seen_sums(&self, limit: f64) -> Result<Seen, FitError> {
        let theta = &self.components[0].theta;
        let observed = self.problem.observed();
        let (mut out, mut first) = (Seen::default(), 0);
        for (table, block) in self.tables.iter().zip(&self.problem.blocks()) {
            let own = block.own_values(theta);
            let all = first..first + table.supports.len();
            first = all.end;
            let is_of_interest = self.problem.pooled().is_some() || is_pooled(table);
            let Some(link) = table.likelihood.mean_link().filter(|_| is_of_interest) else {
                continue;
            };
            let rows = self.looked_at(observed, all.clone());
            let seen = self.latent_totals(&observed.rows(&rows), link)?;
            out.rows += rows.len();
            for (at, &row) in rows.iter().enumerate() {
                let (mean, sd) = (seen.mean()[at], seen.sd()[at]);
                if link == Link::Square && mean.abs() < SIGNED * sd {
                    out.unsigned += 1;
                    continue;
                }
                let own_row = row - all.start;
                let exact = block.likelihood.gaussian(&own, own_row);
                if exact.is_some_and(|(_, variance)| variance == 0.0) {
                    // Every draw meets it.
                    continue;
                }
                let precision = -block.likelihood.log_density(&own, own_row, mean).second;
                let excess = sd * precision.max(0.0).sqrt();
                if !observed.is_point(row) && excess > limit {
                    out.wide += 1;
                    out.widest = out.widest.max(excess);
                }
            }
        }
        Ok(out)
    }

    /// Every row where inference is dense; else some, evenly spread, of few enough points.
    fn looked_at(&self, observed: &Functionals, all: std::ops::Range<usize>) -> Vec<usize> {
        if self.problem.sparse().is_none() {
            return all.collect();
        }
        let count = all.len().min(LOOKED_AT);
        let mut left = POINTS;
        let mut out = Vec::with_capacity(count);
        for i in 0..count {
            let row = all.start + i * all.len() / count;
            let points = observed.atoms(row).len();
            if points <= left {
                left -= points;
                out.push(row);
            }
        }
        out
    }
}
