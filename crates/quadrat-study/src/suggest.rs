//! The nearest known word to one that is not known.

/// What other programs call the keys of study files.
const SYNONYMS: &[(&str, &str)] = &[
    ("confidence", "level"),
    ("expected", "exposure"),
    ("frequency", "times"),
    ("n", "times"),
    ("normal", "gaussian"),
    ("offset", "exposure"),
    ("population", "exposure"),
    ("repeats", "times"),
    ("se", "sd"),
    ("sigma", "sd"),
    ("std", "sd"),
    ("stderr", "sd"),
    ("stdev", "sd"),
    ("weight", "times"),
    ("weights", "times"),
];

/// Of `known`, the word that stands for another one elsewhere.
pub fn synonym<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let (_, own) = SYNONYMS.iter().find(|(other, _)| *other == lower)?;
    known.iter().copied().find(|known| known == own)
}

/// Of `known`, the word nearest to `word`, if it is near enough to be a slip of the keyboard.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 100 {
        return None;
    }
    let lower = word.to_lowercase();
    let length = word.chars().count();
    // A word of which every letter differs is another word.
    let allowed = (length / 4).max(1).min(length.saturating_sub(1));
    known
        .into_iter()
        // Every letter too many or too few is at least one slip.
        .filter(|known| known.len() <= 100 && known.chars().count().abs_diff(length) <= allowed)
        .map(|known| (distance(&lower, &known.to_lowercase()), known))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Names in a sentence: "`a`, `b` and `c`", at most a dozen.
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 12;
    let mut quoted: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    if names.len() > MOST {
        quoted.push(format!("{} more", names.len() - MOST));
    }
    match quoted.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let known = ["support", "aggregate", "likelihood", "file"];
        assert_eq!(nearest("suport", known), Some("support"));
        assert_eq!(nearest("agregate", known), Some("aggregate"));
        assert_eq!(nearest("flie", known), Some("file"));
        assert_eq!(nearest("banana", known), None);
        assert_eq!(nearest("weight", ["right"]), None);
        assert_eq!(nearest("x", ["z"]), None);
        assert_eq!(nearest("X", ["x"]), Some("x"));
    }

    #[test]
    fn words_of_other_programs_are_known_where_the_key_is() {
        assert_eq!(synonym("Offset", &["count", "exposure"]), Some("exposure"));
        assert_eq!(synonym("offset", &["value"]), None);
    }

    #[test]
    fn lists_read_like_a_sentence() {
        assert_eq!(list::<&str>(&[]), "none");
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
