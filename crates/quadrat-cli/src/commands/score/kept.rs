//! What is kept of a cross-validation while it runs: a file beside the output, from which
//! `--resume` goes on.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use quadrat::validation::RowScore;
use quadrat_study::diagnostic::{Problem, Problems};
use serde::{Deserialize, Serialize};

use super::judged::{Part, Predicted, Told};
use crate::output::Staged;

/// What takes less time is not kept.
const WORTH: Duration = Duration::from_secs(5);

/// The numbers of a row as bits.
type Cells = Vec<Option<u64>>;

/// The folds that were predicted, and of what.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Folds {
    /// The number of the run and how rows are held out: of another one nothing can be used.
    key: String,
    folds: Vec<Fold>,
}

/// What was predicted of one fold.
#[derive(Debug, Serialize, Deserialize)]
struct Fold {
    /// Of every part of the table its number, and the numbers of [`cells`] of every row.
    parts: Vec<(usize, Vec<Cells>)>,
    warnings: Vec<String>,
}

/// The file, where there is one.
pub struct Kept {
    path: Option<PathBuf>,
    begun: Instant,
    all: Folds,
}

impl Kept {
    /// The one of a run that writes to `output`; without an output nothing is kept.
    ///
    /// Refuses to write over that of a run that was not finished, and to go on from one that is not
    /// there or is of another study.
    pub fn beside(output: Option<&Path>, resume: bool, key: String) -> Result<Self> {
        let path = output.map(|output| {
            let mut name = output.as_os_str().to_owned();
            name.push(".folds");
            PathBuf::from(name)
        });
        let mut all = Folds {
            key,
            ..Folds::default()
        };
        if let Some(path) = &path {
            let shown = path.display();
            match (path.exists(), resume) {
                (false, false) => {}
                (true, false) => {
                    let message = format!("`{shown}` is of a run that was not finished");
                    let remedy = "go on from it with --resume, or remove it to begin anew";
                    return Err(refused(message, remedy));
                }
                (false, true) => {
                    let message = format!("there is no `{shown}` to go on from");
                    let remedy =
                        "leave --resume out, or give the -o of the run that was not finished";
                    return Err(refused(message, remedy));
                }
                (true, true) => {
                    let text = std::fs::read_to_string(path);
                    let text = text.with_context(|| format!("cannot read `{shown}`"))?;
                    let found: Option<Folds> = serde_json::from_str(&text).ok();
                    match found.filter(|found| found.key == all.key) {
                        Some(found) => all = found,
                        None => {
                            let message = format!("`{shown}` is not of this study and these folds");
                            let remedy = "remove it, and leave --resume out, to begin anew; or give the study, the tables, --by, --folds, --seed and --table that it is of";
                            return Err(refused(message, remedy));
                        }
                    }
                }
            }
        }
        Ok(Self {
            path,
            begun: Instant::now(),
            all,
        })
    }

    /// What was predicted of a fold before, with its warnings.
    pub fn fold(&self, fold: usize) -> Option<Predicted> {
        let kept = self.all.folds.get(fold)?;
        let part = |(part, rows): &(usize, Vec<Cells>)| {
            let rows: Option<Vec<_>> = rows.iter().map(|cells| row(cells)).collect();
            Some((*part, rows?.into_iter().unzip()))
        };
        let parts: Option<Vec<_>> = kept.parts.iter().map(part).collect();
        Some((parts?, kept.warnings.clone()))
    }

    /// Keeps what was predicted of the next fold, once it all took some time.
    pub fn keep(&mut self, told: &[(usize, Part)], warnings: &[String]) -> Result<()> {
        let part = |(part, (told, scores)): &(usize, Part)| {
            let rows = told.iter().zip(scores);
            (
                *part,
                rows.map(|(told, score)| cells(told, score)).collect(),
            )
        };
        self.all.folds.push(Fold {
            parts: told.iter().map(part).collect(),
            warnings: warnings.to_vec(),
        });
        match &self.path {
            Some(path) if self.begun.elapsed() >= WORTH => {
                let mut staged = Staged::new();
                staged.bytes(path, serde_json::to_string(&self.all)?.as_bytes())?;
                staged.finish().map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// The run is over: nothing is left to go on from.
    pub fn close(&self) {
        if let Some(path) = &self.path {
            // It may never have been written.
            drop(std::fs::remove_file(path));
        }
    }
}

fn refused(message: String, remedy: &str) -> anyhow::Error {
    Problems::from(Problem::new(message).remedy(remedy)).into()
}

/// The numbers of a row as bits, which read back as the same numbers.
fn cells(told: &Told, score: &RowScore) -> Cells {
    let spread = told
        .spread
        .map_or([None; 3], |(sd, lower, upper)| [sd, lower, upper].map(Some));
    let scores = [
        score.error,
        score.log_ratio,
        score.nll,
        score.crps,
        score.interval,
        score.pit,
    ];
    let all = std::iter::once(Some(told.mean)).chain(spread).chain(scores);
    all.map(|x| x.map(f64::to_bits)).collect()
}

fn row(cells: &[Option<u64>]) -> Option<(Told, RowScore)> {
    let numbers: Vec<Option<f64>> = cells.iter().map(|x| x.map(f64::from_bits)).collect();
    let &[
        mean,
        sd,
        lower,
        upper,
        error,
        log_ratio,
        nll,
        crps,
        interval,
        pit,
    ] = numbers.as_slice()
    else {
        return None;
    };
    let spread = || Some((sd?, lower?, upper?));
    let told = Told {
        mean: mean?,
        spread: spread(),
    };
    let score = RowScore {
        error,
        log_ratio,
        nll,
        crps,
        interval,
        pit,
    };
    Some((told, score))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> Vec<(usize, Part)> {
        let told = Told {
            mean: 0.1,
            spread: Some((0.2, f64::NEG_INFINITY, 1e300)),
        };
        let score = RowScore {
            error: Some(-0.0),
            nll: Some(f64::INFINITY),
            ..RowScore::default()
        };
        vec![(
            1,
            (
                vec![
                    told,
                    Told {
                        spread: None,
                        ..told
                    },
                ],
                vec![score, RowScore::default()],
            ),
        )]
    }

    #[test]
    fn what_is_kept_reads_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("o.csv");
        let mut kept = Kept::beside(Some(&out), false, "k".into()).unwrap();
        kept.begun = Instant::now().checked_sub(WORTH).unwrap();
        kept.keep(&told(), &["w".into()]).unwrap();
        let again = Kept::beside(Some(&out), true, "k".into()).unwrap();
        assert_eq!(again.fold(0), Some((told(), vec!["w".to_owned()])));
        assert_eq!(again.fold(1), None);
        // Without being asked, and of another run, nothing is used.
        for (resume, key) in [(false, "k"), (true, "other")] {
            assert!(Kept::beside(Some(&out), resume, key.into()).is_err());
        }
        again.close();
        assert!(Kept::beside(Some(&out), true, "k".into()).is_err());
        assert!(Kept::beside(Some(&out), false, "k".into()).is_ok());
        assert!(Kept::beside(None, false, "k".into()).is_ok());
    }
}
