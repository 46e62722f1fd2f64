//! Exact amounts behind a link: totals beside all their parts follow from them, as sums and as
//! averages, in every order, unit and shape.

use quadrat::error::FitError;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Gaussian;
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Model, Noise, Observations, RedundantRow, Scale,
};
use quadrat::support::{Aggregate, Functionals, Polygon, Region};

const LINKS: [Link; 3] = [Link::Identity, Link::Exp, Link::Softplus];

fn exact(supports: Functionals, values: Vec<f64>, link: Link) -> Observations {
    let noise = Noise::Known(vec![0.0; values.len()]);
    let values = Gaussian::new(values, noise).unwrap().behind(link).unwrap();
    Observations::new(supports, values).unwrap()
}

/// The inputs of a shape.
fn inputs(shape: &str) -> &'static str {
    match shape {
        "regions" => "x, y",
        _ => "t",
    }
}

/// One of two pieces, of which the second is three times as large, or their union.
fn piece(shape: &str, unit: f64, i: usize, how: Aggregate) -> Functionals {
    let (a, b) = [(0.0, unit), (unit, 4.0 * unit), (0.0, 4.0 * unit)][i];
    match shape {
        "boxes" => Functionals::intervals("t", &[(a, b)], how).unwrap(),
        "regions" => {
            let ring = vec![[a, 0.0], [b, 0.0], [b, unit], [a, unit]];
            let region = Region::from(Polygon::new(vec![vec![ring]]).unwrap());
            let mut set = Functionals::new(vec!["x".into(), "y".into()]);
            set.push_region(region, how).unwrap();
            set
        }
        _ => {
            let (from, to) = [(0, 1), (1, 4), (0, 4)][i];
            let weight = match how {
                Aggregate::Sum => unit,
                _ => 1.0 / f64::from(to - from),
            };
            let points: Vec<Vec<f64>> = (from..to).map(|t| vec![f64::from(t)]).collect();
            let mut set = Functionals::new(vec!["t".into()]);
            set.push_nodes(&points, &vec![weight; points.len()])
                .unwrap();
            set
        }
    }
}

/// What a row over a piece reports where the parts have densities of 3 and 5.
fn value(i: usize, how: Aggregate, size: &Functionals) -> f64 {
    let density = [3.0, 5.0, 4.5][i];
    match how {
        Aggregate::Sum => density * size.size(0),
        _ => density,
    }
}

/// The rows that follow, of tables of one row each.
fn found(kernel: &str, rows: Vec<Observations>) -> Result<Vec<RedundantRow>, FitError> {
    let mut model = Model::new(Kernel::parse(kernel).unwrap());
    for row in rows {
        model = model.observe(row);
    }
    model.redundant_rows()
}

