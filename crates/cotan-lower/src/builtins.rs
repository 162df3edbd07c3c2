//! The functions of the prelude that are no scalar primitives.

use cotan_ir::{Atom, CheckKind, Const, Dim as IrDim, Elem, Monoid, Ty, bug};
use cotan_ops::{ADD, AND, CONCAT, EQ, FILL, LT, MUL, NOT, RESHAPE, SELECT, TRANSPOSE};
use cotan_syntax::Span;
use cotan_syntax::ast::FoldOp;

use super::Result;
use super::body::{Body, Closure, Value};
use super::control::UNIT;
use cotan_sema::dims::Dim;
use cotan_sema::typed::{Arg, Builtin, Expr, Type};

impl<'a, 'p> Body<'a, 'p> {
    /// A call of a builtin; `e` is the whole expression.
    pub(super) fn builtin(&mut self, builtin: Builtin, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
        match builtin {
            Builtin::Tabulate => self.tabulate(args, e),
            Builtin::Map => self.map(args),
            Builtin::Zip => self.values(args).map(|values| values.concat()),
            Builtin::Scan => self.scan(args),
            Builtin::Fold => self.fold_with(args),
            Builtin::Iterate => self.iterate(args),
            Builtin::IterateUntil => self.iterate_until(args),
            Builtin::Concat => self.concat(args, e),
            Builtin::Reverse => {
                let value = self.value(&args[0])?;
                Ok(self.reversed(value))
            }
            Builtin::Transpose => {
                let value = self.value(&args[0])?;
                Ok(value.into_iter().map(|leaf| self.transposed(leaf)).collect())
            }
            Builtin::Reshape => self.reshape(args, e),
            Builtin::Broadcast => self.broadcast(args, e),
            Builtin::Zeros => self.filled(args, e, None, 0),
            Builtin::Ones => self.filled(args, e, None, 1),
            Builtin::Full => {
                let (value, counts) = args.split_last().expect("invariant: `full` has arguments");
                self.filled(counts, e, Some(value), 0)
            }
            Builtin::ZerosLike => {
                let value = self.value(&args[0])?;
                let types = self.leaf_types(&e.ty);
                let mut zeros = Value::new();
                for (leaf, ty) in value.into_iter().zip(types) {
                    let Ty { elem, dims } = self.b.ty(leaf);
                    zeros.push(if ty.is_tag { leaf } else { self.fill(Const::zero(elem).into(), &dims) });
                }
                Ok(zeros)
            }
            Builtin::Iota => {
                let count = self.counts(args, e)?[0];
                let elem = e.ty.scalar().map_or(Elem::I64, |scalar| self.elem(scalar));
                Ok(vec![self.iota(elem, count)])
            }
            Builtin::Diag => self.diag(args),
            Builtin::Trace => self.of_tensor(args, |body, tensor| body.trace(tensor)),
            Builtin::Sum => self.of_tensor(args, |body, tensor| body.fold_all(FoldOp::Add, tensor)),
            Builtin::Prod => self.of_tensor(args, |body, tensor| body.fold_all(FoldOp::Mul, tensor)),
            Builtin::Mean => self.of_tensor(args, |body, tensor| body.mean(tensor)),
            Builtin::Dot => {
                let values = self.values(args)?;
                Ok(vec![self.dot(values[0][0], values[1][0])?])
            }
            Builtin::Norm => self.of_tensor(args, |body, tensor| body.norm(tensor)),
            Builtin::StopGradient => {
                let value = self.value(&args[0])?;
                Ok(self.without_derivative(value))
            }
            Builtin::Each => self.each(args),
            Builtin::Sort => self.of_tensor(args, |body, tensor| body.sorted(tensor)),
            Builtin::Argsort => self.of_tensor(args, |body, tensor| Ok(body.sorted_positions(tensor))),
            Builtin::Argmax => self.of_tensor(args, |body, tensor| body.position_of_extreme(Monoid::Max, tensor)),
            Builtin::Argmin => self.of_tensor(args, |body, tensor| body.position_of_extreme(Monoid::Min, tensor)),
            Builtin::Cumsum => self.of_tensor(args, |body, tensor| body.running(FoldOp::Add, tensor)),
            Builtin::Cumprod => self.of_tensor(args, |body, tensor| body.running(FoldOp::Mul, tensor)),
            Builtin::Gather => {
                let (value, positions) = (self.value(&args[0])?, self.value(&args[1])?[0]);
                self.gathered(&value, positions, Self::span_of(&args[1]))
            }
            Builtin::Operation(op, n_attrs) => self.operation(op, args.split_at(n_attrs), e),
            Builtin::WrappingAs => self.of_tensor(args, |body, tensor| {
                let elem = e.ty.scalar().map_or(Elem::I64, |scalar| body.elem(scalar));
                Ok(body.convert(tensor, elem))
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

    fn values(&mut self, args: &'p [Arg]) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.value(arg)?);
        }
        Ok(values)
    }

    fn function(&self, arg: &'p Arg) -> Closure<'p> {
        match arg {
            Arg::Function(callable) => self.closure(callable),
            Arg::Value(_) | Arg::Pack(_) => {
                bug!("lowering", format_args!("{arg:?}"), "the checker gives a function where a builtin takes one")
            }
        }
    }

    fn of_tensor(&mut self, args: &'p [Arg], f: impl FnOnce(&mut Self, Atom) -> Result<Atom>) -> Result<Value> {
        let tensor = self.value(&args[0])?[0];
        Ok(vec![f(self, tensor)?])
    }

    fn ty_of(arg: &'p Arg) -> &'p Type {
        match arg {
            Arg::Value(e) => &e.ty,
            Arg::Function(_) | Arg::Pack(_) => &UNIT,
        }
    }

    fn span_of(arg: &'p Arg) -> Span {
        match arg {
            Arg::Value(e) => e.span,
            Arg::Function(callable) => callable.span,
            Arg::Pack(_) => Span::default(),
        }
    }

    /// Counts that are the leading extents of the result.
    fn counts(&mut self, args: &'p [Arg], e: &'p Expr) -> Result<Vec<Atom>> {
        let dims = self.leaf_types(&e.ty).first().map(|leaf| leaf.dims.clone()).unwrap_or_default();
        let mut counts = Vec::new();
        for (k, arg) in args.iter().enumerate() {
            let count = self.value(arg)?[0];
            let count = self.at(Self::span_of(arg), |body| body.count(count, dims.get(k)));
            counts.push(count);
        }
        Ok(counts)
    }

    /// A count, which is not negative, under the name of the size that it is.
    fn count(&mut self, count: Atom, dim: Option<&Dim>) -> Atom {
        let count = self.as_i64(count);
        let Some(dim) = dim else { return self.checked_count(count) };
        if dim.is_surely_non_negative()
            && let Some(known) = self.size(dim)
        {
            return known;
        }
        let count = self.checked_count(count);
        if dim.as_constant().is_none() && self.known_size(dim).is_none() {
            self.know_size(dim, count);
        }
        count
    }

    // ---- parallel

    fn tabulate(&mut self, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
        let (function, counts) = args.split_last().expect("invariant: `tabulate` has arguments");
        let counts = self.counts(counts, e)?;
        let tys = self.integer_params(function);
        let function = self.function(function);
        self.stack(&counts, &function.callable.result, &mut |body, at| {
            let mut indices = Vec::new();
            for (index, elem) in at.iter().zip(&tys) {
                indices.push(vec![if *elem == Elem::I64 { *index } else { body.cast(*index, *elem) }]);
            }
            body.apply(function, indices, &[])
        })
    }

    fn integer_params(&self, function: &'p Arg) -> Vec<Elem> {
        let params = self.function(function).callable.params.iter();
        params.map(|ty| ty.scalar().map_or(Elem::I64, |scalar| self.elem(scalar))).collect()
    }

    fn map(&mut self, args: &'p [Arg]) -> Result<Value> {
        let is_function = |arg: &Arg| matches!(arg, Arg::Function(_));
        let n_counts = args.iter().position(is_function).expect("invariant: `map` has a function");
        let (function, tensors) = (self.function(&args[n_counts]), &args[n_counts + 1..]);
        let mut counts: Vec<Atom> = self.values(&args[..n_counts])?.concat();
        let values = self.values(tensors)?;
        if counts.is_empty() {
            counts.push(self.first_extent(Self::ty_of(&tensors[0]), &values[0]));
        }
        self.stack(&counts, &function.callable.result, &mut |body, at| {
            let rows = values.iter().map(|value| body.row(value, at)).collect();
            body.apply(function, rows, &[])
        })
    }

    fn diag(&mut self, args: &'p [Arg]) -> Result<Value> {
        let tensor = self.value(&args[0])?[0];
        let ty = self.b.ty(tensor);
        let n = ty.dims[0].atom();
        if ty.rank() == 2 {
            return self.stacked(&[n], &mut |body, at| Ok(vec![body.b.index(tensor, &[at[0], at[0]]).into()]));
        }
        self.stacked(&[n, n], &mut |body, at| {
            let element = body.b.index(tensor, &at[..1]).into();
            let is_diagonal = body.prim(&EQ, &[at[0], at[1]]);
            Ok(vec![body.prim(&SELECT, &[is_diagonal, element, Const::zero(ty.elem).into()])])
        })
    }

    // ---- sequential

    /// Start values of a loop, with the names that they have in the function that takes them.
    fn loop_state(&mut self, function: Closure<'p>, ty: &Type, init: &Value) -> Vec<(String, Atom)> {
        let name = match &function.callable.kind {
            cotan_sema::typed::CallableKind::Lambda(lambda) => match lambda.params.first().map(|p| &p.kind) {
                Some(cotan_sema::typed::PatternKind::Local(id)) => self.current().table[id.0 as usize].name.clone(),
                Some(_) | None => "state".to_owned(),
            },
            cotan_sema::typed::CallableKind::Function { .. }
            | cotan_sema::typed::CallableKind::Param(_)
            | cotan_sema::typed::CallableKind::Derivative(_)
            | cotan_sema::typed::CallableKind::Vmap(_) => "state".to_owned(),
        };
        let init = self.steady(ty, init);
        self.leaf_names(&name, ty).into_iter().zip(init).collect()
    }

    fn each(&mut self, args: &'p [Arg]) -> Result<Value> {
        let (tensor, function) = (self.value(&args[0])?, self.function(&args[1]));
        let count = self.first_extent(Self::ty_of(&args[0]), &tensor);
        self.counted(count, &[], &mut |body, index, _| {
            let row = body.row(&tensor, &[index]);
            body.apply(function, vec![row], &[])
        })
    }

    fn fold_with(&mut self, args: &'p [Arg]) -> Result<Value> {
        let (init, function, tensor) = (self.value(&args[0])?, self.function(&args[1]), self.value(&args[2])?);
        let ty = Self::ty_of(&args[0]);
        let inits = self.loop_state(function, ty, &init);
        let count = self.first_extent(Self::ty_of(&args[2]), &tensor);
        self.counted(count, &borrowed(&inits), &mut |body, index, acc| {
            let row = body.row(&tensor, &[index]);
            let next = body.apply(function, vec![acc.to_vec(), row], &[])?;
            Ok(body.like(ty, &next, acc))
        })
    }

    fn scan(&mut self, args: &'p [Arg]) -> Result<Value> {
        let (init, function, tensor) = (self.value(&args[0])?, self.function(&args[1]), self.value(&args[2])?);
        let inits = self.loop_state(function, Self::ty_of(&args[0]), &init);
        let count = self.first_extent(Self::ty_of(&args[2]), &tensor);
        let results = self.counted(count, &borrowed(&inits), &mut |body, index, acc| {
            let row = body.row(&tensor, &[index]);
            let next = body.apply(function, vec![acc.to_vec(), row], &[])?;
            let mut stacked = Value::new();
            for (leaf, acc) in next.iter().zip(acc) {
                let dims: Vec<Atom> = body.b.ty(*acc).dims.iter().map(|dim| dim.atom()).collect();
                stacked.push(body.with_dims(*leaf, &dims, CheckKind::ShapeMismatch));
            }
            Ok([next, stacked].concat())
        })?;
        Ok(results[init.len()..].to_vec())
    }

    fn iterate(&mut self, args: &'p [Arg]) -> Result<Value> {
        let (count, init, function) = (self.value(&args[0])?[0], self.value(&args[1])?, self.function(&args[2]));
        let ty = Self::ty_of(&args[1]);
        let inits = self.loop_state(function, ty, &init);
        let count = self.as_i64(count);
        self.counted(count, &borrowed(&inits), &mut |body, _, state| {
            let next = body.apply(function, vec![state.to_vec()], &[])?;
            Ok(body.like(ty, &next, state))
        })
    }

    fn iterate_until(&mut self, args: &'p [Arg]) -> Result<Value> {
        let init = self.value(&args[0])?;
        let (step, done) = (self.function(&args[1]), self.function(&args[2]));
        let limit = self.value(&args[3])?[0];
        let limit = self.as_i64(limit);
        let mut inits = vec![("running".to_owned(), self.prim(&LT, &[Atom::i64(0), limit]))];
        let ty = Self::ty_of(&args[0]);
        inits.extend(self.loop_state(step, ty, &init));
        let results = self.repeat("i", None, &borrowed(&inits), &mut |body, index, state| {
            let next = body.apply(step, vec![state[1..].to_vec()], &[])?;
            let next = body.like(ty, &next, &state[1..]);
            let is_done = body.apply(done, vec![next.clone()], &[])?[0];
            let goes_on = body.prim(&NOT, &[is_done]);
            let following = body.prim(&ADD, &[index, Atom::i64(1)]);
            let is_below = body.prim(&LT, &[following, limit]);
            let running = body.prim(&AND, &[goes_on, is_below]);
            Ok([vec![running], next].concat())
        })?;
        Ok(results[1..].to_vec())
    }

    // ---- structure

    fn concat(&mut self, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
        let values = self.values(args)?;
        // A sum of sizes that may be negative is taken from the parts, which were checked.
        let is_safe = |dim: &&Dim| dim.is_surely_non_negative() || dim.as_constant().is_some();
        let named = e.ty.dims().first().filter(is_safe).and_then(|dim| self.size(dim));
        let mut joined = Value::new();
        for k in 0..values[0].len() {
            let parts: Value = values.iter().map(|value| value[k]).collect();
            let mut ty = self.b.ty(parts[0]);
            let length = match named {
                Some(length) => length,
                None => {
                    let mut sum = ty.dims[0].atom();
                    for part in &parts[1..] {
                        let n = self.b.ty(*part).dims[0].atom();
                        sum = self.prim(&ADD, &[sum, n]);
                    }
                    sum
                }
            };
            ty.dims[0] = IrDim::from_atom(length);
            joined.push(self.b.tensor(CONCAT.op(), &parts, &[0], ty).into());
        }
        Ok(joined)
    }

    fn transposed(&mut self, leaf: Atom) -> Atom {
        let mut ty = self.b.ty(leaf);
        let rank = ty.rank();
        let mut perm: Vec<i64> = (0..rank as i64).collect();
        perm.swap(rank - 2, rank - 1);
        ty.dims.swap(rank - 2, rank - 1);
        self.b.tensor(TRANSPOSE.op(), &[leaf], &perm, ty).into()
    }

    fn reshape(&mut self, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
        let value = self.value(&args[0])?;
        let counts = self.counts(&args[1..], e)?;
        let n_axes = Self::ty_of(&args[0]).dims().len();
        let is_known = product(Self::ty_of(&args[0]).dims()).is_some_and(|n| Some(n) == product(e.ty.dims()));
        let mut reshaped = Value::new();
        for leaf in value {
            let Ty { elem, dims } = self.b.ty(leaf);
            let leaf = if is_known {
                leaf
            } else {
                let before: Vec<Atom> = dims[..n_axes].iter().map(|dim| dim.atom()).collect();
                let (expected, found) = (self.checked_product(&before), self.checked_product(&counts));
                let cond = self.prim(&EQ, &[expected, found]);
                self.check(cond, CheckKind::ShapeMismatch, &[expected, found], leaf)
            };
            let new = counts.iter().map(|n| IrDim::from_atom(*n)).chain(dims[n_axes..].iter().copied());
            let new: Vec<IrDim> = new.collect();
            reshaped.push(match (dims.is_empty(), new.is_empty()) {
                // A scalar, where a shape pack is empty, is one element.
                (true, _) => self.fill(leaf, &new),
                (false, true) => self.b.index(leaf, &vec![Atom::i64(0); dims.len()]).into(),
                (false, false) => self.b.tensor(RESHAPE.op(), &[leaf], &[], Ty::new(elem, new)).into(),
            });
        }
        Ok(reshaped)
    }

    fn checked_product(&mut self, extents: &[Atom]) -> Atom {
        let mut product = Atom::i64(1);
        for (k, n) in extents.iter().enumerate() {
            product = if k == 0 { *n } else { self.fitting(&MUL, &[product, *n]) };
        }
        product
    }

    fn broadcast(&mut self, args: &'p [Arg], e: &'p Expr) -> Result<Value> {
        let value = self.value(&args[0])?;
        let counts = self.counts(&args[1..], e)?;
        let n_axes = Self::ty_of(&args[0]).dims().len();
        let lead = &counts[..counts.len() - n_axes];
        let mut copies = Value::new();
        for leaf in value {
            let inner: Vec<Atom> = self.b.ty(leaf).dims[n_axes..].iter().map(|dim| dim.atom()).collect();
            let expected = [&counts[lead.len()..], &inner].concat();
            let leaf = self.with_dims(leaf, &expected, CheckKind::ShapeMismatch);
            if lead.is_empty() {
                copies.push(leaf);
                continue;
            }
            let ty = self.b.ty(leaf).stacked(lead.iter().map(|n| IrDim::from_atom(*n)));
            copies.push(self.b.tensor(FILL.op(), &[leaf], &[], ty).into());
        }
        Ok(copies)
    }

    /// Tensors of the result's type that hold `value`, or the number `number`.
    fn filled(&mut self, counts: &'p [Arg], e: &'p Expr, value: Option<&'p Arg>, number: i32) -> Result<Value> {
        let counts = self.counts(counts, e)?;
        let value = match value {
            Some(value) => self.value(value)?.first().copied(),
            None => None,
        };
        let mut tensors = Value::new();
        for leaf in self.leaf_types(&e.ty) {
            let mut dims: Vec<IrDim> = counts.iter().map(|n| IrDim::from_atom(*n)).collect();
            for dim in leaf.dims.iter().skip(counts.len()) {
                dims.push(IrDim::from_atom(self.size(dim).unwrap_or(Atom::i64(0))));
            }
            let is_bool = leaf.elem == Elem::Bool;
            let constant = if is_bool { Const::bool(number != 0) } else { Const::number(leaf.elem, number) };
            let element = value.unwrap_or(constant.into());
            tensors.push(self.fill(element, &dims));
        }
        Ok(tensors)
    }
}

fn borrowed(inits: &[(String, Atom)]) -> Vec<(&str, Atom)> {
    inits.iter().map(|(name, init)| (name.as_str(), *init)).collect()
}

/// The number of elements of a shape, if it is not too large to handle.
fn product(dims: &[Dim]) -> Option<Dim> {
    dims.iter().try_fold(Dim::constant(1), |product, dim| product.times(dim))
}
