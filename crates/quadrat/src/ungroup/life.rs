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
pub(super) struct LifeSpan {
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

impl LifeSpan {
    /// The life table of one set of rates, by cells.
    ///
    /// The rate `m` is the same within a cell of width `n`: `q = 1 - exp(-n m)`, so that who is
    /// alive may live on, however high it is. Deaths of the first year of life come early: `q = m /
    /// (1 + (1 - a) m)` there, with `a = 0.07 + 1.7 m` where that is less than what a rate that
    /// stays makes of it. In both `L = d / m`, and `e_x = (L + l_{x+n} e_{x+n}) / l_x`, by shares,
    /// so that it is told too where next to nobody is left. In an open last band rates do not fall
    /// with age, which events cannot tell there: they are the nearest that rise, by the exposure,
    /// so that the band keeps its events. Its last cell ends with the last death: `L = l / m`, at
    /// most the width of the band.
    ///
    /// # Source
    /// Preston, Heuveline and Guillot 2001, *Demography*, chapter 3; for infants Keyfitz 1970.
    fn life(&self, rates: &[f64], exposure: &[f64]) -> Life {
        let n = self.cells.len();
        let mut rates = rates.to_vec();
        if let Some(open) = self.open {
            isotonic(&mut rates[open..], &exposure[open..]);
        }
        // Of each who is alive at the beginning of a cell: who dies, who does not, and years.
        let (mut q, mut stay, mut own) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for (i, &(from, to)) in self.cells.iter().enumerate() {
            let m = rates[i];
            (q[i], stay[i], own[i]) = match self.open {
                Some(open) if i + 1 == n => (1.0, 0.0, (1.0 / m).min(to - self.cells[open].0)),
                _ => within(to - from, m, self.has_infants && i == 0),
            };
        }
        let (mut e, mut l) = (vec![0.0; n + 1], vec![BORN; n + 1]);
        for i in (0..n).rev() {
            e[i] = own[i] + stay[i] * e[i + 1];
        }
        for i in 0..n {
            l[i + 1] = l[i] * stay[i];
        }
        let mut out = Life::default();
        for step in &self.steps {
            let sum = |of: &[f64]| step.clone().map(|i| l[i] * of[i]).sum();
            // Not `d / l`, of which nothing is left where nobody is.
            let (mut dead, mut alive) = (0.0, 1.0);
            for i in step.clone() {
                dead += alive * q[i];
                alive *= stay[i];
            }
            out.q.push(f64::min(dead, 1.0));
            out.l.push(l[step.start]);
            out.d.push(sum(&q));
            out.years.push(sum(&own));
            out.e.push(e[step.start]);
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

/// Who dies within a cell of this width, who does not, and years lived, of each who is alive where
/// it begins.
fn within(width: f64, m: f64, are_infants: bool) -> (f64, f64, f64) {
    if m <= 0.0 {
        return (0.0, 1.0, width);
    }
    let q = -f64::exp_m1(-width * m);
    // Years that they live who die.
    let early = 0.07 + 1.7 * m;
    let q_early = width * m / (1.0 + (width - early) * m);
    // Both have `L = d / m`: who die earlier leave fewer years for the same rate.
    match are_infants && early < width && q_early < q {
        true => (q_early, 1.0 - q_early, q_early / m),
        false => (q, f64::exp(-width * m), q / m),
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

    fn span(open: Option<usize>) -> LifeSpan {
        LifeSpan {
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
        // a = .24, q = .1 / 1.076; then the same rate all year; the last 1 / .5 years.
        let stay = f64::exp(-0.2);
        let q = [0.1 / 1.076, 1.0 - stay, 1.0];
        let l = [1e5, 1e5 * (1.0 - q[0]), 1e5 * (1.0 - q[0]) * stay];
        let years = [
            l[1] + 0.24 * 1e5 * q[0],
            l[1] * (1.0 - stay) / 0.2,
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

    /// Half a year and less to live, on average: who is alive has some time left, and who dies per
    /// year lived is the rate.
    #[test]
    fn who_is_alive_lives_on_however_high_the_rate() {
        for open in [None, Some(1), Some(2)] {
            for has_infants in [true, false] {
                let mut own = span(open);
                own.has_infants = has_infants;
                for rates in [[0.01, 0.3, 2.5], [2.1, 2.5, 40.0], [3.0, 900.0, 2e3]] {
                    let got = own.life(&rates, &[1.0; 3]);
                    for i in 0..3 {
                        assert!(got.e[i] > 0.0 && got.e[i].is_finite(), "{got:?}");
                        // Rounding of a few products.
                        let rate = got.d[i] / got.years[i];
                        assert!(
                            got.years[i] == 0.0 || (rate / rates[i] - 1.0).abs() < 1e-13,
                            "{got:?}"
                        );
                    }
                    assert!(got.e[2] < 1.001 / rates[2], "{got:?}");
                    // Until a number is too small to be written.
                    assert_eq!(got.l[1] > 0.0, rates[0] < 700.0);
                    assert_eq!(got.l[2] > 0.0, rates[0] + rates[1] < 700.0);
                }
            }
        }
    }

    /// The two rules of the first year meet, so that a little more of a rate never is fewer deaths.
    #[test]
    fn deaths_of_infants_rise_with_their_rate() {
        let q = |m: f64| within(1.0, m, true).0;
        let each: Vec<f64> = (0..5_000).map(|k| q(1e-3 * f64::from(k))).collect();
        assert!(each.windows(2).all(|two| two[0] < two[1]));
        assert!(each.windows(2).all(|two| two[1] - two[0] < 1e-3));
        assert!((q(0.02) - 0.02 / 1.01792).abs() < 1e-15);
        assert_eq!(q(2.5), within(1.0, 2.5, false).0);
        assert_eq!(within(1.0, 0.0, true), (0.0, 1.0, 1.0));
        // Rates near nothing: all years are lived.
        let (_, _, years) = within(10.0, 1e-300, false);
        assert!((years - 10.0).abs() < 1e-14);
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
        // The same sums: a few roundings.
        assert!((table.e.value[0] - each[1]).abs() < 1e-12);
        assert!(table.e.lower[0] < each[1] && table.e.upper[0] > each[1]);
        for step in 0..2 {
            let next = table.l.value[step] - table.d.value[step];
            // Differences of numbers up to 100,000, each to a few roundings: found is 7e-12.
            assert!((next - table.l.value[step + 1]).abs() < 1e-9);
        }
    }
}
