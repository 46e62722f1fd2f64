//! Boxes along a line that have parts in common: what share of each row counts.
//!
//! A row with likelihood `p(y_i | f)` counts as `p(y_i | f)^(w_i)`, where the shares of all rows
//! that hold a place add up to one at most. That is never surer than the joint distribution of the
//! rows: with expected counts `lambda` of pieces, rows `A` of sums of them and `mu = A lambda`,
//!
//! $$ A^\top \operatorname{diag}(w / \mu) A \preceq A^\top (A \operatorname{diag}(\lambda)
//!    A^\top)^{-1} A, $$
//!
//! since `B = diag(w / mu)^{1/2} A diag(lambda)^{1/2}` has no singular value above one: it takes
//! `sqrt(lambda)` to `sqrt(w mu)`, and its transpose takes that to `sqrt(lambda)` times the sums of
//! shares (Schur's test). For the same reason the score has a variance of at most that information,
//! so that intervals are not too narrow.

/// What is shared counts from this part of the smaller row on: borders that were simplified, or
/// hours that were rounded, share less.
pub(super) const SHARED: f64 = 0.05;

pub(super) type Edges = (f64, f64);

/// For every box one over the most boxes that hold a place within it, itself among them.
///
/// # Numerics
/// O(n log n). Borders of less than a twentieth of the smaller box are none.
pub(super) fn shares(boxes: &[Edges]) -> Vec<f64> {
    let inner = |&(lower, upper): &Edges| {
        let border = 0.5 * SHARED * (upper - lower);
        (lower + border, upper - border)
    };
    let inner: Vec<Edges> = boxes.iter().map(inner).collect();
    let mut edges: Vec<f64> = inner.iter().flat_map(|&(a, b)| [a, b]).collect();
    edges.sort_unstable_by(f64::total_cmp);
    edges.dedup();
    let at = |x: f64| edges.partition_point(|e| *e < x);
    // How many boxes hold each piece between neighbouring edges.
    let mut opened = vec![0_i64; edges.len()];
    for &(lower, upper) in &inner {
        opened[at(lower)] += 1;
        opened[at(upper)] -= 1;
    }
    let mut held = 0;
    let counts = opened.into_iter().map(|change| {
        held += change;
        held
    });
    let largest = Largest::new(counts.collect());
    let share = |&(lower, upper): &Edges| 1.0 / largest.among(at(lower), at(upper)).max(1) as f64;
    inner.iter().map(share).collect()
}

/// The largest of neighbouring numbers, by a tree of pairs.
struct Largest {
    tree: Vec<i64>,
    count: usize,
}

impl Largest {
    fn new(numbers: Vec<i64>) -> Self {
        let count = numbers.len();
        let mut tree = vec![0; count];
        tree.extend(numbers);
        for i in (1..count).rev() {
            tree[i] = tree[2 * i].max(tree[2 * i + 1]);
        }
        Self { tree, count }
    }

    /// From one number up to, not including, another.
    fn among(&self, from: usize, to: usize) -> i64 {
        let (mut from, mut to, mut most) = (from + self.count, to + self.count, 0);
        while from < to {
            if from % 2 == 1 {
                most = most.max(self.tree[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                most = most.max(self.tree[to]);
            }
            from /= 2;
            to /= 2;
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_sums_count_as_many_times_less_as_they_are_wide() {
        let weeks: Vec<Edges> = (0..30).map(|t| (f64::from(t), f64::from(t + 7))).collect();
        assert_eq!(shares(&weeks), vec![1.0 / 7.0; 30]);
        // The last two meet no other but for a border.
        let boxes = [(0.0, 10.0), (5.0, 15.0), (14.9, 25.0), (25.0, 26.0)];
        assert_eq!(shares(&boxes), [0.5, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn shares_of_what_holds_a_place_add_up_to_one_at_most() {
        // Boxes of all widths at places that have nothing to do with them.
        let boxes: Vec<Edges> = (0..200_u32)
            .map(|i| {
                let lower = f64::from(i * 7919 % 1000);
                (lower, lower + 1.0 + f64::from(i * 104_729 % 400))
            })
            .collect();
        let found = shares(&boxes);
        for place in (0..1400).map(|x| f64::from(x) + 0.5) {
            let holds = |&(a, b): &Edges| {
                let border = 0.5 * SHARED * (b - a);
                a + border < place && place < b - border
            };
            let own = boxes.iter().zip(&found).filter(|(own, _)| holds(own));
            let sum: f64 = own.map(|(_, share)| share).sum();
            // Roundings of two hundred terms.
            assert!(sum < 1.0 + 1e-12, "{sum} at {place}");
        }
    }
}
