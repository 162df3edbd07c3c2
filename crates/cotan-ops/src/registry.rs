//! The operations that a program may use, as a value: those of the table, and a user's own.
//!
//! An operation is registered by one line, and its record has no field that may be left out: one without a derivative
//! declaration does not compile.
//!
//! ```
//! use cotan_ops::{REVERSE, Registry, TensorRow};
//!
//! // `MINE` would be a record of the user's.
//! static MINE: &TensorRow = &REVERSE;
//! let registry = Registry::standard().clone().with_tensor_op(MINE);
//! assert!(std::ptr::eq(registry.tensor_op("reverse").expect("it is there"), MINE));
//! ```

use crate::{PrimRow, TensorRow, table, tensor_table};
use cotan_ir::{OpLookup, Prim, TensorOp};
use std::sync::OnceLock;

/// Operations by name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    prims: Vec<&'static PrimRow>,
    tensor_ops: Vec<&'static TensorRow>,
}

impl Registry {
    /// The operations of the table.
    pub fn standard() -> &'static Registry {
        static STANDARD: OnceLock<Registry> = OnceLock::new();
        STANDARD.get_or_init(|| Registry { prims: table().to_vec(), tensor_ops: tensor_table().to_vec() })
    }

    /// One more scalar primitive. Of two with one name the later one counts.
    #[must_use]
    pub fn with_prim(mut self, row: &'static PrimRow) -> Registry {
        self.prims.push(row);
        self
    }

    /// One more operation on tensors. Of two with one name the later one counts.
    #[must_use]
    pub fn with_tensor_op(mut self, record: &'static TensorRow) -> Registry {
        self.tensor_ops.push(record);
        self
    }

    /// The scalar primitives, in the order of registration.
    pub fn prims(&self) -> &[&'static PrimRow] {
        &self.prims
    }

    /// The operations on tensors, in the order of registration.
    pub fn tensor_ops(&self) -> &[&'static TensorRow] {
        &self.tensor_ops
    }

    /// The scalar primitive of that name.
    pub fn prim(&self, name: &str) -> Option<&'static PrimRow> {
        self.prims.iter().rev().copied().find(|row| row.name() == name)
    }

    /// The operation on tensors of that name.
    pub fn tensor_op(&self, name: &str) -> Option<&'static TensorRow> {
        self.tensor_ops.iter().rev().copied().find(|record| record.name() == name)
    }
}

/// As the parser of the IR's text form asks.
impl OpLookup for Registry {
    fn prim(&self, name: &str) -> Option<Prim> {
        Registry::prim(self, name).map(|row| row.prim())
    }

    fn tensor_op(&self, name: &str) -> Option<TensorOp> {
        Registry::tensor_op(self, name).map(|record| record.op())
    }
}
