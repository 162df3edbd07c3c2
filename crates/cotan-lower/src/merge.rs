//! Joins of two arms of a branch: values, mutable locals and control state become results of one switch.

use std::collections::HashSet;

use cotan_ir::{Atom, Block, Const, Dim as IrDim, Elem, Op, Ty, Var};
use cotan_ops::NOT;

use super::Result;
use super::body::{Body, Flow, Truth, Value};
use super::code::Code;
use super::values::LeafTy;
use cotan_sema::dims::Dim;
use cotan_sema::typed::{LocalId, Type};

/// One arm of a branch, lowered; its block has no results yet.
pub(super) struct Arm {
    block: Block,
    /// None if control never reaches the end.
    value: Option<Value>,
    /// Of the locals that were mutable before the branch.
    locals: Vec<Value>,
    flow: Flow,
}

/// The extent of a result along one axis.
enum Extent {
    Known(Atom),
    /// A length that each arm gives as a result of its own.
    Given(Var),
}

/// The switch that is being put together.
struct Switch {
    selector: Atom,
    arms: [Arm; 2],
    /// What each arm binds at its top.
    bound: [HashSet<Var>; 2],
    vars: Vec<Var>,
    lengths: Vec<(Dim, Var)>,
    /// Lengths of payloads, by what the arms give for them.
    payload_lengths: Vec<([Atom; 2], Var)>,
}

impl<'p> Body<'_, 'p> {
    /// Lowers one arm; locals and control state are those before the branch again afterwards.
    pub(super) fn arm(&mut self, lower: impl FnOnce(&mut Self) -> Result<Option<Value>>) -> Result<Arm> {
        let mutable = self.current().mutable.clone();
        let before: Vec<Value> = mutable.iter().map(|id| self.local(*id)).collect();
        let flow = self.flow.clone();
        self.code.b.open_block();
        let value = self.scoped(lower)?;
        let block = self.code.b.close_block(Vec::new());
        let locals = mutable.iter().map(|id| self.local(*id)).collect();
        for (id, value) in mutable.iter().zip(before) {
            self.current_mut().locals[id.0 as usize] = Some(value);
        }
        let flow = std::mem::replace(&mut self.flow, flow);
        Ok(Arm { block, value, locals, flow })
    }

    /// Joins two arms: arm 0 ran where `selector` holds. `ty` is the type of the value.
    pub(super) fn merge(&mut self, selector: Atom, arms: [Arm; 2], ty: &Type) -> Option<Value> {
        let bound = |arm: &Arm| arm.block.stmts.iter().flat_map(|s| s.results.iter().copied()).collect();
        let bound = [bound(&arms[0]), bound(&arms[1])];
        let mut switch =
            Switch { selector, arms, bound, vars: Vec::new(), lengths: Vec::new(), payload_lengths: Vec::new() };
        let values = switch.arms.each_ref().map(|arm| arm.value.clone());
        let value = merge_values(self, &mut switch, values, ty);
        merge_locals(self, &mut switch);
        let flows = switch.arms.each_ref().map(|arm| arm.flow.clone());
        let results = flows.each_ref().map(|flow| flow.result.clone());
        let result_ty = self.result.clone();
        self.flow = Flow {
            escaped: merge_truth(&mut self.code, &mut switch, "escaped", flows.each_ref().map(|flow| flow.escaped)),
            running: merge_truth(&mut self.code, &mut switch, "running", flows.each_ref().map(|flow| flow.running)),
            returned: merge_truth(&mut self.code, &mut switch, "returned", flows.each_ref().map(|flow| flow.returned)),
            result: merge_values(self, &mut switch, results, &result_ty),
        };
        let [first, second] = switch.arms;
        self.code.b.push(switch.vars, Op::Switch { selector, arms: vec![first.block, second.block] });
        value
    }
}

impl Code {
    /// A truth value as an operand.
    pub(super) fn truth(&mut self, truth: Truth) -> Atom {
        match truth {
            Truth::Known(value) => Const::bool(value).into(),
            Truth::Is(a) => a,
            Truth::Not(a) => self.prim(&NOT, &[a]),
        }
    }
}

