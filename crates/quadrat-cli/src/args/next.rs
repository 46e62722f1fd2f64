//! Arguments of `quadrat next` and `quadrat tell`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quadrat::acquire::Policy;
use quadrat_study::measure::Price;

use super::figure;
use super::looks::{Edges, Looks, edges};

/// `quadrat next`.
#[derive(Debug, Args)]
pub struct Next {
    /// A study, which is fitted first, or a model saved by `quadrat fit`
    #[arg(value_name = "STUDY.toml|M.quadrat")]
    pub study: PathBuf,
    /// Table of the places where measurements can be made; `grid` for a grid over the data
    #[arg(long, value_name = "FILE|grid")]
    pub candidates: PathBuf,
    /// The kinds of measurement with the cost of one, such as `point=10,interval=7:0.5,ordinal=3`:
    /// likelihoods or names of tables of the study. Behind a colon the width of an interval, or the
    /// noise variance of a new reading
    #[arg(long, value_name = "KIND=COST[:NUMBER]", value_delimiter = ',', num_args = 1.., required = true, value_parser = price)]
    pub cost: Vec<Price>,
    /// How many measurements to choose; as many as the budget pays for, up to 1000, where only that
    /// is given, else 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub batch: Option<u16>,
    /// What they may cost together
    #[arg(long, value_name = "TOTAL", allow_negative_numbers = true)]
    pub budget: Option<f64>,
    /// Over how many measurements the policies `pace` and `variance-pace` spread the budget, later
    /// ones too; those of the batch when absent
    #[arg(long, value_name = "N", requires = "budget", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub steps: Option<u16>,
    /// The rule of the choice
    #[arg(long, value_enum, default_value = "per-cost")]
    pub policy: PolicyWord,
    /// The limit of the policy `exceedance`, of values, rates or chances
    #[arg(long, value_name = "LIMIT", allow_negative_numbers = true)]
    pub above: Option<f64>,
    /// Table of where the function is to be known: the policies `target`, `exceedance`, `variance`
    /// and `variance-pace` look at these, all but `target` at the candidates when absent. Points,
    /// unless `--target-box` or `--target-region` says otherwise
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// A dimension of the target and the columns of its two edges: its average, and so its total,
    /// is to be known; may be repeated
    #[arg(long, value_name = "DIM=LO,HI", value_parser = edges, requires = "target")]
    pub target_box: Vec<Edges>,
    /// The two dimensions of the polygons of the target
    #[arg(long, value_name = "DIM,DIM", value_delimiter = ',', num_args = 1.., requires = "target", conflicts_with = "target_box")]
    pub target_region: Vec<String>,
    /// The seed of random policies, and of the functions drawn by `maximum` and `minimum`
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Where measurements look.
    #[command(flatten)]
    pub looks: Looks,
    /// Write every measurement that was open, with what it alone would tell, behind those chosen
    #[arg(long, requires = "output")]
    pub all: bool,
    /// File for the chosen measurements
    #[arg(long, short, value_name = "OUT.csv")]
    pub output: Option<PathBuf>,
    /// File for a figure of what each kind would tell along one input or over two: `.svg`, `.png`
    /// or `.html`
    #[arg(long, value_name = "OUT.svg", value_parser = figure)]
    pub plot: Option<PathBuf>,
    /// Print the choice as JSON in place of the summary
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and JSON with --json)
    #[arg(long, short)]
    pub quiet: bool,
    /// Number of threads; all cores when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// `quadrat tell`.
