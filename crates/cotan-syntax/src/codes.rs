//! The codes of this crate, `E0101` to `E0199`, with the pages that explain them.
//!
//! A row is the name of the code in this crate, the code, its title, an explanation that ends
//! with the mended example, and the failing example.

mod declarations;
mod expressions;
mod lexical;
mod statements;

use crate::diagnostic::CodeInfo;

pub use declarations::*;
pub use expressions::*;
pub use lexical::*;
pub use statements::*;

/// Declares the constants of a table of codes and the table itself.
macro_rules! codes {
    ($(#[$meta:meta])* $table:ident: $($name:ident = $code:literal, $title:literal, $explanation:literal, $example:literal;)*) => {
        $(
            #[doc = $title]
            pub const $name: crate::diagnostic::Code = crate::diagnostic::Code($code);
        )*

        $(#[$meta])*
        pub static $table: &[crate::diagnostic::CodeInfo] = &[
            $(crate::diagnostic::CodeInfo {
                code: $name,
                title: $title,
                explanation: $explanation,
                failing_example: $example,
            },)*
        ];
    };
}
use codes;

/// The pages of all codes of this crate, in the order of the codes.
pub fn all() -> impl Iterator<Item = &'static CodeInfo> {
    [LEXICAL, EXPRESSIONS, STATEMENTS, DECLARATIONS].into_iter().flatten()
}
