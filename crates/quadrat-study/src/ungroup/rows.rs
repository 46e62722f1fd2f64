//! Bands from a table.

use std::collections::HashMap;
use std::path::Path;

use super::group::Group;
use super::{edges, inclusive};
use crate::diagnostic::{Place, Problem, Problems};
use crate::numbers::{count, human};
use crate::study::ungroup::Ungroup;
use crate::table::{Reading, Table};

/// More populations than this are refused: they take some minutes, with rates half an hour.
const MOST: usize = 5000;
/// Bad edges that are listed one by one.
const LISTED: usize = 5;

/// All populations, in the order of their first rows.
#[derive(Debug)]
pub struct Rows {
    table: Table,
    lower: usize,
    upper: Option<usize>,
    count: usize,
    exposure: Option<usize>,
    along: Option<usize>,
    pub groups: Vec<Group>,
    /// By how much bands end before the next ones begin in the table, where upper edges are the
    /// last number inside.
    pub inclusive: Option<f64>,
    /// The table of exposures in bands of their own, which are its counts.
    pub exposed: Option<Box<Rows>>,
}

impl Rows {
    /// Reads the columns that are asked for.
    ///
    /// # Arguments
    /// * `folder` - that paths are relative to, and as people see it
    ///
    /// # Errors
    /// Columns and cells that cannot be used.
    pub fn read(args: &Ungroup, folder: (&Path, &Path)) -> Result<Self, Problems> {
        let exposure = args.exposure.as_deref();
        if let Some(years) = args.along.as_ref().filter(|along| args.by.contains(along)) {
            let fact = format!("`{years}` is named by --by and by --along");
            let remedy = "keep --along, where years inform each other, or --by, where each is ungrouped by itself";
            return Err(Problem::new(fact).remedy(remedy).into());
        }
        if args.along.is_some() && exposure.is_some() {
            let fact = "--along is for counts, and with --exposure rates are told";
            let remedy = "name the column of the years with --by: rates of each year by itself";
            return Err(Problem::new(fact).remedy(remedy).into());
        }
        let of = |table: &Path, counts: &str, exposure: Option<&str>| {
            let table = Table::open(&folder.0.join(table), &folder.1.join(table))?;
            Self::of(args, table, counts, exposure)
        };
        let Some(table) = &args.exposure_table else {
            return of(&args.table, &args.count, exposure);
        };
        let mut out = of(&args.table, &args.count, None)?;
        let exposed = of(table, exposure.unwrap_or_default(), None)?;
        out.exposed = Some(Box::new(exposed));
        Ok(out)
    }

