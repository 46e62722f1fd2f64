//! The production files of all crates, as modules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::lexer;

/// A source file.
pub struct File {
    /// Below the root, with `/`.
    pub path: String,
    /// The name of its crate and the modules down to it.
    pub module: Vec<String>,
    /// Its text without tests.
    pub text: String,
    /// That without comments and what is in quotes.
    pub code: String,
}

impl File {
    /// The module of the folder in which it is.
    fn folder(&self) -> &[String] {
        let is_folder = ["/mod.rs", "/lib.rs", "/main.rs"]
            .iter()
            .any(|end| self.path.ends_with(end));
        &self.module[..self.module.len() - usize::from(!is_folder)]
    }
}

/// All files.
pub struct Sources {
    /// Sorted by path.
    pub files: Vec<File>,
}

impl Sources {
    /// Reads `crates/*/src` below a folder. Modules that are only compiled for tests are left out.
    pub fn read(root: &Path) -> Self {
        let mut files = Vec::new();
        let mut crates: Vec<PathBuf> = children(&root.join("crates"));
        crates.retain(|path| path.join("src").is_dir());
        for path in crates {
            let name = file_name(&path).replace('-', "_");
            folder(root, &path.join("src"), &[name], &mut files);
        }
        let tests: BTreeSet<Vec<String>> = files.iter().flat_map(test_modules).collect();
        files.retain(|file| !(1..=file.module.len()).any(|n| tests.contains(&file.module[..n])));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    /// The file of a module.
    pub fn find(&self, module: &[String]) -> Option<usize> {
        self.files.iter().position(|file| file.module == module)
    }
}

/// What is in a folder, sorted.
pub fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn folder(root: &Path, at: &Path, module: &[String], files: &mut Vec<File>) {
    for path in children(at) {
        let name = file_name(&path);
        if path.is_dir() {
            let below = [module, &[name]].concat();
            folder(root, &path, &below, files);
        } else if let Some(stem) = name.strip_suffix(".rs") {
            let module = match stem {
                "mod" | "lib" | "main" => module.to_vec(),
                stem => [module, &[stem.to_owned()]].concat(),
            };
            let text = std::fs::read_to_string(&path).unwrap();
            let shown = path.strip_prefix(root).unwrap_or(&path);
            let text = without_tests(&text);
            files.push(File {
                path: shown.to_string_lossy().replace('\\', "/"),
                module,
                code: lexer::code(&text),
                text,
            });
        }
    }
}

/// The modules of a file that are declared for tests alone, in files of their own.
fn test_modules(file: &File) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    // Of the attributes that stand before a line.
    let (mut is_test, mut path) = (false, None);
    for (line, code) in file.text.lines().zip(file.code.lines()) {
        let (line, code) = (line.trim(), code.trim());
        if let Some(declared) = code.strip_suffix(';') {
            let name = declared.rsplit_once("mod ").map(|(_, name)| name.trim());
            if let (true, Some(name)) = (is_test, name) {
                found.push(match path.take() {
                    Some(stem) => [file.folder(), &[stem]].concat(),
                    None => [file.module.as_slice(), &[name.to_owned()]].concat(),
                });
            }
        }
        if code.is_empty() || code.ends_with([';', '}', '{']) {
            (is_test, path) = (false, None);
        }
        is_test |= code.starts_with("#[cfg(test)]");
        if let Some(rest) = line.strip_prefix("#[path = \"") {
            path = rest.split_once(".rs\"").map(|(stem, _)| stem.to_owned());
        }
    }
    found
}

/// Where a module of tests begins that is written in the file itself.
fn inline_tests(code: &str) -> Option<usize> {
    code.match_indices("#[cfg(test)]\n").find_map(|(at, _)| {
        // Other attributes may follow.
        let mut lines = code[at..].lines().skip_while(|line| line.starts_with("#["));
        (lines.next() == Some("mod tests {")).then_some(at)
    })
}

/// A text whose inline modules of tests are blank lines.
fn without_tests(text: &str) -> String {
    let mut text = text.to_owned();
    loop {
        let code = lexer::code(&text);
        let Some(begin) = inline_tests(&code) else {
            return text;
        };
        // Bytes of the two agree only as far as all characters before are of one byte: count them.
        let chars: Vec<char> = text.chars().collect();
        let begin = code[..begin].chars().count();
        let ascii: Vec<u8> = code
            .chars()
            .map(|c| if c.is_ascii() { c as u8 } else { b' ' })
            .collect();
        let open = begin + ascii[begin..].iter().position(|&b| b == b'{').unwrap_or(0);
        let end = lexer::closing(&ascii, open);
        let blank = |(at, c): (usize, &char)| match (begin..=end).contains(&at) && *c != '\n' {
            true => ' ',
            false => *c,
        };
        text = chars.iter().enumerate().map(blank).collect();
        if end >= ascii.len() {
            return text;
        }
    }
}
