//! Tables that `quadrat ungroup` refuses, each with its place.

use crate::harness::{folder, names, none, quadrat, stderr, stdout};
use crate::ungroup::with;

/// A table, further arguments, and words of the refusal.
type Case = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const BROKEN: &[Case] = &[
    ("from,to,people\n", &[], &["no rows"]),
    ("", &[], &["empty"]),
    ("from,to,people\n0,10,5\n", &[], &["1 band", "two bands"]),
    (
        "from,to,people\n0,10,5\n10,20,x\n",
        &[],
        &[
            "t.csv:3:7",
            "`x` is not a number",
            "write a plain number such as 12.5 or 3e-4\n",
        ],
    ),
    (
        "from,to,people\n\"(0, 5]\",,5\n\"(5, 10]\",,5\n",
        &[],
        &[
            "t.csv:2:1",
            "`(0, 5]` leaves out its lower edge and holds its upper one",
            "right = FALSE",
        ],
    ),
    (
        "from,to,people\n0,10,5\n10,20,\n",
        &[],
        &["t.csv:3:7", "empty"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,-1\n",
        &[],
        &["t.csv:3:7", "the count is -1"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,nan\n",
        &[],
        &["t.csv:3:7", "not finite"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,inf\n",
        &[],
        &["t.csv:3:7", "not finite"],
    ),
    (
        "from,to,people\n0,10,0\n10,20,0\n",
        &[],
        &["all counts are zero"],
    ),
    (
        "from,to,people\n0,10,1e300\n10,20,5\n",
        &[],
        &["double precision"],
    ),
    (
        "from,to,people\n0,9,5\n12,19,5\n",
        &[],
        &["t.csv:3:1", "nothing is told from 9", "0-4 are 0 and 5"],
    ),
    (
        "from,to,people\n0,10,5\n20,30,5\n",
        &[],
        &["nothing is told from 10", "to 20"],
    ),
    (
        "from,to,people\n0,10,5\n5,15,5\n",
        &[],
        &["t.csv:3:1", "overlaps", "from 5 to 10"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,5\n0,20,10\n",
        &[],
        &["overlaps", "leave totals out"],
    ),
    (
        "from,to,people\n0,10,5\n0,10,6\n",
        &[],
        &["overlaps", "--by"],
    ),
    (
        "from,to,people\n10,0,5\n10,20,6\n",
        &[],
        &["t.csv:2:4", "begins at 10 and ends at 0"],
    ),
    (
        "from,to,people\n5,5,5\n5,20,6\n",
        &[],
        &["begins at 5 and ends at 5"],
    ),
    (
        "from,to,people\n0,,5\n10,20,6\n",
        &[],
        &["open band", "t.csv:3"],
    ),
    ("from,to,people\n,10,5\n0,5,6\n", &[], &["overlap"]),
    (
        "from,to,people\n,,5\n0,5,6\n",
        &[],
        &["no edge on either side"],
    ),
    (
        "from,to,people\nold,10,5\n10,20,6\n",
        &[],
        &["t.csv:2:1", "`old` is no edge"],
    ),
    (
        "from,to,people\n0-9,10,5\n10,20,6\n",
        &[],
        &["`0-9` are two edges", "as in `0-4`"],
    ),
    (
        "from,to,people\n0,10,5\n90+,95,6\n",
        &[],
        &["t.csv:3:5", "contradict"],
    ),
    (
        "from,to,people\n0,10,5\n10,1e999,6\n",
        &[],
        &["t.csv:3:4", "no edge"],
    ),
    (
        "from,to,people\n0,10,5\n10,nan,6\n",
        &[],
        &["t.csv:3:4", "`nan` is no edge"],
    ),
    (
        "from,to,people\n0,10,5\n10,,6\n",
        &[],
        &["open above 10", "--tail", "--last"],
    ),
    (
        "from,to,people\n-5,0,5\n0,10,4\n10,,6\n",
        &[],
        &["open above 10"],
    ),
    (
        "from,to,people\n,0,5\n0,10,4\n",
        &[],
        &["open below 0", "--first"],
    ),
    (
        "from,to,people\n0,80,5\n80,,6\n",
        &["--last", "70"],
        &["end of the last band is 70", "above 80"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--last", "30"],
        &["that band ends at 20"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--first", "-1"],
        &["that band begins at 0"],
    ),
    (
        "from,to,people\n<15,,5\n15,20,6\n",
        &["--first", "15"],
        &["below 15"],
    ),
    (
        "from,to,people\n-5,10,5\n10,20,6\n",
        &["--log"],
        &["t.csv:2:1", "logarithmic axis"],
    ),
    (
        "from,to,people\n0,80,5\n80,,6\n",
        &["--tail", "pareto"],
        &["--log"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--step", "0"],
        &["the step is 0", "above zero"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--step", "-1"],
        &["the step is -1", "above zero"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--step", "0.001"],
        &["cells are asked for", "--step"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--edges", "0,30"],
        &["30", "from 0 to 20"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--edges", "5,0"],
        &["above the one before"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--edges", "5"],
        &["two at least"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--edges", "0,inf"],
        &["from 0 to 20"],
    ),
    (
        "from,to,peple\n0,10,5\n10,20,6\n",
        &[],
        &["no column `people`", "did you mean `peple`"],
    ),
    ("from;to;people\n0;10;5\n", &[], &["separated by ';'"]),
    ("from,to,people\n0,10,5\n10,20\n", &[], &["t.csv:3"]),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--by", "people,people", "-o", "o.csv"],
        &["two columns named `people`"],
    ),
    (
        "from,to,people,r\n0,10,5,a\n10,20,6,\n",
        &["--by", "r"],
        &["t.csv:3:9", "population of a row is empty"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["-o", "t.csv"],
        &["would replace a table that is read"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["-o", "t.csv/o.csv"],
        &["t.csv"],
    ),
    (
        "from,to,people\n0,9,5\n10,19,8\n20,29,6\n>29,,3\n",
        &[],
        &[
            "t.csv:5:1",
            "the last band begins at 29, which the band before it holds: it is 20 to 29",
            "`30+`",
        ],
    ),
];

#[test]
fn what_cannot_be_ungrouped_is_refused_with_its_place() {
    let mut wrong = Vec::new();
    for (table, more, words) in BROKEN {
        let folder = folder(&[("t.csv", table.as_bytes())]);
        let output = quadrat(folder.path(), &with(more));
        let told = stderr(&output);
        let is_fine = output.status.code() == Some(1)
            && words.iter().all(|word| told.contains(word))
            && told.contains(" = ")
            && names(folder.path()) == ["t.csv"]
            && stdout(&output).is_empty();
        if !is_fine {
            wrong.push(format!("{table:?} {more:?}: {:?}\n{told}", output.status));
        }
    }
    none(&wrong);
}