fn merge_values(body: &mut Body<'_, '_>, switch: &mut Switch, given: [Option<Value>; 2], ty: &Type) -> Option<Value> {
    if given.iter().all(Option::is_none) {
        return None;
    }
    let leaves = body.layout.leaf_types(ty);
    let merge = |(k, leaf): (usize, &LeafTy)| {
        let given = given.each_ref().map(|value| value.as_ref().and_then(|value| value.get(k).copied()));
        if let Some(same) = switch.same(given) {
            return same;
        }
        let extents = match leaf.is_payload() {
            true => payload_extents(&mut body.code, switch, given),
            false => leaf.dims.iter().map(|dim| merged_extent(body, switch, dim, given, leaf)).collect(),
        };
        merge_leaf(&mut body.code, switch, None, leaf.elem, extents, given)
    };
    Some(leaves.iter().enumerate().map(merge).collect())
}

/// Only leaves that an arm changed become results.
fn merge_locals(body: &mut Body<'_, '_>, switch: &mut Switch) {
    let mutable: Vec<LocalId> = body.current().mutable[..switch.arms[0].locals.len()].to_vec();
    for (at, id) in mutable.into_iter().enumerate() {
        let mut value = body.local(id);
        let local = &body.current().table[id.0 as usize];
        let names = body.layout.leaf_names(&local.name, &local.ty);
        let types = body.layout.leaf_types(&local.ty);
        for (k, leaf) in value.iter_mut().enumerate() {
            let given = [0, 1].map(|arm| switch.arms[arm].locals[at].get(k).copied());
            if given == [Some(*leaf); 2] {
                continue;
            }
            let Ty { elem, dims } = body.code.b.ty(*leaf);
            *leaf = match switch.same(given) {
                Some(same) => same,
                None => {
                    let extents = match types[k].is_payload() {
                        true => payload_extents(&mut body.code, switch, given),
                        false => dims.into_iter().map(|dim| Extent::Known(dim.atom())).collect(),
                    };
                    merge_leaf(&mut body.code, switch, names.get(k).map(String::as_str), elem, extents, given)
                }
            };
        }
        body.current_mut().locals[id.0 as usize] = Some(value);
    }
}

fn merge_truth(code: &mut Code, switch: &mut Switch, name: &str, given: [Truth; 2]) -> Truth {
    match given {
        [a, b] if a == b && !switch.binds(a) => a,
        [Truth::Known(true), Truth::Known(false)] => Truth::Is(switch.selector),
        [Truth::Known(false), Truth::Known(true)] => Truth::Not(switch.selector),
        [_, _] => {
            let given = [0, 1].map(|arm| Some(in_arm(code, switch, arm, |code| code.truth(given[arm]))));
            Truth::Is(merge_leaf(code, switch, Some(name), Elem::Bool, Vec::new(), given))
        }
    }
}

/// The extent of a result along an axis that the source calls `dim`.
fn merged_extent(
    body: &mut Body<'_, '_>,
    switch: &mut Switch,
    dim: &Dim,
    given: [Option<Atom>; 2],
    leaf: &LeafTy,
) -> Extent {
    // An arm that has no value of this size may run where the size is negative.
    let known = if given.iter().all(Option::is_some) { body.size(dim) } else { body.clamped_size(dim) };
    if let Some(known) = known {
        return Extent::Known(known);
    }
    if let Some((_, length)) = switch.lengths.iter().find(|(other, _)| other == dim) {
        return Extent::Given(*length);
    }
    let axis = leaf.dims.iter().position(|other| other == dim).unwrap_or_default();
    let length_in = |a: &Option<Atom>| a.map_or(Atom::i64(0), |a| body.code.b.ty(a).dims[axis].atom());
    let lengths = given.each_ref().map(|a| Some(length_in(a)));
    let length = merge_leaf(&mut body.code, switch, Some("n"), Elem::I64, Vec::new(), lengths);
    let length = length.var().expect("invariant: a result of a switch is a variable");
    body.code.non_negative.insert(length);
    switch.lengths.push((dim.clone(), length));
    Extent::Given(length)
}

