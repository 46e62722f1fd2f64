//! By which rule measurements are chosen.

/// The rules. Information is that of [`Report::information`](super::Report::information) about the
/// function unless a rule says otherwise, expected of a measurement beside those that were chosen
/// before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The most information, whatever it costs.
    Information,
    /// The most information for its cost.
    #[default]
    PerCost,
    /// The largest share of the most that its kind may tell
    /// ([`Report::most`](super::Report::most)), whatever it costs.
    Normalised,
    /// The most information for its cost, where no less is counted than must be spent in every step
    /// that is left: `I / max(cost, budget left / steps left)`.
    Pace,
    /// The largest fall of the variance of all targets for its cost.
    Variance,
    /// The same at the pace of [`Self::Pace`].
    VariancePace,
    /// The most information about all targets together for its cost.
    Target,
    /// The most information about whether each target exceeds [`Plan::limit`], added up over
    /// targets, for its cost.
    Exceedance,
    /// The most information about the largest value among the candidates, for its cost.
    Maximum,
    /// The most information about the smallest value among the candidates, for its cost.
    Minimum,
    /// Any measurement.
    Random,
    /// Any kind, and the place where it tells most.
    RandomKind,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Information,
        Self::PerCost,
        Self::Normalised,
        Self::Pace,
        Self::Variance,
        Self::VariancePace,
        Self::Target,
        Self::Exceedance,
        Self::Maximum,
        Self::Minimum,
        Self::Random,
        Self::RandomKind,
    ];

    /// In words of a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Information => "information",
            Self::PerCost => "per-cost",
            Self::Normalised => "normalised",
            Self::Pace => "pace",
            Self::Variance => "variance",
            Self::VariancePace => "variance-pace",
            Self::Target => "target",
            Self::Exceedance => "exceedance",
            Self::Maximum => "maximum",
            Self::Minimum => "minimum",
            Self::Random => "random",
            Self::RandomKind => "random-kind",
        }
    }

    /// The rule of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }

    /// Whether it looks at targets.
    #[must_use]
    pub fn has_targets(self) -> bool {
        self.is_variance() || matches!(self, Self::Target | Self::Exceedance)
    }

    /// Whether variances of targets are asked for.
    pub(super) fn is_variance(self) -> bool {
        matches!(self, Self::Variance | Self::VariancePace)
    }

    /// Whether what is left to spend is spread over the steps that are left.
    pub(super) fn is_paced(self) -> bool {
        matches!(self, Self::Pace | Self::VariancePace)
    }
}

/// How many measurements, by which rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The rule.
    pub policy: Policy,
    /// How many measurements at most, from 1 on.
    pub batch: usize,
    /// What they may cost together; as much as they cost where there is no budget.
    pub budget: Option<f64>,
    /// In how many measurements the budget is to be spent, those of later batches too: what
    /// [`Policy::Pace`] spreads it over; those of this batch where it is not given.
    pub steps: Option<usize>,
    /// What [`Policy::Exceedance`] asks whether targets exceed it, as a latent value
    /// ([`latent_limit`](super::latent_limit)); other rules do not look at it.
    pub limit: Option<f64>,
    /// Seed of random rules, and of the functions that are drawn for [`Policy::Maximum`].
    pub seed: u64,
}

impl Default for Plan {
    /// One measurement per cost.
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            batch: 1,
            budget: None,
            steps: None,
            limit: None,
            seed: 1,
        }
    }
}
