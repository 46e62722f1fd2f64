//! Bounded quasi-Newton minimisation: L-BFGS-B behind an interface of our own.

use std::cell::RefCell;

use rcompat_lbfgsb::{
    ArithmeticProfile, Bounds, OptimControl, OptimEvent, optim_lbfgsb_with_gradient_observed,
};

/// A function to minimise: writes the gradient and returns the value, or `None` where it cannot be
/// evaluated.
pub type Objective<'f> = dyn FnMut(&[f64], &mut [f64]) -> Option<f64> + 'f;

/// When to stop, and how much history to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Stop after this many iterations, not converged.
    pub max_iterations: usize,
    /// Converged when the largest component of the projected gradient is below this.
    pub gradient_tolerance: f64,
    /// Converged when an iteration lowers the value by less than this times its size; 0: never.
    pub relative_reduction: f64,
    /// Pairs of steps and gradient changes kept.
    pub memory: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_iterations: 200,
            gradient_tolerance: 1e-5,
            relative_reduction: 1e-12,
            memory: 10,
        }
    }
}

/// The result of [`minimise`], successful or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The best point evaluated.
    pub x: Vec<f64>,
    /// Its value; infinite when the start could not be evaluated.
    pub value: f64,
    /// Its gradient.
    pub gradient: Vec<f64>,
    /// Accepted steps.
    pub iterations: usize,
    /// Calls of the function, those that gave `None` included.
    pub evaluations: usize,
    /// Whether a stopping rule was met.
    pub converged: bool,
    /// Which one, or why not.
    pub reason: String,
    /// Largest component of the projected gradient at `x`.
    pub projected_gradient: f64,
}

/// Minimises `f` inside a box.
///
/// # Arguments
/// * `f` - writes the gradient and returns the value; `None` where it cannot be evaluated: the
///   search steps back
/// * `x0` - start, moved into the box
/// * `bounds` - `(lower, upper)` per coordinate, infinite ends allowed
/// * `options` - stopping rules
///
/// # Returns
/// A [`Report`]: look at `converged`.
///
/// # Numerics
/// A point that cannot be evaluated is presented to the line search as a parabola rising from the
/// best point so far, as steep as the slope there, which shortens the step about four times.
///
/// # Source
/// Byrd, Lu, Nocedal & Zhu 1995; the crate `rcompat-lbfgsb`.
///
/// # Examples
/// ```
/// use quadrat::optimise::{Options, minimise};
/// let mut f = |x: &[f64], g: &mut [f64]| {
///     g[0] = 2.0 * (x[0] - 3.0);
///     Some((x[0] - 3.0).powi(2))
/// };
/// let report = minimise(&mut f, &[0.0], &[(-1.0, 2.0)], &Options::default());
/// assert!(report.converged);
/// assert_eq!(report.x, [2.0]);
/// ```
pub fn minimise(
    f: &mut Objective<'_>,
    x0: &[f64],
    bounds: &[(f64, f64)],
    options: &Options,
) -> Report {
    let start: Vec<f64> = x0
        .iter()
        .zip(bounds)
        .map(|(x, (lower, upper))| x.max(*lower).min(*upper))
        .collect();
    let mut gradient = vec![0.0; start.len()];
    let value = finite(f(&start, &mut gradient), &gradient);
    let Some(value) = value else {
        return Report {
            x: start,
            value: f64::INFINITY,
            gradient,
            iterations: 0,
            evaluations: 1,
            converged: false,
            reason: "the start cannot be evaluated".to_owned(),
            projected_gradient: f64::INFINITY,
        };
    };
    let point = Point {
        x: start.clone(),
        value,
        gradient,
    };
    let search = RefCell::new(Search {
        f,
        best: point.clone(),
        last: point,
        evaluations: 1,
    });
    let mut iterations = 0;
    let mut control = OptimControl::default_for_dimension(start.len());
    control.maxit = options.max_iterations;
    control.factr = options.relative_reduction / f64::EPSILON;
    control.pgtol = options.gradient_tolerance;
    control.lmm = options.memory;
    let (lower, upper) = bounds.iter().copied().unzip();
    let outcome = Bounds::new(lower, upper).and_then(|bounds| {
        optim_lbfgsb_with_gradient_observed(
            start,
            bounds,
            |x| search.borrow_mut().at(x).value,
            |x| search.borrow_mut().at(x).gradient.clone(),
            control,
            ArithmeticProfile::X86OpenBlas,
            |event: OptimEvent| match event {
                OptimEvent::Accepted { iteration, .. } => iterations = iteration,
                OptimEvent::Finished {
                    iterations: total, ..
                } => iterations = total,
                _ => {}
            },
        )
    });
    let (converged, reason) = match outcome {
        Ok(result) => (result.is_success(), plainly(&result.message)),
        Err(error) => (false, plainly(&error.to_string())),
    };
    let Search {
        best, evaluations, ..
    } = search.into_inner();
    let projected_gradient = projected_gradient(&best.x, &best.gradient, bounds);
    Report {
        x: best.x,
        value: best.value,
        gradient: best.gradient,
        iterations,
        evaluations,
        converged: converged || projected_gradient <= options.gradient_tolerance,
        reason,
        projected_gradient,
    }
}

