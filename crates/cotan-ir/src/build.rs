//! The builder: appends statements to the innermost open block and infers result types.

use crate::{
    Acc, Atom, Block, CheckKind, Dim, Elem, Env, Function, Loop, Op, Par, ParResult, Prim, Span, Stmt, Symbol,
    TensorOp, Ty, Var, VarInfo,
};

/// Writes one function. Operands must be variables of this builder or constants.
///
/// A misuse (wrong arity, an element type that a primitive does not take, a block closed twice) is a bug of the caller
/// and panics; users' errors are found before anything is built.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    vars: Vec<VarInfo>,
    params: Vec<Var>,
    open: Vec<Vec<Stmt>>,
    span: Span,
    next_name: Option<Symbol>,
}

impl Builder {
    /// A builder with one open block: the body of the function.
    pub fn new() -> Builder {
        Builder { open: vec![Vec::new()], ..Builder::default() }
    }

    /// A builder of blocks for a function that exists, with its variables. Nothing goes into the body of the function.
    pub fn on(vars: Vec<VarInfo>) -> Builder {
        Builder { vars, ..Builder::new() }
    }

    /// The variables, with those that were added.
    pub fn into_vars(self) -> Vec<VarInfo> {
        assert!(self.open.iter().all(Vec::is_empty), "statements outside of a block");
        self.vars
    }

    // ---- variables

    /// A new variable that nothing binds yet.
    pub fn var(&mut self, name: &str, ty: Ty) -> Var {
        self.vars.push(VarInfo { name: name.into(), ty, record: None });
        Var(self.vars.len() as u32 - 1)
    }

    /// A new parameter of the function.
    pub fn param(&mut self, name: &str, ty: Ty) -> Var {
        let v = self.var(name, ty);
        self.params.push(v);
        v
    }

    /// The parameters so far.
    pub fn params(&self) -> &[Var] {
        &self.params
    }

    /// The type of a variable.
    pub fn var_ty(&self, v: Var) -> &Ty {
        &self.vars[v.index()].ty
    }

    /// All variables so far.
    pub fn vars(&self) -> &[VarInfo] {
        &self.vars
    }

    /// What is known of a variable.
    pub fn info(&self, v: Var) -> &VarInfo {
        &self.vars[v.index()]
    }

    /// Changes what is known of a variable (a type that names a result found later, the mark of a record).
    pub fn info_mut(&mut self, v: Var) -> &mut VarInfo {
        &mut self.vars[v.index()]
    }

    /// The type of an operand.
    pub fn ty(&self, a: Atom) -> Ty {
        match a {
            Atom::Var(v) => self.var_ty(v).clone(),
            Atom::Const(c) => Ty::of_const(c),
        }
    }

    // ---- context of the next statements

    /// The source text of the statements that follow.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    /// The source text of the statements that follow.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Names the (first) result of the next statement.
    pub fn named(&mut self, name: &str) -> &mut Builder {
        self.next_name = Some(name.into());
        self
    }

    fn take_name(&mut self, default: &str) -> Symbol {
        self.next_name.take().unwrap_or_else(|| default.into())
    }

    // ---- blocks

    /// Opens a block; the statements that follow go into it.
    pub fn open_block(&mut self) {
        self.open.push(Vec::new());
    }

    /// Opens a block that already holds statements.
    pub fn reopen_block(&mut self, stmts: Vec<Stmt>) {
        self.open.push(stmts);
    }

    /// Closes the innermost block.
    pub fn close_block(&mut self, results: Vec<Atom>) -> Block {
        let stmts = self.open.pop().expect("invariant: a block is open");
        assert!(!self.open.is_empty(), "the body of the function is closed by `finish`");
        Block { stmts, results }
    }

    /// The statements of the innermost open block.
    pub fn stmts(&mut self) -> &mut Vec<Stmt> {
        self.open.last_mut().expect("invariant: a block is open")
    }

