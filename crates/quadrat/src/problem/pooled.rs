//! Rows over boxes, regions and bags whose mean is a sum after a link.

use super::observations::Observations;
use crate::covariance::{Covariance, NodeRule};
use crate::error::InputError;
use crate::inference::pooled::{Draws, Pools};
use crate::kernel::{Kernel, Role};
use crate::likelihood::{Likelihood, Noise};
use crate::link::Link;
use crate::parameter::Parameter;
use crate::support::Functionals;

/// Most nodes of all rows together: every step multiplies by their covariance.
pub(crate) const MAX_NODES: usize = 4000;
/// Draws that meet what the rows report, of all hyperparameters together.
const DRAWS: usize = 4000;
/// Fewest draws at each value of the hyperparameters.
pub(super) const FEWEST_DRAWS: usize = 32;
/// Fewest draws over all of these, below which none are made: sds are then known to about 5 % where
/// the draws have equal weights, and to 16 % where a tenth of them carry it.
pub(super) const FEWEST_OF_ALL: f64 = 200.0;
/// Most numbers kept of draws, and as many of Cholesky factors of the nodes: 160 MB each.
const MOST_NUMBERS: f64 = 2e7;
/// Most operations of all draws; factors that predictions compute again may take ten times as
/// many.
const MOST_WORK: f64 = 3e10;
/// Free lengthscales are resolved down to this part of their starts, where that is affordable: less
/// than the most probable ones are integrated over.
const FINEST: f64 = 0.7;
/// A warning is given where nodes are this many times wider apart than the learned kernel needs.
const TOO_COARSE: f64 = 1.5;
/// Steps by which the nodes get fewer, the last where a warning is near.
const COARSER: [f64; 4] = [1.0, 1.2, 1.0 / FINEST, 1.4 / FINEST];
/// Nodes are placed anew where they get closer by more than this.
const CLOSER: f64 = 1.2;
/// So many nodes cost next to nothing.
const FEW_NODES: usize = 250;
/// Few rows have no more nodes than this where steps up to the widest, as many rows may have, do
/// with so many: a fit evaluates their covariance some hundred times.
const FEW_ROWS: usize = 100;
const ENOUGH_NODES: usize = 600;
/// Nodes are placed anew where this part of them is enough for what was learned.
const FEWER: f64 = 0.5;

/// What rows see of nodes.
pub(crate) struct Pooled {
    pub pools: Pools,
    /// Where the rows looked, as averages.
    pub observed: Functionals,
    /// Where boxes of rows begin and end along each dimension, ascending.
    pub ends: Vec<Vec<f64>>,
    /// The same of rows that are known exactly, where there are some: all rows are cut there, so
    /// that what exact rows have in common has the same nodes in each.
    pub exact_ends: Option<Vec<Vec<f64>>>,
    /// How nodes are placed.
    pub rule: NodeRule,
    /// Nodes of all rows at least, when they are too many to be made.
    pub demand: Option<usize>,
}

/// A row whose boxes are cut where observed rows end, so that a union of these has their nodes:
/// what they say of their sums then holds for its sum. A row that would have more nodes than `most`
/// stays.
pub(crate) fn cut(
    row: Functionals,
    ends: &[Vec<f64>],
    rule: &NodeRule,
    most: usize,
) -> Functionals {
    match row.cut(ends, most) {
        Some(cut) if rule.demand(&cut) <= most as f64 => cut,
        _ => row,
    }
}

/// Whether rows know what is behind a link exactly.
pub(crate) fn is_known_exactly(likelihood: &Likelihood) -> bool {
    let is_zero = |v: &f64| *v == 0.0;
    let exact = |noise: &Noise| matches!(noise, Noise::Known(known) if known.iter().any(is_zero));
    likelihood.link().is_some() && likelihood.noise().is_some_and(exact)
}

