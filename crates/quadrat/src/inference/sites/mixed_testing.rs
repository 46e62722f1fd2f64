//! Two outputs under coregionalised priors of two latent functions, which tests share.

use super::{Block, LatentGaussian, Second, SecondPrior};
use crate::covariance::Covariance;
use crate::kernel::{Kernel, Role};
use crate::likelihood::{
    Censored, Degrees, Dispersion, Gaussian, Interval, Likelihood, NegativeBinomial, Noise, Side,
    StudentT, Truncated,
};
use crate::linalg::{Mat, MatRef};
use crate::link::Link;
use crate::parameter::{Parameter, PriorDensity};
use crate::support::Functionals;

/// Two outputs, one table each, with a coregionalised kernel for both functions.
pub(in crate::inference) struct Mixed {
    supports: Functionals,
    covariance: Covariance,
    means: [Vec<f64>; 2],
    tables: Vec<Likelihood>,
    pub own: Vec<Vec<usize>>,
    pub parameters: Vec<Parameter>,
    /// Where the second kernel begins in `theta`, the rows it is seen by, and its link; none:
    /// constant.
    second: Option<(usize, Functionals, Link)>,
    /// Whether a table has a second latent value.
    varies: [bool; 2],
}

impl Mixed {
    pub fn new(tables: [Likelihood; 2], varies: [bool; 2], link: Option<Link>) -> Self {
        let kernel = Kernel::parse("coregion(output, north, south) * se(t)").unwrap();
        let x = [0.0, 0.9, 1.7];
        let mut supports = Functionals::new(kernel.columns().to_vec());
        let mut seen = supports.clone();
        let t = kernel.columns().iter().position(|c| c == "t").unwrap();
        for (output, varies) in varies.iter().enumerate() {
            for x in x {
                let mut place = [output as f64; 2];
                place[t] = x;
                supports.push_point(&place).unwrap();
                if *varies {
                    seen.push_point(&place).unwrap();
                }
            }
        }
        let mut parameters = Vec::new();
        let of_kernel = |name: &str, scale: f64, parameters: &mut Vec<Parameter>| {
            for (i, p) in kernel.parameters().iter().enumerate() {
                let name = format!("{name}{}", p.name);
                let prior = PriorDensity::LogNormal {
                    mu: -0.2,
                    sigma: 0.8,
                };
                parameters.push(match p.role {
                    Role::Weight { .. } => {
                        let prior = PriorDensity::Normal { mean: 0.0, sd: 1.5 };
                        Parameter::real(&name, "", scale * (0.9 - 0.3 * i as f64), prior)
                    }
                    _ => Parameter::positive(&name, "", scale * (0.4 + 0.2 * i as f64), prior),
                });
            }
        };
        of_kernel("", 1.2, &mut parameters);
        let offset = parameters.len();
        if link.is_some() {
            of_kernel("noise.", 0.8, &mut parameters);
        }
        let own = tables.iter().zip(varies).map(|(table, varies)| {
            let first = parameters.len();
            let skip = usize::from(varies && link.is_some());
            parameters.extend(table.local().parameters(1.0).into_iter().skip(skip));
            (first..parameters.len()).collect()
        });
        let own = own.collect();
        Self {
            means: [vec![0.3; supports.len()], vec![-1.0; seen.len()]],
            supports,
            covariance: Covariance::new(&kernel),
            own,
            second: link.map(|link| (offset, seen, link)),
            tables: tables.into(),
            parameters,
            varies,
        }
    }

    pub fn theta(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.start).collect()
    }

    pub fn kernel_size(&self) -> usize {
        self.covariance.parameters()
    }
}

impl LatentGaussian for Mixed {
    fn prior_mean(&self) -> &[f64] {
        &self.means[0]
    }
    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        let own = &theta[..self.kernel_size()];
        self.covariance.matrix(own, &self.supports)
    }
    fn contract_covariance(&self, theta: &[f64], g: MatRef<'_, f64>, gradient: &mut [f64]) {
        let n = self.kernel_size();
        let gradient = &mut gradient[..n];
        self.covariance
            .contract(&theta[..n], &self.supports, g, gradient);
    }
    fn blocks(&self) -> Vec<Block<'_>> {
        let mut seen = 0;
        let block = |t: usize| {
            let mut second = None;
            if let (true, Some((_, _, link))) = (self.varies[t], &self.second) {
                second = Some(Second {
                    first: seen,
                    link: *link,
                });
                seen += self.tables[t].local().rows();
            }
            Block {
                likelihood: self.tables[t].local(),
                first: t * self.supports.len() / 2,
                own: &self.own[t],
                second,
            }
        };
        (0..2).map(block).collect()
    }
    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
    fn describe(&self) -> String {
        "coregion * se".into()
    }
    fn second(&self) -> Option<&dyn SecondPrior> {
        self.second.as_ref().map(|_| self as &dyn SecondPrior)
    }
}

impl SecondPrior for Mixed {
    fn prior_mean(&self) -> &[f64] {
        &self.means[1]
    }
    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        let (offset, seen, _) = self.second.as_ref().unwrap();
        let own = &theta[*offset..][..self.kernel_size()];
        self.covariance.matrix(own, seen)
    }
    fn contract_covariance(&self, theta: &[f64], g: MatRef<'_, f64>, gradient: &mut [f64]) {
        let (offset, seen, _) = self.second.as_ref().unwrap();
        let (from, to) = (*offset, offset + self.kernel_size());
        self.covariance
            .contract(&theta[from..to], seen, g, &mut gradient[from..to]);
    }
}

/// Every likelihood that may have a second latent value; the further rows of an output are a little
/// higher.
pub(in crate::inference) fn tables(shift: f64) -> Vec<Likelihood> {
    let y: Vec<f64> = [0.9, -0.4, 1.6].map(|y| y + shift).to_vec();
    let up = y.iter().map(|y| y + 0.7).collect();
    let sides = [Side::None, Side::Right, Side::Left];
    let counts = vec![3.0, 0.0, 5.0];
    let counts = NegativeBinomial::new(counts, vec![1.5; 3], Link::Exp, Dispersion::Learned);
    let learned = || Noise::Learned;
    let plus = Noise::KnownPlusLearned(vec![0.1; 3]);
    vec![
        Gaussian::new(y.clone(), learned()).unwrap().into(),
        Gaussian::new(y.clone(), plus).unwrap().into(),
        Interval::new(y.clone(), up, learned()).unwrap().into(),
        Censored::new(y.clone(), &sides, learned()).unwrap().into(),
        Truncated::new(
            y.clone(),
            vec![shift - 0.5; 3],
            vec![f64::INFINITY; 3],
            learned(),
        )
        .unwrap()
        .into(),
        StudentT::new(y.clone(), learned(), Degrees::Learned)
            .unwrap()
            .into(),
        StudentT::new(y, learned(), Degrees::Known(4.0))
            .unwrap()
            .into(),
        counts.unwrap().into(),
    ]
}
