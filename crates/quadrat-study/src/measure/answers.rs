//! What rows that were measured say.

use crate::diagnostic::{Problem, Problems};
use crate::engine::Posterior;
use crate::numbers::LARGEST;
use crate::table::Table;
use anyhow::Result;
use quadrat::likelihood::{
    Bernoulli, Binomial, Censored, Exponential, Gamma, Gaussian, Interval, Laplace, Likelihood,
    LogNormal, LogSd, NegativeBinomial, Noise, Ordinal, Poisson, StudentT,
};
use quadrat::model::Scale;

/// Both ends of what each cell of a column says; nothing where it is empty.
type Column = Vec<Option<(f64, f64)>>;

/// Cells of answers, by the names of their columns.
pub struct Answered<'a> {
    table: &'a Table,
    columns: Vec<(&'static str, Column)>,
}

/// The columns that answers may stand in.
const COLUMNS: [&str; 7] = [
    "value", "lower", "upper", "variance", "sd", "exposure", "trials",
];

/// Reads the answers of all rows.
///
/// # Arguments
/// * `cells` - the cells of a column of that name, where there is one
pub fn read<'t, 'c>(
    table: &'t Table,
    cells: impl Fn(&str) -> Option<&'c [String]>,
) -> Result<Answered<'t>, Problems> {
    let mut problems = Problems::default();
    let mut columns = Vec::new();
    for name in COLUMNS {
        let Some(own) = cells(name) else {
            continue;
        };
        let cells = own.iter().enumerate().map(|(row, cell)| {
            number(cell).unwrap_or_else(|| {
                let message = format!("{}: `{name}` is `{}`", table.row_address(row), cell.trim());
                let remedy = "write a number, `<` or `>` and a number, or leave it empty";
                problems.push(Problem::new(message).remedy(remedy));
                None
            })
        });
        let cells: Column = cells.collect();
        let is_giant = |x: f64| x.is_finite() && x.abs() > LARGEST;
        let giants = cells.iter().enumerate();
        let giants =
            giants.filter(|(_, cell)| cell.is_some_and(|(a, b)| is_giant(a) || is_giant(b)));
        problems.0.extend(giants.map(|(row, _)| {
            let message = format!(
                "{}: `{name}` is too large: its square is no number",
                table.row_address(row)
            );
            Problem::new(message).remedy("change the unit, or mend the row")
        }));
        columns.push((name, cells));
    }
    problems.or(Answered { table, columns })
}

/// A cell as the two ends of what it says: nothing where it is empty; nothing at all where it is no
/// number.
fn number(cell: &str) -> Option<Option<(f64, f64)>> {
    let cell = cell.trim();
    let plain = |text: &str| text.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
    if cell.is_empty() || cell == "NA" {
        return Some(None);
    }
    if let Some(limit) = cell.strip_prefix('<') {
        return plain(limit).map(|x| Some((f64::NEG_INFINITY, x)));
    }
    if let Some(limit) = cell.strip_prefix('>') {
        return plain(limit).map(|x| Some((x, f64::INFINITY)));
    }
    match cell.to_lowercase().as_str() {
        "yes" | "y" | "true" | "t" => Some(Some((1.0, 1.0))),
        "no" | "n" | "false" | "f" => Some(Some((0.0, 0.0))),
        _ => plain(cell).map(|x| Some((x, x))),
    }
}

