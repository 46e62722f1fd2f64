//! What is asked of a density: probabilities, quantiles, moments, modes, regions, inequality.

use std::ops::Range;

use crate::linalg::Mat;

use super::curves::Work;
use super::error::DensityError;
use super::estimate::Estimate;
use super::warning::Warning;

/// A number with an interval of the level of the estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The posterior mean, or the number of the average of modes where draws are not weighted.
    pub value: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Answer {
    /// What is told where NaN is asked.
    pub(super) const UNKNOWN: Self = Self {
        value: f64::NAN,
        lower: f64::NAN,
        upper: f64::NAN,
    };

    /// A probability without what rounding leaves beyond 0 and 1.
    pub(super) fn as_probability(self) -> Self {
        Self {
            value: self.value.clamp(0.0, 1.0),
            lower: self.lower.clamp(0.0, 1.0),
            upper: self.upper.clamp(0.0, 1.0),
        }
    }
}

/// A maximum of the density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Where.
    pub place: f64,
    /// The density there.
    pub density: f64,
    /// Posterior probability that the density about it exceeds those in the valleys that part it
    /// from its neighbours; one for the only mode.
    pub probability: f64,
}

/// Valleys of more than this share of a peak are ripples.
const RIPPLE: f64 = 0.99;
/// Share of the way to a valley over which a density is averaged when modes are compared with
/// valleys: draws are rough.
const WINDOW: f64 = 0.5;

impl Estimate {
    /// Any number of a density, given the probabilities of the cells.
    #[must_use]
    pub fn functional(&self, of: impl Fn(&[f64]) -> f64) -> Answer {
        let [answer] = self.functionals(|mass| [of(mass)]);
        answer
    }

    /// Several numbers at once, in little more time than one.
    #[must_use]
    pub fn functionals<const N: usize>(&self, of: impl Fn(&[f64]) -> [f64; N]) -> [Answer; N] {
        let numbers = self.curves.map(&of);
        let tail = 0.5 * (1.0 - self.level);
        let mut work = Work::default();
        let mut modes = of(&self.mass).into_iter();
        numbers.map(|numbers| {
            let mode = modes.next().unwrap_or(f64::NAN);
            let [lower, upper] = work.quantiles(&numbers, &self.curves.weights, [tail, 1.0 - tail]);
            let mean = crate::linalg::dot(&numbers, &self.curves.weights);
            let value = if self.is_weighted() { mean } else { mode };
            // Of a distribution with a long tail the mean may lie beyond a quantile.
            Answer {
                value,
                lower: lower.min(value),
                upper: upper.max(value),
            }
        })
    }

    /// The share of a cell that lies below a place.
    pub(super) fn share_below(&self, x: f64) -> (usize, f64) {
        let edges = &self.cells.edges;
        match self.cell(x) {
            Some(j) => (j, (x - edges[j]) / (edges[j + 1] - edges[j])),
            None if x > edges[0] => (self.cells.len(), 0.0),
            None => (0, 0.0),
        }
    }

    /// The distribution function at a place; NaN at NaN.
    #[must_use]
    pub fn cdf(&self, x: f64) -> Answer {
        if x.is_nan() {
            return Answer::UNKNOWN;
        }
        let (cell, share) = self.share_below(x);
        let seen = self.functional(|mass| below(mass, cell, share));
        seen.as_probability()
    }

    /// The probability of an interval, whose ends come in either order; NaN where one is NaN.
    #[must_use]
    pub fn probability(&self, from: f64, to: f64) -> Answer {
        if from.is_nan() || to.is_nan() {
            return Answer::UNKNOWN;
        }
        let (from, to) = (from.min(to), from.max(to));
        let ((i, a), (j, b)) = (self.share_below(from), self.share_below(to));
        let seen = self.functional(|mass| below(mass, j, b) - below(mass, i, a));
        seen.as_probability()
    }

