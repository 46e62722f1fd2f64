//! Factors of one dimension on tiles, tabulated where pairs of intervals repeat, or their lags.

use std::ops::Range;

use super::aligned::Aligned;
use super::lags::Lags;
use super::line::{self, Intervals};
use super::plan::{KernelFactor, ProfileFamily};
use super::series;
use super::tile::{Sides, Tabulation, Tile, WithSlopes};
use crate::kernel::{Matern12, Matern32, Matern52, Se};
use crate::support::{Functionals, UniqueIntervals};

/// A factor of one dimension: how to get it on a tile.
enum Source {
    Direct,
    Table(Table),
}

/// A factor evaluated once for all pairs of distinct intervals, or for all lags between them.
struct Table {
    value: Vec<f64>,
    slopes: Vec<Aligned>,
    /// The entry of a pair is at the sum of these of its distinct intervals.
    a: Vec<u32>,
    b: Vec<u32>,
}

/// Values and slopes of every interval of one side against every one of another.
fn tabulate(
    piece: Piece<'_>,
    (a, b): (Intervals<'_>, Intervals<'_>),
    with_slopes: bool,
) -> (Vec<f64>, Vec<Aligned>) {
    let size = a.len() * b.len();
    let mut value = vec![0.0; size];
    let count = if with_slopes { piece.parameters() } else { 0 };
    let mut slopes: Vec<Aligned> = (0..count).map(|_| Aligned::new(size)).collect();
    let target = with_slopes.then_some(slopes.as_mut_slice());
    piece.fill(a, b, &mut value, target);
    (value, slopes)
}

/// One-dimensional pieces share this face, whatever their formula.
pub(super) struct OneDim<'a> {
    piece: Piece<'a>,
    dim: usize,
    source: Source,
}

#[derive(Clone, Copy)]
pub(super) enum Piece<'a> {
    Line(ProfileFamily, f64),
    Factor(&'a KernelFactor, &'a [f64]),
}

impl Piece<'_> {
    fn parameters(self) -> usize {
        match self {
            Self::Line(..) => 1,
            Self::Factor(f, _) => f.parameters().len(),
        }
    }

    /// Whether only differences of intervals of given widths matter.
    fn is_stationary(self) -> bool {
        match self {
            Self::Line(..) => true,
            Self::Factor(factor, _) => factor.is_stationary(),
        }
    }

    fn fill(
        self,
        a: Intervals<'_>,
        b: Intervals<'_>,
        value: &mut [f64],
        slopes: Option<&mut [Aligned]>,
    ) {
        match self {
            Self::Line(family, lengthscale) => {
                let slope = slopes.map(|s| s[0].as_mut_slice());
                match family {
                    ProfileFamily::Se => line::fill::<Se>(lengthscale, a, b, value, slope),
                    ProfileFamily::Matern12 => {
                        line::fill::<Matern12>(lengthscale, a, b, value, slope)
                    }
                    ProfileFamily::Matern32 => {
                        line::fill::<Matern32>(lengthscale, a, b, value, slope)
                    }
                    ProfileFamily::Matern52 => {
                        line::fill::<Matern52>(lengthscale, a, b, value, slope)
                    }
                }
            }
            Self::Factor(
                KernelFactor::Line {
                    family,
                    lengthscale,
                    ..
                },
                theta,
            ) => {
                Self::Line(*family, theta[*lengthscale]).fill(a, b, value, slopes);
            }
            Self::Factor(
                KernelFactor::Periodic {
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
            Self::Factor(KernelFactor::Coupled(coupled), theta) => {
                coupled.fill(theta, &[a], &[b], value, slopes);
            }
            // Never asked for: these factors are not of one dimension.
            Self::Factor(..) => value.fill(f64::NAN),
        }
    }
}

fn intervals(distinct: &UniqueIntervals) -> Intervals<'_> {
    Intervals {
        lower: &distinct.lower,
        width: &distinct.width,
    }
}

pub(super) fn side<'a>(set: &'a Functionals, dim: usize, range: &Range<usize>) -> Intervals<'a> {
    Intervals {
        lower: &set.lower(dim)[range.clone()],
        width: &set.width(dim)[range.clone()],
    }
}

impl<'a> OneDim<'a> {
    pub fn new(
        piece: Piece<'a>,
        dim: usize,
        sides: Sides<'_>,
        slopes: WithSlopes,
        tables: Tabulation,
    ) -> Self {
        if tables == Tabulation::Never {
            return Self {
                piece,
                dim,
                source: Source::Direct,
            };
        }
        let (ua, ub) = (sides.a.unique(dim), sides.b.unique(dim));
        let pairs = ua.len() * ub.len();
        let with_slopes = slopes == WithSlopes::Yes;
        // A table pays when every entry is used at least twice.
        let most = sides.a.atom_count() * sides.b.atom_count() / 2;
        let most = match tables {
            Tabulation::UpTo(limit) => most.min(limit),
            _ => most,
        };
        let lags = piece
            .is_stationary()
            .then(|| Lags::find(ua, ub, most.min(pairs)));
        let source = if let Some(lags) = lags.flatten() {
            let (value, slopes) = tabulate(piece, lags.sides(), with_slopes);
            let Lags { a, b, .. } = lags;
            Source::Table(Table {
                value,
                slopes,
                a,
                b,
            })
        } else if pairs <= most.min(u32::MAX as usize) {
            let (value, slopes) = tabulate(piece, (intervals(ua), intervals(ub)), with_slopes);
            let (na, nb) = (ua.len() as u32, ub.len() as u32);
            Source::Table(Table {
                value,
                slopes,
                a: (0..na).collect(),
                b: (0..nb).map(|j| j * na).collect(),
            })
        } else {
            Source::Direct
        };
        Self { piece, dim, source }
    }

    pub fn fill(
        &self,
        sides: Sides<'_>,
        tile: &Tile,
        value: &mut [f64],
        slopes: Option<&mut [Aligned]>,
    ) {
        let dim = self.dim;
        match &self.source {
            Source::Direct => {
                let (a, b) = (side(sides.a, dim, &tile.a), side(sides.b, dim, &tile.b));
                self.piece.fill(a, b, value, slopes);
            }
            Source::Table(table) => {
                let at = |side: &Functionals, range: &Range<usize>, place: &[u32]| -> Vec<usize> {
                    let index = &side.unique(dim).index[range.clone()];
                    index.iter().map(|&i| place[i as usize] as usize).collect()
                };
                let rows = at(sides.a, &tile.a, &table.a);
                let columns = at(sides.b, &tile.b, &table.b);
                let gather = |table: &[f64], out: &mut [f64]| {
                    for (&j, out) in columns.iter().zip(out.chunks_exact_mut(rows.len())) {
                        let column = &table[j..];
                        for (o, &i) in out.iter_mut().zip(&rows) {
                            *o = column[i];
                        }
                    }
                };
                gather(&table.value, value);
                if let Some(slopes) = slopes {
                    for (out, table) in slopes.iter_mut().zip(&table.slopes) {
                        gather(table, out);
                    }
                }
            }
        }
    }
}
