//! Boxes within boxes: what each counts beyond those within it.

use std::collections::BTreeMap;

use super::partly::{Edges, SHARED, shares};
use super::row::EventRow;
use super::{Overlap, Treatment, WhyKept};

/// Edges are one within this share of the range of all: rounding of decimal fractions.
const ROUNDING: f64 = 1e-9;
/// Exposures that are the same but for rounding.
const SAME_EXPOSURE: f64 = 1e-6;
/// By how much exposures of parts may miss that of their total: they are often estimates.
pub(super) const SAME_TOTAL: f64 = 0.01;

/// Takes differences along every dimension in turn, among rows that are the same along the others:
/// a series of sums that grow, in every class of age; a total beside its parts.
///
/// # Numerics
/// O(n log n) for n rows along each dimension.
pub(super) fn take_differences(rows: &mut [EventRow], found: &mut Vec<Overlap>) {
    let dims = rows.iter().map(|row| row.sides.len()).max().unwrap_or(0);
    for d in 0..dims {
        for group in alike_but_along(rows, d) {
            let edges = snapped(rows, &group, d);
            for run in runs(&edges) {
                if run.iter().all(|&i| edges[i] == edges[run[0]]) {
                    // Reports of one box, such as of several years.
                    continue;
                }
                let run = Run {
                    rows: run.iter().map(|&i| group[i]).collect(),
                    edges: run.iter().map(|&i| edges[i]).collect(),
                };
                match run.apart(rows) {
                    Ok(steps) => run.take(rows, d, steps, found),
                    Err(kept) => found.push(run.in_shares(rows, kept)),
                }
            }
        }
    }
}

/// Groups of rows that are one box along a dimension, and the same along all others.
fn alike_but_along(rows: &[EventRow], d: usize) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        let is_box = |side: &[Edges]| matches!(side, [(lower, upper)] if lower < upper);
        if row.goes || !row.varies_along(d) || !is_box(&row.sides[d]) {
            continue;
        }
        let mut key = vec![row.region.map_or(u64::MAX, |region| region as u64)];
        for (_, side) in row.sides.iter().enumerate().filter(|(e, _)| *e != d) {
            key.push(side.len() as u64);
            let ends = side.iter().flat_map(|(lower, upper)| [*lower, *upper]);
            key.extend(ends.map(|x| (x + 0.0).to_bits()));
        }
        groups.entry(key).or_default().push(i);
    }
    groups.into_values().filter(|g| g.len() > 1).collect()
}

/// The edges of some rows, those that differ by rounding made one.
fn snapped(rows: &[EventRow], group: &[usize], d: usize) -> Vec<Edges> {
    let edges: Vec<Edges> = group.iter().map(|&row| rows[row].sides[d][0]).collect();
    let mut all: Vec<f64> = edges.iter().flat_map(|&(a, b)| [a, b]).collect();
    all.sort_unstable_by(f64::total_cmp);
    let near = ROUNDING * (all[all.len() - 1] - all[0]);
    let mut distinct: Vec<f64> = Vec::with_capacity(all.len());
    for x in all {
        if distinct.last().is_none_or(|last| x - last > near) {
            distinct.push(x);
        }
    }
    let snap = |x: f64| distinct[distinct.partition_point(|e| *e <= x).max(1) - 1];
    edges.iter().map(|&(a, b)| (snap(a), snap(b))).collect()
}

/// Boxes that hang together, of two or more: each from the left, wide ones before those within
/// them.
fn runs(edges: &[Edges]) -> Vec<Vec<usize>> {
    let width = |i: usize| edges[i].1 - edges[i].0;
    let mut order: Vec<usize> = (0..edges.len()).filter(|&i| width(i) > 0.0).collect();
    order.sort_by(|&i, &j| {
        let (a, b) = (edges[i], edges[j]);
        a.0.total_cmp(&b.0)
            .then(b.1.total_cmp(&a.1))
            .then(i.cmp(&j))
    });
    let mut runs: Vec<Vec<usize>> = Vec::new();
    // The box that reaches farthest so far.
    let mut far: Option<usize> = None;
    for i in order {
        let joins = far.is_some_and(|far| {
            let shared = edges[far].1.min(edges[i].1) - edges[i].0;
            shared > SHARED * width(far).min(width(i))
        });
        match runs.last_mut() {
            Some(run) if joins => run.push(i),
            _ => runs.push(vec![i]),
        }
        if far.is_none_or(|far| edges[i].1 > edges[far].1) {
            far = Some(i);
        }
    }
    runs.retain(|run| run.len() > 1);
    runs
}

