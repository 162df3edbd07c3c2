//! Straight-line code: elementary functions as data, the steps that a function takes, for backends to write down.

use crate::Instruction;
use cotan_ir::{Const, Elem};
use std::cell::RefCell;
use std::fmt;

/// A function as straight-line code.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// The value.
    pub value: Input,
    /// Where this holds, the value is that of the row's host function instead.
    pub beyond: Option<Input>,
}

impl Code {
    /// For each step, whether some of the results need it.
    pub fn needed_steps(&self, wanted: &[Input]) -> Vec<bool> {
        let mut is_needed = vec![false; self.steps.len()];
        let mark = |is_needed: &mut Vec<bool>, inputs: &[Input]| {
            for input in inputs {
                if let Input::Step(k) = input {
                    is_needed[*k] = true;
                }
            }
        };
        mark(&mut is_needed, wanted);
        for (k, step) in self.steps.iter().enumerate().rev() {
            if is_needed[k] {
                mark(&mut is_needed, &step.args);
            }
        }
        is_needed
    }

    /// The code without steps that nothing reads.
    fn without_unused_steps(mut self) -> Code {
        let results: Vec<Input> = [Some(self.value), self.beyond].into_iter().flatten().collect();
        let is_used = self.needed_steps(&results);
        let numbers: Vec<usize> =
            is_used.iter().scan(0, |n, used| Some(std::mem::replace(n, *n + usize::from(*used)))).collect();
        let renumber = |input: &mut Input| {
            if let Input::Step(k) = input {
                *k = numbers[*k];
            }
        };
        let mut used = is_used.iter();
        self.steps.retain(|_| used.next() == Some(&true));
        self.steps.iter_mut().flat_map(|step| &mut step.args).for_each(renumber);
        [Some(&mut self.value), self.beyond.as_mut()].into_iter().flatten().for_each(renumber);
        self
    }
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Which.
    pub instruction: Instruction,
    /// Type of the operands (of a select: the last two).
    pub elem: Elem,
    /// Type of the result.
    pub result: Elem,
    /// Operands.
    pub args: Vec<Input>,
}

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// An operand of the function, by position.
    Arg(usize),
    /// The result of an earlier step.
    Step(usize),
    /// A constant.
    Const(Const),
}

/// A function that expands to straight-line code.
#[derive(Clone, Copy)]
pub struct Expansion {
    single: Record,
    double: Record,
}

/// Writes the steps of a function; gives its value, and what is left to the host.
type Record = fn(&Recorder) -> (Input, Option<Input>);

impl Expansion {
    /// An expansion from the functions that record it.
    pub(crate) const fn new(single: Record, double: Record) -> Expansion {
        Expansion { single, double }
    }

    /// The code for f32 or f64.
    pub fn code(&self, elem: Elem) -> Code {
        let recorder = Recorder::default();
        let record = if elem == Elem::F32 { self.single } else { self.double };
        let (value, beyond) = record(&recorder);
        Code { steps: recorder.0.into_inner(), value, beyond }.without_unused_steps()
    }
}

impl fmt::Debug for Expansion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Expansion")
    }
}

/// Code that is being written.
#[derive(Default)]
pub(crate) struct Recorder(RefCell<Vec<Step>>);

impl Recorder {
    /// A step; the one that is there, if it was taken before.
    pub(super) fn step(&self, step: Step) -> Input {
        let mut steps = self.0.borrow_mut();
        let number = steps.iter().position(|s| *s == step).unwrap_or(steps.len());
        if number == steps.len() {
            steps.push(step);
        }
        Input::Step(number)
    }
}

/// `expansion!(|x, y| f(x, y))`: the code of a row whose kernel is the generic function `f`. `expansion!(|x| f(x); g(x))`:
/// operands for which `g` holds are left to the host function.
macro_rules! expansion {
    (@record $t:ty, ($($x:ident),+), $value:expr, $beyond:expr) => {
        |recorder| {
            let mut position = 0..;
            $(let $x = recorder.argument::<$t>(&mut position);)+
            ($value.input(), $beyond)
        }
    };
    (|$($x:ident),+| $value:expr) => {
        $crate::Expansion::new(
            $crate::elementary::expansion!(@record f32, ($($x),+), $value, None),
            $crate::elementary::expansion!(@record f64, ($($x),+), $value, None),
        )
    };
    (|$($x:ident),+| $value:expr; $beyond:expr) => {
        $crate::Expansion::new(
            $crate::elementary::expansion!(@record f32, ($($x),+), $value, Some($beyond.input())),
            $crate::elementary::expansion!(@record f64, ($($x),+), $value, Some($beyond.input())),
        )
    };
}
pub(crate) use expansion;
