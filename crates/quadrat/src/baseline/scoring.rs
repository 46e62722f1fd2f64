//! Penalised scoring of a composite link model.

use crate::linalg::{Cholesky, Mat, dot, gemm, matvec};

/// Steps of one search.
pub(super) const MOST_STEPS: usize = 200;
/// Times a step is halved before it is given up.
const MOST_HALVINGS: usize = 30;
/// Squared length of the last step, in standard errors.
const TOLERANCE: f64 = 1e-16;
/// The same where steps no longer become shorter: rounding keeps them there.
const LOOSE: f64 = 1e-10;

/// Counts `y`, shape `[m]`, whose means are `C exp(b)`, with `C` of shape `[m, k]`, no entry below
/// zero and no row of zeros.
#[derive(Debug)]
pub(super) struct Composite {
    pub counts: Vec<f64>,
    pub composition: Mat<f64>,
}

/// The best `b` at one strength of the penalty.
#[derive(Debug, Clone)]
pub(super) struct Scored {
    /// `b`, shape `[k]`.
    pub log_rate: Vec<f64>,
    /// A root of the covariance of `b`, shape `[m, k]`: `root' root`.
    pub root: Mat<f64>,
    pub deviance: f64,
    /// Trace of the matrix that turns counts into fitted ones.
    pub dimension: f64,
}

impl Composite {
    /// The `b` that minimises `deviance + lambda |D b|^2`, with `D` second differences.
    ///
    /// `None` where it is not found.
    ///
    /// # Numerics
    /// Fisher scoring, the step halved where the objective would rise, until a step is shorter than
    /// 1e-8 standard errors in every direction, or than 1e-5 and no longer becomes shorter.
    pub fn fit(&self, start: &[f64], lambda: f64) -> Option<Scored> {
        let mut log_rate = start.to_vec();
        let mut objective = self.objective(&log_rate, lambda);
        let mut before = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            let mean = self.mean(&log_rate);
            let scaled = self.scaled(&log_rate, &mean);
            let factor = information(&scaled, lambda)?;
            let residual: Vec<f64> = self.counts.iter().zip(&mean).map(residual).collect();
            let mut slope = matvec(scaled.transpose(), &residual);
            let pull = roughness(&log_rate);
            slope
                .iter_mut()
                .zip(&pull)
                .for_each(|(s, p)| *s -= lambda * p);
            let step = factor.solve(&slope);
            let length = dot(&step, &slope);
            if !length.is_finite() {
                return None;
            }
            let stepped = |by: f64| -> Vec<f64> {
                let pairs = log_rate.iter().zip(&step);
                pairs.map(|(b, s)| b + by * s).collect()
            };
            if length <= TOLERANCE || (length <= LOOSE && length >= before) {
                log_rate = stepped(1.0);
                return self.conclude(log_rate, lambda);
            }
            before = length;
            // What rounding may do to a sum of so many counts.
            let slack = 1e-14 * (objective + self.counts.iter().sum::<f64>());
            let tried = (0..MOST_HALVINGS).find_map(|halvings| {
                let next = stepped(0.5_f64.powi(halvings as i32));
                let reached = self.objective(&next, lambda);
                (reached <= objective + slack).then_some((next, reached))
            });
            (log_rate, objective) = tried?;
        }
        None
    }

    fn conclude(&self, log_rate: Vec<f64>, lambda: f64) -> Option<Scored> {
        let mean = self.mean(&log_rate);
        let scaled = self.scaled(&log_rate, &mean);
        let factor = information(&scaled, lambda)?;
        let mut solved = scaled.transpose().to_owned();
        factor.solve_in_place(solved.as_mut());
        let (m, k) = (scaled.nrows(), scaled.ncols());
        let terms = (0..m).flat_map(|r| (0..k).map(move |c| (r, c)));
        let dimension = terms.map(|(r, c)| scaled[(r, c)] * solved[(c, r)]).sum();
        Some(Scored {
            deviance: self.deviance(&mean),
            dimension,
            root: solved.transpose().to_owned(),
            log_rate,
        })
    }

    /// `mu = C exp(b)`
    fn mean(&self, log_rate: &[f64]) -> Vec<f64> {
        let rate: Vec<f64> = log_rate.iter().map(|b| b.exp()).collect();
        matvec(self.composition.as_ref(), &rate)
    }

    /// `diag(mu)^-1/2 C diag(exp b)`: its square is the Fisher information.
    fn scaled(&self, log_rate: &[f64], mean: &[f64]) -> Mat<f64> {
        let c = &self.composition;
        Mat::from_fn(c.nrows(), c.ncols(), |row, cell| {
            c[(row, cell)] * log_rate[cell].exp() / mean[row].sqrt()
        })
    }

    /// `2 sum y log (y / mu) - (y - mu)`
    fn deviance(&self, mean: &[f64]) -> f64 {
        let term = |(&y, &mu): (&f64, &f64)| {
            let off = (mu - y) / y;
            match off.is_finite() {
                // Next to zero both parts are much larger than what is left of them.
                true => y * (off - off.ln_1p()),
                false => mu,
            }
        };
        2.0 * self.counts.iter().zip(mean).map(term).sum::<f64>()
    }

    fn objective(&self, log_rate: &[f64], lambda: f64) -> f64 {
        let penalty = dot(log_rate, &roughness(log_rate));
        self.deviance(&self.mean(log_rate)) + lambda * penalty
    }
}

