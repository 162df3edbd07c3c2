//! The program of a certificate: inputs, and steps by proved rules.

use super::NoCertificate;
use cotan_interp::path::{Id, Operand, Path, Step};
use cotan_ir::Const;
use cotan_ops::{Denoted, Exact, LOG, PrimRow, Proof, SELECT, STOP_GRADIENT, Tree, Truth};
use rustc_hash::FxHashMap;

/// The program: a value for each number.
pub(super) struct Program {
    values: Vec<Origin>,
    /// The number of the value that a step of the path is, if it is one.
    numbers: Vec<Option<u32>>,
    /// Of truth values that the program depends on, what they are.
    truths: Vec<Option<Truth>>,
    /// The logarithms of its numbers.
    logs: FxHashMap<Const, Exact>,
    /// The number of the output.
    pub(super) output: u32,
}

/// A value of the program.
pub(super) struct Origin {
    /// The step of the path.
    pub(super) step: Option<Id>,
    pub(super) how: How,
}

/// How a value of the program is made.
pub(super) enum How {
    /// It is given: an element of an argument, what does not depend on the parameters, or what has no derivative.
    Input,
    Number(Exact),
    Use {
        row: &'static PrimRow,
        operands: Vec<Denoted>,
        reals: Vec<u32>,
        others: Vec<i64>,
    },
    /// The third or the fourth value, as the first two are related.
    Choice(&'static str, [u32; 4]),
}

impl Program {
    /// The program that computes `output`, of the first `n_program` steps of a path.
    pub(super) fn new(path: &Path, n_program: usize, output: Id, wrt: &[Id]) -> Result<Program, NoCertificate> {
        let active = active(path, n_program, wrt);
        let mut needed = vec![false; n_program];
        needed[output as usize] = true;
        let mut given = Vec::new();
        for id in (0..n_program as Id).rev() {
            let (is_needed, step) = (needed[id as usize], path.step(id));
            match step {
                // Code may use arguments that the value does not depend on.
                Step::Input => given.push(id),
                Step::Constant(_) | Step::Row { .. } if !is_needed => {}
                Step::Constant(c) => {
                    if c.as_float().and_then(Exact::fraction).is_none() {
                        given.push(id);
                    }
                }
                Step::Row { row, operands } => {
                    let is_held = std::ptr::eq(*row, &STOP_GRADIENT);
                    if is_held || !is_known(path, id, row) && !active[id as usize] {
                        given.push(id);
                        continue;
                    }
                    operands.iter().filter_map(|operand| operand.step()).for_each(|id| needed[id as usize] = true);
                }
            }
        }
        let mut program = Program {
            values: Vec::new(),
            numbers: vec![None; path.len()],
            truths: vec![None; path.len()],
            logs: FxHashMap::default(),
            output: 0,
        };
        for id in given.into_iter().rev() {
            program.push(Some(id), How::Input);
        }
        for id in (0..n_program as Id).filter(|id| needed[*id as usize]) {
            if program.numbers[id as usize].is_none() {
                program.add(path, id)?;
            }
        }
        program.output = program.number(output).unwrap_or_default();
        Ok(program)
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn values(&self) -> &[Origin] {
        &self.values
    }

    /// The number of the value that a step is.
    pub(super) fn number(&self, id: Id) -> Option<u32> {
        self.numbers[id as usize]
    }

    /// What a truth value of the program is.
    pub(super) fn truth(&self, id: Id) -> Option<&Truth> {
        self.truths[id as usize].as_ref()
    }

    /// The number that a constant of the code stands for. Of what is no number nothing is known.
    pub(super) fn constant(&self, c: Const) -> Tree {
        let log = self.logs.get(&c).copied();
        let exact = log.or_else(|| c.as_float().and_then(Exact::of));
        exact.map_or_else(|| Tree::leaf("Undefined"), Exact::tree)
    }

    fn push(&mut self, step: Option<Id>, how: How) -> u32 {
        let number = self.values.len() as u32;
        self.values.push(Origin { step, how });
        if let Some(id) = step {
            self.numbers[id as usize] = Some(number);
        }
        number
    }

    fn add(&mut self, path: &Path, id: Id) -> Result<(), NoCertificate> {
        match path.step(id) {
            Step::Input => {}
            Step::Constant(c) => {
                if let Some(exact) = c.as_float().and_then(Exact::fraction) {
                    if let (Exact::Fraction(n @ 1.., d), Ok(log)) = (exact, LOG.eval(&[*c]))
                        && n != d
                    {
                        self.logs.insert(log, Exact::Log(n, d));
                    }
                    self.push(Some(id), How::Number(exact));
                }
            }
            Step::Row { row, operands } => {
                let denoted = denoted(operands, &|id| self.number(id), &|id| self.truth(id));
                let denoted = denoted.ok_or_else(|| unknown(row))?;
                if !path.value(id).elem().is_float() {
                    self.truths[id as usize] = row.unfolded(denoted).map(Denoted::truth);
                    return Ok(());
                }
                if std::ptr::eq(*row, &SELECT) {
                    return self.choose(id, row, operands);
                }
                if !matches!(row.proof, Proof::Proved) {
                    return Err(unknown(row));
                }
                let reals = operands.iter().filter_map(|operand| self.number(operand.step()?)).collect();
                let others = operands.iter().filter_map(|operand| operand.plain());
                let others = others.map(|c| c.as_i64().unwrap_or(c.bits() as i64)).collect();
                self.push(Some(id), How::Use { row, operands: denoted, reals, others });
            }
        }
        Ok(())
    }

    /// A choice by a condition that depends on floats.
    fn choose(&mut self, id: Id, row: &'static PrimRow, operands: &[Operand]) -> Result<(), NoCertificate> {
        let step = |k: usize| operands[k].step();
        let (Some(truth), Some(yes), Some(no)) = (
            step(0).and_then(|id| self.truth(id)).cloned(),
            step(1).and_then(|id| self.number(id)),
            step(2).and_then(|id| self.number(id)),
        ) else {
            return Err(unknown(row));
        };
        let chosen = self.chosen(&truth, yes, no)?;
        // A condition that always holds leaves one of the two.
        self.numbers[id as usize] = Some(chosen);
        self.values[chosen as usize].step.get_or_insert(id);
        Ok(())
    }

    /// The value `yes` where the condition holds, else `no`.
    fn chosen(&mut self, truth: &Truth, yes: u32, no: u32) -> Result<u32, NoCertificate> {
        match truth {
            Truth::Related(relation, a, b) => {
                let (a, b) = (self.of_tree(a)?, self.of_tree(b)?);
                Ok(self.push(None, How::Choice(relation, [a, b, yes, no])))
            }
            Truth::And(p, q) => {
                let inner = self.chosen(q, yes, no)?;
                self.chosen(p, inner, no)
            }
            Truth::Or(p, q) => {
                let inner = self.chosen(q, yes, no)?;
                self.chosen(p, yes, inner)
            }
            Truth::Not(p) => self.chosen(p, no, yes),
            Truth::Always(holds) => Ok(if *holds { yes } else { no }),
            Truth::Flag(_) => Err(NoCertificate::Unknown("a condition without a comparison".to_owned())),
        }
    }

    /// The number of a value that is compared.
    fn of_tree(&mut self, tree: &Tree) -> Result<u32, NoCertificate> {
        let number = |k: usize| tree.operands.get(k).and_then(|n| n.head.parse::<i64>().ok());
        match (tree.head.as_str(), number(0), number(1)) {
            ("X", Some(n), None) => Ok(n as u32),
            ("Q", Some(n), Some(d)) => Ok(self.push(None, How::Number(Exact::Fraction(n, d)))),
            _ => Err(NoCertificate::Unknown(format!("a comparison of {tree}"))),
        }
    }
}

/// One of two terms, as two others are related.
pub(super) fn choice(relation: &str, compared: &[Tree; 2], chosen: [Tree; 2]) -> Tree {
    Tree::node("If", [Tree::leaf(relation)].into_iter().chain(compared.iter().cloned()).chain(chosen))
}

/// Operands as terms over numbered values; `None` if one has no number.
pub(super) fn denoted<'t>(
    operands: &[Operand],
    number: &dyn Fn(Id) -> Option<u32>,
    truth: &dyn Fn(Id) -> Option<&'t Truth>,
) -> Option<Vec<Denoted>> {
    let denoted = |operand: &Operand| match operand {
        Operand::Step(id) => number(*id).map(Denoted::numbered).or_else(|| truth(*id).cloned().map(Denoted::Truth)),
        Operand::Plain(c) => Some(match c.as_bool() {
            Some(holds) => Denoted::Truth(Truth::Always(holds)),
            None => Denoted::int(c.as_i64().unwrap_or(c.bits() as i64)),
        }),
    };
    operands.iter().map(denoted).collect()
}

/// Whether the proofs know what a step does.
fn is_known(path: &Path, id: Id, row: &'static PrimRow) -> bool {
    let is_choice = std::ptr::eq(row, &SELECT);
    is_choice || !path.value(id).elem().is_float() || matches!(row.proof, Proof::Proved)
}

pub(super) fn unknown(row: &PrimRow) -> NoCertificate {
    NoCertificate::Unknown(format!("the proofs know no rule for `{}`", row.name()))
}

/// Which steps depend on the parameters.
fn active(path: &Path, n_program: usize, wrt: &[Id]) -> Vec<bool> {
    let mut active = vec![false; n_program];
    wrt.iter().for_each(|id| active[*id as usize] = true);
    for id in 0..n_program {
        if let Step::Row { operands, .. } = path.step(id as Id) {
            active[id] = operands.iter().filter_map(|operand| operand.step()).any(|id| active[id as usize]);
        }
    }
    active
}

/// To which values a cotangent goes on, each with the partial derivative.
pub(super) fn partials(n: u32, value: &Origin) -> Vec<(u32, Tree)> {
    match &value.how {
        How::Input | How::Number(_) => Vec::new(),
        How::Use { row, operands, reals, .. } => {
            reals.iter().copied().zip(row.unfolded_partials(operands, &numbered(n))).collect()
        }
        How::Choice(relation, [a, b, yes, no]) => {
            let compared = [numbered(*a), numbered(*b)];
            let indicator = |yes: i64, no: i64| choice(relation, &compared, [fraction(yes), fraction(no)]);
            vec![(*yes, indicator(1, 0)), (*no, indicator(0, 1))]
        }
    }
}

/// The value of a number, as a term.
pub(super) fn numbered(n: u32) -> Tree {
    Denoted::numbered(n).real()
}

/// A whole number, as a term.
pub(super) fn fraction(n: i64) -> Tree {
    Exact::Fraction(n, 1).tree()
}
