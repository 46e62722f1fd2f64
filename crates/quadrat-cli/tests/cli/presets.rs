//! `preset`: the same fits as from keys that spell it out, and refusals of what contradicts it.

use crate::harness::{folder, none, quadrat, refused, stderr};

/// Values of two outputs that move together, the first capped in the middle; counts likewise.
fn tables() -> Vec<(&'static str, Vec<u8>)> {
    let (mut a, mut b) = (String::from("t,y,side\n"), String::from("t,y,side\n"));
    let mut both = String::from("t,y,side,which\n");
    let [mut c, mut plain, mut d] = ["t,n\n"; 3].map(String::from);
    let mut written = String::from("t,y\n");
    for i in 0..14 {
        let t = f64::from(i) / 2.0;
        // Quasi-random in (-1/2, 1/2).
        let z = (f64::from(i) * 0.618_034).fract() - 0.5;
        let (y, w) = (2.0 * t.sin() + 0.3 * z, 5.0 - t.sin() - 0.2 * z);
        let side = if y > 1.4 { "right" } else { "none" };
        let y = y.min(1.4);
        a.push_str(&format!("{t},{y},{side}\n"));
        b.push_str(&format!("{t},{w},none\n"));
        both.push_str(&format!("{t},{y},{side},up\n{t},{w},none,down\n"));
        let mark = if side == "right" { ">" } else { "" };
        written.push_str(&format!("{t},{mark}{y}\n"));
        let n = (8.0 + 6.0 * t.sin() + 8.0 * z * z * t).round();
        let open = if n >= 12.0 { "+" } else { "" };
        let n = n.min(12.0);
        c.push_str(&format!("{t},{n}{open}\n"));
        plain.push_str(&format!("{t},{n}\n"));
        let n = (9.0 - 6.0 * t.sin() - 8.0 * z * z * t).round().max(0.0);
        d.push_str(&format!("{t},{n}\n"));
    }
    let all = [
        ("a.csv", a),
        ("b.csv", b),
        ("both.csv", both),
        ("w.csv", written),
        ("c.csv", c),
        ("plain.csv", plain),
        ("d.csv", d),
    ];
    all.map(|(name, text)| (name, text.into_bytes())).to_vec()
}

const CENSORED: &str = "{ censored = { value = \"y\", side = \"side\" } }";
const EXACT: &str = "{ gaussian = { value = \"y\" } }";
const COUNTED: &str = "{ poisson = { count = \"n\" } }";
const DISPERSED: &str = "{ negative_binomial = { count = \"n\" } }";

/// A study: keys at the top, tables with their outputs and likelihoods, sections.
fn study(top: &str, tables: &[(&str, &str, &str)], more: &str) -> String {
    let mut text = format!("title = \"T\"\n{top}\n[latent]\nkernel = \"se(t)\"\n");
    for (file, output, likelihood) in tables {
        text.push_str(&format!(
            "[[observe]]\nfile = \"{file}\"\nsupport = {{ point = [\"t\"] }}\n{output}\nlikelihood = {likelihood}\n"
        ));
    }
    text + "[inference]\nhyperparameters = \"map\"\n" + more
}

/// Settings that hold hyperparameters at one.
fn at_one(names: &[&str]) -> String {
    let lines = names
        .iter()
        .map(|name| format!("\"{name}\" = {{ value = 1, fixed = true }}\n"));
    format!("[hyperparameters]\n{}", lines.collect::<String>())
}

/// Settings that hold all hyperparameters of two functions: the lengthscales, and those named, at
/// one.
fn held(second: &str, leaf: &str, first: &[&str], other: &[&str]) -> String {
    let own = first.iter().map(|name| (*name).to_owned());
    let other = other.iter().map(|name| format!("{second}.{name}"));
    let lengthscales = [
        "se.lengthscale.t".to_owned(),
        format!("{second}.{leaf}.lengthscale.t"),
    ];
    let names: Vec<String> = own.chain(other).chain(lengthscales).collect();
    at_one(&names.iter().map(String::as_str).collect::<Vec<&str>>())
}

