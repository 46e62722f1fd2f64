//! Ages that people round: Whipple's and Myers' indices, and five-year bands that alternate.

use super::error::Warning;

/// Whipple's index from which single years are called heaped: "rough" in the scale of the United
/// Nations (105 to 110 is fairly accurate, 110 to 125 approximate, 125 to 175 rough).
const ROUGH: f64 = 125.0;
/// The ratio of five-year bands from which they are called heaped.
const UNEVEN: f64 = 1.1;
/// Chance stays within so many sds.
const CHANCE: f64 = 3.0;
/// Bands that begin between these ages are compared with their neighbours.
const COMPARED: (f64, f64) = (30.0, 65.0);

/// Counts by single years `0, 1, ..`, where bands are such from the first on; none where a wider
/// band comes before an age.
fn years(edges: &[f64], counts: &[f64], upto: usize) -> Option<Vec<f64>> {
    let is_single = (0..upto).all(|age| {
        edges.get(age).is_some_and(|x| *x == age as f64)
            && edges.get(age + 1).is_some_and(|x| *x == (age + 1) as f64)
    });
    is_single.then(|| counts[..upto].to_vec())
}

/// Whipple's index of heaping on ages that end in 0 and 5, of counts by single years from age 0:
/// five times those of 25, 30, .., 60 over those of 23 to 62, in percent. 100 is none, 500 is all.
/// None below age 62.
///
/// # Examples
/// ```
/// use quadrat::ungroup::whipple;
/// assert_eq!(whipple(&[7.0; 63]), Some(100.0));
/// assert_eq!(whipple(&[7.0; 62]), None);
/// ```
/// # Source
/// Siegel and Swanson 2004, *The Methods and Materials of Demography*, chapter 7.
#[must_use]
pub fn whipple(years: &[f64]) -> Option<f64> {
    let all: f64 = years.get(23..=62)?.iter().sum();
    let heaps: f64 = (25..=60).step_by(5).map(|age| years[age]).sum();
    (all > 0.0).then(|| 500.0 * heaps / all)
}

/// Myers' blended index of preference for final digits, of counts by single years from age 0: the
/// share of people, in percent, who would have to report another digit. 0 is none, 90 is all. None
/// below age 89.
///
/// # Examples
/// ```
/// use quadrat::ungroup::myers;
/// assert_eq!(myers(&[7.0; 90]), Some(0.0));
/// ```
/// # Source
/// Myers 1940; Siegel and Swanson 2004, chapter 7.
#[must_use]
pub fn myers(years: &[f64]) -> Option<f64> {
    let years = years.get(..90)?;
    // Seven decades each.
    let sum = |digit: usize, from: usize| -> f64 {
        let ages = (from + digit..from + 70).step_by(10);
        ages.map(|age| years[age]).sum()
    };
    let blended: [f64; 10] = std::array::from_fn(|digit| {
        let first = (digit + 1) as f64;
        // Ages from 10 to 79 and from 20 to 89.
        first * sum(digit, 10) + (10.0 - first) * sum(digit, 20)
    });
    let total: f64 = blended.iter().sum();
    let off = blended.map(|b| (100.0 * b / total - 10.0).abs());
    (total > 0.0).then(|| 0.5 * off.iter().sum::<f64>())
}

/// How many times as many are in five-year bands that begin at a multiple of ten as in the mean of
/// their neighbours, from 30 to 65, on average; of ages that are not heaped about 1. None where
/// bands are others.
///
/// # Arguments
/// * `edges` - ascending, one more than counts
#[must_use]
pub fn five_year_ratio(edges: &[f64], counts: &[f64]) -> Option<f64> {
    let all = compared(edges, counts)?;
    let ratio = |&b: &usize| 2.0 * counts[b] / (counts[b - 1] + counts[b + 1]);
    Some(all.iter().map(ratio).sum::<f64>() / all.len() as f64)
}

/// Five-year bands that are compared with their neighbours: three at least.
fn compared(edges: &[f64], counts: &[f64]) -> Option<Vec<usize>> {
    if edges.len() != counts.len() + 1 {
        return None;
    }
    let is_five = |b: usize| edges[b + 1] - edges[b] == 5.0;
    let inner = 1..counts.len().checked_sub(1)?;
    let all: Vec<usize> = inner
        .filter(|&b| edges[b] >= COMPARED.0 && edges[b] < COMPARED.1 && edges[b] % 10.0 == 0.0)
        .collect();
    let can = all.iter().all(|&b| {
        is_five(b - 1) && is_five(b) && is_five(b + 1) && counts[b - 1] + counts[b + 1] > 0.0
    });
    (all.len() >= 3 && can).then_some(all)
}

