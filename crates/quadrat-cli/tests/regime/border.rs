//! Cases: a study, one change of its files, the program, and what is wrong with what it made of
//! them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::draw::Draw;
use crate::judge::{self, Judged, Snapshot, manners, snapshot};
use crate::mutate;
use crate::others;
use crate::run::{End, Ran, quadrat};
use crate::study::{self, Facts};
use crate::{CASES, PARTS, STUDIES};

/// Files and what is done with them.
pub struct Case {
    pub name: String,
    files: Vec<(String, Vec<u8>)>,
    /// What was changed, in words.
    change: String,
    /// One command after the other, as long as they succeed; before the last one its file may be
    /// changed.
    commands: Vec<Vec<String>>,
    /// Changes the model that the first command saves.
    model: Option<u64>,
    facts: Facts,
    judged: Judged,
    /// Whether the files say what was drawn.
    is_whole: bool,
}

/// What came of a case.
pub struct Outcome {
    pub wrong: Vec<String>,
    end: End,
    ran: Option<Ran>,
    seconds: f64,
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

impl Case {
    /// The case of a number.
    ///
    /// The last ones of all are of other commands and files.
    pub fn numbered(n: u64) -> Self {
        let mut draw = Draw::seeded(n);
        let made = match n % CASES {
            0..STUDIES => return Self::of_study(n, draw),
            of if of % 3 == 0 => others::noise(&mut draw),
            of if of % 3 == 1 => others::simulate(&mut draw),
            _ => others::parquet(study::draw(&mut draw), &mut draw),
        };
        Self {
            name: format!("border/{n}"),
            files: made.files,
            change: made.change,
            commands: made.commands.iter().map(|command| words(command)).collect(),
            model: None,
            facts: made.facts,
            judged: made.judged,
            is_whole: made.is_whole,
        }
    }

    /// In every part of them an eighth are studies as they were drawn, an eighth saved models.
    fn of_study(n: u64, mut draw: Draw) -> Self {
        let study = study::draw(&mut draw);
        let mut files = study.files;
        let mut facts = Facts::any();
        let mut commands = vec![words("run s.toml -o out")];
        let (mut change, mut is_whole, mut model) = ("as it is".to_owned(), false, None);
        match (n / PARTS) % 8 {
            0 => {
                facts = study.facts;
                is_whole = true;
            }
            7 => {
                let predict = ["predict", "m.quadrat", "--at", study.at, "-o", "out.csv"];
                let predict = predict
                    .iter()
                    .map(|word| (*word).to_owned())
                    .chain(study.flags);
                commands = vec![words("fit s.toml -o m.quadrat"), predict.collect()];
                match files.iter_mut().find(|(name, _)| name == study.at) {
                    Some(file) if draw.percent(60) => {
                        let change_of = mutate::one(std::slice::from_mut(file), &mut draw);
                        change = format!("{}: {}", change_of.file, change_of.what);
                    }
                    _ => {
                        model = Some(n);
                        change = "the model".into();
                    }
                }
            }
            _ => {
                let change_of = mutate::one(&mut files, &mut draw);
                change = format!("{}: {}", change_of.file, change_of.what);
                if change_of.is_same {
                    facts = study.facts;
                    is_whole = true;
                }
            }
        }
        Self {
            name: format!("border/{n}"),
            files,
            change,
            commands,
            model,
            facts,
            judged: Judged::Predictions,
            is_whole,
        }
    }

    /// Files in a folder; `command` among them holds the commands, if it is not to be run.
    pub fn kept(folder: &Path) -> Self {
        let mut files: Snapshot = snapshot(folder);
        let commands = match files.remove("command") {
            Some(text) => String::from_utf8_lossy(&text).lines().map(words).collect(),
            None => vec![words("run s.toml -o out")],
        };
        Self {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            files: files.into_iter().collect(),
            change: "kept".into(),
            commands,
            model: None,
            facts: Facts::any(),
            judged: Judged::Predictions,
            is_whole: false,
        }
    }

