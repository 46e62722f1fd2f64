//! Colours that people with any colour vision can tell apart, also in grey print.

/// Text and axes.
pub(crate) const INK: &str = "#1f2933";
/// Secondary text.
pub(crate) const MUTED: &str = "#5b6876";
/// Grid lines.
pub(crate) const GRID: &str = "#e6e9ed";
/// Fill of observed bars.
pub(crate) const BAR: &str = "#d5dae1";
/// Outline of observed bars, and other observed marks.
pub(crate) const OBSERVED: &str = "#66727f";
/// True values.
pub(crate) const REFERENCE: &str = "#c2470a";
/// Predictions: blue first, then the darker colours of Okabe and Ito, then others as dark.
pub(crate) const PREDICTED: [&str; 7] = [
    "#0b5c94", "#8a3b74", "#00765a", "#8f6a00", "#6a51a3", "#4d6b1f", "#7a4b2a",
];
/// Opacity of bands.
pub(crate) const BAND_OPACITY: f64 = 0.26;

/// Colours and widths of the two lines of outlines over maps, which are seen on dark and on bright
/// colours.
pub(crate) const BORDER: [(&str, f64); 2] = [("#ffffff", 1.8), (INK, 0.7)];

/// Thresholds between ranks.
pub(crate) const THRESHOLD: &str = "#8794a1";
/// Opacity of marks that are many.
pub(crate) const DENSE: f64 = 0.6;
/// Opacity of ink over every second band of ranks.
pub(crate) const TINT: f64 = 0.05;

/// Viridis: dark is little, bright is much.
pub(crate) const VALUES: [&str; 9] = [
    "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30",
    "#fde725",
];
/// One hue of even lightness steps: white is sure, dark is unsure.
pub(crate) const SPREAD: [&str; 5] = ["#f8f1f4", "#e0bccb", "#c085a4", "#97507f", "#5e2157"];

/// Blue, paper, orange: two sides of a middle, told apart with any colour vision, equally dark at
/// equal distance.
pub(crate) const SIDES: [&str; 7] = [
    "#0b4a84", "#4584b8", "#a3c6e0", "#f3f1ed", "#efc094", "#c8742b", "#833600",
];
/// Regions without a value, and the lines of their hatching.
pub(crate) const MISSING: (&str, &str) = ("#f0f2f4", "#a7b1bc");

/// The colour at `share` (0 to 1) of a scale.
pub(crate) fn at(scale: &[&str], share: f64) -> (u8, u8, u8) {
    let last = scale.len().saturating_sub(1);
    let position = if share.is_finite() {
        share.clamp(0.0, 1.0) * last as f64
    } else {
        0.0
    };
    let lower = (position.floor() as usize).min(last);
    let upper = (lower + 1).min(last);
    let weight = position - lower as f64;
    let (a, b) = (rgb(scale[lower]), rgb(scale[upper]));
    let mix = |from: u8, to: u8| {
        (f64::from(from) + weight * (f64::from(to) - f64::from(from))).round() as u8
    };
    (mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// The channels of `#rrggbb`; black for anything else.
pub(crate) fn rgb(hex: &str) -> (u8, u8, u8) {
    let channel = |at: usize| {
        hex.get(at..at + 2)
            .and_then(|h| u8::from_str_radix(h, 16).ok())
            .unwrap_or(0)
    };
    (channel(1), channel(3), channel(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_a_scale_are_its_ends() {
        assert_eq!(at(&VALUES, 0.0), rgb(VALUES[0]));
        assert_eq!(at(&VALUES, 1.0), rgb(VALUES[8]));
        assert_eq!(at(&VALUES, f64::NAN), rgb(VALUES[0]));
    }

    #[test]
    fn scales_have_even_steps_of_lightness() {
        let lightness = |c: (u8, u8, u8)| {
            0.2126 * f64::from(c.0) + 0.7152 * f64::from(c.1) + 0.0722 * f64::from(c.2)
        };
        let rising = |scale: &[&str]| {
            (0..=20)
                .map(|i| lightness(at(scale, f64::from(i) / 20.0)))
                .is_sorted()
        };
        assert!(rising(&VALUES));
        let reversed: Vec<&str> = SPREAD.iter().rev().copied().collect();
        assert!(rising(&reversed));
        let right: Vec<&str> = SIDES[3..].iter().rev().copied().collect();
        assert!(rising(&SIDES[..4]) && rising(&right));
        for i in 0..3 {
            let (a, b) = (lightness(rgb(SIDES[i])), lightness(rgb(SIDES[6 - i])));
            // A tenth of the range from black to white: no side looks like more.
            assert!((a - b).abs() < 25.5, "{a} against {b}");
        }
    }
}
