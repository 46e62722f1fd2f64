//! Row after row: what the rows before say of the next, and how far it is off.

use super::matern::MOST;
use super::places::{Event, Places};
use super::step::{Part, Step};
use crate::linalg::Dual;

/// What rows say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Products<const P: usize> {
    /// `log det Ky`.
    pub log_det: Dual<P>,
    /// `B' Ky^-1 B`, row by row, shape `[c, c]`.
    pub products: Vec<Dual<P>>,
}

impl<const P: usize> Products<P> {
    /// The products of `count` columns where one of them is so many times as large.
    pub fn scale(&mut self, count: usize, column: usize, by: Dual<P>) {
        for other in 0..count {
            for at in [column * count + other, other * count + column] {
                self.products[at] = self.products[at] * by;
            }
        }
    }
}

/// A row that the rows before it tell to this part of the function's variance is told by rounding.
const LEAST: f64 = 1e-11;

/// Most columns `B`.
pub(super) const MOST_COLUMNS: usize = 8;
/// Most states of all parts together, with what a box adds up.
pub(super) const MOST_STATES: usize = 16;

/// What a row looks at.
#[derive(Debug, Clone, Copy)]
enum Seen {
    /// The function at a place.
    Function,
    /// What a box added up.
    Sum,
}

/// States of all parts, the last for what a box adds up, given the rows so far.
struct Filter<'a, const P: usize> {
    parts: &'a [Part<P>],
    /// Of the function: the sum of the variances of the parts.
    variance: f64,
    /// Where the states of every part begin.
    first: Vec<usize>,
    size: usize,
    /// Means of every column, shape `[c, size]`.
    means: Vec<Dual<P>>,
    /// Covariance, shape `[size, size]`.
    covariance: Vec<Dual<P>>,
    /// `A P`, column by column.
    led: Vec<Dual<P>>,
    out: Products<P>,
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
    parts: &[Part<P>],
    places: &Places,
    noise: &[Dual<P>],
    columns: &[&[f64]],
) -> Option<Products<P>> {
    let steps: Vec<Vec<Step<P>>> = places.steps[1..]
        .iter()
        .map(|length| {
            let each = parts.iter();
            each.map(|part| part.step(*length, places.has_boxes))
                .collect()
        })
        .collect();
    let mut filter = Filter::new(parts, columns.len());
    for (step, event) in &places.events {
        if let Some(steps) = step.checked_sub(1).map(|at| &steps[at]) {
            filter.lead(steps, places.has_boxes);
        }
        match *event {
            Event::Begin => filter.begin(),
            Event::Point { row, weight } => {
                filter.observe((Seen::Function, weight), (row, weight), noise[row], columns)?;
            }
            Event::End {
                row,
                weight,
                length,
            } => {
                let factor = weight / length;
                filter.observe((Seen::Sum, factor), (row, weight), noise[row], columns)?;
            }
        }
    }
    Some(filter.out)
}

impl<'a, const P: usize> Filter<'a, P> {
    fn new(parts: &'a [Part<P>], columns: usize) -> Self {
        let zero = Dual::constant(0.0);
        let mut first = Vec::with_capacity(parts.len());
        let mut size = 0;
        for part in parts {
            first.push(size);
            size += part.states();
        }
        size += 1;
        let mut covariance = vec![zero; size * size];
        for (part, first) in parts.iter().zip(&first) {
            let before = part.before();
            for i in 0..part.states() {
                for j in 0..part.states() {
                    covariance[(first + i) * size + first + j] = before[i][j];
                }
            }
        }
        Self {
            variance: parts.iter().map(|part| part.variance().value).sum(),
            parts,
            first,
            size,
            means: vec![zero; columns * size],
            led: covariance.clone(),
            covariance,
            out: Products {
                log_det: zero,
                products: vec![zero; columns * columns],
            },
        }
    }

    /// Nothing is added up yet.
    fn begin(&mut self) {
        let (size, sum) = (self.size, self.size - 1);
        for i in 0..size {
            self.covariance[i * size + sum] = Dual::constant(0.0);
            self.covariance[sum * size + i] = Dual::constant(0.0);
        }
        for mean in self.means.chunks_exact_mut(size) {
            mean[sum] = Dual::constant(0.0);
        }
    }

