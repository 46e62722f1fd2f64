//! The state of a search for the hyperparameters, and its form in bytes.

use serde::{Deserialize, Serialize};

use super::{LogSum, SparseProblem, VariationalPosterior};
use crate::error::FitError;
use crate::inference::WarmStart;
use crate::inference::sites::rows::Rows;
use crate::linalg::Mat;

/// The first bytes; the last of them is the version of the format.
const MARK: [u8; 8] = *b"quadrat\x04";

/// The state of a search for the hyperparameters, from which it can go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SparseState {
    /// Free, scaled coordinates of the hyperparameters.
    pub z: Vec<f64>,
    /// The best `q` there, once there is one.
    pub found: Option<VariationalPosterior>,
    /// Approximate Hessian of the negative log posterior there, column by column; empty where it is
    /// not known.
    pub curvature: Vec<f64>,
    /// Coordinates of inducing points that were moved, column by column; empty before they were.
    pub places: Vec<f64>,
    /// Rounds of moving them; set to the maximum once another round is not worth it.
    pub moves: usize,
    /// By how much that raised the bound, in nats.
    pub gained: f64,
    /// Stages done.
    pub stage: usize,
    /// Steps that made it better so far.
    pub iterations: usize,
    /// Evaluations of the bound so far.
    pub evaluations: usize,
    /// Number of easier problems that are done.
    pub part: usize,
}

impl SparseState {
    /// At the beginning.
    #[must_use]
    pub fn new(z: Vec<f64>) -> Self {
        Self {
            z,
            found: None,
            curvature: Vec::new(),
            places: Vec::new(),
            moves: 0,
            gained: 0.0,
            stage: 0,
            iterations: 0,
            evaluations: 0,
            part: 0,
        }
    }

    /// A warm start that begins at the best `q`.
    #[must_use]
    pub(super) fn onto(&self, mut warm_start: WarmStart) -> WarmStart {
        if let Some(found) = &self.found {
            warm_start.leave_found(found.clone());
        }
        warm_start
    }

    /// The approximate Hessian, where there is one.
    pub(super) fn matrix(&self) -> Option<Mat<f64>> {
        let n = self.z.len();
        let is_known = self.curvature.len() == n * n;
        is_known.then(|| Mat::from_fn(n, n, |i, j| self.curvature[j * n + i]))
    }

    /// Sets the approximate Hessian.
    pub(super) fn set_matrix(&mut self, curvature: &Mat<f64>) {
        let columns = (0..curvature.ncols()).flat_map(|j| curvature.col_as_slice(j));
        self.curvature = columns.copied().collect();
    }

    /// As bytes with their checksum; `fingerprint` says of which fit it is.
    #[must_use]
    pub fn to_bytes(&self, fingerprint: u32) -> Vec<u8> {
        // Writing numbers to memory cannot fail.
        let payload = postcard::to_stdvec(&(fingerprint, self)).unwrap_or_default();
        let crc = crc32fast::hash(&payload).to_le_bytes();
        [MARK.as_slice(), crc.as_slice(), payload.as_slice()].concat()
    }

    /// From bytes of the fit that has the fingerprint, and so many free hyperparameters and easier
    /// problems.
    ///
    /// # Errors
    /// [`FitError::Kept`] for bytes that are damaged, of another version or of another fit.
    pub fn from_bytes(
        bytes: &[u8],
        fingerprint: u32,
        (free, easier): (usize, usize),
    ) -> Result<Self, FitError> {
        let refuse = |reason| FitError::Kept { reason };
        let damaged = || refuse("is damaged");
        let Some(bytes) = bytes.strip_prefix(&MARK) else {
            return Err(refuse("is damaged, or of another version of this program"));
        };
        let (crc, payload) = bytes.split_first_chunk().ok_or_else(damaged)?;
        if u32::from_le_bytes(*crc) != crc32fast::hash(payload) {
            return Err(damaged());
        }
        let (of, state): (u32, Self) = postcard::from_bytes(payload).map_err(|_| damaged())?;
        let curvature = state.curvature.len();
        let is_same = of == fingerprint && state.z.len() == free && state.part <= easier;
        if !is_same || ![0, free * free].contains(&curvature) {
            return Err(refuse("is of another fit"));
        }
        Ok(state)
    }
}

/// A checksum of everything that a fit depends on: kernel, rows, what they reported, points,
/// inducing points, starts and priors, columns along which inducing points move, their jitter, the
/// form of expected sums.
pub(super) fn fingerprint(
    problem: &dyn SparseProblem,
    theta: &[f64],
    moving: &[usize],
    form: LogSum,
) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    hash.update(problem.describe().as_bytes());
    let mut numbers = |all: &mut dyn Iterator<Item = f64>| {
        all.for_each(|x| hash.update(&x.to_bits().to_le_bytes()));
    };
    let bags = problem.bags();
    numbers(
        &mut [bags.rows(), bags.points(), problem.prior().inducing()]
            .into_iter()
            .map(|n| n as f64),
    );
    numbers(&mut moving.iter().map(|&column| column as f64));
    numbers(&mut [f64::from(form as u8), problem.induced().jitter()].into_iter());
    let parameters = problem.parameters().iter();
    numbers(
        &mut parameters.flat_map(|p| [p.start, p.lower, p.upper, p.prior.log_density(p.start).0]),
    );
    let rows = Rows::of_blocks(problem.blocks(), theta, bags.rows());
    for row in 0..bags.rows() {
        let (likelihood, own, at) = rows.at(row);
        // Log-densities at two latent values tell any two reports apart.
        let seen = [0.1, 1.3].map(|f| likelihood.log_density(own, at, f).value);
        numbers(&mut seen.into_iter().chain(bags.weights(row).iter().copied()));
    }
    problem
        .induced()
        .coordinates(&mut |x| numbers(&mut std::iter::once(x)));
    hash.finalize()
}
