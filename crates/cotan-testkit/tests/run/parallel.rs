//! A program of loops once more, inside a parallel loop.

use cotan_syntax::ast::{Item, ItemKind, Signature};
use cotan_syntax::{FileId, parse};
use cotan_testkit::header::{Case, Expected};
use serde_json::{Map, Value as Json};

/// Instances of the program side by side; instance `k` counts `k + 1` times.
const INSTANCES: u32 = 3;
/// How often they count together.
const WEIGHT: f64 = 6.0;

/// A program with one more function, the weighted sum of many calls of the case's, and the case that calls it. Nothing
/// for a case without a gradient.
pub(crate) fn in_parallel(text: &str, case: &Case) -> Option<Result<(String, Case), String>> {
    let Expected::Value { value, grad } = &case.expected else { return None };
    (!case.wrt.is_empty()).then(|| wrapped(text, case, value, grad))
}

fn wrapped(text: &str, case: &Case, value: &Json, grad: &Map<String, Json>) -> Result<(String, Case), String> {
    let (module, _) = parse(FileId(0), text);
    let signature = module.items.iter().find_map(|item| signature_of(item, &case.function));
    let signature = signature.ok_or_else(|| format!("there is no function `{}`", case.function))?;
    let name = format!("{}_in_parallel", case.function);
    let after = &text[signature.name.span.end as usize..signature.span.end as usize];
    let params: Vec<&str> = signature.params.iter().map(|p| p.name.name.as_str()).collect();
    let elem = if text.contains("f64") { "f64" } else { "f32" };
    let call = format!("{}({})", case.function, params.join(", "));
    let body = format!("+/ tabulate({INSTANCES}, |instance| ((instance + 1) as {elem}) * {call})");
    let case = Case {
        name: format!("{} in parallel", case.name),
        function: name,
        expected: Expected::Value {
            value: scaled(value),
            grad: grad.iter().map(|(name, g)| (name.clone(), scaled(g))).collect(),
        },
        ..case.clone()
    };
    Ok((format!("{text}\nfn {}{after} = {body}\n", case.function), case))
}

fn signature_of<'a>(item: &'a Item, name: &str) -> Option<&'a Signature> {
    let ItemKind::Function(f) = &item.kind else { return None };
    (f.signature.name.name == name).then_some(&f.signature)
}

/// A number, or numbers in lists and objects, times the weight.
fn scaled(json: &Json) -> Json {
    match json {
        Json::Array(all) => all.iter().map(scaled).collect(),
        Json::Object(all) => Json::Object(all.iter().map(|(name, x)| (name.clone(), scaled(x))).collect()),
        Json::Number(x) => x.as_f64().map_or(Json::Null, |x| Json::from(WEIGHT * x)),
        Json::Null | Json::Bool(_) | Json::String(_) => json.clone(),
    }
}
