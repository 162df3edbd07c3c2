//! The functions of the prelude that are no scalar primitives.

use cotan_ir::{Atom, CheckKind, Const, Dim as IrDim, Elem, Monoid, Ty, bug};
use cotan_ops::{ADD, AND, CONCAT, EQ, FILL, LT, MUL, NOT, RESHAPE, SELECT, TRANSPOSE};
use cotan_syntax::Span;
use cotan_syntax::ast::FoldOp;

use super::Result;
use super::body::{Body, Closure, Value};
use super::code::Code;
use super::control::UNIT;
use super::leaves;
use super::values::elem_of;
use super::vectors::Operand;
use cotan_sema::dims::Dim;
use cotan_sema::typed::{Arg, Builtin, Expr, Type};

impl<'a, 'p> Body<'a, 'p> {
    /// A call of a builtin; `e` is the whole expression.
    pub(super) fn builtin(&mut self, builtin: Builtin, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
        match builtin {
            Builtin::Tabulate => tabulate(self, args, e),
            Builtin::Map => map(self, args),
            Builtin::Zip => values_of(self, args).map(|values| values.concat()),
            Builtin::Scan => scan(self, args),
            Builtin::Fold => fold_with(self, args),
            Builtin::Iterate => iterate(self, args),
            Builtin::IterateUntil => iterate_until(self, args),
            Builtin::Concat => concat(self, args, e),
            Builtin::Reverse => {
                let value = self.value(&args[0])?;
                Ok(self.code.reversed(value))
            }
            Builtin::Transpose => {
                let value = self.value(&args[0])?;
                Ok(value.into_iter().map(|leaf| transposed(&mut self.code, leaf)).collect())
            }
            Builtin::Reshape => reshape(self, args, e),
            Builtin::Broadcast => broadcast(self, args, e),
            Builtin::Zeros => filled(self, args, e, None, 0),
            Builtin::Ones => filled(self, args, e, None, 1),
            Builtin::Full => {
                let (value, counts) = args.split_last().expect("invariant: `full` has arguments");
                filled(self, counts, e, Some(value), 0)
            }
            Builtin::ZerosLike => {
                let value = self.value(&args[0])?;
                let types = self.layout.leaf_types(&e.ty);
                let mut zeros = Value::new();
                for (leaf, ty) in value.into_iter().zip(types) {
                    let Ty { elem, dims } = self.code.b.ty(leaf);
                    zeros.push(if ty.is_tag { leaf } else { self.code.fill(Const::zero(elem).into(), &dims) });
                }
                Ok(zeros)
            }
            Builtin::Iota => {
                let count = counts_of(self, args, e)?[0];
                let elem = e.ty.scalar().map_or(Elem::I64, elem_of);
                Ok(vec![self.code.iota(elem, count)])
            }
            Builtin::Diag => diag(self, args),
            Builtin::Trace => of_tensor(self, args, |body, tensor| body.trace(tensor)),
            Builtin::Sum => of_tensor(self, args, |body, tensor| body.fold_all(FoldOp::Add, tensor)),
            Builtin::Prod => of_tensor(self, args, |body, tensor| body.fold_all(FoldOp::Mul, tensor)),
            Builtin::Mean => of_tensor(self, args, |body, tensor| body.mean(tensor)),
            Builtin::Dot => {
                let values = values_of(self, args)?;
                Ok(vec![self.dot(values[0][0], values[1][0])?])
            }
            Builtin::Norm => norm(self, args, e),
            Builtin::MapLeaves => {
                let values = operands(self, &args[1..])?;
                self.map_leaves(closure_of(self, &args[0]), &values)
            }
            Builtin::SumLeaves => sum_leaves(self, args),
            Builtin::Inner => inner(self, args),
            Builtin::Close => close(self, args),
            Builtin::CountLeaves => count_leaves(self, args),
            Builtin::StopGradient => self.value(&args[0]).map(|value| self.code.without_derivative(value)),
            Builtin::Each => self.each(args),
            Builtin::Sort => of_tensor(self, args, |body, tensor| body.sorted(tensor)),
            Builtin::Argsort => of_tensor(self, args, |body, tensor| Ok(body.code.sorted_positions(tensor))),
            Builtin::Argmax => of_tensor(self, args, |body, tensor| body.position_of_extreme(Monoid::Max, tensor)),
            Builtin::Argmin => of_tensor(self, args, |body, tensor| body.position_of_extreme(Monoid::Min, tensor)),
            Builtin::Cumsum => of_tensor(self, args, |body, tensor| body.running(FoldOp::Add, tensor)),
            Builtin::Cumprod => of_tensor(self, args, |body, tensor| body.running(FoldOp::Mul, tensor)),
            Builtin::Gather => {
                let (value, positions) = (self.value(&args[0])?, self.value(&args[1])?[0]);
                self.gathered(&value, positions, span_of(&args[1]))
            }
            Builtin::Operation(op, n_attrs) => self.operation(op, args.split_at(n_attrs), e),
            Builtin::WrappingAs => of_tensor(self, args, |body, tensor| {
                let elem = e.ty.scalar().map_or(Elem::I64, elem_of);
                Ok(body.code.convert(tensor, elem))
            }),
        }
    }

