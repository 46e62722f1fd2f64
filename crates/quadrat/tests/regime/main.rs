//! What may be said in another way without changing an answer, for every likelihood, engine and
//! support; evidence to 60 digits; and optima that no other start betters.
//!
//! A case is a law, such as "rows in another order", and a small study drawn from the name of the
//! case: `student_t/ep/map/point/permuted/0`. Variables of the environment:
//!
//! | variable | meaning |
//! |---|---|
//! | `QUADRAT_REGIME_PART` | which part of the table the ordinary run takes, modulo their number; 0 unless told |
//! | `QUADRAT_REGIME_SEEDS` | how many studies the long run draws for each combination, 1 unless told |
//! | `QUADRAT_REGIME_CASE` | one case or the beginnings of several, with a comma between: `cargo test --test regime named -- --ignored --nocapture` |

#![allow(clippy::unwrap_used, clippy::panic)]

mod case;
mod draw;
mod evidence;
mod known;
mod laws;
mod pair;
mod starts;
mod study;

use std::env;
use std::panic::catch_unwind;
use std::time::Instant;

use case::Case;
use known::{KNOWN, MENDED};
use laws::Law;
use pair::Outcome;
use rayon::prelude::*;
use study::Engine;

/// The ordinary run takes one of so many parts: about a hundred cases.
const PARTS: usize = 61;

/// Seconds from which on a case is told.
const LONG: u64 = 20;

fn variable(name: &str, usual: u64) -> u64 {
    env::var(name).map_or(usual, |text| text.parse().unwrap())
}

fn is_known(case: &Case) -> bool {
    KNOWN.iter().any(|(name, _)| *name == case.name())
}

fn outcome(case: &Case) -> Outcome {
    catch_unwind(|| pair::outcome(case)).unwrap_or_else(|_| Outcome::Fails("panics".into()))
}

/// Fails with all cases that fail, by name, so that each can be run again.
fn check(cases: Vec<Case>) {
    let cases: Vec<Case> = cases.into_iter().filter(|case| !is_known(case)).collect();
    let told = |case: &Case| {
        let start = Instant::now();
        let outcome = outcome(case);
        let seconds = start.elapsed().as_secs();
        // Told at once, for a run of hours; what takes long is a matter for `is_dear`.
        if matches!(outcome, Outcome::Fails(_)) || seconds > LONG {
            eprintln!("{}: {outcome:?}, {seconds} s", case.name());
        }
        outcome
    };
    let all: Vec<Outcome> = cases.par_iter().map(told).collect();
    let (mut failures, mut refused) = (Vec::new(), Vec::new());
    for (case, outcome) in cases.iter().zip(&all) {
        match outcome {
            Outcome::Holds => {}
            Outcome::Refused(error) => refused.push(format!("{}: {error}", case.name())),
            Outcome::Fails(why) => failures.push(format!("{}: {why}", case.name())),
        }
    }
    println!("{} cases, {} refused", cases.len(), refused.len());
    println!("{}", refused.join("\n"));
    let n = failures.len();
    assert!(
        n == 0,
        "{n} of {} fail:\n{}",
        cases.len(),
        failures.join("\n")
    );
    // What is refused before and after says little: most small studies have an answer.
    assert!(
        20 * refused.len() <= cases.len(),
        "{} are refused",
        refused.len()
    );
}

#[test]
fn a_part_of_the_laws_holds() {
    let part = variable("QUADRAT_REGIME_PART", 0) as usize % PARTS;
    println!("part {part} of {PARTS}");
    check(Case::part(part, PARTS));
}

#[test]
#[ignore = "an hour; ./check --long"]
fn every_law_holds_of_every_study() {
    check(Case::all(variable("QUADRAT_REGIME_SEEDS", 1)));
}

