//! Types of single operations: statement results against operands and inner blocks. Every variable in sight is known
//! to be in the table; scopes were judged before.

use super::{Role, Verifier};
use crate::{Acc, AccKind, Atom, Block, Const, Dim, Elem, Loop, Monoid, Op, Par, ParResult, Prim, Stmt, Ty, Var};
use rustc_hash::FxHashMap;

impl<'a> Verifier<'a> {
    pub(super) fn operation(&mut self, s: &'a Stmt) {
        match &s.op {
            Op::Prim { prim, args } => self.prim(s, *prim, args),
            Op::Tensor { .. } => {
                self.one_result(s);
            }
            Op::Index { array, indices } => {
                let part = self.part(*array, indices);
                if let (Some(result), Some(part)) = (self.one_result(s), part) {
                    self.agree("the result", &part, self.f.ty(result));
                }
            }
            Op::Update { array, indices, value } => {
                if let Some(part) = self.part(*array, indices) {
                    self.agree("the new value", &part, &self.f.atom_ty(*value));
                }
                if let Some(result) = self.one_result(s) {
                    self.agree("the result", &self.f.atom_ty(*array), self.f.ty(result));
                }
            }
            Op::AccAdd { acc, indices, value } => self.acc_add(s, *acc, indices, *value),
            Op::Par(p) => self.par(s, p),
            Op::Loop(l) => self.sequential(s, l),
            Op::Switch { selector, arms } => self.switch(s, *selector, arms),
            Op::Call { callee, args } => self.call(s, callee, args),
            Op::Check { cond, kind: _, args, value } => self.check(s, *cond, args, *value),
        }
    }

    // ---- straight-line operations

    fn prim(&mut self, s: &Stmt, prim: Prim, args: &[Atom]) {
        let Some(result) = self.one_result(s) else { return };
        let result = self.f.ty(result);
        let elems: Vec<Elem> = args.iter().map(|a| self.f.atom_ty(*a).elem).collect();
        match prim.result_elem(&elems) {
            Ok(elem) => self.agree("the result", &result.with_elem(elem), result),
            Err(message) => self.fail(message),
        }
        for v in args.iter().filter_map(|a| a.var()) {
            let found = self.f.ty(v);
            self.agree("the shape of an operand", &result.with_elem(found.elem), found);
        }
    }

    fn acc_add(&mut self, s: &Stmt, acc: Var, indices: &[Atom], value: Atom) {
        self.n_results(s, 0);
        if self.visible[acc.index()] == Some(Role::Acc(AccKind::Log)) && indices.len() != 1 {
            self.fail(format!("a write to a log has one index, found {}", indices.len()));
        }
        if let Some(part) = self.part(acc.into(), indices) {
            self.agree("what is added", &part, &self.f.atom_ty(value));
        }
    }

    fn check(&mut self, s: &Stmt, cond: Atom, args: &[Atom], value: Atom) {
        self.scalar("the condition", cond, Elem::Bool);
        for a in args {
            if !self.f.atom_ty(*a).is_scalar() {
                self.fail(format!("the argument `{}` of a check is no scalar", self.show(*a)));
            }
        }
        // The dims are the point of some checks: constants may differ until the check has passed.
        let Some(result) = self.one_result(s) else { return };
        let (expected, found) = (self.f.atom_ty(value), self.f.ty(result));
        if (expected.elem, expected.rank()) != (found.elem, found.rank()) {
            self.mismatch("the result", &expected, found);
        }
    }

    /// The type of what leading indices select.
    fn part(&mut self, array: Atom, indices: &[Atom]) -> Option<Ty> {
        for i in indices {
            self.scalar("an index", *i, Elem::I64);
        }
        let ty = self.f.atom_ty(array);
        if indices.len() > ty.rank() {
            self.fail(format!("{} indices into {}", indices.len(), self.show_ty(&ty)));
            return None;
        }
        Some(ty.inner(indices.len()))
    }

    // ---- regions

    fn par(&mut self, s: &Stmt, p: &Par) {
        if p.indices.len() != p.extents.len() {
            self.fail(format!("{} indices with {} extents", p.indices.len(), p.extents.len()));
        }
        p.indices.iter().for_each(|i| self.scalar("an index", (*i).into(), Elem::I64));
        p.extents.iter().for_each(|n| self.scalar("an extent", *n, Elem::I64));
        if p.extents.iter().any(|n| n.constant().and_then(Const::as_i64).is_some_and(|n| n < 0)) {
            self.fail("a negative extent".to_owned());
        }
        let elements = &p.body.results;
        if p.kinds.len() != elements.len() {
            return self.fail(format!("{} kinds for {} results of the body", p.kinds.len(), elements.len()));
        }
        if !self.n_results(s, elements.len() + p.accs.len()) {
            return;
        }
        self.dims_from_outside(elements);
        let (results, final_accs) = s.results.split_at(elements.len());
        for ((kind, element), result) in p.kinds.iter().zip(elements).zip(results) {
            let (element, result) = (self.f.atom_ty(*element), self.f.ty(*result));
            match kind {
                ParResult::Stacked => {
                    self.agree("a stacked result", &element.stacked(p.extents.iter().map(length)), result);
                }
                ParResult::Reduced { monoid, init } => {
                    self.monoid(*monoid, element.elem);
                    self.agree("a start value", &element, &self.f.atom_ty(*init));
                    self.agree("a reduced result", &element, result);
                }
            }
        }
        for (acc, result) in p.accs.iter().zip(final_accs) {
            match acc.kind {
                AccKind::Reduce(Monoid::Add | Monoid::Max | Monoid::Min) => {}
                AccKind::Reduce(Monoid::Mul | Monoid::And | Monoid::Or) | AccKind::Log => {
                    self.fail("an accumulator of a par adds or takes the maximum or minimum".to_owned());
                }
            }
            self.reduced_acc(acc, *result);
        }
    }

