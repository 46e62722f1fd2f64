//! The table of cases, and the small study of each, drawn from its name.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::draw;
use crate::laws::Law;
use crate::study::{Engine, Study};

/// What rows report, and what is known of their noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Known,
    Exact,
    Learned,
    StudentT,
    DoubleExponential,
    Interval,
    IntervalKnown,
    Censored,
    Ordinal,
    OrdinalLearned,
    Positive,
    Bernoulli,
    Binomial,
    PoissonExp,
    PoissonSquare,
    PoissonSoftplus,
    NegativeBinomial,
    Exponential,
    Gamma,
    LogNormal,
}

impl Kind {
    pub const ALL: [Self; 20] = [
        Self::Known,
        Self::Exact,
        Self::Learned,
        Self::StudentT,
        Self::DoubleExponential,
        Self::Interval,
        Self::IntervalKnown,
        Self::Censored,
        Self::Ordinal,
        Self::OrdinalLearned,
        Self::Positive,
        Self::Bernoulli,
        Self::Binomial,
        Self::PoissonExp,
        Self::PoissonSquare,
        Self::PoissonSoftplus,
        Self::NegativeBinomial,
        Self::Exponential,
        Self::Gamma,
        Self::LogNormal,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Exact => "exact",
            Self::Learned => "learned",
            Self::StudentT => "student_t",
            Self::DoubleExponential => "laplace",
            Self::Interval => "interval",
            Self::IntervalKnown => "interval_known",
            Self::Censored => "censored",
            Self::Ordinal => "ordinal",
            Self::OrdinalLearned => "ordinal_learned",
            Self::Positive => "positive",
            Self::Bernoulli => "bernoulli",
            Self::Binomial => "binomial",
            Self::PoissonExp => "poisson_exp",
            Self::PoissonSquare => "poisson_square",
            Self::PoissonSoftplus => "poisson_softplus",
            Self::NegativeBinomial => "negative_binomial",
            Self::Exponential => "exponential",
            Self::Gamma => "gamma",
            Self::LogNormal => "lognormal",
        }
    }

    /// Whether rows are normal, so that every engine is exact.
    pub fn is_normal(self) -> bool {
        matches!(self, Self::Known | Self::Exact | Self::Learned)
    }

    /// Whether means lie behind a link, those of probabilities too.
    pub fn has_mean_link(self) -> bool {
        self.has_link() || self.has_sigmoid()
    }

    /// Whether rows report the function itself, so that it may be in other units.
    pub fn has_values(self) -> bool {
        !self.has_mean_link() && self != Self::OrdinalLearned
    }

    pub fn has_sigmoid(self) -> bool {
        matches!(self, Self::Bernoulli | Self::Binomial)
    }

    pub fn has_link(self) -> bool {
        matches!(
            self,
            Self::PoissonExp
                | Self::PoissonSquare
                | Self::PoissonSoftplus
                | Self::NegativeBinomial
                | Self::Exponential
                | Self::Gamma
                | Self::LogNormal
        )
    }
}

/// The shape of what rows look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Point,
    Mean,
    Sum,
    Bag,
    Region,
}

impl Shape {
    pub const ALL: [Self; 5] = [Self::Point, Self::Mean, Self::Sum, Self::Bag, Self::Region];

    pub fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Mean => "mean",
            Self::Sum => "sum",
            Self::Bag => "bag",
            Self::Region => "region",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub kind: Kind,
    pub engine: Engine,
    pub integrated: bool,
    pub shape: Shape,
    pub law: Law,
    pub seed: u64,
}

impl Case {
    /// Every combination that is a model, with so many seeds of each.
    pub fn all(seeds: u64) -> Vec<Self> {
        let mut out = Vec::new();
        for kind in Kind::ALL {
            for engine in Engine::ALL {
                for integrated in [false, true] {
                    for shape in Shape::ALL {
                        for law in Law::ALL {
                            for seed in 0..seeds {
                                let case = Self {
                                    kind,
                                    engine,
                                    integrated,
                                    shape,
                                    law,
                                    seed,
                                };
                                if case.is_model() && law.holds_of(&case) {
                                    out.push(case);
                                }
                            }
                        }
                    }
                }
            }
        }
        out
    }

    /// As in `student_t/ep/map/point/permuted/0`.
    pub fn name(&self) -> String {
        let how = if self.integrated { "integrate" } else { "map" };
        let (kind, engine) = (self.kind.name(), self.engine.name());
        let (shape, law) = (self.shape.name(), self.law.name());
        format!("{kind}/{engine}/{how}/{shape}/{law}/{}", self.seed)
    }

    /// The case of a name.
    pub fn named(name: &str) -> Option<Self> {
        let seed: u64 = name.rsplit('/').next()?.parse().ok()?;
        let all = Self::all(seed + 1);
        all.into_iter().find(|case| case.name() == name)
    }

    pub fn is_model(&self) -> bool {
        let Self {
            kind,
            engine,
            shape,
            ..
        } = *self;
        // Sums of probabilities are none, and ranks are given of values.
        let supports = match kind {
            _ if kind.has_sigmoid() => shape != Shape::Sum,
            Kind::Exponential | Kind::Gamma | Kind::LogNormal => shape == Shape::Point,
            _ if kind.has_link() => shape != Shape::Mean,
            _ => true,
        };
        let is_pooled = kind.has_mean_link() && shape != Shape::Point;
        let inference = match engine {
            // It is what `auto` takes, where that is not exact.
            Engine::Ep => kind.is_normal(),
            Engine::Laplace => kind != Kind::DoubleExponential && !is_pooled,
            Engine::Variational => !is_pooled,
            Engine::Auto | Engine::Sparse => true,
        };
        supports && inference
    }

    /// A number that is the same wherever it is computed (FNV-1a of the name).
    fn hash(&self) -> u64 {
        let name = self.name();
        name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// One of so many parts of all cases that take little time: of every law each `parts`th case.
    pub fn part(part: usize, parts: usize) -> Vec<Self> {
        let all: Vec<Self> = Self::all(1).into_iter().filter(|c| !c.is_dear()).collect();
        let of = |law: Law| all.iter().filter(move |case| case.law == law);
        let each = Law::ALL
            .into_iter()
            .map(|law| of(law).skip(part).step_by(parts));
        each.flatten().copied().collect()
    }

    /// Whether it takes more than some seconds of one processor.
    pub fn is_dear(&self) -> bool {
        let Self {
            kind,
            engine,
            integrated,
            shape,
            ..
        } = *self;
        // Expectations over windows have no closed form, and covariances of regions are integrals.
        let has_windows = matches!(
            kind,
            Kind::Interval
                | Kind::IntervalKnown
                | Kind::Censored
                | Kind::Ordinal
                | Kind::OrdinalLearned
                | Kind::Positive
        );
        let expects = engine == Engine::Variational || (engine == Engine::Sparse && integrated);
        // Sums of counts over all dispersions.
        let is_summed = kind == Kind::NegativeBinomial && integrated && shape != Shape::Point;
        let is_slow = (has_windows && expects) || is_summed;
        let has_regions = shape == Shape::Region && (integrated || kind != Kind::Known);
        is_slow || has_regions
    }

    pub fn random(&self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.hash())
    }

    /// The study that the law is applied to.
    pub fn study(&self, rng: &mut ChaCha8Rng) -> Study {
        let rows = match self.law {
            // What a row far away adds to what is known of the level and the size of the function
            // is little.
            Law::FarLearned => 16,
            _ => rng.random_range(6..11),
        };
        draw::study(
            self.kind,
            self.engine,
            self.integrated,
            self.shape,
            rows,
            rng,
        )
    }
}
