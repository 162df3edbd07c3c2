//! Fits arguments whose arrays may lie on a device to a signature, and flattens them.

use super::DeviceValue;
use crate::backend::FlatOperand;
use crate::host::{ArgumentMisfit, Arguments, Entry, EntryParam, HostType, HostValue, NoMemory, Value, rebuild};
use crate::host::{check_kind, expect_all, expect_known, fit_leaves_elsewhere};
use cotan_ir::{Const, Elem};
use cotan_lower::entry::EntryDefault;
use cotan_spirv::runner::Array;
use std::collections::BTreeMap;

/// Arguments by name, of which arrays may lie on a device.
pub type DeviceArguments = BTreeMap<String, DeviceValue>;

/// The flat operands of a call. An array on a device tells its extents; its elements stay where they are.
pub(super) fn fit_operands(entry: &Entry, args: &DeviceArguments) -> Result<Vec<FlatOperand>, ArgumentMisfit> {
    let defaults = defaults(entry, args);
    let get = |name: &str| args.get(name).or_else(|| defaults.get(name));
    expect_known(entry, args.keys().map(String::as_str))?;
    expect_all(entry, &|param| get(&param.name).is_some())?;
    let (mut flat, mut given) = (Flat { entry, leaves: Vec::new(), arrays: Vec::new() }, Vec::new());
    for param in &entry.signature.params {
        let Some(value) = get(&param.name) else { continue };
        let first = flat.leaves.len();
        flat.value(param, value, &param.ty, 0)?;
        given.push((param, first..flat.leaves.len()));
    }
    let scalar = |(name, value): (&String, &DeviceValue)| {
        let scalar = value.as_host()?.as_scalar()?;
        Some((name.clone(), HostValue::Scalar(scalar)))
    };
    let integers: Arguments = defaults.iter().chain(args).filter_map(scalar).collect();
    let Flat { mut leaves, arrays, .. } = flat;
    let numbers = fit_leaves_elsewhere(entry, &integers, &given, &mut leaves, &|at| arrays[at].is_some())?;
    let numbers = numbers.into_iter().map(|n| FlatOperand::Value(Const::i64(n).into()));
    let leaves = leaves.into_iter().zip(arrays).map(|(leaf, array)| match array {
        Some(array) => FlatOperand::Array(array),
        None => FlatOperand::Value(leaf),
    });
    Ok(numbers.chain(leaves).collect())
}

/// The values of the parameters that are left out and have a default.
fn defaults(entry: &Entry, args: &DeviceArguments) -> DeviceArguments {
    let params = &entry.signature.params;
    let mut defaults = DeviceArguments::new();
    for param in params.iter().filter(|param| !args.contains_key(&param.name)) {
        let value = match &param.default {
            Some(EntryDefault::Leaves(leaves)) => {
                rebuild(&param.ty, &mut leaves.iter().cloned()).map(DeviceValue::Host)
            }
            Some(EntryDefault::OfParam(at)) => {
                let name = &params[*at].name;
                args.get(name).or_else(|| defaults.get(name)).cloned()
            }
            None => None,
        };
        defaults.extend(value.map(|value| (param.name.clone(), value)));
    }
    defaults
}

/// The leaves of arguments. Those of arrays on a device have no elements, but the array.
struct Flat<'e> {
    entry: &'e Entry,
    leaves: Vec<Value>,
    arrays: Vec<Option<Array>>,
}

impl Flat<'_> {
    /// Takes a value of a type. `lead` is how many extents come first that are those of a tensor around it.
    fn value(
        &mut self,
        param: &EntryParam,
        value: &DeviceValue,
        ty: &HostType,
        lead: usize,
    ) -> Result<(), ArgumentMisfit> {
        match (value, ty) {
            (DeviceValue::Host(value), ty) if lead == 0 => {
                check_kind(self.entry, &param.name, value, ty)?;
                let flat = value.flatten(ty, &mut self.leaves);
                flat.map_err(|NoMemory(bytes)| ArgumentMisfit::NoMemory { name: param.name.clone(), bytes })?;
                self.arrays.resize(self.leaves.len(), None);
                Ok(())
            }
            (DeviceValue::Host(HostValue::Tensor(tensor)), ty)
                if Some((tensor.elem, tensor.dims.len())) == array_type(ty, lead) =>
            {
                self.push(tensor.clone(), None);
                Ok(())
            }
            (DeviceValue::Array(array), ty) if Some((array.elem(), array.dims().len())) == array_type(ty, lead) => {
                let place = Value { elem: array.elem(), dims: array.dims().to_vec(), bits: Vec::new() };
                self.push(place, Some(array.0.clone()));
                Ok(())
            }
            (DeviceValue::Tuple(parts), HostType::Tuple(tys)) if parts.len() == tys.len() => {
                parts.iter().zip(tys).try_for_each(|(part, ty)| self.value(param, part, ty, lead))
            }
            (DeviceValue::Struct(fields), HostType::Struct { fields: tys, .. })
                if fields.iter().map(|(name, _)| name).eq(tys.iter().map(|(name, _)| name)) =>
            {
                fields.iter().zip(tys).try_for_each(|((_, field), (_, ty))| self.value(param, field, ty, lead))
            }
            (DeviceValue::Tuple(_) | DeviceValue::Struct(_), HostType::Tensor { elem, dims }) => {
                self.value(param, value, elem, lead + dims.len())
            }
            (
                DeviceValue::Host(_) | DeviceValue::Array(_) | DeviceValue::Tuple(_) | DeviceValue::Struct(_),
                HostType::Scalar(_)
                | HostType::Tensor { .. }
                | HostType::Tuple(_)
                | HostType::Struct { .. }
                | HostType::Enum { .. },
            ) => {
                let expected = self.entry.signature.show(&param.ty);
                Err(ArgumentMisfit::Kind { name: param.name.clone(), expected, found: described(value) })
            }
        }
    }

    fn push(&mut self, leaf: Value, array: Option<Array>) {
        self.leaves.push(leaf);
        self.arrays.push(array);
    }
}

/// The type of the elements and the rank of the one array that values of a type are, behind so many extents around them.
fn array_type(ty: &HostType, lead: usize) -> Option<(Elem, usize)> {
    let (ty, rank) = match ty {
        HostType::Tensor { elem, dims } => (elem.as_ref(), lead + dims.len()),
        HostType::Scalar(_) | HostType::Tuple(_) | HostType::Struct { .. } | HostType::Enum { .. } => (ty, lead),
    };
    match ty {
        HostType::Scalar(elem) if rank > 0 => Some((*elem, rank)),
        HostType::Scalar(_)
        | HostType::Tensor { .. }
        | HostType::Tuple(_)
        | HostType::Struct { .. }
        | HostType::Enum { .. } => None,
    }
}

fn described(value: &DeviceValue) -> String {
    match value {
        DeviceValue::Host(value) => value.describe(),
        DeviceValue::Array(array) => format!("{}{:?} on a device", array.elem(), array.dims()),
        DeviceValue::Tuple(parts) => format!("a tuple of {}", parts.len()),
        DeviceValue::Struct(fields) => {
            let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
            format!("a struct of {}", names.join(", "))
        }
    }
}