/// The extents of a payload, which may be there in one arm and not in the other: known where both arms have one
/// extent, else lengths that the arms give.
fn payload_extents(code: &mut Code, switch: &mut Switch, given: [Option<Atom>; 2]) -> Vec<Extent> {
    let dims = given.map(|leaf| leaf.map(|leaf| code.b.ty(leaf).dims));
    let n_axes = dims.iter().flatten().map(Vec::len).next().unwrap_or_default();
    let mut extents = Vec::new();
    for axis in 0..n_axes {
        let lengths = dims.each_ref().map(|dims| dims.as_ref().map_or(Atom::i64(0), |dims| dims[axis].atom()));
        if let Some(same) = switch.same(lengths.map(Some)) {
            extents.push(Extent::Known(same));
            continue;
        }
        let known = switch.payload_lengths.iter().find(|(other, _)| *other == lengths).map(|(_, length)| *length);
        extents.push(Extent::Given(match known {
            Some(length) => length,
            None => {
                let length = merge_leaf(code, switch, Some("n"), Elem::I64, Vec::new(), lengths.map(Some));
                let length = length.var().expect("invariant: a result of a switch is a variable");
                code.non_negative.insert(length);
                switch.payload_lengths.push((lengths, length));
                length
            }
        }));
    }
    extents
}

/// One result of the switch. An arm that has no value for it gives zeros, which nobody reads.
fn merge_leaf(
    code: &mut Code,
    switch: &mut Switch,
    name: Option<&str>,
    elem: Elem,
    extents: Vec<Extent>,
    given: [Option<Atom>; 2],
) -> Atom {
    for (arm, given) in given.iter().enumerate() {
        let leaf = in_arm(code, switch, arm, |code| match given {
            Some(leaf) => known_dims(code, *leaf, &extents),
            None => {
                let dim = |extent: &Extent| match extent {
                    Extent::Known(n) => IrDim::from_atom(*n),
                    Extent::Given(_) => IrDim::Const(0),
                };
                let dims: Vec<IrDim> = extents.iter().map(dim).collect();
                code.fill(Const::zero(elem).into(), &dims)
            }
        });
        switch.arms[arm].block.results.push(leaf);
    }
    let first_name = given.iter().flatten().find_map(|a| a.var()).map(|v| code.b.info(v).name.to_string());
    let name = name.map(str::to_owned).or(first_name).unwrap_or_else(|| "result".to_owned());
    let dims = extents.iter().map(|extent| match extent {
        Extent::Known(n) => IrDim::from_atom(*n),
        Extent::Given(v) => IrDim::Var(*v),
    });
    let var = code.b.var(&name, Ty::new(elem, dims.collect()));
    switch.vars.push(var);
    var.into()
}

/// A leaf of an arm under the extents that are known outside.
fn known_dims(code: &mut Code, leaf: Atom, extents: &[Extent]) -> Atom {
    let found = code.b.ty(leaf).dims;
    let dim = |(extent, found): (&Extent, &IrDim)| match extent {
        Extent::Known(n) => *n,
        Extent::Given(_) => found.atom(),
    };
    let dims: Vec<Atom> = extents.iter().zip(&found).map(dim).collect();
    code.with_dims(leaf, &dims, cotan_ir::CheckKind::ShapeMismatch)
}

/// Lowers more of an arm.
fn in_arm<T>(code: &mut Code, switch: &mut Switch, arm: usize, lower: impl FnOnce(&mut Code) -> T) -> T {
    let block = &mut switch.arms[arm].block;
    code.b.reopen_block(std::mem::take(&mut block.stmts));
    let result = lower(code);
    block.stmts = code.b.close_block(Vec::new()).stmts;
    result
}

impl Switch {
    /// What both arms give, if it is the same thing and known outside.
    fn same(&self, given: [Option<Atom>; 2]) -> Option<Atom> {
        match given {
            [Some(a), Some(b)]
                if a == b && !self.bound.iter().any(|bound| a.var().is_some_and(|v| bound.contains(&v))) =>
            {
                Some(a)
            }
            [_, _] => None,
        }
    }

    fn binds(&self, truth: Truth) -> bool {
        match truth {
            Truth::Known(_) => false,
            Truth::Is(a) | Truth::Not(a) => a.var().is_some_and(|v| self.bound.iter().any(|bound| bound.contains(&v))),
        }
    }
}
