//! How to mend a problem.

/// What to do, in the words of a study file and, where these differ, of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    in_study: String,
    by_flags: Option<String>,
}

impl Remedy {
    /// A remedy that a command line calls otherwise.
    pub fn or_flags(in_study: impl Into<String>, by_flags: impl Into<String>) -> Self {
        Self {
            in_study: in_study.into(),
            by_flags: Some(by_flags.into()),
        }
    }

    /// In other words.
    pub fn reword(&mut self, words: impl Fn(&str) -> String) {
        self.in_study = words(&self.in_study);
    }

    /// In the words of a command line from here on.
    pub fn use_flags(&mut self) {
        if let Some(words) = self.by_flags.take() {
            self.in_study = words;
        }
    }
}

impl std::fmt::Display for Remedy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.in_study)
    }
}

impl From<String> for Remedy {
    fn from(words: String) -> Self {
        Self {
            in_study: words,
            by_flags: None,
        }
    }
}

impl From<&str> for Remedy {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_study_until_flags_are_asked_for() {
        let mut remedy = Remedy::or_flags("add `planar = true`", "add `--planar`");
        assert_eq!(remedy.to_string(), "add `planar = true`");
        remedy.use_flags();
        assert_eq!(remedy.to_string(), "add `--planar`");
        let mut plain = Remedy::from("leave it out");
        plain.use_flags();
        assert_eq!(plain, "leave it out".into());
    }
}
