//! Sprague's osculatory interpolation of five-year bands.

use super::Predict;
use super::cumulated::CumulatedBins;
use super::sums::sums;
use crate::error::{FitError, InputError};
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

const NO_BANDS: InputError = InputError::Unavailable {
    what: "Sprague's interpolation of rows that are no adjoining bands",
    remedy: "it takes bands of one input without gaps or overlaps, with values or counts of at least zero",
};
const NOT_FIVE: InputError = InputError::Unavailable {
    what: "Sprague's interpolation of bands that are not all 5 wide",
    remedy: "its multipliers are those of five-year bands; `mono` takes others",
};
const TOO_FEW: InputError = InputError::Unavailable {
    what: "Sprague's interpolation of fewer than five bands",
    remedy: "its multipliers are those of five and more; `mono` takes fewer",
};

/// The width of the bands.
const WIDTH: f64 = 5.0;
/// Two bands from each end are those of the end panels.
const ENDS: usize = 2;
/// Coefficients of a polynomial of degree five.
const TERMS: usize = 6;

/// Fifth-difference interpolation of the cumulated counts of five-year bands, as demographers have
/// divided them into single years since 1880 (`graduate_sprague` of the R package DemoTools).
///
/// With `F_j` the total below the end of band `j` and `t` from 0 to 1 within a band, the cumulated
/// counts are a polynomial of degree five that has the values `F_j`, `F_{j+1}` at the ends of the
/// band, and there the first two derivatives of the polynomials of degree four through five
/// neighbouring totals. In the two bands at each end it is the polynomial of degree four through
/// the five totals there. Single years are sums of five bands with Sprague's multipliers.
///
/// A support gets the average of the derivative over it, times its weight; beyond the first and
/// last band the derivative stays as it is there. The bands keep their totals. Years may be
/// negative where bands differ much. There is no uncertainty: every sd is zero.
///
/// # Source
/// Sprague 1880, *Explanation of a new formula for interpolation*, Journal of the Institute of
/// Actuaries 22:270; multipliers: Shryock, Siegel and associates 1976, *The methods and materials
/// of demography*, table C-6.
#[derive(Debug, Clone, PartialEq)]
pub struct Sprague {
    dim: String,
    /// The lower end of the first band.
    from: f64,
    /// The cumulated counts within every band, by powers of `t`.
    panels: Vec<[f64; TERMS]>,
}

impl Sprague {
    /// # Errors
    /// [`InputError::Unavailable`] where rows are not adjoining boxes of width 5, at least five of
    /// them, with values of at least zero.
    pub fn new(table: &Observations) -> Result<Self, InputError> {
        let CumulatedBins { dim, ends, total } = CumulatedBins::of(table).ok_or(NO_BANDS)?;
        let bands = total.len() - 1;
        let is_five = |w: &[f64]| (w[1] - w[0] - WIDTH).abs() <= 1e-9 * WIDTH;
        if !ends.windows(2).all(is_five) {
            return Err(NOT_FIVE);
        }
        if bands <= 2 * ENDS {
            return Err(TOO_FEW);
        }
        let panel = |band: usize| {
            if band < ENDS {
                through(&total[..=4], band)
            } else if band + ENDS >= bands {
                through(&total[bands - 4..], band + 4 - bands)
            } else {
                osculating(&total[band - 2..=band + 3])
            }
        };
        Ok(Self {
            dim,
            from: ends[0],
            panels: (0..bands).map(panel).collect(),
        })
    }

    /// The cumulated counts and their derivative.
    fn at(&self, x: f64) -> (f64, f64) {
        let place = (x - self.from) / WIDTH;
        let band = (place.floor().max(0.0) as usize).min(self.panels.len() - 1);
        let t = (place - band as f64).clamp(0.0, 1.0);
        let (mut value, mut slope) = (0.0, 0.0);
        for c in self.panels[band].iter().rev() {
            slope = slope * t + value;
            value = value * t + c;
        }
        let beyond = place - band as f64 - t;
        (value + beyond * slope, slope / WIDTH)
    }
}

