//! What the reverse sweep of a gradient records, why, how large it is, and what checkpoints would make of it.
//!
//! Read off the code that runs, so whatever the passes do to a record shows here; only why a value is *not* recorded
//! is what reverse mode says of it. What a checkpoint would make of a loop is found by setting it and looking again.

mod device;
mod footprint;
mod formula;
mod sizes;
mod text;
mod walk;

use crate::host::HostValue;
use crate::pipeline::{self, Stage};
use crate::{CompileError, Compiler, Program, ReadyModule, Request};
use cotan_ad::{ForwardLoop, Refusal, Restored, Reversal, ReversedLoop};
use cotan_ir::{Block, Checkpoint, Elem, Function, Item, Module, Op, Record, ReversePolicy, Role, Span, Var};
use cotan_lower::entry::{Entry, HostType, Signature};
use cotan_syntax::on_deep_stack;
pub use device::DeviceExplanation;
pub use formula::Formula;
use std::collections::BTreeMap;
use walk::{Recorded, Records};

/// What the reverse sweep of a derivative records.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The loops that were reversed, in the order of the source.
    pub loops: Vec<ExplainedLoop>,
    /// The most bytes of records at any one time.
    pub peak: Formula,
    /// The same in numbers, once [`Explanation::count`] has been told.
    pub counts: Option<RecordCounts>,
    /// Takes the arguments of the derivative and gives the numbers.
    pub counter: ReadyModule,
}

/// Bytes of the records of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordCounts {
    /// The most at any one time.
    pub peak: i64,
    /// All of them, one after the other.
    pub written: i64,
}

impl RecordCounts {
    /// What a counter gave.
    pub fn of(counted: &HostValue) -> Option<RecordCounts> {
        match integers(counted).as_slice() {
            [peak, written, ..] => Some(RecordCounts { peak: *peak, written: *written }),
            _ => None,
        }
    }
}

fn integers(counted: &HostValue) -> Vec<i64> {
    let HostValue::Tuple(parts) = counted else { return Vec::new() };
    parts.iter().filter_map(|part| part.as_scalar()?.as_i64()).collect()
}

/// A loop that was reversed.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedLoop {
    /// Where it stands.
    pub place: Place,
    /// Whether it is differentiated forward inside the reverse sweep, and why. There is no record of it then.
    pub forward: Option<ForwardLoop>,
    /// Why it is not, if that was asked for.
    pub refused: Option<Refusal>,
    /// What it records.
    pub records: Vec<ExplainedRecord>,
    /// The carried values of which nothing is recorded, by name, and why that is so.
    pub unrecorded: Vec<(String, Restored)>,
    /// What checkpoints would make of it, if it records anything.
    pub checkpoints: Vec<CheckpointCost>,
}

/// Something that a loop records.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedRecord {
    /// The carried value, or what was read from one, by its name in the source.
    pub value: String,
    /// As what it is recorded.
    pub how: Record,
    /// The type of one entry.
    pub element: String,
    /// All of one copy.
    pub bytes: Formula,
    /// The same in numbers, for the largest one, once [`Explanation::count`] has been told.
    pub largest: Option<i64>,
    /// The loops around, outermost first: it lives during one iteration of the last, while that is reversed.
    pub within: Vec<Place>,
    /// How many there are that differ in nothing of this: reads of an array, or calls of a function.
    pub copies: usize,
    /// How many variables of the code hold it.
    n_vars: usize,
}

/// What a scheme of checkpoints would make of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointCost {
    /// The scheme.
    pub scheme: Checkpoint,
    /// The most bytes that the records of the loop take at any one time.
    pub bytes: Formula,
    /// How often more its body runs.
    pub extra_runs: i64,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// From 1 on; 0 for code that no source text stands for.
    pub line: u32,
    /// From 1 on.
    pub column: u32,
    /// The line without the space around it.
    pub text: String,
}

/// The schemes whose cost is told, with how many loops deep the segments are.
const SCHEMES: [(Checkpoint, i64); 2] = [(Checkpoint::Sqrt, 2), (Checkpoint::Levels(3), 3)];

impl Compiler {
    /// What the reverse sweep of a derivative of a program without errors records.
    pub fn explain(&self, program: &Program, request: &Request) -> Result<Explanation, CompileError> {
        on_deep_stack(|| self.explain_on_this_stack(program, request))
    }

