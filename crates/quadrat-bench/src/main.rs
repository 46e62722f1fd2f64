//! Benches of quadrat, as ratios in one run.

mod gram;

fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("gram") => gram::run(),
        _ => anyhow::bail!("usage: quadrat-bench gram"),
    }
}
