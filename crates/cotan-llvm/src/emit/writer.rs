//! The text of one LLVM function while it is written: lines, names, labels, slots of the frame. Must not know loop nests.

use super::{FunctionText, ModuleEmitter};
use cotan_runtime::abi::layout;

/// The memory of the frame for calls of functions of the module.
pub(super) const CALL: &str = "%call";

/// Writes the text of one LLVM function.
pub(super) struct FunctionWriter<'a> {
    pub(super) module: &'a mut ModuleEmitter,
    /// The slots of the frame.
    pub(super) slots: String,
    code: String,
    /// Blocks that end the call, apart from the code that runs.
    pub(super) exits: String,
    /// The block that is being written.
    label: String,
    n_temporaries: usize,
    n_labels: usize,
    /// Whether it looks for reasons to stop.
    pub(super) polls: bool,
}

impl<'a> FunctionWriter<'a> {
    pub(super) fn new(module: &'a mut ModuleEmitter) -> Self {
        Self {
            module,
            slots: String::new(),
            code: String::new(),
            exits: String::new(),
            label: "start".to_owned(),
            n_temporaries: 0,
            n_labels: 0,
            polls: false,
        }
    }

    /// The text of the function.
    pub(super) fn finish(self, head: &str, n_cells: usize, call_bytes: usize) -> FunctionText {
        let FunctionWriter { module, mut slots, code, exits, polls, .. } = self;
        if call_bytes > 0 {
            slots += &format!("  {CALL} = alloca [{call_bytes} x i8], align 16\n");
        }
        if n_cells > 0 {
            slots += &format!("  %cells = alloca [{n_cells} x i64], align 16\n");
        }
        let Stop { entry, exit } = if polls { Stop::of(module) } else { Stop::default() };
        let definition = format!(
            "define {head} nounwind \"probe-stack\"=\"inline-asm\" {{\nentry:\n{slots}{entry}  br label %start\nstart:\n{code}{exits}{exit}failed:\n  \
             ret i32 1\n}}\n"
        );
        FunctionText { declaration: format!("declare {head} nounwind"), definition }
    }

    /// Ends the function in success.
    pub(super) fn succeed(&mut self) {
        self.line("ret i32 0");
    }

    pub(super) fn line(&mut self, text: &str) {
        self.code += "  ";
        self.code += text;
        self.code.push('\n');
    }

    /// Writes blocks that stand behind the others, out of the way of what usually runs.
    pub(super) fn behind<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::take(&mut self.code);
        let result = write(self);
        let blocks = std::mem::replace(&mut self.code, before);
        self.exits += &blocks;
        result
    }

    /// A new slot of the frame.
    pub(super) fn slot(&mut self, name: &str, ty: &str) {
        self.slots += &format!("  {name} = alloca {ty}, align 16\n");
    }

    pub(super) fn temporary(&mut self) -> String {
        self.n_temporaries += 1;
        format!("%t{}", self.n_temporaries)
    }

    /// A temporary with this value.
    pub(super) fn define(&mut self, value: &str) -> String {
        let name = self.temporary();
        self.line(&format!("{name} = {value}"));
        name
    }

    pub(super) fn new_label(&mut self) -> String {
        self.n_labels += 1;
        format!("L{}", self.n_labels)
    }

    pub(super) fn begin(&mut self, label: &str) {
        self.code += &format!("{label}:\n");
        label.clone_into(&mut self.label);
    }

    pub(super) fn jump(&mut self, label: &str) {
        self.line(&format!("br label %{label}"));
    }

    pub(super) fn branch(&mut self, cond: &str, yes: &str, no: &str) {
        self.line(&format!("br i1 {cond}, label %{yes}, label %{no}"));
    }

    pub(super) fn current_label(&self) -> String {
        self.label.clone()
    }

    /// Ends the call unless a status is [`OK`](cotan_runtime::abi::OK).
    pub(super) fn check_status(&mut self, status: &str) {
        let failed = self.define(&format!("icmp ne i32 {status}, 0"));
        let next = self.new_label();
        self.branch(&failed, "failed", &next);
        self.begin(&next);
    }
}

/// What an LLVM function with polls begins and ends with.
#[derive(Default)]
struct Stop {
    /// Instructions at its entry.
    entry: String,
    /// The block that ends the call.
    exit: String,
}

impl Stop {
    fn of(module: &mut ModuleEmitter) -> Stop {
        module.declare("declare i32 @cotan_poll(ptr, i64)");
        let entry = format!(
            "  %watch.at = getelementptr inbounds i8, ptr %ctx, i64 {}\n  %watch = load ptr, ptr %watch.at\n  \
             %watched = icmp ne ptr %watch, null\n  %budget = getelementptr i8, ptr %watch, i64 {}\n",
            layout::CTX_WATCH,
            layout::WATCH_STEPS_LEFT
        );
        // So many steps are never left: the host says why the call stops.
        let status = format!("call i32 @cotan_poll(ptr %ctx, i64 {})", i64::MAX);
        Stop { entry, exit: format!("stopped:\n  %stopped.status = {status}\n  br label %failed\n") }
    }
}
