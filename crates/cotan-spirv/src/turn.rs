//! A lock whose wait can be stopped (monitor with a condition): who waits for another call looks whether its own time is over.

use cotan_ops::stop::Stop;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often who waits looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(2);

/// Something that one caller at a time has.
pub struct Turn<T> {
    inside: Mutex<Inside<T>>,
    is_back: Condvar,
}

struct Inside<T> {
    /// `None` while someone has it.
    value: Option<T>,
    /// How many wait for it: where nobody does, nobody is woken.
    n_waiting: usize,
}

/// It, until it is dropped.
pub struct Taken<'t, T> {
    turn: &'t Turn<T>,
    /// `None` only while it is dropped.
    value: Option<T>,
}

const HELD: &str = "invariant: who has it has it until it is dropped";

impl<T> Turn<T> {
    /// Something that nobody has yet.
    pub fn new(value: T) -> Turn<T> {
        Turn { inside: Mutex::new(Inside { value: Some(value), n_waiting: 0 }), is_back: Condvar::new() }
    }

    /// Waits until nobody else has it; `None` once the caller is to stop.
    pub fn take(&self, stop: Option<&Stop>) -> Option<Taken<'_, T>> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(value) = inside.value.take() {
                return Some(Taken { turn: self, value: Some(value) });
            }
            if stop.is_some_and(Stop::is_requested) {
                return None;
            }
            inside.n_waiting += 1;
            inside = match stop {
                Some(_) => self.is_back.wait_timeout(inside, LOOK).unwrap_or_else(PoisonError::into_inner).0,
                None => self.is_back.wait(inside).unwrap_or_else(PoisonError::into_inner),
            };
            inside.n_waiting -= 1;
        }
    }

    /// It, where nobody else can have it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.inside.get_mut().unwrap_or_else(PoisonError::into_inner).value.as_mut()
    }
}

impl<T> fmt::Debug for Turn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turn")
    }
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect(HELD)
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect(HELD)
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        let mut inside = self.turn.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.value = self.value.take();
        if inside.n_waiting > 0 {
            self.turn.is_back.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ops::stop::Reason;

    #[test]
    fn one_at_a_time_has_it_and_who_is_to_stop_does_not_wait() {
        let turn = Turn::new(0);
        let held = turn.take(None).expect("nobody has it");
        let stop = Stop::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| turn.take(Some(&stop)).is_none());
            stop.request(Reason::TimedOut);
            assert!(waiting.join().expect("it ends"));
            let adding: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        for _ in 0..100 {
                            *turn.take(None).expect("nothing stops it") += 1;
                        }
                    })
                })
                .collect();
            drop(held);
            adding.into_iter().for_each(|thread| thread.join().expect("it ends"));
        });
        assert_eq!(*turn.take(Some(&stop)).expect("it is free"), 400);
    }
}
