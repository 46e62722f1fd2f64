//! `quadrat noise`: what it releases, says and refuses.

use crate::harness::{folder, names, quadrat, stderr, stdout};

const COUNTS: &str =
    "from, to ,people,\"place, county\"\r\n0,10,12,\"A \"\"x\"\"\"\r\n10,20,0040,é\r\n";

fn run(table: &str, more: &[&str]) -> (tempfile::TempDir, std::process::Output) {
    let folder = folder(&[("t.csv", table.as_bytes())]);
    let mut args = vec!["noise", "t.csv"];
    args.extend(more);
    let output = quadrat(folder.path(), &args);
    (folder, output)
}

const USUAL: [&str; 4] = ["--epsilon", "0.1", "--sensitivity", "1"];

fn usual<'a>(more: &[&'a str]) -> Vec<&'a str> {
    USUAL.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn only_the_counts_change_and_scale_and_variance_are_added() {
    let (folder, output) = run(COUNTS, &usual(&["-o", "out.csv", "--seed", "3"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(names(folder.path()), ["out.csv", "t.csv"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("t.csv"), COUNTS);
    let released = read("out.csv");
    let rows: Vec<&str> = released.split("\r\n").collect();
    assert_eq!(
        rows[0],
        "from, to ,people,\"place, county\",people_scale,people_variance"
    );
    assert!(rows[1].starts_with("0,10,") && rows[1].ends_with(",\"A \"\"x\"\"\",10,200"));
    assert!(rows[2].starts_with("10,20,") && rows[2].ends_with(",é,10,200"));
    assert_eq!((rows[3], rows.len()), ("", 4));
    for (row, truth) in [(1, 12.0), (2, 40.0)] {
        let noisy: f64 = rows[row].split(',').nth(2).unwrap().parse().unwrap();
        // No draw is further than 53 log 2 scales.
        assert!(noisy != truth && (noisy - truth).abs() < 368.0);
    }
    let text = stdout(&output);
    for part in [
        "Laplace noise on `people`, 2 rows",
        "scale 10 = sensitivity 1 / epsilon 0.1; variance 200",
        "epsilon 0.1 spent",
        "copied    `from`, `to` and `place, county` without noise",
        "{ value = \"people\", variance = \"people_variance\" }",
        "warning: made with --seed",
        "--mechanism geometric",
        "wrote out.csv",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn a_byte_order_mark_is_kept() {
    let (_keep, output) = run(&format!("\u{feff}{COUNTS}"), &usual(&["--seed", "3"]));
    assert!(stdout(&output).starts_with("\u{feff}from, to ,people,"));
}

#[test]
fn a_seed_repeats_the_noise_and_its_absence_does_not() {
    let table = |more: &[&str]| {
        let (_keep, output) = run(COUNTS, &usual(more));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (stdout(&output), stderr(&output))
    };
    assert_eq!(table(&["--seed", "5"]), table(&["--seed", "5"]));
    assert_ne!(table(&["--seed", "5"]).0, table(&["--seed", "6"]).0);
    // Equal by chance once in 2^106 or so.
    assert_ne!(table(&[]).0, table(&[]).0);
    assert!(!table(&[]).1.contains("--seed"));
    assert_eq!(table(&["--quiet", "--seed", "5"]).1, "");
    assert!(table(&["--quiet"]).0.starts_with("from, to ,people,"));
}

#[test]
fn geometric_noise_is_whole_and_clipping_is_at_zero() {
    let table = format!("people\n{}", "3\n".repeat(200));
    let values = |more: &[&str]| -> Vec<f64> {
        let (_keep, output) = run(&table, &usual(more));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = stdout(&output);
        let cells = text.lines().skip(1).map(|line| line.split(',').next());
        cells.map(|cell| cell.unwrap().parse().unwrap()).collect()
    };
    let whole = values(&["--mechanism", "geometric", "--seed", "1"]);
    assert!(whole.iter().all(|value| value.fract() == 0.0));
    assert!(whole.iter().any(|value| *value < 0.0) && whole.len() == 200);
    let clipped = values(&["--mechanism", "geometric", "--seed", "1", "--clip"]);
    let raised: Vec<f64> = whole.iter().map(|value| value.max(0.0)).collect();
    assert_eq!(clipped, raised);
    let (_keep, output) = run(&table, &usual(&["--clip"]));
    assert!(stderr(&output).contains("too high on average"));
}

#[test]
fn several_columns_get_noise_of_their_own_and_their_epsilons_add_up() {
    let table = format!("women,men\n{}", "50,50\n".repeat(20));
    let (_keep, output) = run(&table, &usual(&["--column", "men,women", "--seed", "1"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("women,men,men_scale,men_variance,women_scale,women_variance\n"));
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_ne!(cells[0], cells[1]);
    }
    let said = stderr(&output);
    assert!(
        said.contains("epsilon 0.2 spent: 0.1 for each of 2 columns"),
        "{said}"
    );
}

#[test]
fn columns_are_not_guessed_where_true_counts_might_be_published() {
    let (_keep, output) = run("from,to,women,men\n0,10,5,6\n", &USUAL);
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(1), String::new())
    );
    let text = stderr(&output);
    assert!(
        text.contains("several columns that may hold counts: `women` and `men`")
            && text.contains("--column"),
        "{text}"
    );
    let (_keep, output) = run("age_from,age_to,area\n0,10,x\n", &USUAL);
    assert!(stderr(&output).contains("no column that is plainly one of counts"));
}

#[test]
fn discrete_gaussian_noise_is_asked_by_rho_or_by_epsilon_and_delta() {
    let table = format!("people\n{}", "50\n".repeat(400));
    let asked = |more: &[&str]| {
        let usual = ["--sensitivity", "1", "--mechanism", "discrete-gaussian"];
        let all = [&usual[..], more].concat();
        let (_keep, output) = run(&table, &all);
        (output.status.code(), stdout(&output), stderr(&output))
    };
    let (code, text, said) = asked(&["--rho", "0.005", "--seed", "1"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(text.starts_with("people,people_scale,people_variance\n"));
    let cells = |line: &str| -> Vec<f64> { line.split(',').map(|c| c.parse().unwrap()).collect() };
    let rows: Vec<Vec<f64>> = text.lines().skip(1).map(cells).collect();
    assert!(rows.iter().all(|row| row[0].fract() == 0.0));
    // Sigma squared has forty bits.
    assert!(rows.iter().all(|row| (row[2] - 100.0).abs() < 1e-9));
    let square = rows.iter().map(|row| (row[0] - 50.0).powi(2)).sum::<f64>() / 400.0;
    // The variance of 400 normals is known to 100 sqrt(2 / 400) = 7; four of them.
    assert!((square - 100.0).abs() < 28.0, "{square}");
    for part in [
        "discrete Gaussian noise on `people`",
        "scale 10 = sensitivity 1 / sqrt(2 rho); variance 100",
        "rho 0.005 spent",
        "the root of the sum of squares",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let (code, text, said) = asked(&["--epsilon", "1", "--delta", "1e-6"]);
    assert_eq!(code, Some(0), "{said}");
    // Sigma 4.53.
    let variance = cells(text.lines().nth(1).unwrap())[2];
    assert!((variance - 20.53).abs() < 0.01, "{variance}");
    assert!(
        said.contains("keeps epsilon 1 but for a chance of 1e-6"),
        "{said}"
    );
    for (more, expected) in [
        (
            &["--epsilon", "1"][..],
            "add --delta, such as 1e-6, or give --rho",
        ),
        (
            &["--rho", "0"],
            "rho is 0; it must be a finite number above zero",
        ),
        (&["--rho", "1e3"], "0.153 or more"),
        (&["--rho", "1e3"], "give another --rho"),
        (
            &["--epsilon", "60", "--delta", "1e-6"],
            "with --epsilon 60 and --delta 1e-6, rho is 24.6",
        ),
        (
            &["--epsilon", "60", "--delta", "1e-6"],
            "give another --epsilon",
        ),
        (
            &["--epsilon", "1", "--delta", "1"],
            "delta is 1; it must be above zero and below 1",
        ),
    ] {
        let (code, text, said) = asked(more);
        assert_eq!((code, text.as_str()), (Some(1), ""), "{more:?}");
        assert!(said.contains(expected), "no `{expected}` in\n{said}");
    }
    assert_eq!(asked(&["--epsilon", "1", "--rho", "1"]).0, Some(2));
    for (more, flag) in [
        (&["--rho", "1"][..], "--rho"),
        (&["--epsilon", "1", "--delta", "1e-6"], "--delta"),
    ] {
        let all = [
            &["--sensitivity", "1", "--mechanism", "geometric"][..],
            more,
        ]
        .concat();
        let (_keep, output) = run(&table, &all);
        assert!(stderr(&output).contains(&format!("{flag} is for discrete Gaussian noise")));
    }
}

#[rustfmt::skip]
const REFUSED: &[(&str, &str, &[&str], &[&str])] = &[
    ("negative", "from,people\n0,5\n1,-2\n", &[], &["the count is -2; it must be zero or more", "t.csv:3:3 (column `people`)", "noise added before"]),
    ("fraction", "from,people\n0,5\n1,2.5\n", &["--mechanism", "geometric"], &["the count is 2.5; it must be a whole number", "t.csv:3:3 (column `people`)", "--mechanism laplace"]),
    ("nan", "from,people\n0,NaN\n", &["--column", "people"], &["`NaN` is not finite", "t.csv:2:3 (column `people`)"]),
    ("empty", "from,people\n0,\n", &["--column", "people"], &["the cell is empty", "t.csv:2:3 (column `people`)"]),
    ("text", "from,people\n0,many\n", &["--column", "people"], &["`many` is not a number", "t.csv:2:3", "write a plain number such as 12.5 or 3e-4\n"]),
    ("no_rows", "from,people\n", &["--column", "people"], &["no rows"]),
    ("missing", "from,people\n0,5\n", &["--column", "poeple"], &["there is no column `poeple`", "did you mean `people`?"]),
    ("coarse", "from,people\n0,5\n1,9007199254740993\n", &[], &["the count is 9007199254740992; it must be so small that neighbouring doubles are less than a millionth of the scale", "t.csv:3:3 (column `people`)", "--mechanism geometric"]),
    ("coarser", "from,people\n0,123456789012345678901\n", &[], &["the count is 1.2345678901234568e20", "t.csv:2:3 (column `people`)"]),
    ("large", "from,people\n0,123456789012345678901\n", &["--mechanism", "geometric"], &["the count is 1.2345678901234568e20; it must be a whole number up to 2^53", "t.csv:2:3", "larger unit"]),
    ("semicolons", "from;people\n0;5\n", &[], &["no column that is plainly one of counts", "separated by ';'; save it with commas"]),
    ("tabs", "from\tpeople\n0\t5\n", &["--column", "people"], &["there is no column `people`", "save it with commas"]),
    ("twice", "from,people\n0,5\n", &["--column", "people", "--column", "people"], &["`people` is given twice"]),
    ("again", "people,people_variance\n5,200\n", &["--column", "people"], &["two columns named `people_variance`"]),
    ("itself", "from,people\n0,5\n", &["-o", "t.csv"], &["would replace the true counts"]),
    ("itself_by_another_way", "from,people\n0,5\n", &["-o", "./t.csv"], &["would replace the true counts"]),
    ("folder", "from,people\n0,5\n", &["-o", "."], &["is a folder"]),
];

#[test]
fn tables_that_cannot_be_released_are_refused_with_place_and_remedy() {
    for (name, table, more, expected) in REFUSED {
        let (folder, output) = run(table, &usual(more));
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {text}");
        for part in *expected {
            assert!(text.contains(part), "{name}: no `{part}` in\n{text}");
        }
        assert_eq!(stdout(&output), "", "{name}");
        assert_eq!(names(folder.path()), ["t.csv"], "{name}");
        let kept = std::fs::read_to_string(folder.path().join("t.csv")).unwrap();
        assert_eq!(kept, *table, "{name}");
    }
}

#[test]
fn settings_that_give_no_privacy_are_refused() {
    for (epsilon, sensitivity, mechanism, expected) in [
        (
            "0",
            "1",
            "laplace",
            "epsilon is 0; it must be a finite number above zero",
        ),
        ("nan", "1", "laplace", "epsilon is NaN"),
        ("inf", "1", "laplace", "epsilon is inf"),
        ("1", "-1", "laplace", "the sensitivity is -1"),
        (
            "1e300",
            "1",
            "laplace",
            "epsilon is 1e300; it must be such that",
        ),
        (
            "1e-320",
            "1",
            "laplace",
            "epsilon is 1e-320; it must be such that",
        ),
        (
            "1e12",
            "1",
            "laplace",
            "epsilon is 1000000000000; it must be below about 4e9",
        ),
        (
            "1",
            "1e300",
            "laplace",
            "the sensitivity is 1e300; it must be such that",
        ),
        (
            "1",
            "1e300",
            "geometric",
            "the sensitivity is 1e300; it must be a whole number, at most 2^30",
        ),
        (
            "1024",
            "1",
            "geometric",
            "epsilon is 1024; it must be at most 21.4 times the sensitivity",
        ),
        (
            "1",
            "1.5",
            "geometric",
            "the sensitivity is 1.5; it must be a whole number",
        ),
    ] {
        let folder = folder(&[("t.csv", b"people\n5\n")]);
        let args = [
            "noise",
            "t.csv",
            &format!("--epsilon={epsilon}"),
            &format!("--sensitivity={sensitivity}"),
            "--mechanism",
            mechanism,
        ];
        let output = quadrat(folder.path(), &args);
        assert_eq!(output.status.code(), Some(1), "{epsilon} {sensitivity}");
        let text = stderr(&output);
        assert!(text.contains(expected), "no `{expected}` in\n{text}");
        assert_eq!(stdout(&output), "");
    }
    let folder = folder(&[("t.parquet", b"PAR1")]);
    let args = usual(&[]);
    let args: Vec<&str> = ["noise", "t.parquet"].into_iter().chain(args).collect();
    assert!(stderr(&quadrat(folder.path(), &args)).contains("save the table as CSV"));
    let missing = quadrat(folder.path(), &["noise", "t.csv", "--epsilon", "1"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn the_example_is_what_the_command_writes() {
    let example = |name: &str| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(folder.join("../../examples/private-ages").join(name)).unwrap()
    };
    let (_keep, output) = run(
        &example("counted.csv"),
        &usual(&["--mechanism", "geometric", "--seed", "1"]),
    );
    assert_eq!(stdout(&output), example("released.csv"));
}
