//! Which variants of the typed tree a checked program has: what a generator covers is read off its programs.
//!
//! The lists follow the enums of the tree: a new variant does not compile here before it has a name, and then a
//! campaign without it fails.

use cotan_ir::{Checkpoint, Elem};
use cotan_sema::typed::{
    Arg, AssignOp, Axes, BinaryOp, Builtin, Callable, CallableKind, Derivative, DerivativeForm, DerivativeMode, Expr,
    ExprKind, FloatConstant, FnId, Function, FunctionBody, GenericArg, Index, Iterable, Literal, LogicOp, Pattern,
    PatternKind, PlaceStepKind, PrintPiece, Program, Slot, StmtKind, Target, Type, UnaryOp,
};
use cotan_sema::types::Scalar;
use cotan_syntax::ast::FoldOp;
use std::collections::BTreeSet;

/// Lists the variants of an enum, and names the variant of a value. Those behind `never` are not of checked programs.
macro_rules! variants {
    ($list:ident, $name:ident: $of:ident, $label:literal, [$($variant:ident)*] $(never [$($never:ident)*])?) => {
        const $list: &[&str] = &[$(concat!($label, " ", stringify!($variant))),*];

        fn $name(of: &$of) -> Option<&'static str> {
            match of {
                $($of::$variant { .. } => Some(concat!($label, " ", stringify!($variant))),)*
                $($($of::$never { .. })|* => None,)?
            }
        }
    };
}

variants!(EXPRS, expr: ExprKind, "expression", [
    Literal Local Size Tuple Array Struct StructUpdate Variant Field Unary Chain Logic Primitive Cast Range Index Fold
    FoldBy Call Builtin ShapeCheck AsTangent Print Assert If Match Block For While Break Continue Return
] never [Error After]);
variants!(LITERALS, literal: Literal, "literal", [Bool Int Float Constant]);
variants!(CONSTANTS, constant: FloatConstant, "constant", [Inf Nan Pi E]);
variants!(UNARY, unary: UnaryOp, "prefix", [Neg Not]);
variants!(BINARY, binary: BinaryOp, "infix", [Add Sub Mul Div Rem Pow PowInt Eq Ne Lt Le Gt Ge MatMul]);
variants!(LOGIC, logic: LogicOp, "logic", [And Or]);
variants!(INDICES, index: Index, "index", [At Slice Gather]);
variants!(FOLDS, fold: FoldOp, "fold", [Add Sub Mul Div Max Min And Or]);
variants!(AXES, axes: Axes, "axes", [Last All At]);
variants!(ARGS, arg: Arg, "argument", [Value Function Pack]);
variants!(CALLABLES, callable: CallableKind, "callable", [Function Lambda Param Derivative Vmap]);
variants!(FORMS, form: DerivativeForm, "form", [Grad ValueAndGrad Jvp Vjp Jacobian Hessian Hvp]);
variants!(MODES, mode: DerivativeMode, "mode", [Forward Reverse]);
variants!(BUILTINS, builtin: Builtin, "builtin", [
    Tabulate Map Zip Scan Fold Iterate IterateUntil Concat Reverse Transpose Reshape Broadcast Zeros Ones Full ZerosLike
    Iota Diag Trace Sum Prod Mean Dot Norm MapLeaves SumLeaves Inner Close CountLeaves StopGradient Each Sort Argsort Argmax Argmin Cumsum Cumprod Gather WrappingAs
] never [Operation]);
variants!(STATEMENTS, statement: StmtKind, "statement", [Let Assign Expr]);
variants!(TARGETS, target: Target, "target", [Place Tuple]);
variants!(STEPS, step: PlaceStepKind, "place", [Field Index]);
variants!(ASSIGNS, assign: AssignOp, "assignment", [Set Binary Max Min]);
variants!(ITERABLES, iterable: Iterable, "iterable", [Range Tensor]);
variants!(SLOTS, slot: Slot, "slot", [Element Block]);
variants!(PATTERNS, pattern: PatternKind, "pattern", [Wildcard Local Fields Literal Range Variant Or]);
variants!(PIECES, piece: PrintPiece, "output", [Text Value]);
variants!(BODIES, body: FunctionBody, "body", [Source Derivative Required]);
variants!(GENERICS, generic: GenericArg, "generic", [Size Scalar Type Pack]);
variants!(CHECKPOINTS, checkpoint: Checkpoint, "checkpoint", [Every Sqrt Levels Budget All]);
variants!(ELEMS, elem: Elem, "element", [Bool I8 I16 I32 I64 U8 U16 U32 U64 F16 BF16 F32 F64]);

/// Notes on expressions and functions that are no variants of their own.
const NOTES: &[&str] = &[
    "note reversed range",
    "note reversed tensor",
    "note inclusive range",
    "note guard",
    "note recompute block",
    "note recompute function",
    "note mode of a function",
    "note mode of a block",
    "note checkpointed while",
    "note vjp rule",
    "note jvp rule",
    "note nodiff parameter",
    "note default of a parameter",
    "note mut parameter",
    "note function that prints",
];

