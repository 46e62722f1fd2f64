//! Stand-in for the library while it is being written.
#![allow(missing_docs, dead_code, clippy::all)]
pub use quadrat::error::{FitError, InputError, LoadError};
use std::sync::Arc;
pub use quadrat::kernel::{Kernel, KernelSyntaxError};
pub use quadrat::support::{Aggregate, Functionals};
pub use quadrat::parameter::PriorDensity;
pub enum Mean { Zero, Fixed(f64), Constant }
pub enum Noise { Known(Vec<f64>), Learned, KnownPlusLearned(Vec<f64>) }
#[derive(Clone)]
pub struct Observations { values: Vec<f64> }
impl Observations {
    pub fn gaussian(_s: Functionals, values: Vec<f64>, _n: Noise) -> Result<Self, InputError> { Ok(Self { values }) }
    pub fn share_noise(self) -> Self { self }
}
#[derive(Debug, Clone, Default)]
pub struct Setting { pub start: Option<f64>, pub value: Option<f64>, pub fixed: bool, pub prior: Option<PriorDensity>, pub lower: Option<f64>, pub upper: Option<f64> }
pub struct Parameter { pub name: String, pub meaning: String }
pub struct Model { kernel: Kernel, rows: Vec<f64> }
impl Model {
    pub fn new(kernel: Kernel) -> Self { Self { kernel, rows: vec![] } }
    pub fn mean(self, _m: Mean) -> Self { self }
    pub fn observe(mut self, t: Observations) -> Self { self.rows.extend(t.values); self }
    pub fn set(self, _n: &str, _s: Setting) -> Self { self }
    pub fn parameters(&self) -> Result<Vec<Parameter>, InputError> {
        let mut names = vec!["se.variance".to_owned(), "noise.variance".into(), "mean.constant".into()];
        names.extend(self.kernel.columns().iter().map(|c| format!("se.lengthscale.{c}")));
        Ok(names.into_iter().map(|name| Parameter { name, meaning: "something".into() }).collect())
    }
    pub fn fit(&self, _o: &FitOptions) -> Result<Posterior, FitError> {
        Ok(Posterior { kernel: self.kernel.clone(), loo: self.rows.iter().map(|v| LeaveOneOut { mean: *v, sd: 1.0, log_density: 0.0, pit: 0.5, value: *v }).collect(),
            summary: FitSummary { inference: "exact".into(), structure: "dense".into(), converged: true, log_evidence: -1.5, log_posterior: -2.0, evidence: "exact".into(),
            hyperparameters: vec![Hyper { name: "se.variance".into(), value: 1.0, lower: 0.5, upper: 2.0, fixed: false, meaning: "size".into() }], integrated: true, nodes: 9, rows: self.rows.len(), iterations: 3, seconds: 0.1, jitter: 0.0, warnings: vec![] } })
    }
}
#[derive(Debug, Clone, Copy)]
pub enum Hyperparameters { Auto, Map, Integrate }
pub trait Progress { fn report(&self, event: quadrat::progress::Event); }
pub struct FitOptions;
impl FitOptions {
    pub fn default() -> Self { Self }
    pub fn with_hyperparameters(self, _: Hyperparameters) -> Self { self }
    pub fn with_seed(self, _: u64) -> Self { self }
    pub fn with_threads(self, _: Option<usize>) -> Self { self }
    pub fn with_progress(self, _: Arc<dyn quadrat::progress::Progress + Send + Sync>) -> Self { self }
}
#[derive(Debug, Clone, Copy)]
pub enum Scale { Latent, Response, Observation }
#[derive(Debug, Clone)]
pub struct Posterior { kernel: Kernel, summary: FitSummary, loo: Vec<LeaveOneOut> }
impl Posterior {
    pub fn summary(&self) -> &FitSummary { &self.summary }
    pub fn predict(&self, at: &Functionals, _s: Scale) -> Result<Prediction, FitError> { Ok(Prediction { mean: vec![1.0; at.len()], sd: vec![0.5; at.len()] }) }
    pub fn leave_one_out(&self) -> &[LeaveOneOut] { &self.loo }
    pub fn extrapolation(&self, _at: &Functionals) -> Vec<usize> { vec![] }
    pub fn to_bytes(&self) -> Vec<u8> { self.kernel.to_string().into_bytes() }
    pub fn from_bytes(b: &[u8]) -> Result<Posterior, LoadError> {
        let text = String::from_utf8(b.to_vec()).map_err(|_| LoadError::NotAModel)?;
        let kernel = Kernel::parse(&text).map_err(|_| LoadError::NotAModel)?;
        Model::new(kernel).fit(&FitOptions::default()).map_err(LoadError::Restore)
    }
    pub fn dims(&self) -> &[String] { self.kernel.columns() }
    pub fn kernel(&self) -> &Kernel { &self.kernel }
}
#[derive(Debug, Clone)]
pub struct FitSummary { pub inference: String, pub structure: String, pub converged: bool, pub log_evidence: f64, pub log_posterior: f64, pub evidence: String, pub hyperparameters: Vec<Hyper>, pub integrated: bool, pub nodes: usize, pub rows: usize, pub iterations: usize, pub seconds: f64, pub jitter: f64, pub warnings: Vec<String> }
#[derive(Debug, Clone)]
pub struct Hyper { pub name: String, pub value: f64, pub lower: f64, pub upper: f64, pub fixed: bool, pub meaning: String }
#[derive(Debug, Clone)]
pub struct LeaveOneOut { pub mean: f64, pub sd: f64, pub log_density: f64, pub pit: f64, pub value: f64 }
pub struct Prediction { mean: Vec<f64>, sd: Vec<f64> }
impl Prediction {
    pub fn mean(&self) -> &[f64] { &self.mean }
    pub fn sd(&self) -> &[f64] { &self.sd }
    pub fn quantile(&self, p: f64) -> Vec<f64> { self.mean.iter().zip(&self.sd).map(|(m, s)| m + s * (p - 0.5) * 4.0).collect() }
}
