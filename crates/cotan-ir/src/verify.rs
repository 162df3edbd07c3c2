//! The verifier: what every function of a module must satisfy.
//!
//! Names and scopes
//! - Every variable is in its function's table and is bound once.
//! - An operand is a value in scope: bound before, in this block or one around it.
//! - An accumulator is named by `acc_add` alone, inside the region that introduces it.
//! - A dim is not negative, or names an i64 scalar in scope where the type is bound: for a result also an earlier result
//!   of the same statement, for what a region binds only variables outside of it.
//! - A result of a function or of a switch arm whose type names a variable bound inside comes after that variable among
//!   the results; what a `par` stacks or reduces and what a loop stacks has dims from outside the region.
//!
//! Types. Two types agree if element type and rank are equal and no dim is two different constants; that two variables
//! hold the same size is not the verifier's business.
//! - A primitive's operands and its one result have the element types of its signature; variables among the operands
//!   have the shape of the result.
//! - A tensor operation has one result (its record knows the rest).
//! - Indices are i64 scalars, no more than the rank; what is read, written or added agrees with what they select.
//! - An update's result agrees with the array.
//! - A write to a log has one index. `acc_add` has no result.
//! - A check's condition is a bool scalar, its arguments are scalars, its result has the value's element type and rank.
//! - A `par` has one i64 extent and one i64 index per level and one kind per result of its body. A stacked result has
//!   the extents in front of the element's dims, a reduced one the type of the element.
//! - A loop's index and count are i64 scalars; a carried value has one type at its start, in the body, at its end and as
//!   a result; a stacked result has the count (of a while: the trip count) in front of the element's dims.
//! - A while's trip count is an i64 scalar and its first carried value a bool scalar.
//! - A reduction's monoid is defined on its element type (`and` and `or` on bool, the others on numbers), and its start
//!   value agrees with the result.
//! - An accumulator adds, or under a `par` takes the maximum or minimum; start value and result agree with it.
//! - A log belongs to a loop and has no start value; its dim 0 is 0, and that of its result names an i64 carried result
//!   of the same loop.
//! - A switch has a scalar selector: an i64 with at least one arm, or a bool with two. The results of every arm agree
//!   with those of the statement.
//! - A callee exists; arguments and results agree with its parameters and results.
//!
//! Modules
//! - A custom rule is a function of the module that takes and gives as many values as the rule needs.
//! - A function stands under its own name.
//! - A derivative to be written leads to a function with a body; its `wrt` and `outs` are ascending positions of float
//!   parameters and results.

mod module;
mod operation;

use crate::print::Printer;
use crate::{AccKind, Atom, Block, Function, Module, Op, Stmt, Symbol, Ty, Var};
use std::cell::OnceCell;
use std::fmt;

