//! Changes of any file.

use super::Changed;
use crate::draw::Draw;

/// What programs and people put around a text without meaning anything by it.
pub fn same(content: &[u8], draw: &mut Draw) -> Changed {
    match draw.below(3) {
        0 => (
            [b"\xef\xbb\xbf", content].concat(),
            "a byte order mark".into(),
        ),
        1 => {
            let text = String::from_utf8_lossy(content).replace('\n', "\r\n");
            (text.into_bytes(), "line ends of Windows".into())
        }
        _ => ([content, b"\n\n"].concat(), "empty lines at the end".into()),
    }
}

/// Pieces that mean something to one of the readers.
const WORDS: [&[u8]; 21] = [
    b"\"",
    b"'",
    b"{",
    b"]",
    b",",
    b"\n",
    b"=",
    b"#",
    b"\\",
    b"\t",
    b";",
    b"nan",
    b"-",
    b"e9",
    b"1e308",
    b"-1",
    b"1e-320",
    b"18446744073709551616",
    b"null",
    b"true",
    b"\xc3\xa4",
];

/// One change of bytes, of a kind that files suffer or fuzzers make; `other` is what pieces are
/// taken from.
pub fn change(content: &[u8], other: &[u8], draw: &mut Draw) -> Changed {
    let mut bytes = content.to_vec();
    let at = draw.below(bytes.len().max(1)).min(bytes.len());
    let end = (at + 1 + draw.below(15)).min(bytes.len());
    let what = match draw.below(12) {
        0 => {
            bytes.truncate(at);
            format!("cut off at byte {at}")
        }
        1 if at < bytes.len() => {
            bytes[at] ^= 1 << draw.below(8);
            format!("a bit of byte {at} turned")
        }
        2 => {
            bytes.insert(at, *draw.of(&[0xff, 0xc3, 0x00, 0x80, 0x1a]));
            format!("a byte that is no text at {at}")
        }
        3 => {
            bytes.clear();
            "nothing left".into()
        }
        4 => {
            bytes.extend_from_slice(content);
            "twice the same".into()
        }
        5 => {
            bytes.drain(at..end);
            format!("bytes {at} to {end} left out")
        }
        6 => {
            let word = *draw.of(&WORDS);
            bytes.splice(at..at, word.iter().copied());
            format!("`{}` put in at {at}", word.escape_ascii())
        }
        7 => {
            let word = *draw.of(&WORDS);
            bytes.splice(at..end, word.iter().copied());
            format!("`{}` in place of bytes {at} to {end}", word.escape_ascii())
        }
        8 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
            format!("bytes {at} to {end} twice")
        }
        9 => {
            let from = draw.below(other.len() + 1);
            let to = (from + draw.below(40)).min(other.len());
            bytes.splice(at..at, other[from..to].iter().copied());
            format!("{} bytes from elsewhere put in at {at}", to - from)
        }
        10 => {
            let utf16: Vec<u8> = String::from_utf8_lossy(content)
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect();
            bytes = [&b"\xff\xfe"[..], &utf16].concat();
            "in UTF-16".into()
        }
        _ => {
            bytes[at..end].reverse();
            format!("bytes {at} to {end} turned around")
        }
    };
    (bytes, what)
}
