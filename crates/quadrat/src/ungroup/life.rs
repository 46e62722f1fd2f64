//! Life tables from rates of dying.

use super::answer::Answer;
use super::weighted;
use crate::linalg::Mat;

/// How many are born.
pub(super) const BORN: f64 = 100_000.0;

/// One column of a life table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Column {
    /// Medians.
    pub value: Vec<f64>,
    /// Lower ends of the intervals.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
}

/// A life table of 100,000 born, each column with intervals.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LifeTable {
    /// Lower and upper edge of every step.
    pub edges: Vec<(f64, f64)>,
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

/// One life table, of every step.
#[derive(Debug, Clone, Default)]
struct Life {
    q: Vec<f64>,
    l: Vec<f64>,
    d: Vec<f64>,
    years: Vec<f64>,
    e: Vec<f64>,
}

/// The life table of one set of rates; the last step ends with the last death.
///
/// `q = n m / (1 + (n - a) m)`, `l_{x+n} = l_x - d_x`, `L = n l_{x+n} + a d`, `e = sum L / l`, with
/// `a = n / 2`, of the first year of life `0.07 + 1.7 m`, at most a half, and `L = l / m` in the
/// last step.
///
/// # Source
/// Preston, Heuveline and Guillot 2001, *Demography*, chapter 3; for infants Keyfitz 1970.
fn life(edges: &[(f64, f64)], rates: &[f64], has_infants: bool) -> Life {
    let n = edges.len();
    let mut out = Life::default();
    let mut alive = BORN;
    for (step, (&(from, to), &m)) in edges.iter().zip(rates).enumerate() {
        let is_last = step + 1 == n;
        let width = to - from;
        let a = match has_infants && step == 0 {
            true => (0.07 + 1.7 * m).min(0.5),
            false => 0.5 * width,
        };
        let q = match is_last {
            true => 1.0,
            false => (width * m / (1.0 + (width - a) * m)).min(1.0),
        };
        let d = alive * q;
        out.q.push(q);
        out.l.push(alive);
        out.d.push(d);
        out.years.push(match is_last {
            true => alive / m,
            false => width * (alive - d) + a * d,
        });
        alive -= d;
    }
    let mut left = 0.0;
    out.e = vec![0.0; n];
    for step in (0..n).rev() {
        left += out.years[step];
        out.e[step] = match out.l[step] > 0.0 {
            true => left / out.l[step],
            false => 0.0,
        };
    }
    out
}

/// The life table of weighted draws of rates, shape `[steps, draws]`.
pub(super) fn life_table(
    edges: &[(f64, f64)],
    rates: &Mat<f64>,
    weights: &[f64],
    level: f64,
    has_infants: bool,
) -> LifeTable {
    let lives: Vec<Life> = (0..rates.ncols())
        .map(|draw| life(edges, rates.col_as_slice(draw), has_infants))
        .collect();
    let column = |of: fn(&Life) -> &[f64]| {
        let mut out = Column::default();
        for step in 0..edges.len() {
            let values: Vec<f64> = lives.iter().map(|life| of(life)[step]).collect();
            let Answer {
                value,
                lower,
                upper,
            } = weighted::answer(&values, weights, level);
            out.value.push(value);
            out.lower.push(lower);
            out.upper.push(upper);
        }
        out
    };
    LifeTable {
        edges: edges.to_vec(),
        q: column(|life| &life.q),
        l: column(|life| &life.l),
        d: column(|life| &life.d),
        years: column(|life| &life.years),
        e: column(|life| &life.e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table that was worked out by hand.
    #[test]
    fn three_years_by_hand() {
        let edges = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)];
        let got = life(&edges, &[0.1, 0.2, 0.5], true);
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
        let total: f64 = got.d.iter().sum();
        assert!((total - 1e5).abs() < 1e-9);
    }

    #[test]
    fn intervals_are_of_the_draws() {
        let edges = [(0.0, 1.0), (1.0, 2.0)];
        let rates = Mat::from_fn(2, 3, |step, draw| 0.1 * (1 + step + draw) as f64);
        let table = life_table(&edges, &rates, &[1.0 / 3.0; 3], 0.5, false);
        let own: Vec<f64> = (0..3)
            .map(|d| life(&edges, rates.col_as_slice(d), false).e[0])
            .collect();
        assert!((table.e.value[0] - own[1]).abs() < 1e-12);
        assert!(table.e.lower[0] < own[1] && table.e.upper[0] > own[1]);
        assert_eq!(table.l.value[0], BORN);
    }
}
