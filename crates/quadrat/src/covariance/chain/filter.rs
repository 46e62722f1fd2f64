//! Row after row: what the rows before say of the next, and how far it is off.

use super::places::{Event, Places};
use super::states::{Layout, MOST_STATES, Seen, Steps};
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

/// A row given those before it.
pub(super) struct Observed<'a, const P: usize> {
    pub row: usize,
    pub what: Seen,
    /// The row is so many times what it looks at.
    pub factor: f64,
    /// Its variance given those before, noise included.
    pub open: Dual<P>,
    /// Its covariance with the states.
    pub gain: &'a [Dual<P>],
}

/// States of all parts given the rows so far.
struct Filter<'a, const P: usize> {
    layout: &'a Layout,
    /// Of the function: the sum of the variances of the parts.
    variance: f64,
    /// Covariance, shape `[size, size]`.
    covariance: Vec<Dual<P>>,
    /// `A P`, column by column.
    led: Vec<Dual<P>>,
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
    let layout = Layout::new(parts, places.has_boxes);
    let count = columns.len();
    let zero = Dual::constant(0.0);
    let mut means = vec![zero; count * layout.size];
    let mut out = Products {
        log_det: zero,
        products: vec![zero; count * count],
    };
    filter((parts, &layout), places, noise, |told| match told {
        Told::Begin => means
            .chunks_exact_mut(layout.size)
            .for_each(|mean| mean[layout.size - 1] = zero),
        Told::Step(steps) => means
            .chunks_exact_mut(layout.size)
            .for_each(|mean| layout.lead(steps, mean)),
        Told::Row(row) => out.add(&row, &layout, columns, &mut means),
    })?;
    Some(out)
}

/// What happens on the way.
pub(super) enum Told<'a, const P: usize> {
    /// A box begins.
    Begin,
    /// A step leads to the next place.
    Step(&'a [Step<P>]),
    /// A row is observed.
    Row(Observed<'a, P>),
}

/// Goes along the line, and tells what every row is given those before it. None where rounding
/// decides.
pub(super) fn filter<const P: usize>(
    (parts, layout): (&[Part<P>], &Layout),
    places: &Places,
    noise: &[Dual<P>],
    mut tell: impl FnMut(Told<'_, P>),
) -> Option<()> {
    let steps = Steps::new(parts, places);
    let mut filter = Filter::new(parts, layout);
    let mut gain = [Dual::constant(0.0); MOST_STATES];
    let gain = &mut gain[..layout.size];
    for (step, event) in &places.events {
        if let Some(steps) = steps.at(*step) {
            filter.lead(&steps);
            tell(Told::Step(&steps));
        }
        let (row, what, factor, weight) = match *event {
            Event::Begin => {
                filter.begin();
                tell(Told::Begin);
                continue;
            }
            Event::Point { row, weight } => (row, Seen::Function, weight, weight),
            Event::End {
                row,
                weight,
                length,
            } => (row, Seen::Sum, weight / length, weight),
        };
        let open = filter.observe((what, factor), weight, noise[row], gain)?;
        tell(Told::Row(Observed {
            row,
            what,
            factor,
            open,
            gain,
        }));
    }
    Some(())
}

impl<const P: usize> Products<P> {
    /// A row: what is off of every column, and what states are given it.
    fn add(
        &mut self,
        row: &Observed<'_, P>,
        layout: &Layout,
        columns: &[&[f64]],
        means: &mut [Dual<P>],
    ) {
        let (size, count) = (layout.size, columns.len());
        let inverse = row.open.recip();
        self.log_det += row.open.ln();
        let mut off = [Dual::constant(0.0); MOST_COLUMNS];
        for ((column, off), mean) in columns
            .iter()
            .zip(&mut off)
            .zip(means.chunks_exact_mut(size))
        {
            let told = layout.seen(row.what, mean) * row.factor;
            *off = Dual::constant(column[row.row]) - told;
            let part = *off * inverse;
            for (mean, gain) in mean.iter_mut().zip(row.gain) {
                *mean += *gain * part;
            }
        }
        for a in 0..count {
            let part = off[a] * inverse;
            for b in 0..count {
                self.products[a * count + b] += part * off[b];
            }
        }
    }
}

impl<'a, const P: usize> Filter<'a, P> {
    fn new(parts: &[Part<P>], layout: &'a Layout) -> Self {
        let size = layout.size;
        let mut covariance = vec![Dual::constant(0.0); size * size];
        for (part, (own, first)) in parts.iter().zip(&layout.parts) {
            let before = part.before();
            for i in 0..*own {
                for j in 0..*own {
                    covariance[(first + i) * size + first + j] = before[i][j];
                }
            }
        }
        Self {
            variance: parts.iter().map(|part| part.variance().value).sum(),
            layout,
            led: covariance.clone(),
            covariance,
        }
    }

    /// Nothing is added up yet.
    fn begin(&mut self) {
        let (size, sum) = (self.layout.size, self.layout.size - 1);
        for i in 0..size {
            self.covariance[i * size + sum] = Dual::constant(0.0);
            self.covariance[sum * size + i] = Dual::constant(0.0);
        }
    }

    /// To the next place.
    fn lead(&mut self, steps: &[Step<P>]) {
        let size = self.layout.size;
        // A P, column by column: those of a symmetric matrix are its rows. Then A (A P)'.
        self.led.copy_from_slice(&self.covariance);
        for column in self.led.chunks_exact_mut(size) {
            self.layout.lead(steps, column);
        }
        for i in 0..size {
            let mut row = [Dual::constant(0.0); MOST_STATES];
            let row = &mut row[..size];
            for j in 0..size {
                row[j] = self.led[j * size + i];
            }
            self.layout.lead(steps, row);
            self.covariance[i * size..(i + 1) * size].copy_from_slice(row);
        }
        let sum = size - 1;
        for (&(own, first), step) in self.layout.parts.iter().zip(steps) {
            for i in 0..own {
                for j in 0..own {
                    self.covariance[(first + i) * size + first + j] += step.fresh[i][j];
                }
                self.covariance[(first + i) * size + sum] += step.fresh_sum[i];
                self.covariance[sum * size + first + i] += step.fresh_sum[i];
            }
            self.covariance[sum * size + sum] += step.sum_variance;
        }
    }

    /// A row, `factor` times what it looks at or `weight` times an average of the function: its
    /// variance, and into `gain` its covariance with the states, which are then given it. None
    /// where what is open of the row is rounding.
    fn observe(
        &mut self,
        (what, factor): (Seen, f64),
        weight: f64,
        noise: Dual<P>,
        gain: &mut [Dual<P>],
    ) -> Option<Dual<P>> {
        let size = self.layout.size;
        for (i, gain) in gain.iter_mut().enumerate() {
            let states = &self.covariance[i * size..(i + 1) * size];
            *gain = self.layout.seen(what, states) * factor;
        }
        let open = self.layout.seen(what, gain) * factor + noise;
        let whole = weight * weight * self.variance;
        if !(open.value.is_finite() && open.value > LEAST * whole) {
            return None;
        }
        let inverse = open.recip();
        for i in 0..size {
            let part = gain[i] * inverse;
            for j in 0..=i {
                let left = self.covariance[i * size + j] - part * gain[j];
                self.covariance[i * size + j] = left;
                self.covariance[j * size + i] = left;
            }
        }
        Some(open)
    }
}
