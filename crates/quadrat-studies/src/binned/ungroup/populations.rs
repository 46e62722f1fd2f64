//! People by single year of age, of which only bands will be shown.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::data;
use crate::settings::Settings;

const AUTHORITIES_FILE: &str = "binned/census2011_age_local_authority_ew.csv";
const STATES_FILE: &str = "binned/us_population_age.csv";
const CONSTITUENCIES_FILE: &str = "binned/uk_constituency_age.csv";

/// 40 of the 348 local authorities of England and Wales, drawn once at random (numpy 2,
/// `default_rng(1).choice`).
const AUTHORITIES: [&str; 40] = [
    "E08000022",
    "E08000023",
    "E08000005",
    "E07000124",
    "E07000125",
    "E07000128",
    "E08000035",
    "E07000035",
    "E07000039",
    "E07000132",
    "E07000136",
    "E07000151",
    "E07000154",
    "E07000175",
    "E08000027",
    "E08000028",
    "E08000031",
    "E07000236",
    "E06000033",
    "E07000011",
    "E07000067",
    "E07000071",
    "E07000241",
    "E07000146",
    "E07000147",
    "E09000009",
    "E07000004",
    "E07000089",
    "E07000110",
    "E07000115",
    "E07000177",
    "E07000208",
    "E07000213",
    "E07000225",
    "E06000029",
    "E06000027",
    "E07000050",
    "W06000005",
    "W06000008",
    "W06000016",
];

/// 20 of the 573 constituencies of England and Wales, by the next draw of the same generator.
const CONSTITUENCIES: [&str; 20] = [
    "E14000560",
    "E14000564",
    "E14000614",
    "E14000650",
    "E14000676",
    "E14000724",
    "E14000783",
    "E14000818",
    "E14000820",
    "E14000842",
    "E14000858",
    "E14000862",
    "E14000886",
    "E14000911",
    "E14000958",
    "E14000959",
    "E14000981",
    "E14001003",
    "E14001005",
    "W07000066",
];

/// What was read: written into the report.
pub const STATEMENT: &str = "61 populations by single year of age: 40 local authorities of England and Wales drawn at random (census 2011, ages 0 to 99), the United States in 2020 (0 to 99) and 20 parliamentary constituencies drawn at random (0 to 89); open last classes are left out";

/// A population.
#[derive(Debug, Clone)]
pub struct Population {
    /// Code of the area.
    pub name: String,
    /// People of every year from 0 on; a multiple of ten years.
    pub years: Vec<f64>,
}

/// Name of the country among the areas.
pub const COUNTRY: &str = "US 2020";

/// All of them, in a fixed order.
///
/// # Errors
/// [`data::Missing`]; a file or an area that is not as expected.
pub fn read(settings: &Settings) -> Result<Vec<Population>> {
    let file = |name| data::find(&settings.data, name);
    let mut all = areas(&file(AUTHORITIES_FILE)?, "mnemonic", &AUTHORITIES, 100)?;
    all.push(country(&file(STATES_FILE)?)?);
    all.extend(areas(
        &file(CONSTITUENCIES_FILE)?,
        "code",
        &CONSTITUENCIES,
        90,
    )?);
    Ok(all)
}

/// The rows whose `key` is one of `codes`, and their columns `0` to `years - 1`.
fn areas(path: &Path, key: &str, codes: &[&str], years: usize) -> Result<Vec<Population>> {
    let context = || path.display().to_string();
    let ages: Vec<String> = (0..years).map(|age| age.to_string()).collect();
    let ages: Vec<&str> = ages.iter().map(String::as_str).collect();
    let rows = data::transpose(&data::columns(path, &ages)?);
    let mut reader = csv::Reader::from_path(path).with_context(context)?;
    let header = reader.headers().with_context(context)?.clone();
    let at = header.iter().position(|h| h == key);
    let at = at.with_context(|| format!("{}: no column {key}", path.display()))?;
    let mut names = Vec::new();
    for record in reader.records() {
        names.push(record.with_context(context)?[at].to_owned());
    }
    let one = |code: &&str| {
        let row = names.iter().position(|name| name == code);
        let row = row.with_context(|| format!("{}: no area {code}", path.display()))?;
        let years = rows[row].clone();
        ensure!(
            years.iter().all(|n| *n >= 0.0),
            "{}: {code} lacks a year",
            path.display()
        );
        Ok(Population {
            name: (*code).to_owned(),
            years,
        })
    };
    codes.iter().map(one).collect()
}

/// Both sexes of 2020.
fn country(path: &Path) -> Result<Population> {
    let columns = data::columns(path, &["age", "year", "population"])?;
    let mut years = vec![0.0; 100];
    for ((age, year), people) in columns[0].iter().zip(&columns[1]).zip(&columns[2]) {
        if *year == 2020.0 && *age < 100.0 {
            years[*age as usize] += people;
        }
    }
    ensure!(
        years.iter().all(|n| *n > 0.0),
        "{}: the year 2020 is not complete",
        path.display()
    );
    Ok(Population {
        name: COUNTRY.to_owned(),
        years,
    })
}
