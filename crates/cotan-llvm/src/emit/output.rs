//! Output: a call of the host with a text and a value in memory.

use super::function::FunctionEmitter;
use super::writer::FunctionWriter;
use cotan_ir::Elem;
use cotan_loops::{Place, Tensor};
use std::fmt::Write as _;

impl FunctionEmitter<'_> {
    /// Writes a text and a value to the output of the call.
    pub(super) fn print(&mut self, text: &[u8], value: Option<&Tensor>, extents: Option<Place>) {
        let global = self.out.text(text);
        let (elem, data, rank) = match value {
            Some(value) => (elem_number(value.elem), self.address(value.place), value.dims.len() as i64),
            None => (0, "null".to_owned(), -1),
        };
        let extents = extents.map_or("null".to_owned(), |place| self.address(place));
        self.out.module.declare("declare void @cotan_print(ptr, ptr, i64, i32, ptr, i64, ptr)");
        self.out.line(&format!(
            "call void @cotan_print(ptr %ctx, ptr {global}, i64 {}, i32 {elem}, ptr {data}, i64 {rank}, ptr {extents})",
            text.len()
        ));
    }
}

impl FunctionWriter<'_> {
    /// A constant with these bytes; equal texts share one.
    pub(super) fn text(&mut self, text: &[u8]) -> String {
        if text.is_empty() {
            return "null".to_owned();
        }
        let (mut name, mut bytes) = ("text".to_owned(), String::new());
        for byte in text {
            // Writing to a string does not fail.
            let _ = write!(name, ".{byte:02x}");
            let _ = write!(bytes, "\\{byte:02x}");
        }
        let declaration = format!("@\"{name}\" = private unnamed_addr constant [{} x i8] c\"{bytes}\"", text.len());
        self.module.declare(&declaration);
        format!("@\"{name}\"")
    }
}

/// How the host tells element types apart: by their place among all of them.
pub(super) fn elem_number(elem: Elem) -> usize {
    Elem::ALL.iter().position(|other| *other == elem).unwrap_or(0)
}
