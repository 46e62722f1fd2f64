//! Totals of rows that make them up, and rows that still meet.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::apply::atoms;
use super::nested::SAME_TOTAL;
use super::partly::SHARED;
use super::row::{EventRow, EventRows};
use super::{Overlap, Treatment, WhyKept};
use crate::problem::kernel_products::limit;
use crate::problem::row_products::RowProducts;
use crate::support::Functionals;
use crate::support::overlap::{OverlapProducts, products};

/// Borders have no more in common than this share of the smaller region: rounding of areas.
const NOTHING: f64 = 1e-9;
/// Weights and sizes that are the same but for rounding.
const SAME: f64 = 1e-6;

/// Leaves out rows that are the totals of others, and tells of rows that meet beyond that.
pub(super) fn totals_and_rest(all: &mut EventRows, found: &mut Vec<Overlap>) {
    let mut told = Told::new(found);
    let speaks = |row: &EventRow| !row.goes && !told.stuck.contains(&row.number);
    let live: Vec<usize> = (0..all.rows.len())
        .filter(|&at| speaks(&all.rows[at]))
        .collect();
    let supports = current(all, &live);
    if live.len() < 2 || !may_meet(&supports) {
        return;
    }
    let averages = supports.averaged();
    let columns: Vec<usize> = (0..averages.dims().len()).collect();
    let Some(products) = products(&averages, &columns) else {
        return;
    };
    let meet = Meet::new(&products, live.len());
    let gram = RowProducts::new(&averages, &meet.products(), |_| false);
    for (row, of) in gram.dependent(limit(&averages)) {
        // Averages over parts make up that over the whole with shares of it.
        if of.len() < 2 || of.iter().any(|(_, share)| *share <= 0.0) {
            continue;
        }
        let of: Vec<usize> = of.iter().map(|(other, _)| live[*other]).collect();
        let own = all.rows[live[row]].number;
        let is_told = |at: &usize| told.pairs.contains(&(own, all.rows[*at].number));
        // Its parts were looked at as boxes within it.
        if all.of_trials {
            total_of_trials(&mut all.rows, live[row], &of, found);
        } else if !of.iter().any(is_told) {
            total(&mut all.rows, live[row], &of, &mut told, found);
        }
    }
    if all.of_trials {
        return;
    }
    let is_left = |at: usize| !all.rows[live[at]].goes;
    let number = |at: usize| all.rows[live[at]].number;
    let mut pairs = Vec::new();
    for (&(i, j), product) in &meet.pairs {
        let is_told = told.pairs.contains(&(number(i), number(j)))
            || told.pairs.contains(&(number(j), number(i)));
        if !is_left(i) || !is_left(j) || is_told {
            continue;
        }
        let shares = match is_bag(&supports, i) || is_bag(&supports, j) {
            true => bags_share(&supports, i, j, all.rows[live[i]].is_mean),
            false => meet.shares(i, j, *product),
        };
        if shares {
            let (wide, narrow) = if meet.own[i] <= meet.own[j] {
                (i, j)
            } else {
                (j, i)
            };
            pairs.push((number(wide), number(narrow)));
        }
    }
    found.extend(
        groups(&pairs)
            .into_iter()
            .map(|(rows, pair)| Overlap::new(rows, pair, Treatment::Kept(WhyKept::Partly))),
    );
}

/// What was told of rows already.
struct Told {
    /// Rows of which something is wrong, and those that count in shares.
    stuck: HashSet<usize>,
    /// Totals and rows within them.
    pairs: HashSet<(usize, usize)>,
}

impl Told {
    fn new(found: &[Overlap]) -> Self {
        let mut told = Self {
            stuck: HashSet::new(),
            pairs: HashSet::new(),
        };
        for overlap in found {
            match overlap.treatment {
                Treatment::Kept(WhyKept::Hidden) => {
                    let own = overlap.pair.0;
                    told.pairs
                        .extend(overlap.rows.iter().map(|&row| (own, row)));
                }
                Treatment::Kept(_) | Treatment::Shares => told.stuck.extend(&overlap.rows),
                _ => {}
            }
        }
        told
    }
}