    /// Runs it in a folder of its own.
    pub fn outcome(&self) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let mut wrong = Vec::new();
        for (name, content) in &self.files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let names: Vec<String> = self
            .files
            .iter()
            .map(|(name, _)| name.clone())
            .chain(["m.quadrat".into(), "out/".into()])
            .collect();
        let mut last = None;
        let mut seconds = 0.0;
        for (i, command) in self.commands.iter().enumerate() {
            let path = folder.path().join("m.quadrat");
            if let (Some(seed), true) = (self.model, i > 0) {
                let mut content = std::fs::read(&path).unwrap();
                content = mutate::bytes(&content, &mut Draw::seeded(seed));
                std::fs::write(&path, content).unwrap();
            }
            let before = snapshot(folder.path());
            let ran = quadrat(folder.path(), command);
            let after = snapshot(folder.path());
            let is_done = ran.end == End::Code(0);
            seconds += ran.seconds;
            wrong.extend(manners(&ran, &names, self.judged.is_of_flags()));
            wrong.extend(judge::written(&before, &after, is_done));
            if is_done {
                wrong.extend(self.judged.results(&after, &self.facts));
            }
            last = Some(ran);
            if !is_done {
                break;
            }
        }
        let end = last.as_ref().map_or(End::Stopped, |ran| ran.end);
        Outcome {
            wrong,
            end,
            ran: last,
            seconds,
        }
    }

    /// The case, what was said and what is wrong.
    pub fn told(&self) -> String {
        let outcome = self.outcome();
        let mut text = format!("== {}: {}\n", self.name, self.change);
        for (name, content) in &self.files {
            text.push_str(&format!(
                "-- {name}\n{}\n",
                String::from_utf8_lossy(content)
            ));
        }
        if let Some(ran) = &outcome.ran {
            text.push_str(&format!(
                "-- {:?} after {:.2} s\n{}{}\n",
                ran.end, ran.seconds, ran.stdout, ran.stderr
            ));
        }
        text.push_str(&format!("-- wrong: {:#?}", outcome.wrong));
        text
    }

    /// Leaves the files where they can be looked at, and kept.
    fn leave(&self) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&self.name);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, content) in &self.files {
            std::fs::write(folder.join(name), content).unwrap();
        }
        let commands: Vec<String> = self
            .commands
            .iter()
            .map(|command| command.join(" "))
            .collect();
        std::fs::write(folder.join("command"), commands.join("\n")).unwrap();
        folder
    }
}

/// Runs cases on all processors, and fails with those that do not hold.
pub fn check(numbers: Vec<u64>) {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(u64, Outcome)>> = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(n) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let case = Case::numbered(*n);
                    let outcome = case.outcome();
                    if !outcome.wrong.is_empty() {
                        let folder = case.leave();
                        eprintln!(
                            "{} ({}): {:?}, in {}",
                            case.name,
                            case.change,
                            outcome.wrong,
                            folder.display()
                        );
                    }
                    found.lock().unwrap().push((*n, outcome));
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    told(&found);
}

/// Counts, and fails where something is wrong.
fn told(found: &[(u64, Outcome)]) {
    let of = |code: i32| {
        found
            .iter()
            .filter(|(_, outcome)| outcome.end == End::Code(code))
            .count()
    };
    println!(
        "{} cases: {} done, {} refused, {} of wrong usage",
        found.len(),
        of(0),
        of(1),
        of(2)
    );
    let mut whole = (0, Vec::new());
    for (n, outcome) in found {
        let case = Case::numbered(*n);
        if case.is_whole {
            whole.0 += 1;
            if let (End::Code(1), Some(ran)) = (outcome.end, &outcome.ran) {
                whole.1.push(format!("{}: {}", case.name, ran.stderr));
            }
        }
    }
    println!(
        "{} studies as they were drawn, {} of which are refused:\n{}",
        whole.0,
        whole.1.len(),
        whole.1.join("\n")
    );
    let without_place = |ran: &Ran| ran.end == End::Code(1) && !ran.stderr.contains("--> ");
    let mut unplaced: Vec<&str> = found
        .iter()
        .filter_map(|(_, outcome)| outcome.ran.as_ref())
        .filter(|ran| without_place(ran))
        .filter_map(|ran| ran.stderr.lines().next())
        .collect();
    unplaced.sort_unstable();
    unplaced.dedup();
    println!(
        "refusals without a file and a line:\n{}",
        unplaced.join("\n")
    );
    let mut slow: Vec<(f64, u64)> = found
        .iter()
        .map(|(n, outcome)| (outcome.seconds, *n))
        .collect();
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("the longest: {:?}", slow.iter().take(5).collect::<Vec<_>>());
    let wrong: Vec<String> = found
        .iter()
        .filter(|(_, outcome)| !outcome.wrong.is_empty())
        .map(|(n, outcome)| format!("border/{n}: {}", outcome.wrong.join("; ")))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        found.len(),
        wrong.join("\n")
    );
}