    /// Closes the function.
    pub fn finish(mut self, name: &str, results: Vec<Atom>) -> Function {
        let stmts = self.open.pop().expect("invariant: the body is open");
        assert!(self.open.is_empty(), "a block of `{name}` was left open");
        Function {
            name: name.into(),
            vars: self.vars,
            params: self.params,
            body: Block { stmts, results },
            custom_vjp: None,
            custom_jvp: None,
        }
    }

    // ---- statements

    /// Appends a statement whose results exist already.
    pub fn push(&mut self, results: Vec<Var>, op: Op) {
        let span = self.span;
        self.stmts().push(Stmt { results, op, span });
    }

    fn one(&mut self, default: &str, ty: Ty, op: Op) -> Var {
        let name = self.take_name(default);
        let v = self.var(&name, ty);
        self.push(vec![v], op);
        v
    }

    /// A scalar primitive, element-wise on equal shapes.
    pub fn prim(&mut self, prim: Prim, args: &[Atom]) -> Var {
        let tys: Vec<Ty> = args.iter().map(|a| self.ty(*a)).collect();
        let elems: Vec<Elem> = tys.iter().map(|t| t.elem).collect();
        let elem = prim.result_elem(&elems).unwrap_or_else(|e| panic!("{e}"));
        let dims = tys.into_iter().map(|t| t.dims).find(|d| !d.is_empty()).unwrap_or_default();
        self.one(prim.name(), Ty::new(elem, dims), Op::Prim { prim, args: args.to_vec() })
    }

    /// A structural operation with one result of the given type.
    pub fn tensor(&mut self, op: TensorOp, args: &[Atom], attrs: &[i64], ty: Ty) -> Var {
        self.one(op.name(), ty, Op::Tensor { op, args: args.to_vec(), attrs: attrs.to_vec() })
    }

    /// The element or sub-tensor at leading indices that are known to be in range.
    pub fn index(&mut self, array: Atom, indices: &[Atom]) -> Var {
        let ty = self.ty(array).inner(indices.len());
        self.one("elem", ty, Op::Index { array, indices: indices.to_vec() })
    }

    /// The tensor with the element or sub-tensor at leading indices replaced.
    pub fn update(&mut self, array: Atom, indices: &[Atom], value: Atom) -> Var {
        let ty = self.ty(array);
        self.one("updated", ty, Op::Update { array, indices: indices.to_vec(), value })
    }

    /// A write to an accumulator.
    pub fn acc_add(&mut self, acc: Var, indices: &[Atom], value: Atom) {
        self.push(Vec::new(), Op::AccAdd { acc, indices: indices.to_vec(), value });
    }

    /// `value`, guarded by a check. The result has `ty`, or the type of the value.
    pub fn check(&mut self, cond: Atom, kind: CheckKind, args: &[Atom], value: Atom, ty: Option<Ty>) -> Var {
        let ty = ty.unwrap_or_else(|| self.ty(value));
        self.one("checked", ty, Op::Check { cond, kind, args: args.to_vec(), value })
    }

    // ---- regions

    /// Appends a parallel loop whose body is closed. Gives its results: one per body result, then one per accumulator.
    pub fn finish_par(
        &mut self,
        indices: Vec<Var>,
        extents: Vec<Atom>,
        kinds: Vec<ParResult>,
        accs: Vec<Acc>,
        body: Block,
    ) -> Vec<Var> {
        assert_eq!(kinds.len(), body.results.len(), "one kind per result of the body");
        let lead: Vec<Dim> = extents.iter().map(|e| Dim::from_atom(*e)).collect();
        let mut results = Vec::new();
        for (kind, r) in kinds.iter().zip(&body.results) {
            let ty = match kind {
                ParResult::Stacked => self.ty(*r).stacked(lead.iter().copied()),
                ParResult::Reduced { .. } => self.ty(*r),
            };
            let name = self.next_name.take().unwrap_or_else(|| self.name_or(*r, "par"));
            results.push(self.var(&name, ty));
        }
        for acc in &accs {
            let info = self.info(acc.var).clone();
            results.push(self.var(&info.name, info.ty));
        }
        self.push(results.clone(), Op::Par(Box::new(Par { indices, extents, kinds, accs, body })));
        results
    }

