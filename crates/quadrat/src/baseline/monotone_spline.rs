//! A monotone cubic spline through the cumulated counts.

use super::Predict;
use super::cumulated::CumulatedBins;
use super::sums::sums;
use crate::error::{FitError, InputError};
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

const NOT_A_HISTOGRAM: InputError = InputError::Unavailable {
    what: "the monotone spline",
    remedy: "it needs values or counts, none below zero, over boxes of one input that adjoin without gaps; use the posterior for other rows",
};

/// The derivative of a cubic spline through the cumulated counts (per exposure), whose slopes are
/// limited so that it never falls. Demographers ungroup ages in this way (`graduate_mono` of the R
/// package DemoTools).
///
/// A support gets the average of the derivative over it, times its weight; beyond the first and
/// last bin the derivative stays as it is there. The bins keep their totals. There is no
/// uncertainty: every sd is zero.
///
/// # Source
/// Hyman 1983, *Accurate monotonicity preserving cubic interpolation*; ends as Forsythe, Malcolm
/// and Moler 1977, section 4.4: the third derivative is that of the cubic through the four points
/// there. This is `splinefun(method = "hyman")` of R.
#[derive(Debug, Clone, PartialEq)]
pub struct MonotoneSpline {
    dim: String,
    /// Ends of the bins.
    ends: Vec<f64>,
    /// Values cumulated up to every end, and slopes there.
    total: Vec<f64>,
    slope: Vec<f64>,
}

impl MonotoneSpline {
    /// # Errors
    /// [`InputError::Unavailable`] where rows are not adjoining boxes of one input, with values of
    /// at least zero.
    pub fn new(table: &Observations) -> Result<Self, InputError> {
        let CumulatedBins { dim, ends, total } = CumulatedBins::of(table).ok_or(NOT_A_HISTOGRAM)?;
        let slope = limited(&ends, &total);
        Ok(Self {
            dim,
            ends,
            total,
            slope,
        })
    }

    /// The spline and its derivative.
    fn at(&self, x: f64) -> (f64, f64) {
        let last = self.ends.len() - 1;
        if x <= self.ends[0] {
            return ((x - self.ends[0]) * self.slope[0], self.slope[0]);
        }
        if x >= self.ends[last] {
            let beyond = (x - self.ends[last]) * self.slope[last];
            return (self.total[last] + beyond, self.slope[last]);
        }
        let i = self.ends.partition_point(|&end| end <= x) - 1;
        let h = self.ends[i + 1] - self.ends[i];
        let u = (x - self.ends[i]) / h;
        let d = (self.total[i + 1] - self.total[i]) / h;
        let (a, b) = (self.slope[i], self.slope[i + 1]);
        // Hermite's cubic: its derivative begins at a, ends at b and averages d.
        let (second, third) = (3.0 * d - 2.0 * a - b, a + b - 2.0 * d);
        let value = self.total[i] + h * u * (a + u * (second + u * third));
        (value, a + u * (2.0 * second + 3.0 * u * third))
    }
}

/// Slopes of the cubic spline, limited between zero and three times the smaller slope beside.
fn limited(x: &[f64], y: &[f64]) -> Vec<f64> {
    let secant: Vec<f64> = (0..x.len() - 1)
        .map(|i| (y[i + 1] - y[i]) / (x[i + 1] - x[i]))
        .collect();
    let free = spline_slopes(x, &secant);
    let beside = |i: usize| {
        let left = secant[i.saturating_sub(1)];
        left.min(secant[i.min(secant.len() - 1)])
    };
    free.iter()
        .enumerate()
        .map(|(i, &slope)| slope.clamp(0.0, 3.0 * beside(i)))
        .collect()
}

/// Slopes at the knots of the spline with two continuous derivatives; through fewer than four
/// points the polynomial through all.
fn spline_slopes(x: &[f64], secant: &[f64]) -> Vec<f64> {
    let h: Vec<f64> = x.windows(2).map(|w| w[1] - w[0]).collect();
    let n = x.len();
    match n {
        0 | 1 => return vec![0.0; n],
        2 => return vec![secant[0]; 2],
        3 => {
            let bend = (secant[1] - secant[0]) / (h[0] + h[1]);
            let middle = secant[0] + bend * h[0];
            return vec![secant[0] - bend * h[0], middle, secant[1] + bend * h[1]];
        }
        _ => {}
    }
    // The third divided difference of four neighbours.
    let third = |i: usize| {
        let second = |j: usize| (secant[j + 1] - secant[j]) / (x[j + 2] - x[j]);
        (second(i + 1) - second(i)) / (x[i + 3] - x[i])
    };
    let (mut diagonal, mut above) = (vec![1.0; n], vec![1.0; n - 1]);
    let mut right = vec![0.0; n];
    right[0] = 2.0 * secant[0] + h[0] * h[0] * third(0);
    let mut below = vec![1.0; n];
    for i in 1..n - 1 {
        below[i] = h[i];
        diagonal[i] = 2.0 * (h[i - 1] + h[i]);
        above[i] = h[i - 1];
        right[i] = 3.0 * (h[i] * secant[i - 1] + h[i - 1] * secant[i]);
    }
    right[n - 1] = 2.0 * secant[n - 2] + h[n - 2] * h[n - 2] * third(n - 4);
    for i in 1..n {
        let factor = below[i] / diagonal[i - 1];
        diagonal[i] -= factor * above[i - 1];
        right[i] -= factor * right[i - 1];
    }
    for i in (0..n).rev() {
        let next = above.get(i).map_or(0.0, |a| a * right[i + 1]);
        right[i] = (right[i] - next) / diagonal[i];
    }
    right
}

