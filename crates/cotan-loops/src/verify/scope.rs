//! Scopes: which names of a table may be mentioned where.

use super::require;

/// The names of a table.
pub(super) struct Names {
    state: Vec<State>,
    /// The names that became visible, in order: the end of a list hides those of its own.
    trail: Vec<usize>,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// Whether anything has defined it so far.
    is_defined: bool,
    /// Whether it may be mentioned.
    is_visible: bool,
    /// Whether what defines it ran if this node runs, though its list may be over.
    is_reached: bool,
}

/// A position in the trail.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

impl Names {
    pub(super) fn new(n: usize) -> Names {
        Names { state: vec![State::default(); n], trail: Vec::new() }
    }

    /// Defines a name, for the first time.
    pub(super) fn define(&mut self, number: usize, name: &str) -> Result<(), String> {
        let is_first = !self.state[number].is_defined;
        require(is_first, || format!("`{name}` is defined twice"))?;
        self.show(number);
        Ok(())
    }

    /// Makes a name visible.
    pub(super) fn show(&mut self, number: usize) {
        if !self.state[number].is_visible {
            self.trail.push(number);
        }
        self.state[number] = State { is_defined: true, is_visible: true, is_reached: true };
    }

    pub(super) fn is_visible(&self, number: usize) -> bool {
        self.state[number].is_visible
    }

    pub(super) fn is_reached(&self, number: usize) -> bool {
        self.state[number].is_reached
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// The names that became visible since.
    pub(super) fn since(&self, mark: Mark) -> &[usize] {
        &self.trail[mark.0..]
    }

    /// Ends a list, which runs whenever the nodes around it do, or not.
    pub(super) fn close(&mut self, mark: Mark, runs: bool) {
        for number in self.trail.drain(mark.0..) {
            self.state[number].is_visible = false;
            self.state[number].is_reached = runs;
        }
    }
}
