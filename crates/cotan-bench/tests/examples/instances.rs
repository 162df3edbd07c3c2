//! The examples with their data.

use cotan::cpu::Cache;
use cotan::host::{Arguments, from_json};
use cotan::{Compiler, Config, Request};
use cotan_bench::{Block, Instance, Tolerance, loop_instance};
use serde_json::Value as Json;
use std::num::NonZeroUsize;
use std::path::Path;

pub(crate) fn read(path: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(examples.join(path)).expect("a file of the repository")
}

/// A compiler that keeps what it compiles, so that the tests share it.
pub(crate) fn compiler(threads: usize) -> Compiler {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    let cache = Cache::open(&folder, 1 << 28).expect("a folder of this crate");
    let threads = NonZeroUsize::new(threads);
    Compiler::new(Config { cache: Some(cache), threads, ..Config::default() }).expect("threads")
}

/// An example with its arguments.
pub(crate) fn instance(compiler: &Compiler, objective: &str, data: &str, blocks: &[(&str, usize)]) -> Instance {
    let folder = data.split('/').next().unwrap_or_default();
    let file = format!("{folder}/{folder}.cot");
    let source = read(&file);
    let function = Request::function(objective);
    let program = compiler.check(&file, &source);
    let entry = compiler.lower(&program, &function).expect("a function of the example").entry;
    let json: Json = serde_json::from_str(&read(data)).expect("JSON");
    let value = |name: &str, ty| (name.to_owned(), from_json(&json[name], ty).expect("a value of the type"));
    let args: Arguments = entry.signature.params.iter().map(|p| value(&p.name, &p.ty)).collect();
    Instance {
        objective: objective.to_owned(),
        name: data.to_owned(),
        file,
        source,
        function,
        gradient: Some(Request::function(derivative_of(objective))),
        args,
        blocks: Block::in_order(blocks),
        tolerance: Tolerance::default(),
    }
}

fn derivative_of(objective: &str) -> String {
    let kind = if ["ba", "hand", "hand_c"].contains(&objective) { "jacobian" } else { "gradient" };
    format!("{objective}_{kind}")
}

/// One instance of every example whose derivative is large enough to be worth threads, or to be called again and again.
pub(crate) fn all(compiler: &Compiler) -> Vec<Instance> {
    vec![
        instance(compiler, "gmm", "gmm/data/gmm_d10_K25.json", &[]),
        instance(compiler, "ba", "ba/data/ba1.json", &[]),
        instance(compiler, "lstm", "lstm/data/lstm_l2_c1024.json", &[]),
        loop_instance("newton").expect("a loop"),
        loop_instance("mass_spring").expect("a loop"),
    ]
}
