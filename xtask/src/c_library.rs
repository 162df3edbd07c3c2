//! The C library as programs link it: the header, the shared and the static library, and what pkg-config reads.

use crate::cargo;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// What the crate's files are called, and the names that they get.
const LIBRARIES: [(&str, &str); 2] = [("libcotan_c.so", "libcotan.so"), ("libcotan_c.a", "libcotan.a")];

/// Libraries of the system that the static one needs.
const NEEDS: &str = "-ldl -lpthread -lm";

/// Builds it and puts it into a folder.
pub(crate) fn write(root: &Path, args: &[String]) -> Result<()> {
    let [folder] = args else { bail!("`c-library` takes a folder: `cargo xtask c-library FOLDER`") };
    let folder = Path::new(folder);
    let (include, lib) = (folder.join("include"), folder.join("lib"));
    let pkgconfig = lib.join("pkgconfig");
    for kind in ["cdylib", "staticlib"] {
        let library = ["rustc", "--release", "-q", "-p", "cotan-capi", "--lib", "--crate-type", kind];
        cargo(&[&library[..], &["--", "-C", "strip=debuginfo"]].concat(), &[])?;
    }
    for path in [&include, &pkgconfig] {
        fs::create_dir_all(path).with_context(|| format!("making {}", path.display()))?;
    }
    copy(&root.join("crates/cotan-capi/include/cotan.h"), &include.join("cotan.h"))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    for (from, to) in LIBRARIES {
        copy(&target.join("release").join(from), &lib.join(to))?;
    }
    let place = fs::canonicalize(folder).with_context(|| folder.display().to_string())?;
    let text = format!(
        "prefix={}\nName: cotan\nDescription: Programs and their derivatives, compiled at run time\nVersion: {}\n\
         Cflags: -I${{prefix}}/include\nLibs: -L${{prefix}}/lib -lcotan\nLibs.private: {NEEDS}\n",
        place.display(),
        env!("CARGO_PKG_VERSION")
    );
    let file = pkgconfig.join("cotan.pc");
    fs::write(&file, text).with_context(|| format!("writing {}", file.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).with_context(|| format!("copying {} to {}", from.display(), to.display()))
}