impl Answered<'_> {
    /// Where a row stands, in words.
    fn address(&self, row: usize) -> String {
        self.table.row_address(row)
    }

    fn cell(&self, name: &str, row: usize) -> Option<(f64, f64)> {
        let column = self.columns.iter().find(|(own, _)| *own == name)?;
        column.1[row]
    }

    /// Whether a row says anything.
    pub fn is_told(&self, row: usize) -> bool {
        let mut all = ["value", "lower", "upper"].iter();
        all.any(|name| self.cell(name, row).is_some())
    }

    /// A column of plain numbers that every row must have.
    fn all(&self, name: &str, rows: &[usize]) -> Result<Vec<f64>> {
        let one = |&row: &usize| match self.cell(name, row) {
            Some((lower, upper)) if lower == upper && lower.is_finite() => Ok(lower),
            Some(_) => anyhow::bail!("{}: `{name}` must be one finite number", self.address(row)),
            None => anyhow::bail!("{}: there is no `{name}`; fill it in", self.address(row)),
        };
        rows.iter().map(one).collect()
    }

    /// The same, one where there is none.
    fn or_one(&self, name: &str, rows: &[usize]) -> Result<Vec<f64>> {
        let has_any = rows.iter().any(|row| self.cell(name, *row).is_some());
        match has_any {
            true => self.all(name, rows),
            false => Ok(vec![1.0; rows.len()]),
        }
    }

    /// Both ends of what lies between `lower` and `upper`, or of `value`.
    pub fn ends(&self, rows: &[usize]) -> Result<(Vec<f64>, Vec<f64>)> {
        let one = |&row: &usize| {
            if let Some(ends) = self.cell("value", row) {
                return Ok(ends);
            }
            let (lower, upper) = (self.cell("lower", row), self.cell("upper", row));
            let ends = (
                lower.map_or(f64::NEG_INFINITY, |l| l.0),
                upper.map_or(f64::INFINITY, |u| u.1),
            );
            match ends.0 <= ends.1 {
                true => Ok(ends),
                false => anyhow::bail!(
                    "{}: `lower` lies above `upper`; exchange the two",
                    self.address(row)
                ),
            }
        };
        let ends: Result<Vec<(f64, f64)>> = rows.iter().map(one).collect();
        Ok(ends?.into_iter().unzip())
    }
}

/// What the rows report, as the rows of a table do.
pub fn likelihood(
    posterior: &Posterior,
    (table, as_interval): (usize, bool),
    told: &Answered<'_>,
    rows: &[usize],
) -> Result<Likelihood> {
    let like = posterior.observations()[table].likelihood();
    learned_once(posterior, table)?;
    let noise = || noise(like, told, rows);
    if as_interval {
        let (lower, upper) = told.ends(rows)?;
        return Ok(Interval::new(lower, upper, noise()?)?.into());
    }
    Ok(match like {
        Likelihood::Gaussian(_) => Gaussian::new(told.all("value", rows)?, noise()?)?.into(),
        Likelihood::StudentT(own) => {
            StudentT::new(told.all("value", rows)?, noise()?, own.degrees_setting())?.into()
        }
        Likelihood::Interval(_) => {
            let (lower, upper) = told.ends(rows)?;
            Interval::new(lower, upper, noise()?)?.into()
        }
        Likelihood::Censored(_) => {
            let (lower, upper) = told.ends(rows)?;
            Censored::between(lower, upper, noise()?)?.into()
        }
        Likelihood::Ordinal(own) => {
            let ranks = told.all("value", rows)?;
            if let Some(at) = ranks.iter().position(|r| r.fract() != 0.0 || *r < 1.0) {
                anyhow::bail!(
                    "{}: this is no rank; ranks are 1, 2, ..",
                    told.address(rows[at])
                );
            }
            let ranks = ranks.into_iter().map(|rank| rank as usize).collect();
            Ordinal::new(ranks, own.thresholds_setting().clone(), noise()?)?.into()
        }
        Likelihood::Bernoulli(own) => {
            let values = told.all("value", rows)?;
            if let Some(at) = values.iter().position(|v| *v != 0.0 && *v != 1.0) {
                anyhow::bail!("{}: this is neither yes nor no", told.address(rows[at]));
            }
            Bernoulli::new(values.iter().map(|v| *v == 1.0).collect(), own.sigmoid()).into()
        }
        Likelihood::Binomial(own) => {
            let trials = told.or_one("trials", rows)?;
            Binomial::new(told.all("value", rows)?, trials, own.sigmoid())?.into()
        }
        Likelihood::Poisson(own) => {
            let exposure = told.or_one("exposure", rows)?;
            Poisson::new(told.all("value", rows)?, exposure, own.link())?.into()
        }
        Likelihood::NegativeBinomial(own) => {
            let (value, exposure) = (told.all("value", rows)?, told.or_one("exposure", rows)?);
            NegativeBinomial::new(value, exposure, own.link(), own.dispersion())?.into()
        }
        Likelihood::Exponential(own) => {
            Exponential::new(told.all("value", rows)?, own.link())?.into()
        }
        Likelihood::Gamma(own) => Gamma::new(told.all("value", rows)?, own.shape())?.into(),
        Likelihood::LogNormal(own) => {
            let has_sds = rows.iter().any(|row| told.cell("sd", *row).is_some());
            let sd = match own.sd() {
                LogSd::Each(_) if has_sds => LogSd::Each(told.all("sd", rows)?),
                LogSd::Each(sds) if sds.iter().all(|sd| *sd == sds[0]) => LogSd::Known(sds[0]),
                LogSd::Each(_) => anyhow::bail!(
                    "the sd of a new row is not known: it differs from row to row; add a column `sd`"
                ),
                other => other.clone(),
            };
            LogNormal::new(told.all("value", rows)?, sd)?.into()
        }
        Likelihood::Laplace(own) => {
            let scale = own.scale()[0];
            if own.scale().iter().any(|s| *s != scale) {
                anyhow::bail!("the scale of a new row is not known: it differs from row to row");
            }
            Laplace::new(told.all("value", rows)?, vec![scale; rows.len()])?.into()
        }
        other => anyhow::bail!("no row can be added to those that are `{}`", other.name()),
    })
}