/// Where boxes of rows that are known exactly behind a link begin and end along each dimension;
/// none where no row is.
fn exact_ends(tables: &[Observations], observed: &Functionals) -> Option<Vec<Vec<f64>>> {
    let mut first = 0;
    let mut exact = Vec::new();
    for table in tables {
        if is_known_exactly(&table.likelihood)
            && let Some(Noise::Known(known)) = table.likelihood.noise()
        {
            let rows = (0..known.len()).filter(|&row| known[row] == 0.0);
            exact.extend(rows.map(|row| first + row));
        }
        first += table.supports.len();
    }
    (!exact.is_empty()).then(|| observed.ends(exact))
}

/// Whether a row reports a sum after a link.
pub(crate) fn is_pooled(table: &Observations) -> bool {
    table.likelihood.mean_link().is_some()
        && (0..table.supports.len()).any(|row| !table.supports.is_point(row))
}

/// The tables as functions of averages after a link, where there is one: sizes go into the
/// exposures.
pub(crate) fn per_unit(table: Observations) -> Observations {
    let rows = 0..table.supports.len();
    if table.likelihood.mean_link().is_none()
        || rows
            .clone()
            .all(|row| table.supports.is_point(row) && table.supports.size(row) == 1.0)
    {
        return table;
    }
    let sizes: Vec<f64> = rows.map(|row| table.supports.size(row)).collect();
    Observations {
        likelihood: table.likelihood.per_unit(&sizes),
        supports: table.supports.averaged(),
        ..table
    }
}

/// How nodes are placed for some hyperparameters: as finely as is affordable.
fn affordable(
    kernel: &Kernel,
    covariance: &Covariance,
    parameters: &[Parameter],
    theta: &[f64],
    observed: &Functionals,
) -> NodeRule {
    let mut shorter = theta.to_vec();
    let own = kernel.parameters();
    for ((own, parameter), value) in own.iter().zip(parameters).zip(&mut shorter) {
        if matches!(own.role, Role::Lengthscale(_)) && !parameter.fixed {
            *value *= FINEST;
        }
    }
    let finest = covariance.node_rule(&shorter, observed.dims().len());
    let rules = COARSER.map(|factor| finest.coarser(factor).limited(observed));
    // Nodes for a lengthscale that is fixed are for no shorter one, and have no room to be fewer.
    let is_known = own
        .iter()
        .zip(parameters)
        .any(|(own, parameter)| matches!(own.role, Role::Lengthscale(_)) && parameter.fixed);
    let most = match observed.len() <= FEW_ROWS && !is_known {
        true => ENOUGH_NODES,
        false => MAX_NODES,
    };
    let fits = |rule: &&NodeRule| rule.demand(observed) <= most as f64;
    let last = &rules[COARSER.len() - 1];
    let rule = rules.iter().find(fits).unwrap_or(last).clone();
    rule.of_few(observed, FEW_NODES as f64)
}

