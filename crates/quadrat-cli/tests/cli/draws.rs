//! Functions drawn from the posterior, as columns of predictions.

use crate::harness::{column, done, folder, none, quadrat, refused, stderr, stdout};

fn study(link: &str, first: &str, more: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(u, v)"
link = "{link}"
[[observe]]
file = "cases.csv"
support = {{ bag = {{ file = "pixels.csv", key = "district", dims = ["u", "v"], weight = "people" }} }}
aggregate = "sum"
likelihood = {{ poisson = {{ count = "cases" }} }}
[[predict]]
name = "pixels"
support = {{ file = "pixels.csv", point = ["v", "u"] }}
{first}
[[predict]]
name = "districts"
support = {{ file = "cases.csv", bag = {{ file = "pixels.csv", key = "district", dims = ["u", "v"], weight = "people" }} }}
aggregate = "sum"
draws = 400
{more}
[inference]
method = "sparse"
inducing = 12
hyperparameters = "map"
seed = 3
"#
    )
}

/// Nine districts of twelve pixels.
fn tables() -> (String, String) {
    let (mut pixels, mut cases) = (
        String::from("district,u,v,people\n"),
        String::from("district,cases\n"),
    );
    for district in 0..9_u32 {
        for pixel in 0..12_u32 {
            let u = f64::from(district % 3) + f64::from(pixel % 4) / 4.0;
            let v = f64::from(district / 3) + f64::from(pixel / 4) / 3.0;
            pixels.push_str(&format!(
                "{district},{u},{v},{}\n",
                1 + (district + pixel) % 4
            ));
        }
        cases.push_str(&format!("{district},{}\n", 12 + (district * 7) % 19));
    }
    (pixels, cases)
}

#[test]
fn draws_of_districts_are_the_sums_of_those_of_their_pixels() {
    let (pixels, cases) = tables();
    for link in ["exp", "square"] {
        let text = study(link, "draws = 5", "");
        let folder = folder(&[
            ("s.toml", text.as_bytes()),
            ("pixels.csv", pixels.as_bytes()),
            ("cases.csv", cases.as_bytes()),
        ]);
        let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
        // Draws are for other programs: the table that people see has none.
        assert!(!said.contains("draw_1"), "{said}");
        let of = |name: &str, k: usize| column(folder.path(), name, &format!("draw_{k}"));
        for k in 1..=5 {
            let (points, totals) = (of("pixels", k), of("districts", k));
            for (district, total) in totals.iter().enumerate() {
                let own = |i: &usize| i / 12 == district;
                let weight = |i: usize| (1 + (i / 12 + i % 12) % 4) as f64;
                let sum: f64 = (0..108).filter(own).map(|i| weight(i) * points[i]).sum();
                // Numbers read back exactly; sums are rounded.
                assert!((sum / total - 1.0).abs() < 1e-12, "{link} {k} {district}");
            }
        }
        // And they are draws from what is predicted.
        let (mean, sd) = (
            column(folder.path(), "districts", "mean"),
            column(folder.path(), "districts", "sd"),
        );
        let all: Vec<Vec<f64>> = (1..=400).map(|k| of("districts", k)).collect();
        for district in 0..9 {
            let own = all.iter().map(|draw| draw[district]);
            let average = own.clone().sum::<f64>() / 400.0;
            let square = own.map(|x| (x - average).powi(2)).sum::<f64>() / 399.0;
            // Standard errors: 5 % of the sd for the mean, 3.5 % for the sd (more for skewed
            // totals).
            let off = (average - mean[district]) / sd[district];
            assert!(off.abs() < 4.5 * 0.05, "{link} {district}: {off}");
            let ratio = square.sqrt() / sd[district];
            assert!(
                (ratio - 1.0).abs() < 5.0 * 0.035,
                "{link} {district}: {ratio}"
            );
        }
    }
}

