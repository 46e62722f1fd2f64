//! Smooth rates behind counts in bins.

use super::Predict;
use super::cells::Cells;
use super::reported::Reported;
use super::scoring::{Composite, Scored};
use crate::error::{FitError, InputError};
use crate::linalg::{Mat, matvec};
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

/// What sets the strength of the penalty.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Smoothing {
    /// The least `deviance + 2 dimension` (Akaike's criterion) on a grid from 0.1 to 1e8, four to a
    /// power of ten.
    Aic,
    /// The least `deviance + log(rows) dimension` (Schwarz' criterion) on the same grid.
    #[default]
    Bic,
    /// Given, positive.
    Lambda(f64),
}

/// The penalised composite link model: smooth rates `g` in cells of equal length, of which every
/// row counts some,
///
/// $$ y_r \sim \mathrm{Poisson}\Big(e_r \sum_k C_{rk} \, g_k\Big), \qquad \text{the least} \quad
/// \mathrm{deviance} + \lambda \sum_k (\log g_{k-1} - 2 \log g_k + \log g_{k+1})^2 $$
///
/// with `e_r` the exposure of a row and `C_rk` how much of cell `k` its support takes in.
/// Demographers ungroup deaths and populations in this way (`pclm` of the R packages ungroup and
/// DemoTools).
///
/// Rows are counts, or values that are taken as such, over boxes, points or bags of one input; bins
/// may overlap, and leave gaps. A bag of single years weighted by their populations is an exposure
/// of its own for every year. Beyond the first and last row the rate stays as it is there.
///
/// Standard errors are those of the counts for the penalty that was chosen: what the penalty
/// smooths away they do not tell.
///
/// # Source
/// Eilers 2007, *Ill-posed problems with counts, the composite link model and penalized
/// likelihood*; Rizzi, Gampe and Eilers 2015, *Efficient estimation of smooth distributions from
/// coarsely grouped data*. Here every cell has a coefficient, where `ungroup` has B-splines.
///
/// # Examples
/// ```
/// use quadrat::baseline::{CompositeLink, Predict, Smoothing};
/// use quadrat::likelihood::Poisson;
/// use quadrat::link::Link;
/// use quadrat::model::Observations;
/// use quadrat::support::{Aggregate, Functionals};
/// let bands = [(0.0, 10.0), (10.0, 20.0), (20.0, 40.0)];
/// let bands = Functionals::intervals("age", &bands, Aggregate::Sum)?;
/// let deaths = Poisson::new(vec![10.0, 20.0, 160.0], vec![1.0; 3], Link::Exp)?;
/// let table = Observations::new(bands, deaths)?;
/// let model = CompositeLink::fit(&table, 1.0, Smoothing::Bic)?;
/// let at = Functionals::intervals("age", &[(0.0, 40.0)], Aggregate::Sum)?;
/// let all = model.predict_response(&at)?;
/// // A penalty that leaves levels alone keeps the total.
/// assert!((all.mean()[0] - 190.0).abs() < 1e-6);
/// # Ok::<(), quadrat::error::FitError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CompositeLink {
    dim: String,
    cells: Cells,
    scored: Scored,
    lambda: f64,
}

impl CompositeLink {
    /// Fits rates in cells of about the length `step`, the closest one that divides the range of
    /// all rows.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where rows are not of one input, a weight or a value is below
    /// zero, or all values are zero; [`InputError::Range`] for a step that makes fewer than three
    /// cells or more than 1000, or a strength that is not positive; [`FitError::NotConverged`].
    ///
    /// # Numerics
    /// `O(k^3)` for `k` cells in every step of scoring: about 0.1 s for 100 cells, all strengths
    /// together.
    pub fn fit(table: &Observations, step: f64, smoothing: Smoothing) -> Result<Self, FitError> {
        let supports = table.supports();
        let [dim] = supports.dims() else {
            return Err(NO_COUNTS.into());
        };
        if supports.has_regions() || supports.weight().iter().any(|w| *w < 0.0) {
            return Err(NO_COUNTS.into());
        }
        let cells = Cells::over(supports.range(0), step)?;
        if cells.count() < 3 {
            return Err(range("the length of a cell", step, "short enough for three cells").into());
        }
        let model = composite(table, &cells)?;
        let all: f64 = model.counts.iter().sum();
        let (rows, k) = (model.counts.len(), cells.count());
        let looked: f64 = matvec(model.composition.as_ref(), &vec![1.0; k])
            .iter()
            .sum();
        let mut start = vec![(all / looked).ln(); k];
        let strengths: Vec<f64> = match smoothing {
            Smoothing::Lambda(lambda) if lambda > 0.0 && lambda.is_finite() => vec![lambda],
            Smoothing::Lambda(lambda) => {
                return Err(range("lambda", lambda, "positive and finite").into());
            }
            // The stiffest first: it is the easiest.
            _ => (-4..=32)
                .rev()
                .map(|q| 10_f64.powf(0.25 * f64::from(q)))
                .collect(),
        };
        let price = match smoothing {
            Smoothing::Aic => 2.0,
            _ => (rows as f64).ln(),
        };
        let mut best: Option<(f64, f64, Scored)> = None;
        for lambda in strengths {
            let Some(scored) = model.fit(&start, lambda) else {
                continue;
            };
            start.clone_from(&scored.log_rate);
            let criterion = scored.deviance + price * scored.dimension;
            if best.as_ref().is_none_or(|(least, ..)| criterion < *least) {
                best = Some((criterion, lambda, scored));
            }
        }
        let (_, lambda, scored) = best.ok_or(FitError::NotConverged {
            method: "the composite link model",
            sweeps: super::scoring::MOST_STEPS,
            residual: f64::NAN,
        })?;
        Ok(Self {
            dim: dim.clone(),
            cells,
            scored,
            lambda,
        })
    }

