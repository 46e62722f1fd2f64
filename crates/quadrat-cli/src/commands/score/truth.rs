//! True values: where they are of, and all methods judged by them.

use std::path::Path;

use anyhow::Result;
use quadrat::error::FitError;
use quadrat::model::Model;
use quadrat::support::Functionals;
use quadrat::validation::HeldOut;
use quadrat_study::beside::{Places, Told, cannot};
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::engine::{self, Running};
use quadrat_study::functionals::functionals;
use quadrat_study::numbers::count;
use quadrat_study::overlap::once;
use quadrat_study::redundant::distinct;
use quadrat_study::resolve::{Asked, Resolved, resolve};
use quadrat_study::simple::Simple;
use quadrat_study::study::fields::Spanned;
use quadrat_study::study::likelihood::{Given, Likelihood as Says, Reports};
use quadrat_study::study::shape::Shape;
use quadrat_study::study::support::{Edge, Extent, Support};
use quadrat_study::study::{Beside, Predict, Scale, Study, Where};
use quadrat_study::suggest;
use quadrat_study::table::Table;

use super::judged::{Judged, Part, Row, of_points, of_prediction};
use super::scored::value_name;
use crate::args::{Score, TruthScale};

/// The name of the prediction that is made at the places of the truth.
const NAME: &str = "truth";
/// What a column of true values may be called besides.
const NAMES: [&str; 3] = ["truth", "true", "value"];

/// A study that predicts at the places of true values, and these.
pub struct Truth {
    /// With the places as its only prediction.
    pub resolved: Resolved,
    /// The tables of what is judged, one for each output.
    of: usize,
    values: Vec<f64>,
    scale: Scale,
    table: String,
}

impl Truth {
    /// Reads the study, and the file of the truth as one of its predictions.
    pub fn new(mut study: Study, path: &Path, of: usize, args: &Score) -> Result<Self, Problems> {
        let table = Table::open(path, path)?;
        let value = value_column(&study, &table, of, args)?;
        let at = table.named(&value)?;
        let values = table.numbers(&[at])?.remove(0);
        let (support, mut beside) = support(&study, &table, of)?;
        let exposure = beside.exposure.as_ref().and_then(Given::column);
        let has_exposure = exposure.is_none_or(|name| table.headers().contains(&name.value));
        let scale = match args.scale {
            Some(TruthScale::Response) => Scale::Response,
            Some(TruthScale::Observation) => Scale::Observation,
            // Without their exposure these are no counts, but rates.
            None if !has_exposure => Scale::Response,
            None => usual_scale(&study.observe[of].likelihood, &values),
        };
        if !has_exposure && scale == Scale::Response {
            beside.exposure = None;
        }
        if scale != Scale::Observation {
            beside.trials = None;
        }
        // Paths of a study are relative to it; this one is not.
        let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file = file.to_string_lossy().into_owned();
        let observe = study.observe[of].clone();
        let several = study
            .observe
            .iter()
            .filter(|o| o.likelihood.is_report())
            .count()
            > 1;
        let like = several.then(|| Spanned {
            value: observe.shown_name().to_owned(),
            span: observe.file.span.clone(),
        });
        let span = observe.file.span.clone();
        let predict = |like: Option<Spanned<String>>| Predict {
            name: Spanned {
                value: NAME.into(),
                span: span.clone(),
            },
            place: Where::File {
                file: Some(Spanned {
                    value: file.clone(),
                    span: span.clone(),
                }),
                support: Box::new(support.clone()),
            },
            scale,
            scale_span: span.clone(),
            level: None,
            quantiles: Vec::new(),
            quantile_span: span.clone(),
            output: None,
            above: Vec::new(),
            above_span: span.clone(),
            ranks: None,
            non_negative: None,
            draws: None,
            like,
            meet: None,
            beside: Beside {
                keep: vec![Spanned {
                    value: value.clone(),
                    span: span.clone(),
                }],
                ..beside.clone()
            },
        };
        study.predict = vec![predict(like.clone())];
        let first = resolve(study.clone());
        // Naming a table is refused where all of them answer alike.
        let resolved = match (first, like) {
            (Err(_), Some(_)) => {
                study.predict = vec![predict(None)];
                resolve(study)
            }
            (first, _) => first,
        }?;
        let truth = Self {
            resolved,
            of,
            values,
            scale,
            table: path.display().to_string(),
        };
        truth.one_output()?;
        Ok(truth)
    }

