//! `quadrat next`: which measurement is worth its cost.

mod candidates;
mod figure;
mod said;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use quadrat::acquire::{
    Chosen, Offer, Places as Askable, Plan, Policy, choose_watched, latent_limit, suits, survey,
};
use quadrat::error::InputError;
use quadrat::support::Functionals;
use quadrat_study::diagnostic::{Paint, Problem, Problems};
use quadrat_study::engine::{self, Posterior};
use quadrat_study::functionals::functionals;
use quadrat_study::geographic::Geographic;
use quadrat_study::measure::{Tables, offers};
use quadrat_study::numbers::{count, human};
use quadrat_study::places::Places;
use quadrat_study::{CheckedFunction, study};

use self::said::Told;
use super::looks::{self, Asked};
use super::predict::load;
use super::{print, running, spare, spare_inputs};
use crate::args::{Aggregation, Looks, Next, Saying};
use crate::output::{Staged, apart, writable};
use crate::progress::Bar;
use crate::terminal::warn;

/// Measurements chosen at most where only a budget is given.
const MOST: usize = 1000;
/// Nats below which all that is told is rounding.
const NOTHING: f64 = 1e-9;

/// Runs the command.
pub fn run(args: &Next) -> Result<()> {
    affordable(args)?;
    limited(args)?;
    let outputs: Vec<PathBuf> = args.output.iter().chain(&args.plot).cloned().collect();
    let told = (
        "a file that is read",
        "choose another file with -o or --plot",
    );
    spare(&[&args.study, &args.candidates], &outputs, told)?;
    apart(&outputs)?;
    writable(&outputs)?;
    let (posterior, places) = believed(args, &outputs)?;
    let offers = offers(&posterior, &args.cost)?;
    if args.plot.is_some() {
        figure::drawable(&places, &posterior)?;
    }
    let at = functionals(&places, 0..places.len())?;
    let targets = targets(args, &posterior, places.geographic.clone())?;
    far(&posterior, &places, &posterior.extrapolation(&at)?);
    let (chosen, settings, besides) =
        chosen(args, &posterior, [Some(&at), targets.as_ref()], &offers)?;
    let told = Told {
        args,
        places: &places,
        offers: &offers,
        chosen: &chosen,
        settings,
        besides: &besides,
    };
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        staged.write(output, |out| told.write(out))?;
    }
    if let Some(plot) = &args.plot {
        staged.bytes(plot, &figure::figure(plot, &told, &posterior)?)?;
    }
    let written = staged.finish()?;
    if args.json {
        return print(&told.json()?);
    }
    if args.quiet {
        return Ok(());
    }
    let mut text = told.summary(Paint::on(std::io::stdout().is_terminal()));
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
}

/// Refuses a budget that pays for nothing, before anything is fitted.
fn affordable(args: &Next) -> Result<(), Problems> {
    let Some(budget) = args.budget else {
        return Ok(());
    };
    let prices = args.cost.iter();
    let cheapest = prices.min_by(|a, b| a.cost.total_cmp(&b.cost));
    match cheapest {
        Some(kind) if !(budget.is_finite() && budget >= kind.cost) => Err(Problem::new(format!(
            "the budget, {}, pays for no measurement: the cheapest, `{}`, costs {}",
            human(budget),
            kind.kind,
            human(kind.cost)
        ))
        .remedy("give a finite budget that pays for one")
        .into()),
        _ => Ok(()),
    }
}

/// A limit that no response reaches.
fn impossible(above: f64) -> Problems {
    let message = format!("--above is {above}, and the response has no such value");
    Problem::new(message)
        .remedy("give a finite number; of rates one above 0, of chances one between 0 and 1")
        .into()
}

/// Refuses a rule without its limit, a limit without its rule, and one that is no number.
fn limited(args: &Next) -> Result<(), Problems> {
    let (message, remedy) = match (args.policy.policy(), args.above) {
        (Policy::Exceedance, None) => (
            "`--policy exceedance` asks where the function exceeds a limit, and there is none",
            "say which: `--above LIMIT`",
        ),
        (Policy::Exceedance, Some(limit)) if !limit.is_finite() => return Err(impossible(limit)),
        (Policy::Exceedance, Some(_)) | (_, None) => return Ok(()),
        (_, Some(_)) => (
            "--above is a limit that the policy does not look at",
            "add `--policy exceedance`, or leave it out",
        ),
    };
    Err(Problem::new(message).remedy(remedy).into())
}

