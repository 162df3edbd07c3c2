//! Loop nests on their reference interpreter against the core IR on its own: the same bits, errors and output, at each
//! place in the pipeline of the nests.

use super::Verdict;
use super::engines::same_bits;
use crate::derived_case::{Case, floats, options};
use crate::tier;
use crate::tolerances::{Property, close, tolerance};
use cotan_cpu::pipeline::{OPTIMIZED, PLAIN};
use cotan_ir::{CheckKind, Elem, Module, Span};
use cotan_loops::node::walk;
use cotan_loops::pipeline::{FOR_DEVICES, run};
use cotan_loops::{
    CPU, DEVICE, LoopFunction, NestContext, NestPipeline, Node, TargetKind, TaskSizes, VerifiedNests, Width,
    lower_only, parse_nest, print_nest,
};
use cotan_ops::{Registry, Value};
use std::collections::BTreeMap;

/// A place in the pipeline of nests: so many passes of a list have run, in pieces as small as they get, so that small
/// programs meet all that they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NestPlace {
    /// The first ones of those that every nest goes through.
    Lowered(usize),
    /// After them, the first ones on the way to code that is not optimised.
    Plain(usize),
    /// The first ones on the way to fast code.
    Optimized(usize),
    /// All on that way, with no lane left.
    Scalar,
    /// Lowered for a device, the first ones on its way.
    Device(usize),
}

impl NestPlace {
    /// Every place.
    pub fn all() -> Vec<NestPlace> {
        let plain = (1..=PLAIN.len()).map(NestPlace::Plain);
        let optimized = (1..=OPTIMIZED.len()).map(NestPlace::Optimized);
        let lowered = (0..=CPU.after_lowering.len()).map(NestPlace::Lowered);
        let device = (0..=DEVICE.after_lowering.len() + FOR_DEVICES.len()).map(NestPlace::Device);
        lowered.chain(plain).chain(optimized).chain([NestPlace::Scalar]).chain(device).collect()
    }

    /// What the nests of a function and of all that it calls are here.
    pub fn nests(self, module: &Module, name: &str) -> Result<Vec<LoopFunction>, String> {
        let way = |target: &'static TargetKind, way: NestPipeline| [target.after_lowering, way].concat();
        let after = |n: usize| CPU.after_lowering.len() + n;
        let (target, lanes, passes, n) = match self {
            NestPlace::Lowered(n) => (&CPU, None, way(&CPU, &[]), n),
            NestPlace::Plain(n) => (&CPU, Width::new(4), way(&CPU, PLAIN), after(n)),
            NestPlace::Optimized(n) => (&CPU, Width::new(4), way(&CPU, OPTIMIZED), after(n)),
            NestPlace::Scalar => (&CPU, Width::new(1), way(&CPU, OPTIMIZED), after(OPTIMIZED.len())),
            NestPlace::Device(n) => (&DEVICE, None, way(&DEVICE, FOR_DEVICES), n),
        };
        let tasks = TaskSizes { steps_of_task: 1.0, steps_of_range: 1.0, ..TaskSizes::default() };
        let context = NestContext { width: lanes, tasks, ..NestContext::default() };
        let mut nests = lowered(module, name, target)?;
        nests.iter_mut().for_each(|nest| run(&passes[..n], nest, &context));
        Ok(nests)
    }
}

/// A function of a case, or one of its derivatives, does on its nest what it does on the interpreter of the core IR, at one
/// place; the name of the case chooses both. All of them, at all places, in the campaign.
pub fn nests(case: &Case) -> Verdict {
    let (names, label) = (case.names(), case.subject.label.as_str());
    Verdict::of((|| {
        let calls: Vec<[Vec<Value>; 3]> =
            case.argument_lists().map(|args| case.calls(args)).collect::<Result<_, _>>()?;
        tier::chosen(&[0, 1, 2], 1, label).into_iter().try_for_each(|k: usize| {
            at_chosen_places(&case.subject.module, &names[k], label, |nests| {
                calls.iter().try_for_each(|of_all| agree(&case.subject.module, &names[k], &of_all[k], nests))
            })
        })
    })())
}

/// A function does on its nests what it does on the interpreter of the core IR, and their text reads back. The label chooses
/// the place.
pub fn same_on_nests(module: &Module, name: &str, args: &[Value], label: &str) -> Result<(), String> {
    at_chosen_places(module, name, label, |nests| {
        nests.iter().try_for_each(reads_back)?;
        agree(module, name, args, nests)
    })
}

