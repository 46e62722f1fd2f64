//! A factor prepared for one pair of sides: tables of repeated intervals, mixture members.

use std::ops::Range;

use super::aligned::Aligned;
use super::mixture::mixture;
use super::one_dim::{OneDim, Piece, side};
use super::plan::{Isotropic, KernelFactor, ProfileFamily};
use super::radial;
use super::tile::{Evaluated, Sides, Tabulation, Tile, WithSlopes};
use super::wide::{WIDE, Wide};
use crate::kernel::mixture::{Accuracy, Member, matern_members, rational_quadratic_members};
use crate::kernel::{Iid, Mixing};
use crate::support::Functionals;

/// A factor ready to be evaluated on tiles.
pub(super) struct PreparedFactor<'a> {
    factor: &'a KernelFactor,
    theta: &'a [f64],
    how: How<'a>,
}

/// What an isotropic factor between points needs.
struct Direct {
    /// Inverse lengthscales.
    inverse: Vec<f64>,
    /// Of many dimensions.
    wide: Option<Wide>,
}

impl Direct {
    fn new(
        family: Isotropic,
        dims: &[usize],
        inverse: Vec<f64>,
        sides: Sides<'_>,
        slopes: WithSlopes,
    ) -> Self {
        // Rounding of products is too much for the kernel that has a kink at zero.
        let is_wide = dims.len() >= WIDE && family != Isotropic::Radial(ProfileFamily::Matern12);
        // Far from the middle products lose the digits of distances.
        let wide = is_wide.then(|| {
            let [a, b] = [sides.a, sides.b]
                .map(|set| dims.iter().map(|&d| set.lower(d)).collect::<Vec<_>>());
            Wide::new(&a, &b, &inverse, slopes)
        });
        let wide = wide.filter(Wide::is_exact);
        Self { inverse, wide }
    }
}

