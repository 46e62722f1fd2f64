//! Broken GeoJSON and broken bags: each is refused with file, line, feature and remedy.

use crate::harness::{none, refused};

pub const STUDY: &str = r#"title = "Cases"

[latent]
kernel = "se(x, y)"

[[observe]]
file = "cases.csv"
support = { region = { file = "map.geojson", key = "id", dims = ["x", "y"], planar = true } }
aggregate = "sum"
likelihood = { gaussian = { value = "cases", variance = 1 } }

[[predict]]
name = "again"
support = { region = { file = "map.geojson", dims = ["x", "y"], planar = true } }
aggregate = "sum"

[inference]
hyperparameters = "map"
"#;

pub const MAP: &str = r#"{"type": "FeatureCollection", "features": [
{"type": "Feature", "id": "a", "properties": {"name": "A", "n": 5}, "geometry": {"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,1],[0,0]]]}},
{"type": "Feature", "id": "b", "properties": {"name": "B", "n": 7}, "geometry": {"type": "Polygon", "coordinates": [[[1,0],[2,0],[2,1],[1,1],[1,0]]]}},
{"type": "Feature", "id": "c", "properties": {"name": "C", "n": 6}, "geometry": {"type": "MultiPolygon", "coordinates": [[[[2,0],[3,0],[3,1],[2,1],[2,0]]]]}}
]}
"#;

pub const CASES: &str = "id,cases\na,5\nb,7\nc,6\n";

/// Replaced text, replacement, texts expected.
type Case = (&'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const MAPS: &[Case] = &[
    // Syntax.
    ("\n]}", "\n", &["the file ends too early", "map.geojson:5", "its end is missing"]),
    ("[0,1],[0,0]]]", "[0,1],[0,0],]]", &["trailing comma", "map.geojson:2:", "remove the comma"]),
    ("[1,1],[0,1]", "[1,NaN],[0,1]", &["`NaN` is no number in JSON", "map.geojson:2:1", "finite number"]),
    ("\"id\": \"a\"", "'id': 'a'", &["not valid JSON", "map.geojson:2:21", "double quotes"]),
    ("\"FeatureCollection\"", "\"Topology\"", &["TopoJSON", "map.geojson:1:1", "convert it"]),
    ("\"FeatureCollection\"", "\"Table\"", &["not GeoJSON: its `type` is `Table`", "map.geojson:1:1"]),
    ("{\"type\": \"FeatureCollection\", \"features\"", "{\"rows\"", &["not GeoJSON: it has no `type`", "map.geojson:1:1"]),
    ("\"features\": [", "\"feature\": [", &["no array `features`", "map.geojson:1:1"]),
    ("{\"type\": \"Feature\", \"id\": \"b\"", "{\"type\": \"Featur\", \"id\": \"b\"", &["this is no feature", "map.geojson:3:1"]),
    ("\"id\": \"b\"", "\"id\": [1]", &["the `id` of a feature must be a text or a number", "map.geojson:3:27"]),
    ("{\"name\": \"B\", \"n\": 7}", "[7]", &["`properties` must be an object or null", "map.geojson:3:46"]),
    // Geometries.
    ("{\"type\": \"MultiPolygon\", \"coordinates\": [[[[2,0],[3,0],[3,1],[2,1],[2,0]]]]}", "null", &["the feature with id `c` has no geometry", "map.geojson:4:1", "remove it"]),
    ("{\"type\": \"MultiPolygon\", \"coordinates\": [[[[2,0],[3,0],[3,1],[2,1],[2,0]]]]}", "{\"type\": \"Point\", \"coordinates\": [2,0]}", &["the feature with id `c` is a Point, which has no area", "map.geojson:4:", "`bag` of points"]),
    ("{\"type\": \"MultiPolygon\", \"coordinates\": [[[[2,0],[3,0],[3,1],[2,1],[2,0]]]]}", "{\"type\": \"GeometryCollection\", \"geometries\": []}", &["`c` is a GeometryCollection", "MultiPolygon"]),
    ("{\"type\": \"MultiPolygon\", \"coordinates\": [[[[2,0],[3,0],[3,1],[2,1],[2,0]]]]}", "{\"type\": \"LineString\", \"coordinates\": [[2,0],[3,0]]}", &["`c` is a LineString", "no area"]),
    ("\"MultiPolygon\"", "\"Multipolygon\"", &["unknown geometry `Multipolygon`", "map.geojson:4:"]),
    ("{\"type\": \"MultiPolygon\", \"coordinates\"", "{\"type\": \"MultiPolygon\", \"coords\"", &["`c` has no `coordinates`", "map.geojson:4:"]),
    ("[[[[2,0],[3,0],[3,1],[2,1],[2,0]]]]", "[]", &["the polygon of the feature with id `c` is empty", "map.geojson:4:"]),
    ("[[[[2,0],[3,0],[3,1],[2,1],[2,0]]]]", "[[[2,0],[3,0],[3,1],[2,1],[2,0]]]", &["feature with id `c`: in the coordinates there is", "map.geojson:4:", "array of rings"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[2,null],[2,1],[1,1],[1,0]]]", &["`b`: in the coordinates there is null", "map.geojson:3:", "two finite numbers"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[2],[2,1],[1,1],[1,0]]]", &["`b`: this position has 1 coordinate", "map.geojson:3:", "[longitude, latitude]"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[2,\"0\"],[2,1],[1,1],[1,0]]]", &["`b`: in the coordinates there is string", "map.geojson:3:"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[2,1e400],[2,1],[1,1],[1,0]]]", &["`b`: in the coordinates", "out of range", "map.geojson:3:"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[2,0],[3,0],[1,0]]]", &["the feature with id `b`", "map.geojson:3:"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[1,0],[1,0],[1,0]]]", &["the feature with id `b`", "map.geojson:3:"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[2,1],[2,0],[1,1],[1,0]]]", &["the feature with id `b`", "map.geojson:3:", "1.5"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[2,0],[2,1],[1,1],[1,0]],[[1,0],[2,0],[2,1],[1,1],[1,0]]]", &["the feature with id `b`: the holes leave no area of the polygon", "map.geojson:3:"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[1e200,0],[1e200,1e200],[1,1e200],[1,0]]]", &["the feature with id `b`: ring 1 (exterior) of part 1: vertex 2 is (1e200, 0.0), beyond 1e75", "map.geojson:3:", "change the unit"]),
    ("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]", "[[[1,0],[2,0],[2,1],[1,1],[1,0]],[[9,9],[10,9],[10,10],[9,9]]]", &["the feature with id `b`: ring 2 (hole) of part 1 lies outside", "map.geojson:3:"]),
    // Keys.
    ("\"id\": \"b\"", "\"id\": \"a\"", &["two features have the key `a`: this one and that of line 2", "map.geojson:3:", "merge them"]),
    ("\"id\": \"b\", ", "", &["neither a property `id` nor an `id`", "s.toml:8:52", "their properties are `name` and `n`"]),
    ("\"id\": \"b\"", "\"id\": \"bb\"", &["no region of map.geojson has the key `b`", "cases.csv:3:1 (column `id`)", "delete the row"]),
    ("\"n\": 5}", "\"mean\": 5}", &["the features have a property `mean` already", "s.toml:13:8", "rename"]),
];

