//! Labels as numbers: the texts of the inputs of `iid`, and the codes that stand for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::keys::canonical;

/// The note of a saved model that holds its labels.
pub const SAVED_AS: &str = "labels";

/// The inputs that hold labels, each with its labels in the order of their codes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Codes(BTreeMap<String, Known>);

#[derive(Debug, Clone, Default, PartialEq)]
struct Known {
    labels: Vec<String>,
    codes: HashMap<String, usize>,
}

impl Codes {
    /// Those of a study, by the names of the inputs that hold labels, without a label yet.
    pub fn of(inputs: &[String]) -> Self {
        let dims = inputs.iter().cloned();
        Self(dims.map(|dim| (dim, Known::default())).collect())
    }

    /// Whether no input holds labels.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an input holds labels.
    pub fn holds(&self, dim: &str) -> bool {
        self.0.contains_key(dim)
    }

    /// The code of a label, a new one where it has none yet: numbers are one with or without a
    /// decimal point. NaN for an input that holds none.
    pub fn code(&mut self, dim: &str, label: &str) -> f64 {
        let Some(known) = self.0.get_mut(dim) else {
            return f64::NAN;
        };
        let label = canonical(label);
        if let Some(&code) = known.codes.get(label) {
            return code as f64;
        }
        let code = known.labels.len();
        known.labels.push(label.to_owned());
        known.codes.insert(label.to_owned(), code);
        code as f64
    }

    /// The labels of an input that holds some, by their codes.
    pub fn labels(&self, dim: &str) -> Option<Arc<[String]>> {
        Some(self.0.get(dim)?.labels.clone().into())
    }

    /// As text for a saved model.
    pub fn to_note(&self) -> serde_json::Result<String> {
        let all = self.0.iter().map(|(dim, known)| (dim, &known.labels));
        serde_json::to_string(&all.collect::<BTreeMap<_, _>>())
    }

    /// From the text of a saved model; nothing holds labels where it has none.
    pub fn from_note(note: Option<&str>) -> serde_json::Result<Self> {
        let Some(note) = note else {
            return Ok(Self::default());
        };
        let all: BTreeMap<String, Vec<String>> = serde_json::from_str(note)?;
        let known = |labels: Vec<String>| Known {
            codes: labels.iter().cloned().zip(0..).collect(),
            labels,
        };
        let all = all.into_iter().map(|(dim, labels)| (dim, known(labels)));
        Ok(Self(all.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_one_code_however_it_is_written() {
        let mut codes = Codes([("site".to_owned(), Known::default())].into());
        let given = ["oslo", "1", "1.0", "oslo", "Oslo", "2.5"];
        let found = given.map(|label| codes.code("site", label));
        assert_eq!(found, [0.0, 1.0, 1.0, 0.0, 2.0, 3.0]);
        assert!(codes.code("year", "2000").is_nan());
        let mut back = Codes::from_note(Some(&codes.to_note().unwrap())).unwrap();
        assert_eq!(back, codes);
        assert_eq!(back.code("site", "bergen"), 4.0);
        let labels = back.labels("site").unwrap();
        assert_eq!(labels[..], ["oslo", "1", "Oslo", "2.5", "bergen"]);
        assert!(!Codes::from_note(None).unwrap().holds("site"));
    }
}
