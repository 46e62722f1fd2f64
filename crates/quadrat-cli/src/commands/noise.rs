//! `quadrat noise`: a table of counts released with differential-privacy noise.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Context, Result};
use quadrat::privacy::{Mechanism, NoiseSource, PrivacyError, concentrated};
use quadrat_study::diagnostic::{Paint, Problem, Problems};
use quadrat_study::numbers::{count, exact, human};
use quadrat_study::suggest;
use quadrat_study::table::{NewColumn, Table};

use super::{print, spare};
use crate::args::{MechanismWord, Noise};
use crate::output::{Staged, writable};
use crate::terminal::tell;

/// How many bad counts are shown before the rest is only counted.
const SHOWN: usize = 20;

/// Runs the command.
pub fn run(args: &Noise) -> Result<()> {
    let mechanism = mechanism(args)?;
    let table = open(&args.table)?;
    let chosen = columns(&table, &args.column)?;
    let counts = table.numbers(&chosen)?;
    check(&table, &chosen, &counts, &mechanism)?;
    names(&table, &chosen)?;
    if let Some(output) = &args.output {
        let told = ("the true counts", "choose another file with -o");
        spare(&[&args.table], &[output], told)?;
        writable(std::slice::from_ref(output))?;
    }
    let mut source = match args.seed {
        Some(seed) => NoiseSource::seeded(seed),
        None => NoiseSource::from_os()?,
    };
    let mut new = Vec::new();
    for (&at, column) in chosen.iter().zip(&counts) {
        let noisy = mechanism.release(column, &mut source)?;
        let name = &table.headers()[at];
        let same = |number: f64| vec![exact(number); column.len()];
        let text = |name: String, replaces, cells| NewColumn {
            name,
            replaces,
            cells,
        };
        let cells = noisy.into_iter().map(exact).collect();
        new.push(text(name.clone(), Some(at), cells));
        new.push(text(format!("{name}_scale"), None, same(mechanism.scale())));
        let variance = same(mechanism.variance());
        new.push(text(format!("{name}_variance"), None, variance));
    }
    let bytes = table.rewritten(&new).map_err(Problems::from)?;
    let told = |paint| told(args, &table, &chosen, &counts, &mechanism, paint);
    match &args.output {
        Some(path) => {
            let mut staged = Staged::new();
            staged.bytes(path, &bytes)?;
            staged.finish()?;
            if args.quiet {
                return Ok(());
            }
            let paint = Paint::on(std::io::stdout().is_terminal());
            print(&format!("{}\nwrote {}\n", told(paint), path.display()))
        }
        None => {
            if !args.quiet {
                tell(&told(Paint::on(std::io::stderr().is_terminal())));
            }
            print(std::str::from_utf8(&bytes).context("the table is not UTF-8")?)
        }
    }
}

fn mechanism(args: &Noise) -> Result<Mechanism, Problems> {
    let mechanism = match args.mechanism {
        MechanismWord::Laplace => Mechanism::laplace(args.sensitivity, pure(args)?),
        MechanismWord::Geometric => Mechanism::geometric(args.sensitivity, pure(args)?),
        MechanismWord::DiscreteGaussian => {
            Mechanism::discrete_gaussian(args.sensitivity, rho(args)?)
        }
    };
    let mechanism = mechanism.and_then(|mechanism| match args.clip {
        true => mechanism.clipped(0.0, f64::INFINITY),
        false => Ok(mechanism),
    });
    mechanism.map_err(|error| match (error, args.epsilon, args.delta) {
        // Rho was not given, but what it comes from.
        (error @ PrivacyError::Rho { .. }, Some(epsilon), Some(delta)) => Problem::new(format!(
            "with --epsilon {} and --delta {delta:e}, {error}",
            human(epsilon)
        ))
        .remedy("give another --epsilon, such as 0.1 or 1")
        .into(),
        (error, ..) => refused(error),
    })
}

/// The epsilon of noise that needs no delta.
fn pure(args: &Noise) -> Result<f64, Problems> {
    match (args.epsilon, args.delta) {
        (Some(epsilon), None) => Ok(epsilon),
        (given, _) => {
            let flag = if given.is_none() { "--rho" } else { "--delta" };
            let problem = Problem::new(format!(
                "{flag} is for discrete Gaussian noise; Laplace and geometric noise keep --epsilon without fail"
            ));
            Err(problem
                .remedy("give --epsilon alone, or `--mechanism discrete-gaussian`")
                .into())
        }
    }
}

