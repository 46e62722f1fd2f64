//! Areas within areas from a table.

use std::collections::HashMap;

use quadrat::reconcile::{Measurement, ReconcileError, Tree};
use quadrat_study::diagnostic::{Problem, Problems, shown};
use quadrat_study::numbers::exact;
use quadrat_study::suggest;
use quadrat_study::table::{Reading, Table, parse_number};

use crate::args::Reconcile;

/// More areas than this are refused.
const MOST_AREAS: usize = 20_000_000;

/// Bad rows that are listed one by one.
const LISTED: usize = 20;

/// The areas of a table, and what was measured of them.
pub struct Rows {
    table: Table,
    area: usize,
    within: usize,
    value: usize,
    variance: Option<usize>,
    /// Names of the areas: the cells of `--by`, and the area itself.
    pub names: Vec<Vec<String>>,
    /// What each lies within.
    pub parents: Vec<Option<usize>>,
    pub measurements: Vec<Measurement>,
    /// The row of every measurement.
    rows: Vec<usize>,
    /// The first row of every area.
    first: Vec<usize>,
}

impl Rows {
    /// Reads the columns that are asked for.
    pub fn read(args: &Reconcile) -> Result<Self, Problems> {
        let table = Table::open(&args.table, &args.table)?;
        let mut problems = Problems::default();
        let mut named = |name: &str| match table.named(name) {
            Ok(at) => at,
            Err(problem) => {
                problems.push(problem);
                0
            }
        };
        let [area, within, value] = [&args.area, &args.within, &args.value].map(|n| named(n));
        let given = parse_number(&args.variance).ok();
        let variance = given.is_none().then(|| named(&args.variance));
        let by: Vec<usize> = args.by.iter().map(|name| named(name)).collect();
        problems.or(())?;
        if let Some(number) = given.filter(|number| *number < 0.0) {
            let fact = format!("--variance is {}; it must be zero or more", exact(number));
            let remedy = "a variance is the square of the standard deviation";
            return Err(Problem::new(fact).remedy(remedy).into());
        }
        let mut out = Self {
            area,
            within,
            value,
            variance,
            names: Vec::new(),
            parents: Vec::new(),
            measurements: Vec::new(),
            rows: Vec::new(),
            first: Vec::new(),
            table,
        };
        let of_row = out.areas(&by, MOST_AREAS)?;
        out.measured(&of_row, given)?;
        Ok(out)
    }

    /// Finds areas and what each lies within; the area of every row. Stops at too many.
    fn areas(&mut self, by: &[usize], most: usize) -> Result<Vec<usize>, Problems> {
        let columns = by.iter().chain([&self.area]);
        let columns = columns.map(|&at| self.table.texts(at));
        let columns: Vec<Vec<String>> = columns.collect::<Result<_, _>>()?;
        let around = self.table.texts(self.within)?;
        let rows = around.len();
        let mut known: HashMap<Vec<String>, usize> = HashMap::with_capacity(rows.min(most));
        let mut of_row = Vec::with_capacity(rows);
        let mut problems = Problems::default();
        for row in 0..rows {
            let name: Vec<String> = columns.iter().map(|cells| cells[row].clone()).collect();
            if name.last().is_some_and(String::is_empty) && problems.0.len() < LISTED {
                let place = self.table.place(row, self.area);
                let problem = Problem::new("the area of a row is empty").at(place);
                problems.push(problem.remedy("name it, or delete the row"));
            }
            let next = self.names.len();
            let at = *known.entry(name.clone()).or_insert(next);
            if at == next {
                if next == most {
                    let fact =
                        format!("there are more than {most} areas, which are all that are taken");
                    let problem = Problem::new(fact).at(self.table.place(row, self.area));
                    return Err(problem
                        .remedy("divide the table, such as by its --by")
                        .into());
                }
                self.names.push(name);
                self.first.push(row);
            } else if around[self.first[at]] != around[row] && problems.0.len() < LISTED {
                let fact = format!(
                    "`{}` lies within `{}`, and by {} within `{}`",
                    shown(&self.words(at)),
                    shown(&around[row]),
                    self.table.row_address(self.first[at]),
                    shown(&around[self.first[at]]),
                );
                let place = self.table.place(row, self.within);
                problems.push(Problem::new(fact).at(place).remedy(
                    "an area lies within one other; give areas of the same name names of their own",
                ));
            }
            of_row.push(at);
        }
        problems.or(())?;
        self.around(&known, &around)?;
        Ok(of_row)
    }

    /// What each area lies within, which must have a row.
    fn around(
        &mut self,
        known: &HashMap<Vec<String>, usize>,
        around: &[String],
    ) -> Result<(), Problems> {
        let mut problems = Problems::default();
        for (name, &row) in self.names.iter().zip(&self.first) {
            let parent = &around[row];
            let mut whole = name.clone();
            whole
                .last_mut()
                .into_iter()
                .for_each(|own| own.clone_from(parent));
            let found = known.get(&whole).copied();
            if !parent.is_empty() && found.is_none() && problems.0.len() < LISTED {
                let mut fact = format!("no row is of the area `{}`", shown(&whole.join(", ")));
                let names = self.names.iter().filter_map(|name| name.last());
                if let Some(near) = suggest::nearest(parent, names.map(String::as_str)) {
                    fact.push_str(&format!("; did you mean `{near}`?"));
                }
                let place = self.table.place(row, self.within);
                problems.push(Problem::new(fact).at(place).remedy(
                    "give it a row, with an empty value where it was not measured; the cell of areas within no other is empty",
                ));
            }
            self.parents.push(found.filter(|_| !parent.is_empty()));
        }
        problems.or(())
    }