/// The polynomial of degree four through five totals, by powers of `t` from the total `first` on.
fn through(totals: &[f64], first: usize) -> [f64; TERMS] {
    let mut differences = totals.to_vec();
    let mut out = [0.0; TERMS];
    // s (s - 1) .. (s - k + 1) / k! of s = first + t.
    let mut basis = [0.0; TERMS];
    basis[0] = 1.0;
    for k in 0..totals.len() {
        let own = differences[0];
        out.iter_mut().zip(&basis).for_each(|(o, b)| *o += own * b);
        differences = differences.windows(2).map(|w| w[1] - w[0]).collect();
        let shift = first as f64 - k as f64;
        let below = basis;
        for (power, b) in basis.iter_mut().enumerate() {
            let moved = if power > 0 { below[power - 1] } else { 0.0 };
            *b = (shift * below[power] + moved) / (k + 1) as f64;
        }
    }
    out
}

/// The polynomial of degree five between the third and the fourth of six totals.
fn osculating(totals: &[f64]) -> [f64; TERMS] {
    // First and second derivative of the polynomial of degree four at the middle of five totals.
    let slopes = |f: &[f64]| {
        [
            (f[0] - 8.0 * f[1] + 8.0 * f[3] - f[4]) / 12.0,
            (-f[0] + 16.0 * f[1] - 30.0 * f[2] + 16.0 * f[3] - f[4]) / 12.0,
        ]
    };
    let [first, second] = slopes(&totals[..5]);
    let [first_there, second_there] = slopes(&totals[1..]);
    // What a parabola leaves of value, slope and bend at the upper end.
    let value = totals[3] - totals[2] - first - 0.5 * second;
    let slope = first_there - first - second;
    let bend = second_there - second;
    [
        totals[2],
        first,
        0.5 * second,
        10.0 * value - 4.0 * slope + 0.5 * bend,
        -15.0 * value + 7.0 * slope - bend,
        6.0 * value - 3.0 * slope + 0.5 * bend,
    ]
}

