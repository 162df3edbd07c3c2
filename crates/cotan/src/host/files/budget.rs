//! What reading files may take.

use super::{FileError, error};

/// Bytes that a reader takes where nobody says how many there are.
const DEFAULT_BYTES: u64 = 8 << 30;

/// Bytes of memory that values read from files may take, all files of a call together. What counts is what is left of
/// them in memory, where an element has eight bytes, and not what they are in the file.
#[derive(Clone, Debug)]
pub struct Budget {
    bytes: u64,
    left: u64,
}

impl Budget {
    /// So many bytes.
    pub fn new(bytes: u64) -> Budget {
        Budget { bytes, left: bytes }
    }

    /// Takes memory for `n` things of so many bytes each.
    pub(crate) fn take(&mut self, n: usize, size: usize) -> Result<(), FileError> {
        let wanted = n.checked_mul(size).and_then(|bytes| u64::try_from(bytes).ok());
        match wanted.and_then(|wanted| self.left.checked_sub(wanted)) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                error(format!("it takes more than the {} bytes of memory that there are for what is read", self.bytes))
            }
        }
    }

    /// An empty list with room for exactly `n` elements, which are counted; an error if there is no memory for them.
    pub(crate) fn list<T>(&mut self, n: usize) -> Result<Vec<T>, FileError> {
        self.take(n, size_of::<T>())?;
        let mut list = Vec::new();
        list.try_reserve_exact(n).map_err(|_| no_memory())?;
        Ok(list)
    }

    /// Adds an element to a list that grows.
    pub(crate) fn push<T>(&mut self, list: &mut Vec<T>, element: T) -> Result<(), FileError> {
        self.take(1, size_of::<T>())?;
        list.try_reserve(1).map_err(|_| no_memory())?;
        list.push(element);
        Ok(())
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::new(DEFAULT_BYTES)
    }
}

/// The machine has no more memory.
fn no_memory() -> FileError {
    FileError("the machine has no memory for what is read".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_gone() {
        let mut budget = Budget::new(40);
        assert_eq!(budget.list::<u64>(3).map(|list| list.capacity()), Ok(3));
        let mut list = Vec::new();
        assert_eq!((budget.push(&mut list, 1u64), budget.push(&mut list, 2u64)), (Ok(()), Ok(())));
        assert!(budget.push(&mut list, 3u64).is_err());
        assert!(budget.take(usize::MAX, 2).is_err());
        assert_eq!(list, [1, 2]);
    }

    #[test]
    fn memory_that_the_machine_does_not_have_is_an_error() {
        let refused = Budget::new(u64::MAX).list::<u64>(usize::MAX / 16);
        assert_eq!(refused, Err(no_memory()));
    }
}
