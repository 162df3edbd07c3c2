//! What the programs of `tests/hosts` have to have among them.

use super::file::{self, HostProgram, Outcome};
use cotan::host::{Elem, HostType};
use cotan_sema::dims::{Atom, Dim};

/// The programs that are there by name.
const NAMED: [&str; 5] = ["gmm", "ba", "lstm", "newton", "mass_spring"];

/// The lines of a program without comments and empty ones.
fn code(program: &HostProgram) -> Vec<&str> {
    let lines = program.text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).collect()
}

fn has_word(program: &HostProgram, word: &str) -> bool {
    let is_part = |c: char| !(c.is_alphanumeric() || c == '_');
    code(program).iter().any(|line| line.split(is_part).any(|part| part == word))
}

/// Calls `f` with a type and all that are in it.
fn each_type(ty: &HostType, f: &mut dyn FnMut(&HostType)) {
    f(ty);
    match ty {
        HostType::Scalar(_) => {}
        HostType::Tensor { elem, .. } => each_type(elem, f),
        HostType::Tuple(parts) => parts.iter().for_each(|part| each_type(part, f)),
        HostType::Struct { fields, .. } => fields.iter().for_each(|(_, ty)| each_type(ty, f)),
        HostType::Enum { variants, .. } => {
            variants.iter().filter_map(|variant| variant.payload.as_ref()).for_each(|ty| each_type(ty, f));
        }
    }
}

/// Whether some type in a parameter is such a one.
fn takes(program: &HostProgram, is_wanted: impl Fn(&HostType) -> bool) -> bool {
    let mut takes = false;
    program.signature.params.iter().for_each(|param| each_type(&param.ty, &mut |ty| takes |= is_wanted(ty)));
    takes
}

fn takes_scalars(program: &HostProgram, is_wanted: impl Fn(Elem) -> bool) -> bool {
    takes(program, |ty| matches!(ty, HostType::Scalar(elem) if is_wanted(*elem)))
}

fn takes_structs(program: &HostProgram) -> bool {
    takes(program, |ty| matches!(ty, HostType::Struct { .. } | HostType::Enum { .. }))
}

fn takes_enums(program: &HostProgram) -> bool {
    takes(program, |ty| matches!(ty, HostType::Enum { .. }))
}

fn takes_integer_fields(program: &HostProgram) -> bool {
    let is_integer = |ty: &HostType| matches!(ty, HostType::Scalar(elem) if elem.is_integer());
    takes(program, |ty| matches!(ty, HostType::Struct { fields, .. } if fields.iter().any(|(_, ty)| is_integer(ty))))
}

fn takes_whole_arrays(program: &HostProgram) -> bool {
    let is_whole = |elem: &HostType| matches!(elem, HostType::Scalar(Elem::I32 | Elem::Bool));
    takes(program, |ty| matches!(ty, HostType::Tensor { elem, .. } if is_whole(elem)))
}

/// Whether an extent of the result follows from no argument.
fn has_unknown_length(program: &HostProgram) -> bool {
    let is_unknown = |dim: &Dim| dim.is_runtime() || dim.has_atom(|atom| matches!(atom, Atom::Runtime(_)));
    let mut unknown = false;
    each_type(&program.signature.result, &mut |ty| {
        unknown |= matches!(ty, HostType::Tensor { dims, .. } if dims.iter().any(is_unknown));
    });
    unknown
}

fn is_in_single_precision(program: &HostProgram) -> bool {
    takes_scalars(program, |elem| elem == Elem::F32) && !takes_scalars(program, |elem| elem == Elem::F64)
}

fn fails(program: &HostProgram) -> bool {
    program.expected().iter().any(Outcome::is_err)
}

#[test]
fn the_programs_are_many_and_of_many_kinds() {
    let programs = file::all(&super::compiler());
    let at_least = |n: usize, what: &str, is_one: &dyn Fn(&HostProgram) -> bool| {
        let names: Vec<&str> = programs.iter().filter(|p| is_one(p)).map(|p| p.name.as_str()).collect();
        assert!(names.len() >= n, "expected {n} programs {what}, found {names:?}");
    };
    at_least(30, "in all", &|_| true);
    at_least(6, "with a loop whose length depends on data", &|p| has_word(p, "while"));
    at_least(4, "with kernels", &|p| has_word(p, "kernel"));
    at_least(4, "that take structs or enums", &takes_structs);
    at_least(1, "that take an enum", &takes_enums);
    at_least(1, "that take a struct with an integer", &takes_integer_fields);
    at_least(4, "in f32", &is_in_single_precision);
    at_least(2, "that take arrays of i32 or truth values", &takes_whole_arrays);
    at_least(3, "with results whose length only the run knows", &has_unknown_length);
    at_least(2, "with Fourier transforms or linear systems", &|p| has_word(p, "fft") || has_word(p, "linalg"));
    at_least(2, "that fail for some arguments", &|p| super::is_blessed() || fails(p));
    for name in NAMED {
        assert!(programs.iter().any(|p| p.name == name), "there is no program `{name}`");
    }
}

#[test]
fn every_program_is_worth_calling() {
    for program in file::all(&super::compiler()) {
        let n_lines = code(&program).len();
        assert!(n_lines >= 10, "{} has {n_lines} lines of code", program.name);
        let n_calls = program.calls.len();
        assert!((2..=3).contains(&n_calls), "{} has {n_calls} calls", program.name);
    }
}

#[test]
fn the_readme_names_every_program() {
    let readme = file::readme();
    for program in file::all(&super::compiler()) {
        assert!(readme.contains(&format!("| `{}` |", program.name)), "README.md does not name {}", program.name);
    }
}
