//! Models and fits that fail, in terms of the user's study and rows.

use quadrat::error::{FitError, InputError};
use quadrat::kernel::{Kernel, Role};
use quadrat::likelihood::Likelihood as Reported;
use quadrat::link::Link;

use crate::diagnostic::{Place, Problem, Problems};
use crate::numbers::{coordinate, count};
use crate::resolve::Resolved;
use crate::study::Study;
use crate::suggest;
use crate::words::method_in_words;

/// What the library refuses, at the line of the study that is at fault.
pub(super) fn refused(study: &Study, error: InputError) -> Problem {
    let mut span = match &error {
        InputError::UnknownParameter { name, .. } | InputError::Parameter { name, .. } => {
            let setting = study.settings.iter().find(|s| &s.name.value == name);
            setting.map(|setting| &setting.name.span)
        }
        InputError::MeanColumn { .. } => Some(&study.latent.mean.span),
        _ => study.observe.first().map(|observe| &observe.file.span),
    };
    let problem = match &error {
        InputError::UnknownParameter { name, known } => {
            let near = suggest::nearest(name, known.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            Problem::new(format!("the model has no hyperparameter `{name}`{hint}"))
                .remedy(format!("it has {}", suggest::list(known)))
        }
        // Nobody set it: the default that was scaled from the data is not usable.
        InputError::Parameter { name, .. } if span.is_none() => {
            span = study.observe.first().map(|observe| &observe.file.span);
            Problem::new(format!(
                "the sizes of these numbers leave no usable start for `{name}`"
            ))
            .remedy("change the units, so that values and supports are of ordinary size")
        }
        _ => Problem::new(error.to_string()),
    };
    match span {
        Some(span) => problem.at(study.source.place(span)),
        None => problem,
    }
}

/// A failed fit in terms of the user's rows.
pub fn explain(resolved: &Resolved, error: FitError) -> anyhow::Error {
    let problem = match &error {
        FitError::Factorisation {
            kernel,
            parameters,
            rows,
            correlation,
            ..
        } => Problem::new(format!(
            "the covariance of the rows under `{kernel}` with {parameters} cannot be factorised: {} and {} are almost the same (correlation {correlation:.6})",
            address(resolved, rows.0),
            address(resolved, rows.1)
        ))
        .remedy("merge these rows, give them a noise variance, or shorten the lengthscale"),
        FitError::Contradiction {
            row,
            partner,
            misfit: 0.0,
        } => Problem::new(format!(
            "{} says exactly no more than {} and other parts of it together, which leaves nothing to the rest of it, where the function is above zero",
            address(resolved, *row),
            address(resolved, *partner)
        ))
        .remedy("mend the values, leave one of the rows out, or give them a noise variance above 0"),
        FitError::Contradiction {
            row,
            partner,
            misfit,
        } => Problem::new(format!(
            "{} says exactly another value than other exact rows allow, by {}; the most alike is {}",
            address(resolved, *row),
            coordinate(*misfit),
            address(resolved, *partner)
        ))
        .remedy("they look at the same place, one is made of the others, or parts hold more than the whole: leave one out, or give them a noise variance above 0"),
        FitError::NoStart { .. } => Problem::new(
            "no start of the hyperparameters gives the data a finite probability",
        )
        .remedy("check the sizes of the variances and the values set in [hyperparameters], or change the units"),
        FitError::NotConverged { residual, .. } if residual.is_infinite() && has_exact_rows(resolved) => {
            Problem::new("no function was found that meets the rows that are known exactly")
                .remedy("a part may exceed the row around it: mend it, or give the rows a noise variance above 0; or give starts or an upper bound of the variance in [hyperparameters]")
        }
        FitError::NotConverged { method, residual, .. } => Problem::new(format!(
            "{} did not converge: some row still moves by {residual:.1e} of its standard deviation",
            method_in_words(method)
        ))
        .remedy(match link_of_sums(resolved) {
            Some(Link::Softplus | Link::Square) => "take `link = \"exp\"`, behind which sums of large counts are found most surely, or `method = \"sparse\"` in [inference], or give starts or an upper bound of the variance in [hyperparameters]",
            Some(_) => "take `method = \"sparse\"` in [inference], the other way for sums after a link, or give starts or an upper bound of the variance in [hyperparameters]",
            None => "choose another `method` or `hyperparameters = \"map\"` in [inference], or give starts or an upper bound of the variance in [hyperparameters]",
        }),
        FitError::NoBound { parameters } => Problem::new(format!(
            "under {parameters} the bound of sparse inference is no number at the average of the rows, or beside it"
        ))
        .remedy("weights, exposures, counts or a given mean are too large or too small for the link: change their units, or the start of the hyperparameter"),
        FitError::Input(error) => return Problems::from(refused(&resolved.study, error.clone())).into(),
        FitError::Linalg(_) => return error.into(),
        _ => return error.into(),
    };
    let at = match &error {
        FitError::Contradiction { row, .. } => place(resolved, *row),
        _ => None,
    };
    Problems::from(problem.at(at.unwrap_or_else(|| kernel_place(resolved)))).into()
}

/// What to do where a period is learned and a few rows are so far from all others that each of
/// very many periods leads to them.
pub(super) fn far_cycles(resolved: &Resolved) -> Option<String> {
    /// So many times the range of the others.
    const FAR: f64 = 1000.0;
    /// The share of the rows that is told by name.
    const FEW: f64 = 0.1;
    let kernel = Kernel::parse(&resolved.study.latent.kernel.value).ok()?;
    let mut periods = kernel.parameters().iter().filter(|own| own.fixed.is_none());
    let column = periods.find_map(|own| match own.role {
        Role::Period(column) => kernel.columns().get(column),
        _ => None,
    })?;
    let mut rows: Vec<(f64, usize)> = Vec::new();
    let mut first = 0;
    for table in &resolved.tables {
        if let Some(along) = table.places.dim(column) {
            rows.extend((0..table.places.len()).map(|row| (along.middle(row), first + row)));
        }
        first += table.places.len();
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let gaps = rows.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let (at, gap) = gaps.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (before, after) = rows.split_at(at + 1);
    let (few, most) = match before.len() < after.len() {
        true => (before, after),
        false => (after, before),
    };
    let range = most.last()?.0 - most.first()?.0;
    let is_few = few.len() as f64 <= FEW * rows.len() as f64;
    (is_few && gap > FAR * range).then(|| {
        let others = match few.len() {
            1 => String::new(),
            more => format!(" and {}", count(more - 1, "other row")),
        };
        format!(
            "{}{others} lies {} away from all others, which are within {}: very many periods lead as well to it, and rows cannot tell which; leave it out, or give the period: `periodic({column}, period = ..)`",
            address(resolved, few[0].1),
            coordinate(gap),
            coordinate(range)
        )
    })
}

pub(super) fn kernel_place(resolved: &Resolved) -> Place {
    let study = &resolved.study;
    study.source.place(&study.latent.kernel.span)
}

/// Whether a table has rows without noise.
fn has_exact_rows(resolved: &Resolved) -> bool {
    resolved.tables.iter().any(|table| match &table.likelihood {
        Reported::Gaussian(rows) => rows
            .noise()
            .known()
            .is_some_and(|known| known.contains(&0.0)),
        _ => false,
    })
}

/// The link of a table that reports sums or averages after one, which only Laplace's method and
/// sparse inference take.
fn link_of_sums(resolved: &Resolved) -> Option<Link> {
    let sums = resolved
        .tables
        .iter()
        .filter(|t| t.places.aggregate.is_some());
    sums.filter_map(|table| table.likelihood.mean_link()).next()
}

/// Where a row of all tables together stands.
pub fn address(resolved: &Resolved, mut row: usize) -> String {
    for table in &resolved.tables {
        if row < table.places.len() {
            return table.address_and_key(row);
        }
        row -= table.places.len();
    }
    // Only `non_negative` adds rows that are in no table.
    "a place where the function must not be negative".to_owned()
}

/// The cell of what such a row reported.
pub fn place(resolved: &Resolved, mut row: usize) -> Option<Place> {
    for table in &resolved.tables {
        if row < table.places.len() {
            return Some(table.place(row));
        }
        row -= table.places.len();
    }
    None
}