/// The names of all variants.
pub fn all() -> impl Iterator<Item = &'static str> {
    let lists = [
        EXPRS,
        LITERALS,
        CONSTANTS,
        UNARY,
        BINARY,
        LOGIC,
        INDICES,
        FOLDS,
        AXES,
        ARGS,
        CALLABLES,
        FORMS,
        MODES,
        BUILTINS,
        STATEMENTS,
        TARGETS,
        STEPS,
        ASSIGNS,
        ITERABLES,
        SLOTS,
        PATTERNS,
        PIECES,
        BODIES,
        GENERICS,
        CHECKPOINTS,
        ELEMS,
        NOTES,
    ];
    lists.into_iter().flatten().copied()
}

/// The variants that the functions of a program consist of, those that it calls included.
pub fn of(program: &Program, functions: &[&str]) -> BTreeSet<&'static str> {
    let mut walk = Walk { program, found: BTreeSet::new(), seen: BTreeSet::new() };
    for name in functions {
        program.function_named(name).into_iter().for_each(|id| walk.function(id));
    }
    walk.found
}

struct Walk<'p> {
    program: &'p Program,
    found: BTreeSet<&'static str>,
    seen: BTreeSet<FnId>,
}

impl<'p> Walk<'p> {
    fn has(&mut self, variant: impl IntoIterator<Item = &'static str>) {
        self.found.extend(variant);
    }

    fn note(&mut self, holds: bool, note: &'static str) {
        self.has(holds.then_some(note));
    }

    fn function(&mut self, id: FnId) {
        if !self.seen.insert(id) {
            return;
        }
        let f: &Function = self.program.function(id);
        self.has(body(&f.body));
        self.note(f.recompute, "note recompute function");
        self.note(f.mode.is_some(), "note mode of a function");
        self.note(f.prints, "note function that prints");
        self.note(f.rules.vjp.is_some(), "note vjp rule");
        self.note(f.rules.jvp.is_some(), "note jvp rule");
        for param in &f.params {
            self.note(param.nodiff, "note nodiff parameter");
            self.note(param.default.is_some(), "note default of a parameter");
            self.note(param.mutable, "note mut parameter");
            self.ty(&param.ty);
        }
        [&f.rules.vjp, &f.rules.jvp].into_iter().flatten().for_each(|rule| self.callable(rule));
        match &f.body {
            FunctionBody::Source(body) => {
                body.locals.iter().for_each(|local| self.ty(&local.ty));
                self.expr(&body.value);
            }
            FunctionBody::Derivative(derivative) => self.derivative(derivative),
            FunctionBody::Required(method) => {
                let impls = self.program.impls.iter().filter(|it| it.trait_ref.def == method.of);
                let methods: Vec<FnId> = impls.filter_map(|it| it.methods.get(method.index).copied()).collect();
                methods.into_iter().for_each(|id| self.function(id));
            }
        }
    }

    fn callable(&mut self, of: &Callable) {
        self.has(callable(&of.kind));
        match &of.kind {
            CallableKind::Function { function, generics } => {
                generics.iter().for_each(|arg| self.has(generic(arg)));
                self.function(*function);
            }
            CallableKind::Lambda(lambda) => {
                lambda.params.iter().for_each(|param| self.pattern(param));
                self.expr(&lambda.body);
            }
            CallableKind::Param(_) => {}
            CallableKind::Derivative(derivative) => self.derivative(derivative),
            CallableKind::Vmap(vmap) => self.callable(&vmap.base),
        }
    }

    fn derivative(&mut self, derivative: &Derivative) {
        self.has(form(&derivative.form));
        self.has(derivative.mode.as_ref().and_then(mode));
        self.callable(&derivative.base);
    }

    fn expr(&mut self, e: &Expr) {
        self.has(expr(&e.kind));
        self.ty(&e.ty);
        self.details(e);
        e.each_part(&mut |part| match part {
            cotan_sema::typed::Part::Expr(e) => self.expr(e),
            cotan_sema::typed::Part::Callable(callable) => self.callable(callable),
        });
    }

