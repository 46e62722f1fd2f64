//! Counts of districts whose rates are known pixel by pixel.

use std::f64::consts::PI;

use rand::{Rng, RngExt};
use rand_distr::{ChiSquared, Distribution, Poisson, StandardNormal};
use rayon::prelude::*;

use super::{SimulateError, check, random};

/// Waves that a random field is the sum of.
const WAVES: usize = 48;
/// Pixels of one parallel task.
const TASK: usize = 8192;
/// Spread of the logarithms of the sizes of districts.
const SIZES: f64 = 0.85;
/// Streams of random numbers, one for every part.
const DISTRICTS: u64 = 1;
const PEOPLE: u64 = 2;
const SPACE: u64 = 3;
const COUNTS: u64 = 4;
const COVARIATES: u64 = 16;

/// A simulated country: pixels with people and covariates, and a count for every district.
///
/// Pixels lie on a grid of unit squares, districts are runs of them along a Hilbert curve:
/// connected, and of any number of pixels. With covariates `c_k` of variance one, smooth over some
/// tens to hundreds of pixels, and a rough field `s` (Matern 3/2, variance one):
///
/// ```text
/// f   = level + .5 sin(1.5 c_1) + .4 c_2 - .15 c_3^2 + .4 tanh(2 c_4) + .2 c_4 c_5 + .4 s(x, y)
/// y_b ~ Poisson(sum_{i in b} w_i exp(f_i))
/// ```
///
/// The other covariates say nothing. The level makes the mean count of a district
/// [`Self::mean_count`].
///
/// # Source
/// The size is that of the malaria data of Law et al. 2018, *Variational learning on aggregate
/// outputs with Gaussian processes*, on malaria: 957 regions, 1,044,683 pixels, 18 covariates;
/// rates, covariates and people are made up here.
#[derive(Debug, Clone, PartialEq)]
pub struct Country {
    /// Districts.
    pub districts: usize,
    /// Pixels in all.
    pub pixels: usize,
    /// Pixels of the smallest and of the largest district.
    pub sizes: (usize, usize),
    /// Covariates, at least 5.
    pub covariates: usize,
    /// Expected count of a district, on average.
    pub mean_count: f64,
    /// Everything random comes from it.
    pub seed: u64,
}

impl Default for Country {
    fn default() -> Self {
        Self {
            districts: 957,
            pixels: 1_044_683,
            sizes: (13, 6_667),
            covariates: 18,
            mean_count: 60.0,
            seed: 1,
        }
    }
}

/// What a [`Country`] looks like.
#[derive(Debug, Clone, PartialEq)]
pub struct CountryData {
    /// Covariates, one column each.
    pub covariates: Vec<Vec<f64>>,
    /// Centres of the pixels.
    pub x: Vec<f64>,
    /// Centres of the pixels.
    pub y: Vec<f64>,
    /// People `w_i > 0` of the pixels.
    pub people: Vec<f64>,
    /// The first pixel of every district, and the number of pixels; districts are consecutive.
    pub first: Vec<usize>,
    /// Counts of the districts.
    pub counts: Vec<f64>,
    /// The truth: `f_i` of the pixels.
    pub log_rate: Vec<f64>,
}

