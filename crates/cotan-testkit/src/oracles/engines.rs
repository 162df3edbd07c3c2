//! One engine against another: forward against reverse, the passes against the tape, plain against simplified.

use super::Verdict;
use super::comparison::same_bits;
use crate::bisection::{of_core, with_guilty};
use crate::derived_case::{Case, dot, floats, function, options};
use crate::tier;
use crate::tolerances::{Property, close, tolerance};
use cotan_interp::tape as tape_engine;
use cotan_ops::Value;
use cotan_opt::{OPTIMIZE, PassContext, SIMPLIFY};

/// The values computed inside a derivative are those of the program, bit for bit.
pub fn primal_value(case: &Case) -> Verdict {
    Verdict::of((|| {
        same_bits(&case.run_jvp()?.0, &case.results, "values inside the jvp")?;
        same_bits(&case.run_vjp()?.0, &case.results, "values inside the vjp")
    })())
}

/// The pipelines of passes keep the bits, those of derivatives too. Two of these runs, by the program's name; all in the campaign.
pub fn simplified(case: &Case) -> Verdict {
    Verdict::of((|| {
        let pipelines = [("simplified", &SIMPLIFY), ("optimized", &OPTIMIZE)];
        let (names, calls) = (case.names(), case.calls(&case.subject.args)?);
        let runs: Vec<_> = (0..names.len()).flat_map(|k| pipelines.map(|pipeline| (k, pipeline))).collect();
        for (k, (what, pipeline)) in tier::chosen(&runs, 2, &case.subject.label) {
            let (name, args) = (&names[k], &calls[k]);
            let expected = case.run(name, args)?;
            let mut module = case.subject.module.clone();
            let mut f = pipeline.run(function(&module, name)?.clone(), &PassContext::default());
            f.name = format!("{name}.{what}").into();
            let f = module.insert(f);
            let found = cotan_interp::run(&module, &f.name, args, &options());
            let found = found.map_err(|e| format!("{what} `{name}`: {e}"))?;
            let same = same_bits(&found, &expected, &format!("{what} `{name}`"));
            same.map_err(|e| with_guilty(e, of_core(&case.subject.module, name, args)))?;
        }
        Ok(())
    })())
}

/// `<u, J v>` by forward mode is `<J' u, v>` by reverse mode.
pub fn dot_product(case: &Case) -> Verdict {
    Verdict::of((|| {
        let ((_, tangents), (_, cotangents)) = (case.run_jvp()?, case.run_vjp()?);
        let (forward, scale) = dot(&tangents, &case.cotangents);
        let (reverse, more) = dot(&cotangents, &case.tangents);
        let tolerance = tolerance(Property::DotProduct, case.elem());
        if close(forward, reverse, scale + more, tolerance) {
            return Ok(());
        }
        Err(format!("<u, J v> is {forward} by forward mode and {reverse} by reverse mode (terms sum to {scale})"))
    })())
}

/// The tape engine gives the derivatives of the passes.
pub fn tape(case: &Case) -> Verdict {
    Verdict::of((|| {
        let subject = &case.subject;
        let fails = |e: cotan_interp::RuntimeError| format!("the tape engine fails: {e}");
        let (values, tangents) = tape_engine::jvp(
            &subject.module,
            &subject.name,
            &subject.args,
            &case.wrt,
            &case.tangents,
            &case.outs,
            &options(),
        )
        .map_err(fails)?;
        same_bits(&values, &case.results, "values of the tape")?;
        close_all(&tangents, &case.run_jvp()?.1, Property::Tape, case, "tangent by tape and by jvp")?;
        let (values, cotangents) = tape_engine::vjp(
            &subject.module,
            &subject.name,
            &subject.args,
            &case.wrt,
            &case.outs,
            &case.cotangents,
            &options(),
        )
        .map_err(fails)?;
        same_bits(&values, &case.results, "values of the tape")?;
        close_all(&cotangents, &case.run_vjp()?.1, Property::Tape, case, "cotangent by tape and by vjp")
    })())
}

/// The value without signs of zeros.
pub fn with_one_zero(value: &Value) -> Value {
    let mut value = value.clone();
    for (k, x) in value.floats().into_iter().flatten().enumerate() {
        if x == 0.0 {
            value.bits[k] = 0;
        }
    }
    value
}

/// Whether floats agree, each relative to the largest of its tensor.
pub(crate) fn close_all(
    found: &[Value],
    expected: &[Value],
    property: Property,
    case: &Case,
    what: &str,
) -> Result<(), String> {
    let tolerance = tolerance(property, case.elem());
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        if a.dims != b.dims {
            return Err(format!("{what}: value {k} has extents {:?}, expected {:?}", a.dims, b.dims));
        }
        let (a, b) = (floats(a), floats(b));
        let scale = a.iter().chain(&b).filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
        for (at, (x, y)) in a.iter().zip(&b).enumerate() {
            if !close(*x, *y, scale, tolerance) {
                return Err(format!("{what}: value {k}, element {at}: {x} and {y}"));
            }
        }
    }
    Ok(())
}