#[derive(Debug, Args)]
pub struct Tell {
    /// A model saved by `quadrat fit`
    #[arg(value_name = "M.quadrat")]
    pub model: PathBuf,
    /// Table of what was measured, such as the one of `quadrat next -o` with the answers filled in:
    /// where, `kind`, and `value` or `lower` and `upper`; rows without an answer are left out
    #[arg(value_name = "ROWS.csv", required_unless_present_any = ["relearn", "told"])]
    pub rows: Option<PathBuf>,
    /// The kind of all rows, where the table has no column `kind`
    #[arg(long, value_name = "KIND", requires = "rows")]
    pub kind: Option<String>,
    /// Learn the hyperparameters again, from the rows of the fit and all that were added since;
    /// their priors stay those of the fit
    #[arg(long)]
    pub relearn: bool,
    /// File for a table of all rows that were added to the model so far, as they were written
    #[arg(long, value_name = "OUT.csv")]
    pub told: Option<PathBuf>,
    /// Where the rows looked.
    #[command(flatten)]
    pub looks: Looks,
    /// File for the model with the rows; that of the model itself when absent
    #[arg(long, short, value_name = "M.quadrat")]
    pub output: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Number of threads; all cores when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// By which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyWord {
    /// The most information, whatever it costs
    Information,
    /// The most information for its cost
    PerCost,
    /// The largest share of the most that its kind can tell
    Normalised,
    /// The most information for its cost, where no less is counted than must be spent in each of
    /// the measurements that are left
    Pace,
    /// The largest fall of the mean variance of the function, for its cost
    Variance,
    /// The same, at the pace of `pace`
    VariancePace,
    /// The most information about the targets, all of them together, for its cost
    Target,
    /// The most information about whether the function exceeds `--above` at each target, for its
    /// cost
    Exceedance,
    /// The most information about the largest value among the candidates, for its cost
    Maximum,
    /// The most information about the smallest value among the candidates, for its cost
    Minimum,
    /// Any
    Random,
    /// Any kind, where it tells most
    RandomKind,
}

impl PolicyWord {
    /// The rule of the library.
    pub fn policy(self) -> Policy {
        match self {
            Self::Information => Policy::Information,
            Self::PerCost => Policy::PerCost,
            Self::Normalised => Policy::Normalised,
            Self::Pace => Policy::Pace,
            Self::Variance => Policy::Variance,
            Self::VariancePace => Policy::VariancePace,
            Self::Target => Policy::Target,
            Self::Exceedance => Policy::Exceedance,
            Self::Maximum => Policy::Maximum,
            Self::Minimum => Policy::Minimum,
            Self::Random => Policy::Random,
            Self::RandomKind => Policy::RandomKind,
        }
    }
}

fn price(text: &str) -> Result<Price, String> {
    let like = "write each kind with its cost, such as `point=10` or `interval=7:0.5`";
    let Some((kind, price)) = text.rsplit_once('=') else {
        return Err(format!("`{}` has no cost; {like}", text.trim()));
    };
    let (cost, amount) = match price.split_once(':') {
        None => (price, None),
        Some((cost, amount)) => (cost, Some(amount)),
    };
    let above_zero = |what: &str, text: &str| match text.trim().parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        Ok(x) => Err(format!("{what} is {x}; it must be finite and above zero")),
        Err(_) => Err(format!("{what} `{}` is no number; {like}", text.trim())),
    };
    let kind = kind.trim().to_owned();
    if kind.is_empty() {
        return Err(like.to_owned());
    }
    Ok(Price {
        cost: above_zero(&format!("the cost of `{kind}`"), cost)?,
        amount: amount
            .map(|amount| above_zero(&format!("the number of `{kind}`"), amount))
            .transpose()?,
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_numbers_above_zero() {
        let own = |kind: &str, cost, amount| Price {
            kind: kind.to_owned(),
            cost,
            amount,
        };
        assert_eq!(price("point=10"), Ok(own("point", 10.0, None)));
        let interval = own("interval", 7.0, Some(0.5));
        assert_eq!(price("interval = 7 : 0.5"), Ok(interval));
        assert_eq!(price("a=b.csv=3"), Ok(own("a=b.csv", 3.0, None)));
        for bad in [
            "point",
            "=3",
            "point=",
            "point=0",
            "point=-1",
            "point=inf",
            "point=1:0",
            "point=1:x",
        ] {
            assert!(price(bad).is_err(), "{bad}");
        }
    }

    /// The words of the command line are those of the library.
    #[test]
    fn policies_are_called_as_in_the_library() {
        let words = PolicyWord::value_variants().iter();
        let named = words.map(|word| {
            let value = word.to_possible_value().unwrap();
            (value.get_name().to_owned(), word.policy())
        });
        let named: Vec<(String, Policy)> = named.collect();
        assert_eq!(named.len(), Policy::ALL.len());
        for (name, policy) in named {
            assert_eq!(Policy::named(&name), Some(policy), "{name}");
        }
    }
}
