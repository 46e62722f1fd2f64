//! Points or rectangles in place of regions, and covariances of what they stand for.

use anyhow::{Context, Result};
use quadrat::covariance::{Covariance, PlanarRule};
use quadrat::kernel::Kernel;
use quadrat::linalg::Cholesky;
use quadrat::quadrature::Nodes;
use quadrat::support::placement::{low_discrepancy, random, rectangles};
use quadrat::support::{Aggregate, Functionals, Polygon, Region};

use super::tracts::Tract;

/// What stands in for a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandIn {
    /// Random points, Algorithm 1.
    Points,
    /// Points of low discrepancy.
    LowDiscrepancy,
    /// Greedy rectangles, with the volume corrected.
    Rectangles,
    /// The region itself.
    Region,
}

/// Averages over regions as weighted sums of simpler averages.
#[derive(Debug, Clone)]
pub struct Averages {
    atoms: Functionals,
    /// Region and weight of every row of `atoms`; the weights of a region sum to one.
    of: Vec<(usize, f64)>,
    regions: usize,
    covariance: Covariance,
}

impl Averages {
    /// `n` points or at most `n` rectangles for every region.
    ///
    /// # Errors
    /// Regions too thin for rectangles.
    pub fn new(kind: StandIn, regions: &[Tract], n: usize, seed: u64) -> Result<Self> {
        let mut out = Self::none(regions.len())?;
        for (r, tract) in regions.iter().enumerate() {
            // Every region and every repeat has points of its own.
            let seed = seed.wrapping_mul(1009).wrapping_add(r as u64);
            let region = || Region::from(tract.polygon.clone());
            match kind {
                StandIn::Points => out.points(r, &random(&region(), n, seed))?,
                StandIn::LowDiscrepancy => out.points(r, &low_discrepancy(&region(), n, seed))?,
                StandIn::Rectangles => out.rectangles(r, &tract.polygons()?, n)?,
                StandIn::Region => {
                    out.atoms.push_region(region(), Aggregate::Mean)?;
                    out.of.push((r, 1.0));
                }
            }
        }
        Ok(out)
    }

    /// The nodes given, one set per region.
    ///
    /// # Errors
    /// Nodes that are not finite.
    pub fn of_nodes(sets: &[Nodes]) -> Result<Self> {
        let mut out = Self::none(sets.len())?;
        for (r, nodes) in sets.iter().enumerate() {
            out.points(r, nodes)?;
        }
        Ok(out)
    }

    /// The same with another rule and tolerance for regions.
    pub fn integrated(mut self, rule: PlanarRule, tolerance: f64) -> Self {
        self.covariance = self.covariance.planar_rule(rule).tolerance(tolerance);
        self
    }

    /// Nodes of every average at a lengthscale.
    pub fn nodes(&self, lengthscale: f64) -> Vec<f64> {
        let mut out = vec![0.0; self.regions];
        let nodes = self
            .covariance
            .nodes_per_row(&[1.0, lengthscale], &self.atoms);
        for ((region, _), nodes) in self.of.iter().zip(nodes) {
            out[*region] += nodes as f64;
        }
        out
    }

    fn none(regions: usize) -> Result<Self> {
        Ok(Self {
            atoms: Functionals::new(vec!["x".into(), "y".into()]),
            of: Vec::new(),
            regions,
            covariance: covariance()?,
        })
    }

    fn points(&mut self, r: usize, nodes: &Nodes) -> Result<()> {
        self.atoms.push_nodes(&nodes.points(), &nodes.weights)?;
        self.of.push((r, 1.0));
        Ok(())
    }

    /// Shares `n` rectangles out among the polygons of a set by their areas (greatest quotients).
    /// Those of a polygon stand for its whole area (section 4.1); a polygon too small to get one
    /// is left to the others.
    fn rectangles(&mut self, r: usize, polygons: &[Polygon], n: usize) -> Result<()> {
        let mut given = vec![0_usize; polygons.len()];
        for _ in 0..n {
            let quotient = |k: usize| polygons[k].area() / (given[k] + 1) as f64;
            let most = (0..polygons.len()).max_by(|&a, &b| quotient(a).total_cmp(&quotient(b)));
            given[most.context("a set without polygons")?] += 1;
        }
        let seen = polygons.iter().zip(&given).filter(|(_, n)| **n > 0);
        let covered: f64 = seen.clone().map(|(p, _)| p.area()).sum();
        for (polygon, &n) in seen {
            let found = rectangles(polygon, n)?;
            for (sides, weight) in found.boxes.iter().zip(&found.weights) {
                self.atoms.push_box(sides, Aggregate::Mean)?;
                self.of.push((r, weight * polygon.area() / covered));
            }
        }
        Ok(())
    }

    /// Covariances of the averages under a kernel of variance one, row by row.
    #[must_use]
    pub fn covariance(&self, lengthscale: f64) -> Vec<Vec<f64>> {
        let k = self.covariance.matrix(&[1.0, lengthscale], &self.atoms);
        let mut out = vec![vec![0.0; self.regions]; self.regions];
        for (j, &(b, v)) in self.of.iter().enumerate() {
            for (i, &(a, w)) in self.of.iter().enumerate() {
                out[a][b] += w * v * k[(i, j)];
            }
        }
        out
    }

