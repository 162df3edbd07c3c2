//! Reads values of a type from JSON, from a text or from a tree: each part goes to where the type wants it, and the
//! first that does not fit ends it. What a value takes is counted before it is there.

use super::{Budget, FileError, HostValue};
use cotan_ir::{Const, Elem};
use cotan_lower::entry::{HostType, HostVariant};
use cotan_ops::Value;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use std::fmt;

/// The most characters of a string that a message shows.
const SHOWN: usize = 40;

/// What was expected and what was found instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The place inside the value, such as `.mu[2]`; empty for the whole.
    pub place: String,
    /// The type or shape that is wanted there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl Misfit {
    fn new(expected: impl Into<String>, found: impl Into<String>) -> Misfit {
        Misfit { place: String::new(), expected: expected.into(), found: found.into() }
    }
}

/// Reads a value of the given type. Extents are not compared with the type's dims here, only ranks.
pub fn from_json(json: &Json, ty: &HostType) -> Result<HostValue, Misfit> {
    read(json, ty, &mut Budget::default())
}

/// Reads a value of the given type from a text without mistakes.
pub(crate) fn from_text(text: &[u8], ty: &HostType, budget: &mut Budget) -> Result<HostValue, Misfit> {
    read(&mut serde_json::Deserializer::from_slice(text), ty, budget)
}

fn read<'de, D: Deserializer<'de>>(from: D, ty: &HostType, budget: &mut Budget) -> Result<HostValue, Misfit> {
    let mut reader = Reader { budget, misfit: None };
    let read = Any(Typed { ty, reader: &mut reader }).deserialize(from);
    read.map_err(|e| reader.misfit.unwrap_or_else(|| Misfit::new("JSON", e.to_string())))
}

/// What reading counts, and why it ended.
struct Reader<'b> {
    budget: &'b mut Budget,
    misfit: Option<Misfit>,
}

impl Reader<'_> {
    /// Ends reading.
    fn refuse<T, E: Error>(&mut self, expected: impl Into<String>, found: impl Into<String>) -> Result<T, E> {
        self.fail(Misfit::new(expected, found))
    }

    fn fail<T, E: Error>(&mut self, misfit: Misfit) -> Result<T, E> {
        self.misfit = Some(misfit);
        // The misfit says more than the error of a parser can.
        Err(E::custom("a misfit"))
    }

    /// What was read of a part; a misfit of it gets its place.
    fn inside<T, E>(&mut self, part: Result<T, E>, place: impl FnOnce() -> String) -> Result<T, E> {
        if let (Err(_), Some(misfit)) = (&part, &mut self.misfit) {
            misfit.place.insert_str(0, &place());
        }
        part
    }

    /// What memory was taken for.
    fn taken<T, E: Error>(&mut self, taken: Result<T, FileError>) -> Result<T, E> {
        taken.or_else(|e| self.refuse("a value that memory holds", e.to_string()))
    }
}

/// A JSON value as far as messages show it.
enum Found<'a> {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(&'a str),
    List(usize),
    Object,
}

impl Found<'_> {
    /// The value in words.
    fn describe(&self) -> String {
        match self {
            Found::Null => "null".to_owned(),
            Found::Bool(b) => b.to_string(),
            Found::Integer(n) => n.to_string(),
            Found::Float(x) => Json::from(*x).to_string(),
            Found::Text(s) => format!("\"{}\"", s.chars().take(SHOWN).collect::<String>()),
            Found::List(n) => format!("a list of {n}"),
            Found::Object => "an object".to_owned(),
        }
    }
}

/// What takes a JSON value, whatever it turns out to be.
trait Take<'de>: Sized {
    type Value;

    /// Takes anything but the parts of a list or object.
    fn leaf<E: Error>(self, found: &Found<'_>) -> Result<Self::Value, E>;

    /// Takes a list.
    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error>;

    /// Takes an object.
    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error>;
}

/// Gives a value to what takes it.
struct Any<T>(T);

