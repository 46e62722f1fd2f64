//! From a kernel expression to products of factors that act on disjoint dimensions.

use super::coupled::Coupled;
use crate::kernel::{IndexedLeaf, Kernel, Kind, Mixing};

/// One product of the expanded kernel: `variance * prod factors`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KernelTerm {
    /// Parameters whose product is the variance.
    pub variances: Vec<usize>,
    /// Factors on disjoint sets of dimensions.
    pub factors: Vec<KernelFactor>,
}

/// The closed-form families of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProfileFamily {
    Se,
    Matern12,
    Matern32,
    Matern52,
}

/// A correlation on some dimensions. All indices of parameters are positions in `theta`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum KernelFactor {
    /// Stationary in one dimension, closed form.
    Line {
        family: ProfileFamily,
        dim: usize,
        lengthscale: usize,
    },
    /// Isotropic after scaling: direct between points, a mixture of squared exponentials over
    /// boxes.
    Isotropic {
        family: Isotropic,
        dims: Vec<usize>,
        lengthscales: Vec<usize>,
    },
    /// Periodic in one dimension, Fourier series.
    Periodic {
        dim: usize,
        lengthscale: usize,
        period: usize,
    },
    /// Sum of products of coordinates.
    Linear {
        dims: Vec<usize>,
        lengthscales: Vec<usize>,
        origin: f64,
    },
    /// One where labels are equal, else zero.
    Label { dim: usize },
    /// Coregionalisation matrix over the levels of a dimension.
    Coregion { dim: usize, mixing: Mixing },
    /// Several leaves on common dimensions, by quadrature.
    Coupled(Coupled),
}

/// Families that need all their dimensions at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Isotropic {
    Radial(ProfileFamily),
    /// With the position of `alpha`.
    RationalQuadratic(usize),
}

/// Expands a kernel.
pub(super) fn plan(kernel: &Kernel) -> Vec<KernelTerm> {
    kernel
        .terms()
        .iter()
        .map(|term| {
            let leaves: Vec<&IndexedLeaf> = term.iter().map(|&i| &kernel.leaves()[i]).collect();
            KernelTerm {
                variances: leaves.iter().filter_map(|l| l.variance).collect(),
                factors: factors(&leaves),
            }
        })
        .collect()
}