/// Broken tables of rows.
#[rustfmt::skip]
const ROWS: &[Case] = &[
    ("b,7", "B ,7", &["no region of map.geojson has the key `B`; did you mean `b`?", "cases.csv:3:1"]),
    ("b,7", ",7", &["the key is empty", "cases.csv:3:1 (column `id`)", "delete the row"]),
    ("id,cases", "district,cases", &["there is no column `id` in cases.csv", "s.toml:8:52", "`district` and `cases`"]),
    ("b,7", "b,seven", &["`seven` is not a number", "cases.csv:3:3"]),
];

/// Broken studies.
#[rustfmt::skip]
const STUDIES: &[Case] = &[
    ("key = \"id\", ", "", &["region needs `key`", "s.toml:8:", "column of cases.csv"]),
    ("key = \"id\"", "key = \"nmae\"", &["there is no column `nmae` in cases.csv", "s.toml:8:52"]),
    ("{ region = { file = \"map.geojson\", key", "{ region = { key", &["region needs `file`", "s.toml:8:"]),
    ("file = \"map.geojson\", key", "file = \"mpa.geojson\", key", &["the file `mpa.geojson` does not exist", "did you mean `map.geojson`?", "s.toml:8:31"]),
    ("file = \"map.geojson\", key", "file = \"map.shp\", key", &["`map.shp` is not a GeoJSON file", "ogr2ogr", "s.toml:8:31"]),
    ("dims = [\"x\", \"y\"], planar = true } }\naggregate = \"sum\"\nlike", "dims = [\"x\"], planar = true } }\naggregate = \"sum\"\nlike", &["a region extends over two dimensions, not 1", "s.toml:8:"]),
    ("dims = [\"x\", \"y\"], planar = true } }\naggregate = \"sum\"\nlike", "dims = [], planar = true } }\naggregate = \"sum\"\nlike", &["`dims` names no dimension", "s.toml:8:"]),
    ("dims = [\"x\", \"y\"], planar = true } }\naggregate = \"sum\"\nlike", "planar = true } }\naggregate = \"sum\"\nlike", &["region needs `dims`", "s.toml:8:"]),
    ("planar = true } }\naggregate = \"sum\"\nlike", "planar = 1 } }\naggregate = \"sum\"\nlike", &["`planar` must be true or false", "s.toml:8:"]),
    ("key = \"id\"", "kye = \"id\"", &["unknown key `kye` in region", "did you mean `key`?", "s.toml:8:"]),
    ("aggregate = \"sum\"\nlike", "like", &["[[observe]] needs `aggregate`", "totals"]),
    ("se(x, y)", "se(x, z)", &["the kernel uses `z`", "the supports give `x` and `y`"]),
    ("se(x, y)", "se(x)", &["`dims` names `y`, which the kernel does not use", "s.toml:8:"]),
    ("planar = true } }\naggregate = \"sum\"\nlike", "planar = true }, point = [\"x\"] }\naggregate = \"sum\"\nlike", &["dimension `x` is given twice", "s.toml:8:"]),
];

