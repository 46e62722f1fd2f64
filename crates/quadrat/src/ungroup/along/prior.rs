//! What is believed of the curves of several years before bands are seen.
//!
//! The log density at the place `u` in the year `t` is `m_t + s(u, t) + r(u, t) - a_t h(u)`. In
//! each year by itself this is the prior of one table (`ungroup/prior.rs`). A part of what is
//! particular stays at its place from year to year, and a part moves with those who are there, who
//! are a year older a year later:
//!
//! $$ \operatorname{cov} = v \left[ (1 - w)\, \kappa(|u - u'| / l)
//!    + w\, \kappa(|(u - t) - (u' - t')| / l) \right] \rho(|t - t'| / T) $$
//!
//! with Matern 3/2 for both `kappa` and `rho` of `s`, and Matern 1/2 for those of `r`. Levels `m_t`
//! have nothing to do with each other: every year's total is known. Nor have those of bands that
//! are apart (`ungroup/apart.rs`).
//!
//! | what, besides that of one table | prior |
//! |---|---|
//! | `T` of `s`, and of `r` | log-normal around the span of the years, log sd 1.5 |
//! | `w` of `s`, and of `r` | uniform from 0 to 1; 0 where the axis is logarithmic |
//!
//! # Source
//! Age, period and cohort: Carstensen 2007, Statistics in Medicine 26:3018. Sums of covariances of
//! linear maps of the inputs are covariances: Rasmussen and Williams 2006, section 4.2.4.

use super::super::prior::{LEVEL_SD, PriorTerm, Setting as OfOne};
use super::super::settings::StandardNormals;
use crate::inference::pooled::NodePrior;
use crate::linalg::{Mat, mirror_lower};
use crate::special::exp;
use crate::special::scalar::normal_cdf;

/// Log sd of lengthscales in years.
const LOG_SD: f64 = 1.5;

/// Hyperparameters of both functions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    smooth: Part,
    rough: Part,
}

/// Those of one function.
#[derive(Debug, Clone, Copy)]
struct Part {
    variance: f64,
    length: f64,
    years: f64,
    /// How much of it moves with cohorts.
    cohorts: f64,
}

/// What hyperparameters are relative to.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnitScale {
    /// From the first to the last year.
    pub span: f64,
    /// Whether places and years have one unit.
    pub has_cohorts: bool,
}

impl UnitScale {
    /// The hyperparameters of one table with those of a point, which stands for how years hang
    /// together: two lengthscales in years, two shares of cohorts.
    pub fn setting(&self, own: &OfOne, z: &StandardNormals) -> Setting {
        let cohorts = |z: f64| match self.has_cohorts {
            true => normal_cdf(z),
            false => 0.0,
        };
        let part = |d: usize, k: usize| Part {
            variance: own[d],
            length: own[d + 1],
            years: self.span * (LOG_SD * z[k]).exp(),
            cohorts: cohorts(z[k + 2]),
        };
        Setting {
            smooth: part(0, 0),
            rough: part(2, 1),
        }
    }
}

/// Where cells lie.
#[derive(Debug)]
pub(super) struct CellPlaces {
    /// Middles of the cells on the axis, year by year.
    pub places: Vec<f64>,
    /// The years, ascending.
    pub years: Vec<f64>,
    /// The cells of year `y` are `first[y]..first[y + 1]`.
    pub first: Vec<usize>,
    /// Means of the levels, by years.
    pub levels: Vec<f64>,
    /// The tail: zero where a year has none.
    pub term: Option<PriorTerm>,
    /// Which level of its own, within its year, every cell has (`ungroup/apart.rs`).
    pub apart: Vec<Option<usize>>,
}

impl CellPlaces {
    /// Mean and covariance of the cells.
    pub fn prior(&self, setting: &Setting) -> NodePrior {
        let n = self.places.len();
        let mut covariance = Mat::zeros(n, n);
        let mut scratch = Scratch::new(n);
        for year in 0..self.years.len() {
            for j in self.first[year]..self.first[year + 1] {
                let column = covariance.col_as_slice_mut(j);
                for other in year..self.years.len() {
                    let from = self.first[other].max(j);
                    let out = &mut column[from..self.first[other + 1]];
                    self.fill(setting, (j, year), (from, other), out, &mut scratch);
                }
            }
        }
        mirror_lower(&mut covariance);
        let mean = |i: usize| {
            let term = self.term.as_ref();
            self.levels[self.year(i)] + term.map_or(0.0, |t| t.mean * t.shape[i])
        };
        NodePrior {
            mean: (0..n).map(mean).collect(),
            covariance,
        }
    }

    /// Covariances of a cell with some of another year, or of its own.
    fn fill(
        &self,
        setting: &Setting,
        (j, year): (usize, usize),
        (from, other): (usize, usize),
        out: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let (smooth, rough) = (&setting.smooth, &setting.rough);
        let apart = self.years[other] - self.years[year];
        let far = 3f64.sqrt() * apart / smooth.years;
        let of_years = ((1.0 + far) * (-far).exp(), (-apart / rough.years).exp());
        out.fill(0.0);
        for (shift, is_cohort) in [(0.0, false), (apart, true)] {
            let share = |part: &Part| match is_cohort {
                true => part.cohorts,
                false => 1.0 - part.cohorts,
            };
            // Within a year both are one.
            let (a, b) = match (apart == 0.0, is_cohort) {
                (true, true) => continue,
                (true, false) => (smooth.variance, rough.variance),
                _ => (
                    smooth.variance * of_years.0 * share(smooth),
                    rough.variance * of_years.1 * share(rough),
                ),
            };
            if a == 0.0 && b == 0.0 {
                continue;
            }
            let n = out.len();
            let (decay, steep) = (&mut scratch.smooth[..n], &mut scratch.rough[..n]);
            let bends = &mut scratch.bends[..n];
            for (i, x) in self.places[from..from + n].iter().enumerate() {
                let distance = (x - self.places[j] - shift).abs();
                decay[i] = -3f64.sqrt() * distance / smooth.length;
                bends[i] = a * (1.0 - decay[i]);
                steep[i] = -distance / rough.length;
            }
            exp(decay);
            exp(steep);
            for (i, out) in out.iter_mut().enumerate() {
                *out += bends[i] * decay[i] + b * steep[i];
            }
        }
        let level = if apart == 0.0 {
            LEVEL_SD * LEVEL_SD
        } else {
            0.0
        };
        let tail = self.term.as_ref();
        let tail = tail.map(|t| (t.sd * t.sd * t.shape[j] * of_years.0, &t.shape[from..]));
        for (i, out) in out.iter_mut().enumerate() {
            *out += level + tail.map_or(0.0, |(own, shape)| own * shape[i]);
        }
        if let (true, Some(own)) = (apart == 0.0, self.apart[j]) {
            let cells = out.iter_mut().zip(&self.apart[from..]);
            cells
                .filter(|(_, other)| **other == Some(own))
                .for_each(|(out, _)| *out += LEVEL_SD * LEVEL_SD);
        }
    }

    /// The year of a cell.
    fn year(&self, cell: usize) -> usize {
        self.first.partition_point(|first| *first <= cell) - 1
    }
}

struct Scratch {
    smooth: Vec<f64>,
    bends: Vec<f64>,
    rough: Vec<f64>,
}

impl Scratch {
    fn new(n: usize) -> Self {
        let [smooth, bends, rough] = std::array::from_fn(|_| vec![0.0; n]);
        Self {
            smooth,
            bends,
            rough,
        }
    }
}