    fn explain_on_this_stack(&self, program: &Program, request: &Request) -> Result<Explanation, CompileError> {
        let (entry, source) = self.lower_source(program, request)?;
        let middle_end = self.middle_end(Stage::Ready);
        let (module, reversed) = middle_end.run(&source, &entry.symbol)?;
        let Records { all, peak } = walk::records(&module, &entry.symbol, &program.sources);

        let mut loops: BTreeMap<Span, (Vec<Recorded>, Vec<&ReversedLoop>)> = BTreeMap::new();
        for note in &reversed {
            loops.entry(source_of(note.span)).or_default().1.push(note);
        }
        for recorded in all {
            loops.entry(source_of(recorded.span)).or_default().0.push(recorded);
        }
        let mut explained = Vec::new();
        let mut vars = Vec::new();
        for (span, (records, notes)) in loops {
            let mut checkpoints = Vec::new();
            let counted = is_counted(&source, span).filter(|_| !records.is_empty());
            for (scheme, levels) in counted.map_or(&[][..], |_| &SCHEMES) {
                let with = with_checkpoint(&source, span, *scheme);
                let (module, _) = middle_end.run(&with, &entry.symbol)?;
                let mut bytes = walk::peak_of(&module, &entry.symbol, &program.sources, span);
                if counted == Some(false) {
                    bytes = online(&bytes, &sizes::trips(&program.sources, span), *levels);
                }
                checkpoints.push(CheckpointCost { scheme: *scheme, bytes, extra_runs: levels - 1 });
            }
            let unrecorded = unrecorded(&records, &notes);
            let place = |span: Span| Place::of(program, span);
            let mut told: Vec<ExplainedRecord> = Vec::new();
            for r in records {
                let record = ExplainedRecord {
                    value: r.name,
                    how: r.how,
                    element: r.element,
                    bytes: r.bytes,
                    largest: None,
                    within: r.within.into_iter().map(place).collect(),
                    copies: r.copies,
                    n_vars: r.vars.len(),
                };
                let is_same = |other: &&mut ExplainedRecord| {
                    ExplainedRecord { copies: record.copies, ..(**other).clone() } == record
                };
                match told.iter_mut().find(is_same) {
                    Some(same) => same.copies = same.copies.saturating_add(record.copies),
                    None => {
                        vars.extend(r.vars);
                        told.push(record);
                    }
                }
            }
            let forward = notes.iter().find_map(|note| match &note.how {
                Reversal::Forward(forward_loop) => Some(forward_loop.clone()),
                Reversal::Backwards(_) | Reversal::Refused(_) => None,
            });
            let refused = notes.iter().find_map(|note| match &note.how {
                Reversal::Refused(reason) => Some(reason.clone()),
                Reversal::Backwards(_) | Reversal::Forward(_) => None,
            });
            explained.push(ExplainedLoop {
                place: place(span),
                forward,
                refused,
                records: told,
                unrecorded,
                checkpoints,
            });
        }
        let counter = self.counter(&ReadyModule { entry, module: pipeline::verified(module), traps: None }, &vars);
        Ok(Explanation { loops: explained, peak, counts: None, counter })
    }

    /// What gives the [`RecordCounts`] of a call of a function with the same arguments. It runs what the lengths of the
    /// records depend on, and nothing else.
    pub fn record_counter(&self, lowered: &ReadyModule) -> ReadyModule {
        on_deep_stack(|| self.counter(lowered, &[]))
    }

    fn counter(&self, lowered: &ReadyModule, records: &[Var]) -> ReadyModule {
        let symbol = &lowered.entry.symbol;
        let module = footprint::counter(&lowered.module, symbol, records, self.threads());
        let n_results = records.len() + 2;
        let result = HostType::Tuple(vec![HostType::Scalar(Elem::I64); n_results]);
        let entry = Entry {
            symbol: footprint::counter_name(symbol),
            signature: Signature { result, wrt: Vec::new(), ..lowered.entry.signature.clone() },
            leaf_results: (0..n_results).collect(),
            ..lowered.entry.clone()
        };
        ReadyModule { entry, module: pipeline::verified(module), traps: None }
    }
}

