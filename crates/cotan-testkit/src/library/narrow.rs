//! The wrappers in single precision against double precision on the same numbers, at every case.

use super::point::{Given, Point, Side, all_converted, compare};
use super::{Library, Outcome, Wrapper};
use crate::oracles::{close_all, same_bits};
use crate::tolerances::Property;
use cotan::Program;
use cotan_ir::Elem;
use cotan_ops::Value;

/// In f32 every wrapper gives, up to rounding, what it gives in f64, and so do its derivatives; errors are the same.
pub fn in_single_precision(library: &Library) -> Result<Outcome, String> {
    let wide = library.programs(Elem::F64, |_| String::new())?;
    let narrow = library.programs(Elem::F32, |_| String::new())?;
    Ok(library.ask_some("f32", |wrapper| ask(wrapper, &wide[wrapper.file], &narrow[wrapper.file])))
}

fn ask(wrapper: &Wrapper, wide: &Program, narrow: &Program) -> (usize, Vec<String>) {
    let points: Vec<Point> = wrapper.points.iter().map(|point| all_converted(point, Elem::F32)).collect();
    let doubles = points.iter().map(|point| all_converted(point, Elem::F64)).collect();
    compare(
        &Side { program: narrow, name: &wrapper.name, points },
        &Side { program: wide, name: &wrapper.name, points: doubles },
        agree,
    )
}

fn agree(single: &Given, mut double: Given) -> Result<(), String> {
    let case = &single.case;
    let integers = |given: &Given| given.results.iter().filter(|v| !v.elem.is_float()).cloned().collect::<Vec<_>>();
    same_bits(&integers(single), &integers(&double), "what is no float")?;
    double.case.tangents = all_converted(&case.tangents, Elem::F64);
    double.case.cotangents = all_converted(&case.cotangents, Elem::F64);
    let close = |found: &[Value], expected: &[Value], what: &str| {
        close_all(&all_converted(found, Elem::F64), expected, Property::Narrowed, case, what)
    };
    close(&single.results, &double.results, "value")?;
    close(&case.run_vjp()?.1, &double.case.run_vjp()?.1, "gradient")?;
    close(&case.run_jvp()?.1, &double.case.run_jvp()?.1, "tangent")?;
    single.derivatives_agree()
}
