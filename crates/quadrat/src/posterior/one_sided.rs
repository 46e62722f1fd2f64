//! Rows at points that leave the function open to one side, behind a link.
//!
//! A count of 0 says that a rate is small, and nothing about how small. A normal belief about its
//! logarithm then reaches far down, and as far up, where the count forbids it: behind the link that
//! upper half decides the mean. Such rows are met by weighted draws, as sums are.

use rayon::prelude::*;

use super::behind::without_site;
use super::component::{Component, leave_out_without_draws, poor_share, share_out};
use super::drawn_total::weighted;
use super::levels::mean_hypers;
use super::marginals::Marginals;
use super::mixture::Posterior;
use super::summary::COVERED;
use crate::error::FitError;
use crate::inference::Conditioned;
use crate::inference::pooled::Lift;
use crate::inference::sites::Block;
use crate::inference::tilted_grid::tilted_grid;
use crate::likelihood::local::Belief;
use crate::link::{FAR_OUT, Link};
use crate::problem::mean_settings::is_mean;

/// A normal belief does not hold a row where its mean after the link is off by more than this part
/// of the standard deviation: less than the 4,000 draws that answer else leave to chance, at the
/// rare places, is no gain.
const OFF: f64 = 0.1;
/// Nor where its standard deviation is off by more than this part of the one of draws, whose own is
/// known to a tenth.
const OFF_SPREAD: f64 = 0.2;
/// By more than this many standard deviations it is no answer, and draws of which few carry the
/// weight are better.
const USELESS: f64 = 1.0;
/// By more than this many of them it is told that the belief answers for want of draws.
const TOLD: f64 = 0.5;
/// Rows above which nothing is tried: there are no draws of so many, and to compare all of them
/// takes longer.
const MOST_ROWS: usize = 1000;

impl Posterior {
    /// Lets draws answer where rows at points are not held by a normal belief, and are few enough.
    ///
    /// Where few of them carry the weight they answer only if nothing better does; what is then to
    /// be said is returned.
    pub(crate) fn draw_one_sided(&mut self) -> Result<Vec<String>, FitError> {
        let has_sites = self.problem.method().is_some() && self.problem.rows() <= MOST_ROWS;
        let is_told_elsewhere = self.problem.sparse().is_some() || self.problem.pooled().is_some();
        if !has_sites || is_told_elsewhere {
            return Ok(Vec::new());
        }
        let open = self.open_rows();
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let beliefs = self.one_by_one(self.problem.observed())?;
        let off = self.most_off(&open, &beliefs);
        let has_draws = self.problem.draw_points(&self.tables)?;
        let judging = match has_draws && off <= OFF {
            true => self.good_draws(),
            false => None,
        };
        let differs = |lift| self.draws_differ(&open, &beliefs[0], lift);
        let is_off = off > OFF || judging.as_ref().is_some_and(differs);
        if !is_off {
            self.problem.draw_no_sums();
            return Ok(Vec::new());
        }
        let lost = match has_draws {
            true => self.draw_rows(off > USELESS, judging),
            false => None,
        };
        let Some(lost) = lost else {
            self.problem.draw_no_sums();
            let off_by = match off < 1e3 {
                true => format!("{off:.1}"),
                false => "thousands".to_owned(),
            };
            let told = format!(
                "rows leave the function open to one side, as counts of 0 do: the normal belief about the function misses the mean of such a row by {off_by} of its standard deviations, and there are no weighted draws that could take its place; an upper bound of the variance or `--check mcmc` helps"
            );
            return Ok((off > TOLD).then_some(told).into_iter().collect());
        };
        self.summary.nodes = self.components.len();
        self.summary.hyperparameters.retain(|h| !is_mean(&h.name));
        let means = mean_hypers(&self.problem, &self.components);
        self.summary.hyperparameters.extend(means);
        let lost = (lost > 1.0 - COVERED).then(|| {
            format!(
                "no draws that meet the rows were found at hyperparameters that hold {:.1} % of their posterior; they were left out: an upper bound or a narrower prior for the variance helps",
                100.0 * lost
            )
        });
        let poor = poor_share(&self.components).map(|poor| {
            format!(
                "rows leave the function open to one side, as counts of 0 do, and few of the draws that meet them carry the weight, at hyperparameters that hold {:.0} % of their posterior: their weights were evened out, and answers are rough; an upper bound of the variance or `--check mcmc` helps",
                100.0 * poor
            )
        });
        Ok(lost.into_iter().chain(poor).collect())
    }

    /// Whether draws answer, and meet rows that leave the function open to one side: what is known
    /// of such a row is no normal belief before the link.
    pub(super) fn draws_open_rows(&self) -> bool {
        self.has_draws() && !self.open_rows().is_empty()
    }

