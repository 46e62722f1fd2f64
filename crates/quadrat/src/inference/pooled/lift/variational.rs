//! The variational normal of the rows' latent values, linearised at the mode.

use super::super::mode::Mode;
use super::super::pools::Pools;
use crate::error::LinalgError;
use crate::inference::sites::process::Process;
use crate::inference::sites::resolvent::Scaled;
use crate::inference::sites::rows::Rows;
use crate::inference::sites::search::Search;
use crate::inference::sites::site::Term;
use crate::inference::sites::swept::Sweep;
use crate::inference::sites::{Method, Parted, Site, SiteOptions};
use crate::likelihood::local::Jet;
use crate::linalg::Mat;
use crate::link::FAR_OUT;

/// Sweeps at most: some ten do, three times as many where densities are flat with an edge. The
/// weights correct what is left.
const SWEEPS: usize = 100;
/// They end when no row moves by more than this part of its sd.
const SETTLED: f64 = 1e-5;
/// Latent values whose variances and covariance differ by no more than this part are one.
const ALIKE: f64 = 1e-9;
/// A log density is level where a slope like this one changes it by no more over [`FAR_OUT`].
const LEVEL: f64 = 1e-3;

/// The variational normal of all rows together, and the site of each of them.
pub(super) struct Variational<'a> {
    mode: &'a Mode,
    rows: &'a Rows<'a>,
    /// `S = J K J'`, of all rows.
    pub s: Mat<f64>,
    /// Prior means of what is linear at the mode.
    centre: Vec<f64>,
    /// Latent values at the mode, and what of them is linear there.
    pub at_mode: Vec<(f64, f64)>,
    pub sweep: Sweep<Scaled>,
    pub terms: Vec<Term>,
}

impl<'a> Variational<'a> {
    /// Searches for the sites of the highest bound, from those at the mode. Where rows are flat
    /// with an edge, as a count of fewer than five is, the slopes and curvatures that are expected
    /// under one belief make the next one far too wide or narrow: plain steps would go back and
    /// forth.
    ///
    /// # Arguments
    /// * `parts` - `S` in two parts: the limit on the precision of a site is one of the kernel's
    ///   variance, not of that of a vague constant
    pub fn new(
        mode: &'a Mode,
        pools: &Pools,
        rows: &'a Rows<'a>,
        prior_mean: &[f64],
        parts: &Parted,
    ) -> Result<Self, LinalgError> {
        let (s, parts) = parts.clone().whole();
        let linear = mode.slopes.gather(pools, &mode.values);
        let own = mode.slopes.gather(pools, prior_mean);
        let at_mode: Vec<(f64, f64)> = mode.means.iter().map(|z| z.value).zip(linear).collect();
        let centre: Vec<f64> = at_mode
            .iter()
            .zip(&own)
            .map(|((z, l), m)| z - l + m)
            .collect();
        let term = |(row, (jet, (z, _))): (usize, (&Jet, &(f64, f64)))| {
            let precision = (-jet.second).max(0.0);
            let site = || Site {
                precision,
                shift: jet.first + precision * z,
            };
            let known = mode.pinned.term(row);
            known.unwrap_or_else(|| Term::Chosen(site()))
        };
        let rows_at_mode = mode.jets.iter().zip(&at_mode);
        let terms: Vec<Term> = rows_at_mode.enumerate().map(term).collect();
        let process = Process {
            k: s.as_ref(),
            prior_mean: &centre,
            parts: parts.as_ref(),
            root: None,
        };
        let terms = searched(process, rows, terms);
        let sweep = Sweep::new(s.as_ref(), &centre, &terms, 0.0)?;
        Ok(Self {
            mode,
            rows,
            s,
            centre,
            at_mode,
            sweep,
            terms,
        })
    }

    /// The value of a row that is known exactly.
    pub fn known(&self, row: usize) -> Option<f64> {
        self.mode.pinned.target(row)
    }

    /// `log p(y | t)` of a row whose latent value is `t`.
    pub fn log_density(&self, row: usize, t: f64) -> f64 {
        let (likelihood, own, at) = self.rows.at(row);
        likelihood.log_density(own, at, t).value
    }

    /// The rows with the same latent value as this one, itself included.
    pub fn alike(&self, row: usize) -> Vec<usize> {
        let (own, at) = (self.s[(row, row)], self.at_mode[row]);
        let is_near = |a: f64, b: f64, size: f64| (a - b).abs() <= ALIKE * size;
        let is_alike = |&other: &usize| {
            let (z, linear) = self.at_mode[other];
            other == row
                || is_near(self.s[(other, other)], own, own)
                    && is_near(self.s[(other, row)], own, own)
                    && is_near(z, at.0, own.sqrt())
                    && is_near(linear, at.1, own.sqrt())
        };
        (0..self.terms.len()).filter(is_alike).collect()
    }

    /// The normal distribution of the rows with these sites.
    pub fn given(&self, terms: &[Term]) -> Result<Sweep<Scaled>, LinalgError> {
        Sweep::new(self.s.as_ref(), &self.centre, terms, 0.0)
    }

    /// The site precision of each row: at the mode or in the variational normal, whichever is
    /// larger. That of a row without an upper limit may be zero at the mode.
    pub fn precisions(&self) -> Vec<f64> {
        let both = self.mode.precisions().into_iter().zip(&self.terms);
        both.map(|(at_mode, term)| match term {
            Term::Chosen(site) => at_mode.max(site.precision),
            Term::Gaussian { .. } => at_mode,
        })
        .collect()
    }

    /// Whether a row leaves its value open to one side: far there its density is level, and no less
    /// than at the mode.
    pub fn is_one_sided(&self, row: usize) -> bool {
        let (likelihood, own, at) = self.rows.at(row);
        if self.known(row).is_some() || likelihood.gaussian(own, at).is_some() {
            return false;
        }
        let near = self.mode.jets[row].value;
        [-FAR_OUT, FAR_OUT].into_iter().any(|z| {
            let far = likelihood.log_density(own, at, z);
            far.value >= near && far.first.abs() * FAR_OUT < LEVEL
        })
    }
}

/// The sites of the highest bound, from these; these where no covariance can be factorised.
fn searched(process: Process<'_>, rows: &Rows<'_>, terms: Vec<Term>) -> Vec<Term> {
    let options = SiteOptions {
        tolerance: SETTLED,
        sweeps: SWEEPS,
        ..SiteOptions::new(Method::Variational)
    };
    let search = Search {
        processes: &[process],
        rows,
        options: &options,
        jitter: 0.0,
    };
    match search.run(vec![terms.clone()]) {
        Ok(mut ran) => ran.halves.swap_remove(0).terms,
        Err(_) => terms,
    }
}