    /// True values of several outputs would have to be told apart.
    fn one_output(&self) -> Result<(), Problems> {
        match self.resolved.predictions.len() {
            1 => Ok(()),
            outputs => {
                let message = format!("the study has {outputs} outputs, and --truth tells of one");
                let remedy = "judge several outputs by cross-validation, without --truth";
                Err(Problem::new(message).remedy(remedy).into())
            }
        }
    }

    /// What is compared, for people.
    pub fn words(&self) -> String {
        let what = match self.scale {
            Scale::Observation => "observations",
            _ => "means",
        };
        format!(
            "{} of `{}`, compared with predicted {what} of one fit to all rows",
            count(self.values.len(), "true value"),
            self.table
        )
    }

    /// What is true, row by row of the places that are predicted.
    fn reported(&self, asked: &Asked) -> Result<Vec<HeldOut>> {
        // The cells stand beside the places, also where some of these are left out.
        let kept = asked.places.labels.first();
        let cells = kept.map_or(&[][..], |labels| labels.cells.as_slice());
        if cells.len() == self.values.len() {
            return Ok(self.values.iter().map(|y| HeldOut::Value(*y)).collect());
        }
        let number = |cell: &String| {
            quadrat_study::table::parse_number(cell)
                .ok()
                .map(HeldOut::Value)
        };
        let all: Option<Vec<_>> = cells.iter().map(number).collect();
        all.ok_or_else(|| anyhow::anyhow!("a true value is no number"))
    }

    /// All methods at the places of the truth, ours fitted to all rows.
    pub fn judged(
        mut self,
        (simple, is_named): (&[Simple], bool),
        running: &Running,
    ) -> Result<Judged> {
        let asked = self.resolved.predictions.remove(0);
        let reported = self.reported(&asked)?;
        let at = functionals(&asked.places, 0..asked.places.len())?;
        let model = engine::of_one_table(&self.resolved)?;
        let mut others = Vec::new();
        for &simple in simple {
            match self.by_simple(simple, &asked, (&at, &reported), &model) {
                Ok(part) => others.push((simple, part?)),
                Err(error) if is_named => {
                    return Err(cannot(simple, "for this study and truth", &error, false).into());
                }
                Err(_) => {}
            }
        }
        let resolved = once(distinct(self.resolved)?)?;
        let posterior = engine::fit(&resolved, running)?;
        let mut warnings = resolved.warnings.clone();
        warnings.extend(posterior.summary().warnings.iter().cloned());
        let wanted = asked.wanted();
        let told = engine::prediction(&posterior, &asked.places, 0..reported.len(), &wanted)?;
        let ours = of_prediction(&told, &reported, 0)?;
        let row = |(at, reported): (usize, &HeldOut)| Row {
            number: at + 1,
            fold: None,
            reported: *reported,
        };
        let rows: Vec<Row> = reported.iter().enumerate().map(row).collect();
        let units = (0..rows.len()).collect();
        let value = value_name(&resolved.study, self.of);
        Judged::new((rows, units), ours, others, (value, warnings))
    }

    fn by_simple(
        &self,
        simple: Simple,
        asked: &Asked,
        (at, reported): (&Functionals, &[HeldOut]),
        model: &Model,
    ) -> Result<Result<Part>, FitError> {
        let output = &asked.places.output;
        let is_it =
            |t: &&quadrat_study::resolve::Observed| t.of == self.of && t.places.output == *output;
        let Some(observed) = self.resolved.tables.iter().find(is_it) else {
            return Ok(Err(anyhow::anyhow!("no row is of this output")));
        };
        let rows = engine::observations(observed)?;
        let ones = vec![1.0; reported.len()];
        let amounts = asked.places.amounts.as_ref();
        let places = Places {
            at,
            amounts: amounts.map_or(&ones[..], |amounts| amounts.values()),
            scale: self.scale,
        };
        Ok(match simple.tell(&rows, model, &places)? {
            Told::Distributions(told) => of_prediction(&told, reported, 0),
            Told::Means(means) => of_points(&means, reported),
        })
    }
}

/// Counts that are whole numbers were counted; all else is taken as a mean.
fn usual_scale(says: &Says, values: &[f64]) -> Scale {
    let counts = matches!(
        says.reports,
        Reports::Counts { .. } | Reports::Binomial { .. } | Reports::Bernoulli { .. }
    );
    let whole = values.iter().all(|y| y.fract() == 0.0 && *y >= 0.0);
    match counts && whole {
        true => Scale::Observation,
        false => Scale::Response,
    }
}

