//! One function seen as values, intervals and ranks.

use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{SimulateError, check, random, se_on_grid};

/// Most dimensions.
const DIMS: usize = 3;
/// Most points along a dimension, and of the whole grid.
const SIDE: usize = 1000;
const PLACES: usize = 100_000;
/// Most ranks.
const RANKS: usize = 30;

/// The artificial mixed data of a box: a draw of a Gaussian process on a grid, seen through noise
/// as values, intervals and ranks, each at random places of the grid.
///
/// With `y = f(x) + e`, `e ~ N(0, noise^2)`, drawn anew for every row:
/// - a *point* reports `y`;
/// - an *interval* reports the bin of width `width` that `y` lies in, on a partition of the line
///   with a random offset of its own. This is the limit of many equally spaced windows `[a, a +
///   width]`, chosen in proportion to `p(a < y < a + width)`;
/// - an *ordinal* reports the rank `k` where `t_(k-1) < y <= t_k`; the thresholds are the quantiles
///   of the drawn function at `1 / ranks`, `2 / ranks`, ..
///
/// # Source
/// Fletcher 2022, *Active Learning for Gaussian Processes with Mixed Data*, section 4.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixed {
    /// Dimensions of the box, 1 to 3.
    pub dims: usize,
    /// Lower end of the box along every dimension.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Points of the grid along every dimension, both ends included.
    pub grid: usize,
    /// Lengthscale of the kernel `se`, the same along every dimension, in the unit of the box.
    pub lengthscale: f64,
    /// Variance of the kernel.
    pub variance: f64,
    /// Standard deviation of the noise.
    pub noise: f64,
    /// Rows that report values.
    pub points: usize,
    /// Rows that report intervals.
    pub intervals: usize,
    /// Width of the intervals.
    pub width: f64,
    /// Rows that report ranks.
    pub ordinals: usize,
    /// How many ranks there are.
    pub ranks: usize,
    /// Everything random comes from it.
    pub seed: u64,
}

/// One row: where, and what was reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<T> {
    /// The place, one number per dimension.
    pub place: Vec<f64>,
    /// The report.
    pub report: T,
}

/// What [`Mixed::draw`] drew.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MixedData {
    /// Every place of the grid, the last dimension running fastest.
    pub places: Vec<Vec<f64>>,
    /// The function there.
    pub truth: Vec<f64>,
    /// The thresholds between ranks, rising, shape `[ranks - 1]`.
    pub thresholds: Vec<f64>,
    /// Values.
    pub points: Vec<Row<f64>>,
    /// Lower and upper ends.
    pub intervals: Vec<Row<(f64, f64)>>,
    /// Ranks from 1.
    pub ordinals: Vec<Row<usize>>,
}

impl Mixed {
    /// The box from 0 to 2, variance 1 and noise 0.1 of the source. Its lengthscale of 0.2 is kept
    /// in one dimension and doubled with every further one, so that tens of rows can show the
    /// function.
    #[must_use]
    pub fn new(dims: usize) -> Self {
        let (grid, lengthscale) = match dims {
            0 | 1 => (101, 0.2),
            2 => (31, 0.4),
            _ => (13, 0.8),
        };
        Self {
            dims,
            low: 0.0,
            high: 2.0,
            grid,
            lengthscale,
            variance: 1.0,
            noise: 0.1,
            points: 10 * dims,
            intervals: 15 * dims,
            width: 0.5,
            ordinals: 20 * dims,
            ranks: 5,
            seed: 1,
        }
    }

