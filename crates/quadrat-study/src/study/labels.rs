//! Which inputs hold labels.

use super::Study;
use crate::expressions;

impl Study {
    /// The inputs that only `iid` is over, in any kernel, and along which the mean is no line: what
    /// their columns hold are labels.
    pub fn labels(&self) -> Vec<String> {
        let vary = self.vary.iter().map(|vary| &vary.kernel);
        let kernels = std::iter::once(&self.latent.kernel).chain(vary);
        let mut labels: Vec<String> = Vec::new();
        let mut numbers: Vec<String> = self.latent.mean.value.columns().to_vec();
        for kernel in kernels {
            let own = expressions::kernel_labels(&kernel.value);
            // Every kernel was parsed before.
            let (columns, _) = expressions::kernel_columns(&kernel.value).unwrap_or_default();
            numbers.extend(columns.into_iter().filter(|column| !own.contains(column)));
            labels.extend(own);
        }
        labels.retain(|label| !numbers.contains(label));
        labels.sort_unstable();
        labels.dedup();
        labels
    }
}
