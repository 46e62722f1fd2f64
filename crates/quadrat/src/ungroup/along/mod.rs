//! Bands of several years ungrouped together, so that years inform each other.
//!
//! Every year has bands of its own and cells of its own; the log density of all of them is one
//! Gaussian process of the place and the year (`along/prior.rs`), and every draw meets every band
//! of every year. People of one year are a year older in the next: five-year bands of consecutive
//! years cut them at other places, and tell single years far better than one table does.

mod fit;
mod prior;
#[cfg(test)]
mod tests;

use super::axis::Axis;
use super::bands::Bands;
use super::builder::{Population, Runs, SETTINGS, Ungroup, given};
use super::cells::Cells;
use super::error::{UngroupError, Warning};
use super::estimate::{Counting, Estimate};
use super::fit::{KnownPopulation, Sample};
use super::heaping::heaped;
use super::prior::{PriorTerm, Setting};
use crate::inference::pooled::Pools;
use crate::link::Link;
use crate::progress::Watched;
use fit::{MOST_SETTINGS, Task};
use prior::{CellPlaces, UnitScale};

/// More bands, or cells, of all years than this are refused: a draw costs the cube of the bands, a
/// setting the cube of the cells.
const MOST_BANDS: usize = 600;
const MOST_CELLS: usize = 4000;
/// More numbers of draws than this are refused.
const MOST_NUMBERS: usize = 20_000_000;

/// One year: how many are in every band.
#[derive(Debug, Clone, Copy)]
pub struct Year<'a> {
    /// When, such as 1995. Cohorts are known where this has the unit of the edges.
    pub at: f64,
    /// Counts of the bands, in their order.
    pub counts: &'a [f64],
    /// Lower and upper edges of its own bands; none where these are those of the builder.
    pub bands: Option<(&'a [f64], &'a [f64])>,
}

/// A year that was checked.
struct Checked {
    bands: Bands,
    cells: Cells,
    counts: Vec<f64>,
    warnings: Vec<Warning>,
    /// Bands that are apart.
    apart: Runs,
    /// Its place in what was given.
    given: usize,
}

