//! Problems with what the user gave, shown with the line they are about.

mod remedy;

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub use remedy::Remedy;

#[cfg(test)]
thread_local! {
    /// How often a text was read from its start to find a place in it.
    pub static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many problems are listed before the rest is only counted.
const LISTED: usize = 20;
/// The widest part of a source line that is shown, in characters.
const WIDEST: usize = 110;
/// So many bytes of a line are kept on either side of a stretch: a file may be one line.
const KEPT: usize = 4 * WIDEST;

/// A text file that problems can point into.
#[derive(Debug, Clone)]
pub struct Source {
    /// The path as it is shown to people.
    pub name: String,
    /// The whole text, without a byte order mark.
    pub text: Arc<str>,
    /// Where its lines begin, once something was looked for: many problems may be in one text.
    lines: Arc<OnceLock<Vec<usize>>>,
}

/// A place in a file: where, and the line as it stands there.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The path as it is shown to people.
    pub file: String,
    /// Line, column (both from 1, in characters) and what the line holds; absent when the whole
    /// file is meant.
    pub spot: Option<Spot>,
    /// Which column of a table, in words.
    pub column_name: Option<String>,
}

/// A stretch of one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Length of the stretch in characters.
    pub width: usize,
    /// The line itself, of a long one the part around the stretch; empty when there is no text to
    /// show (Parquet).
    pub text: String,
    /// So many characters of the line stand before that part.
    pub skipped: usize,
}

/// One thing that is wrong, where, and how to mend it.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The fact.
    pub message: String,
    /// Where it is.
    pub place: Option<Box<Place>>,
    /// How to mend it.
    pub remedies: Vec<Remedy>,
    /// Whether it counts others, of which not all are listed: then it is listed itself, however
    /// many there are.
    pub is_tally: bool,
}

/// Everything found wrong in one reading; never empty when used as an error.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Problems(pub Vec<Problem>);

impl Source {
    /// A source under the name shown to people.
    pub fn new(path: &Path, text: &str) -> Self {
        Self::named(path.display().to_string(), text.into())
    }

    /// A text under a name.
    pub fn named(name: String, text: Arc<str>) -> Self {
        Self {
            name,
            text,
            lines: Arc::default(),
        }
    }

    /// The place of a byte range, cut to its first line.
    pub fn place(&self, span: &Range<usize>) -> Place {
        let bytes = self.text.as_bytes();
        let start = span.start.min(bytes.len());
        let lines = self.lines.get_or_init(|| {
            let ends = (0..bytes.len()).filter(|&i| is_end(bytes, i));
            [0].into_iter().chain(ends.map(|i| i + 1)).collect()
        });
        let line = lines.partition_point(|begin| *begin <= start).max(1);
        let spot = Spot::in_line(bytes, start..span.end.max(start), (line, lines[line - 1]));
        Place {
            file: self.name.clone(),
            spot: Some(spot),
            column_name: None,
        }
    }
}

/// Whether a line ends with this byte: `\n`, `\r\n` and a lone `\r` do that.
fn is_end(bytes: &[u8], i: usize) -> bool {
    match bytes[i] {
        b'\n' => true,
        b'\r' => bytes.get(i + 1) != Some(&b'\n'),
        _ => false,
    }
}

impl Spot {
    /// The line and column of a byte range; counts `\n`, `\r\n` and lone `\r` as line ends.
    pub fn in_bytes(bytes: &[u8], span: Range<usize>) -> Self {
        #[cfg(test)]
        LOOKED.with(|looked| looked.set(looked.get() + 1));
        let start = span.start.min(bytes.len());
        let last = (0..start).rev().find(|&i| is_end(bytes, i));
        let line_start = last.map_or(0, |i| i + 1);
        let line = 1 + (0..line_start).filter(|&i| is_end(bytes, i)).count();
        Self::in_line(bytes, span, (line, line_start))
    }

    /// The same, in a line that is known by its number and its first byte.
    fn in_line(bytes: &[u8], span: Range<usize>, (line, line_start): (usize, usize)) -> Self {
        let start = span.start.min(bytes.len());
        let line_end = (start..bytes.len())
            .find(|&i| bytes[i] == b'\n' || bytes[i] == b'\r')
            .unwrap_or(bytes.len());
        // The first byte of a character: others begin with the bits 10.
        let begins = |i: usize| bytes.get(i).is_none_or(|byte| byte & 0xc0 != 0x80);
        let count = |range: Range<usize>| range.filter(|&i| begins(i)).count();
        let line_end = line_end.max(line_start);
        let end = span.end.clamp(start, line_end.max(start));
        let mut first = line_start.max(start.saturating_sub(KEPT));
        first = (line_start..=first)
            .rev()
            .find(|&i| begins(i))
            .unwrap_or(first);
        let mut last = line_end.min(start + KEPT);
        last = (last..=line_end).find(|&i| begins(i)).unwrap_or(last);
        let skipped = count(line_start..first);
        Self {
            line,
            column: 1 + skipped + count(first..start),
            width: count(start..end).max(1),
            text: String::from_utf8_lossy(&bytes[first..last.max(first)]).into_owned(),
            skipped,
        }
    }
}