/// What becomes of a row of a run.
struct Step {
    /// Its place in the run.
    at: usize,
    /// The rows within it, by their places.
    within: Vec<usize>,
    /// Those of them that are not counted exactly, and are still part of it.
    hidden: Vec<usize>,
    /// What is left of its box; nothing where it is left out.
    left: Vec<Edges>,
    /// The events that are left.
    count: (f64, f64),
    /// The expected number of them at a rate of one.
    mass: f64,
}

/// Boxes that hang together, as [`runs`] orders them.
struct Run {
    /// Positions among all rows.
    rows: Vec<usize>,
    edges: Vec<Edges>,
}

impl Run {
    /// What is left of rows that have others within them, or why that cannot be said.
    fn apart(&self, rows: &[EventRow]) -> Result<Vec<Step>, Overlap> {
        let within = self.tree(rows)?;
        let mut counts: Vec<(f64, f64)> = self.rows.iter().map(|&row| rows[row].count).collect();
        let mut steps: Vec<Step> = Vec::new();
        for (at, within) in within.into_iter().enumerate() {
            if within.is_empty() {
                continue;
            }
            steps.push(self.step(rows, at, within, &mut counts)?);
        }
        // Counts that were hidden and follow from a total.
        let mut is_known = vec![false; counts.len()];
        steps.iter().for_each(|step| is_known[step.at] = true);
        for (at, &count) in counts.iter().enumerate() {
            if !is_known[at] && count != rows[self.rows[at]].count {
                steps.push(Step {
                    at,
                    within: Vec::new(),
                    hidden: Vec::new(),
                    left: vec![self.edges[at]],
                    count,
                    mass: rows[self.rows[at]].mass(),
                });
            }
        }
        Ok(steps)
    }

    /// The boxes right within each.
    fn tree(&self, rows: &[EventRow]) -> Result<Vec<Vec<usize>>, Overlap> {
        let mut within: Vec<Vec<usize>> = vec![Vec::new(); self.rows.len()];
        let mut around: Vec<usize> = Vec::new();
        for (at, &(lower, upper)) in self.edges.iter().enumerate() {
            while around.last().is_some_and(|&top| self.edges[top].1 <= lower) {
                around.pop();
            }
            if let Some(&top) = around.last() {
                let (one, other) = (&rows[self.rows[top]], &rows[self.rows[at]]);
                // A row that stands there twice is a total of one part.
                if self.edges[top] == (lower, upper) && one.count != other.count {
                    return Err(self.kept(rows, WhyKept::Repeated, top, at));
                }
                if upper > self.edges[top].1 {
                    return Err(self.kept(rows, WhyKept::Partly, top, at));
                }
                within[top].push(at);
            }
            around.push(at);
        }
        Ok(within)
    }

    fn step(
        &self,
        rows: &[EventRow],
        at: usize,
        within: Vec<usize>,
        counts: &mut [(f64, f64)],
    ) -> Result<Step, Overlap> {
        let row = |i: usize| &rows[self.rows[i]];
        let is_hidden = |i: &usize| counts[*i].0 < counts[*i].1;
        let hidden: Vec<usize> = within.iter().copied().filter(is_hidden).collect();
        let known: Vec<usize> = within.iter().copied().filter(|i| !is_hidden(i)).collect();
        let is_tiled = self.gaps(at, &within).is_empty();
        let refuse = |why: WhyKept| Err(self.kept(rows, why, at, within[0]));

        let mean = |i: usize| row(i).is_mean;
        if within.iter().any(|&i| mean(i) || mean(at)) {
            let parts: f64 = within.iter().map(|&i| row(i).mass()).sum();
            let over = (row(at).mass() - parts) / row(at).mass();
            let fits = match is_tiled {
                true => over.abs() <= SAME_TOTAL,
                false => over > 0.0,
            };
            if !fits {
                return refuse(WhyKept::Exposures);
            }
        } else {
            let own = row(at).exposure;
            let differs = |i: &&usize| (row(**i).exposure - own).abs() > SAME_EXPOSURE * own;
            if let Some(&other) = within.iter().find(differs) {
                return Err(self.kept(rows, WhyKept::Exposures, at, other));
            }
        }

        let counted: f64 = known.iter().map(|&i| counts[i].0).sum();
        let count = (counts[at].0 - counted, counts[at].1 - counted);
        if count.1 < 0.0 {
            return refuse(WhyKept::TooFew { by: -count.1 });
        }
        let left_out = |within: Vec<usize>| Step {
            at,
            within,
            hidden: Vec::new(),
            left: Vec::new(),
            count: (0.0, 0.0),
            mass: 0.0,
        };
        match (is_tiled, hidden.as_slice()) {
            (true, []) if count.0 > 0.0 => refuse(WhyKept::TooMany { by: count.0 }),
            (true, []) => Ok(left_out(within)),
            (true, &[only]) if count.0 == count.1 => {
                let (lower, upper) = counts[only];
                if count.0 < lower {
                    return refuse(WhyKept::TooFew {
                        by: lower - count.0,
                    });
                }
                if count.0 > upper {
                    return refuse(WhyKept::TooMany {
                        by: count.0 - upper,
                    });
                }
                counts[only] = count;
                Ok(left_out(within))
            }
            _ => Ok(Step {
                left: self.gaps(at, &known),
                count: (count.0.max(0.0), count.1),
                mass: row(at).mass() - known.iter().map(|&i| row(i).mass()).sum::<f64>(),
                at,
                within,
                hidden,
            }),
        }
    }

