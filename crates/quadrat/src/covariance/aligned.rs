//! Numbers of a tile, where vector instructions reach them fast.

use std::ops::{Deref, DerefMut};

/// Numbers of a cache line, which vectors must not straddle.
const LINE: usize = 8;
/// Numbers added to what is asked for, some kilobyte: tiles are whole pages, and buffers that are
/// made one after the other would begin at the same place of theirs, where a load waits for a store
/// to another buffer.
const STAGGER: usize = 128;

/// A slice that begins with a cache line and keeps its memory.
#[derive(Default)]
pub(super) struct Aligned {
    memory: Vec<f64>,
    start: usize,
    len: usize,
}

impl Aligned {
    /// So many zeros.
    pub fn new(len: usize) -> Self {
        let mut out = Self::default();
        out.resize(len);
        out
    }

    /// Makes it so many numbers, of arbitrary content.
    pub fn resize(&mut self, len: usize) {
        if self.memory.len() < len + STAGGER {
            self.memory = vec![0.0; len + STAGGER];
            let skip = self.memory.as_ptr().align_offset(LINE * size_of::<f64>());
            self.start = if skip < LINE { skip } else { 0 };
        }
        self.len = len;
    }

    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

impl Deref for Aligned {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f64] {
        self.as_mut_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_with_a_line_and_keep_their_memory() {
        let mut buffer = Aligned::default();
        assert!(buffer.is_empty());
        for len in [0, 1, 300, 7, 300, 3072] {
            buffer.resize(len);
            assert_eq!(buffer.len(), len);
            assert_eq!(buffer.as_ptr().align_offset(64), 0);
            buffer.fill(1.0);
        }
        let at = buffer.as_ptr();
        buffer.resize(5);
        buffer.resize(3072);
        assert_eq!(buffer.as_ptr(), at);
    }
}
