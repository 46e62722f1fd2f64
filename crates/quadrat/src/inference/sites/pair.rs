//! Rows of two latent values: a mean `f`, and a scale `v(g)` that is a function too.
//!
//! A likelihood whose first hyperparameter is a noise variance or a dispersion becomes one of two
//! latent values when that number is `v(g)` at the row. Both posteriors are kept apart, `q(f)
//! q(g)`, so a row has one Gaussian site for each:
//!
//! | approximation | site of `f` | site of `g` |
//! |---|---|---|
//! | EP | mean and variance of `f` under cavities times likelihood | the same of `g` |
//! | variational | `-E (log p)_ff`, `E (log p)_f + T_f m_f` | `-E (log p)_gg`, `E (log p)_g + T_g m_g` |
//!
//! Given `g` everything about `f` is what the likelihood says of one latent value, in closed form
//! where it has one; what is left is one integral over `g`.
//!
//! # Numerics
//! The trapezoid rule on seven standard deviations of `g` to either side, in steps of at most 0.6
//! of one and of 0.45. A normal density is integrated to `exp(-2 pi^2 / 0.6^2)`, below rounding; a
//! likelihood such as `exp(-r^2 / 2 v)` is bounded in `log v` up to a distance of `pi / 2` from the
//! real line, which makes the error of such a step `exp(-pi^2 / 0.45) = 3e-10` of the likelihood's
//! peak. Beside `Z`, of which an outlier has less than that, it was at most 3e-7 for values up to
//! eight noise standard deviations away; the tails hold 3e-12. Where `g` is so uncertain that these
//! would be many, see [`clipped`].
//!
//! # Source
//! Mean-field EP for such models: Hernandez-Lobato et al. 2014 for the factorised form; the
//! variational sites are those of Khan and Lin 2017 for every factor.

use super::Method;
use super::site::Reply;
use super::site::Site;
use crate::likelihood::local::{Belief, Change, Expected, Local};
use crate::link::Link;
use crate::quadrature::gauss_legendre;

/// Standard deviations of `g` to either side.
const REACH: f64 = 7.0;
/// Longest step in standard deviations, and in `g` itself.
const STEP: (f64, f64) = (0.6, 0.45);
/// Reach and steps while hyperparameters are searched that others make exact: a row is off by some
/// 1e-5, one that is an outlier by more.
const COARSE: (f64, (f64, f64)) = (5.0, (0.8, 0.65));
/// The scale is a function of `g` clipped to this range: beyond, it is no number of any use.
const RANGE: (f64, f64) = (-40.0, 30.0);

/// Most regular nodes to either side; where `g` is less certain than that, see [`clipped`].
const MOST: f64 = 200.0;
/// Gauss-Legendre nodes of a panel of two standard deviations, or of four in `g`: right to 1e-12 of
/// a normal density, and to 3e-8 of what is bounded up to `pi / 2` from the real line.
const ON_PANEL: usize = 12;
const PANEL: (f64, f64) = (2.0, 4.0);

/// `g - mean` and the logarithm of the prior weight where `g` is so uncertain that most of it lies
/// outside [`RANGE`].
///
/// Panels of `g` fill the range; beyond it nothing depends on `g`, and only the normal density is
/// integrated. Some 350 nodes, however uncertain `g` is.
fn clipped(mean: f64, sd: f64, reach: f64) -> Vec<(f64, f64)> {
    let root = (2.0 * std::f64::consts::PI).sqrt();
    let inside = |g: f64| ((g - mean) / sd).clamp(-reach, reach);
    let (low, high) = (inside(RANGE.0), inside(RANGE.1));
    let rule = gauss_legendre(ON_PANEL);
    let mut nodes = Vec::new();
    for (from, to, longest) in [
        (-reach, low, PANEL.0),
        (low, high, PANEL.1 / sd),
        (high, reach, PANEL.0),
    ] {
        let panels = ((to - from) / longest).ceil();
        let width = (to - from) / panels;
        for panel in 0..panels as usize {
            let from = from + panel as f64 * width;
            let own = rule.on(from, from + width);
            nodes.extend(own.map(|(z, w)| (sd * z, (w / root).ln() - 0.5 * z * z)));
        }
    }
    nodes
}

