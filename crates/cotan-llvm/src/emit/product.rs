//! Matrix products: a call through the table of the context.

use super::function::FunctionEmitter;
use cotan_ir::Elem;
use cotan_loops::Product;
use cotan_runtime::abi::layout;

impl FunctionEmitter<'_> {
    /// Calls the library for a product, with a description of it in the frame.
    pub(super) fn product(&mut self, product: &Product) {
        let described = format!("%product{}", self.out.temporary().trim_start_matches('%'));
        self.out.slot(&described, &format!("[{} x i8]", layout::PRODUCT_SIZE));
        for (view, at) in product.views().into_iter().zip(layout::PRODUCT_MATRICES) {
            let address = self.address(view.place);
            let field = self.out.field(&described, at + layout::MATRIX_DATA);
            self.out.line(&format!("store ptr {address}, ptr {field}"));
            for (k, stride) in view.strides.into_iter().enumerate() {
                let (stride, field) =
                    (self.operand(stride), self.out.field(&described, at + layout::MATRIX_STRIDES + 8 * k));
                self.out.line(&format!("store i64 {stride}, ptr {field}"));
            }
        }
        for (k, extent) in product.extents.into_iter().enumerate() {
            let (extent, field) = (self.operand(extent), self.out.field(&described, layout::PRODUCT_EXTENTS + 8 * k));
            self.out.line(&format!("store i64 {extent}, ptr {field}"));
        }
        let table = self.out.field("%ctx", layout::CTX_PRODUCTS);
        let table = self.out.define(&format!("load ptr, ptr {table}"));
        let entry = if product.elem == Elem::F32 { layout::PRODUCTS_F32 } else { layout::PRODUCTS_F64 };
        let entry = self.out.field(&table, entry);
        let entry = self.out.define(&format!("load ptr, ptr {entry}"));
        let status = self.out.define(&format!("call i32 {entry}(ptr %ctx, ptr {described})"));
        self.out.check_status(&status);
    }
}
