//! Moves of numbers in storage: the wrappers with a type for storage as their element type.

use super::cases::{in_type, program};
use super::point::{Point, Side, all_converted, compare};
use super::{Library, Outcome, Wrapper, storage};
use crate::files::workspace_file;
use crate::frontend::read;
use cotan::Program;
use cotan_ir::Elem;
use cotan_syntax::ast::{Item, ItemKind};
use cotan_syntax::{Diagnostic, FileId, parse};

/// The wrappers of floats that take numbers in storage as they are, by file: they only move and compare them. All others
/// are refused, as arithmetic on such numbers gives f32: their element type has to be `Float` or `Numeric`.
const MOVED: &[(&str, &str)] = &[
    (
        "index",
        "take take__rank1 take_along take_along__rank3 pick embedding gather2d gather3d scatter_set where masked_fill compress",
    ),
    ("resample", "nearest1d nearest2d nearest3d"),
    (
        "shape",
        "squeeze unsqueeze flatten flatten_last chunks swap_last permute_bac permute_bca permute_cab permute_cba permute_bca__rank4 flip flip2d quarter_turn tile repeat stack stack_last join interleave halves split split_in_three narrow slice slice__every strided pad pad__rank3 pad2d pad_reflect pad_symmetric pad_replicate pad_circular roll roll__rank2 roll__rank4 diagonal diagonal__rank3 meshgrid meshgrid3d unfold unfold__plain",
    ),
    ("sort", "searchsorted searchsorted__left"),
];

/// The code of an error that says that a type has not the trait which is asked for.
const WITHOUT_TRAIT: &str = "E0314";

/// The listed wrappers, and no others, are accepted with the element type of storage, and give the bits that they give in
/// f32 on the same numbers.
pub fn moved_in_storage(library: &Library, elem: Elem) -> Result<Outcome, String> {
    let singles = library.programs(Elem::F32, |_| String::new())?;
    let mut refused = Vec::new();
    let mut programs = Vec::new();
    for (k, file) in library.files.iter().enumerate() {
        let text = in_type(&file.text, elem);
        let (of_file, accepted) = split(&file.name, &text)?;
        let wrappers = library.wrappers.iter().filter(|wrapper| wrapper.file == k);
        refused.extend(wrappers.filter(|w| of_file.contains(&w.name)).map(|w| w.label.clone()));
        programs.push(program(&file.name, &accepted)?);
    }
    let listed = listed();
    let mut outcome = library.ask(|wrapper| {
        let is_refused = refused.contains(&wrapper.label);
        match (wrapper.takes_floats(), listed.contains(&wrapper.label), is_refused) {
            (false, _, _) | (true, false, true) => (0, Vec::new()),
            (true, true, false) => ask(wrapper, &programs[wrapper.file], &singles[wrapper.file], elem),
            (true, listed, refused) => (0, vec![format!("`{}`: listed {listed}, refused {refused}", wrapper.label)]),
        }
    });
    outcome.failures.extend(library.unknown(listed.iter().map(String::as_str)));
    Ok(outcome)
}

/// The labels of the listed wrappers.
fn listed() -> Vec<String> {
    let of_file =
        |(file, names): &(&str, &str)| names.split(' ').map(|name| format!("{file}.{name}")).collect::<Vec<String>>();
    MOVED.iter().flat_map(of_file).collect()
}

/// The functions that the checker refuses in a text, and the text without them.
fn split(name: &str, text: &str) -> Result<(Vec<String>, String), String> {
    let checked = read(&format!("{name}.cot"), text, &workspace_file("spec/operations"))?;
    let is_in = |d: &Diagnostic, item: &Item| (item.span.start..item.span.end).contains(&d.primary.span.start);
    let module = parse(FileId(0), text).0;
    let errors: Vec<&Diagnostic> = checked.diagnostics.iter().filter(|d| d.is_error()).collect();
    if let Some(other) = errors.iter().find(|d| d.code.to_string() != WITHOUT_TRAIT) {
        return Err(format!("{name}: expected errors {WITHOUT_TRAIT} alone, found {}: {}", other.code, other.message));
    }
    let (mut refused, mut accepted) = (Vec::new(), String::new());
    for item in &module.items {
        match &item.kind {
            ItemKind::Function(f) if errors.iter().any(|d| is_in(d, item)) => {
                refused.push(f.signature.name.name.to_string());
            }
            ItemKind::Function(_)
            | ItemKind::Struct(_)
            | ItemKind::Enum(_)
            | ItemKind::TypeAlias(_)
            | ItemKind::Const(_)
            | ItemKind::Trait(_)
            | ItemKind::Impl(_)
            | ItemKind::Import(_)
            | ItemKind::Error => {
                accepted.push_str(&text[item.span.range()]);
                accepted.push('\n');
            }
        }
    }
    Ok((refused, accepted))
}

fn ask(wrapper: &Wrapper, stored: &Program, single: &Program, elem: Elem) -> (usize, Vec<String>) {
    let points: Vec<Point> = wrapper.few_points().into_iter().map(|point| all_converted(point, elem)).collect();
    let singles = points.iter().map(|point| all_converted(point, Elem::F32)).collect();
    compare(
        &Side { program: stored, name: &wrapper.name, points },
        &Side { program: single, name: &wrapper.name, points: singles },
        |stored, single| storage::agree(stored, single, elem),
    )
}
