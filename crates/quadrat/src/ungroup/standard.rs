//! Rates that several populations have about in common.

use super::axis::Axis;
use super::rates::Rates;
use super::weighted;

/// A curve of rates around which those of a population lie, such as the rates of a whole country
/// around which those of a district do.
///
/// The log rate of the population is then that of the curve, and a deviation: a level, a line, a
/// smooth function and a rough one, and a term of infants, all small (`rate_fit.rs`). Bands with
/// few events hardly tell how rates change with age; what they do not tell is taken from the curve.
/// That counts as known: it should be of some hundreds of events, and of many times those of the
/// population.
///
/// # Source
/// The relational models of demography: Brass 1971, *On the scale of mortality*; de Beer 2012,
/// *Smoothing and projecting age-specific probabilities of death by TOPALS*.
///
/// # Examples
/// ```
/// use quadrat::ungroup::Ungroup;
/// let from: Vec<f64> = (0..9).map(|b| 10.0 * f64::from(b)).collect();
/// let to: Vec<f64> = from.iter().map(|x| x + 10.0).collect();
/// let people = [9e5, 9e5, 9e5, 9e5, 8e5, 8e5, 7e5, 5e5, 2e5];
/// let deaths = [400.0, 300.0, 600.0, 900.0, 1700.0, 4000.0, 9000.0, 18000.0, 21000.0];
/// let country = Ungroup::new(&from, &to).draws(200).rates(&deaths, &people)?.standard();
/// let (own, of) = ([0.0, 0.0, 1.0, 0.0, 2.0, 4.0, 7.0, 16.0, 20.0], people.map(|n| n / 1000.0));
/// let alone = Ungroup::new(&from, &to).draws(200).rates(&own, &of)?;
/// let around = Ungroup::new(&from, &to).around(&country).draws(200).rates(&own, &of)?;
/// let log_width = |rates: &quadrat::ungroup::Rates| (rates.upper()[5] / rates.lower()[5]).ln();
/// assert!(log_width(&around) < log_width(&alone));
/// # Ok::<(), quadrat::ungroup::UngroupError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Standard {
    /// Upper edges of its parts, ascending, on the axis of the edges.
    upper: Vec<f64>,
    /// Log rates of the parts.
    logs: Vec<f64>,
}

impl Standard {
    /// Log rates where cells lie; beyond its ends those of its ends.
    pub(super) fn at(&self, axis: Axis, places: &[f64]) -> Vec<f64> {
        let last = self.logs.len() - 1;
        let one = |place: &f64| {
            let part = self.upper.partition_point(|x| axis.forward(*x) <= *place);
            self.logs[part.min(last)]
        };
        places.iter().map(one).collect()
    }
}

impl Rates {
    /// The curve of the mean rates, for other populations to lie around.
    #[must_use]
    pub fn standard(&self) -> Standard {
        let means = weighted::average(&self.rates, &self.weights);
        Standard {
            upper: self.cells.edges[1..].to_vec(),
            logs: means.into_iter().map(f64::ln).collect(),
        }
    }
}
