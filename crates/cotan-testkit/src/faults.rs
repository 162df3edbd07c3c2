//! Faults to be seeded: the mutation score of the oracles of derivatives, and of the bisection over passes.
//!
//! All faults go into one copy of the workspace, each behind a test of an environment variable, so that one build
//! serves all of them. A fault replaces an expression that stands exactly once in its file.

mod passes;

use passes::FAULTS_OF_PASSES;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The environment variable that a seeded copy reads: the number of the fault that is on.
pub const VARIABLE: &str = "COTAN_FAULT";

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What it breaks.
    pub what: &'static str,
    /// The file, below `crates`.
    pub file: &'static str,
    /// The expression that is replaced.
    pub find: &'static str,
    /// What it is replaced by.
    pub replace: &'static str,
    /// Who is to find it.
    pub judge: Judge,
}

/// Who is to find a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// The oracles of derivatives.
    Oracles {
        /// Whether reverse mode is wrong, too, and not forward mode alone.
        is_of_reverse_mode: bool,
    },
    /// The bisection over passes, which names this one.
    Bisection(&'static str),
}

/// Every fault. Its position is its number.
pub fn all() -> impl Iterator<Item = (usize, &'static Fault)> {
    FAULTS.iter().chain(FAULTS_OF_PASSES).enumerate()
}

