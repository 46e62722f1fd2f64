//! One running total: its rows in order, and what each adds to the one before.

use crate::diagnostic::{Problem, Problems};
use crate::study::cumulative::{Cumulative, Falls};
use crate::table::Table;

/// How many rows of one problem are listed.
const SHOWN_ROWS: usize = 20;

/// Running totals, row by row.
pub(super) struct Steps<'a> {
    pub table: &'a Table,
    pub says: &'a Cumulative,
    /// Where each row begins; of a reading, when it was made.
    pub lower: Vec<f64>,
    /// Where each row ends.
    pub upper: Vec<f64>,
    /// The totals, and their column.
    pub values: Vec<f64>,
    pub column: usize,
    /// Known variances of readings; none where they are exact.
    pub variances: Option<Vec<f64>>,
    /// Whether every total tells what was added since its rows begin, which is at one place.
    pub is_from_start: bool,
}

/// Increments, row by row, and what became of the other rows.
pub(super) struct Taken {
    /// Since when and until when each was added.
    pub boxes: Vec<(f64, f64)>,
    /// How much was added.
    pub values: Vec<f64>,
    /// Which rows tell an increment.
    pub is_kept: Vec<bool>,
    /// The first of each total, which have none before them.
    pub started: Vec<usize>,
    /// Those that say the same again.
    pub repeated: Vec<usize>,
    /// Those at which a total fell.
    pub fell: Vec<usize>,
}

impl Taken {
    /// Nothing taken yet: boxes of some width and values that any kind may have, which no row
    /// keeps.
    pub fn of(rows: usize) -> Self {
        Self {
            boxes: vec![(0.0, 1.0); rows],
            values: vec![1.0; rows],
            is_kept: vec![false; rows],
            started: Vec::new(),
            repeated: Vec::new(),
            fell: Vec::new(),
        }
    }

    fn keep(&mut self, row: usize, ends: (f64, f64), value: f64) {
        self.boxes[row] = ends;
        self.values[row] = value;
        self.is_kept[row] = true;
    }
}

/// Where a total stood: when, how much, and the row that says so.
#[derive(Clone, Copy)]
struct Stood {
    end: f64,
    value: f64,
    row: Option<usize>,
}

