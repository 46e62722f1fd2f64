//! Integration by a rule of the test's own: many short panels that grow away from every place where
//! something bends.

use quadrat::likelihood::distribution::Distribution;
use quadrat::likelihood::local::{Belief, Jet};
use quadrat::quadrature::gauss_legendre;

/// Ratio of the distances of neighbouring panels from a place.
const RATIO: f64 = 1.4;

/// Ends of panels between `lower` and `upper`, graded towards every (place, width).
fn panels(lower: f64, upper: f64, places: &[(f64, f64)]) -> Vec<f64> {
    let mut ends = vec![lower, upper];
    for &(place, width) in places {
        ends.push(place);
        let mut distance = 0.1 * width;
        while distance < (upper - place).max(place - lower) {
            ends.extend([place - distance, place + distance]);
            distance = (distance * RATIO).min(distance + 0.5 * width.max(distance * (RATIO - 1.0)));
        }
    }
    ends.retain(|x| (lower..=upper).contains(x));
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    ends
}

/// Nodes and weights on the panels.
fn nodes(ends: &[f64]) -> Vec<(f64, f64)> {
    let rule = gauss_legendre(8);
    ends.windows(2)
        .flat_map(|pair| rule.on(pair[0], pair[1]).collect::<Vec<_>>())
        .collect()
}

/// Moments of cavity times likelihood.
pub struct Averages {
    pub log_z: f64,
    pub mean: f64,
    pub variance: f64,
    /// Minus the regression of `(log p)'` on `f`: the precision of the site.
    pub precision: f64,
}

pub fn tilted(cavity: Belief, features: &[(f64, f64)], jet: impl Fn(f64) -> Jet) -> Averages {
    let sd = cavity.variance.sqrt();
    let mut places = features.to_vec();
    places.push((cavity.mean, sd));
    let smallest = places.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    // No tilted density is wider than its cavity, nor beyond both the cavity and the likelihood.
    let lower = places.iter().map(|p| p.0).fold(f64::INFINITY, f64::min) - 12.0 * sd;
    let upper = places.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max) + 12.0 * sd;
    // Distances are kept from the peak, so that a narrow density far from zero keeps its digits.
    let mut origin = cavity.mean;
    for _ in 0..8 {
        let rise = |x: f64| {
            let away = x - origin;
            jet(x).value - away * (0.5 * away + (origin - cavity.mean)) / cavity.variance
        };
        let ends = panels(lower, upper, &places);
        let best = ends
            .iter()
            .copied()
            .fold((origin, f64::NEG_INFINITY), |best, x| {
                let height = rise(x);
                if height > best.1 { (x, height) } else { best }
            });
        if best.0 == origin {
            break;
        }
        origin = best.0;
        places.push((origin, smallest));
    }
    let shifted: Vec<(f64, f64)> = places.iter().map(|p| (p.0 - origin, p.1)).collect();
    let top = jet(origin);
    let ends = panels(lower - origin, upper - origin, &shifted);
    let mut sums = [0.0; 6];
    for (u, weight) in nodes(&ends) {
        let at = jet(origin + u);
        let rise =
            (at.value - top.value) - u * (0.5 * u + (origin - cavity.mean)) / cavity.variance;
        let density = weight * rise.exp();
        if density > 0.0 {
            let excess = at.first - top.first;
            for (sum, y) in sums
                .iter_mut()
                .zip([1.0, u, u * u, excess, excess * u, 0.0])
            {
                *sum += density * y;
            }
        }
    }
    let [z, u, u2, slope, product, _] = sums;
    let (u, u2, slope, product) = (u / z, u2 / z, slope / z, product / z);
    let variance = u2 - u * u;
    let away = origin - cavity.mean;
    Averages {
        log_z: top.value
            - 0.5 * away * away / cavity.variance
            - 0.5 * (2.0 * std::f64::consts::PI * cavity.variance).ln()
            + z.ln(),
        mean: origin + u,
        variance,
        precision: (slope * u - product) / variance,
    }
}

