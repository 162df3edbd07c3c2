//! Messages about hostile names: a terminal shows what is in them and does not act on it, and no line break in a name begins
//! a message.

use super::super::folder::Folder;
use super::super::{Line, Measured};
use super::ran::{Ran, run};
use super::{Part, Tally};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

pub(super) const LINES: &[Line] = &[Line {
    title: "messages about names, arguments, keys, settings and lines with control characters in them",
    bar: "at least 40 messages, as text and as JSON, no raw control character, no forged line",
    measure: |place| messages(&place.built.join("cotan"), Part::Whole),
}];

/// Escape sequences of both forms, a bell, a change of direction, and a line that looks like a message.
const NAME: &str = "h\u{1b}[31m\u{7}\u{7f}\u{9b}2J\u{202e}\nerror[E9999]: forged";
/// How the forged line begins.
const FORGED: &str = "error[E9999]";

const PROGRAM: &str = "struct P { a: f64 }\nfn f(x: f64) -> f64 = x * x\nfn g(p: P, v: f64[2]) -> f64 = p.a + v[0]\n";

/// One message: the arguments, in which `H` stands for the hostile name, and a setting of the environment.
struct Case {
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    /// Whether it can be had as JSON.
    has_json: bool,
}

const fn text(args: &'static [&'static str]) -> Case {
    Case { args, env: &[], has_json: false }
}

const fn both(args: &'static [&'static str]) -> Case {
    Case { args, env: &[], has_json: true }
}

const fn setting(env: &'static [(&'static str, &'static str)], args: &'static [&'static str]) -> Case {
    Case { args, env, has_json: true }
}

const RUN_F: &[&str] = &["run", "p.cot", "--fn", "f", "--set", "x=1"];

const CASES: &[Case] = &[
    // Files that are not there.
    both(&["run", "H.cot"]),
    both(&["grad", "H.cot", "--fn", "f"]),
    both(&["check", "H.cot"]),
    text(&["fmt", "H.cot"]),
    both(&["test", "H.cot"]),
    text(&["emit", "H.cot", "--stage", "ir"]),
    both(&["bench", "H.cot", "--fn", "f"]),
    text(&["explain", "H"]),
    text(&["explain", "H.cot", "--fn", "f", "--grad", "x"]),
    text(&["new", "H"]),
    // Names.
    both(&["run", "p.cot", "--fn", "H"]),
    both(&["grad", "p.cot", "--fn", "H"]),
    both(&["grad", "p.cot", "--fn", "f", "--wrt", "H", "--set", "x=1"]),
    both(&["jacobian", "p.cot", "--fn", "f", "--wrt", "H", "--set", "x=1"]),
    both(&["bench", "p.cot", "--fn", "H"]),
    both(&["bench", "p.cot", "--fn", "f", "--grad", "H", "--set", "x=1"]),
    text(&["emit", "p.cot", "--stage", "ir", "--fn", "H"]),
    text(&["emit", "p.cot", "--stage", "ast", "--fn", "H"]),
    text(&["explain", "p.cot", "--fn", "H", "--grad", "x"]),
    text(&["explain", "p.cot", "--fn", "f", "--grad", "H"]),
    // Arguments.
    both(&["run", "p.cot", "--fn", "f", "--args", "H"]),
    both(&["run", "p.cot", "--fn", "f", "--args", "H.json"]),
    both(&["run", "p.cot", "--fn", "f", "--args", "x=H.npy"]),
    both(&["run", "p.cot", "--fn", "f", "--args", "H=x.npy"]),
    both(&["run", "p.cot", "--fn", "f", "--args", "H.npz"]),
    both(&["run", "p.cot", "--fn", "f", "--set", "H"]),
    both(&["run", "p.cot", "--fn", "f", "--set", "H=1"]),
    both(&["run", "p.cot", "--fn", "f", "--set", "x=H"]),
    both(&["run", "p.cot", "--fn", "f", "--args", "key.json"]),
    both(&["run", "p.cot", "--fn", "g", "--args", "field.json"]),
    both(&["run", "p.cot", "--fn", "f", "--args", "broken.json"]),
    both(&["run", "p.cot", "--fn", "f", "--args", "x=header.npy"]),
    both(&["run", "p.cot", "--fn", "f", "--args", "x=no.npy"]),
    both(&["jvp", "p.cot", "--fn", "f", "--set", "x=1", "--tangent", "H.json"]),
    both(&["vjp", "p.cot", "--fn", "f", "--set", "x=1", "--cotangent", "H.json"]),
    both(&["run", "p.cot", "--fn", "f", "--set", "x=1", "--out", "H.txt"]),
    both(&["run", "p.cot", "--fn", "f", "--set", "x=1", "--out", "H/r.json"]),
    both(&["jacobian", "p.cot", "--fn", "f", "--set", "x=1", "--sparse", "--spy", "H/s.svg"]),
    // The environment.
    setting(&[("COTAN_LLVM", "H")], RUN_F),
    setting(&[("COTAN_LLVM", "/H/lib.so")], RUN_F),
    setting(&[("COTAN_LLVM", "/H/lib.so")], &["doctor"]),
    setting(&[("COTAN_THREADS", "H")], RUN_F),
    setting(&[("COTAN_CHECKER", "H")], &["grad", "p.cot", "--fn", "f", "--set", "x=1", "--certify"]),
    setting(&[("XDG_CACHE_HOME", "HERE/wideH")], RUN_F),
    setting(&[("XDG_CACHE_HOME", "HERE/wideH")], &["doctor"]),
    // The command line.
    text(&["run", "p.cot", "--H"]),
    text(&["run", "p.cot", "--x=H"]),
    text(&["H"]),
    text(&["run", "p.cot", "--backend", "H"]),
    text(&["run", "p.cot", "--threads", "H"]),
    text(&["run", "p.cot", "--opt=H"]),
    text(&["grad", "p.cot", "--fn", "f", "--mode", "H"]),
    text(&["run", "p.cot", "H"]),
    // Programs under such names and with such lines.
    both(&["check", "wrongH.cot"]),
    both(&["run", "wrongH.cot"]),
    both(&["run", "failsH.cot"]),
    both(&["test", "testH.cot"]),
    both(&["check", "lines.cot"]),
    text(&["fmt", "--check", "uglyH.cot"]),
    text(&["fmt", "uglyH.cot"]),
    both(&["check", "bytesH.cot"]),
    text(&["explain", "lines2.cot", "--fn", "f", "--grad", "x"]),
];

/// The files that cases are about.
fn write(folder: &Folder) -> Result<(), String> {
    let json = |value: serde_json::Value| value.to_string();
    folder.write("p.cot", PROGRAM)?;
    folder.write("key.json", json(serde_json::json!({ (NAME): 1.0 })))?;
    folder.write("field.json", json(serde_json::json!({ "p": { (NAME): 1.0 }, "v": [1.0, 2.0] })))?;
    folder.write("broken.json", format!("{{\"x\": {NAME}}}"))?;
    folder.write("no.npy", NAME)?;
    let header = format!("{{'descr': '<f8', '{NAME}': False, 'shape': (), }}\n");
    let length = u16::try_from(header.len()).map_err(|e| e.to_string())?.to_le_bytes();
    folder.write("header.npy", [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), &[0; 8]].concat())?;
    let name = |start: &str| format!("{start}{NAME}.cot");
    folder.write(&name("wrong"), "fn main() -> f64 = missing\n")?;
    folder.write(&name("fails"), "fn at(v: f64[2], i: i64) -> f64 = v[i]\nfn main() -> f64 = at([1.0, 2.0], 2)\n")?;
    folder.write(&name("test"), "@test fn a() -> bool = 1 == 2\n@test fn b() -> bool = true\n")?;
    folder.write(&name("ugly"), "fn  f( x:f64 )->f64 = x # \u{1b}[2J \u{9b}\n")?;
    folder.write(&name("bytes"), b"fn f() -> f64 = 1.0 # \x1b \xff\n")?;
    folder.write("lines.cot", "fn f(x: f64) -> f64 = \u{1b}[2J missing(\"\u{9b}\", x) # \u{202e}\n")?;
    let lines =
        "fn f(x: f64) -> f64 {\n  let mut y = x\n  for i in 0..9 { # \u{1b}[2J \u{9b}\n    y = sin(y)\n  }\n  y\n}\n";
    folder.write("lines2.cot", lines)?;
    let wide = folder.path(&format!("wide{NAME}"));
    let made = fs::create_dir(&wide).and_then(|()| fs::set_permissions(&wide, Permissions::from_mode(0o777)));
    made.map_err(|e| e.to_string())
}

