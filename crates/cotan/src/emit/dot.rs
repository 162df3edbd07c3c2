//! The core IR as a graph for Graphviz: a node for each statement, a box for each region, an edge for each use.

use cotan_ir::{Atom, Block, Function, Module, Op, Stmt, Var};
use std::collections::HashMap;
use std::fmt::Write;

/// The graph of a module.
pub(super) fn module(module: &Module) -> String {
    let mut graph = Graph { out: String::from("digraph cotan {\n  node [shape=box];\n"), ..Graph::default() };
    for function in module.functions() {
        graph.function(function);
    }
    graph.out + "}\n"
}

#[derive(Default)]
struct Graph {
    out: String,
    n_nodes: usize,
    n_clusters: usize,
    /// The node that binds a variable of the function at hand.
    binders: HashMap<Var, usize>,
}

impl Graph {
    fn function(&mut self, f: &Function) {
        self.binders.clear();
        self.open(&format!("fn {}", f.name));
        for param in &f.params {
            let node = self.node(f.name_of(*param));
            self.binders.insert(*param, node);
        }
        self.block(f, &f.body);
        let result = self.node("return");
        self.uses(&f.body.results, result);
        self.out.push_str("}\n");
    }

    fn block(&mut self, f: &Function, block: &Block) {
        block.stmts.iter().for_each(|s| self.statement(f, s));
    }

    fn statement(&mut self, f: &Function, s: &Stmt) {
        let names: Vec<&str> = s.results.iter().map(|v| f.name_of(*v)).collect();
        let label = format!("{} = {}", names.join(", "), operation(&s.op));
        let is_region = !s.op.blocks().is_empty();
        if is_region {
            self.open(operation(&s.op));
        }
        let node = self.node(&label);
        self.uses(&s.op.operands(), node);
        self.binders.extend(s.op.binders().into_iter().map(|v| (v, node)));
        for block in s.op.blocks() {
            self.block(f, block);
        }
        if is_region {
            // What follows uses what the region gives.
            let end = self.node(&names.join(", "));
            s.op.blocks().iter().for_each(|b| self.uses(&b.results, end));
            self.binders.extend(s.results.iter().map(|v| (*v, end)));
            self.out.push_str("}\n");
        } else {
            self.binders.extend(s.results.iter().map(|v| (*v, node)));
        }
    }

    fn open(&mut self, label: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "subgraph cluster_{} {{\n  label={};", self.n_clusters, quoted(label));
        self.n_clusters += 1;
    }

    fn node(&mut self, label: &str) -> usize {
        let _ = writeln!(self.out, "  n{} [label={}];", self.n_nodes, quoted(label));
        self.n_nodes += 1;
        self.n_nodes - 1
    }

    fn uses(&mut self, operands: &[Atom], by: usize) {
        for operand in operands {
            match operand {
                Atom::Var(v) => {
                    if let Some(from) = self.binders.get(v) {
                        let _ = writeln!(self.out, "  n{from} -> n{by};");
                    }
                }
                Atom::Const(_) => {}
            }
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn operation(op: &Op) -> &str {
    match op {
        Op::Prim { prim, .. } => prim.name(),
        Op::Tensor { op, .. } => op.name(),
        Op::Index { .. } => "index",
        Op::Update { .. } => "update",
        Op::AccAdd { .. } => "acc_add",
        Op::Par(_) => "par",
        Op::Loop(l) if l.count.is_some() => "loop",
        Op::Loop(_) => "while",
        Op::Switch { .. } => "switch",
        Op::Call { callee, .. } => callee,
        Op::Check { kind, .. } => kind.code(),
    }
}
