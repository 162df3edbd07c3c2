//! Sizes: from polynomials to i64 operands, each computed once per scope.

use cotan_ir::{Atom, Ty};
use cotan_ops::{ADD, FLOOR_DIV, MAX, MUL, PrimRow, SUB};

use super::body::{Body, Sizes, Value};
use super::values::LeafTy;
use cotan_sema::dims::{Atom as SizeAtom, Dim};
use cotan_sema::typed::Type;

/// Coefficients from here on may take a polynomial of sizes that exist past the end of `i64`.
const LARGE: u64 = 1 << 31;

impl<'p> Body<'_, 'p> {
    /// The IR type of a leaf, if all its sizes are known here.
    pub(super) fn ir_ty(&mut self, leaf: &LeafTy) -> Option<Ty> {
        let dims: Option<Vec<_>> = leaf.dims.iter().map(|dim| self.size(dim).map(cotan_ir::Dim::from_atom)).collect();
        Some(Ty::new(leaf.elem, dims?))
    }

    /// The same with extents that are not negative even where the program fails before it has such a leaf.
    pub(super) fn clamped_ty(&mut self, leaf: &LeafTy) -> Option<Ty> {
        let dims = leaf.dims.iter().map(|dim| self.clamped_size(dim).map(cotan_ir::Dim::from_atom));
        let dims: Option<Vec<_>> = dims.collect();
        Some(Ty::new(leaf.elem, dims?))
    }

    // ---- scopes

    /// Lowers something whose sizes are forgotten afterwards.
    pub(super) fn scoped<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Sizes::new());
        let n_mutable = self.current().mutable.len();
        let result = lower(self);
        self.current_mut().mutable.truncate(n_mutable);
        self.scopes.pop();
        result
    }

    /// A size that has been computed, or brought into being, in a scope around.
    pub(super) fn known_size(&self, dim: &Dim) -> Option<Atom> {
        let key = (self.current().id, dim.clone());
        self.scopes.iter().rev().find_map(|sizes| sizes.get(&key).copied())
    }

    /// Notes the value of a size.
    pub(super) fn know_size(&mut self, dim: &Dim, value: Atom) {
        let key = (self.current().id, dim.clone());
        if let Some(sizes) = self.scopes.last_mut() {
            sizes.insert(key, value);
        }
    }

    /// Notes the sizes that a value of this type brings into being.
    pub(super) fn know_sizes(&mut self, ty: &Type, value: &Value) {
        if matches!(ty, Type::Scalar(_) | Type::Never) {
            return;
        }
        let leaves = self.layout.leaf_types(ty);
        for (leaf, atom) in leaves.iter().zip(value) {
            let Atom::Var(v) = atom else { continue };
            if leaf.is_payload() {
                continue;
            }
            for (axis, dim) in leaf.dims.iter().enumerate() {
                let is_given = dim.as_constant().is_some()
                    || matches!(dim.as_atom(), Some(SizeAtom::Size(_) | SizeAtom::Value(_)))
                    || self.known_size(dim).is_some();
                let extent = self.code.b.var_ty(*v).dims.get(axis).copied();
                if let (false, Some(extent)) = (is_given, extent) {
                    if let Some(n) = extent.var() {
                        self.code.non_negative.insert(n);
                    }
                    self.know_size(dim, extent.atom());
                }
            }
        }
        know_payload_sizes(self, &leaves, value);
    }

    // ---- arithmetic

    /// A size as an i64 operand, computed here if it has not been in a scope around; `None` if it depends on a size
    /// that nothing has brought into being yet.
    pub(super) fn size(&mut self, dim: &Dim) -> Option<Atom> {
        if let Some(n) = dim.as_constant() {
            return Some(Atom::i64(n));
        }
        if let Some(known) = self.known_size(dim) {
            return Some(known);
        }
        if let Some(atom) = dim.as_atom() {
            let value = match atom {
                SizeAtom::Size(id) => return self.current().sizes.get(id.0 as usize).copied().flatten(),
                SizeAtom::Value(id) => {
                    return self.current().locals.get(id.0 as usize)?.as_ref()?.first().copied();
                }
                SizeAtom::Runtime(_) | SizeAtom::Pack(_) => return None,
                SizeAtom::Floor(p, q) => {
                    let (p, q) = (self.size(p)?, self.size(q)?);
                    self.code.prim(&FLOOR_DIV, &[p, q])
                }
            };
            self.know_size(dim, value);
            return Some(value);
        }
        let value = polynomial(self, dim)?;
        if let Atom::Var(v) = value
            && self.code.named.insert(v)
        {
            self.code.b.info_mut(v).name = size_name(self, dim).into();
        }
        self.know_size(dim, value);
        Some(value)
    }

    /// A size that is not negative even where the program fails before it has a tensor of that size.
    pub(super) fn clamped_size(&mut self, dim: &Dim) -> Option<Atom> {
        let n = self.size(dim)?;
        if dim.is_surely_non_negative() || self.code.is_non_negative(n) {
            return Some(n);
        }
        let n = self.code.prim(&MAX, &[n, Atom::i64(0)]);
        self.code.note_non_negative(n);
        Some(n)
    }
}