/// Broken longitudes and latitudes: the study without `planar`, the map with other numbers.
#[rustfmt::skip]
const DEGREES: &[Case] = &[
    ("[2,1],[1,1]", "[2,400],[1,1]", &["look planar", "map.geojson:3:1", "`planar = true`"]),
    ("[[1,0],[2,0],[2,1],[1,1],[1,0]]", "[[1,100],[2,100],[2,101],[1,101],[1,100]]", &["look like latitude first", "map.geojson:3:1", "swap them"]),
    ("[[1,0],[2,0],[2,1],[1,1],[1,0]]", "[[-180,-90],[180,-90],[180,-70],[-180,-70],[-180,-90]]", &["the feature with id `b`: ring 1 (exterior) of part 1 goes round all longitudes", "map.geojson:3:", "split it along meridians", "`planar = true`"]),
    ("[[1,0],[2,0],[2,1],[1,1],[1,0]]", "[[-180,-90],[180,-90],[180,90],[-180,90],[-180,-90]]", &["goes round all longitudes", "map.geojson:3:"]),
    ("[[1,0],[2,0],[2,1],[1,1],[1,0]]", "[[-180,80],[-170,80],[-160,80],[-150,80],[-140,80],[-130,80],[-120,80],[-110,80],[-100,80],[-90,80],[-80,80],[-70,80],[-60,80],[-50,80],[-40,80],[-30,80],[-20,80],[-10,80],[0,80],[10,80],[20,80],[30,80],[40,80],[50,80],[60,80],[70,80],[80,80],[90,80],[100,80],[110,80],[120,80],[130,80],[140,80],[150,80],[160,80],[170,80]]", &["the feature with id `b`: ring 1 (exterior) of part 1 goes round a pole", "map.geojson:3:", "split it along meridians"]),
    ("\"features\"", "\"crs\": {\"type\": \"name\", \"properties\": {\"name\": \"urn:ogc:def:crs:EPSG::32618\"}}, \"features\"", &["names the coordinate system `urn:ogc:def:crs:EPSG::32618`", "map.geojson:1:", "`planar = true`", "EPSG:4326"]),
];

fn all(cases: &[Case], run: impl Fn(&str, &Case) -> Result<(), String>, wrong: &mut Vec<String>) {
    for case in cases {
        wrong.extend(run(case.1, case).err());
    }
}

fn replaced(text: &str, case: &Case) -> String {
    assert!(text.contains(case.0), "no `{}`", case.0);
    text.replacen(case.0, case.1, 1)
}

fn told(wrong: &[String]) {
    none(wrong);
}

#[test]
fn broken_regions_are_refused_with_place_and_remedy() {
    let mut wrong = Vec::new();
    let run = |study: &str, map: &str, rows: &str, name: &str, case: &Case| {
        let files = [
            ("map.geojson", map.as_bytes()),
            ("cases.csv", rows.as_bytes()),
        ];
        refused(name, study, &files, case.2)
    };
    all(
        MAPS,
        |n, c| run(STUDY, &replaced(MAP, c), CASES, n, c),
        &mut wrong,
    );
    all(
        ROWS,
        |n, c| run(STUDY, MAP, &replaced(CASES, c), n, c),
        &mut wrong,
    );
    all(
        STUDIES,
        |n, c| run(&replaced(STUDY, c), MAP, CASES, n, c),
        &mut wrong,
    );
    let geographic = STUDY.replace(", planar = true", "");
    all(
        DEGREES,
        |n, c| run(&geographic, &replaced(MAP, c), CASES, n, c),
        &mut wrong,
    );
    told(&wrong);
}

