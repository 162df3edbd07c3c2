//! Gradients by the tape engine: a second way, which shares no derivative rule for a statement with blocks.

use crate::backend::interpreter_options;
use crate::host::{Arguments, HostValue, fit_arguments, rebuild};
use crate::{CallError, CallLimits, ReadyModule};
use cotan_ir::Const;
use cotan_lower::entry::HostType;
use cotan_ops::Value;

/// What a lowered function gives, and its gradients with respect to parameters by name. The gradient is that of the
/// first component of the result, which must be a float. `limits` stop the run that is written down.
pub fn tape_gradient(
    lowered: &ReadyModule,
    args: &Arguments,
    wrt: &[String],
    memory: Option<u64>,
    limits: &CallLimits,
) -> Result<(HostValue, Vec<HostValue>), CallError> {
    let entry = &lowered.entry;
    let flat = fit_arguments(entry, args)?;
    let n_leaves: usize = entry.signature.params.iter().map(|p| p.ty.leaves().len()).sum();
    let mut first = flat.len() - n_leaves;
    let mut positions = Vec::new();
    // For each parameter: its place in the list, its type, and where its leaves begin.
    let mut params: Vec<(usize, &HostType, usize)> = Vec::new();
    for param in &entry.signature.params {
        let leaves = param.ty.leaves();
        if let Some(at) = wrt.iter().position(|name| *name == param.name) {
            positions.extend((0..leaves.len()).filter(|k| leaves[*k].elem.is_float()).map(|k| first + k));
            params.push((at, &param.ty, first));
        }
        first += leaves.len();
    }
    let value_position = entry.leaf_results.first().copied().unwrap_or_default();
    let HostType::Scalar(elem) = scalar_part(&entry.signature.result) else {
        return Err(CallError::Bug(format!("`{}` has no scalar to differentiate", entry.symbol)));
    };
    let seed = Value::from(Const::number(*elem, 1));
    let running = limits.start();
    running.begin()?;
    let options = limits.interpreter(interpreter_options(memory));
    let stop = running.watch().map(|watch| watch.stopping().clone());
    let traced = cotan_interp::tape::trace_watched(&lowered.module, &entry.symbol, &flat, &options, stop)
        .map_err(|e| running.error(e))?;
    let (results, cots) = (traced.values(), traced.vjp(&positions, &[value_position], &[seed])?);
    let mut leaves = entry.leaf_results.iter().filter_map(|k| results.get(*k).cloned());
    let value = rebuild(&entry.signature.result, &mut leaves);
    let mut cots = cots.into_iter();
    let mut gradients: Vec<(usize, HostValue)> = Vec::new();
    for (at, ty, first) in params {
        let leaves = ty.leaves();
        // The variants of a gradient are those of the argument.
        let mut gradient = ty.tangent_leaves().into_iter().map_while(|k| match leaves[k].is_tag {
            true => flat.get(first + k).cloned(),
            false => cots.next(),
        });
        let gradient = rebuild(&ty.tangent(), &mut gradient);
        gradients.push((at, gradient.ok_or_else(|| CallError::Bug("a gradient has too few leaves".to_owned()))?));
    }
    gradients.sort_by_key(|(at, _)| *at);
    let value = value.ok_or_else(|| CallError::Bug("the value has too few leaves".to_owned()))?;
    Ok((value, gradients.into_iter().map(|(_, g)| g).collect()))
}

/// The first component of a result that carries more than the value.
fn scalar_part(ty: &HostType) -> &HostType {
    match ty {
        HostType::Tuple(parts) => parts.first().map_or(ty, scalar_part),
        HostType::Scalar(_) | HostType::Tensor { .. } | HostType::Struct { .. } | HostType::Enum { .. } => ty,
    }
}
