//! The wrappers with arguments and results in the types for storage.

use super::point::{Given, Point, Side, all_converted, compare};
use super::wrapper_types::{Signature, Written};
use super::{Library, Outcome, Wrapper};
use crate::oracles::{close_all, same_bits};
use crate::tolerances::Property;
use cotan::Program;
use cotan_ir::Elem;

/// Each wrapper with arguments that are stored in f16 or bf16 and computed with in f32, and results that are stored again:
/// the bits are those of the wrapper in f32 on the same numbers, narrowed, and so are derivatives up to rounding.
pub fn in_storage(library: &Library, elem: Elem) -> Result<Outcome, String> {
    let programs = library.programs(Elem::F32, |wrapper| stored(wrapper, elem))?;
    Ok(library.ask_some(elem.name(), |wrapper| {
        if wrapper.takes_floats() { ask(wrapper, &programs[wrapper.file], elem) } else { (0, Vec::new()) }
    }))
}

/// The name of what is made of a wrapper.
fn made(wrapper: &Wrapper) -> String {
    format!("stored__{}", wrapper.name)
}

/// The function between numbers in storage; nothing for a wrapper without floats.
fn stored(wrapper: &Wrapper, elem: Elem) -> String {
    if !wrapper.takes_floats() {
        return String::new();
    }
    let signature = &wrapper.signature;
    let args =
        signature.params.iter().map(|(name, ty)| if ty.is_float() { format!("{name} as f32") } else { name.clone() });
    let call = format!("{}({})", wrapper.name, args.collect::<Vec<_>>().join(", "));
    let narrowed = |(k, part): (usize, &Written)| {
        if part.is_float() { format!("r{k} as {elem}") } else { format!("r{k}") }
    };
    let parts = signature.result.parts();
    let names: Vec<String> = (0..parts.len()).map(|k| format!("r{k}")).collect();
    let results: Vec<String> = parts.iter().enumerate().map(narrowed).collect();
    let list = |items: Vec<String>| if items.len() == 1 { items.concat() } else { format!("({})", items.join(", ")) };
    let body = format!("let {} = {call}; {}", list(names), list(results));
    let params = signature.params.iter().map(|(name, ty)| (name.clone(), ty.with_floats(elem.name()))).collect();
    let result = signature.result.with_floats(elem.name());
    Signature { params, result, ..signature.clone() }.declare(&made(wrapper), &body)
}

fn ask(wrapper: &Wrapper, program: &Program, elem: Elem) -> (usize, Vec<String>) {
    let points: Vec<Point> = wrapper.few_points().into_iter().map(|point| all_converted(point, elem)).collect();
    let singles = points.iter().map(|point| all_converted(point, Elem::F32)).collect();
    compare(
        &Side { program, name: &made(wrapper), points },
        &Side { program, name: &wrapper.name, points: singles },
        |stored, single| agree(stored, single, elem),
    )
}

pub(super) fn agree(stored: &Given, mut single: Given, elem: Elem) -> Result<(), String> {
    same_bits(&stored.results, &all_converted(&single.results, elem), "value")?;
    let case = &stored.case;
    single.case.tangents = case.tangents.clone();
    single.case.cotangents = case.cotangents.clone();
    close_all(&case.run_vjp()?.1, &single.case.run_vjp()?.1, Property::Rewritten, case, "gradient")?;
    close_all(&case.run_jvp()?.1, &single.case.run_jvp()?.1, Property::Rewritten, case, "tangent")
}
