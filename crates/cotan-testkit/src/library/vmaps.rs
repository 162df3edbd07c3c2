//! The wrappers under `vmap`: what each position gives is what a call with its arguments gives.

use super::point::{Asked, Given, Point, Prepared};
use super::wrapper_types::Signature;
use super::{Library, Outcome, Wrapper};
use crate::derived_case::{float_value, floats};
use crate::oracles::{close_all, same_bits};
use crate::tolerances::Property;
use cotan::Program;
use cotan_ir::Elem;
use cotan_ops::{Value, count};

/// What the floats of a case are multiplied by at each position. Positive numbers of at most 1 keep matrices definite,
/// lists sorted and shares between 0 and 1.
const FACTORS: [f64; 3] = [1.0, 0.75, 0.5];

/// The size that programs call the new axis.
const POSITIONS: &str = "Positions";

/// Where the new axis is, and which arguments have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    /// In front, of all tensors and floats.
    First,
    /// Behind the others, of floats; other arguments are the same for every position.
    Last,
}

impl Axis {
    const ALL: [Axis; 2] = [Axis::First, Axis::Last];

    /// Whether a parameter is gone over.
    fn takes(self, wrapper: &Wrapper, parameter: usize) -> bool {
        let (_, ty) = &wrapper.signature.params[parameter];
        ty.is_float() || self == Axis::First && ty.rank() > 0
    }

    /// The parameters that are gone over.
    fn taken(self, wrapper: &Wrapper) -> Vec<usize> {
        (0..wrapper.signature.params.len()).filter(|k| self.takes(wrapper, *k)).collect()
    }

    fn made(self, wrapper: &Wrapper) -> String {
        match self {
            Axis::First => format!("mapped__{}", wrapper.name),
            Axis::Last => format!("mapped_behind__{}", wrapper.name),
        }
    }

    /// The function over one more axis; nothing for a wrapper without an argument to go over.
    fn text(self, wrapper: &Wrapper) -> String {
        let Signature { sizes, params, result } = &wrapper.signature;
        if self.taken(wrapper).is_empty() {
            return String::new();
        }
        let is_last = self == Axis::Last;
        let (mut axes, mut mapped) = (Vec::new(), Vec::new());
        for (k, (name, ty)) in params.iter().enumerate() {
            let is_taken = self.takes(wrapper, k);
            axes.push(match (is_taken, self) {
                (false, _) => "_",
                (true, Axis::First) => "0",
                (true, Axis::Last) => "-1",
            });
            mapped.push((name.clone(), if is_taken { ty.with_axis(POSITIONS, is_last) } else { ty.clone() }));
        }
        let names: Vec<&str> = params.iter().map(|(name, _)| name.as_str()).collect();
        let out = if is_last { ", out = -1" } else { "" };
        let body = format!("vmap[{}{out}]({})({})", axes.join(", "), wrapper.name, names.join(", "));
        let sizes = [&[POSITIONS.to_owned()], sizes.as_slice()].concat();
        let result = result.with_axis(POSITIONS, is_last);
        Signature { sizes, params: mapped, result }.declare(&self.made(wrapper), &body)
    }

    /// Tensors of the same extents with one more axis.
    fn stacked(self, values: &[Value]) -> Result<Value, String> {
        let first = values.first().ok_or("nothing to stack")?;
        if values.iter().any(|v| v.dims != first.dims) {
            return Err("results of different extents".to_owned());
        }
        let n = values.len() as i64;
        let in_front = values.iter().flat_map(|v| v.bits.iter().copied());
        let (dims, bits) = match self {
            Axis::First => ([&[n], first.dims.as_slice()].concat(), in_front.collect()),
            Axis::Last => {
                let elements = 0..count(&first.dims);
                let bits = elements.flat_map(|k| values.iter().map(move |v| v.bits[k])).collect();
                ([first.dims.as_slice(), &[n]].concat(), bits)
            }
        };
        Ok(Value { elem: first.elem, dims, bits })
    }

    /// What positions give, list by list.
    fn all_stacked(
        self,
        positions: &[Given],
        of: &dyn Fn(&Given) -> Result<Vec<Value>, String>,
    ) -> Result<Vec<Value>, String> {
        let lists = positions.iter().map(of).collect::<Result<Vec<Vec<Value>>, String>>()?;
        let column = |k: usize| self.stacked(&lists.iter().map(|list| list[k].clone()).collect::<Vec<_>>());
        (0..lists.first().map_or(0, Vec::len)).map(column).collect()
    }

    /// The arguments of the function over one more axis.
    fn point(self, wrapper: &Wrapper, points: &[Point]) -> Result<Point, String> {
        let argument = |k: usize| {
            let values: Vec<Value> = points.iter().map(|point| point[k].clone()).collect();
            if self.takes(wrapper, k) { self.stacked(&values) } else { Ok(values[0].clone()) }
        };
        (0..wrapper.signature.params.len()).map(argument).collect()
    }
}