#[test]
fn totals_of_amounts_follow_from_their_parts_in_every_measure_order_and_unit() {
    let orders = [[0, 1, 2], [2, 0, 1], [1, 2, 0]];
    let measures = [Aggregate::Sum, Aggregate::Mean];
    for (shape, unit) in ["boxes", "regions", "bags"]
        .into_iter()
        .flat_map(|shape| [1e-6, 1.0, 1e9].map(|unit| (shape, unit)))
    {
        for link in LINKS {
            // The measures of both parts and of the total.
            for which in 0..8_usize {
                let how = |i: usize| measures[(which >> i) & 1];
                for (order, factor) in orders.into_iter().flat_map(|o| [(o, 1.0), (o, 2.0)]) {
                    let piece = |i: usize, how: Aggregate| piece(shape, unit, i, how);
                    let row = |&i: &usize| {
                        let set = piece(i, how(i));
                        let value = value(i, how(i), &set);
                        let wrong = if i == 2 { factor } else { 1.0 };
                        exact(set, vec![wrong * value], link)
                    };
                    let name = format!("{shape} {unit} {link:?} {which} {order:?}");
                    let rows = order.iter().map(row).collect();
                    let told = found(&format!("matern32({})", inputs(shape)), rows);
                    let place = |i: usize| order.iter().position(|o| *o == i).unwrap();
                    if factor == 2.0 {
                        let Err(FitError::Contradiction { row, misfit, .. }) = told else {
                            panic!("{name}: {told:?}");
                        };
                        let whole = piece(2, how(2));
                        let by = value(2, how(2), &whole);
                        assert_eq!(row, place(2), "{name}");
                        // Conditions of some ten, and eps; areas are clipped to 1e-12.
                        assert!((misfit / by - 1.0).abs() < 1e-9, "{name}: {misfit} {by}");
                        continue;
                    }
                    let told = told.unwrap();
                    assert_eq!(told.len(), 1, "{name}: {told:?}");
                    assert_eq!((told[0].row, told[0].misfit), (place(2), 0.0), "{name}");
                    for &(other, c) in &told[0].of {
                        // Of a part in the total: once in sums, its share in averages.
                        let i = order[other];
                        let size = |i: usize| match how(i) {
                            Aggregate::Sum => 1.0,
                            _ => [1.0, 3.0, 4.0][i] * piece(0, Aggregate::Sum).size(0),
                        };
                        let want = size(i) / size(2);
                        assert!((c / want - 1.0).abs() < 1e-9, "{name}: {c} {want}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_total_of_exact_amounts_is_left_out_and_told_as_their_sum() {
    let edges = [(0.0, 1.0), (1.0, 2.0), (0.0, 2.0)];
    let set = || Functionals::intervals("t", &edges, Aggregate::Sum).unwrap();
    for link in [Link::Exp, Link::Softplus] {
        let model = Model::new(Kernel::matern32(["t"]));
        let right = model
            .clone()
            .observe(exact(set(), vec![3.0, 5.0, 8.0], link));
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let posterior = right.fit(&options).unwrap();
        let warnings = &posterior.summary().warnings;
        assert!(
            warnings[0].starts_with("1 exact row follows"),
            "{warnings:?}"
        );
        let told = posterior.predict(&set(), Scale::Response).unwrap();
        for (mean, value) in told.mean().iter().zip([3.0, 5.0, 8.0]) {
            // Draws meet exact rows to 1e-9 of them.
            assert!((mean / value - 1.0).abs() < 1e-6, "{mean} {value}");
        }
        let wrong = model.observe(exact(set(), vec![3.0, 5.0, 4.0], link));
        let refused = wrong.fit(&options);
        assert!(
            matches!(refused, Err(FitError::Contradiction { row: 2, misfit, .. }) if (misfit - 4.0).abs() < 1e-9),
            "{refused:?}"
        );
    }
}

#[test]
fn behind_a_link_sums_of_functions_of_one_input_each_do_not_tell_a_corner() {
    let corners = [
        [(0.0, 1.0), (0.0, 1.0)],
        [(0.0, 1.0), (1.0, 2.0)],
        [(1.0, 2.0), (0.0, 1.0)],
        [(1.0, 2.0), (1.0, 2.0)],
    ];
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    for corner in &corners {
        set.push_box(corner, Aggregate::Sum).unwrap();
    }
    let rows = |link| vec![exact(set.clone(), vec![1.0, 2.0, 4.0, 5.0], link)];
    let told = found("se(x) + se(y)", rows(Link::Identity)).unwrap();
    assert_eq!(told.len(), 1);
    // The product of what each input does, and not its sum.
    assert_eq!(found("se(x) + se(y)", rows(Link::Exp)).unwrap(), []);
}

#[test]
fn a_row_without_a_link_says_nothing_of_one_behind_it() {
    let set = || Functionals::intervals("t", &[(0.0, 1.0)], Aggregate::Mean).unwrap();
    let rows = vec![
        exact(set(), vec![1.0], Link::Identity),
        exact(set(), vec![2.0], Link::Exp),
    ];
    assert_eq!(found("se(t)", rows).unwrap(), []);
}

#[test]
fn a_whole_that_holds_less_than_a_part_of_it_is_refused_by_both_rows() {
    let orders = [[0, 1], [1, 0]];
    for (shape, unit) in [("boxes", 1e-6), ("boxes", 1e9), ("regions", 1.0)] {
        for (measures, order) in [0, 1, 2, 3]
            .into_iter()
            .flat_map(|m| orders.map(|o| (m, o)))
        {
            let how = |i: usize| [Aggregate::Sum, Aggregate::Mean][(measures >> i) & 1];
            // The second piece, and the union with the first, which nothing else tells of.
            let set = |i: usize| piece(shape, unit, i + 1, how(i));
            for (part, is_right) in [(0.9, true), (1.0, false), (1.5, false)] {
                // Of a whole of one, in the measure of each.
                let volume = |i: usize| piece(shape, unit, i + 1, Aggregate::Sum).size(0);
                let value = |i: usize| {
                    let total = [part, 1.0][i] * volume(1);
                    total * set(i).size(0) / volume(i)
                };
                for link in [Link::Exp, Link::Softplus] {
                    let row = |&i: &usize| exact(set(i), vec![value(i)], link);
                    let told = found(
                        &format!("matern32({})", inputs(shape)),
                        order.iter().map(row).collect(),
                    );
                    let name = format!("{shape} {unit} {measures} {order:?} {part} {link:?}");
                    if is_right {
                        assert_eq!(told.unwrap(), [], "{name}");
                        continue;
                    }
                    let Err(FitError::Contradiction {
                        row,
                        misfit,
                        partner,
                    }) = told
                    else {
                        panic!("{name}: {told:?}");
                    };
                    assert_eq!((order[row], order[partner]), (1, 0), "{name}");
                    if part == 1.0 {
                        assert_eq!(misfit, 0.0, "{name}");
                        continue;
                    }
                    // Areas are clipped to 1e-12.
                    let by = misfit / (0.5 * value(1)) - 1.0;
                    assert!(by.abs() < 1e-9, "{name}: {misfit}");
                }
            }
        }
    }
    // Parts that lie apart are added up; those that overlap are not.
    let at = |edges: &[(f64, f64)], values: &[f64]| {
        let set = Functionals::intervals("t", edges, Aggregate::Sum).unwrap();
        found("se(t)", vec![exact(set, values.to_vec(), Link::Exp)])
    };
    let edges = [(0.0, 1.0), (2.0, 3.0), (0.5, 1.5), (0.0, 4.0)];
    assert_eq!(at(&edges, &[2.0, 2.0, 2.0, 5.0]).unwrap(), []);
    assert!(at(&edges, &[2.0, 4.0, 2.0, 5.0]).is_err());
    // All of the whole leaves nothing to what is between them.
    assert!(at(&edges, &[2.0, 3.0, 2.0, 5.0]).is_err());
    // Values that may be negative contradict nothing.
    let set = Functionals::intervals("t", &edges[..2], Aggregate::Sum).unwrap();
    let free = vec![exact(set, vec![5.0, 2.0], Link::Identity)];
    assert_eq!(found("se(t)", free).unwrap(), []);
}
