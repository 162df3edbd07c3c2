//! Structured values, and how they are made of flat ones.

use cotan_ir::Const;
use cotan_lower::entry::{HostType, Leaf};
use cotan_ops::Value;

/// Stands for an extent of an element of an empty array of structs, which the value does not tell.
pub(crate) const UNTOLD: i64 = -1;

/// A value in the types of the source.
#[derive(Clone, Debug, PartialEq)]
pub enum HostValue {
    /// A scalar.
    Scalar(Const),
    /// A tensor of scalars.
    Tensor(Value),
    /// A tensor of tuples or structs.
    Array {
        /// Extents, outermost first.
        dims: Vec<i64>,
        /// The elements, row-major.
        items: Vec<HostValue>,
    },
    /// A tuple; the empty one is the value of statements.
    Tuple(Vec<HostValue>),
    /// A struct with its fields in order.
    Struct(Vec<(String, HostValue)>),
    /// A value of an enum.
    Enum {
        /// The name of the variant.
        variant: String,
        /// What it carries, if anything.
        payload: Option<Box<HostValue>>,
    },
}

impl HostValue {
    /// An f64 scalar.
    pub fn f64(x: f64) -> HostValue {
        HostValue::Scalar(Const::f64(x))
    }

    /// An i64 scalar.
    pub fn i64(x: i64) -> HostValue {
        HostValue::Scalar(Const::i64(x))
    }

    /// A tensor of f64; the number of elements is the product of the dims.
    pub fn f64s(dims: &[i64], elements: &[f64]) -> HostValue {
        HostValue::Tensor(Value::f64s(dims, elements))
    }

    /// The unit value.
    pub fn unit() -> HostValue {
        HostValue::Tuple(Vec::new())
    }

    /// The parts of a tuple; every other value is the only part of itself.
    pub fn into_parts(self) -> Vec<HostValue> {
        match self {
            HostValue::Tuple(parts) => parts,
            HostValue::Scalar(_)
            | HostValue::Tensor(_)
            | HostValue::Array { .. }
            | HostValue::Struct(_)
            | HostValue::Enum { .. } => vec![self],
        }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Const> {
        match self {
            HostValue::Scalar(c) => Some(*c),
            HostValue::Tensor(_)
            | HostValue::Array { .. }
            | HostValue::Tuple(_)
            | HostValue::Struct(_)
            | HostValue::Enum { .. } => None,
        }
    }

    /// The tensor of scalars, if it is one.
    pub fn as_tensor(&self) -> Option<&Value> {
        match self {
            HostValue::Tensor(v) => Some(v),
            HostValue::Scalar(_)
            | HostValue::Array { .. }
            | HostValue::Tuple(_)
            | HostValue::Struct(_)
            | HostValue::Enum { .. } => None,
        }
    }

    /// The one array that it is, if it is a scalar or a tensor of scalars.
    pub(crate) fn into_value(self) -> Option<Value> {
        match self {
            HostValue::Scalar(c) => Some(c.into()),
            HostValue::Tensor(v) => Some(v),
            HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. } => None,
        }
    }

    /// Calls `f` for every scalar, in row-major order of the leaves as they are read.
    pub fn each_scalar(&self, f: &mut dyn FnMut(Const)) {
        match self {
            HostValue::Scalar(c) => f(*c),
            HostValue::Tensor(v) => (0..v.bits.len()).for_each(|k| f(v.get(k))),
            HostValue::Array { items, .. } | HostValue::Tuple(items) => items.iter().for_each(|v| v.each_scalar(f)),
            HostValue::Struct(fields) => fields.iter().for_each(|(_, v)| v.each_scalar(f)),
            HostValue::Enum { payload, .. } => payload.iter().for_each(|v| v.each_scalar(f)),
        }
    }

    /// Every float, widened to f64, in order; integers and truth values are left out.
    pub fn floats(&self) -> Vec<f64> {
        let mut out = Vec::new();
        self.each_scalar(&mut |c| out.extend(c.as_float()));
        out
    }

    /// The value with `f` applied to its floats, in the order of [`HostValue::floats`]; results are rounded to the type
    /// of the element.
    pub fn map_floats(&self, f: &mut dyn FnMut(f64) -> f64) -> HostValue {
        let mut each = |c: Const| match c.as_float() {
            Some(x) => Const::float(c.elem(), f(x)),
            None => c,
        };
        self.map_scalars(&mut each)
    }

