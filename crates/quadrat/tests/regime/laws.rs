//! What may be said in another way without changing an answer.

use quadrat::error::InputError;
use quadrat::parameter::PriorDensity;
use quadrat::support::Aggregate;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::case::{Case, Kind, Shape};
use crate::pair::Pair;
use crate::study::{Engine, Place, Report, Row, Study};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// Inputs in another unit.
    InputsScaled,
    InputsMirrored,
    /// Inputs from another origin.
    InputsShifted,
    /// Values in another unit.
    ValuesScaled,
    ValuesMirrored,
    ValuesShifted,
    /// Exposures or waiting times in another unit.
    Unit,
    /// Rows in another order.
    Permuted,
    /// A row twice, each with half of its weight.
    Repeated,
    /// A node of a bag as two, each with half of its weight.
    Split,
    /// A sum of exact rows as one more exact row.
    SumAdded,
    /// The same supports, written in another way.
    Spelled,
    /// A row far away, hyperparameters and level held.
    Far,
    /// A row far away, everything learned.
    FarLearned,
    /// The prior of the mean a hundred times as wide, where it says nothing already.
    VaguerMean,
    /// Another seed of the search.
    Seed,
}

impl Law {
    pub const ALL: [Self; 16] = [
        Self::InputsScaled,
        Self::InputsMirrored,
        Self::InputsShifted,
        Self::ValuesScaled,
        Self::ValuesMirrored,
        Self::ValuesShifted,
        Self::Unit,
        Self::Permuted,
        Self::Repeated,
        Self::Split,
        Self::SumAdded,
        Self::Spelled,
        Self::Far,
        Self::FarLearned,
        Self::VaguerMean,
        Self::Seed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::InputsScaled => "inputs_scaled",
            Self::InputsMirrored => "inputs_mirrored",
            Self::InputsShifted => "inputs_shifted",
            Self::ValuesScaled => "values_scaled",
            Self::ValuesMirrored => "values_mirrored",
            Self::ValuesShifted => "values_shifted",
            Self::Unit => "unit",
            Self::Permuted => "permuted",
            Self::Repeated => "repeated",
            Self::Split => "split",
            Self::SumAdded => "sum_added",
            Self::Spelled => "spelled",
            Self::Far => "far",
            Self::FarLearned => "far_learned",
            Self::VaguerMean => "vaguer_mean",
            Self::Seed => "seed",
        }
    }

    /// Whether it is a law of such a study.
    pub fn holds_of(self, case: &Case) -> bool {
        let Case {
            kind,
            engine,
            shape,
            ..
        } = *case;
        let is_pooled = kind.has_mean_link() && shape != Shape::Point;
        match self {
            // The softplus of a function plus a constant is no multiple of its softplus.
            Self::InputsScaled => {
                !(is_pooled && kind == Kind::PoissonSoftplus) || shape == Shape::Bag
            }
            Self::ValuesScaled => kind.has_values(),
            // Thresholds are the same for all rows, whatever the sizes of their supports.
            Self::ValuesShifted => {
                kind.has_values()
                    && !(kind == Kind::Ordinal && matches!(shape, Shape::Sum | Shape::Bag))
            }
            // The two sides of ranks are told apart by the priors of their thresholds, and the
            // margin is a lower one.
            Self::ValuesMirrored => {
                (kind.has_values() && kind != Kind::Positive) || kind.has_sigmoid()
            }
            Self::Unit => {
                matches!(
                    kind,
                    Kind::PoissonExp
                        | Kind::PoissonSquare
                        | Kind::NegativeBinomial
                        | Kind::Exponential
                        | Kind::Gamma
                        | Kind::LogNormal
                )
            }
            // Of other kinds half a row is no row; expectation propagation has a site for each row.
            Self::Repeated => match kind {
                Kind::Known | Kind::Exact => true,
                Kind::Binomial | Kind::PoissonExp | Kind::PoissonSoftplus => {
                    engine != Engine::Auto || is_pooled
                }
                Kind::PoissonSquare => true,
                _ => false,
            },
            Self::Split => shape == Shape::Bag,
            Self::SumAdded => kind == Kind::Exact && shape != Shape::Region,
            Self::FarLearned => !is_pooled,
            Self::InputsMirrored
            | Self::InputsShifted
            | Self::Permuted
            | Self::Spelled
            | Self::Far
            | Self::VaguerMean
            | Self::Seed => true,
        }
    }

    /// The same study, said in another way.
    pub fn apply(self, study: &Study, rng: &mut ChaCha8Rng) -> Result<Pair, InputError> {
        let sign = if rng.random_range(0..2) == 0 { -1 } else { 1 };
        let decades = sign * [3, 6, 9][rng.random_range(0..3)];
        let unit = 10f64.powi(decades);
        let away = 10f64.powi(decades.abs() - 1) * f64::from(sign);
        let mut pair = Pair {
            before: study.clone(),
            after: study.clone(),
            latent: (1.0, 0.0),
            response: (1.0, 0.0),
            evidence: Some(0.0),
        };
        match self {
            Self::InputsScaled => pair.inputs(|x| x * unit),
            Self::InputsMirrored => pair.inputs(|x| -x),
            Self::InputsShifted => pair.inputs(|x| x + away),
            Self::ValuesScaled => pair.values(unit, 0.0),
            Self::ValuesMirrored => pair.values(-1.0, 0.0),
            // Values of 1e9 with noise of a tenth have seven digits left of sixteen.
            Self::ValuesShifted => pair.values(1.0, away),
            Self::Unit => pair.units(unit),
            Self::Permuted => pair.after.rows.shuffle(rng),
            Self::Repeated => {
                pair.settle()?;
                let at = rng.random_range(0..study.rows.len());
                repeat(&mut pair.after.rows, at);
                pair.evidence = None;
            }
            Self::Split => split(&mut pair.after.rows, rng),
            Self::SumAdded => {
                pair.settle()?;
                let at = rng.random_range(1..study.rows.len());
                let [a, b] = [at - 1, at].map(|i| pair.after.rows[i].clone());
                pair.after.rows.push(sum(&a, &b));
            }
            Self::Spelled => pair
                .after
                .rows
                .iter_mut()
                .for_each(|row| spell(&mut row.place)),
            Self::Far | Self::FarLearned => {
                if self == Self::Far {
                    let level = level(study);
                    pair.before = study.clone().fixed(level)?;
                    pair.after = pair.before.clone();
                }
                // Millions of lengthscales away.
                let far = study.rows[0].place.moved(|x| x + 1e8 * f64::from(sign));
                let report = study.rows[0].report.clone();
                pair.after.rows.push(Row { place: far, report });
                pair.evidence = None;
            }
            Self::VaguerMean => {
                let wide = |sd| normal(level(study), sd * study.spread);
                pair.before = study.clone().settled(wide(1e2))?;
                pair.after = study.clone().settled(wide(1e4))?;
                pair.evidence = None;
            }
            Self::Seed => pair.after.seed = 99,
        }
        Ok(pair)
    }
}