impl Predict for Sprague {
    /// # Errors
    /// [`InputError::UnknownDimension`]; [`InputError::Unavailable`] for regions.
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = at.select(std::slice::from_ref(&self.dim))?;
        if at.has_regions() {
            return Err(NO_BANDS.into());
        }
        let over = |atom: usize| {
            let (from, width) = (at.lower(0)[atom], at.width(0)[atom]);
            match width > 0.0 {
                true => (self.at(from + width).0 - self.at(from).0) / width,
                false => self.at(from).1,
            }
        };
        Ok(sums(&at, over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Noise;
    use crate::support::Aggregate;

    fn bins(edges: &[f64]) -> Functionals {
        let each: Vec<(f64, f64)> = edges.windows(2).map(|w| (w[0], w[1])).collect();
        Functionals::intervals("age", &each, Aggregate::Sum).unwrap()
    }

    fn bands(first: f64, values: &[f64]) -> Observations {
        let edges: Vec<f64> = (0..=values.len()).map(|i| first + 5.0 * i as f64).collect();
        Observations::gaussian(bins(&edges), values.to_vec(), Noise::Learned).unwrap()
    }

    fn years(table: &Observations, from: u32, to: u32) -> Vec<f64> {
        let edges: Vec<f64> = (from..=to).map(f64::from).collect();
        let sprague = Sprague::new(table).unwrap();
        sprague
            .predict_response(&bins(&edges))
            .unwrap()
            .mean()
            .to_vec()
    }

    /// The published multipliers of the first five bands for the years of the first band and the
    /// second, and those of a band in the middle with two on either side; by years, in ten
    /// thousandths. Those of the last two bands are the first ones mirrored.
    const FIRST: [[f64; 5]; 5] = [
        [3616.0, -2768.0, 1488.0, -336.0, 0.0],
        [2640.0, -960.0, 400.0, -80.0, 0.0],
        [1840.0, 400.0, -320.0, 80.0, 0.0],
        [1200.0, 1360.0, -720.0, 160.0, 0.0],
        [704.0, 1968.0, -848.0, 176.0, 0.0],
    ];
    const SECOND: [[f64; 5]; 5] = [
        [336.0, 2272.0, -752.0, 144.0, 0.0],
        [80.0, 2320.0, -480.0, 80.0, 0.0],
        [-80.0, 2160.0, -80.0, 0.0, 0.0],
        [-160.0, 1840.0, 400.0, -80.0, 0.0],
        [-176.0, 1408.0, 912.0, -144.0, 0.0],
    ];
    const MIDDLE: [[f64; 5]; 5] = [
        [-128.0, 848.0, 1504.0, -240.0, 16.0],
        [-16.0, 144.0, 2224.0, -416.0, 64.0],
        [64.0, -336.0, 2544.0, -336.0, 64.0],
        [64.0, -416.0, 2224.0, 144.0, -16.0],
        [16.0, -240.0, 1504.0, 848.0, -128.0],
    ];

    #[test]
    fn single_years_have_the_published_multipliers() {
        for band in 0..5 {
            let mut values = [0.0; 5];
            values[band] = 1e4;
            let got = years(&bands(20.0, &values), 20, 45);
            for year in 0..5 {
                let mirrored = |of: &[[f64; 5]; 5]| of[4 - year][4 - band];
                let want = [
                    FIRST[year][band],
                    SECOND[year][band],
                    MIDDLE[year][band],
                    mirrored(&SECOND),
                    mirrored(&FIRST),
                ];
                for (panel, want) in want.into_iter().enumerate() {
                    let got = got[5 * panel + year];
                    // Sums of some ten terms of up to 1e5.
                    assert!(
                        (got - want).abs() < 1e-9,
                        "{panel} {year} {band}: {got} {want}"
                    );
                }
            }
        }
    }

    #[test]
    fn bands_keep_their_totals_and_a_quartic_comes_back() {
        let values = [900.0, 850.0, 20.0, 400.0, 0.0, 300.0, 310.0, 7.0];
        let got = years(&bands(0.0, &values), 0, 40);
        for (band, total) in values.iter().enumerate() {
            let sum: f64 = got[5 * band..5 * band + 5].iter().sum();
            // Totals up to 3,000 have an error of rounding of 5e-13.
            assert!((sum - total).abs() < 1e-11, "{band}: {sum}");
        }
        // Cumulated counts of degree four are those of every panel.
        let below = |x: f64| 300.0 * x + 4.0 * x * x - 0.2 * x.powi(3) + 2e-3 * x.powi(4);
        let values: Vec<f64> = (0..8)
            .map(|b| 5.0 * f64::from(b))
            .map(|x| below(x + 5.0) - below(x))
            .collect();
        let table = bands(0.0, &values);
        for (year, got) in years(&table, 0, 40).into_iter().enumerate() {
            let x = year as f64;
            assert!((got - (below(x + 1.0) - below(x))).abs() < 1e-9, "{year}");
        }
        let sprague = Sprague::new(&table).unwrap();
        let slope = |x: f64| 300.0 + 8.0 * x - 0.6 * x * x + 8e-3 * x.powi(3);
        let at = [0.0, 7.5, 13.0, 40.0];
        let points = Functionals::points("age", &at).unwrap();
        let found = sprague.predict_response(&points).unwrap();
        for (x, got) in at.into_iter().zip(found.mean()) {
            assert!((got - slope(x)).abs() < 1e-9, "{x}: {got}");
        }
    }

    #[test]
    fn other_bands_are_refused() {
        let table = |edges: &[f64]| {
            let values = vec![1.0; edges.len() - 1];
            Observations::gaussian(bins(edges), values, Noise::Learned).unwrap()
        };
        let tens: Vec<f64> = (0..9).map(|i| 10.0 * f64::from(i)).collect();
        let uneven = [0.0, 1.0, 5.0, 10.0, 15.0, 20.0, 25.0];
        for (table, why) in [
            (table(&tens), "not all 5 wide"),
            (table(&uneven), "not all 5 wide"),
            (bands(0.0, &[1.0, 2.0, 3.0, 4.0]), "fewer than five"),
            (bands(0.0, &[1.0, 2.0, -3.0, 4.0, 5.0]), "at least zero"),
        ] {
            let error = Sprague::new(&table).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
