//! The examples that are built into the program.

/// An example: a study, its data, and perhaps the truth to compare with.
#[derive(Debug)]
pub struct Example {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Files and their texts; one is `study.toml`.
    pub files: &'static [(&'static str, &'static str)],
    /// Truths to draw beside predictions.
    pub truths: &'static [Truth],
}

/// A column of true values to draw beside a prediction.
#[derive(Debug)]
pub struct Truth {
    /// Name of the prediction.
    pub prediction: &'static str,
    /// The table, as text.
    pub table: &'static str,
    /// Column of the place; the middle of a cell is compared with it.
    pub x: &'static str,
    /// Column of the value.
    pub value: &'static str,
    /// What to call it.
    pub label: &'static str,
}

/// Files of an example in the folder `examples/` of the repository.
macro_rules! files {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../../../examples/", $folder, "/", $file)))),+]
    };
}

/// All examples; the first one is run when none is named.
pub const EXAMPLES: &[Example] = &[Example {
    name: "ages",
    about: "people by single year of age, from ten-year bands (United States, 2020)",
    files: files!("ages": "study.toml", "ages.csv", "bands.csv", "truth.csv", "README.md"),
    truths: &[Truth {
        prediction: "by-year",
        table: include_str!("../../../examples/ages/truth.csv"),
        x: "age",
        value: "people",
        label: "true count",
    }],
}];
