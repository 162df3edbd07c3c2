//! `cotan jacobian --sparse` and `cotan hessian --sparse`: matrices in compressed rows.

use crate::args::MatrixArgs;
use crate::derivative_at::DerivativeAt;
use crate::diagnostics::Failure;
use crate::exit;
use crate::files;
use crate::look::Look;
use crate::output;
use cotan::host::{Entry, HostValue, Leaf};
use cotan::sparse::{SparseJacobian, SparseMatrix, spy_plot};
use cotan::{DerivativeForm, DerivativeMode, codes};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// So many rows are shown to people, and so many entries of each.
const SHOWN: usize = 8;

/// A matrix, and what it took.
struct Found {
    /// `Jacobian of `p``.
    title: String,
    matrix: SparseMatrix,
    colours: usize,
    mode: &'static str,
}

pub(super) fn jacobian(args: &MatrixArgs, point: &DerivativeAt) -> Result<u8, Failure> {
    if let (Some(_), [_, _, ..]) = (&args.spy, point.wrt.as_slice()) {
        let message = format!("--spy: expected one parameter, found `{}`", point.wrt.join("`, `"));
        return Err(point.session.request_failure(message).help("name one with --wrt: each has a matrix of its own"));
    }
    let value = point.value()?;
    let mut found = Vec::new();
    for name in &point.wrt {
        let request = point.request_by(DerivativeForm::Jacobian, std::slice::from_ref(name), point.mode);
        let (jacobian, matrix) = point.session.sparse(&request, &point.raw)?;
        found.push((name.clone(), Found::new(format!("Jacobian of `{name}`"), &jacobian, matrix)));
    }
    if let (Some(path), [(name, only)]) = (&args.spy, found.as_slice()) {
        draw(path, &format!("Jacobian of `{}` by `{name}`", point.name), only)?;
    }
    let object = |has_words| output::object(found.iter().map(|(name, found)| (name, found.object(has_words))));
    let text = || found.iter().map(|(_, found)| found.text()).collect();
    deliver(args, value, "jacobian", object, text)
}

pub(super) fn hessian(args: &MatrixArgs, point: &DerivativeAt) -> Result<u8, Failure> {
    let function = point.function()?;
    let value = point.session.call(&point.name, &function, &point.raw)?;
    let (hessian, matrix) = point.session.sparse(&point.resolved.request, &point.raw)?;
    let title = format!("Hessian of `{}`", point.wrt.join("`, `"));
    let whole = Found::new(title, &hessian, matrix);
    if let Some(path) = &args.spy {
        draw(path, &format!("Hessian of `{}` by `{}`", point.name, point.wrt.join("`, `")), &whole)?;
    }
    let text = || whole.text();
    if let [name] = point.wrt.as_slice() {
        return deliver(args, value, "hessian", |words| output::object([(name, whole.object(words))]), text);
    }
    // One block for each pair.
    let ranges = lines(point, function.entry())?;
    let block = |rows: &Range<usize>, columns: &Range<usize>| Found {
        title: String::new(),
        matrix: whole.matrix.block(rows.clone(), columns.clone()),
        ..whole
    };
    let object = |words| {
        let row =
            |rows| output::object(ranges.iter().map(|(name, columns)| (name, block(rows, columns).object(words))));
        output::object(ranges.iter().map(|(name, rows)| (name, row(rows))))
    };
    deliver(args, value, "hessian", object, text)
}

/// The lines of a matrix that each parameter has, in the order in which they were asked for.
fn lines(point: &DerivativeAt, entry: &Entry) -> Result<Vec<(String, Range<usize>)>, Failure> {
    let args = point.arguments()?;
    let flat = cotan::host::fit_arguments(entry, &args)
        .map_err(|misfit| point.session.call_failure(&point.name, &misfit.into()))?;
    let mut ranges = Vec::new();
    let mut start = 0;
    for name in &point.wrt {
        let sizes = float_leaves(entry, name).map(|k| flat[k].bits.len());
        let end = start + sizes.sum::<usize>();
        ranges.push((name.clone(), start..end));
        start = end;
    }
    Ok(ranges)
}

