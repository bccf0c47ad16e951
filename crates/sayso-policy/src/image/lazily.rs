//! Things by number, each made when it is first asked for.

use std::sync::OnceLock;

/// How many are set aside at once.
const CHUNK: usize = 64;

/// Some of them.
type Chunk<T> = Box<[OnceLock<T>]>;

/// Things by number. Ten thousand that nobody asks for cost next to nothing.
#[derive(Debug)]
pub(super) struct Lazily<T> {
    chunks: Box<[OnceLock<Chunk<T>>]>,
    count: usize,
}

impl<T> Lazily<T> {
    pub(super) fn new(count: usize) -> Self {
        Self { chunks: (0..count.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect(), count }
    }

    /// The thing of this number, made by `make` if it is the first time.
    pub(super) fn get(&self, at: usize, make: impl FnOnce() -> Option<T>) -> Option<&T> {
        if at >= self.count {
            return None;
        }
        let chunk = self.chunks.get(at / CHUNK)?;
        let cell = chunk.get_or_init(|| (0..CHUNK).map(|_| OnceLock::new()).collect()).get(at % CHUNK)?;
        match cell.get() {
            Some(made) => Some(made),
            None => {
                let made = make()?;
                Some(cell.get_or_init(|| made))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_made_once_and_what_cannot_be_made_is_tried_again() {
        let things = Lazily::new(100);
        assert_eq!(things.get(99, || None::<u8>), None);
        assert_eq!(things.get(99, || Some(1)), Some(&1));
        assert_eq!(things.get(99, || Some(2)), Some(&1));
        assert_eq!(things.get(100, || Some(3)), None);
    }
}
