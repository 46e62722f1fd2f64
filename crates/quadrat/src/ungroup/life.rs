//! Life tables from rates of dying.

use std::ops::Range;

use super::answer::Answer;
use super::weighted;
use crate::linalg::Mat;

/// How many are born.
pub(super) const BORN: f64 = 100_000.0;

/// One column of a life table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Column {
    /// The column of the table of mean rates: all columns are of one table.
    pub value: Vec<f64>,
    /// Lower ends of the intervals.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
}

/// A life table of 100,000 who are alive where it begins, each column with intervals.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LifeTable {
    /// Lower and upper edge of every step.
    pub edges: Vec<(f64, f64)>,
    /// Where the table ends, if its last band was closed: years lived beyond are not counted.
    pub until: Option<f64>,
    /// Probability of dying within a step, `q`.
    pub q: Column,
    /// Who are alive at its beginning, `l`.
    pub l: Column,
    /// Who die within it, `d`.
    pub d: Column,
    /// Years lived within it, `L`.
    pub years: Column,
    /// Years to be lived from its beginning on, per person, `e`.
    pub e: Column,
}

/// What a life table is made of: cells from its beginning to the end of the axis.
#[derive(Debug, Clone)]
pub(super) struct Span {
    /// Edges of the cells.
    pub cells: Vec<(f64, f64)>,
    /// The cells of every step.
    pub steps: Vec<Range<usize>>,
    /// The first cell of the open band; none where the last band was closed.
    pub open: Option<usize>,
    /// Whether the first cell is the first year of life.
    pub has_infants: bool,
}

/// One life table, of every step.
#[derive(Debug, Clone, Default)]
struct Life {
    q: Vec<f64>,
    l: Vec<f64>,
    d: Vec<f64>,
    years: Vec<f64>,
    e: Vec<f64>,
}

impl Span {
    /// The life table of one set of rates, by cells.
    ///
    /// `q = n m / (1 + (n - a) m)`, `l_{x+n} = l_x - d_x`, `L = n l_{x+n} + a d`, `e = sum L / l`,
    /// with `a = n / 2`, of the first year of life `0.07 + 1.7 m`, at most a half. In an open last
    /// band rates do not fall with age, which events cannot tell there: they are the nearest that
    /// rise, by the exposure, so that the band keeps its events. Its last cell ends with the last
    /// death: `L = l / m`, at most the width of the band.
    ///
    /// # Source
    /// Preston, Heuveline and Guillot 2001, *Demography*, chapter 3; for infants Keyfitz 1970.
    fn life(&self, rates: &[f64], exposure: &[f64]) -> Life {
        let n = self.cells.len();
        let mut rates = rates.to_vec();
        if let Some(open) = self.open {
            isotonic(&mut rates[open..], &exposure[open..]);
        }
        let mut alive = BORN;
        let (mut l, mut d, mut years) = (vec![0.0; n + 1], vec![0.0; n], vec![0.0; n]);
        for (i, &(from, to)) in self.cells.iter().enumerate() {
            let width = to - from;
            let is_open = self.open.is_some_and(|open| i >= open);
            let m = rates[i];
            let a = match self.has_infants && i == 0 {
                true => (0.07 + 1.7 * m).min(0.5),
                false => 0.5 * width,
            };
            let is_last = is_open && i + 1 == n;
            let q = width * m / (1.0 + (width - a) * m);
            l[i] = alive;
            d[i] = alive * if is_last { 1.0 } else { q.min(1.0) };
            years[i] = match (is_last, self.open) {
                (true, Some(open)) => (alive / m).min(alive * (to - self.cells[open].0)),
                _ if q >= 1.0 => alive / m,
                _ => width * (alive - d[i]) + a * d[i],
            };
            alive -= d[i];
        }
        let mut left = vec![0.0; n + 1];
        for i in (0..n).rev() {
            left[i] = left[i + 1] + years[i];
        }
        let mut out = Life::default();
        for step in &self.steps {
            let (alive, dead) = (l[step.start], d[step.clone()].iter().sum::<f64>());
            let per_person = |x: f64, none: f64| if alive > 0.0 { x / alive } else { none };
            out.q.push(per_person(dead, 1.0).min(1.0));
            out.l.push(alive);
            out.d.push(dead);
            out.years.push(years[step.clone()].iter().sum());
            out.e.push(per_person(left[step.start], 0.0));
        }
        out
    }

