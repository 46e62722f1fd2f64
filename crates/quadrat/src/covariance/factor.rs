//! A factor prepared for one pair of sides: tables of repeated intervals, mixture members.

use std::ops::Range;

use super::line::{self, Intervals};
use super::plan::{Factor, Family, Isotropic};
use super::{radial, series};
use crate::kernel::mixture::{Member, matern_members, rational_quadratic_members};
use crate::kernel::{Matern12, Matern32, Matern52, Se};
use crate::support::Functionals;

/// The two sides of a covariance.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a> {
    pub a: &'a Functionals,
    pub b: &'a Functionals,
}

/// Atoms of a tile.
#[derive(Clone)]
pub(super) struct Tile {
    pub a: Range<usize>,
    pub b: Range<usize>,
}

impl Tile {
    pub fn len(&self) -> usize {
        self.a.len() * self.b.len()
    }
}

/// Whether derivatives are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slopes {
    No,
    Yes,
}

/// Whether factors of one dimension may be tabulated on distinct intervals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tables {
    Never,
    WhenRepeated,
}

/// Values and slopes of one factor on one tile, `[j * na + i]`; buffers are reused.
#[derive(Default)]
pub(super) struct Evaluated {
    pub value: Vec<f64>,
    /// One per parameter of the factor, except for radial factors: `-kappa'/r` and, for the
    /// rational quadratic, the slope in `alpha`.
    pub slopes: Vec<Vec<f64>>,
    scratch: Vec<Vec<f64>>,
}

/// A factor of one dimension: how to get it on a tile.
enum Source {
    Direct,
    /// Evaluated once on the distinct intervals of both sides.
    Table {
        value: Vec<f64>,
        slopes: Vec<Vec<f64>>,
        na: usize,
    },
}

/// One-dimensional pieces share this face, whatever their formula.
struct OneDim<'a> {
    piece: Piece<'a>,
    dim: usize,
    source: Source,
}

#[derive(Clone, Copy)]
enum Piece<'a> {
    Line(Family, f64),
    Factor(&'a Factor, &'a [f64]),
}

impl Piece<'_> {
    fn parameters(self) -> usize {
        match self {
            Self::Line(..) => 1,
            Self::Factor(f, _) => f.parameters().len(),
        }
    }

    fn fill(
        self,
        a: Intervals<'_>,
        b: Intervals<'_>,
        value: &mut [f64],
        slopes: Option<&mut [Vec<f64>]>,
    ) {
        match self {
            Self::Line(family, lengthscale) => {
                let slope = slopes.map(|s| s[0].as_mut_slice());
                match family {
                    Family::Se => line::fill::<Se>(lengthscale, a, b, value, slope),
                    Family::Matern12 => line::fill::<Matern12>(lengthscale, a, b, value, slope),
                    Family::Matern32 => line::fill::<Matern32>(lengthscale, a, b, value, slope),
                    Family::Matern52 => line::fill::<Matern52>(lengthscale, a, b, value, slope),
                }
            }
            Self::Factor(
                Factor::Line {
                    family,
                    lengthscale,
                    ..
                },
                theta,
            ) => {
                Self::Line(*family, theta[*lengthscale]).fill(a, b, value, slopes);
            }
            Self::Factor(
                Factor::Periodic {
                    lengthscale,
                    period,
                    ..
                },
                theta,
            ) => {
                let slopes = slopes.and_then(|s| match s {
                    [l, p, ..] => Some((l.as_mut_slice(), p.as_mut_slice())),
                    _ => None,
                });
                series::fill(theta[*lengthscale], theta[*period], a, b, value, slopes);
            }
            Self::Factor(Factor::Coupled(coupled), theta) => {
                coupled.fill(theta, &[a], &[b], value, slopes);
            }
            // Never asked for: these factors are not of one dimension.
            Self::Factor(..) => value.fill(f64::NAN),
        }
    }
}

fn side<'a>(set: &'a Functionals, dim: usize, range: &Range<usize>) -> Intervals<'a> {
    Intervals {
        lower: &set.lower(dim)[range.clone()],
        width: &set.width(dim)[range.clone()],
    }
}

