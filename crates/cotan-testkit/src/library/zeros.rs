//! What warnings and pages say of derivatives that are zero, at the cases of the wrappers.

use super::point::{Asked, Point, Prepared, is_finite};
use super::{Library, Wrapper};
use crate::derived_case::floats;
use crate::parallel;
use crate::zeros::{Claims, is_warned};
use cotan::Program;
use cotan::manifest::{Manifest, manifest};
use cotan_ir::Elem;

/// Every claim that the derivative of a wrapper, or of the operation that it wraps, is zero in a parameter.
pub fn zeros(library: &Library) -> Result<Claims, String> {
    let programs = library.programs(Elem::F64, |_| String::new())?;
    let manifest = manifest(&cotan::library::standard()).map_err(|e| e.to_string())?;
    let claims = parallel::map(&library.wrappers, |wrapper| {
        let claims = ask(wrapper, &programs[wrapper.file], &manifest);
        claims.map_err(|e| format!("`{}`: {e}", wrapper.label))
    });
    claims.into_iter().try_fold(Claims::default(), |all, claims| Ok(all.and(claims?)))
}

fn ask(wrapper: &Wrapper, program: &Program, manifest: &Manifest) -> Result<Claims, String> {
    let mut claims = Claims::default();
    let points: Vec<Point> = wrapper.few_points().into_iter().filter(|p| is_finite(p)).cloned().collect();
    if !wrapper.takes_floats() {
        return Ok(claims);
    }
    let Some(prepared) = Prepared::interpreted(program, &wrapper.name, &points)? else { return Ok(claims) };
    let operation = format!("std.{}", wrapper.label.split("__").next().unwrap_or_default());
    let operation = manifest.operations.iter().find(|entry| entry.name == operation);
    for point in &points {
        let Asked::Gives(given) = prepared.at(point)? else { continue };
        let (_, cotangents) = given.case.run_vjp()?;
        let float_params = wrapper.signature.params.iter().filter(|(_, ty)| ty.is_float());
        for ((param, _), cotangent) in float_params.zip(&cotangents) {
            let on_page = operation.and_then(|entry| entry.operands.iter().find(|operand| operand.name == *param));
            let on_page = on_page.is_some_and(|operand| operand.differentiability == "zero");
            let is_claimed = on_page || is_warned(program, &wrapper.name, param);
            claims.judge(&wrapper.label, param, is_claimed, &floats(cotangent));
        }
    }
    Ok(claims)
}
