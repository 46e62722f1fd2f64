//! What the rows say of the probability of one bin, and what else is known of it.
//!
//! Laplace's normal approximation knows the log odds `x` of a bin by a mean and a standard
//! deviation `s`. Of a bin with few rows, or none, the likelihood is far from normal:
//!
//! $$ \ell(x) = a x - n \log(1 + e^x) $$
//!
//! with `a` of `n` rows in the bin. The normal without the rows' part of it is what all else says,
//! and together with the likelihood itself it is the distribution that each draw is mapped to, by
//! its rank: the marginal distributions become right, ties between bins stay those of the normal.
//!
//! What functions leave out of the prior is added to the variance of what all else says. Functions
//! that cannot follow the counts nevertheless hold a bin far from what its rows say. Where the mode
//! leaves the interval of the likelihood, what else is said counts less, until the mode is near.

use crate::special::scalar::{log_sum_exp, normal_quantile};

/// Twice the log likelihood ratio of the most probable log odds to those of the count alone, from
/// which the functions do not follow it: the quantile of chi-square at 95 %.
const OUTSIDE: f64 = 3.84;
/// What is left of it then: one standard deviation.
const NEAR: f64 = 1.0;
/// Halvings of what else is said.
const HALVINGS: usize = 60;
/// What else is said of log odds is at least this share of what is said in all.
const LEAST: f64 = 1e-6;
/// A probability nearer to one is one.
const ALL: f64 = 1.0 - 1e-9;
/// Shares of a cell that add up to one but for rounding are its parts.
const ROUNDING: f64 = 1e-6;
/// More pairs of bins that overlap, counted in every cell, take longer than all else.
const MOST_PAIRS: usize = 50_000_000;
/// Places at which a distribution is known.
const PLACES: usize = 257;
/// The logarithm of the density, less than at the mode, at which it ends.
const END: f64 = 25.0;

/// A bin at the mode.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Odds {
    /// Its probability.
    pub probability: f64,
    /// Slope and curvature of the log likelihood in its log odds.
    slope: f64,
    curvature: f64,
}

/// What bins hold.
pub(super) struct Held<'a> {
    /// The bins of a cell with the share of it that lies in each.
    pub of: &'a dyn Fn(usize) -> &'a [(usize, f64)],
    /// The weight of the rows of each bin; none where these are counted in cells.
    pub weights: &'a [f64],
    /// Weights of the rows of each cell.
    pub exact: &'a [f64],
}