/// Where the floats of a parameter stand among the flat operands.
fn float_leaves(entry: &Entry, name: &str) -> impl Iterator<Item = usize> {
    let n_numbers = entry.signature.sizes.len() + entry.extents.len();
    let leaves = entry
        .signature
        .params
        .iter()
        .flat_map(|param| param.ty.leaves().into_iter().map(move |leaf| (&param.name, leaf)));
    let is_wanted = |(of, leaf): &(&String, Leaf)| *of == name && leaf.elem.is_float();
    let wanted: Vec<usize> =
        leaves.enumerate().filter(|(_, leaf)| is_wanted(leaf)).map(|(k, _)| n_numbers + k).collect();
    wanted.into_iter()
}

impl Found {
    fn new(title: String, jacobian: &SparseJacobian, matrix: SparseMatrix) -> Found {
        let mode = match jacobian.colouring().mode() {
            DerivativeMode::Forward => "forward",
            DerivativeMode::Reverse => "reverse",
        };
        Found { title, matrix, colours: jacobian.colouring().count(), mode }
    }

    /// The arrays and what they took; without words it is arrays only.
    fn object(&self, has_words: bool) -> HostValue {
        let mut parts = self.matrix.arrays();
        parts.push(("colours".to_owned(), HostValue::i64(self.colours as i64)));
        if has_words {
            let mode = HostValue::Enum { variant: self.mode.to_owned(), payload: None };
            parts.push(("mode".to_owned(), mode));
        }
        output::object(parts)
    }

    fn text(&self) -> String {
        let Found { title, matrix, colours, mode } = self;
        let (rows, columns) = matrix.pattern.shape();
        let entries = matrix.pattern.entries();
        let density = 100.0 * entries as f64 / (rows as f64 * columns as f64).max(1.0);
        let mut text =
            format!("{title}: {rows} x {columns}, {entries} entries ({density:.3} %), {}, {mode}\n", count(*colours));
        for row in 0..rows.min(SHOWN) {
            // Writing to a string cannot fail.
            let _ = write!(text, "  row {row}:");
            for (column, x) in matrix.row(row).take(SHOWN) {
                let _ = write!(text, " [{column}] {}", output::json(&HostValue::f64(x)));
            }
            let more = matrix.pattern.row(row).len().saturating_sub(SHOWN);
            text += &if more > 0 { format!(" ... {more} more\n") } else { "\n".to_owned() };
        }
        if rows > SHOWN {
            let _ = writeln!(text, "  ... {} more rows", rows - SHOWN);
        }
        text
    }
}

fn count(colours: usize) -> String {
    if colours == 1 { "1 colour".to_owned() } else { format!("{colours} colours") }
}

/// Written beside and renamed.
fn draw(path: &Path, title: &str, found: &Found) -> Result<(), Failure> {
    let svg = spy_plot(&found.matrix.pattern, title, &format!("{}, {}", count(found.colours), found.mode));
    let fail = |e| Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, format!("writing `{}`: {e}", path.display()));
    files::replace(path, svg.as_bytes()).map_err(fail)
}

fn deliver(
    args: &MatrixArgs,
    value: HostValue,
    key: &str,
    matrices: impl Fn(bool) -> HostValue,
    text: impl Fn() -> String,
) -> Result<u8, Failure> {
    let json = || {
        // The arrays of the format are lists, empty ones too; an empty tensor elsewhere tells its shape.
        let matrices = output::json(&matrices(true)).replace(r#"{"shape": [0], "data": []}"#, "[]");
        format!("{{\"value\": {}, \"{key}\": {matrices}}}", output::json(&value))
    };
    let arrays = output::object([("value", value.clone()), (key, matrices(false))]);
    let look = Look::new(&args.derivative.call);
    output::deliver_as(&args.derivative.call, &json, &arrays, || look.summary("value", &value) + &text())?;
    Ok(exit::DONE)
}
