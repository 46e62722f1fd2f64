//! Isotropic kernels over boxes: mixtures of products of squared exponential lines.

use super::aligned::Aligned;
use super::one_dim::OneDim;
use super::tile::{Evaluated, Sides, Tile};
use crate::kernel::mixture::Member;

/// `value = sum_m weight_m prod_d line_(m,d)` on a tile, and its slopes in every lengthscale and,
/// when the weights depend on it, in `alpha`.
pub(super) fn mixture(
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
    out.scratch.resize_with(2 * dims + 1, Aligned::default);
    out.scratch.iter_mut().for_each(|s| s.resize(n));
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
            for (p, v) in product.iter_mut().zip(values[d].iter()) {
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
