//! The code of a certificate: the steps of the gradient, and where cotangents are.

use super::NoCertificate;
use super::program::{How, Program, denoted, fraction, numbered, partials, unknown};
use super::residues::{Residue, Residues};
use cotan_interp::path::{Id, Path, Step};
use cotan_ops::{Denoted, Tree, Truth};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// The code, one line for each number that follows those of the program.
pub(super) struct Code {
    lines: Vec<Tree>,
    /// The numbers of the lines that only say what a cotangent is.
    added: Vec<u32>,
    /// For each value of the program the number of its cotangent.
    places: Vec<u32>,
}

/// Where a cotangent is.
#[derive(Clone, Copy)]
enum Place {
    /// A step of the path.
    Step(Id),
    /// It is this number.
    Number(i64),
    /// No step has it.
    Nowhere,
}

impl Place {
    fn step(self) -> Option<Id> {
        match self {
            Place::Step(id) => Some(id),
            Place::Number(_) | Place::Nowhere => None,
        }
    }
}

impl Code {
    /// The code that gives `cotangents` of the steps `wrt`.
    pub(super) fn new(
        path: &Path,
        program: &Program,
        residues: &Residues,
        wrt: &[Id],
        cotangents: &[Id],
    ) -> Result<Code, NoCertificate> {
        let sent = sent(program);
        let claimed = wrt.iter().copied().zip(cotangents.iter().copied()).collect();
        let places = places(path, program, residues, &sent, &claimed);
        let mut needed = vec![false; path.len()];
        for place in &places {
            if let Some(id) = place.step() {
                needed[id as usize] = true;
            }
        }
        for id in (0..path.len()).rev() {
            if needed[id]
                && program.number(id as Id).is_none()
                && let Step::Row { operands, .. } = path.step(id as Id)
            {
                operands.iter().filter_map(|operand| operand.step()).for_each(|id| needed[id as usize] = true);
            }
        }
        let mut writer = Writer {
            first: program.len() as u32,
            lines: Vec::new(),
            numbers: (0..path.len() as Id).map(|id| program.number(id)).collect(),
            truths: vec![None; path.len()],
        };
        for id in (0..path.len() as Id).filter(|id| needed[*id as usize]) {
            if writer.numbers[id as usize].is_none() {
                writer.step(path, program, id)?;
            }
        }
        let mut code = Code { lines: Vec::new(), added: Vec::new(), places: vec![0; program.len()] };
        let mut numbers: FxHashMap<i64, u32> = FxHashMap::default();
        for n in (0..program.len()).rev() {
            code.places[n] = match places[n] {
                Place::Step(id) => writer.numbers[id as usize].unwrap_or_default(),
                Place::Number(n) => *numbers.entry(n).or_insert_with(|| writer.push(fraction(n))),
                Place::Nowhere => {
                    let own = (n as u32 == program.output).then(|| fraction(1));
                    let product = |(from, partial): &(u32, Tree)| {
                        Tree::node("Mul", [numbered(code.places[*from as usize]), partial.clone()])
                    };
                    let all = own.into_iter().chain(sent[n].iter().map(product));
                    let line = all.reduce(|sum, term| Tree::node("Add", [sum, term])).unwrap_or_else(|| fraction(0));
                    let number = writer.push(line);
                    code.added.push(number);
                    number
                }
            };
        }
        code.lines = writer.lines;
        Ok(code)
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The certificate.
    pub(super) fn text(&self, program: &Program) -> String {
        let n_inputs = program.values().iter().filter(|value| matches!(value.how, How::Input)).count();
        let mut text = format!("inputs {n_inputs}\n");
        // Writing to a string cannot fail.
        for value in program.values() {
            let _ = match &value.how {
                How::Input => Ok(()),
                How::Number(exact) => {
                    let parts = exact.tree().operands;
                    let parts: Vec<&str> = parts.iter().map(|part| part.head.as_str()).collect();
                    writeln!(text, "constant {}", words(&parts))
                }
                How::Use { row, reals, others, .. } => {
                    writeln!(text, "use {} {} / {}", row.name(), words(reals), words(others))
                }
                How::Choice(relation, args) => writeln!(text, "choice {relation} {}", words(args)),
            };
        }
        for line in &self.lines {
            let _ = writeln!(text, "code {line}");
        }
        let (added, places) = (words(&self.added), words(&self.places));
        let _ = writeln!(text, "unfold {added}\nplaces {places}\noutput {}\nend", program.output);
        text
    }
}

fn words<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The lines of the code while they are written.
struct Writer {
    /// The number of the first line.
    first: u32,
    lines: Vec<Tree>,
    /// Of each step the number of its value.
    numbers: Vec<Option<u32>>,
    truths: Vec<Option<Truth>>,
}

impl Writer {
    fn push(&mut self, line: Tree) -> u32 {
        self.lines.push(line);
        self.first + self.lines.len() as u32 - 1
    }

