//! What is asked of the library.

use quadrat::ungroup::Ungroup as Builder;

use crate::study::ungroup::Ungroup;

/// The builder with what is said of it on the command line.
pub fn configured<'a>(args: &Ungroup, lower: &'a [f64], upper: &'a [f64]) -> Builder<'a> {
    let mut out = Builder::new(lower, upper)
        .log(args.log)
        .sampled(args.sampled)
        .level(args.level)
        .seed(args.seed);
    if let Some(first) = args.first {
        out = out.first(first);
    }
    if let Some(last) = args.last {
        out = out.last(last);
    }
    if let Some(tail) = args.tail {
        out = out.tail(tail);
    }
    if let Some(step) = args.step {
        out = out.step(step);
    }
    if !args.edges.is_empty() {
        out = out.edges(&args.edges);
    }
    out
}
