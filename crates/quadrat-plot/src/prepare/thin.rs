//! Fewer marks than rows, without losing what stands out.

/// At most `limit` indices of `0..n`, evenly spaced, with both ends.
pub(crate) fn evenly(n: usize, limit: usize) -> Vec<usize> {
    if n <= limit || limit < 2 {
        return (0..n.min(limit.max(n.min(1)))).collect();
    }
    let mut kept: Vec<usize> = (0..limit).map(|i| i * (n - 1) / (limit - 1)).collect();
    kept.dedup();
    kept
}

/// At most about `limit` indices of a series, keeping the lowest and the highest value of every
/// stretch and both ends.
pub(crate) fn extremes(values: &[f64], limit: usize) -> Vec<usize> {
    let n = values.len();
    if n <= limit {
        return (0..n).collect();
    }
    let stretches = (limit / 2).max(1);
    let mut kept = vec![0];
    for s in 0..stretches {
        let stretch = s * n / stretches..(s + 1) * n / stretches;
        let lowest = stretch
            .clone()
            .min_by(|&a, &b| values[a].total_cmp(&values[b]));
        let highest = stretch.max_by(|&a, &b| values[a].total_cmp(&values[b]));
        kept.extend(lowest);
        kept.extend(highest);
    }
    kept.push(n - 1);
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_thinning_keeps_both_ends_and_the_limit() {
        assert_eq!(evenly(5, 10), [0, 1, 2, 3, 4]);
        assert_eq!(evenly(0, 10), Vec::<usize>::new());
        let kept = evenly(1000, 7);
        assert_eq!(
            (kept.first(), kept.last(), kept.len()),
            (Some(&0), Some(&999), 7)
        );
    }

    #[test]
    fn a_single_peak_survives_thinning() {
        let mut values = vec![0.0; 100_000];
        values[54_321] = 9.0;
        values[12_345] = -9.0;
        let kept = extremes(&values, 1500);
        assert!(kept.len() <= 1502);
        assert!(kept.contains(&54_321) && kept.contains(&12_345));
        assert!(kept.contains(&0) && kept.contains(&99_999));
        assert!(kept.is_sorted());
    }
}