/// The posterior of a saved model, or of a study that is fitted once all else was read, and the
/// candidates.
fn believed(args: &Next, outputs: &[PathBuf]) -> Result<(Posterior, Places)> {
    let is_study = args.study.extension().is_some_and(|e| e == "toml");
    let bar = Bar::new(args.quiet || args.json);
    let saying = Saying {
        json: args.json,
        quiet: args.quiet,
        threads: args.threads,
    };
    let how = running(&saying, &bar)?;
    let (posterior, listed, geographic) = if is_study {
        let study = study::open(&args.study, &args.study)?;
        let checked = CheckedFunction::new(study, true)?;
        let resolved = &checked.resolved;
        let elsewhere = "choose another name for the file";
        spare_inputs(resolved.inputs(), &args.study, outputs, elsewhere)?;
        Tables::read(resolved).check(&args.cost)?;
        let geographic = resolved.geographic.clone();
        let columns = &resolved.study.latent.columns;
        let known = (geographic.clone(), resolved.codes.clone());
        let listed = candidates::listed(args, columns, known)?;
        let outcome = checked.run(&how)?;
        bar.finish();
        outcome.warnings.iter().for_each(|told| warn(told));
        (outcome.posterior, listed, geographic)
    } else {
        let (posterior, geographic) = load(&args.study)?;
        Tables::of(&posterior).check(&args.cost)?;
        let known = (geographic.clone(), engine::labels(&posterior)?);
        let listed = candidates::listed(args, posterior.dims(), known)?;
        (posterior, listed, geographic)
    };
    let places = match listed {
        Some(places) => places,
        None => candidates::grid(args, &posterior, geographic.as_deref())?,
    };
    Ok((posterior, places))
}

/// Where the function is to be known, if that is said.
fn targets(
    args: &Next,
    posterior: &Posterior,
    geographic: Option<Arc<Geographic>>,
) -> Result<Option<Functionals>> {
    let policy = args.policy.policy();
    let refuse = |message: &str, remedy: &str| {
        Err(Problems::from(Problem::new(message).remedy(remedy)).into())
    };
    let Some(file) = &args.target else {
        return match policy {
            Policy::Target => refuse(
                "`--policy target` asks what measurements tell of a target, and there is none",
                "say where the function is to be known: `--target FILE`",
            ),
            _ => Ok(None),
        };
    };
    if !policy.has_targets() {
        return refuse(
            "--target says what is to be known, and the policy does not look at it",
            "add `--policy target`, `exceedance` or `variance`, or leave it out",
        );
    }
    let has_width = !args.target_box.is_empty() || !args.target_region.is_empty();
    let asked = Asked {
        model: &args.study,
        file,
        words: ["next", "--target"],
        looks: &Looks {
            boxes: args.target_box.clone(),
            region: args.target_region.clone(),
            planar: !args.target_region.is_empty() && geographic.is_none(),
            aggregate: has_width.then_some(Aggregation::Mean),
            ..Looks::default()
        },
    };
    let known = (geographic, engine::labels(posterior)?);
    let (places, _) = looks::places(&asked, posterior.dims(), known, &[])?;
    Ok(Some(functionals(&places, 0..places.len())?))
}

/// Warns of candidates outside the data.
fn far(posterior: &Posterior, places: &Places, far: &[usize]) {
    let Some(&first) = far.first() else {
        return;
    };
    let lie = if far.len() == 1 { "lies" } else { "lie" };
    warn(&format!(
        "{} of {} {lie} far outside the data of {}, first row {} ({}): there the model says what the prior does, and measurements seem to tell most",
        count(far.len(), "candidate"),
        places.len(),
        quadrat_study::suggest::list(posterior.dims()),
        first + 1,
        places.describe(first)
    ));
}

/// The choice, over how many settings of the hyperparameters it is an average, and what each
/// measurement tells of these besides.
fn chosen(
    args: &Next,
    posterior: &Posterior,
    [at, targets]: [Option<&Functionals>; 2],
    offers: &[Offer],
) -> Result<(Chosen, usize, Vec<Option<f64>>)> {
    let at = at.context("there are no candidates")?;
    let askable = Askable::new(posterior, at, offers, targets)?;
    let survey = survey(posterior, &askable, offers).with_context(|| {
        let kinds: Vec<&str> = offers.iter().map(|o| o.name.as_str()).collect();
        format!(
            "cannot say what {} would tell",
            quadrat_study::suggest::list(&kinds)
        )
    })?;
    suits(posterior, offers, args.policy.policy())?;
    let limit = args.above.map(|above| {
        let limit = latent_limit(posterior, offers, above);
        limit.map_err(|error| match error {
            InputError::Range { .. } => impossible(above).into(),
            other => anyhow::Error::new(other),
        })
    });
    let plan = Plan {
        limit: limit.transpose()?,
        policy: args.policy.policy(),
        batch: match (args.batch, args.budget) {
            (Some(batch), _) => usize::from(batch),
            (None, Some(_)) => MOST,
            (None, None) => 1,
        },
        budget: args.budget,
        steps: args.steps.map(usize::from),
        seed: args.seed,
    };
    let bar = Bar::new(args.quiet || args.json);
    bar.say("choosing measurements");
    let chosen = choose_watched(&survey, &plan, &*bar)?;
    bar.finish();
    let most = chosen.information.iter().copied().fold(0.0, f64::max);
    if let (Some(limit), true) = (args.above, most < NOTHING) {
        warn(&format!(
            "whether the function exceeds {} is known at every target: no measurement tells anything of it, and which one is chosen says nothing",
            human(limit)
        ));
    }
    let asked = chosen.choices.iter().map(|choice| choice.question);
    let besides = asked
        .map(|asked| survey.of_hyperparameters(asked))
        .collect();
    Ok((chosen, survey.members.len(), besides))
}