    // ---- arguments

    pub(super) fn value(&mut self, arg: &'p Arg) -> Result<Value> {
        match arg {
            Arg::Value(e) => self.expr(e),
            Arg::Function(_) | Arg::Pack(_) => Ok(Value::new()),
        }
    }

    fn each(&mut self, args: &'p [Arg]) -> Result<Value> {
        let (tensor, function) = (self.value(&args[0])?, closure_of(self, &args[1]));
        let count = self.first_extent(ty_of(&args[0]), &tensor);
        self.counted(count, &[], &mut |body, index, _| {
            let row = body.code.row(&tensor, &[index]);
            body.apply(function, vec![row], &[])
        })
    }
}

fn values_of<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    for arg in args {
        values.push(body.value(arg)?);
    }
    Ok(values)
}

/// `norm(v)`: of a tensor in its type, or of all floats of a value, an f64, which may turn out to be a tensor of another type.
fn norm<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
    let (ty, value) = (ty_of(&args[0]), body.value(&args[0])?);
    let elem = |ty: &Type| ty.scalar().map(elem_of);
    let is_wide = elem(&e.ty) == Some(Elem::F64) && elem(ty) != Some(Elem::F64);
    let norm = if is_wide { body.norm_of_leaves(ty, value)? } else { body.code.norm(value[0])? };
    Ok(vec![norm])
}

/// `sum_leaves(v)`
fn sum_leaves<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let value = body.value(&args[0])?;
    Ok(vec![body.sum_of_leaves(ty_of(&args[0]), value)?])
}

/// `close(a, b, tolerance)`
fn close<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let values = operands(body, &args[..2])?;
    let tolerance = body.value(&args[2])?[0];
    Ok(vec![leaves::close(body, &values, tolerance)?])
}

/// `inner(a, b)`
fn inner<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let values = operands(body, args)?;
    Ok(vec![body.inner(&values)?])
}

/// `count_leaves(v)`
fn count_leaves<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let value = body.value(&args[0])?;
    Ok(vec![body.count_of_leaves(ty_of(&args[0]), value)])
}

/// Values with their types.
fn operands<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Vec<Operand<'p>>> {
    let values = values_of(body, args)?;
    Ok(args.iter().map(ty_of).zip(values).collect())
}

fn closure_of<'p>(body: &Body<'_, 'p>, arg: &'p Arg) -> Closure<'p> {
    match arg {
        Arg::Function(callable) => body.closure(callable),
        Arg::Value(_) | Arg::Pack(_) => {
            bug!("lowering", format_args!("{arg:?}"), "the checker gives a function where a builtin takes one")
        }
    }
}

fn of_tensor<'a, 'p>(
    body: &mut Body<'a, 'p>,
    args: &'p [Arg],
    f: impl FnOnce(&mut Body<'a, 'p>, Atom) -> Result<Atom>,
) -> Result<Value> {
    let tensor = body.value(&args[0])?[0];
    Ok(vec![f(body, tensor)?])
}

fn ty_of(arg: &Arg) -> &Type {
    match arg {
        Arg::Value(e) => &e.ty,
        Arg::Function(_) | Arg::Pack(_) => &UNIT,
    }
}

fn span_of(arg: &Arg) -> Span {
    match arg {
        Arg::Value(e) => e.span,
        Arg::Function(callable) => callable.span,
        Arg::Pack(_) => Span::default(),
    }
}