/// The zero-concentrated privacy of Gaussian noise.
fn rho(args: &Noise) -> Result<f64, Problems> {
    match (args.rho, args.epsilon, args.delta) {
        (Some(rho), ..) => Ok(rho),
        (None, Some(epsilon), Some(delta)) => concentrated(epsilon, delta).map_err(refused),
        _ => {
            let problem = Problem::new(
                "discrete Gaussian noise keeps no --epsilon without a chance of failure",
            );
            Err(problem
                .remedy("add --delta, such as 1e-6, or give --rho in place of --epsilon")
                .into())
        }
    }
}

fn refused(error: PrivacyError) -> Problems {
    let remedy = match &error {
        PrivacyError::Epsilon { .. } => "give another --epsilon, such as 0.1 or 1",
        PrivacyError::Rho { .. } => "give another --rho, such as 0.005 or 0.5",
        PrivacyError::Delta { .. } => "give another --delta, such as 1e-6",
        PrivacyError::Sensitivity { .. } => {
            "give --sensitivity: the most by which one person changes a column, 1 where everybody is counted in one row"
        }
        _ => "leave --clip out",
    };
    Problem::new(error.to_string()).remedy(remedy).into()
}

fn open(path: &Path) -> Result<Table, Problems> {
    let parquet = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
    if parquet {
        let problem = Problem::new(format!(
            "`{}`: `quadrat noise` copies the other columns byte by byte, which only CSV allows",
            path.display()
        ));
        return Err(problem.remedy("save the table as CSV").into());
    }
    Table::open(path, path).map_err(Problems::by_flags)
}

/// Positions of the columns to release. A wrong guess would publish true counts, so there is one
/// only where a single column of numbers is left beside edges and identifiers.
fn columns(table: &Table, asked: &[String]) -> Result<Vec<usize>, Problems> {
    let mut problems = Problems::default();
    let mut chosen = Vec::new();
    for name in asked {
        match table.named(name) {
            Ok(at) if chosen.contains(&at) => problems.push(
                Problem::new(format!("the column `{name}` is given twice"))
                    .at(table.whole())
                    .remedy("give each column once: noise must not be added twice"),
            ),
            Ok(at) => chosen.push(at),
            Err(problem) => problems.push(problem),
        }
    }
    if !asked.is_empty() {
        return problems.or(chosen);
    }
    let headers = table.headers();
    let candidates: Vec<usize> = (0..headers.len())
        .filter(|&at| !is_key(&headers[at]) && table.has_numbers(at))
        .collect();
    if candidates.len() == 1 {
        return Ok(candidates);
    }
    let names: Vec<&String> = candidates.iter().map(|&at| &headers[at]).collect();
    let fact = match names.as_slice() {
        [] => format!(
            "{} has no column that is plainly one of counts; its columns are {}",
            table.name(),
            suggest::list(headers)
        ),
        names => format!(
            "{} has several columns that may hold counts: {}",
            table.name(),
            suggest::list(names)
        ),
    };
    let problem = Problem::new(fact).at(table.whole());
    Err(match table.wrong_separator() {
        Some(remedy) => problem.remedy(remedy),
        None => problem.remedy(
            "name those to protect, such as `--column people`; all others are copied as they are",
        ),
    }
    .into())
}

/// Whether a column is named like an edge of a box or an identifier.
fn is_key(header: &str) -> bool {
    const WORDS: [&str; 14] = [
        "from", "to", "lower", "upper", "lo", "hi", "min", "max", "start", "end", "left", "right",
        "id", "code",
    ];
    let header = header.to_lowercase();
    let last = header.rsplit(['_', ' ', '.', '-']).next().unwrap_or("");
    WORDS.contains(&last)
}

/// Every count must be one that the mechanism takes.
fn check(
    table: &Table,
    chosen: &[usize],
    counts: &[Vec<f64>],
    mechanism: &Mechanism,
) -> Result<(), Problems> {
    let mut problems = Problems::default();
    let mut more = 0;
    for (&at, column) in chosen.iter().zip(counts) {
        for (row, &value) in column.iter().enumerate() {
            let Some(requirement) = mechanism.requirement(value) else {
                continue;
            };
            if problems.0.len() == SHOWN {
                more += 1;
                continue;
            }
            let remedy = if value < 0.0 {
                "counts of people cannot be negative; was noise added before?"
            } else if !mechanism.is_integer() {
                "correct it, or use `--mechanism geometric`, which is exact for whole counts up to 2^53"
            } else if value.fract() == 0.0 {
                "correct it, or count in a larger unit"
            } else {
                "correct it, or use `--mechanism laplace`"
            };
            problems.push(
                Problem::new(format!(
                    "the count is {}; it must be {requirement}",
                    exact(value)
                ))
                .at(table.place(row, at))
                .remedy(remedy),
            );
        }
    }
    if more > 0 {
        problems.push(Problem::new(format!(
            "{} has {more} more counts like these",
            table.name()
        )));
    }
    problems.or(())
}

