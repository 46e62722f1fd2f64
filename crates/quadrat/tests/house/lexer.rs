//! Source text without what is in quotes and comments, so that words in it are code.

/// The text with comments, strings and characters replaced by spaces; lines stay where they are.
pub fn code(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out: Vec<char> = Vec::with_capacity(chars.len());
    let mut at = 0;
    while at < chars.len() {
        let end = quoted(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            let blank = |c: &char| if *c == '\n' { '\n' } else { ' ' };
            out.extend(chars[at..end].iter().map(blank));
            at = end;
        }
    }
    out.into_iter().collect()
}

/// The end of the comment, string or character that begins here; here, where none does.
fn quoted(chars: &[char], at: usize) -> usize {
    let next = |offset: usize| chars.get(at + offset).copied().unwrap_or('\0');
    match chars[at] {
        '/' if next(1) == '/' => find(chars, at, |c| c == '\n'),
        '/' if next(1) == '*' => block(chars, at),
        '"' => string(chars, at + 1),
        'r' if matches!(next(1), '"' | '#') && !follows_word(chars, at) => raw(chars, at),
        // A character, not a lifetime: 'a' or '\n'.
        '\'' if next(1) == '\\' => find(chars, at + 3, |c| c == '\'') + 1,
        '\'' if next(2) == '\'' => at + 3,
        _ => at,
    }
}

fn follows_word(chars: &[char], at: usize) -> bool {
    at > 0 && (chars[at - 1].is_alphanumeric() && chars[at - 1] != 'b' || chars[at - 1] == '_')
}

fn find(chars: &[char], from: usize, is_end: impl Fn(char) -> bool) -> usize {
    let from = from.min(chars.len());
    chars[from..]
        .iter()
        .position(|&c| is_end(c))
        .map_or(chars.len(), |n| from + n)
}

fn string(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn block(chars: &[char], at: usize) -> usize {
    let (mut depth, mut at) = (0_usize, at);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') if depth == 1 => return at + 2,
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    chars.len()
}

/// `r"..."`, `r#"..."#`; here, where it is a raw identifier.
fn raw(chars: &[char], at: usize) -> usize {
    let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
    if chars.get(at + 1 + hashes) != Some(&'"') {
        return at;
    }
    let close = |from: usize| {
        chars[from] == '"'
            && chars[from + 1..]
                .iter()
                .take(hashes)
                .filter(|&&c| c == '#')
                .count()
                == hashes
    };
    (at + 2 + hashes..chars.len())
        .find(|&from| close(from))
        .map_or(chars.len(), |from| from + 1 + hashes)
}

/// The end of what the brace here opens, in text without quotes.
pub fn closing(code: &[u8], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

#[test]
fn quotes_and_comments_are_blank() {
    let text = "let a = \"use x::y;\"; // use z::w;\nlet b = r#\"a \"q\" b\"#; let c = '\\'' ; 'l: loop {}";
    let code = code(text);
    assert_eq!(code.len(), text.len());
    assert!(!code.contains("use") && !code.contains('q'), "{code}");
    assert!(
        code.contains("let c =") && code.contains("'l: loop {}"),
        "{code}"
    );
}
