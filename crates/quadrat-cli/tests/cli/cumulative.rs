//! Running totals: their increments are what the same table says without adding up, and totals of
//! which no increments can be told are refused at their rows.

use crate::harness::{column, done, folder, none, quadrat, refused, stderr};

const COUNTS: &str = "poisson = { count = \"n\" }";
const VALUES: &str = "gaussian = { value = \"n\" }";

/// A study of `table.csv`; what its rows add up to is asked along `t`.
fn study(support: &str, more: &str, likelihood: &str) -> String {
    format!(
        "[latent]\nkernel = \"matern32(t)\"\n[[observe]]\nfile = \"table.csv\"\nsupport = {support}\n{more}\nlikelihood = {{ {likelihood} }}\n[[predict]]\nname = \"p\"\naggregate = \"sum\"\nsupport = {{ grid = {{ t = {{ from = 0, to = 8, step = 2, cells = true }} }} }}\n[inference]\nhyperparameters = \"map\"\n[hyperparameters]\n\"matern32.variance\" = {{ value = 0.5, fixed = true }}\n\"matern32.lengthscale.t\" = {{ value = 3, fixed = true }}\n"
    )
}

/// Means and sds that a study predicts, and what is warned of.
fn answers(study: &str, table: &str) -> (Vec<f64>, String) {
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("table.csv", table.as_bytes()),
    ]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
    let mut all = column(folder.path(), "p", "mean");
    all.extend(column(folder.path(), "p", "sd"));
    (all, said)
}

const BOXES: &str = "{ box = { t = [\"from\", \"to\"] } }";
const SINCE_0: &str = "{ box = { t = [0, \"to\"] } }";
const READ: &str = "{ point = [\"t\"] }";
const SUM: &str = "aggregate = \"sum\"";
const DAYS: &str = "from,to,n\n0,1,5\n1,2,7\n2,4,13\n4,5,4\n5,8,20\n";

#[test]
fn increments_are_the_table_that_was_added_up() {
    let running = "cumulative = true";
    let both = format!("{SUM}\n{running}");
    let since_0 = "from,to,n\n0,1,5\n0,2,12\n0,4,25\n0,5,29\n0,8,49\n";
    let mixed = "to,n\n8,49\n1,5\n4,25\n5,29\n2,12\n";
    let readings = "t,n\n0,100\n1,105\n2,112\n4,125\n5,129\n8,149\n";
    let again = "t,n\n0,100\n1,105\n1,105\n2,112\n4,125\n5,129\n8,149\n";
    // The first row only says where it stood: its own box is not known to begin at zero.
    let in_turn = "from,to,n\n-3,0,100\n0,1,105\n1,2,112\n2,4,125\n4,5,129\n5,8,149\n";
    for likelihood in [
        COUNTS,
        VALUES,
        "gaussian = { value = \"n\", variance = 0 }",
        "negative_binomial = { count = \"n\", dispersion = 0.1 }",
    ] {
        let (right, _) = answers(&study(BOXES, SUM, likelihood), DAYS);
        for (support, more, table) in [
            (BOXES, both.as_str(), since_0),
            (SINCE_0, running, mixed),
            (READ, running, readings),
            (READ, both.as_str(), again),
            (BOXES, running, in_turn),
        ] {
            let (own, said) = answers(&study(support, more, likelihood), table);
            assert!(said.contains("increments of running totals"), "{said}");
            // Rows in another order have other draws: a few hundredths of an sd of 4,000 draws.
            for (a, b) in own.iter().zip(&right) {
                assert!((a - b).abs() <= 0.03 * b.abs().max(1.0), "{table}: {a} {b}");
            }
        }
    }
    let (_, said) = answers(&study(READ, running, COUNTS), readings);
    assert!(
        said.contains("1 row, the first at table.csv:2, only say"),
        "{said}"
    );
    let (_, said) = answers(&study(READ, running, COUNTS), again);
    assert!(
        said.contains("1 row, the first at table.csv:4, tell the running"),
        "{said}"
    );
}

