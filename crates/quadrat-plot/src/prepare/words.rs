//! Words of tooltips that both forms of a figure share.

/// Predicted standard deviations below this share of the largest mean are what rounding leaves of
/// zero.
pub(super) const EXACT: f64 = 1e-6;

/// What is told where some are drawn as zero.
pub(crate) const EXACT_WORDS: &str =
    "Standard deviations below 10⁻⁶ of the largest mean are rounding noise and drawn as zero.";

/// Sets standard deviations to zero that are nothing beside the means; whether there were any.
pub(crate) fn settle<'a>(
    means: impl Iterator<Item = f64>,
    sds: impl Iterator<Item = &'a mut f64>,
) -> bool {
    let largest = means
        .filter(|m| m.is_finite())
        .map(f64::abs)
        .fold(0.0, f64::max);
    let mut any = false;
    for sd in sds.filter(|sd| **sd != 0.0 && sd.abs() < EXACT * largest) {
        *sd = 0.0;
        any = true;
    }
    any
}

/// "95 % interval", or "interval" when the level is not known.
pub(crate) fn interval_words(level: f64) -> String {
    if level > 0.0 && level < 1.0 {
        format!("{} interval", crate::format::percent(level))
    } else {
        "interval".to_owned()
    }
}

/// Joins a caption with remarks, each a sentence.
pub(crate) fn joined(caption: &str, remarks: &[String]) -> String {
    let mut words: Vec<&str> = Vec::new();
    if !caption.trim().is_empty() {
        words.push(caption.trim());
    }
    words.extend(remarks.iter().map(String::as_str));
    words.join(" ")
}
