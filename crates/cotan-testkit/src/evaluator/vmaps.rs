//! `vmap[axis](f)`: `f` for every position along an axis of its arguments.

use super::Machine;
use super::frame::Closure;
use super::value::{Flow, Tensor, Value, bug, flattened, needed, unflattened};
use cotan_sema::typed::Vmap;

impl<'p> Machine<'p> {
    /// A call of a `vmap` whose base stands in the frame of the callee.
    pub(super) fn vmap(
        &mut self,
        callee: &Closure<'p>,
        vmap: &'p Vmap,
        args: &[Value],
        functions: &[Option<Closure<'p>>],
    ) -> Flow<Value> {
        let mut fronts = Vec::new();
        let mut extent = None;
        for (arg, axis) in args.iter().zip(&vmap.axes) {
            let Some(axis) = axis else {
                fronts.push(arg.clone());
                continue;
            };
            needed(std::slice::from_ref(arg))?;
            let front = moved_axis(arg, *axis, true)?;
            extent = extent.or_else(|| first_extent(&front));
            fronts.push(front);
        }
        let Some(n) = extent else { return bug("a `vmap` over no axis") };
        let base = Closure { callable: &vmap.base, frame: callee.frame.clone() };
        let span = self.call_span;
        let arg = |(front, axis): (&Value, &Option<i64>), k: usize| match axis {
            Some(_) => row_of(front, k),
            None => Ok(front.clone()),
        };
        let stacked = self.stacked(&base, functions, &[n], span, &mut |_, k| {
            fronts.iter().zip(&vmap.axes).map(|given| arg(given, k)).collect()
        })?;
        moved_axis(&stacked, vmap.out, false)
    }
}

fn first_extent(value: &Value) -> Option<usize> {
    match value {
        Value::Tensor(tensor) => tensor.dims.first().copied(),
        Value::Fields(parts) => parts.iter().find_map(first_extent),
        Value::Number(_) | Value::Variant(..) | Value::Failed(_) => None,
    }
}

fn row_of(value: &Value, k: usize) -> Flow<Value> {
    match value {
        Value::Fields(parts) => parts.iter().map(|part| row_of(part, k)).collect::<Flow<_>>().map(Value::Fields),
        Value::Number(_) | Value::Tensor(_) | Value::Variant(..) | Value::Failed(_) => {
            value.tensor().map(|tensor| tensor.row(k))
        }
    }
}

/// The value with an axis of each tensor brought to the front, or from the front to its place. Positions beyond the
/// last one mean that, negative ones count from the back.
fn moved_axis(value: &Value, axis: i64, to_front: bool) -> Flow<Value> {
    let tensor = match value {
        Value::Fields(parts) => {
            let parts = parts.iter().map(|part| moved_axis(part, axis, to_front)).collect::<Flow<_>>()?;
            return Ok(Value::Fields(parts));
        }
        Value::Failed(_) => return Ok(value.clone()),
        Value::Number(_) | Value::Tensor(_) | Value::Variant(..) => value.tensor()?,
    };
    let last = tensor.dims.len() as i64 - 1;
    let at = if axis < 0 { axis.saturating_add(last + 1) } else { axis }.clamp(0, last) as usize;
    let rotate = |places: &mut [usize], forward: bool| {
        if forward { places[..=at].rotate_right(1) } else { places[..=at].rotate_left(1) }
    };
    let mut dims = tensor.dims.clone();
    rotate(&mut dims, to_front);
    let cell = |k: usize| {
        let mut position = unflattened(&dims, k);
        rotate(&mut position, !to_front);
        tensor.cells[flattened(&tensor.dims, &position)].clone()
    };
    Ok(Value::Tensor(Tensor::new(dims.clone(), (0..tensor.cells.len()).map(cell).collect())))
}
