//! Where the noise comes from.

use std::convert::Infallible;
use std::fmt;

use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha20Rng;

use super::PrivacyError;

/// A stream of random bits for noise: ChaCha20, keyed by the operating system or by a seed.
///
/// Use **one** source for everything that is released together. Two columns released from two
/// sources with the same seed carry the same noise, which their difference removes.
pub struct NoiseSource {
    bits: ChaCha20Rng,
}

// The key must not reach a log.
impl fmt::Debug for NoiseSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoiseSource").finish_non_exhaustive()
    }
}

impl NoiseSource {
    /// Keyed by 256 bits from the operating system: the one to release with.
    ///
    /// # Errors
    /// [`PrivacyError::NoRandomness`].
    pub fn from_os() -> Result<Self, PrivacyError> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| PrivacyError::NoRandomness {
            reason: error.to_string(),
        })?;
        Ok(Self {
            bits: ChaCha20Rng::from_seed(key),
        })
    }

    /// Keyed by a number: the same noise again, on every machine. For studies and tests **only**:
    /// whoever knows or guesses the seed subtracts the noise, so a seed published with a release
    /// voids its privacy, and 64 bits can be searched where the stakes are high.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self {
            bits: ChaCha20Rng::seed_from_u64(seed),
        }
    }
}

impl TryRng for NoiseSource {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.bits.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits.next_u64())
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.bits.fill_bytes(out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_bits_and_the_system_does_not() {
        let bits = |mut source: NoiseSource| [source.next_u64(), source.next_u64()];
        assert_eq!(bits(NoiseSource::seeded(7)), bits(NoiseSource::seeded(7)));
        assert_ne!(bits(NoiseSource::seeded(7)), bits(NoiseSource::seeded(8)));
        // Equal by chance once in 2^128.
        let os = || NoiseSource::from_os().unwrap();
        assert_ne!(bits(os()), bits(os()));
    }

    #[test]
    fn the_key_is_not_shown() {
        assert_eq!(
            format!("{:?}", NoiseSource::seeded(7)),
            "NoiseSource { .. }"
        );
    }
}
