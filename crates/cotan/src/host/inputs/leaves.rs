//! Values from files of arrays: each leaf of a type is one array, whose header is judged before anything of it is read.

use super::convert::{convert, is_storage, may_become, numpy_name};
use super::path::ValuePath;
use super::target::{Target, of_file};
use super::{Malformed, Unbound, listed};
use crate::host::arrays::{below, from_leaves, leaf_paths};
use crate::host::files::{ArrayHeader, CsvTable, NamedArrays, NpyFile};
use crate::host::{Budget, Elem, HostType, HostValue, Leaf, Value};

/// The leaves of a type, with their paths.
pub(super) struct Leaves(Vec<(String, Leaf)>);

impl Leaves {
    /// The leaves of a parameter, which a file of arrays must hold.
    pub(super) fn of(target: &Target<'_>, found: &str) -> Result<Leaves, Unbound> {
        match leaf_paths(target.ty) {
            Some(paths) => Ok(Leaves(paths.into_iter().zip(target.ty.leaves()).collect())),
            None => {
                let help = "an enum is written in JSON only: \"Variant\" or {\"Variant\": payload} in a .json file";
                Err(Unbound::misfit_with_help(target.kind(target.shown(), found), help))
            }
        }
    }

    /// The names of the arrays behind a path.
    pub(super) fn names(&self, path: &ValuePath) -> Vec<String> {
        self.0.iter().map(|(name, _)| below(&path.joined(), name)).collect()
    }

    /// The value of arrays that were read, one for each leaf. What was converted is told.
    pub(super) fn value(
        &self,
        target: &Target<'_>,
        file: &str,
        arrays: impl Iterator<Item = HostValue>,
        notes: &mut Vec<String>,
    ) -> Result<HostValue, Unbound> {
        let mut values = Vec::with_capacity(self.0.len());
        for ((path, leaf), array) in self.0.iter().zip(arrays) {
            let found = array.describe();
            let Some(mut value) = array.into_value() else { continue };
            let from = value.elem;
            if from != leaf.elem {
                convert(&mut value, leaf.elem).map_err(|(at, element)| {
                    let expected = format!("an element that {} holds exactly", leaf.elem);
                    let place = format!("element {at} of {found}");
                    let misfit = target.kind(format!("{} ({place}: {expected})", target.shown()), element.to_string());
                    Unbound::misfit_with_help(misfit, "round it before it is saved, if that is meant")
                })?;
                if !is_storage(from, leaf.elem) {
                    let name = below(target.name, path);
                    notes.push(format!("`{name}`: {found} of `{file}` is taken as {}", leaf.elem));
                }
            }
            values.push(value);
        }
        let extents: Vec<String> =
            self.0.iter().zip(&values).map(|((path, _), value)| format!("`{path}` with {:?}", value.dims)).collect();
        from_leaves(target.ty, values).ok_or_else(|| {
            let expected = format!("{} (arrays with the extents of one tensor)", target.shown());
            Unbound::misfit(target.kind(expected, extents.join(", ")))
        })
    }
}

/// The names of the arrays of a file that a parameter wants. Nothing of them is read but the headers.
pub(super) fn of_arrays(
    target: &Target<'_>,
    leaves: &Leaves,
    file: &str,
    arrays: &NamedArrays,
    path: &ValuePath,
) -> Result<Vec<String>, Unbound> {
    let names = leaves.names(path);
    for (name, (part, leaf)) in names.iter().zip(&leaves.0) {
        let Some(header) = arrays.header(name) else {
            let message =
                format!("`{file}`: there is no array `{name}`, which `{}: {}` needs", target.name, target.shown());
            return Err(Malformed::new(message).help(format!("it has {}", listed(arrays.names().into_iter()))).into());
        };
        check_header(target, part, leaf, &header.map_err(|e| of_file(file, &e))?)?;
    }
    Ok(names)
}

/// The value of a file that holds one array.
pub(super) fn of_array(
    target: &Target<'_>,
    file: &str,
    array: &NpyFile,
    path: &ValuePath,
    budget: &mut Budget,
    notes: &mut Vec<String>,
) -> Result<HostValue, Unbound> {
    if !path.parts().is_empty() {
        let message = format!("`{file}`: expected no path, found `{path}`: the file holds one array");
        return Err(Malformed::new(message).help(format!("write `{}={file}`", target.name)).into());
    }
    let header = array.header();
    let leaves = Leaves::of(target, &described(header.elem(), header.dims()))?;
    let [(_, leaf)] = leaves.0.as_slice() else {
        let misfit = target.kind(target.shown(), described(header.elem(), header.dims()));
        let names: Vec<String> = leaves.0.iter().map(|(path, _)| below(target.name, path)).collect();
        let help = format!("save an .npz file with the arrays {}", listed(names.iter().map(String::as_str)));
        return Err(Unbound::misfit_with_help(misfit, help));
    };
    check_header(target, "", leaf, header)?;
    let value = array.value(budget).map_err(|e| of_file(file, &e))?;
    leaves.value(target, file, [value].into_iter(), notes)
}

