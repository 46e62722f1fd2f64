//! Broken studies of several outputs: refused with file, line, column and remedy.

use crate::harness::{done, folder, quadrat, refused, stderr};

/// Lines 1 to 6, the lines of the second table from line 12 on, and more at the end.
fn study(kernel: &str, first: &str, second: &str, more: &str) -> String {
    format!(
        r#"[latent]
kernel = "{kernel}"
[[observe]]
file = "a.csv"
support = {{ point = ["t"] }}
{first}
likelihood = {{ gaussian = {{ value = "y" }} }}

[[observe]]
file = "b.csv"
support = {{ point = ["t"] }}
{second}
likelihood = {{ gaussian = {{ value = "y" }} }}

[[predict]]
name = "p"
support = {{ grid = {{ t = {{ from = 0, to = 2, step = 1 }} }} }}
{more}"#
    )
}

const A: &[u8] = b"t,y\n0,1\n1,2\n2,1.5\n";
const B: &[u8] = b"t,y,site\n0,3,u\n1,4,v\n2,3.5,u\n";
const MIXED: &str = "coregion(o, a, b) * se(t)";

/// Name, kernel, lines of both tables, more, texts expected.
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

/// Name, kernel, line of the first table, line of the second table, more, texts expected.
#[rustfmt::skip]
const STUDIES: &[Case] = &[
    ("one names none", "se(t)", "output = \"a\"", "", "", &["other tables say which output their rows are of, and this one does not", "s.toml:9:1", "add `output"]),
    ("only one", "se(t)", "output = \"a\"", "output = \"a\"", "", &["`a` is the only output", "s.toml:6:10", "leave its name out, or observe another output"]),
    ("empty", "se(t)", "output = \"a\"", "output = \"\"", "", &["`output` is empty", "s.toml:12:10"]),
    ("no text", "se(t)", "output = \"a\"", "output = 3", "", &["`output` must be a text in quotes, not the number 3", "s.toml:12:10"]),
    ("both keys", "se(t)", "output = \"a\"", "output = \"b\"\noutput_column = \"site\"", "", &["`output` and `output_column` both say", "s.toml:13:17", "keep one"]),
    ("no column", "se(t)", "output = \"a\"", "output_column = \"sit\"", "", &["there is no column `sit` in b.csv; did you mean `site`?", "s.toml:12:17"]),
    ("unknown output", "se(t)", "output = \"a\"", "output = \"b\"", "output = \"c\"", &["there is no output `c`", "s.toml:18:10", "the outputs are `a` and `b`"]),
    ("output of one", "se(t)", "", "", "output = \"c\"", &["there is no output `c`", "s.toml:18:10", "leave `output` out"]),
    ("rank", "se(t)", "output = \"a\"", "output = \"b\"", "[coregionalization]\nrank = 3", &["`rank` is 3, more than the 2 outputs", "s.toml:19:8"]),
    ("negative rank", "se(t)", "output = \"a\"", "output = \"b\"", "[coregionalization]\nrank = -1", &["`rank` must be a whole number from 0 to 16", "s.toml:19:8"]),
    ("no latents", "se(t)", "output = \"a\"", "output = \"b\"", "[coregionalization]\nlatents = 0", &["`latents` must be a whole number from 1 to 16, not the number 0", "s.toml:19:11", "latents = 1"]),
    ("too many leaves", "se(t) + matern12(t) + matern32(t) + rq(t) + periodic(t)", "output = \"a\"", "output = \"b\"", "[coregionalization]\nlatents = 16", &["this mixture of the kernel is too much", "s.toml:18:1", "fewer `latents`"]),
    ("unknown key", "se(t)", "output = \"a\"", "output = \"b\"", "[coregionalization]\nlatent = 2", &["unknown key `latent` in [coregionalization]", "s.toml:19:1", "did you mean `latents`?"]),
    ("nothing to mix", "se(t)", "", "", "[coregionalization]\nrank = 1", &["there is nothing to mix", "s.toml:18:1", "output_column"]),
    ("mixed twice", MIXED, "output = \"a\"", "output = \"b\"", "[coregionalization]\nrank = 1", &["the kernel mixes the outputs itself", "s.toml:18:1", "leave [coregionalization] out"]),
    ("mixed by nobody", MIXED, "", "", "", &["the kernel mixes several outputs, and this table does not say", "s.toml:3:1"]),
    ("not in the kernel", MIXED, "output = \"a\"", "output = \"c\"", "", &["the kernel has no output `c`", "s.toml:12:10", "its outputs are `a` and `b`"]),
    ("not in the tables", "coregion(o, a, b, c) * se(t)", "output = \"a\"", "output = \"b\"", "", &["the kernel mixes the output `c`, but no row is of it", "s.toml:2:10", "leave it out of `coregion`"]),
    ("quotes", "se(t)", "output = \"a\"", "output = \"b'\\\"\"", "", &["has both kinds of quotes", "s.toml:12:10", "rename"]),
    ("hyperparameter", "se(t)", "output = \"a\"", "output = \"b\"", "[hyperparameters]\n\"coregion.kappa.c\" = { start = 1 }", &["no hyperparameter `coregion.kappa.c`; did you mean `coregion.kappa.a`?", "s.toml:19:1"]),
    ("reserved", "se(t)", "output = \"a\"", "output = \"b\"", "[[predict]]\nname = \"output-correlations\"\nsupport = { grid = { t = { from = 0, to = 2, step = 1 } } }", &["the name `output-correlations` is reserved", "s.toml:19:8"]),
];

