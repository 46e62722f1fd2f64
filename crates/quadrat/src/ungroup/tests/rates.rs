//! Rates and life tables of a population that is known.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson};

use crate::ungroup::{Exposure, Population, Rates, Ungroup, UngroupError, Warning};

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

    // The last band is closed: years lived before 100.
    let table = found.life_table();
    assert_eq!(table.until, Some(100.0));
    let by_hand = life_expectancy(&truth);
    let (low, high) = (table.e.lower[0], table.e.upper[0]);
    assert!(low < by_hand && by_hand < high, "{low} {by_hand} {high}");
    assert!(high - low < 2.0, "{low} {high}");
    assert_eq!(table.l.value[0], 1e5);
}

/// Years lived before 100, by `l_{x+1} = l_x e^{-m}` and `L = d / m`: rates are the same within a
/// year.
fn life_expectancy(rates: &[f64]) -> f64 {
    let (mut alive, mut years) = (1.0, 0.0);
    for m in rates {
        let next = alive * (-m).exp();
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
    let nobody = |w: &Warning| matches!(w, Warning::Nobody { bands: 1 });
    assert!(
        found.warnings().iter().any(nobody),
        "{:?}",
        found.warnings()
    );
    let thousands = builder.rates(&events, &people.map(|n| n / 1000.0)).unwrap();
    let unit = |w: &Warning| matches!(w, Warning::Impossible { bands: 19 });
    assert!(
        thousands.warnings().iter().any(unit),
        "{:?}",
        thousands.warnings()
    );
}

/// The commonest table: five-year bands, the last one open, which says little of those above 100.
#[test]
fn life_expectancy_does_not_hang_on_where_the_axis_ends() {
    let (mut to, mut deaths, mut people, truth) = known();
    let join = |x: &mut Vec<f64>| {
        let last: f64 = x.drain(18..).sum();
        x.push(last);
    };
    join(&mut deaths);
    join(&mut people);
    to.truncate(18);
    to.push(f64::INFINITY);
    let from = &FROM[..19];
    // All of whom die some time: few years are lived beyond 100.
    let by_hand = life_expectancy(&truth) + 0.02;
    for last in [105.0, 110.0, 130.0] {
        let found = Ungroup::new(from, &to)
            .last(last)
            .rates(&deaths, &people)
            .unwrap();
        let e = found.life_table().e;
        assert!(
            e.lower[0] < by_hand + 0.1 && e.upper[0] > by_hand - 0.1,
            "{last}: {by_hand}"
        );
        assert!(
            e.upper[0] - e.lower[0] < 1.5,
            "{last}: {} {}",
            e.lower[0],
            e.upper[0]
        );
        let some = Ungroup::new(from, &to).last(last).edges(&[0.0, 18.0, 65.0]);
        let some = some.rates(&deaths, &people).unwrap().life_table();
        assert_eq!(some.edges.len(), 2);
        // Other groups of ages are other averages over draws: found are 0.003 to 0.022 years.
        assert!((some.e.value[0] - e.value[0]).abs() < 0.2);
    }
}

#[test]
fn an_exposure_may_have_bands_of_its_own() {
    let (to, deaths, people, truth) = known();
    let asked = || Ungroup::new(&FROM, &to).draws(500);
    let own = |counts, bands| Exposure {
        of: Population { counts, stream: 0 },
        bands,
    };
    let same = asked().rates(&deaths, &people).unwrap();
    // The same bands, told as others: the same cells and random numbers, and so the same rates, but
    // for the rounding of exposures that searches begin from.
    let told = asked()
        .rates_of(&deaths, own(&people, Some((&FROM, &to))))
        .unwrap();
    for (a, b) in same.mean().iter().zip(told.mean()) {
        assert!((a - b).abs() < 1e-9 * a, "{a} {b}");
    }
    // Single years of the exposure say more of it, in another order; deaths in wide bands.
    let years: Vec<f64> = (0..100).rev().map(f64::from).collect();
    let ends: Vec<f64> = years.iter().map(|x| x + 1.0).collect();
    let mut each = vec![20_000.0; 100];
    for age in 1..100 {
        each[age] = each[age - 1] * (-truth[age - 1]).exp();
    }
    each.reverse();
    let fine = asked()
        .rates_of(&deaths, own(&each, Some((&years, &ends))))
        .unwrap();
    let (lower, upper) = (fine.lower(), fine.upper());
    let inside = (0..100).filter(|&i| lower[i] <= truth[i] && truth[i] <= upper[i]);
    assert!(inside.count() >= 93);
}

#[test]
fn an_exposure_that_does_not_cover_the_events_is_refused() {
    let (to, deaths, people, _) = known();
    let refused = |lower: &[f64], upper: &[f64], counts: &[f64]| {
        let of = Population { counts, stream: 0 };
        let bands = Some((lower, upper));
        let asked = Ungroup::new(&FROM, &to).draws(500);
        asked.rates_of(&deaths, Exposure { of, bands }).unwrap_err()
    };
    let short = refused(&FROM[..19], &to[..19], &people[..19]);
    assert!(
        matches!(
            short,
            UngroupError::Uncovered {
                to: 90.0,
                last: 100.0,
                ..
            }
        ),
        "{short}"
    );
    let gap = refused(&[0.0, 60.0], &[50.0, 100.0], &[1e6, 1e6]);
    assert!(
        matches!(&gap, UngroupError::Exposure(own) if matches!(**own, UngroupError::Gap { .. })),
        "{gap}"
    );
    let nobody = refused(&[0.0, 1.0, 50.0], &[1.0, 50.0, 100.0], &[0.0, 1e6, 1e6]);
    assert!(
        matches!(nobody, UngroupError::NoExposure { row: 0, .. }),
        "{nobody}"
    );
}

/// Populations of some forty and twenty deaths around a country with the same rates, or with twice
/// theirs: intervals are narrower than alone, and hold the rates.
#[test]
fn few_events_lie_around_a_standard() {
    let (to, deaths, people, truth) = known();
    let country = Ungroup::new(&FROM, &to).rates(&deaths, &people).unwrap();
    let standard = country.standard();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let exposed: Vec<f64> = people.iter().map(|n| n / 500.0).collect();
    for factor in [1.0, 0.5] {
        let expected = deaths.iter().map(|d| factor * d / 500.0);
        let events = expected.map(|mean| match mean > 0.0 {
            true => Poisson::new(mean).unwrap().sample(&mut random),
            false => 0.0,
        });
        let events: Vec<f64> = events.collect();
        let rates: Vec<f64> = truth.iter().map(|rate| factor * rate).collect();
        let plain = Ungroup::new(&FROM, &to);
        let alone = plain.rates(&events, &exposed).unwrap();
        let around = plain.around(&standard).rates(&events, &exposed).unwrap();
        let error = |found: &Rates| -> f64 {
            let each = found.mean().into_iter().zip(&rates);
            each.map(|(mean, rate)| (mean / rate).ln().powi(2)).sum()
        };
        let width = |found: &Rates| -> f64 {
            let each = found.upper().into_iter().zip(found.lower());
            each.map(|(upper, lower)| (upper / lower).ln()).sum()
        };
        let ends = around.lower().into_iter().zip(around.upper());
        let inside = ends
            .zip(&rates)
            .filter(|((lower, upper), rate)| lower <= rate && *rate <= upper);
        let inside = inside.count();
        // Of 16 such populations by another stream: 96 to 100 inside, widths of .42 to .74 and
        // squares of errors of .07 to .79 of those alone.
        assert!(inside >= 90, "{factor}: {inside}");
        let [own, plain] = [width(&around), width(&alone)];
        assert!(own < 0.8 * plain, "{factor}: {own} {plain}");
        let [own, plain] = [error(&around), error(&alone)];
        assert!(own < plain, "{factor}: {own} {plain}");
    }
}

/// Where nobody died rates are below those of the standard, and no more is known of how far.
#[test]
fn no_event_around_a_standard_tells_something() {
    let (to, deaths, people, truth) = known();
    let country = Ungroup::new(&FROM, &to).rates(&deaths, &people).unwrap();
    let exposed: Vec<f64> = people.iter().map(|n| n / 1000.0).collect();
    let none = vec![0.0; deaths.len()];
    let plain = Ungroup::new(&FROM, &to);
    assert!(plain.rates(&none, &exposed).is_err());
    let standard = country.standard();
    let found = plain.around(&standard).rates(&none, &exposed).unwrap();
    let (mean, lower) = (found.mean(), found.lower());
    // Twenty deaths were expected.
    assert!(mean[70] < 0.5 * truth[70] && lower[70] < 0.1 * truth[70]);
    assert!(mean.iter().all(|rate| *rate > 0.0 && rate.is_finite()));
}

/// Bands at the ends in which nobody was exposed are left out, whatever steps are told.
#[test]
fn rates_end_with_their_exposure() {
    let from: Vec<f64> = (0..6).map(|b| 10.0 * f64::from(b)).collect();
    let to: Vec<f64> = from.iter().map(|x| x + 10.0).collect();
    let deaths = [0.0, 5.0, 20.0, 30.0, 3.0, 0.0];
    let people = [0.0, 1000.0, 1000.0, 1000.0, 1000.0, 0.0];
    let asked = Ungroup::new(&from, &to).draws(200);
    let found = asked.rates(&deaths, &people).unwrap();
    let part = Ungroup::new(&from[1..5], &to[1..5]).draws(200);
    let want = part.rates(&deaths[1..5], &people[1..5]).unwrap();
    assert_eq!(found.edges(), want.edges());
    assert_eq!((found.mean(), found.upper()), (want.mean(), want.upper()));
    let left_out = |w: &&Warning| matches!(w, Warning::Unexposed { .. });
    assert_eq!(found.warnings().iter().filter(left_out).count(), 2);
    // An exposure in bands of its own that ends sooner.
    let own = Exposure {
        of: Population {
            counts: &[0.0, 2000.0, 2000.0, 0.0],
            stream: 0,
        },
        bands: Some((&[0.0, 10.0, 30.0, 50.0], &[10.0, 30.0, 50.0, 60.0])),
    };
    let some = asked.clone().edges(&[5.0, 15.0, 25.0, 60.0]);
    let found = some.rates_of(&deaths, own).unwrap();
    assert_eq!(found.edges(), [(10.0, 15.0), (15.0, 25.0), (25.0, 50.0)]);
    let outside = asked.edges(&[5.0, 70.0]).rates(&deaths, &people);
    assert!(matches!(outside, Err(UngroupError::Setting { .. })));
}
