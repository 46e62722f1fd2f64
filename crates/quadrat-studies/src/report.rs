//! What a study found, for people and as JSON.

use std::fmt;

use serde::Serialize;

/// The outcome of a study.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// What was repeated.
    pub title: String,
    /// What was read, simulated, assumed: one statement each.
    pub settings: Vec<String>,
    /// Tables in the paper's layout.
    pub tables: Vec<Table>,
    /// What must hold.
    pub checks: Vec<Check>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A table of cells.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    /// What the cells are, units included.
    pub title: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// Rows, each as long as `head`.
    pub rows: Vec<Vec<String>>,
}

/// A number against what it must be.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// What was measured.
    pub what: String,
    /// The measured number.
    pub value: f64,
    /// Least value that passes.
    pub least: f64,
    /// Largest value that passes.
    pub most: f64,
}

impl Report {
    /// An empty report.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            ..Self::default()
        }
    }

    /// Adds a statement about the set-up.
    pub fn setting(&mut self, text: impl Into<String>) {
        self.settings.push(text.into());
    }

    /// Adds a note.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Adds a check that `least <= value <= most`.
    pub fn check(&mut self, what: impl Into<String>, value: f64, least: f64, most: f64) {
        self.checks.push(Check {
            what: what.into(),
            value,
            least,
            most,
        });
    }

    /// Whether every check passes.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.checks.iter().all(Check::passes)
    }
}

impl Check {
    /// Whether the number is within its limits; NaN is not.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.least <= self.value && self.value <= self.most
    }
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(title: &str, head: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            head: head.iter().map(|h| (*h).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.head.len(), "{}", self.title);
        self.rows.push(cells);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}", self.title)?;
        for text in &self.settings {
            writeln!(f, "- {text}")?;
        }
        for table in &self.tables {
            writeln!(f, "\n{table}")?;
        }
        for check in &self.checks {
            writeln!(f, "{check}")?;
        }
        for text in &self.notes {
            writeln!(f, "note: {text}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passes() { "pass" } else { "FAIL" };
        write!(f, "{word}  {}: {:.4}", self.what, self.value)?;
        match (self.least.is_finite(), self.most.is_finite()) {
            (true, true) => write!(f, ", must lie in [{:.4}, {:.4}]", self.least, self.most),
            (false, true) => write!(f, ", must be at most {:.4}", self.most),
            (true, false) => write!(f, ", must be at least {:.4}", self.least),
            (false, false) => Ok(()),
        }
    }
}

impl fmt::Display for Table {
    /// Markdown, with columns aligned for the terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wide = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let all = cells.chain(self.head.get(column));
            all.map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
                .max(3)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(wide).collect();
        let mut line = |cells: &[String]| {
            for (cell, &width) in cells.iter().zip(&widths) {
                write!(f, "| {cell:>width$} ")?;
            }
            writeln!(f, "|")
        };
        let rule: Vec<String> = widths
            .iter()
            .map(|w| format!("{}:", "-".repeat(w - 1)))
            .collect();
        line(&self.head)?;
        line(&rule)?;
        self.rows.iter().try_for_each(|row| line(row))?;
        writeln!(f, "\n{}", self.title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_fails_outside_its_limits_and_for_nan() {
        let mut report = Report::new("r");
        report.check("inside", 1.0, 0.0, 1.0);
        assert!(report.passes());
        report.check("outside", 1.1, f64::NEG_INFINITY, 1.0);
        assert!(!report.passes());
        let nan = Check {
            what: "nan".into(),
            value: f64::NAN,
            least: f64::NEG_INFINITY,
            most: f64::INFINITY,
        };
        assert!(!nan.passes());
        assert!(
            report
                .to_string()
                .contains("FAIL  outside: 1.1000, must be at most 1.0000")
        );
    }

    #[test]
    fn columns_of_a_table_line_up() {
        let mut table = Table::new("t", &["n", "a long name"]);
        table.row(vec!["1234567".into(), "x".into()]);
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "|       n | a long name |");
        assert_eq!(lines[1], "| ------: | ----------: |");
        assert_eq!(lines[2], "| 1234567 |           x |");
    }
}
