//! A Gaussian process on the centres of the rows.

use super::Predict;
use crate::error::{FitError, InputError};
use crate::likelihood::{Gaussian, Likelihood};
use crate::model::{FitOptions, Model, Noise, Observations, Posterior, Prediction, Scale};
use crate::support::Functionals;

/// A Gaussian process that takes every row for a point at the centre of its support, as is commonly
/// done in place of integrating the kernel: the middle of a box, the centroid of a region, the
/// weighted mean of a bag's points,
///
/// $$ x_r = \frac{\sum_j w_{rj} \, x_{rj}}{\sum_j w_{rj}} $$
///
/// A value there is `value / size`, with `size` the volume or the sum of the weights; a count has
/// `size` times its exposure. For bags this is the *bag-pixel* of Law et al., regression on means
/// of covariates.
///
/// Predictions over a box or region are the response at its centre, times its size; over a bag
/// those at its points.
///
/// # Source
/// Law, Sejdinovic, Cameron, Lucas, Flaxman, Battle and Fukumizu 2018, *Variational learning on
/// aggregate outputs with Gaussian processes*, appendix B.
#[derive(Debug)]
pub struct Centroid {
    posterior: Posterior,
}

impl Centroid {
    /// Fits `model`, which must have no observations yet, to the centres of the table's rows.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] when the weights of a row do not add up to more than zero, or
    /// the rows report other than values with normal noise, numbers behind a link, or averages; as
    /// [`Model::fit`].
    pub fn fit(
        model: &Model,
        table: &Observations,
        options: &FitOptions,
    ) -> Result<Self, FitError> {
        let centres = Observations {
            supports: centres(table.supports())?,
            likelihood: at_centres(table)?,
            ..table.clone()
        };
        let posterior = model.clone().observe(centres).fit(options)?;
        Ok(Self { posterior })
    }

    /// The Gaussian process behind it.
    #[must_use]
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }
}

/// A point for every row.
fn centres(supports: &Functionals) -> Result<Functionals, InputError> {
    let dims = supports.dims().len();
    let origin: Vec<f64> = (0..dims).map(|d| supports.range(d).0).collect();
    let mut points = Functionals::new(supports.dims().to_vec());
    for row in 0..supports.len() {
        let size = supports.size(row);
        if size <= 0.0 {
            return Err(InputError::Unavailable {
                what: "the centre of a row",
                remedy: "it needs weights that add up to more than zero; use the posterior for differences",
            });
        }
        let along = |d: usize| origin[d] + supports.first_moment(row, d, origin[d]) / size;
        points.push_point(&(0..dims).map(along).collect::<Vec<f64>>())?;
    }
    Ok(points)
}

/// What rows report per unit of their sizes.
fn at_centres(table: &Observations) -> Result<Likelihood, InputError> {
    let supports = table.supports();
    let size: Vec<f64> = (0..supports.len()).map(|row| supports.size(row)).collect();
    if let Some(gaussian) = table.as_gaussian() {
        let values = gaussian.values().iter().zip(&size);
        let scaled = |v: &[f64]| v.iter().zip(&size).map(|(v, s)| v / (s * s)).collect();
        let noise = match gaussian.noise() {
            Noise::Learned => Noise::Learned,
            Noise::Known(v) => Noise::Known(scaled(v)),
            Noise::KnownPlusLearned(v) => Noise::KnownPlusLearned(scaled(v)),
        };
        return Ok(Gaussian::new(values.map(|(y, s)| y / s).collect(), noise)?.into());
    }
    let likelihood = table.likelihood();
    match likelihood.link().is_some() || size.iter().all(|s| *s == 1.0) {
        true => Ok(likelihood.per_unit(&size)),
        false => Err(InputError::Unavailable {
            what: "the centre of sums of such rows",
            remedy: "it needs values with normal noise, counts and other numbers behind a link, or averages",
        }),
    }
}

/// The middle of an atom, of a region its centroid.
fn middle(set: &Functionals, atom: usize) -> Vec<f64> {
    let columns = 0..set.dims().len();
    let mut middle: Vec<f64> = columns
        .map(|d| set.lower(d)[atom] + 0.5 * set.width(d)[atom])
        .collect();
    if let Some(region) = set.region(atom) {
        let placed = &set.regions()[region];
        let axes = placed.columns.iter().zip(placed.region.centroid());
        for (column, centre) in axes {
            if let Some(column) = column {
                middle[*column] = centre;
            }
        }
    }
    middle
}

