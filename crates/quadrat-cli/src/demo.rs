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
    /// What its report shows besides.
    pub extras: Extras,
}

/// What the report of an example shows besides the results.
#[derive(Debug)]
pub struct Extras {
    /// Truths to draw beside predictions.
    pub truths: &'static [Truth],
    /// Sources and licences.
    pub notes: &'static [&'static str],
}

/// A column of true values to draw beside a prediction.
#[derive(Debug)]
pub struct Truth {
    /// Name of the prediction.
    pub prediction: &'static str,
    /// The table, as text.
    pub table: &'static str,
    /// Columns of the place: those of the same names in the prediction, or one whose values lie in
    /// its cells.
    pub on: &'static [&'static str],
    /// Column of the value.
    pub value: &'static str,
    /// What to call it.
    pub label: &'static str,
}

impl Truth {
    /// The cells of the place, and the value, row by row.
    pub fn rows(&self) -> Vec<(Vec<&'static str>, f64)> {
        let mut lines = self.table.lines();
        let header: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
        let find = |name: &&str| header.iter().position(|column| column == name);
        let on: Option<Vec<usize>> = self.on.iter().map(find).collect();
        let (Some(on), Some(value)) = (on, find(&self.value)) else {
            return Vec::new();
        };
        let row = |line: &'static str| {
            let cells: Vec<&str> = line.split(',').collect();
            let place: Option<Vec<&str>> = on.iter().map(|&at| cells.get(at).copied()).collect();
            Some((place?, cells.get(value)?.parse().ok()?))
        };
        lines.filter_map(row).collect()
    }
}

/// Files of an example in the folder `examples/` of the repository.
macro_rules! files {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../../../examples/", $folder, "/", $file)))),+]
    };
}

