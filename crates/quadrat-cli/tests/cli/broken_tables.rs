//! Broken tables: each is refused with file, line, column, value and remedy.

use crate::harness::{STUDY, TABLE, none, refused, study};

#[rustfmt::skip]
const CASES: &[(&str, &[u8], &[&str])] = &[
    ("text", b"from,to,people\n0,10,5\n10,20,many\n", &["`many` is not a number", "ages.csv:3:7 (column `people`)", "^^^^", "plain number"]),
    ("nan", b"from,to,people\n0,10,NaN\n", &["`NaN` is not finite", "ages.csv:2:6 (column `people`)", "delete the row"]),
    ("infinity", b"from,to,people\n0,inf,5\n", &["`inf` is not finite", "ages.csv:2:3 (column `to`)", "quadrat ungroup"]),
    ("overflow", b"from,to,people\n0,10,1e999\n", &["`1e999` is too large", "ages.csv:2:6", "units"]),
    ("empty_cell", b"from,to,people\n0,10,\n", &["the cell is empty", "ages.csv:2:6 (column `people`)", "fill it in"]),
    ("missing_word", b"from,to,people\n0,10,NA\n", &["`NA` is not a number", "ages.csv:2:6", "delete the row if the value is missing"]),
    ("thousands", b"from,to,people\n0,10,\"1,234\"\n", &["`1,234` is not a number", "ages.csv:2:6", "thousands"]),
    ("short_row", b"from,to,people\n0,10,5\n10,20\n", &["this row has 2 cells, the header has 3", "ages.csv:3:1"]),
    ("long_row", b"from,to,people\n0,10,5,6\n", &["this row has 4 cells, the header has 3", "ages.csv:2:1"]),
    ("quote_left_open", b"from,to,people\n0,10,\"5\n10,20,7\n", &["the quote that opens here is never closed", "ages.csv:2:6"]),
    ("quote_left_open_at_the_end", b"from,to,people\n0,10,5\n10,20,\"7\n", &["the quote that opens here is never closed", "ages.csv:3:7", "close it"]),
    ("row_of_commas", b"from,to,people\n0,10,5\n10,20,7\n,,\n", &["every cell of this row is empty", "ages.csv:4:1", "delete the row"]),
    ("workbook", b"PK\x03\x04\x14\0\x06\0", &["ages.csv is a spreadsheet, not a CSV table", "CSV UTF-8"]),
    ("giant", b"from,to,people\n0,10,5\n10,20,1e308\n", &["1e308 is too large: its square is no number", "ages.csv:3:7 (column `people`)", "units"]),
    ("dwarfs", b"from,to,people\n0,10,3e-310\n10,20,4e-310\n", &["leave no usable start for `se.variance`", "s.toml:7:8", "change the units"]),
    ("same_header", b"from,from,people\n0,10,5\n", &["two columns are named `from` (number 1 and 2)", "ages.csv:1:6", "rename"]),
    ("empty_file", b"", &["ages.csv is empty", "--> ages.csv", "header"]),
    ("blank_file", b"\n\n  \n", &["ages.csv is empty", "--> ages.csv"]),
    ("header_only", b"from,to,people\n", &["ages.csv has a header but no rows", "--> ages.csv", "at least one row"]),
    ("no_header", b"0,10,5\n10,20,7\n", &["there is no column `from`", "the first line must hold the names"]),
    ("semicolons", b"from;to;people\n0;10;5\n", &["there is no column `from`", "separated by ';'", "commas"]),
    ("not_utf8", b"from,to,people\n0,10,5\n10,20,\xff\n", &["not valid UTF-8 (byte 0xff)", "ages.csv:3:7", "UTF-8"]),
    ("utf16", b"\xff\xfef\0r\0", &["ages.csv is UTF-16", "UTF-8"]),
    ("zero_width", b"from,to,people\n0,10,5\n10,10,7\n", &["zero width along `age`: both edges are 10", "ages.csv:3:1 (column `from`)", "aggregate = \"mean\""]),
    ("crlf_line", b"from,to,people\r\n0,10,5\r\n10,20,x\r\n", &["`x` is not a number", "ages.csv:3:7"]),
    ("bom_line", b"\xef\xbb\xbffrom,to,people\n0,10,x\n", &["`x` is not a number", "ages.csv:2:6"]),
    ("after_quoted_lines", b"from,to,people,\"a\nb\"\n0,10,5,\"x\ny\"\n10,20,z,1\n", &["`z` is not a number", "ages.csv:5:7"]),
];

#[test]
fn broken_tables_are_refused_with_place_and_remedy() {
    let text = study(", variance = 1", "");
    let wrong: Vec<String> = CASES
        .iter()
        .filter_map(|(name, table, expected)| {
            refused(name, &text, &[("ages.csv", table)], expected).err()
        })
        .collect();
    none(&wrong);
}

