//! Tails of whole counts as sums of few terms.

use super::count::{CountMean, EdgeTail};

/// Terms at most: more cost as much as the quadrature.
const TERMS: usize = 400;
/// Terms below this part of the sum are left out.
const NEGLIGIBLE: f64 = 1e-18;

impl CountMean {
    /// [`Self::tail`] at a whole edge, from the ratios of neighbouring terms,
    ///
    /// $$ \frac{p(k + 1)}{p(k)} = \frac{(1 + \alpha k) \, \mu w}{k + 1}, $$
    ///
    /// which are summed away from the edge (below it they may rise to the mode first). The excess
    /// is the mean distance from the edge, so that nothing cancels. Nothing where the terms fall
    /// too slowly.
    pub(super) fn tail_by_terms(&self, k: f64, with_slope: bool) -> Option<EdgeTail> {
        match self.mean <= k {
            true => self.above(k, with_slope),
            false => self.below(k, with_slope),
        }
    }

    /// `P(Y >= k)`, the mean at most `k`.
    fn above(&self, k: f64, with_slope: bool) -> Option<EdgeTail> {
        let (alpha, w) = (self.dispersion, self.weight());
        let odds = self.mean * w;
        let mut slope_of_term = if with_slope {
            self.dispersion_slope(k)
        } else {
            0.0
        };
        let (mut term, mut sum, mut moment, mut slope) = (1.0, 1.0, 0.0, slope_of_term);
        for step in 0..TERMS {
            let (distance, y) = ((step + 1) as f64, k + step as f64);
            term *= (1.0 + alpha * y) * odds / (y + 1.0);
            sum += term;
            moment += term * distance;
            if with_slope {
                slope_of_term += y / (1.0 + alpha * y) - odds;
                slope += term * slope_of_term;
            }
            if term * distance <= NEGLIGIBLE * sum {
                return Some(EdgeTail {
                    ratio: sum / k,
                    slope: slope / k,
                    excess: -w * moment / sum,
                });
            }
        }
        None
    }

    /// `P(Y < k)`, the mean above `k`.
    fn below(&self, k: f64, with_slope: bool) -> Option<EdgeTail> {
        let (alpha, w) = (self.dispersion, self.weight());
        let odds = self.mean * w;
        let nearest = k - 1.0;
        // k p(k) over p(k - 1).
        let edge = (1.0 + alpha * nearest) * odds;
        let mut slope_of_term = if with_slope {
            self.dispersion_slope(nearest)
        } else {
            0.0
        };
        let (mut term, mut sum, mut moment, mut slope) = (1.0, 1.0, 1.0, slope_of_term);
        for step in 0..TERMS {
            let (distance, y) = ((step + 2) as f64, nearest - step as f64);
            if y > 0.0 {
                term *= y / ((1.0 + alpha * (y - 1.0)) * odds);
                sum += term;
                moment += term * distance;
                if with_slope {
                    slope_of_term -= (y - 1.0) / (1.0 + alpha * (y - 1.0)) - odds;
                    slope += term * slope_of_term;
                }
            }
            if y <= 0.0 || term * distance <= NEGLIGIBLE * sum {
                return Some(EdgeTail {
                    ratio: sum / edge,
                    slope: slope / edge,
                    excess: w * moment / sum,
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways to a tail, and its slope and excess, agree wherever the terms fall fast enough.
    #[test]
    fn terms_are_the_quadrature() {
        let (mut seen, mut worst) = (0, [0.0_f64; 3]);
        for dispersion in [0.0, 1e-6, 0.01, 0.4, 3.0, 50.0] {
            for k in [1.0, 2.0, 5.0, 12.0, 40.0, 300.0, 1e4] {
                for ratio in [
                    1e-6,
                    0.01,
                    0.3,
                    0.8,
                    1.0,
                    1.0 + 1e-9,
                    1.2,
                    2.0,
                    7.0,
                    1e3,
                    1e9,
                ] {
                    let count = CountMean::new(k * ratio, dispersion);
                    let Some(terms) = count.tail_by_terms(k, true) else {
                        continue;
                    };
                    let other = count.tail_by_quadrature(k, true);
                    // Slopes may vanish: their scale is that of the terms, some squares of the
                    // distance.
                    let scale = 1.0 + (k - count.mean).powi(2) * count.weight().powi(2) + k;
                    let off = [
                        terms.ratio / other.ratio - 1.0,
                        terms.excess / other.excess - 1.0,
                        match dispersion > 0.0 {
                            true => (terms.slope - other.slope) / (terms.ratio * scale),
                            false => 0.0,
                        },
                    ];
                    seen += 1;
                    for (worst, off) in worst.iter_mut().zip(off) {
                        *worst = worst.max(off.abs());
                    }
                    let what = format!("{dispersion} {k} {ratio}: {off:?}");
                    // The quadrature promises 1e-12, of the slope of what is summed.
                    assert!(off[0].abs() < 2e-12 && off[1].abs() < 2e-11, "{what}");
                    assert!(off[2].abs() < 1e-10, "{what}");
                }
            }
        }
        assert!(seen > 250, "{seen}");
        println!("{seen} tails, worst {worst:?}");
    }
}
