//! The wrappers of arguments that are parts of other tensors, or have their axes in another order in memory.

use super::point::{Given, Point, Side, compare};
use super::wrapper_types::{Signature, Written};
use super::{Library, Outcome, Wrapper};
use crate::derived_case::{float_value, floats};
use crate::oracles::{close_all, same_bits};
use crate::tolerances::Property;
use cotan::Program;
use cotan_ir::{Const, Elem};
use cotan_ops::{Value, count};

/// How an argument lies in what is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// Matrices are transposed, lists are columns.
    Across,
    /// It is the second of three that follow one another.
    Row,
    /// It lies inside a longer one, along its first axis.
    Range,
    /// It is its first row again and again.
    Broadcast,
}

/// A matrix of equal rows is singular: these have no derivative there.
const NOT_SMOOTH: &[(View, &str)] = &[(View::Broadcast, "linalg.svd"), (View::Broadcast, "linalg.lstsq")];

impl View {
    const ALL: [View; 4] = [View::Across, View::Row, View::Range, View::Broadcast];

    fn made(self, wrapper: &Wrapper) -> String {
        let how = match self {
            View::Across => "across",
            View::Row => "row",
            View::Range => "range",
            View::Broadcast => "broadcast",
        };
        format!("{how}__{}", wrapper.name)
    }

    /// Whether an argument of that type is given otherwise.
    fn is_of(self, ty: &Written) -> bool {
        ty.is_float() && ty.rank() > 0
    }

    /// The type of what is given for an argument.
    fn given(self, ty: &Written) -> Written {
        let mut dims = ty.dims().to_vec();
        match self {
            View::Across if dims.len() == 1 => dims.push("2".to_owned()),
            View::Across => {
                let last = dims.len() - 1;
                dims.swap(last - 1, last);
            }
            View::Row => dims.insert(0, "3".to_owned()),
            View::Range => dims[0] = format!("{} + 3", dims[0]),
            View::Broadcast => {}
        }
        ty.with_dims(dims)
    }

    /// The argument in terms of what is given.
    fn taken(self, name: &str, ty: &Written) -> String {
        match self {
            View::Across if ty.rank() == 1 => format!("{name}[.., 1]"),
            View::Across => format!("transpose({name})"),
            View::Row => format!("{name}[1]"),
            View::Range => format!("({name}[1..{} + 1] : {ty})", ty.dims()[0]),
            View::Broadcast => format!("broadcast({name}[0], [{}])", ty.dims().join(", ")),
        }
    }

    /// The wrapper of views; nothing for one that takes no tensor of floats.
    fn text(self, wrapper: &Wrapper) -> String {
        let Signature { sizes, params, result } = &wrapper.signature;
        if !params.iter().any(|(_, ty)| self.is_of(ty)) {
            return String::new();
        }
        let (mut given, mut taken) = (Vec::new(), Vec::new());
        for (name, ty) in params {
            given.push((name.clone(), if self.is_of(ty) { self.given(ty) } else { ty.clone() }));
            taken.push(if self.is_of(ty) { self.taken(name, ty) } else { name.clone() });
        }
        let signature = Signature { sizes: sizes.clone(), params: given, result: result.clone() };
        signature.declare(&self.made(wrapper), &format!("{}({})", wrapper.name, taken.join(", ")))
    }

    /// What is given for an argument; what is not of it is `around`.
    fn around(self, value: &Value, around: f64) -> Value {
        let around = |n: usize| vec![Const::float(value.elem, around).bits(); n];
        let row = count(&value.dims[1..]);
        let (dims, bits) = match self {
            View::Across if value.dims.len() == 1 => {
                let bits = value.bits.iter().flat_map(|bits| [around(1), vec![*bits]].concat());
                (vec![value.dims[0], 2], bits.collect())
            }
            View::Across => return transposed(value),
            View::Row => {
                let n = value.bits.len();
                ([&[3], value.dims.as_slice()].concat(), [around(n), value.bits.clone(), around(n)].concat())
            }
            View::Range => {
                let dims = [&[value.dims[0] + 3], &value.dims[1..]].concat();
                (dims, [around(row), value.bits.clone(), around(2 * row)].concat())
            }
            View::Broadcast => (value.dims.clone(), value.bits.clone()),
        };
        Value { elem: value.elem, dims, bits }
    }