    fn sequential(&mut self, s: &Stmt, l: &Loop) {
        self.scalar("the index", l.index.into(), Elem::I64);
        l.count.into_iter().for_each(|n| self.scalar("the count", n, Elem::I64));
        if l.params.len() != l.inits.len() {
            return self.fail(format!("{} carried values with {} start values", l.params.len(), l.inits.len()));
        }
        let Some(elements) = l.body.results.get(l.params.len()..) else {
            return self.fail(format!("{} results of the body for {} carried", l.body.results.len(), l.params.len()));
        };
        let trips = usize::from(l.count.is_none());
        if !self.n_results(s, trips + l.params.len() + l.accs.len() + elements.len()) {
            return;
        }
        let results = l.split(&s.results);
        if let Some(trips) = results.trips {
            self.scalar("the trip count", trips.into(), Elem::I64);
            match l.params.first() {
                Some(go) => self.scalar("the first carried value of a while", (*go).into(), Elem::Bool),
                None => self.fail("a while carries nothing to decide on".to_owned()),
            }
        }
        for (k, param) in l.params.iter().enumerate() {
            let ty = self.f.ty(*param);
            self.agree("a start value", ty, &self.f.atom_ty(l.inits[k]));
            self.agree("the next carried value", ty, &self.f.atom_ty(l.body.results[k]));
            self.agree("a carried result", ty, self.f.ty(results.carried[k]));
        }
        for (acc, result) in l.accs.iter().zip(results.accs) {
            match acc.kind {
                AccKind::Log => self.log(acc, *result, results.carried),
                AccKind::Reduce(Monoid::Add) => self.reduced_acc(acc, *result),
                AccKind::Reduce(Monoid::Mul | Monoid::Max | Monoid::Min | Monoid::And | Monoid::Or) => {
                    self.fail("an accumulator of a loop adds or is a log".to_owned());
                }
            }
        }
        self.dims_from_outside(elements);
        for (element, result) in elements.iter().zip(results.stacked) {
            let lead = l.count.as_ref().map(length).or(results.trips.map(Dim::Var));
            let expected = self.f.atom_ty(*element).stacked(lead);
            self.agree("a stacked result", &expected, self.f.ty(*result));
            if results.trips.is_some() && self.f.ty(*result).dims.first() != expected.dims.first() {
                self.fail("what a while stacks is as long as its trip count".to_owned());
            }
        }
    }

    fn reduced_acc(&mut self, acc: &Acc, result: Var) {
        let ty = self.f.ty(acc.var);
        if let AccKind::Reduce(monoid) = acc.kind {
            self.monoid(monoid, ty.elem);
        }
        match acc.init {
            Some(init) => self.agree("a start value", ty, &self.f.atom_ty(init)),
            None => self.fail(format!("the accumulator `{}` has no start value", self.show(acc.var))),
        }
        self.agree("the final accumulator", ty, self.f.ty(result));
    }

    fn log(&mut self, acc: &Acc, result: Var, carried: &[Var]) {
        let (ty, found) = (self.f.ty(acc.var), self.f.ty(result));
        if acc.init.is_some() {
            self.fail(format!("the log `{}` has a start value", self.show(acc.var)));
        }
        if ty.dims.first() != Some(&Dim::Const(0)) {
            return self.fail(format!("dim 0 of the log `{}` is not 0", self.show(acc.var)));
        }
        match found.dims.first().and_then(|d| d.var()) {
            Some(n) if carried.contains(&n) => self.agree("the final log", &ty.inner(1).stacked([Dim::Var(n)]), found),
            Some(_) | None => self.fail("the length of a log is no carried result of its loop".to_owned()),
        }
    }

    fn monoid(&mut self, monoid: Monoid, elem: Elem) {
        let on_bool = matches!(monoid, Monoid::And | Monoid::Or);
        if on_bool != (elem == Elem::Bool) {
            self.fail(format!("`{}` does not reduce {elem}", monoid.name()));
        }
    }