    fn map_scalars(&self, f: &mut dyn FnMut(Const) -> Const) -> HostValue {
        let mut all = |items: &[HostValue]| items.iter().map(|v| v.map_scalars(f)).collect();
        match self {
            HostValue::Scalar(c) => HostValue::Scalar(f(*c)),
            HostValue::Tensor(v) => {
                let bits = (0..v.bits.len()).map(|k| f(v.get(k)).bits()).collect();
                HostValue::Tensor(Value { elem: v.elem, dims: v.dims.clone(), bits })
            }
            HostValue::Array { dims, items } => HostValue::Array { dims: dims.clone(), items: all(items) },
            HostValue::Tuple(items) => HostValue::Tuple(all(items)),
            HostValue::Struct(fields) => {
                HostValue::Struct(fields.iter().map(|(name, v)| (name.clone(), v.map_scalars(f))).collect())
            }
            HostValue::Enum { variant, payload } => HostValue::Enum {
                variant: variant.clone(),
                payload: payload.as_ref().map(|v| Box::new(v.map_scalars(f))),
            },
        }
    }

    /// The type in words: `f64`, `f64[2, 3]`, `(f64, i64)`, a struct by its fields, an enum by its variant.
    pub fn describe(&self) -> String {
        let list = |items: &[HostValue]| items.iter().map(HostValue::describe).collect::<Vec<_>>().join(", ");
        match self {
            HostValue::Scalar(c) => c.elem().to_string(),
            HostValue::Tensor(v) => format!("{}{:?}", v.elem, v.dims),
            HostValue::Array { dims, items } => {
                format!("{}{dims:?}", items.first().map_or_else(|| "_".to_owned(), HostValue::describe))
            }
            HostValue::Tuple(items) => format!("({})", list(items)),
            HostValue::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(|(name, v)| format!("{name}: {}", v.describe())).collect();
                format!("{{ {} }}", fields.join(", "))
            }
            HostValue::Enum { variant, payload } => match payload {
                Some(payload) => format!("{variant} of {}", payload.describe()),
                None => variant.clone(),
            },
        }
    }

    /// Appends the leaves of a value of this type to `out`, or tells how many bytes there is no memory for. Extents that an
    /// empty array of structs does not tell are [`UNTOLD`].
    pub(crate) fn flatten(&self, ty: &HostType, out: &mut Vec<Value>) -> Result<(), NoMemory> {
        match (self, ty) {
            (HostValue::Scalar(c), _) => out.push((*c).into()),
            (HostValue::Tensor(v), _) => out.push(v.try_clone().ok_or_else(|| NoMemory::of(v.bits.len()))?),
            (HostValue::Tuple(parts), HostType::Tuple(tys)) => {
                parts.iter().zip(tys).try_for_each(|(v, ty)| v.flatten(ty, out))?;
            }
            (HostValue::Struct(fields), HostType::Struct { fields: tys, .. }) => {
                fields.iter().zip(tys).try_for_each(|((_, v), (_, ty))| v.flatten(ty, out))?;
            }
            (HostValue::Array { dims, items }, HostType::Tensor { elem, .. }) => columns(dims, items, elem, out)?,
            (HostValue::Enum { variant, payload }, HostType::Enum { variants, .. }) => {
                let tag = variants.iter().position(|v| v.name == *variant).unwrap_or_default();
                out.push(Const::i64(tag as i64).into());
                for (k, ty) in variants.iter().enumerate().filter_map(|(k, v)| Some((k, v.payload.as_ref()?))) {
                    match payload {
                        Some(payload) if k == tag => payload.flatten(ty, out)?,
                        Some(_) | None => out.extend(ty.leaves().iter().map(nothing)),
                    }
                }
            }
            (HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. }, _) => {
                // The value was made for this type; see `from_json` and `fit_arguments`.
            }
        }
        Ok(())
    }
}

/// The machine has no memory for so many bytes of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMemory(pub(crate) usize);

impl NoMemory {
    /// So many elements.
    fn of(n: usize) -> NoMemory {
        NoMemory(n.saturating_mul(size_of::<u64>()))
    }
}