#[test]
fn an_empty_collection_and_an_empty_file_are_refused() {
    let mut wrong = Vec::new();
    for (map, expected) in [
        (
            "{\"type\": \"FeatureCollection\", \"features\": []}",
            "the collection has no features",
        ),
        ("", "map.geojson is empty"),
        (
            "{\"type\": \"Polygon\", \"coordinates\": []}",
            "a bare Polygon without features",
        ),
        ("[]", "it is no object"),
    ] {
        let files = [
            ("map.geojson", map.as_bytes()),
            ("cases.csv", CASES.as_bytes()),
        ];
        wrong.extend(refused(map, STUDY, &files, &[expected, "map.geojson:1"]).err());
    }
    told(&wrong);
}

#[test]
fn latitude_cannot_come_first() {
    let study = STUDY
        .replace(", planar = true", "")
        .replace("\"x\", \"y\"", "\"lat\", \"lon\"")
        .replace("x, y", "lat, lon");
    let files = [
        ("map.geojson", MAP.as_bytes()),
        ("cases.csv", CASES.as_bytes()),
    ];
    let expected = [
        "GeoJSON has longitude first",
        "s.toml:8:66",
        "[\"lon\", \"lat\"]",
    ];
    refused("swapped", &study, &files, &expected).unwrap();
}

/// A map of squares of one degree, each with its key as a property.
fn squares(corners: &[(&str, [f64; 2])]) -> String {
    let feature = |(key, [x, y]): &(&str, [f64; 2])| {
        let (x1, y1) = (x + 1.0, y + 1.0);
        format!(
            "{{\"type\": \"Feature\", \"properties\": {{\"id\": \"{key}\"}}, \"geometry\": {{\"type\": \"Polygon\", \"coordinates\": [[[{x},{y}],[{x1},{y}],[{x1},{y1}],[{x},{y1}],[{x},{y}]]]}}}}"
        )
    };
    let features: Vec<String> = corners.iter().map(feature).collect();
    format!(
        "{{\"type\": \"FeatureCollection\", \"features\": [\n{}\n]}}",
        features.join(",\n")
    )
}

#[test]
fn one_feature_with_its_numbers_exchanged_is_named() {
    let study = STUDY.replace(", planar = true", "");
    let map = squares(&[
        ("a", [-120.0, 35.0]),
        ("b", [35.0, -119.0]),
        ("c", [-118.0, 36.0]),
    ]);
    let files = [
        ("map.geojson", map.as_bytes()),
        ("cases.csv", CASES.as_bytes()),
    ];
    let expected = [
        "the feature with id `b` spans 35 to 36 and -119 to -118, but would lie among the others with its two numbers exchanged",
        "map.geojson:3:1",
        "exchange the two numbers of every position of this feature",
    ];
    refused("exchanged", &study, &files, &expected).unwrap();
    // Far from all others either way.
    let map = squares(&[
        ("a", [-120.0, 35.0]),
        ("b", [35.0, -9119.0]),
        ("c", [-118.0, 36.0]),
    ]);
    let files = [
        ("map.geojson", map.as_bytes()),
        ("cases.csv", CASES.as_bytes()),
    ];
    let expected = ["look planar", "`planar = true`"];
    refused("planar", &study, &files, &expected).unwrap();
}

#[test]
fn features_are_known_by_the_key_of_the_study_and_a_problem_is_said_once() {
    let map = squares(&[("a", [0.0, 0.0]), ("b", [1.0, 0.0]), ("c", [2.0, 0.0])]);
    let crossing = map.replace("[2,1],[1,1]", "[1,1],[2,1]");
    assert_ne!(map, crossing);
    let twice = map.replace("\"b\"", "\"a\"");
    let study = STUDY.replacen("geojson\", dims", "geojson\", key = \"id\", dims", 1);
    for (map, message) in [
        (
            crossing,
            "the feature with id `b`: ring 1 (exterior) of part 1 crosses itself",
        ),
        (twice, "two features have the key `a`"),
    ] {
        let folder = crate::harness::folder(&[
            ("s.toml", study.as_bytes()),
            ("map.geojson", map.as_bytes()),
            ("cases.csv", CASES.as_bytes()),
        ]);
        let output = crate::harness::quadrat(folder.path(), &["run", "s.toml"]);
        let text = crate::harness::stderr(&output);
        assert_eq!(text.matches(message).count(), 1, "{text}");
        assert_eq!(text.matches("error:").count(), 1, "{text}");
    }
}