/// For each wrapper `vmap` over the first and over the last axis gives what calls give, one for each position; so do its
/// derivatives, and where a call fails, it fails.
pub fn under_vmap(library: &Library) -> Result<Outcome, String> {
    let made = |wrapper: &Wrapper| Axis::ALL.map(|axis| axis.text(wrapper)).concat();
    let programs = library.programs(Elem::F64, made)?;
    Ok(library.ask_some("vmap", |wrapper| {
        let (mut asked, mut failures) = (0, Vec::new());
        for axis in Axis::ALL.into_iter().filter(|axis| !axis.taken(wrapper).is_empty()) {
            match ask(wrapper, &programs[wrapper.file], axis) {
                Ok(n) => asked += n,
                Err(e) => failures.push(format!("`{}`: {e}", axis.made(wrapper))),
            }
        }
        (asked, failures)
    }))
}

fn ask(wrapper: &Wrapper, program: &Program, axis: Axis) -> Result<usize, String> {
    let few = wrapper.few_points();
    let lanes: Vec<Vec<Point>> = few.iter().map(|point| lanes(wrapper, point, axis)).collect();
    let points = lanes.iter().map(|points| axis.point(wrapper, points)).collect::<Result<Vec<Point>, String>>()?;
    let single = Prepared::interpreted(program, &wrapper.name, &lanes.concat())?.ok_or("every call fails")?;
    let mapped = Prepared::new(program, &axis.made(wrapper), &points)?.ok_or("it fails at every point")?;
    for (point, lanes) in points.iter().zip(&lanes) {
        let calls = lanes.iter().map(|lane| single.at(lane)).collect::<Result<Vec<Asked>, String>>()?;
        agree(mapped.at(point)?, calls, axis).map_err(|e| format!("{e}\n{point:?}"))?;
    }
    Ok(points.len())
}

/// The arguments of each position: floats are smaller and smaller, and what else is gone over turns around.
fn lanes(wrapper: &Wrapper, point: &Point, axis: Axis) -> Vec<Point> {
    let lane = |(n, factor): (usize, &f64)| {
        let argument = |(k, value): (usize, &Value)| match (value.elem.is_float(), axis.takes(wrapper, k)) {
            (true, _) => multiplied(value, *factor),
            (false, true) if n % 2 == 1 => turned(value),
            (false, _) => value.clone(),
        };
        point.iter().enumerate().map(argument).collect()
    };
    FACTORS.iter().enumerate().map(lane).collect()
}

/// The rows from the last to the first.
fn turned(value: &Value) -> Value {
    let row = count(&value.dims[1..]).max(1);
    Value { bits: value.bits.rchunks(row).flatten().copied().collect(), ..value.clone() }
}

fn agree(found: Asked, calls: Vec<Asked>, axis: Axis) -> Result<(), String> {
    let mut given = Vec::new();
    for call in calls {
        match (call, &found) {
            (Asked::Gives(one), _) => given.push(*one),
            (Asked::Fails(expected), Asked::Fails(kind)) if *kind == expected => return Ok(()),
            (Asked::Fails(expected), _) => return Err(format!("{found}, a call fails with {}", expected.code())),
        }
    }
    let Asked::Gives(mut mapped) = found else { return Err(format!("{found}, and no call does")) };
    // Each position has directions of its own.
    for (given, factor) in given.iter_mut().zip(FACTORS) {
        for direction in given.case.tangents.iter_mut().chain(&mut given.case.cotangents) {
            *direction = multiplied(direction, factor);
        }
    }
    let stacked = |of: &dyn Fn(&Given) -> Result<Vec<Value>, String>| axis.all_stacked(&given, of);
    same_bits(&mapped.results, &stacked(&|given| Ok(given.results.clone()))?, "value")?;
    let case = &mut mapped.case;
    case.tangents = stacked(&|given| Ok(given.case.tangents.clone()))?;
    case.cotangents = stacked(&|given| Ok(given.case.cotangents.clone()))?;
    let tangents = stacked(&|given| Ok(given.case.run_jvp()?.1))?;
    close_all(&case.run_jvp()?.1, &tangents, Property::Rewritten, case, "tangent")?;
    let cotangents = stacked(&|given| Ok(given.case.run_vjp()?.1))?;
    close_all(&case.run_vjp()?.1, &cotangents, Property::Rewritten, case, "cotangent")?;
    mapped.derivatives_agree()
}

fn multiplied(value: &Value, factor: f64) -> Value {
    float_value(value, &floats(value).iter().map(|x| x * factor).collect::<Vec<_>>())
}
