//! Bytes that say what they are, in which layout, and whether they are whole.
//!
//! A word and the number of the layout as a line, the CRC-32 of the payload and its length (both
//! little-endian), the payload.

use crate::error::LoadError;

/// Digits that the number of a layout has at most, with the newline.
const DIGITS: usize = 12;

/// A payload with its header and its checksum.
///
/// # Arguments
/// * `word` - what it is, with a space at its end
pub(crate) fn seal(word: &[u8], format: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + word.len() + DIGITS + 12);
    out.extend_from_slice(word);
    out.extend_from_slice(format.to_string().as_bytes());
    out.push(b'\n');
    out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    out.extend_from_slice(payload);
    out
}

/// The payload of what [`seal`] wrote.
///
/// # Errors
/// [`LoadError::NotAModel`] for another word, [`LoadError::Newer`] and [`LoadError::Older`] for
/// another layout, [`LoadError::Damaged`] where anything was cut off or changed.
pub(crate) fn open<'a>(word: &[u8], format: u32, bytes: &'a [u8]) -> Result<&'a [u8], LoadError> {
    let rest = bytes.strip_prefix(word).ok_or(LoadError::NotAModel)?;
    let damaged = |detail: &str| LoadError::Damaged {
        detail: detail.to_owned(),
    };
    let end = rest
        .iter()
        .take(DIGITS)
        .position(|b| *b == b'\n')
        .ok_or_else(|| damaged("the first line does not end"))?;
    let found = std::str::from_utf8(&rest[..end])
        .ok()
        .and_then(|t| t.parse::<u32>().ok())
        .ok_or_else(|| damaged("the format number is unreadable"))?;
    let supported = format;
    if found > supported {
        return Err(LoadError::Newer { found, supported });
    }
    if found < supported {
        return Err(LoadError::Older { found, supported });
    }
    let rest = &rest[end + 1..];
    let (crc, rest) = rest
        .split_first_chunk::<4>()
        .ok_or_else(|| damaged("it is cut off"))?;
    let (length, payload) = rest
        .split_first_chunk::<8>()
        .ok_or_else(|| damaged("it is cut off"))?;
    if u64::from_le_bytes(*length) != payload.len() as u64 {
        return Err(damaged("its length is not what was written"));
    }
    if u32::from_le_bytes(*crc) != crc32fast::hash(payload) {
        return Err(damaged("its checksum does not match"));
    }
    Ok(payload)
}
