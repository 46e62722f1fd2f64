//! Array special functions, in nanoseconds per element beside the scalar rivals.

use std::hint::black_box;
use std::time::Instant;

use quadrat::likelihood::local::Belief;
use quadrat::link::Link;
use quadrat::special;

const LENGTH: usize = 4096;
const ROUNDS: usize = 400;

/// Best time per element over the rounds; the best and not the mean, since the machine may be
/// shared.
fn nanoseconds(mut run: impl FnMut(&mut [f64])) -> f64 {
    let mut out = vec![0.0; LENGTH];
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run(&mut out);
        black_box(&out);
        best = best.min(start.elapsed().as_nanos() as f64 / LENGTH as f64);
    }
    best
}

fn each(f: impl Fn(f64) -> f64, x: &[f64], out: &mut [f64]) {
    for (x, out) in x.iter().zip(out) {
        *out = f(black_box(*x));
    }
}

/// The mean after softplus of a belief of that variance.
fn softplus(variance: f64) -> impl Fn(f64) -> f64 {
    move |mean| Link::Softplus.moments(Belief { mean, variance }).mean
}

/// Prints one line per function: time, and time over `f64::exp` and over `libm::erf`.
pub fn run() {
    let x: Vec<f64> = (0..LENGTH)
        .map(|i| 8.0 * ((i as f64 * 0.618_033_988_749_895).fract() - 0.5))
        .collect();
    let positive: Vec<f64> = x.iter().map(|x| x.abs()).collect();
    let end: Vec<f64> = x.iter().map(|x| x + 1.5).collect();

    let std_exp = nanoseconds(|out| each(f64::exp, &x, out));
    let libm_erf = nanoseconds(|out| each(libm::erf, &x, out));
    let rows = [
        ("f64::exp", std_exp),
        ("libm::erf", libm_erf),
        ("exp", nanoseconds(|out| special::exp_into(&x, out))),
        ("erf", nanoseconds(|out| special::erf_into(&x, out))),
        ("erfc", nanoseconds(|out| special::erfc_into(&x, out))),
        ("erfcx", nanoseconds(|out| special::erfcx_into(&x, out))),
        (
            "erfcx, x >= 0",
            nanoseconds(|out| special::erfcx_into(&positive, out)),
        ),
        (
            "normal_pdf",
            nanoseconds(|out| special::normal_pdf_into(&x, out)),
        ),
        (
            "normal_cdf",
            nanoseconds(|out| special::normal_cdf_into(&x, out)),
        ),
        ("log_cdf", nanoseconds(|out| special::log_cdf_into(&x, out))),
        (
            "log_cdf_difference",
            nanoseconds(|out| special::log_cdf_difference_into(&x, &end, out)),
        ),
        (
            "scalar erfcx",
            nanoseconds(|out| each(special::scalar::erfcx, &positive, out)),
        ),
        (
            "scalar normal_quantile",
            nanoseconds(|out| {
                each(
                    |x| special::scalar::normal_quantile(x / 4.0),
                    &positive,
                    out,
                )
            }),
        ),
        (
            "scalar digamma",
            nanoseconds(|out| each(special::scalar::digamma, &positive, out)),
        ),
        (
            "softplus moments, sd .5",
            nanoseconds(|out| each(softplus(0.25), &x, out)),
        ),
        (
            "softplus moments, sd 5",
            nanoseconds(|out| each(softplus(25.0), &x, out)),
        ),
        (
            "softplus moments, far below",
            nanoseconds(|out| each(|m| softplus(9.0)(m - 20.0), &x, out)),
        ),
    ];
    println!(
        "{:<24} {:>8} {:>10} {:>11}",
        "function", "ns", "/f64::exp", "/libm::erf"
    );
    for (name, time) in rows {
        println!(
            "{name:<24} {time:>8.2} {:>10.2} {:>11.2}",
            time / std_exp,
            time / libm_erf
        );
    }
}