    /// Whether draws answer beside sites of rows at points, to which normal beliefs belong.
    pub(super) fn has_draws_beside_sites(&self) -> bool {
        let is_beside = self.problem.sparse().is_none() && self.problem.pooled().is_none();
        is_beside && self.has_draws()
    }

    /// Tables and rows behind a link whose density is largest where the function is far below, or
    /// far above.
    fn open_rows(&self) -> Vec<(usize, usize)> {
        let Some(heaviest) = self.components.first() else {
            return Vec::new();
        };
        let blocks = self.problem.blocks();
        let of_table = |table: usize| {
            let block = &blocks[table];
            let own = block.own_values(&heaviest.theta);
            let log = |row: usize, f: f64| block.likelihood.log_density(&own, row, f).value;
            let is_open = |row: &usize| {
                let far = log(*row, -FAR_OUT).max(log(*row, FAR_OUT));
                far >= log(*row, block.likelihood.guess(&own, *row))
            };
            let is_behind = self.tables[table].likelihood.mean_link().is_some();
            let rows = if is_behind {
                block.likelihood.rows()
            } else {
                0
            };
            let open: Vec<usize> = (0..rows).filter(is_open).collect();
            open.into_iter().map(move |row| (table, row))
        };
        (0..self.tables.len()).flat_map(of_table).collect()
    }

    /// Draws at all hyperparameters but a few of little weight, which are left out: what these
    /// held. None, and nothing is done, where there are no draws, or no good ones where these are
    /// asked for.
    ///
    /// # Arguments
    /// * `takes_poor` - whether draws of which few carry the weight are better than none
    /// * `heaviest` - those at the heaviest hyperparameters, where they were made
    fn draw_rows(&mut self, takes_poor: bool, mut heaviest: Option<Lift>) -> Option<f64> {
        let count = self.components.len();
        let known = usize::from(heaviest.is_some());
        let lift = |(at, component): (usize, &Component)| {
            let draws = self.problem.draws(component.weight, count);
            let draws = draws.of_stream(known + at);
            let lift = self.problem.lift(&component.theta, draws);
            lift.filter(|lift| takes_poor || !lift.is_poor())
        };
        let others = self.components[known..].par_iter().enumerate().map(lift);
        let others: Vec<Option<Lift>> = others.collect();
        let lifts = (0..known).map(|_| heaviest.take()).chain(others);
        for (component, lift) in self.components.iter_mut().zip(lifts) {
            component.conditioned.lift = lift.map(Into::into);
        }
        let most = self.problem.engine().most_lost();
        let lost = leave_out_without_draws(&mut self.components, most);
        match lost {
            Some(_) => share_out(&mut self.components),
            None => self
                .components
                .iter_mut()
                .for_each(|c| c.conditioned.lift = None),
        }
        lost
    }

    /// Draws at the heaviest hyperparameters, where many carry the weight.
    fn good_draws(&self) -> Option<Lift> {
        let draws = self.problem.draws(1.0, self.components.len());
        let lift = self.problem.lift(&self.components[0].theta, draws);
        lift.filter(|lift| !lift.is_poor())
    }

    /// Whether draws at the heaviest hyperparameters tell one of some rows otherwise than its
    /// normal belief. They see what no row says by itself: that many rows near each other are open.
    fn draws_differ(&self, rows: &[(usize, usize)], beliefs: &Marginals, lift: &Lift) -> bool {
        let blocks = self.problem.blocks();
        let differs = |&(table, row): &(usize, usize)| {
            let at = blocks[table].first + row;
            let link = self.tables[table].likelihood.mean_link()?;
            let averages: Vec<f64> = lift.averages(at)?.collect();
            let (mean, variance) = weighted(lift.weights(), &averages);
            let sd = variance.sqrt();
            let told = link.moments(Belief {
                mean: beliefs.mean[at],
                variance: beliefs.variance[at],
            });
            let is_far = (told.mean - mean).abs() > OFF * sd;
            Some(is_far || (told.variance.sqrt() - sd).abs() > OFF_SPREAD * sd)
        };
        rows.iter().any(|row| differs(row) == Some(true))
    }

