//! Numerical routines: a call of the host with the name of the operation and a description of the arrays.

use super::function::FunctionEmitter;
use super::output::elem_number;
use cotan_loops::Routine;
use cotan_runtime::abi::layout;

impl FunctionEmitter<'_> {
    /// Calls a routine, with a description of its arrays in the frame: see [`cotan_runtime::abi`].
    pub(super) fn routine(&mut self, routine: &Routine) {
        let n_arrays = routine.arrays().count();
        let ranks: usize = routine.arrays().map(|array| array.dims.len()).sum();
        let n_words = 2 + routine.attrs.len() + n_arrays * layout::ROUTINE_ARRAY_WORDS + ranks;
        let described = format!("%routine{}", self.out.temporary().trim_start_matches('%'));
        self.out.slot(&described, &format!("[{n_words} x i64]"));
        let mut word = 0;
        let mut next = |this: &mut Self, ty: &str, value: &str| {
            let field = this.out.field(&described, 8 * word);
            this.out.line(&format!("store {ty} {value}, ptr {field}"));
            word += 1;
        };
        next(self, "i64", &routine.attrs.len().to_string());
        routine.attrs.iter().for_each(|attr| next(self, "i64", &attr.to_string()));
        next(self, "i64", &n_arrays.to_string());
        for array in routine.arrays() {
            let address = self.address(array.place);
            next(self, "ptr", &address);
            next(self, "i64", &elem_number(array.elem).to_string());
            next(self, "i64", &array.dims.len().to_string());
            for extent in &array.dims {
                let extent = self.operand(*extent);
                next(self, "i64", &extent);
            }
        }
        let name = routine.op.name();
        let global = self.out.text(name.as_bytes());
        self.out.module.declare("declare i32 @cotan_routine(ptr, ptr, i64, ptr)");
        let status = self
            .out
            .define(&format!("call i32 @cotan_routine(ptr %ctx, ptr {global}, i64 {}, ptr {described})", name.len()));
        self.out.check_status(&status);
    }
}