    /// What an expression has beside its parts.
    fn details(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Literal(of) => self.literal(of),
            ExprKind::Unary { op, .. } => self.has(unary(op)),
            ExprKind::Chain(chain) => chain.rest.iter().for_each(|link| self.has(binary(&link.op))),
            ExprKind::Logic { op, .. } => self.has(logic(op)),
            ExprKind::Range(range) => self.note(range.inclusive, "note inclusive range"),
            ExprKind::Index { indices, .. } => indices.iter().for_each(|at| self.has(index(at))),
            ExprKind::Fold { op, axes: at, .. } => {
                self.has(fold(op));
                self.has(axes(at));
            }
            ExprKind::Call { args, .. } => args.iter().for_each(|of| self.has(arg(of))),
            ExprKind::Builtin { builtin: of, args } => {
                self.has(builtin(of));
                args.iter().for_each(|of| self.has(arg(of)));
            }
            ExprKind::Print(print) => print.pieces.iter().for_each(|of| self.has(piece(of))),
            ExprKind::Match(it) => {
                for arm in &it.arms {
                    self.note(arm.guard.is_some(), "note guard");
                    self.pattern(&arm.pattern);
                }
            }
            ExprKind::Block(block) => {
                self.note(block.recompute, "note recompute block");
                self.note(block.mode.is_some(), "note mode of a block");
                block.statements.iter().for_each(|s| self.statement(&s.kind));
            }
            ExprKind::For(it) => {
                self.has(iterable(&it.iterable));
                match &it.iterable {
                    Iterable::Range { range, reversed } => {
                        self.note(*reversed, "note reversed range");
                        self.note(range.inclusive, "note inclusive range");
                    }
                    Iterable::Tensor { reversed, .. } => self.note(*reversed, "note reversed tensor"),
                }
                self.pattern(&it.pattern);
                self.has(it.checkpoint.as_ref().and_then(checkpoint));
                if let Some(sharing) = &it.parallel {
                    sharing.owned.iter().for_each(|owned| self.has(slot(&owned.slot)));
                    sharing.accumulated.iter().for_each(|of| self.has(assign(&of.op)));
                }
            }
            ExprKind::While(it) => {
                self.note(it.checkpoint.is_some(), "note checkpointed while");
                self.has(it.checkpoint.as_ref().and_then(checkpoint));
            }
            ExprKind::Error
            | ExprKind::Local(_)
            | ExprKind::Size(_)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Struct(_)
            | ExprKind::StructUpdate { .. }
            | ExprKind::Variant { .. }
            | ExprKind::Field { .. }
            | ExprKind::Primitive { .. }
            | ExprKind::Cast(_)
            | ExprKind::FoldBy { .. }
            | ExprKind::ShapeCheck(_)
            | ExprKind::AsTangent(_)
            | ExprKind::Assert(_)
            | ExprKind::After { .. }
            | ExprKind::If(_)
            | ExprKind::Break
            | ExprKind::Continue
            | ExprKind::Return(_) => {}
        }
    }

    fn literal(&mut self, of: &Literal) {
        self.has(literal(of));
        match of {
            Literal::Constant(of) => self.has(constant(of)),
            Literal::Bool(_) | Literal::Int(_) | Literal::Float(_) => {}
        }
    }

    fn statement(&mut self, of: &StmtKind) {
        self.has(statement(of));
        match of {
            StmtKind::Let { pattern, .. } => self.pattern(pattern),
            StmtKind::Assign { target, op, .. } => {
                self.has(assign(op));
                match op {
                    AssignOp::Binary(op) => self.has(binary(op)),
                    AssignOp::Set | AssignOp::Max | AssignOp::Min => {}
                }
                self.target(target);
            }
            StmtKind::Expr(_) => {}
        }
    }

    fn target(&mut self, of: &Target) {
        self.has(target(of));
        match of {
            Target::Tuple(parts) => parts.iter().for_each(|part| self.target(part)),
            Target::Place(place) => {
                for at in &place.steps {
                    self.has(step(&at.kind));
                    match &at.kind {
                        PlaceStepKind::Index(indices) => indices.iter().for_each(|at| self.has(index(at))),
                        PlaceStepKind::Field(_) => {}
                    }
                }
            }
        }
    }

    fn pattern(&mut self, of: &Pattern) {
        of.each(&mut |part| {
            self.has(pattern(&part.kind));
            match &part.kind {
                PatternKind::Literal(of) => self.literal(of),
                PatternKind::Wildcard
                | PatternKind::Local(_)
                | PatternKind::Fields(_)
                | PatternKind::Range(_)
                | PatternKind::Variant { .. }
                | PatternKind::Or(_) => {}
            }
        });
    }

    fn ty(&mut self, ty: &Type) {
        match ty.scalar() {
            Some(Scalar::Of(of)) => self.has(elem(&of)),
            Some(Scalar::Param(_) | Scalar::Var(_)) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::checked;

    #[test]
    fn variants_are_found_in_what_a_function_calls_and_nowhere_else() {
        let text =
            "fn g(v: f64[3]) -> f64 = sin(max/ v)\nfn h(x: f64) -> f64 = -x\nfn f(v: f64[3]) -> f64 = grad(g)(v)[0]";
        let program = checked("test.cot", text).expect("no errors");
        let found = of(&program.checked.program, &["f"]);
        for variant in ["form Grad", "callable Derivative", "fold Max", "axes Last", "expression Primitive", "index At"]
        {
            assert!(found.contains(variant), "{variant} is missing in {found:?}");
        }
        assert!(!found.contains("prefix Neg") && !found.contains("expression Match"), "{found:?}");
        assert!(found.iter().all(|variant| all().any(|name| name == *variant)));
    }
}