enum How<'a> {
    OneDim(OneDim<'a>),
    /// Isotropic over boxes: members, each a product of lines.
    /// Tiles of points alone are computed directly.
    Mixture {
        members: Vec<(Member, Vec<OneDim<'a>>)>,
        has_alpha: bool,
        direct: Direct,
    },
    /// Isotropic between points.
    Radial(Direct),
    Linear,
    Label,
    /// With the matrix.
    Coregion(&'a Mixing, Vec<f64>),
    Tensor,
}

impl<'a> PreparedFactor<'a> {
    pub fn new(
        factor: &'a KernelFactor,
        theta: &'a [f64],
        sides: Sides<'_>,
        slopes: WithSlopes,
        tables: Tabulation,
    ) -> Self {
        let one = |dim| OneDim::new(Piece::Factor(factor, theta), dim, sides, slopes, tables);
        let how = match factor {
            KernelFactor::Line { dim, .. } | KernelFactor::Periodic { dim, .. } => {
                How::OneDim(one(*dim))
            }
            KernelFactor::Linear { .. } => How::Linear,
            KernelFactor::Label { .. } => How::Label,
            KernelFactor::Coregion { mixing, .. } => How::Coregion(mixing, mixing.matrix(theta)),
            KernelFactor::Coupled(c) => match c.dims() {
                [dim] => How::OneDim(one(*dim)),
                _ => How::Tensor,
            },
            KernelFactor::Isotropic {
                family,
                dims,
                lengthscales,
            } => {
                let inverse = lengthscales
                    .iter()
                    .map(|&l| theta[l].recip().min(f64::MAX))
                    .collect();
                let direct = Direct::new(*family, dims, inverse, sides, slopes);
                if all_points(
                    dims,
                    sides,
                    0..sides.a.atom_count(),
                    0..sides.b.atom_count(),
                ) {
                    How::Radial(direct)
                } else {
                    let along = |(&d, &l): (&usize, &usize)| {
                        let widths = sides.a.width(d).iter().chain(sides.b.width(d));
                        let widest = widths.fold(0.0, |w: f64, &v| w.max(v));
                        let (a, b) = (sides.a.range(d), sides.b.range(d));
                        let extent = a.1.max(b.1) - a.0.min(b.0);
                        (widest / theta[l], extent / theta[l])
                    };
                    let (reach, extents): (Vec<f64>, Vec<f64>) =
                        dims.iter().zip(lengthscales).map(along).unzip();
                    let (members, has_alpha) = match family {
                        Isotropic::Radial(ProfileFamily::Se) => (
                            vec![Member {
                                scale: 1.0,
                                weight: 1.0,
                                slope: 0.0,
                            }],
                            false,
                        ),
                        Isotropic::Radial(ProfileFamily::Matern12) => {
                            (matern_members(0.5, &reach), false)
                        }
                        Isotropic::Radial(ProfileFamily::Matern32) => {
                            (matern_members(1.5, &reach), false)
                        }
                        Isotropic::Radial(ProfileFamily::Matern52) => {
                            (matern_members(2.5, &reach), false)
                        }
                        Isotropic::RationalQuadratic(alpha) => {
                            let extent = extents.iter().fold(0.0_f64, |all, e| all.hypot(*e));
                            (
                                rational_quadratic_members(
                                    theta[*alpha],
                                    &reach,
                                    extent,
                                    Accuracy::Full,
                                ),
                                true,
                            )
                        }
                    };
                    let tables = affordable(tables, members.len() * dims.len(), slopes);
                    let members = members
                        .into_iter()
                        .map(|m| {
                            let lines = dims.iter().zip(lengthscales).map(|(&d, &l)| {
                                let piece = Piece::Line(ProfileFamily::Se, theta[l] * m.scale);
                                OneDim::new(piece, d, sides, slopes, tables)
                            });
                            (m, lines.collect())
                        })
                        .collect();
                    How::Mixture {
                        members,
                        has_alpha,
                        direct,
                    }
                }
            }
        };
        Self { factor, theta, how }
    }

    /// Values of the factor on a tile, and slopes when asked for.
    pub fn evaluate(&self, sides: Sides<'_>, tile: &Tile, slopes: WithSlopes, out: &mut Evaluated) {
        let n = tile.len();
        let direct = self.direct(sides, tile);
        let with_slopes = slopes == WithSlopes::Yes;
        let slopes = match (&self.how, with_slopes) {
            (_, false) | (How::Linear | How::Label | How::Coregion(..), _) => 0,
            _ if direct.is_some() => 1 + usize::from(self.has_alpha()),
            _ => self.factor.parameters().len(),
        };
        out.value.resize(n);
        out.slopes.resize_with(slopes, Aligned::default);
        out.slopes.iter_mut().for_each(|s| s.resize(n));
        if let Some(direct) = direct {
            self.radial(direct, sides, tile, with_slopes, out);
            return;
        }
        match &self.how {
            How::OneDim(one) => {
                let target = with_slopes.then_some(out.slopes.as_mut_slice());
                one.fill(sides, tile, &mut out.value, target);
            }
            How::Radial(_) => {}
            How::Mixture {
                members, has_alpha, ..
            } => mixture(members, *has_alpha, sides, tile, with_slopes, out),
            How::Linear => self.linear(sides, tile, &mut out.value),
            How::Label => self.labels(sides, tile, &mut out.value),
            How::Coregion(mixing, matrix) => {
                let (i, j) = self.levels(mixing, sides, tile);
                let lanes = out.value.chunks_exact_mut(i.len());
                for (&j, out) in j.iter().zip(lanes) {
                    let column = &matrix[j * mixing.levels()..][..mixing.levels()];
                    out.iter_mut().zip(&i).for_each(|(o, &i)| *o = column[i]);
                }
            }
            How::Tensor => {
                if let KernelFactor::Coupled(coupled) = self.factor {
                    let dims = coupled.dims();
                    let a: Vec<_> = dims.iter().map(|&d| side(sides.a, d, &tile.a)).collect();
                    let b: Vec<_> = dims.iter().map(|&d| side(sides.b, d, &tile.b)).collect();
                    let target = with_slopes.then_some(out.slopes.as_mut_slice());
                    coupled.fill(self.theta, &a, &b, &mut out.value, target);
                }
            }
        }
    }

    /// `gradient += sum adjoint * d value / d theta` over the tile; `adjoint` is overwritten.
    pub fn contract(
        &self,
        sides: Sides<'_>,
        tile: &Tile,
        evaluated: &Evaluated,
        adjoint: &mut [f64],
        gradient: &mut [f64],
    ) {
        match (self.direct(sides, tile), self.factor) {
            (
                Some(direct),
                KernelFactor::Isotropic {
                    family,
                    dims,
                    lengthscales,
                },
            ) => {
                if let Isotropic::RationalQuadratic(alpha) = family {
                    gradient[*alpha] += crate::linalg::dot(adjoint, &evaluated.slopes[1]);
                }
                let slope = &evaluated.slopes[0];
                let mut sums = vec![0.0; dims.len()];
                match &direct.wide {
                    Some(wide) => wide.squared_gaps(tile, slope, adjoint, &mut sums),
                    None => {
                        let points = points(dims, sides, tile);
                        radial::squared_gaps(&points, &direct.inverse, slope, adjoint, &mut sums);
                    }
                }
                for ((sum, &l), inverse) in sums.iter().zip(lengthscales).zip(&direct.inverse) {
                    gradient[l] += sum * inverse;
                }
            }
            (_, KernelFactor::Coregion { mixing, .. }) => {
                let n = mixing.levels();
                let (i, j) = self.levels(mixing, sides, tile);
                let mut sums = vec![0.0; n * n];
                for (&j, g) in j.iter().zip(adjoint.chunks_exact(i.len())) {
                    let column = &mut sums[j * n..][..n];
                    i.iter().zip(g).for_each(|(&i, g)| column[i] += g);
                }
                mixing.contract(self.theta, &sums, gradient);
            }
            (
                _,
                KernelFactor::Linear {
                    dims, lengthscales, ..
                },
            ) => {
                for (&d, &l) in dims.iter().zip(lengthscales) {
                    let (x, y) = (centres(sides.a, d, &tile.a), centres(sides.b, d, &tile.b));
                    let sum: f64 = y
                        .iter()
                        .zip(adjoint.chunks_exact(x.len()))
                        .map(|(y, g)| y / self.theta[l] * crate::linalg::dot(&x, g))
                        .sum();
                    gradient[l] -= 2.0 * (sum / self.theta[l]) / self.theta[l];
                }
            }
            _ => {
                for (p, slope) in self.factor.parameters().into_iter().zip(&evaluated.slopes) {
                    gradient[p] += crate::linalg::dot(adjoint, slope);
                }
            }
        }
    }

    /// Levels of the atoms of both sides.
    fn levels(&self, mixing: &Mixing, sides: Sides<'_>, tile: &Tile) -> (Vec<usize>, Vec<usize>) {
        let d = self.factor.dims()[0];
        let of = |set: &Functionals, range: &Range<usize>| {
            let x = &set.lower(d)[range.clone()];
            x.iter().map(|x| mixing.level(*x)).collect()
        };
        (of(sides.a, &tile.a), of(sides.b, &tile.b))
    }

    /// Whether the labels of the atoms are equal.
    fn labels(&self, sides: Sides<'_>, tile: &Tile, value: &mut [f64]) {
        let d = self.factor.dims()[0];
        let (a, b) = (side(sides.a, d, &tile.a), side(sides.b, d, &tile.b));
        for (b, out) in b.lower.iter().zip(value.chunks_exact_mut(a.len())) {
            for (o, a) in out.iter_mut().zip(a.lower) {
                *o = Iid::correlation(*a, *b);
            }
        }
    }

    /// What an isotropic factor needs when it meets only points on this tile.
    fn direct(&self, sides: Sides<'_>, tile: &Tile) -> Option<&Direct> {
        match &self.how {
            How::Radial(direct) => Some(direct),
            How::Mixture { direct, .. } => {
                all_points(self.factor.dims(), sides, tile.a.clone(), tile.b.clone())
                    .then_some(direct)
            }
            _ => None,
        }
    }

    fn has_alpha(&self) -> bool {
        let KernelFactor::Isotropic { family, .. } = self.factor else {
            return false;
        };
        matches!(family, Isotropic::RationalQuadratic(_))
    }

    fn radial(
        &self,
        direct: &Direct,
        sides: Sides<'_>,
        tile: &Tile,
        with_slopes: bool,
        out: &mut Evaluated,
    ) {
        let KernelFactor::Isotropic { family, dims, .. } = self.factor else {
            return;
        };
        match &direct.wide {
            Some(wide) => wide.squared_distances(tile, &mut out.value),
            None => {
                let points = points(dims, sides, tile);
                radial::squared_distances(&direct.inverse, &points, &mut out.value);
            }
        }
        let (slope, d_alpha) = match out.slopes.as_mut_slice() {
            [slope, d_alpha, ..] => (Some(slope.as_mut_slice()), Some(d_alpha.as_mut_slice())),
            [slope] => (Some(slope.as_mut_slice()), None),
            [] => (None, None),
        };
        let slope = slope.filter(|_| with_slopes);
        radial::apply(*family, self.theta, &mut out.value, slope, d_alpha);
    }

    fn linear(&self, sides: Sides<'_>, tile: &Tile, value: &mut [f64]) {
        value.fill(0.0);
        let KernelFactor::Linear {
            dims,
            lengthscales,
            origin,
        } = self.factor
        else {
            return;
        };
        for (k, &d) in dims.iter().enumerate() {
            // The square of the lengthscale may be zero, or infinite.
            let scale = lengthscales.get(k).map_or(1.0, |&l| self.theta[l].recip());
            let (x, y) = (centres(sides.a, d, &tile.a), centres(sides.b, d, &tile.b));
            for (y, out) in y.iter().zip(value.chunks_exact_mut(x.len())) {
                for (o, x) in out.iter_mut().zip(&x) {
                    *o += (scale * (x - origin)) * (scale * (y - origin));
                }
            }
        }
    }
}

/// Most numbers in the tables of all members of a mixture, 32 MB.
const MOST_TABULATED: usize = 1 << 22;

/// Tables of so many lines, no larger than the memory that is meant for all of them.
fn affordable(tables: Tabulation, lines: usize, slopes: WithSlopes) -> Tabulation {
    let kinds = 1 + usize::from(slopes == WithSlopes::Yes);
    match tables {
        Tabulation::Never => Tabulation::Never,
        _ => Tabulation::UpTo(MOST_TABULATED / (lines * kinds).max(1)),
    }
}

/// Coordinates of the points of a tile.
fn points<'a>(dims: &[usize], sides: Sides<'a>, tile: &Tile) -> radial::Coordinates<'a> {
    let of = |set: &'a Functionals, range: &Range<usize>| {
        let columns = dims.iter().map(|&d| &set.lower(d)[range.clone()]);
        columns.collect()
    };
    radial::Coordinates {
        a: of(sides.a, &tile.a),
        b: of(sides.b, &tile.b),
    }
}

/// The average of a coordinate over an atom is its centre.
fn centres(set: &Functionals, d: usize, range: &Range<usize>) -> Vec<f64> {
    let x = side(set, d, range);
    x.lower
        .iter()
        .zip(x.width)
        .map(|(l, w)| l + 0.5 * w)
        .collect()
}

/// Whether the atoms are points along all the dimensions.
fn all_points(dims: &[usize], sides: Sides<'_>, a: Range<usize>, b: Range<usize>) -> bool {
    dims.iter().all(|&d| {
        all_are(&sides.a.width(d)[a.clone()], 0.0) && all_are(&sides.b.width(d)[b.clone()], 0.0)
    })
}

/// Whether all numbers are this one.
pub(super) fn all_are(x: &[f64], value: f64) -> bool {
    // Chunks without a way out are compared many at a time.
    let mut chunks = x.chunks(64);
    chunks.all(|chunk| chunk.iter().fold(true, |all, x| all & (*x == value)))
}
