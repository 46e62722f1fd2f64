//! Changes of a study: a key, a value, a section.

use toml_edit::{DocumentMut, Item, Key, Table, Value};

use super::Changed;
use crate::draw::Draw;

/// Values that a key may be given by mistake.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "0.5",
    "-0.0",
    "1e308",
    "-1e308",
    "1e-320",
    "1e150",
    "1e-12",
    "nan",
    "inf",
    "-inf",
    "9223372036854775807",
    "true",
    "false",
    "\"\"",
    "\"x\"",
    "\"t\"",
    "\" \"",
    "[]",
    "{}",
    "[[]]",
    "[1, 2, 3]",
    "[\"t\"]",
    "[\"t\", \"t\"]",
    "[\"from\", \"to\"]",
    "[\"to\", \"to\"]",
    "{ value = 1 }",
    "{ t = 1 }",
    "1979-05-27",
    "\"sum\"",
    "\"mean\"",
    "\"learn\"",
    "\"../d.csv\"",
    "\"d.csv\"",
    "\"/dev/zero\"",
    "\".\"",
    "\"s.toml\"",
    "\"exp\"",
    "\"map\"",
    "\"sparse\"",
    "\"se(t)\"",
    "\"se(x)\"",
    "\"constant\"",
    "\"linear(t)\"",
    "\"coregion(site, a, b) * se(t)\"",
    "\"normal(0, 1)\"",
    "\"flat\"",
    "\"log_normal(0, 1e9)\"",
    "\"gamma(1e-9, 1e9)\"",
    "\"a/b\"",
    "\"con\"",
    "\"\\u0000\"",
    "\"north\"",
];

/// Keys that stand in another place than theirs.
const KEYS: &[&str] = &[
    "value",
    "variance",
    "sd",
    "kernel",
    "file",
    "aggregate",
    "likelihood",
    "support",
    "name",
    "scale",
    "exposure",
    "link",
    "lower",
    "seed",
    "x y",
    "",
    "t",
    "typo",
];

pub fn change(content: &[u8], draw: &mut Draw) -> Option<Changed> {
    let text = std::str::from_utf8(content).ok()?;
    match draw.below(10) {
        0 => Some(lines(text, draw)),
        1 => deep(text, draw),
        _ => {
            let mut document: DocumentMut = text.parse().ok()?;
            let mut places = Vec::new();
            visit(document.as_item_mut(), &mut Vec::new(), &mut |path, _| {
                places.push(path.to_vec())
            });
            let path = draw.of(&places).clone();
            let other = draw.of(&places).clone();
            let what = at(&mut document, &path, &other, draw)?;
            Some((
                document.to_string().into_bytes(),
                format!("{what} at {}", path.join(".")),
            ))
        }
    }
}

/// Changes what stands at a place.
fn at(
    document: &mut DocumentMut,
    path: &[String],
    other: &[String],
    draw: &mut Draw,
) -> Option<String> {
    let (last, parents) = path.split_last()?;
    let root = document.as_item_mut();
    if draw.percent(12) {
        let [a, b] = [path, other].map(|path| find(root, path).cloned());
        let (a, b) = (a?, b?);
        *find(root, path)? = b;
        *find(root, other)? = a;
        return Some(format!("exchanged with {}", other.join(".")));
    }
    if let (Ok(i), Some(array)) = (last.parse::<usize>(), find(root, parents)) {
        return in_array(array, i, draw);
    }
    let parent = find(root, parents)?.as_table_like_mut()?;
    match draw.below(4) {
        0 => {
            parent.remove(last);
            Some("nothing".into())
        }
        1 => {
            let item = parent.remove(last)?;
            let key = draw.word(KEYS);
            parent.insert(key, item);
            Some(format!("called `{key}`"))
        }
        2 => {
            let (key, value) = (draw.word(KEYS), draw.word(VALUES));
            parent.insert(key, Item::Value(value.parse().ok()?));
            Some(format!("`{key} = {value}` beside"))
        }
        _ => {
            let value = draw.word(VALUES);
            parent.insert(last, Item::Value(value.parse().ok()?));
            Some(format!("`{value}`"))
        }
    }
}