/// Counts that are the leading extents of the result.
fn counts_of<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg], e: &'p Expr) -> Result<Vec<Atom>> {
    let dims = body.layout.leaf_types(&e.ty).first().map(|leaf| leaf.dims.clone()).unwrap_or_default();
    let mut counts = Vec::new();
    for (k, arg) in args.iter().enumerate() {
        let count = body.value(arg)?[0];
        let count = body.at(span_of(arg), |body| known_count(body, count, dims.get(k)));
        counts.push(count);
    }
    Ok(counts)
}

/// A count, which is not negative, under the name of the size that it is.
fn known_count(body: &mut Body<'_, '_>, count: Atom, dim: Option<&Dim>) -> Atom {
    let count = body.code.as_i64(count);
    let Some(dim) = dim else { return body.code.checked_count(count) };
    if dim.is_surely_non_negative()
        && let Some(known) = body.size(dim)
    {
        return known;
    }
    let count = body.code.checked_count(count);
    if dim.as_constant().is_none() && body.known_size(dim).is_none() {
        body.know_size(dim, count);
    }
    count
}

// ---- parallel

fn tabulate<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
    let (function, counts) = args.split_last().expect("invariant: `tabulate` has arguments");
    let counts = counts_of(body, counts, e)?;
    let tys = integer_params(body, function);
    let function = closure_of(body, function);
    body.stack(&counts, &function.callable.result, &mut |body, at| {
        let mut indices = Vec::new();
        for (index, elem) in at.iter().zip(&tys) {
            indices.push(vec![if *elem == Elem::I64 { *index } else { body.code.cast(*index, *elem) }]);
        }
        body.apply(function, indices, &[])
    })
}

fn integer_params<'p>(body: &Body<'_, 'p>, function: &'p Arg) -> Vec<Elem> {
    let params = closure_of(body, function).callable.params.iter();
    params.map(|ty| ty.scalar().map_or(Elem::I64, elem_of)).collect()
}

fn map<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let is_function = |arg: &Arg| matches!(arg, Arg::Function(_));
    let n_counts = args.iter().position(is_function).expect("invariant: `map` has a function");
    let (function, tensors) = (closure_of(body, &args[n_counts]), &args[n_counts + 1..]);
    let mut counts: Vec<Atom> = values_of(body, &args[..n_counts])?.concat();
    let values = values_of(body, tensors)?;
    if counts.is_empty() {
        counts.push(body.first_extent(ty_of(&tensors[0]), &values[0]));
    }
    body.stack(&counts, &function.callable.result, &mut |body, at| {
        let rows = values.iter().map(|value| body.code.row(value, at)).collect();
        body.apply(function, rows, &[])
    })
}

fn diag<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let tensor = body.value(&args[0])?[0];
    let ty = body.code.b.ty(tensor);
    let n = ty.dims[0].atom();
    if ty.rank() == 2 {
        return body.stacked(&[n], &mut |body, at| Ok(vec![body.code.b.index(tensor, &[at[0], at[0]]).into()]));
    }
    body.stacked(&[n, n], &mut |body, at| {
        let element = body.code.b.index(tensor, &at[..1]).into();
        let is_diagonal = body.code.prim(&EQ, &[at[0], at[1]]);
        Ok(vec![body.code.prim(&SELECT, &[is_diagonal, element, Const::zero(ty.elem).into()])])
    })
}

// ---- sequential

/// Start values of a loop, with the names that they have in the function that takes them.
fn loop_state<'p>(body: &mut Body<'_, 'p>, function: Closure<'p>, ty: &Type, init: &Value) -> Vec<(String, Atom)> {
    let name = match &function.callable.kind {
        cotan_sema::typed::CallableKind::Lambda(lambda) => match lambda.params.first().map(|p| &p.kind) {
            Some(cotan_sema::typed::PatternKind::Local(id)) => body.current().table[id.0 as usize].name.clone(),
            Some(_) | None => "state".to_owned(),
        },
        cotan_sema::typed::CallableKind::Function { .. }
        | cotan_sema::typed::CallableKind::Param(_)
        | cotan_sema::typed::CallableKind::Derivative(_)
        | cotan_sema::typed::CallableKind::Vmap(_) => "state".to_owned(),
    };
    let init = body.steady(ty, init);
    body.layout.leaf_names(&name, ty).into_iter().zip(init).collect()
}

