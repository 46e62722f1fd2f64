//! Lists of simplices in any dimension.

use serde::{Deserialize, Serialize};

use super::region::RegionError;

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
        Ok(Self {
            dim,
            vertices,
            volume,
        })
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

/// `|det [v_1 - v_0, ..]| / d!` by elimination with pivoting.
///
/// # Source
/// Stein 1966, as in Algorithm 1 of Smith, Alvarez and Lawrence.
fn simplex_volume(vertices: &[f64], dim: usize) -> f64 {
    let mut rows: Vec<Vec<f64>> = (1..=dim)
        .map(|k| {
            (0..dim)
                .map(|d| vertices[k * dim + d] - vertices[d])
                .collect()
        })
        .collect();
    let mut volume = 1.0;
    for c in 0..dim {
        let Some(pivot) = (c..dim).max_by(|&a, &b| rows[a][c].abs().total_cmp(&rows[b][c].abs()))
        else {
            return 0.0;
        };
        rows.swap(c, pivot);
        let head = rows[c][c];
        if head == 0.0 {
            return 0.0;
        }
        volume *= head.abs() / (c + 1) as f64;
        for r in c + 1..dim {
            let factor = rows[r][c] / head;
            for k in c..dim {
                rows[r][k] -= factor * rows[c][k];
            }
        }
    }
    volume
}