/// Asks something of the nests of a function and of all that it calls.
fn at_chosen_places(
    module: &Module,
    name: &str,
    label: &str,
    ask: impl Fn(&VerifiedNests) -> Result<(), String>,
) -> Result<(), String> {
    tier::chosen(&NestPlace::all(), 1, label).into_iter().try_for_each(|place| {
        let nests = place.nests(module, name)?;
        let asked = VerifiedNests::new(nests).map_err(|e| e.to_string()).and_then(|nests| ask(&nests));
        asked.map_err(|e| format!("the nest of `{name}`, {place:?}: {e}"))
    })
}

/// One call on both interpreters.
fn agree(module: &Module, name: &str, args: &[Value], nests: &VerifiedNests) -> Result<(), String> {
    let (mut expected_text, mut text) = (String::new(), String::new());
    let expected = cotan_interp::run_with_output(module, name, args, &options(), &mut |text| expected_text += text);
    let expected = match expected {
        Ok(values) => Ok(values),
        Err(cotan_interp::RuntimeError::Check(failure)) => Err((failure.kind, failure.args, failure.span)),
        Err(other) => return Err(format!("on the core IR, {other}")),
    };
    let limits = cotan_nest::Options { steps: STEPS, ..cotan_nest::Options::default() };
    let found = cotan_nest::run_with_output(nests, name, args, &limits, &mut |piece| text += piece);
    if text != expected_text {
        return Err(format!("expected the output {expected_text:?}, found {text:?}"));
    }
    agrees(found, &expected, nests.iter().any(|nest| nest.regroups_sums))
}

/// Whether a nest is what its complete text stands for.
fn reads_back(nest: &LoopFunction) -> Result<(), String> {
    let text = print_nest(nest);
    let again = parse_nest(&text, Registry::standard()).map_err(|e| format!("its text does not parse: {e}\n{text}"))?;
    if again == *nest {
        return Ok(());
    }
    let (written, read) = (format!("{nest:#?}"), format!("{again:#?}"));
    let differing = written.lines().zip(read.lines()).find(|(a, b)| a != b);
    Err(format!("its text reads back otherwise: {differing:?}\n{text}"))
}

/// Enough for any program of the tests, and a bound on one that does not end.
const STEPS: u64 = 2_000_000_000;

/// What a run of the interpreter of the core IR gives: values, or a failed check.
type Expected = Result<Vec<Value>, (CheckKind, Vec<i128>, Span)>;

fn agrees(
    found: Result<Vec<Value>, cotan_nest::RuntimeError>,
    expected: &Expected,
    regroups: bool,
) -> Result<(), String> {
    match (found, expected) {
        (Ok(found), Ok(expected)) if regroups => regrouped(&found, expected),
        (Ok(found), Ok(expected)) => same_bits(&found, expected, "results"),
        (Err(cotan_nest::RuntimeError::Check(found)), Err((kind, args, span)))
            if (found.kind, &found.args, found.span) == (*kind, args, *span) =>
        {
            Ok(())
        }
        (Ok(found), Err(expected)) => Err(format!("expected {expected:?}, found {found:?}")),
        (Err(found), expected) => Err(format!("expected {expected:?}, found {found:?}")),
    }
}

/// Whether integers are equal and floats close.
fn regrouped(found: &[Value], expected: &[Value]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("expected {} values, found {}", expected.len(), found.len()));
    }
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        if !b.elem.is_float() {
            same_bits(std::slice::from_ref(a), std::slice::from_ref(b), "a result")?;
            continue;
        }
        let (x, y) = (floats(a), floats(b));
        let scale = y.iter().filter(|y| y.is_finite()).fold(0.0, |most: f64, y| most.max(y.abs()));
        let tolerance = tolerance(Property::Regrouped, if b.elem == Elem::F64 { Elem::F64 } else { Elem::F32 });
        let are_close = x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| close(*x, *y, scale, tolerance));
        if !are_close || a.dims != b.dims {
            return Err(format!("value {k}: expected {b:?}, found {a:?}"));
        }
    }
    Ok(())
}

/// The nests of a function and of all that it calls, lowered.
fn lowered(module: &Module, name: &str, target: &'static TargetKind) -> Result<Vec<LoopFunction>, String> {
    let mut nests = BTreeMap::new();
    let mut wanted = vec![name.to_owned()];
    while let Some(name) = wanted.pop() {
        if nests.contains_key(&name) {
            continue;
        }
        let f = module.function(&name).ok_or_else(|| format!("there is no function `{name}`"))?;
        let nest = lower_only(f, target);
        callees(&nest.body, &mut wanted);
        nests.insert(name, nest);
    }
    Ok(nests.into_values().collect())
}

fn callees(nodes: &[Node], names: &mut Vec<String>) {
    walk(nodes, &mut |node| {
        if let Node::Call { callee, .. } = node {
            names.push(callee.to_string());
        }
    });
}
