//! A list that usually holds one thing, and then needs no allocation.

use std::ops::Deref;

/// None, one or many. Reads as a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Few<T>(Held<T>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Held<T> {
    None,
    One(T),
    Many(Vec<T>),
}

impl<T> Few<T> {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(Held::None)
    }

    /// Just this.
    #[must_use]
    pub const fn one(item: T) -> Self {
        Self(Held::One(item))
    }

    /// Adds one at the end.
    pub fn push(&mut self, item: T) {
        match &mut self.0 {
            Held::Many(items) => items.push(item),
            Held::None => self.0 = Held::One(item),
            Held::One(_) => {
                if let Held::One(first) = std::mem::replace(&mut self.0, Held::None) {
                    let mut items = Vec::with_capacity(4);
                    items.push(first);
                    items.push(item);
                    self.0 = Held::Many(items);
                }
            }
        }
    }

    /// The only one, or all of them back.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn into_one(self) -> Result<T, Self> {
        match self.0 {
            Held::One(item) => Ok(item),
            other => Err(Self(other)),
        }
    }

    /// All of them, in a vector.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Held::None => Vec::new(),
            Held::One(item) => vec![item],
            Held::Many(items) => items,
        }
    }

    /// The last one, to change it.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        match &mut self.0 {
            Held::None => None,
            Held::One(item) => Some(item),
            Held::Many(items) => items.last_mut(),
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Held::None => &[],
            Held::One(item) => std::slice::from_ref(item),
            Held::Many(items) => items,
        }
    }
}

impl<'t, T> IntoIterator for &'t Few<T> {
    type Item = &'t T;
    type IntoIter = std::slice::Iter<'t, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut few = Self::new();
        for item in items {
            few.push(item);
        }
        few
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn it_reads_as_the_slice_of_what_was_pushed() {
        let mut few = Few::new();
        assert_eq!(&*few, &[] as &[u8]);
        for n in 1..=3_u8 {
            few.push(n);
            assert_eq!(&*few, (1..=n).collect::<Vec<_>>());
        }
        if let Some(last) = few.last_mut() {
            *last = 9;
        }
        assert_eq!(&*few, [1, 2, 9]);
    }
}
