//! The table of edge points, `spec/kinks.tsv`: every row on every path and in every type.

use crate::derived_case::{Case, Subject, float_value, floats, function, joined, options};
use crate::engines::Engine;
use crate::files::workspace_file;
use crate::frontend::{checked, lower_plain, lower_to_derive};
use crate::tolerances::{Property, close, tolerance};
use cotan::host::{Arguments, HostValue, fit_arguments, from_json};
use cotan::{ReadyModule, Request};
use cotan_interp::tape;
use cotan_ir::{Elem, Mode, Module};
use cotan_ops::Value;
use serde_json::Value as Json;
use std::fs;

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// The program, with `T` for the element type.
    pub program: String,
    /// One argument per parameter.
    pub point: Vec<Json>,
    /// The element types.
    pub types: Vec<Elem>,
    /// The value.
    pub value: Json,
    /// One derivative per parameter of type `T` or `T[..]`.
    pub derivatives: Vec<Json>,
}

/// The rows of the table.
pub fn rows() -> Result<Vec<Row>, String> {
    let path = workspace_file("spec/kinks.tsv");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| row(line).ok_or_else(|| format!("a row that does not read: {line}"))).collect()
}

fn row(line: &str) -> Option<Row> {
    let [id, _, program, point, types, value, derivatives, _] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
    let list = |text: &str| text.split("; ").map(number_text).collect::<Option<Vec<_>>>();
    Some(Row {
        id: id.to_owned(),
        program: program.to_owned(),
        point: list(point)?,
        types: types.split(' ').map(Elem::from_name).collect::<Option<_>>()?,
        value: number_text(value)?,
        derivatives: list(derivatives)?,
    })
}

/// JSON that may hold `nan` and infinities as words.
fn number_text(text: &str) -> Option<Json> {
    let words: Vec<String> = text
        .split_inclusive([',', '[', ']', ' '])
        .map(|part| {
            let word = part.trim_end_matches([',', '[', ']', ' ']);
            let quoted = ["nan", "inf", "-inf"].contains(&word);
            if quoted { format!("\"{word}\"{}", &part[word.len()..]) } else { part.to_owned() }
        })
        .collect();
    serde_json::from_str(&words.concat()).ok()
}

/// Checks a row in one type, on every path.
pub fn check(row: &Row, elem: Elem) -> Result<(), String> {
    let text = in_type(&row.program, elem);
    let program = checked(&row.id, &text)?;
    for lowered in
        [lower_to_derive(&program, &Request::function("f"))?, lower_plain(&program, &Request::function("f"))?]
    {
        Point::new(row, &lowered)?.check(row, elem)?;
    }
    Ok(())
}

/// The program with `T` replaced.
fn in_type(program: &str, elem: Elem) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let mut rest = program.chars().peekable();
    while let Some(c) = rest.next() {
        let after = rest.peek().copied().unwrap_or(' ');
        let alone = !before.is_alphanumeric() && !after.is_alphanumeric() && before != '_' && after != '_';
        if c == 'T' && alone {
            out.push_str(elem.name())
        } else {
            out.push(c)
        }
        before = c;
    }
    out
}

/// A row as a case, with what is expected of its derivatives.
struct Point {
    case: Case,
    expected: Vec<Value>,
}

impl Point {
    fn new(row: &Row, lowered: &ReadyModule) -> Result<Point, String> {
        let read = |json: &Json, ty| from_json(json, ty).map_err(|e| format!("{} for {}", e.found, e.expected));
        let mut args = Arguments::new();
        for (param, json) in lowered.entry.signature.params.iter().zip(&row.point) {
            args.insert(param.name.clone(), read(json, &param.ty)?);
        }
        let args = fit_arguments(&lowered.entry, &args).map_err(|e| e.to_string())?;
        let (module, name) = (Module::clone(&lowered.module), lowered.entry.symbol.clone());
        let case = Case::new(Subject::new(row.id.clone(), module, name, args))?;
        if case.wrt.len() != row.derivatives.len() {
            return Err(format!("{} derivatives for {} parameters", row.derivatives.len(), case.wrt.len()));
        }
        let params =
            lowered.entry.signature.params.iter().filter(|p| p.ty.leaves().iter().all(|leaf| leaf.elem.is_float()));
        let mut expected = Vec::new();
        for ((param, json), at) in params.zip(&row.derivatives).zip(&case.wrt) {
            let like = &case.subject.args[*at];
            expected.push(float_value(like, &read(json, &param.ty)?.floats()));
        }
        Ok(Point { case, expected })
    }

