//! A factor of the covariance of rows along a line.

use rayon::iter::ParallelIterator;

use super::events::LineEvents;
use super::filter::{FilterStep, filter};
use super::matern::MOST;
use super::states::{Layout, LookedAt, MOST_STATES};
use super::step::{ProcessPart, Step};
use crate::linalg::{Dual, Mat, MatMut};

/// Columns that are led along the line together.
const LANES: usize = 8;

/// A state of several columns.
type Lanes = [f64; LANES];

/// `Ky = L L'` of rows along a line: what every row is beside what those before it on the line tell
/// of it. No matrix is ever formed.
///
/// `L^-1 b` is what is off of the values `b` row after row, in standard deviations, and `L^-T` is
/// the same way back. Both are in the order of the rows, so that `L` is a triangle in the order of
/// the line only.
///
/// Beside the rows it may hold what is only asked, after them. Of these [`Self::solve_in_place`]
/// tells posterior means in place of entries of `Ky^-1 b`, and [`Self::inverse_diagonal`]
/// posterior variances.
///
/// # Source
/// Durbin and Koopman 2012, "Time Series Analysis by State Space Methods", sections 4.3 to 4.5.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainFactor {
    layout: Layout,
    /// What the parts do over the steps, each length once.
    steps: Vec<Vec<Lead>>,
    events: Vec<Passed>,
    /// Covariances of rows with states, over the rows' variances, row after row along the line,
    /// shape `[n, states]`; of what is asked the covariances themselves.
    gains: Vec<f64>,
    /// The number of rows and of what is asked.
    rows: usize,
    log_det: f64,
}

/// What a part does over a step, as [`Step`] says.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lead {
    lead: [[f64; MOST]; MOST],
    sum: [f64; MOST],
}

/// What happens on the way from the lowest place to the highest.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Passed {
    /// A box begins.
    Begin,
    /// A step, which of all.
    Step(usize),
    /// A row is observed.
    Row(Row),
    /// Something is asked.
    Asked(Row),
}

/// A row on the way.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    row: usize,
    what: LookedAt,
    /// The row is so many times what it looks at.
    factor: f64,
    /// Its variance given the rows before it, noise included.
    open: f64,
}

impl ChainFactor {
    /// None where rounding decides.
    pub(super) fn new(
        parts: &[ProcessPart<0>],
        places: &LineEvents,
        noise: &[Dual<0>],
    ) -> Option<Self> {
        let layout = Layout::new(parts, places.has_boxes);
        let mut steps = Vec::new();
        let mut events = Vec::with_capacity(2 * places.events.len());
        let mut gains = Vec::with_capacity(noise.len() * layout.size);
        let mut log_det = 0.0;
        let mut met = vec![None; places.steps.len()];
        let mut lengths = places.events.iter().map(|(length, _)| *length);
        filter((parts, &layout), places, noise, |told| match told {
            FilterStep::Begin => events.push(Passed::Begin),
            FilterStep::Step(own) => {
                // The step that is told is the next of some length.
                let Some(length) = lengths.find(|length| *length > 0) else {
                    return;
                };
                let at = *met[length].get_or_insert_with(|| {
                    steps.push(own.iter().map(Lead::new).collect());
                    steps.len() - 1
                });
                events.push(Passed::Step(at));
            }
            FilterStep::Row(told) => {
                let open = told.open.value;
                let row = Row {
                    row: told.row,
                    what: told.what,
                    factor: told.factor,
                    open,
                };
                let (event, over) = match told.is_asked {
                    true => (Passed::Asked(row), 1.0),
                    false => (Passed::Row(row), open),
                };
                if !told.is_asked {
                    log_det += open.ln();
                }
                gains.extend(told.gain.iter().map(|gain| gain.value / over));
                events.push(event);
            }
        })?;
        Some(Self {
            layout,
            steps,
            events,
            gains,
            rows: places.rows(),
            log_det,
        })
    }

    /// Number of rows `n`, with what is asked.
    #[must_use]
    pub fn size(&self) -> usize {
        self.rows
    }

    /// `log det Ky`, in nats.
    #[must_use]
    pub fn log_det(&self) -> f64 {
        self.log_det
    }

    /// The least of the variance of a row that those before it on the line leave, as a share;
    /// `whole` holds the variances of the rows, noise included.
    #[must_use]
    pub fn least_left(&self, whole: &[f64]) -> f64 {
        let rows = self.events.iter().filter_map(|event| match event {
            Passed::Row(row) => Some(row.open / whole[row.row]),
            _ => None,
        });
        rows.fold(1.0, f64::min)
    }

    /// Overwrites `b`, shape `[n, m]`, with `L^-1 b`; what is asked with what the rows before it on
    /// the line say.
    pub fn half_solve_in_place(&self, b: MatMut<'_, f64>) {
        b.par_col_chunks_mut(LANES)
            .for_each(|few| self.lead_on(few));
    }

