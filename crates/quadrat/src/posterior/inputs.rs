//! What the rows look at, input by input, and the points that stand for it.

use super::mixture::Posterior;
use crate::problem::sparse::Sparse;
use crate::support::Functionals;

impl Posterior {
    /// The inducing points `z_1, .., z_M` of sparse inference, over the columns of the kernel
    /// ([`Functionals::extent`] tells where they lie); none for other methods.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Inducing, Model, Noise, Observations};
    /// use quadrat::support::Functionals;
    /// let x: Vec<f64> = (0..30).map(|i| 0.2 * f64::from(i)).collect();
    /// let y = x.iter().map(|x| x.sin()).collect();
    /// let at = Functionals::points("x", &x)?;
    /// let posterior = Model::new(Kernel::se(["x"]))
    ///     .observe(Observations::gaussian(at, y, Noise::Known(vec![0.01; 30]))?)
    ///     .fit(&FitOptions::default().with_inducing(Inducing::Number(8)))?;
    /// assert_eq!(posterior.inducing().map(|z| z.len()), Some(8));
    /// # Ok::<(), quadrat::error::FitError>(())
    /// ```
    #[must_use]
    pub fn inducing(&self) -> Option<&Functionals> {
        self.problem.sparse().map(Sparse::inducing)
    }

    /// Standard deviation of every input over what the rows look at, in the order of [`Self::dims`]
    /// and the unit of the input: beside a lengthscale it tells how relevant an input is.
    ///
    /// `sd_d^2 = mean_a (c_ad - mean_a c_ad)^2 + mean_a w_ad^2 / 12` over the parts `a` of all rows
    /// (a point, a point of a bag, a box, the bounding box of a region), of middle `c` and width
    /// `w`; each counts once, whatever its weight. Zero where an input is the same everywhere.
    #[must_use]
    pub fn input_sd(&self) -> Vec<f64> {
        let observed = self.problem.observed();
        let n = observed.atom_count() as f64;
        let sd = |name: &String| {
            let Some(d) = observed.dims().iter().position(|dim| dim == name) else {
                return 0.0;
            };
            let parts = || observed.lower(d).iter().zip(observed.width(d));
            let middle = |(lower, width): (&f64, &f64)| lower + 0.5 * width;
            let mean = parts().map(middle).sum::<f64>() / n;
            let square = |part: (&f64, &f64)| (middle(part) - mean).powi(2) + part.1.powi(2) / 12.0;
            (parts().map(square).sum::<f64>() / n).sqrt()
        };
        self.dims().iter().map(sd).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::Kernel;
    use crate::model::{FitOptions, Inducing, Mean, Model, Noise, Observations, Setting};
    use crate::support::{Aggregate, Functionals};

    #[test]
    fn boxes_spread_as_much_as_the_points_within() {
        let mut at = Functionals::new(vec!["y".into(), "x".into()]);
        for i in 0..4 {
            let left = 2.0 * f64::from(i);
            at.push_box(&[(5.0, 5.0), (left, left + 2.0)], Aggregate::Mean)
                .unwrap();
        }
        let fit = |options: FitOptions| {
            let model = Model::new(Kernel::se(["x", "y"]))
                .mean(Mean::Zero)
                .set("se.variance", Setting::fixed(1.0))
                .set("se.lengthscale.x", Setting::fixed(1.0))
                .set("se.lengthscale.y", Setting::fixed(1.0));
            let noise = Noise::Known(vec![0.1; 4]);
            let rows = Observations::gaussian(at.clone(), vec![1.0, 0.0, 2.0, 1.0], noise).unwrap();
            model.observe(rows).fit(&options).unwrap()
        };
        let exact = fit(FitOptions::default());
        assert!(exact.inducing().is_none());
        let sparse = fit(FitOptions::default().with_inducing(Inducing::PerRow));
        let points = sparse.inducing().unwrap();
        assert_eq!(
            (points.dims(), points.len()),
            (&["x".to_owned(), "y".to_owned()][..], 4)
        );
        // Centres of the boxes.
        let x: Vec<f64> = (0..4).map(|i| points.extent(i, 0).0).collect();
        assert_eq!(x, [1.0, 3.0, 5.0, 7.0]);
        for posterior in [exact, sparse] {
            assert_eq!(posterior.dims(), ["x", "y"]);
            let sd = posterior.input_sd();
            // Uniform from 0 to 8; y is 5 everywhere.
            assert!(
                (sd[0] - 8.0 / 12f64.sqrt()).abs() < 1e-12 && sd[1] == 0.0,
                "{sd:?}"
            );
        }
    }

    /// A point at 0 and a box from 2 to 6: middles 0 and 4, widths 0 and 4.
    #[test]
    fn points_and_boxes_count_by_their_middles() {
        let mut at = Functionals::points("x", &[0.0]).unwrap();
        at.push_box(&[(2.0, 6.0)], Aggregate::Mean).unwrap();
        let noise = Noise::Known(vec![0.1; 2]);
        let posterior = Model::new(Kernel::se(["x"]))
            .mean(Mean::Zero)
            .set("se.variance", Setting::fixed(1.0))
            .set("se.lengthscale.x", Setting::fixed(1.0))
            .observe(Observations::gaussian(at, vec![1.0, 0.0], noise).unwrap())
            .fit(&FitOptions::default())
            .unwrap();
        let want = f64::sqrt(4.0 + 0.5 * 16.0 / 12.0);
        // A few roundings of 2.2.
        assert!((posterior.input_sd()[0] - want).abs() < 1e-14);
    }
}