impl Problem {
    /// A problem without a place or remedy yet.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            place: None,
            remedies: Vec::new(),
            is_tally: false,
        }
    }

    /// Says that it counts others.
    #[must_use]
    pub fn tally(mut self) -> Self {
        self.is_tally = true;
        self
    }

    /// Says where it is.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(Box::new(place));
        self
    }

    /// Adds a way to mend it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.remedies.push(remedy.into());
        self
    }

    fn render(&self, out: &mut String, paint: Paint) {
        out.push_str(&format!(
            "{}: {}\n",
            paint.red("error"),
            brief(&self.message)
        ));
        let spot = self.place.as_ref().and_then(|place| place.spot.as_ref());
        let gutter = spot.map_or(1, |spot| spot.line.to_string().len());
        let margin = " ".repeat(gutter + 1);
        if let Some(place) = &self.place {
            let arrow = paint.blue("-->");
            out.push_str(&format!("{margin}{arrow} {}\n", place.address()));
        }
        let bar = paint.blue("|");
        if let Some(spot) = spot.filter(|spot| !spot.text.trim().is_empty()) {
            let (text, column, width) = window(spot);
            let caret = paint.red(&"^".repeat(width));
            let number = paint.blue(&spot.line.to_string());
            out.push_str(&format!("{margin} {bar}\n"));
            out.push_str(&format!(" {number} {bar} {text}\n"));
            out.push_str(&format!("{margin} {bar} {}{caret}\n", " ".repeat(column)));
        }
        for remedy in &self.remedies {
            let remedy = brief(&remedy.to_string());
            out.push_str(&format!("{margin} {} {remedy}\n", paint.blue("=")));
        }
    }
}

impl Place {
    /// File, line, column and the name of the column, as they are shown.
    pub fn address(&self) -> String {
        let mut address = self.file.clone();
        if let Some(spot) = &self.spot {
            address.push_str(&format!(":{}", spot.line));
            if !spot.text.is_empty() {
                address.push_str(&format!(":{}", spot.column));
            }
        }
        if let Some(name) = &self.column_name {
            address.push_str(&format!(" (column `{}`)", brief(name)));
        }
        address
    }
}

/// The part of the line around the spot, its column from 0 and the caret's width.
fn window(spot: &Spot) -> (String, usize, usize) {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let chars: Vec<char> = spot.text.chars().map(clean).collect();
    let column = (spot.column - 1 - spot.skipped).min(chars.len());
    let first = if chars.len() <= WIDEST {
        0
    } else {
        column.saturating_sub(WIDEST / 2)
    };
    let last = chars.len().min(first + WIDEST);
    let mut text: String = chars[first..last].iter().collect();
    let mut column = column - first;
    if first > 0 {
        text.insert_str(0, "...");
        column += 3;
    }
    if last < chars.len() {
        text.push_str("...");
    }
    let room = (text.chars().count() + 1).saturating_sub(column).max(1);
    (text, column, spot.width.min(room))
}

impl Problems {
    /// With remedies in the words of a command line.
    #[must_use]
    pub fn by_flags(mut self) -> Self {
        let remedies = self.0.iter_mut().flat_map(|problem| &mut problem.remedies);
        remedies.for_each(Remedy::use_flags);
        self
    }

    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// `Ok` when nothing was found.
    pub fn or<T>(self, value: T) -> Result<T, Problems> {
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// The text for a terminal, or for anything else when `paint` is off.
    pub fn render(&self, paint: Paint) -> String {
        let mut out = String::new();
        let (tallies, single): (Vec<&Problem>, Vec<&Problem>) =
            self.0.iter().partition(|problem| problem.is_tally);
        for problem in single.iter().take(LISTED).chain(&tallies) {
            if !out.is_empty() {
                out.push('\n');
            }
            problem.render(&mut out, paint);
        }
        if single.len() > LISTED {
            out.push_str(&format!(
                "\n... and {} more problems like these\n",
                single.len() - LISTED
            ));
        }
        out
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Paint::plain()))
    }
}

impl std::error::Error for Problems {}

/// Whether to colour what is written.
#[derive(Debug, Clone, Copy)]
pub struct Paint(bool);

impl Paint {
    /// No colour.
    pub fn plain() -> Self {
        Self(false)
    }

