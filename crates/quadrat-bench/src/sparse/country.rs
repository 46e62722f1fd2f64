//! A country of a million pixels from end to end, and the pass of its bound beside that of a peer, in one run.

use std::path::Path;

use anyhow::Result;
use quadrat_studies::Settings;
use quadrat_studies::bags::country;

use super::map::Map;
use super::peer::Peer;
use crate::clock::once;

/// Runs the study, then passes over all of its pixels with the hyperparameters that it found, ours and the peer's, on all threads.
pub fn run(python: &Path, quick: bool) -> Result<()> {
    let settings = Settings {
        quick,
        ..Settings::default()
    };
    let fit = country::fit(&settings)?;
    println!("{}\n", fit.report);
    let Some(peer) = Peer::find(python)? else {
        return Ok(());
    };
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
        "quadrat: value {:.2}, with gradient {:.2}, bound {bound:.6}",
        own[0], own[1]
    );
    let theirs = peer.pass(&map, threads, 1)?;
    println!(
        "{}: value {:.2} ({:.1} times as long), with gradient {:.2} ({:.1} times), bound {:.6}",
        peer.versions,
        theirs.value,
        theirs.value / own[0],
        theirs.gradient,
        theirs.gradient / own[1],
        theirs.bound
    );
    Ok(())
}
