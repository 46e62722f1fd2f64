//! Arrows between files, the floors they run between, and circles of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{self, Import};
use crate::sources::Sources;

/// The modules of the library from the ground up, as docs/design.md has them.
pub const FLOORS: &[&[&str]] = &[
    &["linalg", "special", "error", "progress", "sealed"],
    &["parameter", "optimise", "quadrature", "score"],
    &["kernel", "support", "likelihood", "link", "privacy"],
    &["covariance"],
    &["inference"],
    &["problem"],
    &["posterior"],
    &[
        "model",
        "baseline",
        "simulate",
        "density",
        "ungroup",
        "reconcile",
    ],
    &["acquire", "validation"],
];

/// For every file those that it imports.
pub struct Graph {
    arrows: Vec<BTreeSet<usize>>,
}

impl Graph {
    /// The imports of all files, within their crates.
    pub fn of(sources: &Sources) -> Self {
        let uses: Vec<Vec<Import>> = sources
            .files
            .iter()
            .map(|file| imports::uses(&file.code))
            .collect();
        let public: Vec<Vec<Import>> = uses
            .iter()
            .map(|uses| {
                uses.iter()
                    .filter(|import| import.is_public)
                    .cloned()
                    .collect()
            })
            .collect();
        let arrows = (0..sources.files.len())
            .map(|file| {
                let named = uses[file].iter().filter(|import| !import.is_public);
                let paths = named.map(|import| import.path.clone());
                let inline = imports::inline(&sources.files[file].code);
                paths
                    .chain(inline)
                    .filter_map(|path| imports::target(sources, &public, file, &path))
                    .filter(|&to| to != file)
                    .collect()
            })
            .collect();
        Self { arrows }
    }

    /// The arrows of the library that run from a lower floor to a higher one, and modules on none.
    pub fn upward(&self, sources: &Sources, floors: &[&[&str]]) -> Vec<String> {
        let floor = |file: usize| {
            let module = sources.files[file].module.get(1)?;
            floors
                .iter()
                .position(|floor| floor.contains(&module.as_str()))
        };
        let is_library = |file: usize| sources.files[file].module[0] == "quadrat";
        let mut found = Vec::new();
        for (from, arrows) in self
            .arrows
            .iter()
            .enumerate()
            .filter(|(file, _)| is_library(*file))
        {
            if sources.files[from].module.len() > 1 && floor(from).is_none() {
                found.push(format!("{} is on no floor", sources.files[from].path));
            }
            for &to in arrows.iter().filter(|&&to| floor(from) < floor(to)) {
                // The root declares all modules.
                if floor(from).is_some() {
                    found.push(format!(
                        "{} -> {}",
                        sources.files[from].path, sources.files[to].path
                    ));
                }
            }
        }
        found
    }

    /// Files that reach each other, in groups of two or more, largest first.
    pub fn circles(&self) -> Vec<Vec<usize>> {
        let mut search = Search {
            arrows: &self.arrows,
            order: BTreeMap::new(),
            low: vec![0; self.arrows.len()],
            stack: Vec::new(),
            on: vec![false; self.arrows.len()],
            found: Vec::new(),
        };
        for file in 0..self.arrows.len() {
            if !search.order.contains_key(&file) {
                search.visit(file);
            }
        }
        let mut found = search.found;
        found.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        found
    }
}

/// Tarjan's search for strongly connected components.
struct Search<'a> {
    arrows: &'a [BTreeSet<usize>],
    order: BTreeMap<usize, usize>,
    low: Vec<usize>,
    stack: Vec<usize>,
    on: Vec<bool>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, file: usize) {
        let number = self.order.len();
        self.order.insert(file, number);
        self.low[file] = number;
        self.stack.push(file);
        self.on[file] = true;
        for &to in &self.arrows[file] {
            if !self.order.contains_key(&to) {
                self.visit(to);
                self.low[file] = self.low[file].min(self.low[to]);
            } else if self.on[to] {
                self.low[file] = self.low[file].min(self.order[&to]);
            }
        }
        if self.low[file] == number {
            let begin = self
                .stack
                .iter()
                .position(|&other| other == file)
                .unwrap_or(0);
            let circle = self.stack.split_off(begin);
            for &member in &circle {
                self.on[member] = false;
            }
            if circle.len() > 1 {
                self.found.push(circle);
            }
        }
    }
}
