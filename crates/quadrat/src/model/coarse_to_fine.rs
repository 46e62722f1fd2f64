//! Where the starts compete: on problems that cost less than the one to be solved.

use super::Model;
use crate::error::FitError;
use crate::inference::{Evidence, LearnOptions, Optimum, explore, maximise};
use crate::kernel::Role;
use crate::problem::assembly::Problem;
use crate::problem::settings::Inference;

/// Lengthscales that differ by more than this factor are of two optima.
const ELSEWHERE: f64 = 4.0;
/// A lengthscale of a periodic leaf under which every phase of a cycle is nearly on its own.
const SHARP: f64 = 0.05;

/// Lets the starts compete, and moves those of the problem to the winner; `learn` then has a start
/// less to search from.
///
/// * Noise variances and dispersions that are functions are first numbers: that changes the
///   hyperparameters of the first latent function little, and leaves one search of the dear
///   problem.
/// * Many rows are first thinned.
///
/// Returns the evaluations it took, and where the search is to begin besides.
///
/// # Errors
/// As [`maximise`].
pub(super) fn coarse_to_fine(
    model: &Model,
    problem: &mut Problem,
    inference: Inference,
    learn: &mut LearnOptions<'_>,
) -> Result<(usize, Vec<Vec<f64>>), FitError> {
    let mut evaluations = 0;
    let mut rivals = Vec::new();
    let mut coarse_to_fine =
        |easier: &Problem, problem: &mut Problem, learn: &mut LearnOptions<'_>| {
            let mut rough = *learn;
            relax(&mut rough);
            let (theta, cost) = match contest(easier, &rough, Vec::new(), explore) {
                // Then all starts compete on the problem itself.
                Err(error) if error.is_recoverable() => return Ok(false),
                found => found?,
            };
            evaluations += cost;
            problem.start_at(&easier.prior().named(&theta));
            learn.starts = 1;
            Ok::<bool, FitError>(true)
        };
    if learn.starts == 1 {
        return Ok((0, rivals));
    }
    if let Some(constant) = model.with_constant_scale()
        && let Ok(easier) = constant.problem(inference, None)
    {
        let easier = thinned(&constant, &easier).unwrap_or(easier);
        if easier.engine().converges() {
            coarse_to_fine(&easier, problem, learn)?;
        }
    }
    if let Some(easier) = thinned(model, problem) {
        let before = (learn.starts == 1).then(|| starts(problem));
        let was_found = coarse_to_fine(&easier, problem, learn)?;
        // Where rows are few, noise that changes may pass for a curve: the curve of constant noise
        // is the rival, with what was learned of the noise since.
        if let Some(before) = before.filter(|before| is_elsewhere(problem, before)) {
            let of_curve = problem.kernel().parameters().len();
            let since = starts(problem).into_iter().skip(of_curve);
            rivals.push(before.into_iter().take(of_curve).chain(since).collect());
        }
        // Rivals are told apart by searches that go to their ends.
        if was_found && rivals.is_empty() {
            relax(learn);
        }
    }
    Ok((evaluations, rivals))
}

/// A quasi-Newton search takes many small steps at the end; Newton's, or another search, which
/// follow, a few.
fn relax(learn: &mut LearnOptions<'_>) {
    learn.search.gradient_tolerance = 0.1;
    learn.search.relative_reduction = 1e-6;
}

fn starts(problem: &Problem) -> Vec<f64> {
    problem.parameters().iter().map(|p| p.start).collect()
}

/// Whether some lengthscale of the first latent function is another than where searches begin.
fn is_elsewhere(problem: &Problem, theta: &[f64]) -> bool {
    let own = problem.kernel().parameters();
    let pairs = own.iter().zip(problem.parameters().iter().zip(theta));
    let mut lengths = pairs
        .filter(|(own, _)| matches!(own.role, Role::PeriodicLengthscale | Role::Lengthscale(_)));
    lengths.any(|(_, (p, other))| (p.start / other).ln().abs() > ELSEWHERE.ln())
}

