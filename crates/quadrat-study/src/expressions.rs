//! Kernels and priors as a study writes them, in text, before there is a model.

use quadrat::kernel::Kernel;
use quadrat::parameter::PriorDensity;

/// Inputs and outputs of a kernel expression; the error is a byte offset into it and the message.
pub fn kernel_columns(expression: &str) -> Result<(Vec<String>, Vec<String>), (usize, String)> {
    match Kernel::parse(expression) {
        Ok(kernel) => Ok((kernel.inputs().to_vec(), kernel.outputs().to_vec())),
        Err(error) => Err((error.at, error.message)),
    }
}

/// The columns of a kernel that hold labels, see [`Kernel::labels`]; none where it does not parse.
pub fn kernel_labels(expression: &str) -> Vec<String> {
    let kernel = Kernel::parse(expression);
    let labels = kernel.iter().flat_map(Kernel::labels);
    labels.map(str::to_owned).collect()
}

/// The expression of a kernel that is rough along an input.
pub fn rough_part(dim: &str) -> String {
    Kernel::matern12([dim]).to_string()
}

/// Whether a prior parses.
pub fn check_prior(text: &str) -> Result<(), String> {
    match text.parse::<PriorDensity>() {
        Ok(_) => Ok(()),
        Err(message) => Err(message),
    }
}
