//! Derivatives of the sites of a row with two latent values in its cavities.
//!
//! With `p` the density of cavities times likelihood, `d E h / d m = Cov(h, f) / v` and `d E h / d
//! v = Cov(h, (f - m)^2) / (2 v^2)` for a cavity `N(m, v)` of `f`, and the same for `g`. Given `g`,
//! mean and variance of `f` are known at every node (`pair.rs`): that gives all covariances but
//! those of `f` with itself,
//!
//! $$ \frac{d V_f}{d m_f} = \frac{\kappa_3}{v_f}, \quad \frac{d E f}{d v_f} = \frac{\kappa_3 + 2 (E
//! f - m_f) V_f}{2 v_f^2}, \quad \frac{d V_f}{d v_f} $$
//!
//! of which the last two are taken by central differences, and with them the third cumulant
//! `kappa_3`.

use super::pair::{FirstGivenSecond, Pair, PairRow, QuadratureNode};
use crate::likelihood::local::Belief;

/// Mean, less that of the cavity, and variance of one of the latent values.
#[derive(Clone, Copy)]
struct Moments {
    moved: f64,
    variance: f64,
    /// What the variance is less than that of the cavity.
    lost: f64,
}

/// One of the latent values.
struct Side<'a> {
    cavity: Belief,
    at: Moments,
    /// Its mean at a node, less that of the cavity.
    mean: &'a dyn Fn(&QuadratureNode) -> f64,
    /// Its second moment there, about the mean of the cavity.
    square: &'a dyn Fn(&QuadratureNode) -> f64,
}

impl Side<'_> {
    /// `d (E, V) / d (m, v)` of the cavity of another latent value, or of its own where nodes tell
    /// all about that: a pair for each of the two.
    fn slopes(&self, given: &FirstGivenSecond, of: &Side<'_>) -> [[f64; 2]; 2] {
        let cov = |a: &dyn Fn(&QuadratureNode) -> f64, b: &dyn Fn(&QuadratureNode) -> f64| {
            let (ma, mb) = (given.mean(a), given.mean(b));
            given.mean(|n| (a(n) - ma) * (b(n) - mb))
        };
        let v = of.cavity.variance;
        [(of.mean, v), (of.square, 2.0 * v * v)].map(|(weight, unit)| {
            let mean = cov(self.mean, weight) / unit;
            let square = cov(self.square, weight) / unit;
            [mean, square - 2.0 * self.at.moved * mean]
        })
    }

    /// `d (T, nu)` of the site `T = 1 / V - 1 / v`, `nu = E / V - m / v`, or `T = 0`, `nu = (E - m)
    /// / v` where the variance would grow.
    ///
    /// # Arguments
    /// * `slopes` - of `(E, V)`
    /// * `own` - which of `(m, v)` of its own cavity moves, if any
    fn site_slopes(&self, slopes: [f64; 2], own: Option<usize>) -> [f64; 2] {
        let Belief {
            mean: m,
            variance: v,
        } = self.cavity;
        if v <= 0.0 {
            return [0.0; 2];
        }
        let (own_mean, own_variance) = match own {
            None => (0.0, 0.0),
            Some(0) => (1.0, 0.0),
            Some(_) => (0.0, 1.0),
        };
        let Moments {
            moved,
            variance,
            lost,
        } = self.at;
        let [of_mean, of_variance] = slopes;
        // (E - m) / v
        let of_pull = (of_mean - own_mean) / v - moved * own_variance / (v * v);
        if lost <= 0.0 {
            return [0.0, of_pull];
        }
        let left = variance.max(f64::EPSILON * v);
        let precision = lost / (v * left);
        let of_precision = own_variance / (v * v) - of_variance / (left * left);
        // nu = T E + (E - m) / v.
        let of_shift = of_precision * (m + moved) + precision * of_mean + of_pull;
        [of_precision, of_shift]
    }
}

/// Of `f` alone.
fn moments_of_f(given: &FirstGivenSecond, cavity: Belief) -> Moments {
    let moved = given.mean(|n| n.moved);
    let lost = given.mean(|n| n.lost - (n.moved - moved).powi(2));
    Moments {
        moved,
        variance: cavity.variance - lost,
        lost,
    }
}

impl PairRow<'_> {
    /// `d (T_f, nu_f, T_g, nu_g) / d (m_f, v_f, m_g, v_g)`: a column per entry of the cavities;
    /// zero for a cavity without variance.
    ///
    /// # Arguments
    /// * `step` - of the difference, as a share of the variance of the cavity of `f`
    ///
    /// # Source
    /// The derivatives of an exponential family's expectations in its parameters.
    pub(super) fn jacobian(&self, cavity: Pair<Belief>, step: f64) -> [[f64; 4]; 4] {
        let given = self.given(cavity);
        let (sf, sg) = (cavity.f.variance, cavity.g.variance);
        let moved = given.mean(|n| n.away);
        let variance = given.mean(|n| (n.away - moved).powi(2));
        let f = Side {
            cavity: cavity.f,
            at: moments_of_f(&given, cavity.f),
            mean: &|n| n.moved,
            square: &|n| sf - n.lost + n.moved * n.moved,
        };
        let g = Side {
            cavity: cavity.g,
            at: Moments {
                moved,
                variance,
                lost: sg - variance,
            },
            mean: &|n| n.away,
            square: &|n| n.away * n.away,
        };
        let mut columns = [[0.0; 4]; 4];
        if sf > 0.0 {
            let [of_mean, of_variance] = self.slopes_in_variance(cavity, step);
            let third = 2.0 * sf * sf * of_mean - 2.0 * f.at.moved * f.at.variance;
            let own = [[f.at.variance / sf, third / sf], [of_mean, of_variance]];
            let of_g = g.slopes(&given, &f);
            for input in [0, 1] {
                let [a, b] = f.site_slopes(own[input], Some(input));
                let [c, d] = g.site_slopes(of_g[input], None);
                columns[input] = [a, b, c, d];
            }
        }
        if sg > 0.0 {
            let (own, of_f) = (g.slopes(&given, &g), f.slopes(&given, &g));
            for input in [0, 1] {
                let [a, b] = f.site_slopes(of_f[input], None);
                let [c, d] = g.site_slopes(own[input], Some(input));
                columns[2 + input] = [a, b, c, d];
            }
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