/// Leaves out the total of some rows, where counts and exposures add up.
fn total(
    rows: &mut [EventRow],
    whole: usize,
    of: &[usize],
    told: &mut Told,
    found: &mut Vec<Overlap>,
) {
    let own = rows[whole].number;
    let parts: Vec<usize> = of.iter().map(|&at| rows[at].number).collect();
    let mut tell = |told: &mut Told, why: Option<WhyKept>| {
        told.pairs.extend(parts.iter().map(|&part| (own, part)));
        let treatment = why.map_or(Treatment::LeftOut, Treatment::Kept);
        let with_total = parts.iter().copied().chain(why.is_some().then_some(own));
        found.push(Overlap::new(with_total, (own, parts[0]), treatment));
    };
    let mass: f64 = of.iter().map(|&at| rows[at].mass()).sum();
    if (mass / rows[whole].mass() - 1.0).abs() > SAME_TOTAL {
        // Weighted points may look alike by chance, such as people of the same ages.
        if !rows[whole].sides.is_empty() {
            tell(told, Some(WhyKept::Exposures));
        }
        return;
    }
    let hidden: Vec<usize> = of
        .iter()
        .copied()
        .filter(|&at| !rows[at].is_counted())
        .collect();
    let known = of.iter().filter(|&&at| rows[at].is_counted());
    let counted: f64 = known.map(|&at| rows[at].count.0).sum();
    let (lower, upper) = rows[whole].count;
    let left = (lower - counted, upper - counted);
    let (least, most) = match hidden.as_slice() {
        [] => (0.0, 0.0),
        &[only] => rows[only].count,
        _ if left.1 < 0.0 => (0.0, 0.0),
        _ => return tell(told, Some(WhyKept::Hidden)),
    };
    if left.1 < least {
        return tell(told, Some(WhyKept::TooFew { by: least - left.1 }));
    }
    if left.0 > most {
        return tell(told, Some(WhyKept::TooMany { by: left.0 - most }));
    }
    match hidden.first() {
        Some(_) if lower < upper => return tell(told, Some(WhyKept::Hidden)),
        Some(&only) => {
            rows[only].count = left;
            rows[only].is_changed = true;
        }
        None => {}
    }
    rows[whole].goes = true;
    tell(told, None);
}

/// Leaves out successes among trials of which both are the sums of those of some rows: of the same
/// people. Surveys of one place with as many answers otherwise are samples of their own.
fn total_of_trials(rows: &mut [EventRow], whole: usize, of: &[usize], found: &mut Vec<Overlap>) {
    let sum = |value: &dyn Fn(&EventRow) -> f64| of.iter().map(|&at| value(&rows[at])).sum::<f64>();
    let is_sum = |value: &dyn Fn(&EventRow) -> f64| {
        (sum(value) - value(&rows[whole])).abs() <= NOTHING * value(&rows[whole])
    };
    if !is_sum(&|row| row.exposure) || !is_sum(&|row| row.count.0) {
        return;
    }
    let parts: Vec<usize> = of.iter().map(|&at| rows[at].number).collect();
    let pair = (rows[whole].number, parts[0]);
    found.push(Overlap::new(parts, pair, Treatment::LeftOut));
    rows[whole].goes = true;
}

/// The supports of some rows as they are by now.
fn current(all: &EventRows, live: &[usize]) -> Functionals {
    let along: Vec<Option<usize>> = (0..all.dims.len()).map(Some).collect();
    let changed = live.iter().filter_map(|&at| {
        let row = &all.rows[at];
        (row.is_changed && !row.sides.is_empty()).then(|| {
            let mut own = row.clone();
            own.row = at;
            (at, atoms(&own, &all.supports, &along))
        })
    });
    let changed: HashMap<_, _> = changed.collect();
    all.supports.with_rows(&changed).rows(live)
}

/// Whether any two rows may have something in common: one has a width, or points coincide.
fn may_meet(supports: &Functionals) -> bool {
    let dims = 0..supports.dims().len();
    let is_wide = |d: usize| supports.width(d).iter().any(|w| *w > 0.0);
    if dims.clone().any(is_wide) {
        return true;
    }
    let mut places: Vec<(u64, usize)> = Vec::with_capacity(supports.atom_count());
    for row in 0..supports.len() {
        for atom in supports.atoms(row) {
            let mut hasher = DefaultHasher::new();
            for d in dims.clone() {
                (supports.lower(d)[atom] + 0.0).to_bits().hash(&mut hasher);
            }
            places.push((hasher.finish(), row));
        }
    }
    places.sort_unstable();
    places
        .windows(2)
        .any(|two| two[0].0 == two[1].0 && two[0].1 != two[1].1)
}

