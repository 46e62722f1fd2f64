//! Shapes that the latent function is known to have: monotone, convex, within bounds.
//!
//! Functions are drawn from the posterior, and each is replaced by the nearest one of the shape. A
//! function of the shape is never farther from the nearest than from the draw, so that what was
//! calibrated stays so. Rows that say so to inference (increments that are positive, by sites) do
//! not have this: many of them together push flat parts into a slope. On steep dose responses their
//! 95 % intervals held 88 % where those of the draws held 95 %.

mod between;
mod kinds;
mod knots;
mod pinned;
mod places;
mod project;
mod rows;
mod shaped;
mod steps;
mod through;

use between::Kept;
pub use kinds::Shape;
use knots::{Knots, joined, lead_through};
pub use rows::Breach;
use shaped::Measures;
pub use shaped::Shaped;

use super::mixture::Posterior;
use crate::error::{FitError, InputError};
use crate::support::Functionals;
use places::inside;
use project::shares;
use steps::{bent, broken, spread};

/// Part of the range of all values below which draws differ by rounding: they come from factors of
/// covariances, which have half of the digits.
const ALIKE: f64 = 1e-8;

impl Posterior {
    /// Draws of the latent function held to shapes: those of the posterior at the places of a grid,
    /// each replaced by the nearest function of the shape, and led from place to place by quadratic
    /// splines that keep it. Beyond the rows a function goes on as its draw does where the shape
    /// allows, else level or straight: there the process returns to its mean, which says nothing of
    /// the shape among the rows.
    ///
    /// With `P` the projection on the functions of a shape, $f_s = P g_s$ for draws
    /// $g_s \sim p(f \mid y)$. Where the true function $f$ has the shape,
    /// $\|P g_s - f\| \le \|g_s - f\|$ for every draw: no error gets larger. The norm is the
    /// weighted sum of squares over the places for monotone and bounded functions, that of squared
    /// slopes for convex ones, whose mean is kept; of two shapes together it holds for each step.
    ///
    /// Every function goes through the values at points that rows know exactly, and is the nearest
    /// among those that do; where rows tell the value at a point to a thirtieth of the sd elsewhere
    /// it goes through what the draw has there, brought to the shape first. Sums and averages that
    /// rows know exactly are not met exactly.
    ///
    /// The fit, its evidence and its hyperparameters are those without the shape.
    ///
    /// # Arguments
    /// * `shapes` - in any order; monotone may go with convex or with bounds
    /// * `range` - where it is held besides the range of the rows, in the unit of the input
    /// * `output` - of several the one that is meant
    /// * `draws`, `seed` - how many functions, and which
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for several inputs, labels, shapes that do not go together or
    /// are none, a range whose length is no number, exact rows that have not the shapes, or more
    /// than 1,000 exact rows; else as [`Self::sample`].
    ///
    /// # Numerics
    /// 129 to 513 places, six to the shortest lengthscale where that can be, and as many within the
    /// rows where the range is much longer, and those of precise rows, up to 1,000. What is nearest
    /// is so among functions that are lines between them. With `S` draws a mean is known to
    /// `sd / sqrt(S)`, the end of a 95 % interval to about `2.7 sd / sqrt(S)`.
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
    /// Lin and Dunson 2014, *Bayesian monotone regression using Gaussian process projection*;
    /// Schumaker 1983, *On shape preserving quadratic spline interpolation*.
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
        let grid = self.places_of_shape(observed, range)?;
        let pins = self.pinned(&shapes, &grid[inside(&grid, observed)], output)?;
        let (places, pinned) = joined(grid, &pins, observed);
        let inside = inside(&places, observed);
        let at = pinned.iter().map(|at| at - inside.start);
        let knots = Knots::new(&pins, at, slopes(&shapes));
        let input = self.dims().first().map_or("", String::as_str);
        let grid = Functionals::points(input, &places)?;
        let grid = match output {
            Some(output) => self.at_output(&grid, output)?,
            None => grid,
        };
        let mut drawn = self.sample(&grid, draws, seed)?;
        let known = pins.iter().zip(&pinned);
        let known = known.filter_map(|(pin, at)| Some((*at, pin.exact?)));
        let (at, exact): (Vec<usize>, Vec<f64>) = known.unzip();
        for draw in 0..draws {
            lead_through(drawn.col_as_slice_mut(draw), &places, &at, &exact);
        }
        let seen = drawn.as_ref().subrows(inside.start, inside.len());
        // Draws that differ by less than rounding of their values are one function.
        let values = || (0..draws).flat_map(|draw| drawn.col_as_slice(draw));
        let high = values().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = values().copied().fold(f64::INFINITY, f64::min);
        let rounding = (ALIKE * (high - low)).max(f64::MIN_POSITIVE.sqrt());
        let broken = broken(&shapes, seen, (&places[inside.clone()], rounding));
        let shares = shares(&places[inside.clone()]);
        let length: f64 = shares.iter().sum();
        let least = (rounding * rounding * length).max(f64::MIN_POSITIVE);
        let spread = spread(seen, &shares).max(least);
        let bent = bent(seen, (&places[inside.clone()], &shares), spread);
        let mut moved = 0.0;
        for draw in 0..draws {
            let values = drawn.col_as_slice_mut(draw);
            let free = values[inside.clone()].to_vec();
            for shape in &shapes {
                let before = values.to_vec();
                let own = &mut values[inside.clone()];
                shape.bring_about(own, (&places[inside.clone()], &shares), &knots);
                shape.go_on(values, (&before, &places), &inside);
            }
            let pairs = values[inside.clone()].iter().zip(&free).zip(&shares);
            moved += pairs.map(|((p, g), w)| w * (p - g) * (p - g)).sum::<f64>() / draws as f64;
        }
        let measures = Measures {
            broken,
            moved: (moved / spread).sqrt(),
            bent,
        };
        let functions = (drawn, Kept::of(&shapes));
        Ok(Shaped::new(input.to_owned(), places, functions, measures))
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
}

/// Ends of the slopes of functions of some shapes.
fn slopes(shapes: &[Shape]) -> (f64, f64) {
    let end = |of: Shape, end: f64| if shapes.contains(&of) { 0.0 } else { end };
    (
        end(Shape::Rising, f64::NEG_INFINITY),
        end(Shape::Falling, f64::INFINITY),
    )
}