    /// What is left of a box beside those within it, which lie in order.
    fn gaps(&self, at: usize, within: &[usize]) -> Vec<Edges> {
        let (mut from, end) = self.edges[at];
        let mut gaps = Vec::new();
        for &(lower, upper) in within.iter().map(|&i| &self.edges[i]) {
            if lower > from {
                gaps.push((from, lower));
            }
            from = upper;
        }
        if end > from {
            gaps.push((from, end));
        }
        gaps
    }

    fn kept(&self, rows: &[EventRow], why: WhyKept, at: usize, other: usize) -> Overlap {
        Overlap::new(
            self.rows.iter().map(|&row| rows[row].number),
            (rows[self.rows[at]].number, rows[self.rows[other]].number),
            Treatment::Kept(why),
        )
    }

    /// Counts rows that have parts in common in shares, unless one place has several counts, of
    /// which it is not known whether they are of the same events.
    fn in_shares(&self, rows: &mut [EventRow], kept: Overlap) -> Overlap {
        let is_repeated = |at: usize| {
            self.edges[at] == self.edges[at - 1]
                && rows[self.rows[at]].count != rows[self.rows[at - 1]].count
        };
        let is_partly = kept.treatment == Treatment::Kept(WhyKept::Partly);
        if !is_partly || (1..self.rows.len()).any(is_repeated) {
            return kept;
        }
        for (&row, share) in self.rows.iter().zip(shares(&self.edges)) {
            rows[row].share *= share;
        }
        Overlap {
            treatment: Treatment::Shares,
            ..kept
        }
    }

    /// Makes the rows of a run what is left of them, and tells what was done.
    fn take(&self, rows: &mut [EventRow], d: usize, steps: Vec<Step>, found: &mut Vec<Overlap>) {
        let number = |rows: &[EventRow], i: usize| rows[self.rows[i]].number;
        let mut example = None;
        for step in steps {
            let within = step.within.iter().map(|&i| number(rows, i));
            let within: Vec<usize> = within.collect();
            let row = &mut rows[self.rows[step.at]];
            if step.left.is_empty() {
                row.goes = true;
                let pair = (row.number, within[0]);
                found.push(Overlap::new(within, pair, Treatment::LeftOut));
                continue;
            }
            let (lower, upper) = self.edges[step.at];
            let left: f64 = step.left.iter().map(|(a, b)| b - a).sum();
            if step.left != [(lower, upper)] {
                row.is_changed = true;
                row.sides[d] = step.left;
                row.set_mass(row.size * left / (upper - lower), step.mass);
                example = example.or(within.last().map(|&last| (row.number, last)));
            }
            row.is_changed |= row.count != step.count;
            row.count = step.count;
            let own = row.number;
            let hidden: Vec<usize> = step.hidden.iter().map(|&i| number(rows, i)).collect();
            if let Some(&first) = hidden.first() {
                let numbers = hidden.into_iter().chain([own]);
                let kept = Treatment::Kept(WhyKept::Hidden);
                found.push(Overlap::new(numbers, (own, first), kept));
            }
        }
        if let Some(pair) = example {
            let left = self.rows.iter().filter(|&&row| !rows[row].goes);
            let numbers = left.map(|&row| rows[row].number);
            found.push(Overlap::new(numbers, pair, Treatment::Differences));
        }
    }
}
