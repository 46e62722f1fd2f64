//! The peer of the chained models: the same rows by variational inference in GPyTorch.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use quadrat::likelihood::Side;
use serde_json::Value;

use crate::chained_rows::{Rows, Scores};

/// The script, from the sources that this was built from.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/chained.py");

/// An interpreter that has the peer, and the rows in a file.
pub struct Peer {
    python: PathBuf,
    file: PathBuf,
}

/// What one fit of the peer came to.
pub struct Theirs {
    pub processor: f64,
    pub steps: u64,
    pub bound: f64,
    pub scores: Scores,
    /// By our names; empty where ours cannot all be held.
    pub hyperparameters: Vec<(String, f64)>,
}

/// Which GPyTorch an interpreter has; none, and says so, where it has none.
pub fn versions(python: &Path) -> Option<String> {
    let probe = Command::new(python)
        .args(["-W", "ignore", "-c"])
        .arg("import gpytorch, torch; print(gpytorch.__version__, torch.__version__)")
        .stderr(Stdio::null())
        .output();
    match probe {
        Ok(output) if output.status.success() => {
            let versions = String::from_utf8_lossy(&output.stdout);
            Some(format!(
                "GPyTorch {}",
                versions.trim().replace(' ', ", torch ")
            ))
        }
        _ => {
            println!(
                "GPyTorch is not installed for `{}`: no peer beside these times; `--peer PYTHON` names an interpreter that has it",
                python.display()
            );
            None
        }
    }
}

impl Peer {
    /// Writes the rows for the peer; none, and says so, where it is not installed.
    pub fn find(python: &Path, rows: &Rows) -> Result<Option<Self>> {
        let Some(versions) = versions(python) else {
            return Ok(None);
        };
        println!(
            "peer: {versions}; ratios are of processor seconds on one thread, evaluations those of the bound, the evidence its bound"
        );
        let file = std::env::temp_dir().join(format!("quadrat-chained-{}.csv", std::process::id()));
        let mut text = String::from("x,output,value,censored,truth,uncensored\n");
        for (output, own) in rows.outputs.iter().enumerate() {
            for (i, x) in rows.x.iter().enumerate() {
                text.push_str(&format!(
                    "{x},{output},{},{},{},{}\n",
                    own.recorded[i],
                    u8::from(own.sides[i] == Side::Right),
                    own.latent[i],
                    own.values[i]
                ));
            }
        }
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        let python = python.to_owned();
        Ok(Some(Self { python, file }))
    }

    /// Fits a model on one thread.
    pub fn fit(&self, model: &str, optimiser: &str) -> Result<Theirs> {
        let output = Command::new(&self.python)
            .args(["-W", "ignore", SCRIPT])
            .arg(&self.file)
            .args([model, "--threads", "1", "--optimiser", optimiser])
            .env("OMP_NUM_THREADS", "1")
            .stderr(Stdio::null())
            .output()?;
        ensure!(output.status.success(), "the peer did not fit {model}");
        let found: Value = serde_json::from_slice(&output.stdout)?;
        let number = |key: &str| found[key].as_f64().with_context(|| format!("no `{key}`"));
        let hypers = found["hyperparameters"].as_object().into_iter().flatten();
        Ok(Theirs {
            hyperparameters: hypers
                .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)))
                .collect(),
            processor: number("processor")?,
            steps: number("steps")? as u64,
            bound: number("bound")?,
            scores: Scores {
                r2: number("r2")?,
                nlpd: number("nlpd")?,
            },
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_file(&self.file);
    }
}