    /// By how many standard deviations normal beliefs miss the mean of one of some rows, at most:
    /// errors and standard deviations are averaged over the hyperparameters.
    fn most_off(&self, rows: &[(usize, usize)], beliefs: &[Marginals]) -> f64 {
        let blocks = self.problem.blocks();
        let misses = |(component, own): (&Component, &Marginals)| -> Vec<[f64; 2]> {
            let one = |&(table, row): &(usize, usize)| {
                let block = &blocks[table];
                let at = block.first + row;
                let belief = Belief {
                    mean: own.mean[at],
                    variance: own.variance[at],
                };
                let seen = self.tables[table].likelihood.mean_link();
                let seen = seen.zip(cavity(&component.conditioned, at, belief));
                seen.map_or([0.0; 2], |(link, cavity)| {
                    let values = block.own_values(&component.theta);
                    missed(block, &values, row, link, belief, cavity)
                        .map(|part| component.weight * part)
                })
            };
            rows.iter().map(one).collect()
        };
        let each = self.components.par_iter().zip(beliefs).map(misses);
        let each: Vec<Vec<[f64; 2]>> = each.collect();
        let off = |k: usize| {
            let of = |part: usize| each.iter().map(|rows| rows[k][part]).sum::<f64>();
            of(0) / of(1)
        };
        // Rows of which nothing could be told are no numbers.
        (0..rows.len()).map(off).fold(0.0, f64::max)
    }
}

/// What is known of a row's latent value without its own site, of precision `tau` and slope
/// `alpha`. None where the site is no normal density, or leaves nothing open.
fn cavity(conditioned: &Conditioned, row: usize, belief: Belief) -> Option<Belief> {
    let precision = 1.0 / conditioned.noise.get(row)?;
    let alpha = *conditioned.alpha.get(row)?;
    without_site(belief, 0.0, (alpha, -precision))
}

