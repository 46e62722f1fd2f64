//! What marks must be before they are drawn.

use super::seen::{Seen, Support};
use crate::error::MarkError;

/// Everything about marks.
pub(super) fn marks(at: &[Support], names: &[String], seen: &Seen) -> Result<(), MarkError> {
    let n = at.len();
    rows(names, n)?;
    match seen {
        Seen::Intervals { lower, upper } => {
            length("lower", n, lower.len())?;
            length("upper", n, upper.len())?;
        }
        Seen::Censored { limit, side } => {
            length("limit", n, limit.len())?;
            length("side", n, side.len())?;
        }
        Seen::Ranks {
            rank,
            thresholds,
            names,
        } => {
            length("rank", n, rank.len())?;
            increasing(thresholds)?;
            if !names.is_empty() {
                length("names", thresholds.len() + 1, names.len())?;
            }
        }
        Seen::Rates {
            lower,
            upper,
            exposure,
            per,
        } => {
            length("lower", n, lower.len())?;
            length("upper", n, upper.len())?;
            length("exposure", n, exposure.len())?;
            if !positive(*per) {
                return Err(MarkError::Per { per: *per });
            }
        }
        Seen::Signs { yes } => length("yes", n, yes.len())?,
    }
    (0..n).try_for_each(|i| row(i, at[i], names.get(i), seen))
}

/// Names of the rows, all or none.
pub(super) fn rows(names: &[String], rows: usize) -> Result<(), MarkError> {
    if names.is_empty() {
        return Ok(());
    }
    length("rows", rows, names.len())
}

fn length(what: &'static str, expected: usize, got: usize) -> Result<(), MarkError> {
    if expected == got {
        return Ok(());
    }
    Err(MarkError::Length {
        what,
        expected,
        got,
    })
}

fn increasing(thresholds: &[f64]) -> Result<(), MarkError> {
    let finite = thresholds.iter().all(|t| t.is_finite());
    if !thresholds.is_empty() && finite && thresholds.windows(2).all(|pair| pair[0] < pair[1]) {
        return Ok(());
    }
    Err(MarkError::Thresholds {
        thresholds: thresholds.to_vec(),
    })
}

fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn row(i: usize, at: Support, name: Option<&String>, seen: &Seen) -> Result<(), MarkError> {
    let name = || match name {
        Some(name) => format!("row \"{name}\""),
        None => format!("row {}", i + 1),
    };
    let value = |what, value: f64, wanted| MarkError::Value {
        row: name(),
        what,
        value,
        wanted,
    };
    let finite = |what, v: f64| {
        if v.is_finite() {
            Ok(())
        } else {
            Err(value(what, v, "finite"))
        }
    };
    match at {
        Support::At(x) => finite("place", x)?,
        Support::Over(x0, x1) if x0 < x1 && (x1 - x0).is_finite() => {}
        Support::Over(lower, upper) => {
            return Err(MarkError::Stretch {
                row: name(),
                lower,
                upper,
            });
        }
    }
    let upside_down = |lower: f64, upper: f64| {
        if lower <= upper {
            return Ok(());
        }
        Err(MarkError::UpsideDown {
            row: name(),
            lower,
            upper,
        })
    };
    match seen {
        Seen::Intervals { lower, upper } => {
            let ends = (lower[i], upper[i]);
            ends.0.map_or(Ok(()), |v| finite("lower end", v))?;
            ends.1.map_or(Ok(()), |v| finite("upper end", v))?;
            match ends {
                (Some(low), Some(high)) => upside_down(low, high),
                _ => Ok(()),
            }
        }
        Seen::Censored { limit, .. } => finite("limit", limit[i]),
        Seen::Ranks {
            rank, thresholds, ..
        } => {
            let ranks = thresholds.len() + 1;
            if (1..=ranks).contains(&rank[i]) {
                return Ok(());
            }
            Err(MarkError::Rank {
                row: name(),
                rank: rank[i],
                ranks,
            })
        }
        Seen::Rates {
            lower,
            upper,
            exposure,
            per,
        } => {
            if !(lower[i].is_finite() && lower[i] >= 0.0) {
                return Err(value("count", lower[i], "finite and at least 0"));
            }
            if !positive(exposure[i]) {
                return Err(value("exposure", exposure[i], "finite and positive"));
            }
            if let Some(high) = upper[i] {
                finite("largest count", high)?;
                upside_down(lower[i], high)?;
            }
            finite("rate", per * upper[i].unwrap_or(lower[i]) / exposure[i])
        }
        Seen::Signs { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Marks, Side};

    const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

    #[test]
    fn intervals_may_be_open_but_not_upside_down() {
        let of = |low: f64, high: f64| Marks::intervals([1.0], &[low], &[high]);
        for (low, high) in [(1.0, 2.0), (2.0, 2.0), (BAD[2], 2.0), (1.0, BAD[1])] {
            assert!(of(low, high).is_ok(), "{low} to {high}");
        }
        for (low, high) in [
            (BAD[0], 2.0),
            (1.0, BAD[0]),
            (BAD[1], BAD[1]),
            (1.0, BAD[2]),
        ] {
            let error = of(low, high).unwrap_err();
            assert!(matches!(error, MarkError::Value { .. }), "{low} to {high}");
        }
        let error = of(2.0, 1.0)
            .and_then(|m| m.with_rows(vec!["a".to_owned()]))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 1 has the upper end 1 below the lower end 2; swap the two"
        );
    }

    #[test]
    fn lists_have_the_same_length() {
        let wrong = [
            Marks::intervals([1.0], &[], &[1.0]),
            Marks::intervals([1.0], &[1.0], &[1.0, 2.0]),
            Marks::censored([1.0], &[1.0], &[]),
            Marks::ranks([1.0], &[], &[0.0], &[]),
            Marks::ranks([1.0], &[1], &[0.0], &["only one"]),
            Marks::rates([1.0], &[1.0], &[1.0], &[], 1.0),
            Marks::signs([1.0, 2.0], &[true]),
            Marks::signs([1.0], &[true]).and_then(|m| m.with_rows(vec![String::new(); 2])),
        ];
        for marks in wrong {
            assert!(matches!(marks, Err(MarkError::Length { .. })), "{marks:?}");
        }
    }

    #[test]
    fn places_are_finite_and_stretches_have_a_length() {
        for bad in BAD {
            let error = Marks::signs([bad], &[true]).unwrap_err();
            assert!(matches!(error, MarkError::Value { what: "place", .. }));
            let error = Marks::signs([(0.0, bad)], &[true]).unwrap_err();
            assert!(matches!(error, MarkError::Stretch { .. }));
        }
        for stretch in [(1.0, 1.0), (2.0, 1.0), (-1e308, 1e308)] {
            let error = Marks::signs([stretch], &[true]).unwrap_err();
            assert!(matches!(error, MarkError::Stretch { .. }), "{stretch:?}");
        }
    }

    #[test]
    fn a_rank_has_a_band() {
        for rank in [0, 4] {
            let error = Marks::ranks([1.0], &[rank], &[0.0, 1.0], &[]).unwrap_err();
            assert!(matches!(error, MarkError::Rank { ranks: 3, .. }));
        }
        for thresholds in [vec![], vec![1.0, 1.0], vec![1.0, 0.0], vec![0.0, BAD[1]]] {
            let error = Marks::ranks([1.0], &[1], &thresholds, &[]).unwrap_err();
            assert!(matches!(error, MarkError::Thresholds { .. }));
        }
    }

    #[test]
    fn a_rate_needs_an_exposure_and_a_count() {
        let of = |low, high, exposure, per| {
            Marks::rates([1.0], &[low], &[high], &[exposure], per).unwrap_err()
        };
        for exposure in [0.0, -1.0, BAD[0], BAD[1]] {
            let error = of(1.0, 1.0, exposure, 1.0);
            assert!(matches!(
                error,
                MarkError::Value {
                    what: "exposure",
                    ..
                }
            ));
            assert!(matches!(of(1.0, 1.0, 1.0, exposure), MarkError::Per { .. }));
        }
        assert!(matches!(of(-1.0, 1.0, 1.0, 1.0), MarkError::Value { .. }));
        assert!(matches!(
            of(BAD[1], BAD[1], 1.0, 1.0),
            MarkError::Value { .. }
        ));
        assert!(matches!(
            of(3.0, 1.0, 1.0, 1.0),
            MarkError::UpsideDown { .. }
        ));
        assert!(matches!(
            of(1e300, 1e300, 1e-300, 1.0),
            MarkError::Value { what: "rate", .. }
        ));
    }

    #[test]
    fn a_limit_is_a_number() {
        for bad in BAD {
            let error = Marks::censored([1.0], &[bad], &[Side::Below]).unwrap_err();
            assert!(matches!(error, MarkError::Value { what: "limit", .. }));
        }
    }

    #[test]
    fn what_is_read_is_checked() {
        let marks = Marks::intervals([1.0], &[f64::NEG_INFINITY], &[2.0]).unwrap();
        let text = serde_json::to_string(&marks).unwrap();
        assert_eq!(serde_json::from_str::<Marks>(&text).unwrap(), marks);
        let wrong = text.replace("null", "3.0");
        assert!(serde_json::from_str::<Marks>(&wrong).is_err(), "{wrong}");
    }
}
