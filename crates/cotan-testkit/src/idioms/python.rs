//! The side of NumPy, JAX and PyTorch: one script evaluates all idioms, by a Python that has the framework.

use super::{Idiom, Input, compared, inputs};
use crate::files::workspace_file;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A library of Python.
pub struct Framework {
    /// The name of the language's file.
    pub language: &'static str,
    /// What imports it.
    import: &'static str,
    /// What makes an array of its own of a list.
    array: &'static str,
}

impl Framework {
    /// NumPy.
    pub const NUMPY: Framework = Framework { language: "numpy", import: "import numpy as np", array: "np.array" };

    /// All of them.
    pub const ALL: [Framework; 3] = [
        Framework::NUMPY,
        Framework {
            language: "jax",
            import: "import jax; jax.config.update('jax_enable_x64', True); import jax.numpy as jnp",
            array: "jnp.array",
        },
        Framework {
            language: "torch",
            import: "import torch; torch.set_default_dtype(torch.float64)",
            array: "torch.tensor",
        },
    ];

    /// A Python that has it: the one that `COTAN_PYTHON` names, that of `cargo xtask peers`, or `python3`.
    pub fn python(&self) -> Option<PathBuf> {
        let named = std::env::var_os("COTAN_PYTHON").map(PathBuf::from);
        let peers = ["target/peers/bin/python", "target/peers/Scripts/python.exe"].map(workspace_file);
        let mut all = named.into_iter().chain(peers).chain([PathBuf::from("python3")]);
        all.find(|python| {
            let mut command = Command::new(python);
            command.args(["-c", self.import]).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        })
    }
}

/// What evaluates: the inputs are in `inputs`, the idioms in `idioms`, and a line of JSON for each idiom is printed.
const EVALUATE: &str = "
def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value.tolist() if hasattr(value, 'tolist') else value

for code, around in idioms:
    names = dict(modules)
    for name, value in inputs:
        names[name] = array(value) if isinstance(value, list) else value
    try:
        if around is None:
            result = eval(code, names)
        else:
            exec(around.replace('{}', code), names)
            result = names['r']
        print(json.dumps({'value': plain(result)}))
    except Exception as error:
        print(json.dumps({'error': repr(error)}))
";

/// Evaluates the idioms of a framework, and compares; nothing where no Python has it.
pub fn against_python(framework: &Framework, idioms: &[Idiom]) -> Result<Option<Vec<String>>, String> {
    let Some(python) = framework.python() else { return Ok(None) };
    let mut child = Command::new(python)
        .arg("-")
        .env("JAX_PLATFORMS", "cpu")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let text = script(framework, idioms, &inputs()?);
    child.stdin.take().ok_or("no pipe")?.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    let out = child.wait_with_output().map_err(|e| e.to_string())?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    let answers = String::from_utf8_lossy(&out.stdout);
    let found: Vec<Result<Json, String>> = answers.lines().map(answer).collect();
    if found.len() != idioms.len() {
        return Err(format!("{} answers to {} idioms", found.len(), idioms.len()));
    }
    Ok(Some(compared(idioms, found)))
}

fn script(framework: &Framework, idioms: &[Idiom], inputs: &[Input]) -> String {
    let values: Vec<Json> = inputs.iter().map(|input| json!([input.name, input.value])).collect();
    let codes: Vec<Json> = idioms.iter().map(|idiom| json!([idiom.theirs, idiom.around_theirs])).collect();
    // A string of JSON in quotes is a string of Python, too.
    let literal = |values: Vec<Json>| format!("json.loads({})", json!(Json::Array(values).to_string()));
    let (import, array) = (framework.import, framework.array);
    format!(
        "import json\n{import}\nmodules = dict(globals())\narray = {array}\ninputs = {}\nidioms = {}\n{EVALUATE}",
        literal(values),
        literal(codes)
    )
}

fn answer(line: &str) -> Result<Json, String> {
    let answer: Json = serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))?;
    match answer.get("value") {
        Some(value) => Ok(value.clone()),
        None => Err(answer["error"].to_string()),
    }
}