    fn check(&self, row: &Row, elem: Elem) -> Result<(), String> {
        let (case, module) = (&self.case, &self.case.subject.module);
        let value = [HostValue::Scalar(float(&row.value, elem)?).floats()[0]];
        let vjp = case.first(Mode::Vjp).canonical_name();
        let one = vec![float_value(&case.results[0], &[1.0])];
        for engine in Engine::of(&row.id, 2) {
            let at = |e: String| format!("{engine:?}: {e}");
            let run = |name: &str, args: &[Value]| engine.run(module, name, args).map_err(|e| at(e.to_string()));
            let results = run(&case.subject.name, &case.subject.args)?;
            agree(&floats(&results[0]), &value, elem).map_err(|e| at(format!("value: {e}")))?;
            let results = run(&vjp, &joined(&[&case.subject.args, &one]))?;
            for (found, expected) in results[1..].iter().zip(&self.expected) {
                agree(&floats(found), &floats(expected), elem).map_err(|e| at(format!("reverse mode: {e}")))?;
            }
            self.forward(elem, &|tangents| {
                let name = case.first(Mode::Jvp).canonical_name();
                run(&name, &joined(&[&case.subject.args, tangents])).map(|all| floats(&all[1])[0])
            })
            .map_err(|e| at(format!("forward mode: {e}")))?;
        }
        let (name, args) = (&case.subject.name, &case.subject.args);
        function(module, name)?;
        let reverse = tape::vjp(module, name, args, &case.wrt, &case.outs, &one, &options());
        for (found, expected) in reverse.map_err(|e| e.to_string())?.1.iter().zip(&self.expected) {
            agree(&floats(found), &floats(expected), elem).map_err(|e| format!("tape in reverse: {e}"))?;
        }
        self.forward(elem, &|tangents| {
            let out = tape::jvp(module, name, args, &case.wrt, tangents, &case.outs, &options());
            out.map(|(_, tangents)| floats(&tangents[0])[0]).map_err(|e| e.to_string())
        })
        .map_err(|e| format!("tape forward: {e}"))
    }

    /// One unit tangent after the other.
    fn forward(&self, elem: Elem, push: &dyn Fn(&[Value]) -> Result<f64, String>) -> Result<(), String> {
        for (k, expected) in self.expected.iter().enumerate() {
            for (at, expected) in floats(expected).into_iter().enumerate() {
                let mut tangents: Vec<Value> = self.expected.iter().map(|v| Value::zeros(v.elem, &v.dims)).collect();
                tangents[k].bits[at] = cotan_ir::Const::float(elem, 1.0).bits();
                agree(&[push(&tangents)?], &[expected], elem)?;
            }
        }
        Ok(())
    }
}

fn float(json: &Json, elem: Elem) -> Result<cotan_ir::Const, String> {
    let value = from_json(json, &cotan_lower::entry::HostType::Scalar(elem));
    value.ok().and_then(|v| v.as_scalar()).ok_or_else(|| format!("`{json}` is no number"))
}

fn agree(found: &[f64], expected: &[f64], elem: Elem) -> Result<(), String> {
    let tolerance = tolerance(Property::ClosedForm, elem);
    let same = found.iter().zip(expected).all(|(a, b)| close(*a, *b, b.abs(), tolerance));
    if same && found.len() == expected.len() { Ok(()) } else { Err(format!("expected {expected:?}, found {found:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_for_numbers_are_read() {
        assert_eq!(number_text("[1.0, nan, -inf]"), Some(json!([1.0, "nan", "-inf"])));
        assert_eq!(number_text("inf"), Some(json!("inf")));
    }

    #[test]
    fn the_element_type_is_replaced_where_it_stands_alone() {
        assert_eq!(in_type("fn f(x: T, T1: T[2]) -> T", Elem::F32), "fn f(x: f32, T1: f32[2]) -> f32");
    }
}