fn fold_with<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let (init, function, tensor) = (body.value(&args[0])?, closure_of(body, &args[1]), body.value(&args[2])?);
    let ty = ty_of(&args[0]);
    let inits = loop_state(body, function, ty, &init);
    let count = body.first_extent(ty_of(&args[2]), &tensor);
    body.counted(count, &borrowed(&inits), &mut |body, index, acc| {
        let row = body.code.row(&tensor, &[index]);
        let next = body.apply(function, vec![acc.to_vec(), row], &[])?;
        Ok(body.like(ty, &next, acc))
    })
}

fn scan<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let (init, function, tensor) = (body.value(&args[0])?, closure_of(body, &args[1]), body.value(&args[2])?);
    let inits = loop_state(body, function, ty_of(&args[0]), &init);
    let count = body.first_extent(ty_of(&args[2]), &tensor);
    let results = body.counted(count, &borrowed(&inits), &mut |body, index, acc| {
        let row = body.code.row(&tensor, &[index]);
        let next = body.apply(function, vec![acc.to_vec(), row], &[])?;
        let mut stacked = Value::new();
        for (leaf, acc) in next.iter().zip(acc) {
            let dims: Vec<Atom> = body.code.b.ty(*acc).dims.iter().map(|dim| dim.atom()).collect();
            stacked.push(body.code.with_dims(*leaf, &dims, CheckKind::ShapeMismatch));
        }
        Ok([next, stacked].concat())
    })?;
    Ok(results[init.len()..].to_vec())
}

fn iterate<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let (count, init, function) = (body.value(&args[0])?[0], body.value(&args[1])?, closure_of(body, &args[2]));
    let ty = ty_of(&args[1]);
    let inits = loop_state(body, function, ty, &init);
    let count = body.code.as_i64(count);
    body.counted(count, &borrowed(&inits), &mut |body, _, state| {
        let next = body.apply(function, vec![state.to_vec()], &[])?;
        Ok(body.like(ty, &next, state))
    })
}

fn iterate_until<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg]) -> Result<Value> {
    let init = body.value(&args[0])?;
    let (step, done) = (closure_of(body, &args[1]), closure_of(body, &args[2]));
    let limit = body.value(&args[3])?[0];
    let limit = body.code.as_i64(limit);
    let mut inits = vec![("running".to_owned(), body.code.prim(&LT, &[Atom::i64(0), limit]))];
    let ty = ty_of(&args[0]);
    inits.extend(loop_state(body, step, ty, &init));
    let results = body.repeat("i", None, &borrowed(&inits), &mut |body, index, state| {
        let next = body.apply(step, vec![state[1..].to_vec()], &[])?;
        let next = body.like(ty, &next, &state[1..]);
        let is_done = body.apply(done, vec![next.clone()], &[])?[0];
        let goes_on = body.code.prim(&NOT, &[is_done]);
        let following = body.code.prim(&ADD, &[index, Atom::i64(1)]);
        let is_below = body.code.prim(&LT, &[following, limit]);
        let running = body.code.prim(&AND, &[goes_on, is_below]);
        Ok([vec![running], next].concat())
    })?;
    Ok(results[1..].to_vec())
}

// ---- structure

fn concat<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
    let values = values_of(body, args)?;
    // A sum of sizes that may be negative is taken from the parts, which were checked.
    let is_safe = |dim: &&Dim| dim.is_surely_non_negative() || dim.as_constant().is_some();
    let named = e.ty.dims().first().filter(is_safe).and_then(|dim| body.size(dim));
    let mut joined = Value::new();
    for k in 0..values[0].len() {
        let parts: Value = values.iter().map(|value| value[k]).collect();
        let mut ty = body.code.b.ty(parts[0]);
        let length = match named {
            Some(length) => length,
            None => {
                let mut sum = ty.dims[0].atom();
                for part in &parts[1..] {
                    let n = body.code.b.ty(*part).dims[0].atom();
                    sum = body.code.prim(&ADD, &[sum, n]);
                }
                sum
            }
        };
        ty.dims[0] = IrDim::from_atom(length);
        joined.push(body.code.b.tensor(CONCAT.op(), &parts, &[0], ty).into());
    }
    Ok(joined)
}

fn transposed(code: &mut Code, leaf: Atom) -> Atom {
    let mut ty = code.b.ty(leaf);
    let rank = ty.rank();
    let mut perm: Vec<i64> = (0..rank as i64).collect();
    perm.swap(rank - 2, rank - 1);
    ty.dims.swap(rank - 2, rank - 1);
    code.b.tensor(TRANSPOSE.op(), &[leaf], &perm, ty).into()
}

