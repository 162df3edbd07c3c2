//! Structured values, and how they are made of flat ones.

use cotan_ir::Const;
use cotan_ops::Value;
use cotan_sema::entry::HostType;

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

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Const> {
        match self {
            HostValue::Scalar(c) => Some(*c),
            HostValue::Tensor(_) | HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) => None,
        }
    }

    /// Calls `f` for every scalar, in row-major order of the leaves as they are read.
    pub fn each_scalar(&self, f: &mut dyn FnMut(Const)) {
        match self {
            HostValue::Scalar(c) => f(*c),
            HostValue::Tensor(v) => (0..v.bits.len()).for_each(|k| f(v.get(k))),
            HostValue::Array { items, .. } | HostValue::Tuple(items) => items.iter().for_each(|v| v.each_scalar(f)),
            HostValue::Struct(fields) => fields.iter().for_each(|(_, v)| v.each_scalar(f)),
        }
    }

    /// Every float, widened to f64, in order; integers and truth values are left out.
    pub fn floats(&self) -> Vec<f64> {
        let mut out = Vec::new();
        self.each_scalar(&mut |c| out.extend(c.as_float()));
        out
    }

    /// Appends the leaves of a value of this type to `out`. Extents of empty arrays of structs come from `self`.
    pub(crate) fn flatten(&self, ty: &HostType, out: &mut Vec<Value>) {
        match (self, ty) {
            (HostValue::Scalar(c), _) => out.push((*c).into()),
            (HostValue::Tensor(v), _) => out.push(v.clone()),
            (HostValue::Tuple(parts), HostType::Tuple(tys)) => {
                parts.iter().zip(tys).for_each(|(v, ty)| v.flatten(ty, out));
            }
            (HostValue::Struct(fields), HostType::Struct { fields: tys, .. }) => {
                fields.iter().zip(tys).for_each(|((_, v), (_, ty))| v.flatten(ty, out));
            }
            (HostValue::Array { dims, items }, HostType::Tensor { elem, .. }) => {
                let rows = items.iter().map(|item| {
                    let mut leaves = Vec::new();
                    item.flatten(elem, &mut leaves);
                    leaves
                });
                let rows: Vec<Vec<Value>> = rows.collect();
                for (k, leaf) in elem.leaves().iter().enumerate() {
                    let inner = match rows.first() {
                        Some(row) => row[k].dims.clone(),
                        // Nothing says how large an element would be; constant extents are known, others are 0.
                        None => leaf.dims.iter().map(|d| d.as_constant().unwrap_or(0)).collect(),
                    };
                    let bits = rows.iter().flat_map(|row| row[k].bits.iter().copied()).collect();
                    out.push(Value { elem: leaf.elem, dims: [dims.clone(), inner].concat(), bits });
                }
            }
            (HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_), _) => {
                // The value was made for this type; see `from_json` and `fit_arguments`.
            }
        }
    }
}

/// The value of type `ty` with these leaves; takes them from the front of `leaves`. `None` if they run out or do not
/// fit, which is a bug of whoever computed them.
pub fn rebuild(ty: &HostType, leaves: &mut dyn Iterator<Item = Value>) -> Option<HostValue> {
    match ty {
        HostType::Scalar(_) => leaves.next()?.scalar().map(HostValue::Scalar),
        HostType::Tensor { elem, dims } => match elem.as_ref() {
            HostType::Scalar(_) => leaves.next().map(HostValue::Tensor),
            HostType::Tensor { .. } | HostType::Tuple(_) | HostType::Struct { .. } => {
                let columns: Vec<Value> = elem.leaves().iter().map(|_| leaves.next()).collect::<Option<_>>()?;
                rebuild_rows(elem, dims.len(), &columns)
            }
        },
        HostType::Tuple(tys) => {
            let parts: Option<Vec<HostValue>> = tys.iter().map(|ty| rebuild(ty, leaves)).collect();
            parts.map(HostValue::Tuple)
        }
        HostType::Struct { fields, .. } => {
            let values: Option<Vec<(String, HostValue)>> =
                fields.iter().map(|(name, ty)| Some((name.clone(), rebuild(ty, leaves)?))).collect();
            values.map(HostValue::Struct)
        }
    }
}

/// A tensor of structs from the tensors of their leaves.
fn rebuild_rows(elem: &HostType, rank: usize, columns: &[Value]) -> Option<HostValue> {
    let dims = columns.first().map(|c| c.dims.get(..rank).map(<[i64]>::to_vec)).unwrap_or_default()?;
    let n = cotan_ops::count(&dims);
    let row = |at: usize| {
        let mut cells = columns.iter().map(|c| {
            let inner = c.dims[rank..].to_vec();
            let size = cotan_ops::count(&inner);
            Value { elem: c.elem, dims: inner, bits: c.bits[at * size..(at + 1) * size].to_vec() }
        });
        rebuild(elem, &mut cells)
    };
    let items: Option<Vec<HostValue>> = (0..n).map(row).collect();
    Some(HostValue::Array { dims, items: items? })
}