/// Notes the sizes that only payloads have: the largest extent, as those of variants that are not there are zero.
fn know_payload_sizes(body: &mut Body<'_, '_>, leaves: &[LeafTy], value: &Value) {
    let mut found: Vec<(Dim, Vec<Atom>)> = Vec::new();
    for (leaf, atom) in leaves.iter().zip(value).filter(|(leaf, _)| leaf.is_payload()) {
        let extents = body.code.b.ty(*atom).dims;
        for (dim, extent) in leaf.dims.iter().zip(extents) {
            let extent = extent.atom();
            match found.iter_mut().find(|(other, _)| other == dim) {
                Some((_, extents)) if extents.contains(&extent) => {}
                Some((_, extents)) => extents.push(extent),
                None => found.push((dim.clone(), vec![extent])),
            }
        }
    }
    for (dim, extents) in found {
        let is_given = matches!(dim.as_atom(), Some(SizeAtom::Size(_) | SizeAtom::Value(_)));
        if is_given || body.size(&dim).is_some() {
            continue;
        }
        let mut largest = Atom::i64(0);
        for extent in extents {
            largest = if largest == Atom::i64(0) { extent } else { body.code.prim(&MAX, &[largest, extent]) };
        }
        body.code.note_non_negative(largest);
        body.know_size(&dim, largest);
    }
}

/// Terms that are added come first, so that the sum starts with one of them. Large coefficients take
/// their sums and products past the end of `i64` where sizes are small, so there all of it is checked. Without them a
/// product of sizes is that of an array with so many elements, for which there is no memory, or with none.
fn polynomial<'a, 'p>(body: &mut Body<'a, 'p>, dim: &Dim) -> Option<Atom> {
    let mut terms: Vec<(Vec<(SizeAtom, u32)>, i64)> = dim.terms().map(|(m, c)| (m.to_vec(), c)).collect();
    terms.sort_by_key(|(monomial, coefficient)| (*coefficient < 0, monomial.is_empty()));
    let is_large = terms.iter().any(|(_, coefficient)| coefficient.unsigned_abs() >= LARGE);
    let apply = |body: &mut Body<'a, 'p>, row: &'static PrimRow, args: [Atom; 2]| {
        if is_large { body.code.fitting(row, &args) } else { body.code.prim(row, &args) }
    };
    let mut sum: Option<Atom> = None;
    for (monomial, coefficient) in terms {
        // The first term keeps its sign; every other one is added or subtracted.
        let factor = if sum.is_some() { coefficient.wrapping_abs() } else { coefficient };
        let mut product: Option<Atom> = None;
        for (atom, power) in monomial {
            let value = body.size(&Dim::atom(atom))?;
            for _ in 0..power {
                product = Some(match product {
                    Some(product) => apply(body, &MUL, [product, value]),
                    None => value,
                });
            }
        }
        let term = match product {
            Some(product) if factor == 1 => product,
            Some(product) => apply(body, &MUL, [Atom::i64(factor), product]),
            None => Atom::i64(factor),
        };
        sum = Some(match sum {
            Some(sum) if coefficient < 0 => apply(body, &SUB, [sum, term]),
            Some(sum) => apply(body, &ADD, [sum, term]),
            None => term,
        });
    }
    sum
}

/// A name made of the letters of the size: `2*N*M + 1` becomes `N_M_1`.
fn size_name(body: &Body<'_, '_>, dim: &Dim) -> String {
    let name = |atom: &SizeAtom| match atom {
        SizeAtom::Size(id) => match body.current().sizes.get(id.0 as usize).copied().flatten() {
            Some(Atom::Var(v)) => body.code.b.info(v).name.to_string(),
            Some(Atom::Const(_)) | None => "n".to_owned(),
        },
        SizeAtom::Value(id) => {
            body.current().table.get(id.0 as usize).map_or("n".to_owned(), |local| local.name.clone())
        }
        SizeAtom::Runtime(_) | SizeAtom::Pack(_) | SizeAtom::Floor(..) => "n".to_owned(),
    };
    let text = dim.show(&name);
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let words: Vec<&str> = words.skip_while(is_number).collect();
    if words.is_empty() { "n".to_owned() } else { words.join("_") }
}