/// The column of the true values.
fn value_column(study: &Study, table: &Table, of: usize, args: &Score) -> Result<String, Problems> {
    if let Some(named) = &args.value {
        return Ok(named.clone());
    }
    let has = |name: &str| table.headers().iter().any(|header| header == name);
    let own = study.observe[of].likelihood.columns();
    let own = own.first().map(|(name, _)| name.value.as_str());
    let all: Vec<&str> = own.into_iter().chain(NAMES).collect();
    match all.iter().find(|name| has(name)) {
        Some(name) => Ok((*name).to_owned()),
        None => {
            let message = format!("`{}` has no column of true values", table.name());
            let looked: Vec<String> = all.iter().map(|name| (*name).to_owned()).collect();
            let remedy = format!(
                "name it with --value; without, it is looked for as {}",
                suggest::list(&looked)
            );
            Err(Problem::new(message)
                .at(table.whole())
                .remedy(remedy)
                .into())
        }
    }
}

/// Where the rows of the truth lie: at a support of a [[predict]], else of the [[observe]], whose
/// columns the file has.
fn support(study: &Study, table: &Table, of: usize) -> Result<(Support, Beside), Problems> {
    let observe = &study.observe[of];
    let mut all: Vec<(Support, Beside)> = Vec::new();
    for predict in &study.predict {
        match &predict.place {
            Where::Grid { axes, aggregate } if !axes.is_empty() => {
                let mut support = Support::of_grid(axes, *aggregate, &predict.name.span);
                support.dims.iter_mut().for_each(of_cells);
                all.push((support, predict.beside.clone()));
            }
            Where::File { support, .. } => all.push(((**support).clone(), predict.beside.clone())),
            Where::Grid { .. } | Where::Rows { .. } => {}
        }
    }
    all.push((observe.support.clone(), amounts(&observe.likelihood)));
    let has = |name: &String| table.headers().contains(name);
    let mut looked: Vec<String> = Vec::new();
    for (mut support, beside) in all {
        let columns = columns(&support);
        if !columns.is_empty() && columns.iter().all(has) {
            if let Some(Shape::Region(keys)) = &mut support.shape
                && table.geo().is_none()
            {
                keys.file.get_or_insert_with(|| observe.file.clone());
            }
            return Ok((support, beside));
        }
        let words = suggest::list(&columns);
        if !looked.contains(&words) {
            looked.push(words);
        }
    }
    let message = format!(
        "`{}` has no columns that say where its rows are",
        table.name()
    );
    let remedy = format!(
        "give it the columns of a [[predict]] or [[observe]] of the study: {}",
        looked.join("; or ")
    );
    Err(Problem::new(message)
        .at(table.whole())
        .remedy(remedy)
        .into())
}

/// A cell of a grid has the columns of its table of answers.
fn of_cells(dim: &mut quadrat_study::study::support::Dim) {
    if let Extent::Edges(first, second) = &mut dim.extent {
        for (edge, side) in [(first, "lower"), (second, "upper")] {
            let value = format!("{}_{side}", dim.name.value);
            let span = dim.name.span.clone();
            *edge = Edge::Column(Spanned { value, span });
        }
    }
}

/// The columns that a support is read from.
fn columns(support: &Support) -> Vec<String> {
    let mut all = Vec::new();
    match &support.shape {
        Some(Shape::Region(keys)) => all.extend(keys.key.iter().map(|k| k.value.clone())),
        Some(Shape::Bag(keys)) => all.push(keys.key.value.clone()),
        None => {}
    }
    for dim in &support.dims {
        match &dim.extent {
            Extent::Point => all.push(dim.name.value.clone()),
            Extent::Edges(a, b) => {
                let named = [a, b].into_iter().filter_map(Edge::column);
                all.extend(named.map(|name| name.value.clone()));
            }
        }
    }
    all
}

/// The exposure or trials of observed rows, as those of the truth.
fn amounts(says: &Says) -> Beside {
    let (exposure, trials) = match &says.reports {
        Reports::Counts { exposure, .. } => (exposure.clone(), None),
        Reports::Binomial { trials, .. } => (None, Some(trials.clone())),
        _ => (None, None),
    };
    Beside {
        exposure,
        trials,
        keep: Vec::new(),
    }
}
