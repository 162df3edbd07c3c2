//! The inputs of the file tests of passes, and arguments for them.

use cotan_ir::{Const, Dim, Elem, Function, Module, parse_module, verify_module};
use cotan_ops::{Registry, Value, count};

/// What stands between the input and the output.
pub const BORDER: &str = "// ---\n";

/// The input of a file, and its module.
pub fn module(text: &str) -> Result<(&str, Module), String> {
    let source = text.split_once(BORDER).map_or(text, |(source, _)| source);
    let module = parse_module(source, Registry::standard()).map_err(|e| e.to_string())?;
    verify_module(&module).map_err(|all| format!("the input is malformed: {all:?}"))?;
    Ok((source, module))
}

/// How many lists of arguments differ in their sizes, or in their kind of numbers.
pub const VARIANTS: usize = 12;

/// Arguments of a function: small sizes, and numbers among which are both zeros, infinity and NaN. These hide faults, and
/// many an index is out of bounds; so variants 4 to 7 have ordinary numbers, and integers that are indices.
pub fn arguments(f: &Function, variant: usize) -> Vec<Value> {
    let sizes: Vec<_> = f.params.iter().flat_map(|p| f.ty(*p).dim_vars()).collect();
    let cell = if variant / 4 % 2 == 1 { ordinary } else { cell };
    let mut args: Vec<Value> = Vec::new();
    for (position, p) in f.params.iter().enumerate() {
        let ty = f.ty(*p);
        let extent = |d: &Dim| match d {
            Dim::Const(n) => *n,
            Dim::Var(v) => {
                let position = f.params.iter().position(|p| p == v).expect("a size is a parameter");
                args[position].integers().expect("a size is an i64")[0]
            }
        };
        let dims: Vec<i64> = ty.dims.iter().map(extent).collect();
        let is_size = sizes.contains(p);
        let number = |k: usize| variant * 7 + position * 5 + k;
        let bits = (0..count(&dims)).map(|k| if is_size { (variant % 4) as u64 } else { cell(ty.elem, number(k)) });
        let bits = bits.collect();
        args.push(Value { elem: ty.elem, dims, bits });
    }
    args
}

/// The bits of one element, a number of which the neighbours differ.
fn ordinary(elem: Elem, k: usize) -> u64 {
    match elem {
        Elem::F64 | Elem::F32 | Elem::F16 | Elem::BF16 => Const::float(elem, 0.5 + 0.125 * (k % 7) as f64).bits(),
        Elem::Bool => (k % 2) as u64,
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            Const::integer(elem, (k % 3) as i128).bits()
        }
    }
}

/// The bits of one element; the first four of the integers are the sizes 0 to 3.
fn cell(elem: Elem, k: usize) -> u64 {
    const FLOATS: [f64; 11] = [1.5, -0.0, -2.0, 0.25, 0.0, 3.0, f64::NAN, -0.7, f64::INFINITY, 1e-200, -1e-200];
    const INTEGERS: [i128; 7] = [0, 1, 2, 3, -1, 5, i64::MAX as i128];
    let float = FLOATS[k % FLOATS.len()];
    match elem {
        Elem::Bool => (k % 2) as u64,
        Elem::F64 | Elem::F32 | Elem::F16 | Elem::BF16 => Const::float(elem, float).bits(),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            Const::integer(elem, INTEGERS[k % INTEGERS.len()]).bits()
        }
    }
}
