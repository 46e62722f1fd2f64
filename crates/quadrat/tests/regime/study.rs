//! A small study as plain data, so that a law can say the same in other units, in another order or
//! in other words; and what its fit answers.

use quadrat::error::{FitError, InputError};
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Bernoulli, Binomial, Censored, Degrees, Dispersion, Exponential, Gamma, Gaussian, Interval,
    Laplace, Likelihood, LogNormal, LogSd, NegativeBinomial, Noise, Ordinal, Poisson, Positive,
    Shape as GammaShape, Sigmoid, StudentT, Thresholds,
};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Mean, Model, Observations, Posterior, Scale, Setting,
};
use quadrat::parameter::{Parameter, PriorDensity};
use quadrat::support::{Aggregate, Functionals, Polygon, Region};

use crate::case::Kind;

/// Where a row or a prediction looks.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    Point(f64),
    Cell((f64, f64), Aggregate),
    /// Points and weights.
    Bag(Vec<(f64, f64)>),
    /// A polygon of two inputs.
    Ring(Vec<[f64; 2]>, Aggregate),
}

impl Place {
    /// Number of inputs.
    pub fn dims(&self) -> usize {
        if matches!(self, Self::Ring(..)) { 2 } else { 1 }
    }

    /// The same place where every coordinate is another.
    pub fn moved(&self, to: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Point(x) => Self::Point(to(*x)),
            Self::Cell((a, b), aggregate) => Self::Cell((to(*a), to(*b)), *aggregate),
            Self::Bag(nodes) => Self::Bag(nodes.iter().map(|(x, w)| (to(*x), *w)).collect()),
            Self::Ring(ring, aggregate) => {
                let ring = ring.iter().map(|[x, y]| [to(*x), to(*y)]).collect();
                Self::Ring(ring, *aggregate)
            }
        }
    }

    /// What the functional makes of the constant one.
    pub fn size(&self) -> f64 {
        match self {
            Self::Cell((a, b), Aggregate::Sum) => (b - a).abs(),
            Self::Bag(nodes) => nodes.iter().map(|(_, w)| w).sum(),
            Self::Ring(ring, Aggregate::Sum) => area(ring),
            Self::Point(_) | Self::Cell(..) | Self::Ring(..) => 1.0,
        }
    }

    pub fn is_sum(&self) -> bool {
        matches!(
            self,
            Self::Cell(_, Aggregate::Sum) | Self::Ring(_, Aggregate::Sum)
        )
    }

    fn push(&self, set: &mut Functionals) -> Result<(), InputError> {
        match self {
            Self::Point(x) => set.push_point(&[*x]),
            Self::Cell(edges, aggregate) => set.push_box(&[*edges], *aggregate),
            Self::Bag(nodes) => {
                let (points, weights): (Vec<Vec<f64>>, Vec<f64>) =
                    nodes.iter().map(|(x, w)| (vec![*x], *w)).unzip();
                set.push_nodes(&points, &weights)
            }
            Self::Ring(ring, aggregate) => {
                let polygon = Polygon::new(vec![vec![ring.clone()]]).unwrap();
                set.push_region(Region::from(polygon), *aggregate)
            }
        }
    }
}

fn area(ring: &[[f64; 2]]) -> f64 {
    let next = ring.iter().cycle().skip(1);
    let twice: f64 = ring
        .iter()
        .zip(next)
        .map(|(a, b)| a[0] * b[1] - a[1] * b[0])
        .sum();
    0.5 * twice.abs()
}

pub fn functionals<'a>(
    dims: usize,
    places: impl IntoIterator<Item = &'a Place>,
) -> Result<Functionals, InputError> {
    let names = ["x", "y"][..dims].iter().map(|d| (*d).to_owned());
    let mut set = Functionals::new(names.collect());
    places
        .into_iter()
        .try_for_each(|place| place.push(&mut set))?;
    Ok(set)
}

/// What a row reported.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// A value with the variance of its noise (or twice the squared scale of a double exponential
    /// one).
    Value {
        y: f64,
        variance: f64,
    },
    /// Ends between which a value lies; equal ones for a value.
    Within {
        lower: f64,
        upper: f64,
        variance: f64,
    },
    Rank(usize),
    Yes(bool),
    Successes {
        k: f64,
        of: f64,
    },
    Count {
        k: f64,
        exposure: f64,
    },
    Wait(f64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub place: Place,
    pub report: Report,
}

/// Points at which the function is known to lie above a margin, within an sd.
#[derive(Debug, Clone)]
pub struct Above {
    pub points: Vec<Place>,
    pub margin: f64,
    pub sd: f64,
}

/// What is asked: the function, or the mean of what is observed.
#[derive(Debug, Clone)]
pub struct Asked {
    pub place: Place,
    pub scale: Scale,
}

/// How a study is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Auto,
    Ep,
    Variational,
    Laplace,
    Sparse,
}