/// What the optimiser's codes mean.
fn plainly(message: &str) -> String {
    let known = [
        ("ABNORMAL", "no step along the gradient made it better"),
        ("LNSRCH", "no step along the gradient made it better"),
        ("MAXIMUM", "the largest number of steps was reached"),
        ("EXCEED", "the largest number of steps was reached"),
    ];
    let upper = message.to_uppercase();
    let found = known.iter().find(|(code, _)| upper.contains(code));
    found.map_or_else(|| message.to_owned(), |(_, words)| (*words).to_owned())
}

/// The largest component of `x - project(x - gradient)`: zero at a constrained minimum.
#[must_use]
pub fn projected_gradient(x: &[f64], gradient: &[f64], bounds: &[(f64, f64)]) -> f64 {
    x.iter()
        .zip(gradient)
        .zip(bounds)
        .map(|((x, g), (lower, upper))| (x - (x - g).max(*lower).min(*upper)).abs())
        .fold(0.0, f64::max)
}

#[derive(Debug, Clone)]
struct Point {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// Evaluates every point once, although value and gradient are asked for separately.
struct Search<'f, 'o> {
    f: &'f mut Objective<'o>,
    best: Point,
    last: Point,
    evaluations: usize,
}

impl Search<'_, '_> {
    fn at(&mut self, x: &[f64]) -> &Point {
        if self.last.x == x {
            return &self.last;
        }
        self.evaluations += 1;
        let mut gradient = vec![0.0; x.len()];
        let value = finite((self.f)(x, &mut gradient), &gradient);
        self.last = match value {
            Some(value) => Point {
                x: x.to_vec(),
                value,
                gradient,
            },
            // It could be evaluated before, from elsewhere.
            None if self.best.x == x => self.best.clone(),
            None => self.barrier(x),
        };
        if value.is_some() && self.last.value < self.best.value {
            self.best = self.last.clone();
        }
        &self.last
    }