    /// Appends a sequential loop whose body is closed. Gives its results in the order of [`Loop::split`]. The types of
    /// logs name the carried result that is their length: `log_lengths` gives, for every log in order, the position of
    /// that carried value.
    pub fn finish_loop(&mut self, l: Loop, log_lengths: &[usize]) -> Vec<Var> {
        let mut results = Vec::new();
        let trips = match l.count {
            Some(n) => Dim::from_atom(n),
            None => {
                let k = self.var("trips", Ty::scalar(Elem::I64));
                results.push(k);
                Dim::Var(k)
            }
        };
        let first_carried = results.len();
        for p in &l.params {
            let info = self.info(*p).clone();
            let name = self.next_name.take().unwrap_or(info.name);
            results.push(self.var(&name, info.ty));
        }
        let mut logs = log_lengths.iter();
        for acc in &l.accs {
            let mut info = self.info(acc.var).clone();
            if acc.init.is_none() {
                let at = logs.next().expect("invariant: every log has a length");
                info.ty.dims[0] = Dim::Var(results[first_carried + at]);
            }
            let v = self.var(&info.name, info.ty);
            self.info_mut(v).record = info.record;
            results.push(v);
        }
        for r in &l.body.results[l.params.len()..] {
            let ty = self.ty(*r).stacked([trips]);
            let name = self.name_or(*r, "stacked");
            results.push(self.var(&name, ty));
        }
        self.push(results.clone(), Op::Loop(Box::new(l)));
        results
    }

    /// Appends a switch whose arms are closed.
    pub fn finish_switch(&mut self, selector: Atom, arms: Vec<Block>) -> Vec<Var> {
        let mut env = Env::new();
        let first = arms.first().expect("invariant: a switch has an arm").results.clone();
        let results = self.results_like(&first, &mut env);
        self.push(results.clone(), Op::Switch { selector, arms });
        results
    }

    /// Appends a call.
    pub fn call(&mut self, callee: &Function, args: &[Atom]) -> Vec<Var> {
        assert_eq!(callee.params.len(), args.len(), "arguments of `{}`", callee.name);
        let mut env: Env = callee.params.iter().copied().zip(args.iter().copied()).collect();
        let mut results = Vec::new();
        for r in &callee.body.results {
            let (name, ty) = match r {
                Atom::Var(v) => (callee.vars[v.index()].name.clone(), env.ty(callee.ty(*v))),
                Atom::Const(c) => ("result".into(), Ty::of_const(*c)),
            };
            let name = self.next_name.take().unwrap_or(name);
            let out = self.var(&name, ty);
            if let Atom::Var(v) = r {
                env.entry(*v).or_insert(out.into());
            }
            results.push(out);
        }
        self.push(results.clone(), Op::Call { callee: callee.name.clone(), args: args.to_vec() });
        results
    }

    /// New variables that stand outside for the results of an inner block: a dim that is itself an earlier result of
    /// the block is renamed to that result.
    pub fn results_like(&mut self, inner: &[Atom], env: &mut Env) -> Vec<Var> {
        let mut out = Vec::new();
        for r in inner {
            let ty = env.ty(&self.ty(*r));
            let name = self.next_name.take().unwrap_or_else(|| self.name_or(*r, "result"));
            let v = self.var(&name, ty);
            if let Atom::Var(r) = r {
                env.entry(*r).or_insert(v.into());
            }
            out.push(v);
        }
        out
    }

    fn name_or(&self, a: Atom, default: &str) -> Symbol {
        match a {
            Atom::Var(v) => self.info(v).name.clone(),
            Atom::Const(_) => default.into(),
        }
    }
}