/// Rows that tell no increment are left out before anything is asked of their values, and where a
/// total begins nothing was added yet.
#[test]
fn rows_without_increments_ask_nothing() {
    let running = "cumulative = true";
    let linked = "gaussian = { value = \"n\", variance = 0, link = \"exp\" }";
    let (right, _) = answers(&study(BOXES, SUM, linked), DAYS);
    let readings = "t,n\n0,100\n1,105\n2,112\n4,125\n5,129\n8,149\n";
    let newest_first = "t,n\n8,149\n5,129\n4,125\n2,112\n1,105\n0,100\n";
    // A row of no length, at the start.
    let from_0 = "to,n\n0,0\n1,5\n2,12\n4,25\n5,29\n8,49\n";
    // A column of errors that are all zero, the first reading twice.
    let column = "t,n,v\n0,100,0\n0,100,0\n1,105,0\n2,112,0\n4,125,0\n5,129,0\n8,149,0\n";
    let of_column = linked.replace("variance = 0", "variance = \"v\"");
    for (support, likelihood, table) in [
        (READ, linked, readings),
        (READ, linked, newest_first),
        (SINCE_0, linked, from_0),
        (READ, of_column.as_str(), column),
    ] {
        let (own, said) = answers(&study(support, running, likelihood), table);
        assert!(!said.contains("beside rows with noise"), "{said}");
        for (a, b) in own.iter().zip(&right) {
            // Rows in another order have other draws.
            assert!((a - b).abs() <= 0.03 * b.abs().max(1.0), "{table}: {a} {b}");
        }
    }
    // The errors of readings are all zero, so that falls are falls.
    let falls = "cumulative = { falls = \"zero\" }";
    let values = "gaussian = { value = \"n\", variance = \"v\" }";
    let (_, said) = answers(&study(READ, falls, values), column);
    assert!(said.contains("the first at table.csv:3, tell"), "{said}");
}

