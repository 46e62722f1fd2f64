//! A table whose rows are asked for what stands behind them.

use super::told;
use crate::error::InputError;
use crate::posterior::mixture::Posterior;

/// The values behind the rows of a table that a model was fitted to, each given what its row
/// reported: see [`Posterior::behind`].
#[derive(Debug, Clone, Copy)]
pub struct Behind<'a> {
    pub(super) posterior: &'a Posterior,
    pub(super) table: usize,
    pub(super) is_non_negative: bool,
}

impl Posterior {
    /// The values behind the rows of one of the tables, by its place among
    /// [`Self::observations`]: what the row would have said, had it not been hidden, cut off,
    /// banded or blurred.
    ///
    /// With `f` the function (or rate) under the row and `R` what the row reported of its value
    /// `y`,
    ///
    /// $$ p(y \mid \text{data}) = \int p(y \mid f, R) \, p(f \mid \text{data}) \, df, \qquad
    ///    p(y \mid f, R) \propto p(y \mid f) \, P(R \mid y) $$
    ///
    /// - A count of which a range was told is a count of that range.
    /// - A value between ends or beyond a limit, or of which a rank was told, is a value with its
    ///   noise, between the ends; of a rank between its thresholds.
    /// - A value with noise of a known variance or scale (privacy noise, an error of measurement)
    ///   is the value without that noise. Noise that is learned is part of the value.
    /// - All else is what was reported, with sd 0.
    ///
    /// Unlike [`Self::predict`] on the scale of observations this is not a new row: it knows what
    /// its own row reported, and never contradicts it.
    ///
    /// # Errors
    /// [`InputError::Range`] for a table that does not exist; [`InputError::Unavailable`] for rows
    /// that report no value (`positive`), and Student-t rows whose noise is known and learned.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::likelihood::Poisson;
    /// use quadrat::link::Link;
    /// use quadrat::model::{FitOptions, Model, Observations};
    /// use quadrat::support::Functionals;
    ///
    /// // Four counties; two say `<5`, fewer than five.
    /// let at = Functionals::points("x", &[0.0, 1.0, 2.0, 3.0])?;
    /// let (lower, upper) = (vec![0.0, 7.0, 0.0, 9.0], vec![4.0, 7.0, 4.0, 9.0]);
    /// let counts = Poisson::ranges(lower, upper, vec![1.0; 4], Link::Exp)?;
    /// let posterior = Model::new(Kernel::se(["x"]))
    ///     .observe(Observations::new(at, counts)?)
    ///     .fit(&FitOptions::default())?;
    /// let behind = posterior.behind(0)?;
    /// let values = behind.values(&[0, 1, 2, 3])?;
    /// assert!(values.quantile(0.999)[0] <= 4.0);
    /// assert_eq!((values.mean()[1], values.sd()[1]), (7.0, 0.0));
    /// let all = behind.totals(&[vec![0, 1, 2, 3]], 1)?;
    /// assert!(all.quantile(0.001)[0] >= 16.0 && all.quantile(0.999)[0] <= 24.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn behind(&self, table: usize) -> Result<Behind<'_>, InputError> {
        let Some(observed) = self.tables.get(table) else {
            return Err(InputError::Range {
                what: "the number of a table".into(),
                row: 0,
                value: table as f64,
                requirement: "below the number of tables",
            });
        };
        told::possible(observed.likelihood())?;
        Ok(Behind {
            posterior: self,
            table,
            is_non_negative: false,
        })
    }
}

impl Behind<'_> {
    /// The same of values of which it is known that they are not negative, as people, rain and
    /// money: every value given that it is not below zero, by itself.
    ///
    /// Counts never are; values behind a limit or an interval that ends below zero, and those that
    /// were reported as they are, stay as they are.
    #[must_use]
    pub fn non_negative(mut self) -> Self {
        self.is_non_negative = true;
        self
    }
}