    /// Covariances of the averages with others, `[other][region]`, under a kernel of variance one.
    fn cross(&self, lengthscale: f64, others: &Self) -> Vec<Vec<f64>> {
        let k = self
            .covariance
            .cross(&[1.0, lengthscale], &self.atoms, &others.atoms);
        let mut out = vec![vec![0.0; self.regions]; others.regions];
        for (j, &(b, v)) in others.of.iter().enumerate() {
            for (i, &(a, w)) in self.of.iter().enumerate() {
                out[b][a] += w * v * k[(i, j)];
            }
        }
        out
    }
}

/// Prior and noise of section 5.6, all known.
#[derive(Debug, Clone, Copy)]
pub struct Prior {
    /// Mean of the density, people per square km.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// Lengthscale in km.
    pub lengthscale: f64,
    /// Variance of the noise on a population, in people squared.
    pub noise: f64,
}

/// Posterior mean densities of `at`, from the populations of groups and what stands in for them.
///
/// # Errors
/// A covariance that cannot be factorised.
pub fn densities(
    groups: &[Tract],
    known: &Averages,
    at: &Averages,
    prior: Prior,
) -> Result<Vec<f64>> {
    let variance = prior.sd * prior.sd;
    let k = known.covariance(prior.lengthscale);
    let area: Vec<f64> = groups.iter().map(|g| g.polygon.area()).collect();
    let n = groups.len();
    // Populations, by their averages: values and noise divided by the area.
    let gram = faer::Mat::from_fn(n, n, |i, j| {
        let noise = if i == j {
            prior.noise / (area[i] * area[i])
        } else {
            0.0
        };
        variance * k[i][j] + noise
    });
    let residual: Vec<f64> = groups.iter().map(|g| g.density() - prior.mean).collect();
    let alpha = Cholesky::factor_owned(gram)
        .context("the covariance of the groups")?
        .solve(&residual);
    let cross = known.cross(prior.lengthscale, at);
    let mean = |row: &Vec<f64>| {
        let sum: f64 = row.iter().zip(&alpha).map(|(k, a)| k * a).sum();
        prior.mean + variance * sum
    };
    Ok(cross.iter().map(mean).collect())
}

/// Isotropic; hyperparameters: variance, lengthscale.
fn covariance() -> Result<Covariance> {
    Ok(Covariance::new(&Kernel::parse("se(x, y, shared = true)")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rectangle(x: (f64, f64), y: (f64, f64), people: f64) -> Tract {
        let ring = vec![[x.0, y.0], [x.1, y.0], [x.1, y.1], [x.0, y.1]];
        Tract::new(vec![vec![ring]], people).unwrap()
    }

    fn worst(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
        let pairs = a.iter().flatten().zip(b.iter().flatten());
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn stand_ins_of_rectangles_approach_the_regions() {
        let regions = [
            rectangle((0.0, 2.0), (0.0, 1.0), 1.0),
            rectangle((2.0, 3.0), (0.5, 3.0), 1.0),
        ];
        let of = |kind, n| {
            let averages = Averages::new(kind, &regions, n, 3).unwrap();
            averages.covariance(1.5)
        };
        let exact = of(StandIn::Region, 0);
        // The tolerance of regions is 1e-7; a rectangle fills a rectangle up to its grid.
        assert!(worst(&of(StandIn::Rectangles, 1), &exact) < 2e-6);
        // n^-1/2 of 400 points, and far less for low discrepancy.
        assert!(worst(&of(StandIn::Points, 400), &exact) < 0.05);
        assert!(worst(&of(StandIn::LowDiscrepancy, 256), &exact) < 0.005);
        assert!(worst(&of(StandIn::Points, 2), &exact) > 1e-3);
    }

    #[test]
    fn a_set_with_more_polygons_than_rectangles_keeps_its_largest() {
        let square = |at: f64, side: f64| {
            let (a, b) = (at, at + side);
            vec![vec![[a, 0.0], [b, 0.0], [b, side], [a, side]]]
        };
        let parts = vec![square(0.0, 1.0), square(9.0, 3.0), square(20.0, 2.0)];
        let set = Tract::new(parts, 1.0).unwrap();
        // Areas 9 and 4: quotients 9, then 9/2 against 4.
        let averages = Averages::new(StandIn::Rectangles, &[set], 2, 0).unwrap();
        for atom in 0..averages.of.len() {
            let (from, _) = averages.atoms.extent(atom, 0);
            assert!((9.0..12.0).contains(&from), "{from}");
        }
        let weights: f64 = averages.of.iter().map(|a| a.1).sum();
        assert!((weights - 1.0).abs() < 1e-14);
    }

    #[test]
    fn populations_of_the_areas_themselves_give_their_densities() {
        let tracts = [
            rectangle((0.0, 1.0), (0.0, 1.0), 100.0),
            rectangle((1.0, 3.0), (0.0, 1.0), 400.0),
            rectangle((5.0, 6.0), (0.0, 2.0), 60.0),
        ];
        let known = Averages::new(StandIn::Region, &tracts, 0, 0).unwrap();
        let prior = Prior {
            mean: 100.0,
            sd: 100.0,
            lengthscale: 1.0,
            noise: 1e-6,
        };
        let found = densities(&tracts, &known, &known, prior).unwrap();
        for (f, t) in found.iter().zip([100.0, 200.0, 30.0]) {
            // Noise of a thousandth of a person against a prior of hundreds.
            assert!((f - t).abs() < 1e-3, "{f} {t}");
        }
    }
}