    fn barrier(&self, x: &[f64]) -> Point {
        let step: Vec<f64> = x.iter().zip(&self.best.x).map(|(a, b)| a - b).collect();
        let slope: f64 = step
            .iter()
            .zip(&self.best.gradient)
            .map(|(s, g)| s * g)
            .sum();
        let rise = slope.abs().max(1.0);
        let length: f64 = step.iter().map(|s| s * s).sum();
        Point {
            x: x.to_vec(),
            value: self.best.value + rise,
            gradient: step.iter().map(|s| 2.0 * rise * s / length).collect(),
        }
    }
}

fn finite(value: Option<f64>, gradient: &[f64]) -> Option<f64> {
    value.filter(|v| v.is_finite() && gradient.iter().all(|g| g.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(x: &[f64], g: &mut [f64]) -> Option<f64> {
        g.fill(0.0);
        let mut value = 0.0;
        for i in 0..x.len() - 1 {
            let (a, b) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
            value += 100.0 * a * a + b * b;
            g[i] += -400.0 * a * x[i] - 2.0 * b;
            g[i + 1] += 200.0 * a;
        }
        Some(value)
    }

    fn start(n: usize) -> Vec<f64> {
        (0..n)
            .map(|i| if i % 2 == 0 { -1.2 } else { 1.0 })
            .collect()
    }

    const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    const TIGHT: Options = Options {
        max_iterations: 1000,
        gradient_tolerance: 1e-8,
        relative_reduction: 0.0,
        memory: 10,
    };

    /// Reference: scipy 1.17.1, `minimize(method="L-BFGS-B", ftol=0, gtol=1e-8)`.
    #[test]
    fn rosenbrock_in_twenty_dimensions_takes_as_many_steps_as_scipy() {
        let report = minimise(&mut rosenbrock, &start(20), &[FREE; 20], &TIGHT);
        assert!(report.converged, "{}", report.reason);
        assert!(report.value < 1e-16);
        // scipy: 140 iterations, 172 evaluations.
        assert!(
            report.iterations.abs_diff(140) <= 14,
            "{}",
            report.iterations
        );
        assert!(
            report.evaluations.abs_diff(172) <= 18,
            "{}",
            report.evaluations
        );
    }

    /// As above, with bounds -2..0.5 and -1..0.7 in turn; digits of scipy.
    #[test]
    fn bounded_rosenbrock_reaches_the_constrained_minimum() {
        let bounds: Vec<_> = (0..20)
            .map(|i| if i % 2 == 0 { (-2.0, 0.5) } else { (-1.0, 0.7) })
            .collect();
        let report = minimise(&mut rosenbrock, &start(20), &bounds, &TIGHT);
        assert!(report.converged);
        assert!((report.value - 17.493_781_689_897_467).abs() < 1e-12);
        assert_eq!(report.x[0], 0.5);
        // scipy: 25 iterations, 28 evaluations.
        assert!(report.iterations <= 28 && report.evaluations <= 31);
        assert!(report.projected_gradient < 1e-5);
    }

    #[test]
    fn steps_back_from_where_the_function_is_not_defined() {
        // Minimum of x - log x at 1; not defined below 0.7, where the first step of length 1 goes.
        let mut refused = 0;
        let mut f = |x: &[f64], g: &mut [f64]| {
            if x[0] <= 0.7 {
                refused += 1;
                return None;
            }
            g[0] = 50.0 * (1.0 - 1.0 / x[0]);
            Some(50.0 * (x[0] - x[0].ln()))
        };
        let report = minimise(&mut f, &[1.6], &[FREE], &TIGHT);
        assert!(report.converged, "{}", report.reason);
        // A gradient below 1e-8 over a curvature of 50: 2e-10.
        assert!((report.x[0] - 1.0).abs() < 1e-9);
        assert!(refused > 0);
    }

    #[test]
    fn a_point_that_can_no_longer_be_evaluated_keeps_its_value() {
        // x^2, but for a second visit of 1.
        let mut f = |x: &[f64], g: &mut [f64]| {
            g[0] = 2.0 * x[0];
            (x[0] != 1.0).then_some(x[0] * x[0])
        };
        let first = Point {
            x: vec![1.0],
            value: 1.0,
            gradient: vec![2.0],
        };
        let mut search = Search {
            f: &mut f,
            best: first.clone(),
            last: first,
            evaluations: 1,
        };
        assert_eq!(search.at(&[2.0]).value, 4.0);
        let again = search.at(&[1.0]);
        assert_eq!((again.value, again.gradient[0]), (1.0, 2.0));
    }

    #[test]
    fn an_iteration_limit_is_not_convergence() {
        let options = Options {
            max_iterations: 5,
            ..TIGHT
        };
        let report = minimise(&mut rosenbrock, &start(20), &[FREE; 20], &options);
        assert!(!report.converged);
        // Five of the 140 iterations that it takes down to 1e-8.
        assert!(report.projected_gradient > 1e-3);
    }

    #[test]
    fn a_start_that_cannot_be_evaluated_is_reported() {
        let report = minimise(&mut |_, _| None, &[0.0], &[FREE], &TIGHT);
        assert!(!report.converged && report.value.is_infinite());
        let report = minimise(&mut |_, _| Some(f64::NAN), &[0.0], &[FREE], &TIGHT);
        assert!(!report.converged);
    }

    #[test]
    fn a_wrong_gradient_does_not_converge() {
        let mut f = |x: &[f64], g: &mut [f64]| {
            let value = rosenbrock(x, g);
            g[0] = -g[0];
            value
        };
        let report = minimise(&mut f, &start(20), &[FREE; 20], &TIGHT);
        assert!(!report.converged || report.value > 1.0);
    }

    #[test]
    fn no_coordinates_need_no_steps() {
        let report = minimise(&mut |_, _| Some(2.0), &[], &[], &TIGHT);
        assert!(report.converged && report.value == 2.0);
    }
}