    /// The strength of the penalty.
    #[must_use]
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Number of coefficients that the fit is worth, between two and the number of rows.
    #[must_use]
    pub fn dimension(&self) -> f64 {
        self.scored.dimension
    }

    /// Twice what the log-likelihood lacks of the best possible, in nats.
    #[must_use]
    pub fn deviance(&self) -> f64 {
        self.scored.deviance
    }
}

const NO_COUNTS: InputError = InputError::Unavailable {
    what: "the composite link model",
    remedy: "it needs counts (not successes among trials), none below zero and not all zero, over boxes, points or bags of one input with positive weights; use the posterior for other rows",
};

fn range(what: &str, value: f64, requirement: &'static str) -> InputError {
    InputError::Range {
        what: what.into(),
        row: 0,
        value,
        requirement,
    }
}

/// What rows that were exposed to something report. A row seen several times is one with as many
/// times the count and the exposure.
fn composite(table: &Observations, cells: &Cells) -> Result<Composite, InputError> {
    let supports = table.supports();
    let reported = Reported::of_counts(table).ok_or(NO_COUNTS)?;
    let exposed: Vec<usize> = (0..supports.len())
        .filter(|&row| reported.amounts[row] > 0.0)
        .collect();
    let times = |values: &[f64]| -> Vec<f64> {
        exposed
            .iter()
            .map(|&row| table.times(row) * values[row])
            .collect()
    };
    let (counts, amounts) = (times(&reported.values), times(&reported.amounts));
    let is_counts = counts.iter().all(|y| *y >= 0.0) && counts.iter().any(|y| *y > 0.0);
    if !is_counts {
        return Err(NO_COUNTS);
    }
    let mut composition = Mat::zeros(counts.len(), cells.count());
    for (at, &row) in exposed.iter().enumerate() {
        for (cell, part) in cells.row(supports, row) {
            composition[(at, cell)] += amounts[at] * part;
        }
    }
    Ok(Composite {
        counts,
        composition,
    })
}

