//! Anderson's acceleration of a fixed-point iteration.
//!
//! # Source
//! Walker and Ni 2011, *Anderson acceleration for fixed-point iterations*, SIAM J. Numer. Anal. 49.

use crate::linalg::{Cholesky, Mat, dot};

/// Differences remembered.
const DEPTH: usize = 6;
/// Ridge of the least squares, relative to its diagonal.
const RIDGE: f64 = 1e-12;

/// The last points `x` of an iteration `x <- F(x)` and their images.
#[derive(Default)]
pub(in crate::inference) struct History {
    points: Vec<Vec<f64>>,
    images: Vec<Vec<f64>>,
}

impl History {
    pub fn clear(&mut self) {
        self.points.clear();
        self.images.clear();
    }

    pub fn push(&mut self, point: Vec<f64>, image: Vec<f64>) {
        if self.points.len() > DEPTH {
            self.points.remove(0);
            self.images.remove(0);
        }
        self.points.push(point);
        self.images.push(image);
    }

    /// The combination of images whose steps cancel best; `None` while there is nothing to combine.
    pub fn combined(&self) -> Option<Vec<f64>> {
        let last = self.points.len().checked_sub(1)?;
        if last == 0 {
            return None;
        }
        let step = |k: usize| -> Vec<f64> {
            let pairs = self.images[k].iter().zip(&self.points[k]);
            pairs.map(|(f, x)| f - x).collect()
        };
        let current = step(last);
        let changes: Vec<Vec<f64>> = (0..last)
            .map(|k| {
                let older = step(k);
                current.iter().zip(&older).map(|(a, b)| a - b).collect()
            })
            .collect();
        let mut gram = Mat::from_fn(last, last, |i, j| dot(&changes[i], &changes[j]));
        for i in 0..last {
            gram[(i, i)] *= 1.0 + RIDGE;
        }
        let right: Vec<f64> = changes.iter().map(|c| dot(c, &current)).collect();
        let weights = Cholesky::factor(gram.as_ref()).ok()?.solve(&right);
        let mut out = self.images[last].clone();
        for (k, w) in weights.iter().enumerate() {
            for (o, (a, b)) in out
                .iter_mut()
                .zip(self.images[last].iter().zip(&self.images[k]))
            {
                *o -= w * (a - b);
            }
        }
        out.iter().all(|x| x.is_finite()).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_iteration_ends_after_as_many_steps_as_dimensions() {
        // Contraction rates of .99, .9 and -.8: plain iteration would need thousands of steps.
        let image = |x: &[f64]| -> Vec<f64> {
            let rates = [0.99, 0.9, -0.8];
            x.iter().zip(rates).map(|(x, r)| 1.0 + r * x).collect()
        };
        let mut x = vec![0.0; 3];
        let mut history = History::default();
        for _ in 0..6 {
            let f = image(&x);
            history.push(x, f.clone());
            x = history.combined().unwrap_or(f);
        }
        for (x, want) in x.iter().zip([100.0, 10.0, 1.0 / 1.8]) {
            // Exact but for the ridge of the normal equations and their rounding.
            assert!((x / want - 1.0).abs() < 1e-6, "{x} {want}");
        }
    }
}
