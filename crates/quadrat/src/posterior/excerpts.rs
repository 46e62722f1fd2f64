//! Whether sparse inference is as unsure of what is inside rows as it should be: excerpts of the
//! rows, answered by the normal belief and by weighted draws.
//!
//! Where rows are sums after a link and many, no draws answer. The normal belief about the function
//! then meets the sum of a row, and where the function may vary much within it, it is too sure of
//! the parts. By how much is seen on a few rows that lie together: of the same prior, at the
//! likeliest hyperparameters and through the nearest inducing points, halves of rows are told by
//! the belief that sparse inference has of these rows alone, and by draws that meet them.

use crate::inference::pooled::Draws;
use crate::inference::sparse::LogSum;
use crate::kernel::NO_LABEL;
use crate::likelihood::local::Belief;
use crate::link::Link;
use crate::posterior::component::{Component, Node};
use crate::posterior::mixture::Posterior;
use crate::posterior::row_sums::BelievedNodes;
use crate::problem::observations::Observations;
use crate::problem::pooled::is_pooled;
use crate::problem::settings::Inducing;
use crate::problem::sparse::SparseChoice;
use crate::support::Functionals;

/// Most excerpts; most rows of a table in each; most points of a row; most nodes of an excerpt.
/// With the draws below an excerpt takes some tenths of a second.
const EXCERPTS: usize = 3;
const ROWS: usize = 4;
const POINTS: usize = 48;
const NODES: usize = 400;
/// How many of the nearest inducing points an excerpt has.
const INDUCING: usize = 200;
/// Draws of an excerpt; at an effective size of a tenth of them, sds are known to about 7 %.
const DRAWS: usize = 1000;
/// Squared distance of another label.
const OTHER: f64 = 1e-12;
/// Sds that differ by more than this factor, either way, are warned of: four times that error.
const FACTOR: f64 = 1.3;
/// So are means that differ by more than this, in sds.
const APART: f64 = 0.5;

/// What was seen of halves of rows.
#[derive(Debug, Default)]
struct Seen {
    halves: usize,
    /// Those that are told too surely, too widely or off, and the worst of each.
    wrong: usize,
    sure: f64,
    wide: f64,
    off: f64,
}

impl Posterior {
    /// What to say of intervals inside rows that are sums after a link, where inference is sparse
    /// and no draws answer; nothing where draws do not tell either.
    ///
    /// # Numerics
    /// For each of three excerpts `O(nodes^3 + nodes^2 draws)`, at most 400 nodes and 1,000 draws,
    /// and some tens of passes over its points; whatever the number of rows.
    pub(crate) fn warning_of_insides(&self) -> Option<String> {
        let sparse = self.problem.sparse()?;
        if self.problem.drawn().sparse().is_none() || sparse.options.form != LogSum::Matched {
            return None;
        }
        let sums = self.rows_of_sums();
        let mut seen = Seen::default();
        let count = EXCERPTS.min(sums.len());
        for k in 0..count {
            let centre = sums[(2 * k + 1) * sums.len() / (2 * count)];
            if let Some(excerpt) = self.excerpt(centre) {
                excerpt.look_at_halves(&mut seen);
            }
        }
        seen.told()
    }

    /// Rows that are sums after a link behind which draws are possible, among all rows.
    fn rows_of_sums(&self) -> Vec<usize> {
        let observed = self.problem.observed();
        let (mut out, mut first) = (Vec::new(), 0);
        for table in &self.tables {
            let all = first..first + table.supports().len();
            first = all.end;
            let is_open = table.likelihood().mean_link() == Some(Link::Square);
            if is_pooled(table) && !is_open {
                out.extend(all.filter(|&row| !observed.is_point(row)));
            }
        }
        out
    }