impl Predict for CompositeLink {
    /// # Errors
    /// [`InputError::UnknownDimension`]; [`InputError::Unavailable`] for regions.
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = at.select(std::slice::from_ref(&self.dim))?;
        if at.has_regions() {
            return Err(NO_COUNTS.into());
        }
        let (mut means, mut variances) = (Vec::new(), Vec::new());
        for row in 0..at.len() {
            // The slopes of the answer in the log rates.
            let mut slopes = vec![0.0; self.cells.count()];
            for (cell, part) in self.cells.row(&at, row) {
                slopes[cell] += part * self.scored.log_rate[cell].exp();
            }
            means.push(slopes.iter().sum());
            let moved = matvec(self.scored.root.as_ref(), &slopes);
            variances.push(moved.iter().map(|m| m * m).sum());
        }
        Ok(Prediction::from_moments(vec![1.0], &[(means, variances)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::MonotoneSpline;
    use crate::likelihood::{Binomial, Poisson, Sigmoid};
    use crate::link::Link;
    use crate::model::Noise;
    use crate::support::Aggregate;

    /// Deaths of the help of `pclm` in ungroup 1.4.5, of ages 0, 1-4, 5-9, .., 85-110.
    const DEATHS: [f64; 19] = [
        294.0, 66.0, 32.0, 44.0, 170.0, 284.0, 287.0, 293.0, 361.0, 600.0, 998.0, 1572.0, 2529.0,
        4637.0, 6161.0, 7369.0, 10481.0, 15293.0, 39016.0,
    ];
    /// Thousands of person-years there.
    const EXPOSURE: [f64; 19] = [
        114.0, 440.0, 509.0, 492.0, 628.0, 618.0, 576.0, 580.0, 634.0, 657.0, 631.0, 584.0, 573.0,
        619.0, 530.0, 384.0, 303.0, 245.0, 249.0,
    ];
    const ASKED: [usize; 6] = [0, 3, 12, 40, 77, 100];

    fn ages(aggregate: Aggregate) -> Functionals {
        let mut edges = vec![(0.0, 1.0), (1.0, 5.0)];
        edges.extend((1..17).map(|i| (5.0 * f64::from(i), 5.0 * f64::from(i + 1))));
        edges.push((85.0, 111.0));
        Functionals::intervals("age", &edges, aggregate).unwrap()
    }

    /// Years of `ASKED`, and the sum over ages 60 to 79.
    fn asked() -> Functionals {
        let edges: Vec<(f64, f64)> = ASKED
            .iter()
            .map(|&year| (year as f64, year as f64 + 1.0))
            .chain([(60.0, 80.0)])
            .collect();
        Functionals::intervals("age", &edges, Aggregate::Sum).unwrap()
    }

    fn check(model: &CompositeLink, want: [f64; 7], sd: [f64; 7], dimension: f64, deviance: f64) {
        let got = model.predict_response(&asked()).unwrap();
        for row in 0..7 {
            // The search ends within 1e-8 standard errors, in every direction; a rate is moved by
            // a few. References have ten digits.
            let off = (got.mean()[row] - want[row]).abs() / sd[row];
            assert!(off < 1e-7, "{row}: {off}");
            let sd_off = (got.sd()[row] / sd[row] - 1.0).abs();
            assert!(sd_off < 1e-7, "{row}: {sd_off}");
        }
        assert!((model.dimension() / dimension - 1.0).abs() < 1e-8);
        // The slope of the deviance is not zero where the penalised one is least.
        assert!((model.deviance() / deviance - 1.0).abs() < 1e-5);
    }

    /// Reference: augmented least squares in numpy 2.4.6, written after the appendix of Rizzi,
    /// Gampe and Eilers 2015, for every strength; the best one solved in 40 digits with mpmath.
    #[test]
    fn agrees_with_least_squares_of_the_paper() {
        let deaths = Poisson::new(DEATHS.to_vec(), vec![1.0; 19], Link::Exp).unwrap();
        let table = Observations::new(ages(Aggregate::Sum), deaths).unwrap();
        let model = CompositeLink::fit(&table, 1.0, Smoothing::Bic).unwrap();
        assert!((model.lambda() - 10_f64.sqrt()).abs() < 1e-12);
        let want = [
            292.400623419,
            5.55155738678,
            7.96510935158,
            94.718360405,
            2071.19733936,
            921.089180464,
            28647.9839072,
        ];
        let sd = [
            17.05277712,
            0.9830499897,
            1.369344191,
            4.293396885,
            23.1300409,
            22.09820741,
            169.2553983,
        ];
        check(&model, want, sd, 18.9275283291, 0.104474937189);
    }

    /// As above, with the person-years of every band spread evenly over its years.
    #[test]
    fn rates_agree_with_least_squares_of_the_paper() {
        let exposure = EXPOSURE.map(|e| 1000.0 * e).to_vec();
        let deaths = Poisson::new(DEATHS.to_vec(), exposure, Link::Exp).unwrap();
        let table = Observations::new(ages(Aggregate::Mean), deaths).unwrap();
        let model = CompositeLink::fit(&table, 1.0, Smoothing::Aic).unwrap();
        assert!((model.lambda() - 10_f64.powf(0.25)).abs() < 1e-12);
        let want = [
            0.00257110813859,
            5.05151397139e-5,
            8.24078366262e-5,
            0.000720769496695,
            0.0340321406359,
            0.172995466035,
            0.364482532595,
        ];
        let sd = [
            0.0001499453222,
            9.081007174e-6,
            1.437288467e-5,
            3.27471474e-5,
            0.0003735647724,
            0.000996509735,
            0.002225804783,
        ];
        check(&model, want, sd, 18.9583410112, 0.0321395243022);
    }

    /// A probability would come out above one.
    #[test]
    fn successes_among_trials_are_no_counts() {
        let bands =
            Functionals::intervals("x", &[(0.0, 4.0), (4.0, 9.0)], Aggregate::Mean).unwrap();
        let seen = Binomial::new(vec![6.0, 7.0], vec![7.0; 2], Sigmoid::Logit).unwrap();
        let table = Observations::new(bands, seen).unwrap();
        assert!(CompositeLink::fit(&table, 1.0, Smoothing::Bic).is_err());
        assert!(MonotoneSpline::new(&table).is_err());
    }

    /// Exposures of single years as a bag are those of the band where all are alike; a row seen
    /// twice is one with twice the count and exposure.
    #[test]
    fn bags_are_exposures_of_their_own_and_times_are_multiples() {
        let counts = vec![3.0, 20.0, 31.0, 8.0];
        let fit = |table: &Observations| {
            let model = CompositeLink::fit(table, 1.0, Smoothing::Lambda(10.0)).unwrap();
            let at = Functionals::points("age", &[0.5, 9.5, 18.5]).unwrap();
            model.predict_response(&at).unwrap()
        };
        let edges: Vec<(f64, f64)> = (0..4)
            .map(|i| f64::from(5 * i))
            .map(|a| (a, a + 5.0))
            .collect();
        let bands = Functionals::intervals("age", &edges, Aggregate::Mean).unwrap();
        let mut bags = Functionals::new(vec!["age".into()]);
        for &(from, _) in &edges {
            let years: Vec<Vec<f64>> = (0..5).map(|y| vec![from + f64::from(y) + 0.5]).collect();
            bags.push_nodes(&years, &[20.0; 5]).unwrap();
        }
        let poisson = |counts: &[f64], exposure: f64| {
            Poisson::new(counts.to_vec(), vec![exposure; 4], Link::Exp).unwrap()
        };
        let banded = fit(&Observations::new(bands.clone(), poisson(&counts, 100.0)).unwrap());
        // The range of the middles is shorter by a year than that of the bands, so that a year on
        // either side is added, exposed to nothing.
        let mut table = bags;
        for end in [(0.0, 0.1), (19.9, 20.0)] {
            table.push_box(&[end], Aggregate::Mean).unwrap();
        }
        let mut with_ends = counts.clone();
        with_ends.extend([0.0, 0.0]);
        let exposure = vec![1.0, 1.0, 1.0, 1.0, 0.0, 0.0];
        let bagged = Poisson::new(with_ends, exposure, Link::Exp).unwrap();
        let bagged = fit(&Observations::new(table, bagged).unwrap());
        let halves: Vec<f64> = counts.iter().map(|y| 2.0 * y).collect();
        let twice = Observations::new(bands.clone(), poisson(&counts, 100.0)).unwrap();
        let twice = fit(&twice.seen(vec![2.0; 4]).unwrap());
        let doubled = fit(&Observations::new(bands, poisson(&halves, 200.0)).unwrap());
        for row in 0..3 {
            // Sums in another order.
            let alike = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
            assert!(alike(banded.mean()[row], bagged.mean()[row]));
            assert!(alike(banded.sd()[row], bagged.sd()[row]));
            assert!(alike(twice.mean()[row], doubled.mean()[row]));
            assert!(alike(twice.sd()[row], doubled.sd()[row]));
        }
    }

    /// Nothing but the first bin is filled: the rate falls without end, which the counts then
    /// cannot tell from zero.
    #[test]
    fn empty_bins_at_an_end_have_next_to_nothing() {
        let edges = [(0.0, 10.0), (10.0, 20.0), (20.0, 30.0)];
        let bins = Functionals::intervals("x", &edges, Aggregate::Sum).unwrap();
        let counts = vec![500.0, 0.0, 0.0];
        let table = Observations::gaussian(bins.clone(), counts, Noise::Learned).unwrap();
        let model = CompositeLink::fit(&table, 1.0, Smoothing::Bic).unwrap();
        let got = model.predict_response(&bins).unwrap();
        // The search ends before the rate has fallen without end: found is the count but for
        // 1.2e-5.
        assert!((got.mean()[0] - 500.0).abs() < 1e-3, "{:?}", got.mean());
        assert!(got.mean()[2] < 1e-6 && got.sd()[2] < 1e-2, "{got:?}");
    }

    #[test]
    fn what_is_no_count_is_refused() {
        let bins =
            |edges: &[(f64, f64)]| Functionals::intervals("x", edges, Aggregate::Sum).unwrap();
        let table = |values: Vec<f64>| {
            let supports = bins(&[(0.0, 5.0), (5.0, 9.0)]);
            Observations::gaussian(supports, values, Noise::Learned).unwrap()
        };
        let fit = |values, step, smoothing| CompositeLink::fit(&table(values), step, smoothing);
        for values in [vec![1.0, -2.0], vec![0.0, 0.0]] {
            let error = fit(values, 1.0, Smoothing::Aic).unwrap_err();
            assert!(error.to_string().contains("counts"), "{error}");
        }
        for (step, lambda) in [(1.0, 0.0), (1.0, f64::NAN), (5.0, 1.0), (-1.0, 1.0)] {
            assert!(fit(vec![1.0, 2.0], step, Smoothing::Lambda(lambda)).is_err());
        }
    }
}
