//! The table as proof obligations: every scalar rule in the language of `proofs/theories/Rule.v`.
//!
//! A rule is the primitive as a term over the real numbers, the domain, and one partial for each operand that is a real
//! number. All that is said there is read off the row: terms are unfolded until only functions are left that the proofs
//! know, named constants go with what they are exactly.

mod exact;
mod mutants;
mod tree;
mod unfold;

pub use exact::Exact;
pub use tree::Tree;
pub use unfold::{Denoted, Truth};

use crate::{Known, Partial, PrimRow, Proof, RealDenotation, table};
use cotan_ir::{Elem, OperandElem, ResultElem};
use std::fmt::{self, Write};
use unfold::{applied, condition, number, operands, result};

/// A scalar rule, as the proofs read it.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// The name of the row.
    pub name: &'static str,
    /// The number of operands that are real numbers.
    pub n_reals: usize,
    /// The primitive over its operands.
    pub primal: Tree,
    /// Where the partials are derivatives: all of these hold.
    pub domain: Vec<Tree>,
    /// One for each operand that is a real number.
    pub partials: Vec<Tree>,
    /// Whether there is a proof.
    pub proof: Proof,
}

impl Obligation {
    /// The rule of a row; `None` where it is no function of real numbers whose values are real numbers.
    fn of(row: &PrimRow) -> Option<Obligation> {
        let gives_reals = match row.sig.result {
            ResultElem::T => true,
            ResultElem::Is(elem) => elem.is_float(),
        };
        let takes_reals = row.sig.domain.has(Elem::F64) && row.sig.operands.contains(&OperandElem::T);
        if !gives_reals || !takes_reals || matches!(row.denotation, RealDenotation::Other) {
            return None;
        }
        let operands = operands(row);
        Some(Obligation {
            name: row.name(),
            n_reals: operands.iter().filter(|operand| is_real(operand)).count(),
            partials: row.unfolded_partials(&operands, &result()),
            domain: row.domain.iter().map(|c| condition(c, &operands)).collect(),
            primal: applied(row, operands).real(),
            proof: row.proof,
        })
    }
}

/// The rule as a term.
impl fmt::Display for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Obligation { name, n_reals, primal, domain, partials, .. } = self;
        write!(f, "Rule \"{name}\" {n_reals}\n  {primal}\n  {}\n  {}", list(domain), list(partials))
    }
}

fn is_real(operand: &Denoted) -> bool {
    matches!(operand, Denoted::Real(_))
}

impl PrimRow {
    /// The primitive over these operands; `None` if it is no function of real numbers that the proofs know.
    pub fn unfolded(&self, operands: Vec<Denoted>) -> Option<Denoted> {
        let is_known =
            !matches!((self.denotation, self.term()), (RealDenotation::Other | RealDenotation::Codegen, None));
        // Rows for all types compare and choose truth values, too; terms only connect them.
        let connects = matches!(self.denotation, RealDenotation::Known(Known::And | Known::Or | Known::Not));
        let is_truth =
            |(operand, elem): (&Denoted, &OperandElem)| *elem == OperandElem::T && matches!(operand, Denoted::Truth(_));
        let fits = connects || !operands.iter().zip(self.sig.operands).any(is_truth);
        (is_known && fits).then(|| applied(self, operands))
    }

    /// The partials with respect to the operands that are real numbers.
    pub fn unfolded_partials(&self, operands: &[Denoted], result: &Tree) -> Vec<Tree> {
        let partials = self.partials.iter().zip(operands).filter(|(_, operand)| is_real(operand));
        let partial = |(partial, _): (&Partial, &Denoted)| match partial {
            Partial::Term { term, .. } => unfold::unfolded(term, operands, result).real(),
            Partial::Convert => number(1.0),
            Partial::Zero { .. } => number(0.0),
        };
        partials.map(partial).collect()
    }
}

/// The rules of the table.
pub fn obligations() -> Vec<Obligation> {
    table().iter().filter_map(|row| Obligation::of(row)).collect()
}

/// The text of `proofs/generated/Rules_gen.v`.
pub fn proof_script() -> String {
    let mut text = header("Every scalar rule of the op table, and the proof that it is right.");
    let rules = obligations();
    for rule in &rules {
        let _ = write!(text, "\nDefinition {}_rule : rule := {rule}.\n", rule.name);
        let _ = match rule.proof {
            Proof::Proved => writeln!(text, "Lemma {0}_ok : rule_ok {0}_rule. Proof. rule_tac. Qed.", rule.name),
            Proof::Nothing => writeln!(text, "(* nothing to prove: the partials are conventions *)"),
            Proof::Unproved { reason } => writeln!(text, "(* unproved: {reason} *)"),
            Proof::Theorem(name) => writeln!(text, "(* an instance of {name} *)"),
        };
    }
    let proved: Vec<&Obligation> = rules.iter().filter(|rule| rule.proof == Proof::Proved).collect();
    let _ = write!(
        text,
        "\n(** All rules, and those that are proved. *)\nDefinition rules : list rule := {}.\n\
         Definition proved_rules : list rule := {}.\n\n\
         Theorem proved_rules_ok : Forall rule_ok proved_rules.\nProof.\n",
        list(rules.iter().map(|rule| format!("{}_rule", rule.name))),
        list(proved.iter().map(|rule| format!("{}_rule", rule.name)))
    );
    for rule in proved {
        let _ = writeln!(text, "  apply Forall_cons; [exact {}_ok|].", rule.name);
    }
    text.push_str("  apply Forall_nil.\nQed.\n");
    text
}

/// A script that tries to prove every broken rule and says which ones it proves: `PROVED`, the rule, the mutant. A proof
/// may take that many seconds.
pub fn mutant_script(seconds: u32) -> (String, usize) {
    let mut text = header("Broken rules.");
    let proved = obligations().into_iter().filter(|rule| rule.proof == Proof::Proved);
    let mutants: Vec<_> = proved.flat_map(|rule| rule.mutants()).collect();
    for (k, (what, mutant)) in mutants.iter().enumerate() {
        let _ = write!(
            text,
            "\nDefinition m{k} : rule := {mutant}.\nGoal rule_ok m{k}.\n\
             Proof. first [ assert_succeeds (timeout {seconds} (solve [ rule_tac ])); \
             idtac \"PROVED {}: {what}\" | idtac ]. Abort.\n",
            mutant.name
        );
    }
    (text, mutants.len())
}

fn header(what: &str) -> String {
    format!(
        "(** {what}\n    Written by `cargo xtask export-rules`; don't edit. *)\n\n\
         From Cotan Require Import Rule Prove.\nImport ListNotations.\nOpen Scope string_scope.\n\
         Open Scope list_scope.\n"
    )
}

fn list<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join("; "))
}