/// The leaves of an array of structs, one tensor for each leaf of an element.
fn columns(dims: &[i64], items: &[HostValue], elem: &HostType, out: &mut Vec<Value>) -> Result<(), NoMemory> {
    let first = out.len();
    for leaf in elem.leaves() {
        // Nothing says how large an element would be, but for constant extents.
        let inner: Vec<i64> = leaf.dims.iter().map(|d| d.as_constant().unwrap_or(UNTOLD)).collect();
        out.push(Value { elem: leaf.elem, dims: [dims, &inner].concat(), bits: Vec::new() });
    }
    let mut row = Vec::new();
    for (at, item) in items.iter().enumerate() {
        row.clear();
        item.flatten(elem, &mut row)?;
        for (column, cell) in out[first..].iter_mut().zip(&row) {
            if at == 0 {
                column.dims = [dims, &cell.dims].concat();
                let n = cell.bits.len().saturating_mul(items.len());
                column.bits.try_reserve_exact(n).map_err(|_| NoMemory::of(n))?;
            }
            // Where an element is larger than the first one, the check of extents says so.
            column.bits.try_reserve(cell.bits.len()).map_err(|_| NoMemory::of(cell.bits.len()))?;
            column.bits.extend_from_slice(&cell.bits);
        }
    }
    Ok(())
}

/// A leaf of a variant that is not there.
fn nothing(leaf: &Leaf) -> Value {
    let bits = if leaf.dims.is_empty() { vec![Const::zero(leaf.elem).bits()] } else { Vec::new() };
    Value { elem: leaf.elem, dims: vec![0; leaf.dims.len()], bits }
}

/// The value of type `ty` with these leaves; takes them from the front of `leaves`. `None` if they run out or do not
/// fit, which is a bug of whoever computed them, or if there is no memory for it.
pub fn rebuild(ty: &HostType, leaves: &mut dyn Iterator<Item = Value>) -> Option<HostValue> {
    rebuilt(ty, leaves).ok()
}

/// Why leaves are no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unbuilt {
    /// They run out or do not fit.
    Misfit,
    /// There is no memory for the value.
    Memory(NoMemory),
}

/// The same as [`rebuild`], with the reason where there is no value.
pub(crate) fn rebuilt(ty: &HostType, leaves: &mut dyn Iterator<Item = Value>) -> Result<HostValue, Unbuilt> {
    match ty {
        HostType::Scalar(_) => next(leaves)?.scalar().map(HostValue::Scalar).ok_or(Unbuilt::Misfit),
        HostType::Tensor { elem, dims } => match elem.as_ref() {
            HostType::Scalar(_) => next(leaves).map(HostValue::Tensor),
            HostType::Tensor { .. } | HostType::Tuple(_) | HostType::Struct { .. } | HostType::Enum { .. } => {
                let columns: Vec<Value> = elem.leaves().iter().map(|_| next(leaves)).collect::<Result<_, _>>()?;
                rebuild_rows(elem, dims.len(), &columns)
            }
        },
        HostType::Tuple(tys) => {
            let parts: Result<Vec<HostValue>, Unbuilt> = tys.iter().map(|ty| rebuilt(ty, leaves)).collect();
            parts.map(HostValue::Tuple)
        }
        HostType::Struct { fields, .. } => {
            let field = |(name, ty): &(String, HostType)| Ok((name.clone(), rebuilt(ty, leaves)?));
            let values: Result<Vec<(String, HostValue)>, Unbuilt> = fields.iter().map(field).collect();
            values.map(HostValue::Struct)
        }
        HostType::Enum { variants, .. } => {
            let tag = next(leaves)?.scalar().and_then(|tag| usize::try_from(tag.as_i64()?).ok());
            let tag = tag.filter(|tag| *tag < variants.len()).ok_or(Unbuilt::Misfit)?;
            let mut payload = None;
            for (k, ty) in variants.iter().enumerate().filter_map(|(k, v)| Some((k, v.payload.as_ref()?))) {
                if k == tag {
                    payload = Some(Box::new(rebuilt(ty, leaves)?));
                } else {
                    // What is not there is left out.
                    ty.leaves().iter().try_for_each(|_| next(leaves).map(drop))?;
                }
            }
            Ok(HostValue::Enum { variant: variants[tag].name.clone(), payload })
        }
    }
}

