//! The headers of the programs under `tests/run`: the function to call, with what, and what comes out.

use cotan::DerivativeForm;
use cotan::host::{Arguments, HostValue, from_json};
use cotan_lower::entry::Entry;
use serde_json::{Map, Value as Json};

/// The tolerance of a case that states none.
const TOLERANCE: f64 = 1e-12;

/// One call of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Tells cases of one file apart; empty for the first.
    pub name: String,
    /// The function that is called.
    pub function: String,
    /// The parameters that the gradient is taken with respect to; none if there is no gradient.
    pub wrt: Vec<String>,
    /// The arguments by name.
    pub args: Map<String, Json>,
    /// What comes out.
    pub expected: Expected,
    /// What it prints; not compared if left out.
    pub output: Option<String>,
    /// Allowed difference, relative to the largest entry.
    pub tolerance: f64,
    /// The highest order of derivatives that exist at this point: 2, or 1 where the gradient has a kink.
    pub order: u32,
}

/// What a call gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// A value, and its gradient by the name of the parameter.
    Value {
        /// The result.
        value: Json,
        /// The gradients; empty without `wrt`.
        grad: Map<String, Json>,
    },
    /// A NaN, which a compiler that traps them locates.
    Nan {
        /// The derivative that makes it; none if the function itself does.
        form: Option<DerivativeForm>,
        /// The line of its place, from 1.
        line: u32,
        /// The column of its place, from 1.
        column: u32,
        /// What is said of it.
        message: String,
    },
    /// A run-time error.
    Error {
        /// Such as `R0001`.
        code: String,
        /// The file of its place, from `tests/run`, where that is not the program itself.
        file: Option<String>,
        /// The line of its place, from 1.
        line: u32,
        /// The column of its place, from 1.
        column: u32,
    },
}

/// The keys of one case as text.
#[derive(Clone, Debug, Default)]
struct Keys {
    name: String,
    entries: Vec<(String, String)>,
}

impl Keys {
    fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    fn json(&self, key: &str) -> Result<Option<Json>, String> {
        let read = |text| serde_json::from_str(text).map_err(|e| format!("`{key}` is no JSON: {e}"));
        self.get(key).map(read).transpose()
    }

    fn object(&self, key: &str) -> Result<Map<String, Json>, String> {
        match self.json(key)? {
            None => Ok(Map::new()),
            Some(Json::Object(object)) => Ok(object),
            Some(other) => Err(format!("`{key}` is no object: {other}")),
        }
    }
}

/// The cases of a program, at least one.
pub fn cases(text: &str) -> Result<Vec<Case>, String> {
    let mut all = vec![Keys::default()];
    for line in text.lines().filter_map(|line| line.strip_prefix("#:")) {
        let (key, value) = line.trim().split_once(' ').ok_or_else(|| format!("no value: {line}"))?;
        let (key, value) = (key.to_owned(), value.trim().to_owned());
        let last = all.last_mut().expect("the list starts with one");
        if key == "case" {
            all.push(Keys { name: value, entries: Vec::new() });
        } else if last.get(&key).is_some() {
            return Err(format!("`{key}` stands twice in one case"));
        } else {
            last.entries.push((key, value));
        }
    }
    let first = all[0].clone();
    all.iter().map(|keys| case(keys, &first).map_err(|e| format!("case `{}`: {e}", keys.name))).collect()
}

/// A case whose missing keys are those of the first; what comes out is stated by each anew.
fn case(keys: &Keys, first: &Keys) -> Result<Case, String> {
    let known = ["fn", "wrt", "args", "value", "grad", "tolerance", "order", "error", "nan", "output"];
    if let Some((key, _)) = keys.entries.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        return Err(format!("there is no key `{key}`"));
    }
    let inherited = |key: &str| keys.get(key).or_else(|| first.get(key));
    let function = inherited("fn").ok_or("no function")?.split_whitespace().next().unwrap_or_default().to_owned();
    let wrt = inherited("wrt").map(names).unwrap_or_default();
    let args = if keys.get("args").is_some() { keys.object("args")? } else { first.object("args")? };
    let tolerance = match inherited("tolerance") {
        Some(text) => text.parse().map_err(|e| format!("`tolerance`: {e}"))?,
        None => TOLERANCE,
    };
    let order = match keys.get("order") {
        Some("1") => 1,
        Some(other) => return Err(format!("`order` is 1 where it is stated, not `{other}`")),
        None => 2,
    };
    let expected = match (keys.get("error"), keys.get("nan")) {
        (Some(text), _) => error(text)?,
        (None, Some(text)) => nan(text)?,
        (None, None) => {
            let value = keys.json("value")?.ok_or("no value")?;
            let grad = keys.object("grad")?;
            if let Some(name) = wrt.iter().find(|name| !grad.contains_key(*name)) {
                return Err(format!("no gradient for `{name}`"));
            }
            Expected::Value { value, grad }
        }
    };
    let output = keys.json("output")?.and_then(|text| text.as_str().map(str::to_owned));
    Ok(Case { name: keys.name.clone(), function, wrt, args, expected, output, tolerance, order })
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(|name| name.trim().to_owned()).collect()
}