    fn of(
        args: &Ungroup,
        table: Table,
        counts: &str,
        exposure: Option<&str>,
    ) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let mut named = |name: &str| match table.named(name) {
            Ok(at) => at,
            Err(problem) => {
                problems.push(problem);
                0
            }
        };
        let (lower, counted) = (named(&args.lower), named(counts));
        let upper = args.upper.as_deref().map(&mut named);
        let exposure = exposure.map(&mut named);
        let by: Vec<usize> = args.names().iter().map(|name| named(name)).collect();
        problems.or(())?;
        let mut out = Self {
            lower,
            upper,
            count: counted,
            exposure,
            along: args.along.as_ref().and(by.last().copied()),
            groups: Vec::new(),
            inclusive: None,
            exposed: None,
            table,
        };
        let bands = out.bands()?;
        let read = out.table.cells(&[(counted, Reading::Number)])?;
        let counts: Vec<f64> = read.into_iter().flatten().map(|(value, _)| value).collect();
        let exposure = out.exposures()?;
        out.groups = out.grouped(&by, &bands, &counts, exposure.as_deref())?;
        out.inclusive = inclusive::unit(&out.groups);
        if let (None, Some((at, band, unit))) = (out.inclusive, inclusive::held_twice(&out.groups))
        {
            return Err(out.held_twice(&out.groups[at], (band, unit)).into());
        }
        let mut groups = std::mem::take(&mut out.groups);
        for group in &mut groups {
            if let Some(unit) = out.inclusive {
                inclusive::moved(group, unit);
            }
            out.closed(group)?;
        }
        out.groups = groups;
        Ok(out)
    }

    /// The exposure of every row.
    fn exposures(&self) -> Result<Option<Vec<f64>>, Problems> {
        let Some(at) = self.exposure else {
            return Ok(None);
        };
        let read = self.table.cells(&[(at, Reading::Number)])?;
        let exposure: Vec<f64> = read.into_iter().flatten().map(|(value, _)| value).collect();
        match exposure.iter().position(|x| *x < 0.0) {
            None => Ok(Some(exposure)),
            Some(row) => Err(Problem::new(format!(
                "the exposure is {}; it must be zero or more",
                exposure[row]
            ))
            .at(self.table.place(row, at))
            .remedy("mend the cell")
            .into()),
        }
    }

    /// Both ends of every row.
    fn bands(&self) -> Result<Vec<(f64, f64)>, Problems> {
        let lower = self.table.texts(self.lower)?;
        let upper = self.upper.map(|at| self.table.texts(at)).transpose()?;
        let (mut bands, mut problems, mut bad) = (Vec::new(), Problems::default(), 0);
        for (row, from) in lower.iter().enumerate() {
            let to = upper.as_ref().map(|cells| cells[row].as_str());
            match edges::ends(from, to) {
                Ok(ends) => bands.push(ends),
                Err((is_upper, fault)) => {
                    bad += 1;
                    let at = self.upper.filter(|_| is_upper).unwrap_or(self.lower);
                    if bad <= LISTED {
                        problems.push(
                            Problem::new(fault.fact)
                                .at(self.table.place(row, at))
                                .remedy(fault.remedy),
                        );
                    }
                }
            }
        }
        if bad > LISTED {
            let rest = count(bad - LISTED, "more row");
            problems.push(Problem::new(format!("{rest} without usable edges")).tally());
        }
        problems.or(bands)
    }

    fn grouped(
        &self,
        by: &[usize],
        bands: &[(f64, f64)],
        counts: &[f64],
        exposure: Option<&[f64]>,
    ) -> Result<Vec<Group>, Problems> {
        let columns = by.iter().map(|&at| self.table.texts(at));
        let columns: Vec<Vec<String>> = columns.collect::<Result<_, _>>()?;
        let (mut places, mut groups): (HashMap<Vec<String>, usize>, Vec<Group>) =
            Default::default();
        for row in 0..bands.len() {
            let name: Vec<String> = columns.iter().map(|cells| cells[row].clone()).collect();
            if let Some(empty) = name.iter().position(String::is_empty) {
                let (fact, remedy) = match self.along == Some(by[empty]) {
                    true => ("the year of a row is empty", "write it, or delete the row"),
                    false => (
                        "the population of a row is empty",
                        "name it, or delete the row",
                    ),
                };
                return Err(Problem::new(fact)
                    .at(self.table.place(row, by[empty]))
                    .remedy(remedy)
                    .into());
            }
            let at = *places.entry(name.clone()).or_insert_with(|| {
                groups.push(Group {
                    name,
                    rows: Vec::new(),
                    lower: Vec::new(),
                    upper: Vec::new(),
                    counts: Vec::new(),
                    exposure: None,
                });
                groups.len() - 1
            });
            groups[at].rows.push(row);
        }
        if groups.len() > MOST {
            let message = format!("there are {}", count(groups.len(), "population"));
            let remedy = format!("name at most {MOST}, or divide the table");
            return Err(Problem::new(message)
                .at(self.table.whole())
                .remedy(remedy)
                .into());
        }
        for group in &mut groups {
            group
                .rows
                .sort_by(|a, b| bands[*a].0.total_cmp(&bands[*b].0));
            group.lower = group.rows.iter().map(|&row| bands[row].0).collect();
            group.upper = group.rows.iter().map(|&row| bands[row].1).collect();
            group.counts = group.rows.iter().map(|&row| counts[row]).collect();
            let own = |all: &[f64]| group.rows.iter().map(|&row| all[row]).collect();
            group.exposure = exposure.map(own);
        }
        Ok(groups)
    }

    /// Without a column of upper edges bands end where the next begins.
    fn closed(&self, group: &mut Group) -> Result<(), Problems> {
        for i in 0..group.rows.len() {
            if !group.upper[i].is_nan() {
                continue;
            }
            let next = group.lower.get(i + 1).copied();
            if next == Some(group.lower[i]) {
                let message = format!("two bands begin at {}", group.lower[i]);
                return Err(Problem::new(message)
                    .at(self.table.place(group.rows[i + 1], self.lower))
                    .remedy("name the column of the upper edges with --upper, and those that name populations with --by")
                    .into());
            }
            group.upper[i] = next.unwrap_or(f64::INFINITY);
        }
        Ok(())
    }

    /// The population of that name.
    pub fn named(&self, name: &[String]) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// Whether groups are years that are ungrouped together.
    pub fn has_years(&self) -> bool {
        self.along.is_some()
    }

    /// The table as a whole.
    pub fn whole(&self) -> Place {
        self.table.whole()
    }

    /// An open last band that begins at a number which the one before it holds.
    fn held_twice(&self, group: &Group, (band, unit): (usize, f64)) -> Problem {
        let [from, first] = [group.lower[band], group.lower[band - 1]].map(human);
        Problem::new(format!(
            "{}the last band begins at {from}, which the band before it holds: it is {first} to {from}, and bands such as these hold their last number",
            group.in_front()
        ))
        .at(self.place(group, band, Part::Lower))
        .remedy(format!(
            "write where the last band begins, such as `{}+`",
            human(group.lower[band] + unit)
        ))
    }

    /// Where a band of a group stands.
    pub fn place(&self, group: &Group, band: usize, part: Part) -> Place {
        let column = match part {
            Part::Lower => self.lower,
            Part::Upper => self.upper.unwrap_or(self.lower),
            Part::Count => self.count,
            Part::Exposure => self.exposure.unwrap_or(self.count),
            Part::Year => self.along.unwrap_or(self.count),
        };
        self.table.place(group.rows[band], column)
    }

    /// The line of a band.
    pub fn address(&self, group: &Group, band: usize) -> String {
        self.table.row_address(group.rows[band])
    }
}

/// A cell of a band.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    Lower,
    Upper,
    Count,
    Exposure,
    Year,
}
