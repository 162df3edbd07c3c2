//! Mutation of rules: broken rules, which the proofs have to refuse.

use super::Obligation;
use super::tree::Tree;
use super::unfold::number;

impl Obligation {
    /// The rule, broken in one place each time: a sign, a term or a factor of a partial, a condition of the domain. Each
    /// comes with what was done to it. Some are right all the same.
    pub fn mutants(&self) -> Vec<(String, Obligation)> {
        let mut mutants = Vec::new();
        for (k, partial) in self.partials.iter().enumerate() {
            let mut add = |what: String, partial: Tree| {
                let mut mutant = self.clone();
                mutant.partials[k] = partial;
                mutants.push((format!("partial {k}: {what}"), mutant));
            };
            let zero = number(0.0);
            if *partial == zero {
                add("1 instead of 0".to_owned(), number(1.0));
            } else {
                add("other sign".to_owned(), Tree::node("Neg", [partial.clone()]));
                add("0".to_owned(), zero);
            }
            for (what, mutant) in dropped(partial) {
                add(what, mutant);
            }
        }
        for (k, condition) in self.domain.iter().enumerate() {
            let mut mutant = self.clone();
            mutant.domain.remove(k);
            mutants.push((format!("without the condition {condition}"), mutant));
        }
        mutants
    }
}

/// The term with one operand of one sum, difference, product or quotient in it gone.
fn dropped(tree: &Tree) -> Vec<(String, Tree)> {
    let mut mutants = Vec::new();
    if let ("Add" | "Sub" | "Mul" | "Div", [a, b]) = (tree.head.as_str(), tree.operands.as_slice()) {
        mutants.push((format!("without {b}"), a.clone()));
        mutants.push((format!("without {a}"), b.clone()));
    }
    if tree.head == "Neg" {
        mutants.push(("without a sign".to_owned(), tree.operands[0].clone()));
    }
    if tree.head == "Named" {
        return mutants;
    }
    for (k, operand) in tree.operands.iter().enumerate() {
        for (what, inner) in dropped(operand) {
            let mut mutant = tree.clone();
            mutant.operands[k] = inner;
            mutants.push((what, mutant));
        }
    }
    mutants
}
