//! Studies with a key and without it, for every key that there is.

/// Values at points; line 6 has the likelihood, line 7 a place for more keys of the table.
pub const POINTS: &str = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
likelihood = { gaussian = { value = "y" } }
#observe
[[predict]]
name = "p"
support = { grid = { t = { from = 0, to = 9, step = 3 } } }
#predict
[inference]
hyperparameters = "map"
#inference
#more
"#;

/// The same over boxes.
const BOXES: &str = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "b.csv"
support = { box = { t = ["from", "to"] } }
aggregate = "sum"
likelihood = { poisson = { count = "n" } }
#observe
[[predict]]
name = "p"
support = { file = "b.csv", box = { t = ["from", "to"] } }
aggregate = "sum"
#predict
[inference]
hyperparameters = "map"
#inference
"#;

/// The same of weighted points.
const BAGS: &str = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "k.csv"
support = { bag = { file = "d.csv", key = "site", dims = ["t"] } }
aggregate = "mean"
likelihood = { gaussian = { value = "v", variance = 0.1 } }
[[predict]]
name = "p"
support = { bag = { file = "d.csv", key = "site", dims = ["t"] } }
aggregate = "mean"
[inference]
hyperparameters = "map"
"#;

/// The same of polygons in the plane.
const REGIONS: &str = r#"[latent]
kernel = "se(x, y)"
[[observe]]
file = "z.csv"
support = { region = { file = "z.geojson", key = "id", dims = ["x", "y"], planar = true } }
aggregate = "mean"
likelihood = { gaussian = { value = "v", variance = 0.1 } }
[[predict]]
name = "p"
support = { region = { file = "z.geojson", key = "id", dims = ["x", "y"], planar = true } }
aggregate = "mean"
[inference]
hyperparameters = "map"
"#;

/// The density of a column.
pub const DENSITY: &str = r#"[density]
file = "d.csv"
column = "y"
grid = 40
#density
"#;

pub const BANDS: &str = r#"[ungroup]
file = "u.csv"
lower = "from"
upper = "to"
count = "n"
#ungroup
"#;

pub const VALUES: &str = "gaussian = { value = \"y\" }";
pub const COUNTS: &str = "poisson = { count = \"n\" }";

