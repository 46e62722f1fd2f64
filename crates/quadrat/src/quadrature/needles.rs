//! Nodes on triangles that are nearly lines.

use super::simplex::{Nodes, longest_edge};
use super::simplex_volume;

/// Nodes on disjoint triangles that are needles, nearly lines: at the centres of slices across
/// them. Every triangle is cut from the vertex opposite its longest edge, and each of both parts
/// into slices of one length from its tip, whose areas grow as they do from there.
///
/// # Arguments
/// * `triangles` - vertices one after the other, six numbers each
/// * `lengthscales` - one per dimension, positive
/// * `longest` - length of a slice in units of the lengthscales, at most
/// * `most` - nodes
/// # Returns
/// The nodes; none when they would be more, or where simplices are no triangles.
#[must_use]
pub fn needle_nodes(
    triangles: &[Vec<f64>],
    lengthscales: &[f64],
    longest: f64,
    most: usize,
) -> Option<Nodes> {
    let [_, _] = lengthscales else {
        return None;
    };
    let volumes: Vec<f64> = triangles.iter().map(|t| simplex_volume(t, 2)).collect();
    let total: f64 = volumes.iter().sum();
    let mut nodes = Nodes::new(2);
    for (triangle, volume) in triangles.iter().zip(&volumes) {
        let (edge, from, to) = longest_edge(triangle, lengthscales);
        let vertex = |v: usize| [triangle[2 * v], triangle[2 * v + 1]];
        let (a, c, b) = (vertex(from), vertex(to), vertex(3 - from - to));
        // Where the vertex stands over the edge, as a part of that.
        let along = |d: usize| (c[d] - a[d]) / lengthscales[d];
        let over = |d: usize| (b[d] - a[d]) / lengthscales[d] * along(d);
        let part = match edge > 0.0 {
            true => ((over(0) + over(1)) / (edge * edge)).clamp(0.0, 1.0),
            false => 0.5,
        };
        let foot = [0, 1].map(|d| a[d] + part * (c[d] - a[d]));
        for (tip, share) in [(a, part), (c, 1.0 - part)] {
            if share <= 0.0 {
                continue;
            }
            let count = (share * edge / longest).ceil().max(1.0);
            if nodes.len() as f64 + count > most as f64 {
                return None;
            }
            for k in 0..count as usize {
                let (u, v) = (k as f64 / count, (k + 1) as f64 / count);
                let area = v * v - u * u;
                // The mean of a distance from the tip that counts as often as it is large.
                let place = 2.0 / 3.0 * (u * u + u * v + v * v) / (u + v);
                let at = |d: usize| tip[d] + place * (0.5 * (foot[d] + b[d]) - tip[d]);
                nodes.push([at(0), at(1)], volume / total * share * area);
            }
        }
    }
    Some(nodes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Areas and first moments are those of the triangles, and second ones along a needle to the
    /// square of the length of a slice.
    #[test]
    fn slices_of_needles_have_their_moments() {
        let needles = [
            vec![0.0, 0.0, 3.0, 1.0, 3.0, 1.0 + 1e-7],
            vec![1.0, 2.0, -4.0, 2.0, 0.5, 2.0 + 1e-8],
        ];
        let volumes: Vec<f64> = needles.iter().map(|t| simplex_volume(t, 2)).collect();
        let total: f64 = volumes.iter().sum();
        let nodes = needle_nodes(&needles, &[0.5, 2.0], 0.01, 4000).unwrap();
        assert!((nodes.weights.iter().sum::<f64>() - 1.0).abs() < 1e-13);
        for d in 0..2 {
            // The mean of x is that of the vertices, of x^2 `(sum x^2 + sum x y) / 6`.
            let of = |power: usize| {
                let each = needles.iter().zip(&volumes).map(|(t, volume)| {
                    let [x, y, z] = [t[d], t[2 + d], t[4 + d]];
                    let mean = match power {
                        1 => (x + y + z) / 3.0,
                        _ => (x * x + y * y + z * z + x * y + x * z + y * z) / 6.0,
                    };
                    mean * volume / total
                });
                each.sum::<f64>()
            };
            assert!((nodes.mean(|x| x[d]) - of(1)).abs() < 1e-12);
            assert!((nodes.mean(|x| x[d] * x[d]) - of(2)).abs() < 1e-4);
        }
        assert!(needle_nodes(&needles, &[0.5, 2.0], 0.01, 100).is_none());
    }
}
