//! `quadrat density`: what it writes, says and refuses.

use crate::harness::{done, folder, names, quadrat, stderr, stdout};

/// Quantiles of a logistic distribution, and another column.
fn table() -> String {
    let mut out = "speed,place,weight\n".to_owned();
    for i in 0..60 {
        let p = (f64::from(i) + 0.5) / 60.0;
        out.push_str(&format!(
            "{},a{i},{}\n",
            50.0 + 4.0 * (p / (1.0 - p)).ln(),
            1 + i % 2
        ));
    }
    out
}

pub fn rows(text: &str) -> (String, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let head = lines.next().unwrap().to_owned();
    let rows = lines.map(|line| line.split(',').map(|x| x.parse().unwrap()).collect());
    (head, rows.collect())
}

#[test]
fn a_column_becomes_a_table_a_figure_and_a_picture() {
    let folder = folder(&[("t.csv", table().as_bytes())]);
    let text = done(
        folder.path(),
        &[
            "density", "t.csv", "--column", "speed", "-o", "d.csv", "--plot", "d.svg",
        ],
    );
    for part in [
        "60 rows of `speed`, 95 % band",
        "median",
        "mean",
        "sd",
        "modes",
        "wrote d.csv",
        "wrote d.svg",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(
        text.chars()
            .filter(|c| ('\u{2801}'..='\u{28ff}').contains(c))
            .count()
            > 60,
        "{text}"
    );
    assert_eq!(names(folder.path()), ["d.csv", "d.svg", "t.csv"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (head, rows) = rows(&read("d.csv"));
    assert_eq!(
        (head.as_str(), rows.len()),
        ("speed,density,lower,upper", 400)
    );
    assert!(
        rows.iter()
            .all(|r| 0.0 <= r[2] && r[2] <= r[3] && r[1] >= 0.0)
    );
    let middle = rows
        .iter()
        .min_by(|a, b| (a[0] - 50.0).abs().total_cmp(&(b[0] - 50.0).abs()))
        .unwrap();
    // The density of a logistic distribution of scale 4 at its centre is 1/16.
    assert!(
        middle[2] < 0.0625 && 0.0625 < middle[3] && (middle[1] - 0.0625).abs() < 0.02,
        "{middle:?}"
    );
    assert!(read("d.svg").contains("<svg"));
}

#[test]
fn answers_are_json_and_a_seed_repeats_them() {
    let folder = folder(&[("t.csv", table().as_bytes())]);
    let of = |more: &[&str]| {
        let mut args = vec![
            "density", "t.csv", "--column", "speed", "--json", "--grid", "60",
        ];
        args.extend(more);
        done(folder.path(), &args)
    };
    let value: serde_json::Value = serde_json::from_str(&of(&[])).unwrap();
    assert_eq!(value["column"], "speed");
    assert_eq!(value["density"].as_array().unwrap().len(), 60);
    let median = &value["quantiles"][2];
    assert!(median["lower"].as_f64().unwrap() < 50.0 && 50.0 < median["upper"].as_f64().unwrap());
    assert!(value["gini"].is_null() || value["range"][0].as_f64().unwrap() >= 0.0);
    assert_eq!(of(&["--seed", "3"]), of(&["--seed", "3"]));
    assert_ne!(of(&["--seed", "3"]), of(&["--seed", "4"]));
    assert_ne!(of(&[]), of(&["--level", "0.8"]));
    assert_ne!(of(&[]), of(&["--correct", "none"]));
    assert_ne!(of(&[]), of(&["--log"]));
    assert_ne!(of(&[]), of(&["--weights", "weight"]));
    let bounded: serde_json::Value = serde_json::from_str(&of(&["--bounds", "0,100"])).unwrap();
    assert_eq!(bounded["range"], serde_json::json!([0.0, 100.0]));
    assert!(bounded["gini"]["value"].as_f64().unwrap() > 0.0);
    let ranged: serde_json::Value = serde_json::from_str(&of(&["--range", "-20,200"])).unwrap();
    assert!((ranged["range"][1].as_f64().unwrap() - 200.0).abs() < 1e-6);
}

/// One column of numbers needs no name.
#[test]
fn the_only_column_of_numbers_is_taken() {
    let folder = folder(&[("t.csv", b"who,x\na,1.5\nb,2.5\nc,2.0\nd,9\n")]);
    let text = done(folder.path(), &["density", "t.csv"]);
    assert!(
        text.contains("4 rows of `x`") && text.contains("4 values are few"),
        "{text}"
    );
}

/// Incomes in bands, the last without an end.
#[test]
fn bins_may_be_open_and_intervals_overlap() {
    let bins = "from,to,people\n0,10,30\n10,20,80\n20,40,60\n40,100,20\n100,,10\n";
    let intervals = "lo,hi\n1,3\n2,5\n2,2\n0,4\n3,9\n4,6\n2,3\n1,8\n5,\n3,4\n";
    let folder = folder(&[("b.csv", bins.as_bytes()), ("i.csv", intervals.as_bytes())]);
    let args = [
        "density",
        "b.csv",
        "--bins",
        "from,to,people",
        "--bounds",
        "0,inf",
        "--draws",
        "3",
        "-o",
        "d.csv",
    ];
    let text = done(folder.path(), &args);
    assert!(
        text.contains("5 % of the weight lies in intervals without an end"),
        "{text}"
    );
    let (head, rows) = rows(&std::fs::read_to_string(folder.path().join("d.csv")).unwrap());
    assert_eq!(head, "value,density,lower,upper,draw_1,draw_2,draw_3");
    assert!(
        rows.iter()
            .all(|r| r.len() == 7 && r.iter().all(|x| x.is_finite()))
    );
    let text = done(folder.path(), &["density", "i.csv", "--interval", "lo,hi"]);
    assert!(text.contains("10 rows of `value`"), "{text}");
}

/// On a logarithmic axis a bin from 0 has no lower end, which is told as what it is.
#[test]
fn bins_from_zero_are_open_on_a_logarithmic_axis() {
    let bins = "from,to,people\n0,10,30\n10,20,80\n20,40,60\n40,100,20\n100,,10\n";
    let closed = bins.replace("100,,10", "100,200,10");
    let zero = "15 % of the weight lies in intervals with no lower end above 0";
    let without = "5 % of the weight lies in intervals without an end";
    for (table, log, told) in [
        (bins, true, vec![zero, without]),
        (closed.as_str(), true, vec![zero]),
        (bins, false, vec![without]),
        (closed.as_str(), false, vec![]),
    ] {
        let folder = folder(&[("b.csv", table.as_bytes())]);
        let mut args = vec!["density", "b.csv", "--bins", "from,to,people"];
        args.extend(["--bounds", "0,inf"]);
        args.extend(log.then_some("--log"));
        let said = done(folder.path(), &args);
        for words in [zero, without] {
            assert_eq!(
                said.contains(words),
                told.contains(&words),
                "{words}: {said}"
            );
        }
    }
}

/// Draws that lie where no bin is are told with the bound that is missing.
#[test]
fn bins_without_a_bound_are_told_where_draws_are_uneven() {
    let bins = "from,to,n\n0,5,190\n5,10,260\n10,15,310\n15,20,280\n20,25,220\n";
    let folder = folder(&[("b.csv", bins.as_bytes())]);
    let of = |bounds: &str| {
        let args = [
            "density",
            "b.csv",
            "--bins",
            "from,to,n",
            "--bounds",
            bounds,
        ];
        done(folder.path(), &args)
    };
    let said = of("0,inf");
    assert!(said.contains("draws are uneven"), "{said}");
    assert!(
        said.contains("no row lies above 25, but nothing says"),
        "{said}"
    );
    assert!(said.contains("draws are too uneven (see"), "{said}");
    let said = of("0,25");
    assert!(
        !said.contains("uneven") && !said.contains("no row lies"),
        "{said}"
    );
    let said = of("-inf,inf");
    assert!(
        said.contains("no row lies below 0 or above 25, but"),
        "{said}"
    );
}

#[test]
fn missing_values_are_counted_and_named() {
    let text = format!("{}NA,x,1\n,y,1\n", table());
    let folder = folder(&[("t.csv", text.as_bytes())]);
    let said = done(folder.path(), &["density", "t.csv", "--column", "speed"]);
    assert!(
        said.contains("2 values of 62 are missing or not finite"),
        "{said}"
    );
    assert!(said.contains("t.csv:62"), "{said}");
}

#[test]
fn what_cannot_be_a_density_is_refused_where_it_stands() {
    let same = "x,y\n4,1\n4,2\n4,3\n";
    let cases: [(&str, &[&str], &[&str]); 8] = [
        (
            same,
            &["--column", "x"],
            &["all 3 values are 4", "--interval"],
        ),
        (same, &[], &["which column? 2 of those", "--column"]),
        (
            same,
            &["--column", "z"],
            &["there is no column `z`", "--> t.csv\n"],
        ),
        (
            same,
            &["--column", "y", "--bounds", "0,2"],
            &["t.csv:4", "3 lies outside of the bounds 0 to 2", "--bounds"],
        ),
        (
            same,
            &["--column", "y", "--bounds", "2"],
            &["write two numbers"],
        ),
        (
            same,
            &["--bins", "x,y"],
            &["--bins takes LO,HI,COUNT or XLO,XHI,YLO,YHI,COUNT, and got `x,y`"],
        ),
        (
            "a,b\n2,1\n3,4\n",
            &["--interval", "a,b"],
            &["t.csv:2", "begins at 2 and ends at 1"],
        ),
        (
            "a\n1\nmany\n",
            &["--column", "a"],
            &[
                "`many` is not a number",
                "t.csv:3",
                "write a plain number such as 12.5 or 3e-4\n",
            ],
        ),
    ];
    for (table, args, expected) in cases {
        let folder = folder(&[("t.csv", table.as_bytes())]);
        let mut all = vec!["density", "t.csv"];
        all.extend(args);
        let output = quadrat(folder.path(), &all);
        let text = stderr(&output);
        assert!(!output.status.success(), "{args:?}: {}", stdout(&output));
        assert!(!text.contains("panicked"), "{text}");
        for part in expected {
            assert!(text.contains(part), "{args:?}: no `{part}` in\n{text}");
        }
        assert_eq!(names(folder.path()), ["t.csv"]);
    }
}

/// What says nothing of a density is told as what it is, rows as editors count them.
#[test]
fn columns_without_a_density_are_told_in_words() {
    let cases: [(&str, &[&str], &[&str]); 9] = [
        (
            "a,b\n,1\n,2\n,3\n",
            &["--column", "a"],
            &["0 of 3 rows can be used"],
        ),
        (
            "a,w\n1,0\n2,0\n3,0\n",
            &["--column", "a", "--weights", "w"],
            &["0 of 3 rows can be used"],
        ),
        (
            "a,w\n5,2\n5,1\n5,3\n",
            &["--column", "a", "--weights", "w"],
            &["all 3 values are 5"],
        ),
        (
            "a,b\n,1\n,1\n,1\n",
            &["--interval", "a,b"],
            &["no interval has an end but 1"],
        ),
        (
            "a,w\n1,1e300\n2,1e300\n3,1\n",
            &["--column", "a", "--weights", "w"],
            &[
                "the weights add up to 2e300",
                "at most 1e12",
                "divide the column",
            ],
        ),
        (
            "a,w\n1,1\n2,-3\n",
            &["--column", "a", "--weights", "w"],
            &["the weight is -3", "t.csv:3:3"],
        ),
        (
            "a\n1\n0\n3\n",
            &["--column", "a", "--log"],
            &["no place for 0", "t.csv:3"],
        ),
        (
            "density\n1\n2\n3\n4\n",
            &["-o", "d.csv"],
            &["two columns named `density`", "rename"],
        ),
        (
            "draw_2\n1\n2\n3\n4\n",
            &["-o", "d.csv", "--draws", "2"],
            &["two columns named `draw_2`"],
        ),
    ];
    for (table, args, expected) in cases {
        let folder = folder(&[("t.csv", table.as_bytes())]);
        let mut all = vec!["density", "t.csv"];
        all.extend(args);
        let output = quadrat(folder.path(), &all);
        let text = stderr(&output);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{args:?}: {}",
            stdout(&output)
        );
        for part in expected {
            assert!(text.contains(part), "{args:?}: no `{part}` in\n{text}");
        }
        assert!(
            !text.contains("row 0") && !text.contains("counted from 0"),
            "{text}"
        );
        assert_eq!(names(folder.path()), ["t.csv"]);
    }
}

/// Maxima of a curve that follows single values are those values.
#[test]
fn modes_of_what_repeats_are_not_told() {
    let wave = |i: usize| 50.0 + 9.0 * (1.7 * i as f64).sin();
    let ties: String = (0..90)
        .map(|i| if i % 3 == 0 { 0.0 } else { wave(i) })
        .map(|x| format!("{x},1\n"))
        .collect();
    let heavy: String = (0..60).map(|i| format!("{},1e9\n", wave(i))).collect();
    let plain: String = (0..60).map(|i| format!("{},1\n", wave(i))).collect();
    for (rows, flags, told) in [
        (
            ties,
            vec![],
            vec!["33 % of the values are 0", "modes   not told"],
        ),
        (
            heavy,
            vec!["--weights", "w"],
            vec![
                "the weights count 60000000000 values, of which only 60 differ",
                "modes   not told",
            ],
        ),
        (plain, vec!["--weights", "w"], vec![]),
    ] {
        let table = format!("x,w\n{rows}");
        let folder = folder(&[("t.csv", table.as_bytes())]);
        let mut args = vec!["density", "t.csv", "--column", "x"];
        args.extend(flags);
        let said = done(folder.path(), &args);
        assert_eq!(said.contains("not told"), !told.is_empty(), "{said}");
        for part in told {
            assert!(said.contains(part), "no `{part}` in\n{said}");
        }
    }
}

/// Cells that are full of equal values are told as such, and those of different values as theirs.
#[test]
fn values_that_repeat_are_not_told_to_differ() {
    let column = |values: &[f64]| -> String {
        let rows = values.iter().map(|x| format!("{x}\n"));
        std::iter::once("x\n".to_owned()).chain(rows).collect()
    };
    let tied = [1.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let once = [1.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.1, 4.2, 5.0, 6.0, 7.0, 8.0];
    // Different values that lie far from others, beside one that repeats.
    let apart = (0..40).map(|i| match i {
        0..8 => 3.0,
        8..16 => 1e9 + f64::from(i),
        _ => f64::from(i),
    });
    let apart: Vec<f64> = apart.collect();
    for (values, told, is_crowded) in [
        (tied.as_slice(), "50 % of the values are 2 numbers", false),
        (once.as_slice(), "25 % of the values are 3:", false),
        (apart.as_slice(), "20 % of the values are 3:", true),
    ] {
        let folder = folder(&[("t.csv", column(values).as_bytes())]);
        let said = done(folder.path(), &["density", "t.csv"]);
        assert!(said.contains(told), "no `{told}` in\n{said}");
        assert!(said.contains("half a unit to either side"), "{said}");
        assert!(said.contains("modes   not told"), "{said}");
        assert_eq!(
            said.contains("which differ, lie in one"),
            is_crowded,
            "{said}"
        );
    }
}

/// A range that does not hold the values is told, one that does is not.
#[test]
fn a_range_that_is_widened_is_told() {
    let folder = folder(&[("t.csv", table().as_bytes())]);
    let of = |more: &[&str]| {
        let mut args = vec!["density", "t.csv", "--column", "speed", "--grid", "60"];
        args.extend(more);
        done(folder.path(), &args)
    };
    let told = of(&["--range", "45,300"]);
    assert!(told.contains("not the range 45 to 300"), "{told}");
    let bound = of(&["--range", "10,300", "--bounds", "0,inf"]);
    assert!(bound.contains("not the range 10 to 300"), "{bound}");
    let kept = of(&["--range", "-20,300"]);
    assert!(!kept.contains("not the range"), "{kept}");
    let level = of(&["--level", "0.999999999"]);
    assert!(level.contains("99.9999999 % band"), "{level}");
}

#[test]
fn the_table_is_not_written_over() {
    let folder = folder(&[("t.csv", table().as_bytes())]);
    let output = quadrat(
        folder.path(),
        &["density", "t.csv", "--column", "speed", "-o", "t.csv"],
    );
    assert!(
        stderr(&output).contains("would replace a file that is read"),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        std::fs::read_to_string(folder.path().join("t.csv")).unwrap(),
        table()
    );
}

#[test]
fn a_page_and_an_image_are_written() {
    let folder = folder(&[("t.csv", table().as_bytes())]);
    for (name, begins) in [
        ("d.html", b"<!doctype".as_slice()),
        ("d.png", b"\x89PNG".as_slice()),
    ] {
        done(
            folder.path(),
            &[
                "density", "t.csv", "--column", "speed", "--quiet", "--plot", name,
            ],
        );
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        assert!(bytes.starts_with(begins), "{name}");
    }
}
