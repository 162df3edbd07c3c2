//! Calls that remain after inlining: their callee has a custom rule or is large.
//!
//! A custom rule is a function of the module, and higher orders differentiate its body. Else the callee's derivative is
//! generated for exactly the active operands and the results with derivatives. Array cotangents come back whole.
//!
//! Forward mode replaces the call by one of the function with tangents. Reverse mode calls the function in the value sweep, and
//! in the reverse sweep its derivative without the values, which prints nothing and repeats no check on the way to a value.
//! It recomputes the values that it needs, so a function under `d` remaining calls runs up to `d + 1` times in a gradient, as
//! the body of nested loops does.

use crate::error::Error;
use crate::lengths::Lengths;
use crate::state::{Forward, Reverse, Scope, TangentScope, retyped};
use cotan_ir::{Atom, Builder, Derived, Elem, Function, Mode, Stmt, Symbol, Var};

impl Forward<'_, '_> {
    pub(crate) fn jvp_call(
        &mut self,
        s: &Stmt,
        callee: &Symbol,
        args: &[Atom],
        scope: &mut TangentScope,
    ) -> Result<(), Error> {
        let mut has_values = false;
        for direction in 0..self.directions.len() {
            let is_active = |k: &usize| self.directions[direction].has(s.results[*k]);
            let outs: Vec<usize> = (0..s.results.len()).filter(is_active).collect();
            let wrt = positions(args, |a| self.known_tangent(a, direction, scope).is_some());
            if outs.is_empty() || wrt.is_empty() {
                continue;
            }
            let f = self.session.function(callee)?;
            // In front of the tangents stand its values, or only the lengths.
            let n_values = s.results.len();
            let (rule, n_in_front, wrt, outs) = match &f.custom_jvp {
                Some(custom) => (self.session.function(custom)?, n_values, float_params(&f), float_results(&f)),
                None => {
                    let d = Derived { of: callee.clone(), mode: Mode::Jvp, wrt: wrt.clone(), outs: outs.clone() };
                    let (rule, n_in_front) = if has_values {
                        self.session.derivative_alone(&d, n_values)?
                    } else {
                        (self.session.derivative(&d)?, n_values)
                    };
                    (rule, n_in_front, wrt, outs)
                }
            };
            let mut operands = scope.env.atoms(args);
            operands.extend(wrt.iter().map(|k| self.tangent(args[*k], direction, scope)));
            let operands = as_taken(&mut self.b, &rule, operands);
            let results = self.b.call(&rule, &operands);
            let (values, tangents) = results.split_at(n_in_front);
            // Each direction gets the values too, and they are the same.
            if !std::mem::replace(&mut has_values, true) {
                for (result, value) in s.results.iter().zip(values) {
                    // The caller may name a length otherwise than the callee does.
                    let ty = scope.env.ty(self.src.ty(*result));
                    let value = retyped(&mut self.b, (*value).into(), ty);
                    scope.env.insert(*result, value);
                }
            }
            for (k, tan) in outs.into_iter().zip(tangents) {
                let tan = computed(&mut self.b, *tan);
                scope.tans.insert((s.results[k], direction), tan);
            }
        }
        if !has_values {
            self.primal(s, scope);
        }
        Ok(())
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_call(
        &mut self,
        s: &Stmt,
        callee: &Symbol,
        args: &[Atom],
        scope: &mut Scope,
    ) -> Result<(), Error> {
        let f = self.session.function(callee)?;
        let mut operands = scope.env.atoms(args);
        let (wrt, cots): (Vec<usize>, Vec<Var>) = if let Some(custom) = &f.custom_vjp {
            let rule = self.session.function(custom)?;
            operands.extend(scope.env.atoms(&s.results.iter().map(|r| Atom::Var(*r)).collect::<Vec<_>>()));
            for k in float_results(&f) {
                let known = self.take(s.results[k], scope);
                operands.push(known.unwrap_or_else(|| self.zeros(s.results[k], scope)));
            }
            let operands = as_taken(&mut self.b, &rule, operands);
            (float_params(&f), self.b.call(&rule, &operands))
        } else {
            let outs: Vec<usize> = (0..s.results.len()).filter(|k| scope.cots.contains_key(&s.results[*k])).collect();
            let wrt = positions(args, |a| self.active.member(a).is_some());
            let seeds: Vec<Atom> = outs.iter().filter_map(|k| self.take(s.results[*k], scope)).collect();
            let shapes: Vec<_> = seeds.iter().map(|c| self.b.ty(*c).dims).collect();
            let lengths = Lengths::of(&f, &outs).values(&shapes);
            operands.extend(lengths.into_iter().map(|d| d.atom()).chain(seeds));
            let d = Derived { of: callee.clone(), mode: Mode::Vjp, wrt: wrt.clone(), outs };
            let (rule, n_lengths) = self.session.derivative_alone(&d, s.results.len())?;
            (wrt, self.b.call(&rule, &operands)[n_lengths..].to_vec())
        };
        for (k, c) in wrt.into_iter().zip(cots) {
            let c = computed(&mut self.b, c);
            self.add(args[k], c, scope);
        }
        Ok(())
    }
}

/// Operands converted for a custom rule, whose tangents and cotangents of storage types have those types.
fn as_taken(b: &mut Builder, rule: &Function, operands: Vec<Atom>) -> Vec<Atom> {
    let wanted = rule.params.iter().map(|p| rule.ty(*p).elem);
    operands.into_iter().zip(wanted).map(|(operand, elem)| converted(b, operand, elem)).collect()
}

/// A result of a custom rule, in the type of derivative arithmetic.
fn computed(b: &mut Builder, derivative: Var) -> Atom {
    let elem = b.var_ty(derivative).elem.computed();
    converted(b, derivative.into(), elem)
}

fn converted(b: &mut Builder, x: Atom, elem: Elem) -> Atom {
    if b.ty(x).elem == elem { x } else { b.prim(cotan_ops::cast_to(elem).prim(), &[x]).into() }
}

fn positions(args: &[Atom], is_wanted: impl Fn(Atom) -> bool) -> Vec<usize> {
    (0..args.len()).filter(|k| is_wanted(args[*k])).collect()
}

fn float_params(f: &Function) -> Vec<usize> {
    (0..f.params.len()).filter(|k| f.ty(f.params[*k]).is_float()).collect()
}

fn float_results(f: &Function) -> Vec<usize> {
    (0..f.body.results.len()).filter(|k| f.is_float(f.body.results[*k])).collect()
}
