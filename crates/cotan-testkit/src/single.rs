//! Functions of f32 against those of f64: the greatest error over many inputs, or all of them.

use crate::parallel;
use cotan::host::{Arguments, HostValue};
use cotan::{Compiler, Config, Engine, Function, Request};
use cotan_ir::Elem;
use cotan_ops::{Codegen, Value};
use std::fmt;

/// The greatest error of a function.
#[derive(Clone, Debug)]
pub struct Worst {
    /// The function.
    pub name: &'static str,
    /// Its greatest error, in units in the last place.
    pub ulps: f64,
    /// Where it is.
    pub at: f32,
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:.2} at {:e}", self.name, self.ulps, self.at)
    }
}

/// Inputs of one call.
const CHUNK: u64 = 1 << 16;

/// The words of functions of one float that backends write the code of.
fn words() -> Vec<&'static str> {
    let is_formula =
        |row: &&&cotan_ops::PrimRow| matches!(row.codegen, Codegen::Expansion(_)) && row.sig.operands.len() == 1;
    cotan_ops::table().iter().filter(is_formula).filter_map(|row| Some(row.words.first()?.name)).collect()
}

/// The greatest errors of all functions of one f32, in compiled code, at one of `one_of` inputs, beside the compiled function of
/// the same f64.
pub fn worst_errors(one_of: u64) -> Result<Vec<Worst>, String> {
    let compiler = Compiler::new(Config::default())?;
    let mut found = Vec::new();
    for name in words() {
        let text = format!(
            "fn single[N](x: f32[N]) -> f32[N] = map(|v| {name}(v), x)\n\
             fn double[N](x: f32[N]) -> f64[N] = map(|v| {name}(v as f64), x)\n"
        );
        let program = compiler.check("single.cot", &text);
        let compiled = |f: &str| {
            let function = compiler.function(&program, &Request::function(f), Engine::CPU);
            function.map_err(|error| format!("{name}: {error}"))
        };
        let both = [compiled("single")?, compiled("double")?];
        let chunks: Vec<u64> = (0..(1 << 32) / (CHUNK * one_of)).collect();
        let worst = parallel::map(&chunks, |chunk| worst_of(&both, chunk * CHUNK * one_of, one_of));
        let worst = worst.into_iter().collect::<Result<Vec<_>, String>>().map_err(|e| format!("{name}: {e}"))?;
        let start = (0.0, 0.0);
        let (ulps, at) = worst.into_iter().fold(start, |a, b| if b.0 > a.0 { b } else { a });
        found.push(Worst { name, ulps, at });
    }
    Ok(found)
}

/// The greatest error of a chunk of inputs from one on, and where it is.
fn worst_of([single, double]: &[Function; 2], first: u64, step: u64) -> Result<(f64, f32), String> {
    let bits: Vec<u64> = (0..CHUNK).map(|k| first + k * step).collect();
    let args = Value { elem: Elem::F32, dims: vec![CHUNK as i64], bits: bits.clone() };
    let args = Arguments::from([("x".to_owned(), HostValue::Tensor(args))]);
    let call = |f: &Function| {
        let value = f.call(&args).map_err(|e| e.to_string())?;
        value.as_tensor().map(|value| value.bits.clone()).ok_or_else(|| format!("{value:?} is no array"))
    };
    let (found, exact) = (call(single)?, call(double)?);
    let mut worst = (0.0, 0.0);
    for ((bits, found), exact) in bits.iter().zip(found).zip(exact) {
        let error = error(f32::from_bits(found as u32), f64::from_bits(exact));
        if error > worst.0 {
            worst = (error, f32::from_bits(*bits as u32));
        }
    }
    Ok(worst)
}

/// The error of an f32 in units in the last place of the exact value; infinity counts as the power of two above all f32.
fn error(found: f32, exact: f64) -> f64 {
    if found.is_nan() || exact.is_nan() {
        return if found.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let beyond = 2f64.powi(128);
    let found = if found.is_infinite() { beyond.copysign(found.into()) } else { f64::from(found) };
    let exact = exact.clamp(-beyond, beyond);
    let size = exact.abs().clamp(f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
    let exponent = (size.to_bits() >> 52) as i32 - 1023;
    (found - exact).abs() / 2f64.powi(exponent - 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_units_in_the_last_place() {
        assert_eq!(error(1.0, 1.0), 0.0);
        assert_eq!(error(1.0 + f32::EPSILON, 1.0), 1.0);
        assert_eq!(error(0.0, 2f64.powi(-150)), 0.5);
        assert_eq!(error(f32::INFINITY, 1e300), 0.0);
        assert_eq!(error(f32::MAX, 2f64.powi(128)), 1.0);
        assert_eq!(error(f32::NAN, 1.0), f64::INFINITY);
    }
}