    /// Colour only on a terminal, unless `NO_COLOR` is set.
    pub fn on(terminal: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self(terminal && !refused)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// For what is wrong.
    pub fn red(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    /// For warnings.
    pub fn yellow(self, text: &str) -> String {
        self.wrap("1;33", text)
    }

    /// For frames and arrows.
    pub fn blue(self, text: &str) -> String {
        self.wrap("1;34", text)
    }

    /// For headings.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }
}

/// A value from a file as it may be shown: escaped and not too long.
pub fn shown(value: &str) -> String {
    const MOST: usize = 40;
    let mut text: String = value
        .chars()
        .take(MOST)
        .flat_map(|c| c.escape_debug())
        .collect();
    if value.chars().count() > MOST {
        text.push_str("...");
    }
    text.replace("\\\"", "\"").replace("\\'", "'")
}

/// A text in which words longer than any name are cut: names from files may have any length.
/// Signs behind such a word, such as the quotation mark that ends it, stay.
pub fn brief(text: &str) -> String {
    const LONGEST: usize = 200;
    const KEPT: usize = 40;
    const SIGNS: usize = 8;
    let mut out = String::with_capacity(text.len().min(10_000));
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        if word.chars().nth(LONGEST).is_none() {
            out.push_str(piece);
            continue;
        }
        out.extend(word.chars().take(KEPT));
        out.push_str("...");
        let letters = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let signs = &word[letters.len()..];
        if !letters.is_empty() && signs.len() <= SIGNS {
            out.push_str(signs);
        }
        out.push_str(&piece[word.len()..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_in_any_text() {
        let long = "k".repeat(70_000);
        let cut = "k".repeat(39);
        let text = format!("the output `{long}`: no rows of {long}\nof b");
        let expected = format!("the output `{cut}...`: no rows of k{cut}...\nof b");
        assert_eq!(brief(&text), expected);
        let plain = "  p  1.5\n\n`a`, `b`\n";
        assert_eq!(brief(plain), plain);
        let problem = Problem::new(format!("no column `{long}`")).remedy(format!("add `{long}`"));
        assert!(Problems::from(problem).to_string().len() < 200);
    }

    #[test]
    fn the_caret_stands_under_the_span() {
        let source = Source::new(Path::new("a.toml"), "x = 1\nsuport = 2\n");
        let problem = Problem::new("unknown key `suport`")
            .at(source.place(&(6..12)))
            .remedy("did you mean `support`?");
        let expected = "error: unknown key `suport`\n  --> a.toml:2:1\n   |\n 2 | suport = 2\n   | ^^^^^^\n   = did you mean `support`?\n";
        assert_eq!(Problems::from(problem).to_string(), expected);
    }

    #[test]
    fn columns_count_characters_and_lines_count_every_ending() {
        let spot = Spot::in_bytes("é\r\nß\rüx".as_bytes(), 8..9);
        assert_eq!((spot.line, spot.column, spot.text.as_str()), (3, 2, "üx"));
    }

    #[test]
    fn of_a_long_line_only_the_part_around_the_spot_is_kept() {
        let line = format!("{}x{}", "é".repeat(100_000), "ß".repeat(100_000));
        let at = line.find('x').unwrap();
        let spot = Spot::in_bytes(line.as_bytes(), at..at + 1);
        assert_eq!((spot.line, spot.column, spot.width), (1, 100_001, 1));
        assert!(spot.text.len() <= 2 * KEPT + 8, "{}", spot.text.len());
        let (text, column, width) = window(&spot);
        assert_eq!((text.chars().nth(column), width), (Some('x'), 1));
        assert!(text.starts_with("...") && text.ends_with("..."), "{text}");
    }

    #[test]
    fn places_past_the_end_are_harmless() {
        let spot = Spot::in_bytes(b"a\n", 90..95);
        assert_eq!((spot.line, spot.column), (2, 1));
        let long = Spot {
            line: 1,
            column: 500,
            width: 999,
            text: "y".repeat(2000),
            skipped: 0,
        };
        assert!(window(&long).0.len() < 200);
    }

    #[test]
    fn counts_are_told_however_many_there_are() {
        let mut problems = Problems(vec![Problem::new("bad"); 23]);
        problems.0.insert(0, Problem::new("540 are bad").tally());
        let text = problems.to_string();
        assert!(
            text.ends_with("\nerror: 540 are bad\n\n... and 3 more problems like these\n"),
            "{text}"
        );
    }

    #[test]
    fn colour_is_off_when_plain() {
        assert_eq!(Paint::plain().red("x"), "x");
        assert_eq!(Paint(true).red("x"), "\x1b[1;31mx\x1b[0m");
    }

    #[test]
    fn long_and_wild_values_are_cut_and_escaped() {
        assert_eq!(shown("a\u{1b}b"), "a\\u{1b}b");
        assert!(shown(&"z".repeat(99)).ends_with("..."));
    }
}