    /// To the next place.
    fn lead(&mut self, steps: &[Step<P>], with_sums: bool) {
        let size = self.size;
        for mean in self.means.chunks_exact_mut(size) {
            lead_states((self.parts, &self.first), steps, with_sums, mean);
        }
        // A P, column by column: those of a symmetric matrix are its rows. Then A (A P)'.
        self.led.copy_from_slice(&self.covariance);
        for column in self.led.chunks_exact_mut(size) {
            lead_states((self.parts, &self.first), steps, with_sums, column);
        }
        for i in 0..size {
            let mut row = [Dual::constant(0.0); MOST_STATES];
            let row = &mut row[..size];
            for j in 0..size {
                row[j] = self.led[j * size + i];
            }
            lead_states((self.parts, &self.first), steps, with_sums, row);
            self.covariance[i * size..(i + 1) * size].copy_from_slice(row);
        }
        let sum = size - 1;
        for ((part, &first), step) in self.parts.iter().zip(&self.first).zip(steps) {
            for i in 0..part.states() {
                for j in 0..part.states() {
                    self.covariance[(first + i) * size + first + j] += step.fresh[i][j];
                }
                self.covariance[(first + i) * size + sum] += step.fresh_sum[i];
                self.covariance[sum * size + first + i] += step.fresh_sum[i];
            }
            self.covariance[sum * size + sum] += step.sum_variance;
        }
    }

    /// What a row looks at, of some states.
    fn seen(&self, what: Seen, states: &[Dual<P>]) -> Dual<P> {
        match what {
            Seen::Function => {
                let each = self.first.iter().map(|first| states[*first]);
                each.fold(Dual::constant(0.0), |sum, state| sum + state)
            }
            Seen::Sum => states[self.size - 1],
        }
    }

    /// A row, `factor` times what it looks at or `weight` times an average of the function: what is
    /// off of every column, and what states are given it. None where what is open of the row is
    /// rounding.
    fn observe(
        &mut self,
        (what, factor): (Seen, f64),
        (row, weight): (usize, f64),
        noise: Dual<P>,
        columns: &[&[f64]],
    ) -> Option<()> {
        let (size, count) = (self.size, columns.len());
        let mut gain = [Dual::constant(0.0); MOST_STATES];
        let gain = &mut gain[..size];
        for (i, gain) in gain.iter_mut().enumerate() {
            let states = &self.covariance[i * size..(i + 1) * size];
            *gain = self.seen(what, states) * factor;
        }
        let open = self.seen(what, gain) * factor + noise;
        let whole = weight * weight * self.variance;
        if !(open.value.is_finite() && open.value > LEAST * whole) {
            return None;
        }
        let inverse = open.recip();
        self.out.log_det += open.ln();
        let mut off = [Dual::constant(0.0); MOST_COLUMNS];
        for (c, column) in columns.iter().enumerate() {
            let told = self.seen(what, &self.means[c * size..(c + 1) * size]) * factor;
            off[c] = Dual::constant(column[row]) - told;
            let part = off[c] * inverse;
            let means = &mut self.means[c * size..(c + 1) * size];
            for (mean, gain) in means.iter_mut().zip(&*gain) {
                *mean += *gain * part;
            }
        }
        for a in 0..count {
            let part = off[a] * inverse;
            for b in 0..count {
                self.out.products[a * count + b] += part * off[b];
            }
        }
        for i in 0..size {
            let part = gain[i] * inverse;
            for j in 0..=i {
                let left = self.covariance[i * size + j] - part * gain[j];
                self.covariance[i * size + j] = left;
                self.covariance[j * size + i] = left;
            }
        }
        Some(())
    }
}

/// Overwrites states with where a step leads them: `A x`, and for what is added up `x + phi x`.
fn lead_states<const P: usize>(
    (parts, first): (&[Part<P>], &[usize]),
    steps: &[Step<P>],
    with_sums: bool,
    states: &mut [Dual<P>],
) {
    let sum = states.len() - 1;
    for ((part, &first), step) in parts.iter().zip(first).zip(steps) {
        let own = part.states();
        let mut next = [Dual::constant(0.0); MOST];
        for i in 0..own {
            for j in 0..own {
                next[i] += step.lead[i][j] * states[first + j];
            }
            if with_sums {
                let added = step.sum[i] * states[first + i];
                states[sum] += added;
            }
        }
        states[first..first + own].copy_from_slice(&next[..own]);
    }
}