/// By how much the mean after the link under a normal belief is off from that of cavity times
/// likelihood, and the standard deviation of these.
fn missed(
    block: &Block<'_>,
    own: &[f64],
    row: usize,
    link: Link,
    belief: Belief,
    cavity: Belief,
) -> [f64; 2] {
    let density = |f: f64| block.likelihood.log_density(own, row, f).value;
    let (mut whole, mut first, mut second) = (0.0, 0.0, 0.0);
    for (f, weight) in tilted_grid(cavity, density) {
        let value = link.value(f);
        whole += weight;
        first += weight * value;
        second += weight * value * value;
    }
    let mean = first / whole;
    let spread = (second / whole - mean * mean).max(0.0).sqrt();
    [(link.moments(belief).mean - mean).abs(), spread]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::inference::sites::Method;
    use crate::kernel::Kernel;
    use crate::likelihood::{Likelihood, Poisson};
    use crate::link::Link;
    use crate::model::{
        FitOptions, Inference, Mean, Model, Observations, Posterior, Scale, Setting,
    };
    use crate::special::scalar::regularised_gamma;
    use crate::support::Functionals;

    /// Of counts at places so far apart that they know nothing of each other.
    fn apart(counts: &[f64], variance: f64, method: Method) -> Posterior {
        let places: Vec<f64> = (0..counts.len()).map(|i| 100.0 * i as f64).collect();
        at(&places, counts, variance, method)
    }

    fn at(places: &[f64], counts: &[f64], variance: f64, method: Method) -> Posterior {
        let exposure = vec![1.0; counts.len()];
        let counts = Poisson::new(counts.to_vec(), exposure, Link::Exp).unwrap();
        fitted(places, counts, variance, method)
    }

    fn fitted(places: &[f64], counts: Poisson, variance: f64, method: Method) -> Posterior {
        let rows = Functionals::points("x", places).unwrap();
        let model = Model::new(Kernel::se(["x"]))
            .mean(Mean::Fixed(-1.0))
            .set("se.variance", Setting::fixed(variance))
            .set("se.lengthscale.x", Setting::fixed(1.0))
            .observe(Observations::new(rows, Likelihood::from(counts)).unwrap());
        let options = FitOptions {
            inference: Inference::Sites(method),
            ..FitOptions::default()
        };
        model.fit(&options).unwrap()
    }

    /// `E e^f`, its sd, and the 2.5 and 97.5 % quantiles, given a row whose log likelihood is that
    /// of `rate = e^f`, prior `N(-1, variance)`, by sums over a fine grid.
    fn known(variance: f64, log_likelihood: impl Fn(f64) -> f64) -> [f64; 4] {
        let sd = f64::sqrt(variance);
        let places = (-8000..8000).map(|k| {
            let z = f64::from(k) / 1000.0;
            let f = -1.0 + sd * z;
            ((log_likelihood(f.exp()) - 0.5 * z * z).exp(), f.exp())
        });
        let places: Vec<(f64, f64)> = places.collect();
        let whole: f64 = places.iter().map(|(w, _)| w).sum();
        let mean = places.iter().map(|(w, rate)| w * rate).sum::<f64>() / whole;
        let square = places.iter().map(|(w, rate)| w * rate * rate).sum::<f64>() / whole;
        let quantile = |level: f64| {
            let mut held = 0.0;
            let is_below = |(w, _): &&(f64, f64)| {
                held += w / whole;
                held < level
            };
            places.iter().take_while(is_below).last().unwrap().1
        };
        let sd = (square - mean * mean).sqrt();
        [mean, sd, quantile(0.025), quantile(0.975)]
    }

    #[test]
    fn rates_of_counts_of_none_are_as_low_as_the_counts_allow() {
        let at = Functionals::points("x", &[0.0, 100.0]).unwrap();
        // The draws of six rows that know nothing of each other carry less and less of the weight
        // as the prior gets wider. At 3 the mean is held, the spread is not.
        for (rows, variance) in [(6, 3.0), (6, 9.0), (2, 49.0)] {
            let [mean, sd, lower, _] = known(variance, |rate| -rate);
            for method in [Method::Ep, Method::Laplace] {
                let posterior = apart(&[0.0; 6][..rows], variance, method);
                assert!(posterior.has_draws() && posterior.draws_open_rows());
                // What to measure next is asked of the normal beliefs.
                assert!(posterior.believed(&posterior.place(&at).unwrap()).is_ok());
                let told = posterior.predict(&at, Scale::Response).unwrap();
                for row in 0..2 {
                    // Of 4,000 draws some thousand carry the weight: a tenth is three of the
                    // standard errors of a mean; sds of what is skew are rougher.
                    assert!((told.mean()[row] - mean).abs() < 0.1 * sd, "{variance}");
                    assert!((told.sd()[row] / sd - 1.0).abs() < 0.2, "{variance}");
                    // A hundred draws lie so low, where the density falls as that of the prior
                    // does: their end is known to some tenth of its sd.
                    let off = (told.quantile(0.025)[row] / lower).ln();
                    assert!(off.abs() < 0.3 * variance.sqrt(), "{variance}: {off}");
                }
            }
        }
    }

    /// Eight or more, at places that know nothing of each other: every one reaches as high as its
    /// prior does, however many there are.
    #[test]
    fn rates_of_capped_counts_are_as_high_as_the_prior_allows() {
        for rows in [6_usize, 30] {
            let places: Vec<f64> = (0..rows).map(|i| 100.0 * i as f64).collect();
            let (lower, upper) = (vec![8.0; rows], vec![f64::INFINITY; rows]);
            let counts = Poisson::ranges(lower, upper, vec![1.0; rows], Link::Exp).unwrap();
            let posterior = fitted(&places, counts, 2.0, Method::Ep);
            assert!(posterior.draws_open_rows());
            let at = Functionals::points("x", &places).unwrap();
            let told = posterior.predict(&at, Scale::Response).unwrap();
            let at_least_eight = |rate: f64| regularised_gamma(8.0, rate).0.ln();
            let [mean, sd, low, high] = known(2.0, at_least_eight);
            let average = |of: &dyn Fn(usize) -> f64| (0..rows).map(of).sum::<f64>() / rows as f64;
            // Over the rows, each of which has errors of its own: of 4,000 draws that carry the
            // weight evenly a mean is known to .016 sd, an upper end to a tenth, and the sd of a
            // tail like this one to a fifth.
            let off = |i: usize| (told.mean()[i] - mean) / sd;
            assert!(average(&|i| off(i).abs()) < 0.05);
            assert!((average(&|i| told.sd()[i]) / sd - 1.0).abs() < 0.1);
            assert!((average(&|i| told.quantile(0.975)[i]) / high - 1.0).abs() < 0.1);
            assert!((average(&|i| told.quantile(0.025)[i]) / low - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn rows_of_one_place_are_seen_to_be_open_together() {
        // None of them by itself leaves much open: the others have said as much.
        let (rows, variance) = (30, 9.0);
        let posterior = at(&[5.0; 30], &[0.0; 30], variance, Method::Ep);
        assert!(posterior.has_draws());
        let place = Functionals::points("x", &[5.0]).unwrap();
        let told = posterior.predict(&place, Scale::Response).unwrap();
        let [mean, sd, ..] = known(variance, |rate| -f64::from(rows) * rate);
        assert!((told.mean()[0] - mean).abs() < 0.1 * sd);
        assert!((told.sd()[0] / sd - 1.0).abs() < 0.2);
    }

    #[test]
    fn a_normal_belief_answers_where_it_holds_the_rows() {
        // Six counts that are seen well; none at all, under a prior that is narrow.
        let many = [12.0, 30.0, 25.0, 9.0, 14.0, 40.0];
        for (counts, variance) in [(many, 4.0), ([0.0; 6], 0.25)] {
            let posterior = apart(&counts, variance, Method::Ep);
            assert!(!posterior.has_draws());
            let at = Functionals::points("x", &[0.0]).unwrap();
            let told = posterior.predict(&at, Scale::Response).unwrap();
            let [mean, sd, ..] = known(variance, |rate| counts[0] * rate.ln() - rate);
            assert!((told.mean()[0] - mean).abs() < 0.1 * sd);
        }
    }
}
