//! The columns of a kernel that hold labels.

use super::{Kernel, Kind};

impl Kernel {
    /// The columns that only `iid` is over: what stands there are labels, of which nothing but
    /// their equality counts.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// let kernel = Kernel::parse("se(year) * iid(site) + iid(year)")?;
    /// assert_eq!(kernel.labels(), ["site"]);
    /// # Ok::<(), quadrat::kernel::KernelSyntaxError>(())
    /// ```
    #[must_use]
    pub fn labels(&self) -> Vec<&str> {
        let is_other = |d: &usize| {
            let mut over = self.leaves.iter().filter(|leaf| leaf.columns.contains(d));
            over.any(|leaf| leaf.kind != Kind::Iid)
        };
        let columns = self.label_columns().into_iter();
        let only = columns.filter(|d| !is_other(d));
        only.map(|d| self.columns[d].as_str()).collect()
    }

    /// The columns that an `iid` is over, ascending.
    pub(crate) fn label_columns(&self) -> Vec<usize> {
        let leaves = self.leaves.iter().filter(|leaf| leaf.kind == Kind::Iid);
        let mut columns: Vec<usize> = leaves.flat_map(|leaf| leaf.columns.clone()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// A product of an `iid` and another leaf over its column, which is no function of a label;
    /// with the name of that leaf and the column.
    pub(super) fn number_of_a_label(&self) -> Option<(&'static str, &str)> {
        self.terms.iter().find_map(|term| {
            let leaves = || term.iter().map(|&leaf| &self.leaves[leaf]);
            let labels = leaves().filter(|leaf| leaf.kind == Kind::Iid);
            let columns: Vec<usize> = labels.flat_map(|leaf| leaf.columns.clone()).collect();
            let mut others = leaves().filter(|leaf| leaf.kind != Kind::Iid);
            others.find_map(|leaf| {
                let shared = leaf.columns.iter().find(|d| columns.contains(d))?;
                Some((leaf.kind.name(), self.columns[*shared].as_str()))
            })
        })
    }
}
