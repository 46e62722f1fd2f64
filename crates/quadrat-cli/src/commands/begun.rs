//! What goes along with a run: who hears how far it is, and what is kept of it.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use quadrat::model::{Inference, Model};
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::simple::Simple;
use quadrat_study::study::AnyStudy;
use quadrat_study::{Checked, Running};

use super::running;
use crate::args::Saying;
use crate::check;
use crate::checkpoint::Checkpoint;
use crate::progress::Bar;
use crate::terminal::warn;

/// What a run does besides.
#[derive(Debug, Default)]
pub struct Besides {
    /// Checks the fit by so many draws of each chain.
    pub draws: Option<u32>,
    /// Goes on from a checkpoint.
    pub resume: bool,
    /// Simple methods in place of those of the study.
    pub baseline: Option<Vec<Simple>>,
}

impl Besides {
    /// Refuses what only the study of a function has.
    pub fn refuse(&self, study: &AnyStudy) -> Result<(), Problems> {
        let (of, is_sampled) = match study {
            AnyStudy::Function(_) => return Ok(()),
            AnyStudy::Density(_) => ("of a density", true),
            AnyStudy::Ungroup(_) => ("of bands", false),
        };
        let flag = match self {
            Self { draws: Some(_), .. } if !is_sampled => "--check",
            Self { resume: true, .. } => "--resume",
            Self {
                baseline: Some(_), ..
            } => "--baseline",
            _ => return Ok(()),
        };
        let message = format!("{flag} is for the fit of a function, and this study is {of}");
        Err(Problem::new(message).remedy("leave it out").into())
    }
}

/// A run that has begun.
pub struct Begun {
    /// Shows how far it is.
    pub bar: Arc<Bar>,
    /// How it runs.
    pub running: Running,
    checkpoint: Option<Arc<Checkpoint>>,
}

impl Begun {
    /// Begins a run that writes to `output`; refuses what it cannot do besides.
    pub fn new(
        checked: &Checked,
        output: &Path,
        besides: &Besides,
        saying: &Saying,
    ) -> Result<Self> {
        let function = match checked {
            Checked::Function(function) => Some(function),
            Checked::Density(_) | Checked::Ungroup(_) => None,
        };
        if let (Some(function), Some(_)) = (function, besides.draws) {
            check::possible(&function.resolved, &function.model)?;
        }
        let is_silent = !checked.reports_progress() && besides.draws.is_none();
        let bar = Bar::new(saying.quiet || is_silent);
        let mut running = running(saying, &bar)?;
        let checkpoint = match function {
            Some(function) => {
                let method = function.resolved.study.inference.method;
                kept((method, &function.model), output, besides.resume)?
            }
            None => None,
        };
        running.keeper = checkpoint.clone().map(|checkpoint| checkpoint as _);
        Ok(Self {
            bar,
            running,
            checkpoint,
        })
    }

    /// After everything is written: tells of a fit that was stopped, and exits as an interrupted
    /// program does.
    pub fn close(&self) {
        if let Some(told) = self.checkpoint.as_ref().and_then(|kept| kept.close()) {
            warn(&told);
        }
        if crate::output::is_stopped() {
            std::process::exit(130);
        }
    }
}

/// Where a sparse fit keeps where it stands, in a file beside its output, to go on from there.
///
/// # Arguments
/// * `method`, `model` - how a study is to be fitted, and its model
fn kept(
    (method, model): (Inference, &Model),
    output: &Path,
    resume: bool,
) -> Result<Option<Arc<Checkpoint>>> {
    let is_sparse = match method {
        Inference::Sparse => true,
        Inference::Auto => model.is_large(),
        _ => false,
    };
    if is_sparse {
        return Ok(Some(Arc::new(Checkpoint::beside(output, resume)?)));
    }
    if resume {
        let message = "--resume is for fits with `method = \"sparse\"`";
        let remedy = "leave it out: other fits keep nothing of themselves";
        return Err(Problems::from(Problem::new(message).remedy(remedy)).into());
    }
    Ok(None)
}