/// The faults of the derivative crate that its oracles find.
pub const FAULTS: &[Fault] = &[
    Fault {
        what: "a negative partial counts as positive",
        file: "cotan-ad/src/partials.rs",
        find: "b.named(name).prim(cotan_ops::NEG.prim(), &[x]).into()",
        replace: "x",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "only the first operand has a tangent",
        file: "cotan-ad/src/structured/prim.rs",
        find: "self.b.named(&name).prim(cotan_ops::ADD.prim(), &[sum, term]).into()",
        replace: "sum",
        judge: Judge::Oracles { is_of_reverse_mode: false },
    },
    Fault {
        what: "every contribution goes to the first operand",
        file: "cotan-ad/src/structured/prim.rs",
        find: "self.add(*a, contribution, scope)",
        replace: "self.add(args[0], contribution, scope)",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "an update does not zero the cotangent of what it overwrites",
        file: "cotan-ad/src/structured/index.rs",
        find: "self.add(array, rest.into(), scope)",
        replace: "self.add(array, c, scope)",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "the value that an update writes gets nothing",
        file: "cotan-ad/src/structured/index.rs",
        find: "self.add(value, read.into(), scope)",
        replace: "()",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "scalars used in a parallel loop get nothing",
        file: "cotan-ad/src/structured/par.rs",
        find: "self.add((*x).into(), (*c).into(), scope)",
        replace: "()",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "what a reverse region accumulates is lost where there was a cotangent before",
        file: "cotan-ad/src/structured/par.rs",
        find: "scope.cots.insert(*x, Cot::Value((*c).into()))",
        replace: "scope.cots.insert(*x, *scope.cots.get(x).unwrap_or(&Cot::Value((*c).into())))",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "start values of loops get nothing",
        file: "cotan-ad/src/structured/loops.rs",
        find: "self.add(l.inits[*q], c.into(), scope)",
        replace: "()",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "a loop is reversed from the last iteration but one",
        file: "cotan-ad/src/structured/loops.rs",
        find: "self.b.named(\"last\").prim(cotan_ops::SUB.prim(), &[count, Atom::i64(1)])",
        replace: "self.b.named(\"last\").prim(cotan_ops::SUB.prim(), &[count, Atom::i64(2)])",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "stacked elements all get the cotangent of the first",
        file: "cotan-ad/src/structured/loops.rs",
        find: "self.b.named(&name).index(*c, &[iteration.into()])",
        replace: "self.b.named(&name).index(*c, &[Atom::i64(0)])",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "what only one arm of a branch touches is lost",
        file: "cotan-ad/src/structured/switch.rs",
        find: "parts.iter().any(|(_, inner)| inner.cots.get(x) != scope.cots.get(x))",
        replace: "parts.iter().all(|(_, inner)| inner.cots.get(x) != scope.cots.get(x))",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "the arms of a branch start from no cotangents",
        file: "cotan-ad/src/structured/switch.rs",
        find: "outer.iter().filter_map(|x| Some((*x, *scope.cots.get(x)?))).collect()",
        replace: "rustc_hash::FxHashMap::default()",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "a product of matrices has the tangent of one factor only",
        file: "cotan-ad/src/structured/tensor.rs",
        find: "self.b.named(&name).prim(cotan_ops::ADD.prim(), &[sum, term]).into()",
        replace: "sum",
        judge: Judge::Oracles { is_of_reverse_mode: false },
    },
    Fault {
        what: "every value that ties for an extreme gets the whole cotangent",
        file: "cotan-ad/src/structured/extrema.rs",
        find: "self.b.named(\"share\").prim(cotan_ops::MULZ.prim(), &[c, weight]).into()",
        replace: "c",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "tangents of accumulated extremes are not summed",
        file: "cotan-ad/src/state/extreme.rs",
        find: "b.acc_add(*sum, at, tan)",
        replace: "()",
        judge: Judge::Oracles { is_of_reverse_mode: false },
    },
    Fault {
        what: "undoing reads the wrong part of a log of straight updates",
        file: "cotan-ad/src/records/undo_log.rs",
        find: "self.b.named(\"lo\").prim(cotan_ops::MUL.prim(), &[reverse.iteration, Atom::i64(n)])",
        replace: "self.b.named(\"lo\").prim(cotan_ops::MUL.prim(), &[reverse.iteration, Atom::i64(0)])",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "undoing puts back the last entry of a log again and again",
        file: "cotan-ad/src/records/undo_log.rs",
        find: "self.b.named(\"at\").prim(cotan_ops::SUB.prim(), &[last.into(), index.into()])",
        replace: "self.b.named(\"at\").prim(cotan_ops::SUB.prim(), &[last.into(), Atom::i64(0)])",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "a loop records the value after the iteration, not the one before it",
        file: "cotan-ad/src/records/restore.rs",
        find: "self.restore_recorded(reverse, placeholder, value, Record::Value, forward)",
        replace: "self.restore_recorded(reverse, placeholder, forward.l.body.results[q], Record::Value, forward)",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "a counter that is computed again grows too fast",
        file: "cotan-ad/src/records/restore.rs",
        find: "self.b.prim(cotan_ops::MUL.prim(), &[iteration, Atom::i64(*step)])",
        replace: "self.b.prim(cotan_ops::MUL.prim(), &[iteration, Atom::i64(*step + 1)])",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "activity does not follow carried values from one iteration to the next",
        file: "cotan-ad/src/analysis/activity.rs",
        find: "self.edge(*next, *p)",
        replace: "()",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "activity does not follow the start values of accumulators",
        file: "cotan-ad/src/analysis/activity.rs",
        find: "self.edge(init, acc.var)",
        replace: "()",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "a second contribution replaces the first and counts twice",
        file: "cotan-ad/src/cotangents.rs",
        find: "self.b.named(&name).prim(cotan_ops::ADD.prim(), &[so_far, contribution])",
        replace: "self.b.named(&name).prim(cotan_ops::ADD.prim(), &[contribution, contribution])",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "a contribution to an element replaces the earlier ones",
        file: "cotan-ad/src/cotangents.rs",
        find: "self.b.prim(cotan_ops::ADD.prim(), &[old.into(), contribution]).into()",
        replace: "contribution",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "the product that is carried through a loop is lost",
        file: "cotan-ad/src/prepare/products.rs",
        find: "vec![param.into(), element.into()]",
        replace: "vec![element.into(), element.into()]",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "of a loop differentiated forward the first result alone has a cotangent",
        file: "cotan-ad/src/structured/forward_loop.rs",
        find: "self.b.named(&name).prim(cotan_ops::ADD.prim(), &[sum, term]).into()",
        replace: "sum",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
    Fault {
        what: "all scalars that a loop depends on share one direction of tangents",
        file: "cotan-ad/src/structured/forward_loop.rs",
        find: "((*x, direction), one(x))",
        replace: "((*x, 0 * direction), one(x))",
        judge: Judge::Oracles { is_of_reverse_mode: true },
    },
];

/// Puts all faults into a copy of the workspace.
pub fn seed(workspace: &Path) -> Result<(), String> {
    let crates = workspace.join("crates");
    for (number, fault) in all() {
        let either = format!("(if crate::is_seeded({number}) {{ {} }} else {{ {} }})", fault.replace, fault.find);
        rewrite(&crates.join(fault.file), |text| {
            replaced(text, fault.find, &either).map_err(|n| format!("{}: {n} places", fault.what))
        })?;
    }
    let test = format!(
        "fn is_seeded(number: usize) -> bool {{\n    \
         static ON: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();\n    \
         *ON.get_or_init(|| std::env::var(\"{VARIABLE}\").ok()?.parse().ok()) == Some(number)\n}}\n"
    );
    let seeded: BTreeSet<&str> = all().filter_map(|(_, fault)| fault.file.split('/').next()).collect();
    let roots = seeded.into_iter().map(|name| crates.join(name).join("src/lib.rs"));
    roots
        .into_iter()
        .try_for_each(|root| rewrite(&root, |text| Ok(format!("#![allow(unused_parens)]\n{text}\n{test}"))))
}

fn rewrite(path: &Path, change: impl Fn(&str) -> Result<String, String>) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    fs::write(path, change(&text)?).map_err(|e| format!("{}: {e}", path.display()))
}

/// The text with the only occurrence of `find` replaced, or how many there are.
fn replaced(text: &str, find: &str, with: &str) -> Result<String, usize> {
    match text.matches(find).count() {
        1 => Ok(text.replacen(find, with, 1)),
        n => Err(n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::workspace_file;

    #[test]
    fn every_fault_finds_its_place_exactly_once() {
        assert!(FAULTS.len() >= 20);
        for (_, fault) in all() {
            let text = fs::read_to_string(workspace_file("crates").join(fault.file)).unwrap();
            assert_eq!(text.matches(fault.find).count(), 1, "{}: `{}`", fault.what, fault.find);
        }
    }

    #[test]
    fn only_a_single_place_is_replaced() {
        assert_eq!(replaced("a + b", "b", "(c)"), Ok("a + (c)".to_owned()));
        assert_eq!(replaced("b + b", "b", "c"), Err(2));
    }
}
