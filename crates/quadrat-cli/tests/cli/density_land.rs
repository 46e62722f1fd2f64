//! `quadrat density` of counts in boxes, and inside of polygons.

use crate::harness::{done, folder, names, quadrat, stderr, stdout};

/// Counts of a normal distribution over a plane, the outermost boxes without an end.
fn boxes() -> String {
    let edges = ["", "-1", "0", "1", ""];
    let share: [f64; 4] = [0.159, 0.341, 0.341, 0.159];
    let mut out = "west,east,south,north,n\n".to_owned();
    for i in 0..4 {
        for j in 0..4 {
            let n = (400.0 * share[i] * share[j]).round();
            let (x, y) = (&edges[i..i + 2], &edges[j..j + 2]);
            out.push_str(&format!("{},{},{},{},{n}\n", x[0], x[1], y[0], y[1]));
        }
    }
    out
}

#[test]
fn counts_in_boxes_become_a_map() {
    let folder = folder(&[("b.csv", boxes().as_bytes())]);
    let bins = ["density", "b.csv", "--bins", "west,east,south,north,n"];
    let mut args = bins.to_vec();
    args.extend(["--grid", "24", "-o", "d.csv", "--plot", "d.svg"]);
    let text = done(folder.path(), &args);
    for part in [
        "16 rows of `x` (across) and `y` (up)",
        "% of the weight lies in intervals without an end",
        "wrote d.svg",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (head, rows) = crate::density::rows(&read("d.csv"));
    assert_eq!(
        (head.as_str(), rows.len()),
        ("x,y,density,lower,upper", 24 * 24)
    );
    assert!(
        rows.iter()
            .all(|r| r[2] >= 0.0 && r[3] >= 0.0 && r[3] <= r[4])
    );
    let mut args = bins.to_vec();
    args.extend([
        "--grid", "24", "--json", "--within", "-1,1", "--within", "-1,1",
    ]);
    let json: serde_json::Value = serde_json::from_str(&done(folder.path(), &args)).unwrap();
    let within = |end: &str| json["within"][end].as_f64().unwrap();
    // Four boxes hold 0.682 squared, of about 400.
    assert!(
        within("lower") < 0.465
            && within("upper") > 0.465
            && (within("value") - 0.465).abs() < 0.05
    );
    assert!(json["correlation"]["value"].as_f64().unwrap().abs() < 0.1);
}

/// Places in a triangle of which the sea takes a half of the square.
fn places() -> String {
    let mut out = "east,north\n".to_owned();
    for i in 0..120_u32 {
        let (a, b) = (
            (f64::from(i) * 0.618_034).fract(),
            (f64::from(i) * 0.754_878).fract(),
        );
        let (x, y) = if a + b > 1.0 {
            (1.0 - a, 1.0 - b)
        } else {
            (a, b)
        };
        out.push_str(&format!("{x},{y}\n"));
    }
    out
}

const LAND: &str = r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,1],[0,0]]]}}]}"#;

#[test]
fn a_density_on_land_is_nothing_at_sea() {
    let folder = folder(&[
        ("p.csv", places().as_bytes()),
        ("land.geojson", LAND.as_bytes()),
    ]);
    let columns = [
        "density",
        "p.csv",
        "--column",
        "east",
        "--column",
        "north",
        "--inside",
        "land.geojson",
    ];
    let mut args = columns.to_vec();
    args.extend(["--grid", "20", "-o", "d.csv", "--plot", "d.html"]);
    done(folder.path(), &args);
    let text = std::fs::read_to_string(folder.path().join("d.csv")).unwrap();
    let (_, rows) = crate::density::rows(&text);
    for r in &rows {
        let sea = r[0] + r[1] - 1.0;
        // Half the diagonal of a cell of a twentieth, as a sum of both sides.
        assert!(sea < 0.051 || r[2] == 0.0, "{r:?}");
        assert!(sea > -0.051 || r[2] > 0.5, "{r:?}");
    }
    // Uniform over half a square: most cells of land hold a density of two.
    let land: Vec<&Vec<f64>> = rows.iter().filter(|r| r[2] > 0.0).collect();
    let held = land.iter().filter(|r| r[3] < 2.0 && 2.0 < r[4]).count();
    assert!(held * 10 > land.len() * 8, "{held} of {}", land.len());
    let before = names(folder.path());
    let cases: [(&[&str], &[&str]); 4] = [
        (
            &[
                "density",
                "p.csv",
                "--column",
                "east",
                "--inside",
                "land.geojson",
            ],
            &["--inside is of two columns", "--column twice"],
        ),
        (
            &[
                "density", "p.csv", "--column", "east", "--column", "north", "--inside", "p.csv",
            ],
            &["not a GeoJSON file"],
        ),
        (
            &[
                "density",
                "p.csv",
                "--column",
                "east",
                "--column",
                "north",
                "--inside",
                "sea.geojson",
            ],
            &["does not exist"],
        ),
        (
            &["density", "p.csv", "--bins", "east,north"],
            &["XLO,XHI,YLO,YHI,COUNT"],
        ),
    ];
    for (args, parts) in cases {
        let out = quadrat(folder.path(), args);
        let said = stderr(&out);
        assert_eq!(out.status.code(), Some(1), "{args:?}: {}", stdout(&out));
        for part in parts {
            assert!(said.contains(part), "{args:?}: no `{part}` in\n{said}");
        }
    }
    let mut wet = places();
    wet.push_str("0.9,0.9\n0.8,0.95\n");
    std::fs::write(folder.path().join("p.csv"), wet).unwrap();
    let out = quadrat(folder.path(), &columns);
    let said = stderr(&out);
    assert!(
        said.contains("2 rows outside of the polygons") && said.contains("p.csv:122"),
        "{said}"
    );
    assert_eq!(names(folder.path()), before);
}

/// What is open all around says nothing: it is told, and changes nothing.
#[test]
fn rows_that_say_nothing_are_told() {
    let table = boxes();
    let with = format!("{table},,,,300\n");
    let line = "lo,hi,n\n,0,4\n0,1,30\n1,2,50\n";
    let line_with = format!("{line},,120\n");
    let folder = folder(&[
        ("b.csv", table.as_bytes()),
        ("open.csv", with.as_bytes()),
        ("l.csv", line.as_bytes()),
        ("l_open.csv", line_with.as_bytes()),
    ]);
    for (plain, open, bins, rows, at) in [
        ("b.csv", "open.csv", "west,east,south,north,n", 17, 18),
        ("l.csv", "l_open.csv", "lo,hi,n", 4, 5),
    ] {
        let asked = |table: &str, out: &str| {
            let args = ["density", table, "--bins", bins, "--grid", "24", "-o", out];
            done(folder.path(), &args)
        };
        let (told, others) = (asked(open, "a.csv"), asked(plain, "b_out.csv"));
        let says = format!("1 of {rows} rows hold all that is possible");
        let place = format!("the first is {open}:{at}");
        assert!(told.contains(&says) && told.contains(&place), "{told}");
        assert!(!others.contains("all that is possible"), "{others}");
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert_eq!(read("a.csv"), read("b_out.csv"), "{bins}");
    }
}
