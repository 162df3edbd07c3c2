//! Programs whose constants are parameters.

use crate::derived_case::function;
use cotan_ir::{Atom, Block, Const, Dim, Elem, Module, Op, Span, Stmt, Symbol, Ty, Var, VarInfo};
use cotan_ops::FILL;

/// The function and what it calls, with one more parameter each: an array of all finite constants, which are read there.
/// A constant in the code is folded where its operation is rounded, so it is no residue any more. With them, the length of
/// the array. `None` if a function brings its own derivative along, or if a derivative stayed a call: with one more parameter
/// it would be taken for the derivative of the function with one more.
pub(super) fn lifted(module: &Module, name: &str) -> Result<Option<(Module, i64)>, String> {
    let (mut names, mut at) = (vec![Symbol::from(name)], 0);
    let mut constants = Vec::new();
    while let Some(name) = names.get(at).cloned() {
        let f = function(module, &name)?;
        let is_derivative = [".vjp_", ".jvp_"].iter().any(|part| name.contains(part));
        if is_derivative || f.custom_vjp.is_some() || f.custom_jvp.is_some() {
            return Ok(None);
        }
        each_block(&f.body, &mut |block| {
            let lists = block.stmts.iter().map(|s| s.op.operands()).chain([block.results.clone()]);
            for constant in lists.flatten().filter_map(liftable) {
                if !constants.contains(&constant) {
                    constants.push(constant);
                }
            }
            for s in &block.stmts {
                if let Op::Call { callee, .. } = &s.op
                    && !names.contains(callee)
                {
                    names.push(callee.clone());
                }
            }
        });
        at += 1;
    }
    let length = constants.len().max(1) as i64;
    let mut result = Module::default();
    for name in names {
        let mut f = function(module, &name)?.clone();
        let info = |name: &str, ty: Ty| VarInfo { name: name.into(), ty, record: None };
        let array = f.add_var(info("constants", Ty::new(Elem::F64, vec![Dim::Const(length)])));
        f.params.push(array);
        let reads: Vec<Var> = constants.iter().map(|_| f.add_var(info("constant", Ty::scalar(Elem::F64)))).collect();
        let of = |atom: Atom| match liftable(atom).and_then(|c| constants.iter().position(|other| *other == c)) {
            Some(k) => reads[k].into(),
            None => atom,
        };
        let mut body = std::mem::take(&mut f.body);
        each_block_mut(&mut body, &mut |block| {
            for mut s in std::mem::take(&mut block.stmts) {
                // A constant stands for a tensor of any shape, a variable does not.
                let spread = if matches!(s.op, Op::Prim { .. }) {
                    s.results.first().map(|v| f.ty(*v).dims.clone()).filter(|dims| !dims.is_empty())
                } else {
                    None
                };
                s.op.map_operands(&mut |atom| match &spread {
                    Some(dims) if liftable(atom).is_some() => {
                        let v = f.add_var(info("filled", Ty::new(Elem::F64, dims.clone())));
                        let op = Op::Tensor { op: FILL.op(), args: vec![of(atom)], attrs: Vec::new() };
                        block.stmts.push(Stmt { results: vec![v], op, span: s.span });
                        v.into()
                    }
                    Some(_) | None => of(atom),
                });
                if let Op::Call { args, .. } = &mut s.op {
                    args.push(array.into());
                }
                block.stmts.push(s);
            }
            block.results.iter_mut().for_each(|atom| *atom = of(*atom));
        });
        f.body = body;
        let read = |(k, v): (usize, &Var)| {
            let op = Op::Index { array: array.into(), indices: vec![Atom::i64(k as i64)] };
            Stmt { results: vec![*v], op, span: Span::default() }
        };
        f.body.stmts.splice(0..0, reads.iter().enumerate().map(read));
        result.insert(f);
    }
    Ok(Some((result, length)))
}

fn liftable(atom: Atom) -> Option<Const> {
    atom.constant().filter(|c| c.elem() == Elem::F64 && c.as_float().is_some_and(f64::is_finite))
}

fn each_block(block: &Block, f: &mut dyn FnMut(&Block)) {
    f(block);
    block.stmts.iter().flat_map(|s| s.op.blocks()).for_each(|inner| each_block(inner, f));
}

fn each_block_mut(block: &mut Block, f: &mut dyn FnMut(&mut Block)) {
    f(block);
    block.stmts.iter_mut().flat_map(|s| s.op.blocks_mut()).for_each(|inner| each_block_mut(inner, f));
}