impl Pooled {
    /// Rows of tables that were made [`per_unit`], and their nodes.
    ///
    /// A search has the same nodes from its beginning to its end: a box or region of a width of `u`
    /// steps has about `1 + 2 u` along it, where a step is seven tenths of the lengthscale's start
    /// (its value, where that is fixed), less for rough and periodic kernels, up to 1.4 times the
    /// start where that would be more than [`MAX_NODES`]. Where what is learned wants others
    /// ([`Self::wants_others`]), they are placed anew. Rows more than ten times as wide as half of
    /// them have no more nodes than such, or 200. Few rows have up to eight along each side of a
    /// box, which costs next to nothing.
    pub fn new(
        kernel: &Kernel,
        covariance: &Covariance,
        parameters: &[Parameter],
        tables: &[Observations],
        observed: Functionals,
    ) -> (Self, Functionals) {
        let starts: Vec<f64> = parameters.iter().map(|p| p.start).collect();
        let rule = affordable(kernel, covariance, parameters, &starts, &observed);
        let exact_ends = exact_ends(tables, &observed);
        let pieces = match &exact_ends {
            None => Some(observed.clone()),
            Some(ends) => observed.cut(ends, MAX_NODES),
        };
        let Some(pieces) = pieces else {
            return Self::refused(rule, observed, MAX_NODES + 1);
        };
        // Rows that share points have fewer nodes than they ask for.
        let demand = rule.demand(&pieces);
        let is_flat = |d: usize| observed.width(d).iter().all(|w| *w == 0.0);
        let is_points = !observed.has_regions() && (0..observed.dims().len()).all(is_flat);
        if !is_points && demand > 4.0 * MAX_NODES as f64 {
            return Self::refused(rule, observed, demand as usize);
        }
        let spread = rule.apply(&pieces);
        let (points, index) = spread.distinct_points();
        if points.len() > MAX_NODES {
            return Self::refused(rule, observed, points.len());
        }
        let mut pools = Pools::new(points.len());
        let mut row = 0;
        for table in tables {
            let link = table.likelihood.mean_link().unwrap_or(Link::Identity);
            for _ in 0..table.supports.len() {
                let atoms = spread.atoms(row);
                pools.push(link, atoms.map(|a| (index[a], spread.weight()[a])));
                row += 1;
            }
        }
        let own = Self {
            pools,
            ends: observed.ends(0..observed.len()),
            exact_ends,
            observed,
            rule,
            demand: None,
        };
        (own, points)
    }

    /// Whether what was learned wants other nodes: it varies faster than these show and more of
    /// them can be had, or far fewer are enough.
    ///
    /// # Arguments
    /// * `theta` - what was learned
    pub fn wants_others(
        &self,
        kernel: &Kernel,
        covariance: &Covariance,
        parameters: &[Parameter],
        theta: &[f64],
    ) -> bool {
        let next = affordable(kernel, covariance, parameters, theta, &self.observed);
        let wanted = covariance.node_rule(theta, self.observed.dims().len());
        let demand = next.demand(&self.observed);
        let nodes = self.pools.nodes();
        let is_coarse = self.rule.excess(&wanted, &self.observed) > 1.0;
        let is_finer = self.rule.excess(&next, &self.observed) > CLOSER;
        let are_too_many = nodes > FEW_NODES && demand <= FEWER * nodes as f64;
        demand <= MAX_NODES as f64 && ((is_coarse && is_finer) || are_too_many)
    }

    fn refused(rule: NodeRule, observed: Functionals, demand: usize) -> (Self, Functionals) {
        let nothing = Functionals::new(observed.dims().to_vec());
        let own = Self {
            pools: Pools::new(0),
            ends: Vec::new(),
            exact_ends: None,
            observed,
            rule,
            demand: Some(demand),
        };
        (own, nothing)
    }

    /// Draws that are to meet what the rows report, at hyperparameters of a share of the weight;
    /// none where they or the factors of all nodes would take too much memory or time.
    ///
    /// # Arguments
    /// * `share` - of the weight of all hyperparameters that are kept
    /// * `count` - how many of these there are
    pub fn draws(&self, share: f64, count: usize) -> Draws {
        let nodes = self.pools.nodes() as f64;
        let factors = nodes * nodes * count as f64;
        let most = (MOST_NUMBERS / (3.0 * nodes)).min(MOST_WORK / self.work());
        if 2.0 * nodes * nodes > MOST_NUMBERS
            || nodes * factors > 10.0 * MOST_WORK
            || most < FEWEST_OF_ALL
        {
            return Draws::default();
        }
        let all = (DRAWS as f64).min(most);
        let mut draws = Draws::kept(((all * share) as usize).max(FEWEST_DRAWS));
        draws.keeps_factor = factors <= MOST_NUMBERS;
        draws
    }