/// The best optimum of all starts. Where these are several, every lengthscale of a periodic leaf of
/// the first latent function that is free also begins short, one at a time: cycles of sharp peaks
/// are an optimum of their own, which few searches among smooth cycles find; so do the starts that
/// the data suggest besides ([`Problem::besides`]). `rivals` are further starts.
///
/// # Errors
/// As [`maximise`], in the rows of the user.
pub(super) fn compete(
    problem: &Problem,
    learn: &LearnOptions<'_>,
    rivals: Vec<Vec<f64>>,
) -> Result<Optimum, FitError> {
    contest(problem, learn, rivals, maximise)
}

/// What `search` makes of all starts.
fn contest<T>(
    problem: &Problem,
    learn: &LearnOptions<'_>,
    rivals: Vec<Vec<f64>>,
    search: impl FnOnce(&dyn Evidence, &LearnOptions<'_>) -> Result<T, FitError>,
) -> Result<T, FitError> {
    let mut also = rivals;
    if learn.starts > 1 {
        also.extend(problem.besides.iter().chain(&problem.cycles).cloned());
        also.extend(sharp_starts(problem));
    }
    let learn = LearnOptions {
        also: &also,
        ..*learn
    };
    search(&*problem.evidence()?, &learn).map_err(|e| problem.in_user_rows(e))
}

fn sharp_starts(problem: &Problem) -> Vec<Vec<f64>> {
    let first = problem.cycles.first().cloned();
    let first = first.unwrap_or_else(|| starts(problem));
    let sharp = SHARP.max(problem.engine().least_periodic().unwrap_or(0.0));
    let own = problem
        .kernel()
        .parameters()
        .iter()
        .zip(problem.parameters());
    own.enumerate()
        .filter(|(_, (own, p))| {
            let is_free = !p.fixed && p.lower <= sharp && sharp < p.upper;
            matches!(own.role, Role::PeriodicLengthscale) && is_free
        })
        .map(|(i, _)| {
            let mut theta = first.clone();
            theta[i] = sharp;
            theta
        })
        .collect()
}

/// Fewer of the rows; `None` where they are few.
fn thinned(model: &Model, problem: &Problem) -> Option<Problem> {
    let (from, to) = problem.engine().thinned()?;
    if problem.rows() <= from {
        return None;
    }
    // The rows that are left may say too little: then all compete.
    let thinned = problem.thinned(&model.tables, to).ok();
    thinned.filter(|problem| problem.engine().converges())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::likelihood::Noise;
    use crate::problem::observations::Observations;
    use crate::support::Functionals;

    #[test]
    fn every_periodic_lengthscale_also_begins_short() -> Result<(), FitError> {
        let kernel =
            Kernel::se(["t"]) * Kernel::periodic("t", Some(7.0)) + Kernel::periodic("t", Some(2.0));
        let places = Functionals::points("t", &[0.0, 1.0, 2.5, 4.0, 9.0])?;
        let table = Observations::gaussian(places, vec![1.0, 2.0, 0.5, 1.1, 3.0], Noise::Learned)?;
        let model = Model::new(kernel).observe(table);
        let names = ["periodic.lengthscale.t", "periodic#2.lengthscale.t"];
        let changed = |model: &Model| -> Result<Vec<String>, FitError> {
            let problem = model.problem(Inference::Auto, None)?;
            let changed = sharp_starts(&problem).into_iter().map(|theta| {
                let each = problem.parameters().iter().zip(&theta);
                let other: Vec<_> = each.filter(|(p, value)| p.start != **value).collect();
                assert_eq!(other.len(), 1);
                other[0].0.name.clone()
            });
            Ok(changed.collect())
        };
        assert_eq!(changed(&model)?, names);
        let held = model.set(names[0], crate::model::Setting::fixed(1.0));
        assert_eq!(changed(&held)?, names[1..]);
        Ok(())
    }

    /// Of several lengthscales one far away is enough; variances do not count.
    #[test]
    fn a_rival_has_another_lengthscale() -> Result<(), FitError> {
        let kernel = Kernel::se(["t"]) + Kernel::periodic("t", Some(7.0));
        let places = Functionals::points("t", &[0.0, 1.0, 2.5, 4.0, 9.0])?;
        let table = Observations::gaussian(places, vec![1.0, 2.0, 0.5, 1.1, 3.0], Noise::Learned)?;
        let problem = Model::new(kernel)
            .observe(table)
            .problem(Inference::Auto, None)?;
        let with = |name: &str, factor: f64| {
            let moved = problem.parameters().iter().map(|p| match p.name == name {
                true => p.start * factor,
                false => p.start,
            });
            is_elsewhere(&problem, &moved.collect::<Vec<f64>>())
        };
        assert!(with("periodic.lengthscale.t", 0.1) && with("se.lengthscale.t", 5.0));
        assert!(!with("periodic.lengthscale.t", 0.5) && !with("se.variance", 100.0));
        Ok(())
    }

    /// A wave on a trend: a search from long lengthscales takes the wave for noise, and one that is
    /// given a rival ends where the rival leads.
    #[test]
    fn a_rival_that_is_better_wins() -> Result<(), FitError> {
        let t: Vec<f64> = (0..60).map(|i| 0.1 * f64::from(i)).collect();
        let y = t
            .iter()
            .map(|t| t + 0.6 * (5.0 * t).sin() + 0.1 * (37.0 * t).sin());
        let y = Observations::gaussian(Functionals::points("t", &t)?, y.collect(), Noise::Learned)?;
        let mut problem = Model::new(Kernel::se(["t"]))
            .observe(y)
            .problem(Inference::Auto, None)?;
        let length = problem.kernel().parameters().iter();
        let length = length.take_while(|p| p.name != "se.lengthscale.t").count();
        let mut rival = starts(&problem);
        rival[length] = 0.3;
        let name = problem.parameters()[length].name.clone();
        problem.start_at(&[(name, 30.0)]);
        let learn = LearnOptions {
            starts: 1,
            ..LearnOptions::default()
        };
        let alone = compete(&problem, &learn, Vec::new())?;
        let both = compete(&problem, &learn, vec![rival])?;
        let (smooth, waves) = (alone.theta[length], both.theta[length]);
        assert!(smooth > 2.0 && waves < 1.0, "{smooth} {waves}");
        assert!(both.log_posterior > alone.log_posterior + 5.0);
        assert_eq!(both.starts.len(), 2);
        Ok(())
    }

    /// What goes wrong on fewer rows is told of the rows of the tables.
    #[test]
    fn errors_of_thinned_tables_name_the_rows_of_the_whole() -> Result<(), FitError> {
        let table = |places: &[f64], values| {
            let places = Functionals::points("x", places)?;
            Observations::gaussian(places, values, Noise::Known(vec![0.0; 30]))
        };
        let apart: Vec<f64> = (0..30).map(|i| f64::from(5 * i)).collect();
        let model = Model::new(Kernel::se(["x"]))
            .observe(table(&apart, vec![1.0; 30])?)
            // One place, thirty values, no noise.
            .observe(table(&[7.0; 30], (0..30).map(f64::from).collect())?);
        let problem = model.problem(Inference::Auto, None)?;
        let theta: Vec<f64> = problem.parameters().iter().map(|p| p.start).collect();
        let thinned = problem.thinned(&model.tables, 12)?;
        assert_eq!(thinned.rows(), 12);
        match thinned.condition(&theta).map(|_| ()) {
            Err(FitError::Contradiction { row, partner, .. }) => {
                // Every fifth row of the second table.
                let ours = |row: usize| row >= 30 && row.is_multiple_of(5);
                assert!(ours(row) && ours(partner), "{row} {partner}");
            }
            other => panic!("{other:?}"),
        }
        Ok(())
    }
}