    /// A quantile; `p` is moved between 0 and 1. NaN where it is NaN.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Answer {
        let [answer] = self.quantiles([p]);
        answer
    }

    /// Several quantiles.
    #[must_use]
    pub fn quantiles<const N: usize>(&self, p: [f64; N]) -> [Answer; N] {
        let p = p.map(|p| p.clamp(0.0, 1.0));
        let all = self.functionals(|mass| p.map(|p| self.quantile_of(mass, p)));
        std::array::from_fn(|i| {
            if p[i].is_nan() {
                Answer::UNKNOWN
            } else {
                all[i]
            }
        })
    }

    pub(super) fn quantile_of(&self, mass: &[f64], p: f64) -> f64 {
        let edges = &self.cells.edges;
        let mut before = 0.0;
        for (j, u) in mass.iter().enumerate() {
            if before + u >= p {
                let share = if *u > 0.0 {
                    ((p - before) / u).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                return edges[j] + share * (edges[j + 1] - edges[j]);
            }
            before += u;
        }
        edges[mass.len()]
    }

    /// The mean within the range of the cells.
    #[must_use]
    pub fn mean(&self) -> Answer {
        let [mean, _] = self.moments();
        mean
    }

    /// The standard deviation within the range of the cells.
    #[must_use]
    pub fn sd(&self) -> Answer {
        let [_, sd] = self.moments();
        sd
    }

    /// Mean and standard deviation within the range of the cells.
    #[must_use]
    pub fn moments(&self) -> [Answer; 2] {
        let middle = self.middles();
        let within: Vec<f64> = (0..middle.len())
            .map(|j| self.cells.width(j).powi(2) / 12.0)
            .collect();
        self.functionals(|mass| {
            let mean = crate::linalg::dot(mass, &middle);
            let variance: f64 = mass
                .iter()
                .zip(middle.iter().zip(&within))
                .map(|(u, (x, w))| u * ((x - mean).powi(2) + w))
                .sum();
            [mean, variance.sqrt()]
        })
    }

    /// Middles of the cells in the data.
    pub(super) fn middles(&self) -> Vec<f64> {
        let cells = 0..self.cells.len();
        cells.map(|j| self.cells.middle(j)).collect()
    }

    /// Maxima of the density, from the left, with the probability that each is one.
    ///
    /// A maximum of the curve within half the way to its valleys is compared with the valleys over
    /// as wide a stretch, in every draw. Maxima that exceed a valley by less than a hundredth, and
    /// those that exceed their valleys in less than half of the draws, are joined to their
    /// neighbours first, so that ripples are not counted.
    ///
    /// None where the curve follows values that repeat, or draws are too uneven to say which of its
    /// maxima are there ([`Warning::Ties`], [`Warning::SeveralTies`], [`Warning::Uneven`],
    /// [`Warning::Lifted`]): what is
    /// found then is the grid of the values.
    #[must_use]
    pub fn modes(&self) -> Vec<Mode> {
        let is_rough = |w: &Warning| {
            use Warning::{Lifted, SeveralTies, Ties, Uneven};
            matches!(
                w,
                Ties { .. } | SeveralTies { .. } | Uneven { .. } | Lifted { .. }
            )
        };
        if self.warnings().iter().any(is_rough) {
            return Vec::new();
        }
        let p = self.density();
        let mut peaks = peaks(p);
        loop {
            let sure = self.sure(&peaks);
            let least = (0..peaks.len()).min_by(|a, b| sure[*a].total_cmp(&sure[*b]));
            match least {
                Some(i) if peaks.len() > 1 && sure[i] < 0.5 => {
                    peaks.remove(i);
                }
                _ => {
                    let places = self.places();
                    let mode = |(j, probability): (&usize, f64)| Mode {
                        place: places[*j],
                        density: p[*j],
                        probability,
                    };
                    return peaks.iter().zip(sure).map(mode).collect();
                }
            }
        }
    }

    /// The probability that the density about each peak exceeds those of its valleys.
    fn sure(&self, peaks: &[usize]) -> Vec<f64> {
        if peaks.len() < 2 {
            return vec![1.0; peaks.len()];
        }
        let (p, m) = (self.density(), self.cells.len());
        let valleys: Vec<usize> = peaks.windows(2).map(|w| lowest(p, w[0], w[1])).collect();
        let stretch =
            |centre: usize, half: usize| centre.saturating_sub(half)..(centre + half + 1).min(m);
        // Of each peak: its own stretch, and those of one or two valleys.
        let compared: Vec<(Range<usize>, Vec<Range<usize>>)> = (0..peaks.len())
            .map(|i| {
                let sides = valleys[i.saturating_sub(1)..(i + 1).min(valleys.len())].to_vec();
                let wide = sides
                    .iter()
                    .map(|v| v.abs_diff(peaks[i]))
                    .min()
                    .unwrap_or(1);
                let half = ((wide as f64 * 0.5 * WINDOW) as usize).min(wide.saturating_sub(1) / 2);
                let sides = sides.iter().map(|v| stretch(*v, half)).collect();
                (stretch(peaks[i], half), sides)
            })
            .collect();
        let level = |mass: &[f64], cells: &Range<usize>| {
            let width = self.cells.edges[cells.end] - self.cells.edges[cells.start];
            mass[cells.clone()].iter().sum::<f64>() / width
        };
        let mut sure = vec![0.0; peaks.len()];
        self.curves.each(|draw, mass| {
            for (sure, (own, sides)) in sure.iter_mut().zip(&compared) {
                let here = level(mass, own);
                if sides.iter().all(|side| here > level(mass, side)) {
                    *sure += self.curves.weights[draw];
                }
            }
        });
        sure.iter_mut().for_each(|s| *s = s.min(1.0));
        sure
    }

    /// The smallest set of cells that holds a probability, as intervals from the left.
    #[must_use]
    pub fn highest_density_region(&self, probability: f64) -> Vec<(f64, f64)> {
        let p = self.density();
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|a, b| p[*b].total_cmp(&p[*a]));
        let mut inside = vec![false; p.len()];
        let mut sum = 0.0;
        for j in order {
            if sum >= probability {
                break;
            }
            inside[j] = true;
            sum += self.mass[j];
        }
        let edges = &self.cells.edges;
        let mut out: Vec<(f64, f64)> = Vec::new();
        for j in (0..p.len()).filter(|j| inside[*j]) {
            match out.last_mut() {
                Some(last) if last.1 == edges[j] => last.1 = edges[j + 1],
                _ => out.push((edges[j], edges[j + 1])),
            }
        }
        out
    }

    /// Draws of whole densities, all alike: resampled by their weights.
    ///
    /// # Returns
    /// Shape `[cells, count]`, per unit of the data.
    #[must_use]
    pub fn draws(&self, count: usize, seed: u64) -> Mat<f64> {
        let picks = self.picks(count, seed);
        Mat::from_fn(self.cells.len(), count, |j, k| {
            self.curves.log_mass[(picks[k], j)].exp() / self.cells.width(j)
        })
    }

    fn positive(&self, what: &'static str) -> Result<Vec<f64>, DensityError> {
        if self.cells.edges[0] < 0.0 {
            return Err(DensityError::NotPositive { what });
        }
        Ok(self.middles())
    }

    /// The Gini coefficient of data that cannot be negative.
    ///
    /// # Errors
    /// Where the range begins below zero.
    pub fn gini(&self) -> Result<Answer, DensityError> {
        let middle = self.positive("the Gini coefficient")?;
        let widths: Vec<f64> = (0..middle.len()).map(|j| self.cells.width(j)).collect();
        Ok(self.functional(|mass| {
            // One less twice the area below Lorenz's curve; within a cell values are spread evenly,
            // whose differences average a third of its width.
            let (mut before, mut area, mut inside) = (0.0, 0.0, 0.0);
            for ((u, x), w) in mass.iter().zip(&middle).zip(&widths) {
                area += u * (2.0 * before + u * x);
                before += u * x;
                inside += u * u * w;
            }
            1.0 - area / before + inside / (6.0 * before)
        }))
    }

    /// The share of the total that the largest values hold, those above the quantile `1 - top`, of
    /// data that cannot be negative.
    ///
    /// # Errors
    /// Where the range begins below zero.
    pub fn top_share(&self, top: f64) -> Result<Answer, DensityError> {
        let middle = self.positive("the share of the largest values")?;
        let top = top.clamp(0.0, 1.0);
        Ok(self.functional(|mass| {
            let total = crate::linalg::dot(mass, &middle);
            let (mut left, mut held) = (top, 0.0);
            for (j, u) in mass.iter().enumerate().rev() {
                if *u <= left {
                    held += u * middle[j];
                    left -= u;
                } else {
                    // The upper part of the cell.
                    let share = left / u;
                    let place = self.cells.edges[j + 1] - 0.5 * share * self.cells.width(j);
                    held += left * place;
                    break;
                }
            }
            held / total
        }))
    }
}