    /// Operations of a draw, about: some four steps of Newton's method, each with a factorisation
    /// over the rows.
    pub fn work(&self) -> f64 {
        let (nodes, rows) = (self.pools.nodes() as f64, self.pools.rows() as f64);
        nodes * nodes + 16.0 * nodes * rows + 3.0 * rows.powi(3)
    }

    /// Whether draws answer: else a normal distribution of the nodes does, which has to converge.
    pub fn has_draws(&self) -> bool {
        let mut links = (0..self.pools.rows()).map(|row| self.pools.link(row));
        self.draws(1.0, 1).count > 0 && !links.any(|link| link == Link::Square)
    }

    /// Refuses rows of too many nodes.
    pub fn check(&self) -> Result<(), InputError> {
        match self.demand {
            None => Ok(()),
            Some(nodes) => Err(InputError::TooManyNodes {
                nodes,
                rows: self.observed.len(),
                limit: MAX_NODES,
                remedy: self.remedy(),
            }),
        }
    }

    /// What helps where rows have too many nodes.
    fn remedy(&self) -> String {
        /// Lengthscales so many times as long are tried.
        const LONGER: [f64; 8] = [1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0];
        let fits = |factor: &&f64| {
            let rule = self.rule.coarser(**factor).limited(&self.observed);
            rule.demand(&self.observed) <= MAX_NODES as f64
        };
        let longer = LONGER.iter().find(fits).map_or_else(String::new, |factor| {
            format!(", or give the lengthscales a `start` {factor} times as long as now")
        });
        format!(
            "`method = \"sparse\"` takes them as they are; else use coarser bins or borders, or merge points of the bags{longer}"
        )
    }

