//! Structured values, and how they are made of flat ones.

use cotan_ir::Const;
use cotan_ops::Value;
use cotan_sema::entry::{HostType, Leaf};

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

    /// Appends the leaves of a value of this type to `out`. Extents that an empty array of structs does not tell are
    /// [`UNTOLD`].
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
                        // Nothing says how large an element would be, but for constant extents.
                        None => leaf.dims.iter().map(|d| d.as_constant().unwrap_or(UNTOLD)).collect(),
                    };
                    let bits = rows.iter().flat_map(|row| row[k].bits.iter().copied()).collect();
                    out.push(Value { elem: leaf.elem, dims: [dims.clone(), inner].concat(), bits });
                }
            }
            (HostValue::Enum { variant, payload }, HostType::Enum { variants, .. }) => {
                let tag = variants.iter().position(|v| v.name == *variant).unwrap_or_default();
                out.push(Const::i64(tag as i64).into());
                for (k, ty) in variants.iter().enumerate().filter_map(|(k, v)| Some((k, v.payload.as_ref()?))) {
                    match payload {
                        Some(payload) if k == tag => payload.flatten(ty, out),
                        Some(_) | None => out.extend(ty.leaves().iter().map(nothing)),
                    }
                }
            }
            (HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. }, _) => {
                // The value was made for this type; see `from_json` and `fit_arguments`.
            }
        }
    }
}

/// A leaf of a variant that is not there.
fn nothing(leaf: &Leaf) -> Value {
    let bits = if leaf.dims.is_empty() { vec![Const::zero(leaf.elem).bits()] } else { Vec::new() };
    Value { elem: leaf.elem, dims: vec![0; leaf.dims.len()], bits }
}

/// The value of type `ty` with these leaves; takes them from the front of `leaves`. `None` if they run out or do not
/// fit, which is a bug of whoever computed them.
pub fn rebuild(ty: &HostType, leaves: &mut dyn Iterator<Item = Value>) -> Option<HostValue> {
    match ty {
        HostType::Scalar(_) => leaves.next()?.scalar().map(HostValue::Scalar),
        HostType::Tensor { elem, dims } => match elem.as_ref() {
            HostType::Scalar(_) => leaves.next().map(HostValue::Tensor),
            HostType::Tensor { .. } | HostType::Tuple(_) | HostType::Struct { .. } | HostType::Enum { .. } => {
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
        HostType::Enum { variants, .. } => {
            let tag = usize::try_from(leaves.next()?.scalar()?.as_i64()?).ok()?;
            let variant = variants.get(tag)?.name.clone();
            let mut payload = None;
            for (k, ty) in variants.iter().enumerate().filter_map(|(k, v)| Some((k, v.payload.as_ref()?))) {
                if k == tag {
                    payload = Some(Box::new(rebuild(ty, leaves)?));
                } else {
                    // What is not there is left out.
                    ty.leaves().iter().try_for_each(|_| leaves.next().map(drop))?;
                }
            }
            Some(HostValue::Enum { variant, payload })
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

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::Elem;
    use cotan_sema::dims::Dim;
    use cotan_sema::entry::HostVariant;

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
            value.flatten(&ty, &mut leaves);
            assert_eq!(leaves, expected);
            assert_eq!(rebuild(&ty, &mut leaves.into_iter()).as_ref(), Some(value));
        }
    }
}
