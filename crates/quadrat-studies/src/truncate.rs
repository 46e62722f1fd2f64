//! Predictions of what cannot be negative: their marginals given that they are not.

use quadrat::model::Prediction;
use quadrat::quadrature::gauss_legendre;

/// Below this probability of being negative the marginal is left as it is: moments move by less.
const NEGLIGIBLE: f64 = 1e-9;
/// Bisections of the interval that holds a quantile: to 1e-12 of its length.
const BISECTIONS: usize = 40;
/// Panels, and nodes on each, of the integral that gives the mean: with steps of a twentieth of
/// an sd or less the error is that of the range cut off, about 1e-9.
const PANELS: usize = 6;
const NODES: usize = 20;
/// How far up the marginals are followed, in sds above the mean.
const REACH: f64 = 8.0;

/// Means and quantiles of the marginals given `y >= 0`.
#[derive(Debug, Clone)]
pub struct Truncated {
    /// Means, positive.
    pub mean: Vec<f64>,
    /// The quantiles asked for, one vector per level.
    pub quantiles: Vec<Vec<f64>>,
}

/// Truncates every marginal at zero.
///
/// With distribution function $F$, the mean is $\int_0^\infty (1 - F(y)) dy / (1 - F(0))$ and the
/// $p$-quantile solves $F(q) = F(0) + p (1 - F(0))$.
#[must_use]
pub fn at_zero(prediction: &Prediction, levels: &[f64]) -> Truncated {
    let rows = prediction.len();
    let below = prediction.cdf(&vec![0.0; rows]);
    let top: Vec<f64> = (0..rows)
        .map(|i| prediction.mean()[i].max(0.0) + REACH * prediction.sd()[i])
        .collect();

    let mut area = vec![0.0; rows];
    let rule = gauss_legendre(NODES);
    for panel in 0..PANELS {
        let (from, to) = (
            panel as f64 / PANELS as f64,
            (panel + 1) as f64 / PANELS as f64,
        );
        for (u, w) in rule.on(from, to) {
            let y: Vec<f64> = top.iter().map(|t| u * t).collect();
            let cdf = prediction.cdf(&y);
            for i in 0..rows {
                area[i] += w * top[i] * (1.0 - cdf[i]);
            }
        }
    }
    let mean = (0..rows).map(|i| match below[i] {
        b if b < NEGLIGIBLE => prediction.mean()[i],
        b => area[i] / (1.0 - b).max(f64::MIN_POSITIVE),
    });

    let quantile = |&p: &f64| {
        let (mut lo, mut hi) = (vec![0.0; rows], top.clone());
        for _ in 0..BISECTIONS {
            let middle: Vec<f64> = lo.iter().zip(&hi).map(|(l, h)| 0.5 * (l + h)).collect();
            let cdf = prediction.cdf(&middle);
            for i in 0..rows {
                let under = cdf[i] < below[i] + p * (1.0 - below[i]);
                let end = if under { &mut lo[i] } else { &mut hi[i] };
                *end = middle[i];
            }
        }
        lo.iter().zip(&hi).map(|(l, h)| 0.5 * (l + h)).collect()
    };
    Truncated {
        mean: mean.collect(),
        quantiles: levels.iter().map(quantile).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrat::kernel::Kernel;
    use quadrat::model::{FitOptions, Mean, Model, Noise, Observations, Scale, Setting};
    use quadrat::support::Functionals;

    /// Normal marginals: with one row of large noise, the posterior is the prior N(m, 1).
    fn normal(mean: f64) -> Prediction {
        let row = Functionals::points("x", &[0.0]).unwrap();
        let table =
            Observations::gaussian(row.clone(), vec![0.0], Noise::Known(vec![1e30])).unwrap();
        let model = Model::new(Kernel::se(["x"]))
            .mean(Mean::Fixed(mean))
            .set("se.variance", Setting::fixed(1.0))
            .set("se.lengthscale.x", Setting::fixed(1.0));
        let posterior = model.observe(table).fit(&FitOptions::default()).unwrap();
        posterior.predict(&row, Scale::Latent).unwrap()
    }

    #[test]
    fn a_half_normal_has_its_known_mean_and_median() {
        let t = at_zero(&normal(0.0), &[0.5]);
        // sqrt(2 / pi) and Phi^-1(3/4); 1 - Phi(8) is 1e-15.
        assert!(
            (t.mean[0] - 0.797_884_560_802_865_4).abs() < 1e-9,
            "{:?}",
            t.mean
        );
        assert!((t.quantiles[0][0] - 0.674_489_750_196_081_7).abs() < 1e-9);
    }

    #[test]
    fn what_is_positive_stays_and_what_is_negative_is_pushed_up() {
        let far = normal(9.0);
        let t = at_zero(&far, &[0.025]);
        assert_eq!(t.mean[0], far.mean()[0]);
        assert!((t.quantiles[0][0] - far.quantile(0.025)[0]).abs() < 1e-9);
        // Mills: phi(2) / Phi(-2) - 2.
        let t = at_zero(&normal(-2.0), &[0.025]);
        assert!(
            (t.mean[0] - 0.373_215_532_822_843_7).abs() < 1e-8,
            "{:?}",
            t.mean
        );
        assert!(t.quantiles[0][0] > 0.0);
    }
}