fn factors(leaves: &[&IndexedLeaf]) -> Vec<KernelFactor> {
    let active: Vec<&IndexedLeaf> = leaves
        .iter()
        .copied()
        .filter(|l| !matches!(l.kind, Kind::Constant | Kind::Iid))
        .collect();
    let mut labels: Vec<usize> = leaves
        .iter()
        .filter(|l| l.kind == Kind::Iid)
        .flat_map(|l| l.columns.clone())
        .collect();
    labels.sort_unstable();
    labels.dedup();
    let pieces: Vec<IndexedLeaf> = active.iter().flat_map(|l| split(l, &active)).collect();
    // Pieces that share a dimension belong together.
    let mut groups: Vec<Vec<IndexedLeaf>> = Vec::new();
    for piece in pieces {
        let touches = |g: &Vec<IndexedLeaf>| {
            g.iter()
                .any(|l| l.columns.iter().any(|c| piece.columns.contains(c)))
        };
        let (mut joined, rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(touches);
        groups = rest;
        let mut group: Vec<IndexedLeaf> = joined.drain(..).flatten().collect();
        group.push(piece);
        groups.push(group);
    }
    groups
        .into_iter()
        .map(|mut group| {
            if group.len() > 1 {
                return KernelFactor::Coupled(Coupled::new(group));
            }
            single(&group.swap_remove(0))
        })
        .chain(labels.into_iter().map(|dim| KernelFactor::Label { dim }))
        .collect()
}

/// Splits a leaf that is a product over its dimensions, where that separates it from others.
fn split(leaf: &IndexedLeaf, all: &[&IndexedLeaf]) -> Vec<IndexedLeaf> {
    let shares = |c: &usize| all.iter().filter(|l| l.columns.contains(c)).count() > 1;
    let product = match leaf.kind {
        Kind::Periodic => true,
        // Kept whole when it can be: between points one exponential serves all dimensions.
        Kind::Se => leaf.columns.iter().any(shares),
        _ => false,
    };
    if !product {
        return vec![leaf.clone()];
    }
    (0..leaf.columns.len())
        .map(|i| IndexedLeaf {
            kind: leaf.kind,
            columns: vec![leaf.columns[i]],
            variance: None,
            lengthscales: vec![leaf.lengthscales[i]],
            alpha: None,
            periods: leaf.periods.get(i).copied().into_iter().collect(),
            origin: leaf.origin,
            mixing: None,
        })
        .collect()
}

fn single(leaf: &IndexedLeaf) -> KernelFactor {
    if let Some(mixing) = &leaf.mixing {
        return KernelFactor::Coregion {
            dim: leaf.columns[0],
            mixing: mixing.clone(),
        };
    }
    let family = match leaf.kind {
        Kind::Se => ProfileFamily::Se,
        Kind::Matern12 => ProfileFamily::Matern12,
        Kind::Matern32 => ProfileFamily::Matern32,
        Kind::Matern52 => ProfileFamily::Matern52,
        Kind::Rq => {
            return KernelFactor::Isotropic {
                family: Isotropic::RationalQuadratic(leaf.alpha.unwrap_or(0)),
                dims: leaf.columns.clone(),
                lengthscales: leaf.lengthscales.clone(),
            };
        }
        Kind::Periodic => {
            return KernelFactor::Periodic {
                dim: leaf.columns[0],
                lengthscale: leaf.lengthscales[0],
                period: leaf.periods[0],
            };
        }
        Kind::Iid => {
            return KernelFactor::Label {
                dim: leaf.columns[0],
            };
        }
        Kind::Linear | Kind::Constant | Kind::Coregion => {
            return KernelFactor::Linear {
                dims: leaf.columns.clone(),
                lengthscales: leaf.lengthscales.clone(),
                origin: leaf.origin,
            };
        }
    };
    if leaf.columns.len() == 1 {
        return KernelFactor::Line {
            family,
            dim: leaf.columns[0],
            lengthscale: leaf.lengthscales[0],
        };
    }
    KernelFactor::Isotropic {
        family: Isotropic::Radial(family),
        dims: leaf.columns.clone(),
        lengthscales: leaf.lengthscales.clone(),
    }
}

impl KernelFactor {
    /// The dimensions it acts on.
    pub fn dims(&self) -> &[usize] {
        match self {
            Self::Line { dim, .. }
            | Self::Periodic { dim, .. }
            | Self::Label { dim }
            | Self::Coregion { dim, .. } => std::slice::from_ref(dim),
            Self::Isotropic { dims, .. } | Self::Linear { dims, .. } => dims,
            Self::Coupled(c) => c.dims(),
        }
    }

    /// Whether it stays when both supports are shifted.
    pub fn is_stationary(&self) -> bool {
        match self {
            Self::Line { .. } | Self::Isotropic { .. } | Self::Periodic { .. } => true,
            // A place without a label has no variance.
            Self::Linear { .. } | Self::Label { .. } | Self::Coregion { .. } => false,
            Self::Coupled(c) => c.is_stationary(),
        }
    }

    /// The parameters it depends on, in the order of its slopes; one may occur twice.
    pub fn parameters(&self) -> Vec<usize> {
        match self {
            Self::Line { lengthscale, .. } => vec![*lengthscale],
            Self::Isotropic {
                family,
                lengthscales,
                ..
            } => {
                let mut all = lengthscales.clone();
                if let Isotropic::RationalQuadratic(alpha) = family {
                    all.push(*alpha);
                }
                all
            }
            Self::Periodic {
                lengthscale,
                period,
                ..
            } => vec![*lengthscale, *period],
            Self::Linear { lengthscales, .. } => lengthscales.clone(),
            Self::Label { .. } => Vec::new(),
            Self::Coregion { mixing, .. } => mixing
                .weights
                .iter()
                .chain(&mixing.kappa)
                .copied()
                .collect(),
            Self::Coupled(c) => c.parameters().to_vec(),
        }
    }

    /// The squared exponentials per dimension that it is a product of, with their lengthscales.
    pub fn squared_exponentials(&self) -> Option<Vec<(usize, usize)>> {
        match self {
            Self::Line {
                family: ProfileFamily::Se,
                dim,
                lengthscale,
            } => Some(vec![(*dim, *lengthscale)]),
            Self::Isotropic {
                family: Isotropic::Radial(ProfileFamily::Se),
                dims,
                lengthscales,
            } => Some(
                dims.iter()
                    .copied()
                    .zip(lengthscales.iter().copied())
                    .collect(),
            ),
            _ => None,
        }
    }

    /// The factor seen along dimension `d` alone, when it is a product over dimensions.
    pub fn along(&self, d: usize) -> Option<Self> {
        if self.dims() == [d] {
            return Some(self.clone());
        }
        match self {
            Self::Isotropic {
                family: Isotropic::Radial(ProfileFamily::Se),
                dims,
                lengthscales,
            } => {
                let i = dims.iter().position(|k| *k == d)?;
                Some(Self::Line {
                    family: ProfileFamily::Se,
                    dim: d,
                    lengthscale: lengthscales[i],
                })
            }
            _ => None,
        }
    }
}
