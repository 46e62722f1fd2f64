//! Integrals over one smooth hump.

use crate::special;

/// Nats below the peak where a density ends: e^-38 = 3e-17, below the rounding of the sums.
const FALL: f64 = 38.0;
/// Nats below the peak where weights are zero, whatever they multiply.
const NOTHING: f64 = 700.0;
/// First step in widths of the peak.
const STEP: f64 = 0.4;
/// The difference to the rule of twice the step, relative to the integrals of absolute values, at
/// which a rule counts as exact: of an analytic density its error is about the square of the
/// difference.
const SETTLED: f64 = 1e-7;
/// Steps to a side at most, so that the density must fall by [`FALL`] within 24 widths; and how
/// often they are halved at most.
const STEPS: usize = 60;
const HALVINGS: usize = 4;
/// Nodes whose weights are computed together.
const TOGETHER: usize = 16;

/// Integrals over a smooth hump around zero by the trapezoid rule; `None` where it is not one.
///
/// # Arguments
/// * `node` - at a distance from the peak, the density's logarithm relative to that at the peak,
///   and the functions that are integrated against it; the first must be 1
pub(super) fn trapezoid<const N: usize>(
    width: f64,
    node: impl Fn(f64) -> (f64, [f64; N]),
) -> Option<[f64; N]> {
    let mut step = STEP * width;
    // Every other node, from the peak on; those between.
    let (mut rule, mut between) = (Sums::new(), Sums::new());
    rule.add(node(0.0));
    let mut places = [0; 2];
    for (side, count) in SIDES.into_iter().zip(&mut places) {
        *count = (1..=STEPS).find(|&i| {
            let there = node(side * step * i as f64);
            let sums = if i % 2 == 0 { &mut rule } else { &mut between };
            sums.add(there);
            there.0 < -FALL
        })?;
    }
    for left in (0..=HALVINGS).rev() {
        rule.weigh();
        between.weigh();
        let difference = rule.difference(&between);
        rule.join(&between);
        if difference <= SETTLED {
            return Some(rule.value.map(|sum| step * sum));
        }
        // Every halving squares it.
        if left == 0 || difference.is_nan() || difference.powi(1 << left) > SETTLED {
            return None;
        }
        between.clear();
        for (side, count) in SIDES.into_iter().zip(&mut places) {
            for i in 1..=*count {
                between.add(node(side * step * (i as f64 - 0.5)));
            }
            *count *= 2;
        }
        step *= 0.5;
    }
    None
}

/// Both directions from the peak.
const SIDES: [f64; 2] = [-1.0, 1.0];

/// Sums of several functions, and of their absolute values.
struct Sums<const N: usize> {
    value: [f64; N],
    size: [f64; N],
    /// Nodes that are not counted yet: logarithms of their weights, and the functions there.
    logs: [f64; TOGETHER],
    functions: [[f64; N]; TOGETHER],
    waiting: usize,
}

impl<const N: usize> Sums<N> {
    fn new() -> Self {
        Self {
            value: [0.0; N],
            size: [0.0; N],
            logs: [0.0; TOGETHER],
            functions: [[0.0; N]; TOGETHER],
            waiting: 0,
        }
    }

    fn clear(&mut self) {
        [self.value, self.size] = [[0.0; N]; 2];
    }

    fn add(&mut self, (log, functions): (f64, [f64; N])) {
        if log < -NOTHING {
            return;
        }
        if self.waiting == TOGETHER {
            self.weigh();
        }
        self.logs[self.waiting] = log;
        self.functions[self.waiting] = functions;
        self.waiting += 1;
    }

    /// Counts the nodes that wait.
    fn weigh(&mut self) {
        let logs = &mut self.logs[..self.waiting];
        special::exp(logs);
        for (weight, functions) in logs.iter().zip(&self.functions) {
            for k in 0..N {
                let part = weight * functions[k];
                self.value[k] += part;
                self.size[k] += part.abs();
            }
        }
        self.waiting = 0;
    }

    fn join(&mut self, other: &Self) {
        for k in 0..N {
            self.value[k] += other.value[k];
            self.size[k] += other.size[k];
        }
    }

    /// The largest difference, relative to the sizes of both.
    fn difference(&self, other: &Self) -> f64 {
        let part = |k: usize| {
            let size = self.size[k] + other.size[k];
            let off = (self.value[k] - other.value[k]).abs();
            if off == 0.0 { 0.0 } else { off / size }
        };
        (0..N)
            .map(part)
            .fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a })
    }
}
