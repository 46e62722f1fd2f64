//! Refusals of the library, with the places of their rows and the flags that mend them.

use quadrat::ungroup::UngroupError;

use super::group::Group;
use super::rows::{Part, Rows};
use crate::diagnostic::{Problem, Problems};
use crate::numbers::human;
use crate::study::ungroup::Ungroup;

/// Whether an error is about what was asked, not about one population.
pub fn is_common(error: &UngroupError) -> bool {
    // Ends and edges are about the bands of a population.
    let of_bands = ["the beginning of", "the end of", "an edge"];
    match error {
        UngroupError::Setting { what, .. } => !of_bands.iter().any(|own| what.starts_with(own)),
        UngroupError::InYear { error, .. } => is_common(error),
        other => matches!(other, UngroupError::ParetoAxis),
    }
}

/// A refusal of what was asked.
pub fn common(error: &UngroupError) -> Problems {
    if let UngroupError::InYear { error, .. } = error {
        return common(error);
    }
    let remedy = match error {
        UngroupError::ParetoAxis => {
            "leave --tail out, or take another; bands of money have --log".to_owned()
        }
        UngroupError::Setting { what, .. } => format!("change {}", flag(what)),
        _ => "change what is asked for".to_owned(),
    };
    Problem::new(error.to_string()).remedy(remedy).into()
}

/// The option that a setting is of.
fn flag(what: &str) -> &'static str {
    match what {
        "the beginning of the first band" => "--first",
        "the end of the last band" => "--last",
        "the slope of the tail" => "--tail",
        "the step" => "--step",
        "an edge that is asked for" => "--edges",
        "the level" => "--level",
        _ => "--sampled",
    }
}

/// A population of whom the table of exposures has nobody.
pub fn unexposed(exposed: &Rows, group: &Group) -> Problem {
    Problem::new(format!(
        "`{}`: no row of it in the table of exposures",
        group.words()
    ))
    .at(exposed.whole())
    .remedy("add its bands, or leave the population out of the events")
}

/// A population of whom fewer than one was asked: that tells nothing.
pub fn hardly_asked(args: &Ungroup, group: &Group) -> Option<Problem> {
    let counted: f64 = group.counts.iter().sum();
    let asked = args.sampled * counted;
    // Of nobody there is another refusal.
    (counted > 0.0 && asked < 1.0).then(|| {
        Problem::new(format!(
            "{}--sampled says that of {} counted {} were asked",
            group.in_front(),
            human(counted),
            human(asked)
        ))
        .remedy("write how many were asked per one counted, such as 0.12 or 1000")
    })
}

/// A refusal of one population.
pub fn of(rows: &Rows, group: &Group, error: &UngroupError) -> Problem {
    let of = group.in_front();
    let at = |band: usize, part: Part, fact: String, remedy: &str| {
        Problem::new(format!("{of}{fact}"))
            .at(rows.place(group, band, part))
            .remedy(remedy)
    };
    let address = |band: usize| rows.address(group, band);
    match *error {
        UngroupError::Edge { row, .. } => {
            let fact = "the band is open on both sides, or its edge is too large".to_owned();
            at(row, Part::Lower, fact, "give an edge on one side at least")
        }
        UngroupError::Band { row, lower, upper } => {
            let fact = format!("the band begins at {lower} and ends at {upper}");
            at(
                row,
                Part::Upper,
                fact,
                "it must end above its beginning; the age 7 is 7 and 8",
            )
        }
        UngroupError::OpenWithin { row, other, .. } => {
            let fact = format!("an open band, and beyond it that of {}", address(other));
            at(
                row,
                Part::Lower,
                fact,
                "only the outermost bands may be open: leave totals out, and name populations with --by",
            )
        }
        UngroupError::Gap {
            row,
            other,
            from,
            to,
        } => {
            let before = address(row);
            let fact = format!("nothing is told from {from}, where {before} ends, to {to}");
            let remedy = "bands must adjoin: the ages 0-4 are 0 and 5, where the next band begins; add the band that is missing, with the count that belongs there, or ungroup what lies on either side of the gap by itself";
            at(other, Part::Lower, fact, remedy)
        }
        UngroupError::Overlap {
            row,
            other,
            from,
            to,
        } => {
            let fact = format!(
                "the band overlaps that of {} from {from} to {to}",
                address(row)
            );
            at(
                other,
                Part::Lower,
                fact,
                "everybody is in one band: leave totals out, and name populations with --by",
            )
        }
        ref other => of_counts(rows, group, other, &of),
    }
}

