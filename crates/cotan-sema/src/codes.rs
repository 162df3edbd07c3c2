//! The codes of this crate, with the pages that explain them: `E02` names, `E03` types, `E04`
//! shapes, `E05` derivatives, `E06` control flow and limits, `W` warnings, `N` notes.
//!
//! A row is the name of the code in this crate, the code, its title, an explanation that ends
//! with the mended example, and the failing example.

mod constants;
mod derivatives;
mod enums;
mod flow;
mod kernels;
mod modules;
mod names;
mod shapes;
mod traits;
mod types;

use cotan_syntax::CodeInfo;

pub use constants::*;
pub use derivatives::*;
pub use enums::*;
pub use flow::*;
pub use kernels::*;
pub use modules::*;
pub use names::*;
pub use shapes::*;
pub use traits::*;
pub use types::*;

/// Declares the constants of a table of codes and the table itself.
macro_rules! codes {
    ($(#[$meta:meta])* $table:ident: $($name:ident = $code:literal, $title:literal, $explanation:literal, $example:literal;)*) => {
        $(
            #[doc = $title]
            pub const $name: cotan_syntax::Code = cotan_syntax::Code($code);
        )*

        $(#[$meta])*
        pub static $table: &[cotan_syntax::CodeInfo] = &[
            $(cotan_syntax::CodeInfo {
                code: $name,
                title: $title,
                explanation: $explanation,
                failing_example: $example,
            },)*
        ];
    };
}
use codes;

/// The pages of all codes of this crate.
pub fn all() -> impl Iterator<Item = &'static CodeInfo> {
    [NAMES, MODULES, CONSTANTS, TYPES, ENUMS, TRAITS, SHAPES, DERIVATIVES, FLOW, KERNELS].into_iter().flatten()
}