/// What averages over rows have in common: the volume over both volumes.
struct Meet {
    /// One over the volume of each row.
    own: Vec<f64>,
    /// Later rows with earlier ones.
    pairs: BTreeMap<(usize, usize), f64>,
}

impl Meet {
    fn new(products: &OverlapProducts, rows: usize) -> Self {
        let mut meet = Self {
            own: vec![0.0; rows],
            pairs: BTreeMap::new(),
        };
        for &(i, j, product) in products {
            match i == j {
                true => meet.own[i] += product,
                false => *meet.pairs.entry((i, j)).or_default() += product,
            }
        }
        let own = &meet.own;
        meet.pairs
            .retain(|&(i, j), product| *product > NOTHING * own[i].min(own[j]));
        meet
    }

    fn products(&self) -> OverlapProducts {
        let own = self.own.iter().enumerate().map(|(i, v)| (i, i, *v));
        let pairs = self.pairs.iter().map(|(&(i, j), v)| (i, j, *v));
        own.chain(pairs).collect()
    }

    /// Whether two rows have more than a sliver of the smaller in common, and are not the same.
    fn shares(&self, i: usize, j: usize, product: f64) -> bool {
        let (a, b) = (self.own[i], self.own[j]);
        let is_same = product >= (1.0 - SAME) * a.max(b);
        product > SHARED * a.min(b) && !is_same
    }
}

/// Whether a row is weighted points.
fn is_bag(supports: &Functionals, row: usize) -> bool {
    let is_point = |atom: usize| {
        let mut dims = 0..supports.dims().len();
        supports.region(atom).is_none() && dims.all(|d| supports.width(d)[atom] == 0.0)
    };
    let mut atoms = supports.atoms(row);
    atoms.all(is_point)
}

/// Whether two bags have points in common, and not only places: a pixel that is shared out between
/// two districts, or people of one age in both, has another weight in each.
fn bags_share(supports: &Functionals, i: usize, j: usize, is_mean: bool) -> bool {
    let dims = 0..supports.dims().len();
    let weights = |row: usize| {
        let mut all: HashMap<Vec<u64>, f64> = HashMap::new();
        for atom in supports.atoms(row) {
            let place = dims
                .clone()
                .map(|d| (supports.lower(d)[atom] + 0.0).to_bits());
            *all.entry(place.collect()).or_default() += supports.weight()[atom];
        }
        all
    };
    let (a, b) = (weights(i), weights(j));
    let both: Vec<(f64, f64)> = a
        .iter()
        .filter_map(|(place, own)| Some((*own, *b.get(place)?)))
        .collect();
    let Some(&(first, other)) = both.first() else {
        return false;
    };
    // Averages have weights in shares of their own.
    let ratio = if is_mean { first / other } else { 1.0 };
    let is_same = |(own, other): &(f64, f64)| (own / other / ratio - 1.0).abs() < SAME;
    if !both.iter().all(is_same) || (is_mean && both.len() < 2) {
        return false;
    }
    let share = |own: f64, all: &HashMap<Vec<u64>, f64>| own / all.values().sum::<f64>();
    let of_a = share(both.iter().map(|pair| pair.0).sum(), &a);
    let of_b = share(both.iter().map(|pair| pair.1).sum(), &b);
    of_a.max(of_b) > SHARED && of_a.min(of_b) < 1.0 - SAME
}

/// Rows that hang together by pairs, each group with its first pair.
fn groups(pairs: &[(usize, usize)]) -> Vec<(Vec<usize>, (usize, usize))> {
    let mut near: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(a, b) in pairs {
        near.entry(a).or_default().push(b);
        near.entry(b).or_default().push(a);
    }
    let mut group_of: HashMap<usize, usize> = HashMap::new();
    let mut groups: Vec<(Vec<usize>, (usize, usize))> = Vec::new();
    for &first in pairs {
        if group_of.contains_key(&first.0) {
            continue;
        }
        let (mut rows, mut next) = (vec![first.0], 0);
        group_of.insert(first.0, groups.len());
        while next < rows.len() {
            for &other in &near[&rows[next]] {
                if group_of.insert(other, groups.len()).is_none() {
                    rows.push(other);
                }
            }
            next += 1;
        }
        groups.push((rows, first));
    }
    groups
}