impl Engine {
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Ep,
        Self::Variational,
        Self::Laplace,
        Self::Sparse,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ep => "ep",
            Self::Variational => "variational",
            Self::Laplace => "laplace",
            Self::Sparse => "sparse",
        }
    }

    fn inference(self) -> Inference {
        match self {
            Self::Auto => Inference::Auto,
            Self::Ep => Inference::Sites(Method::Ep),
            Self::Variational => Inference::Sites(Method::Variational),
            Self::Laplace => Inference::Sites(Method::Laplace),
            Self::Sparse => Inference::Sparse,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Study {
    pub kind: Kind,
    pub engine: Engine,
    pub integrated: bool,
    pub seed: u64,
    /// The kernel's leaf, such as `se`.
    pub leaf: &'static str,
    pub rows: Vec<Row>,
    pub thresholds: Vec<f64>,
    pub above: Option<Above>,
    pub mean: Mean,
    pub settings: Vec<(String, Setting)>,
    pub asked: Vec<Asked>,
    /// A size of the function's variation, in its units: sds much below it are rounding.
    pub spread: f64,
}

/// What the fit says of one thing asked: mean, sd, and the quantiles of 5, 50 and 95 %.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    pub mean: f64,
    pub sd: f64,
    pub quantiles: [f64; 3],
}

/// Whether weighted draws answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drawn {
    No,
    /// They do.
    Fairly,
    /// They do, and the fit says that few of them carry the weight.
    Roughly,
}

#[derive(Debug, Clone)]
pub struct Answers {
    pub all: Vec<Answer>,
    pub log_evidence: f64,
    pub log_posterior: f64,
    /// Names and most probable values.
    pub hyperparameters: Vec<(String, f64)>,
    pub drawn: Drawn,
}

impl Study {
    pub fn dims(&self) -> usize {
        self.rows[0].place.dims()
    }

    fn kernel(&self) -> Kernel {
        let inputs = if self.dims() == 2 { "x, y" } else { "x" };
        Kernel::parse(&format!("{}({inputs})", self.leaf)).unwrap()
    }

    fn likelihood(&self) -> Result<Likelihood, InputError> {
        let rows = || self.rows.iter().map(|row| &row.report);
        let number = |of: fn(&Report) -> Option<f64>| -> Vec<f64> {
            rows()
                .map(|report| of(report).unwrap_or(f64::NAN))
                .collect()
        };
        let y = || {
            number(|r| match r {
                Report::Value { y, .. } => Some(*y),
                _ => None,
            })
        };
        let variances = || {
            number(|r| match r {
                Report::Value { variance, .. } | Report::Within { variance, .. } => Some(*variance),
                _ => None,
            })
        };
        let ends = |upper: bool| -> Vec<f64> {
            rows()
                .map(|r| match r {
                    Report::Within {
                        lower, upper: end, ..
                    } => {
                        if upper {
                            *end
                        } else {
                            *lower
                        }
                    }
                    _ => f64::NAN,
                })
                .collect()
        };
        let counts = || -> (Vec<f64>, Vec<f64>) {
            rows()
                .map(|r| match r {
                    Report::Count { k, exposure } => (*k, *exposure),
                    Report::Successes { k, of } => (*k, *of),
                    _ => (f64::NAN, f64::NAN),
                })
                .unzip()
        };
        let ranks = || -> Vec<usize> {
            rows()
                .map(|r| if let Report::Rank(k) = r { *k } else { 0 })
                .collect()
        };
        let waits = || {
            number(|r| match r {
                Report::Wait(t) => Some(*t),
                _ => None,
            })
        };
        let poisson = |link| {
            let (k, exposure) = counts();
            Ok(Poisson::new(k, exposure, link)?.into())
        };
        Ok(match self.kind {
            Kind::Known | Kind::Exact | Kind::Positive => {
                Gaussian::new(y(), Noise::Known(variances()))?.into()
            }
            Kind::Learned => Gaussian::new(y(), Noise::Learned)?.into(),
            Kind::StudentT => StudentT::new(y(), Noise::Learned, Degrees::Known(4.0))?.into(),
            Kind::DoubleExponential => {
                let scale = variances().iter().map(|v| (0.5 * v).sqrt()).collect();
                Laplace::new(y(), scale)?.into()
            }
            Kind::Interval => Interval::new(ends(false), ends(true), Noise::Learned)?.into(),
            Kind::IntervalKnown => {
                Interval::new(ends(false), ends(true), Noise::Known(variances()))?.into()
            }
            Kind::Censored => Censored::between(ends(false), ends(true), Noise::Learned)?.into(),
            Kind::Ordinal => {
                let known = Thresholds::Known(self.thresholds.clone());
                Ordinal::new(ranks(), known, Noise::Learned)?.into()
            }
            Kind::OrdinalLearned => {
                Ordinal::new(ranks(), Thresholds::Learned(3), Noise::Learned)?.into()
            }
            Kind::Bernoulli => {
                let yes = rows().map(|r| *r == Report::Yes(true)).collect();
                Bernoulli::new(yes, Sigmoid::Logit).into()
            }
            Kind::Binomial => {
                let (k, of) = counts();
                Binomial::new(k, of, Sigmoid::Probit)?.into()
            }
            Kind::PoissonExp => poisson(Link::Exp)?,
            Kind::PoissonSquare => poisson(Link::Square)?,
            Kind::PoissonSoftplus => poisson(Link::Softplus)?,
            Kind::NegativeBinomial => {
                let (k, exposure) = counts();
                NegativeBinomial::new(k, exposure, Link::Exp, Dispersion::Learned)?.into()
            }
            Kind::Exponential => Exponential::new(waits(), Link::Exp)?.into(),
            Kind::Gamma => Gamma::new(waits(), GammaShape::Learned)?.into(),
            Kind::LogNormal => LogNormal::new(waits(), LogSd::Learned)?.into(),
        })
    }

