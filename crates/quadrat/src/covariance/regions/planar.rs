//! Which terms of a kernel integrate over planar regions by their boundaries.

use super::separable::Separable;
use crate::covariance::plan::{Isotropic, KernelFactor, KernelTerm, ProfileFamily};
use crate::covariance::tile::Sides;
use crate::kernel::mixture::{Accuracy, Member, rational_quadratic_members};

/// A product of factors in exactly the two columns of the regions that integrates by boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::covariance) struct Planar {
    shape: Shape,
    pub dims: [usize; 2],
    /// Positions of the lengthscales.
    pub lengthscales: [usize; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Isotropic after scaling.
    Radial(ProfileFamily),
    /// With the position of `alpha`: a mixture of squared exponentials.
    RationalQuadratic(usize),
    /// A kernel of one column times a kernel of the other, not both squared exponentials.
    Product(Separable),
}

impl Planar {
    /// Splits a term into a planar factor over `dims` and factors that do not touch them, when it
    /// is such a product. Squared exponentials regroup; other kernels must come as they are.
    pub fn split(term: &KernelTerm, dims: [usize; 2]) -> Option<(Self, KernelTerm)> {
        let touches = |f: &&KernelFactor| f.dims().iter().any(|d| dims.contains(d));
        let (touching, rest): (Vec<&KernelFactor>, Vec<&KernelFactor>) =
            term.factors.iter().partition(touches);
        let mut others = KernelTerm {
            variances: term.variances.clone(),
            factors: rest.into_iter().cloned().collect(),
        };
        if let [
            KernelFactor::Isotropic {
                family,
                dims: own,
                lengthscales,
            },
        ] = touching.as_slice()
            && own.len() == 2
        {
            let lengthscale = |d: usize| own.iter().position(|o| *o == d).map(|i| lengthscales[i]);
            let planar = Self {
                shape: match family {
                    Isotropic::Radial(family) => Shape::Radial(*family),
                    Isotropic::RationalQuadratic(alpha) => Shape::RationalQuadratic(*alpha),
                },
                dims,
                lengthscales: [lengthscale(dims[0])?, lengthscale(dims[1])?],
            };
            return Some((planar, others));
        }
        let mut found = [None; 2];
        let mut families = [ProfileFamily::Se; 2];
        for factor in touching {
            if let KernelFactor::Line {
                family,
                dim,
                lengthscale,
            } = factor
            {
                let at = dims.iter().position(|d| d == dim)?;
                families[at] = *family;
                found[at] = Some(*lengthscale);
                continue;
            }
            for (dim, lengthscale) in factor.squared_exponentials()? {
                match dims.iter().position(|d| *d == dim) {
                    Some(k) => found[k] = Some(lengthscale),
                    None => others.factors.push(KernelFactor::Line {
                        family: ProfileFamily::Se,
                        dim,
                        lengthscale,
                    }),
                }
            }
        }
        let planar = Self {
            shape: match families {
                [ProfileFamily::Se, ProfileFamily::Se] => Shape::Radial(ProfileFamily::Se),
                families => Shape::Product(Separable(families)),
            },
            dims,
            lengthscales: [found[0]?, found[1]?],
        };
        Some((planar, others))
    }

    /// The family of its members.
    pub fn family(self) -> ProfileFamily {
        match self.shape {
            Shape::Radial(family) => family,
            Shape::RationalQuadratic(_) | Shape::Product(_) => ProfileFamily::Se,
        }
    }

    /// The kernels of its two columns, where it is their product and has a rule of its own.
    pub(super) fn separable(self) -> Option<Separable> {
        match self.shape {
            Shape::Product(separable) => Some(separable),
            Shape::Radial(_) | Shape::RationalQuadratic(_) => None,
        }
    }

    /// The position of `alpha`, where it has one.
    pub fn alpha(self) -> Option<usize> {
        match self.shape {
            Shape::RationalQuadratic(alpha) => Some(alpha),
            Shape::Radial(_) | Shape::Product(_) => None,
        }
    }

    /// Whether area nodes of moderate degree serve it as well, where regions are small.
    pub fn is_smooth_mixture(self) -> bool {
        matches!(self.shape, Shape::RationalQuadratic(_))
    }

    /// The planar kernels whose sum it is, for supports like these.
    pub fn members(self, theta: &[f64], sides: Sides<'_>) -> Vec<Member> {
        let Shape::RationalQuadratic(alpha) = self.shape else {
            return vec![Member {
                scale: 1.0,
                weight: 1.0,
                slope: 0.0,
            }];
        };
        let reach = [0, 1].map(|d| {
            let column = self.dims[d];
            let widths = sides.a.width(column).iter().chain(sides.b.width(column));
            widths.fold(0.0, |w: f64, &v| w.max(v)) / theta[self.lengthscales[d]]
        });
        let extent = [0, 1].map(|d| {
            let (a, b) = (sides.a.range(self.dims[d]), sides.b.range(self.dims[d]));
            (a.1.max(b.1) - a.0.min(b.0)) / theta[self.lengthscales[d]]
        });
        let extent = extent[0].hypot(extent[1]);
        rational_quadratic_members(theta[alpha], &reach, extent, Accuracy::Regions)
    }

    /// The term with the planar factor in front, for its area nodes.
    pub fn joined(self, others: &KernelTerm) -> KernelTerm {
        let isotropic = |family| {
            vec![KernelFactor::Isotropic {
                family,
                dims: self.dims.to_vec(),
                lengthscales: self.lengthscales.to_vec(),
            }]
        };
        let mut factors = match self.shape {
            Shape::Radial(family) => isotropic(Isotropic::Radial(family)),
            Shape::RationalQuadratic(alpha) => isotropic(Isotropic::RationalQuadratic(alpha)),
            Shape::Product(Separable(families)) => [0, 1]
                .map(|d| KernelFactor::Line {
                    family: families[d],
                    dim: self.dims[d],
                    lengthscale: self.lengthscales[d],
                })
                .to_vec(),
        };
        factors.extend(others.factors.iter().cloned());
        KernelTerm {
            variances: others.variances.clone(),
            factors,
        }
    }
}
