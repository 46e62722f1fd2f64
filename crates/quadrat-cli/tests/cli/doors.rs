//! Small things that tables and studies say in their own way: flags of censoring, ranks that nobody
//! gave, open bands, grids of one point; and columns that are wrong as a whole.

use crate::harness::{column, done, folder, none, quadrat, refused, stderr, study};

const CENSORED: &str = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
likelihood = { censored = { value = "y", HOW } }
[[predict]]
name = "p"
support = { grid = { t = { from = 0, to = 4, step = 1 } } }
[inference]
hyperparameters = "map"
"#;
const FLAGS: &str = "t,y,side,below,event\n0,1.0,none,FALSE,1\n1,1.5,left,TRUE,0\n2,0.7,none,no,1\n3,0.5,left,yes,0\n4,0.4,none,0,1\n";

#[test]
fn a_flag_of_censoring_says_the_same_as_a_side() {
    let means = |how: &str| {
        let text = CENSORED.replace("HOW", how);
        let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", FLAGS.as_bytes())]);
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        column(folder.path(), "p", "mean")
    };
    let sides = means("side = \"side\"");
    assert_eq!(means("left = \"below\""), sides);
    let right = means("right = \"below\"");
    assert_ne!(right, sides);
    // An event is a value that is not censored; the others go on.
    assert_eq!(means("event = \"event\""), right);
}

#[test]
fn noise_may_be_given_by_its_sd() {
    let run = |noise: &str| {
        let text = CENSORED.replace(
            "censored = { value = \"y\", HOW }",
            &format!("gaussian = {{ value = \"y\", {noise} }}"),
        );
        let table = "t,y,se,var\n0,1.0,0.5,0.25\n1,1.5,0.25,0.0625\n2,0.5,0,0\n";
        let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", table.as_bytes())]);
        let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
        (column(folder.path(), "p", "mean"), said)
    };
    let (means, said) = run("sd = \"se\"");
    assert_eq!(run("variance = \"var\"").0, means);
    assert_eq!(run("sd = 0.5").0, run("variance = 0.25").0);
    // One exact row among others is likely an error that nobody wrote down.
    assert!(
        said.contains("the noise of 1 row is 0 beside rows with noise, the first at d.csv:4"),
        "{said}"
    );
}

#[test]
fn a_scale_has_ranks_that_nobody_gave() {
    let text = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
likelihood = { ordinal = { rank = "g", ranks = 5 } }
[[predict]]
name = "p"
support = { grid = { t = 2 } }
scale = "observation"
ranks = true
[inference]
hyperparameters = "map"
"#;
    let table = "t,g\n0,1\n1,2\n2,3\n3,4\n4,2\n5,1\n";
    let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", table.as_bytes())]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let chance = |rank: &str| column(folder.path(), "p", rank)[0];
    let all: f64 = (1..=5).map(|rank| chance(&format!("rank_{rank}"))).sum();
    // Five averages over nodes whose weights add up to one within seven sds: 3e-12 is left out.
    assert!((all - 1.0).abs() < 1e-9, "{all}");
    let best = chance("rank_5");
    assert!(best > 1e-4 && best < chance("rank_4"), "{best}");
}

#[test]
fn a_grid_may_be_one_point() {
    let grid = |axis: &str| {
        let text = CENSORED
            .replace("HOW", "upper = 9")
            .replace("{ from = 0, to = 4, step = 1 }", axis);
        let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", FLAGS.as_bytes())]);
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        column(folder.path(), "p", "mean")
    };
    let one = grid("2");
    assert_eq!(one.len(), 1);
    assert_eq!(grid("{ from = 2, to = 2, step = 1 }"), one);
    assert_eq!(grid("{ from = 2, to = 2 }"), one);
    assert_eq!(grid("{ from = 0, to = 4, step = 1 }")[2], one[0]);
}

