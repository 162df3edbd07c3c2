//! One function that multiplies a Jacobian by many directions at once, as core IR.
//!
//! It takes what the base takes, then the number of directions, the lengths that the base finds out at run time, and the
//! directions, one tensor for each leaf: tangents in forward mode, cotangents in reverse mode. It is a parallel loop over the
//! directions, so what does not depend on them is computed once.

use super::base::Base;
use super::sides::{ascending, lengths};
use super::{SparseError, without_function};
use crate::{Compiler, DerivativeMode, Engine};
use cotan_ir::{
    Atom, Builder, CheckKind, Derived, Dim, Elem, Env, Function, Item, Mode, Module, ParResult, Symbol, Ty, Var,
};
use cotan_lower::entry::Entry;
use cotan_ops::EQ;
use std::sync::Arc;

/// What the directions belong to, and what comes out for each of them: positions in the base, ascending.
struct Sides {
    given: Vec<usize>,
    found: Vec<usize>,
}

impl Base {
    /// The function that multiplies by directions, ready to be called.
    pub(super) fn products(
        &self,
        compiler: &Compiler,
        mode: DerivativeMode,
        engine: Engine,
    ) -> Result<crate::Function, SparseError> {
        let mut module = self.module.clone();
        let added = add_products(&mut module, self, mode);
        let (symbol, n_results) = added.ok_or_else(|| without_function(self))?;
        let entry = Entry { symbol, leaf_results: (0..n_results).collect(), ..self.entry.clone() };
        Ok(compiler.bind(compiler.lower_module(entry, &module)?, engine)?)
    }
}

/// Adds the function to the module of its base; gives its name, and the number of its results.
pub(super) fn add_products(module: &mut Module, base: &Base, mode: DerivativeMode) -> Option<(Symbol, usize)> {
    let f = module.function(&base.entry.symbol)?.clone();
    let (wrt, outs) = (ascending(&base.wrt), ascending(&base.outs));
    let derived = Derived {
        of: f.name.clone(),
        mode: match mode {
            DerivativeMode::Forward => Mode::Jvp,
            DerivativeMode::Reverse => Mode::Vjp,
        },
        wrt: wrt.clone(),
        outs: outs.clone(),
    };
    let sides = match mode {
        DerivativeMode::Forward => Sides { given: wrt, found: outs },
        DerivativeMode::Reverse => Sides { given: outs, found: wrt },
    };
    let callee = derived.canonical_name();
    module.items.entry(callee.clone()).or_insert(Item::Derived(derived));
    let symbol: Symbol = free_name(module, &format!("{}.products", f.name));
    let products = products(&symbol, &f, mode, callee, &sides);
    module.insert(products);
    Some((symbol, sides.found.len()))
}

fn free_name(module: &Module, name: &str) -> Symbol {
    let mut symbol = name.to_owned();
    while module.items.contains_key(symbol.as_str()) {
        symbol.push('_');
    }
    symbol.into()
}

fn products(symbol: &str, f: &Arc<Function>, mode: DerivativeMode, callee: Symbol, sides: &Sides) -> Function {
    let mut b = Builder::new();
    let mut env = Env::new();
    let mut args: Vec<Atom> = Vec::new();
    for v in &f.params {
        let ty = env.ty(f.ty(*v));
        let param = b.param(f.name_of(*v), ty);
        env.insert(*v, param.into());
        args.push(param.into());
    }
    let outs = match mode {
        DerivativeMode::Forward => &sides.found,
        DerivativeMode::Reverse => &sides.given,
    };
    let n = b.param("directions", Ty::scalar(Elem::I64));
    // The lengths as the caller gives them, under the variables of the base.
    let mut outside = env.clone();
    let mut given_lengths: Vec<Atom> = Vec::new();
    for (v, ..) in lengths(f, outs) {
        let length = b.param(f.name_of(v), Ty::scalar(Elem::I64));
        outside.insert(v, length.into());
        given_lengths.push(length.into());
    }
    let ty_of = |side: usize| match mode {
        DerivativeMode::Forward => (f.name_of(f.params[side]), f.ty(f.params[side]).tangent()),
        DerivativeMode::Reverse => ("result", f.atom_ty(f.body.results[side]).tangent()),
    };
    let directions: Vec<Var> = sides
        .given
        .iter()
        .map(|side| {
            let (name, ty) = ty_of(*side);
            b.param(&format!("{name}_directions"), outside.ty(&ty).stacked([Dim::Var(n)]))
        })
        .collect();
    let at = b.var("i", Ty::scalar(Elem::I64));
    b.open_block();
    let own: Vec<Atom> = directions.iter().map(|v| b.index((*v).into(), &[at.into()]).into()).collect();
    let args = match mode {
        DerivativeMode::Forward => [args, own].concat(),
        DerivativeMode::Reverse => [args, given_lengths, own].concat(),
    };
    // The results of the base come with those of its derivative, and name lengths of their own.
    let mut inside = env;
    let mut results: Vec<Var> = Vec::new();
    for r in &f.body.results {
        let ty = inside.ty(&f.atom_ty(*r));
        let result = b.var(r.var().map_or("result", |v| f.name_of(v)), ty);
        if let Atom::Var(v) = r {
            inside.entry(*v).or_insert(result.into());
        }
        results.push(result);
    }
    let found: Vec<(Var, Ty)> = sides
        .found
        .iter()
        .map(|side| {
            let (name, ty) = match mode {
                DerivativeMode::Forward => ("tangent", f.atom_ty(f.body.results[*side])),
                DerivativeMode::Reverse => ("cotangent", f.ty(f.params[*side]).clone()),
            };
            let ty = ty.tangent();
            (b.var(name, inside.ty(&ty)), outside.ty(&ty))
        })
        .collect();
    results.extend(found.iter().map(|(v, _)| *v));
    b.push(results, cotan_ir::Op::Call { callee, args });
    let found: Vec<Atom> = found.into_iter().map(|(v, ty)| with_dims(&mut b, v, ty)).collect();
    let kinds = vec![ParResult::Stacked; found.len()];
    let block = b.close_block(found);
    let stacked = b.finish_par(vec![at], vec![n.into()], kinds, Vec::new(), block);
    b.finish(symbol, stacked.into_iter().map(Atom::Var).collect())
}

/// A tensor under the dims that the caller has given for those that the run finds out; they are checked.
fn with_dims(b: &mut Builder, v: Var, wanted: Ty) -> Atom {
    let mut value: Atom = v.into();
    let own = b.var_ty(v).clone();
    for (axis, (found, expected)) in own.dims.iter().zip(&wanted.dims).enumerate() {
        if found != expected {
            let (found, expected) = (found.atom(), expected.atom());
            let is_equal = b.prim(EQ.prim(), &[expected, found]);
            let mut ty = b.ty(value);
            ty.dims[axis] = wanted.dims[axis];
            value = b.check(is_equal.into(), CheckKind::ShapeMismatch, &[expected, found], value, Some(ty)).into();
        }
    }
    value
}