fn in_array(item: &mut Item, i: usize, draw: &mut Draw) -> Option<String> {
    if let Some(tables) = item.as_array_of_tables_mut() {
        let copy: Table = tables.get(i)?.clone();
        return Some(match draw.percent(50) {
            true => {
                tables.push(copy);
                "twice".into()
            }
            false => {
                tables.remove(i);
                "nothing".into()
            }
        });
    }
    let value: Value = draw.word(VALUES).parse().ok()?;
    let array = item.as_array_mut()?;
    let told = format!("{value}");
    match draw.below(3) {
        0 => drop(array.remove(i)),
        1 => drop(array.replace(i, value)),
        _ => array.push(value),
    }
    Some(told)
}

/// The item at a path of keys and numbers.
fn find<'a>(item: &'a mut Item, path: &[String]) -> Option<&'a mut Item> {
    let Some((first, rest)) = path.split_first() else {
        return Some(item);
    };
    let next = match (first.parse::<usize>(), item.is_array_of_tables()) {
        // Tables of an array are no items: their keys are reached from here.
        (Ok(i), true) => {
            let table = item.as_array_of_tables_mut()?.get_mut(i)?;
            let (key, rest) = rest.split_first()?;
            return find(table.get_mut(key)?, rest);
        }
        (Ok(_), false) => return None,
        _ => item.as_table_like_mut()?.get_mut(first)?,
    };
    find(next, rest)
}

/// Every place in a document: keys, and numbers within arrays.
fn visit(item: &mut Item, path: &mut Vec<String>, found: &mut impl FnMut(&[String], &Key)) {
    let here = Key::new(path.last().cloned().unwrap_or_default());
    if !path.is_empty() {
        found(path, &here);
    }
    if let Some(tables) = item.as_array_of_tables_mut() {
        for (i, table) in tables.iter_mut().enumerate() {
            path.push(i.to_string());
            found(path, &here);
            for (key, item) in table.iter_mut() {
                path.push(key.get().to_owned());
                visit(item, path, found);
                path.pop();
            }
            path.pop();
        }
    } else if let Some(table) = item.as_table_like_mut() {
        for (key, item) in table.iter_mut() {
            path.push(key.get().to_owned());
            visit(item, path, found);
            path.pop();
        }
    } else if let Some(array) = item.as_array() {
        for i in 0..array.len() {
            path.push(i.to_string());
            found(path, &here);
            path.pop();
        }
    }
}

/// A line twice, elsewhere, or gone.
fn lines(text: &str, draw: &mut Draw) -> Changed {
    let mut lines: Vec<&str> = text.lines().collect();
    let (from, to) = (draw.below(lines.len()), draw.below(lines.len()));
    let what = match draw.below(3) {
        0 => {
            lines.insert(to, lines[from]);
            format!("line {} again at {}", from + 1, to + 1)
        }
        1 => {
            lines.remove(from);
            format!("no line {}", from + 1)
        }
        _ => {
            lines.swap(from, to);
            format!("lines {} and {} exchanged", from + 1, to + 1)
        }
    };
    (format!("{}\n", lines.join("\n")).into_bytes(), what)
}

/// Very much of something.
fn deep(text: &str, draw: &mut Draw) -> Option<Changed> {
    let n = 10_usize.pow(1 + u32::try_from(draw.below(4)).ok()?);
    let line = text.lines().find(|line| line.starts_with("kernel"))?;
    let (value, what) = match draw.below(7) {
        0 => (
            format!("kernel = \"{}se(t){}\"", "(".repeat(n), ")".repeat(n)),
            "parentheses",
        ),
        1 => (
            format!("kernel = \"se(t){}\"", " + se(t)".repeat(n)),
            "summands",
        ),
        2 => (
            format!(
                "kernel = \"(se(t) + matern12(t)){}\"",
                " * (se(t) + matern12(t))".repeat(n.min(31))
            ),
            "factors of sums",
        ),
        3 => (
            format!("kernel = {}1{}", "[".repeat(n), "]".repeat(n)),
            "arrays in each other",
        ),
        4 => (
            format!("kernel = \"se({})\"", "t".repeat(n)),
            "letters of a name",
        ),
        5 => (
            format!(
                "{line}\n{}",
                (0..n)
                    .map(|i| format!("key{i} = {i}\n"))
                    .collect::<String>()
            ),
            "keys",
        ),
        _ => (
            format!("kernel = {}1{}", "{ a = ".repeat(n), " }".repeat(n)),
            "tables in each other",
        ),
    };
    Some((
        text.replacen(line, &value, 1).into_bytes(),
        format!("{n} {what}"),
    ))
}