#[test]
fn what_a_column_cannot_hold_is_told_with_what_does_the_job() {
    let waits = CENSORED.replace(
        "censored = { value = \"y\", HOW }",
        "exponential = { value = \"y\" }",
    );
    let smooth = CENSORED.replace("HOW", "side = \"event\"");
    let names = CENSORED
        .replace("\"t\"", "\"below\"")
        .replace("(t)", "(below)")
        .replace(" t =", " below =")
        .replace("HOW", "side = \"side\"");
    let zones = format!("below,y,side\n{}", "trough,1,none\nfan,2,none\n".repeat(15));
    let cases: [(&str, &str, &str, &str, &[&str]); 5] = [
        (
            "open band",
            &study("step = 1,", "step = 1,"),
            "ages.csv",
            "from,to,people,var\n0,10,5,1\n10,inf,7,1\n",
            &["`inf` is not finite", "such as 110", "ages.csv:3:4"],
        ),
        (
            "open band in print",
            &study("step = 1,", "step = 1,"),
            "ages.csv",
            "from,to,people,var\n0,10,5,1\n10,100+,7,1\n",
            &["such as 110"],
        ),
        (
            "waits",
            &waits,
            "d.csv",
            "t,y\n0,1.0\n1,>11.535\n",
            &["`>11.535` is not a number", "poisson = { count"],
        ),
        (
            "a bare flag",
            &smooth,
            "d.csv",
            FLAGS,
            &["5 cells", "`event` where yes means"],
        ),
        (
            "names",
            &names,
            "d.csv",
            &zones,
            &[
                "column `below`: it holds text (`trough`, `fan`)",
                "iid(below)",
            ],
        ),
    ];
    let wrong = cases
        .iter()
        .filter_map(|(name, text, file, table, expected)| {
            refused(name, text, &[(file, table.as_bytes())], expected).err()
        });
    let wrong: Vec<String> = wrong.collect();
    none(&wrong);
}

#[test]
fn a_text_of_any_length_may_be_a_key() {
    let long = "k".repeat(70_000);
    let text = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { bag = { file = "d.csv", key = "name", dims = ["t"] } }
aggregate = "mean"
likelihood = { gaussian = { value = "y", variance = 0.1 } }
[[predict]]
name = "p"
support = { bag = { file = "d.csv", key = "name", dims = ["t"] } }
aggregate = "mean"
[inference]
hyperparameters = "map"
"#;
    let table = format!("name,t,y\n{long},0,1\nb,1,2\n");
    let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", table.as_bytes())]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(
        said.contains("kkk...") && said.len() < 20_000,
        "{}",
        said.len()
    );
}

#[test]
fn a_folder_that_another_run_writes_into_is_left_alone() {
    let folder = folder(&[
        ("s.toml", study("x", "x").as_bytes()),
        ("ages.csv", crate::harness::TABLE.as_bytes()),
    ]);
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let lock = std::fs::File::open(folder.path().join("out")).unwrap();
    lock.lock().unwrap();
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("another run is writing into `out`"));
    drop(lock);
    // What it leaves when it is killed is in nobody's way.
    std::fs::write(folder.path().join("out/.quadrat-run-a1b2c3"), "").unwrap();
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let names = crate::harness::names(&folder.path().join("out"));
    assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
}

