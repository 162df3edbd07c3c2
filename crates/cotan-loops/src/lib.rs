//! Loop nests: the core IR lowered to buffers, loops and scalar statements.