/// Whether a terminal acts on a character.
fn is_raw(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || is_direction
}

fn judge(ran: &Ran, is_json: bool) -> Result<(), String> {
    let all = [&ran.stdout, &ran.stderr];
    if ran.status.is_none() || ran.status.is_some_and(|status| status > 3) {
        return Err(ran.shown());
    }
    if all.iter().any(|text| text.contains(is_raw)) {
        return Err(format!("a raw control character: {}", ran.shown()));
    }
    if all.iter().any(|text| text.lines().any(|line| line.trim_start().starts_with(FORGED))) {
        return Err(format!("a forged line: {}", ran.shown()));
    }
    if all.iter().all(|text| text.is_empty()) {
        return Err("not a word".to_owned());
    }
    let is_object = || serde_json::from_str::<serde_json::Value>(&ran.stdout).is_ok();
    if is_json && !is_object() { Err(format!("no JSON: {}", ran.shown())) } else { Ok(()) }
}

/// Every case, as text and as JSON.
pub fn messages(cotan: &Path, part: Part) -> Result<Measured, String> {
    let mut tally = Tally::default();
    for case in CASES.iter().step_by(if part == Part::Whole { 1 } else { 2 }) {
        for is_json in [false, true].into_iter().take(if case.has_json { 2 } else { 1 }) {
            let folder = Folder::new()?;
            write(&folder)?;
            let here = folder.0.display().to_string();
            let filled = |text: &str| text.replace("HERE", &here).replace('H', NAME);
            let mut command = Command::new(cotan);
            command.current_dir(&folder.0).env("XDG_CACHE_HOME", folder.cache());
            command.env_remove("COTAN_LLVM").env_remove("COTAN_THREADS").env_remove("COTAN_CHECKER");
            command.envs(case.env.iter().map(|(name, value)| (name, filled(value))));
            command.args(case.args.iter().map(|arg| filled(arg))).args(is_json.then_some("--json"));
            let ran = run(&mut command)?;
            let outcome = judge(&ran, is_json).map_err(|e| format!("{:?}: {e}", case.args));
            tally.count(ran.seconds, outcome);
        }
    }
    Ok(tally.measured("messages", ""))
}
