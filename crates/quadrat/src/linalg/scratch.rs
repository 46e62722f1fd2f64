//! Memory for intermediate matrices, kept by each thread between calls.
//!
//! A matrix of 1000 rows fills 2000 pages. Fresh ones cost about a sixth of an evaluation of the
//! evidence: the system hands them out one by one, and takes them back at the end.

use std::cell::Cell;

use faer::MatMut;

/// Numbers that a thread keeps at most: 32 MiB. Larger work takes so long that pages are cheap.
const KEPT: usize = 1 << 22;

thread_local! {
    static SPARE: Cell<Vec<f64>> = const { Cell::new(Vec::new()) };
}

/// Lends a square matrix of size `n` of arbitrary content.
pub(super) fn with_scratch<T>(n: usize, work: impl FnOnce(MatMut<'_, f64>) -> T) -> T {
    // An odd number of cache lines per column, so that no two columns compete for the same sets.
    let stride = (n.div_ceil(8) | 1) * 8;
    let mut memory = SPARE.take();
    if memory.len() < n * stride {
        memory = vec![0.0; n * stride];
    }
    let matrix = &mut memory[..n * stride];
    let out = work(MatMut::from_column_major_slice_with_stride_mut(
        matrix, n, n, stride,
    ));
    // A call from within found nothing to take and kept its own: the last one returned stays.
    if memory.len() <= KEPT {
        SPARE.set(memory);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_loans_are_distinct() {
        let sum = with_scratch(5, |mut outer| {
            outer.fill(1.0);
            with_scratch(7, |mut inner| inner.fill(2.0));
            outer.sum()
        });
        assert_eq!(sum, 25.0);
        with_scratch(3, |matrix| {
            assert_eq!((matrix.nrows(), matrix.ncols()), (3, 3))
        });
        with_scratch(0, |matrix| assert_eq!(matrix.nrows(), 0));
    }
}