/// Of a count, in its standard deviation.
fn residual((y, mu): (&f64, &f64)) -> f64 {
    (y - mu) / mu.sqrt()
}

/// `S' S + lambda D' D`, factorised.
fn information(scaled: &Mat<f64>, lambda: f64) -> Option<Cholesky> {
    let mut matrix = gemm(scaled.transpose(), scaled.as_ref());
    for i in 0..matrix.nrows().saturating_sub(2) {
        for (a, left) in DIFFERENCE.iter().enumerate() {
            for (b, right) in DIFFERENCE.iter().enumerate() {
                matrix[(i + a, i + b)] += lambda * left * right;
            }
        }
    }
    Cholesky::factor_owned(matrix).ok()
}

const DIFFERENCE: [f64; 3] = [1.0, -2.0, 1.0];

/// `D' D b`
fn roughness(b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; b.len()];
    for (i, window) in b.windows(3).enumerate() {
        let bend = dot(&DIFFERENCE, window);
        let parts = out[i..i + 3].iter_mut().zip(DIFFERENCE);
        parts.for_each(|(o, d)| *o += bend * d);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where every count sees one cell and nothing is penalised, rates are counts, and their logs
    /// have variance `1 / y`.
    #[test]
    fn without_a_penalty_single_cells_are_their_counts() {
        let counts = vec![4.0, 9.0, 25.0, 16.0];
        let composition = Mat::from_fn(4, 4, |i, j| f64::from(u8::from(i == j)));
        let model = Composite {
            counts: counts.clone(),
            composition,
        };
        let scored = model.fit(&[2.0; 4], 0.0).unwrap();
        // Steps end within 1e-8 standard errors, of which the largest is a half.
        for (cell, y) in counts.iter().enumerate() {
            assert!((scored.log_rate[cell] - y.ln()).abs() < 1e-9);
            let variance: f64 = (0..4).map(|r| scored.root[(r, cell)].powi(2)).sum();
            assert!((variance - 1.0 / y).abs() < 1e-9);
        }
        assert!(scored.deviance.abs() < 1e-9 && (scored.dimension - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_line_is_not_rough() {
        let line: Vec<f64> = (0..9).map(|i| 3.0 - 0.5 * f64::from(i)).collect();
        assert_eq!(roughness(&line), [0.0; 9]);
        assert_eq!(roughness(&[0.0, 1.0, 0.0]), [-2.0, 4.0, -2.0]);
    }
}
