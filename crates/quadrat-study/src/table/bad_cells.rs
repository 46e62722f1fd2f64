//! Cells of a table that cannot be used: a few of each kind are shown, all are counted.

use super::number::BadCell;
use crate::diagnostic::{Place, Problem, Problems};
use crate::numbers::count;

/// How many cells with the same fault in one column are shown one by one.
const ALONE: usize = 3;
/// How many kinds of faults of one reading are shown before the rest is only counted.
const KINDS: usize = 20;

/// Problems of one reading: cells of one column that are mended in the same way are one kind,
/// because then it is the column that is at fault.
#[derive(Debug, Default)]
pub struct BadCells {
    kinds: Vec<Kind>,
    /// Cells of further kinds.
    others: usize,
}

#[derive(Debug)]
struct Kind {
    column: Option<usize>,
    remedy: &'static str,
    first: Vec<Problem>,
    /// Different facts, of which as many are kept as are shown.
    facts: Vec<String>,
    cells: usize,
}

impl BadCells {
    /// Adds one of a column, or a whole row, whose place is looked for only where it is shown.
    pub fn add(&mut self, column: Option<usize>, bad: BadCell, place: impl FnOnce() -> Place) {
        let same = |kind: &Kind| kind.column == column && kind.remedy == bad.remedy;
        let known = self.kinds.iter().position(same);
        if known.is_none() && self.kinds.len() == KINDS {
            self.others += 1;
            return;
        }
        if known.is_none() {
            self.kinds.push(Kind {
                column,
                remedy: bad.remedy,
                first: Vec::new(),
                facts: Vec::new(),
                cells: 0,
            });
        }
        let at = known.unwrap_or(self.kinds.len() - 1);
        let kind = &mut self.kinds[at];
        kind.cells += 1;
        if kind.facts.len() < ALONE && !kind.facts.contains(&bad.fact) {
            kind.facts.push(bad.fact.clone());
        }
        if kind.first.len() < ALONE {
            let problem = Problem::new(bad.fact).remedy(bad.remedy);
            kind.first.push(problem.at(place()));
        }
    }

    /// `Ok` when nothing was found; else a few cells by themselves, and of more one sentence with
    /// their number.
    pub fn or<T>(self, name: &str, headers: &[String], value: T) -> Result<T, Problems> {
        let mut problems = Problems::default();
        for kind in self.kinds {
            if kind.cells <= ALONE {
                problems.0.extend(kind.first);
                continue;
            }
            let header = kind.column.and_then(|at| headers.get(at));
            let what = match header {
                Some(header) => format!(
                    "{name}, column `{header}`: {} cannot be used",
                    count(kind.cells, "cell")
                ),
                None => format!("{name}: {} cannot be used", count(kind.cells, "row")),
            };
            let mut facts = kind.facts.join(", ");
            if kind.facts.len() == ALONE {
                facts.push_str(", and so on");
            }
            problems
                .0
                .extend(kind.first.into_iter().next().map(|first| Problem {
                    message: format!("{what}: {facts}"),
                    ..first.tally()
                }));
        }
        if self.others > 0 {
            let more = format!("{name}: {} more cannot be used", count(self.others, "cell"));
            problems.push(Problem::new(more).tally());
        }
        problems.or(value)
    }
}