fn below(mass: &[f64], cell: usize, share: f64) -> f64 {
    mass[..cell].iter().sum::<f64>() + mass.get(cell).map_or(0.0, |u| share * u)
}

/// Maxima that exceed the valleys beside them by a hundredth.
fn peaks(p: &[f64]) -> Vec<usize> {
    let m = p.len();
    let mut out: Vec<usize> = (0..m)
        .filter(|j| (*j == 0 || p[*j] > p[j - 1]) && (*j + 1 == m || p[*j] >= p[j + 1]))
        .collect();
    while out.len() > 1 {
        // The valley that is least deep below the lower of its two peaks.
        let depth = |i: usize| {
            let (a, b) = (out[i], out[i + 1]);
            p[lowest(p, a, b)] / p[a].min(p[b])
        };
        let shallow = (0..out.len() - 1).max_by(|a, b| depth(*a).total_cmp(&depth(*b)));
        let Some(i) = shallow.filter(|i| depth(*i) > RIPPLE) else {
            break;
        };
        let lower = if p[out[i]] < p[out[i + 1]] { i } else { i + 1 };
        out.remove(lower);
    }
    out
}

/// The lowest cell between two.
fn lowest(p: &[f64], from: usize, to: usize) -> usize {
    (from..=to)
        .min_by(|a, b| p[*a].total_cmp(&p[*b]))
        .unwrap_or(from)
}
