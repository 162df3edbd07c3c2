//! Tapes as the model reads them.

use cotan_interp::tape::{Id, NodeView, Operand, Traced};
use cotan_ir::{Const, Elem};
use std::fmt::Write;

/// A tape as the model reads it: the leaves that it begins with are its inputs. `None` if a node comes of a numerical
/// routine, whose partials are numbers that the tape was given.
pub(super) fn question(traced: &Traced, seeds: &[(Id, u64)]) -> Option<String> {
    let tape = &traced.tape;
    let views: Vec<NodeView> = (0..tape.len() as Id).map(|id| tape.node(id)).collect();
    let n_inputs = views.iter().take_while(|view| matches!(view, NodeView::Leaf)).count();
    let mut text = "in".to_owned();
    for id in 0..n_inputs {
        let _ = write!(text, " {}", tape.value(id as Id));
    }
    text.push('\n');
    for (id, view) in views.iter().enumerate().skip(n_inputs) {
        match view {
            NodeView::Leaf => {
                let _ = write!(text, "leaf {}", tape.value(id as Id));
            }
            NodeView::Row { name, operands } => {
                let _ = write!(text, "use {name}");
                let ids = operands.iter().filter_map(|operand| match operand {
                    Operand::Node(id) => Some(id),
                    Operand::Plain(_) => None,
                });
                ids.for_each(|id| write!(text, " {id}").unwrap_or_default());
                text.push_str(" /");
                let others = operands.iter().filter_map(|operand| match operand {
                    Operand::Plain(c) => Some(c),
                    Operand::Node(_) => None,
                });
                others.for_each(|c| write!(text, " {}", whole(*c)).unwrap_or_default());
            }
            NodeView::Contest { parts, is_greatest } => {
                text.push_str(if *is_greatest { "max" } else { "min" });
                parts.iter().for_each(|id| write!(text, " {id}").unwrap_or_default());
            }
            NodeView::Combination { .. } => return None,
        }
        text.push('\n');
    }
    for (id, seed) in seeds {
        let _ = writeln!(text, "seed {id} {seed}");
    }
    text.push_str("end\n");
    Some(text)
}

fn whole(c: Const) -> i128 {
    if c.elem() == Elem::Bool || c.elem().is_unsigned() { c.bits().into() } else { (c.bits() as i64).into() }
}