fn next(leaves: &mut dyn Iterator<Item = Value>) -> Result<Value, Unbuilt> {
    leaves.next().ok_or(Unbuilt::Misfit)
}

/// A tensor of structs from the tensors of their leaves.
fn rebuild_rows(elem: &HostType, rank: usize, columns: &[Value]) -> Result<HostValue, Unbuilt> {
    let dims = match columns.first() {
        Some(column) => column.dims.get(..rank).ok_or(Unbuilt::Misfit)?.to_vec(),
        None => Vec::new(),
    };
    let n = cotan_ops::count(&dims);
    let mut items = Vec::new();
    let bytes = n.saturating_mul(size_of::<HostValue>());
    items.try_reserve_exact(n).map_err(|_| Unbuilt::Memory(NoMemory(bytes)))?;
    let mut cells = Vec::with_capacity(columns.len());
    for at in 0..n {
        cells.clear();
        for column in columns {
            let inner = column.dims.get(rank..).ok_or(Unbuilt::Misfit)?.to_vec();
            let size = cotan_ops::count(&inner);
            let part = column.bits.get(at * size..(at + 1) * size).ok_or(Unbuilt::Misfit)?;
            let mut bits = Vec::new();
            bits.try_reserve_exact(size).map_err(|_| Unbuilt::Memory(NoMemory::of(size)))?;
            bits.extend_from_slice(part);
            cells.push(Value { elem: column.elem, dims: inner, bits });
        }
        items.push(rebuilt(elem, &mut cells.drain(..))?);
    }
    Ok(HostValue::Array { dims, items })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::Elem;
    use cotan_lower::entry::HostVariant;
    use cotan_sema::dims::Dim;

    fn mixed() -> HostValue {
        let pair = HostValue::Tuple(vec![HostValue::i64(3), HostValue::f64(2.0)]);
        HostValue::Struct(vec![
            ("n".to_owned(), HostValue::i64(7)),
            ("x".to_owned(), HostValue::f64s(&[2], &[0.5, 1.5])),
            ("pair".to_owned(), pair),
        ])
    }

    #[test]
    fn floats_are_mapped_in_order_and_integers_are_kept() {
        let mut k = 0.0;
        let numbered = mixed().map_floats(&mut |x| {
            k += 1.0;
            x + 10.0 * k
        });
        assert_eq!(numbered.floats(), [10.5, 21.5, 32.0]);
        let HostValue::Struct(fields) = numbered else { panic!("a struct stays one") };
        assert_eq!(fields[0].1, HostValue::i64(7));
    }

    #[test]
    fn values_are_described_by_type_and_extents() {
        assert_eq!(mixed().describe(), "{ n: i64, x: f64[2], pair: (i64, f64) }");
    }

    #[test]
    fn an_enum_has_the_leaves_of_all_variants_and_reads_back_from_them() {
        let f64s = HostType::Tensor { elem: Box::new(HostType::Scalar(Elem::F64)), dims: vec![Dim::constant(2)] };
        let variant = |name: &str, payload| HostVariant { name: name.to_owned(), payload };
        let ty = HostType::Enum {
            name: "S".to_owned(),
            variants: vec![
                variant("Dot", None),
                variant("Line", Some(f64s)),
                variant("Count", Some(HostType::Scalar(Elem::I64))),
            ],
        };
        let value = |name: &str, payload: Option<HostValue>| HostValue::Enum {
            variant: name.to_owned(),
            payload: payload.map(Box::new),
        };
        let line = value("Line", Some(HostValue::f64s(&[2], &[1.0, 2.0])));
        for (value, expected) in [
            (&line, vec![Const::i64(1).into(), Value::f64s(&[2], &[1.0, 2.0]), Const::i64(0).into()]),
            (&value("Dot", None), vec![Const::i64(0).into(), Value::f64s(&[0], &[]), Const::i64(0).into()]),
            (
                &value("Count", Some(HostValue::i64(5))),
                vec![Const::i64(2).into(), Value::f64s(&[0], &[]), Const::i64(5).into()],
            ),
        ] {
            let mut leaves = Vec::new();
            value.flatten(&ty, &mut leaves).unwrap();
            assert_eq!(leaves, expected);
            assert_eq!(rebuild(&ty, &mut leaves.into_iter()).as_ref(), Some(value));
        }
    }
}
