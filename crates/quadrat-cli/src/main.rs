//! quadrat-cli
fn main() {}
