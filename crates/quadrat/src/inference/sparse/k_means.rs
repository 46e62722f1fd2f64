//! Where inducing points begin: k-means++ among the points of the rows.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Points per centre that are clustered, at most: others are left out evenly.
const PER_CENTRE: usize = 200;
/// Rounds of moving the centres.
const ROUNDS: usize = 20;

/// Chooses points that represent many: k-means, begun by k-means++, each centre moved to the point
/// nearest to it.
///
/// # Arguments
/// * `columns` - coordinates, one list per column, all of one length, in units in which distances
///   compare (lengthscales)
/// * `count` - how many are wanted; all distinct points where there are no more
/// * `seed` - of the random choices
///
/// # Returns
/// Indices of distinct points, ascending.
///
/// # Numerics
/// `O(n count columns)` for each of some twenty rounds, over at most 200 points per centre.
///
/// # Source
/// Arthur and Vassilvitskii 2007.
///
/// # Examples
/// ```
/// use quadrat::inference::sparse::k_means;
/// let x = vec![vec![0.0, 0.1, 5.0, 5.1, 5.1, 9.0]];
/// let chosen = k_means(&x, 3, 1);
/// assert!(chosen[0] <= 1 && (2..5).contains(&chosen[1]) && chosen[2] == 5);
/// assert_eq!(k_means(&x, 100, 1), [0, 1, 2, 3, 5]);
/// ```
#[must_use]
pub fn k_means(columns: &[Vec<f64>], count: usize, seed: u64) -> Vec<usize> {
    let n = columns.first().map_or(0, Vec::len);
    let distinct = distinct(columns, n);
    if distinct.len() <= count {
        return distinct;
    }
    if count == 0 {
        return Vec::new();
    }
    let kept = distinct.len().min(PER_CENTRE.saturating_mul(count));
    let kept: Vec<usize> = (0..kept)
        .map(|i| distinct[i * distinct.len() / kept])
        .collect();
    let at = |i: usize| -> Vec<f64> { columns.iter().map(|c| c[i]).collect() };
    let points: Vec<Vec<f64>> = kept.iter().map(|&i| at(i)).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let first = random.random_range(0..points.len());
    let mut centres = vec![points[first].clone()];
    let mut nearest: Vec<f64> = points.iter().map(|p| distance(p, &centres[0])).collect();
    while centres.len() < count {
        let total: f64 = nearest.iter().sum();
        let mut u = random.random::<f64>() * total;
        let chosen = nearest.iter().position(|d| {
            u -= d;
            u < 0.0
        });
        // Rounding may leave `u` above the whole sum: then the farthest point.
        let farthest = || (0..points.len()).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]));
        let chosen = chosen.or_else(farthest).unwrap_or(0);
        let centre = points[chosen].clone();
        nearest
            .par_iter_mut()
            .zip(&points)
            .for_each(|(d, p)| *d = d.min(distance(p, &centre)));
        centres.push(centre);
    }
    for _ in 0..ROUNDS {
        let own: Vec<usize> = points.par_iter().map(|p| closest(p, &centres)).collect();
        let mut sums = vec![vec![0.0; columns.len()]; count];
        let mut sizes = vec![0.0; count];
        for (p, &k) in points.iter().zip(&own) {
            sizes[k] += 1.0;
            sums[k].iter_mut().zip(p).for_each(|(s, x)| *s += x);
        }
        let mut moved = 0.0_f64;
        for ((centre, sum), size) in centres.iter_mut().zip(sums).zip(sizes) {
            if size > 0.0 {
                let next: Vec<f64> = sum.iter().map(|s| s / size).collect();
                moved = moved.max(distance(centre, &next));
                *centre = next;
            }
        }
        if moved == 0.0 {
            break;
        }
    }
    // Each centre becomes the nearest point that no other has taken: an average of labels is no
    // label.
    let mut taken = vec![false; points.len()];
    for centre in &centres {
        let free = (0..points.len()).filter(|&i| !taken[i]);
        let best = free
            .min_by(|&a, &b| distance(&points[a], centre).total_cmp(&distance(&points[b], centre)));
        if let Some(best) = best {
            taken[best] = true;
        }
    }
    let chosen = (0..points.len()).filter(|&i| taken[i]);
    chosen.map(|i| kept[i]).collect()
}

/// The first of every set of equal points.
fn distinct(columns: &[Vec<f64>], n: usize) -> Vec<usize> {
    let mut seen = std::collections::HashSet::with_capacity(n);
    let key = |i: usize| -> Vec<u64> { columns.iter().map(|c| (c[i] + 0.0).to_bits()).collect() };
    (0..n).filter(|&i| seen.insert(key(i))).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

fn closest(point: &[f64], centres: &[Vec<f64>]) -> usize {
    let mut best = (f64::INFINITY, 0);
    for (k, centre) in centres.iter().enumerate() {
        let d = distance(point, centre);
        if d < best.0 {
            best = (d, k);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cluster_has_its_point() {
        // Nine clusters on a grid, in two columns.
        let n = 900;
        let jitter = |i: usize| ((i * 7919) % 101) as f64 / 1000.0;
        let x: Vec<f64> = (0..n).map(|i| (i % 3) as f64 + jitter(i)).collect();
        let y: Vec<f64> = (0..n).map(|i| (i / 3 % 3) as f64 + jitter(i + 5)).collect();
        let chosen = k_means(&[x.clone(), y.clone()], 9, 3);
        let mut seen: Vec<(i64, i64)> = chosen
            .iter()
            .map(|&i| (x[i].floor() as i64, y[i].floor() as i64))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        // k-means++ may put two into one cluster: not into three.
        assert!(chosen.len() == 9 && seen.len() >= 7, "{seen:?}");
        assert_eq!(chosen, k_means(&[x, y], 9, 3));
    }

    /// Rounds of k-means leave every centre among points that are closest to it: all clusters that
    /// it has found keep their centre.
    #[test]
    fn points_belong_to_the_closest_centre() {
        let centres = [vec![0.0, 0.0], vec![3.0, 0.0], vec![0.0, 4.0]];
        for (k, centre) in centres.iter().enumerate() {
            for (dx, dy) in [(0.0, 0.0), (1.4, -0.5), (-1.0, 1.4)] {
                assert_eq!(closest(&[centre[0] + dx, centre[1] + dy], &centres), k);
            }
        }
    }
}
