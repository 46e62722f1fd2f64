//! Row after row: what the rows before say of the next, and how far it is off.

use super::events::{LineEvent, LineEvents};
use super::states::{Layout, LookedAt, MOST_STATES, Steps};
use super::step::{ProcessPart, Step};
use crate::linalg::Dual;

/// A row that the rows before it tell to this part of the function's variance is told by rounding.
const LEAST: f64 = 1e-11;

/// What rows tell is the same where covariances, and their slopes, change by no more than this part
/// of them from one to the next.
const STEADY: f64 = 8.0 * f64::EPSILON;
const STEADY_SLOPES: f64 = 64.0 * f64::EPSILON;

/// A row, or what is asked, given the rows before it.
pub(super) struct FilteredRow<'a, const P: usize> {
    pub row: usize,
    pub what: LookedAt,
    /// The row is so many times what it looks at.
    pub factor: f64,
    /// Its variance given those before, noise included.
    pub open: Dual<P>,
    /// Whether it is only asked, and no row.
    pub is_asked: bool,
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
    /// The covariance after the row before.
    before: Vec<Dual<P>>,
    /// Whether it was the same but for rounding.
    is_steady: bool,
}

/// The way to a row from the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Way<const P: usize> {
    /// Steps to where its box begins, if it has one, and from there.
    begin: Option<usize>,
    step: usize,
    /// What it looks at, and how many times.
    look: (LookedAt, f64),
    noise: Dual<P>,
}

/// A row along the line.
struct Passed {
    row: usize,
    what: LookedAt,
    /// So many times what it looks at, or an average of the function.
    factor: f64,
    weight: f64,
}

/// Rows along the line, each with the steps to where its box begins and to itself.
fn rows(places: &LineEvents) -> impl Iterator<Item = (Option<usize>, usize, Passed)> {
    let mut begin = None;
    places.events.iter().filter_map(move |&(step, event)| {
        let (row, what, factor, weight) = match event {
            LineEvent::Begin => {
                begin = Some(step);
                return None;
            }
            LineEvent::Point { row, weight } => (row, LookedAt::Function, weight, weight),
            LineEvent::End {
                row,
                weight,
                length,
            } => (row, LookedAt::Sum, weight / length, weight),
        };
        let passed = Passed {
            row,
            what,
            factor,
            weight,
        };
        Some((begin.take(), step, passed))
    })
}

/// What happens on the way.
pub(super) enum FilterStep<'a, const P: usize> {
    /// A box begins.
    Begin,
    /// A step leads to the next place.
    Step(&'a [Step<P>]),
    /// A row is observed.
    Row(FilteredRow<'a, P>),
}

/// Goes along the line, and tells what every row is given those before it. What has no noise, after
/// the last row that has, is only asked. None where rounding decides.
pub(super) fn filter<const P: usize>(
    (parts, layout): (&[ProcessPart<P>], &Layout),
    places: &LineEvents,
    noise: &[Dual<P>],
    mut tell: impl FnMut(FilterStep<'_, P>),
) -> Option<()> {
    let steps = Steps::new(parts, places);
    let mut filter = Filter::new(parts, layout);
    let mut gain = [Dual::constant(0.0); MOST_STATES];
    let gain = &mut gain[..layout.size];
    let mut open = Dual::constant(0.0);
    let mut last: Option<Way<P>> = None;
    for (begin, step, what) in rows(places) {
        let of_noise = noise.get(what.row);
        let way = of_noise.map(|noise| Way {
            begin,
            step,
            look: (what.what, what.factor),
            noise: *noise,
        });
        let is_again = way.is_some() && way == last;
        // Rows that come the same way tell the same after a while.
        let is_steady = is_again && filter.is_steady;
        for (step, begins) in begin
            .map(|step| (step, true))
            .into_iter()
            .chain([(step, false)])
        {
            if let Some(steps) = steps.at(step) {
                if !is_steady {
                    filter.lead(&steps);
                }
                tell(FilterStep::Step(&steps));
            }
            if begins {
                filter.begin();
                tell(FilterStep::Begin);
            }
        }
        if !is_steady {
            open = filter.look((what.what, what.factor), gain);
            if let Some(noise) = of_noise {
                open += *noise;
                filter.observe(open, what.weight, gain)?;
            }
            filter.is_steady = is_again && filter.stays();
        }
        last = way;
        tell(FilterStep::Row(FilteredRow {
            row: what.row,
            what: what.what,
            factor: what.factor,
            open,
            gain,
            is_asked: of_noise.is_none(),
        }));
    }
    Some(())
}

impl<'a, const P: usize> Filter<'a, P> {
    fn new(parts: &[ProcessPart<P>], layout: &'a Layout) -> Self {
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
            before: covariance.clone(),
            is_steady: false,
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
                if self.layout.has_sums {
                    self.covariance[(first + i) * size + sum] += step.fresh_sum[i];
                    self.covariance[sum * size + first + i] += step.fresh_sum[i];
                }
            }
            if self.layout.has_sums {
                self.covariance[sum * size + sum] += step.sum_variance;
            }
        }
    }

    /// What is `factor` times what it looks at: its variance, and into `gain` its covariance with
    /// the states.
    fn look(&self, (what, factor): (LookedAt, f64), gain: &mut [Dual<P>]) -> Dual<P> {
        let size = self.layout.size;
        for (i, gain) in gain.iter_mut().enumerate() {
            let states = &self.covariance[i * size..(i + 1) * size];
            *gain = self.layout.seen(what, states) * factor;
        }
        self.layout.seen(what, gain) * factor
    }

    /// States are given a row of this variance and these covariances with them, `weight` times an
    /// average of the function. None where what is open of the row is rounding.
    fn observe(&mut self, open: Dual<P>, weight: f64, gain: &[Dual<P>]) -> Option<()> {
        let size = self.layout.size;
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
        Some(())
    }

    /// Whether the covariance is that after the row before, which is then forgotten.
    fn stays(&mut self) -> bool {
        let size = self.layout.size;
        let own = |i: usize| &self.covariance[i * size + i];
        let is_near = |i: usize, j: usize| {
            let (now, before) = (&self.covariance[i * size + j], &self.before[i * size + j]);
            let (a, b) = (own(i), own(j));
            let near =
                |off: f64, most: f64, a: f64, b: f64| off * off <= most * most * (a * b).abs();
            let slopes = now.slopes.iter().zip(&before.slopes);
            near(now.value - before.value, STEADY, a.value, b.value)
                && slopes
                    .zip(a.slopes.iter().zip(&b.slopes))
                    .all(|((now, before), (a, b))| near(now - before, STEADY_SLOPES, *a, *b))
        };
        // What was added up in a box is forgotten.
        let states = size - usize::from(self.layout.has_sums);
        let is_same = (0..states).all(|i| (0..=i).all(|j| is_near(i, j)));
        self.before.copy_from_slice(&self.covariance);
        is_same
    }
}