    /// A row with those near it, at the likeliest hyperparameters: with the belief of sparse
    /// inference and draws; none where one of them is not to be had.
    fn excerpt(&self, centre: usize) -> Option<Self> {
        let (observed, sparse) = (self.problem.observed(), self.problem.sparse()?);
        let near = Near::new(self, centre);
        let mut first = 0;
        let mut tables: Vec<Observations> = Vec::with_capacity(self.tables.len());
        for table in &self.tables {
            let all: Vec<usize> = (first..first + table.supports().len()).collect();
            let rows = near.nearest(observed, &all, ROWS);
            let rows: Vec<usize> = rows.iter().map(|row| row - first).collect();
            first += all.len();
            let table = table.rows(&rows).ok()?;
            let supports = table.supports.thinned(POINTS);
            tables.push(Observations { supports, ..table });
        }
        let inducing = sparse.inducing();
        let all: Vec<usize> = (0..inducing.len()).collect();
        let inducing = inducing.rows(&near.nearest(inducing, &all, INDUCING));
        let choice = SparseChoice {
            inducing: Inducing::At(Box::new(inducing)),
            form: sparse.options.form,
            within: sparse.within,
            ..SparseChoice::default()
        };
        let theta = &self.components[0].theta;
        let mut problem = self.problem.on(&tables, Some(&choice)).ok()?;
        problem.draw_sums(&tables, theta);
        let pooled = problem.drawn().pooled()?;
        if pooled.pools.nodes() > NODES {
            return None;
        }
        let conditioned = problem.condition_with(theta, Draws::kept(DRAWS)).ok()?;
        conditioned.lift.as_ref().filter(|lift| !lift.is_poor())?;
        let node = Node {
            weight: 1.0,
            theta: theta.clone(),
            log_evidence: conditioned.log_evidence,
        };
        let component = Component {
            weight: 1.0,
            theta: theta.clone(),
            conditioned,
        };
        let summary = self.summary.clone();
        Some(Self::new(
            problem,
            tables,
            vec![node],
            vec![component],
            summary,
        ))
    }

    /// Sets halves of its rows by the belief beside those by draws.
    fn look_at_halves(&self, seen: &mut Seen) {
        let component = &self.components[0];
        let (Ok(Some(lift)), Some(pooled)) =
            (self.lift_of(component), self.problem.drawn().pooled())
        else {
            return;
        };
        let nodes = pooled.rule.apply(&pooled.observed);
        let mut first = 0;
        for table in &self.tables {
            let rows = first..first + table.supports().len();
            first = rows.end;
            let Some(link) = table.likelihood().mean_link() else {
                continue;
            };
            for row in rows.filter(|&row| nodes.atoms(row).len() > 1) {
                let halves = halves(&nodes, row);
                let points = halves.atoms_as_points();
                let held = vec![None; halves.len()];
                let parts = (&halves, &points, &held[..]);
                let drawn = self.lifted_totals(component, (&lift, None), parts, (link, &[1.0]));
                let believed = BelievedNodes::new(self, component, &halves);
                for (half, drawn) in drawn.into_iter().enumerate() {
                    if let Some(&[drawn]) = drawn.as_deref() {
                        seen.add(link, believed.total(link, &halves, half), drawn);
                    }
                }
            }
        }
    }
}

/// Where rows are near.
struct Near {
    centre: Vec<f64>,
    /// Lengths with which distances compare; of outputs, so short that others come last.
    scale: Vec<f64>,
    /// Columns of labels, of which others come last among places as near.
    labels: Vec<usize>,
}

impl Near {
    fn new(posterior: &Posterior, centre: usize) -> Self {
        let observed = posterior.problem.observed();
        let output = posterior.problem.kernel().output_column();
        let scale = (0..observed.dims().len()).map(|d| {
            let (low, high) = observed.range(d);
            let part = if output == Some(d) { 1e-6 } else { 1.0 };
            match high > low {
                true => part * (high - low),
                false => 1.0,
            }
        });
        Self {
            scale: scale.collect(),
            labels: posterior.problem.kernel().label_columns(),
            centre: middle(observed, centre),
        }
    }

