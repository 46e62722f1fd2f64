use super::*;

fn hidden(data: &CensoredData, d: usize) -> Vec<usize> {
    let sides = &data.outputs[d].sides;
    (0..sides.len())
        .filter(|&i| sides[i] == Side::Right)
        .collect()
}

#[test]
fn overlaps_are_what_they_are_called() {
    for (overlap, second, shared) in [
        (Overlap::None, 0, 0),
        (Overlap::Zero, 42, 0),
        (Overlap::Half, 42, 21),
        (Overlap::Pieces, 42, 42),
        (Overlap::Stretch, 42, 42),
    ] {
        let plan = Censored {
            overlap,
            ..Censored::default()
        };
        let data = plan.draw().unwrap();
        let (a, b) = (hidden(&data, 0), hidden(&data, 1));
        let both = a.iter().filter(|i| b.contains(i)).count();
        assert_eq!(
            (a.len(), b.len(), both),
            (42, second, shared),
            "{overlap:?}"
        );
        let breaks = a.windows(2).filter(|w| w[1] > w[0] + 1).count();
        let pieces = matches!(overlap, Overlap::Half | Overlap::Pieces);
        assert_eq!(breaks, if pieces { 5 } else { 0 }, "{overlap:?}");
        if !pieces {
            assert!(a.iter().all(|&i| (1.3..=5.5).contains(&data.x[i])));
        }
    }
}

#[test]
fn truth_and_values_do_not_depend_on_what_is_censored() {
    let plain = Censored::default().draw().unwrap();
    for overlap in Overlap::ALL {
        for record in Record::ALL {
            let plan = Censored {
                overlap,
                record,
                ..Censored::default()
            };
            let data = plan.draw().unwrap();
            assert_eq!(data, plan.draw().unwrap());
            for (a, b) in data.outputs.iter().zip(&plain.outputs) {
                assert_eq!((&a.latent, &a.noise), (&b.latent, &b.noise));
                assert_eq!(a.values, b.values);
            }
            // The shortfall of a place is its own.
            if record == Record::Random {
                let (a, b) = (&data.outputs[0], &plain.outputs[0]);
                let both = (0..100).filter(|&i| a.sides[i] == b.sides[i]);
                assert!(both.clone().count() >= 50);
                assert!(both.into_iter().all(|i| a.recorded[i] == b.recorded[i]));
            }
        }
    }
    let other = Censored {
        seed: 2,
        ..Censored::default()
    };
    assert_ne!(other.draw().unwrap().outputs, plain.outputs);
}

#[test]
fn shortfalls_are_uniform_between_their_ends() {
    let mut all = Vec::new();
    for seed in 0..40 {
        let plan = Censored {
            seed,
            overlap: Overlap::Stretch,
            ..Censored::default()
        };
        for output in plan.draw().unwrap().outputs {
            for i in 0..100 {
                match output.sides[i] {
                    Side::Right => all.push(output.values[i] - output.recorded[i]),
                    _ => assert_eq!(output.values[i], output.recorded[i]),
                }
            }
        }
    }
    // Rounding of a difference of numbers of size ten.
    assert!(all.iter().all(|s| (0.05 - 1e-12..=3.55).contains(s)));
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    // 3360 numbers of sd 1.01 (3.5 / sqrt 12): four standard errors.
    assert!((mean - 1.8).abs() < 0.07, "{mean}");
}

#[test]
fn a_threshold_cuts_off_its_share_and_spares_what_is_below() {
    for (overlap, share, cut) in [
        (Overlap::Stretch, 0.6, 25),
        (Overlap::Pieces, 0.25, 10),
        (Overlap::Zero, 1.0, 42),
    ] {
        let plan = Censored {
            overlap,
            share,
            record: Record::Clipped,
            ..Censored::default()
        };
        let data = plan.draw().unwrap();
        for (d, output) in data.outputs.iter().enumerate() {
            let limit = output.threshold.unwrap();
            assert_eq!(hidden(&data, d).len(), cut, "{overlap:?}");
            for i in 0..100 {
                match output.sides[i] {
                    Side::Right => {
                        assert_eq!(output.recorded[i], limit);
                        assert!(output.values[i] >= limit);
                    }
                    _ => assert_eq!(output.recorded[i], output.values[i]),
                }
            }
        }
    }
    let none = Censored {
        record: Record::Clipped,
        ..Censored::default()
    };
    let data = none.draw().unwrap();
    assert_eq!(data.outputs[1].threshold, None);
    assert!(hidden(&data, 1).is_empty());
}

/// Moments at one place over many draws.
#[test]
fn functions_and_noise_have_the_moments_they_are_given() {
    let repeats = 2000_u64;
    let (mut squares, mut products, mut logs, mut errors) = (0.0, 0.0, 0.0, 0.0);
    for seed in 0..repeats {
        let plan = Censored {
            points: 10,
            seed,
            ..Censored::default()
        };
        let data = plan.draw().unwrap();
        let [a, b] = &data.outputs;
        squares += a.latent[4].powi(2) + b.latent[4].powi(2);
        products += data.correlation.signum() * a.latent[4] * b.latent[4];
        logs += (a.noise[4] / 0.25).ln().powi(2) + (b.noise[4] / 0.25).ln().powi(2);
        errors += ((b.values[4] - b.latent[4]) / b.noise[4]).powi(2);
    }
    let n = repeats as f64;
    // Means of squares of n normals have the relative sd sqrt(2 / n) = .032; five of them, also for
    // products and for the correlated pairs of squares.
    let near = |got: f64, want: f64| {
        assert!((got / want - 1.0).abs() < 0.16, "{got}, {want}");
    };
    near(squares / (2.0 * n), 3.24);
    near(products / n, 0.9 * 3.24);
    // Standard deviations are the exponential of half of the logarithm.
    near(logs / (2.0 * n), 0.49 / 4.0);
    near(errors / n, 1.0);
}

#[test]
fn options_outside_their_range_are_refused() {
    let usual = Censored::default;
    #[rustfmt::skip]
    let cases = [
        (Censored { points: 9, ..usual() }, "points is 9; it must be from 10 to 1000"),
        (Censored { lengthscale: 0.0, ..usual() }, "lengthscale is 0"),
        (Censored { variance: f64::NAN, ..usual() }, "variance is NaN"),
        (Censored { noise: -1.0, ..usual() }, "noise is -1"),
        (Censored { noise_variance: -0.1, ..usual() }, "noise_variance is -0.1; it must be a finite number, zero or more"),
        (Censored { noise_lengthscale: f64::INFINITY, ..usual() }, "noise_lengthscale is inf"),
        (Censored { correlation: 1.1, ..usual() }, "correlation is 1.1; it must be from 0 to 1"),
        (Censored { shortfall: (-1.0, 2.0), ..usual() }, "shortfall is -1"),
        (Censored { shortfall: (1.0, 1.0), ..usual() }, "shortfall is 1; it must be finite and above the least one"),
        (Censored { share: 0.0, ..usual() }, "share is 0"),
    ];
    for (plan, words) in cases {
        let error = plan.draw().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // Noise that does not change is fine.
    let still = Censored {
        noise_variance: 0.0,
        ..usual()
    };
    let data = still.draw().unwrap();
    assert!(data.outputs[0].noise.iter().all(|sd| *sd == 0.25));
}