    fn switch(&mut self, s: &Stmt, selector: Atom, arms: &[Block]) {
        let ty = self.f.atom_ty(selector);
        if !(ty == Ty::scalar(Elem::Bool) && arms.len() == 2 || ty == Ty::scalar(Elem::I64) && !arms.is_empty()) {
            self.fail(format!("a selector {} with {} arms", self.show_ty(&ty), arms.len()));
        }
        for arm in arms {
            if arm.results.len() != s.results.len() {
                self.fail(format!("an arm gives {} results for {}", arm.results.len(), s.results.len()));
                continue;
            }
            self.lengths_given(&arm.results);
            // A dim that is an earlier result is in this arm what the arm gives for it.
            let env: FxHashMap<Var, Atom> = s.results.iter().copied().zip(arm.results.iter().copied()).collect();
            for (result, given) in s.results.iter().zip(&arm.results) {
                let expected = Known::under(self.f.ty(*result), |d| env.get(&d).copied().or(Some(d.into())));
                self.agree_known("the result of an arm", &expected, &self.f.atom_ty(*given));
            }
        }
    }

    fn call(&mut self, s: &Stmt, callee: &str, args: &[Atom]) {
        if !self.module.items.contains_key(callee) {
            return self.fail(format!("the module has no function `{callee}`"));
        }
        // Nothing is known yet of a derivative that is still to be written.
        let Some(function) = self.module.function(callee) else { return };
        if args.len() != function.params.len() {
            return self.fail(format!("`{callee}` takes {} arguments, found {}", function.params.len(), args.len()));
        }
        if !self.n_results(s, function.body.results.len()) {
            return;
        }
        let mut env: FxHashMap<Var, Atom> = FxHashMap::default();
        for (param, arg) in function.params.iter().zip(args) {
            let expected = Known::under(function.ty(*param), |d| env.get(&d).copied());
            self.agree_known("an argument", &expected, &self.f.atom_ty(*arg));
            env.insert(*param, *arg);
        }
        for (given, result) in function.body.results.iter().zip(&s.results) {
            let expected = Known::under(&function.atom_ty(*given), |d| env.get(&d).copied());
            self.agree_known("a result of the call", &expected, self.f.ty(*result));
        }
    }

    /// Elements of one iteration have the same dims in all of them. Runs after the region was left.
    fn dims_from_outside(&mut self, elements: &[Atom]) {
        for v in elements.iter().filter_map(|a| a.var()) {
            for d in self.f.ty(v).dim_vars() {
                if self.visible[d.index()].is_none() {
                    self.fail(format!(
                        "`{}`, a dim of the element `{}`, is bound in the region",
                        self.show(d),
                        self.show(v)
                    ));
                }
            }
        }
    }

    // ---- small rules

    fn n_results(&mut self, s: &Stmt, n: usize) -> bool {
        if s.results.len() != n {
            self.fail(format!("results: expected {n}, found {}", s.results.len()));
        }
        s.results.len() == n
    }

    fn one_result(&mut self, s: &Stmt) -> Option<Var> {
        if self.n_results(s, 1) { s.results.first().copied() } else { None }
    }

    fn scalar(&mut self, what: &str, a: Atom, elem: Elem) {
        let found = self.f.atom_ty(a);
        if found != Ty::scalar(elem) {
            self.mismatch(what, &Ty::scalar(elem), &found);
        }
    }

    fn agree(&mut self, what: &str, expected: &Ty, found: &Ty) {
        if !Known::under(expected, |d| Some(d.into())).agrees_with(found) {
            self.mismatch(what, expected, found);
        }
    }

    fn agree_known(&mut self, what: &str, expected: &Known, found: &Ty) {
        if !expected.agrees_with(found) {
            self.fail(format!("{what}: expected {}, found {}", expected.show(), self.show_ty(found)));
        }
    }

    fn mismatch(&mut self, what: &str, expected: &Ty, found: &Ty) {
        self.fail(format!("{what}: expected {}, found {}", self.show_ty(expected), self.show_ty(found)));
    }
}

/// An extent or count as a dim; one that is no i64 was reported and counts as zero.
fn length(n: &Atom) -> Dim {
    match n {
        Atom::Var(v) => Dim::Var(*v),
        Atom::Const(c) => Dim::Const(c.as_i64().unwrap_or_default()),
    }
}

/// What is known of a type in another scope: the dims that are constants there.
struct Known {
    elem: Elem,
    dims: Vec<Option<i64>>,
}

impl Known {
    fn under(ty: &Ty, value: impl Fn(Var) -> Option<Atom>) -> Known {
        let dim = |d: &Dim| match d {
            Dim::Const(n) => Some(*n),
            Dim::Var(v) => value(*v).and_then(Atom::constant).and_then(Const::as_i64),
        };
        Known { elem: ty.elem, dims: ty.dims.iter().map(dim).collect() }
    }

    fn agrees_with(&self, found: &Ty) -> bool {
        let differ = |(known, dim): (&Option<i64>, &Dim)| match (known, dim) {
            (Some(n), Dim::Const(m)) => n != m,
            (None, _) | (_, Dim::Var(_)) => false,
        };
        self.elem == found.elem && self.dims.len() == found.rank() && !self.dims.iter().zip(&found.dims).any(differ)
    }

    fn show(&self) -> String {
        let dims: Vec<String> = self.dims.iter().map(|d| d.map_or("?".to_owned(), |n| n.to_string())).collect();
        if dims.is_empty() { self.elem.to_string() } else { format!("{}[{}]", self.elem, dims.join(", ")) }
    }
}