    fn step(&mut self, path: &Path, program: &Program, id: Id) -> Result<(), NoCertificate> {
        let line = match path.step(id) {
            Step::Input => Tree::leaf("Undefined"),
            Step::Constant(c) => program.constant(*c),
            Step::Row { row, operands } => {
                let number = |id: Id| self.numbers[id as usize];
                let truth = |id: Id| self.truths[id as usize].as_ref();
                let operands = denoted(operands, &number, &truth).ok_or_else(|| unknown(row))?;
                match row.unfolded(operands).ok_or_else(|| unknown(row))? {
                    Denoted::Truth(truth) => {
                        self.truths[id as usize] = Some(truth);
                        return Ok(());
                    }
                    number @ (Denoted::Real(_) | Denoted::Whole(_)) => number.real(),
                }
            }
        };
        self.numbers[id as usize] = Some(self.push(line));
        Ok(())
    }
}

/// Where the cotangents of the values of a program are: those of the parameters are what the gradient gives, the others
/// the steps of the gradient that have their residue.
fn places(
    path: &Path,
    program: &Program,
    residues: &Residues,
    sent: &[Vec<(u32, Tree)>],
    cotangents: &FxHashMap<Id, Id>,
) -> Vec<Place> {
    let holders = holders(path, program, residues);
    let mut places = vec![Place::Nowhere; program.len()];
    let mut placed: FxHashSet<Id> = FxHashSet::default();
    for (n, (value, cotangent)) in program.values().iter().zip(&residues.cotangents).enumerate().rev() {
        let given = value.step.and_then(|step| cotangents.get(&step));
        places[n] = match (&value.how, given, cotangent.small(), holders.get(cotangent)) {
            (_, Some(id), ..) => Place::Step(*id),
            // The gradient does not ask for these, so what has the same residue may have it by chance.
            (How::Input | How::Number(_), ..) => Place::Nowhere,
            (_, None, Some(n), _) => Place::Number(n),
            (_, None, None, Some(holders)) => {
                let sources = sent[n].iter().filter_map(|(from, _)| places[*from as usize].step()).collect();
                Place::Step(likeliest(path, program, holders, &sources, &placed))
            }
            (_, None, None, None) => Place::Nowhere,
        };
        placed.extend(places[n].step());
    }
    places
}

/// Of each residue the steps that have it: those of the gradient in order, or else those of the program.
fn holders(path: &Path, program: &Program, residues: &Residues) -> FxHashMap<Residue, Vec<Id>> {
    let mut holders: FxHashMap<Residue, Vec<Id>> = FxHashMap::default();
    // Arguments come first, as a cotangent that is given; then the steps of the gradient.
    let rank = |id: Id| match (path.step(id), program.number(id)) {
        (Step::Input, _) => 0,
        (_, None) => 1,
        (_, Some(_)) => 2,
    };
    let mut floats: Vec<Id> = (0..path.len() as Id).filter(|id| path.value(*id).elem().is_float()).collect();
    floats.sort_by_key(|id| rank(*id));
    for id in floats {
        let same = holders.entry(residues.steps[id as usize]).or_default();
        if same.first().is_none_or(|first| rank(*first) == rank(id)) {
            same.push(id);
        }
    }
    holders
}

/// Of steps that have the residue of a cotangent, the one that most likely is it, and has not the same value by chance:
/// the one that is made of the cotangents that go into it, `sources`, and of no others that are `placed`.
fn likeliest(path: &Path, program: &Program, holders: &[Id], sources: &FxHashSet<Id>, placed: &FxHashSet<Id>) -> Id {
    let difference = |holder: &Id| {
        if sources.contains(holder) {
            return sources.len() - 1;
        }
        let made_of = made_of(path, program, *holder, placed);
        sources.symmetric_difference(&made_of).count()
    };
    match holders {
        [only] => *only,
        _ => holders.iter().copied().min_by_key(difference).unwrap_or_default(),
    }
}

/// The nearest steps that are `placed`, of those that a step is computed of.
fn made_of(path: &Path, program: &Program, id: Id, placed: &FxHashSet<Id>) -> FxHashSet<Id> {
    /// A step is not followed for ever: a cotangent is a few steps from those that go into it.
    const AT_MOST: usize = 1000;
    let operands = |id: Id| match path.step(id) {
        Step::Row { operands, .. } => operands.iter().filter_map(|operand| operand.step()).collect(),
        Step::Input | Step::Constant(_) => Vec::new(),
    };
    let (mut next, mut seen, mut reached) = (operands(id), FxHashSet::default(), FxHashSet::default());
    while let Some(id) = next.pop()
        && seen.len() < AT_MOST
    {
        if placed.contains(&id) {
            reached.insert(id);
        } else if program.number(id).is_none() && seen.insert(id) {
            next.extend(operands(id));
        }
    }
    reached
}

/// For each value the later ones that send it something, each with the partial derivative.
fn sent(program: &Program) -> Vec<Vec<(u32, Tree)>> {
    let mut sent: Vec<Vec<(u32, Tree)>> = program.values().iter().map(|_| Vec::new()).collect();
    for (n, value) in program.values().iter().enumerate() {
        for (to, partial) in partials(n as u32, value) {
            sent[to as usize].push((n as u32, partial));
        }
    }
    sent
}
