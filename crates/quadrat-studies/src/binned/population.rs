//! The people of section 5.5 and the surveys among them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal, Normal};

/// Number of people in the paper.
pub const PEOPLE: usize = 5802;
/// Ages that take part, in years.
pub const AGE: (f64, f64) = (18.0, 85.0);
/// Incomes that surveys ask for, in thousands of dollars a year; some people earn more.
pub const INCOME: (f64, f64) = (0.0, 250.0);
/// Months in which people join.
pub const DATE: (f64, f64) = (0.0, 12.0);

/// How the people are made: written into the report.
pub const STATEMENT: &str = "5802 people: age normal (48, 16) within 18 to 85; income log-normal, sd 0.77 in the logarithm, median 72.7 thousand dollars at age 50 (that of US families in 2016) times \
exp(-((age - 50) / 40)^2); month of joining 12 u^(1.6 - 1.1 (age - 18) / 67), u uniform: the young joined early, the old late";

/// How the surveys are made.
pub const SURVEYS: &str = "surveys at months uniform in 1 to 12; ages from U(18, 70) on, 5 to 30 years wide; a third each ask for any income up to 250 thousand, for at least or for less than U(20, 120) thousand";

/// Someone who answers surveys: age, income, month of joining.
pub type Person = [f64; 3];

/// A box: lower and upper ends of age, income and joining date.
pub type Survey = [(f64, f64); 3];

/// The people.
///
/// # Errors
/// None for the constants used here.
pub fn people(random: &mut ChaCha8Rng) -> anyhow::Result<Vec<Person>> {
    let age = Normal::new(48.0, 16.0)?;
    let income = LogNormal::new(72.7_f64.ln(), 0.77)?;
    Ok((0..PEOPLE)
        .map(|_| {
            let years: f64 = loop {
                let a = age.sample(random);
                if (AGE.0..AGE.1).contains(&a) {
                    break a;
                }
            };
            let fall = (-((years - 50.0) / 40.0).powi(2)).exp();
            let power = 1.6 - 1.1 * (years - AGE.0) / (AGE.1 - AGE.0);
            let u: f64 = random.random();
            [years, fall * income.sample(random), DATE.1 * u.powf(power)]
        })
        .collect())
}

/// Surveys in the order of their dates. Whoever had joined by then, and is of the age and
/// income asked for, takes part. Like the three that the paper describes, each asks for ages in a
/// band and for any income, for at least so much, or for less.
#[must_use]
pub fn surveys(count: usize, random: &mut ChaCha8Rng) -> Vec<Survey> {
    let mut dates: Vec<f64> = (0..count)
        .map(|_| random.random_range(1.0..DATE.1))
        .collect();
    dates.sort_unstable_by(f64::total_cmp);
    dates
        .into_iter()
        .map(|date| {
            let from = random.random_range(18.0..70.0);
            let age = (from, f64::min(AGE.1, from + random.random_range(5.0..30.0)));
            let limit = random.random_range(20.0..120.0);
            let income = match random.random_range(0..3) {
                0 => INCOME,
                1 => (limit, INCOME.1),
                _ => (INCOME.0, limit),
            };
            [age, income, (DATE.0, date)]
        })
        .collect()
}

/// How many take part.
#[must_use]
pub fn audience(people: &[Person], survey: &Survey) -> f64 {
    let inside = |p: &&Person| p.iter().zip(survey).all(|(v, s)| s.0 <= *v && *v < s.1);
    people.iter().filter(inside).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn people_are_as_stated() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let people = people(&mut random).unwrap();
        assert_eq!(people.len(), PEOPLE);
        let everyone = [AGE, (0.0, f64::INFINITY), DATE];
        assert_eq!(audience(&people, &everyone), PEOPLE as f64);
        let joined = |ages: (f64, f64)| {
            let of = |until: f64| audience(&people, &[ages, (0.0, f64::INFINITY), (0.0, until)]);
            of(6.0) / of(DATE.1)
        };
        // P(u^a < 1/2) = 2^(-1/a): a about 1.5 for the young, .6 for the old.
        assert!(
            (joined((18.0, 30.0)) - 0.63).abs() < 0.06,
            "{}",
            joined((18.0, 30.0))
        );
        assert!(
            (joined((75.0, 85.0)) - 0.31).abs() < 0.06,
            "{}",
            joined((75.0, 85.0))
        );
    }

    #[test]
    fn surveys_are_ordered_boxes_inside_the_domain() {
        let mut random = ChaCha8Rng::seed_from_u64(6);
        let all = surveys(500, &mut random);
        assert!(all.windows(2).all(|w| w[0][2].1 <= w[1][2].1));
        for survey in all {
            for (side, domain) in survey.iter().zip([AGE, INCOME, DATE]) {
                assert!(
                    domain.0 <= side.0 && side.0 < side.1 && side.1 <= domain.1,
                    "{survey:?}"
                );
            }
        }
    }
}