impl Held<'_> {
    /// All bins where cells have these probabilities.
    ///
    /// Bins change as a whole, and all outside of them. Rows of another bin `c` that overlaps with
    /// one of probability `p`, of whose mass `alpha` lies in `c` and `beta` of that outside, have
    /// the log likelihood `Y_c log(alpha p + beta (1 - p))`. Where too many overlap nothing is said
    /// of the likelihood, and Laplace's normal stands.
    pub fn odds(&self, mass: &[f64]) -> Vec<Odds> {
        let bins = self.weights.len();
        let mut out = vec![Odds::default(); bins];
        let mut exact = vec![0.0; bins];
        for (cell, u) in mass.iter().enumerate() {
            for (b, share) in (self.of)(cell) {
                out[*b].probability += share * u;
                exact[*b] += share * self.exact[cell];
            }
        }
        let total = self.weights.iter().sum::<f64>() + self.exact.iter().sum::<f64>();
        for (b, odds) in out.iter_mut().enumerate() {
            let p = odds.probability;
            odds.slope = exact[b] + self.weights[b] - total * p;
            odds.curvature = total * p * (1.0 - p);
        }
        match self.overlaps(mass) {
            Some(common) if common.is_empty() => {}
            Some(common) => self.add_overlaps(&common, &mut out),
            None => out
                .iter_mut()
                .for_each(|odds| (odds.slope, odds.curvature) = (0.0, 0.0)),
        }
        out
    }

    /// Adds what rows of bins that overlap with others say beside what they say outside of all.
    ///
    /// # Arguments
    /// * `common` - as of [`Self::overlaps`]
    fn add_overlaps(&self, common: &[f64], out: &mut [Odds]) {
        let bins = out.len();
        let before: Vec<f64> = out.iter().map(|odds| odds.probability).collect();
        for (at, common) in common.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            let (b, c) = (at / bins, at % bins);
            let (p, other, weight) = (before[b], before[c], self.weights[c]);
            if weight == 0.0 || p >= ALL {
                continue;
            }
            let gain = common / p - ((other - common) / (1.0 - p)).max(0.0);
            let step = gain * p * (1.0 - p);
            out[b].slope += weight * (p + step / other);
            let curved = step * ((1.0 - 2.0 * p) / other - step / (other * other));
            out[b].curvature -= weight * (curved + p * (1.0 - p));
        }
    }

    /// What pairs of bins have in common, one after the other, empty where they have nothing; none
    /// where too many overlap. In a cell that bins share by its parts they have nothing.
    fn overlaps(&self, mass: &[f64]) -> Option<Vec<f64>> {
        let bins = self.weights.len();
        let is_shared = |cell: &usize| {
            let shares = (self.of)(*cell).iter().map(|(_, share)| share);
            shares.sum::<f64>() > 1.0 + ROUNDING
        };
        let shared: Vec<usize> = (0..mass.len()).filter(is_shared).collect();
        let pairs = shared.iter().map(|cell| (self.of)(*cell).len().pow(2));
        if pairs.sum::<usize>() > MOST_PAIRS {
            return None;
        }
        let mut out = match shared.is_empty() {
            true => Vec::new(),
            false => vec![0.0; bins * bins],
        };
        for cell in shared {
            let entries = (self.of)(cell);
            for (k, (b, one)) in entries.iter().enumerate() {
                for (c, two) in &entries[k + 1..] {
                    let common = one.min(*two) * mass[cell];
                    out[b * bins + c] += common;
                    out[c * bins + b] += common;
                }
            }
        }
        Some(out)
    }
}

/// Standard normal numbers as others, increasing with them.
pub(super) struct Map {
    /// Normal numbers, and the logarithms of probabilities that they become.
    from: Vec<f64>,
    to: Vec<f64>,
    /// Whether the functions do not follow the count.
    pub is_loose: bool,
}

impl Odds {
    /// What the change of the log odds in standard deviations becomes.
    ///
    /// # Arguments
    /// * `sd` - of the log odds about those of the mode
    /// * `left` - the variance that is left out of their prior
    pub fn map(&self, sd: f64, left: f64) -> Map {
        let p = self.probability;
        let fixed = |p: f64| Map {
            from: vec![0.0],
            to: vec![p.max(f64::MIN_POSITIVE).ln()],
            is_loose: false,
        };
        if !(p > 0.0 && p < ALL && sd > 0.0 && sd.is_finite()) {
            return fixed(p);
        }
        let mut tilted = Tilted::new(*self, sd);
        let is_loose = tilted.misses() > OUTSIDE;
        // A normal of larger variance about the same mean.
        tilted.say = 1.0 / (1.0 + left * tilted.precision);
        if tilted.misses() > OUTSIDE {
            for _ in 0..HALVINGS {
                if tilted.misses() <= NEAR {
                    break;
                }
                tilted.say *= 0.5;
            }
        }
        let (from, to) = tilted.table();
        match from.len() {
            0 => fixed(p),
            _ => Map { from, to, is_loose },
        }
    }
}

impl Map {
    /// The logarithm of the probability that a standard normal number becomes.
    pub fn at(&self, z: f64) -> f64 {
        let after = self.from.partition_point(|from| *from <= z);
        if after == 0 || after == self.from.len() {
            return self.to[after.max(1) - 1];
        }
        let (a, b) = (self.from[after - 1], self.from[after]);
        let (low, high) = (self.to[after - 1], self.to[after]);
        low + (z - a) / (b - a) * (high - low)
    }
}

/// The log density of a change of the log odds of a bin.
struct Tilted {
    /// Log odds at the mode.
    at: f64,
    /// Rows in the bin, and all.
    inside: f64,
    all: f64,
    /// Slope and precision of what else is said, and how much it counts.
    slope: f64,
    precision: f64,
    say: f64,
}

