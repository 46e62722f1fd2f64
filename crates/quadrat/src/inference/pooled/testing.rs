//! Small sets of rows that tests of sums after a link share.

use super::Pools;
use crate::likelihood::local::Local;
use crate::likelihood::{
    Bernoulli, Binomial, Dispersion, Exponential, Gamma, Gaussian, LogNormal, LogSd,
    NegativeBinomial, Noise, Poisson, Shape, Sigmoid,
};
use crate::link::Link;

/// Places of nodes.
pub(in crate::inference) const NODES: [f64; 9] = [0.0, 0.2, 0.45, 0.9, 1.2, 1.5, 1.8, 2.3, 2.6];

/// Three rows, the last of which shares nodes with the others.
pub(in crate::inference) fn pools(link: Link) -> Pools {
    let mut pools = Pools::new(9);
    pools.push(link, (0..3).map(|i| (i, 1.0 + i as f64)));
    pools.push(link, (3..6).map(|i| (i, 2.0)));
    pools.push(link, (2..9).map(|i| (i, 1.0 + 0.1 * i as f64)));
    pools
}

/// Every family that takes a link, with every link it takes.
pub(in crate::inference) fn kinds() -> Vec<(&'static str, Link, Box<dyn Local>)> {
    let counts = || vec![7.0, 2.0, 12.0];
    let exposure = || vec![1.5, 1.0, 2.0];
    let mut all: Vec<(&'static str, Link, Box<dyn Local>)> = Vec::new();
    for link in [Link::Exp, Link::Softplus, Link::Square] {
        let poisson = Poisson::new(counts(), exposure(), link).unwrap();
        all.push(("poisson", link, Box::new(poisson)));
        let dispersed =
            NegativeBinomial::new(counts(), exposure(), link, Dispersion::Learned).unwrap();
        all.push(("negative_binomial", link, Box::new(dispersed)));
        let ranges = Poisson::ranges(
            vec![5.0, 1.0, 12.0],
            vec![9.0, 4.0, f64::INFINITY],
            exposure(),
            link,
        );
        all.push(("suppressed", link, Box::new(ranges.unwrap())));
    }
    for link in [Link::Exp, Link::Softplus] {
        let waits = Exponential::new(vec![0.7, 2.0, 1.1], link).unwrap();
        all.push(("exponential", link, Box::new(waits)));
        let amounts = Gaussian::new(vec![1.4, 2.0, 1.1], Noise::Learned).unwrap();
        let amounts = amounts.behind(link).unwrap();
        all.push(("gaussian", link, Box::new(amounts)));
    }
    for sigmoid in [Sigmoid::Logit, Sigmoid::Probit] {
        let trials = vec![9.0, 12.0, 14.0];
        let successes = Binomial::new(counts(), trials, sigmoid).unwrap();
        all.push(("binomial", sigmoid.link(), Box::new(successes)));
        let answers = Bernoulli::new(vec![true, false, true], sigmoid);
        all.push(("bernoulli", sigmoid.link(), Box::new(answers)));
    }
    let sizes = Gamma::new(vec![0.7, 2.0, 1.1], Shape::Learned).unwrap();
    all.push(("gamma", Link::Exp, Box::new(sizes)));
    let incomes = LogNormal::new(vec![0.7, 2.0, 1.1], LogSd::Learned).unwrap();
    all.push(("lognormal", Link::Exp, Box::new(incomes)));
    all
}