#[test]
fn broken_studies_of_outputs_are_refused_with_place_and_remedy() {
    let files: &[(&str, &[u8])] = &[("a.csv", A), ("b.csv", B)];
    let mut wrong = Vec::new();
    for (name, kernel, first, second, more, expected) in STUDIES {
        let text = study(kernel, first, second, more);
        wrong.extend(refused(name, &text, files, expected).err());
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n----\n")
    );
}

fn one_table(kernel: &str, likelihood: &str) -> String {
    format!(
        "[latent]\nkernel = \"{kernel}\"\n[[observe]]\nfile = \"d.csv\"\nsupport = {{ point = [\"t\"] }}\noutput_column = \"site\"\nlikelihood = {{ {likelihood} }}\n"
    )
}

#[test]
fn broken_columns_of_outputs_are_refused_with_place_and_remedy() {
    let values = one_table("se(t)", "gaussian = { value = \"y\" }");
    let exact = one_table("se(t)", "gaussian = { value = \"y\", variance = 0 }");
    let many: String = (0..40).map(|i| format!("{i},1,s{i}\n")).collect();
    let many = format!("t,y,site\n{many}");
    let cases: [(&str, &str, &str, &[&str]); 4] = [
        (
            "too many",
            &values,
            &many,
            &[
                "`site` has more than 32 different values",
                "s.toml:6:17",
                "a few outputs apart",
            ],
        ),
        (
            "one",
            &values,
            "t,y,site\n0,1,a\n1,2,a\n",
            &["`a` is the only output", "s.toml:6:17"],
        ),
        (
            "empty cell",
            &values,
            "t,y,site\n0,1,a\n1,2,\n",
            &["the key is empty", "d.csv:3:5 (column `site`)"],
        ),
        // The line of the table, not that among the rows of its output.
        (
            "contradiction",
            &exact,
            "t,y,site\n0,1,a\n1,2,a\n0,3,b\n1,2.5,b\n2,1,a\n1,4,b\n",
            &[
                "this row says exactly 4, but d.csv:5 says exactly 2.5",
                "d.csv:7:3 (column `y`)",
            ],
        ),
    ];
    let mut wrong = Vec::new();
    for (name, text, table, expected) in cases {
        wrong.extend(refused(name, text, &[("d.csv", table.as_bytes())], expected).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
}

#[test]
fn exact_tables_of_one_output_that_disagree_are_named_by_their_lines() {
    let exact = |text: String| text.replace("\"y\" }", "\"y\", variance = 0 }");
    let text = exact(study(
        "se(t)",
        "output = \"a\"",
        "output_column = \"site\"",
        "",
    ));
    let table: &[u8] = b"t,y,site\n0,3,b\n1,4,b\n2,9,a\n";
    let files: &[(&str, &[u8])] = &[("a.csv", A), ("b.csv", table)];
    let expected = ["b.csv:4", "a.csv:4", "another value"];
    assert_eq!(refused("tables", &text, files, &expected), Ok(()));
}

#[test]
fn a_dimension_called_output_leaves_no_room_for_the_column() {
    let text = study("se(output)", "output = \"a\"", "output = \"b\"", "")
        .replace("[\"t\"]", "[\"output\"]")
        .replace("{ t = {", "{ output = {");
    let (a, b) = (b"output,y\n0,1\n1,2\n", b"output,y\n0,3\n1,4\n");
    let files: &[(&str, &[u8])] = &[("a.csv", a), ("b.csv", b)];
    let expected = [
        "two columns named `output`",
        "s.toml:16:8",
        "rename that column",
    ];
    assert_eq!(refused("dimension", &text, files, &expected), Ok(()));
    // The other half of the program too.
    let alone = text.split("[[predict]]").next().unwrap();
    let folder = folder(&[("s.toml", alone.as_bytes()), ("a.csv", a), ("b.csv", b)]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let args = ["predict", "m.quadrat", "--at", "a.csv", "--point", "output"];
    let predict = quadrat(folder.path(), &args);
    assert_eq!(predict.status.code(), Some(1));
    assert!(
        stderr(&predict).contains("two columns named `output`"),
        "{}",
        stderr(&predict)
    );
}
