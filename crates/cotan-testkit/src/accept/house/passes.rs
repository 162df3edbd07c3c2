//! Passes as records: their documentation, their file tests, and the program after each of them.

use super::super::command::cotan;
use super::super::suites::tests;
use super::super::{Line, Measured, Workplace};
use crate::files::files as file_tests;
use cotan::emit::passes;
use cotan_cpu::pipeline::NEST_PASSES;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "passes of the core IR, before derivatives and of loop nests with a doc, a file in which they fire and one that they keep",
        bar: "all of them",
        measure: files,
    },
    Line {
        title: "`cotan emit --after` with the name of each pass, on a program and its gradient",
        bar: "each gives the program after it, or says that it does not run on the way",
        measure: emitted,
    },
];

fn files(place: &Workplace) -> Result<Measured, String> {
    let without: Vec<&str> = passes().filter(|pass| !pass.doc.ends_with('.')).map(|pass| pass.name).collect();
    let [of_core, before_derivatives, of_nests] = [cotan_opt::PASSES.len(), cotan_ad::PASSES.len(), NEST_PASSES.len()];
    let core = tests(place, "cotan-testkit", &["--test", "all", "ir::"], "")?;
    let nests = tests(place, "cotan-testkit", &["--test", "all", "nests::passes_make"], "")?;
    let has = |pass: &str, beginning: &str| {
        let folders = ["tests/ir", "tests/nests"].map(|folder| place.root.join(folder).join(pass));
        let all = folders.iter().flat_map(|folder| file_tests(folder, ""));
        all.filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
            .any(|name| name.starts_with(beginning))
    };
    let lacks = passes().filter(|pass| !has(pass.name, "fires") || !has(pass.name, "keeps"));
    let lacks: Vec<&str> = lacks.map(|pass| pass.name).collect();
    let text = format!(
        "{of_core}, {before_derivatives} and {of_nests} passes, without a doc: {without:?}, without both files: {lacks:?}; \
         files of IR: {core}; of nests: {nests}"
    );
    Ok(Measured::new(without.is_empty() && lacks.is_empty(), text))
}

fn emitted(place: &Workplace) -> Result<Measured, String> {
    let (mut n_texts, mut off_the_way, mut wrong) = (0, Vec::new(), Vec::new());
    for pass in passes() {
        let mut command = cotan(place);
        command.current_dir(place.root.join("examples")).args(["emit", "gmm/gmm.cot", "--fn", "gmm"]);
        command.args(["--grad", "alphas,means,icf", "--after", pass.name]);
        let out = command.output().map_err(|e| format!("running the command: {e}"))?;
        let says_why = String::from_utf8_lossy(&out.stderr).contains("does not run on the way of this program");
        match (out.status.code(), out.stdout.is_empty(), says_why) {
            (Some(0), false, _) => n_texts += 1,
            (Some(2), true, true) => off_the_way.push(pass.name),
            (code, _, _) => wrong.push(format!("{}: {code:?}", pass.name)),
        }
    }
    let text = format!("{n_texts} texts; not on the way: {}; wrong: {wrong:?}", off_the_way.join(", "));
    Ok(Measured::new(wrong.is_empty() && n_texts > 0, text))
}