#[test]
fn planar_and_geographic_regions_do_not_mix() {
    let study = STUDY.replacen(", planar = true", "", 1);
    let files = [
        ("map.geojson", MAP.as_bytes()),
        ("cases.csv", CASES.as_bytes()),
    ];
    let expected = [
        "these regions are planar, but others",
        "s.toml:14:",
        "all of them planar or none",
    ];
    refused("mixed", &study, &files, &expected).unwrap();
}

const BAGS: &str = r#"[latent]
kernel = "se(x, y)"

[[observe]]
file = "cases.csv"
support = { bag = { file = "pixels.csv", key = "id", dims = ["x", "y"], weight = "people" } }
aggregate = "sum"
likelihood = { gaussian = { value = "cases", variance = 1 } }
"#;

const PIXELS: &str = "id,x,y,people\na,0,0,1\na,1,0,2\nb,2,0,3\nc,3,0,1\n";

#[rustfmt::skip]
const PIXEL_CASES: &[Case] = &[
    ("b,2,0,3", "b,2,0,-3", &["the weight is -3; it cannot be negative", "pixels.csv:4:7 (column `people`)", "does not count"]),
    ("b,2,0,3", "b,2,0,NaN", &["`NaN` is not finite", "pixels.csv:4:7"]),
    ("b,2,0,3", "b,2,nan,3", &["`nan` is not finite", "pixels.csv:4:5 (column `y`)"]),
    ("b,2,0,3", "b,2,0,0", &["the weights of the bag `b` are all zero", "pixels.csv:4:7", "positive weight"]),
    ("b,2,0,3\n", "", &["no bag of pixels.csv has the key `b`", "cases.csv:3:1 (column `id`)", "`a` and `c`"]),
    ("b,2,0,3", ",2,0,3", &["the key is empty", "pixels.csv:4:1 (column `id`)"]),
    ("b,2,0,3", "b,1e200,0,3", &["too large", "pixels.csv:4:3"]),
    ("id,x,y,people", "id,x,z,people", &["there is no column `y` in pixels.csv", "s.toml:6:67"]),
    ("id,x,y,people", "id,x,y,pepole", &["there is no column `people` in pixels.csv; did you mean `pepole`?", "s.toml:6:82"]),
    ("id,x,y,people", "district,x,y,people", &["there is no column `id` in pixels.csv", "s.toml:6:48"]),
];

#[rustfmt::skip]
const BAG_STUDIES: &[Case] = &[
    ("key = \"id\", ", "", &["bag needs `key`", "s.toml:6:"]),
    ("file = \"pixels.csv\", ", "", &["bag needs `file`", "s.toml:6:"]),
    ("dims = [\"x\", \"y\"], ", "", &["bag needs `dims`", "s.toml:6:"]),
    ("dims = [\"x\", \"y\"]", "dims = []", &["`dims` names no dimension", "s.toml:6:", "write `bag = {"]),
    ("dims = [\"x\", \"y\"]", "dims = [\"x\", \"x\"]", &["dimension `x` is given twice", "s.toml:6:"]),
    ("weight", "wieght", &["unknown key `wieght` in bag", "did you mean `weight`?"]),
    ("weight = \"people\" }", "weight = \"people\" }, box = { t = [\"a\", \"b\"] }", &["a `box` beside a `bag` is not available", "give the other dimensions as `point`"]),
    ("bag =", "region = { dims = [\"x\", \"y\"] }, bag =", &["`support` has both a `region` and a `bag`"]),
    ("aggregate = \"sum\"\n", "", &["[[observe]] needs `aggregate`"]),
    ("pixels.csv", "cases.csv", &["there is no column `x` in cases.csv"]),
];

#[test]
fn broken_bags_are_refused_with_place_and_remedy() {
    let mut wrong = Vec::new();
    let run = |study: &str, pixels: &str, name: &str, case: &Case| {
        let files = [
            ("pixels.csv", pixels.as_bytes()),
            ("cases.csv", CASES.as_bytes()),
        ];
        refused(name, study, &files, case.2)
    };
    all(
        PIXEL_CASES,
        |n, c| run(BAGS, &replaced(PIXELS, c), n, c),
        &mut wrong,
    );
    all(
        BAG_STUDIES,
        |n, c| run(&replaced(BAGS, c), PIXELS, n, c),
        &mut wrong,
    );
    told(&wrong);
}