    /// Draws the function and the rows.
    ///
    /// # Errors
    /// [`SimulateError::Option`] for an option outside its range; [`SimulateError::Linalg`].
    ///
    /// # Examples
    /// ```
    /// use quadrat::simulate::Mixed;
    ///
    /// let data = Mixed { ordinals: 40, ..Mixed::new(1) }.draw()?;
    /// assert_eq!((data.truth.len(), data.thresholds.len()), (101, 4));
    /// // A fifth of the places has each rank, but for noise and chance.
    /// let middle = data.ordinals.iter().filter(|row| row.report == 3).count();
    /// assert!((2..=18).contains(&middle));
    /// # Ok::<(), quadrat::simulate::SimulateError>(())
    /// ```
    pub fn draw(&self) -> Result<MixedData, SimulateError> {
        self.check()?;
        // Both ends weighted, so that places are as round as they can be.
        let last = (self.grid - 1) as f64;
        let at = |i: usize| (self.low * (last - i as f64) + self.high * i as f64) / last;
        let axis: Vec<f64> = (0..self.grid).map(at).collect();
        let axes = vec![axis; self.dims];
        // Streams of this seed from 1 on are those of the rows.
        let truth = se_on_grid(&axes, self.lengthscale, self.variance, self.seed)?;
        let places: Vec<Vec<f64>> = (0..truth.len())
            .map(|code| self.digits(code).map(|i| axes[0][i]).collect())
            .collect();
        let thresholds = quantiles(&truth, self.ranks);
        let seen = |stream: u64, rows: usize| {
            let mut random = random(self.seed, stream);
            let chosen = index::sample(&mut random, truth.len(), rows).into_vec();
            (chosen, random)
        };
        let noisy = |i: usize, random: &mut ChaCha8Rng| {
            let z: f64 = StandardNormal.sample(random);
            truth[i] + self.noise * z
        };
        let (chosen, mut own) = seen(1, self.points);
        let points = rows(&places, chosen, |i| noisy(i, &mut own));
        let (chosen, mut own) = seen(2, self.intervals);
        let intervals = rows(&places, chosen, |i| {
            let y = noisy(i, &mut own);
            let offset: f64 = own.random();
            let lower = ((y / self.width + offset).floor() - offset) * self.width;
            (lower, lower + self.width)
        });
        let (chosen, mut own) = seen(3, self.ordinals);
        let ordinals = rows(&places, chosen, |i| {
            let y = noisy(i, &mut own);
            1 + thresholds.iter().filter(|t| **t < y).count()
        });
        Ok(MixedData {
            places,
            truth,
            thresholds,
            points,
            intervals,
            ordinals,
        })
    }

    /// Positions along the dimensions of a place of the grid.
    fn digits(&self, code: usize) -> impl Iterator<Item = usize> {
        let (grid, dims) = (self.grid, self.dims);
        (0..dims).map(move |d| code / grid.pow((dims - 1 - d) as u32) % grid)
    }

    fn check(&self) -> Result<(), SimulateError> {
        let whole = |n: usize| n as f64;
        check(
            "dims",
            whole(self.dims),
            (1..=DIMS).contains(&self.dims),
            "1, 2 or 3",
        )?;
        check("low", self.low, self.low.is_finite(), "a finite number")?;
        let wide = self.high.is_finite() && (self.high - self.low).is_finite();
        check(
            "high",
            self.high,
            wide && self.high > self.low,
            "finite and above low",
        )?;
        let sides = (2..=SIDE).contains(&self.grid);
        check("grid", whole(self.grid), sides, "from 2 to 1000")?;
        let total = self.grid.pow(self.dims as u32);
        let most = format!(
            "small enough that the whole grid has at most {PLACES} places (it would have {total})"
        );
        check("grid", whole(self.grid), total <= PLACES, &most)?;
        for (option, value) in [
            ("lengthscale", self.lengthscale),
            ("variance", self.variance),
            ("noise", self.noise),
            ("width", self.width),
        ] {
            let holds = value > 0.0 && value.is_finite();
            check(option, value, holds, "a finite number above zero")?;
        }
        let most = format!("at most {total}, the places of the grid");
        for (option, rows) in [
            ("points", self.points),
            ("intervals", self.intervals),
            ("ordinals", self.ordinals),
        ] {
            check(option, whole(rows), rows <= total, &most)?;
        }
        let any = self.points + self.intervals + self.ordinals > 0;
        check(
            "points",
            0.0,
            any,
            "above zero when there are no intervals and no ordinals",
        )?;
        let ranks = (2..=RANKS).contains(&self.ranks);
        check("ranks", whole(self.ranks), ranks, "from 2 to 30")?;
        // Every rank needs a place of its own.
        let most = format!("at most {total}, the places of the grid");
        check("ranks", whole(self.ranks), self.ranks <= total, &most)
    }
}

fn rows<T>(
    places: &[Vec<f64>],
    chosen: Vec<usize>,
    mut report: impl FnMut(usize) -> T,
) -> Vec<Row<T>> {
    chosen
        .into_iter()
        .map(|i| Row {
            place: places[i].clone(),
            report: report(i),
        })
        .collect()
}

