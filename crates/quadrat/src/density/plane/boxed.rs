//! What boxes of several cells say of the coefficients of the functions.

use crate::linalg::{Mat, add_scaled, dot, gemm, gemm_into};

use super::functions::Functions;
use super::patches::Patches;

impl Patches {
    /// `Phi' r_b` in columns, shape `[functions, boxes]`.
    pub fn within(&self, functions: &Functions, u: &[f64], sums: &[f64]) -> Mat<f64> {
        let mut out = Mat::zeros(functions.len(), self.weights.len());
        let mut values = vec![0.0; functions.len()];
        for (cell, u) in u.iter().enumerate() {
            let entries = self.of(cell);
            if entries.is_empty() || *u == 0.0 {
                continue;
            }
            functions.at(cell, &mut values);
            for (b, share) in entries {
                let by = share * u / sums[*b].max(f64::MIN_POSITIVE);
                add_scaled(by, &values, out.col_as_slice_mut(*b));
            }
        }
        out
    }

    /// Adds `share sum_b Y_b (Phi' r_b)(Phi' r_b)'` to a matrix.
    pub fn add_to(&self, a: &mut Mat<f64>, functions: &Functions, u: &[f64], share: f64) {
        let mut g = self.within(functions, u, &self.sums(u));
        for (b, weight) in self.weights.iter().enumerate() {
            let by = (share * weight).sqrt();
            g.col_as_slice_mut(b).iter_mut().for_each(|x| *x *= by);
        }
        gemm_into(a.as_mut(), true, 1.0, g.as_ref(), g.transpose());
    }

    /// Adds the slope in the function of half of what the missing information takes off `log |A|`:
    /// `1/2 sum_b Y_b T(r_b)`, `T(r) = r (q - r'q - 2 (S r - r' S r))`, `S = Phi s Phi'` and `q`
    /// its diagonal.
    ///
    /// # Arguments
    /// * `s` - the covariance of the coefficients
    pub fn add_shift(&self, out: &mut [f64], functions: &Functions, u: &[f64], s: &Mat<f64>) {
        let sums = self.sums(u);
        let g = self.within(functions, u, &sums);
        let h = gemm(s.as_ref(), g.as_ref());
        let q = functions.diagonal(s);
        let uq: Vec<f64> = u.iter().zip(&q).map(|(u, q)| u * q).collect();
        let means = self.sums(&uq);
        let square = |b: usize| dot(g.col_as_slice(b), h.col_as_slice(b));
        let constant = self.per(&sums, |b| {
            2.0 * square(b) - means[b] / sums[b].max(f64::MIN_POSITIVE)
        });
        let own = self.per(&sums, |_| 1.0);
        let mut values = vec![0.0; functions.len()];
        for (cell, u) in u.iter().enumerate() {
            let entries = self.of(cell);
            if entries.is_empty() || *u == 0.0 {
                continue;
            }
            functions.at(cell, &mut values);
            let mut sum = 0.0;
            for (b, share) in entries {
                let seen = dot(&values, h.col_as_slice(*b));
                sum += share * (constant[*b] + own[*b] * (q[cell] - 2.0 * seen));
            }
            out[cell] += 0.5 * u * sum;
        }
    }
}