#[test]
fn bags_without_weight_are_left_out_where_that_is_asked() {
    let text = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "cases.csv"
support = { bag = { file = "pixels.csv", key = "id", dims = ["t"], weight = "people"EMPTY } }
aggregate = "sum"
likelihood = { poisson = { count = "n" } }
[[predict]]
name = "p"
support = { bag = { file = "pixels.csv", key = "id", dims = ["t"], weight = "people"EMPTY } }
aggregate = "sum"
[[predict]]
name = "again"
support = { file = "cases.csv", bag = { file = "pixels.csv", key = "id", dims = ["t"], weight = "people"EMPTY } }
aggregate = "sum"
[inference]
hyperparameters = "map"
"#;
    let pixels = "id,t,people\na,0,10\na,1,20\npark,2,0\npark,3,0\nb,4,30\nc,5,20\n";
    let cases = "id,n\na,3\npark,0\nb,2\nc,4\n";
    let files: [(&str, &[u8]); 2] = [
        ("pixels.csv", pixels.as_bytes()),
        ("cases.csv", cases.as_bytes()),
    ];
    let expected = [
        "the weights of the bag `park` are all zero",
        "`empty = \"skip\"`",
    ];
    refused("park", &text.replace("EMPTY", ""), &files, &expected).unwrap();
    let skipped = text.replace("EMPTY", ", empty = \"skip\"");
    let folder = folder(&[("s.toml", skipped.as_bytes()), files[0], files[1]]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(
        said.contains("cases.csv: 1 row left out, the first at cases.csv:3"),
        "{said}"
    );
    assert!(said.contains("1 row of pixels.csv not predicted"), "{said}");
    for name in ["p", "again"] {
        assert_eq!(column(folder.path(), name, "mean").len(), 3);
    }
}

#[test]
fn rows_of_bags_without_weight_that_say_something_are_refused() {
    let text = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "cases.csv"
support = { bag = { file = "pixels.csv", key = "id", dims = ["t"], weight = "people", empty = "skip" } }
aggregate = "HOW"
likelihood = { LIKELIHOOD }
[inference]
hyperparameters = "map"
"#;
    let pixels: (&str, &[u8]) = (
        "pixels.csv",
        b"id,t,people\na,0,10\na,1,20\npark,2,0\npark,3,0\nb,4,30\nc,5,20\n",
    );
    let poisson = "poisson = { count = \"n\" }";
    let exposed = "poisson = { count = \"n\", exposure = \"m\" }";
    let binomial = "binomial = { successes = \"n\", trials = \"m\" }";
    let gaussian = "gaussian = { value = \"n\", variance = 0.1 }";
    let sum = "the weights of the bag `park` are all zero, so that its sum is 0 for sure";
    let mean = "the weights of the bag `park` are all zero, so that it has no average";
    // What the park reports, and whether that says something.
    for (how, likelihood, park, told) in [
        ("sum", poisson, "5,0", Some(sum)),
        ("sum", poisson, "<5,0", None),
        ("sum", poisson, "2-4,0", Some(sum)),
        ("mean", exposed, "0,0", None),
        ("mean", exposed, "0,9", Some(mean)),
        ("mean", exposed, "2,9", Some(mean)),
        ("mean", binomial, "0,0", None),
        ("mean", binomial, "3,8", Some(mean)),
        ("sum", gaussian, "0,0", None),
        ("sum", gaussian, "1.5,0", Some(sum)),
        ("mean", gaussian, "1.5,0", Some(mean)),
    ] {
        let text = text.replace("HOW", how).replace("LIKELIHOOD", likelihood);
        let cases = format!("id,n,m\na,3,9\npark,{park}\nb,2,9\nc,4,9\n");
        let files: [(&str, &[u8]); 2] = [pixels, ("cases.csv", cases.as_bytes())];
        let name = format!("{how} {likelihood} {park}");
        match told {
            Some(told) => refused(&name, &text, &files, &[told, "cases.csv:3:6"]).unwrap(),
            None => {
                let folder = folder(&[("s.toml", text.as_bytes()), files[0], files[1]]);
                let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
                assert!(said.contains("1 row left out"), "{name}: {said}");
            }
        }
    }
}

#[test]
fn features_without_geometry_are_counted() {
    let feature = |k: usize| {
        format!(
            "{{\"type\":\"Feature\",\"properties\":{{\"k\":\"{k}\",\"v\":1}},\"geometry\":null}}"
        )
    };
    let features: Vec<String> = (0..2000).map(feature).collect();
    let map = format!(
        "{{\"type\":\"FeatureCollection\",\"features\":[{}]}}",
        features.join(",")
    );
    let text = r#"[latent]
kernel = "se(x, y)"
[[observe]]
file = "z.geojson"
support = { region = { key = "k", dims = ["x", "y"], planar = true } }
aggregate = "mean"
likelihood = { gaussian = { value = "v", variance = 0.1 } }
"#;
    let expected = [
        "the feature with k `0` has no geometry",
        "z.geojson: 2,000 features without a geometry",
        "z.geojson:1:41",
    ];
    refused("bare", text, &[("z.geojson", map.as_bytes())], &expected).unwrap();
}

#[test]
fn names_of_any_length_are_cut_where_they_are_told() {
    let long = "k".repeat(70_000);
    let study = |title: &str, column: &str| {
        format!(
            r#"title = "{title}"
[latent]
kernel = "se(t)"
[[observe]]
file = "t.csv"
output_column = "{column}"
support = {{ point = ["t"] }}
likelihood = {{ gaussian = {{ value = "y", variance = 0.1 }} }}
[inference]
hyperparameters = "map"
"#
        )
    };
    let rows = format!("t,o,y\n0,{long},1\n1,{long},2\n0,b,3\n1,b,4\n");
    for (text, code) in [(study(&long, "o"), 0), (study("s", &long), 1)] {
        let files: [(&str, &[u8]); 2] = [("s.toml", text.as_bytes()), ("t.csv", rows.as_bytes())];
        let folder = folder(&files);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            stderr(&output)
        );
        assert_eq!(
            output.status.code(),
            Some(code),
            "{}",
            &said[..said.len().min(2000)]
        );
        assert!(!said.contains("...."), "{said}");
        assert!(
            said.contains("kkk...") && said.len() < 10_000,
            "{}",
            said.len()
        );
    }
}
