//! Shapes that the latent function is known to have: monotone, convex, within bounds.
//!
//! Functions are drawn from the posterior, and each is replaced by the nearest one of the shape. A
//! function of the shape is never farther from the nearest than from the draw, so that what was
//! calibrated stays so. Rows that say so to inference (increments that are positive, by sites) do
//! not have this: many of them together push flat parts into a slope. On steep dose responses their
//! 95 % intervals held 88 % where those of the draws held 95 %.

mod kinds;
mod project;
mod shaped;

pub use kinds::Shape;
use shaped::Contradiction;
pub use shaped::Shaped;

use super::mixture::Posterior;
use crate::error::{FitError, InputError};
use crate::linalg::MatRef;
use crate::support::Functionals;
use project::shares;

/// Steps of the grid at least, and at most.
const STEPS: [usize; 2] = [128, 512];
/// So many times the range of the rows has steps of its own within a range that is longer.
const MUCH_LONGER: f64 = 1.5;
/// So many to the shortest distance over which the function changes.
const STEPS_PER_LENGTH: f64 = 6.0;
/// Shortest step, as a share of the range.
const ROUNDING: f64 = 1e-9;
/// Part of the largest value below which draws differ by rounding: they come from factors of
/// covariances, which have half of the digits.
const ALIKE: f64 = 1e-8;

impl Posterior {
    /// Draws of the latent function held to shapes: those of the posterior at the places of a grid,
    /// linear between them, each replaced by the nearest function of the shape. Beyond the rows a
    /// function goes on as its draw does where the shape allows, else level or straight: there the
    /// process returns to its mean, which says nothing of the shape among the rows.
    ///
    /// With `P` the projection on the functions of a shape, $f_s = P g_s$ for draws
    /// $g_s \sim p(f \mid y)$. Where the true function $f$ has the shape,
    /// $\|P g_s - f\| \le \|g_s - f\|$ for every draw: no error gets larger. The norm is the
    /// weighted sum of squares over the places for monotone and bounded functions, that of squared
    /// slopes for convex ones, whose mean is kept; of two shapes together it holds for each step.
    ///
    /// The fit, its evidence and its hyperparameters are those without the shape. Sums that rows
    /// know exactly are no longer met exactly.
    ///
    /// # Arguments
    /// * `shapes` - in any order; monotone may go with convex or with bounds
    /// * `range` - where it is held besides the range of the rows, in the unit of the input
    /// * `output` - of several the one that is meant
    /// * `draws`, `seed` - how many functions, and which
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for several inputs, labels, shapes that do not go together or
    /// are none, or a range without length; else as [`Self::sample`].
    ///
    /// # Numerics
    /// 129 to 513 places, six to the shortest lengthscale where that can be, and as many within the
    /// rows where the range is much longer; between them the function is a line. With `S` draws a
    /// mean is known to `sd / sqrt(S)`, the end of a 95 % interval to about `2.7 sd / sqrt(S)`.
    ///
    /// # Examples
    /// A growth curve from five heights:
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Model, Noise, Observations, Shape};
    /// use quadrat::support::Functionals;
    ///
    /// let age = Functionals::points("age", &[1.0, 4.0, 9.0, 14.0, 18.0])?;
    /// let noise = Noise::Known(vec![9.0; 5]);
    /// let heights = Observations::gaussian(age, vec![76.0, 102.0, 134.0, 168.0, 166.0], noise)?;
    /// let model = Model::new(Kernel::se(["age"])).observe(heights);
    /// let posterior = model.fit(&FitOptions::default())?;
    /// let grown = posterior.shaped(&[Shape::Rising], None, None, (500, 1))?;
    /// let years = Functionals::points("age", &[15.0, 16.0, 17.0, 18.0])?;
    /// let draws = grown.at(&years)?;
    /// assert!((0..500).all(|j| (1..4).all(|i| draws[(i, j)] >= draws[(i - 1, j)])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Source
    /// Lin and Dunson 2014, *Bayesian monotone regression using Gaussian process projection*.
    pub fn shaped(
        &self,
        shapes: &[Shape],
        range: Option<(f64, f64)>,
        output: Option<&str>,
        (draws, seed): (usize, u64),
    ) -> Result<Shaped, FitError> {
        let mut shapes = shapes.to_vec();
        self.check_shapes(&shapes)?;
        shapes.sort_by_key(|shape| shape.order());
        let observed = self.observed_range();
        let places = self.places_of_shape(observed, range)?;
        let inside = inside(&places, observed);
        let input = self.dims().first().map_or("", String::as_str);
        let grid = Functionals::points(input, &places)?;
        let grid = match output {
            Some(output) => self.at_output(&grid, output)?,
            None => grid,
        };
        let mut drawn = self.sample(&grid, draws, seed)?;
        let seen = drawn.as_ref().subrows(inside.start, inside.len());
        let broken = broken(&shapes, seen, &places[inside.clone()]);
        let shares = shares(&places[inside.clone()]);
        let spread = spread(seen, &shares);
        let mut moved = 0.0;
        for draw in 0..draws {
            let values = drawn.col_as_slice_mut(draw);
            let free = values[inside.clone()].to_vec();
            for shape in &shapes {
                let before = values.to_vec();
                let own = &mut values[inside.clone()];
                shape.bring_about(own, &places[inside.clone()], &shares);
                shape.go_on(values, (&before, &places), &inside);
            }
            let pairs = values[inside.clone()].iter().zip(&free).zip(&shares);
            moved += pairs.map(|((p, g), w)| w * (p - g) * (p - g)).sum::<f64>() / draws as f64;
        }
        // Draws that differ by less than rounding of their values are one function.
        let size = (0..draws).flat_map(|draw| drawn.col_as_slice(draw));
        let size = size.fold(0.0_f64, |size, value| size.max(value.abs()));
        let rounding = (ALIKE * size).powi(2).max(f64::MIN_POSITIVE);
        let contradiction = Contradiction {
            broken,
            moved: (moved / spread.max(rounding)).sqrt(),
        };
        Ok(Shaped::new(input.to_owned(), places, drawn, contradiction))
    }

    fn check_shapes(&self, shapes: &[Shape]) -> Result<(), InputError> {
        let refuse = |what, remedy| Err(InputError::Unavailable { what, remedy });
        if self.dims().len() != 1 {
            return refuse(
                "a shape of a function of several inputs",
                "take a kernel of one input",
            );
        }
        if !self.kernel().labels().is_empty() {
            return refuse(
                "a shape of a function of labels",
                "labels have no order: take a kernel over a number",
            );
        }
        let is_open = |shape: &Shape| match *shape {
            Shape::Between { lower, upper } => lower < upper,
            _ => true,
        };
        let go = |i: usize, shape: &Shape| shapes.iter().skip(i + 1).all(|s| s.suits(*shape));
        let mut pairs = shapes.iter().enumerate();
        if shapes.is_empty() || !shapes.iter().all(is_open) || !pairs.all(|(i, s)| go(i, s)) {
            return refuse(
                "this set of shapes",
                "name one, or a monotone one with a convex one or with bounds that have room between them",
            );
        }
        Ok(())
    }

    /// From the first to the last place of the rows.
    fn observed_range(&self) -> (f64, f64) {
        let column = self.problem.kernel().output_column();
        let own = (0..self.kernel().columns().len()).find(|d| column != Some(*d));
        self.problem.observed().range(own.unwrap_or(0))
    }

    /// Even places over what was observed and what is asked, and the ends of the rows.
    fn places_of_shape(
        &self,
        observed: (f64, f64),
        range: Option<(f64, f64)>,
    ) -> Result<Vec<f64>, InputError> {
        let (mut from, mut to) = observed;
        if let Some((a, b)) = range {
            (from, to) = (from.min(a.min(b)), to.max(a.max(b)));
        }
        let length = to - from;
        if !(length > 0.0 && length.is_finite()) {
            return Err(InputError::Unavailable {
                what: "a shape over a range without length",
                remedy: "observe or ask for more than one place",
            });
        }
        let shortest = self.dims().first().and_then(|dim| self.shortest(dim));
        let even = |(from, to): (f64, f64)| {
            let length = to - from;
            let wanted = shortest.map_or(0.0, |(at, _)| STEPS_PER_LENGTH * length / at);
            let steps = (wanted.ceil() as usize).clamp(STEPS[0], STEPS[1]);
            (0..=steps).map(move |i| from + length * (i as f64 / steps as f64))
        };
        let mut places: Vec<f64> = even((from, to)).collect();
        let own = observed.1 - observed.0;
        if own > ROUNDING * length && MUCH_LONGER * own < length {
            places.extend(even(observed));
        }
        places.extend([observed.0, observed.1]);
        places.sort_by(f64::total_cmp);
        // Steps that are next to nothing have slopes that are rounding.
        places.dedup_by(|b, a| *b - *a < ROUNDING * length);
        Ok(places)
    }
}

