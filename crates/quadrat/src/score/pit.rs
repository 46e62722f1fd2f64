//! The randomised probability integral transform.

/// `P(Y < y) + u (P(Y <= y) - P(Y < y))`: uniform on `[0, 1]` where the prediction is right and `u`
/// is uniform, for counts too.
///
/// `None` where the chances are not in order in `[0, 1]`, or `u` is not there.
///
/// Source: Czado, Gneiting and Held (2009), "Predictive model assessment for count data",
/// Biometrics 65, 1254-1261.
#[must_use]
pub fn randomised_pit(below: f64, at_most: f64, u: f64) -> Option<f64> {
    let unit = |chance: f64| (0.0..=1.0).contains(&chance);
    let valid = unit(below) && unit(at_most) && unit(u) && below <= at_most;
    valid.then_some(below + u * (at_most - below))
}

#[cfg(test)]
mod tests {
    use super::randomised_pit;

    #[test]
    fn lies_between_the_two_chances() {
        assert_eq!(randomised_pit(0.25, 0.75, 0.5), Some(0.5));
        assert_eq!(randomised_pit(0.25, 0.25, 0.9), Some(0.25));
        assert_eq!(randomised_pit(0.75, 0.25, 0.5), None);
        assert_eq!(randomised_pit(0.25, 0.75, f64::NAN), None);
    }
}