impl<'a> OneDim<'a> {
    fn new(piece: Piece<'a>, dim: usize, sides: Sides<'_>, slopes: Slopes, tables: Tables) -> Self {
        if tables == Tables::Never {
            return Self {
                piece,
                dim,
                source: Source::Direct,
            };
        }
        let (ua, ub) = (sides.a.unique(dim), sides.b.unique(dim));
        let pairs = ua.len() * ub.len();
        let with_slopes = slopes == Slopes::Yes;
        // A table pays when every entry is used at least twice.
        let source = if 2 * pairs <= sides.a.atom_count() * sides.b.atom_count() {
            let a = Intervals {
                lower: &ua.lower,
                width: &ua.width,
            };
            let b = Intervals {
                lower: &ub.lower,
                width: &ub.width,
            };
            let mut value = vec![0.0; pairs];
            let mut slopes =
                vec![vec![0.0; pairs]; if with_slopes { piece.parameters() } else { 0 }];
            let target = with_slopes.then_some(slopes.as_mut_slice());
            piece.fill(a, b, &mut value, target);
            Source::Table {
                value,
                slopes,
                na: ua.len(),
            }
        } else {
            Source::Direct
        };
        Self { piece, dim, source }
    }

    fn fill(
        &self,
        sides: Sides<'_>,
        tile: &Tile,
        value: &mut [f64],
        slopes: Option<&mut [Vec<f64>]>,
    ) {
        let dim = self.dim;
        match &self.source {
            Source::Direct => {
                let (a, b) = (side(sides.a, dim, &tile.a), side(sides.b, dim, &tile.b));
                self.piece.fill(a, b, value, slopes);
            }
            Source::Table {
                value: table,
                slopes: slope_tables,
                na,
            } => {
                let rows = &sides.a.unique(dim).index[tile.a.clone()];
                let columns = &sides.b.unique(dim).index[tile.b.clone()];
                let gather = |table: &[f64], out: &mut [f64]| {
                    for (&j, out) in columns.iter().zip(out.chunks_exact_mut(rows.len())) {
                        let column = &table[j as usize * na..(j as usize + 1) * na];
                        for (o, &i) in out.iter_mut().zip(rows) {
                            *o = column[i as usize];
                        }
                    }
                };
                gather(table, value);
                if let Some(slopes) = slopes {
                    for (out, table) in slopes.iter_mut().zip(slope_tables) {
                        gather(table, out);
                    }
                }
            }
        }
    }
}

/// A factor ready to be evaluated on tiles.
pub(super) struct Prepared<'a> {
    factor: &'a Factor,
    theta: &'a [f64],
    how: How<'a>,
}

