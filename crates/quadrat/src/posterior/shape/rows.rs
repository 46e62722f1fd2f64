//! Rows that contradict a shape.

use super::super::mixture::Posterior;
use super::ALIKE;
use super::kinds::Shape;
use crate::error::FitError;
use crate::problem::scale::Scale;
use crate::support::Functionals;

/// Rows that are compared, at most; of more an even part.
const MOST_ROWS: usize = 20_000;
/// Up to so many rows all pairs are compared; of more those whose distance in their order is a
/// power of two.
const ALL_PAIRS: usize = 2000;
/// The same of three rows.
const ALL_TRIPLES: usize = 150;
/// Roundings of values, as a share of the largest.
const ROUNDING: f64 = 1e-13;
/// Widths that are the same but for rounding.
const AS_WIDE: f64 = 1.0 + 1e-9;

/// Rows that no function of a shape can meet.
#[derive(Debug, Clone, PartialEq)]
pub struct Breach {
    /// Which, counted from 0, ascending along the input: one beyond bounds, two of which the later
    /// is lower than the earlier or the other way round, or three whose middle one lies on the
    /// wrong side of the line between the others.
    pub rows: Vec<usize>,
    /// What they break.
    pub shape: Shape,
    /// By how many standard deviations.
    pub sds: f64,
}

/// What is known of the average of the function over a row.
struct Known {
    row: usize,
    /// The lowest and the highest place.
    ends: (f64, f64),
    middle: f64,
    /// Whether it is a point or a box, and no bag.
    is_one: bool,
    mean: f64,
    variance: f64,
}

impl Posterior {
    /// The rows that break shapes most: what the posterior without them says of rows, two or three
    /// at a time.
    ///
    /// With means `m_i` and variances `v_i` of the averages over what the rows look at, a rising
    /// function is broken by `(m_i - m_j) / sqrt(v_i + v_j)` sds where `i` lies before `j`; a
    /// convex one by `(m_j - (1 - t) m_i - t m_k) / sqrt(v_j + (1 - t)^2 v_i + t^2 v_k)` for the
    /// row `j` a share `t` of the way from `i` to `k`; bounds by `(lower - m_i) / sqrt(v_i)`. Where
    /// the rows meet the shape these are about normal at most: six are hardly ever seen.
    ///
    /// A box lies before another where it neither begins nor ends after it, a bag where it ends
    /// before the other begins. Of three the middle one may not be wider than the others, and none
    /// a bag: else convex functions may lie on either side.
    ///
    /// # Arguments
    /// * `at` - the rows, of one output; those with negative weights are passed by
    /// * `output` - of several the one that is meant
    ///
    /// # Errors
    /// As [`Self::predict`].
    ///
    /// # Numerics
    /// Correlations are left out: near rows mostly have positive ones, so that less is found; parts
    /// of a known total have negative ones, so that six sds may be some four. Pairs up to
    /// 2,000 rows and triples up to 150 are all compared, of more those at distances of 1, 2, 4, ..
    /// rows; above 20,000 rows an even part.
    pub fn breach_of_shapes(
        &self,
        shapes: &[Shape],
        at: &Functionals,
        output: Option<&str>,
    ) -> Result<Option<Breach>, FitError> {
        let known = self.known_of_rows(at, output)?;
        let ends = |ends: (f64, f64), own: &Known| (ends.0.min(own.mean), ends.1.max(own.mean));
        let (low, high) = known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
        // Equal values differ by their rounding.
        let rounding = ALIKE * (high - low) + ROUNDING * low.abs().max(high.abs());
        let least = rounding.powi(2);
        let mut worst: Option<Breach> = None;
        for &shape in shapes {
            let mut tell = |rows: &[&Known], over: f64, variance: f64| {
                let sds = over / variance.max(least).max(f64::MIN_POSITIVE).sqrt();
                if sds > worst.as_ref().map_or(0.0, |worst| worst.sds) {
                    worst = Some(Breach {
                        rows: rows.iter().map(|own| own.row).collect(),
                        shape,
                        sds,
                    });
                }
            };
            match shape {
                Shape::Rising => pairs(&known, 1.0, &mut tell),
                Shape::Falling => pairs(&known, -1.0, &mut tell),
                Shape::Convex => triples(&known, 1.0, &mut tell),
                Shape::Concave => triples(&known, -1.0, &mut tell),
                Shape::Between { lower, upper } => {
                    for own in &known {
                        let over = (lower - own.mean).max(own.mean - upper);
                        tell(&[own], over, own.variance);
                    }
                }
            }
        }
        Ok(worst)
    }

