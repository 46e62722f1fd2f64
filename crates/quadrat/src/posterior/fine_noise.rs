//! Noise that is too fine for the arithmetic of approximate inference.

use super::mixture::Posterior;
use crate::error::FitError;
use crate::likelihood::{Likelihood, Noise, Outcomes};
use crate::problem::scale::Scale;
use crate::support::Functionals;

/// Beliefs about rows that are not normal values are kept to this part of the prior variance:
/// smaller ones would be lost in rounding.
const FINEST: f64 = 1e-10;
/// The same through inducing points, whose covariance has a jitter of 1e-10 that rows between
/// points see many times over.
const FINEST_SPARSE: f64 = 1e-8;
/// Sds of rows below this many times their noise are resolved.
const RESOLVED: f64 = 1.5;
/// So many rows of a table are looked at.
const SOME: usize = 1000;

/// What to say where the known noise of rows is smaller than their beliefs can be, and the sd of
/// the row for which that is worst is indeed larger than its noise.
pub(crate) fn warning(posterior: &Posterior) -> Result<Option<String>, FitError> {
    let problem = &posterior.problem;
    let (Some(best), true) = (
        posterior.components.first(),
        problem.method().is_some() || problem.sparse().is_some(),
    ) else {
        return Ok(None);
    };
    let part = if problem.sparse().is_some() {
        FINEST_SPARSE
    } else {
        FINEST
    };
    let mut finest: Option<((f64, f64), Functionals)> = None;
    for table in &posterior.tables {
        let is_normal = table.as_gaussian().is_some();
        let Some(known) =
            known(table.likelihood()).filter(|_| !is_normal || problem.sparse().is_some())
        else {
            continue;
        };
        // Of rows of many points a prior variance is dear; some rows say what the others would.
        let share = SOME as f64 / table.supports().len() as f64;
        let is_single = |row: &usize| table.supports().atoms(*row).len() == 1;
        let rows: Vec<usize> = table
            .evenly(share.min(1.0))
            .into_iter()
            .filter(is_single)
            .collect();
        if rows.is_empty() {
            continue;
        }
        let at = table.supports().rows(&rows);
        let at = match table.output() {
            Some(output) => posterior.at_output(&at, output)?,
            None => at,
        };
        let prior = problem.prior().variance(&best.theta, &at);
        for (row, prior) in prior.into_iter().enumerate() {
            let noise = known[rows[row]];
            if noise > 0.0 && noise < part * prior {
                let least = (noise.sqrt(), (part * prior).sqrt());
                finest = finest
                    .filter(|(one, _)| one.0 / one.1 < least.0 / least.1)
                    .or_else(|| Some((least, at.rows(&[row]))));
            }
        }
    }
    let Some(((noise, least), at)) = finest else {
        return Ok(None);
    };
    // A row says that much of itself at least.
    if posterior.predict(&at, Scale::Latent)?.sd()[0] < RESOLVED * noise {
        return Ok(None);
    }
    Ok(Some(format!(
        "some known noise, such as an sd of {noise:.3e}, is so small beside the function that approximate inference cannot resolve it: sds there are hardly smaller than {least:.3e}, and may be larger. Subtract a rough fit from the values, so that the function varies less; exact inference of `gaussian` values resolves such noise"
    )))
}

/// Known noise variances of rows that report values, with what the width of an interval adds; none
/// where noise is learned, or is none of values.
fn known(likelihood: &Likelihood) -> Option<Vec<f64>> {
    if likelihood.noise().is_some_and(Noise::is_learned) {
        return None;
    }
    let known = likelihood.known_variance()?;
    let readings = match likelihood.outcomes() {
        Outcomes::Values(_) => None,
        Outcomes::Intervals(x) => Some(x),
        Outcomes::Ranks(_)
        | Outcomes::Counts(_)
        | Outcomes::Answers(_)
        | Outcomes::Successes { .. }
        | Outcomes::Bounds => return None,
    };
    let width = |row: usize| readings.map_or(0.0, |r| r.upper()[row] - r.lower()[row]);
    let each = known.iter().enumerate();
    Some(each.map(|(row, v)| v + width(row).powi(2) / 12.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::{Interval, Laplace};
    use crate::quadrature::gauss_legendre;

    /// The variance of what a row adds to the function, by its density.
    #[test]
    fn known_noise_is_a_variance() {
        let rule = gauss_legendre(40);
        let scale = 0.3;
        let laplace = Laplace::new(vec![1.0, 2.0], vec![scale, 2.0 * scale]).unwrap();
        let got = known(&Likelihood::Laplace(laplace)).unwrap();
        // Beyond 40 scales lies e^-40.
        let square = |x: f64| x * x * (-x / scale).exp() / scale;
        let want: f64 = rule.on(0.0, 40.0 * scale).map(|(x, w)| w * square(x)).sum();
        assert!((got[0] / want - 1.0).abs() < 1e-12, "{} {want}", got[0]);
        assert!((got[1] / got[0] - 4.0).abs() < 1e-15);

        let interval = Interval::new(vec![1.0], vec![1.6], Noise::Known(vec![0.04])).unwrap();
        let got = known(&Likelihood::Interval(interval)).unwrap();
        let even: f64 = rule.on(-0.3, 0.3).map(|(x, w)| w * x * x / 0.6).sum();
        // The rule is exact for a parabola: some roundings.
        assert!((got[0] / (even + 0.04) - 1.0).abs() < 1e-12);
    }
}
