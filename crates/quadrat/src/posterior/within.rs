//! Observed rows that hold a place: after a link nothing is below zero, so that what lies inside
//! rows is no more than these rows are in all.

use crate::support::Functionals;

/// How far a place may reach beyond a row, in widths of the row: edges are rounded.
const ROUNDED: f64 = 1e-9;

/// Rows that cover a place, each with a factor: the total over the place is at most the sum of
/// factor times the row's average, since nothing after the link is negative.
pub(crate) type Holding = Vec<(usize, f64)>;

/// The rows that hold one place; none where a part of it lies in no row, or where places or rows
/// are no boxes.
///
/// Rows overlap as a rule only where one is the total of others, so that the smallest one that
/// holds a piece of the place says the most of it.
///
/// # Arguments
/// * `observed` - rows as averages
/// * `place` - one row, whose boxes are cut where observed rows end
pub(crate) fn holding(observed: &Functionals, place: &Functionals) -> Option<Holding> {
    let single = |row: &usize| {
        let atoms = observed.atoms(*row);
        atoms.len() == 1 && observed.region(atoms.start).is_none()
    };
    let rows: Vec<usize> = (0..observed.len()).filter(single).collect();
    let mut found = Holding::new();
    for piece in place.atoms(0) {
        if place.region(piece).is_some() {
            return None;
        }
        let shares = rows.iter().filter_map(|&row| {
            let share = share(observed, observed.atoms(row).start, place, piece)?;
            Some((row, share))
        });
        let (row, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
        // The row at the density with which the piece is weighed.
        let factor = place.weight()[piece] / share;
        match found.iter_mut().find(|(known, _)| *known == row) {
            Some((_, most)) => *most = most.max(factor),
            None => found.push((row, factor)),
        }
    }
    Some(found)
}

/// Which part of a row a piece is, by volume; none where it is not inside, or has no volume there.
fn share(rows: &Functionals, row: usize, places: &Functionals, piece: usize) -> Option<f64> {
    let mut share = 1.0;
    for d in 0..rows.dims().len() {
        let (low, width) = (rows.lower(d)[row], rows.width(d)[row]);
        let (from, own) = (places.lower(d)[piece], places.width(d)[piece]);
        let slack = ROUNDED * width;
        if from < low - slack || from + own > low + width + slack {
            return None;
        }
        if width > 0.0 {
            share *= own / width;
        }
    }
    (share > 0.0).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::Aggregate;

    fn boxes(aggregate: Aggregate, all: &[[(f64, f64); 2]]) -> Functionals {
        let mut set = Functionals::new(vec!["x".into(), "y".into()]);
        for sides in all {
            set.push_box(sides, aggregate).unwrap();
        }
        set
    }

    #[test]
    fn a_place_is_held_by_the_smallest_rows_around_its_pieces() {
        let rows = [
            [(0.0, 10.0), (0.0, 1.0)],
            [(10.0, 30.0), (0.0, 1.0)],
            [(0.0, 30.0), (0.0, 1.0)],
        ];
        let observed = boxes(Aggregate::Mean, &rows);
        let place = |sides| {
            let at = boxes(Aggregate::Sum, &[sides]);
            let cut = at.cut(&observed.ends(0..observed.len()), 100).unwrap();
            holding(&observed, &cut)
        };
        // A quarter of the first row: at most the whole row, of volume 10.
        assert_eq!(place([(2.5, 5.0), (0.0, 1.0)]), Some(vec![(0, 10.0)]));
        assert_eq!(
            place([(5.0, 20.0), (0.0, 1.0)]),
            Some(vec![(0, 10.0), (1, 20.0)])
        );
        assert_eq!(place([(25.0, 31.0), (0.0, 1.0)]), None);
        assert_eq!(place([(2.0, 3.0), (0.0, 1.5)]), None);
    }
}