impl Explanation {
    /// Takes over what [`Explanation::counter`] gave for some arguments.
    pub fn count(&mut self, counted: &HostValue) {
        self.counts = RecordCounts::of(counted);
        let mut largest = integers(counted).into_iter().skip(2);
        for record in self.loops.iter_mut().flat_map(|l| &mut l.records) {
            let sum = largest.by_ref().take(record.n_vars).sum();
            record.largest = (record.n_vars > 0).then_some(sum);
        }
    }
}

/// The carried values of a loop of which nothing is recorded. A loop that was reversed several times, as segments of
/// one are, needs what any of these needs.
fn unrecorded(records: &[Recorded], notes: &[&ReversedLoop]) -> Vec<(String, Restored)> {
    let mut all: Vec<(String, Restored)> = Vec::new();
    let carried = notes.iter().flat_map(|note| match &note.how {
        Reversal::Backwards(carried) => carried.as_slice(),
        Reversal::Forward(_) | Reversal::Refused(_) => &[],
    });
    for (name, how) in carried {
        match all.iter_mut().find(|(other, _)| **other == **name) {
            Some((_, known)) if *known == Restored::Unread => *known = *how,
            Some(_) => {}
            None => all.push((name.to_string(), *how)),
        }
    }
    all.retain(|(name, how)| match how {
        Restored::Unread | Restored::Unchanged | Restored::Counted => !records.iter().any(|r| r.name == *name),
        Restored::Reads | Restored::Replaced => true,
        Restored::Undone | Restored::Recorded | Restored::Replayed => false,
    });
    all
}

/// The place of the loop in the source that a loop stands for: with checkpoints it runs over segments of that.
fn source_of(span: Span) -> Span {
    Span { role: Role::VALUE, ..span }
}

/// Whether the loop of this place in the source is counted; `None` if there is no such loop.
fn is_counted(module: &Module, span: Span) -> Option<bool> {
    fn walk(block: &Block, span: Span) -> Option<bool> {
        block.stmts.iter().find_map(|s| {
            if let Op::Loop(l) = &s.op
                && s.span == span
            {
                return Some(l.count.is_some());
            }
            s.op.blocks().iter().find_map(|b| walk(b, span))
        })
    }
    module.functions().find_map(|f| walk(&f.body, span))
}

/// The bytes that segments of a while take, in its trips. Segments grow, so that there are about as many of them as
/// the longest is long: those of `levels` loops are as many as the root of the trips, up to a factor near one.
fn online(bytes: &Formula, trips: &str, levels: i64) -> Formula {
    let largest = sizes::largest(trips);
    // Of a while that runs once there is one number of trips; those of its segments are not to be told apart from it.
    let whole = bytes.symbols().find(|symbol| symbol.name == trips);
    bytes.replaced(&|symbol| {
        if symbol.name != trips && symbol.name != largest {
            return None;
        }
        let factor = (levels as f64).powf(1.0 / levels as f64);
        Some(
            Formula::symbol(whole.unwrap_or(symbol).clone())
                .power(1.0 / levels as f64)?
                .times(&Formula::number(factor)),
        )
    })
}

/// The module with a scheme of checkpoints at the loop of this place.
fn with_checkpoint(module: &Module, span: Span, scheme: Checkpoint) -> Module {
    fn set(block: &mut Block, span: Span, scheme: Checkpoint) {
        for s in &mut block.stmts {
            if let Op::Loop(l) = &mut s.op
                && s.span == span
            {
                l.kept = ReversePolicy { checkpoint: Some(scheme), recompute: false, ..l.kept };
            }
            s.op.blocks_mut().iter_mut().for_each(|b| set(b, span, scheme));
        }
    }
    let mut changed = module.clone();
    for item in changed.items.values_mut() {
        if let Item::Function(f) = item {
            let mut with: Function = f.as_ref().clone();
            set(&mut with.body, span, scheme);
            *f = with.into();
        }
    }
    changed
}

impl Place {
    fn of(program: &Program, span: Span) -> Place {
        let file = program.sources.get(cotan_syntax::FileId(span.file)).filter(|_| span.is_some());
        match file {
            Some(file) => {
                let at = file.line_column(span.start);
                let text = file.text().lines().nth(at.line as usize - 1).unwrap_or_default().trim().to_owned();
                Place { file: file.name().to_owned(), line: at.line, column: at.column, text }
            }
            None => Place { file: "code of the compiler".to_owned(), line: 0, column: 0, text: String::new() },
        }
    }
}