    /// The nearest of some rows, ascending.
    fn nearest(&self, set: &Functionals, rows: &[usize], most: usize) -> Vec<usize> {
        let distance = |row: usize| -> f64 {
            let at = middle(set, row);
            let away = at.iter().zip(&self.centre).zip(&self.scale).enumerate();
            away.map(|(d, ((x, c), s))| match self.labels.contains(&d) {
                true if x == c || *x == NO_LABEL => 0.0,
                true => OTHER,
                false => ((x - c) / s).powi(2),
            })
            .sum()
        };
        let mut all: Vec<(f64, usize)> = rows.iter().map(|&row| (distance(row), row)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.truncate(most);
        let mut out: Vec<usize> = all.into_iter().map(|(_, row)| row).collect();
        out.sort_unstable();
        out
    }
}

/// The middle of the smallest box around a row.
fn middle(set: &Functionals, row: usize) -> Vec<f64> {
    let along = |d: usize| {
        let (low, high) = set.extent(row, d);
        f64::midpoint(low, high)
    };
    (0..set.dims().len()).map(along).collect()
}

/// Averages over the two halves of a row of weighted points, on either side of the middle of its
/// weights along the column in which they differ most, in units of the whole set.
fn halves(nodes: &Functionals, row: usize) -> Functionals {
    let points = nodes.atoms_as_points();
    let spread = |d: usize| {
        let (low, high) = nodes.extent(row, d);
        let (least, most) = nodes.range(d);
        if most > least {
            (high - low) / (most - least)
        } else {
            0.0
        }
    };
    let longest = (0..nodes.dims().len()).max_by(|&a, &b| spread(a).total_cmp(&spread(b)));
    let along = nodes.lower(longest.unwrap_or(0));
    let mut atoms: Vec<usize> = nodes.atoms(row).collect();
    atoms.sort_by(|&a, &b| along[a].total_cmp(&along[b]));
    let weight = nodes.weight();
    let whole: f64 = atoms.iter().map(|&a| weight[a]).sum();
    let mut sum = 0.0;
    let before = atoms.iter().take_while(|&&a| {
        sum += weight[a];
        sum <= 0.5 * whole
    });
    let split = before.count().clamp(1, atoms.len() - 1);
    let half = |own: &[usize]| {
        let all: f64 = own.iter().map(|&a| weight[a]).sum();
        let shares: Vec<f64> = own.iter().map(|&a| weight[a] / all).collect();
        points.rows(own).into_one_row(&shares)
    };
    let mut out = half(&atoms[..split]);
    // Of the same columns.
    let _ = out.extend(&half(&atoms[split..]));
    out
}

impl Seen {
    /// One half: the latent values that it amounts to by the belief and by draws.
    fn add(&mut self, link: Link, believed: Belief, drawn: Belief) {
        let [believed, drawn] = [believed, drawn].map(|belief| link.moments(belief));
        let ratio = (believed.variance / drawn.variance).sqrt();
        let off = (believed.mean - drawn.mean).abs() / drawn.variance.sqrt();
        if !ratio.is_finite() || !off.is_finite() {
            return;
        }
        self.halves += 1;
        self.sure = self.sure.max(1.0 / ratio);
        self.wide = self.wide.max(ratio);
        self.off = self.off.max(off);
        if ratio.max(1.0 / ratio) > FACTOR || off > APART {
            self.wrong += 1;
        }
    }

    fn told(&self) -> Option<String> {
        if self.wrong == 0 {
            return None;
        }
        let mut how = Vec::new();
        if self.sure > FACTOR {
            how.push(format!("up to {:.1} times too surely", self.sure));
        }
        if self.wide > FACTOR {
            how.push(format!("up to {:.1} times too widely", self.wide));
        }
        if self.off > APART {
            how.push(format!(
                "with means off by up to {:.1} of their sds",
                self.off
            ));
        }
        Some(format!(
            "the normal belief of sparse inference is not to be relied on inside rows that are sums after a link: on excerpts of the rows, {} of {} halves of rows are told {}, beside weighted draws that meet the rows; a dense `method` has such draws up to some 3,000 points or nodes, and sparse inference up to 1,000 in all: merge points of the bags, or fit a part of the rows",
            self.wrong,
            self.halves,
            how.join(", ")
        ))
    }
}