/// A row and its scale.
#[derive(Clone, Copy)]
pub(super) struct PairRow<'a> {
    pub likelihood: &'a dyn Local,
    /// The hyperparameters without the first, which is `v(g)`.
    pub rest: &'a [f64],
    pub row: usize,
    pub link: Link,
    /// Whether few nodes will do.
    pub is_coarse: bool,
}

/// What is believed of both latent values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<T> {
    pub f: T,
    pub g: T,
}

/// What cavities times likelihood say of a row.
pub(super) struct TiltedPair {
    pub log_z: f64,
    /// Sites of the same moments, but that no variance grows.
    pub sites: Pair<Site>,
    /// How much of the cavities' variances is lost; negative where they grow.
    pub lost: Pair<f64>,
}

/// The scale at a value of its latent function.
pub(crate) fn scale(link: Link, g: f64) -> f64 {
    link.value(g.clamp(RANGE.0, RANGE.1)).max(f64::MIN_POSITIVE)
}

/// The derivative of [`scale`]; zero where that is clipped.
#[cfg(feature = "mcmc")]
pub(crate) fn scale_slope(link: Link, g: f64) -> f64 {
    if (RANGE.0..=RANGE.1).contains(&g) {
        link.jet(g)[1]
    } else {
        0.0
    }
}

/// A node of `g`, and what is known of `f` there.
pub(super) struct QuadratureNode {
    /// Its share of `Z`.
    pub weight: f64,
    /// `g` less its cavity mean.
    pub away: f64,
    /// What the mean of `f` moves from that of its cavity, and what its variance loses.
    pub moved: f64,
    pub lost: f64,
}

/// `f` given `g` under cavities times likelihood.
pub(super) struct FirstGivenSecond {
    pub log_z: f64,
    pub nodes: Vec<QuadratureNode>,
}

impl FirstGivenSecond {
    /// The mean of a function of the nodes.
    pub fn mean(&self, of: impl Fn(&QuadratureNode) -> f64) -> f64 {
        self.nodes.iter().map(|n| n.weight * of(n)).sum()
    }
}

