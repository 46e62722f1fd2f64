//! How far rows of many columns of values are from what the rows before tell of them, with slopes.
//!
//! A state of all columns lies together, its values first and then its slopes in one parameter
//! after the other, so that one instruction leads several columns.

use pulp::{Arch, Simd, WithSimd};

use super::events::LineEvents;
use super::filter::{FilterStep, FilteredRow, filter};
use super::matern::MOST;
use super::states::{Layout, LookedAt};
use super::step::{ProcessPart, Step};
use crate::linalg::{Dual, Mat, gemm_into};

/// Most columns `B`, of two or three cycles with all their harmonics.
pub(super) const MOST_COLUMNS: usize = 320;

/// Lanes of the widest instruction set: columns are padded to so many times some.
const LANES: usize = 8;
/// Rows whose products are added up at a time.
const ROWS: usize = 128;

/// What rows say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Products<const P: usize> {
    /// `log det Ky`.
    pub log_det: Dual<P>,
    /// `B' Ky^-1 B`, row by row, shape `[c, c]`.
    pub products: Vec<Dual<P>>,
}

impl<const P: usize> Products<P> {
    /// The same with slopes in further parameters, on which nothing depends yet.
    pub fn widened<const W: usize>(self) -> Products<W> {
        Products {
            log_det: self.log_det.widened(),
            products: self.products.into_iter().map(Dual::widened).collect(),
        }
    }

    /// The products of `count` columns where one of them is so many times as large.
    pub fn scale(&mut self, count: usize, column: usize, by: Dual<P>) {
        for other in 0..count {
            for at in [column * count + other, other * count + column] {
                self.products[at] = self.products[at] * by;
            }
        }
    }
}

/// What rows at places on a line say together, under the sum of some processes.
///
/// With `e` what is off of a column and `s` the variance of a row given those before it,
///
/// $$ \log\det K_y = \sum_i \log s_i, \qquad B' K_y^{-1} B = \sum_i e_i e_i' / s_i $$
///
/// # Arguments
/// * `noise` - variances of the rows
/// * `columns` - `B`, one after the other, each of the length of the rows
///
/// None where rounding decides.
///
/// # Source
/// Kalman 1960; Rasmussen and Williams 2006, appendix B.
pub(super) fn products<const P: usize>(
    parts: &[ProcessPart<P>],
    places: &LineEvents,
    noise: &[Dual<P>],
    columns: &[&[f64]],
) -> Option<Products<P>> {
    let layout = Layout::new(parts, places.has_boxes);
    let mut columns = Columns::new(&layout, columns);
    filter((parts, &layout), places, noise, |told| match told {
        FilterStep::Begin => columns.begin(),
        FilterStep::Step(steps) => columns.lead(steps),
        FilterStep::Row(row) => columns.observe(&row),
    })?;
    Some(columns.into_products())
}

/// Means of the states of every column, and the products of what is off of the columns.
struct Columns<'a, const P: usize> {
    arch: Arch,
    layout: &'a Layout,
    columns: &'a [&'a [f64]],
    padded: usize,
    /// Of every state the values and the slopes, shape `[size, 1 + P, padded]`.
    states: Vec<f64>,
    /// The values of a row, shape `[padded]`.
    row: Vec<f64>,
    log_det: Dual<P>,
    /// What is off of the last rows in their sds, `E`, and its slopes, each of shape
    /// `[padded, ROWS]`, and how many rows there are.
    off: Mat<f64>,
    slopes: [Mat<f64>; P],
    rows: usize,
    /// `E E'`, and `E dE'` for every slope.
    products: Mat<f64>,
    with_slopes: [Mat<f64>; P],
}

