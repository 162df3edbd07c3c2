//! Two statements as one loop.

use super::{Fuse, Pair};
use crate::passes::rename::{rename_block, substitute};
use cotan_ir::{Atom, Block, Elem, Op, Par, ParResult, Stmt, Ty, Var, VarInfo, bug, print_stmt};
use cotan_ops::FILL;
use rustc_hash::FxHashMap;

/// How the elements of arrays are made, at the indices of the loop that takes them.
struct Elements {
    stmts: Vec<Stmt>,
    /// One for each array.
    values: Vec<Atom>,
}

impl Fuse<'_> {
    pub(super) fn join(&mut self, block: &mut Block, pair: &Pair) {
        let producer = &block.stmts[pair.producer];
        let (is_filled, arrays) = (self.is_filled(producer), producer.results.clone());
        let mut taken = block.stmts[pair.consumer].clone();
        let mut p = self.as_par(&taken);
        let Elements { stmts, values } = self.elements(&block.stmts[pair.producer], &p.indices);
        let value_of = |v: Var| arrays.iter().position(|a| *a == v).map(|k| values[k]);
        let mut body = Block { stmts: Vec::with_capacity(p.body.stmts.len() + stmts.len()), ..Block::default() };
        let mut read: FxHashMap<Var, Atom> = FxHashMap::default();
        let mut made = Some(stmts);
        for s in std::mem::take(&mut p.body.stmts) {
            match self.own_read(&p, &s, &arrays).and_then(value_of) {
                Some(value) => {
                    body.stmts.extend(made.take().into_iter().flatten());
                    read.extend(s.results.iter().map(|r| (*r, value)));
                }
                None => body.stmts.push(s),
            }
        }
        body.results = std::mem::take(&mut p.body.results);
        substitute(&mut body, &|a| a.var().and_then(|v| read.get(&v).copied()).unwrap_or(a));
        p.body = body;
        for (k, array) in pair.kept.iter().enumerate() {
            p.kinds.insert(k, ParResult::Stacked);
            p.body.results.insert(k, value_of(*array).expect("invariant: what is kept was made"));
            taken.results.insert(k, *array);
        }
        taken.op = Op::Par(Box::new(p));
        block.stmts[pair.consumer] = taken;
        // From the last on, so that positions stay.
        let delayed: Vec<Stmt> = pair.delayed.iter().map(|k| block.stmts[*k].clone()).collect();
        block.stmts.splice(pair.consumer + 1..pair.consumer + 1, delayed);
        pair.delayed.iter().rev().for_each(|k| drop(block.stmts.remove(*k)));
        if !(is_filled && self.is_read(block, arrays[0])) {
            block.stmts.remove(pair.producer);
        }
    }

    /// A parallel loop, or an operation on whole arrays as one.
    fn as_par(&mut self, s: &Stmt) -> Par {
        if let Op::Par(p) = &s.op {
            p.as_ref().clone()
        } else if let Op::Prim { prim, args } = &s.op {
            let ty = self.f.ty(s.results[0]).clone();
            let indices: Vec<Var> = ty.dims.iter().map(|_| self.scalar("i", Elem::I64)).collect();
            let (stmts, value) = self.element_of_prim(s, *prim, args, &indices);
            let extents = ty.dims.iter().map(|d| d.atom()).collect();
            let body = Block { stmts, results: vec![value] };
            Par { indices, extents, kinds: vec![ParResult::Stacked], accs: Vec::new(), body }
        } else if let Op::AccAdd { acc, indices, value } = &s.op {
            let ty = self.f.atom_ty(*value);
            let own: Vec<Var> = ty.dims.iter().map(|_| self.scalar("i", Elem::I64)).collect();
            let (read, value) = self.read(s, *value, &own);
            let indices = indices.iter().copied().chain(own.iter().map(|i| Atom::Var(*i))).collect();
            let add = Stmt { results: Vec::new(), op: Op::AccAdd { acc: *acc, indices, value }, span: s.span };
            let body = Block { stmts: read.into_iter().chain([add]).collect(), results: Vec::new() };
            let extents = ty.dims.iter().map(|d| d.atom()).collect();
            Par { indices: own, extents, kinds: Vec::new(), accs: Vec::new(), body }
        } else {
            bug!("fuse", print_stmt(self.f, s), "the consumer takes no elements")
        }
    }

    /// How elements are made at these indices.
    fn elements(&mut self, s: &Stmt, indices: &[Var]) -> Elements {
        if let Op::Prim { prim, args } = &s.op {
            let (stmts, value) = self.element_of_prim(s, *prim, args, indices);
            Elements { stmts, values: vec![value] }
        } else if let Op::Tensor { args, .. } = &s.op {
            let value = s.results[0];
            if indices.len() < self.f.ty(value).dims.len() && self.f.atom_ty(args[0]).is_scalar() {
                return self.filled_part(s, args[0], indices.len());
            }
            // A tensor fills the leading dims.
            let rank = self.f.atom_ty(args[0]).dims.len();
            let (stmts, value) = self.read(s, args[0], &indices[indices.len() - rank..]);
            Elements { stmts: stmts.into_iter().collect(), values: vec![value] }
        } else if let Op::Par(p) = &s.op {
            if indices.len() < p.indices.len() {
                return if self.is_filled(s) {
                    self.filled_part(s, p.body.results[0], indices.len())
                } else {
                    self.parts_by_a_loop(s, p, indices)
                };
            }
            let mut body = p.body.clone();
            let name = |v: Var| p.indices.iter().position(|i| *i == v).map_or(v, |k| indices[k]);
            rename_block(&mut body, &name);
            Elements { stmts: body.stmts, values: body.results }
        } else {
            bug!("fuse", print_stmt(self.f, s), "the producer makes no elements")
        }
    }

    fn element_of_prim(&mut self, s: &Stmt, prim: cotan_ir::Prim, args: &[Atom], indices: &[Var]) -> (Vec<Stmt>, Atom) {
        let mut stmts = Vec::with_capacity(args.len() + 1);
        let mut elements = Vec::with_capacity(args.len());
        for a in args {
            let (read, element) = self.read(s, *a, indices);
            stmts.extend(read);
            elements.push(element);
        }
        let name = self.f.name_of(s.results[0]).to_owned();
        let value = self.part(&name, s.results[0].into(), indices.len());
        stmts.push(Stmt { results: vec![value], op: Op::Prim { prim, args: elements }, span: s.span });
        (stmts, value.into())
    }

    /// An element or a row of an operand; a scalar is its own.
    fn read(&mut self, s: &Stmt, array: Atom, indices: &[Var]) -> (Option<Stmt>, Atom) {
        let ty = self.f.atom_ty(array);
        if ty.is_scalar() {
            return (None, array);
        }
        let v = self.part("elem", array, indices.len());
        let indices = indices.iter().map(|i| Atom::Var(*i)).collect();
        (Some(Stmt { results: vec![v], op: Op::Index { array, indices }, span: s.span }), v.into())
    }

    /// A part of an array that one value fills.
    fn filled_part(&mut self, s: &Stmt, value: Atom, n_indices: usize) -> Elements {
        let name = self.f.name_of(s.results[0]).to_owned();
        let part = self.part(&name, s.results[0].into(), n_indices);
        let op = Op::Tensor { op: FILL.op(), args: vec![value], attrs: Vec::new() };
        Elements { stmts: vec![Stmt { results: vec![part], op, span: s.span }], values: vec![part.into()] }
    }

    /// Rows of what a loop over more indices makes, by a loop over the others.
    fn parts_by_a_loop(&mut self, s: &Stmt, p: &Par, indices: &[Var]) -> Elements {
        let (taken, rest) = p.indices.split_at(indices.len());
        let mut body = p.body.clone();
        rename_block(&mut body, &|v| taken.iter().position(|i| *i == v).map_or(v, |k| indices[k]));
        let named = s.results.iter().map(|r| (self.f.name_of(*r).to_owned(), *r)).collect::<Vec<_>>();
        let parts = named.into_iter().map(|(name, r)| self.part(&name, r.into(), indices.len()));
        let parts: Vec<Var> = parts.collect();
        let extents = p.extents[indices.len()..].to_vec();
        let inner = Par { indices: rest.to_vec(), extents, kinds: p.kinds.clone(), accs: Vec::new(), body };
        let values = parts.iter().map(|part| Atom::Var(*part)).collect();
        Elements { stmts: vec![Stmt { results: parts, op: Op::Par(Box::new(inner)), span: s.span }], values }
    }

    /// A variable for what an array has behind so many indices.
    pub(super) fn part(&mut self, name: &str, array: Atom, n_indices: usize) -> Var {
        let Ty { elem, dims } = self.f.atom_ty(array);
        let dims = dims[n_indices..].to_vec();
        self.f.add_var(VarInfo { name: name.into(), ty: Ty { elem, dims }, record: None })
    }

    pub(super) fn scalar(&mut self, name: &str, elem: Elem) -> Var {
        self.f.add_var(VarInfo { name: name.into(), ty: Ty { elem, dims: Vec::new() }, record: None })
    }
}
