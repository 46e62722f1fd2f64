//! Rates and life tables of a population that is known.

use crate::ungroup::{Ungroup, UngroupError};

const FROM: [f64; 20] = [
    0.0, 1.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0,
    75.0, 80.0, 85.0, 90.0,
];

/// Mortality by single year: infants apart, then Gompertz' law.
fn rate(age: usize) -> f64 {
    if age == 0 {
        0.005
    } else {
        5e-5 * (0.09 * (age as f64 + 0.5)).exp()
    }
}

/// Bands up to 100: edges, deaths and people, and the rates of the years.
fn known() -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>) {
    let rates: Vec<f64> = (0..100).map(rate).collect();
    let mut people = vec![20_000.0; 100];
    for age in 1..100 {
        people[age] = people[age - 1] * (-rates[age - 1]).exp();
    }
    let to: Vec<f64> = FROM[1..].iter().copied().chain([100.0]).collect();
    let sum = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let each = FROM.iter().zip(&to);
        each.map(|(a, b)| (*a as usize..*b as usize).map(of).sum())
            .collect()
    };
    let deaths = sum(&|age| people[age] * rates[age]);
    let deaths = deaths.into_iter().map(f64::round).collect();
    let exposed = sum(&|age| people[age]);
    (to, deaths, exposed, rates)
}

#[test]
fn rates_hold_those_of_a_known_population() {
    let (to, deaths, people, truth) = known();
    let found = Ungroup::new(&FROM, &to).rates(&deaths, &people).unwrap();
    let (lower, upper, mean) = (found.lower(), found.upper(), found.mean());
    let inside = (0..100)
        .filter(|&i| lower[i] <= truth[i] && truth[i] <= upper[i])
        .count();
    // Deaths are the expected ones, without chance: intervals should miss next to nothing.
    assert!(inside >= 93, "{inside}");
    assert!((mean[0] / 0.005 - 1.0).abs() < 0.1, "{}", mean[0]);
    // The year after is not drawn up by the infants.
    assert!(mean[1] < 2e-4, "{}", mean[1]);
    let draws = found.draws(50);
    assert!((0..50).all(|k| draws.col_as_slice(k).iter().all(|r| *r > 0.0)));

    let table = found.life_table();
    let by_hand = life_expectancy(&truth);
    let (low, high) = (table.e.lower[0], table.e.upper[0]);
    assert!(low < by_hand && by_hand < high, "{low} {by_hand} {high}");
    assert!(high - low < 2.0, "{low} {high}");
    assert_eq!((table.l.value[0], table.q.value[99]), (1e5, 1.0));
}

/// By `l_{x+1} = l_x e^{-m}` and `L = d / m`, the last year by its rate: rates are the same within
/// a year.
fn life_expectancy(rates: &[f64]) -> f64 {
    let (mut alive, mut years) = (1.0, 0.0);
    for (age, m) in rates.iter().enumerate() {
        let next = if age == 99 { 0.0 } else { alive * (-m).exp() };
        years += (alive - next) / m;
        alive = next;
    }
    years
}

#[test]
fn events_need_exposure() {
    let to: Vec<f64> = FROM[1..].iter().copied().chain([100.0]).collect();
    let mut people = [1000.0; 20];
    let mut events = [3.0; 20];
    people[4] = 0.0;
    let builder = Ungroup::new(&FROM, &to).draws(100);
    let told = builder.rates(&events, &people).unwrap_err();
    assert!(
        matches!(told, UngroupError::NoExposure { row: 4, .. }),
        "{told}"
    );
    events[4] = 0.5;
    let told = builder.rates(&events, &people).unwrap_err();
    assert!(
        matches!(told, UngroupError::Events { row: 4, .. }),
        "{told}"
    );
    let told = builder.rates(&events[..3], &people).unwrap_err();
    assert!(matches!(told, UngroupError::Lengths { .. }), "{told}");
    // Nobody, and no events, say nothing.
    events[4] = 0.0;
    let found = builder.rates(&events, &people).unwrap();
    assert!(found.mean().iter().all(|r| r.is_finite() && *r > 0.0));
}