impl Predict for Centroid {
    /// # Errors
    /// As [`Posterior::predict`].
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = at.select(self.posterior.dims())?;
        let mut nodes = Functionals::new(at.dims().to_vec());
        for row in 0..at.len() {
            let atoms = at.atoms(row);
            let points: Vec<Vec<f64>> = atoms.clone().map(|a| middle(&at, a)).collect();
            nodes.push_nodes(&points, &at.weight()[atoms])?;
        }
        self.posterior.predict(&nodes, Scale::Response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::likelihood::{Interval, Poisson};
    use crate::link::Link;
    use crate::model::Setting;
    use crate::support::{Aggregate, Polygon, Region};

    #[test]
    fn narrow_bins_and_their_centres_agree_and_wide_ones_do_not() {
        let fit = |width: f64| {
            let edges: Vec<(f64, f64)> = (0..12)
                .map(|i| (f64::from(i) - 0.5 * width, f64::from(i) + 0.5 * width))
                .collect();
            let supports = Functionals::intervals("x", &edges, Aggregate::Sum).unwrap();
            let values = edges
                .iter()
                .map(|e| width * (e.0 + 0.5 * width).sin())
                .collect();
            let noise = Noise::Known(vec![1e-6 * width * width; 12]);
            let table = Observations::gaussian(supports, values, noise).unwrap();
            let model = Model::new(Kernel::se(["x"]))
                .set("se.variance", Setting::fixed(1.0))
                .set("se.lengthscale.x", Setting::fixed(1.2));
            let options = FitOptions::default();
            let centroid = Centroid::fit(&model, &table, &options).unwrap();
            let integral = model.observe(table).fit(&options).unwrap();
            let at = Functionals::points("x", &[1.57, 4.3]).unwrap();
            let a = centroid.predict_response(&at).unwrap();
            let b = integral.predict_response(&at).unwrap();
            (a.mean()[0] - b.mean()[0]).abs()
        };
        // The average over a narrow bin differs from its centre by width^2 / 24 of the curvature.
        assert!(fit(0.01) < 1e-4);
        assert!(fit(1.0) > 0.02);
    }

    fn fixed() -> Model {
        Model::new(Kernel::se(["x"]))
            .set("se.variance", Setting::fixed(1.0))
            .set("se.lengthscale.x", Setting::fixed(2.0))
    }

    /// By hand: bags of weights 1 and 3 at 0 and 4, and of weights 2 and 2 at 5 and 6, are points
    /// at 3 and 5.5 of four times the exposure.
    #[test]
    fn bags_of_counts_are_points_of_their_whole_exposure() {
        let mut bags = Functionals::new(vec!["x".into()]);
        bags.push_nodes(&[vec![0.0], vec![4.0]], &[1.0, 3.0])
            .unwrap();
        bags.push_nodes(&[vec![5.0], vec![6.0]], &[2.0, 2.0])
            .unwrap();
        bags.push_box(&[(7.0, 9.0)], Aggregate::Sum).unwrap();
        let points = Functionals::points("x", &[3.0, 5.5, 8.0]).unwrap();
        let counts = vec![3.0, 9.0, 4.0];
        let poisson = |exposure: [f64; 3]| {
            Poisson::new(counts.clone(), exposure.to_vec(), Link::Exp).unwrap()
        };
        let options = FitOptions::default();
        let bags = Observations::new(bags, poisson([0.5, 1.0, 3.0])).unwrap();
        let points = Observations::new(points, poisson([2.0, 4.0, 6.0])).unwrap();
        let centroid = Centroid::fit(&fixed(), &bags, &options).unwrap();
        let by_hand = fixed().observe(points).fit(&options).unwrap();
        let mut at = Functionals::points("x", &[0.5, 3.0]).unwrap();
        at.push_box(&[(2.0, 6.0)], Aggregate::Sum).unwrap();
        let got = centroid.predict_response(&at).unwrap();
        let at = Functionals::points("x", &[0.5, 3.0, 4.0]).unwrap();
        let want = by_hand.predict_response(&at).unwrap();
        for (row, size) in [1.0, 1.0, 4.0].into_iter().enumerate() {
            // The same fit; sums over nodes and points may be made in other ways.
            let off = |got: f64, want: f64| (got / (size * want) - 1.0).abs();
            assert!(off(got.mean()[row], want.mean()[row]) < 1e-6, "{row}");
            assert!(off(got.sd()[row], want.sd()[row]) < 1e-6, "{row}");
        }
    }

    /// By hand: the centroid of a triangle is the mean of its corners.
    #[test]
    fn regions_are_points_at_their_centroids() {
        let ring = vec![[0.0, 0.0], [6.0, 0.0], [0.0, 3.0]];
        let triangle = Polygon::new(vec![vec![ring]]).unwrap();
        let mut set = Functionals::new(vec!["x".into(), "y".into()]);
        set.push_region(Region::from(triangle), Aggregate::Sum)
            .unwrap();
        let points = centres(&set).unwrap();
        let coordinates = [points.lower(0)[0], points.lower(1)[0]];
        let at = middle(&set, 0);
        for (d, want) in [2.0, 1.0].into_iter().enumerate() {
            // A few roundings of numbers up to 6.
            assert!((coordinates[d] - want).abs() < 1e-14 && (at[d] - want).abs() < 1e-14);
        }
    }

    #[test]
    fn differences_and_sums_that_are_no_numbers_are_refused() {
        let options = FitOptions::default();
        let mut difference = Functionals::new(vec!["x".into()]);
        difference
            .push_nodes(&[vec![0.0], vec![1.0]], &[1.0, -1.0])
            .unwrap();
        let table = Observations::gaussian(difference, vec![1.0], Noise::Learned).unwrap();
        let error = Centroid::fit(&fixed(), &table, &options).unwrap_err();
        assert!(error.to_string().contains("add up"), "{error}");
        let bin = Functionals::intervals("x", &[(0.0, 2.0)], Aggregate::Sum).unwrap();
        let between = Interval::new(vec![1.0], vec![2.0], Noise::Known(vec![0.1])).unwrap();
        let table = Observations::new(bin, between).unwrap();
        assert!(Centroid::fit(&fixed(), &table, &options).is_err());
    }
}
