//! Boxes of several cells that rows are known to lie in.
//!
//! With `u` the probabilities of the cells and `A` the share of each cell that lies in each box,
//!
//! $$ \log p(y | u) = \sum_j y_j \log u_j + \sum_b Y_b \log p_b, \qquad p_b = \sum_j A_{bj} u_j $$
//!
//! and with `r_b = A_b u / p_b` the density within a box, its slope in `log u` is `Y_b r_b` beside
//! that of the intercept, and what is missing of the information `Y_b (diag r_b - r_b r_b')`.

use crate::linalg::{Mat, dot, gemm, gemm_into};

use super::super::cells::Cells;
use super::super::counts::{covers, rounded, span};
use super::super::error::{DensityError, Warning};
use super::functions::Functions;

/// More different boxes than this are rounded to edges of cells.
const MOST_BOXES: usize = 1500;
/// Boxes that a cell may lie in, on average, and boxes that are left after rounding.
const OVERLAP: usize = 40;
const MOST: usize = 6000;

/// A box in the data with the weight of its rows: ends along both axes.
pub(super) type Boxed = ([(f64, f64); 2], f64);

/// Boxes of several cells.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Patches {
    /// Weight of the rows of each.
    pub weights: Vec<f64>,
    /// Of every cell: the first and one behind the last of its entries.
    starts: Vec<usize>,
    /// A box, and the share of the cell that lies in it.
    entries: Vec<(usize, f64)>,
}

/// A box in cells.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Patch {
    spans: [super::super::counts::Span; 2],
    weight: f64,
}

impl Patch {
    fn is_cell(&self) -> bool {
        self.spans.iter().all(|s| s.first == s.last)
    }

    fn key(&self) -> [usize; 4] {
        let [a, b] = self.spans;
        [a.first, a.last, b.first, b.last]
    }

    fn cells(&self) -> usize {
        let sides = self.spans.map(|s| s.last - s.first + 1);
        sides[0] * sides[1]
    }
}

impl Patches {
    /// Lays boxes over cells; those within one cell are added to its count, and those that cover
    /// all are left out.
    ///
    /// # Errors
    /// Boxes that overlap too often, or of which too many are left.
    pub fn new(
        axes: &[Cells; 2],
        boxes: &[Boxed],
        counts: &mut [f64],
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, DensityError> {
        let columns = axes[1].len();
        let merge = boxes.len() > MOST_BOXES;
        if merge {
            warnings.push(Warning::Merged {
                intervals: boxes.len(),
                cells: counts.len(),
            });
        }
        let mut kept: Vec<Patch> = Vec::new();
        for (ends, weight) in boxes {
            let spans = [0, 1].map(|a| {
                let own = span(&axes[a], ends[a].0, ends[a].1, *weight);
                if merge { rounded(own) } else { own }
            });
            let patch = Patch {
                spans,
                weight: *weight,
            };
            if patch.is_cell() {
                counts[spans[0].first * columns + spans[1].first] += weight;
            } else if ![0, 1].into_iter().all(|a| covers(&spans[a], axes[a].len())) {
                kept.push(patch);
            }
        }
        if merge {
            kept.sort_unstable_by_key(Patch::key);
            kept.dedup_by(|next, first| {
                let same = next.key() == first.key();
                if same {
                    first.weight += next.weight;
                }
                same
            });
        }
        let reach: usize = kept.iter().map(Patch::cells).sum();
        if reach > OVERLAP * counts.len() {
            let value = (reach / counts.len()) as f64;
            return Err(DensityError::Setting {
                what: "the number of boxes that a cell lies in on average",
                value,
                requirement: "at most 40: join boxes that overlap",
            });
        }
        if kept.len() > MOST {
            return Err(DensityError::Setting {
                what: "the number of different boxes of several cells",
                value: kept.len() as f64,
                requirement: "at most 6000: take fewer cells, which boxes are rounded to",
            });
        }
        Ok(Self::index(&kept, columns, counts.len()))
    }

    fn index(kept: &[Patch], columns: usize, cells: usize) -> Self {
        let mut of_cell: Vec<Vec<(usize, f64)>> = vec![Vec::new(); cells];
        for (b, patch) in kept.iter().enumerate() {
            for i in patch.spans[0].cells() {
                for j in patch.spans[1].cells() {
                    let share = patch.spans[0].share(i) * patch.spans[1].share(j);
                    if share > 0.0 {
                        of_cell[i * columns + j].push((b, share));
                    }
                }
            }
        }
        let mut out = Self {
            weights: kept.iter().map(|p| p.weight).collect(),
            starts: vec![0],
            entries: Vec::new(),
        };
        for entries in of_cell {
            out.entries.extend(entries);
            out.starts.push(out.entries.len());
        }
        out
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Checks that something of each box can hold a value.
    ///
    /// # Errors
    /// The first box of which no cell can.
    pub fn reach(&self, inside: &[f64]) -> Result<(), DensityError> {
        match self.sums(inside).iter().position(|sum| *sum <= 0.0) {
            Some(b) => Err(DensityError::NoReach {
                weight: self.weights[b],
            }),
            None => Ok(()),
        }
    }

    /// The boxes that a cell lies in, with its share.
    pub fn of(&self, cell: usize) -> &[(usize, f64)] {
        match self.is_empty() {
            true => &[],
            false => &self.entries[self.starts[cell]..self.starts[cell + 1]],
        }
    }

    /// `p_b`: the sum of numbers of the cells within each box.
    pub fn sums(&self, u: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.weights.len()];
        for (cell, u) in u.iter().enumerate() {
            for (b, share) in self.of(cell) {
                out[*b] += share * u;
            }
        }
        out
    }

    /// The log likelihood of all boxes.
    pub fn value(&self, u: &[f64]) -> f64 {
        let sums = self.sums(u);
        let terms = self.weights.iter().zip(sums);
        terms.map(|(w, p)| w * p.max(f64::MIN_POSITIVE).ln()).sum()
    }

    /// `sum_b Y_b r_b`: where the rows of boxes are expected to lie.
    pub fn held(&self, u: &[f64]) -> Vec<f64> {
        let by: Vec<f64> = self.per(&self.sums(u), |_| 1.0);
        self.spread(u, &by)
    }

    /// `Y_b of(b) / p_b`.
    fn per(&self, sums: &[f64], of: impl Fn(usize) -> f64) -> Vec<f64> {
        let pairs = self.weights.iter().zip(sums).enumerate();
        pairs
            .map(|(b, (w, p))| w * of(b) / p.max(f64::MIN_POSITIVE))
            .collect()
    }

    /// `u_j sum_b A_bj by_b`.
    fn spread(&self, u: &[f64], by: &[f64]) -> Vec<f64> {
        let of = |(cell, u): (usize, &f64)| {
            let entries = self.of(cell).iter();
            u * entries.map(|(b, share)| share * by[*b]).sum::<f64>()
        };
        u.iter().enumerate().map(of).collect()
    }

    /// `Phi' r_b` in columns, shape `[functions, boxes]`.
    fn within(&self, functions: &Functions, u: &[f64], sums: &[f64]) -> Mat<f64> {
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
                crate::linalg::add_scaled(by, &values, out.col_as_slice_mut(*b));
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