impl PairRow<'_> {
    /// `g - mean` and the logarithm of the prior weight, for every node; the weights add up to one
    /// but for rounding, or what few nodes leave out.
    fn nodes(&self, belief: Belief) -> impl Iterator<Item = (f64, f64)> + use<> {
        let sd = belief.variance.sqrt().min(f64::MAX);
        let (reach, longest) = match self.is_coarse {
            true => COARSE,
            false => (REACH, STEP),
        };
        let step = longest.0.min(longest.1 / sd);
        let (half, far) = if sd == 0.0 {
            (0, Vec::new())
        } else if reach <= step * MOST {
            ((reach / step).ceil() as i64, Vec::new())
        } else {
            // None of the regular ones.
            (-1, clipped(belief.mean, sd, reach))
        };
        let share = match sd > 0.0 {
            true => (step / (2.0 * std::f64::consts::PI).sqrt()).ln(),
            false => 0.0,
        };
        let step = if sd > 0.0 { step } else { 0.0 };
        let regular = (-half..=half).map(move |i| {
            let z = i as f64 * step;
            (sd * z, share - 0.5 * z * z)
        });
        regular.chain(far)
    }

    /// The scales at nodes.
    fn scales(&self, nodes: &[(f64, f64)], belief: Belief) -> Vec<f64> {
        let at = |(away, _): &(f64, f64)| scale(self.link, belief.mean + away);
        nodes.iter().map(at).collect()
    }

    /// The hyperparameters at a value of `g`, in a buffer.
    fn own(&self, g: f64, buffer: &mut Vec<f64>) {
        buffer.clear();
        buffer.push(scale(self.link, g));
        buffer.extend_from_slice(self.rest);
    }

    /// What cavities times likelihood say of `f` at every node of `g`.
    pub(super) fn given(&self, cavity: Pair<Belief>) -> FirstGivenSecond {
        let prior: Vec<(f64, f64)> = self.nodes(cavity.g).collect();
        let scales = self.scales(&prior, cavity.g);
        let mut changes = vec![Change::default(); prior.len()];
        self.likelihood.tilted_over(
            &scales,
            self.rest,
            self.row,
            cavity.f,
            self.is_coarse,
            &mut changes,
        );
        let node = |(&(away, log), change): (&(f64, f64), Change)| QuadratureNode {
            weight: log + change.log_z,
            away,
            moved: change.moved,
            lost: change.lost,
        };
        let mut nodes: Vec<QuadratureNode> = prior.iter().zip(changes).map(node).collect();
        let most = nodes.iter().fold(f64::NEG_INFINITY, |m, n| m.max(n.weight));
        let mut total = 0.0;
        for node in &mut nodes {
            node.weight = (node.weight - most).exp();
            total += node.weight;
        }
        nodes.iter_mut().for_each(|node| node.weight /= total);
        FirstGivenSecond {
            log_z: most + total.ln(),
            nodes,
        }
    }

    /// `log Z`, and the sites that reproduce mean and variance of both under cavities times
    /// likelihood.
    pub fn tilted(&self, cavity: Pair<Belief>) -> TiltedPair {
        let given = self.given(cavity);
        let moved = Pair {
            f: given.mean(|n| n.moved),
            g: given.mean(|n| n.away),
        };
        // How much of the variance is lost; what the mixture spreads is gained.
        let lost = Pair {
            f: given.mean(|n| n.lost - (n.moved - moved.f).powi(2)),
            g: cavity.g.variance - given.mean(|n| (n.away - moved.g).powi(2)),
        };
        TiltedPair {
            log_z: given.log_z,
            sites: Pair {
                f: site(cavity.f, moved.f, lost.f),
                g: site(cavity.g, moved.g, lost.g),
            },
            lost,
        }
    }

    /// `E log p`, and its first two derivatives in both means.
    fn expected(&self, belief: Pair<Belief>) -> (f64, Pair<[f64; 2]>) {
        let s = belief.g.variance;
        let (mut value, mut f, mut g) = (0.0, [0.0; 2], [0.0; 2]);
        let prior: Vec<(f64, f64)> = self.nodes(belief.g).collect();
        let scales = self.scales(&prior, belief.g);
        let mut expected = vec![Expected::default(); prior.len()];
        self.likelihood
            .expected_over(&scales, self.rest, self.row, belief.f, &mut expected);
        for (&(away, log), e) in prior.iter().zip(&expected) {
            let weight = log.exp();
            value += weight * e.value;
            f[0] += weight * e.first;
            f[1] += weight * e.second;
            if s > 0.0 {
                g[0] += weight * e.value * away / s;
                g[1] += weight * e.value * (away * away / s - 1.0) / s;
            }
        }
        (value, Pair { f, g })
    }

    /// A plausible value of `f` at a value of `g`.
    pub fn guess(&self, g: f64) -> f64 {
        let mut own = Vec::with_capacity(1 + self.rest.len());
        self.own(g, &mut own);
        self.likelihood.guess(&own, self.row)
    }

    /// What the row says to a sweep: its reply with the site of `f`, and the site of `g`.
    pub fn reply(
        &self,
        method: Method,
        at: Pair<Belief>,
        cavity: Pair<Belief>,
        alpha: Pair<f64>,
        current: Pair<Site>,
    ) -> (Reply, Site) {
        let (share, sites, residual) = if method == Method::Ep {
            let TiltedPair { log_z, sites, .. } = self.tilted(cavity);
            let gain = |c: Belief, at: Belief, alpha: f64| {
                0.5 * (c.variance / at.variance).ln() + 0.5 * c.variance * alpha * alpha
            };
            let share = log_z + gain(cavity.f, at.f, alpha.f) + gain(cavity.g, at.g, alpha.g);
            let off = off(cavity.f, sites.f, at.f).max(off(cavity.g, sites.g, at.g));
            (share, sites, off)
        } else {
            let (value, slopes) = self.expected(at);
            let ask = |[first, second]: [f64; 2], at: Belief| Site {
                precision: -second,
                shift: first - second * at.mean,
            };
            let sites = Pair {
                f: ask(slopes.f, at.f),
                g: ask(slopes.g, at.g),
            };
            let off = |[first, _]: [f64; 2], at: Belief, alpha: f64| {
                (first - alpha).abs() * at.variance.sqrt()
            };
            let residual = off(slopes.f, at.f, alpha.f).max(off(slopes.g, at.g, alpha.g));
            let kept = current.f.precision * at.f.variance + current.g.precision * at.g.variance;
            (value + 0.5 * kept, sites, residual)
        };
        let reply = Reply {
            share,
            site: sites.f,
            residual,
        };
        (reply, sites.g)
    }

    /// Derivatives of the row's share in its other hyperparameters, added to `out`.
    pub fn slopes(&self, method: Method, cavity: Pair<Belief>, at: Pair<Belief>, out: &mut [f64]) {
        let mut own = Vec::with_capacity(1 + self.rest.len());
        let mut slopes = vec![0.0; 1 + self.rest.len()];
        let belief = if method == Method::Ep { cavity } else { at };
        // Of EP the nodes weigh as much as their share of `Z`.
        let mut logs: Vec<(f64, Vec<f64>)> = Vec::new();
        for (away, prior) in self.nodes(belief.g) {
            self.own(belief.g.mean + away, &mut own);
            slopes.fill(0.0);
            let log = if method == Method::Ep {
                self.likelihood
                    .tilted_slopes(&own, self.row, belief.f, &mut slopes);
                prior + self.likelihood.tilted(&own, self.row, belief.f).log_z
            } else {
                self.likelihood
                    .expected_slopes(&own, self.row, belief.f, &mut slopes);
                prior
            };
            logs.push((log, slopes[1..].to_vec()));
        }
        let most = logs.iter().fold(f64::NEG_INFINITY, |m, n| m.max(n.0));
        let total: f64 = logs.iter().map(|n| (n.0 - most).exp()).sum();
        for (log, slopes) in &logs {
            let weight = (log - most).exp() / total;
            out.iter_mut()
                .zip(slopes)
                .for_each(|(o, s)| *o += weight * s);
        }
    }
}

/// The site that moves the mean of a cavity by `moved` and takes `lost` from its variance.
///
/// Where the variance would grow, or all but vanish below rounding, it is kept and only the mean
/// moves.
fn site(cavity: Belief, moved: f64, lost: f64) -> Site {
    let s = cavity.variance;
    if lost <= 0.0 || s == 0.0 {
        return Site {
            precision: 0.0,
            shift: if s > 0.0 { moved / s } else { 0.0 },
        };
    }
    let left = (s - lost).max(f64::EPSILON * s);
    let precision = lost / (s * left);
    Site {
        precision,
        shift: precision * (cavity.mean + moved) + moved / s,
    }
}

/// How far the posterior is from cavity times site, in posterior standard deviations.
fn off(cavity: Belief, site: Site, at: Belief) -> f64 {
    let growth = 1.0 + cavity.variance * site.precision;
    let variance = cavity.variance / growth;
    let mean = (cavity.mean + cavity.variance * site.shift) / growth;
    let moved = (mean - at.mean).abs() / at.variance.sqrt();
    moved.max((variance / at.variance).ln().abs())
}

#[cfg(test)]
#[path = "pair_row_tests.rs"]
#[allow(clippy::unwrap_used)]
mod tests;