/// The places among the rows, the nearest to their middle at least.
fn inside(places: &[f64], (from, to): (f64, f64)) -> std::ops::Range<usize> {
    let room = ROUNDING * (places[places.len() - 1] - places[0]);
    let first = places.partition_point(|x| *x < from - room);
    let end = places.partition_point(|x| *x <= to + room);
    let first = first.min(places.len() - 1);
    first..end.max(first + 1)
}

/// The variance of draws, summed over the places by their shares of the range.
fn spread(drawn: MatRef<'_, f64>, shares: &[f64]) -> f64 {
    let count = drawn.ncols() as f64;
    let at = |place: usize| {
        let values = drawn.row(place);
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|f| (f - mean) * (f - mean));
        squares.sum::<f64>() / count
    };
    let each = shares.iter().enumerate();
    each.map(|(place, share)| share * at(place)).sum()
}

/// By how many sds draws break shapes most, over steps of all sizes.
fn broken(shapes: &[Shape], drawn: MatRef<'_, f64>, places: &[f64]) -> f64 {
    let count = drawn.ncols() as f64;
    let mut most = 0.0_f64;
    let mut step = 1;
    while step < drawn.nrows() {
        for shape in shapes {
            let mut told = Vec::new();
            let mut sums: Vec<(f64, f64)> = Vec::new();
            for draw in 0..drawn.ncols() {
                told.clear();
                let values: Vec<f64> = drawn.col(draw).iter().copied().collect();
                shape.told(&values, places, step, &mut told);
                sums.resize(told.len(), (0.0, 0.0));
                for (sum, value) in sums.iter_mut().zip(&told) {
                    *sum = (sum.0 + value, sum.1 + value * value);
                }
            }
            for (sum, square) in sums {
                let mean = sum / count;
                let variance = (square / count - mean * mean).max(0.0);
                if mean < 0.0 && variance > 0.0 {
                    most = most.max(-mean / variance.sqrt());
                }
            }
        }
        step *= 2;
    }
    most
}
