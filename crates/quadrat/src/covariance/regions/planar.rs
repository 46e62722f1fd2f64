//! Which terms of a kernel integrate over planar regions by their boundaries.

use crate::covariance::plan::{Factor, Family, Isotropic, Term};

/// A factor that is isotropic, after scaling, in exactly the two columns of the regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Planar {
    pub family: Family,
    pub dims: [usize; 2],
    /// Positions of the lengthscales.
    pub lengthscales: [usize; 2],
}

impl Planar {
    /// Splits a term into a planar factor over `dims` and factors that do not touch them, when it
    /// is such a product. Squared exponentials regroup; other kernels must come as they are.
    pub fn split(term: &Term, dims: [usize; 2]) -> Option<(Self, Term)> {
        let touches = |f: &&Factor| f.dims().iter().any(|d| dims.contains(d));
        let (touching, rest): (Vec<&Factor>, Vec<&Factor>) = term.factors.iter().partition(touches);
        let mut others = Term {
            variances: term.variances.clone(),
            factors: rest.into_iter().cloned().collect(),
        };
        if let [
            Factor::Isotropic {
                family: Isotropic::Radial(family),
                dims: own,
                lengthscales,
            },
        ] = touching.as_slice()
            && own.len() == 2
        {
            let lengthscale = |d: usize| own.iter().position(|o| *o == d).map(|i| lengthscales[i]);
            let planar = Self {
                family: *family,
                dims,
                lengthscales: [lengthscale(dims[0])?, lengthscale(dims[1])?],
            };
            return Some((planar, others));
        }
        let mut found = [None; 2];
        for factor in touching {
            for (dim, lengthscale) in factor.squared_exponentials()? {
                match dims.iter().position(|d| *d == dim) {
                    Some(k) => found[k] = Some(lengthscale),
                    None => others.factors.push(Factor::Line {
                        family: Family::Se,
                        dim,
                        lengthscale,
                    }),
                }
            }
        }
        let planar = Self {
            family: Family::Se,
            dims,
            lengthscales: [found[0]?, found[1]?],
        };
        Some((planar, others))
    }

    /// The term with the planar factor in front, for its area nodes.
    pub fn joined(self, others: &Term) -> Term {
        let mut factors = vec![Factor::Isotropic {
            family: Isotropic::Radial(self.family),
            dims: self.dims.to_vec(),
            lengthscales: self.lengthscales.to_vec(),
        }];
        factors.extend(others.factors.iter().cloned());
        Term {
            variances: others.variances.clone(),
            factors,
        }
    }
}
