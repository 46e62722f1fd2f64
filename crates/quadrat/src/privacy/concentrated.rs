//! Zero-concentrated differential privacy, and what it says in epsilon and delta.

use super::PrivacyError;

/// The largest `rho` for which `rho`-zero-concentrated privacy is `(epsilon, delta)`-differential
/// privacy.
///
/// $$ \delta(\rho) = \min_{\alpha > 1}
///    \frac{\exp((\alpha - 1)(\alpha \rho - \epsilon))}{\alpha - 1} (1 - 1 / \alpha)^\alpha $$
///
/// # Errors
/// [`PrivacyError::Epsilon`] unless it is positive and finite, [`PrivacyError::Delta`] unless it is
/// between 1e-300 and 1.
///
/// # Numerics
/// Bisection to 1e-12, rounded down.
///
/// # Source
/// C. Canonne, G. Kamath and T. Steinke, *The Discrete Gaussian for Differential Privacy* (2020),
/// corollary 13.
///
/// # Examples
/// ```
/// // A count of people then has noise of sigma 1 / sqrt(2 rho) = 4.53.
/// let rho = quadrat::privacy::concentrated(1.0, 1e-6)?;
/// assert!((rho - 0.024356).abs() < 1e-6);
/// # Ok::<(), quadrat::privacy::PrivacyError>(())
/// ```
pub fn concentrated(epsilon: f64, delta: f64) -> Result<f64, PrivacyError> {
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return Err(PrivacyError::Epsilon {
            value: epsilon,
            requirement: "a finite number above zero",
        });
    }
    if !(1e-300..1.0).contains(&delta) {
        return Err(PrivacyError::Delta {
            value: delta,
            requirement: "above zero and below 1, such as 1e-6: a chance that privacy fails",
        });
    }
    let wanted = libm::log(delta);
    // rho = 0 is (0, 0). At epsilon + c the log of delta is -1 / (e^(c - 1) - 1) or more: leave out
    // (alpha - 1)^2 rho, which is positive, and find the minimum of the rest.
    let (mut low, mut high) = (0.0_f64, epsilon + 1.0 + libm::log1p(-1.0 / wanted));
    while high - low > 1e-12 * high {
        let rho = 0.5 * (low + high);
        if ln_delta(rho, epsilon) <= wanted {
            low = rho;
        } else {
            high = rho;
        }
    }
    Ok(low)
}

/// Log of the smallest delta over all orders: the logarithm is convex in the order.
fn ln_delta(rho: f64, epsilon: f64) -> f64 {
    // Orders are 1 + e^x.
    let (mut low, mut high) = (-40.0_f64, 60.0_f64);
    let order = |x: f64| (libm::exp(x), 1.0 + libm::exp(x));
    for _ in 0..100 {
        let x = 0.5 * (low + high);
        let (less, alpha) = order(x);
        // log(1 - 1 / alpha) = log((alpha - 1) / alpha)
        let slope = (alpha + less) * rho - epsilon + x - libm::log(alpha);
        if slope < 0.0 {
            low = x;
        } else {
            high = x;
        }
    }
    // alpha log(1 - 1 / alpha) - log(alpha - 1), in terms that do not cancel near order 1.
    let (less, alpha) = order(low);
    less * (alpha * rho - epsilon - libm::log1p(libm::exp(-low))) - libm::log1p(less)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_order_is_better() {
        for (rho, epsilon) in [(0.1, 1.0), (1e-4, 0.1), (2.0, 8.0)] {
            let least = ln_delta(rho, epsilon);
            for i in 0..400 {
                let x = -6.0 + 0.04 * f64::from(i);
                let (less, alpha) = (x.exp(), 1.0 + x.exp());
                let here = less * (alpha * rho - epsilon) + alpha * (1.0 - 1.0 / alpha).ln() - x;
                // The minimum is flat, and both have terms up to a hundred.
                assert!(here >= least - 1e-9, "{rho} {epsilon} {alpha}");
            }
        }
    }

    #[test]
    fn it_lies_below_the_bound_of_bun_and_steinke_by_little() {
        for (epsilon, delta) in [(1.0, 1e-6), (0.1, 1e-10), (5.0, 1e-5)] {
            let rho = concentrated(epsilon, delta).unwrap();
            // epsilon = rho + 2 sqrt(rho log 1/delta) is a looser bound, so allows less.
            let log = -delta.ln();
            let looser = ((log + epsilon).sqrt() - log.sqrt()).powi(2);
            assert!(rho > looser && rho < 2.0 * looser, "{rho} {looser}");
        }
        assert!(concentrated(0.0, 0.1).is_err() && concentrated(1.0, 0.0).is_err());
        assert!(concentrated(1.0, 1.0).is_err() && concentrated(1.0, f64::NAN).is_err());
    }

    #[test]
    fn it_is_the_largest_for_deltas_near_one_too() {
        for epsilon in [0.01, 1.0, 300.0] {
            for delta in [
                1e-300,
                1e-6,
                0.5,
                0.9,
                0.999,
                1.0 - 1e-9,
                1.0 - f64::EPSILON,
            ] {
                let rho = concentrated(epsilon, delta).unwrap();
                let wanted = libm::log(delta);
                assert!(ln_delta(rho, epsilon) <= wanted, "{epsilon} {delta} {rho}");
                // Bisection ends at 1e-12 of its upper end, at most epsilon + 38.
                let above = rho + 1e-11 * (epsilon + 38.0);
                assert!(ln_delta(above, epsilon) > wanted, "{epsilon} {delta} {rho}");
            }
        }
    }

    /// The exact delta of one count under discrete Gaussian noise is below the one promised.
    #[test]
    fn one_count_keeps_the_promise() {
        for (epsilon, delta) in [(1.0, 1e-6), (0.5, 1e-3)] {
            let rho = concentrated(epsilon, delta).unwrap();
            let noise = super::super::DiscreteGaussian::new(0.5 / rho);
            let lost: f64 = (-2000..2000)
                .map(|k| {
                    let (own, other) = (f64::from(k), f64::from(k) - 1.0);
                    let more = noise.ln_pmf(other).exp() - epsilon.exp() * noise.ln_pmf(own).exp();
                    more.max(0.0)
                })
                .sum();
            assert!(lost <= delta && lost > 0.05 * delta, "{lost} {delta}");
        }
    }
}
