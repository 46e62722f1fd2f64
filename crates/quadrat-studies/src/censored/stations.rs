//! Hours of two stations of New York, and the censoring that the source does to them.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use quadrat::likelihood::Side;
use quadrat::support::Functionals;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::data;

/// Hours of the file before 1 June 2018, 00:00.
const BEGIN: usize = 151 * 24;
/// Hours to learn from, hours that nobody looks at here (the source stops its search by them),
/// hours to test.
pub const LEARN: usize = 732;
pub const SKIPPED: usize = 293;
pub const TEST: usize = 440;

/// A station: what was asked for, and what was recorded.
pub struct Station {
    pub asked: Vec<f64>,
    pub recorded: Vec<f64>,
    pub sides: Vec<Side>,
    rain: Vec<f64>,
}

impl Station {
    /// Reads a station and censors the hours to learn from.
    ///
    /// # Errors
    /// [`data::Missing`]; fewer hours than are needed.
    pub fn draw(folder: &Path, name: &str, random: &mut ChaCha8Rng) -> Result<Self> {
        let path = data::find(
            folder,
            &format!("censored/citibike_station_{name}_hourly.csv"),
        )?;
        let columns = data::columns(&path, &["pickups", "dropoffs", "precip_prob"])?;
        let [pickups, dropoffs, rain] = columns.as_slice() else {
            anyhow::bail!("{}: three columns were asked for", path.display());
        };
        let end = BEGIN + LEARN + SKIPPED + TEST;
        anyhow::ensure!(
            pickups.len() >= end,
            "{}: fewer than {end} hours",
            path.display()
        );
        let mut station = Self {
            asked: pickups[BEGIN..end].to_vec(),
            recorded: pickups[BEGIN..end].to_vec(),
            sides: vec![Side::None; end - BEGIN],
            rain: rain[BEGIN..end].to_vec(),
        };
        for hour in 0..LEARN {
            let before = BEGIN + hour - 1;
            let chance = 1.0 / (1.0 + (dropoffs[before] - pickups[before] + 5.0).exp());
            let (draw, share): (f64, f64) = (random.random(), random.random());
            if draw < chance {
                station.sides[hour] = Side::Right;
                station.recorded[hour] = (share * station.asked[hour]).floor();
            }
        }
        Ok(station)
    }

    /// Places of some hours: hour, and chance of rain.
    ///
    /// # Errors
    /// None that these columns can cause.
    pub fn places(&self, hours: Range<usize>) -> Result<Functionals> {
        let mut at = Functionals::new(vec!["hour".to_owned(), "rain".to_owned()]);
        for hour in hours {
            at.push_point(&[hour as f64, self.rain[hour]])?;
        }
        Ok(at)
    }

    /// What was asked for in the hours to test, and their places.
    ///
    /// # Errors
    /// As [`Self::places`].
    pub fn test(&self) -> Result<(&[f64], Functionals)> {
        let hours = LEARN + SKIPPED..LEARN + SKIPPED + TEST;
        Ok((&self.asked[hours.clone()], self.places(hours)?))
    }
}