    pub fn model(&self) -> Result<Model, InputError> {
        let places = functionals(self.dims(), self.rows.iter().map(|row| &row.place))?;
        let table = Observations::new(places, self.likelihood()?)?;
        let mut model = Model::new(self.kernel())
            .mean(self.mean.clone())
            .observe(table);
        if let Some(above) = &self.above {
            let places = functionals(self.dims(), &above.points)?;
            let sign = Positive::new(above.points.len(), above.margin, above.sd)?;
            model = model.observe(Observations::new(places, sign)?);
        }
        for (name, setting) in &self.settings {
            model = model.set(name, setting.clone());
        }
        Ok(model)
    }

    pub fn options(&self) -> FitOptions {
        let how = if self.integrated {
            Hyperparameters::Integrate
        } else {
            Hyperparameters::Map
        };
        FitOptions::default()
            .with_hyperparameters(how)
            .with_inference(self.engine.inference())
            .with_seed(self.seed)
    }

    pub fn fit(&self) -> Result<Posterior, FitError> {
        self.model()?.fit(&self.options())
    }

    pub fn answers(&self) -> Result<Answers, FitError> {
        self.answers_of(&self.fit()?)
    }

    /// From the optimum that a search from some hyperparameters alone ends at.
    pub fn answers_from(&self, begin: &[(String, f64)]) -> Result<Answers, FitError> {
        let mut from = self.clone();
        let free = self.model()?.parameters()?;
        let free = free.iter().filter(|p| !p.fixed);
        for p in free {
            if let Some((name, value)) = begin.iter().find(|(name, _)| *name == p.name) {
                from.settings.push((name.clone(), Setting::start(*value)));
            }
        }
        let fit = from.model()?.fit(&from.options().with_starts(1))?;
        self.answers_of(&fit)
    }

    fn answers_of(&self, posterior: &Posterior) -> Result<Answers, FitError> {
        let one = |asked: &Asked| {
            let at = functionals(self.dims(), [&asked.place])?;
            let told = posterior.predict(&at, asked.scale)?;
            Ok(Answer {
                mean: told.mean()[0],
                sd: told.sd()[0],
                quantiles: [0.05, 0.5, 0.95].map(|p| told.quantile(p)[0]),
            })
        };
        let hyperparameters = posterior.summary().hyperparameters.iter();
        Ok(Answers {
            all: self
                .asked
                .iter()
                .map(one)
                .collect::<Result<_, FitError>>()?,
            log_evidence: posterior.summary().log_evidence,
            log_posterior: posterior.summary().log_posterior,
            hyperparameters: hyperparameters.map(|h| (h.name.clone(), h.value)).collect(),
            drawn: drawn(posterior),
        })
    }

    /// The same with the priors and starts that the data suggest written down, so that other rows
    /// that say the same suggest no others; and with a prior of the mean.
    pub fn settled(mut self, mean: PriorDensity) -> Result<Self, InputError> {
        let all = self.model()?.parameters()?;
        let free = all.iter().filter(|p| !p.fixed);
        self.settings = free
            .map(|p| (p.name.clone(), written(p)))
            .chain([("mean.constant".to_owned(), Setting::prior(mean))])
            .collect();
        Ok(self)
    }

    /// The same with every hyperparameter held where the search would begin, and the mean at a
    /// level.
    pub fn fixed(mut self, level: f64) -> Result<Self, InputError> {
        let all = self.model()?.parameters()?;
        let free = all.iter().filter(|p| !p.fixed);
        self.settings = free
            .map(|p| (p.name.clone(), Setting::fixed(p.start)))
            .collect();
        self.mean = Mean::Fixed(level);
        Ok(self)
    }
}

fn drawn(posterior: &Posterior) -> Drawn {
    let warnings = &posterior.summary().warnings;
    let is_rough = warnings.iter().any(|said| said.contains("evened out"));
    match posterior.has_draws() {
        false => Drawn::No,
        true if is_rough => Drawn::Roughly,
        true => Drawn::Fairly,
    }
}

fn written(p: &Parameter) -> Setting {
    Setting {
        start: Some(p.start),
        prior: Some(p.prior),
        lower: (p.lower > 0.0 && p.lower.is_finite()).then_some(p.lower),
        upper: p.upper.is_finite().then_some(p.upper),
        ..Setting::default()
    }
}
