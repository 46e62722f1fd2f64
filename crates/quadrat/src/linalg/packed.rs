//! Symmetric matrices as plain numbers: their lower triangle, column by column.

use faer::Mat;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The lower triangle of a square matrix, column by column.
#[must_use]
pub fn lower(a: &Mat<f64>) -> Vec<f64> {
    let columns = (0..a.ncols()).flat_map(|j| a.col_as_slice(j)[j..].iter().copied());
    columns.collect()
}

/// The matrix with both triangles, of `n` rows; none where the numbers are not `n (n + 1) / 2`.
#[must_use]
pub fn from_lower(lower: &[f64], n: usize) -> Option<Mat<f64>> {
    let count = n.checked_add(1).and_then(|m| n.checked_mul(m))? / 2;
    if lower.len() != count {
        return None;
    }
    // Column j begins after those of n, n - 1, .. entries.
    let at = |i: usize, j: usize| lower[j * n - j * (j + 1) / 2 + i];
    Some(Mat::from_fn(n, n, |i, j| at(i.max(j), i.min(j))))
}

/// For `serde(with = ..)`: the number of rows and the lower triangle.
///
/// # Errors
/// Those of the format.
pub fn serialize<S: Serializer>(a: &Mat<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    (a.nrows(), lower(a)).serialize(serializer)
}

/// The other way, with both triangles.
///
/// # Errors
/// Those of the format; sizes that do not fit.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Mat<f64>, D::Error> {
    let (n, lower) = <(usize, Vec<f64>)>::deserialize(deserializer)?;
    from_lower(&lower, n)
        .ok_or_else(|| serde::de::Error::custom("a triangle does not have the size it says"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_is_read_as_it_was_written() {
        for n in [0, 1, 2, 5] {
            let a = Mat::from_fn(n, n, |i, j| (i * j + i + j) as f64);
            assert_eq!(from_lower(&lower(&a), n).unwrap(), a);
        }
        assert!(from_lower(&[1.0, 2.0], 2).is_none());
        assert!(from_lower(&[], usize::MAX).is_none());
    }
}
