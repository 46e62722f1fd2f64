//! What `[noise]` and `[dispersion]` need of the tables.

use quadrat::model::Varying;

use super::Observed;
use crate::study::fields::Check;
use crate::study::{Observe, Study, Vary};

/// Refuses noise variances or dispersions that no table learns, and tables that do not learn them
/// at points.
pub(super) fn varying_rows(check: &Check<'_>, study: &Study, tables: &[Observed]) {
    for vary in &study.vary {
        rows_of(check, vary, study, tables);
    }
}

fn rows_of(check: &Check<'_>, vary: &Vary, study: &Study, tables: &[Observed]) {
    let title = &vary.title;
    let learns = |of: usize| {
        let mut parts = tables.iter().filter(|table| table.of == of);
        parts.any(|table| vary.what.is_of(&table.likelihood))
    };
    let observed = study.observe.iter().enumerate();
    let learning: Vec<&Observe> = observed
        .filter_map(|(of, observe)| learns(of).then_some(observe))
        .collect();
    if learning.is_empty() {
        let (message, remedy) = match vary.what {
            Varying::Noise => (
                format!("{title} has nothing to act on: no table learns a noise variance"),
                "leave `variance` out of a `gaussian`, `student_t`, `interval`, `censored` or `truncated` table, or add `extra = \"learn\"`",
            ),
            Varying::Dispersion => (
                format!("{title} has nothing to act on: no table learns a dispersion"),
                "use `negative_binomial` without `dispersion`",
            ),
        };
        check.refuse(&vary.span, message, remedy);
    }
    for observe in learning {
        if observe.support.has_boxes() || observe.support.shape.is_some() {
            check.refuse(
                &observe.support.span,
                format!(
                    "{title} needs rows at points: the noise of a total is not the total of a noise"
                ),
                "give the rows of this table a known variance, or as points",
            );
        }
    }
}
