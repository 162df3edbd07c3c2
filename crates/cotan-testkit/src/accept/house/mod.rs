//! Lines of the house: what the middle of the compiler looks like, counted on the tree as it is, that its parts do what they
//! are for, and what an addition costs, measured on copies of the tree.

mod additions;
mod counts;
mod faults;
mod hosts;
mod names;
mod nests;
mod pass;
mod passes;
mod random_programs;
mod scalar_operation;
mod speed;
mod tensor_routine;
mod texts;
mod tree;
mod verified;

use super::Line;
use super::sound::GATE;
pub(super) use speed::LINES as GRADIENTS_BESIDE_START;

/// The lines: what is counted first, then what runs suites, copies of the tree, and what compares with the start.
pub(super) fn lines() -> Vec<Line> {
    let counted: [&[Line]; 2] = [counts::LINES, &[names::LINE]];
    let suites: [&[Line]; 5] = [passes::LINES, nests::LINES, &[verified::LINE], hosts::LINES, &[random_programs::LINE]];
    let copies: [&[Line]; 2] = [additions::LINES, &[faults::LINE]];
    let beside_start: [&[Line]; 3] = [&[texts::LINE], speed::LINES, &[GATE]];
    [counted.concat(), suites.concat(), copies.concat(), beside_start.concat()].concat()
}
