//! A study before and after a law, what its answers must become, and how nearly they do.

use quadrat::error::{FitError, InputError};
use quadrat::model::Scale;

use crate::case::{Case, Kind, Shape};
use crate::laws::{Law, level, normal};
use crate::study::{Answer, Answers, Asked, Drawn, Engine, Report, Study};

/// The study before and after, and how answers must differ.
#[derive(Debug)]
pub struct Pair {
    pub before: Study,
    pub after: Study,
    /// From the function to the function: `f' = a f + b`.
    pub latent: (f64, f64),
    /// From the mean of an observation to that, where it is not the function.
    pub response: (f64, f64),
    /// What is added to the log evidence, where that is known.
    pub evidence: Option<f64>,
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

    pub fn settle(&mut self) -> Result<(), InputError> {
        let mean = normal(level(&self.before), 10.0 * self.before.spread);
        self.before = self.before.clone().settled(mean)?;
        self.after = self.before.clone();
        Ok(())
    }

    /// Moves every coordinate; totals stay what they are, so that what is per unit changes.
    pub fn inputs(&mut self, to: impl Fn(f64) -> f64) {
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
    pub fn values(&mut self, a: f64, b: f64) {
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
    pub fn units(&mut self, unit: f64) {
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
        let linear = asked.scale == Scale::Latent || !self.before.kind.has_mean_link();
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
        // A prior variance of the mean of 1e8 is known to 1e-8; inducing points have a jitter of
        // 1e-10.
        let is_rough = !self.after.settings.is_empty() || self.after.engine == Engine::Sparse;
        // A value far from zero is known to some of its roundings: a law allows a ten-thousandth of
        // this, ten of them.
        let rounded = 1e5 * f64::EPSILON * (self.latent.1 * after.place.size()).abs();
        match self.before.kind {
            Kind::Exact if is_rough => (1e-4 * unit).max(rounded),
            Kind::Exact => (1e-6 * unit).max(rounded),
            _ => 0.0,
        }
    }
}

/// How far answers are from what they must be: means and quantiles in sds, sds relative, evidence
/// in nats.
#[derive(Debug, Clone, Copy, Default)]
pub struct Distance {
    pub moved: f64,
    pub wider: f64,
    pub evidence: f64,
}

impl Distance {
    fn is_within(&self, may: &Self) -> bool {
        self.moved <= may.moved && self.wider <= may.wider && self.evidence <= may.evidence
    }
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
fn tolerance(case: &Case, drawn: Drawn) -> Distance {
    let all = |x| Distance {
        moved: x,
        wider: x,
        evidence: x,
    };
    let usual: f64 = match case.engine {
        // A search ends within a hundredth of a nat of the optimum, that is within a seventh of the
        // sd of hyperparameters, of which predictions move by some hundredths of theirs.
        Engine::Sparse => 5e-2,
        // Covariances over regions are known to 1e-7 of the variance.
        _ if case.shape == Shape::Region => 1e-4,
        // Newton steps end at the optimum itself; what is left is the rounding of ill-conditioned
        // rows.
        _ => 1e-5,
    };
    match case.law {
        // One more row says something of the size of the function, its level and its noise.
        Law::FarLearned => Distance {
            moved: 1.0,
            wider: 1.5_f64.ln(),
            evidence: 0.0,
        },
        // Some two thousand weighted draws, of which a tenth may carry the weight, tell a quantile
        // of 5 % to a twentieth of the sd in the mean and to a seventh at worst, and the sd to some
        // hundredths, more where tails are long. They come in another order where rows do; their
        // evidence has no draws.
        _ if drawn == Drawn::Fairly => Distance {
            moved: 0.25,
            wider: 0.15,
            evidence: usual,
        },
        // Fewer carry the weight, and the fit says that answers are rough.
        _ if drawn == Drawn::Roughly => Distance {
            moved: 0.5,
            wider: 0.3,
            evidence: usual,
        },
        // Values of 1e8 are known to 1e-8, a millionth of the smallest noise.
        Law::ValuesShifted => all(usual.max(1e-4)),
        // Few rows, long lengthscales and heavy tails leave the mean unknown to some thirty
        // spreads, a third of the width of its prior before, which so said up to a tenth of what is
        // known.
        Law::VaguerMean => all(usual.max(0.1)),
        _ => all(usual),
    }
}

/// By so many nats at most another optimum may be the higher one for a row far away: what one row
/// says of the size of the function, its level and its noise.
const RIVAL: f64 = 1.0;

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
    /// Whether another row made another optimum the higher one. The most probable hyperparameters
    /// are no continuous function of the rows: where two optima are about as high, a row that says
    /// little decides between them, and answers are those of the other. Then the old optimum is
    /// still there, with answers as near as the law wants; the search ended no lower than that; and
    /// it was nearly as high.
    fn is_of_rivals(&self, case: &Case, before: &Answers, after: &Answers) -> bool {
        if case.law != Law::FarLearned || case.integrated {
            return false;
        }
        let Ok(old) = self.after.answers_from(&before.hyperparameters) else {
            return false;
        };
        let is_near = self.distance(before, &old);
        let higher = after.log_posterior - old.log_posterior;
        is_near.is_within(&tolerance(case, old.drawn)) && (0.0..RIVAL).contains(&higher)
    }

    pub fn outcome(&self, case: &Case) -> Outcome {
        match (self.before.answers(), self.after.answers()) {
            (Ok(before), Ok(after)) => {
                let drawn = before.drawn.max(after.drawn);
                let (is, may) = (self.distance(&before, &after), tolerance(case, drawn));
                if is.is_within(&may) || self.is_of_rivals(case, &before, &after) {
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
