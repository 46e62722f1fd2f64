use super::passes::Passes;
use super::stream::Stream;
use crate::error::FitError;
use crate::inference::sparse::sums::Depth;
use crate::inference::sparse::sums::Sums;
use crate::inference::sparse::testing::{Toy, some_normal};
use crate::inference::sparse::{LogSum, Normal, Within};
use crate::likelihood::Poisson;
use crate::link::Link;

/// Counts over sums of points, behind two links, some rows by a sample of their points.
fn toy() -> Toy {
    let within = Within {
        full: 6,
        sample: 4,
        seed: 3,
    };
    let table = |link: Link, rows: usize| {
        let counts = (0..rows).map(|i| (i % 5) as f64).collect();
        let sizes = (0..rows).map(|i| 1 + 4 * (i % 3)).collect();
        let rows = Poisson::new(counts, vec![1.5; rows], link).unwrap();
        (Box::new(rows) as _, link, sizes)
    };
    let tables = vec![table(Link::Exp, 40), table(Link::Softplus, 17)];
    Toy::new(tables, within, 8, None, 1e-6)
}

/// Asks others: what goes to them and what comes back are bytes.
struct ByLetter<'a>(&'a Stream<'a>);

fn by_letter(q: &Normal) -> Normal {
    postcard::from_bytes(&postcard::to_allocvec(q).unwrap()).unwrap()
}

impl Passes for ByLetter<'_> {
    fn sums(&self, q: &Normal, depth: Depth) -> Result<Vec<Sums>, FitError> {
        let q = by_letter(q);
        let reply = postcard::to_allocvec(&self.0.sums(&q, depth)?).unwrap();
        Ok(postcard::from_bytes(&reply).unwrap())
    }
}

#[test]
fn sums_that_were_written_down_give_the_same_bound() {
    let toy = toy();
    let theta = toy.theta();
    let stream = Stream::new(&toy, &theta, LogSum::Matched, 0).unwrap();
    let (mean, lower) = some_normal(6);
    // A belief is written as its precision, whose factor is taken anew where it is read.
    let q = by_letter(&Normal::from_covariance_factor(&mean, lower.as_ref()).unwrap());
    for depth in [Depth::Value, Depth::Sites, Depth::All] {
        let here = stream.run(&q, depth).unwrap();
        let there = ByLetter(&stream).sums(&q, depth).unwrap();
        let there = stream.bound(&q, depth, there);
        // Numbers are written to the last bit.
        assert_eq!(here.value, there.value, "{depth:?}");
        assert_eq!(here.in_mean, there.in_mean, "{depth:?}");
        assert_eq!(here.in_covariance, there.in_covariance, "{depth:?}");
        assert_eq!(here.gradient, there.gradient, "{depth:?}");
    }
}

#[test]
fn what_is_left_out_of_the_sums_is_missing_in_the_bound() {
    let toy = toy();
    let theta = toy.theta();
    let stream = Stream::new(&toy, &theta, LogSum::Matched, 0).unwrap();
    let (mean, lower) = some_normal(6);
    let q = Normal::from_covariance_factor(&mean, lower.as_ref()).unwrap();
    let sums = stream.sums(&q, Depth::All).unwrap();
    assert!(sums.len() > 2, "{} groups", sums.len());
    let whole = stream.bound(&q, Depth::All, sums.clone());
    for part in 0..sums.len() {
        let mut some = sums.clone();
        let lost = some.remove(part);
        let bound = stream.bound(&q, Depth::All, some);
        assert!(lost.value != 0.0 && lost.gradient.iter().any(|g| *g != 0.0));
        // A sum of a hundred terms of about one, so that 1e-10 is far above its rounding.
        assert!((whole.value - bound.value - lost.value).abs() < 1e-10);
        assert!(whole.gradient != bound.gradient);
    }
}
