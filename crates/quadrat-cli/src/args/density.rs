//! Arguments of `quadrat density`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quadrat::density::{Correction, Integration};
use quadrat_study::study::LEVEL;
use quadrat_study::study::density::Density as Asked;

use super::{CheckWord, figure, level};

/// `quadrat density`.
#[derive(Debug, Args)]
pub struct Density {
    /// The table
    #[arg(value_name = "FILE")]
    pub table: PathBuf,
    /// Column of the values; may be left out where only one column holds numbers. Given twice, the
    /// density is that of both columns over a plane
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["interval", "bins"])]
    pub column: Vec<String>,
    /// Columns of the two ends of an interval that holds the value of each row; an empty cell is no
    /// end
    #[arg(long, value_name = "LO,HI", value_delimiter = ',', num_args = 1.., conflicts_with = "bins")]
    pub interval: Vec<String>,
    /// Columns of the two edges of a bin and of its count; an empty cell is no edge. Of boxes over
    /// a plane `XLO,XHI,YLO,YHI,COUNT`
    #[arg(long, value_name = "LO,HI,COUNT", value_delimiter = ',', num_args = 1.., conflicts_with = "weights")]
    pub bins: Vec<String>,
    /// Property that counts the values in each area of a GeoJSON file, such as people of
    /// districts; the density is that over the plane of its coordinates
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["column", "interval", "bins", "weights", "given", "group"])]
    pub areas: Option<String>,
    /// Column of the weights of the rows: how many like it there are
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
    /// Column at whose values the density of --column is wanted, `p(column | given)`: a density for
    /// each of its places, and quantiles as curves over them
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["interval", "bins"])]
    pub given: Option<String>,
    /// Column whose cells name the group of each row: a density for each, and how the first differs
    /// from the others
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["draws", "within"])]
    pub group: Option<String>,
    /// Bounds beyond which no value can lie, such as `0,inf`; of two columns given twice, in their
    /// order, `-inf,inf` for none
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true, value_parser = pair)]
    pub bounds: Vec<(f64, f64)>,
    /// GeoJSON file with polygons inside of which alone a value can lie, such as land, in the
    /// coordinates of the two columns
    #[arg(long, value_name = "FILE.geojson", conflicts_with_all = ["given", "group", "interval"])]
    pub inside: Option<PathBuf>,
    /// What the density covers where there is no bound; it is zero outside. Of two columns given
    /// twice, in their order
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true, value_parser = pair)]
    pub range: Vec<(f64, f64)>,
    /// Number of cells: 400 by default, from 20 to 5000; of two columns along each axis, 60 by
    /// default and at most 300, or `M,N`; with --given `M,N`, slices and
    /// cells: 30 slices, or one for each of few equally spaced places, and 100 cells by default
    #[arg(long, value_name = "N", value_parser = grid)]
    pub grid: Option<[usize; 2]>,
    /// Ask for the probability of values between two numbers; of two columns given twice, in their
    /// order, for that of a rectangle; with --given at every place
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true, value_parser = pair)]
    pub within: Vec<(f64, f64)>,
    /// Probability of the band and of intervals
    #[arg(long, default_value_t = LEVEL, value_parser = level)]
    pub level: f64,
    /// Take positive values on a logarithmic axis; the answer is a density of the values all the
    /// same
    #[arg(long)]
    pub log: bool,
    /// How the approximation is mended: importance sampling, or not at all
    #[arg(long, value_enum, default_value = "is")]
    pub correct: CorrectWord,
    /// What is done with hyperparameters: an average over them, of one column over a grid (auto),
    /// their most probable values alone (map), or an average over a central composite design about
    /// these (ccd), as is always done for two columns
    #[arg(long, value_enum, default_value = "auto")]
    pub integrate: IntegrateWord,
    /// Set the estimate beside draws from its posterior, by the no-U-turn sampler: some minutes
    #[arg(long, value_enum, value_name = "HOW")]
    pub check: Option<CheckWord>,
    /// The seed of all draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Draw whole densities from the posterior, as columns `draw_1` and so on of the table written
    /// with -o
    #[arg(long, value_name = "N", requires = "output", value_parser = clap::value_parser!(u16).range(1..=4000))]
    pub draws: Option<u16>,
    /// File for the density, one row per cell; nothing is written when absent
    #[arg(long, short, value_name = "OUT.csv")]
    pub output: Option<PathBuf>,
    /// File for a figure: `.svg`, `.png` or `.html`
    #[arg(long, value_name = "OUT.svg", value_parser = figure)]
    pub plot: Option<PathBuf>,
    /// Print the answers as JSON in place of the summary
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and JSON with --json)
    #[arg(long, short)]
    pub quiet: bool,
}

impl Density {
    /// What is asked of the density, apart from where it is written and drawn.
    pub fn asked(&self) -> Asked {
        Asked {
            table: self.table.clone(),
            column: self.column.clone(),
            interval: self.interval.clone(),
            bins: self.bins.clone(),
            areas: self.areas.clone(),
            weights: self.weights.clone(),
            given: self.given.clone(),
            group: self.group.clone(),
            bounds: self.bounds.clone(),
            inside: self.inside.clone(),
            range: self.range.clone(),
            within: self.within.clone(),
            grid: self.grid,
            level: self.level,
            log: self.log,
            correct: match self.correct {
                CorrectWord::None => Correction::None,
                CorrectWord::Is => Correction::ImportanceSampling,
            },
            integrate: match self.integrate {
                IntegrateWord::Auto => Integration::Auto,
                IntegrateWord::Map => Integration::Map,
                IntegrateWord::Ccd => Integration::Ccd,
            },
            seed: self.seed,
            draws: self.draws,
        }
    }
}

/// How draws are mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CorrectWord {
    /// Not at all
    None,
    /// Split normal importance sampling
    Is,
}

/// What is done with hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IntegrateWord {
    /// An average over a grid, of two columns over a design
    Auto,
    /// Their most probable values
    Map,
    /// An average over a central composite design
    Ccd,
}

/// Two numbers, which may be infinite.
fn pair(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
    match text.split_once(',').map(|(a, b)| (number(a), number(b))) {
        Some((Some(lower), Some(upper))) if lower < upper => Ok((lower, upper)),
        Some((Some(_), Some(_))) => Err("the first number must be below the second".to_owned()),
        _ => Err("write two numbers, such as `0,1`, `0,inf` or `-inf,10`".to_owned()),
    }
}

/// One number of cells, or one for each of two axes.
fn grid(text: &str) -> Result<[usize; 2], String> {
    let number = |text: &str| {
        let number = text.trim().parse::<usize>().ok();
        number.filter(|n| (5..=5000).contains(n)).ok_or_else(|| {
            "write the number of cells, such as `400`, or `40,60` for two columns".to_owned()
        })
    };
    match text.split_once([',', 'x']) {
        Some((m, n)) => Ok([number(m)?, number(n)?]),
        None => number(text).map(|n| [n, n]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_two_numbers_in_order() {
        assert_eq!(pair("0, inf"), Ok((0.0, f64::INFINITY)));
        assert_eq!(pair("-inf,2.5"), Ok((f64::NEG_INFINITY, 2.5)));
        for bad in ["1", "2,1", "1,1", "a,b", "nan,1"] {
            assert!(pair(bad).is_err(), "{bad}");
        }
    }
}