/// What `fit.json` says, without the time, the number of the run and the warnings; and the
/// warnings.
fn fit(study: &str) -> (serde_json::Value, String) {
    let tables = tables();
    let mut files: Vec<(&str, &[u8])> = tables.iter().map(|(n, b)| (*n, b.as_slice())).collect();
    files.push(("s.toml", study.as_bytes()));
    let folder = folder(&files);
    let run = quadrat(folder.path(), &["run", "s.toml", "-o", "out", "--quiet"]);
    assert!(run.status.success(), "{}\n{study}", stderr(&run));
    let text = std::fs::read_to_string(folder.path().join("out/fit.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let object = value.as_object_mut().unwrap();
    object.remove("seconds");
    object.remove("run");
    let warnings = object.remove("warnings").unwrap();
    (value, warnings.to_string())
}

#[test]
fn a_preset_is_what_the_keys_would_say() {
    let first = ("a.csv", "", CENSORED);
    let up = ("a.csv", "output = \"up\"", CENSORED);
    let down = ("b.csv", "output = \"down\"", CENSORED);
    let exact = |table: (&'static str, &'static str, &str)| (table.0, table.1, EXACT);
    let counts = |file| (file, "", DISPERSED);
    let poisson = |file| (file, "", COUNTED);
    let mixed = "[coregionalization]\nlatents = 1\nrank = 1\n";
    let noise = "[noise]\nkernel = \"se(t)\"\n";
    let flat = "[coregionalization]\nrank = 0\n";
    let rough = "[noise]\nkernel = \"matern12(t)\"\n";
    let dispersion = "[dispersion]\nkernel = \"se(t)\"\n";
    // Two functions are slow to learn, and learning is not what is compared.
    let one = held("noise", "se", &["se.variance"], &["se.variance"]);
    let one_rough = held(
        "noise",
        "matern12",
        &["se.variance"],
        &["matern12.variance"],
    );
    let of_counts = held("dispersion", "se", &["se.variance"], &["se.variance"]);
    let mixing = [
        "coregion.weight.up",
        "coregion.weight.down",
        "coregion.kappa.up",
        "coregion.kappa.down",
    ];
    let two = held("noise", "se", &mixing, &mixing);
    let two_of_counts = held("dispersion", "se", &mixing, &mixing);
    let of_kernel = at_one(&[&mixing[..], &["se.lengthscale.t"]].concat());
    let with = |keys: &str, held: &str| format!("{keys}{held}");
    let rough_held = with(rough, &one_rough);
    let noise_held = with(noise, &one);
    let dispersion_held = with(dispersion, &of_counts);
    let all_held = with(mixed, &with(noise, &two));
    let all_held_of_counts = with(mixed, &with(dispersion, &two_of_counts));
    let kernel_held = with(mixed, &of_kernel);
    let both = ("both.csv", "output_column = \"which\"", CENSORED);
    let written = ("w.csv", "", "{ censored = { value = \"y\" } }");
    let limit = ("a.csv", "", "{ censored = { value = \"y\", upper = 1.4 } }");
    let up_counts = |file, kind| (file, "output = \"up\"", kind);
    let down_counts = |kind| ("d.csv", "output = \"down\"", kind);
    let capped = |kind| [up_counts("c.csv", kind), down_counts(kind)];
    let ignored = |kind| [up_counts("plain.csv", kind), down_counts(kind)];
    let (of_poisson, of_dispersed) = (capped(COUNTED), capped(DISPERSED));
    let dispersed = ("c.csv", "output = \"down\"", DISPERSED);
    let of_each = ["se.lengthscale.t", "se.variance"];
    let of_each = ["noise", "dispersion"].map(|of| of_each.map(|name| format!("{of}.{name}")));
    let of_each: Vec<&str> = of_each.as_flattened().iter().map(String::as_str).collect();
    let both_spread = at_one(&[&mixing[..], &["se.lengthscale.t"], &of_each].concat());
    let smooth = "[dispersion]\nkernel = \"se(t)\"\nlink = \"softplus\"\n";
    let smooth_held = with(smooth, &both_spread);
    let both_held = with(mixed, &with(noise, &with(dispersion, &both_spread)));
    let smooth_both_held = with(mixed, &with(noise, &smooth_held));
    type Tables<'a> = &'a [(&'a str, &'a str, &'a str)];
    let cases: &[(&str, Tables<'_>, &str, Tables<'_>, &str)] = &[
        ("cgp", &[first], "", &[first], ""),
        ("ncgp", &[first], "", &[exact(first)], ""),
        ("ncgp", &[written], "", &[exact(first)], ""),
        ("ncgp", &[limit], "", &[exact(first)], ""),
        ("moncgp", &[up, down], "", &[exact(up), exact(down)], mixed),
        ("moncgp", &[both], "", &[exact(both)], mixed),
        ("mocgp", &[up, down], "", &[up, down], mixed),
        ("mocgp", &[up, down], flat, &[up, down], flat),
        ("hcgp", &[first], &one, &[first], &noise_held),
        (
            "hcgp",
            &[exact(first)],
            &rough_held,
            &[exact(first)],
            &rough_held,
        ),
        ("hmocgp", &[up, down], &two, &[up, down], &all_held),
        (
            "hcgp",
            &[counts("c.csv")],
            &of_counts,
            &[counts("c.csv")],
            &dispersion_held,
        ),
        ("cgp", &[poisson("c.csv")], "", &[poisson("c.csv")], ""),
        ("ncgp", &[poisson("c.csv")], "", &[poisson("plain.csv")], ""),
        ("ncgp", &[counts("c.csv")], "", &[counts("plain.csv")], ""),
        ("cgp", &[counts("c.csv")], "", &[counts("c.csv")], ""),
        ("moncgp", &of_poisson, "", &ignored(COUNTED), mixed),
        ("mocgp", &of_poisson, "", &of_poisson, mixed),
        (
            "moncgp",
            &of_dispersed,
            &of_kernel,
            &ignored(DISPERSED),
            &kernel_held,
        ),
        (
            "mocgp",
            &of_dispersed,
            &of_kernel,
            &of_dispersed,
            &kernel_held,
        ),
        (
            "hmocgp",
            &of_dispersed,
            &two_of_counts,
            &of_dispersed,
            &all_held_of_counts,
        ),
        // Values and counts: both vary, and what a section says of one is kept.
        (
            "hmocgp",
            &[up, dispersed],
            &both_spread,
            &[up, dispersed],
            &both_held,
        ),
        (
            "hmocgp",
            &[up, dispersed],
            &smooth_held,
            &[up, dispersed],
            &smooth_both_held,
        ),
    ];
    for (preset, tables, more, explicit, keys) in cases {
        let top = format!("preset = \"{preset}\"");
        let (short, warnings) = fit(&study(&top, tables, more));
        let (long, other) = fit(&study("", explicit, keys));
        assert_eq!(short, long, "{preset}: {tables:?}");
        let ignores = preset.ends_with("ncgp");
        assert_eq!(warnings.contains("ignores that"), ignores, "{warnings}");
        assert!(!other.contains("ignores"), "{other}");
    }
    let (_, warnings) = fit(&study("preset = \"ncgp\"", &[first], ""));
    assert!(
        warnings.contains("`ncgp` ignores that 3 rows of a.csv are censored"),
        "{warnings}"
    );
    // Where nothing is censored nothing is ignored.
    let (_, warnings) = fit(&study("preset = \"ncgp\"", &[exact(first)], ""));
    assert!(!warnings.contains("ignores"), "{warnings}");
}

/// Name, preset, output and likelihood of both tables, more, texts expected.
type Case = (
    &'static str,
    &'static str,
    [(&'static str, &'static str); 2],
    &'static str,
    &'static [&'static str],
);

const UP: (&str, &str) = ("output = \"up\"", CENSORED);
const DOWN: (&str, &str) = ("output = \"down\"", EXACT);
const ONE: (&str, &str) = ("", CENSORED);
const POISSON: (&str, &str) = ("", "{ poisson = { count = \"y\" } }");

#[rustfmt::skip]
const REFUSED: &[Case] = &[
    ("unknown", "hmogcp", [ONE, ONE], "", &["`hmogcp` is not a known `preset`", "s.toml:2:10", "did you mean `hmocgp`?"]),
    ("strange", "gpcr", [ONE, ONE], "", &["`gpcr` is not a known `preset`", "`preset` is one of `ncgp`, `moncgp`, `cgp`, `hcgp`, `mocgp` and `hmocgp`"]),
    ("several outputs", "cgp", [UP, DOWN], "", &["`cgp` is a model of one output, and the tables have several (`down` and `up`)", "s.toml:2:10", "use `preset = \"mocgp\"`, or keep the table of one output"]),
    ("by a column", "ncgp", [("output_column = \"side\"", EXACT), ("output_column = \"side\"", EXACT)], "", &["`ncgp` is a model of one output, and the tables have several", "s.toml:2:10", "moncgp"]),
    ("one output", "mocgp", [ONE, ONE], "", &["`mocgp` is a model of several outputs, and no table names its own", "s.toml:2:10", "use `preset = \"cgp\"`"]),
    ("one name", "hmocgp", [UP, UP], "", &["`hmocgp` is a model of several outputs, and the tables have one, `up`", "s.toml:2:10", "use `preset = \"hcgp\"`"]),
    ("mixing one", "cgp", [ONE, ONE], "[coregionalization]\nrank = 1", &["[coregionalization] mixes several outputs, and `cgp` is a model of one", "s.toml:17:1", "leave it out, or use `preset = \"mocgp\"`"]),
    ("varying", "mocgp", [UP, DOWN], "[noise]\nkernel = \"se(t)\"", &["[noise] lets the noise variance change, and `mocgp` holds it constant", "s.toml:17:1", "use `preset = \"hmocgp\"`"]),
    ("varying, ignoring", "ncgp", [ONE, ONE], "[noise]\nkernel = \"se(t)\"", &["[noise] lets the noise variance change, and `ncgp` holds it constant", "s.toml:17:1", "leave it out, or leave `preset` out"]),
    ("dispersion", "cgp", [ONE, ONE], "[dispersion]\nkernel = \"se(t)\"", &["[dispersion] lets the dispersion change, and `cgp` holds it constant", "s.toml:17:1", "hcgp"]),
    ("no dispersion", "hcgp", [POISSON, POISSON], "", &["`hcgp` lets the noise variance or the dispersion vary, and `poisson` has neither", "s.toml:9:16", "use `negative_binomial`, or `preset = \"cgp\"`"]),
    ("beside", "hmocgp", [UP, ("output = \"down\"", "{ poisson = { count = \"y\" } }")], "", &["`poisson` has neither", "s.toml:14:16", "preset = \"mocgp\""]),
    ("nothing learned", "hcgp", [("", "{ gaussian = { value = \"y\", variance = 1 } }"), ("", "{ gaussian = { value = \"y\", variance = 1 } }")], "", &["`hcgp` has nothing to let vary", "s.toml:2:10", "leave `variance` or `dispersion` out"]),
    ("method", "hcgp", [ONE, ONE], "method = \"laplace\"", &["`method = \"laplace\"` cannot be used with `preset = \"hcgp\"`", "s.toml:17:10", "`ep` or `variational`"]),
    ("ranks", "cgp", [ONE, ("", "{ ordinal = { rank = \"y\" } }")], "", &["`cgp` is a model of values and counts, and `ordinal` reports neither", "s.toml:14:16", "leave `preset` out"]),
    ("intervals", "moncgp", [UP, ("output = \"down\"", "{ interval = { lower = \"y\" } }")], "", &["an interval records no value", "s.toml:14:16", "use `preset = \"mocgp\"`"]),
    ("exact", "cgp", [ONE, ONE], "method = \"exact\"", &["exact inference needs `gaussian` values in every table", "s.toml:17:10"]),
    ("side", "ncgp", [("", "{ censored = { value = \"y\", side = \"sid\" } }"), ONE], "", &["there is no column `sid` in a.csv", "did you mean `side`?"]),
    ("range of counts", "ncgp", [("", "{ poisson = { count = \"n\" } }"), ("", "{ poisson = { count = \"n\" } }")], "", &["`ncgp` takes what was recorded for exact, but this count is only known to lie between 0 and 4", "a.csv:3:", "leave such rows out"]),
];

#[test]
fn contradictions_are_refused_with_place_and_remedy() {
    let files: &[(&str, &[u8])] = &[
        (
            "a.csv",
            b"t,y,side,n\n0,1,none,3\n1,2,right,<5\n2,1,none,7+\n",
        ),
        ("b.csv", b"t,y,side,n\n0,3,none,3\n1,4,none,5\n2,3,none,7\n"),
    ];
    let mut wrong = Vec::new();
    for (name, preset, [first, second], more, expected) in REFUSED {
        let top = format!("preset = \"{preset}\"");
        let tables = [("a.csv", first.0, first.1), ("b.csv", second.0, second.1)];
        let text = study(&top, &tables, more);
        wrong.extend(refused(name, &text, files, expected).err());
    }
    none(&wrong);
}

#[test]
fn kernels_that_mix_outputs_themselves_do_not_fit_every_preset() {
    let tables = [("a.csv", UP.0, UP.1), ("b.csv", DOWN.0, DOWN.1)];
    let files: &[(&str, &[u8])] = &[
        ("a.csv", b"t,y,side\n0,1,none\n1,2,right\n2,1,none\n"),
        ("b.csv", b"t,y,side\n0,3,none\n1,4,none\n2,3,none\n"),
    ];
    let own = |preset: &str, tables: &[(&str, &str, &str)]| {
        study(&format!("preset = \"{preset}\""), tables, "")
            .replace("se(t)", "coregion(o, up, down) * se(t)")
    };
    let mut wrong = Vec::new();
    let expected = [
        "`hmocgp` would use the kernel of [latent] for the noise variance too",
        "s.toml:2:10",
        "add [noise] with a kernel",
    ];
    wrong.extend(refused("second", &own("hmocgp", &tables), files, &expected).err());
    let counted = "{ negative_binomial = { count = \"y\" } }";
    let both = [tables[0], ("b.csv", DOWN.0, counted)];
    let expected = [
        "for the noise variance too",
        "for the dispersion too",
        "add [dispersion] with a kernel",
    ];
    wrong.extend(refused("both", &own("hmocgp", &both), files, &expected).err());
    let single = [("a.csv", "", CENSORED)];
    let expected = [
        "the kernel mixes several outputs (`coregion`), and `cgp` is a model of one",
        "s.toml:4:10",
        "leave `coregion` out of the kernel",
    ];
    wrong.extend(refused("single", &own("cgp", &single), files, &expected).err());
    let numbers = study("preset = 3", &single, "");
    let expected = ["`preset` must be a text in quotes", "s.toml:2:10"];
    wrong.extend(refused("number", &numbers, files, &expected).err());
    none(&wrong);
}
