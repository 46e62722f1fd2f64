//! Mean and variance of a linked value.

/// What is expected of a linked value, and of the derivatives of the link, under a normal belief.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// `E link(f)`.
    pub mean: f64,
    /// `Var link(f)`.
    pub variance: f64,
    /// `E link'(f)`: the derivative of the mean in the mean of the belief.
    pub slope: f64,
    /// `E link''(f)`: twice its derivative in the variance of the belief.
    pub bend: f64,
    /// `E link'''(f)`.
    pub third: f64,
    /// Derivative of the variance in the mean of the belief.
    pub variance_in_mean: f64,
    /// Derivative of the variance in the variance of the belief.
    pub variance_in_variance: f64,
}

/// Sums over deviations of a linked value from that at the centre of a belief, and of the
/// derivatives of the link: deviations, so that the variance does not cancel.
#[derive(Default)]
pub(super) struct Deviations {
    sums: [f64; 7],
}

impl Deviations {
    /// Adds a node: the deviation, the first three derivatives there, and its weight.
    #[inline(always)]
    pub fn add(&mut self, weight: f64, [change, slope, bend, third]: [f64; 4]) {
        let squares = [
            change * change,
            change * slope,
            slope * slope + change * bend,
        ];
        let all = [change, slope, bend, third].into_iter().chain(squares);
        for (sum, y) in self.sums.iter_mut().zip(all) {
            *sum += weight * y;
        }
    }

    /// The moments, where `centre` is the value that deviations are from and weights add up to one
    /// over `unit`.
    pub fn moments(self, centre: f64, unit: f64) -> Moments {
        let [change, slope, bend, third, square, in_mean, in_variance] =
            self.sums.map(|sum| unit * sum);
        Moments {
            mean: centre + change,
            variance: (square - change * change).max(0.0),
            slope,
            bend,
            third,
            variance_in_mean: 2.0 * (in_mean - change * slope),
            variance_in_variance: in_variance - change * bend,
        }
    }
}