    /// The argument that results from what is given where it is not that of the case.
    fn argument(self, value: &Value) -> Value {
        match self {
            View::Across | View::Row | View::Range => value.clone(),
            View::Broadcast => {
                let row = count(&value.dims[1..]);
                let first = &value.bits[..row.min(value.bits.len())];
                Value { bits: first.iter().copied().cycle().take(value.bits.len()).collect(), ..value.clone() }
            }
        }
    }

    /// The cotangent of what is given from that of the argument.
    fn cotangent(self, cotangent: &Value) -> Value {
        match self {
            View::Across | View::Row | View::Range => self.around(cotangent, 0.0),
            View::Broadcast => {
                let row = count(&cotangent.dims[1..]);
                let mut sums = vec![0.0; cotangent.bits.len()];
                for (k, x) in floats(cotangent).into_iter().enumerate() {
                    sums[k % row] += x;
                }
                float_value(cotangent, &sums)
            }
        }
    }
}

/// The last two axes exchanged.
fn transposed(value: &Value) -> Value {
    let mut dims = value.dims.clone();
    let last = dims.len() - 1;
    dims.swap(last - 1, last);
    let (rows, columns) = (value.dims[last - 1] as usize, value.dims[last] as usize);
    let of_matrix = |matrix: &[u64]| -> Vec<u64> {
        (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| matrix[i * columns + j]).collect()
    };
    let bits = value.bits.chunks((rows * columns).max(1)).flat_map(of_matrix).collect();
    Value { elem: value.elem, dims, bits }
}

/// Each wrapper of views gives what it gives of tensors that lie alone in their order, and the cotangents are those,
/// at their places. Around them there is NaN, which would show.
pub fn of_views(library: &Library) -> Result<Outcome, String> {
    let made = |wrapper: &Wrapper| View::ALL.map(|view| view.text(wrapper)).concat();
    let programs = library.programs(Elem::F64, made)?;
    let mut outcome = library.ask_some("views", |wrapper| {
        let outcomes = View::ALL.map(|view| ask(wrapper, &programs[wrapper.file], view));
        (outcomes.iter().map(|(asked, _)| asked).sum(), outcomes.into_iter().flat_map(|(_, all)| all).collect())
    });
    outcome.failures.extend(library.unknown(NOT_SMOOTH.iter().map(|(_, label)| *label)));
    Ok(outcome)
}

fn ask(wrapper: &Wrapper, program: &Program, view: View) -> (usize, Vec<String>) {
    if view.text(wrapper).is_empty() {
        return (0, Vec::new());
    }
    let params = &wrapper.signature.params;
    let each = |point: &Point, f: &dyn Fn(&Value) -> Value| -> Point {
        point.iter().zip(params).map(|(v, (_, ty))| if view.is_of(ty) { f(v) } else { v.clone() }).collect()
    };
    let mut few = wrapper.few_points();
    // Nothing has no first row.
    few.retain(|point| view != View::Broadcast || point.iter().all(|v| v.dims.first() != Some(&0)));
    let points = few.iter().map(|point| each(point, &|v| view.around(v, f64::NAN))).collect();
    let plain = few.iter().map(|point| each(point, &|v| view.argument(v))).collect();
    let is_view: Vec<bool> = params.iter().filter(|(_, ty)| ty.is_float()).map(|(_, ty)| view.is_of(ty)).collect();
    let made = view.made(wrapper);
    let (found, plain) = (Side { program, name: &made, points }, Side { program, name: &wrapper.name, points: plain });
    let (asked, failures) = compare(&found, &plain, |found, plain| agree(found, plain, view, &is_view));
    if !NOT_SMOOTH.contains(&(view, wrapper.label.as_str())) {
        return (asked, failures);
    }
    let (asked, mut of_values) =
        compare(&found, &plain, |found, plain| same_bits(&found.results, &plain.results, "value"));
    if failures.is_empty() {
        of_values.push(format!("`{made}` is listed as not smooth, and its derivatives agree"));
    }
    (asked, of_values)
}

fn agree(found: &Given, mut plain: Given, view: View, is_view: &[bool]) -> Result<(), String> {
    same_bits(&found.results, &plain.results, "value")?;
    let case = &found.case;
    plain.case.cotangents = case.cotangents.clone();
    let cotangents = plain.case.run_vjp()?.1;
    let expected: Vec<Value> =
        cotangents.iter().zip(is_view).map(|(v, is)| if *is { view.cotangent(v) } else { v.clone() }).collect();
    close_all(&case.run_vjp()?.1, &expected, Property::Rewritten, case, "cotangent")?;
    found.derivatives_agree()
}