impl<'de, T: Take<'de>> DeserializeSeed<'de> for Any<T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, T: Take<'de>> Visitor<'de> for Any<T> {
    type Value = T::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<T::Value, E> {
        self.0.leaf(&Found::Null)
    }

    fn visit_bool<E: Error>(self, b: bool) -> Result<T::Value, E> {
        self.0.leaf(&Found::Bool(b))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<T::Value, E> {
        self.0.leaf(&Found::Integer(n.into()))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<T::Value, E> {
        self.0.leaf(&Found::Integer(n.into()))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<T::Value, E> {
        self.0.leaf(&Found::Float(x))
    }

    fn visit_str<E: Error>(self, s: &str) -> Result<T::Value, E> {
        self.0.leaf(&Found::Text(s))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T::Value, A::Error> {
        self.0.list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T::Value, A::Error> {
        self.0.object(object)
    }
}

/// How many elements the rest of a list has.
fn rest<'de, A: SeqAccess<'de>>(list: &mut A) -> Result<usize, A::Error> {
    let mut n = 0;
    while list.next_element::<IgnoredAny>()?.is_some() {
        n += 1;
    }
    Ok(n)
}

/// A value of a type.
struct Typed<'t, 'r, 'b> {
    ty: &'t HostType,
    reader: &'r mut Reader<'b>,
}

impl<'de> Take<'de> for Typed<'_, '_, '_> {
    type Value = HostValue;

    fn leaf<E: Error>(self, found: &Found<'_>) -> Result<HostValue, E> {
        let Typed { ty, reader } = self;
        match ty {
            HostType::Scalar(elem) => match scalar(found, *elem) {
                Ok(number) => Ok(HostValue::Scalar(number)),
                Err(misfit) => reader.fail(misfit),
            },
            HostType::Tensor { elem, dims } => {
                let mut elements = Elements::new(elem);
                let mut extents = vec![None; dims.len()];
                Lists { elements: &mut elements, dims: &mut extents, level: 0, reader }.leaf(found)?;
                Ok(elements.shaped(extents))
            }
            HostType::Tuple(tys) => match (tys.as_slice(), found) {
                ([], Found::Null) => Ok(HostValue::unit()),
                (_, _) => reader.refuse(format!("a list of {} values", tys.len()), found.describe()),
            },
            HostType::Struct { name, .. } => {
                reader.refuse(format!("an object for the struct `{name}`"), found.describe())
            }
            HostType::Enum { name, variants } => match found {
                Found::Text(key) => match variants.iter().find(|v| v.name == *key) {
                    None => reader.refuse(forms(name, variants), format!("`{}`", shortened(key))),
                    Some(variant) if variant.payload.is_some() => reader.refuse(form(variant), found.describe()),
                    Some(variant) => Ok(HostValue::Enum { variant: variant.name.clone(), payload: None }),
                },
                Found::Null | Found::Bool(_) | Found::Integer(_) | Found::Float(_) | Found::List(_) | Found::Object => {
                    reader.refuse(forms(name, variants), found.describe())
                }
            },
        }
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<HostValue, A::Error> {
        let Typed { ty, reader } = self;
        match ty {
            HostType::Tensor { elem, dims } => {
                let mut elements = Elements::new(elem);
                let mut extents = vec![None; dims.len()];
                Lists { elements: &mut elements, dims: &mut extents, level: 0, reader }.list(list)?;
                Ok(elements.shaped(extents))
            }
            HostType::Tuple(tys) => {
                let mut parts = Vec::with_capacity(tys.len());
                let misfit = |n: usize| (format!("a list of {} values", tys.len()), Found::List(n).describe());
                for (k, ty) in tys.iter().enumerate() {
                    let part = list.next_element_seed(Any(Typed { ty, reader }));
                    match reader.inside(part, || format!(".{k}"))? {
                        Some(part) => parts.push(part),
                        None => {
                            let (expected, found) = misfit(k);
                            return reader.refuse(expected, found);
                        }
                    }
                }
                match rest(&mut list)? {
                    0 => {
                        let taken = reader.budget.take(parts.len(), size_of::<HostValue>());
                        reader.taken(taken)?;
                        Ok(HostValue::Tuple(parts))
                    }
                    more => {
                        let (expected, found) = misfit(parts.len() + more);
                        reader.refuse(expected, found)
                    }
                }
            }
            HostType::Scalar(_) | HostType::Struct { .. } | HostType::Enum { .. } => {
                let n = rest(&mut list)?;
                Typed { ty, reader }.leaf(&Found::List(n))
            }
        }
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<HostValue, A::Error> {
        let Typed { ty, reader } = self;
        match ty {
            HostType::Tensor { elem, dims } if dims.is_empty() && !matches!(**elem, HostType::Scalar(_)) => {
                let mut elements = Elements::new(elem);
                Element { elements: &mut elements, reader }.object(object)?;
                Ok(elements.shaped(Vec::new()))
            }
            HostType::Tensor { elem, dims } => shaped(object, elem, dims.len(), reader),
            HostType::Struct { name, fields } => structure(object, name, fields, reader),
            HostType::Enum { name, variants } => enumeration(object, name, variants, reader),
            HostType::Scalar(_) | HostType::Tuple(_) => Typed { ty, reader }.leaf(&Found::Object),
        }
    }
}

fn scalar(found: &Found<'_>, elem: Elem) -> Result<Const, Misfit> {
    let misfit = || Misfit::new(elem.name(), found.describe());
    match elem {
        Elem::Bool => match found {
            Found::Bool(b) => Ok(Const::bool(*b)),
            Found::Null | Found::Integer(_) | Found::Float(_) | Found::Text(_) | Found::List(_) | Found::Object => {
                Err(misfit())
            }
        },
        Elem::F16 | Elem::BF16 | Elem::F32 | Elem::F64 => {
            let number = match found {
                Found::Integer(n) => *n as f64,
                Found::Float(x) => *x,
                Found::Text("nan") => f64::NAN,
                Found::Text("inf") => f64::INFINITY,
                Found::Text("-inf") => f64::NEG_INFINITY,
                Found::Null | Found::Bool(_) | Found::Text(_) | Found::List(_) | Found::Object => {
                    return Err(misfit());
                }
            };
            let value = Const::float(elem, number);
            let overflows = number.is_finite() && value.as_float().is_some_and(f64::is_infinite);
            if overflows {
                return Err(Misfit::new(format!("a number in the range of {}", elem.name()), found.describe()));
            }
            Ok(value)
        }
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            let (Found::Integer(n), Some((lo, hi))) = (found, elem.integer_range()) else { return Err(misfit()) };
            if !(lo..=hi).contains(n) {
                return Err(Misfit::new(format!("{} from {lo} to {hi}", elem.name()), n.to_string()));
            }
            Ok(Const::integer(elem, *n))
        }
    }
}

/// The elements of a tensor, as they come.
enum Elements<'t> {
    /// The bits of scalars.
    Scalars(Elem, Vec<u64>),
    /// Values of any other type.
    Values(&'t HostType, Vec<HostValue>),
}

impl<'t> Elements<'t> {
    fn new(ty: &'t HostType) -> Elements<'t> {
        match ty {
            HostType::Scalar(elem) => Elements::Scalars(*elem, Vec::new()),
            HostType::Tensor { .. } | HostType::Tuple(_) | HostType::Struct { .. } | HostType::Enum { .. } => {
                Elements::Values(ty, Vec::new())
            }
        }
    }

    /// The tensor. An axis below an empty one has no extent of its own.
    fn shaped(self, extents: Vec<Option<i64>>) -> HostValue {
        let dims = extents.into_iter().map(|n| n.unwrap_or(0)).collect();
        match self {
            Elements::Scalars(elem, bits) => HostValue::Tensor(Value { elem, dims, bits }),
            Elements::Values(_, items) => HostValue::Array { dims, items },
        }
    }
}

/// The next element of a tensor.
struct Element<'e, 't, 'r, 'b> {
    elements: &'e mut Elements<'t>,
    reader: &'r mut Reader<'b>,
}

impl Element<'_, '_, '_, '_> {
    /// Adds a value that was read for a type.
    fn add<E: Error>(self, read: impl FnOnce(Typed<'_, '_, '_>) -> Result<HostValue, E>) -> Result<(), E> {
        let Element { elements, reader } = self;
        match elements {
            Elements::Scalars(elem, bits) => {
                let ty = &HostType::Scalar(*elem);
                let HostValue::Scalar(number) = read(Typed { ty, reader })? else {
                    return reader.refuse(elem.name(), "something else");
                };
                let pushed = reader.budget.push(bits, number.bits());
                reader.taken(pushed)
            }
            Elements::Values(ty, items) => {
                let item = read(Typed { ty, reader })?;
                let pushed = reader.budget.push(items, item);
                reader.taken(pushed)
            }
        }
    }
}

impl<'de> Take<'de> for Element<'_, '_, '_, '_> {
    type Value = ();

    fn leaf<E: Error>(self, found: &Found<'_>) -> Result<(), E> {
        self.add(|typed| typed.leaf(found))
    }

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.add(|typed| typed.list(list))
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<(), A::Error> {
        self.add(|typed| typed.object(object))
    }
}

/// The elements of nested lists; every list of one level must be of one length.
struct Lists<'d, 'e, 't, 'r, 'b> {
    elements: &'e mut Elements<'t>,
    dims: &'d mut [Option<i64>],
    level: usize,
    reader: &'r mut Reader<'b>,
}

impl<'de> Take<'de> for Lists<'_, '_, '_, '_, '_> {
    type Value = ();

    fn leaf<E: Error>(self, found: &Found<'_>) -> Result<(), E> {
        let Lists { elements, dims, level, reader } = self;
        if level == dims.len() {
            return Element { elements, reader }.leaf(found);
        }
        reader.refuse(format!("nested lists of rank {}", dims.len()), found.describe())
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Lists { elements, dims, level, reader } = self;
        if level == dims.len() {
            return Element { elements, reader }.list(list);
        }
        let mut n = 0;
        while dims[level] != Some(n) {
            let next = Lists { elements: &mut *elements, dims: &mut *dims, level: level + 1, reader: &mut *reader };
            let part = list.next_element_seed(Any(next));
            if reader.inside(part, || format!("[{n}]"))?.is_none() {
                break;
            }
            n += 1;
        }
        // What is beyond the length of the lists before this one is counted, and kept nowhere.
        n += i64::try_from(rest(&mut list)?).unwrap_or(i64::MAX);
        match dims[level].replace(n) {
            Some(expected) if expected != n => {
                let found = format!("a ragged list: one of length {expected} and one of length {n}");
                reader.refuse(format!("lists of one length at level {level}"), found)
            }
            Some(_) | None => Ok(()),
        }
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<(), A::Error> {
        let Lists { elements, dims, level, reader } = self;
        if level == dims.len() {
            return Element { elements, reader }.object(object);
        }
        Lists { elements, dims, level, reader }.leaf(&Found::Object)
    }
}

/// The tensor `{"shape": [..], "data": [..]}`.
fn shaped<'de, A: MapAccess<'de>>(
    mut object: A,
    ty: &HostType,
    rank: usize,
    reader: &mut Reader<'_>,
) -> Result<HostValue, A::Error> {
    let (mut elements, mut shape) = (Elements::new(ty), Elements::Scalars(Elem::I64, Vec::new()));
    let (mut n_data, mut n_shape) = ([None], [None]);
    while let Some(key) = object.next_key::<String>()? {
        let lists = match key.as_str() {
            "shape" => Lists { elements: &mut shape, dims: &mut n_shape, level: 0, reader },
            "data" => Lists { elements: &mut elements, dims: &mut n_data, level: 0, reader },
            _ => {
                object.next_value::<IgnoredAny>()?;
                continue;
            }
        };
        object.next_value_seed(Any(lists))?;
    }
    let ([Some(n)], [Some(found)], Elements::Scalars(_, shape)) = (n_data, n_shape, shape) else {
        return reader.refuse(format!("nested lists of rank {rank}"), Found::Object.describe());
    };
    if usize::try_from(found) != Ok(rank) {
        return reader.refuse(format!("rank {rank}"), format!("rank {found}"));
    }
    let dims: Vec<i64> = shape.into_iter().map(|bits| bits as i64).collect();
    if dims.iter().any(|d| *d < 0) {
        return reader.refuse("a list of sizes as `shape` and a list as `data`", "something else");
    }
    if dims.iter().try_fold(1i64, |product, d| product.checked_mul(*d)) != Some(n) {
        return reader.refuse(format!("as many elements as shape {dims:?} has"), n.to_string());
    }
    Ok(elements.shaped(dims.into_iter().map(Some).collect()))
}

fn structure<'de, A: MapAccess<'de>>(
    mut object: A,
    name: &str,
    fields: &[(String, HostType)],
    reader: &mut Reader<'_>,
) -> Result<HostValue, A::Error> {
    let mut values: Vec<Option<HostValue>> = fields.iter().map(|_| None).collect();
    while let Some(key) = object.next_key::<String>()? {
        let Some(at) = fields.iter().position(|(field, _)| *field == key) else {
            return reader.refuse(format!("fields of `{name}` only"), format!("`{}`", shortened(&key)));
        };
        let value = object.next_value_seed(Any(Typed { ty: &fields[at].1, reader }));
        values[at] = Some(reader.inside(value, || format!(".{key}"))?);
    }
    let mut all = Vec::with_capacity(fields.len());
    for ((field, _), value) in fields.iter().zip(values) {
        let Some(value) = value else { return reader.refuse(format!("a field `{field}`"), "none") };
        let taken = reader.budget.take(1, size_of::<(String, HostValue)>() + field.len());
        reader.taken(taken)?;
        all.push((field.clone(), value));
    }
    Ok(HostValue::Struct(all))
}

/// `{"Variant": payload}`.
fn enumeration<'de, A: MapAccess<'de>>(
    mut object: A,
    name: &str,
    variants: &[HostVariant],
    reader: &mut Reader<'_>,
) -> Result<HostValue, A::Error> {
    let Some(key) = object.next_key::<String>()? else {
        return reader.refuse(forms(name, variants), Found::Object.describe());
    };
    let Some(variant) = variants.iter().find(|v| v.name == key) else {
        return reader.refuse(forms(name, variants), format!("`{}`", shortened(&key)));
    };
    let Some(ty) = &variant.payload else { return reader.refuse(form(variant), Found::Object.describe()) };
    let payload = object.next_value_seed(Any(Typed { ty, reader }));
    let payload = reader.inside(payload, || format!(".{key}"))?;
    if object.next_key::<IgnoredAny>()?.is_some() {
        return reader.refuse(forms(name, variants), Found::Object.describe());
    }
    let taken = reader.budget.take(1, size_of::<HostValue>() + key.len());
    reader.taken(taken)?;
    Ok(HostValue::Enum { variant: key, payload: Some(Box::new(payload)) })
}

/// How a variant is written.
fn form(variant: &HostVariant) -> String {
    match variant.payload {
        Some(_) => format!("{{\"{}\": ...}}", variant.name),
        None => format!("\"{}\"", variant.name),
    }
}

/// How a value of an enum is written.
fn forms(name: &str, variants: &[HostVariant]) -> String {
    let forms: Vec<String> = variants.iter().map(form).collect();
    format!("a variant of `{name}`: {}", forms.join(" or "))
}

fn shortened(key: &str) -> String {
    key.chars().take(SHOWN).collect()
}