/// The value of a table, or of columns of it.
pub(super) fn of_table(
    target: &Target<'_>,
    file: &str,
    table: &CsvTable,
    path: &ValuePath,
    budget: &mut Budget,
) -> Result<HostValue, Unbound> {
    let (n_rows, n_columns) = (table.n_rows(), table.n_columns());
    let found = format!("a table of {n_rows} lines and {n_columns} columns");
    let leaves = Leaves::of(target, &found)?;
    let fail = |e| of_file(file, &e);
    if let (HostType::Tensor { elem, dims }, true) = (target.ty, path.parts().is_empty())
        && let (HostType::Scalar(elem), [_, _]) = (elem.as_ref(), dims.as_slice())
    {
        return table.matrix(*elem, budget).map(HostValue::Tensor).map_err(fail);
    }
    // A file without a line is an empty vector.
    if let ([(_, Leaf { elem, dims, .. })], 0, 0) = (leaves.0.as_slice(), n_rows, n_columns)
        && dims.len() == 1
    {
        return Ok(HostValue::Tensor(Value::zeros(*elem, &[0])));
    }
    let mut columns = Vec::new();
    for (name, (part, leaf)) in leaves.names(path).iter().zip(&leaves.0) {
        let Some(column) = table.column(name).map_err(fail)? else {
            let message =
                format!("`{file}`: there is no column `{name}`, which `{}: {}` needs", target.name, target.shown());
            return Err(Malformed::new(message).help(columns_of(table)).into());
        };
        if leaf.dims.len() > 1 || leaf.dims.is_empty() && n_rows != 1 {
            let misfit = target.kind_at(part, &target.shown_leaf(leaf), format!("a column of {n_rows} lines"));
            let help = "a column is a vector; a whole file is a matrix; other shapes go into an .npz file";
            return Err(Unbound::misfit_with_help(misfit, help));
        }
        columns.push((column, leaf.elem));
    }
    let values = table.columns(&columns, budget).map_err(fail)?;
    let values = values.into_iter().zip(&leaves.0).map(|(column, (_, leaf))| match leaf.dims.len() {
        0 => Value { dims: Vec::new(), ..column },
        _ => column,
    });
    leaves.value(target, file, values.map(HostValue::Tensor), &mut Vec::new())
}

/// What columns a table has, in words.
pub(super) fn columns_of(table: &CsvTable) -> String {
    match table.names() {
        [] => format!("it has {} columns without names, the first is 0", table.n_columns()),
        names => format!("it has {}", listed(names.iter().map(String::as_str))),
    }
}

/// Fails if an array with this header is not what a leaf of a parameter may be: then nothing of it is read.
fn check_header(target: &Target<'_>, part: &str, leaf: &Leaf, header: &ArrayHeader) -> Result<(), Unbound> {
    let (elem, dims) = (header.elem(), header.dims());
    let has_rank = dims.len() == leaf.dims.len();
    if has_rank && may_become(elem, leaf.elem) {
        return Ok(());
    }
    let misfit = target.kind_at(part, &target.shown_leaf(leaf), described(elem, dims));
    let help = if !has_rank {
        "reshape it before it is saved, or take a part of it".to_owned()
    } else {
        format!(
            "{}: save `x.astype(\"{}\")` in NumPy if that is meant",
            why_not(elem, leaf.elem),
            numpy_name(leaf.elem)
        )
    };
    Err(Unbound::misfit_with_help(misfit, help))
}

/// Why elements of a type are not taken as those of another.
fn why_not(from: Elem, to: Elem) -> &'static str {
    if from == Elem::Bool || to == Elem::Bool {
        "truth values are no numbers"
    } else if from.is_float() {
        "a conversion could round"
    } else {
        "integers keep their type"
    }
}

fn described(elem: Elem, dims: &[i64]) -> String {
    if dims.is_empty() { elem.to_string() } else { format!("{elem}{dims:?}") }
}