impl Country {
    /// Draws the country.
    ///
    /// # Errors
    /// [`SimulateError::Option`] for options that cannot be met.
    pub fn draw(&self) -> Result<CountryData, SimulateError> {
        let (least, most) = self.sizes;
        check(
            "districts",
            self.districts as f64,
            self.districts >= 2,
            "at least 2",
        )?;
        check(
            "sizes",
            least as f64,
            least >= 1 && least < most,
            "at least 1, and less than the largest",
        )?;
        let fits = least + most + (self.districts - 2) * least <= self.pixels
            && self.pixels <= least + most + (self.districts - 2) * most;
        let all = format!(
            "between {} districts of {least} and of {most}",
            self.districts
        );
        check("pixels", self.pixels as f64, fits, &all)?;
        check(
            "covariates",
            self.covariates as f64,
            self.covariates >= 5,
            "at least 5",
        )?;
        let positive = self.mean_count > 0.0 && self.mean_count.is_finite();
        check("mean_count", self.mean_count, positive, "positive")?;

        let first = self.districts();
        let side = (self.pixels as f64).sqrt().log2().ceil().max(0.0) as u32;
        let places: Vec<(f64, f64)> = (0..self.pixels).map(|i| hilbert(side, i)).collect();
        let extent = f64::from(1_u32 << side);
        let covariates: Vec<Vec<f64>> = (0..self.covariates)
            .map(|k| {
                let mut random = random(self.seed, COVARIATES + k as u64);
                // From a fortieth to a fifth of the country.
                let lengthscale = extent * (0.025 * 8.0_f64.powf(random.random::<f64>()));
                Field::new(lengthscale, false, &mut random).at(&places)
            })
            .collect();
        let mut space = random(self.seed, SPACE);
        let rough = Field::new(0.08 * extent, true, &mut space).at(&places);
        let mut people = random(self.seed, PEOPLE);
        let towns = Field::new(0.03 * extent, false, &mut people).at(&places);
        let people: Vec<f64> = towns
            .iter()
            .map(|town| {
                let own: f64 = StandardNormal.sample(&mut people);
                (0.7 * town + 0.5 * own).exp()
            })
            .collect();
        let shape = |i: usize| {
            let c = |k: usize| covariates[k][i];
            0.5 * (1.5 * c(0)).sin() + 0.4 * c(1) - 0.15 * c(2) * c(2)
                + 0.4 * (2.0 * c(3)).tanh()
                + 0.2 * c(3) * c(4)
                + 0.4 * rough[i]
        };
        let mut log_rate: Vec<f64> = (0..self.pixels).map(shape).collect();
        let total: f64 = log_rate.iter().zip(&people).map(|(f, w)| w * f.exp()).sum();
        let level = (self.mean_count * self.districts as f64 / total).ln();
        log_rate.iter_mut().for_each(|f| *f += level);
        let mut counts = random(self.seed, COUNTS);
        let counts = first
            .windows(2)
            .map(|ends| {
                let of = ends[0]..ends[1];
                let mean: f64 = of.map(|i| people[i] * log_rate[i].exp()).sum();
                // The mean is positive and finite, as the rates are.
                Poisson::new(mean).map_or(0.0, |law| law.sample(&mut counts))
            })
            .collect();
        let (x, y) = places.into_iter().unzip();
        Ok(CountryData {
            covariates,
            x,
            y,
            people,
            first,
            counts,
            log_rate,
        })
    }

    /// Where the districts begin: sizes are log-normal between the smallest and the largest, which
    /// both occur.
    fn districts(&self) -> Vec<usize> {
        let (least, most) = self.sizes;
        let mut random = random(self.seed, DISTRICTS);
        let others = self.districts - 2;
        let logs: Vec<f64> = (0..others)
            .map(|_| {
                let z: f64 = StandardNormal.sample(&mut random);
                SIZES * z
            })
            .collect();
        let wanted = self.pixels - least - most;
        let sizes = |level: f64| -> Vec<usize> {
            let size = |log: &f64| ((level + log).exp().round()).clamp(least as f64, most as f64);
            logs.iter().map(|log| size(log) as usize).collect()
        };
        let (mut low, mut high) = (-40.0, 40.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            match sizes(middle).iter().sum::<usize>() <= wanted {
                true => low = middle,
                false => high = middle,
            }
        }
        let mut sizes = sizes(low);
        let mut missing = wanted - sizes.iter().sum::<usize>();
        // A pixel each to as many as have room; rounding leaves fewer than there are districts.
        while missing > 0 {
            for size in sizes.iter_mut().filter(|size| **size < most) {
                if missing > 0 {
                    *size += 1;
                    missing -= 1;
                }
            }
        }
        sizes.insert(random.random_range(0..=sizes.len()), least);
        sizes.insert(random.random_range(0..=sizes.len()), most);
        let mut first = vec![0];
        let mut at = 0;
        for size in sizes {
            at += size;
            first.push(at);
        }
        first
    }
}

/// A random field of variance one: a sum of waves with frequencies from the spectral density of its
/// kernel.
struct Field {
    /// Frequencies and phase.
    waves: Vec<[f64; 3]>,
}

impl Field {
    /// Squared exponential, or Matern 3/2 where it is rough.
    fn new(lengthscale: f64, rough: bool, random: &mut impl Rng) -> Self {
        let wave = |_| {
            // A frequency of Matern 3/2 is Student's t with three degrees of freedom.
            let stretch: f64 = match ChiSquared::<f64>::new(3.0) {
                Ok(law) if rough => (3.0 / law.sample(random)).sqrt(),
                _ => 1.0,
            };
            let (a, b): (f64, f64) = (StandardNormal.sample(random), StandardNormal.sample(random));
            let phase = 2.0 * PI * random.random::<f64>();
            [stretch * a / lengthscale, stretch * b / lengthscale, phase]
        };
        Self {
            waves: (0..WAVES).map(wave).collect(),
        }
    }