    /// What to say when the kernel that was learned varies faster than the nodes show.
    pub fn warning(&self, covariance: &Covariance, theta: &[f64]) -> Option<String> {
        let wanted = covariance.node_rule(theta, self.observed.dims().len());
        let excess = self.rule.excess(&wanted, &self.observed);
        if excess <= TOO_COARSE {
            return None;
        }
        // The advice must not lead to a refusal.
        let demand = wanted.limited(&self.observed).demand(&self.observed);
        let remedy = match demand <= MAX_NODES as f64 {
            true => "give its lengthscale a shorter `start`",
            false => {
                "a shorter `start` would ask for more nodes than are accepted, so use `method = \"sparse\"`, or coarser bins or borders"
            }
        };
        Some(format!(
            "the learned function changes {excess:.1} times faster than the nodes within the boxes or regions were placed for, so that sums after the link are rough: {remedy}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::Poisson;
    use crate::parameter::PriorDensity;
    use crate::support::Aggregate;

    /// Boxes of one unit each, whose nodes are placed for a lengthscale of one.
    fn boxes(rows: usize) -> (Pooled, Covariance) {
        let kernel = Kernel::se(["x"]);
        let covariance = Covariance::new(&kernel);
        let one = |p: &crate::kernel::KernelParameter| {
            Parameter::positive(&p.name, "", 1.0, PriorDensity::Flat)
        };
        let parameters: Vec<Parameter> = kernel.parameters().iter().map(one).collect();
        let one = |i: usize| (i as f64, i as f64 + 1.0);
        let edges: Vec<(f64, f64)> = (0..rows).map(one).collect();
        let set = Functionals::intervals("x", &edges, Aggregate::Mean).unwrap();
        let counts = Poisson::new(vec![1.0; rows], vec![1.0; rows], Link::Exp).unwrap();
        let table = Observations::new(set.clone(), counts).unwrap();
        let (pooled, _) = Pooled::new(&kernel, &covariance, &parameters, &[table], set);
        (pooled, covariance)
    }

    /// Nodes follow what was learned: more of them for what varies faster, fewer where half of
    /// them are enough, and the same where it is what they were placed for.
    #[test]
    fn what_is_learned_may_want_other_nodes() {
        let (many, covariance) = boxes(200);
        let kernel = Kernel::se(["x"]);
        let one = |p: &crate::kernel::KernelParameter| {
            Parameter::positive(&p.name, "", 1.0, PriorDensity::Flat)
        };
        let parameters: Vec<Parameter> = kernel.parameters().iter().map(one).collect();
        let wants = |pooled: &Pooled, lengthscale: f64| {
            pooled.wants_others(&kernel, &covariance, &parameters, &[1.0, lengthscale])
        };
        assert!(many.pools.nodes() > FEW_NODES);
        for (lengthscale, other) in [(0.3, true), (0.8, false), (1.0, false), (1.3, false)] {
            assert_eq!(wants(&many, lengthscale), other, "{lengthscale}");
        }
        assert!(wants(&many, 4.0));
        // More than can be had; few cost nothing.
        assert!(!wants(&many, 0.01));
        assert!(!wants(&boxes(10).0, 4.0));
    }

    /// Few rows have eight nodes a side, which cost next to nothing, and what is asked for inside
    /// of them has fewer; many have what their widths ask for.
    #[test]
    fn few_rows_have_more_nodes() {
        let along = |pooled: &Pooled, width: f64| {
            let one = Functionals::intervals("x", &[(0.0, width)], Aggregate::Mean).unwrap();
            pooled.rule.demand(&one)
        };
        let (few, some, many) = (boxes(5).0, boxes(40).0, boxes(200).0);
        assert_eq!([&few, &some, &many].map(|p| along(p, 1.0)), [8.0, 6.0, 4.0]);
        assert!(some.pools.nodes() <= FEW_NODES);
        assert_eq!(
            [0.01, 0.5, 1.0, 20.0].map(|w| along(&few, w)),
            [3.0, 5.0, 8.0, 59.0]
        );
    }

    /// Few rows in two dimensions have no more nodes than a fit can be done with in seconds, unless
    /// the lengthscale is known.
    #[test]
    fn few_rows_have_some_hundred_nodes() {
        let kernel = Kernel::matern32(["x", "y"]);
        let covariance = Covariance::new(&kernel);
        let nodes = |fixed: bool| {
            let one = |p: &crate::kernel::KernelParameter| Parameter {
                fixed,
                ..Parameter::positive(&p.name, "", 0.3, PriorDensity::Flat)
            };
            let parameters: Vec<Parameter> = kernel.parameters().iter().map(one).collect();
            let mut set = Functionals::new(vec!["x".into(), "y".into()]);
            for i in 0..6 {
                let x = f64::from(i);
                set.push_box(&[(x, x + 1.0), (0.0, 1.0)], Aggregate::Mean)
                    .unwrap();
            }
            let rule = affordable(&kernel, &covariance, &parameters, &[1.0, 0.3, 0.3], &set);
            rule.demand(&set)
        };
        let (free, known) = (nodes(false), nodes(true));
        // Steps 1.4 times as wide along both dimensions are half of the nodes, but for those at the
        // ends of boxes.
        assert!(known <= MAX_NODES as f64, "{known}");
        assert!(free < 0.75 * known && free > 0.4 * known, "{free} {known}");
    }

    /// What a warning advises is not what a refusal forbids.
    #[test]
    fn a_shorter_start_is_advised_where_it_would_be_accepted() {
        // 0.05: some 120 nodes in each box.
        let theta = [1.0, 0.05];
        let (few, covariance) = boxes(10);
        let told = few.warning(&covariance, &theta).unwrap();
        assert!(
            told.contains("give its lengthscale a shorter `start`"),
            "{told}"
        );
        assert!(few.warning(&covariance, &[1.0, 1.0]).is_none());
        let (many, covariance) = boxes(200);
        let told = many.warning(&covariance, &theta).unwrap();
        assert!(told.contains("use `method = \"sparse\"`"), "{told}");
        let wanted = covariance.node_rule(&theta, 1);
        assert!(wanted.demand(&many.observed) > MAX_NODES as f64);
        assert!(many.check().is_ok());
    }
}