#[test]
fn bad_pixels_are_counted_by_column() {
    let text = r#"[latent]
kernel = "se(u, v)"
[[observe]]
file = "cases.csv"
support = { bag = { file = "pixels.csv", key = "id", dims = ["u", "v"], weight = "people" } }
aggregate = "sum"
likelihood = { poisson = { count = "cases" } }
"#;
    let mut pixels = String::from("id,u,v,people\n");
    for i in 0..1000 {
        let at = |bad: bool| if bad { "nan".to_owned() } else { i.to_string() };
        let (u, v) = (at(i < 343), at(i >= 803));
        pixels.push_str(&format!("{},{u},{v},1\n", i % 3));
    }
    let expected = [
        "pixels.csv, column `u`: 343 cells cannot be used: `nan` is not finite",
        "pixels.csv, column `v`: 197 cells cannot be used: `nan` is not finite",
    ];
    let files: [(&str, &[u8]); 2] = [
        ("cases.csv", b"id,cases\n0,1\n1,2\n2,3\n"),
        ("pixels.csv", pixels.as_bytes()),
    ];
    refused("pixels", text, &files, &expected).unwrap();
}

#[test]
fn a_negative_variance_is_refused() {
    let text = study("variance = 1", "variance = \"var\"");
    let table = TABLE.replace("7,1", "7,-2");
    let expected = [
        "the variance is -2",
        "ages.csv:3:9 (column `var`)",
        "standard deviation",
    ];
    refused(
        "negative",
        &text,
        &[("ages.csv", table.as_bytes())],
        &expected,
    )
    .unwrap();
}

#[test]
fn exact_rows_that_contradict_each_other_are_refused() {
    let text = study("variance = 1", "variance = 0");
    let table = "from,to,people\n0,10,5\n10,0,6\n";
    let expected = [
        "this row says exactly 6, but ages.csv:2 says exactly 5",
        "ages.csv:3:6 (column `people`)",
        "noise variance",
    ];
    refused(
        "contradiction",
        &text,
        &[("ages.csv", table.as_bytes())],
        &expected,
    )
    .unwrap();
    // A total that its parts do not make.
    let table = "from,to,people\n0,10,5\n10,20,8\n0,20,14\n";
    let expected = [
        "says exactly another value than other exact rows allow",
        "ages.csv:4:6 (column `people`)",
        "leave one out",
    ];
    refused("total", &text, &[("ages.csv", table.as_bytes())], &expected).unwrap();
}

#[test]
fn a_hundred_thousand_repeated_rows_are_refused_with_the_way_out() {
    let mut table = String::from("from,to,people\n");
    table.push_str(&"0,10,5\n10,20,7\n".repeat(50_000));
    let expected = [
        "100000 rows are more than",
        "s.toml:7:8",
        "only 2 different places",
        "variance / count",
    ];
    refused(
        "repeats",
        STUDY,
        &[("ages.csv", table.as_bytes())],
        &expected,
    )
    .unwrap();
}

#[test]
fn too_many_different_rows_are_refused() {
    let mut table = String::from("from,to,people\n");
    for i in 0..25_000 {
        table.push_str(&format!("{},{},1\n", i, 2 * i + 1));
    }
    refused(
        "rows",
        &(study(
            "box = { age = [\"from\", \"to\"] }",
            "point = [\"from\", \"to\"]",
        )
        .replace("aggregate = \"sum\"\nlike", "like")
        .replace("se(age)", "se(from, to)")
        .replace("age = { from", "from = { from")
        .replace(
            "cells = true } }",
            "cells = true }, to = { from = 0, to = 1, step = 1 } }",
        )
            // Left to itself, it would be sparse inference.
            + "\n[inference]\nmethod = \"exact\"\n"),
        &[("ages.csv", table.as_bytes())],
        &["25000 rows are more than", "sparse inference"],
    )
    .unwrap();
}

#[test]
fn a_broken_table_of_places_is_refused() {
    let text = study(
        "grid = { age = { from = 0, to = 20, step = 1, cells = true } }",
        "file = \"at.csv\", box = { age = [\"lo\", \"hi\"] }",
    );
    let wrong = refused(
        "flat",
        &text,
        &[
            ("ages.csv", TABLE.as_bytes()),
            ("at.csv", b"lo,hi\n1,2\n3,3\n"),
        ],
        &["zero width along `age`", "at.csv:3:1 (column `lo`)"],
    )
    .err();
    let missing = refused(
        "missing",
        &text,
        &[
            ("ages.csv", TABLE.as_bytes()),
            ("at.csv", b"lo,high\n1,2\n"),
        ],
        &["there is no column `hi` in at.csv", "s.toml:14:51"],
    )
    .err();
    assert_eq!((wrong, missing), (None, None));
}