/// The added columns must not repeat a name.
fn names(table: &Table, chosen: &[usize]) -> Result<(), Problems> {
    let mut problems = Problems::default();
    for &at in chosen {
        for ending in ["scale", "variance"] {
            let name = format!("{}_{ending}", table.headers()[at]);
            if table.headers().contains(&name) {
                problems.push(
                    Problem::new(format!(
                        "the released table would have two columns named `{name}`"
                    ))
                    .remedy("rename that column; was noise added before?"),
                );
            }
        }
    }
    problems.or(())
}

/// What was done, for people.
fn told(
    args: &Noise,
    table: &Table,
    chosen: &[usize],
    counts: &[Vec<f64>],
    mechanism: &Mechanism,
    paint: Paint,
) -> String {
    let name = |at: &usize| clean(&table.headers()[*at]);
    let released: Vec<String> = chosen.iter().map(name).collect();
    let rest: Vec<String> = (0..table.headers().len())
        .filter(|at| !chosen.contains(at))
        .map(|at| name(&at))
        .collect();
    let law = match args.mechanism {
        MechanismWord::Laplace => "Laplace",
        MechanismWord::Geometric => "two-sided geometric",
        MechanismWord::DiscreteGaussian => "discrete Gaussian",
    };
    let rows = counts.first().map_or(0, Vec::len);
    let mut text = String::new();
    let mut say = |words: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{words}");
    };
    say(paint.bold(&format!(
        "{}: {law} noise on {}, {}",
        clean(table.name()),
        suggest::list(&released),
        count(rows, "row")
    )));
    spent(args, chosen.len(), mechanism)
        .into_iter()
        .for_each(&mut say);
    if !rest.is_empty() {
        say(format!(
            "  copied    {} without noise; the number of rows is released too",
            suggest::list(&rest)
        ));
    }
    for column in &released {
        say(format!(
            "  study     likelihood = {{ gaussian = {{ value = \"{column}\", variance = \"{column}_variance\" }} }}"
        ));
    }
    let mut warn = |words: &str| say(format!("{}: {words}", paint.yellow("warning")));
    if args.seed.is_some() {
        warn(
            "made with --seed, for studies and tests only: whoever learns the seed takes the noise away",
        );
    }
    if args.clip {
        warn(
            "clipped at zero: small counts and all sums are too high on average, and the variance given is that before clipping; leave --clip out where the table is to be analysed",
        );
    }
    let whole = || counts.iter().flatten().all(|value| value.fract() == 0.0);
    if args.mechanism == MechanismWord::Laplace && whole() {
        warn(
            "the last digits of Laplace noise in floating point can betray a count; these are whole numbers, for which `--mechanism geometric` has no such leak",
        );
    }
    text
}

/// How much noise, and what it costs.
fn spent(args: &Noise, columns: usize, mechanism: &Mechanism) -> [String; 3] {
    let sensitivity = human(mechanism.sensitivity());
    let is_gaussian = args.mechanism == MechanismWord::DiscreteGaussian;
    let (word, spent) = match is_gaussian {
        true => ("rho", mechanism.rho()),
        false => ("epsilon", mechanism.epsilon()),
    };
    let one = human(spent);
    let from = match is_gaussian {
        true => format!("sensitivity {sensitivity} / sqrt(2 rho)"),
        false => format!("sensitivity {sensitivity} / epsilon {one}"),
    };
    let noise = format!(
        "  noise     scale {} = {from}; variance {}, standard deviation {}",
        human(mechanism.scale()),
        human(mechanism.variance()),
        human(mechanism.variance().sqrt()),
    );
    let but = match (args.epsilon, args.delta) {
        (Some(epsilon), Some(delta)) => format!(
            "; a column keeps epsilon {} but for a chance of {delta:e}",
            human(epsilon)
        ),
        _ => String::new(),
    };
    let privacy = match columns {
        1 => format!("  privacy   {word} {one} spent{but}"),
        _ => format!(
            "  privacy   {word} {} spent: {one} for each of {columns} columns, which add up where one person counts in all of them{but}",
            human(spent * columns as f64),
        ),
    };
    let how = match is_gaussian {
        true => "the root of the sum of squares over all its rows",
        false => "all its rows together",
    };
    let holds = format!(
        "            holds if one person changes a column by at most {sensitivity}, {how}; later releases about the same people add to it"
    );
    [noise, privacy, holds]
}

/// A name from the user's file: control characters in it must not reach the terminal.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
