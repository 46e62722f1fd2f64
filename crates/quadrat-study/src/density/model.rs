//! Densities as saved models.

use std::path::Path;

use anyhow::{Context, Result};
use quadrat::density::{AnyEstimate, Saved};
use quadrat::error::LoadError;

use super::answers::Answers;
use super::asked::{Densities, Named, Of};

/// Names of the notes.
const NAMES: &str = "columns";
const GIVEN: &str = "given";
const GROUP: &str = "group";
const WARNINGS: &str = "warnings";

/// The model of what was estimated, as bytes.
///
/// # Arguments
/// * `warnings` - what should be known before it is trusted
pub fn to_bytes(estimated: &dyn Answers, named: Named<'_>, warnings: &[String]) -> Vec<u8> {
    let mut saved = Saved::default();
    for (name, of) in estimated.parts() {
        saved = match of {
            Of::Line(estimate) => saved.with(&name, estimate),
            Of::Plane(estimate) => saved.with(&name, estimate),
            Of::Given(estimate) => saved.with(&name, estimate),
        };
    }
    noted(saved, named, warnings).to_bytes()
}

/// Estimates with the words that [`Model`] reads.
#[must_use]
pub fn noted(mut saved: Saved, named: Named<'_>, warnings: &[String]) -> Saved {
    let list = |of: &[String]| serde_json::json!(of).to_string();
    let mut note = |name: &str, text: String| saved.notes.insert(name.to_owned(), text);
    note(NAMES, list(named.names));
    note(WARNINGS, list(warnings));
    if named.is_given {
        note(GIVEN, "yes".to_owned());
    }
    if let Some(group) = named.group {
        note(GROUP, group.to_owned());
    }
    saved
}

/// A model with its words.
pub struct Model {
    saved: Saved,
    names: Vec<String>,
    /// What should be known before it is trusted.
    pub warnings: Vec<String>,
}

impl Model {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// What is none, or does not say what it is of.
    pub fn read(bytes: &[u8], path: &Path) -> Result<Self> {
        let saved = Saved::from_bytes(bytes).map_err(anyhow::Error::from);
        let model = saved.and_then(Self::of);
        model.with_context(|| format!("cannot use `{}`", path.display()))
    }

    /// Estimates whose notes are those of [`noted`].
    ///
    /// # Errors
    /// Where they do not say what they are of.
    pub fn of(saved: Saved) -> Result<Self> {
        let list = |name: &str| -> Result<Vec<String>> {
            let text = saved.notes.get(name).map_or("[]", String::as_str);
            Ok(serde_json::from_str(text)?)
        };
        let (names, warnings) = (list(NAMES)?, list(WARNINGS)?);
        if saved.is_empty() || names.is_empty() || names.len() > 2 {
            anyhow::bail!("it does not say what its densities are of");
        }
        Ok(Self {
            names,
            warnings,
            saved,
        })
    }

    /// All estimates with the names of their groups.
    ///
    /// # Errors
    /// As [`Saved::estimate`].
    pub fn estimates(&self) -> Result<Vec<(String, AnyEstimate)>, LoadError> {
        let names = self.saved.names().enumerate();
        let all = names.map(|(at, name)| Ok((name.to_owned(), self.saved.estimate(at)?)));
        all.collect()
    }

    /// What it is of.
    pub fn named(&self) -> Named<'_> {
        Named {
            names: &self.names,
            is_given: self.saved.notes.contains_key(GIVEN),
            group: self.saved.notes.get(GROUP).map(String::as_str),
        }
    }
}

impl Densities for Model {
    fn names(&self) -> Vec<String> {
        self.saved.names().map(str::to_owned).collect()
    }

    fn with(&self, at: usize, visit: &mut dyn FnMut(Of<'_>) -> Result<()>) -> Result<()> {
        let named = self.named();
        let is = (named.names.len(), named.is_given);
        match (self.saved.estimate(at)?, is) {
            (AnyEstimate::Line(estimate), (1, false)) => visit(Of::Line(&estimate)),
            (AnyEstimate::Plane(estimate), (2, false)) => visit(Of::Plane(&estimate)),
            (AnyEstimate::Conditional(estimate), (2, true)) => visit(Of::Given(&estimate)),
            _ => anyhow::bail!("the model is damaged: its densities are not of its columns"),
        }
    }
}
