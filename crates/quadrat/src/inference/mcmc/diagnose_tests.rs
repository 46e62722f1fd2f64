//! Against ArviZ 0.23.4 (`az.rhat(method="rank")`, `az.ess(method="bulk")`) on sequences that any
//! language can repeat.

use super::*;

/// `x_t = rho x_(t-1) + e_t` with uniform `e` from a linear congruential generator, moved and
/// stretched.
fn autoregressive(seed: u64, length: usize, rho: f64, shift: f64, scale: f64) -> Vec<f64> {
    let (mut state, mut x) = (seed, 0.0);
    let step = |_| {
        state = (1_664_525 * state + 1_013_904_223) % (1 << 32);
        x = rho * x + state as f64 / 2f64.powi(32) - 0.5;
        shift + scale * x
    };
    (0..length).map(step).collect()
}

fn chains(rho: f64, shift: f64, scale: f64) -> Vec<Vec<f64>> {
    let one = |c: u64| {
        let at = c as f64;
        autoregressive(10 * c + 1, 201, rho, shift * at, 1.0 + scale * at)
    };
    (0..4).map(one).collect()
}

#[test]
fn agrees_with_arviz() {
    for (rho, shift, scale, want_r, want_n) in [
        (0.6, 0.0, 0.0, 1.008_822_102_303_415, 229.567_592_379_261),
        (
            -0.4,
            0.0,
            0.0,
            0.997_392_239_446_028_4,
            2_051.261_470_732_932,
        ),
        (
            0.6,
            0.3,
            0.0,
            1.420_343_886_780_775_2,
            9.060_149_858_031_743,
        ),
        (0.3, 0.0, 1.0, 1.187_945_061_547_924, 459.645_443_182_945_7),
    ] {
        let chains = chains(rho, shift, scale);
        let (r, n) = (r_hat(&chains), effective_size(&chains));
        // Rounding of sums of 800 terms.
        assert!((r / want_r - 1.0).abs() < 1e-9, "R-hat {r}, not {want_r}");
        assert!((n / want_n - 1.0).abs() < 1e-9, "size {n}, not {want_n}");
    }
}

#[test]
fn draws_that_depend_on_the_last_are_worth_what_theory_says() {
    for rho in [0.0, 0.5, 0.9] {
        let length = 20_000;
        let chains: Vec<Vec<f64>> = (0..4)
            .map(|c| autoregressive(97 * c + 3, length, rho, 0.0, 1.0))
            .collect();
        let want = 4.0 * length as f64 * (1.0 - rho) / (1.0 + rho);
        let got = effective_size(&chains);
        // The estimate itself is known to a few per cent with so many draws.
        assert!((got / want - 1.0).abs() < 0.1, "{rho}: {got}, not {want}");
        assert!(r_hat(&chains) < 1.005);
    }
}

#[test]
fn a_chain_that_drifts_does_not_agree_with_itself() {
    let drifting: Vec<f64> = (0..400).map(f64::from).collect();
    assert!(r_hat(std::slice::from_ref(&drifting)) > 1.5);
    assert!(effective_size(&[drifting]) < 10.0);
}

#[test]
fn what_cannot_be_judged_is_not_a_number() {
    assert!(r_hat(&[]).is_nan());
    assert!(r_hat(&[vec![1.0, 2.0]]).is_nan());
    let stuck = vec![vec![2.0; 50]; 2];
    assert!(r_hat(&stuck).is_nan() && effective_size(&stuck).is_nan());
    let apart = vec![vec![2.0; 50], vec![3.0; 50]];
    assert!(r_hat(&apart) > 1e6);
}

/// Four draws are the fewest that have halves with a variance.
#[test]
fn halves_leave_out_the_draw_in_the_middle() {
    let chain = |n: usize| vec![(0..n).map(|i| i as f64).collect::<Vec<f64>>(); 2];
    let halves = |a: &[f64], b: &[f64]| Some([a, b, a, b].map(<[f64]>::to_vec).to_vec());
    assert_eq!(split(&chain(5)), halves(&[0.0, 1.0], &[3.0, 4.0]));
    assert_eq!(split(&chain(4)), halves(&[0.0, 1.0], &[2.0, 3.0]));
    assert_eq!(split(&chain(3)), None);
}