pub use module::{VerifiedModule, verify_module};

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The function it is in.
    pub function: Symbol,
    /// The line of the text form that it is about.
    pub statement: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`: {}\n  {}", self.function, self.message, self.statement)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a function against the rules of the module documentation. It need not be a member of `module` yet, which
/// answers for callees and custom rules.
pub fn verify(module: &Module, f: &Function) -> Result<(), Vec<VerifyError>> {
    let mut v = Verifier {
        module,
        f,
        printer: OnceCell::new(),
        bound: vec![false; f.vars.len()],
        visible: vec![None; f.vars.len()],
        trail: Vec::new(),
        at: Place::Header,
        errors: Vec::new(),
    };
    // Everything else looks up types without asking.
    if v.all_in_table() {
        v.function();
    }
    if v.errors.is_empty() { Ok(()) } else { Err(v.errors) }
}

/// What a name in scope stands for.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Value,
    Acc(AccKind),
}

/// What the next error is about.
#[derive(Clone, Copy)]
enum Place<'a> {
    Header,
    Stmt(&'a Stmt),
    End(&'static str, &'a Block),
}

struct Verifier<'a> {
    module: &'a Module,
    f: &'a Function,
    printer: OnceCell<Printer<'a>>,
    bound: Vec<bool>,
    visible: Vec<Option<Role>>,
    /// The visible variables in order of binding: leaving a block hides its end.
    trail: Vec<Var>,
    at: Place<'a>,
    errors: Vec<VerifyError>,
}

impl<'a> Verifier<'a> {
    // ---- messages

    fn printer(&self) -> &Printer<'a> {
        self.printer.get_or_init(|| Printer::new(self.f))
    }

    fn fail(&mut self, message: String) {
        let statement = match self.at {
            Place::Header => self.printer().header(),
            Place::Stmt(s) => self.printer().head(s),
            Place::End(word, block) => self.printer().end(word, block),
        };
        self.errors.push(VerifyError { function: self.f.name.clone(), statement, message });
    }

    fn show(&self, a: impl Into<Atom>) -> String {
        self.printer().atom(a.into())
    }

    fn show_ty(&self, ty: &Ty) -> String {
        self.printer().ty(ty)
    }

    // ---- names and scopes

    fn function(&mut self) {
        let f = self.f;
        self.at = Place::Header;
        self.custom_rules();
        for v in &f.params {
            self.dims_in_scope(*v);
            self.bind(*v, Role::Value);
        }
        let outside = self.trail.len();
        self.block(&f.body, "return");
        self.leave(outside);
        self.lengths_given(&f.body.results);
    }

    fn block(&mut self, block: &'a Block, end: &'static str) {
        for s in &block.stmts {
            self.at = Place::Stmt(s);
            self.operands(&s.op);
            let outside = self.trail.len();
            self.binders(&s.op);
            for inner in s.op.blocks() {
                let around = self.trail.len();
                self.block(inner, "yield");
                self.leave(around);
            }
            self.leave(outside);
            self.at = Place::Stmt(s);
            self.operation(s);
            for v in &s.results {
                self.dims_in_scope(*v);
                self.bind(*v, Role::Value);
            }
        }
        self.at = Place::End(end, block);
        block.results.iter().for_each(|a| self.value_in_scope(*a));
    }

    fn operands(&mut self, op: &Op) {
        op.each_operand(&mut |a| self.value_in_scope(a));
        if let Op::AccAdd { acc, .. } = op
            && !matches!(self.visible[acc.index()], Some(Role::Acc(_)))
        {
            self.fail(format!("`{}` is no accumulator in scope", self.show(*acc)));
        }
    }

    fn value_in_scope(&mut self, a: Atom) {
        let Atom::Var(v) = a else { return };
        match self.visible[v.index()] {
            Some(Role::Value) => {}
            Some(Role::Acc(_)) => self.fail(format!("`{}` is an accumulator and cannot be read", self.show(v))),
            None => self.fail(format!("`{}` is not in scope", self.show(v))),
        }
    }

    /// The dims of everything that a region binds are from outside: all are checked before any becomes visible.
    fn binders(&mut self, op: &Op) {
        let binders = op.binders();
        binders.iter().for_each(|v| self.dims_in_scope(*v));
        let accs = op.accs();
        for v in &binders[..binders.len() - accs.len()] {
            self.bind(*v, Role::Value);
        }
        for acc in accs {
            self.bind(acc.var, Role::Acc(acc.kind));
        }
    }

    fn bind(&mut self, v: Var, role: Role) {
        if std::mem::replace(&mut self.bound[v.index()], true) {
            self.fail(format!("`{}` is bound twice", self.show(v)));
        }
        self.visible[v.index()] = Some(role);
        self.trail.push(v);
    }

    fn leave(&mut self, outside: usize) {
        for v in self.trail.drain(outside..) {
            self.visible[v.index()] = None;
        }
    }

    fn dims_in_scope(&mut self, v: Var) {
        let ty = self.f.ty(v);
        if ty.dims.iter().any(|d| d.atom().constant().and_then(|c| c.as_i64()).is_some_and(|n| n < 0)) {
            self.fail(format!("`{}` has a negative dim", self.show(v)));
        }
        for d in ty.dim_vars() {
            if *self.f.ty(d) != Ty::scalar(crate::Elem::I64) {
                self.fail(format!("`{}`, a dim of `{}`, is no i64 scalar", self.show(d), self.show(v)));
            }
            if self.visible[d.index()] != Some(Role::Value) {
                self.fail(format!("`{}`, a dim of `{}`, is not in scope", self.show(d), self.show(v)));
            }
        }
    }

    /// The types of the results of a block that was left name variables around it, or earlier results.
    fn lengths_given(&mut self, results: &[Atom]) {
        for (k, a) in results.iter().enumerate() {
            let Atom::Var(v) = *a else { continue };
            for d in self.f.ty(v).dim_vars() {
                if self.visible[d.index()].is_none() && !results[..k].contains(&d.into()) {
                    self.fail(format!(
                        "`{}`, a dim of `{}`, is not among the earlier results",
                        self.show(d),
                        self.show(v)
                    ));
                }
            }
        }
    }

    // ---- the table of variables

    fn all_in_table(&mut self) -> bool {
        let f = self.f;
        for v in f.params.iter().copied().chain(f.vars.iter().flat_map(|info| info.ty.dim_vars())) {
            self.in_table(v);
        }
        self.block_in_table(&f.body, "return");
        self.errors.is_empty()
    }

    fn block_in_table(&mut self, block: &'a Block, end: &'static str) {
        for s in &block.stmts {
            self.at = Place::Stmt(s);
            s.op.each_operand(&mut |a| a.var().into_iter().for_each(|v| self.in_table(v)));
            if let Op::AccAdd { acc, .. } = &s.op {
                self.in_table(*acc);
            }
            s.op.binders().iter().chain(&s.results).for_each(|v| self.in_table(*v));
            s.op.blocks().iter().for_each(|b| self.block_in_table(b, "yield"));
        }
        self.at = Place::End(end, block);
        block.results.iter().filter_map(|a| a.var()).for_each(|v| self.in_table(v));
    }

    fn in_table(&mut self, v: Var) {
        if v.index() >= self.f.vars.len() {
            self.fail(format!("variable {} is not in the table of the function", v.0));
        }
    }
}
