//! Every likelihood under one contract.

#![allow(clippy::unwrap_used)]

mod brute;
mod by_draws;
mod continuous;
mod contract;
mod counts;
mod positive;
mod refused;
mod rejected;

/// Likelihoods that have no case among the names of those that run.
fn without_a_case<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let cases = [
        include_str!("continuous.rs"),
        include_str!("counts.rs"),
        include_str!("positive.rs"),
    ]
    .concat();
    let has_case = |name: &&&str| {
        let begins = |name: &str| cases.contains(&format!("\"{name}"));
        begins(name) || begins(&name.replace('_', " "))
    };
    names
        .iter()
        .filter(|name| !has_case(name))
        .copied()
        .collect()
}

#[test]
fn every_likelihood_is_under_contract() {
    let none: [&str; 0] = [];
    assert_eq!(without_a_case(quadrat::likelihood::Likelihood::NAMES), none);
    assert_eq!(without_a_case(&["poisson", "weibull"]), ["weibull"]);
}