/// Quantiles at `1 / parts`, .., linear between values.
fn quantiles(values: &[f64], parts: usize) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (1..parts)
        .map(|k| {
            let at = (sorted.len() - 1) as f64 * k as f64 / parts as f64;
            let below = at.floor() as usize;
            let above = (below + 1).min(sorted.len() - 1);
            sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_agree_with_the_truth_but_for_the_noise() {
        for dims in 1..=3 {
            let plan = Mixed {
                points: 100,
                intervals: 100,
                ordinals: 100,
                ..Mixed::new(dims)
            };
            let data = plan.draw().unwrap();
            let truth = |place: &Vec<f64>| {
                let i = data.places.iter().position(|p| p == place).unwrap();
                data.truth[i]
            };
            // Five standard deviations: one row in two million lies beyond.
            let slack = 5.0 * plan.noise;
            let errors: Vec<f64> = data
                .points
                .iter()
                .map(|row| row.report - truth(&row.place))
                .collect();
            assert!(errors.iter().all(|e| e.abs() < slack));
            let sd = (errors.iter().map(|e| e * e).sum::<f64>() / 100.0).sqrt();
            // An sd of 100 values is known to 7 %; four of them.
            assert!((sd / plan.noise - 1.0).abs() < 0.28, "{sd}");
            for row in &data.intervals {
                let (lower, upper) = row.report;
                let f = truth(&row.place);
                assert!((upper - lower - plan.width).abs() < 1e-12);
                assert!(lower - slack < f && f < upper + slack);
            }
            let ends = [&[f64::NEG_INFINITY], &data.thresholds[..], &[f64::INFINITY]].concat();
            for row in &data.ordinals {
                let f = truth(&row.place);
                assert!(ends[row.report - 1] - slack < f && f < ends[row.report] + slack);
            }
        }
    }

    #[test]
    fn offsets_of_intervals_are_uniform() {
        let plan = Mixed {
            intervals: 101,
            ..Mixed::new(1)
        };
        let data = plan.draw().unwrap();
        let phase = |row: &Row<(f64, f64)>| (row.report.0 / plan.width).rem_euclid(1.0);
        let mean = data.intervals.iter().map(phase).sum::<f64>() / 101.0;
        // A mean of 101 uniform numbers has the sd .029; four of them.
        assert!((mean - 0.5).abs() < 0.115, "{mean}");
    }

    #[test]
    fn a_seed_fixes_everything_and_kinds_do_not_disturb_each_other() {
        let plan = Mixed::new(2);
        let data = plan.draw().unwrap();
        assert_eq!(data, plan.draw().unwrap());
        let more = Mixed {
            points: 50,
            ..plan.clone()
        };
        let more = more.draw().unwrap();
        assert_eq!(data.truth, more.truth);
        assert_eq!(data.intervals, more.intervals);
        assert_eq!(data.ordinals, more.ordinals);
        let other = Mixed { seed: 2, ..plan };
        assert_ne!(data.truth, other.draw().unwrap().truth);
    }

    #[test]
    fn options_outside_their_range_are_named() {
        let plain = Mixed::new(1);
        let cases = [
            (
                Mixed {
                    dims: 4,
                    ..plain.clone()
                },
                "dims is 4; it must be 1, 2 or 3",
            ),
            (
                Mixed {
                    high: 0.0,
                    ..plain.clone()
                },
                "high is 0; it must be finite and above low",
            ),
            (
                Mixed {
                    noise: 0.0,
                    ..plain.clone()
                },
                "noise is 0; it must be a finite number above zero",
            ),
            (
                Mixed {
                    width: f64::NAN,
                    ..plain.clone()
                },
                "width is NaN",
            ),
            (
                Mixed {
                    ranks: 1,
                    ..plain.clone()
                },
                "ranks is 1; it must be from 2 to 30",
            ),
            (
                Mixed {
                    points: 102,
                    ..plain.clone()
                },
                "points is 102; it must be at most 101",
            ),
            (
                Mixed {
                    dims: 3,
                    grid: 50,
                    ..plain.clone()
                },
                "it would have 125000",
            ),
            (
                Mixed {
                    points: 0,
                    intervals: 0,
                    ordinals: 0,
                    ..plain
                },
                "points is 0",
            ),
        ];
        for (plan, words) in cases {
            let error = plan.draw().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn quantiles_are_linear_between_values() {
        assert_eq!(quantiles(&[4.0, 0.0, 1.0, 3.0, 2.0], 4), [1.0, 2.0, 3.0]);
        assert_eq!(quantiles(&[0.0, 1.0], 4), [0.25, 0.5, 0.75]);
    }
}