/// The same of what is not about two bands.
fn of_counts(rows: &Rows, group: &Group, error: &UngroupError, of: &str) -> Problem {
    let at = |band: usize, part: Part, fact: String, remedy: &str| {
        Problem::new(format!("{of}{fact}"))
            .at(rows.place(group, band, part))
            .remedy(remedy)
    };
    let last = group.rows.len() - 1;
    match *error {
        UngroupError::Count { row, value } => {
            let fact = format!("the count is {value}; it must be finite, zero or more");
            at(row, Part::Count, fact, "mend the cell")
        }
        UngroupError::NotExposure { row, value } => {
            let fact = format!("the exposure is {value}; it must be finite, zero or more");
            at(row, Part::Exposure, fact, "mend the cell")
        }
        UngroupError::Nobody => {
            let remedy = "mend the exposures, or leave the population out";
            at(0, Part::Exposure, error.to_string(), remedy)
        }
        UngroupError::NoExposure { row, events, .. } => {
            let fact = format!("{events} events and an exposure of 0");
            let remedy =
                "events need somebody to whom they happen: mend the exposure, or join bands";
            at(row, Part::Exposure, fact, remedy)
        }
        UngroupError::Events { row, value } => {
            let fact = format!("{value} events are no whole number");
            let remedy =
                "give how many events there were; what they are divided by goes to --exposure";
            at(row, Part::Count, fact, remedy)
        }
        UngroupError::NoLogarithm { row, lower } => {
            let fact = format!("the band begins at {lower}, and a logarithmic axis at zero");
            at(row, Part::Lower, fact, "leave --log out, or begin at 0")
        }
        UngroupError::Open { edge } => {
            let fact =
                format!("the last band is open above {edge}, and nothing says how it falls off");
            at(
                last,
                Part::Lower,
                fact,
                "give --tail (gompertz for ages, pareto with --log for money, exponential=SLOPE), which --last alone does not say, or close the band",
            )
        }
        UngroupError::OpenBelow { edge } => {
            let fact = format!("the first band is open below {edge}");
            at(0, Part::Upper, fact, "say with --first where it begins")
        }
        UngroupError::TooFine { .. } => {
            Problem::new(format!("{of}{error}")).remedy("give a wider --step, or --edges")
        }
        // It is the setting that is wrong, not a row.
        UngroupError::Setting { what, .. } => {
            Problem::new(format!("{of}{error}")).remedy(format!("change {}", flag(what)))
        }
        UngroupError::Uncovered { .. } => at(
            last,
            Part::Lower,
            error.to_string(),
            "end both at the same place (--last ends open bands), or leave events out",
        ),
        UngroupError::Narrow { row, lower, upper } => {
            let fact = format!("the band from {lower} to {upper} is too narrow beside all others");
            at(
                row,
                Part::Lower,
                fact,
                "join it with its neighbour, or change --last or --tail",
            )
        }
        ref other => {
            let remedy = match other {
                UngroupError::NoCurve { .. } => {
                    "look for counts that are wrong; a nearer --last helps where it is far away"
                }
                UngroupError::TooFew { .. } if rows.has_years() => {
                    "add the bands of this year, or leave it out"
                }
                UngroupError::TooFew { .. } => {
                    "add its other bands; a column that does not name populations is not for --by"
                }
                UngroupError::TooMany { .. } => "join bands, or name populations with --by",
                UngroupError::Nothing if rows.has_years() => {
                    "in years without events every step has none: leave the year out"
                }
                UngroupError::Nothing => "leave the population out",
                _ => "look at the rows of the table",
            };
            at(0, Part::Count, other.to_string(), remedy)
        }
    }
}