/// By how many sds of chance (Poisson) compared bands hold more than their neighbours.
///
/// # Arguments
/// * `sampled` - how many were asked per one that is counted
fn excess(compared: &[usize], counts: &[f64], sampled: f64) -> f64 {
    let mut factors = vec![0.0; counts.len()];
    for &b in compared {
        factors[b] += 1.0;
        factors[b - 1] -= 0.5;
        factors[b + 1] -= 0.5;
    }
    let each = || factors.iter().zip(counts);
    let more: f64 = each().map(|(c, n)| c * n).sum();
    let variance: f64 = each().map(|(c, n)| c * c * n / sampled).sum();
    if variance > 0.0 {
        more / variance.sqrt()
    } else {
        0.0
    }
}

/// Warnings of heaped ages, where they are more than chance makes.
///
/// # Arguments
/// * `sampled` - how many were asked per one that is counted
pub(super) fn heaped(edges: &[f64], counts: &[f64], sampled: f64) -> Option<Warning> {
    if let Some(single) = years(edges, counts, 63) {
        let whipple = whipple(&single).filter(|index| *index >= ROUGH)?;
        // One year of five, by chance: binomial.
        let asked = sampled * single[23..].iter().sum::<f64>();
        let chance = 500.0 * (0.16 / asked).sqrt();
        let is_beyond = whipple - 100.0 > CHANCE * chance;
        return is_beyond.then_some(Warning::HeapedYears { whipple });
    }
    let ratio = five_year_ratio(edges, counts).filter(|ratio| *ratio >= UNEVEN)?;
    let compared = compared(edges, counts)?;
    let is_beyond = excess(&compared, counts, sampled) > CHANCE;
    is_beyond.then_some(Warning::HeapedBands { ratio })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Poisson};

    use super::*;

    #[test]
    fn heaps_are_seen() {
        let mut years: Vec<f64> = (0..100).map(|age| 1000.0 - 5.0 * f64::from(age)).collect();
        let before = whipple(&years).unwrap();
        // A slope of half a percent a year moves it by less than one.
        assert!((before - 100.0).abs() < 1.0, "{before}");
        // Blending takes a slope away: what is left is rounding.
        assert!(myers(&years).unwrap() < 1e-12);
        for age in (10..100).step_by(5) {
            let moved = 0.5 * years[age - 1];
            years[age] += moved;
            years[age - 1] -= moved;
        }
        let index = whipple(&years).unwrap();
        // A half of the year before: 1.5 of 5 fifths.
        assert!((index - 150.0).abs() < 2.0, "{index}");
        // Two digits of ten have a half too many.
        assert!((myers(&years).unwrap() - 10.0).abs() < 0.5);
        let edges: Vec<f64> = (0..=100).map(f64::from).collect();
        assert!(matches!(
            heaped(&edges, &years, 1.0),
            Some(Warning::HeapedYears { .. })
        ));
    }

    #[test]
    fn bands_that_alternate_are_seen() {
        let edges: Vec<f64> = (0..=17).map(|b| 5.0 * f64::from(b)).collect();
        let smooth: Vec<f64> = (0..17).map(|b| 900.0 - 40.0 * f64::from(b)).collect();
        // Some roundings of a ratio of sums of seventeen terms.
        assert!((five_year_ratio(&edges, &smooth).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(heaped(&edges, &smooth, 1.0), None);
        let uneven = smooth.iter().enumerate();
        let uneven: Vec<f64> = uneven
            .map(|(b, x)| if b % 2 == 0 { 1.2 * x } else { *x })
            .collect();
        let Some(Warning::HeapedBands { ratio }) = heaped(&edges, &uneven, 1.0) else {
            unreachable!()
        };
        // As above.
        assert!((ratio - 1.2).abs() < 1e-12);
        let ten: Vec<f64> = (0..=10).map(|b| 10.0 * f64::from(b)).collect();
        assert_eq!(five_year_ratio(&ten, &[1.0; 10]), None);
    }

    /// Even populations, drawn by chance: three sds are passed by one in 740.
    #[test]
    fn chance_alone_is_no_heap() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        for (bands, width) in [(18, 5), (85, 1)] {
            let edges: Vec<f64> = (0..=bands).map(|b| f64::from(b * width)).collect();
            for people in [50.0, 200.0, 1000.0, 5000.0] {
                let each = Poisson::new(people / f64::from(bands)).unwrap();
                let warned = (0..1000).filter(|_| {
                    let counts: Vec<f64> = (0..bands).map(|_| each.sample(&mut random)).collect();
                    heaped(&edges, &counts, 1.0).is_some()
                });
                let warned = warned.count();
                // 1.35 are expected, and small counts are a little skewed.
                assert!(warned <= 8, "{bands} {people}: {warned}");
            }
        }
    }

    /// Counts that were blown up from a sample are as uncertain as the sample.
    #[test]
    fn heaps_of_a_sample_are_held_against_its_size() {
        let edges: Vec<f64> = (0..=17).map(|b| 5.0 * f64::from(b)).collect();
        let counts: Vec<f64> = (0..17)
            .map(|b| 1000.0 + 200.0 * f64::from(1 - b % 2))
            .collect();
        assert!(heaped(&edges, &counts, 1.0).is_some());
        assert!(heaped(&edges, &counts, 0.3).is_some());
        assert!(heaped(&edges, &counts, 0.05).is_none());
    }
}