#[test]
#[ignore = "for what QUADRAT_REGIME_CASE names"]
fn named() {
    let asked = env::var("QUADRAT_REGIME_CASE").unwrap_or_default();
    for case in Case::all(variable("QUADRAT_REGIME_SEEDS", 1)) {
        let name = case.name();
        if asked
            .split(',')
            .any(|start| !start.is_empty() && name.starts_with(start))
        {
            println!("{name}: {:?}", pair::outcome(&case));
            let rng = &mut case.random();
            let pair = case.law.apply(&case.study(rng), rng).unwrap();
            println!("{pair:#?}");
            for study in [&pair.before, &pair.after] {
                println!("{:#?}", study.answers());
                println!("{:#?}", study.fit().map(|fit| fit.summary().clone()));
            }
        }
    }
}

#[test]
fn a_case_is_known_by_its_name() {
    for case in Case::all(1).iter().step_by(97) {
        let found = Case::named(&case.name()).unwrap();
        assert_eq!(found.name(), case.name());
        let [a, b] = [case, &found].map(|case| case.study(&mut case.random()).rows);
        assert_eq!(a, b);
    }
}

#[test]
fn the_parts_are_the_whole_and_each_has_every_law() {
    let parts: Vec<Vec<Case>> = (0..PARTS).map(|part| Case::part(part, PARTS)).collect();
    let mut seen: Vec<String> = parts.iter().flatten().map(Case::name).collect();
    let table = Case::all(1);
    println!("{} cases, {} of little time", table.len(), seen.len());
    let all = table.into_iter().filter(|case| !case.is_dear());
    let mut all: Vec<String> = all.map(|case| case.name()).collect();
    seen.sort();
    all.sort();
    assert_eq!(seen, all);
    // Few kinds have these.
    let rare = [Law::Unit, Law::Repeated, Law::SumAdded];
    for law in Law::ALL.iter().filter(|law| !rare.contains(law)) {
        let has = |part: &Vec<Case>| part.iter().any(|case| case.law == *law);
        assert!(parts.iter().all(has), "{law:?}");
    }
}

/// A law of which the second study is another one is found broken.
#[test]
fn other_data_are_told_from_the_same_data() {
    let quick = |case: &Case| !case.is_dear() && !case.integrated && case.engine == Engine::Auto;
    let all: Vec<Case> = Case::all(1).into_iter().filter(quick).collect();
    let of = |law: Law| all.iter().filter(move |case| case.law == law);
    let some = Law::ALL.map(|law| of(law).step_by(7).take(3).collect::<Vec<_>>());
    for (law, cases) in Law::ALL.iter().zip(&some) {
        assert!(!cases.is_empty(), "{law:?}");
    }
    some.concat().par_iter().for_each(|case| {
        let rng = &mut case.random();
        let mut pair = case.law.apply(&case.study(rng), rng).unwrap();
        pair.spoil();
        let outcome = pair.outcome(case);
        let is_told = matches!(outcome, Outcome::Fails(_));
        assert!(is_told, "{}: {outcome:?}", case.name());
    });
}

#[test]
fn what_was_mended_holds() {
    check(MENDED.iter().map(|name| of_name(name)).collect());
}

fn of_name(name: &str) -> Case {
    Case::named(name).unwrap_or_else(|| panic!("`{name}` is no case"))
}

/// The case of a name on the list of known failures, where it does not fail.
fn holds_again(name: &str, reason: &str) -> Option<String> {
    let outcome = outcome(&of_name(name));
    let holds = !matches!(outcome, Outcome::Fails(_));
    holds.then(|| format!("{name} ({reason}): {outcome:?}; take it off the list of known failures"))
}

#[test]
fn known_failures_still_fail() {
    let again = KNOWN
        .par_iter()
        .filter_map(|(name, why)| holds_again(name, why));
    assert_eq!(again.collect::<Vec<String>>(), Vec::<String>::new());
}

#[test]
fn a_known_failure_that_holds_is_found_out() {
    assert!(holds_again("known/auto/map/point/permuted/0", "none").is_some());
}
