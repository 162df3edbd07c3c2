//! The text form of plans, for people: `cotan emit --stage plan`.

use crate::plan::{Kernel, Plan, Rounds, Shape, Step};
use cotan_loops::{Buffer, Local, NestText};
use std::fmt;

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer { plan: self, nest: NestText::new(&self.function), text: String::new() };
        printer.plan();
        out.write_str(&printer.text)
    }
}

struct Printer<'p> {
    plan: &'p Plan,
    nest: NestText<'p>,
    text: String,
}

impl<'p> Printer<'p> {
    fn plan(&mut self) {
        let plan = self.plan;
        self.line(0, &format!("plan {} {{", plan.function.name));
        for buffer in &plan.function.watched {
            self.line(1, &format!("watch {}", self.nest.buffer(*buffer)));
        }
        self.steps(&plan.steps, 1);
        let results: Vec<String> = plan.function.results.iter().map(|result| self.nest.argument(result)).collect();
        self.line(1, &format!("return {}", results.join(", ")));
        self.line(0, "}");
        for (number, kernel) in plan.kernels.iter().enumerate() {
            self.kernel(number, kernel);
        }
    }

    fn steps(&mut self, steps: &'p [Step], depth: usize) {
        steps.iter().for_each(|step| self.step(step, depth));
    }

    fn step(&mut self, step: &'p Step, depth: usize) {
        match step {
            Step::Node(node) => self.text += &self.nest.nodes(std::slice::from_ref(node), depth),
            Step::Launch(id) => self.line(depth, &format!("launch kernel {}", id.index())),
            Step::ReadBack(local) => self.line(depth, &format!("read back {}", self.local(*local))),
            Step::ReadName(buffer) => self.line(depth, &format!("read back {}", self.nest.buffer(*buffer))),
            Step::Scope(body) => self.block("scope", body, depth),
            Step::For { index, count, body } => {
                let head = format!("for {} < {}", self.local(*index), self.nest.operand(*count));
                self.block(&head, body, depth);
            }
            Step::While(go, body) => self.block(&format!("while {}", self.local(*go)), body, depth),
            Step::Rounds(Rounds { live, count, body }) => {
                let head = format!("rounds ahead while {}, counted by {}", self.local(*live), self.local(*count));
                self.block(&head, body, depth);
            }
            Step::If(cond, yes, no) => {
                self.block(&format!("if {}", self.nest.operand(*cond)), yes, depth);
                if !no.is_empty() {
                    self.block("else", no, depth);
                }
            }
            Step::Switch(number, arms) => {
                self.line(depth, &format!("switch {} {{", self.nest.operand(*number)));
                arms.iter().for_each(|arm| self.block("arm", arm, depth + 1));
                self.line(depth, "}");
            }
        }
    }

    fn kernel(&mut self, number: usize, kernel: &'p Kernel) {
        self.line(0, &format!("kernel {number}, {} {{", shape_text(&self.nest, &kernel.shape)));
        if let Some(live) = kernel.only_if {
            self.line(1, &format!("only if {}", self.local(live)));
        }
        let locals = |list: &[Local]| list.iter().map(|local| self.local(*local)).collect::<Vec<_>>().join(", ");
        let buffers = |list: &[Buffer]| list.iter().map(|b| self.nest.buffer(*b)).collect::<Vec<_>>().join(", ");
        let lists = [
            ("given", [locals(&kernel.arguments), buffers(&kernel.buffers)]),
            ("reads", [locals(&kernel.reads), buffers(&kernel.reads_names)]),
            ("writes", [locals(&kernel.writes), buffers(&kernel.writes_names)]),
        ];
        for (what, parts) in lists {
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            if !parts.is_empty() {
                self.line(1, &format!("{what} {}", parts.join(", ")));
            }
        }
        self.text += &self.nest.nodes(&kernel.body, 1);
        self.line(0, "}");
    }

    // ---- lines

    fn block(&mut self, head: &str, body: &'p [Step], depth: usize) {
        self.line(depth, &format!("{head} {{"));
        self.steps(body, depth + 1);
        self.line(depth, "}");
    }

    fn local(&self, local: Local) -> String {
        self.nest.operand(local.into())
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.text += &"  ".repeat(depth);
        self.text += text;
        self.text.push('\n');
    }
}

/// How the threads of a kernel come about.
pub(crate) fn shape_text(nest: &NestText<'_>, shape: &Shape) -> String {
    let indices = shape.indices().into_iter();
    let indices: Vec<String> =
        indices.map(|(index, count)| format!("{} < {}", nest.operand(index.into()), nest.operand(count))).collect();
    let indices = indices.join(", ");
    match shape {
        Shape::One => "one thread".to_owned(),
        Shape::Each(_) => format!("a thread for each {indices}"),
        Shape::Reduce { sums, .. } => {
            let sums = sums.iter().map(|sum| format!("{} by {}", nest.target(sum.target), sum.monoid.name()));
            format!("a value for each {indices} into {}", sums.collect::<Vec<_>>().join(", "))
        }
        Shape::InOrder { .. } => format!("in order for {indices}"),
    }
}
