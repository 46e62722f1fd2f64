//! What `--check mcmc` found of densities, on the terminal.

use quadrat_study::density::checked::CheckedPart;
use quadrat_study::diagnostic::Paint;
use quadrat_study::numbers::{count, human};
use quadrat_study::words::clean;

use crate::check::{agreement, heading, hyperparameters, trust};

/// Every estimate beside its draws.
pub fn text(parts: &[CheckedPart], paint: Paint) -> String {
    parts.iter().map(|part| one(part, paint)).collect()
}

fn one(CheckedPart { group, check }: &CheckedPart, paint: Paint) -> String {
    let of = match group.as_str() {
        "" => String::new(),
        group => format!(" of {}", clean(group)),
    };
    let draws = (check.chains, check.draws, check.divergences);
    let mut lines = vec![
        String::new(),
        paint.bold(&heading(&of, draws, check.seconds)),
    ];
    lines.extend(hyperparameters(&check.hyperparameters, paint));
    let of_cells = format!("log density of {}", count(check.cells.len(), "cell"));
    lines.extend(agreement(&of_cells, &check.log_density, |cell| {
        let place: Vec<String> = check.places[cell].iter().map(|x| human(*x)).collect();
        format!(" (at {})", place.join(", "))
    }));
    lines.push(trust(check.worst_r_hat(), check.smallest_effective_size()));
    lines.push(String::new());
    lines.join("\n")
}