impl Tilted {
    fn new(odds: Odds, sd: f64) -> Self {
        let p = odds.probability;
        let variance = p * (1.0 - p);
        // As many rows as say as much, where other bins overlap.
        let all = odds.curvature.max(0.0) / variance;
        let inside = (odds.slope + all * p).clamp(0.0, all);
        let said = 1.0 / (sd * sd);
        Self {
            at: p.ln() - (-p).ln_1p(),
            inside,
            all,
            slope: -(inside - all * p),
            precision: (said - all * variance).max(LEAST * said),
            say: 1.0,
        }
    }

    fn likelihood(&self, x: f64) -> f64 {
        let odds = self.at + x;
        self.inside * odds - self.all * log_sum_exp(&[0.0, odds])
    }

    fn value(&self, x: f64) -> f64 {
        self.say * (self.slope * x - 0.5 * self.precision * x * x) + self.likelihood(x)
    }

    /// The mode: the slope falls everywhere, and is positive far to the left.
    fn top(&self) -> f64 {
        let slope = |x: f64| {
            let p = 1.0 / (1.0 + (-self.at - x).exp());
            self.say * (self.slope - self.precision * x) + self.inside - self.all * p
        };
        let (mut low, mut high) = (-1.0, 1.0);
        while slope(low) < 0.0 && low > -1e6 {
            low *= 2.0;
        }
        while slope(high) > 0.0 && high < 1e6 {
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            match slope(middle) > 0.0 {
                true => low = middle,
                false => high = middle,
            }
        }
        0.5 * (low + high)
    }

    /// Twice how much more likely the count makes its own log odds than the most probable ones.
    fn misses(&self) -> f64 {
        let (a, n) = (self.inside, self.all);
        let part = |a: f64| if a > 0.0 { a * (a / n).ln() } else { 0.0 };
        2.0 * (part(a) + part(n - a) - self.likelihood(self.top()))
    }

