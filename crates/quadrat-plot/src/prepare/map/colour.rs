//! From values to colours, and the legend that says which is which.

use super::super::{flattened, range, spread, widened};
use crate::figure::{Colours, MapPanel, Spacing};
use crate::format::ends as ends_in_words;
use crate::palette::{SIDES, SPREAD, VALUES, at};
use crate::ticks::{log_ticks, ticks};

/// Colours that make up a legend: twice the steps of the longest scale, and both ends.
const STOPS: usize = 17;
/// Labels along a legend at most.
const LABELS: usize = 6;
/// Ratios of largest to smallest between which skewed values are worth a logarithm.
const SKEWED: (f64, f64) = (20.0, 1e5);

/// A colour scale with labels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Legend {
    /// Colours at equal steps.
    pub stops: Vec<String>,
    /// Labels with their place on the scale, from 0 to 1.
    pub labels: Vec<(f64, String)>,
}

/// What a panel looks like.
pub(super) struct Look {
    pub of: Vec<Option<(u8, u8, u8)>>,
    pub legend: Option<Legend>,
    pub border: &'static str,
    pub log: bool,
    /// Whether values lie beyond the ends of the scale.
    pub beyond: bool,
}

/// Ends of a scale and its spacing.
#[derive(Clone, Copy)]
struct Ends {
    low: f64,
    high: f64,
    log: bool,
    /// The value in the middle of the colours, wherever that is between the ends.
    centre: Option<f64>,
}

impl Ends {
    /// Half of the place of a value along the scale: the difference of two finite numbers need not
    /// be finite, that of halves is.
    fn place(self, value: f64) -> f64 {
        (if self.log { value.ln() } else { value }) / 2.0
    }