/// A study, a text in it, and what stands in its place: the key that is tried is in the last line
/// of it that differs.
type Case = (&'static str, &'static str, &'static str);

/// Keys of all sections. Where a key needs another one first, both studies of the pair have that:
/// `a -> b`.
#[rustfmt::skip]
const KEYS: &[(&str, Case)] = &[
    // [latent], title, preset.
    ("title", (POINTS, "[latent]", "title = \"Other\"\n[latent]")),
    ("kernel", (POINTS, "se(t)", "matern12(t)")),
    ("mean", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nmean = 3")),
    ("mean zero", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nmean = \"zero\"")),
    ("mean that is a line", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nmean = \"linear(t)\"")),
    ("link of counts", (BOXES, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nlink = \"softplus\"")),
    ("truncate", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nnon_negative = \"truncate\"")),
    ("truncate counts", (BOXES, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nnon_negative = \"truncate\"")),
    ("monotone", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nmonotone = \"t\"")),
    ("monotone that falls", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nmonotone = { input = \"t\", direction = \"falling\" }")),
    ("convex", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nconvex = \"t\"")),
    ("concave", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nconcave = \"t\"")),
    ("between", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nbetween = [-1, inf]")),
    ("monotone between", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nmonotone = \"t\"\nbetween = [-1, 2]")),
    ("constrain", (POINTS, "kernel = \"se(t)\"", "kernel = \"se(t)\"\nnon_negative = \"constrain\"")),
    ("preset hcgp", (POINTS, "[latent]", "preset = \"hcgp\"\n[latent]")),
    ("preset mocgp", (POINTS, "[latent]", "preset = \"mocgp\"\n[latent]")),
    // [[observe]].
    ("aggregate", (BOXES, "aggregate = \"sum\"\nlikelihood", "aggregate = \"mean\"\nlikelihood")),
    ("aggregate of points", (POINTS, "#observe", "aggregate = \"sum\"")),
    ("share_noise alone", (POINTS, "#observe", "share_noise = true")),
    ("output alone", (POINTS, "#observe", "output = \"north\"")),
    ("output_column", (POINTS, "#observe", "output_column = \"site\"")),
    ("weight", (BAGS, "dims = [\"t\"] } }\naggregate = \"mean\"\nlikelihood", "dims = [\"t\"], weight = \"n\" } }\naggregate = \"mean\"\nlikelihood")),
    ("empty", (BAGS, "dims = [\"t\"] } }\naggregate = \"mean\"\nlikelihood", "dims = [\"t\"], empty = \"skip\" } }\naggregate = \"mean\"\nlikelihood")),
    ("missing", (BAGS, "dims = [\"t\"] } }\naggregate = \"mean\"\nlikelihood", "dims = [\"t\"], missing = \"mean\" } }\naggregate = \"mean\"\nlikelihood")),
    ("times", (POINTS, "#observe", "times = \"w\"")),
    ("times of all rows", (POINTS, "#observe", "times = 3")),
    ("empty of regions", (REGIONS, "planar = true } }\naggregate = \"mean\"\nlikelihood", "planar = true, empty = \"skip\" } }\naggregate = \"mean\"\nlikelihood")),
    ("file", (POINTS, "\"d.csv\"", "\"e.csv\"")),
    ("point", (POINTS, "point = [\"t\"]", "point = [\"t\", \"u\"]")),
    ("box", (BOXES, "\"to\"] } }\naggregate = \"sum\"\nlikelihood", "\"end\"] } }\naggregate = \"sum\"\nlikelihood")),
    ("file of bags", (BAGS, "file = \"d.csv\"", "file = \"e.csv\"")),
    ("key of bags", (BAGS, "key = \"site\"", "key = \"yes\"")),
    ("file of regions", (REGIONS, "z.geojson", "far.geojson")),
    ("key of regions", (REGIONS, "\"id\"", "\"turned\"")),
    ("dims of regions", (REGIONS, "[\"x\", \"y\"]", "[\"y\", \"x\"]")),
    // Likelihoods.
    ("variance", (POINTS, "value = \"y\" }", "value = \"y\", variance = 0.5 }")),
    ("variance by row", (POINTS, "value = \"y\" }", "value = \"y\", variance = \"u\" }")),
    ("mechanism", (POINTS, "value = \"y\" }", "value = \"y\", variance = { mechanism = \"geometric\", scale = 2 } }")),
    ("mechanism without its scale", (POINTS, "value = \"y\" }", "value = \"y\", variance = { mechanism = \"geometric\" } }")),
    ("summary", (POINTS, "value = \"y\" }", "value = \"y\", variance = { summary = \"l.csv\" } }")),
    ("column of a summary that has it twice", (POINTS, "value = \"y\" }", "value = \"y\", variance = { summary = \"l.csv\", column = \"n\" } }")),
    ("extra", (POINTS, "value = \"y\" }", "value = \"y\", extra = \"learn\" }")),
    ("scale", (POINTS, VALUES, "laplace = { value = \"y\", scale = 0.4 }")),
    ("degrees", (POINTS, VALUES, "student_t = { value = \"y\", degrees = 3 }")),
    ("lower", (POINTS, VALUES, "interval = { lower = \"y\" }")),
    ("upper", (POINTS, VALUES, "interval = { upper = \"y\" }")),
    ("limit", (POINTS, VALUES, "censored = { value = \"y\", upper = 0.9 }")),
    ("no value at the limit", (POINTS, VALUES, "censored = { value = \"y\", upper = 900 }")),
    ("value that was recorded above a limit", (POINTS, VALUES, "truncated = { value = \"y\", lower = -2 }")),
    ("thresholds", (POINTS, VALUES, "ordinal = { rank = \"g\", thresholds = [0.1, 0.8] }")),
    ("trials", (POINTS, VALUES, "binomial = { successes = \"n\", trials = 20 }")),
    ("link of yes and no", (POINTS, VALUES, "bernoulli = { value = \"yes\", link = \"probit\" }")),
    ("exposure", (POINTS, VALUES, "poisson = { count = \"n\", exposure = 10 }")),
    ("dispersion", (POINTS, VALUES, "negative_binomial = { count = \"n\", dispersion = 0.5 }")),
    ("link of a table", (POINTS, VALUES, "poisson = { count = \"n\", link = \"softplus\" }")),
    ("link of values", (POINTS, VALUES, "gaussian = { value = \"w\", link = \"exp\" }")),
    ("positive values", (POINTS, VALUES, "gamma = { value = \"w\" }")),
    ("sd of logarithms", (POINTS, VALUES, "lognormal = { value = \"w\", sd = \"most\" }")),
    ("waiting times", (POINTS, VALUES, "exponential = { value = \"w\" }")),
    // [[predict]].
    ("exposure of a prediction", (BOXES, "#predict", "exposure = 3")),
    ("exposure of values", (POINTS, "#predict", "exposure = 3")),
    ("trials of values", (POINTS, "#predict", "trials = 3")),
    ("keep", (BOXES, "#predict", "keep = [\"n\"]")),
    ("name", (POINTS, "name = \"p\"", "name = \"q\"")),
    ("latent", (BOXES, "#predict", "scale = \"latent\"")),
    ("observation", (POINTS, "#predict", "scale = \"observation\"")),
    ("report", (POINTS, "#predict", "scale = \"report\"")),
    ("row without rows", (POINTS, "#predict", "scale = \"row\"")),
    ("rows beside a support", (POINTS, "#predict", "rows = \"d.csv\"")),
    ("by without rows", (POINTS, "#predict", "by = []")),
    ("level", (POINTS, "#predict", "level = 0.5")),
    ("quantile of a function", (POINTS, "#predict", "quantile = 0.5")),
    ("above", (POINTS, "#predict", "above = 0.5")),
    ("ranks of values", (POINTS, "#predict", "ranks = true")),
    ("draws", (POINTS, "#predict", "draws = 3")),
    ("non_negative", (POINTS, "#predict", "non_negative = true")),
    ("non_negative counts", (BOXES, "#predict", "non_negative = true")),
    ("output of a prediction", (POINTS, "#predict", "output = \"a\"")),
    ("as", (POINTS, "#predict", "as = \"d.csv\"")),
    ("aggregate of a grid of points", (POINTS, "#predict", "aggregate = \"sum\"")),
    ("aggregate of a prediction", (BOXES, "aggregate = \"sum\"\n#predict", "aggregate = \"mean\"")),
    ("from", (POINTS, "from = 0", "from = 3")),
    ("to", (POINTS, "to = 9", "to = 6")),
    ("box of a prediction", (BOXES, "\"to\"] } }\naggregate = \"sum\"\n#predict", "\"end\"] } }\naggregate = \"sum\"\n#predict")),
    ("bag of a prediction", (BAGS, "key = \"site\", dims = [\"t\"] } }\naggregate = \"mean\"\n[inference]", "key = \"yes\", dims = [\"t\"] } }\naggregate = \"mean\"\n[inference]")),
    ("region of a prediction", (REGIONS, "[\"x\", \"y\"], planar = true } }\naggregate = \"mean\"\n[inference]", "[\"y\", \"x\"], planar = true } }\naggregate = \"mean\"\n[inference]")),
    // [inference].
    ("exact counts", (BOXES, "#inference", "method = \"exact\"")),
    ("ep", (POINTS, "#inference", "method = \"ep\"")),
    ("variational", (POINTS, "#inference", "method = \"variational\"")),
    ("laplace", (POINTS, "#inference", "method = \"laplace\"")),
    ("sparse", (POINTS, "#inference", "method = \"sparse\"")),
    ("integrate", (POINTS, "\"map\"", "\"integrate\"")),
    ("inducing, exact", (POINTS, "#inference", "method = \"exact\"\ninducing = 4")),
    ("inducing, auto", (POINTS, "#inference", "inducing = 4")),
    ("move_inducing, auto", (POINTS, "#inference", "move_inducing = true")),
    ("log_sum, auto", (POINTS, "#inference", "log_sum = \"taylor\"")),
    ("log_sum of values", (POINTS, "#inference", "method = \"sparse\"\nlog_sum = \"taylor\"")),
    // [density].
    ("density beside a function", (POINTS, "[latent]", "[density]\nfile = \"d.csv\"\n[latent]")),
    ("file of a density", (DENSITY, "d.csv", "e.csv")),
    ("column", (DENSITY, "\"y\"", "\"t\"")),
    ("two columns", (DENSITY, "\"y\"", "[\"y\", \"t\"]")),
    ("given", (DENSITY, "#density", "given = \"t\"")),
    ("group", (DENSITY, "#density", "group = \"site\"")),
    ("interval", (DENSITY, "column = \"y\"", "interval = [\"y\", \"most\"]")),
    ("interval beside a column", (DENSITY, "#density", "interval = [\"y\", \"most\"]")),
    ("bins", (DENSITY, "column = \"y\"", "bins = [\"y\", \"most\", \"n\"]")),
    ("bins beside a column", (DENSITY, "#density", "bins = [\"y\", \"most\", \"n\"]")),
    ("areas beside a column", (DENSITY, "#density", "areas = \"n\"")),
    ("weights", (DENSITY, "#density", "weights = \"w\"")),
    ("bounds", (DENSITY, "#density", "bounds = [-9, inf]")),
    ("bounds of two columns", (DENSITY, "#density", "bounds = [[-9, inf], [0, 9]]")),
    ("range", (DENSITY, "#density", "range = [-20, 20]")),
    ("within", (DENSITY, "#density", "within = [0, 1]")),
    ("grid", (DENSITY, "grid = 40", "grid = 50")),
    ("inside of one column", (DENSITY, "#density", "inside = \"z.geojson\"")),
    ("given in groups", (DENSITY, "#density", "given = \"t\"\ngroup = \"site\"")),
    ("level of a density", (DENSITY, "#density", "level = 0.5")),
    ("correct", (DENSITY, "#density", "correct = \"none\"")),
    ("integrate", (DENSITY, "#density", "integrate = \"map\"")),
    ("design", (DENSITY, "#density", "integrate = \"ccd\"")),
    ("draws of a density", (DENSITY, "#density", "draws = 3")),
    ("seed of a density", (DENSITY, "#density", "seed = 5")),
    // Of bands.
    ("file of bands", (BANDS, "u.csv", "v.csv")),
    ("lower", (BANDS, "\"from\"", "\"low\"")),
    ("upper", (BANDS, "\"to\"", "\"high\"")),
    ("count of bands", (BANDS, "\"n\"", "\"m\"")),
    ("exposure of bands", (BANDS, "#ungroup", "exposure = \"who\"")),
    ("exposure_table alone", (BANDS, "#ungroup", "exposure_table = \"v.csv\"")),
    ("life_table alone", (BANDS, "#ungroup", "life_table = true")),
    ("borrow alone", (BANDS, "#ungroup", "borrow = true")),
    ("by of bands", (BANDS, "#ungroup", "by = \"site\"")),
    ("along", (BANDS, "#ungroup", "along = \"year\"")),
    ("by and along", (BANDS, "#ungroup", "by = \"year\"\nalong = \"year\"")),
    ("first of a closed band", (BANDS, "#ungroup", "first = -3")),
    ("last of a closed band", (BANDS, "#ungroup", "last = 50")),
    ("tail", (BANDS, "#ungroup", "tail = \"exponential=0.1\"")),
    ("step", (BANDS, "#ungroup", "step = 2.5")),
    ("edges", (BANDS, "#ungroup", "edges = [0, 7, 30]")),
    ("log of bands", (BANDS, "#ungroup", "log = true")),
    ("sampled", (BANDS, "#ungroup", "sampled = 0.1")),
    ("level of bands", (BANDS, "#ungroup", "level = 0.5")),
    ("draws of bands", (BANDS, "#ungroup", "draws = 3")),
    ("seed of bands", (BANDS, "#ungroup", "seed = 5")),
    ("predictions of bands", (BANDS, "#ungroup", "[[predict]]")),
    // Other sections.
    ("hyperparameters", (POINTS, "#more", "[hyperparameters]\n\"noise.variance\" = { value = 1, fixed = true }")),
    ("latents alone", (POINTS, "#more", "[coregionalization]\nlatents = 2")),
    ("noise", (POINTS, "#more", "[noise]\nkernel = \"se(t)\"")),
    ("noise of counts", (BOXES, "#inference", "[noise]\nkernel = \"se(t)\"")),
    ("dispersion of values", (POINTS, "#more", "[dispersion]\nkernel = \"se(t)\"")),
];