/// All examples; the first one is run when none is named.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "ages",
        about: "people by single year of age, from ten-year bands (United States, 2020)",
        files: files!("ages": "study.toml", "ages.csv", "bands.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "by-year",
                table: include_str!("../../../examples/ages/truth.csv"),
                on: &["age"],
                value: "people",
                label: "True counts by single year",
            }],
            notes: &[
                "Data: survival::uspop2 from the Debian package r-cran-survival 3.5-3-1, licence LGPL (>= 2).",
            ],
        },
    },
    Example {
        name: "ages-five-year",
        about: "the same from five-year bands, where intervals depend on how rough ages are allowed to be",
        files: files!("ages-five-year": "study.toml", "smooth.toml", "map.toml", "ages.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "by-year",
                table: include_str!("../../../examples/ages-five-year/truth.csv"),
                on: &["age"],
                value: "people",
                label: "True counts by single year",
            }],
            notes: &[
                "Data: survival::uspop2 from the Debian package r-cran-survival 3.5-3-1, licence LGPL (>= 2).",
            ],
        },
    },
    Example {
        name: "private-ages",
        about: "people by single year of age, from ten-year bands of 1,139 people released with privacy noise",
        files: files!("private-ages": "study.toml", "counted.csv", "released.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "by-year",
                table: include_str!("../../../examples/private-ages/truth.csv"),
                on: &["age"],
                value: "people",
                label: "True counts by single year",
            }],
            notes: &[
                "Data: survival::uspop2 from the Debian package r-cran-survival 3.5-3-1, licence LGPL (>= 2), year 2020, divided by 300,000.",
            ],
        },
    },
    Example {
        name: "non-negative",
        about: "people by single year of age in a small town, never fewer than none, from a noisy histogram",
        files: files!("non-negative": "study.toml", "counted.csv", "released.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[
                Truth {
                    prediction: "by-year",
                    table: include_str!("../../../examples/non-negative/truth.csv"),
                    on: &["age"],
                    value: "people",
                    label: "True people by single year",
                },
                Truth {
                    prediction: "by-year-plain",
                    table: include_str!("../../../examples/non-negative/truth.csv"),
                    on: &["age"],
                    value: "people",
                    label: "True people by single year",
                },
            ],
            notes: &[
                "Data: survival::uspop2 from the Debian package r-cran-survival 3.5-3-1, licence LGPL (>= 2), year 2000, divided by 300,000.",
            ],
        },
    },
    Example {
        name: "robot",
        about: "the speed of a robot, from distances over four overlapping intervals",
        files: files!("robot": "study.toml", "distances.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &[
                "Data: Table 1 of M. T. Smith, M. A. Alvarez and N. D. Lawrence, Gaussian process regression for binned data.",
            ],
        },
    },
    Example {
        name: "age-by-year",
        about: "people by single year of age and calendar year, from ten-year bands over five-year periods",
        files: files!("age-by-year": "study.toml", "person-years.csv", "truth.csv", "truth-67.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "aged-67-by-year",
                table: include_str!("../../../examples/age-by-year/truth-67.csv"),
                on: &["year"],
                value: "people",
                label: "True counts",
            }],
            notes: &[
                "Data: survival::uspop2 from the Debian package r-cran-survival 3.5-3-1, licence LGPL (>= 2).",
            ],
        },
    },
    Example {
        name: "counties",
        about: "births by county and by city block, from totals of 33 groups of counties (North Carolina, 1974-78)",
        files: files!("counties": "study.toml", "groups.geojson", "all-counties.geojson", "squares.geojson", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "counties",
                table: include_str!("../../../examples/counties/truth.csv"),
                on: &["fips"],
                value: "births",
                label: "True totals",
            }],
            notes: &[
                "Data: shape/nc.shp of the Debian package r-cran-sf 1.0-9, licence GPL-2 or MIT.",
            ],
        },
    },
    Example {
        name: "prevalence",
        about: "share of every district that is infected, from surveys of some districts and clinics (simulated)",
        files: files!("prevalence": "study.toml", "surveys.csv", "clinics.csv", "villages.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[
                Truth {
                    prediction: "districts",
                    table: include_str!("../../../examples/prevalence/truth.csv"),
                    on: &["district"],
                    value: "prevalence",
                    label: "True share of every district",
                },
                Truth {
                    prediction: "infected",
                    table: include_str!("../../../examples/prevalence/truth.csv"),
                    on: &["district"],
                    value: "infected",
                    label: "True number of infected people",
                },
            ],
            notes: &["Simulated by make.py with a fixed seed."],
        },
    },
    Example {
        name: "trees",
        about: "trees by cell of 20 m, from counts in 50 plots of one hectare and the terrain within (Barro Colorado Island)",
        files: files!("trees": "study.toml", "plots.csv", "pixels.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "cells",
                table: include_str!("../../../examples/trees/truth.csv"),
                on: &["cell"],
                value: "trees",
                label: "True trees per hectare, by cell",
            }],
            notes: &[
                "Data: bei of the Debian package r-cran-spatstat.data 3.0-0-1, licence GPL (>= 2).",
            ],
        },
    },
    Example {
        name: "audience",
        about: "how many people a survey will reach, from those reached by twelve others (boxes over age, income and date; simulated)",
        files: files!("audience": "study.toml", "surveys.csv", "planned.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "next",
                table: include_str!("../../../examples/audience/truth.csv"),
                on: &[
                    "age_from",
                    "age_to",
                    "income_from",
                    "income_to",
                    "joined_from",
                    "joined_to",
                ],
                value: "replies",
                label: "True audiences",
            }],
            notes: &["Data: simulated; see the README of this example."],
        },
    },
    Example {
        name: "seasonal",
        about: "hourly riders of a bicycle hire scheme with two stretches missing, a daily and a weekly rhythm",
        files: files!("seasonal": "study.toml", "riders.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "every-hour",
                table: include_str!("../../../examples/seasonal/truth.csv"),
                on: &["hour"],
                value: "sqrt_riders",
                label: "Hours left out",
            }],
            notes: &[
                "Data: Bikeshare of the Python package ISLP 0.6.0, licence BSD; first published by UCI.",
            ],
        },
    },
    Example {
        name: "bikes",
        about: "bicycles that casual riders would have taken in the hours in which the stock ran out, beside those of registered riders",
        files: files!("bikes": "study.toml", "lent.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "demand",
                table: include_str!("../../../examples/bikes/truth.csv"),
                on: &["hour", "output"],
                value: "bicycles",
                label: "Demand in capped hours",
            }],
            notes: &[
                "Data: Bikeshare of the Python package ISLP 0.6.0, licence BSD; first published by UCI. The rule that caps demand is made up.",
            ],
        },
    },
    Example {
        name: "river",
        about: "ammonium along a river, measured at some stations and often below the detection limit, beside phosphate",
        files: files!("river": "study.toml", "phosphate.csv", "ammonium.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &["Data: doubs of the Debian package r-cran-ade4 1.7-22, licence GPL (>= 2)."],
        },
    },
    Example {
        name: "mixed",
        about: "one curve from exact readings, intervals, grades and a sensor that stops at its limits (simulated)",
        files: files!("mixed": "study.toml", "exact.csv", "intervals.csv", "grades.csv", "capped.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[Truth {
                prediction: "curve",
                table: include_str!("../../../examples/mixed/truth.csv"),
                on: &["t"],
                value: "value",
                label: "True curve",
            }],
            notes: &["Data: simulated; see the README of this example."],
        },
    },
    Example {
        name: "ammonium",
        about: "ammonium in precipitation by week, almost half of the samples below the detection limit",
        files: files!("ammonium": "study.toml", "precipitation.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &["Data: nh4.csv of the Python package lifelines 0.30.3, licence MIT."],
        },
    },
    Example {
        name: "suppressed",
        about: "sudden infant deaths by county from a table that hides every count below five (North Carolina, 1974-78)",
        files: files!("suppressed": "study.toml", "published.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &[
                "Data: shape/nc.shp of the Debian package r-cran-sf 1.0-9, licence GPL-2 or MIT.",
            ],
        },
    },
    Example {
        name: "wine",
        about: "how bitter wines are, from grades of nine judges",
        files: files!("wine": "study.toml", "tastings.csv", "judge.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &[
                "Data: ordinal::wine from the Debian package r-cran-ordinal 2022.11-16-1, licence GPL (>= 2).",
            ],
        },
    },
    Example {
        name: "galaxies",
        about: "how fast 82 galaxies recede, as a density whose clumps have probabilities",
        files: files!("galaxies": "study.toml", "galaxies.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &[
                "Data: MASS::galaxies from the Debian package r-cran-mass 7.3-58.2-1, licence GPL-2 or GPL-3.",
            ],
        },
    },
    Example {
        name: "bills",
        about: "bills of three species of penguins, as violins with bands side by side",
        files: files!("bills": "study.toml", "bills.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &[
                "Data: penguins of the Python package palmerpenguins 0.1.6, licence MIT; the data are CC0.",
            ],
        },
    },
    Example {
        name: "constituencies",
        about: "single years of age of twelve constituencies, from five-year bands, the last one open",
        files: files!("constituencies": "study.toml", "bands.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &[
                "Data: constituencies/targets/age.csv of the Python package policyengine-uk-data 1.11.1, whose metadata state no licence; official statistics of the United Kingdom.",
            ],
        },
    },
    Example {
        name: "wages",
        about: "3,000 wages in nine bins, the last without an end: quantiles, inequality, and how sure",
        files: files!("wages": "study.toml", "wages.csv", "truth.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &["Data: Wage from the Python package ISLP 0.6.0, licence BSD."],
        },
    },
    Example {
        name: "geyser",
        about: "eruptions of Old Faithful and the waits after them, as a density of both",
        files: files!("geyser": "study.toml", "geyser.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &[
                "Data: faithful of the Python package pydataset 0.2.0, licence MIT; first in R, licence GPL-2 or GPL-3.",
            ],
        },
    },
    Example {
        name: "rush-hours",
        about: "bicycles taken in an hour, as a density for each hour of the day",
        files: files!("rush-hours": "study.toml", "summer.csv", "README.md"),
        extras: Extras {
            truths: &[],
            notes: &[
                "Data: Bikeshare of the Python package ISLP 0.6.0, licence BSD; first published by UCI.",
            ],
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_has_its_study_and_its_truth() {
        for example in EXAMPLES {
            assert!(
                example.files.iter().any(|(name, _)| *name == "study.toml"),
                "{}",
                example.name
            );
            for truth in example.extras.truths {
                let lines = truth.table.lines().filter(|line| !line.is_empty()).count();
                assert_eq!(truth.rows().len() + 1, lines, "{}", example.name);
            }
        }
    }

    /// So that a demo can be run again into its own folder.
    #[test]
    fn no_table_of_an_example_is_written_over_its_data() {
        for example in EXAMPLES {
            let study = example.files.iter().find(|(name, _)| *name == "study.toml");
            let study: toml_edit::DocumentMut = study.unwrap().1.parse().unwrap();
            let asked = study
                .get("predict")
                .and_then(toml_edit::Item::as_array_of_tables);
            for predict in asked.into_iter().flatten() {
                let name = predict["name"].as_str().unwrap();
                for kind in ["csv", "geojson", "svg", "png"] {
                    let own = format!("{name}.{kind}");
                    let is_data = example.files.iter().any(|(file, _)| *file == own);
                    assert!(!is_data, "{}: {own}", example.name);
                }
            }
        }
    }
}
