//! Fewer points that stand for all of a row.

use super::Functionals;

impl Functionals {
    /// The same rows with at most `most` atoms each.
    ///
    /// Of longer ones a systematic sample with chances in proportion to the sizes of the weights:
    /// with `W = sum_i |w_i|` and `K = most`, the atoms in which the running sum of sizes passes
    /// `(k + 1/2) W / K`, each with a weight of the size `W / K` for every time. Sums over the
    /// sample estimate those over the row, and their sizes agree.
    pub(crate) fn thinned(&self, most: usize) -> Self {
        let mut out = Self::new(self.dims.clone());
        // The part of a set that is kept, row by row: only weights differ.
        let mut kept = Vec::new();
        for row in 0..self.len() {
            let atoms = self.atoms(row);
            if atoms.len() <= most {
                kept.extend(atoms.map(|atom| (atom, self.weight[atom])));
                out.offsets.push(kept.len());
                continue;
            }
            let total: f64 = self.weight[atoms.clone()].iter().map(|w| w.abs()).sum();
            let each = total / most as f64;
            let (mut passed, mut sum) = (0, 0.0);
            for atom in atoms {
                let weight = self.weight[atom];
                sum += weight.abs();
                let upto = ((sum / each + 0.5) as usize).min(most);
                if upto > passed {
                    kept.push((atom, weight.signum() * (upto - passed) as f64 * each));
                    passed = upto;
                }
            }
            out.offsets.push(kept.len());
        }
        for d in 0..self.dims.len() {
            let along = |all: &[f64]| kept.iter().map(|(atom, _)| all[*atom]).collect::<Vec<_>>();
            out.lower[d] = along(&self.lower[d]).into();
            out.width[d] = along(&self.width[d]).into();
        }
        out.weight = kept.iter().map(|(_, weight)| *weight).collect();
        out.region = kept.iter().map(|(atom, _)| self.region[*atom]).collect();
        out.regions.clone_from(&self.regions);
        out
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn heavy_points_are_kept_and_sums_estimated() {
        let mut set = Functionals::new(vec!["x".into()]);
        let places: Vec<Vec<f64>> = (0..1000).map(|i| vec![f64::from(i) / 1000.0]).collect();
        let weights: Vec<f64> = (0..1000)
            .map(|i| {
                if i == 400 {
                    500.0
                } else {
                    0.5 + f64::from(i % 2)
                }
            })
            .collect();
        set.push_point(&[3.0]).unwrap();
        set.push_nodes(&places, &weights).unwrap();
        let thin = set.thinned(50);
        assert_eq!((thin.len(), thin.rows(&[0])), (2, set.rows(&[0])));
        let sum = |set: &Functionals, f: &dyn Fn(f64) -> f64| -> f64 {
            set.atoms(1)
                .map(|a| set.weight()[a] * f(set.lower(0)[a]))
                .sum()
        };
        let kept = thin.atoms(1).len();
        assert!(kept <= 50, "{kept}");
        // The heavy point stands for a third of the row, and so for sixteen or seventeen of the
        // fifty.
        let heavy = thin.atoms(1).find(|&a| thin.lower(0)[a] == 0.4).unwrap();
        assert!(
            (thin.weight()[heavy] - 500.0).abs() <= 30.0,
            "{}",
            thin.weight()[heavy]
        );
        // A thousand weights of 1500 in all: n eps 1500 = 3e-10.
        assert!((sum(&thin, &|_| 1.0) - sum(&set, &|_| 1.0)).abs() < 1e-9);
        // A systematic sample of fifty of a smooth function: a fiftieth of its range at worst.
        let smooth = |x: f64| (3.0 * x).exp();
        let (got, want) = (sum(&thin, &smooth), sum(&set, &smooth));
        assert!((got - want).abs() < 0.02 * want, "{got} {want}");
    }

    #[test]
    fn signs_of_weights_are_kept() {
        let mut set = Functionals::new(vec!["x".into()]);
        let places: Vec<Vec<f64>> = (0..100).map(|i| vec![f64::from(i)]).collect();
        let weights: Vec<f64> = (0..100).map(|i| if i < 50 { 1.0 } else { -3.0 }).collect();
        set.push_nodes(&places, &weights).unwrap();
        let thin = set.thinned(20);
        for atom in thin.atoms(0) {
            assert_eq!(thin.weight()[atom] < 0.0, thin.lower(0)[atom] >= 50.0);
        }
        let size: f64 = thin.weight().iter().map(|w| w.abs()).sum();
        // A hundred weights of 200 in all: n eps 200 = 4e-12.
        assert!((size - 200.0).abs() < 1e-9);
    }
}
