//! Loop nests on their reference interpreter against the core IR on its own: the same bits, errors and output, at each
//! place in the pipeline of the nests.

use super::Verdict;
use super::compiled::optimised_module;
use super::nest_runs::{agree, lowered};
use crate::bisection::{of_nests, with_guilty};
use crate::derived_case::Case;
use crate::tier;
use cotan_cpu::pipeline::{OPTIMIZED, PLAIN};
use cotan_ir::Module;
use cotan_loops::pipeline::{FOR_DEVICES, run};
use cotan_loops::{
    CPU, DEVICE, LoopFunction, NestContext, NestPipeline, TargetKind, TaskSizes, VerifiedNests, Width, parse_nest,
    print_nest,
};
use cotan_ops::{Registry, Value};

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
    /// At the end of the way to a device.
    pub fn on_devices() -> NestPlace {
        NestPlace::Device(DEVICE.after_lowering.len() + FOR_DEVICES.len())
    }

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
        let tasks = TaskSizes::SMALLEST;
        let context = NestContext { width: lanes, tasks, ..NestContext::default() };
        let mut nests = lowered(module, name, target)?;
        nests.iter_mut().for_each(|nest| run(&passes[..n], nest, &context));
        Ok(nests)
    }
}

/// A function of a case, or one of its derivatives, does on its nest what it does on the interpreter of the core IR, at one
/// place; the name of the case chooses both. All of them, optimised as well, at all places, in the campaign.
pub fn nests(case: &Case) -> Verdict {
    let (names, label) = (case.names(), case.subject.label.as_str());
    Verdict::of((|| {
        let calls: Vec<[Vec<Value>; 3]> =
            case.argument_lists().map(|args| case.calls(args)).collect::<Result<_, _>>()?;
        let optimised = tier::is_campaign().then(|| optimised_module(case));
        let modules: Vec<&Module> = [&case.subject.module].into_iter().chain(&optimised).collect();
        let forms: Vec<(usize, &Module)> = modules.into_iter().flat_map(|m| [0, 1, 2].map(|k| (k, m))).collect();
        tier::chosen(&forms, 1, label).into_iter().try_for_each(|(k, module)| {
            let name = &names[k];
            at_chosen_places(module, name, label, |nests| {
                let agrees = |args: &[Value]| {
                    let agreed = agree(module, name, args, nests);
                    agreed.map_err(|e| with_guilty(e, of_nests(module, name, args)))
                };
                calls.iter().try_for_each(|of_all| agrees(&of_all[k]))
            })
        })
    })())
}

/// A function does on its nests what it does on the interpreter of the core IR, and their text reads back. The label chooses
/// the place.
pub fn same_on_nests(module: &Module, name: &str, args: &[Value], label: &str) -> Result<(), String> {
    at_chosen_places(module, name, label, |nests| {
        nests.iter().try_for_each(reads_back)?;
        agree(module, name, args, nests).map_err(|e| with_guilty(e, of_nests(module, name, args)))
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
