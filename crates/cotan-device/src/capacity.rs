//! Capacities: how many elements there is room for in each array whose size only the run knows. They are remembered from
//! call to call. A kernel that finds one too small says what it needs, and the call begins anew with that: calls are pure.

use crate::plan::Plan;

/// The capacities of a plan, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacities(Vec<i64>);

impl Capacities {
    /// The same for all.
    pub fn new(plan: &Plan, first: i64) -> Capacities {
        Capacities(vec![first.max(1); plan.growing.len()])
    }

    /// All, by number.
    pub fn all(&self) -> &[i64] {
        &self.0
    }

    /// Raises those that are too small; whether one was.
    pub(crate) fn raise(&mut self, needs: &[Need]) -> bool {
        let mut is_raised = false;
        for need in needs {
            if let Some(capacity) = self.0.get_mut(need.number).filter(|capacity| **capacity < need.elements) {
                *capacity = need.elements;
                is_raised = true;
            }
        }
        is_raised
    }
}

/// A capacity that was too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its number.
    pub number: usize,
    /// How many elements were asked for.
    pub elements: i64,
}