#[test]
fn meters_regions_and_years_have_totals_of_their_own() {
    let by = "cumulative = { by = \"meter\" }";
    // A point that the kernel does not use tells events apart that happen at one place.
    let apart = "g,from,to,n\n0,0,3,9\n0,3,6,7\n0,6,8,5\n1,0,4,11\n1,4,8,10\n";
    let of_two = "{ box = { t = [\"from\", \"to\"] }, point = [\"g\"] }";
    let table = "meter,t,n\na,0,70\nb,0,900\na,3,79\na,6,86\nb,4,911\nb,8,921\na,8,91\n";
    let (right, _) = answers(&study(of_two, SUM, COUNTS), apart);
    let (own, _) = answers(&study(READ, by, COUNTS), table);
    for (a, b) in own.iter().zip(&right) {
        // The same rows in another order.
        assert!((a - b).abs() <= 0.03 * b.abs().max(1.0), "{a} {b}");
    }
    // What the support has besides tells totals apart without being named.
    let two = |text: String| {
        text.replace("matern32(t)", "matern32(t) * se(x)").replace(
            "grid = { t =",
            "grid = { x = { from = 0, to = 1, step = 1 }, t =",
        )
    };
    let along = "cumulative = { along = \"t\" }";
    let table = table
        .replace("meter", "x")
        .replace("\na,", "\n0,")
        .replace("\nb,", "\n1,");
    let support = "{ point = [\"t\", \"x\"] }";
    let (own, _) = answers(&two(study(support, along, COUNTS)), &table);
    let apart = "x,from,to,n\n0,0,3,9\n0,3,6,7\n1,0,4,11\n1,4,8,10\n0,6,8,5\n";
    let boxes = "{ box = { t = [\"from\", \"to\"] }, point = [\"x\"] }";
    let (right, _) = answers(&two(study(boxes, SUM, COUNTS)), apart);
    for (a, b) in own.iter().zip(&right) {
        assert!((a - b).abs() <= 0.03 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn errors_of_readings_are_those_of_totals_from_the_start() {
    let noisy = "gaussian = { value = \"n\", variance = 4 }";
    let table = "to,n\n1,5.5\n2,11\n4,26\n5,25\n8,49\n";
    let (right, _) = answers(&study(SINCE_0, SUM, noisy), table);
    let (own, _) = answers(&study(SINCE_0, "cumulative = true", noisy), table);
    assert_eq!(own, right);
    // A first reading that is exact is where the others begin.
    let noisy = "gaussian = { value = \"n\", variance = \"v\" }";
    let table = "t,n,v\n0,100,0\n1,105.5,4\n2,111,4\n4,126,4\n5,125,4\n8,149,4\n";
    let (own, _) = answers(&study(READ, "cumulative = true", noisy), table);
    for (a, b) in own.iter().zip(&right) {
        // 105.5 less 100 and the like are exact; so is all but the order of the rows.
        assert!((a - b).abs() <= 0.03 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn falls_mean_what_is_said() {
    let table = "t,n\n0,90\n2,96\n4,3\n6,9\n8,13\n";
    // What the increments are then, and what is said of them.
    let cases = [
        ("\"zero\"", "0,2,6\n2,4,3\n", "begun anew at zero"),
        (
            "\"unknown\"",
            "0,2,6\n",
            "is not known, and they are left out",
        ),
        ("100", "0,2,6\n2,4,7\n", "begun anew at 100"),
        (
            "\"negative\"",
            "0,2,6\n2,4,-93\n",
            "less than nothing was added",
        ),
    ];
    for (falls, rows, words) in cases {
        let apart = format!("from,to,n\n{rows}4,6,6\n6,8,4\n");
        let (right, _) = answers(&study(BOXES, SUM, VALUES), &apart);
        let says = format!("cumulative = {{ falls = {falls} }}");
        let (own, said) = answers(&study(READ, &says, VALUES), table);
        assert_eq!(own, right, "{falls}");
        assert!(
            said.contains("falls at 1 row, the first at table.csv:4"),
            "{said}"
        );
        assert!(said.contains(words), "{said}");
    }
    // A meter that was replaced is read twice.
    let (own, _) = answers(
        &study(READ, "cumulative = { falls = \"unknown\" }", VALUES),
        "t,n\n0,90\n2,96\n4,103\n4,20\n6,26\n8,30\n",
    );
    let apart = "from,to,n\n0,2,6\n2,4,7\n4,6,6\n6,8,4\n";
    assert_eq!(own, answers(&study(BOXES, SUM, VALUES), apart).0);
}

#[test]
fn values_behind_rows_are_those_of_increments() {
    let study = study(READ, "cumulative = true", COUNTS)
        + "[[predict]]\nname = \"r\"\nrows = \"table.csv\"\nscale = \"row\"\nkeep = [\"n\"]\n";
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("table.csv", b"t,n\n0,4\n2,9\n5,21\n8,30\n"),
    ]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let rows = std::fs::read_to_string(folder.path().join("out/r.csv")).unwrap();
    assert!(rows.starts_with("n,t_lower,t_upper,mean"), "{rows}");
    assert!(rows.contains("\n21,2,5,12,0,"), "{rows}");
    assert_eq!(column(folder.path(), "r", "mean"), [5.0, 12.0, 9.0]);
}

#[test]
fn totals_without_increments_are_refused_at_their_rows() {
    let table = "t,from,to,n,v,g\n0,0,1,4,1,a\n2,0,2,9,1,a\n5,1,5,7,1,b\n8,5,8,30,1,b\n";
    let noisy = "gaussian = { value = \"n\", variance = \"v\" }";
    let on = "cumulative = true";
    let with = |keys: &str| format!("cumulative = {{ {keys} }}");
    let cases: &[(&str, String, &[&str])] = &[
        (
            "a fall",
            study(READ, on, COUNTS),
            &[
                "table.csv:4:7 (column `n`)",
                "falls from 9 (table.csv:3) to 7",
                "began anew at zero",
            ],
        ),
        (
            "rows within others",
            study(BOXES, on, COUNTS),
            &[
                "table.csv:4:7",
                "runs from 1 to 5, and begins within table.csv:3, which ends at 2",
            ],
        ),
        (
            "two of one time",
            study(READ, on, COUNTS).replace("table.csv", "twice.csv"),
            &[
                "twice.csv:3:3",
                "is 5 here and 4 in twice.csv:2, at the same time, 0",
                "by = ",
            ],
        ),
        (
            "a range",
            study(READ, on, COUNTS).replace("table.csv", "range.csv"),
            &["range.csv:3:3", "told as a range"],
        ),
        (
            "a fraction",
            study(READ, on, COUNTS).replace("table.csv", "half.csv"),
            &["half.csv:3:3", "is 5.5; it must be a whole number"],
        ),
        (
            "an error of the first reading",
            study(READ, on, noisy),
            &[
                "table.csv:2:7",
                "the first reading of a running total has an error too",
            ],
        ),
        (
            "beyond the counter",
            study(READ, &with("falls = 20"), COUNTS),
            &["table.csv:5:7", "is 30, and is said to run from 0 to 20"],
        ),
        (
            "less than nothing on the counter",
            study(READ, &with("falls = 1000"), VALUES).replace("table.csv", "negative.csv"),
            &[
                "negative.csv:3:3",
                "is -5, and is said to run from 0 to 1000",
            ],
        ),
        (
            "something at the start",
            study(SINCE_0, on, COUNTS).replace("table.csv", "began.csv"),
            &[
                "began.csv:2:3",
                "the running total is 3 at 0, where it begins",
            ],
        ),
        (
            "totals of one row",
            study(READ, &with("by = \"t\""), COUNTS),
            &[
                "s.toml:6:14",
                "no row has another one before it",
                "see whether `by`",
            ],
        ),
        (
            "a column that is not there",
            study(READ, &with("by = \"h\""), COUNTS),
            &["s.toml:6:21", "no column `h`"],
        ),
        (
            "averages",
            study(BOXES, &format!("aggregate = \"mean\"\n{on}"), COUNTS),
            &["s.toml:6:13", "a running total is a sum"],
        ),
        (
            "two inputs",
            study("{ point = [\"t\", \"v\"] }", on, COUNTS),
            &[
                "s.toml:6:14",
                "along which input the totals run is not said",
                "along = \"t\"",
            ],
        ),
        (
            "an input that is not there",
            study(READ, &with("along = \"u\""), COUNTS),
            &["s.toml:6:24", "no point or box along `u`", "it has `t`"],
        ),
        (
            "counts become less",
            study(READ, &with("falls = \"negative\""), COUNTS),
            &["s.toml:6:24", "counts cannot become less"],
        ),
        (
            "falls of noisy readings",
            study(SINCE_0, &with("falls = \"zero\""), noisy),
            &["s.toml:6:14", "readings with an error may fall by it"],
        ),
        (
            "two noises",
            study(
                SINCE_0,
                on,
                "gaussian = { value = \"n\", variance = 1, extra = \"learn\" }",
            ),
            &["s.toml:7:53", "partly known and partly learned"],
        ),
        (
            "another kind",
            study(READ, on, "laplace = { value = \"n\", scale = 1 }"),
            &[
                "s.toml:6:14",
                "is of counts and of `gaussian` values, not of `laplace`",
            ],
        ),
        (
            "ranges",
            study(READ, on, "poisson = { lower = \"n\", upper = \"n\" }"),
            &["s.toml:6:14", "told as ranges"],
        ),
        (
            "times",
            study(READ, &format!("{on}\ntimes = 2"), COUNTS),
            &["s.toml:7:9", "`times` repeats rows"],
        ),
        (
            "a word",
            study(READ, "cumulative = \"yes\"", COUNTS),
            &["s.toml:6:14", "must be true or a table of keys"],
        ),
        (
            "a key",
            study(READ, &with("resets = \"zero\""), COUNTS),
            &["s.toml:6:16", "unknown key `resets`", "`along`, `by`"],
        ),
        (
            "a wrong fall",
            study(READ, &with("falls = \"allowed\""), COUNTS),
            &[
                "s.toml:6:24",
                "`allowed` is not a known `falls`",
                "\"unknown\"",
            ],
        ),
    ];
    let mut wrong = Vec::new();
    for (name, study, expected) in cases {
        let files: &[(&str, &[u8])] = &[
            ("table.csv", table.as_bytes()),
            ("twice.csv", b"t,n\n0,4\n0,5\n2,9\n"),
            ("range.csv", b"t,n\n0,4\n1,<5\n2,9\n"),
            ("half.csv", b"t,n\n0,4\n1,5.5\n2,9\n"),
            ("negative.csv", b"t,n\n0,900\n1,-5\n2,9\n"),
            ("began.csv", b"to,n\n0,3\n1,5\n2,9\n"),
        ];
        wrong.extend(refused(name, study, files, expected).err());
    }
    none(&wrong);
}
