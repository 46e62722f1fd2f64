//! The report page: one HTML file that needs nothing else.

mod blocks;
mod figures;

use crate::escape::{json, text};
use crate::report::Report;
use crate::vega;

const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
/// Vega, Vega-Lite and Vega-Embed, compressed: the browser inflates them.
const VEGA: &[u8] = include_bytes!("../assets/vega.js.gz");
/// The browser itself refuses to load anything: a report is one file.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; \
                      base-uri 'none'; form-action 'none'";

/// The whole report as one self-contained HTML page, which loads nothing from anywhere and works
/// from `file://`.
///
/// Every figure is an element with `data-figure="id"`; the page sets `data-drawn="true"` on it once
/// drawn, `data-error` on it if that fails, and `data-ready="true"` on `body` when all are drawn.
/// Without scripts the still images are shown, and where a browser cannot inflate what draws the
/// interactive ones.
pub fn html(report: &Report) -> String {
    let title = if report.title.trim().is_empty() {
        "Untitled study"
    } else {
        report.title.trim()
    };
    let mut ids = figures::Ids::default();
    let shown: Vec<String> = report
        .figures
        .iter()
        .map(|figure| figures::figure(figure, &mut ids))
        .collect();
    let calibration = report
        .calibration
        .as_ref()
        .map(|figure| figures::calibration(figure, &mut ids))
        .unwrap_or_default();
    let has_figures = !shown.is_empty() || !calibration.is_empty();

    let mut page = String::with_capacity(if has_figures { 600_000 } else { 60_000 });
    page.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str(&format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"
    ));
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str(&format!(
        "<meta name=\"generator\" content=\"{}\">\n",
        text(&report.generated_by)
    ));
    page.push_str(&format!("<title>{}</title>\n", text(title)));
    // An empty icon, or browsers look for one.
    page.push_str("<link rel=\"icon\" href=\"data:,\">\n");
    page.push_str(&format!("<style>\n{STYLE}</style>\n"));
    page.push_str(
        "<script>document.documentElement.className = \"js\";</script>\n</head>\n<body>\n",
    );
    page.push_str(&blocks::top(report, title));
    page.push_str("<main>\n");
    for figure in &shown {
        page.push_str(figure);
    }
    page.push_str(&calibration);
    page.push_str(&blocks::left_out(&report.left_out));
    page.push_str(&blocks::predictions(&report.predictions));
    page.push_str(&blocks::hyperparameters(&report.hyperparameters));
    page.push_str(&blocks::evidence(report.evidence.as_ref()));
    page.push_str(&blocks::how_to_read(report));
    page.push_str("</main>\n");
    page.push_str(&blocks::end(report));
    if has_figures {
        page.push_str(&format!(
            "<script type=\"application/json\" id=\"vega-config\">{}</script>\n",
            json(&vega::config())
        ));
        page.push_str(&format!(
            "<script type=\"application/gzip\" id=\"vega\">{}</script>\n",
            figures::base64(VEGA)
        ));
        page.push_str(&format!("<script>\n{SCRIPT}</script>\n"));
    } else {
        page.push_str("<script>document.body.dataset.ready = \"true\";</script>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_can_be_inlined() {
        let lower = SCRIPT.to_ascii_lowercase();
        assert!(
            !lower.contains("</script") && !lower.contains("<!--"),
            "would end or hide its element"
        );
        assert!(VEGA.starts_with(&[0x1f, 0x8b]), "no gzip");
        assert!(VEGA.len() < 300_000, "{}", VEGA.len());
    }

    #[test]
    fn an_empty_report_is_a_page() {
        let page = html(&Report::default());
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
        assert!(page.contains("Untitled study") && page.len() < 60_000);
    }
}
