//! Steps along noisy slopes.

/// Decay of the running means of slopes, and of their squares.
const DECAY: [f64; 2] = [0.9, 0.999];
/// What keeps the step finite where slopes are zero.
const LEAST: f64 = 1e-8;

/// Adam: `x <- x - rate * m / (sqrt(v) + 1e-8)` with `m` and `v` the running means of the slopes
/// and of their squares, each over one minus its decay to the power of the number of steps.
///
/// # Source
/// Kingma and Ba 2015, *Adam: a method for stochastic optimization*, algorithm 1.
pub(super) struct Adam {
    rate: f64,
    steps: i32,
    means: Vec<[f64; 2]>,
}

impl Adam {
    pub fn new(parameters: usize, rate: f64) -> Self {
        Self {
            rate,
            steps: 0,
            means: vec![[0.0; 2]; parameters],
        }
    }

    pub fn step(&mut self, x: &mut [f64], slopes: &[f64]) {
        self.steps += 1;
        let known = DECAY.map(|decay| 1.0 - decay.powi(self.steps));
        for ((x, slope), means) in x.iter_mut().zip(slopes).zip(&mut self.means) {
            for (mean, (decay, seen)) in means
                .iter_mut()
                .zip(DECAY.iter().zip([*slope, slope * slope]))
            {
                *mean = decay * *mean + (1.0 - decay) * seen;
            }
            *x -= self.rate * (means[0] / known[0]) / ((means[1] / known[1]).sqrt() + LEAST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_as_long_as_the_rate_whatever_the_slope() {
        for slope in [1e-3, -4.0, 1e6] {
            let mut x = [1.0];
            Adam::new(1, 0.1).step(&mut x, &[slope]);
            // 1e-8 beside a slope of a thousandth.
            assert!((x[0] - (1.0 - 0.1 * slope.signum())).abs() < 1e-5);
        }
    }

    #[test]
    fn it_finds_the_least_of_a_square() {
        let (mut adam, mut x) = (Adam::new(2, 0.05), [3.0, -2.0]);
        for _ in 0..2000 {
            let slopes = [2.0 * (x[0] - 1.0), 20.0 * (x[1] - 0.5)];
            adam.step(&mut x, &slopes);
        }
        // Steps along exact slopes shrink with them.
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 0.5).abs() < 1e-6);
    }
}