fn error(text: &str) -> Result<Expected, String> {
    let fail = || format!("an error is a code and a place, as in `R0001 7:12`, not `{text}`");
    let (code, place) = text.split_once(' ').ok_or_else(fail)?;
    let (file, place) = place.rsplit_once(' ').map_or((None, place), |(file, place)| (Some(file.to_owned()), place));
    let (line, column) = place.split_once(':').ok_or_else(fail)?;
    let number = |text: &str| text.trim().parse().map_err(|_| fail());
    Ok(Expected::Error { code: code.to_owned(), file, line: number(line)?, column: number(column)? })
}

fn nan(text: &str) -> Result<Expected, String> {
    let fail = || format!("a NaN is a form, a place and a message, as in `grad 7:12 NaN from ..`, not `{text}`");
    let (form, rest) = text.split_once(' ').ok_or_else(fail)?;
    let (place, message) = rest.split_once(' ').ok_or_else(fail)?;
    let (line, column) = place.split_once(':').ok_or_else(fail)?;
    let form = match form {
        "value" => None,
        name => Some(DerivativeForm::ALL.into_iter().find(|form| form.as_str() == name).ok_or_else(fail)?),
    };
    let number = |text: &str| text.parse().map_err(|_| fail());
    Ok(Expected::Nan { form, line: number(line)?, column: number(column)?, message: message.to_owned() })
}

/// Arguments in the types of a signature; sizes that no parameter tells are whole numbers.
pub fn named_arguments(args: &Map<String, Json>, entry: &Entry) -> Result<Arguments, String> {
    let mut all = Arguments::new();
    for (name, json) in args {
        let value = match entry.signature.params.iter().find(|p| p.name == *name) {
            Some(param) => {
                from_json(json, &param.ty).map_err(|e| format!("`{name}`: {} for {}", e.found, e.expected))?
            }
            None => HostValue::i64(json.as_i64().ok_or_else(|| format!("there is no parameter `{name}`"))?),
        };
        all.insert(name.clone(), value);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_second_case_takes_what_it_leaves_out_from_the_first() {
        let text = "# Why.\n#: fn f\n#: wrt x\n#: args {\"x\": 2.0}\n#: value 4.0\n#: grad {\"x\": 4.0}\n\
                    #: case negative\n#: args {\"x\": -1.0}\n#: value 1.0\n#: grad {\"x\": -2.0}\nfn f(x: f64) -> f64 = x * x\n";
        let all = cases(text).expect("a header");
        assert_eq!(all.len(), 2);
        assert_eq!((all[1].name.as_str(), all[1].function.as_str()), ("negative", "f"));
        assert_eq!(all[1].args.get("x"), Some(&json!(-1.0)));
        let grad = Map::from_iter([("x".to_owned(), json!(-2.0))]);
        assert_eq!(all[1].expected, Expected::Value { value: json!(1.0), grad });
    }

    #[test]
    fn an_error_has_a_code_and_a_place() {
        let all = cases("#: fn f\n#: error R0001 7:12\n").expect("a header");
        assert_eq!(all[0].expected, Expected::Error { code: "R0001".to_owned(), file: None, line: 7, column: 12 });
        let all = cases("#: fn f\n#: error R0001 imported/a.cot 7:12\n").expect("a header");
        let file = Some("imported/a.cot".to_owned());
        assert_eq!(all[0].expected, Expected::Error { code: "R0001".to_owned(), file, line: 7, column: 12 });
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        for (text, reason) in [
            ("#: value 1\n", "case ``: no function"),
            ("#: fn f\n", "case ``: no value"),
            ("#: fn f\n#: vaule 1\n", "case ``: there is no key `vaule`"),
            ("#: fn f\n#: wrt x\n#: value 1\n", "case ``: no gradient for `x`"),
            ("#: fn f\n#: error R0001\n", "case ``: an error is a code and a place, as in `R0001 7:12`, not `R0001`"),
        ] {
            assert_eq!(cases(text), Err(reason.to_owned()));
        }
    }
}
