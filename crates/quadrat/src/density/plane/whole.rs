//! Bands that hold a whole density of two columns at once, and the smallest intervals of one column
//! at each place of the other.

use super::super::curves::Work;
use super::super::loops;
use super::estimate::ConditionalEstimate;
use super::fit::Fit;

/// Mass of each part over which the band holds.
const CENTRAL: f64 = 0.9;

impl Fit {
    /// Mean plus and minus `c` standard deviations of the log probability, `c` such that the whole
    /// function lies within at the level, over the densest cells that hold 90 % of each part that
    /// has rows; elsewhere the same `c` is used. Lower and upper ends, per unit of the data.
    pub fn simultaneous(&self) -> (Vec<f64>, Vec<f64>) {
        let (cells, draws) = (self.mass.len(), self.curves.len());
        let weights = &self.curves.weights;
        let (mut means, mut sds) = (vec![0.0; cells], vec![0.0; cells]);
        let mut largest = vec![0.0_f64; draws];
        let central = self.central();
        self.curves.each_log(&self.grid, |cell, log| {
            let mean = crate::linalg::dot(log, weights);
            let sd = loops::spread(log, weights, mean).max(0.0).sqrt();
            if central[cell] && sd > 0.0 {
                loops::farther(&mut largest, log, mean, 1.0 / sd);
            }
            (means[cell], sds[cell]) = (mean, sd);
        });
        let [c] = Work::default().quantiles(&largest, weights, [self.level]);
        let at = |sign: f64| {
            let end = |cell: usize| {
                let log = means[cell] + sign * c * sds[cell] + self.grid.log_measure[cell];
                self.grid.per_size(cell, log.exp())
            };
            (0..cells).map(end).collect()
        };
        (at(-1.0), at(1.0))
    }

    /// The densest cells of each part that has rows.
    fn central(&self) -> Vec<bool> {
        let size = self.grid.part();
        let mut out = vec![false; self.mass.len()];
        for (part, _) in self
            .grid
            .totals
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0.0)
        {
            for cell in self.densest(part * size..(part + 1) * size, CENTRAL) {
                out[cell] = true;
            }
        }
        out
    }

    /// The densest of some cells, in descending order, until they hold a probability.
    pub fn densest(&self, cells: std::ops::Range<usize>, probability: f64) -> Vec<usize> {
        let mut order: Vec<usize> = cells.collect();
        order.sort_by(|a, b| self.density[*b].total_cmp(&self.density[*a]));
        let mut sum = 0.0;
        let is_needed = |cell: &usize| {
            let needed = sum < probability;
            sum += self.mass[*cell];
            needed
        };
        order.into_iter().take_while(is_needed).collect()
    }
}

impl ConditionalEstimate {
    /// The smallest set of cells that holds a probability at a place of the given column, as
    /// intervals of the values from below; none outside of the slices.
    #[must_use]
    pub fn highest_density_region(&self, given: f64, probability: f64) -> Option<Vec<(f64, f64)>> {
        let (n, edges) = (self.shape()[1], self.edges(1));
        let first = self.slice(given)? * n;
        let mut inside = self.fit.densest(first..first + n, probability);
        inside.sort_unstable();
        let mut out: Vec<(f64, f64)> = Vec::new();
        for j in inside.into_iter().map(|cell| cell - first) {
            match out.last_mut() {
                Some(last) if last.1 == edges[j] => last.1 = edges[j + 1],
                _ => out.push((edges[j], edges[j + 1])),
            }
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Conditional, Density2d};
    use super::super::tests::normals;

    #[test]
    fn whole_bands_hold_about_as_many_draws_as_they_say() {
        let [x, y] = normals(200, 0.5, 31);
        let plane = Density2d::new(&x, &y).cells(16, 14).draws(2000).level(0.8);
        let plane = plane.estimate().unwrap();
        let (lower, upper) = plane.simultaneous();
        let given = Conditional::new(&x, &y).cells(8, 20).draws(2000).level(0.8);
        let given = given.estimate().unwrap();
        let (given_lower, given_upper) = given.simultaneous();
        // Pointwise bands are narrower where they matter.
        let wider = |lower: &[f64], l: &[f64], upper: &[f64], u: &[f64], p: &[f64]| {
            let top = p.iter().copied().fold(0.0, f64::max);
            (0..p.len())
                .filter(|j| p[*j] > 0.3 * top)
                .all(|j| upper[j] - lower[j] > u[j] - l[j])
        };
        assert!(wider(
            &lower,
            plane.lower(),
            &upper,
            plane.upper(),
            plane.density()
        ));
        let p = given.density();
        assert!(wider(
            &given_lower,
            given.lower(),
            &given_upper,
            given.upper(),
            p
        ));
        // Of 600 draws, each as likely as its weight, 80 % lie within over the central cells: an sd
        // of 0.016, and of weights of 2,000 draws about as much.
        let central = plane.fit.central();
        let draws = plane.draws(600, 5);
        let held = (0..600).filter(|k| {
            let inside = |c: usize| !central[c] || (lower[c]..=upper[c]).contains(&draws[(c, *k)]);
            (0..lower.len()).all(inside)
        });
        let held = held.count() as f64 / 600.0;
        assert!((held - 0.8).abs() < 0.07, "{held}");
    }

    #[test]
    fn intervals_at_a_place_hold_their_probability() {
        let [x, noise] = normals(400, 0.0, 32);
        // Two branches on the right.
        let y = x.iter().zip(&noise).enumerate();
        let y = y.map(|(i, (x, e))| match *x > 0.0 && i % 2 == 0 {
            true => 6.0 + 0.4 * e,
            false => 0.4 * e,
        });
        let y: Vec<f64> = y.collect();
        let density = Conditional::new(&x, &y).cells(10, 60).draws(500);
        let estimate = density.estimate().unwrap();
        let right = estimate.highest_density_region(1.0, 0.8).unwrap();
        assert_eq!(right.len(), 2, "{right:?}");
        assert!(right[0].0 < 0.0 && right[0].1 > 0.0 && right[1].0 < 6.0 && right[1].1 > 6.0);
        let held: f64 = right
            .iter()
            .map(|within| estimate.probability(1.0, *within).unwrap().value)
            .sum();
        assert!((0.8..0.95).contains(&held), "{held}");
        assert!(estimate.highest_density_region(99.0, 0.5).is_none());
    }
}
