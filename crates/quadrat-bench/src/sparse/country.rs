//! A country of a million pixels from end to end, and a pass of a bound over all of them beside
//! that of a peer, in one run.
//!
//! The bound is of the form that was fitted, at the inducing points and hyperparameters of the fit,
//! for one belief of both: `N(0, 0.3 I)` about the whitened values, and a level that is given.

use std::path::Path;

use anyhow::{Result, ensure};
use quadrat_studies::Settings;
use quadrat_studies::bags::country;

use super::map::Map;
use super::peer::Peer;
use crate::clock::once;

/// Runs the study, then passes over all of its pixels with the hyperparameters that it found, ours
/// and the peer's, on all threads.
pub fn run(python: &Path, quick: bool) -> Result<()> {
    let settings = Settings {
        quick,
        ..Settings::default()
    };
    // First, that nobody waits for a fit to hear that it is missing.
    let peer = Peer::find(python)?;
    let fit = country::fit(&settings)?;
    println!("{}\n", fit.report);
    let holds = fit.report.passes();
    let threads = rayon::current_num_threads();
    let map = Map::country(&fit.data, &fit.posterior)?;
    // Neither the posterior nor the columns are needed any more.
    let pixels = fit.data.x.len();
    drop(fit.posterior);
    drop(fit.data);
    println!(
        "one pass over the {pixels} pixels with the inducing points and hyperparameters of the fit, {threads} threads, seconds on the wall clock"
    );
    let mut own = [0.0; 2];
    let mut bound = 0.0;
    for (k, with_gradient) in [(0, false), (1, true)] {
        let (found, time) = once(|| map.bound(with_gradient));
        bound = found?;
        own[k] = time.wall;
    }
    println!(
        "quadrat: value {:.3}, with gradient {:.3}, bound {bound:.6}",
        own[0], own[1]
    );
    ensure!(holds, "a check of the study failed");
    let Some(peer) = peer else {
        return Ok(());
    };
    let theirs = peer.pass(&map, threads, 1)?;
    println!(
        "{}: value {:.3} ({:.1} times as long), with gradient {:.3} ({:.1} times), bound {:.6}",
        peer.versions,
        theirs.value,
        theirs.value / own[0],
        theirs.gradient,
        theirs.gradient / own[1],
        theirs.bound
    );
    theirs.agrees(bound)?;
    Ok(())
}