/// Keys that need others: what stands in place of a text before, and after.
#[rustfmt::skip]
const MORE: &[(&str, &str, &str, &str, &str)] = &[
    ("inside", DENSITY, "column = \"y\"\ngrid = 40", "column = [\"t\", \"y\"]\ngrid = 20", "column = [\"t\", \"y\"]\ngrid = 20\ninside = \"all.geojson\""),
    ("bins of boxes", DENSITY, "\"d.csv\"\ncolumn = \"y\"\ngrid = 40", "\"b.csv\"\nbins = [\"from\", \"to\", \"from\", \"end\", \"n\"]\ngrid = 20", "\"b.csv\"\nbins = [\"from\", \"end\", \"from\", \"to\", \"n\"]\ngrid = 20"),
    ("areas", DENSITY, "\"d.csv\"\ncolumn = \"y\"\ngrid = 40", "\"z.geojson\"\nareas = \"n\"\ngrid = 20", "\"z.geojson\"\nareas = \"m\"\ngrid = 20"),
    ("log", DENSITY, "column = \"y\"", "column = \"w\"", "column = \"w\"\nlog = true"),
    // Counts that rise, as sums from one start do.
    ("a number as an edge", BOXES, "box = { t = [\"from\", \"to\"] } }\naggregate = \"sum\"\nlikelihood = { poisson = { count = \"n\" } }", "box = { t = [\"from\", \"to\"] } }\naggregate = \"sum\"\nlikelihood = { poisson = { count = \"sum\" } }", "box = { t = [0, \"to\"] } }\naggregate = \"sum\"\nlikelihood = { poisson = { count = \"sum\" } }"),
    ("scale of a mechanism", POINTS, "value = \"y\" }", "value = \"y\", variance = { mechanism = \"laplace\", scale = 2 } }", "value = \"y\", variance = { mechanism = \"laplace\", scale = 3 } }"),
    ("mechanism", POINTS, "value = \"y\" }", "value = \"y\", variance = { mechanism = \"laplace\", scale = 2 } }", "value = \"y\", variance = { mechanism = \"discrete_gaussian\", scale = 2 } }"),
    ("column of a summary", POINTS, "value = \"y\" }", "value = \"y\", variance = { summary = \"l.csv\" } }", "value = \"y\", variance = { summary = \"l.csv\", column = \"n\", aggregate = \"Sum\" } }"),
    ("aggregate of a summary", POINTS, "value = \"y\" }", "value = \"y\", variance = { summary = \"l.csv\", column = \"n\", aggregate = \"Sum\" } }", "value = \"y\", variance = { summary = \"l.csv\", column = \"n\", aggregate = \"Frame Length\" } }"),
    ("exposure_table", BANDS, "#ungroup", "exposure = \"who\"", "exposure = \"who\"\nexposure_table = \"v.csv\""),
    ("life_table", BANDS, "#ungroup", "exposure = \"who\"", "exposure = \"who\"\nlife_table = true"),
    ("borrow", BANDS, "#ungroup", "exposure = \"who\"\nby = \"site\"", "exposure = \"who\"\nby = \"site\"\nborrow = true"),
    ("first", BANDS, "\"u.csv\"", "\"o.csv\"\ntail = \"exponential=0.1\"", "\"o.csv\"\ntail = \"exponential=0.1\"\nfirst = -3"),
    ("last", BANDS, "\"u.csv\"", "\"o.csv\"\ntail = \"exponential=0.1\"", "\"o.csv\"\ntail = \"exponential=0.1\"\nlast = 50"),
    ("extra", POINTS, "value = \"y\" }", "value = \"y\", variance = 0.01 }", "value = \"y\", variance = 0.01, extra = \"learn\" }"),
    ("variance of noise", POINTS, VALUES, "student_t = { value = \"y\" }", "student_t = { value = \"y\", variance = 0.3 }"),
    ("variance of ranks", POINTS, VALUES, "ordinal = { rank = \"g\" }", "ordinal = { rank = \"g\", variance = 0.3 }"),
    ("thresholds", POINTS, VALUES, "ordinal = { rank = \"g\" }", "ordinal = { rank = \"g\", thresholds = [0, 2] }"),
    ("variance of an interval", POINTS, VALUES, "interval = { lower = \"y\" }", "interval = { lower = \"y\", variance = 0.3 }"),
    ("exposure", POINTS, VALUES, COUNTS, "poisson = { count = \"n\", exposure = \"w\" }"),
    ("link of yes and no", POINTS, VALUES, "bernoulli = { value = \"yes\" }", "bernoulli = { value = \"yes\", link = \"probit\" }"),
    ("link of a table", POINTS, VALUES, COUNTS, "poisson = { count = \"n\", link = \"square\" }"),
    ("latents", POINTS, "#observe", "output_column = \"site\"", "output_column = \"site\"\n[coregionalization]\nlatents = 2"),
    ("rank", POINTS, "#observe", "output_column = \"site\"", "output_column = \"site\"\n[coregionalization]\nrank = 0"),
    ("share_noise of outputs", POINTS, "#observe", "output_column = \"site\"", "output_column = \"site\"\nshare_noise = true"),
    ("output of a prediction", POINTS, "#observe\n[[predict]]", "output_column = \"site\"\n[[predict]]", "output_column = \"site\"\n[[predict]]\noutput = \"b\""),
    ("link of the noise", POINTS, "#more", "[noise]\nkernel = \"se(t)\"", "[noise]\nkernel = \"se(t)\"\nlink = \"softplus\""),
    ("kernel of the noise", POINTS, "#more", "[noise]\nkernel = \"se(t)\"", "[noise]\nkernel = \"matern12(t)\""),
    ("share_noise of a function", POINTS, "#observe", "", "share_noise = true\n[noise]\nkernel = \"se(t)\""),
    ("inducing", POINTS, "#inference", "method = \"sparse\"", "method = \"sparse\"\ninducing = 4"),
    ("move_inducing", POINTS, "#inference", "method = \"sparse\"\ninducing = 4", "method = \"sparse\"\ninducing = 4\nmove_inducing = true"),
    ("log_sum", BOXES, "#inference", "method = \"sparse\"", "method = \"sparse\"\nlog_sum = \"taylor\""),
    ("ranks", POINTS, VALUES, "ordinal = { rank = \"g\" }", "ordinal = { rank = \"g\" } }\n[[predict]]\nname = \"r\"\nscale = \"observation\"\nsupport = { file = \"d.csv\", point = [\"t\"] }\nranks = true\n#"),
    ("seed of draws", POINTS, "#predict\n[inference]", "draws = 2\n[inference]", "draws = 2\n[inference]\nseed = 3"),
    ("cells", POINTS, "step = 3 } } }\n#predict", "step = 3 } } }", "step = 3, cells = true } } }\naggregate = \"mean\""),
    ("margin", POINTS, "#more", "[[observe]]\nfile = \"d.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { positive = {} }", "[[observe]]\nfile = \"d.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { positive = { margin = 0.3 } }"),
    ("sd of a bound", POINTS, "#more", "[[observe]]\nfile = \"d.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { positive = {} }", "[[observe]]\nfile = \"d.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { positive = { sd = 0.4 } }"),
    ("extra of Student noise", POINTS, VALUES, "student_t = { value = \"y\", variance = 0.01 }", "student_t = { value = \"y\", variance = 0.01, extra = \"learn\" }"),
    ("extra of intervals", POINTS, VALUES, "interval = { lower = \"y\", variance = 0.01 }", "interval = { lower = \"y\", variance = 0.01, extra = \"learn\" }"),
    ("extra of censored values", POINTS, VALUES, "censored = { value = \"y\", upper = 0.9, variance = 0.01 }", "censored = { value = \"y\", upper = 0.9, variance = 0.01, extra = \"learn\" }"),
    ("extra of ranks", POINTS, VALUES, "ordinal = { rank = \"g\", variance = 0.01 }", "ordinal = { rank = \"g\", variance = 0.01, extra = \"learn\" }"),
    ("variance of truncated values", POINTS, VALUES, "truncated = { value = \"y\", lower = -2 }", "truncated = { value = \"y\", lower = -2, variance = 0.3 }"),
    ("sd of truncated values", POINTS, VALUES, "truncated = { value = \"y\", lower = -2, variance = 0.25 }", "truncated = { value = \"y\", lower = -2, sd = 0.25 }"),
    ("extra of truncated values", POINTS, VALUES, "truncated = { value = \"y\", lower = -2, variance = 0.01 }", "truncated = { value = \"y\", lower = -2, variance = 0.01, extra = \"learn\" }"),
    ("upper limit of truncated values", POINTS, VALUES, "truncated = { value = \"y\", lower = -2 }", "truncated = { value = \"y\", lower = -2, upper = 2 }"),
    ("variance of censored values", POINTS, VALUES, "censored = { value = \"y\", upper = 0.9 }", "censored = { value = \"y\", upper = 0.9, variance = 0.3 }"),
    ("lower limit", POINTS, VALUES, "censored = { value = \"y\", upper = 0.9 }", "censored = { value = \"y\", upper = 0.9, lower = 0.0 }"),
    ("side", POINTS, VALUES, "censored = { value = \"y\", side = \"side\" }", "censored = { value = \"y\", side = \"turned\" }"),
    ("sd", POINTS, VALUES, "gaussian = { value = \"y\", variance = 0.25 }", "gaussian = { value = \"y\", sd = 0.25 }"),
    ("sd of Student noise", POINTS, VALUES, "student_t = { value = \"y\", variance = 0.25 }", "student_t = { value = \"y\", sd = 0.25 }"),
    ("sd of intervals", POINTS, VALUES, "interval = { lower = \"y\", variance = 0.25 }", "interval = { lower = \"y\", sd = 0.25 }"),
    ("sd of censored values", POINTS, VALUES, "censored = { value = \"y\", upper = 0.9, variance = 0.25 }", "censored = { value = \"y\", upper = 0.9, sd = 0.25 }"),
    ("sd of ranks", POINTS, VALUES, "ordinal = { rank = \"g\", variance = 0.25 }", "ordinal = { rank = \"g\", sd = 0.25 }"),
    ("left", POINTS, VALUES, "censored = { value = \"y\", upper = 900 }", "censored = { value = \"y\", left = \"yes\" }"),
    ("right", POINTS, VALUES, "censored = { value = \"y\", left = \"yes\" }", "censored = { value = \"y\", right = \"yes\" }"),
    ("event", POINTS, VALUES, "censored = { value = \"y\", right = \"yes\" }", "censored = { value = \"y\", event = \"yes\" }"),
    ("ranks of a scale", POINTS, VALUES, "ordinal = { rank = \"g\" }", "ordinal = { rank = \"g\", ranks = 9 }"),
    ("link of successes", POINTS, VALUES, "binomial = { successes = \"n\", trials = 20 }", "binomial = { successes = \"n\", trials = 20, link = \"probit\" }"),
    ("lower count of poisson", POINTS, VALUES, "poisson = { lower = \"n\", upper = \"most\" }", "poisson = { lower = \"w\", upper = \"most\" }"),
    ("upper count of poisson", POINTS, VALUES, "poisson = { lower = \"n\", upper = \"most\" }", "poisson = { lower = \"n\", upper = 40 }"),
    ("lower count of negative_binomial", POINTS, VALUES, "negative_binomial = { lower = \"n\", upper = \"most\" }", "negative_binomial = { lower = \"w\", upper = \"most\" }"),
    ("upper count of negative_binomial", POINTS, VALUES, "negative_binomial = { lower = \"n\", upper = \"most\" }", "negative_binomial = { lower = \"n\", upper = 40 }"),
    ("exposure of negative_binomial", POINTS, VALUES, "negative_binomial = { count = \"n\" }", "negative_binomial = { count = \"n\", exposure = \"w\" }"),
    ("link of gaussian", POINTS, VALUES, "gaussian = { value = \"w\" }", "gaussian = { value = \"w\", link = \"exp\" }"),
    ("link of negative_binomial", POINTS, VALUES, "negative_binomial = { count = \"n\" }", "negative_binomial = { count = \"n\", link = \"square\" }"),
    ("shape", POINTS, VALUES, "gamma = { value = \"w\" }", "gamma = { value = \"w\", shape = 2 }"),
    ("sd", POINTS, VALUES, "lognormal = { value = \"w\" }", "lognormal = { value = \"w\", sd = 0.5 }"),
    ("link of waiting times", POINTS, VALUES, "exponential = { value = \"w\" }", "exponential = { value = \"w\", link = \"softplus\" }"),
    ("link of the dispersion", POINTS, "gaussian = { value = \"y\" } }\n#observe", "negative_binomial = { count = \"n\" } }\n[dispersion]\nkernel = \"se(t)\"", "negative_binomial = { count = \"n\" } }\n[dispersion]\nkernel = \"se(t)\"\nlink = \"softplus\""),
    ("name of a table", POINTS, "#observe\n[[predict]]\n", "name = \"first\"\n[[observe]]\nfile = \"e.csv\"\nname = \"second\"\nsupport = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }\n[[predict]]\nas = \"first\"\nscale = \"observation\"\n", "name = \"third\"\n[[observe]]\nfile = \"e.csv\"\nname = \"first\"\nsupport = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }\n[[predict]]\nas = \"first\"\nscale = \"observation\"\n"),
    ("report of a censored instrument", POINTS, "gaussian = { value = \"y\" } }\n#observe\n[[predict]]\nname = \"p\"", "censored = { value = \"y\", upper = 0.9 } }\n[[predict]]\nname = \"p\"\nscale = \"observation\"", "censored = { value = \"y\", upper = 0.9 } }\n[[predict]]\nname = \"p\"\nscale = \"report\""),
    ("rows", POINTS, "#more", "[[observe]]\nfile = \"e.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }\n[[predict]]\nname = \"r\"\nscale = \"row\"\nrows = \"d.csv\"", "[[observe]]\nfile = \"e.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }\n[[predict]]\nname = \"r\"\nscale = \"row\"\nrows = \"e.csv\""),
    ("by", POINTS, "#more", "[[predict]]\nname = \"r\"\nscale = \"row\"\nrows = \"d.csv\"", "[[predict]]\nname = \"r\"\nscale = \"row\"\nrows = \"d.csv\"\nby = \"site\""),
    ("meet", POINTS, "#more", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"site\", value = \"v\" }"),
    ("file of totals", POINTS, "#more", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"site\", value = \"v\" }", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"none.csv\", by = \"site\", value = \"v\" }"),
    ("value of totals", POINTS, "#more", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"site\", value = \"v\" }", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"site\", value = \"yes\" }"),
    ("by of totals", POINTS, "#more", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"site\", value = \"v\" }", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"yes\", value = \"v\" }"),
    ("variance of totals", POINTS, "#more", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"site\", value = \"v\" }", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"site\", value = \"v\", variance = 2 }"),
    ("weight of rows that meet totals", POINTS, "#more", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"site\", value = \"v\" }", "[[predict]]\nname = \"m\"\nsupport = { file = \"e.csv\", point = [\"t\"] }\nmeet = { file = \"k.csv\", by = \"site\", value = \"v\", weight = \"y\" }"),
    ("file of inducing points", POINTS, "#inference", "method = \"sparse\"\ninducing = 4", "method = \"sparse\"\ninducing = { file = \"e.csv\" }"),
    ("trials of a prediction", POINTS, "gaussian = { value = \"y\" } }\n#observe\n[[predict]]\nname = \"p\"", "binomial = { successes = \"n\", trials = 20 } }\n[[predict]]\nname = \"p\"\nscale = \"observation\"", "binomial = { successes = \"n\", trials = 20 } }\n[[predict]]\nname = \"p\"\nscale = \"observation\"\ntrials = 50"),
    ("exposure of observations", POINTS, "gaussian = { value = \"y\" } }\n#observe\n[[predict]]\nname = \"p\"", "poisson = { count = \"n\" } }\n[[predict]]\nname = \"p\"\nscale = \"observation\"", "poisson = { count = \"n\" } }\n[[predict]]\nname = \"p\"\nscale = \"observation\"\nexposure = 7"),
    ("cumulative", POINTS, "support = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }", "support = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }", "support = { point = [\"t\"] }\ncumulative = { falls = \"negative\" }\nlikelihood = { gaussian = { value = \"y\" } }"),
    ("along", POINTS, "support = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }", "support = { point = [\"t\", \"g\"] }\ncumulative = { along = \"t\", falls = \"negative\" }\nlikelihood = { gaussian = { value = \"y\" } }", "support = { point = [\"t\", \"g\"] }\ncumulative = { along = \"g\", falls = \"negative\" }\nlikelihood = { gaussian = { value = \"y\" } }"),
    ("by of running totals", POINTS, "support = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }", "support = { point = [\"t\"] }\ncumulative = { falls = \"negative\" }\nlikelihood = { gaussian = { value = \"y\" } }", "support = { point = [\"t\"] }\ncumulative = { falls = \"negative\", by = \"site\" }\nlikelihood = { gaussian = { value = \"y\" } }"),
    ("falls", POINTS, "support = { point = [\"t\"] }\nlikelihood = { gaussian = { value = \"y\" } }", "support = { point = [\"t\"] }\ncumulative = { falls = \"negative\" }\nlikelihood = { gaussian = { value = \"y\" } }", "support = { point = [\"t\"] }\ncumulative = { falls = \"unknown\" }\nlikelihood = { gaussian = { value = \"y\" } }"),
    ("planar", REGIONS, "planar = true } }\naggregate = \"mean\"\nlikelihood = { gaussian = { value = \"v\", variance = 0.1 } }\n[[predict]]\nname = \"p\"\nsupport = { region = { file = \"z.geojson\", key = \"id\", dims = [\"x\", \"y\"], planar = true }", "planar = true } }\naggregate = \"mean\"\nlikelihood = { gaussian = { value = \"v\", variance = 0.1 } }\n[[predict]]\nname = \"p\"\nsupport = { region = { file = \"z.geojson\", key = \"id\", dims = [\"x\", \"y\"], planar = true }", "planar = false } }\naggregate = \"mean\"\nlikelihood = { gaussian = { value = \"v\", variance = 0.1 } }\n[[predict]]\nname = \"p\"\nsupport = { region = { file = \"z.geojson\", key = \"id\", dims = [\"x\", \"y\"], planar = false }"),
    ("baseline", POINTS, "#more", "", "[baseline]\nmethod = \"constant\""),
    ("method of a baseline", POINTS, "#more", "[baseline]\nmethod = \"constant\"", "[baseline]\nmethod = [\"constant\", \"areal\"]"),
    ("as of a band", POINTS, "#more", "[noise]\nkernel = \"se(t)\"", "[noise]\nkernel = \"se(t)\"\n[[predict]]\nname = \"q\"\nas = \"d.csv\"\nsupport = { file = \"d.csv\", point = [\"t\"] }"),
];

/// The name of every case, the study without its key and the study with it.
pub fn cases() -> Vec<(&'static str, String, String)> {
    let plain = KEYS.iter().map(|(name, (base, from, to))| {
        assert!(base.contains(from), "{name}: no `{from}`");
        (*name, (*base).to_owned(), base.replacen(from, to, 1))
    });
    let more = MORE.iter().map(|(name, base, at, before, after)| {
        assert!(base.contains(at), "{name}: no `{at}`");
        let with = |text: &str| base.replacen(at, text, 1);
        (*name, with(before), with(after))
    });
    plain.chain(more).collect()
}