impl Ungroup<'_> {
    /// Ungroups the years of one population together.
    ///
    /// What is particular about a year's curve is shared with the years about it, at the same place
    /// and by the same cohort; how much is learned (`along/prior.rs`). Draws of all years belong
    /// together: the first of every year is one draw of all.
    ///
    /// # Arguments
    /// * `years` - in any order; at most 600 bands and 4,000 cells in all
    /// * `stream` - whose random numbers the draws take
    ///
    /// # Returns
    /// An estimate for every year, in their order.
    ///
    /// # Errors
    /// What is wrong with a year ([`UngroupError::InYear`]), with the years together or the
    /// settings.
    ///
    /// # Numerics
    /// Some 860 settings of the hyperparameters at most are tried: each costs `O(cells^2 +
    /// bands^3)` a step, and 32 of them the cube of the cells besides. Twenty years of eighteen
    /// bands take about a minute of processor time, and memory of a few `8 cells^2` bytes a thread.
    /// The number of draws is rounded up to a multiple of 64.
    ///
    /// # Examples
    /// ```
    /// use quadrat::ungroup::{Ungroup, Year};
    /// let from = [0.0, 20.0, 40.0, 60.0, 80.0];
    /// let to = [20.0, 40.0, 60.0, 80.0, f64::INFINITY];
    /// let people = [[900.0, 880.0, 830.0, 600.0, 130.0], [890.0, 885.0, 840.0, 610.0, 140.0]];
    /// let year = |k: usize| Year { at: 2000.0 + k as f64, counts: &people[k], bands: None };
    /// let asked = Ungroup::new(&from, &to).step(5.0).draws(200);
    /// let years = asked.estimate_along(&[year(0), year(1)], 0)?;
    /// assert!((years[1].mean()[..4].iter().sum::<f64>() - 890.0).abs() < 1e-6);
    /// # Ok::<(), quadrat::ungroup::UngroupError>(())
    /// ```
    pub fn estimate_along(
        &self,
        years: &[Year<'_>],
        stream: u64,
    ) -> Result<Vec<Estimate>, UngroupError> {
        self.check()?;
        let at = ascending(years)?;
        if let [year] = years {
            return self.alone(year, stream).map(|one| vec![one]);
        }
        let mut checked = self.checked(years, &at)?;
        let (bands, cells): (Vec<usize>, Vec<usize>) = checked
            .iter()
            .map(|year| (year.bands.len(), year.cells.len()))
            .unzip();
        self.bounded(years.len(), bands.iter().sum(), cells.iter().sum())?;
        let sample = match bands == cells {
            true => given(cells.iter().sum()),
            false => self.joint(&mut checked, years, stream).run()?,
        };
        self.of_years(&mut checked, years, sample, stream)
    }

    /// What draws of all years say of each.
    fn of_years(
        &self,
        checked: &mut [Checked],
        years: &[Year<'_>],
        sample: Sample,
        stream: u64,
    ) -> Result<Vec<Estimate>, UngroupError> {
        let mut out: Vec<(usize, Estimate)> = Vec::new();
        let mut from = 0;
        for year in checked {
            let own = Sample {
                values: sample.values.subrows(from, year.cells.len()).to_owned(),
                weights: sample.weights.clone(),
                ..sample
            };
            from += year.cells.len();
            let pools = pools(std::slice::from_ref(year));
            let counting = Counting {
                bands: &year.bands,
                cells: &year.cells,
                pools: &pools,
                counts: &year.counts,
                sampled: self.asked_per_count(),
                level: self.level,
                seed: self.seed,
                stream: stream.wrapping_add(years[year.given].at.to_bits()),
            };
            let warnings = std::mem::take(&mut year.warnings);
            out.push((year.given, counting.estimate(own, warnings)?));
        }
        out.sort_by_key(|(given, _)| *given);
        Ok(out.into_iter().map(|(_, estimate)| estimate).collect())
    }

    /// A year without others is one table.
    fn alone(&self, year: &Year<'_>, stream: u64) -> Result<Estimate, UngroupError> {
        let (lower, upper) = year.bands.unwrap_or((self.lower, self.upper));
        let asked = Ungroup {
            lower,
            upper,
            ..self.clone()
        };
        let counts = year.counts;
        let mut out = Err(UngroupError::Nothing);
        let done = asked.estimate_each(&[Population { counts, stream }], |_, found| out = found);
        done.and(out).map_err(|error| UngroupError::InYear {
            year: 0,
            at: year.at,
            error: Box::new(error),
        })
    }

    /// The years in ascending order, each by itself.
    fn checked(&self, years: &[Year<'_>], order: &[usize]) -> Result<Vec<Checked>, UngroupError> {
        let mut out: Vec<Checked> = Vec::new();
        for &given in order {
            let year = &years[given];
            let own = |error| UngroupError::InYear {
                year: given,
                at: year.at,
                error: Box::new(error),
            };
            let (lower, upper) = year.bands.unwrap_or((self.lower, self.upper));
            let mut bands = Bands::new(lower, upper, &self.ends).map_err(own)?;
            // All years lie on the axis of the first one.
            if let Some(first) = out.first() {
                bands.axis = first.bands.axis;
            }
            let counts = bands.ordered(year.counts).map_err(own)?;
            let (cells, warning) = Cells::new(&bands, &self.wanted).map_err(own)?;
            let mut warnings: Vec<Warning> = warning.into_iter().collect();
            warnings.extend(bands.wide_last());
            warnings.extend(heaped(&bands.edges, &counts, self.sampled));
            out.push(Checked {
                bands,
                cells,
                counts,
                warnings,
                apart: Runs::new(),
                given,
            });
        }
        Ok(out)
    }

    fn bounded(&self, years: usize, bands: usize, cells: usize) -> Result<(), UngroupError> {
        if bands > MOST_BANDS || cells > MOST_CELLS {
            return Err(UngroupError::TooManyYears {
                years,
                bands,
                cells,
                most: (MOST_BANDS, MOST_CELLS),
            });
        }
        if cells * self.draws > MOST_NUMBERS {
            return Err(UngroupError::Setting {
                what: "the number of draws",
                value: self.draws as f64,
                requirement: format!("at most {} for {cells} cells", MOST_NUMBERS / cells),
            });
        }
        Ok(())
    }

    /// Mean log evidence of the years, each by itself, at settings of one table. Bands are apart in
    /// the way that is likeliest there.
    fn evidence_alone(&self, checked: &mut [Checked], of_one: &[Setting]) -> Vec<f64> {
        let (mut out, years) = (vec![0.0; of_one.len()], checked.len());
        for year in checked {
            let mut task = self.task(&year.bands, &year.cells);
            task.settings = of_one.to_vec();
            let target = [KnownPopulation {
                logs: self.logs(&year.counts, &year.cells, &year.bands),
                stream: 0,
            }];
            let mut runs = self.apart(&task, &year.counts, &target[0].logs);
            if !runs.is_empty() {
                task = task.apart(&runs, &year.cells);
                let way = task.likeliest(&target[0]);
                task.ways = vec![task.ways.swap_remove(way)];
                runs.truncate(task.ways[0].runs);
                year.warnings.extend(year.bands.apart(&runs, &year.counts));
                year.apart = runs;
            }
            let found = task.evidence(&target, &task.starts(&target));
            for (sum, own) in out.iter_mut().zip(found) {
                *sum += own.iter().sum::<f64>() / years as f64;
            }
        }
        out
    }

    fn joint(&self, checked: &mut [Checked], years: &[Year<'_>], stream: u64) -> Task<'_> {
        let at: Vec<f64> = checked.iter().map(|year| years[year.given].at).collect();
        let ends: Vec<Vec<f64>> = checked.iter().map(Checked::ends).collect();
        let first = ends
            .iter()
            .map(|ends| ends[0])
            .fold(f64::INFINITY, f64::min);
        let last = ends.iter().map(|ends| ends[ends.len() - 1]);
        let length = last.fold(f64::NEG_INFINITY, f64::max) - first;
        let mut begins = vec![0];
        for year in &*checked {
            begins.push(begins[begins.len() - 1] + year.cells.len());
        }
        let middles = |ends: &Vec<f64>| -> Vec<f64> {
            ends.windows(2)
                .map(|pair| 0.5 * (pair[0] + pair[1]))
                .collect()
        };
        let span = at[at.len() - 1] - at[0];
        let logs = checked
            .iter()
            .flat_map(|year| self.logs(&year.counts, &year.cells, &year.bands));
        let of_one = super::prior::settings(SETTINGS, self.variance(), length, self.seed);
        let logs = logs.collect();
        let evidence = self.evidence_alone(&mut *checked, &of_one);
        Task {
            evidence,
            of_one,
            scale: UnitScale {
                span: if span > 0.0 { span } else { 1.0 },
                has_cohorts: checked[0].bands.axis == Axis::Linear,
            },
            pools: pools(checked),
            logs,
            places: CellPlaces {
                places: ends.iter().flat_map(middles).collect(),
                years: at,
                first: begins,
                levels: ends
                    .iter()
                    .map(|own| -(own[own.len() - 1] - own[0]).ln())
                    .collect(),
                term: term(checked),
                apart: checked.iter().flat_map(Checked::levels).collect(),
            },
            draws: self.draws,
            seed: self.seed,
            stream,
            watched: Watched::new(self.watcher, MOST_SETTINGS),
        }
    }
}

impl Checked {
    /// Edges of the cells on the axis.
    fn ends(&self) -> Vec<f64> {
        let edges = self.cells.edges.iter();
        edges.map(|x| self.bands.axis.forward(*x)).collect()
    }

    /// Which level of its own every cell has.
    fn levels(&self) -> Vec<Option<usize>> {
        let bands = 0..self.bands.len();
        let of = |band: usize| self.apart.iter().position(|run| run.contains(&band));
        let cells = |band: usize| self.cells.band[band + 1] - self.cells.band[band];
        bands.flat_map(|band| vec![of(band); cells(band)]).collect()
    }
}

/// The cells of every band of all years.
fn pools(checked: &[Checked]) -> Pools {
    let cells = checked.iter().map(|year| year.cells.len()).sum();
    let (mut out, mut first) = (Pools::new(cells), 0);
    for year in checked {
        let ends = year.ends();
        for pair in year.cells.band.windows(2) {
            let own = (pair[0]..pair[1]).map(|i| (first + i, ends[i + 1] - ends[i]));
            out.push(Link::Exp, own);
        }
        first += year.cells.len();
    }
    out
}

/// The tail of all years.
fn term(checked: &[Checked]) -> Option<PriorTerm> {
    let (mean, sd) = checked.iter().find_map(|year| year.bands.fall)?.slope();
    let of = |year: &Checked| -> Vec<f64> {
        let (axis, cells) = (year.bands.axis, &year.cells);
        let one = |i: usize| {
            let middle = axis.within(cells.cell(i), 0.5);
            year.bands.fall.map_or(0.0, |fall| fall.shape(axis, middle))
        };
        (0..cells.len()).map(one).collect()
    };
    Some(PriorTerm {
        shape: checked.iter().flat_map(of).collect(),
        mean: -mean,
        sd,
    })
}

/// The order of the years.
fn ascending(years: &[Year<'_>]) -> Result<Vec<usize>, UngroupError> {
    if years.is_empty() {
        return Err(UngroupError::Nothing);
    }
    if let Some(year) = years.iter().position(|year| !year.at.is_finite()) {
        return Err(UngroupError::NoYear {
            year,
            at: years[year].at,
        });
    }
    let mut order: Vec<usize> = (0..years.len()).collect();
    order.sort_by(|a, b| years[*a].at.total_cmp(&years[*b].at));
    match order
        .windows(2)
        .find(|pair| years[pair[0]].at == years[pair[1]].at)
    {
        Some(pair) => Err(UngroupError::YearTwice {
            year: pair[0].min(pair[1]),
            other: pair[0].max(pair[1]),
            at: years[pair[0]].at,
        }),
        None => Ok(order),
    }
}
