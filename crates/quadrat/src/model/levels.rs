//! What rows say of the unknown constants of the mean.

use super::component::Component;
use super::mean::{MeanPrior, Means};
use super::prediction::Prediction;
use crate::inference::{Conditioned, Factor};
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, dot};
use crate::support::Functionals;

/// An unknown constant: its output, posterior mean, median and central 95 % interval.
pub(super) struct Constant {
    pub output: usize,
    pub value: f64,
    pub median: f64,
    pub lower: f64,
    pub upper: f64,
}

/// Each is covariant with the rows of its output only, through itself, `cov(m, L_i) = sd^2 size_i`.
/// Of the rows that were conditioned on those of `set` begin at the first number of `place`; the
/// other is how many these are.
pub(super) fn constants<'a>(
    means: &'a Means,
    set: &'a Functionals,
    (start, all): (usize, usize),
    components: &'a [Component],
    conditioned: fn(&Component) -> Option<&Conditioned>,
    lifted: impl Fn(&Component, usize, &MeanPrior) -> Option<Belief> + 'a,
) -> impl Iterator<Item = Constant> + 'a {
    let priors = means.priors().iter().enumerate();
    let unknown = priors.filter(|(_, prior)| prior.sd > 0.0);
    unknown.enumerate().map(move |(constant, (output, prior))| {
        let variance = prior.sd * prior.sd;
        let of = |row: usize| match means.output(set, row) == output {
            true => variance * set.size(row),
            false => 0.0,
        };
        let mut cross = vec![0.0; all];
        for (row, out) in cross[start..].iter_mut().take(set.len()).enumerate() {
            *out = of(row);
        }
        let moments = |component: &Component, conditioned: &Conditioned| {
            if let Some(belief) = lifted(component, constant, prior) {
                return (vec![belief.mean], vec![belief.variance]);
            }
            if let Factor::Basis(basis) = &conditioned.factor {
                let mean = prior.mean + prior.sd * conditioned.levels[constant];
                return (vec![mean], vec![variance * basis.open()[constant]]);
            }
            let column = Mat::from_fn(cross.len(), 1, |i, _| cross[i]);
            let whitened = conditioned.factor.whiten(column);
            let reduction = dot(whitened.col_as_slice(0), whitened.col_as_slice(0));
            let mean = prior.mean + dot(&cross, &conditioned.alpha);
            (vec![mean], vec![(variance - reduction).max(0.0)])
        };
        let known = || components.iter().filter_map(|c| Some((c, conditioned(c)?)));
        let moments: Vec<_> = known().map(|(c, own)| moments(c, own)).collect();
        let weights = known().map(|(c, _)| c.weight).collect();
        let marginal = Prediction::from_moments(weights, &moments);
        Constant {
            output,
            value: marginal.mean()[0],
            median: marginal.quantile(0.5)[0],
            lower: marginal.quantile(0.025)[0],
            upper: marginal.quantile(0.975)[0],
        }
    })
}
