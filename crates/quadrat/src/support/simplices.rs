//! Lists of simplices in any dimension.

use serde::{Deserialize, Serialize};

use super::ring::RegionError;
use crate::quadrature::simplex_volume;

/// Disjoint simplices seen as one set: intervals, triangles, tetrahedra and so on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simplices {
    dim: usize,
    /// Vertices of one simplex after the other, each of `dim` coordinates.
    vertices: Vec<f64>,
    volume: f64,
}

impl Simplices {
    /// From simplices of `dim + 1` vertices of `dim` coordinates each.
    ///
    /// # Errors
    /// [`RegionError`].
    pub fn new(simplices: &[Vec<Vec<f64>>]) -> Result<Self, RegionError> {
        let dim = simplices
            .first()
            .and_then(|s| s.first())
            .map_or(0, Vec::len);
        if dim == 0 {
            return Err(RegionError::Empty { what: "simplices" });
        }
        let mut vertices = Vec::with_capacity(simplices.len() * (dim + 1) * dim);
        let mut volume = 0.0;
        for (index, simplex) in simplices.iter().enumerate() {
            if simplex.len() != dim + 1 {
                return Err(RegionError::Shape {
                    what: format!("simplex {index}: number of vertices"),
                    got: simplex.len(),
                    expected: dim + 1,
                });
            }
            for vertex in simplex {
                if vertex.len() != dim || vertex.iter().any(|c| !c.is_finite()) {
                    return Err(RegionError::Shape {
                        what: format!("simplex {index}: number of finite coordinates of a vertex"),
                        got: vertex.iter().filter(|c| c.is_finite()).count(),
                        expected: dim,
                    });
                }
                vertices.extend_from_slice(vertex);
            }
            let start = vertices.len() - (dim + 1) * dim;
            let own = simplex_volume(&vertices[start..], dim);
            if own == 0.0 {
                return Err(RegionError::ZeroVolume {
                    what: "simplex",
                    index,
                });
            }
            volume += own;
        }
        if !volume.is_finite() {
            return Err(RegionError::TooLarge);
        }
        Ok(Self {
            dim,
            vertices,
            volume,
        })
    }

    /// Whether the volume is that of the vertices, as it may not be in one read from a file that
    /// was changed.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let size = (self.dim + 1) * self.dim;
        let whole =
            self.dim > 0 && !self.vertices.is_empty() && self.vertices.len().is_multiple_of(size);
        if !whole || self.vertices.iter().any(|c| !c.is_finite()) {
            return false;
        }
        let volumes: Vec<f64> = self.iter().map(|s| simplex_volume(s, self.dim)).collect();
        volumes.iter().all(|v| *v > 0.0) && volumes.iter().sum::<f64>() == self.volume
    }

    /// Number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Sum of the volumes.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// The centre of mass, which may lie outside.
    ///
    /// # Numerics
    /// Relative to the size of the set a few `eps`, wherever its origin.
    #[must_use]
    pub fn centroid(&self) -> Vec<f64> {
        let origin: Vec<f64> = self.vertices[..self.dim].to_vec();
        let mut moment = vec![0.0; self.dim];
        for simplex in self.iter() {
            let share = simplex_volume(simplex, self.dim) / self.volume;
            let own = share / (self.dim + 1) as f64;
            for vertex in simplex.chunks_exact(self.dim) {
                let from_origin = vertex.iter().zip(&origin).map(|(x, o)| x - o);
                let pairs = moment.iter_mut().zip(from_origin);
                pairs.for_each(|(m, x)| *m += own * x);
            }
        }
        origin.iter().zip(&moment).map(|(o, m)| o + m).collect()
    }

    /// The simplices, each as its vertices one after the other (`(dim + 1) * dim` numbers).
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> + '_ {
        self.vertices.chunks_exact((self.dim + 1) * self.dim)
    }

    /// Smallest and largest coordinate along each input.
    #[must_use]
    pub fn bounds(&self) -> Vec<(f64, f64)> {
        (0..self.dim)
            .map(|d| {
                let all = self.vertices.iter().skip(d).step_by(self.dim);
                all.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &c| {
                    (lo.min(c), hi.max(c))
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_bounds_and_refusals() {
        let tetrahedron = vec![
            vec![1.0, 0.0, 0.0],
            vec![3.0, 0.0, 0.0],
            vec![1.0, 3.0, 0.0],
            vec![1.0, 0.0, 4.0],
        ];
        let one = Simplices::new(std::slice::from_ref(&tetrahedron)).unwrap();
        assert_eq!(one.volume(), 4.0);
        assert_eq!(one.bounds(), [(1.0, 3.0), (0.0, 3.0), (0.0, 4.0)]);
        // The average of the vertices.
        assert_eq!(one.centroid(), [1.5, 0.75, 1.0]);
        assert!(one.is_consistent());
        let mut other = one.clone();
        other.vertices[0] = 0.5;
        assert!(!other.is_consistent());
        other.vertices.pop();
        assert!(!other.is_consistent());
        let mut flat = tetrahedron.clone();
        flat[3] = vec![2.0, 1.0, 0.0];
        assert!(matches!(
            Simplices::new(&[tetrahedron.clone(), flat]),
            Err(RegionError::ZeroVolume {
                what: "simplex",
                index: 1
            })
        ));
        let mut short = tetrahedron.clone();
        short.pop();
        assert!(matches!(
            Simplices::new(&[short]),
            Err(RegionError::Shape { .. })
        ));
        let mut infinite = tetrahedron;
        infinite[2][1] = f64::NAN;
        assert!(matches!(
            Simplices::new(&[infinite]),
            Err(RegionError::Shape { .. })
        ));
        assert_eq!(
            Simplices::new(&[]),
            Err(RegionError::Empty { what: "simplices" })
        );
    }
}