impl Steps<'_> {
    /// Takes the rows of one total apart.
    pub fn take(&self, mut rows: Vec<usize>, taken: &mut Taken, problems: &mut Problems) {
        let newest_first = |pair: &[usize]| self.upper[pair[0]] >= self.upper[pair[1]];
        if rows.windows(2).all(newest_first) {
            rows.reverse();
        }
        // Stable: rows of the same time stay in the order of the table.
        rows.sort_by(|a, b| self.upper[*a].total_cmp(&self.upper[*b]));
        let start = match self.is_from_start {
            true => self.common_start(&rows),
            false => None,
        };
        if start.is_none() && !self.says.are_readings && !self.in_turn(&rows, problems) {
            return;
        }
        match &self.variances {
            Some(variances) => self.since_the_start(&rows, (start, variances), taken, problems),
            None => self.since_the_row_before(&rows, start, taken, problems),
        }
    }

    /// Where all rows of a total begin, if they begin at one place.
    pub fn common_start(&self, rows: &[usize]) -> Option<f64> {
        let start = self.lower[*rows.first()?];
        rows.iter()
            .all(|row| self.lower[*row] == start)
            .then_some(start)
    }

    /// Refuses rows that begin within the row before.
    fn in_turn(&self, rows: &[usize], problems: &mut Problems) -> bool {
        let within = |pair: &&[usize]| self.lower[pair[1]] < self.upper[pair[0]];
        let mut are_fine = true;
        for pair in rows.windows(2).filter(within).take(SHOWN_ROWS) {
            are_fine = false;
            let (before, own) = (pair[0], pair[1]);
            let message = format!(
                "this row runs from {} to {}, and begins within {}, which ends at {}",
                self.lower[own],
                self.upper[own],
                self.table.row_address(before),
                self.upper[before]
            );
            let remedy = format!(
                "rows of a running total begin all where it began to count, or each where the one before ended; or give the times of readings as `point = [\"{}\"]`",
                self.says.along
            );
            self.refuse(own, message, remedy, problems);
        }
        are_fine
    }

    /// Totals since the start, whose errors are independent: rows that overlap.
    fn since_the_start(
        &self,
        rows: &[usize],
        (start, variances): (Option<f64>, &[f64]),
        taken: &mut Taken,
        problems: &mut Problems,
    ) {
        let (Some(&first), Some(start)) = (rows.first(), start) else {
            return self.since_an_exact_row(rows, variances, taken, problems);
        };
        debug_assert!(self.lower[first] == start);
        for &row in rows {
            if self.upper[row] > start {
                taken.keep(row, (start, self.upper[row]), self.values[row]);
            } else {
                self.at_the_start(row, variances[row] == 0.0, taken, problems);
            }
        }
    }

    /// A row of no length, at which nothing was added yet.
    fn at_the_start(&self, row: usize, is_exact: bool, taken: &mut Taken, problems: &mut Problems) {
        if self.values[row] == 0.0 || !is_exact {
            return taken.started.push(row);
        }
        let message = format!(
            "the running total is {} at {}, where it begins to count",
            self.values[row], self.upper[row]
        );
        let remedy = "say since when it counts, mend the row, or delete it".to_owned();
        self.refuse(row, message, remedy, problems);
    }

    /// The same where the first row tells exactly where the total stood.
    fn since_an_exact_row(
        &self,
        rows: &[usize],
        variances: &[f64],
        taken: &mut Taken,
        problems: &mut Problems,
    ) {
        let Some((&first, others)) = rows.split_first() else {
            return;
        };
        if variances[first] != 0.0 {
            let message = "the first reading of a running total has an error too, which all increments would share".to_string();
            let remedy = format!(
                "say since when it counts, `box = {{ {0} = [0, \"{0}\"] }}`; or give the variances in a column, 0 for the first reading; or leave `variance` out where readings are exact",
                self.says.along
            );
            return self.refuse(first, message, remedy, problems);
        }
        taken.started.push(first);
        for &row in others {
            if self.upper[row] == self.upper[first] {
                match variances[row] == 0.0 && self.values[row] == self.values[first] {
                    true => taken.repeated.push(row),
                    false => self.refuse_two(row, first, problems),
                }
                continue;
            }
            let added = self.values[row] - self.values[first];
            taken.keep(row, (self.upper[first], self.upper[row]), added);
        }
    }

    /// What each row adds to the one before.
    fn since_the_row_before(
        &self,
        rows: &[usize],
        start: Option<f64>,
        taken: &mut Taken,
        problems: &mut Problems,
    ) {
        let mut stood = start.map(|end| Stood {
            end,
            value: 0.0,
            row: None,
        });
        for &row in rows {
            let now = Stood {
                end: self.upper[row],
                value: self.values[row],
                row: Some(row),
            };
            if let Falls::Beyond(limit) = self.says.falls
                && !(0.0..limit).contains(&now.value)
            {
                let message = format!(
                    "the running total is {}, and is said to run from 0 to {limit}, where it begins anew",
                    now.value
                );
                self.refuse(
                    row,
                    message,
                    "mend `falls`, or the row".to_owned(),
                    problems,
                );
            }
            match stood {
                None => taken.started.push(row),
                Some(before) if before.end == now.end && before.row.is_some() => {
                    self.at_the_same_time(before, now, taken, problems);
                }
                Some(before) if before.end == now.end => {
                    self.at_the_start(row, true, taken, problems);
                }
                Some(before) => self.step(before, now, taken, problems),
            }
            stood = Some(now);
        }
    }

    /// Two rows of one time: the same twice, or a meter that was replaced then.
    fn at_the_same_time(
        &self,
        before: Stood,
        now: Stood,
        taken: &mut Taken,
        problems: &mut Problems,
    ) {
        let (Some(first), Some(row)) = (before.row, now.row) else {
            return;
        };
        if before.value == now.value {
            taken.repeated.push(row);
        } else if matches!(self.says.falls, Falls::Zero | Falls::Unknown) {
            taken.started.push(row);
        } else {
            self.refuse_two(row, first, problems);
        }
    }

    /// One increment.
    fn step(&self, before: Stood, now: Stood, taken: &mut Taken, problems: &mut Problems) {
        let Some(row) = now.row else {
            return;
        };
        let ends = (before.end, now.end);
        let added = now.value - before.value;
        if added >= 0.0 {
            return taken.keep(row, ends, added);
        }
        match self.says.falls {
            Falls::Refused => return self.refuse_fall(before, now, problems),
            Falls::Zero if now.value < 0.0 => return self.refuse_fall(before, now, problems),
            Falls::Zero => taken.keep(row, ends, now.value),
            Falls::Beyond(limit) => taken.keep(row, ends, limit - before.value + now.value),
            Falls::Negative => taken.keep(row, ends, added),
            Falls::Unknown => {}
        }
        taken.fell.push(row);
    }

    fn refuse_fall(&self, before: Stood, now: Stood, problems: &mut Problems) {
        let Some(row) = now.row else {
            return;
        };
        let since = match before.row {
            Some(before) => self.table.row_address(before),
            None => "zero, where it began".to_owned(),
        };
        let message = format!(
            "the running total falls from {} ({since}) to {}",
            before.value, now.value
        );
        let remedy = "mend the row; or say what falls mean, `cumulative = { falls = \"zero\" }` where the counter began anew at zero, \"unknown\" where it was replaced or corrected, the number at which it begins anew, or \"negative\" for values that can become less; `by = \"meter\"` tells several totals apart".to_owned();
        self.refuse(row, message, remedy, problems);
    }

    fn refuse_two(&self, row: usize, first: usize, problems: &mut Problems) {
        let message = format!(
            "the running total is {} here and {} in {}, at the same time, {}",
            self.values[row],
            self.values[first],
            self.table.row_address(first),
            self.upper[row]
        );
        let remedy = "name what tells running totals apart, `cumulative = { by = \"meter\" }`; or say that a meter was replaced then, `falls = \"unknown\"`; or keep one of the rows".to_owned();
        self.refuse(row, message, remedy, problems);
    }

    fn refuse(&self, row: usize, message: String, remedy: String, problems: &mut Problems) {
        if problems.0.len() < SHOWN_ROWS {
            let place = self.table.place(row, self.column);
            problems.push(Problem::new(message).at(place).remedy(remedy));
        }
    }
}
