//! Names, types and shapes of Cotan programs; lowering to the core IR.
