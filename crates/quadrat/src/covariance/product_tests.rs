use super::*;
use crate::kernel::Kernel;

const INTERVALS: [Interval; 6] = [
    (0.0, 0.0),
    (0.4, 0.0),
    (1.0, 1e-3),
    (0.3, 1.0),
    (-2.0, 1.7),
    (2.5, 3.0),
];

/// Value and slopes of every pair, at what the leaves of one term say.
fn all(kernel: &Kernel, theta: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let leaves: Vec<IndexedLeaf> = kernel.leaves().to_vec();
    let parameters: Vec<usize> = (0..theta.len()).collect();
    let mut product = Product::new(&leaves, &parameters, theta, true);
    let mut out = Vec::new();
    for a in INTERVALS {
        for b in INTERVALS {
            product.pair(a, b);
            out.push((product.value, product.slope.clone()));
        }
    }
    out
}

/// The average of the kernel over both intervals, on panels of a hundredth cut where places
/// meet.
fn brute(kernel: &Kernel, theta: &[f64], a: Interval, b: Interval) -> f64 {
    let rule = gauss_legendre(8);
    let nodes = |(low, width): Interval, cut: f64| -> Vec<(f64, f64)> {
        if width == 0.0 {
            return vec![(low, 1.0)];
        }
        let mut cuts: Vec<f64> = (0..=60)
            .map(|i| low + width * f64::from(i) / 60.0)
            .collect();
        if low < cut && cut < low + width {
            cuts.push(cut);
        }
        cuts.sort_by(f64::total_cmp);
        let panels = cuts.windows(2).flat_map(|c| rule.on(c[0], c[1]));
        panels.map(|(x, w)| (x, w / width)).collect()
    };
    let mut sum = 0.0;
    for (x, w) in nodes(a, f64::INFINITY) {
        for (y, v) in nodes(b, x) {
            sum += w * v * kernel.value(theta, &[x], &[y]);
        }
    }
    sum
}

fn kernels() -> Vec<(Kernel, Vec<f64>)> {
    let text = |t: &str| t.parse::<Kernel>();
    [
        ("se(t) * periodic(t)", vec![1.0, 0.9, 0.5, 0.7]),
        ("matern12(t) * periodic(t)", vec![1.0, 1.3, 0.2, 2.0]),
        ("rq(t) * se(t) * matern32(t)", vec![1.0, 0.3, 0.4, 2.0, 1.1]),
        ("linear(t) * linear(t) * periodic(t)", vec![1.0, 0.6, 1.5]),
        ("periodic(t) * periodic(t)", vec![1.0, 0.6, 1.5, 0.9, 0.8]),
    ]
    .into_iter()
    .filter_map(|(t, theta)| Some((text(t).ok()?, theta)))
    .collect()
}

#[test]
fn products_are_the_averages_of_their_definition() {
    assert_eq!(kernels().len(), 5);
    for (kernel, theta) in kernels() {
        let got = all(&kernel, &theta);
        for (i, &a) in INTERVALS.iter().enumerate() {
            for (j, &b) in INTERVALS.iter().enumerate() {
                let expected = brute(&kernel, &theta, a, b);
                let k = got[i * INTERVALS.len() + j].0;
                // The kink of the rougher kernels within a panel of the check.
                let allowed = 2e-7 * expected.abs().max(1.0);
                assert!(
                    (k - expected).abs() < allowed,
                    "{kernel} {a:?} {b:?}: {k} {expected}"
                );
            }
        }
    }
}

#[test]
fn slopes_are_differences() {
    for (kernel, theta) in kernels() {
        let own = all(&kernel, &theta);
        for p in 1..theta.len() {
            let h = 1e-5 * theta[p];
            let moved = |by: f64| {
                let mut theta = theta.clone();
                theta[p] += by;
                all(&kernel, &theta)
            };
            for ((own, up), down) in own.iter().zip(moved(h)).zip(moved(-h)) {
                let numeric = (up.0 - down.0) / (2.0 * h);
                // Truncation h^2 / 6 = 2e-11 times a third derivative of up to some hundred;
                // rounding eps / h = 2e-11; over hyperparameters down to 0.2.
                let allowed = 1e-7 * (1.0 + own.0.abs() + own.1[p].abs());
                assert!(
                    (own.1[p] - numeric).abs() < allowed,
                    "{kernel} {p}: {numeric}"
                );
            }
        }
    }
}

/// At the shortest lengthscales a box keeps what its leaves have over the line, a point its
/// variance.
#[test]
fn products_tend_to_their_limits() {
    let kernel = Kernel::se(["t"]) * Kernel::periodic("t", None);
    let root = (2.0 * std::f64::consts::PI).sqrt();
    for l in [1e-5, 1e-12, 1e-100, 1e-290] {
        let own = |theta: &[f64], a: Interval| {
            let parameters: Vec<usize> = (0..theta.len()).collect();
            let mut product = Product::new(kernel.leaves(), &parameters, theta, true);
            product.pair(a, a);
            assert!(product.slope.iter().all(|s| s.is_finite()), "{l:e}");
            product.value
        };
        // Narrow beside the cycle: one peak of the squared exponential alone.
        let k = own(&[1.0, l, 0.5, 0.7], (0.3, 2.0));
        assert!(
            (k / (0.5 * root * l) - 1.0).abs() < 1e-4 + l,
            "{l:e}: {k:e}"
        );
        // Narrow peaks within a broad one: a comb of areas, T at whole periods times the broad
        // one.
        let k = own(&[1.0, 1.4, l, 1.0], (0.0, 2.0));
        let teeth: f64 = [-1.0, 0.0, 1.0_f64]
            .iter()
            .map(|u| 0.5 * (1.0 - 0.5 * u.abs()) * (-0.5 * (u / 1.4).powi(2)).exp())
            .sum();
        let expected = teeth * l / root;
        assert!(
            (k / expected - 1.0).abs() < 1e-3,
            "{l:e}: {k:e} {expected:e}"
        );
        assert_eq!(own(&[1.0, l, l, 0.7], (0.3, 0.0)), 1.0);
    }
    // Cycles far shorter than anything: their mean.
    let parameters = [0, 1, 2, 3];
    let mut product = Product::new(kernel.leaves(), &parameters, &[1.0, 0.9, 1.0, 1e-7], true);
    product.pair((0.0, 1.0), (0.2, 1.0));
    let with = product.value;
    let se = Kernel::se(["t"]);
    let mut product = Product::new(se.leaves(), &[0, 1], &[1.0, 0.9], false);
    product.pair((0.0, 1.0), (0.2, 1.0));
    let mean = Periodic::coefficients(1.0).0[0];
    // Cycles are ten million times shorter than the lengthscale: rounding alone is left.
    assert!((with / (mean * product.value) - 1.0).abs() < 1e-12);
}
