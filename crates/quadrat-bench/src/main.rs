//! quadrat-bench
fn main() {}