impl<'a, const P: usize> Columns<'a, P> {
    fn new(layout: &'a Layout, columns: &'a [&'a [f64]]) -> Self {
        let count = columns.len();
        let padded = count.next_multiple_of(LANES);
        Self {
            arch: Arch::new(),
            layout,
            columns,
            padded,
            states: vec![0.0; layout.size * (1 + P) * padded],
            row: vec![0.0; padded],
            log_det: Dual::constant(0.0),
            off: Mat::zeros(padded, ROWS),
            slopes: std::array::from_fn(|_| Mat::zeros(padded, ROWS)),
            rows: 0,
            products: Mat::zeros(count, count),
            with_slopes: std::array::from_fn(|_| Mat::zeros(count, count)),
        }
    }

    /// Nothing is added up yet.
    fn begin(&mut self) {
        let of_state = (1 + P) * self.padded;
        self.states[(self.layout.size - 1) * of_state..].fill(0.0);
    }

    /// To the next place.
    fn lead(&mut self, steps: &[Step<P>]) {
        self.arch.dispatch(Lead {
            layout: self.layout,
            steps,
            states: &mut self.states,
        });
    }

    /// A row: what is off of every column, and what states are given it.
    fn observe(&mut self, row: &FilteredRow<'_, P>) {
        if self.rows == ROWS {
            self.add_up();
        }
        for (value, column) in self.row.iter_mut().zip(self.columns) {
            *value = column[row.row];
        }
        self.log_det += row.open.ln();
        let at = self.rows;
        self.arch.dispatch(Observe {
            layout: self.layout,
            row,
            values: &self.row,
            states: &mut self.states,
            off: self.off.col_as_slice_mut(at),
            slopes: self.slopes.each_mut().map(|d| d.col_as_slice_mut(at)),
        });
        self.rows += 1;
    }

    /// Adds the last rows to the products.
    fn add_up(&mut self) {
        let count = self.columns.len();
        let off = self.off.as_ref().submatrix(0, 0, count, self.rows);
        gemm_into(self.products.as_mut(), true, 1.0, off, off.transpose());
        for (out, slopes) in self.with_slopes.iter_mut().zip(&self.slopes) {
            let slopes = slopes.as_ref().submatrix(0, 0, count, self.rows);
            gemm_into(out.as_mut(), true, 1.0, off, slopes.transpose());
        }
        self.rows = 0;
    }

    fn into_products(mut self) -> Products<P> {
        self.add_up();
        let count = self.columns.len();
        let at = |k: usize| {
            let (a, b) = (k / count, k % count);
            let slopes = self.with_slopes.each_ref();
            Dual {
                value: self.products[(a.max(b), a.min(b))],
                slopes: slopes.map(|d| d[(a, b)] + d[(b, a)]),
            }
        };
        Products {
            log_det: self.log_det,
            products: (0..count * count).map(at).collect(),
        }
    }
}

/// A number of every column with its slopes, some lanes of it.
#[derive(Clone, Copy)]
struct Several<V, const P: usize> {
    value: V,
    slopes: [V; P],
}

/// Lanes `k` of a state, of which all have `width` vectors for values and as many for each slope.
#[inline(always)]
fn load<V: Copy, const P: usize>(all: &[V], state: usize, width: usize, k: usize) -> Several<V, P> {
    let first = state * (1 + P) * width + k;
    let mut slopes = [all[first]; P];
    for (p, slope) in slopes.iter_mut().enumerate() {
        *slope = all[first + (1 + p) * width];
    }
    Several {
        value: all[first],
        slopes,
    }
}

/// Puts them back.
#[inline(always)]
fn store<V: Copy, const P: usize>(
    all: &mut [V],
    state: usize,
    width: usize,
    k: usize,
    what: Several<V, P>,
) {
    let first = state * (1 + P) * width + k;
    all[first] = what.value;
    for (p, slope) in what.slopes.into_iter().enumerate() {
        all[first + (1 + p) * width] = slope;
    }
}

/// `sum + factor x`.
#[inline(always)]
fn add<S: Simd, const P: usize>(
    s: S,
    sum: Several<S::f64s, P>,
    factor: &Dual<P>,
    x: Several<S::f64s, P>,
) -> Several<S::f64s, P> {
    let by = s.splat_f64s(factor.value);
    let mut out = sum;
    out.value = s.mul_add_f64s(by, x.value, sum.value);
    for p in 0..P {
        let slope = s.splat_f64s(factor.slopes[p]);
        let own = s.mul_add_f64s(by, x.slopes[p], sum.slopes[p]);
        out.slopes[p] = s.mul_add_f64s(slope, x.value, own);
    }
    out
}

#[inline(always)]
fn zero<S: Simd, const P: usize>(s: S) -> Several<S::f64s, P> {
    Several {
        value: s.splat_f64s(0.0),
        slopes: [s.splat_f64s(0.0); P],
    }
}

/// States become `A x`, and what is added up grows by `phi x`.
struct Lead<'a, const P: usize> {
    layout: &'a Layout,
    steps: &'a [Step<P>],
    states: &'a mut [f64],
}

impl<const P: usize> WithSimd for Lead<'_, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let size = self.layout.size;
        let all = S::as_mut_simd_f64s(self.states).0;
        let width = all.len() / (size * (1 + P));
        for k in 0..width {
            let mut sum = match self.layout.has_sums {
                true => load::<_, P>(all, size - 1, width, k),
                false => zero::<S, P>(s),
            };
            for (&(own, first), step) in self.layout.parts.iter().zip(self.steps) {
                let mut before = [zero::<S, P>(s); MOST];
                for i in 0..own {
                    before[i] = load(all, first + i, width, k);
                    if self.layout.has_sums {
                        sum = add(s, sum, &step.sum[i], before[i]);
                    }
                }
                for i in 0..own {
                    let mut next = zero::<S, P>(s);
                    for j in 0..own {
                        next = add(s, next, &step.lead[i][j], before[j]);
                    }
                    store(all, first + i, width, k, next);
                }
            }
            if self.layout.has_sums {
                store(all, size - 1, width, k, sum);
            }
        }
    }
}

/// What is off of a row in its sds, and states given it.
struct Observe<'a, const P: usize> {
    layout: &'a Layout,
    row: &'a FilteredRow<'a, P>,
    values: &'a [f64],
    states: &'a mut [f64],
    off: &'a mut [f64],
    slopes: [&'a mut [f64]; P],
}

impl<const P: usize> WithSimd for Observe<'_, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let size = self.layout.size;
        let root = self.row.open.sqrt().recip();
        let by_factor = Dual::constant(-self.row.factor);
        let all = S::as_mut_simd_f64s(self.states).0;
        let values = S::as_simd_f64s(self.values).0;
        let off = S::as_mut_simd_f64s(self.off).0;
        let slopes = self.slopes.map(|slope| S::as_mut_simd_f64s(slope).0);
        for k in 0..values.len() {
            // The value less what the states tell of it.
            let mut left = Several {
                value: values[k],
                slopes: [s.splat_f64s(0.0); P],
            };
            match self.row.what {
                LookedAt::Sum => {
                    left = add(s, left, &by_factor, load(all, size - 1, values.len(), k));
                }
                LookedAt::Function => {
                    for (_, first) in &self.layout.parts {
                        left = add(s, left, &by_factor, load(all, *first, values.len(), k));
                    }
                }
            }
            let in_sds = add(s, zero::<S, P>(s), &root, left);
            let part = add(s, zero::<S, P>(s), &root, in_sds);
            off[k] = in_sds.value;
            for p in 0..P {
                slopes[p][k] = in_sds.slopes[p];
            }
            for (i, gain) in self.row.gain.iter().enumerate() {
                let state = load(all, i, values.len(), k);
                store(all, i, values.len(), k, add(s, state, gain, part));
            }
        }
    }
}