pub fn normal(mean: f64, sd: f64) -> PriorDensity {
    PriorDensity::Normal { mean, sd }
}

/// A level of the function that suits the rows.
pub fn level(study: &Study) -> f64 {
    let all = study.rows.iter().map(|row| match &row.report {
        Report::Value { y, .. } => y / row.place.size(),
        Report::Within { lower, .. } => lower / row.place.size(),
        Report::Count { k, exposure } => {
            let rate = (k + 0.5) / (exposure * row.place.size());
            match study.kind {
                Kind::PoissonSquare => rate.sqrt(),
                Kind::PoissonSoftplus => rate.exp_m1().ln(),
                _ => rate.ln(),
            }
        }
        Report::Rank(_) if study.kind == Kind::Ordinal => study.thresholds[0] + 0.5,
        Report::Rank(_) | Report::Yes(_) | Report::Successes { .. } | Report::Wait(_) => 0.0,
    });
    all.sum::<f64>() / study.rows.len() as f64
}

fn repeat(rows: &mut Vec<Row>, at: usize) {
    let mut twice = rows[at].clone();
    match &mut twice.report {
        Report::Value { variance, .. } => *variance *= 2.0,
        Report::Successes { k, of } => {
            let Report::Successes { k: rest, of: left } = &mut rows[at].report else {
                unreachable!("the same row")
            };
            let (some, share) = ((*rest / 2.0).floor(), (*left / 2.0).floor());
            let some = some.min(share);
            (*k, *of) = (*rest - some, *left - share);
            (*rest, *left) = (some, share);
            rows.push(twice);
            return;
        }
        Report::Count { k, exposure } => {
            let Report::Count {
                k: rest,
                exposure: left,
            } = &mut rows[at].report
            else {
                unreachable!("the same row")
            };
            let some = (*rest / 2.0).floor();
            (*k, *exposure) = (*rest - some, 0.5 * *left);
            (*rest, *left) = (some, 0.5 * *left);
            rows.push(twice);
            return;
        }
        _ => {}
    }
    rows[at] = twice.clone();
    rows.push(twice);
}

fn split(rows: &mut [Row], rng: &mut ChaCha8Rng) {
    let at = rng.random_range(0..rows.len());
    if let Place::Bag(nodes) = &mut rows[at].place {
        nodes[0].1 *= 0.5;
        let half = nodes[0];
        nodes.push(half);
    }
}

/// A row about the sum of two neighbours; for averages, about their common average.
fn sum(a: &Row, b: &Row) -> Row {
    let y = |row: &Row| match row.report {
        Report::Value { y, .. } => y,
        _ => unreachable!("exact rows are values"),
    };
    let (place, value) = match (&a.place, &b.place) {
        (Place::Point(p), Place::Point(q)) => (Place::Bag(vec![(*p, 1.0), (*q, 1.0)]), y(a) + y(b)),
        (Place::Bag(p), Place::Bag(q)) => {
            (Place::Bag([p.clone(), q.clone()].concat()), y(a) + y(b))
        }
        (Place::Cell((p, q), Aggregate::Sum), Place::Cell((_, r), _)) => {
            debug_assert!(q > p);
            (Place::Cell((*p, *r), Aggregate::Sum), y(a) + y(b))
        }
        (Place::Cell((p, q), Aggregate::Mean), Place::Cell((_, r), _)) => {
            let total = (q - p) * y(a) + (r - q) * y(b);
            (Place::Cell((*p, *r), Aggregate::Mean), total / (r - p))
        }
        _ => unreachable!("rows of a study have one shape"),
    };
    let report = Report::Value {
        y: value,
        variance: 0.0,
    };
    Row { place, report }
}

/// A point is a box without width, edges have no order, a ring no first corner and no sense, nodes
/// no order.
fn spell(place: &mut Place) {
    *place = match place.clone() {
        Place::Point(x) => Place::Cell((x, x), Aggregate::Mean),
        Place::Cell((a, b), aggregate) => Place::Cell((b, a), aggregate),
        Place::Bag(mut nodes) => {
            nodes.reverse();
            Place::Bag(nodes)
        }
        Place::Ring(mut ring, aggregate) => {
            ring.rotate_left(1);
            ring.reverse();
            Place::Ring(ring, aggregate)
        }
    };
}