    /// The life table of weighted draws of rates and exposures, shape `[cells, draws]`.
    ///
    /// The centre is the table of the mean rates: their events are those of the bands, which those
    /// of median rates fall short of where rates are uncertain.
    pub fn table(
        &self,
        edges: Vec<(f64, f64)>,
        (rates, exposure): (&Mat<f64>, &Mat<f64>),
        weights: &[f64],
        level: f64,
    ) -> LifeTable {
        let draws = 0..rates.ncols();
        let one = |k: usize| self.life(rates.col_as_slice(k), exposure.col_as_slice(k));
        let lives: Vec<Life> = draws.map(one).collect();
        let people = weighted::average(exposure, weights);
        let events = Mat::from_fn(rates.nrows(), rates.ncols(), |i, k| {
            rates[(i, k)] * exposure[(i, k)]
        });
        let events = weighted::average(&events, weights).into_iter();
        let means: Vec<f64> = events.zip(&people).map(|(d, n)| d / n).collect();
        let centre = self.life(&means, &people);
        let column = |of: fn(&Life) -> &[f64]| {
            let mut out = Column {
                value: of(&centre).to_vec(),
                ..Column::default()
            };
            for step in 0..self.steps.len() {
                let values: Vec<f64> = lives.iter().map(|life| of(life)[step]).collect();
                let Answer { lower, upper, .. } = weighted::answer(&values, weights, level);
                out.lower.push(lower.min(out.value[step]));
                out.upper.push(upper.max(out.value[step]));
            }
            out
        };
        let end = self.cells.last().map(|cell| cell.1);
        LifeTable {
            edges,
            until: end.filter(|_| self.open.is_none()),
            q: column(|life| &life.q),
            l: column(|life| &life.l),
            d: column(|life| &life.d),
            years: column(|life| &life.years),
            e: column(|life| &life.e),
        }
    }
}