    /// Normal numbers, and the logarithms of the probability of as high a rank.
    fn table(&self) -> (Vec<f64>, Vec<f64>) {
        let top = self.top();
        let most = self.value(top);
        let end = |sign: f64| {
            let mut far = 1e-9;
            while most - self.value(top + sign * far) < END && far < 1e6 {
                far *= 1.1;
            }
            top + sign * far
        };
        let (from, to) = (end(-1.0), end(1.0));
        let step = (to - from) / (PLACES - 1) as f64;
        let place = |i: usize| from + i as f64 * step;
        let density: Vec<f64> = (0..PLACES)
            .map(|i| (self.value(place(i)) - most).exp())
            .collect();
        let halves = |i: usize| 0.5 * (density[i] + density[i + 1]);
        let mut below = vec![0.0; PLACES];
        let mut above = vec![0.0; PLACES];
        for i in 0..PLACES - 1 {
            below[i + 1] = below[i] + halves(i);
            let j = PLACES - 2 - i;
            above[j] = above[j + 1] + halves(j);
        }
        let all = below[PLACES - 1];
        let normal = |i: usize| match below[i] < above[i] {
            true => normal_quantile(below[i] / all),
            false => -normal_quantile(above[i] / all),
        };
        let log = |i: usize| -log_sum_exp(&[0.0, -self.at - place(i)]);
        let pairs = (1..PLACES - 1).map(|i| (normal(i), log(i)));
        let mut found: Vec<(f64, f64)> = pairs.filter(|(z, _)| z.is_finite()).collect();
        found.dedup_by(|next, kept| next.0 <= kept.0);
        found.into_iter().unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::scalar::regularised_beta;

    fn odds(probability: f64, inside: f64, all: f64) -> Odds {
        Odds {
            probability,
            slope: inside - all * probability,
            curvature: all * probability * (1.0 - probability),
        }
    }

    /// Slope and curvature of bins that overlap are differences of the likelihood of all rows where
    /// a bin changes as a whole, and all outside of it.
    #[test]
    fn rows_of_other_bins_say_what_they_say_of_this_one() {
        let mass = [0.1, 0.2, 0.25, 0.15, 0.3];
        let of = [
            vec![(0, 1.0)],
            vec![(0, 1.0), (1, 1.0)],
            vec![(1, 0.4), (2, 0.6)],
            vec![(2, 1.0)],
            vec![(3, 1.0)],
        ];
        let held = Held {
            of: &|cell| &of[cell],
            weights: &[7.0, 20.0, 9.0, 0.0],
            exact: &[0.0, 2.0, 1.0, 0.0, 4.0],
        };
        let value = |mass: &[f64]| {
            let mut sums = [0.0; 4];
            for (cell, u) in mass.iter().enumerate() {
                of[cell].iter().for_each(|(b, share)| sums[*b] += share * u);
            }
            let bins = held.weights.iter().zip(sums).map(|(w, p)| w * p.ln());
            let cells = held.exact.iter().zip(mass).map(|(n, u)| n * u.ln());
            bins.sum::<f64>() + cells.sum::<f64>()
        };
        // Bins of whole cells, of which no part changes with what is outside.
        for b in [0, 3] {
            let odds = held.odds(&mass)[b];
            let p = odds.probability;
            let moved = |h: f64| {
                let next = 1.0 / (1.0 + (1.0 - p) / p * (-h).exp());
                let is_own = |cell: usize| of[cell].iter().any(|(at, _)| *at == b);
                let by = |cell: usize| match is_own(cell) {
                    true => next / p,
                    false => (1.0 - next) / (1.0 - p),
                };
                let all = mass.iter().enumerate().map(|(cell, u)| u * by(cell));
                value(&all.collect::<Vec<f64>>())
            };
            // Differences err by h^2, the second also by rounding over h^2.
            let h = 1e-3;
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            let curvature = (2.0 * moved(0.0) - moved(h) - moved(-h)) / (h * h);
            assert!(
                (slope - odds.slope).abs() < 1e-4,
                "{b} {slope} {}",
                odds.slope
            );
            let found = odds.curvature;
            assert!((curvature - found).abs() < 1e-4, "{b} {curvature} {found}");
        }
    }

    /// Where nothing else is said the log odds have the distribution of a beta variable with as
    /// many successes and failures as rows.
    #[test]
    fn counts_alone_make_beta_variables() {
        for (inside, all) in [(200.0, 500.0), (3.0, 60.0), (1.0, 2000.0)] {
            let p = inside / all;
            let curvature = all * p * (1.0 - p);
            let map = odds(p, inside, all).map(1.0 / curvature.sqrt(), 0.0);
            for z in [-1.96, -1.0, 0.0, 1.0, 1.96] {
                let p = map.at(z).exp();
                let (below, _) = regularised_beta(inside, all - inside, p, 1.0 - p);
                // The table has 250 places over 14 standard deviations: linear between them errs
                // by (14 / 250)^2 / 8 of one, and so do its sums.
                let wanted = crate::special::scalar::normal_cdf(z);
                assert!(
                    (below - wanted).abs() < 1e-3,
                    "{inside} {z}: {below} {wanted}"
                );
            }
        }
    }

    /// A bin of nobody, of which else hardly anything is said.
    #[test]
    fn nobody_of_sixty_is_not_a_third() {
        let map = odds(0.01, 0.0, 60.0).map(1.0, 0.0);
        // (1 - p)^60 is 1/40 at p = .06.
        assert!(map.at(1.96).exp() < 0.06 && map.at(1.96).exp() > 0.01);
        assert!(map.at(-1.96).exp() < 1e-3);
    }

    /// A precise belief at half of the count gives way, one within its error does not.
    #[test]
    fn counts_are_believed_where_functions_do_not_follow() {
        let at = |p: f64, sd: f64| odds(p, 28.0, 536.0).map(sd, 0.0);
        let far = at(14.0 / 536.0, 0.15);
        assert!(far.is_loose);
        let ends = [-1.96, 1.96].map(|z| 536.0 * far.at(z).exp());
        assert!(ends[0] < 24.0 && ends[0] > 14.0, "{ends:?}");
        assert!(ends[1] > 28.0 && ends[1] < 40.0, "{ends:?}");
        let near = at(24.0 / 536.0, 0.15);
        assert!(!near.is_loose);
    }
}