    /// The place of a value between the ends, from 0 to 1.
    fn along(self, value: f64) -> f64 {
        let (low, high) = (self.place(self.low), self.place(self.high));
        ((self.place(self.held(value)) - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// The place of a value in the colours, from 0 to 1: equal distances from a centre are equally
    /// dark.
    fn share(self, value: f64) -> f64 {
        let Some(centre) = self.centre.map(|c| self.place(c)) else {
            return self.along(value);
        };
        let reach = (self.place(self.high) - centre).max(centre - self.place(self.low));
        0.5 + 0.5 * ((self.place(self.held(value)) - centre) / reach).clamp(-1.0, 1.0)
    }

    fn held(self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// Colours at equal steps from end to end.
    fn stops(self, colours: &[&str]) -> Vec<String> {
        let (from, to) = (self.share(self.low), self.share(self.high));
        (0..STOPS)
            .map(|i| {
                let (r, g, b) = at(colours, from + (to - from) * i as f64 / (STOPS - 1) as f64);
                format!("#{r:02x}{g:02x}{b:02x}")
            })
            .collect()
    }
}

/// The colours of a panel; those that share its scale have a say in its ends.
pub(super) fn panel(panel: &MapPanel, all: &[MapPanel]) -> Look {
    let (stops, border): (&'static [&'static str], _) = match panel.colours {
        Colours::Sequential => (&VALUES, "#d3d9df"),
        Colours::Diverging { .. } => (&SIDES, "#b4bcc5"),
        Colours::Spread => (&SPREAD, "#b4bcc5"),
    };
    let sharing: Vec<&MapPanel> = all
        .iter()
        .filter(|p| std::ptr::eq(*p, panel) || shares(p, panel))
        .collect();
    let mut values: Vec<f64> = sharing
        .iter()
        .flat_map(|p| p.values.iter().flatten().copied())
        .collect();
    let ends = ends(panel, &sharing, &mut values);
    let own = || panel.values.iter().flatten();
    Look {
        of: panel
            .values
            .iter()
            .map(|v| v.map(|v| at(stops, ends.share(v))))
            .collect(),
        legend: own().next().map(|_| Legend {
            stops: ends.stops(stops),
            labels: labels(ends),
        }),
        border,
        log: ends.log && own().next().is_some(),
        beyond: own().any(|v| *v < ends.low || *v > ends.high),
    }
}

fn shares(a: &MapPanel, b: &MapPanel) -> bool {
    !a.scale.is_empty() && a.scale == b.scale && a.colours == b.colours && a.spacing == b.spacing
}

fn ends(panel: &MapPanel, sharing: &[&MapPanel], values: &mut [f64]) -> Ends {
    let given = range(
        sharing
            .iter()
            .filter_map(|p| p.domain)
            .flat_map(|(a, b)| [a, b]),
    );
    let (low, high) = given.unwrap_or_else(|| {
        let own = range(values.iter().copied());
        match panel.colours {
            Colours::Spread => spread(own),
            // Noise in the last digits must not look like a pattern.
            _ => widened(flattened(own), false),
        }
    });
    let (low, high) = (low.max(f64::MIN), high.min(f64::MAX));
    if let Colours::Diverging { centre } = panel.colours {
        let log = panel.spacing == Spacing::Log;
        let (mut low, mut high) = (low.min(centre), high.max(centre));
        // A scale of nothing but the centre still has two sides.
        if values.iter().all(|v| *v == centre) && given.is_none() {
            (low, high) = widened(Some((centre, centre)), false);
        }
        return Ends {
            low,
            high,
            log,
            centre: Some(centre),
        };
    }
    let log = low > 0.0
        && match panel.spacing {
            Spacing::Linear => false,
            Spacing::Log => true,
            Spacing::Auto => skewed(values, low, high),
        };
    let from_zero = given.is_none() && !log && low > 0.0 && low < 0.2 * high;
    Ends {
        low: if from_zero { 0.0 } else { low },
        high,
        log,
        centre: None,
    }
}

/// Whether half of the values would have nearly one colour on a linear scale.
fn skewed(values: &mut [f64], low: f64, high: f64) -> bool {
    values.sort_by(f64::total_cmp);
    let median = values.get(values.len() / 2).copied().unwrap_or(high);
    let positive = values.first().is_some_and(|v| *v > 0.0);
    positive && (SKEWED.0..SKEWED.1).contains(&(high / low)) && median - low < 0.15 * (high - low)
}

/// Round numbers; the ends themselves where round numbers are too close to tell apart.
fn labels(ends: Ends) -> Vec<(f64, String)> {
    let inside = |found: Vec<(f64, String)>| -> Vec<(f64, String)> {
        found
            .into_iter()
            .map(|(v, words)| (ends.along(v), words))
            .collect()
    };
    let mut found = if ends.log {
        inside(log_ticks((ends.low, ends.high), LABELS))
    } else {
        inside(ticks((ends.low, ends.high), 4.0))
    };
    if found.len() < 2 {
        let (low, high) = ends_in_words((ends.low, ends.high));
        found = vec![(0.0, low), (1.0, high)];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::rgb;

    fn of(values: &[f64]) -> MapPanel {
        MapPanel {
            values: values.iter().copied().map(Some).collect(),
            ..MapPanel::default()
        }
    }

    fn look(panel: &MapPanel) -> Look {
        let panels = [panel.clone()];
        super::panel(&panels[0], &panels)
    }

    fn words(look: &Look) -> Vec<&str> {
        let labels = &look.legend.as_ref().unwrap().labels;
        labels.iter().map(|l| l.1.as_str()).collect()
    }

    #[test]
    fn a_linear_scale_ends_at_its_values_or_at_zero() {
        let drawn = look(&of(&[10.0, 15.0, 20.0]));
        assert_eq!(drawn.of[0], Some(rgb(VALUES[0])));
        assert_eq!(drawn.of[1], Some(rgb(VALUES[4])));
        assert_eq!(drawn.of[2], Some(rgb(VALUES[8])));
        assert_eq!(words(&drawn), ["10.0", "12.5", "15.0", "17.5", "20.0"]);
        assert!(!drawn.log && !drawn.beyond);
        let drawn = look(&of(&[1.0, 60.0, 100.0]));
        assert_eq!(words(&drawn)[0], "0");
    }

    #[test]
    fn skewed_values_get_a_logarithm_and_this_is_told() {
        let values: Vec<f64> = (0..40).map(|i| 1.2_f64.powi(i)).collect();
        let drawn = look(&of(&values));
        assert_eq!(words(&drawn), ["1", "10", "100", "1,000"]);
        assert!(drawn.log);
        let linear = MapPanel {
            spacing: Spacing::Linear,
            ..of(&values)
        };
        assert_eq!(words(&look(&linear))[0], "0");
        // Half-way in the logarithm is half-way in colour.
        let drawn = look(&of(&[1.0, 10.0, 10.0, 11.0, 100.0]));
        assert_eq!(drawn.of[1], Some(rgb(VALUES[4])));
    }

    #[test]
    fn a_centre_has_the_colour_of_the_middle_and_distances_are_fair() {
        let panel = MapPanel {
            colours: Colours::Diverging { centre: 1.0 },
            ..of(&[1.0, 0.5, 3.0, 1.5])
        };
        let drawn = look(&panel);
        assert_eq!(drawn.of[0], Some(rgb(SIDES[3])));
        assert_eq!(drawn.of[2], Some(rgb(SIDES[6])));
        assert_eq!(drawn.of[1], Some(at(&SIDES, 0.375)));
        assert_eq!(drawn.of[3], Some(at(&SIDES, 0.625)));
        let flat = look(&MapPanel {
            values: vec![Some(1.0)],
            ..panel
        });
        assert_eq!(flat.of[0], Some(rgb(SIDES[3])));
    }

    #[test]
    fn a_legend_has_two_sides_no_longer_than_its_values() {
        let risks = |spacing| MapPanel {
            colours: Colours::Diverging { centre: 1.0 },
            spacing,
            ..of(&[0.5, 2.5])
        };
        let legend = look(&risks(Spacing::Auto)).legend.unwrap();
        let (r, g, b) = at(&SIDES, 0.5 - 0.5 * 0.5 / 1.5);
        assert_eq!(legend.stops[0], format!("#{r:02x}{g:02x}{b:02x}"));
        assert_eq!(legend.stops[STOPS - 1], SIDES[6]);
        assert_eq!(legend.labels[0], (0.0, "0.5".to_owned()));
        // Half and twice are equally far from 1 by their ratio.
        let log = look(&MapPanel {
            values: vec![Some(0.5), Some(2.0)],
            ..risks(Spacing::Log)
        });
        assert_eq!(log.of, [Some(rgb(SIDES[0])), Some(rgb(SIDES[6]))]);
    }

    #[test]
    fn panels_share_a_scale_when_they_name_it() {
        let named = |values: &[f64], scale: &str| MapPanel {
            scale: scale.to_owned(),
            ..of(values)
        };
        let panels = [
            named(&[10.0], "a"),
            named(&[20.0], "a"),
            named(&[15.0], "b"),
        ];
        let looks: Vec<Look> = panels.iter().map(|p| panel(p, &panels)).collect();
        assert_eq!(looks[0].of[0], Some(rgb(VALUES[0])));
        assert_eq!(looks[1].of[0], Some(rgb(VALUES[8])));
        assert_eq!(looks[0].legend, looks[1].legend);
        assert_eq!(looks[2].of[0], Some(rgb(VALUES[4])));
    }

    #[test]
    fn values_beyond_given_ends_are_told() {
        let panel = MapPanel {
            domain: Some((0.0, 1.0)),
            ..of(&[0.5, 7.0])
        };
        let drawn = look(&panel);
        assert_eq!(drawn.of[1], Some(rgb(VALUES[8])));
        assert!(drawn.beyond);
    }

    #[test]
    fn extreme_values_have_colours_and_labels() {
        let far = look(&of(&[f64::MIN, 0.0, f64::MAX]));
        assert_eq!(far.of[1], Some(rgb(VALUES[4])));
        assert_eq!(far.of[2], Some(rgb(VALUES[8])));
        let tiny = look(&of(&[1e-310, 2e-310]));
        assert_ne!(tiny.of[0], tiny.of[1]);
        for values in [
            &[f64::MIN, f64::MAX][..],
            &[5e-324, 1e308],
            &[1e15, 1e15 + 1.0],
            &[7.0],
            &[0.0],
        ] {
            let drawn = look(&of(values));
            let labels = drawn.legend.unwrap().labels;
            assert!((2..=8).contains(&labels.len()), "{values:?}: {labels:?}");
            assert!(
                labels
                    .iter()
                    .all(|l| (0.0..=1.0).contains(&l.0) && !l.1.is_empty())
            );
        }
        let sides = MapPanel {
            colours: Colours::Diverging { centre: 0.0 },
            ..of(&[f64::MAX, f64::MIN])
        };
        assert_eq!(look(&sides).of[0], Some(rgb(SIDES[6])));
    }

    #[test]
    fn near_values_are_told_apart_and_rounding_is_no_difference() {
        let near = look(&of(&[101_325.01, 101_325.05]));
        let labels = words(&near);
        assert_ne!(labels[0], labels[1], "{labels:?}");
        assert_ne!(near.of[0], near.of[1]);
        // Equal but for the last digit.
        let noise = look(&of(&[2.068_042_699_595_786e-5, 2.068_042_699_595_787e-5]));
        assert_eq!(
            (noise.of[0], noise.of[1]),
            (noise.of[1], Some(rgb(VALUES[4])))
        );
        let mut labels = words(&noise);
        let before = labels.len();
        labels.dedup();
        assert_eq!(labels.len(), before, "{labels:?}");
    }

    #[test]
    fn deviations_that_are_all_alike_have_a_scale_from_zero() {
        let spread = |values: &[f64]| {
            look(&MapPanel {
                colours: Colours::Spread,
                ..of(values)
            })
        };
        let zero = spread(&[0.0, 0.0]);
        assert_eq!((words(&zero)[0], zero.of[0]), ("0", Some(rgb(SPREAD[0]))));
        let same = spread(&[3.0, 3.0]);
        assert_eq!(words(&same)[0], "0");
        assert_eq!(same.of[0], Some(rgb(SPREAD[SPREAD.len() - 1])));
    }

    #[test]
    fn nothing_but_missing_values_needs_no_legend() {
        let panel = MapPanel {
            values: vec![None, None],
            ..MapPanel::default()
        };
        assert!(look(&panel).legend.is_none());
    }
}