/// Refuses rows like those of a table whose learned noise is not the first of its likelihood: they
/// would be taken to have that.
fn learned_once(posterior: &Posterior, table: usize) -> Result<()> {
    let tables = posterior.observations();
    let (like, output) = (tables[table].likelihood(), tables[table].output());
    if like.local().parameters(1.0).is_empty() {
        return Ok(());
    }
    let is_same =
        |t: &usize| tables[*t].likelihood().name() == like.name() && tables[*t].output() == output;
    let first = (0..tables.len()).find(is_same).unwrap_or(table);
    let groups = posterior.instruments(output, Scale::Observation);
    let is_alike = |group: &Vec<usize>| group.contains(&first) && group.contains(&table);
    if first == table || groups.iter().any(is_alike) {
        return Ok(());
    }
    anyhow::bail!(
        "learned noise, thresholds or dispersion differ between tables of this likelihood; add the rows to their table and fit again"
    )
}

/// The noise of new rows: as in their table, or that of a column `variance` or `sd`.
fn noise(like: &Likelihood, told: &Answered<'_>, rows: &[usize]) -> Result<Noise> {
    let Some(own) = like.noise() else {
        anyhow::bail!("rows that are `{}` have no noise", like.name());
    };
    let has_any = |name: &str| rows.iter().any(|row| told.cell(name, *row).is_some());
    let given = match (has_any("variance"), has_any("sd")) {
        (true, true) => {
            anyhow::bail!("rows have a `variance` and an `sd`; leave one of the columns out")
        }
        (true, false) => Some(told.all("variance", rows)?),
        (false, true) => {
            let sds = told.all("sd", rows)?;
            Some(sds.into_iter().map(|sd| sd * sd.abs()).collect())
        }
        (false, false) => None,
    };
    let known = |known: &[f64]| -> Result<Vec<f64>> {
        if let Some(given) = &given {
            return Ok(given.clone());
        }
        match known.iter().all(|v| *v == known[0]) {
            true => Ok(vec![known[0]; rows.len()]),
            false => anyhow::bail!(
                "the noise variance of a new row is not known: it differs from row to row; give it in a column `variance` or `sd`"
            ),
        }
    };
    Ok(match own {
        Noise::Learned if given.is_some() => anyhow::bail!(
            "rows have noise of their own, and that of their table is learned; leave the column out"
        ),
        Noise::Learned => Noise::Learned,
        Noise::Known(all) => Noise::Known(known(all)?),
        Noise::KnownPlusLearned(all) => Noise::KnownPlusLearned(known(all)?),
    })
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn cells_are_numbers_limits_or_nothing() {
        assert_eq!(number(" 2.5 "), Some(Some((2.5, 2.5))));
        assert_eq!(number("<3"), Some(Some((f64::NEG_INFINITY, 3.0))));
        assert_eq!(number("> 3"), Some(Some((3.0, f64::INFINITY))));
        assert_eq!(number("yes"), Some(Some((1.0, 1.0))));
        assert_eq!(number("F"), Some(Some((0.0, 0.0))));
        assert_eq!(number(""), Some(None));
        assert_eq!(number("much"), None);
        assert_eq!(number("nan"), None);
    }
}
