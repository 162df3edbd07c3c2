//! Expressions: literals, aggregates, locals; everything else is handed to the file of its kind.

use cotan_ir::{Atom, Const, Elem};
use cotan_ops::{EQ, FILL, NOT, OR, REVERSE, STOP_GRADIENT};

use super::Result;
use super::body::{Body, Closure, Value};
use super::control::Choice;
use super::dims::LeafTy;
use super::payloads::is_there;
use cotan_sema::typed::{Callable, Expr, ExprKind, FieldValue, Literal, LogicOp, Type, UnaryOp};

impl<'p> Body<'_, 'p> {
    /// The value of an expression that control leaves at its end only.
    pub(super) fn expr(&mut self, e: &'p Expr) -> Result<Value> {
        let limits = self.lowering.limits;
        if self.lowering.n_operations + self.b.vars().len() > limits.operations {
            return Err(Box::new(limits.too_many_operations(&self.symbol, e.span)));
        }
        self.at(e.span, |body| {
            let value = body.expr_kind(e)?;
            body.know_sizes(&e.ty, &value);
            Ok(value)
        })
    }

    fn expr_kind(&mut self, e: &'p Expr) -> Result<Value> {
        match &e.kind {
            ExprKind::Error | ExprKind::Break | ExprKind::Continue | ExprKind::Return(_) => Ok(Value::new()),
            ExprKind::Literal(literal) => Ok(vec![self.literal(literal, &e.ty)]),
            ExprKind::Local(id) => Ok(self.local(*id)),
            ExprKind::Size(id) => {
                let size = cotan_sema::dims::Dim::atom(cotan_sema::dims::Atom::Size(*id));
                Ok(vec![self.size(&size).expect("invariant: a size parameter is known")])
            }
            ExprKind::Tuple(parts) => {
                let mut value = Value::new();
                for part in parts {
                    value.extend(self.expr(part)?);
                }
                Ok(value)
            }
            ExprKind::Array(parts) => self.array(parts, &e.ty),
            ExprKind::Struct(fields) => self.structure(fields, &e.ty, None),
            ExprKind::StructUpdate { fields, base } => self.structure(fields, &e.ty, Some(base)),
            ExprKind::Variant { index, fields } => self.variant(&e.ty, *index, fields),
            ExprKind::Field { .. } | ExprKind::Index { .. } => self.part(e),
            ExprKind::Unary { op, operand } => {
                let operand = self.scalar(operand)?;
                Ok(vec![self.unary(*op, operand)])
            }
            ExprKind::Chain(chain) => Ok(vec![self.chain(chain)?]),
            ExprKind::Logic { op, operands } => Ok(vec![self.logic(*op, operands)?]),
            ExprKind::Primitive { row, wraps, args } => {
                let mut operands = Vec::new();
                for arg in args {
                    operands.push(self.scalar(arg)?);
                }
                Ok(vec![self.primitive(row, *wraps, &operands)])
            }
            ExprKind::Cast(operand) => {
                let value = self.scalar(operand)?;
                let elem = e.ty.scalar().map_or(Elem::F64, |scalar| self.elem(scalar));
                Ok(vec![self.cast(value, elem)])
            }
            ExprKind::Range(range) => Ok(vec![self.range_tensor(range)?]),
            ExprKind::Fold { op, axes, operand } => {
                let value = self.scalar(operand)?;
                Ok(vec![self.fold(*op, &axes.of_rank(operand.ty.dims().len()), value)?])
            }
            ExprKind::FoldBy { function, init, operand } => {
                let function = self.closure(function);
                self.fold_by(function, init.as_deref(), operand, &e.ty)
            }
            ExprKind::Call { callee, args } => {
                let callee = self.closure(callee);
                self.call(callee, args)
            }
            ExprKind::Builtin { builtin, args } => self.builtin(*builtin, args, e),
            ExprKind::ShapeCheck(operand) => self.shape_check(operand, &e.ty),
            ExprKind::AsTangent(operand) => {
                let value = self.expr(operand)?;
                let kept = self.leaves_of_tangent(&operand.ty, &e.ty);
                Ok(value.into_iter().zip(kept).filter_map(|(leaf, is_kept)| is_kept.then_some(leaf)).collect())
            }
            ExprKind::Print(step) => Ok(vec![self.output_step(step)?]),
            ExprKind::If(branch) => self.chosen_value(Choice::If(branch), &e.ty),
            ExprKind::Match(it) => {
                let value = self.expr(&it.scrutinee)?;
                self.chosen_value(Choice::Match(it, &value), &e.ty)
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::For(l) => self.for_loop(l).map(|_| Value::new()),
            ExprKind::While(l) => self.while_loop(l).map(|_| Value::new()),
        }
    }

    /// A callable that stands in the current frame.
    pub(super) fn closure(&self, callable: &'p Callable) -> Closure<'p> {
        Closure { callable, frame: self.frame }
    }

    /// The value of a local in scope.
    pub(super) fn local(&self, id: cotan_sema::typed::LocalId) -> Value {
        self.current().locals.get(id.0 as usize).cloned().flatten().unwrap_or_default()
    }

    pub(super) fn literal(&self, literal: &Literal, ty: &Type) -> Atom {
        let elem = ty.scalar().map_or(Elem::F64, |scalar| self.elem(scalar));
        literal.constant(elem).into()
    }

    fn structure(&mut self, fields: &'p [FieldValue], ty: &Type, base: Option<&'p Expr>) -> Result<Value> {
        let mut values: Vec<Option<Value>> = vec![None; self.part_types(ty).len()];
        for field in fields {
            let value = self.expr(&field.value)?;
            values[field.index] = Some(value);
        }
        let base = match base {
            Some(base) => self.expr(base)?,
            None => Value::new(),
        };
        let mut all = Value::new();
        for (k, value) in values.into_iter().enumerate() {
            let leaves = self.part_leaves(ty, k);
            all.extend(value.unwrap_or_else(|| base.get(leaves).map(<[Atom]>::to_vec).unwrap_or_default()));
        }
        Ok(all)
    }

    fn unary(&mut self, op: UnaryOp, operand: Atom) -> Atom {
        match op {
            UnaryOp::Neg => self.negate(operand),
            UnaryOp::Not => self.prim(&cotan_ops::NOT, &[operand]),
        }
    }

    /// `a && b && ..`: each operand runs only where those before it have not decided.
    fn logic(&mut self, op: LogicOp, operands: &'p [Expr]) -> Result<Atom> {
        let (first, rest) = operands.split_first().expect("invariant: an operator has operands");
        let mut value = self.scalar(first)?;
        for operand in rest {
            value = self.lazy(op, value, &mut |body| body.scalar(operand))?;
        }
        Ok(value)
    }

    /// `value op operand`, where the operand runs only if `value` does not decide. An operand that only computes is run
    /// in any case: nobody can tell.
    pub(super) fn lazy(
        &mut self,
        op: LogicOp,
        value: Atom,
        operand: &mut dyn FnMut(&mut Self) -> Result<Atom>,
    ) -> Result<Atom> {
        let decided = op == LogicOp::Or;
        match value.truth() {
            Some(known) if known == decided => return Ok(value),
            Some(_) => return operand(self),
            None => {}
        }
        self.b.open_block();
        let right = self.scoped(&mut *operand)?;
        let mut block = self.b.close_block(vec![right]);
        let is_cheap = block.stmts.len() <= CHEAP
            && block.stmts.iter().all(|s| matches!(s.op, cotan_ir::Op::Prim { .. } | cotan_ir::Op::Tensor { .. }));
        if is_cheap {
            self.b.stmts().append(&mut block.stmts);
            let row = if decided { &cotan_ops::OR } else { &cotan_ops::AND };
            return Ok(self.prim(row, &[value, right]));
        }
        let known = cotan_ir::Block { stmts: Vec::new(), results: vec![Const::bool(decided).into()] };
        let arms = if decided { vec![known, block] } else { vec![block, known] };
        let name = if decided { "or" } else { "and" };
        Ok(self.b.named(name).finish_switch(value, arms)[0].into())
    }

    /// The value, whose extents must be those of `ty`.
    fn shape_check(&mut self, operand: &'p Expr, ty: &Type) -> Result<Value> {
        let value = self.expr(operand)?;
        let expected = self.leaf_types(ty);
        let mut checked = Value::new();
        for (k, expected) in expected.iter().enumerate() {
            let leaf = value[k];
            let found = self.b.ty(leaf);
            if expected.is_payload() {
                checked.push(self.payload_check(expected, &value, k));
                continue;
            }
            let mut dims = Vec::new();
            for (dim, found) in expected.dims.iter().zip(&found.dims) {
                let known = self.size(dim);
                if known.is_none() {
                    self.know_size(dim, found.atom());
                }
                dims.push(known.unwrap_or(found.atom()));
            }
            checked.push(self.with_dims(leaf, &dims, cotan_ir::CheckKind::ShapeMismatch));
        }
        Ok(checked)
    }

    /// Leaf number `k` of a value, a payload, whose extents must be those of its type if it is there.
    fn payload_check(&mut self, expected: &LeafTy, value: &Value, k: usize) -> Atom {
        let mut leaf = value[k];
        let found = self.b.ty(leaf).dims;
        for (dim, found) in expected.dims.iter().zip(found) {
            let found = found.atom();
            let Some(size) = self.size(dim).filter(|size| *size != found) else { continue };
            let is_there = is_there(&mut self.b, value, expected);
            let is_equal = self.prim(&EQ, &[size, found]);
            let cond = match is_there.truth() {
                Some(true) => is_equal,
                Some(false) => continue,
                None => {
                    let is_gone = self.prim(&NOT, &[is_there]);
                    self.prim(&OR, &[is_gone, is_equal])
                }
            };
            leaf = self.check(cond, cotan_ir::CheckKind::ShapeMismatch, &[size, found], leaf);
        }
        leaf
    }

    /// Copies of a scalar in the shape of `dims`; a scalar stays what it is.
    pub(super) fn fill(&mut self, value: Atom, dims: &[cotan_ir::Dim]) -> Atom {
        if dims.is_empty() {
            return value;
        }
        let elem = self.b.ty(value).elem;
        self.b.tensor(FILL.op(), &[value], &[], cotan_ir::Ty::new(elem, dims.to_vec())).into()
    }

    /// Each leaf backwards along its first axis.
    pub(super) fn reversed(&mut self, value: Value) -> Value {
        let reverse = |leaf: Atom| {
            let ty = self.b.ty(leaf);
            self.b.tensor(REVERSE.op(), &[leaf], &[0], ty).into()
        };
        value.into_iter().map(reverse).collect()
    }

    /// The value through which no derivative flows; what carries none is left alone.
    pub(super) fn without_derivative(&mut self, value: Value) -> Value {
        let stop = |leaf: Atom| {
            if leaf.var().is_some() && self.b.ty(leaf).is_float() {
                self.b.prim(STOP_GRADIENT.prim(), &[leaf]).into()
            } else {
                leaf
            }
        };
        value.into_iter().map(stop).collect()
    }
}

/// An operand of `&&` or `||` with at most this many statements, none of which can fail, is computed in any case.
const CHEAP: usize = 8;
