//! The core intermediate representation: types, statements, builder, printer, parser, verifier.