    /// Overwrites `b`, shape `[n, m]`, with `L^-T b`.
    pub fn half_solve_transpose_in_place(&self, b: MatMut<'_, f64>) {
        b.par_col_chunks_mut(LANES)
            .for_each(|few| self.lead_back(few));
    }

    /// Overwrites `b`, shape `[n, m]`, with `Ky^-1 b`; what is asked with `k' Ky^-1 b`.
    pub fn solve_in_place(&self, mut b: MatMut<'_, f64>) {
        self.half_solve_in_place(b.as_mut());
        self.half_solve_transpose_in_place(b);
    }

    /// Posterior means and variances of what is asked, given values `b` of the rows.
    #[must_use]
    pub fn told(&self, b: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let value = |i: usize| b.get(i).copied().unwrap_or(0.0);
        let mut means = Mat::from_fn(self.rows, 1, |i, _| value(i));
        self.solve_in_place(means.as_mut());
        let asked = |all: &[f64]| all.get(b.len()..).unwrap_or_default().to_vec();
        (
            asked(means.col_as_slice(0)),
            asked(&self.inverse_diagonal()),
        )
    }

    /// The diagonal of `Ky^-1`, length `n`: with `g` the gain of a row, `h` what it looks at, and
    /// `N` what the rows after it say of the states,
    ///
    /// $$ (K_y^{-1})_{ii} = 1 / s_i + g' N g, \qquad N \leftarrow (I - h g') N (I - g h') +
    ///    h h' / s_i $$
    ///
    /// Of what is asked posterior variances `s_i - g' N g`.
    #[must_use]
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let size = self.layout.size;
        let mut diagonal = vec![0.0; self.rows];
        let mut n = vec![0.0; size * size];
        let mut gains = self.gains.chunks_exact(size);
        for event in self.events.iter().rev() {
            match *event {
                Passed::Begin => (0..size).for_each(|i| {
                    n[i * size + size - 1] = 0.0;
                    n[(size - 1) * size + i] = 0.0;
                }),
                Passed::Step(step) => self.lead_both_back(step, &mut n),
                Passed::Row(row) | Passed::Asked(row) => {
                    let Some(gain) = gains.next_back() else {
                        break;
                    };
                    let mut led = [0.0; MOST_STATES];
                    for (led, own) in led.iter_mut().zip(n.chunks_exact(size)) {
                        *led = own.iter().zip(gain).map(|(n, g)| n * g).sum();
                    }
                    let told: f64 = led.iter().zip(gain).map(|(led, g)| led * g).sum();
                    if matches!(event, Passed::Asked(_)) {
                        diagonal[row.row] = row.open - told;
                        continue;
                    }
                    let inverse = row.open.recip() + told;
                    diagonal[row.row] = inverse;
                    let h = self.looked_at(row);
                    for i in 0..size {
                        for j in 0..size {
                            n[i * size + j] +=
                                h[i] * h[j] * inverse - h[i] * led[j] - led[i] * h[j];
                        }
                    }
                }
            }
        }
        diagonal
    }

    /// `Ky^-1`, both triangles.
    #[must_use]
    pub fn inverse(&self) -> Mat<f64> {
        let mut inverse = Mat::identity(self.rows, self.rows);
        self.solve_in_place(inverse.as_mut());
        inverse
    }

    /// `h`: a row is `h` times the states.
    fn looked_at(&self, row: Row) -> [f64; MOST_STATES] {
        let mut h = [0.0; MOST_STATES];
        match row.what {
            LookedAt::Function => {
                let firsts = self.layout.parts.iter().map(|(_, first)| *first);
                firsts.for_each(|first| h[first] = row.factor);
            }
            LookedAt::Sum => h[self.layout.size - 1] = row.factor,
        }
        h
    }

    fn lead_on(&self, mut b: MatMut<'_, f64>) {
        let (size, columns) = (self.layout.size, b.ncols());
        let mut states = [[0.0; LANES]; MOST_STATES];
        let mut gains = self.gains.chunks_exact(size);
        for event in &self.events {
            match *event {
                Passed::Begin => states[size - 1] = [0.0; LANES],
                Passed::Step(step) => self.step_on(step, &mut states),
                Passed::Row(row) => {
                    let Some(gain) = gains.next() else {
                        return;
                    };
                    let seen = self.seen(row.what, &states);
                    let mut off = [0.0; LANES];
                    for c in 0..columns {
                        off[c] = b[(row.row, c)] - row.factor * seen[c];
                    }
                    for (state, gain) in states.iter_mut().zip(gain) {
                        add(state, *gain, &off);
                    }
                    let inverse = row.open.sqrt().recip();
                    for c in 0..columns {
                        b[(row.row, c)] = off[c] * inverse;
                    }
                }
                Passed::Asked(row) => {
                    gains.next();
                    let seen = self.seen(row.what, &states);
                    for c in 0..columns {
                        b[(row.row, c)] = row.factor * seen[c];
                    }
                }
            }
        }
    }

    fn lead_back(&self, mut b: MatMut<'_, f64>) {
        let (size, columns) = (self.layout.size, b.ncols());
        let mut states = [[0.0; LANES]; MOST_STATES];
        let mut gains = self.gains.chunks_exact(size);
        for event in self.events.iter().rev() {
            match *event {
                Passed::Begin => states[size - 1] = [0.0; LANES],
                Passed::Step(step) => self.step_back(step, &mut states),
                Passed::Row(row) => {
                    let Some(gain) = gains.next_back() else {
                        return;
                    };
                    let inverse = row.open.sqrt().recip();
                    let mut told = [0.0; LANES];
                    for c in 0..columns {
                        told[c] = b[(row.row, c)] * inverse;
                    }
                    for (state, gain) in states.iter().zip(gain) {
                        add(&mut told, *gain, state);
                    }
                    for c in 0..columns {
                        b[(row.row, c)] = told[c];
                    }
                    match row.what {
                        LookedAt::Function => self.layout.parts.iter().for_each(|(_, first)| {
                            add(&mut states[*first], -row.factor, &told);
                        }),
                        LookedAt::Sum => add(&mut states[size - 1], -row.factor, &told),
                    }
                }
                Passed::Asked(row) => {
                    let Some(gain) = gains.next_back() else {
                        return;
                    };
                    // What the rows after it say on top of what those before it said.
                    let mut told = [0.0; LANES];
                    for (state, gain) in states.iter().zip(gain) {
                        add(&mut told, *gain, state);
                    }
                    for c in 0..columns {
                        b[(row.row, c)] -= told[c];
                    }
                }
            }
        }
    }

    /// What a row looks at, of some states.
    fn seen(&self, what: LookedAt, states: &[Lanes]) -> Lanes {
        match what {
            LookedAt::Function => {
                let mut seen = [0.0; LANES];
                let firsts = self.layout.parts.iter().map(|(_, first)| *first);
                firsts.for_each(|first| add(&mut seen, 1.0, &states[first]));
                seen
            }
            LookedAt::Sum => states[self.layout.size - 1],
        }
    }

    /// `A x`, and for what is added up `x + phi x`.
    fn step_on(&self, step: usize, states: &mut [Lanes]) {
        let sum = self.layout.size - 1;
        for (&(own, first), step) in self.layout.parts.iter().zip(&self.steps[step]) {
            let mut next = [[0.0; LANES]; MOST];
            for i in 0..own {
                for j in 0..own {
                    add(&mut next[i], step.lead[i][j], &states[first + j]);
                }
            }
            if self.layout.has_sums {
                for i in 0..own {
                    let state = states[first + i];
                    add(&mut states[sum], step.sum[i], &state);
                }
            }
            states[first..first + own].copy_from_slice(&next[..own]);
        }
    }

    /// `A' x + phi' x` of what is added up.
    fn step_back(&self, step: usize, states: &mut [Lanes]) {
        let sum = states[self.layout.size - 1];
        for (&(own, first), step) in self.layout.parts.iter().zip(&self.steps[step]) {
            let mut next = [[0.0; LANES]; MOST];
            for i in 0..own {
                for j in 0..own {
                    add(&mut next[j], step.lead[i][j], &states[first + i]);
                }
            }
            if self.layout.has_sums {
                for i in 0..own {
                    add(&mut next[i], step.sum[i], &sum);
                }
            }
            states[first..first + own].copy_from_slice(&next[..own]);
        }
    }

    /// `A' N A`, with what is added up.
    fn lead_both_back(&self, step: usize, n: &mut [f64]) {
        let size = self.layout.size;
        // Twice over the columns, by way of the transpose.
        for _ in 0..2 {
            for from in (0..size).step_by(LANES) {
                let columns = LANES.min(size - from);
                let mut states = [[0.0; LANES]; MOST_STATES];
                for i in 0..size {
                    states[i][..columns].copy_from_slice(&n[i * size + from..][..columns]);
                }
                self.step_back(step, &mut states);
                for i in 0..size {
                    n[i * size + from..][..columns].copy_from_slice(&states[i][..columns]);
                }
            }
            for i in 0..size {
                for j in 0..i {
                    n.swap(i * size + j, j * size + i);
                }
            }
        }
    }
}

impl Lead {
    fn new(step: &Step<0>) -> Self {
        Self {
            lead: step.lead.map(|row| row.map(|entry| entry.value)),
            sum: step.sum.map(|entry| entry.value),
        }
    }
}

/// Adds `factor` times `x`.
fn add(to: &mut Lanes, factor: f64, x: &Lanes) {
    for (to, x) in to.iter_mut().zip(x) {
        *to += factor * x;
    }
}
