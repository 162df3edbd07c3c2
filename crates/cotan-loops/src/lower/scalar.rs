//! Scalar primitives: as the op table says, on scalars or element by element.

use super::{Lowering, Value};
use crate::node::{Expr, Node, Operand, Tensor, combining};
use cotan_ir::{Atom, Elem, Monoid, OperandElem, Prim, ResultElem, Var, bug};
use cotan_ops::{Code, Codegen, Input, Instruction, PrimRow, Term, cast_to, power_products, row, typed_number};

impl Lowering<'_> {
    pub(super) fn prim(&mut self, result: Var, prim: Prim, args: &[Atom]) {
        let values: Vec<Value> = args.iter().map(|a| self.value_of(*a)).collect();
        let row = row(prim);
        if self.f.ty(result).is_scalar() {
            let args: Vec<Operand> = args.iter().map(|a| self.scalar(*a)).collect();
            let value = self.apply(self.f.name_of(result), row, &args);
            return self.bind(result, Value::Scalar(value));
        }
        let to = self.allocate_for(result);
        let count = self.count(&to.dims);
        self.for_each_apart("k", count, |this, k| {
            let args: Vec<Operand> = values.iter().map(|h| this.element(h, k)).collect();
            let value = this.apply("y", row, &args);
            let place = this.shifted(to.place, k);
            this.store(place, value);
        });
        self.bind(result, Value::Tensor(to));
    }

    /// Element number `k` of an operand; a scalar stands for a tensor filled with it.
    pub(super) fn element(&mut self, value: &Value, k: Operand) -> Operand {
        match value {
            Value::Scalar(operand) => *operand,
            Value::Tensor(tensor) => element_of(self, tensor, k),
        }
    }

    /// One scalar primitive.
    pub(super) fn apply(&mut self, name: &str, row: &'static PrimRow, args: &[Operand]) -> Operand {
        let elems: Vec<Elem> = args.iter().map(|a| self.elem_of(*a)).collect();
        let elem = row.t_of(&elems).unwrap_or(Elem::I64);
        let result = match row.sig.result {
            ResultElem::T => elem,
            ResultElem::Is(elem) => elem,
        };
        let args = args.to_vec();
        match row.codegen {
            Codegen::Native(Instruction::Identity) => args[0],
            Codegen::Native(instruction) => {
                // The only operand that decides nothing is the condition of a select.
                let decides = row.sig.operands.iter().position(|o| *o == OperandElem::T);
                let elem = decides.map_or(elem, |k| elems[k]);
                self.define(name, result, Expr::Native { instruction, elem, args })
            }
            Codegen::NativeOrHost(instruction) if elem.is_integer() => {
                self.define(name, result, Expr::Native { instruction, elem, args })
            }
            Codegen::Host | Codegen::NativeOrHost(_) => {
                self.define(name, result, Expr::Host { prim: row.prim(), elem, args })
            }
            Codegen::Power => power(self, name, row, elem, args),
            Codegen::Term(term) => apply_term(self, &term, elem, &args),
            Codegen::Expansion(expansion) => expand(self, name, row, &expansion.code(elem), elem, args),
        }
    }

    /// Two values combined by a monoid.
    pub(super) fn combine(&mut self, monoid: Monoid, elem: Elem, a: Operand, b: Operand) -> Operand {
        self.native(combining(monoid), elem, elem, &[a, b])
    }
}

/// Element number `k` of a tensor.
pub(super) fn element_of(this: &mut Lowering, tensor: &Tensor, k: Operand) -> Operand {
    let place = this.shifted(tensor.place, k);
    this.load("x", tensor.elem, place)
}

/// A whole power: written out where the exponent is known, else a call of the host.
fn power(this: &mut Lowering, name: &str, row: &'static PrimRow, elem: Elem, args: Vec<Operand>) -> Operand {
    let is_written_out = |n: &i64| elem.storage().is_none() && (elem.is_float() || *n >= 0);
    let exponent = args[1].as_i64().filter(is_written_out);
    let Some((exponent, products)) = exponent.and_then(|n| Some((n, power_products(n)?))) else {
        return this.define(name, elem, Expr::Host { prim: row.prim(), elem, args });
    };
    let mut values = vec![args[0]];
    for [a, b] in products {
        let product = this.native(Instruction::Mul, elem, elem, &[values[a], values[b]]);
        values.push(product);
    }
    let power = values[values.len() - 1];
    if exponent > 0 {
        return power;
    }
    let one = Operand::Const(typed_number(elem, 1.0));
    this.native(Instruction::Div, elem, elem, &[one, power])
}

/// The code of a formula. The operands that it leaves to the host take a branch of their own, which is rare.
fn expand(
    this: &mut Lowering,
    name: &str,
    row: &'static PrimRow,
    code: &Code,
    elem: Elem,
    args: Vec<Operand>,
) -> Operand {
    let Some(beyond) = code.beyond else { return formula(this, code, &args, [code.value])[0] };
    let [value, beyond] = match args.as_slice() {
        // The formula gets zero then, so that it is known how large its operand is.
        [arg] if this.target.bounds_formulas => {
            let [beyond] = formula(this, code, &args, [beyond]);
            let zero = Operand::Const(typed_number(elem, 0.0));
            let near = this.native(Instruction::Select, elem, elem, &[beyond, zero, *arg]);
            let [value] = formula(this, code, &[near], [code.value]);
            [value, beyond]
        }
        args => formula(this, code, args, [code.value, beyond]),
    };
    let result = this.variable(name, elem, value);
    let call = this.nodes(|this| {
        let value = this.define(name, elem, Expr::Host { prim: row.prim(), elem, args });
        this.push(Node::Set(result, value));
    });
    this.push(Node::If(beyond, call, Vec::new()));
    this.read(result)
}

/// Some of the results of a formula, with the steps that these need, in their order.
fn formula<const N: usize>(this: &mut Lowering, code: &Code, args: &[Operand], wanted: [Input; N]) -> [Operand; N] {
    let is_needed = code.needed_steps(&wanted);
    let mut values: Vec<Option<Operand>> = Vec::new();
    let operand = |values: &[Option<Operand>], input: Input| match input {
        Input::Arg(k) => args[k],
        Input::Step(k) => values[k].expect("invariant: what a needed step reads is needed"),
        Input::Const(c) => Operand::Const(c),
    };
    for (step, is_needed) in code.steps.iter().zip(is_needed) {
        let value = is_needed.then(|| {
            let args: Vec<Operand> = step.args.iter().map(|input| operand(&values, *input)).collect();
            this.native(step.instruction, step.elem, step.result, &args)
        });
        values.push(value);
    }
    wanted.map(|input| operand(&values, input))
}

/// A term over operands, whose `T` is `elem`.
fn apply_term(this: &mut Lowering, term: &Term, elem: Elem, args: &[Operand]) -> Operand {
    match term {
        Term::Arg(n) => args[*n],
        Term::Result => bug!("lowering to nests", this.f, "an expansion reads its own result"),
        Term::Number(x) => Operand::Const(typed_number(elem, *x)),
        Term::Named(constant) => Operand::Const(typed_number(elem, constant.value)),
        Term::Int(n) => Operand::i64(*n),
        Term::ToT(inner) => {
            let inner = apply_term(this, inner, elem, args);
            this.apply("t", cast_to(elem), &[inner])
        }
        Term::Apply(row, operands) => {
            let operands: Vec<Operand> = operands.iter().map(|t| apply_term(this, t, elem, args)).collect();
            this.apply("t", row, &operands)
        }
    }
}