    /// Reads values and variances.
    fn measured(&mut self, of_row: &[usize], given: Option<f64>) -> Result<(), Problems> {
        let wanted = [Some(self.value), self.variance];
        let wanted = wanted.into_iter().flatten();
        let wanted: Vec<_> = wanted.map(|at| (at, Reading::NumberOrMissing)).collect();
        let columns = self.table.cells(&wanted)?;
        let mut problems = Problems::default();
        for (row, &node) in of_row.iter().enumerate() {
            let value = columns[0][row].0;
            if value.is_nan() {
                continue;
            }
            let variance = columns.get(1).map_or(f64::NAN, |cells| cells[row].0);
            let variance = given.unwrap_or(variance);
            if !(variance >= 0.0 && variance.is_finite()) && problems.0.len() < LISTED {
                let (fact, remedy) = match variance.is_nan() {
                    true => (
                        "a value without a variance".to_owned(),
                        "write the variance of its error, 0 where it is exact; or leave the value empty",
                    ),
                    false => (
                        format!(
                            "the variance is {}; it must be zero or more",
                            exact(variance)
                        ),
                        "a variance is the square of the standard deviation",
                    ),
                };
                let place = self.table.place(row, self.variance.unwrap_or(self.value));
                problems.push(Problem::new(fact).at(place).remedy(remedy));
            }
            self.rows.push(row);
            self.measurements.push(Measurement {
                node,
                value,
                variance,
            });
        }
        if self.measurements.is_empty() && problems.0.is_empty() {
            let place = self.table.whole();
            let problem = Problem::new("no area was measured").at(place);
            problems.push(problem.remedy("fill in values"));
        }
        problems.or(())
    }

    /// The areas as a tree.
    pub fn tree(&self) -> Result<Tree, Problems> {
        Tree::new(&self.parents).map_err(|error| self.refused(&error).into())
    }

    /// A refusal of the library, at its rows.
    pub fn refused(&self, error: &ReconcileError) -> Problem {
        let words = |node: usize| shown(&self.words(node));
        let cell = |measurement: usize| self.table.place(self.rows[measurement], self.value);
        match *error {
            ReconcileError::Circle { node } => {
                let fact = format!("`{}` lies within itself, by way of others", words(node));
                Problem::new(fact)
                    .at(self.table.place(self.first[node], self.within))
                    .remedy("mend what it or they lie within")
            }
            ReconcileError::Twice {
                first,
                second,
                values,
            } => {
                let fact = format!(
                    "the area is exactly {}, and by {} exactly {}",
                    exact(values.1),
                    self.table.row_address(self.rows[first]),
                    exact(values.0)
                );
                let remedy = "mend one of them, or give variances above 0";
                Problem::new(fact).at(cell(second)).remedy(remedy)
            }
            ReconcileError::Contradiction {
                node,
                row,
                total,
                parts,
            } => {
                let fact = format!(
                    "`{}` is exactly {}, and its parts, which are exact too, add up to {}: {}",
                    words(node),
                    exact(total),
                    exact(parts),
                    self.parts_in_words(node)
                );
                let remedy = "mend the rows, or give one side variances above 0";
                Problem::new(fact).at(cell(row)).remedy(remedy)
            }
            ReconcileError::Undetermined { node } => {
                let fact = format!("nothing tells `{}`, so it cannot be drawn", words(node));
                Problem::new(fact)
                    .at(self.table.place(self.first[node], self.area))
                    .remedy("leave --draws out, or measure it")
            }
            ref other => Problem::new(other.to_string()).at(self.table.whole()),
        }
    }

    /// The rows of the parts of an area.
    fn parts_in_words(&self, node: usize) -> String {
        let parts = (0..self.parents.len()).filter(|&part| self.parents[part] == Some(node));
        let told = parts.clone().take(5).map(|part| {
            let address = self.table.row_address(self.first[part]);
            format!("`{}` ({address})", shown(&self.words(part)))
        });
        let more = if parts.clone().count() > 5 {
            ", .."
        } else {
            ""
        };
        told.collect::<Vec<_>>().join(", ") + more
    }

    /// The name of an area in words.
    pub fn words(&self, node: usize) -> String {
        self.names[node].join(", ")
    }

    /// Where an area stands first, in words.
    pub fn address(&self, node: usize) -> String {
        self.table.row_address(self.first[node])
    }

    /// What people call the table.
    pub fn table(&self) -> &str {
        self.table.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(most: usize) -> Result<Vec<usize>, Problems> {
        // Three areas in four rows.
        let bytes = b"area,within,people\nall,,9\na,all,4\na,all,5\nb,all,5\n".to_vec();
        let mut rows = Rows {
            table: Table::from_csv(bytes, "t.csv".to_owned())?,
            area: 0,
            within: 1,
            value: 2,
            variance: None,
            names: Vec::new(),
            parents: Vec::new(),
            measurements: Vec::new(),
            rows: Vec::new(),
            first: Vec::new(),
        };
        rows.areas(&[], most)
    }

    #[test]
    fn too_many_areas_are_refused_where_the_next_begins() {
        assert_eq!(found(3).unwrap(), [0, 1, 1, 2]);
        let said = found(2).unwrap_err().to_string();
        assert!(said.contains("more than 2 areas"), "{said}");
        assert!(said.contains("t.csv:5:1"), "{said}");
    }
}