impl Predict for MonotoneSpline {
    /// # Errors
    /// [`InputError::UnknownDimension`]; [`InputError::Unavailable`] for regions.
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = at.select(std::slice::from_ref(&self.dim))?;
        if at.has_regions() {
            return Err(NOT_A_HISTOGRAM.into());
        }
        let over = |atom: usize| {
            let (from, width) = (at.lower(0)[atom], at.width(0)[atom]);
            match width > 0.0 {
                true => (self.at(from + width).0 - self.at(from).0) / width,
                false => self.at(from).1,
            }
        };
        Ok(sums(&at, over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Noise;
    use crate::support::Aggregate;

    fn table(edges: &[(f64, f64)], values: Vec<f64>) -> Observations {
        let bins = Functionals::intervals("age", edges, Aggregate::Sum).unwrap();
        Observations::gaussian(bins, values, Noise::Learned).unwrap()
    }

    fn cells(from: i32, to: i32) -> Functionals {
        let cells: Vec<(f64, f64)> = (from..to)
            .map(|y| (f64::from(y), f64::from(y + 1)))
            .collect();
        Functionals::intervals("age", &cells, Aggregate::Sum).unwrap()
    }

    #[test]
    fn a_parabola_comes_back_from_uneven_bins_in_any_order() {
        // 4 + 3 x - x^2 / 10 is positive from 0 to 30; its integral:
        let integral = |x: f64| 4.0 * x + 1.5 * x * x - x.powi(3) / 30.0;
        for edges in [
            vec![(10.0, 17.0), (0.0, 4.0), (4.0, 10.0), (17.0, 30.0)],
            vec![
                (0.0, 5.0),
                (5.0, 12.0),
                (12.0, 20.0),
                (20.0, 22.0),
                (22.0, 30.0),
            ],
        ] {
            let values = edges.iter().map(|&(a, b)| integral(b) - integral(a));
            let spline = MonotoneSpline::new(&table(&edges, values.collect())).unwrap();
            let p = spline.predict_response(&cells(0, 30)).unwrap();
            for (year, &got) in p.mean().iter().enumerate() {
                let year = year as f64;
                let expected = integral(year + 1.0) - integral(year);
                // The slope may be limited beside a steep end; not here.
                assert!((got - expected).abs() < 1e-10, "{year}: {got} {expected}");
            }
            let point = Functionals::points("age", &[7.5]).unwrap();
            let density = spline.predict_response(&point).unwrap().mean()[0];
            assert!((density - (4.0 + 22.5 - 5.625)).abs() < 1e-10);
        }
    }

    #[test]
    fn bins_keep_their_totals_and_nothing_is_negative() {
        for values in [
            vec![10.0, 0.0, 0.0, 500.0, 3.0, 90.0],
            vec![0.0, 0.0, 7.0, 0.0, 0.0, 0.0],
        ] {
            let edges: Vec<(f64, f64)> = (0..6)
                .map(|i| (5.0 * f64::from(i), 5.0 * f64::from(i + 1)))
                .collect();
            let spline = MonotoneSpline::new(&table(&edges, values.clone())).unwrap();
            let p = spline.predict_response(&cells(0, 30)).unwrap();
            // A cell is a difference of cumulated totals up to 603, whose rounding is 603 eps =
            // 1.3e-13; a bin is a sum of five.
            assert!(p.mean().iter().all(|&m| m > -1e-12), "{:?}", p.mean());
            for (bin, total) in values.iter().enumerate() {
                let sum: f64 = p.mean()[5 * bin..5 * bin + 5].iter().sum();
                assert!((sum - total).abs() < 1e-10, "{bin}: {sum}");
            }
        }
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        let gap = table(&[(0.0, 5.0), (6.0, 10.0)], vec![1.0, 2.0]);
        let negative = table(&[(0.0, 5.0), (5.0, 10.0)], vec![1.0, -2.0]);
        for table in [gap, negative] {
            let error = MonotoneSpline::new(&table).unwrap_err();
            assert!(error.to_string().contains("adjoin"), "{error}");
        }
    }
}
