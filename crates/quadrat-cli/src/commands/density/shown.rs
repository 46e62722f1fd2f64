//! Figures and the summary of an estimate of any form.

use quadrat_plot::Figure;
use quadrat_study::density::Estimated;
use quadrat_study::diagnostic::Paint;

use super::{given, groups, line, plane};

/// The figures, the main one first.
pub fn figures(of: &Estimated) -> Vec<Figure> {
    match of {
        Estimated::Line(of) => line::figures(of),
        Estimated::Plane(of) => plane::figures(of),
        Estimated::Given(of) => given::figure::figures(of),
        Estimated::Groups(of) => groups::figures(of),
        Estimated::GroupsGiven(of) => groups::given::figures(of),
    }
}

/// The summary for a terminal.
pub fn summary(of: &Estimated, paint: Paint) -> String {
    match of {
        Estimated::Line(of) => line::summary(of, paint),
        Estimated::Plane(of) => plane::summary(of, paint),
        Estimated::Given(of) => given::summary(of, paint),
        Estimated::Groups(of) => groups::summary(of, paint),
        Estimated::GroupsGiven(of) => groups::given::summary(of, paint),
    }
}
