//! The Python package `quadrat`: bindings of the library.
//!
//! A binding converts, calls the library without the lock of the interpreter, and maps the error;
//! there is no mathematics here. What users call is in `python/quadrat`, in Python, which prepares
//! arrays and names arguments in messages.
//!
//! | file | what is bound |
//! |---|---|
//! | `buffers` | columns of numbers in and out, through the buffer protocol |
//! | `errors` | errors of the library as exceptions of `quadrat._errors` |
//! | `work` | long work: threads, signals, progress |
//! | `geometry` | polygons as WKB, longitudes and latitudes |
//! | `support`, `likelihood`, `observations`, `noises`, `model`, `posterior`, `prediction`, `rows` | the library |
//! | `shards`, `asked` | a part of the rows in each process, and who asks them |
//! | `study` | study files, by `quadrat-study` |
//! | `program` | the program itself |
//! | `ungroup`, `reconcile`, `density`, `plane` | the jobs that are one call |
//! | `campaign` | what to measure next, and what was measured |
//! | `checks` | fits and estimates beside draws from their posterior |

mod asked;
mod buffers;
mod campaign;
mod checks;
mod density;
mod errors;
mod geometry;
mod likelihood;
mod model;
mod noises;
mod observations;
mod plane;
mod posterior;
mod prediction;
mod program;
mod reconcile;
mod rows;
mod saved_densities;
mod shards;
mod study;
mod support;
mod ungroup;
mod work;

use pyo3::prelude::*;

/// Bindings of the library, for the package `quadrat` alone.
#[pymodule(gil_used = false)]
mod _quadrat {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::campaign::{answers, ask, campaign_bytes, load_noted, relearn, tell};
    #[pymodule_export]
    use crate::checks::check_by_mcmc;
    #[pymodule_export]
    use crate::density::{DensityEstimate, density};
    #[pymodule_export]
    use crate::geometry::{GeographicMap, wkb_bounds, wkb_rings};
    #[pymodule_export]
    use crate::likelihood::Likelihood;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::plane::{GivenEstimate, PlaneEstimate, density_given, density2d};
    #[pymodule_export]
    use crate::posterior::Posterior;
    #[pymodule_export]
    use crate::prediction::Prediction;
    #[pymodule_export]
    use crate::program::program;
    #[pymodule_export]
    use crate::reconcile::{ReconciledAreas, reconcile};
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::saved_densities::{is_density, load_densities};
    #[pymodule_export]
    use crate::shards::{Shard, add_sums};
    #[pymodule_export]
    use crate::study::{run_file, run_text};
    #[pymodule_export]
    use crate::support::Support;
    #[pymodule_export]
    use crate::ungroup::{Ungrouped, ungroup, ungroup_along};
    #[pymodule_export]
    use crate::work::set_threads;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