    fn at(&self, places: &[(f64, f64)]) -> Vec<f64> {
        let scale = (2.0 / WAVES as f64).sqrt();
        let one = |(x, y): &(f64, f64)| {
            let waves = self.waves.iter();
            scale
                * waves
                    .map(|[a, b, phase]| (a * x + b * y + phase).cos())
                    .sum::<f64>()
        };
        places.par_iter().with_min_len(TASK).map(one).collect()
    }
}

/// Centre of the `at`-th unit square along the Hilbert curve through a square of side `2^order`.
fn hilbert(order: u32, at: usize) -> (f64, f64) {
    let (mut x, mut y, mut left) = (0_usize, 0_usize, at);
    for level in 0..order {
        let side = 1_usize << level;
        let right = 1 & (left / 2);
        let up = 1 & (left ^ right);
        if up == 0 {
            if right == 1 {
                (x, y) = (side - 1 - x, side - 1 - y);
            }
            (x, y) = (y, x);
        }
        x += side * right;
        y += side * up;
        left /= 4;
    }
    (x as f64 + 0.5, y as f64 + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Country {
        Country {
            districts: 40,
            pixels: 3000,
            sizes: (5, 400),
            covariates: 6,
            ..Country::default()
        }
    }

    #[test]
    fn neighbours_on_the_curve_are_neighbours_on_the_grid_and_every_square_is_met_once() {
        let order = 4;
        let places: Vec<(f64, f64)> = (0..256).map(|i| hilbert(order, i)).collect();
        for pair in places.windows(2) {
            let step = (pair[0].0 - pair[1].0).abs() + (pair[0].1 - pair[1].1).abs();
            assert_eq!(step, 1.0, "{pair:?}");
        }
        let mut seen = [false; 256];
        for (x, y) in places {
            seen[x as usize * 16 + y as usize] = true;
        }
        assert!(seen.iter().all(|s| *s));
    }

    #[test]
    fn sizes_are_as_asked_and_counts_follow_the_rates() -> Result<(), SimulateError> {
        let plan = small();
        let data = plan.draw()?;
        let sizes: Vec<usize> = data.first.windows(2).map(|w| w[1] - w[0]).collect();
        assert_eq!((sizes.len(), sizes.iter().sum::<usize>()), (40, 3000));
        let ends = (sizes.iter().min(), sizes.iter().max());
        assert_eq!(ends, (Some(&5), Some(&400)));
        let rate = |b: usize| -> f64 {
            (data.first[b]..data.first[b + 1])
                .map(|i| data.people[i] * data.log_rate[i].exp())
                .sum()
        };
        let means: Vec<f64> = (0..40).map(rate).collect();
        // Rates are scaled to it: rounding of sums of 3000 terms.
        assert!((means.iter().sum::<f64>() / 40.0 - plan.mean_count).abs() < 1e-9);
        let z = means
            .iter()
            .zip(&data.counts)
            .map(|(m, y)| (y - m) / m.sqrt());
        let square = z.map(|z| z * z).sum::<f64>() / 40.0;
        // A mean of 40 squares of about normal numbers: its sd is .22.
        assert!((square - 1.0).abs() < 0.9, "{square}");
        assert_eq!(plan.draw()?, data);
        Ok(())
    }

    #[test]
    fn fields_have_variance_one_over_many_seeds() {
        let places = [(3.0, 4.0), (5.0, 4.0)];
        let (mut square, mut product) = (0.0, 0.0);
        let n = 4000;
        for seed in 0..n {
            let f = Field::new(2.0, false, &mut random(seed, 0)).at(&places);
            square += f[0] * f[0] / n as f64;
            product += f[0] * f[1] / n as f64;
        }
        // Sd of a mean of 4000 squares: .022; e^-1/2 apart by a lengthscale.
        assert!((square - 1.0).abs() < 0.1 && (product - (-0.5_f64).exp()).abs() < 0.1);
    }

    #[test]
    fn what_cannot_be_met_is_refused() {
        for plan in [
            Country {
                pixels: 100,
                ..small()
            },
            Country {
                covariates: 4,
                ..small()
            },
            Country {
                mean_count: 0.0,
                ..small()
            },
            Country {
                districts: 1,
                ..small()
            },
            Country {
                sizes: (9, 9),
                ..small()
            },
        ] {
            assert!(plan.draw().is_err(), "{plan:?}");
        }
    }
}
