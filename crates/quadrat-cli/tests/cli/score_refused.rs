//! What `quadrat score` refuses, before it computes anything.

use crate::harness::{folder, names, quadrat, stderr, stdout};

const STUDY: &str = "[latent]\nkernel = \"se(x)\"\n[[observe]]\nfile = \"rows.csv\"\nsupport = { point = [\"x\"] }\nlikelihood = { gaussian = { value = \"y\" } }\n";
const ROWS: &str = "x,y,site\n0,1,a\n1,2,a\n2,1.5,b\n3,2.5,b\n";

#[test]
fn what_cannot_be_scored_is_refused_with_a_way_out() {
    let density = "[density]\nfile = \"rows.csv\"\ncolumn = \"y\"\n";
    let only_signs = "[latent]\nkernel = \"se(x)\"\n[[observe]]\nfile = \"rows.csv\"\nsupport = { point = [\"x\"] }\nlikelihood = { gaussian = { value = \"y\" } }\n[[observe]]\nfile = \"signs.csv\"\nsupport = { point = [\"x\"] }\nlikelihood = { positive = { margin = 0 } }\n";
    let cases: [(&str, &str, &[&str], &[&str]); 18] = [
        (
            STUDY,
            ROWS,
            &["--folds", "5"],
            &["5 folds", "4 rows", "--folds 2 to 4"],
        ),
        (
            STUDY,
            ROWS,
            &["--by", "site", "--folds", "3"],
            &["3 folds", "2 groups"],
        ),
        (STUDY, ROWS, &["--by", "sites"], &["--by", "sites", "site"]),
        (
            STUDY,
            ROWS,
            &["--against", "monno"],
            &["no method `monno`", "did you mean `mono`"],
        ),
        (
            STUDY,
            ROWS,
            &["--against", "mono"],
            &["--against mono", "leave it out"],
        ),
        (
            STUDY,
            ROWS,
            &["--table", "other"],
            &["no table is called `other`", "rows.csv"],
        ),
        (
            only_signs,
            ROWS,
            &["--table", "signs.csv"],
            &["only say that the function is positive"],
        ),
        (STUDY, "x,y\n0,1\n", &[], &["1 row"]),
        (STUDY, ROWS, &["-o", "rows.csv"], &["would replace a file"]),
        (
            STUDY,
            ROWS,
            &["-o", "a.csv", "--predictions", "a.csv"],
            &["written twice"],
        ),
        (STUDY, ROWS, &["--truth", "none.csv"], &["none.csv"]),
        (
            STUDY,
            ROWS,
            &["--truth", "keys.csv"],
            &["no columns that say where", "`x`"],
        ),
        (STUDY, ROWS, &["--truth", "text.csv"], &["text.csv:2"]),
        (
            STUDY,
            ROWS,
            &["--truth", "nothing.csv"],
            &["no column of true values", "--value"],
        ),
        (
            STUDY,
            ROWS,
            &["-o", "kept.csv"],
            &["kept.csv.folds", "not finished", "--resume"],
        ),
        (
            STUDY,
            ROWS,
            &["-o", "kept.csv", "--resume"],
            &["kept.csv.folds", "not of this study"],
        ),
        (
            STUDY,
            ROWS,
            &["-o", "other.csv", "--resume"],
            &["other.csv.folds", "to go on from"],
        ),
        (density, ROWS, &[], &["density"]),
    ];
    for (study, rows, more, expected) in cases {
        let folder = folder(&[
            ("s.toml", study.as_bytes()),
            ("rows.csv", rows.as_bytes()),
            ("signs.csv", b"x\n1\n2\n"),
            ("keys.csv", b"district,y\na,1\n"),
            ("text.csv", b"x,y\n1,high\n"),
            ("nothing.csv", b"x,height\n1,2\n"),
            ("kept.csv.folds", b"{}"),
        ]);
        let before = names(folder.path());
        let args: Vec<&str> = ["score", "s.toml"].iter().chain(more).copied().collect();
        let output = quadrat(folder.path(), &args);
        let said = stderr(&output);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{more:?}: {said}{}",
            stdout(&output)
        );
        for part in expected {
            assert!(said.contains(part), "{more:?}: no `{part}` in {said}");
        }
        assert_eq!(names(folder.path()), before, "{more:?}");
    }
}

#[test]
fn wrong_usage_ends_with_two() {
    let folder = folder(&[("s.toml", STUDY.as_bytes()), ("rows.csv", ROWS.as_bytes())]);
    for more in [
        &["--folds", "1"][..],
        &["--truth", "t.csv", "--folds", "3"],
        &["--value", "y"],
    ] {
        let args: Vec<&str> = ["score", "s.toml"].iter().chain(more).copied().collect();
        assert_eq!(
            quadrat(folder.path(), &args).status.code(),
            Some(2),
            "{more:?}"
        );
    }
}