#[test]
fn a_saved_model_draws_too() {
    let (pixels, cases) = tables();
    let text = study("exp", "", "");
    let folder = folder(&[
        ("s.toml", text.as_bytes()),
        ("pixels.csv", pixels.as_bytes()),
        ("cases.csv", cases.as_bytes()),
    ]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let predict = |more: &[&str]| {
        let mut args = vec![
            "predict",
            "m.quadrat",
            "--at",
            "pixels.csv",
            "--point",
            "u,v",
        ];
        args.extend_from_slice(more);
        quadrat(folder.path(), &args)
    };
    let first = predict(&["--draws", "3", "--seed", "1"]);
    assert!(first.status.success(), "{}", stderr(&first));
    let header = stdout(&first).lines().next().unwrap().to_owned();
    assert!(
        header.ends_with("median,upper,draw_1,draw_2,draw_3"),
        "{header}"
    );
    assert_eq!(
        stdout(&first),
        stdout(&predict(&["--draws", "3", "--seed", "1"]))
    );
    assert_ne!(
        stdout(&first),
        stdout(&predict(&["--draws", "3", "--seed", "2"]))
    );
    for (more, expected) in [
        (
            &["--draws", "2000"][..],
            "--draws takes 1 to 1000, not 2000",
        ),
        (
            &["--draws", "2", "--scale", "observation"],
            "without the noise of new observations",
        ),
    ] {
        let output = predict(more);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    assert_eq!(predict(&["--draws", "0"]).status.code(), Some(2));
}

#[test]
fn draws_that_cannot_be_are_refused_with_their_places() {
    let (pixels, cases) = tables();
    let files: [(&str, &[u8]); 2] = [
        ("pixels.csv", pixels.as_bytes()),
        ("cases.csv", cases.as_bytes()),
    ];
    let mut wrong = Vec::new();
    for (first, expected) in [
        (
            "draws = 0",
            "`draws` must be a whole number from 1 to 1000, not the number 0",
        ),
        ("draws = 1001", "not the number 1001"),
        ("draws = \"many\"", "not the text \"many\""),
        (
            "draws = 2\nscale = \"observation\"",
            "without the noise of new observations",
        ),
    ] {
        let text = study("exp", first, "");
        wrong.extend(refused(first, &text, &files, &[expected, "s.toml:12:9"]).err());
    }
    let mut many = String::from("u,v\n");
    (0..4000).for_each(|i| many.push_str(&format!("{},0.01\n", f64::from(i) * 1e-3)));
    let text = study("exp", "draws = 2", "")
        .replace("file = \"pixels.csv\", point", "file = \"many.csv\", point");
    let files = [files[0], files[1], ("many.csv", many.as_bytes())];
    // Pixels of both predictions together.
    let expected = [
        "functions would be drawn at 4,108 points at once, more than 4000",
        "s.toml:17:9",
    ];
    wrong.extend(refused("many", &text, &files, &expected).err());
    let values = r#"[latent]
kernel = "se(u)"
non_negative = "truncate"
[[observe]]
file = "pixels.csv"
support = { point = ["u"] }
likelihood = { gaussian = { value = "people" } }
[[predict]]
name = "at"
support = { file = "pixels.csv", point = ["u"] }
draws = 2
"#;
    wrong.extend(
        refused(
            "truncated",
            values,
            &files,
            &["draws do not know of `non_negative`", "s.toml:11:9"],
        )
        .err(),
    );
    let answers = values.replace("non_negative = \"truncate\"\n", "").replace(
        "gaussian = { value = \"people\" }",
        "binomial = { successes = \"people\", trials = 4 }",
    );
    none(&wrong);
    // Draws of probabilities are probabilities.
    let mut all: Vec<(&str, &[u8])> = files.to_vec();
    all.push(("s.toml", answers.as_bytes()));
    let folder = folder(&all);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    for draw in ["draw_1", "draw_2"] {
        let drawn = column(folder.path(), "at", draw);
        assert!(drawn.iter().all(|p| (0.0..=1.0).contains(p)), "{drawn:?}");
    }
}