/// `E log p` and derivatives; integrals of the absolute values, the smaller one of two forms for
/// the second.
pub struct Expectations {
    pub value: f64,
    pub first: f64,
    pub second: f64,
    pub size: [f64; 3],
}

pub fn expected(belief: Belief, features: &[(f64, f64)], jet: impl Fn(f64) -> Jet) -> Expectations {
    let sd = belief.variance.sqrt();
    let mut places: Vec<(f64, f64)> = features
        .iter()
        .map(|p| ((p.0 - belief.mean) / sd, p.1 / sd))
        .collect();
    places.push((0.0, 1.0));
    let (mut sums, mut sizes) = ([0.0; 4], [0.0; 4]);
    for (z, weight) in nodes(&panels(-38.0, 38.0, &places)) {
        let density = weight * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let at = jet(belief.mean + sd * z);
        let parts = [at.value, at.first, at.second, at.first * z / sd];
        for i in 0..4 {
            sums[i] += density * parts[i];
            sizes[i] += density * parts[i].abs();
        }
    }
    let pick = if sizes[3] < sizes[2] { 3 } else { 2 };
    Expectations {
        value: sums[0],
        first: sums[1],
        second: sums[pick],
        size: [sizes[0], sizes[1], sizes[pick]],
    }
}

/// Total, mean and variance of a distribution, and a few points of its cdf, from its density.
pub struct Sums {
    pub total: f64,
    pub mean: f64,
    pub variance: f64,
    pub below: Vec<(f64, f64)>,
}

pub fn sums(d: &Distribution) -> Sums {
    let centre = match d {
        Distribution::StudentT(t) => t.location,
        d => d.mean(),
    };
    let points: Vec<(f64, f64)> = if d.is_discrete() {
        let spread = d.variance().sqrt();
        let last = (centre + 60.0 * spread + 100.0).min(3e6) as u64;
        (0..=last)
            .map(|k| (k as f64, d.log_density(k as f64).exp()))
            .collect()
    } else {
        let width = match d {
            Distribution::StudentT(t) => t.scale,
            d => d.variance().sqrt(),
        };
        let reach = if matches!(d, Distribution::StudentT(_)) {
            1e16
        } else {
            60.0
        };
        let lower = if matches!(
            d,
            Distribution::Exponential(_) | Distribution::Gamma(_) | Distribution::LogNormal(_)
        ) {
            0.0
        } else {
            centre - reach * width
        };
        nodes(&panels(lower, centre + reach * width, &[(centre, width)]))
            .into_iter()
            .map(|(y, weight)| (y, weight * d.log_density(y).exp()))
            .collect()
    };
    let total: f64 = points.iter().map(|p| p.1).sum();
    let mean = points.iter().map(|p| p.0 * p.1).sum::<f64>() / total;
    let variance = points
        .iter()
        .map(|p| (p.0 - mean).powi(2) * p.1)
        .sum::<f64>()
        / total;
    let mut below = Vec::new();
    let mut sum = 0.0;
    for (k, (y, share)) in points.iter().enumerate() {
        sum += share;
        if d.is_discrete() {
            if k < 6 || (sum > 0.05 && sum < 0.99 && k % (points.len() / 20 + 1) == 0) {
                below.push((*y, sum));
            }
        } else if k % 8 == 7
            && k + 1 < points.len()
            && sum > 1e-4
            && sum < 1.0 - 1e-4
            && k % 88 == 87
        {
            // The end of a panel lies between its last node and the next panel's first,
            // symmetrically.
            let edge = edge_after(&points, k);
            below.push((edge, sum));
        }
    }
    Sums {
        total,
        mean,
        variance,
        below,
    }
}

/// The end of the panel whose last node is `k`: from the panel's nodes, whose extreme ones are
/// known.
fn edge_after(points: &[(f64, f64)], k: usize) -> f64 {
    let rule = gauss_legendre(8);
    let (first, last) = (points[k - 7].0, points[k].0);
    let half = (last - first) / (2.0 * rule.nodes[7]);
    0.5 * (first + last) + half
}
