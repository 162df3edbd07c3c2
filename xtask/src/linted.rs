//! Lints and code from one compilation: in `ci`, cargo calls this program in place of rustc for the crates of the workspace, and
//! it calls clippy's driver, which is rustc with more lints. `cargo clippy` beside a build would compile everything twice.

use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What cargo calls for the crates of the workspace.
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// Whether cargo calls this program with these arguments in place of rustc.
pub(crate) fn is_call(args: &[OsString]) -> bool {
    args.first().is_some_and(|first| Path::new(first).file_stem() == Some(OsStr::new("rustc")))
}

/// Compiles with lints; comes back only if that can't be started.
pub(crate) fn call(args: &[OsString]) -> Result<()> {
    let (rustc, args) = args.split_first().context("no compiler")?;
    // Cargo asks for the version and for the target as well.
    if !args.iter().any(|arg| arg == "--crate-name") || args.iter().any(|arg| arg == "___") {
        return Err(Command::new(rustc).args(args).exec()).context("starting rustc");
    }
    let mut driver = Command::new(driver());
    let is_run_once = args.iter().any(|arg| arg == "--test") && !computes_for_long();
    driver.arg(rustc).args(args.iter().map(|arg| if is_run_once { not_optimised(arg) } else { arg }));
    Err(driver.args(["-D", "warnings"]).exec())
        .context("starting clippy-driver: `rustup component add clippy` installs it")
}

/// Whether the tests of the package that is compiled compute for longer than optimising them takes.
fn computes_for_long() -> bool {
    env::var_os("CARGO_PKG_NAME").is_some_and(|name| ["cotan-runtime", "cotan-syntax"].iter().any(|long| name == *long))
}

/// The same argument, unless it asks for optimisation. A test program has its own copy of the crate that it tests, which
/// is run once; the crates that it is linked with are optimised.
fn not_optimised(arg: &OsString) -> &OsStr {
    if arg.to_str().is_some_and(|arg| arg.starts_with("opt-level=")) { OsStr::new("opt-level=0") } else { arg }
}

/// Clippy's driver: beside the cargo that runs this, or in the path.
fn driver() -> PathBuf {
    let beside = env::var_os("CARGO").map(|cargo| PathBuf::from(cargo).with_file_name("clippy-driver"));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| "clippy-driver".into())
}

/// Whether what cargo compiles from here on is linted.
pub(crate) fn is_on() -> bool {
    env::var_os(WRAPPER).is_some_and(|wrapper| Path::new(&wrapper).file_name() == Some(OsStr::new(NAME)))
}

/// What the copy of this program is called: cargo writes the program itself anew when it builds the workspace.
const NAME: &str = "xtask-in-place-of-rustc";

/// Runs a command of this program, and all that it starts, with lints.
pub(crate) fn run(command: &str) -> Result<()> {
    let own = env::current_exe().context("the path of this program")?;
    let copy = own.with_file_name(NAME);
    let bytes = fs::read(&own).with_context(|| format!("reading {}", own.display()))?;
    if fs::read(&copy).is_ok_and(|old| old == bytes) {
        // Cargo need not ask it anew what it knows of rustc.
    } else {
        fs::copy(&own, &copy).with_context(|| format!("writing {}", copy.display()))?;
    }
    let status = Command::new(&copy).arg(command).env(WRAPPER, &copy).status();
    let status = status.with_context(|| format!("running {}", copy.display()))?;
    if !status.success() {
        bail!("`{command}` failed: {status}");
    }
    Ok(())
}
