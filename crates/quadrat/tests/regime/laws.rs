//! What may be said in another way without changing an answer, and how nearly answers must then agree.

use quadrat::error::{FitError, InputError};
use quadrat::model::Scale;
use quadrat::parameter::PriorDensity;
use quadrat::support::Aggregate;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::case::{Case, Kind, Shape};
use crate::study::{Answer, Answers, Asked, Engine, Place, Report, Row, Study};

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

/// The study before and after, and how answers must differ.
#[derive(Debug)]
pub struct Pair {
    pub before: Study,
    pub after: Study,
    /// From the function to the function: `f' = a f + b`.
    latent: (f64, f64),
    /// From the mean of an observation to that, where it is not the function.
    response: (f64, f64),
    /// What is added to the log evidence, where that is known.
    evidence: Option<f64>,
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
        let is_pooled = kind.has_link() && shape != Shape::Point;
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
            // The two sides of ranks are told apart by the priors of their thresholds, and the margin is a lower one.
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

fn normal(mean: f64, sd: f64) -> PriorDensity {
    PriorDensity::Normal { mean, sd }
}

/// A level of the function that suits the rows.
fn level(study: &Study) -> f64 {
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

impl Pair {
    /// Makes the second study one of other data.
    pub fn spoil(&mut self) {
        let most = self.after.thresholds.len().max(2) + 1;
        for row in self.after.rows.iter_mut().step_by(2) {
            let by = 5.0 * self.latent.0 * row.place.size();
            match &mut row.report {
                Report::Value { y, .. } => *y += by,
                Report::Within { lower, upper, .. } => {
                    *lower += by;
                    *upper += by;
                }
                Report::Rank(k) => *k = most + 1 - (*k).min(most),
                Report::Yes(yes) => *yes = !*yes,
                Report::Successes { k, of } => *k = *of - *k,
                Report::Count { k, .. } => *k = 3.0 * *k + 20.0,
                Report::Wait(t) => *t *= 100.0,
            }
        }
    }

    fn settle(&mut self) -> Result<(), InputError> {
        let mean = normal(level(&self.before), 10.0 * self.before.spread);
        self.before = self.before.clone().settled(mean)?;
        self.after = self.before.clone();
        Ok(())
    }

    /// Moves every coordinate; totals stay what they are, so that what is per unit changes.
    fn inputs(&mut self, to: impl Fn(f64) -> f64) {
        let after = &mut self.after;
        after
            .rows
            .iter_mut()
            .for_each(|row| row.place = row.place.moved(&to));
        after
            .asked
            .iter_mut()
            .for_each(|asked| asked.place = asked.place.moved(&to));
        if let Some(above) = &mut after.above {
            above
                .points
                .iter_mut()
                .for_each(|place| *place = place.moved(&to));
        }
        let row = &self.before.rows[0].place;
        if row.is_sum() {
            let unit = (to(1.0) - to(0.0)).abs();
            self.per_unit(unit.powi(-(row.dims() as i32)));
        }
    }

    /// What is observed per unit is so many times as much.
    fn per_unit(&mut self, factor: f64) {
        match self.before.kind {
            Kind::PoissonSquare => self.latent = (factor.sqrt(), 0.0),
            kind if kind.has_link() => self.latent = (1.0, factor.ln()),
            _ => {
                self.latent = (factor, 0.0);
                if let Some(above) = &mut self.after.above {
                    (above.margin, above.sd) = (above.margin * factor, above.sd * factor);
                }
            }
        }
        self.response = (factor, 0.0);
    }

    /// Values times `a`, plus `b` per unit of the support.
    fn values(&mut self, a: f64, b: f64) {
        let mut densities = 0.0;
        let ranks = self.before.thresholds.len() + 1;
        for row in &mut self.after.rows {
            let to = |y: f64| a * y + b * row.place.size();
            match &mut row.report {
                Report::Value { y, variance } => {
                    (*y, *variance) = (to(*y), a * a * *variance);
                    densities += 1.0;
                }
                Report::Within {
                    lower,
                    upper,
                    variance,
                } => {
                    densities += f64::from(u8::from(lower == upper));
                    let ends = [to(*lower), to(*upper)];
                    (*lower, *upper) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                    *variance *= a * a;
                }
                Report::Rank(k) if a < 0.0 => *k = ranks + 1 - *k,
                Report::Yes(yes) => *yes = !*yes,
                Report::Successes { k, of } => *k = *of - *k,
                Report::Rank(_) | Report::Count { .. } | Report::Wait(_) => {}
            }
        }
        for threshold in &mut self.after.thresholds {
            *threshold = a * *threshold + b;
        }
        if a < 0.0 {
            self.after.thresholds.reverse();
        }
        if let Some(above) = &mut self.after.above {
            (above.margin, above.sd) = (a * above.margin + b, a * above.sd);
        }
        self.latent = (a, b);
        // Of probabilities only the mirrored ones are asked.
        self.response = (-1.0, 1.0);
        self.evidence = Some(-densities * a.abs().ln());
    }

    /// Exposures, or waiting times, times `unit`.
    fn units(&mut self, unit: f64) {
        let mut waits = 0.0;
        for row in &mut self.after.rows {
            match &mut row.report {
                Report::Count { exposure, .. } => *exposure *= unit,
                Report::Wait(t) => {
                    *t *= unit;
                    waits += 1.0;
                }
                _ => {}
            }
        }
        self.per_unit(if waits > 0.0 { unit } else { 1.0 / unit });
        self.evidence = Some(-waits * unit.ln());
    }

    /// What an answer before must have become.
    fn expected(&self, answer: &Answer, asked: &Asked, after: &Asked) -> Answer {
        let (old, new) = (asked.place.size(), after.place.size());
        let linear = asked.scale == Scale::Latent
            || !(self.before.kind.has_link() || self.before.kind.has_sigmoid());
        let (a, b) = if linear { self.latent } else { self.response };
        let (a, b) = (a * new / old, b * new);
        let to = |x: f64| a * x + b;
        let [q0, q1, q2] = answer.quantiles.map(to);
        Answer {
            mean: to(answer.mean),
            sd: a.abs() * answer.sd,
            quantiles: if a < 0.0 { [q2, q1, q0] } else { [q0, q1, q2] },
        }
    }

    /// Below this an sd is rounding: exact rows are known without one.
    fn least_sd(&self, after: &Asked) -> f64 {
        let unit = self.latent.0.abs() * self.before.spread * after.place.size();
        // A prior variance of the mean of 1e8 is known to 1e-8; inducing points have a jitter of 1e-10.
        let is_rough = !self.after.settings.is_empty() || self.after.engine == Engine::Sparse;
        match self.before.kind {
            Kind::Exact if is_rough => 1e-4 * unit,
            Kind::Exact => 1e-6 * unit,
            _ => 0.0,
        }
    }
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

/// A point is a box without width, edges have no order, a ring no first corner and no sense, nodes no order.
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

/// How far answers are from what they must be: means and quantiles in sds, sds relative, evidence in nats.
#[derive(Debug, Clone, Copy, Default)]
pub struct Distance {
    pub moved: f64,
    pub wider: f64,
    pub evidence: f64,
}

impl Pair {
    pub fn distance(&self, before: &Answers, after: &Answers) -> Distance {
        let mut out = Distance::default();
        let asked = self.before.asked.iter().zip(&self.after.asked);
        for ((old, new), (a, b)) in before.all.iter().zip(&after.all).zip(asked) {
            let expected = self.expected(old, a, b);
            let least = self.least_sd(b);
            let sd = expected.sd.max(least);
            let gap = |x: f64, y: f64| ((x - y) / sd).abs();
            let mut moved = gap(new.mean, expected.mean);
            for (x, y) in new.quantiles.iter().zip(&expected.quantiles) {
                moved = larger(moved, gap(*x, *y));
            }
            out.moved = larger(out.moved, moved);
            out.wider = larger(out.wider, (new.sd.max(least) / sd).ln().abs());
        }
        if let Some(change) = self.evidence {
            out.evidence = (after.log_evidence - before.log_evidence - change).abs();
        }
        out
    }
}

/// The larger one; what is no number is larger than all.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::INFINITY
    } else {
        a.max(b)
    }
}

/// Whether two refusals are for the same reason.
pub fn same_reason(a: &FitError, b: &FitError) -> bool {
    match (a, b) {
        (FitError::Input(a), FitError::Input(b)) => {
            std::mem::discriminant(a) == std::mem::discriminant(b)
        }
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// How near answers must be: means and quantiles in sds, sds relative, evidence in nats.
fn tolerance(case: &Case) -> Distance {
    let all = |x| Distance {
        moved: x,
        wider: x,
        evidence: x,
    };
    let usual: f64 = match case.engine {
        // A search ends within a hundredth of a nat of the optimum, that is within a seventh of the sd of
        // hyperparameters, of which predictions move by some hundredths of theirs.
        Engine::Sparse => 5e-2,
        // Newton steps end at the optimum itself; what is left is the rounding of ill-conditioned rows.
        _ => 1e-5,
    };
    match case.law {
        // Values of 1e8 are known to 1e-8, a millionth of the smallest noise.
        Law::ValuesShifted => all(usual.max(1e-4)),
        // Few rows, long lengthscales and heavy tails leave the mean unknown to some thirty spreads, a third of the
        // width of its prior before, which so said up to a tenth of what is known.
        Law::VaguerMean => all(usual.max(0.1)),
        // One more row says something of the size of the function, its level and its noise.
        Law::FarLearned => Distance {
            moved: 1.0,
            wider: 1.5_f64.ln(),
            evidence: 0.0,
        },
        _ => all(usual),
    }
}

/// What became of a case.
#[derive(Debug)]
pub enum Outcome {
    Holds,
    /// Both studies are refused for the same reason.
    Refused(FitError),
    Fails(String),
}

/// Fits the study of a case before and after its law.
pub fn outcome(case: &Case) -> Outcome {
    let rng = &mut case.random();
    let study = case.study(rng);
    match case.law.apply(&study, rng) {
        Ok(pair) => pair.outcome(case),
        Err(error) => Outcome::Fails(format!("the study is refused: {error}")),
    }
}

impl Pair {
    pub fn outcome(&self, case: &Case) -> Outcome {
        match (self.before.answers(), self.after.answers()) {
            (Ok(before), Ok(after)) => {
                let (is, may) = (self.distance(&before, &after), tolerance(case));
                if is.moved <= may.moved && is.wider <= may.wider && is.evidence <= may.evidence {
                    Outcome::Holds
                } else {
                    Outcome::Fails(format!("{is:?}, may be {may:?}"))
                }
            }
            (Err(before), Err(after)) if same_reason(&before, &after) => Outcome::Refused(before),
            (before, after) => {
                let word = |r: Result<Answers, FitError>| {
                    r.map_or_else(|error| error.to_string(), |_| "answered".to_owned())
                };
                Outcome::Fails(format!("before: {}; after: {}", word(before), word(after)))
            }
        }
    }
}
