//! Named hyperparameters.