enum How<'a> {
    OneDim(OneDim<'a>),
    /// Isotropic over boxes: members, each a product of lines.
    Mixture {
        members: Vec<(Member, Vec<OneDim<'a>>)>,
        has_alpha: bool,
    },
    /// Isotropic between points, with inverse lengthscales.
    Radial {
        inverse: Vec<f64>,
    },
    Linear,
    Tensor,
}

impl<'a> Prepared<'a> {
    pub fn new(
        factor: &'a Factor,
        theta: &'a [f64],
        sides: Sides<'_>,
        slopes: Slopes,
        tables: Tables,
    ) -> Self {
        let one = |dim| OneDim::new(Piece::Factor(factor, theta), dim, sides, slopes, tables);
        let how = match factor {
            Factor::Line { dim, .. } | Factor::Periodic { dim, .. } => How::OneDim(one(*dim)),
            Factor::Linear { .. } => How::Linear,
            Factor::Coupled(c) => match c.dims() {
                [dim] => How::OneDim(one(*dim)),
                _ => How::Tensor,
            },
            Factor::Isotropic {
                family,
                dims,
                lengthscales,
            } => {
                let points = dims.iter().all(|&d| {
                    let is_point = |w: &f64| *w == 0.0;
                    sides.a.width(d).iter().all(is_point) && sides.b.width(d).iter().all(is_point)
                });
                if points {
                    How::Radial {
                        inverse: lengthscales.iter().map(|&l| theta[l].recip()).collect(),
                    }
                } else {
                    let reach: Vec<f64> = dims
                        .iter()
                        .zip(lengthscales)
                        .map(|(&d, &l)| {
                            let widths = sides.a.width(d).iter().chain(sides.b.width(d));
                            widths.fold(0.0, |w: f64, &v| w.max(v)) / theta[l]
                        })
                        .collect();
                    let (members, has_alpha) = match family {
                        Isotropic::Radial(Family::Se) => (
                            vec![Member {
                                scale: 1.0,
                                weight: 1.0,
                                slope: 0.0,
                            }],
                            false,
                        ),
                        Isotropic::Radial(Family::Matern12) => (matern_members(0.5, &reach), false),
                        Isotropic::Radial(Family::Matern32) => (matern_members(1.5, &reach), false),
                        Isotropic::Radial(Family::Matern52) => (matern_members(2.5, &reach), false),
                        Isotropic::RationalQuadratic(alpha) => {
                            (rational_quadratic_members(theta[*alpha], &reach), true)
                        }
                    };
                    let members = members
                        .into_iter()
                        .map(|m| {
                            let lines = dims.iter().zip(lengthscales).map(|(&d, &l)| {
                                let piece = Piece::Line(Family::Se, theta[l] * m.scale);
                                OneDim::new(piece, d, sides, slopes, tables)
                            });
                            (m, lines.collect())
                        })
                        .collect();
                    How::Mixture { members, has_alpha }
                }
            }
        };
        Self { factor, theta, how }
    }

    /// Values of the factor on a tile, and slopes when asked for.
    pub fn evaluate(&self, sides: Sides<'_>, tile: &Tile, slopes: Slopes, out: &mut Evaluated) {
        let n = tile.len();
        let with_slopes = slopes == Slopes::Yes;
        let slopes = match (&self.how, with_slopes) {
            (_, false) | (How::Linear, _) => 0,
            _ => self.factor.parameters().len().max(1),
        };
        out.value.resize(n, 0.0);
        out.slopes.resize_with(slopes, Vec::new);
        out.slopes.iter_mut().for_each(|s| s.resize(n, 0.0));
        match &self.how {
            How::OneDim(one) => {
                let target = with_slopes.then_some(out.slopes.as_mut_slice());
                one.fill(sides, tile, &mut out.value, target);
            }
            How::Radial { inverse } => self.radial(inverse, sides, tile, with_slopes, out),
            How::Mixture { members, has_alpha } => {
                mixture(members, *has_alpha, sides, tile, with_slopes, out);
            }
            How::Linear => self.linear(sides, tile, &mut out.value),
            How::Tensor => {
                if let Factor::Coupled(coupled) = self.factor {
                    let dims = coupled.dims();
                    let a: Vec<_> = dims.iter().map(|&d| side(sides.a, d, &tile.a)).collect();
                    let b: Vec<_> = dims.iter().map(|&d| side(sides.b, d, &tile.b)).collect();
                    let target = with_slopes.then_some(out.slopes.as_mut_slice());
                    coupled.fill(self.theta, &a, &b, &mut out.value, target);
                }
            }
        }
    }

    /// `gradient += sum adjoint * d value / d theta` over the tile.
    pub fn contract(
        &self,
        sides: Sides<'_>,
        tile: &Tile,
        evaluated: &Evaluated,
        adjoint: &[f64],
        gradient: &mut [f64],
    ) {
        match (&self.how, self.factor) {
            (
                How::Radial { inverse },
                Factor::Isotropic {
                    family,
                    dims,
                    lengthscales,
                },
            ) => {
                let na = tile.a.len();
                let slope = &evaluated.slopes[0];
                for ((&d, &l), inverse) in dims.iter().zip(lengthscales).zip(inverse) {
                    let x = &sides.a.lower(d)[tile.a.clone()];
                    let y = &sides.b.lower(d)[tile.b.clone()];
                    let mut sum = 0.0;
                    for (j, &y) in y.iter().enumerate() {
                        let range = j * na..(j + 1) * na;
                        sum += x
                            .iter()
                            .zip(&slope[range.clone()])
                            .zip(&adjoint[range])
                            .map(|((x, s), g)| g * s * (x - y) * (x - y))
                            .sum::<f64>();
                    }
                    gradient[l] += sum * inverse.powi(3);
                }
                if let Isotropic::RationalQuadratic(alpha) = family {
                    gradient[*alpha] += crate::linalg::dot(adjoint, &evaluated.slopes[1]);
                }
            }
            (How::Linear, Factor::Linear { dims, lengthscales }) => {
                for (&d, &l) in dims.iter().zip(lengthscales) {
                    let (x, y) = (centres(sides.a, d, &tile.a), centres(sides.b, d, &tile.b));
                    let sum: f64 = y
                        .iter()
                        .zip(adjoint.chunks_exact(x.len()))
                        .map(|(y, g)| y * crate::linalg::dot(&x, g))
                        .sum();
                    gradient[l] -= 2.0 * sum / self.theta[l].powi(3);
                }
            }
            _ => {
                for (p, slope) in self.factor.parameters().into_iter().zip(&evaluated.slopes) {
                    gradient[p] += crate::linalg::dot(adjoint, slope);
                }
            }
        }
    }

    fn radial(
        &self,
        inverse: &[f64],
        sides: Sides<'_>,
        tile: &Tile,
        with_slopes: bool,
        out: &mut Evaluated,
    ) {
        let Factor::Isotropic { family, dims, .. } = self.factor else {
            return;
        };
        let points = radial::Points {
            a: dims
                .iter()
                .map(|&d| &sides.a.lower(d)[tile.a.clone()])
                .collect(),
            b: dims
                .iter()
                .map(|&d| &sides.b.lower(d)[tile.b.clone()])
                .collect(),
        };
        let (slope, d_alpha) = match out.slopes.as_mut_slice() {
            [slope, d_alpha, ..] => (Some(slope.as_mut_slice()), Some(d_alpha.as_mut_slice())),
            [slope] => (Some(slope.as_mut_slice()), None),
            [] => (None, None),
        };
        let slope = slope.filter(|_| with_slopes);
        radial::fill(
            *family,
            self.theta,
            inverse,
            &points,
            &mut out.value,
            slope,
            d_alpha,
        );
    }

    fn linear(&self, sides: Sides<'_>, tile: &Tile, value: &mut [f64]) {
        value.fill(0.0);
        let Factor::Linear { dims, lengthscales } = self.factor else {
            return;
        };
        for (k, &d) in dims.iter().enumerate() {
            let scale = lengthscales.get(k).map_or(1.0, |&l| self.theta[l].powi(-2));
            let (x, y) = (centres(sides.a, d, &tile.a), centres(sides.b, d, &tile.b));
            for (y, out) in y.iter().zip(value.chunks_exact_mut(x.len())) {
                for (o, x) in out.iter_mut().zip(&x) {
                    *o += scale * x * y;
                }
            }
        }
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

fn mixture(
    members: &[(Member, Vec<OneDim<'_>>)],
    has_alpha: bool,
    sides: Sides<'_>,
    tile: &Tile,
    with_slopes: bool,
    out: &mut Evaluated,
) {
    let n = tile.len();
    let dims = members.first().map_or(0, |m| m.1.len());
    out.value.fill(0.0);
    out.slopes.iter_mut().for_each(|s| s.fill(0.0));
    // Values of the lines, products of the others, and one slope at a time.
    out.scratch.resize_with(2 * dims + 1, Vec::new);
    out.scratch.iter_mut().for_each(|s| s.resize(n, 0.0));
    for (member, lines) in members {
        let (values, slopes) = out.scratch.split_at_mut(dims + 1);
        let (product, values) = match values.split_first_mut() {
            Some(split) => split,
            None => return,
        };
        product.fill(member.weight);
        for (d, line) in lines.iter().enumerate() {
            let target = with_slopes.then(|| std::slice::from_mut(&mut slopes[d]));
            line.fill(sides, tile, &mut values[d], target);
            for (p, v) in product.iter_mut().zip(&values[d]) {
                *p *= v;
            }
        }
        for (o, p) in out.value.iter_mut().zip(product.iter()) {
            *o += p;
        }
        if !with_slopes {
            continue;
        }
        if has_alpha {
            let factor = member.slope / member.weight;
            for (o, p) in out.slopes[dims].iter_mut().zip(product.iter()) {
                *o += factor * p;
            }
        }
        for d in 0..dims {
            // The product of the others, formed anew: dividing would fail at zero.
            let factor = member.weight * member.scale;
            for (i, o) in out.slopes[d].iter_mut().enumerate() {
                let mut others = factor;
                for (e, value) in values.iter().enumerate() {
                    if e != d {
                        others *= value[i];
                    }
                }
                *o += others * slopes[d][i];
            }
        }
    }
}
