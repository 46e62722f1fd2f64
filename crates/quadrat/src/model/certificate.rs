//! The variational lower bound of the evidence beside that of expectation propagation, which is
//! none.

use crate::posterior::summary::FitSummary;

/// Nats, and nats per row, by which the evidence by expectation propagation may be above the
/// variational bound: where the former was right it was .5 to .8 above for 200 rows of `quadrat
/// simulate censored`, and the three to six rows of the study `sites-exactness` cost the bound .6
/// at most; where it was wrong, 1e12.
const ABOVE: (f64, f64) = (5.0, 0.5);
/// By which it may be below: in that study it errs by .15 at most.
const BELOW: (f64, f64) = (0.5, 0.01);

/// An evidence and its bound, of so many rows.
pub(super) struct Certificate {
    pub evidence: f64,
    pub bound: f64,
    pub rows: usize,
}

impl Certificate {
    /// That of a fit; none where no bound was found.
    pub fn of(summary: &FitSummary) -> Option<Self> {
        Some(Self {
            evidence: summary.log_evidence,
            bound: summary.variational_bound?,
            rows: summary.rows,
        })
    }

    /// Whether the evidence is so far above its lower bound that it cannot be right.
    pub fn is_far_above(&self) -> bool {
        self.evidence > self.bound + ABOVE.0 + ABOVE.1 * self.rows as f64
    }

    /// What to say of an evidence that does not go with its lower bound.
    pub fn warning(&self) -> Option<String> {
        let Self {
            evidence,
            bound,
            rows,
        } = self;
        if self.is_far_above() {
            return Some(format!(
                "the log evidence by expectation propagation, {evidence:.2}, is far above its variational lower bound, {bound:.2}: one of them is wrong; compare with the variational approximation, or with draws"
            ));
        }
        (*evidence < bound - BELOW.0 - BELOW.1 * *rows as f64).then(|| {
            format!(
                "the log evidence by expectation propagation, {evidence:.2}, is below its variational lower bound, {bound:.2}: it is wrong by at least the difference; compare with the variational approximation"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evidence_is_near_its_bound_or_told() {
        let told = |evidence: f64, rows: usize| {
            let certificate = Certificate {
                evidence,
                bound: -100.0,
                rows,
            };
            certificate.warning().unwrap_or_default()
        };
        assert_eq!(told(-99.2, 20), "");
        assert_eq!(told(-100.3, 20), "");
        assert!(
            told(-80.0, 20).contains("-80.00, is far above its variational lower bound, -100.00")
        );
        assert!(
            told(-101.0, 20).contains("-101.00, is below its variational lower bound, -100.00")
        );
        // More rows may be further apart.
        assert_eq!(told(-80.0, 200), "");
        assert_eq!(told(-101.0, 200), "");
    }
}