    /// What is known of averages over rows, in their order along the input.
    fn known_of_rows(
        &self,
        at: &Functionals,
        output: Option<&str>,
    ) -> Result<Vec<Known>, FitError> {
        let set = at.select(self.dims())?;
        let is_average = |row: &usize| {
            let weights = &set.weight()[set.atoms(*row)];
            !weights.is_empty() && weights.iter().all(|w| *w > 0.0)
        };
        let mut rows: Vec<usize> = (0..set.len()).filter(is_average).collect();
        let every = rows.len().div_ceil(MOST_ROWS).max(1);
        rows = rows.into_iter().step_by(every).collect();
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let own = set.rows(&rows);
        let own = match output {
            Some(output) => self.at_output(&own, output)?,
            None => own,
        };
        let told = self.predict(&own, Scale::Latent)?;
        let pairs = rows.iter().zip(told.mean().iter().zip(told.sd()));
        let one = |(&row, (mean, sd)): (&usize, (&f64, &f64))| Known {
            row,
            ends: set.extent(row, 0),
            middle: set.average(row, 0),
            is_one: set.atoms(row).len() == 1,
            mean: mean / set.size(row),
            variance: (sd / set.size(row)).powi(2),
        };
        let mut known: Vec<Known> = pairs.map(one).collect();
        known.sort_by(|a, b| a.middle.total_cmp(&b.middle));
        Ok(known)
    }
}

/// Distances between rows in their order.
fn distances(rows: usize, all: usize) -> Vec<usize> {
    if rows <= all {
        return (1..rows).collect();
    }
    let doubled = |d: &usize| Some(2 * d).filter(|d| *d < rows);
    std::iter::successors(Some(1), doubled).collect()
}

fn pairs(known: &[Known], sign: f64, tell: &mut impl FnMut(&[&Known], f64, f64)) {
    for distance in distances(known.len(), ALL_PAIRS) {
        for (a, b) in known.iter().zip(&known[distance..]) {
            let is_one = a.is_one && b.is_one;
            let follows = a.ends.0 <= b.ends.0 && a.ends.1 <= b.ends.1;
            if a.ends.1 <= b.ends.0 || is_one && follows {
                let over = sign * (a.mean - b.mean);
                tell(&[a, b], over, a.variance + b.variance);
            }
        }
    }
}

fn triples(known: &[Known], sign: f64, tell: &mut impl FnMut(&[&Known], f64, f64)) {
    let known: Vec<&Known> = known.iter().filter(|own| own.is_one).collect();
    let distances = distances(known.len(), ALL_TRIPLES);
    let width = |own: &Known| own.ends.1 - own.ends.0;
    for (j, middle) in known.iter().enumerate() {
        let before = || {
            distances
                .iter()
                .filter_map(|d| known.get(j.checked_sub(*d)?))
        };
        for a in before() {
            for b in distances.iter().filter_map(|d| known.get(j + d)) {
                let is_wider = width(middle) > AS_WIDE * width(a).min(width(b));
                if is_wider || a.middle >= middle.middle || middle.middle >= b.middle {
                    continue;
                }
                let t = (middle.middle - a.middle) / (b.middle - a.middle);
                let over = sign * (middle.mean - (1.0 - t) * a.mean - t * b.mean);
                let variance = (1.0 - t).powi(2) * a.variance + t * t * b.variance;
                tell(&[*a, *middle, *b], over, middle.variance + variance);
            }
        }
    }
}
