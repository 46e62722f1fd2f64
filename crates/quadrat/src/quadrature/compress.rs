//! Fewer nodes of positive weight with the same moments.

/// Weights this much smaller than the largest are rounding.
const ROUNDING: f64 = 1e-14;

/// Leaves out nodes of a rule with positive weights until no more are left than there are monomials
/// up to a total degree, whose integrals all stay; weights stay positive.
///
/// # Arguments
/// * `columns` - coordinates by dimension, of order one (moved and scaled to `[-1, 1]`), shape
///   `[dim][n]`
/// * `weights` - above zero, shape `[n]`
/// * `degree` - of the polynomials that stay exact
///
/// # Numerics
/// Moments to 1e-12; `O(n m^3)` with `m` monomials. The nodes kept depend on the order of the rule.
/// # Source
/// Tchakaloff 1957; Litterer and Lyons 2012 for recombination by null vectors.
/// # Examples
/// ```
/// use quadrat::quadrature::compress;
/// let x: Vec<f64> = (0..50).map(|i| f64::from(i) / 24.5 - 1.0).collect();
/// let kept = compress(&[x.clone()], &[1.0; 50], 3);
/// assert!(kept.len() <= 4);
/// let square: f64 = kept.iter().map(|&(i, w)| w * x[i] * x[i]).sum();
/// assert!((square - x.iter().map(|x| x * x).sum::<f64>()).abs() < 1e-11);
/// ```
#[must_use]
pub fn compress(columns: &[Vec<f64>], weights: &[f64], degree: usize) -> Vec<(usize, f64)> {
    let powers = exponents(columns.len(), degree);
    let monomial = |node: usize, power: &[usize]| -> f64 {
        let factors = columns.iter().zip(power);
        factors
            .map(|(column, &p)| column[node].powi(p as i32))
            .product()
    };
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let mut kept: Vec<(usize, f64)> = weights.iter().copied().enumerate().collect();
    kept.retain(|(_, w)| *w > ROUNDING * largest);
    let count = powers.len() + 1;
    while kept.len() >= count {
        let first = kept.len() - count;
        let rows: Vec<Vec<f64>> = powers
            .iter()
            .map(|power| {
                kept[first..]
                    .iter()
                    .map(|(i, _)| monomial(*i, power))
                    .collect()
            })
            .collect();
        let Some(null) = null_vector(rows, count) else {
            break;
        };
        // The first weight to vanish when the null vector is taken away; some entry is positive, as
        // they sum to zero.
        let step = kept[first..]
            .iter()
            .zip(&null)
            .filter(|(_, c)| **c > 0.0)
            .map(|((_, w), c)| w / c)
            .fold(f64::INFINITY, f64::min);
        if !step.is_finite() {
            break;
        }
        let before = kept.len();
        for ((_, w), c) in kept[first..].iter_mut().zip(&null) {
            *w -= step * c;
        }
        kept.retain(|(_, w)| *w > ROUNDING * largest);
        if kept.len() == before {
            break;
        }
    }
    kept
}

/// Exponents of all monomials up to a total degree.
fn exponents(dim: usize, degree: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..dim {
        let longer = |power: Vec<usize>| {
            let left = degree - power.iter().sum::<usize>();
            (0..=left).map(move |p| [power.clone(), vec![p]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// A vector of `count` entries, more than there are rows, that all rows are orthogonal to:
/// elimination with complete pivoting.
fn null_vector(mut rows: Vec<Vec<f64>>, count: usize) -> Option<Vec<f64>> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut rank = 0;
    let size = rows.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    while rank < rows.len() {
        let places = (rank..rows.len()).flat_map(|i| (rank..count).map(move |j| (i, j)));
        let (i, j) = places.max_by(|a, b| {
            let at = |(i, j): &(usize, usize)| rows[*i][order[*j]].abs();
            at(a).total_cmp(&at(b))
        })?;
        let pivot = rows[i][order[j]];
        if pivot.abs() <= 1e-13 * size {
            break;
        }
        rows.swap(rank, i);
        order.swap(rank, j);
        let own = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            let factor = row[order[rank]] / pivot;
            if factor != 0.0 {
                for (x, o) in row.iter_mut().zip(&own) {
                    *x -= factor * o;
                }
            }
        }
        rank += 1;
    }
    let mut null = vec![0.0; count];
    null[order[rank]] = 1.0;
    for i in (0..rank).rev() {
        let sum: f64 = (i + 1..=rank)
            .map(|j| rows[i][order[j]] * null[order[j]])
            .sum();
        null[order[i]] = -sum / rows[i][order[i]];
    }
    null.iter().all(|x| x.is_finite()).then_some(null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_stay_and_weights_are_positive() {
        // A spiral of 300 points.
        let angle = |i: usize| 0.37 * i as f64;
        let radius = |i: usize| (i as f64 / 300.0).sqrt();
        let x: Vec<f64> = (0..300).map(|i| radius(i) * angle(i).cos()).collect();
        let y: Vec<f64> = (0..300).map(|i| radius(i) * angle(i).sin()).collect();
        let weights: Vec<f64> = (0..300).map(|i| 1.0 + (i % 7) as f64).collect();
        for degree in 0..=7 {
            let kept = compress(&[x.clone(), y.clone()], &weights, degree);
            assert!(kept.len() <= (degree + 1) * (degree + 2) / 2);
            assert!(kept.iter().all(|(_, w)| *w > 0.0));
            for power in exponents(2, degree) {
                let at = |i: usize| x[i].powi(power[0] as i32) * y[i].powi(power[1] as i32);
                let want: f64 = weights.iter().enumerate().map(|(i, w)| w * at(i)).sum();
                let got: f64 = kept.iter().map(|&(i, w)| w * at(i)).sum();
                // Some 280 eliminations of systems of condition 1e3.
                assert!(
                    (got - want).abs() < 1e-9 * 1200.0,
                    "{degree} {power:?}: {got} {want}"
                );
            }
        }
    }

    #[test]
    fn few_nodes_are_left_alone() {
        let kept = compress(&[vec![0.0, 1.0]], &[1.0, 2.0], 3);
        assert_eq!(kept, [(0, 1.0), (1, 2.0)]);
    }
}
