//! Columns that functions depend on beside the kernel.

use super::Kernel;

impl Kernel {
    /// The same kernel over more columns, behind its own: no leaf is over them, but supports have
    /// them, as where the mean is a line along one. Those that the kernel has already are its own.
    /// They take the place of those that it was given before.
    pub(crate) fn with_spare(&self, names: &[String]) -> Self {
        let mut kernel = Self::from_expression(self.expression.clone());
        for name in names {
            if !kernel.columns.contains(name) {
                kernel.columns.push(name.clone());
                kernel.inputs.push(name.clone());
                kernel.spare += 1;
            }
        }
        kernel
    }

    /// The columns that no leaf is over.
    pub(crate) fn spare(&self) -> &[String] {
        &self.columns[self.columns.len() - self.spare..]
    }

    /// Their positions among [`Self::columns`].
    pub(crate) fn spare_columns(&self) -> std::ops::Range<usize> {
        self.columns.len() - self.spare..self.columns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_beside_the_kernel_come_last_and_change_nothing_else() {
        let own = Kernel::parse("coregion(site, a, b) * se(x) + linear(z)").unwrap();
        let names: Vec<String> = ["z", "w"].map(str::to_owned).to_vec();
        let wide = own.with_spare(&names);
        assert_eq!(wide.columns(), ["site", "x", "z", "w"]);
        assert_eq!(wide.inputs(), ["x", "z", "w"]);
        assert_eq!((wide.spare(), wide.spare_columns()), (&names[1..], 3..4));
        assert_eq!(wide.parameters(), own.parameters());
        assert_eq!(wide.to_string(), own.to_string());
        assert!(wide.check().is_ok());
        assert_eq!(wide.with_origins(|_| None), wide);
        assert_eq!(wide.with_spare(&[]), own);
    }
}
