//! What several tests share.

use quadrat_plot::{Places, Predicted};

/// Words that would break a page that did not escape them.
pub const EVIL: &str = "</script><script>alert('x')</script><img src=x onerror=\"y\">\u{2028}&";

/// A predicted line with a band.
pub fn line(mean: Vec<f64>) -> Predicted {
    Predicted {
        at: Places::Points((0..mean.len()).map(|i| i as f64).collect()),
        lower: mean.iter().map(|m| m - 1.0).collect(),
        upper: mean.iter().map(|m| m + 1.0).collect(),
        mean,
        level: 0.95,
        ..Predicted::default()
    }
}

/// The JSON islands of a page.
pub fn islands(page: &str) -> Vec<serde_json::Value> {
    page.split("<script type=\"application/json\"")
        .skip(1)
        .map(|rest| {
            let start = rest.find('>').expect("a tag ends") + 1;
            let end = rest.find("</script>").expect("a script ends");
            serde_json::from_str(&rest[start..end]).expect("valid JSON")
        })
        .collect()
}