/// The nearest values that do not fall, by weighted squares: neighbours that fall are replaced by
/// their weighted mean until none do.
///
/// # Source
/// Pool adjacent violators: Ayer and others, Ann. Math. Statist. 26 (1955).
fn isotonic(values: &mut [f64], weights: &[f64]) {
    // Mean, weight and length of every run.
    let mut runs: Vec<(f64, f64, usize)> = Vec::new();
    for (&value, &weight) in values.iter().zip(weights) {
        let mut run = (value, weight, 1);
        while let Some(&(mean, before, count)) = runs.last() {
            if mean <= run.0 {
                break;
            }
            runs.pop();
            let share = run.1 / (before + run.1);
            run = (mean + share * (run.0 - mean), before + run.1, count + run.2);
        }
        runs.push(run);
    }
    let all = runs
        .into_iter()
        .flat_map(|(mean, _, n)| std::iter::repeat_n(mean, n));
    values
        .iter_mut()
        .zip(all)
        .for_each(|(value, mean)| *value = mean);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(open: Option<usize>) -> Span {
        Span {
            cells: vec![(0.0, 1.0), (1.0, 2.0), (2.0, 12.0)],
            steps: vec![0..1, 1..2, 2..3],
            open,
            has_infants: true,
        }
    }

    fn even(draws: usize) -> Mat<f64> {
        Mat::from_fn(3, draws, |_, _| 1.0)
    }

    #[test]
    fn rates_that_fall_become_their_mean() {
        let mut values = [1.0, 3.0, 2.0, 5.0, 1.0, 6.0];
        isotonic(&mut values, &[1.0, 1.0, 3.0, 1.0, 1.0, 9.0]);
        // 3 and 2 become 9 / 4, then 5 and 1 become 3.
        assert_eq!(values, [1.0, 2.25, 2.25, 3.0, 3.0, 6.0]);
        let mut falls = [4.0, 2.0, 0.0];
        isotonic(&mut falls, &[1.0, 1.0, 2.0]);
        assert_eq!(falls, [1.5; 3]);
    }

    /// A table that was worked out by hand.
    #[test]
    fn three_cells_by_hand() {
        let got = span(Some(2)).life(&[0.1, 0.2, 0.5], &[1.0; 3]);
        // a = .24, q = .1 / 1.076; then a = .5, q = .2 / 1.1; the last 1 / .5 years.
        let q = [0.1 / 1.076, 0.2 / 1.1, 1.0];
        let l = [1e5, 1e5 * (1.0 - q[0]), 1e5 * (1.0 - q[0]) * (1.0 - q[1])];
        let years = [
            l[1] + 0.24 * 1e5 * q[0],
            l[2] + 0.5 * l[1] * q[1],
            2.0 * l[2],
        ];
        let e = [
            (years[0] + years[1] + years[2]) / l[0],
            (years[1] + years[2]) / l[1],
            2.0,
        ];
        for i in 0..3 {
            // Some roundings of numbers of this size.
            assert!((got.q[i] - q[i]).abs() < 1e-15);
            assert!((got.l[i] - l[i]).abs() < 1e-9);
            assert!((got.years[i] - years[i]).abs() < 1e-9);
            assert!((got.e[i] - e[i]).abs() < 1e-13);
            assert!((got.d[i] - l[i] * q[i]).abs() < 1e-9);
        }
        // One step has what its cells have.
        let mut joined = span(Some(2));
        joined.steps = std::iter::once(0..3).collect();
        let one = joined.life(&[0.1, 0.2, 0.5], &[1.0; 3]);
        assert!((one.e[0] - e[0]).abs() < 1e-13 && (one.d[0] - 1e5).abs() < 1e-9);
        // A table that stops short tells the same of where it begins.
        joined.steps = std::iter::once(0..1).collect();
        assert!((joined.life(&[0.1, 0.2, 0.5], &[1.0; 3]).e[0] - e[0]).abs() < 1e-13);
    }

    #[test]
    fn no_rate_makes_anybody_live_for_ever() {
        // The last rate falls to nothing: rates of an open band do not fall.
        let mut open = span(Some(1));
        let got = open.life(&[0.1, 0.2, 1e-9], &[1.0, 1.0, 1e-12]);
        // Next to nobody has the lower rate: a part of 1e-12 of the weight.
        assert!((got.e[2] - 5.0).abs() < 1e-10, "{:?}", got.e);
        // Nobody died in the whole band: they live as long as it is wide.
        open.open = Some(2);
        let got = open.life(&[0.1, 0.2, 1e-9], &[1.0, 1.0, 1e-12]);
        assert!((got.e[2] - 10.0).abs() < 1e-12, "{:?}", got.e);
        // A closed one counts years up to its end.
        let got = span(None).life(&[0.0; 3], &[1.0; 3]);
        assert_eq!(got.e, [12.0, 11.0, 10.0]);
        let table = span(None).table(vec![], (&Mat::zeros(3, 2), &even(2)), &[0.5; 2], 0.9);
        assert_eq!(table.until, Some(12.0));
    }

    #[test]
    fn intervals_are_of_the_draws_and_columns_of_one_table() {
        let own = span(Some(2));
        let rates = Mat::from_fn(3, 3, |cell, draw| 0.1 * (1 + cell + draw) as f64);
        let edges = own.cells.clone();
        let table = own.table(edges, (&rates, &even(3)), &[1.0 / 3.0; 3], 0.5);
        let each: Vec<f64> = (0..3)
            .map(|k| own.life(rates.col_as_slice(k), &[1.0; 3]).e[0])
            .collect();
        assert!((table.e.value[0] - each[1]).abs() < 1e-12);
        assert!(table.e.lower[0] < each[1] && table.e.upper[0] > each[1]);
        for step in 0..2 {
            let next = table.l.value[step] - table.d.value[step];
            assert!((next - table.l.value[step + 1]).abs() < 1e-9);
        }
    }
}
