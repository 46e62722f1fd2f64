//! Fits of censored values with one or two outputs, with constant noise and with noise that is a
//! function.

use std::path::Path;

use anyhow::Result;
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Censored, Dispersion, NegativeBinomial, Noise};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Model, Observations, Setting, Varying,
};
use quadrat::parameter::PriorDensity;
use quadrat::support::Functionals;

use crate::chained_peer::{Peer, Theirs};
use crate::chained_rows::{OUTPUTS, ROWS, Rows};
use crate::clock::once;

/// The models that the peer fits too.
const PEERS: [&str; 4] = ["cgp", "hcgp", "mocgp", "hmocgp"];

/// Prints seconds on the wall clock of every fit, on the threads of the machine; and beside those
/// of the peer, processor seconds on one thread.
pub fn run(only: Option<&str>, python: &Path) -> Result<()> {
    let rows = Rows::draw()?;
    let peer = Peer::find(python, &rows)?;
    println!(
        "{:<17} {:>6} {:>8} {:>12} {:>12} {:>10} {:>7} {:>8}",
        "model", "rows", "seconds", "evaluations", "iterations", "evidence", "R2", "NLPD"
    );
    for (name, model) in models(&rows)? {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let (posterior, times) = once(|| model.fit(&options));
        let posterior = posterior?;
        let summary = posterior.summary();
        let scores = match name.ends_with("counts") {
            true => None,
            false => Some(rows.scores(&posterior)?),
        };
        println!(
            "{name:<17} {:>6} {:>8.2} {:>12} {:>12} {:>10.3}{}{}",
            summary.rows,
            times.wall,
            summary.evaluations,
            summary.iterations,
            summary.log_evidence,
            scores.map(|s| s.to_string()).unwrap_or_default(),
            if summary.converged {
                String::new()
            } else {
                format!("  {}", summary.warnings.join("; "))
            }
        );
        let Some(peer) = peer.as_ref().filter(|_| PEERS.contains(&name)) else {
            continue;
        };
        let single = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let (posterior, own) = single.install(|| once(|| model.fit(&options)));
        posterior?;
        println!("  {:<15} {:>15.2}", "on one thread", own.processor);
        without_priors(&rows, &model, &options)?;
        for optimiser in ["adam", "lbfgs"] {
            let theirs = peer.fit(name, optimiser)?;
            println!(
                "  {:<15} {:>15.2} {:>12} {:>12} {:>10.3}{}  ours 1/{:.1}",
                format!("GPyTorch, {optimiser}"),
                theirs.processor,
                theirs.steps,
                "",
                theirs.bound,
                theirs.scores,
                theirs.processor / own.processor
            );
            if !theirs.hyperparameters.is_empty() {
                at_their_optimum(&rows, &model, &theirs)?;
            }
        }
    }
    Ok(())
}

/// The same without priors on the hyperparameters, as the peer searches them: tells what is due to
/// those.
fn without_priors(rows: &Rows, model: &Model, options: &FitOptions) -> Result<()> {
    let mut flat = model.clone();
    for parameter in model.parameters()? {
        flat = flat.set(&parameter.name, Setting::prior(PriorDensity::Flat));
    }
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (posterior, times) = single.install(|| once(|| flat.fit(options)));
    match posterior {
        Ok(posterior) => println!(
            "  {:<15} {:>15.2} {:>12} {:>12} {:>10.3}{}",
            "without priors",
            times.processor,
            posterior.summary().evaluations,
            posterior.summary().iterations,
            posterior.summary().log_evidence,
            rows.scores(&posterior)?
        ),
        Err(error) => println!("  without priors: {error}"),
    }
    Ok(())
}

/// Our bound where theirs ended, which must be the same but for the last of their steps, and our
/// scores there.
fn at_their_optimum(rows: &Rows, model: &Model, theirs: &Theirs) -> Result<()> {
    let options = FitOptions::default().with_inference(Inference::Sites(Method::Variational));
    let hypers = theirs.hyperparameters.iter();
    let held = hypers.fold(model.clone(), |model, (name, value)| {
        model.set(name, Setting::fixed(*value))
    });
    let posterior = held.fit(&options)?;
    println!(
        "    our bound there {:>52.3}{}",
        posterior.summary().log_evidence,
        rows.scores(&posterior)?
    );
    Ok(())
}

fn models(rows: &Rows) -> Result<Vec<(&'static str, Model)>> {
    let set = Functionals::points("x", &rows.x)?;
    let capped = || -> Result<Observations> {
        let own = &rows.outputs[0];
        let rows = Censored::new(own.recorded.clone(), &own.sides, Noise::Learned)?;
        Ok(Observations::new(set.clone(), rows)?)
    };
    let other = || {
        let values = rows.outputs[1].recorded.clone();
        Observations::gaussian(set.clone(), values, Noise::Learned)
    };
    let se = || Kernel::se(["x"]);
    let mixed = || Kernel::coregion("output", OUTPUTS, 1) * se();
    let cgp = Model::new(se()).observe(capped()?);
    let joint = Model::new(mixed())
        .observe(capped()?.of_output("first"))
        .observe(other()?.of_output("second"));
    let counts = NegativeBinomial::new(
        rows.counts.clone(),
        vec![1.0; ROWS],
        Link::Exp,
        Dispersion::Learned,
    )?;
    let overdispersed = Model::new(se()).observe(Observations::new(set.clone(), counts)?);
    Ok(vec![
        ("cgp", cgp.clone()),
        ("hcgp", cgp.vary(Varying::Noise, se(), Link::Exp)),
        ("mocgp", joint.clone()),
        ("hmocgp", joint.vary(Varying::Noise, mixed(), Link::Exp)),
        ("counts", overdispersed.clone()),
        (
            "hcounts",
            overdispersed.vary(Varying::Dispersion, se(), Link::Exp),
        ),
    ])
}
