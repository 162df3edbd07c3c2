//! A tensor routine is its file and its kernel: a prepared one, the coefficients of splines.

use super::tree::{Addition, Tree};

pub(super) const ADDITION: Addition = Addition { add, is_own };

/// The operation.
const NAME: &str = "spline_coefficients";
/// Its file, and what stands in it.
const FILE: (&str, &str) =
    ("crates/cotan-ops/src/tensor/spline_coefficients.rs", include_str!("spline_coefficients.rs.in"));
/// Its kernel, and what stands in it.
const KERNEL: (&str, &str) = ("crates/cotan-kernels/src/spline.rs", include_str!("spline_kernel.rs.in"));
/// Where the kernel gets its `mod` line, and the lines before which it and its name stand.
const KERNELS: (&str, [(&str, &str); 2]) = (
    "crates/cotan-kernels/src/lib.rs",
    [("mod svd;\n", "mod spline;\n"), ("pub use triangular::", "pub use spline::spline_coefficients;\n")],
);
/// Where `new-op` registers it.
const LISTS: [&str; 3] =
    ["crates/cotan-ops/src/lib.rs", "crates/cotan-ops/src/table.rs", "crates/cotan-ops/src/tensor/mod.rs"];
/// Where the pages of operations lie.
const PAGES: &str = "docs/operations/";

fn add(tree: &Tree) -> Result<(), String> {
    tree.cargo(&["xtask", "new-op", NAME])?;
    for (file, text) in [FILE, KERNEL] {
        tree.write(file, text)?;
    }
    let (file, lines) = KERNELS;
    let mut text = tree.read(file)?;
    for (before, line) in lines {
        let at = text.find(before).ok_or_else(|| format!("{file} has no `{}`", before.trim()))?;
        text.insert_str(at, line);
    }
    tree.write(file, &text)
}

fn is_own(name: &str) -> bool {
    [FILE.0, KERNEL.0, KERNELS.0].contains(&name) || LISTS.contains(&name) || name.starts_with(PAGES)
}
