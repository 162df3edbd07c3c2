//! The variants in which a function can be compiled. No result depends on them, but for the last digits of floats where
//! lanes add up or products of derivatives are plain.

use crate::tier;
use cotan_llvm::jit::OptLevel;
use cotan_llvm::{CompileOptions, TaskSizes, Width};

/// How a function is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// How hard loops and LLVM are worked on.
    pub level: OptLevel,
    /// Whether products of derivatives are exact from the start. The library begins with plain ones, and runs the exact
    /// version where a result is NaN.
    pub is_exact: bool,
    /// The most lanes of a loop, if not as many as pay.
    pub width: Option<u32>,
    /// Whether LLVM is to be done soon.
    pub is_quick: bool,
    /// Whether wavefronts are cut into the smallest pieces.
    pub has_smallest_tasks: bool,
}

impl Variant {
    /// As the library compiles.
    pub const SHIPPED: Variant =
        Variant { level: OptLevel::O2, is_exact: false, width: None, is_quick: false, has_smallest_tasks: false };

    /// Nothing is optimised.
    pub const PLAIN: Variant = Variant { level: OptLevel::O0, is_exact: true, ..Variant::SHIPPED };

    /// The same loops, which LLVM is done with in a quarter of the time.
    pub const QUICK: Variant = Variant { is_quick: true, ..Variant::SHIPPED };

    /// Every variant. LLVM optimises where code is as shipped and where lanes are as on a smaller machine; elsewhere it is
    /// our own passes that differ, and LLVM's time is most of that of all tests.
    pub const ALL: [Variant; 7] = [
        Variant::PLAIN,
        Variant::SHIPPED,
        Variant { is_exact: true, ..Variant::QUICK },
        Variant { width: Some(1), ..Variant::QUICK },
        Variant { width: Some(4), ..Variant::SHIPPED },
        Variant::QUICK,
        Variant { has_smallest_tasks: true, ..Variant::QUICK },
    ];

    /// The variants of optimised code whose bits are those of the code that the library makes.
    pub const OF_SAME_BITS: [Variant; 4] = [Variant::ALL[3], Variant::ALL[4], Variant::ALL[5], Variant::ALL[6]];

    /// So many variants, those of a name; all of them in the campaign.
    pub fn of(name: &str, n: usize) -> Vec<Variant> {
        tier::chosen(&Variant::ALL, n, name)
    }

    /// What the backend is told, but for the products of derivatives.
    pub fn options(self) -> CompileOptions {
        let smallest = || TaskSizes::SMALLEST;
        CompileOptions {
            level: self.level,
            is_quick: self.is_quick,
            width: self.width.and_then(Width::new),
            tasks: self.has_smallest_tasks.then(smallest),
            ..CompileOptions::default()
        }
    }
}
