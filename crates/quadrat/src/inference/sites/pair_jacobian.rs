//! Derivatives of the sites of a row with two latent values in its cavities.
//!
//! With `p` the density of cavities times likelihood, `d E h / d m = Cov(h, f) / v` and `d E h / d v = Cov(h, (f - m)^2) / (2 v^2)` for a cavity
//! `N(m, v)` of `f`, and the same for `g`. Given `g`, mean and variance of `f` are known at every node (`pair.rs`): that gives all covariances
//! but those of `f` with itself,
//!
//! $$ \frac{d V_f}{d m_f} = \frac{\kappa_3}{v_f}, \quad \frac{d E f}{d v_f} = \frac{\kappa_3 + 2 (E f - m_f) V_f}{2 v_f^2}, \quad \frac{d V_f}{d v_f} $$
//!
//! of which the last two are taken by central differences, and with them the third cumulant `kappa_3`.

use super::pair::{Given, Node, Pair, PairRow};
use crate::likelihood::local::Belief;

/// Mean, less that of the cavity, and variance of one of the latent values.
#[derive(Clone, Copy)]
struct Moments {
    moved: f64,
    variance: f64,
    /// What the variance is less than that of the cavity.
    lost: f64,
}

/// `d (moved, variance) / d (m, v)` of a cavity: a pair for every one of the two.
type Slopes = [[f64; 2]; 2];

/// Of `f` alone.
fn moments_of_f(given: &Given, cavity: Belief) -> Moments {
    let moved = given.mean(|n| n.moved);
    let lost = given.mean(|n| n.lost - (n.moved - moved).powi(2));
    Moments {
        moved,
        variance: cavity.variance - lost,
        lost,
    }
}

impl PairRow<'_> {
    /// `d (T_f, nu_f, T_g, nu_g) / d (m_f, v_f, m_g, v_g)`: a column per entry of the cavities; zero for a cavity without variance.
    ///
    /// # Arguments
    /// * `step` - of the difference, as a share of the variance of the cavity of `f`
    ///
    /// # Source
    /// The derivatives of an exponential family's expectations in its parameters.
    pub(super) fn jacobian(&self, cavity: Pair<Belief>, step: f64) -> [[f64; 4]; 4] {
        let given = self.given(cavity);
        let (sf, sg) = (cavity.f.variance, cavity.g.variance);
        let f = moments_of_f(&given, cavity.f);
        let moved = given.mean(|n| n.away);
        let variance = given.mean(|n| (n.away - moved).powi(2));
        let g = Moments {
            moved,
            variance,
            lost: sg - variance,
        };
        // Second moments about the cavity means, given the node.
        let f_squared = |n: &Node| sf - n.lost + n.moved * n.moved;
        let cov = |a: &dyn Fn(&Node) -> f64, b: &dyn Fn(&Node) -> f64| {
            let (ma, mb) = (given.mean(a), given.mean(b));
            given.mean(|n| (a(n) - ma) * (b(n) - mb))
        };
        // Of a variance, from that of a second moment and that of the mean.
        let central =
            |of_square: f64, of_mean: f64, m: Moments| of_square - 2.0 * m.moved * of_mean;
        let (mean_f, mean_g) = (|n: &Node| n.moved, |n: &Node| n.away);
        let g_squared = |n: &Node| n.away * n.away;
        let mut columns = [[0.0; 4]; 4];
        let mut put = |input: usize, f_slopes: [f64; 2], g_slopes: [f64; 2]| {
            let own = |which: bool| match (which, input % 2) {
                (false, _) => [0.0; 2],
                (true, 0) => [1.0, 0.0],
                (true, _) => [0.0, 1.0],
            };
            let [a, b] = site_slopes(cavity.f, f, f_slopes, own(input < 2));
            let [c, d] = site_slopes(cavity.g, g, g_slopes, own(input >= 2));
            columns[input] = [a, b, c, d];
        };
        let both = cov(&mean_f, &mean_g);
        if sf > 0.0 {
            let [of_mean, of_variance] = self.slopes_in_variance(cavity, step);
            let third = 2.0 * sf * sf * of_mean - 2.0 * f.moved * f.variance;
            // The moves below are from the cavity mean, which moves too.
            let f_slopes: Slopes = [[f.variance / sf - 1.0, third / sf], [of_mean, of_variance]];
            let in_mean = both / sf;
            let in_variance = cov(&mean_g, &f_squared) / (2.0 * sf * sf);
            let g_slopes: Slopes = [
                [in_mean, central(cov(&g_squared, &mean_f) / sf, in_mean, g)],
                [
                    in_variance,
                    central(
                        cov(&g_squared, &f_squared) / (2.0 * sf * sf),
                        in_variance,
                        g,
                    ),
                ],
            ];
            put(0, f_slopes[0], g_slopes[0]);
            put(1, f_slopes[1], g_slopes[1]);
        }
        if sg > 0.0 {
            let of_mean = cov(&mean_g, &g_squared) / (2.0 * sg * sg);
            let third = cov(&g_squared, &mean_g) - 2.0 * g.moved * g.variance;
            let of_variance = central(cov(&g_squared, &g_squared) / (2.0 * sg * sg), of_mean, g);
            let g_slopes: Slopes = [[g.variance / sg - 1.0, third / sg], [of_mean, of_variance]];
            let in_mean = both / sg;
            let in_variance = cov(&mean_f, &g_squared) / (2.0 * sg * sg);
            let f_slopes: Slopes = [
                [in_mean, central(cov(&f_squared, &mean_g) / sg, in_mean, f)],
                [
                    in_variance,
                    central(
                        cov(&f_squared, &g_squared) / (2.0 * sg * sg),
                        in_variance,
                        f,
                    ),
                ],
            ];
            put(2, f_slopes[0], g_slopes[0]);
            put(3, f_slopes[1], g_slopes[1]);
        }
        columns
    }

    /// `d (E f, V_f) / d v_f`, by central differences.
    fn slopes_in_variance(&self, cavity: Pair<Belief>, step: f64) -> [f64; 2] {
        let h = step * cavity.f.variance;
        let at = |by: f64| {
            let mut moved = cavity;
            moved.f.variance += by;
            let m = moments_of_f(&self.given(moved), moved.f);
            [m.moved, m.variance]
        };
        let (up, down) = (at(h), at(-h));
        [0, 1].map(|i| (up[i] - down[i]) / (2.0 * h))
    }
}

/// `d (T, nu)` of the site `T = 1 / V - 1 / v`, `nu = E / V - m / v`, or `T = 0`, `nu = (E - m) / v` where the variance would grow.
///
/// # Arguments
/// * `slopes` - of `(E - m, V)`
/// * `own` - of the cavity's `(m, v)`
fn site_slopes(cavity: Belief, at: Moments, slopes: [f64; 2], own: [f64; 2]) -> [f64; 2] {
    let (m, v) = (cavity.mean, cavity.variance);
    if v <= 0.0 {
        return [0.0; 2];
    }
    let [moved, variance] = slopes;
    if at.lost <= 0.0 {
        return [0.0, moved / v - at.moved * own[1] / (v * v)];
    }
    let left = at.variance.max(f64::EPSILON * v);
    let precision = at.lost / (v * left);
    let of_precision = own[1] / (v * v) - variance / (left * left);
    // nu = T (m + moved) + moved / v.
    let of_shift = of_precision * (m + at.moved) + precision * (own[0] + moved) + moved / v
        - at.moved * own[1] / (v * v);
    [of_precision, of_shift]
}