fn reshape<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
    let value = body.value(&args[0])?;
    let counts = counts_of(body, &args[1..], e)?;
    let n_axes = ty_of(&args[0]).dims().len();
    let is_known = product(ty_of(&args[0]).dims()).is_some_and(|n| Some(n) == product(e.ty.dims()));
    let mut reshaped = Value::new();
    for leaf in value {
        let Ty { elem, dims } = body.code.b.ty(leaf);
        let leaf = if is_known {
            leaf
        } else {
            let before: Vec<Atom> = dims[..n_axes].iter().map(|dim| dim.atom()).collect();
            let (expected, found) =
                (checked_product(&mut body.code, &before), checked_product(&mut body.code, &counts));
            let cond = body.code.prim(&EQ, &[expected, found]);
            body.code.check(cond, CheckKind::ShapeMismatch, &[expected, found], leaf)
        };
        let new = counts.iter().map(|n| IrDim::from_atom(*n)).chain(dims[n_axes..].iter().copied());
        let new: Vec<IrDim> = new.collect();
        reshaped.push(match (dims.is_empty(), new.is_empty()) {
            // A scalar, where a shape pack is empty, is one element.
            (true, _) => body.code.fill(leaf, &new),
            (false, true) => body.code.b.index(leaf, &vec![Atom::i64(0); dims.len()]).into(),
            (false, false) => body.code.b.tensor(RESHAPE.op(), &[leaf], &[], Ty::new(elem, new)).into(),
        });
    }
    Ok(reshaped)
}

fn checked_product(code: &mut Code, extents: &[Atom]) -> Atom {
    let mut product = Atom::i64(1);
    for (k, n) in extents.iter().enumerate() {
        product = if k == 0 { *n } else { code.fitting(&MUL, &[product, *n]) };
    }
    product
}

fn broadcast<'p>(body: &mut Body<'_, 'p>, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
    let value = body.value(&args[0])?;
    let counts = counts_of(body, &args[1..], e)?;
    let n_axes = ty_of(&args[0]).dims().len();
    let lead = &counts[..counts.len() - n_axes];
    let mut copies = Value::new();
    for leaf in value {
        let inner: Vec<Atom> = body.code.b.ty(leaf).dims[n_axes..].iter().map(|dim| dim.atom()).collect();
        let expected = [&counts[lead.len()..], &inner].concat();
        let leaf = body.code.with_dims(leaf, &expected, CheckKind::ShapeMismatch);
        if lead.is_empty() {
            copies.push(leaf);
            continue;
        }
        let ty = body.code.b.ty(leaf).stacked(lead.iter().map(|n| IrDim::from_atom(*n)));
        copies.push(body.code.b.tensor(FILL.op(), &[leaf], &[], ty).into());
    }
    Ok(copies)
}

/// Tensors of the result's type that hold `value`, or the number `number`.
fn filled<'p>(
    body: &mut Body<'_, 'p>,
    counts: &'p [Arg],
    e: &'p Expr,
    value: Option<&'p Arg>,
    number: i32,
) -> Result<Value> {
    let counts = counts_of(body, counts, e)?;
    let value = match value {
        Some(value) => body.value(value)?.first().copied(),
        None => None,
    };
    let mut tensors = Value::new();
    for leaf in body.layout.leaf_types(&e.ty) {
        let mut dims: Vec<IrDim> = counts.iter().map(|n| IrDim::from_atom(*n)).collect();
        for dim in leaf.dims.iter().skip(counts.len()) {
            dims.push(IrDim::from_atom(body.size(dim).unwrap_or(Atom::i64(0))));
        }
        let is_bool = leaf.elem == Elem::Bool;
        let constant = if is_bool { Const::bool(number != 0) } else { Const::number(leaf.elem, number) };
        let element = value.unwrap_or(constant.into());
        tensors.push(body.code.fill(element, &dims));
    }
    Ok(tensors)
}

fn borrowed(inits: &[(String, Atom)]) -> Vec<(&str, Atom)> {
    inits.iter().map(|(name, init)| (name.as_str(), *init)).collect()
}

/// The number of elements of a shape, if it is not too large to handle.
fn product(dims: &[Dim]) -> Option<Dim> {
    dims.iter().try_fold(Dim::constant(1), |product, dim| product.times(dim))
}
