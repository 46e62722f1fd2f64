//! When two keys of tables are one.

/// What two keys share that are one: numbers compare with or without a decimal point, texts as they
/// are.
pub fn canonical(key: &str) -> &str {
    whole(key).unwrap_or(key)
}

/// A whole number that was written with a decimal point: "37009.0".
fn whole(key: &str) -> Option<&str> {
    let (whole, zeros) = key.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_whole = digits(whole.strip_prefix('-').unwrap_or(whole))
        && digits(zeros)
        && zeros.bytes().all(|b| b == b'0');
    is_whole.then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_keys_with_or_without_a_point() {
        assert_eq!(whole("37009.0"), Some("37009"));
        assert_eq!(whole("-3.00"), Some("-3"));
        for other in ["3.5", "3.", ".0", "a.0", "1.0.0", "37009"] {
            assert_eq!(whole(other), None, "{other}");
        }
    }
}
