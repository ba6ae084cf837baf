//! Memory that begins where a page does: only such can be read and written past the system's cache.

/// Words of a page.
pub(crate) const PAGE: usize = 512;

/// Words that begin where a page does; there are as many as whole pages have.
#[derive(Debug)]
pub(crate) struct Pages {
    words: Vec<u64>,
    /// Words before the first page.
    before: usize,
}

impl Pages {
    /// Room for so many words.
    pub(crate) fn new(words: usize) -> Pages {
        let words = vec![0; (words.next_multiple_of(PAGE)) + PAGE];
        // Should it not be known, they are words like others, which go through the cache.
        let before = words.as_ptr().align_offset(PAGE * size_of::<u64>()).min(PAGE);
        Pages { words, before }
    }

    /// How many words there are.
    pub(crate) fn len(&self) -> usize {
        self.words.len() - PAGE
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words[self.before..self.before + self.len()]
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        let len = self.len();
        &mut self.words[self.before..self.before + len]
    }

    /// Whether some words are whole pages.
    pub(crate) fn are(words: &[u64]) -> bool {
        words.len().is_multiple_of(PAGE) && words.as_ptr().addr().is_multiple_of(PAGE * size_of::<u64>())
    }
}
