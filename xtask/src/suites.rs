//! The suites of tests: all are built at once, and each is run and timed by itself.

use crate::BLESS;
use anyhow::{Context, Result, bail};
use serde_json::Value as Json;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The package whose one test program has a suite in each module, as most of the time goes there.
const BY_MODULE: &str = "cotan-testkit";

/// How long a suite may take, on slow machines too. A test that hangs fails, and the other suites still run.
const LONGEST: Duration = Duration::from_secs(25 * 60);

/// How long the campaign may take in a suite.
const LONGEST_OF_CAMPAIGN: Duration = Duration::from_secs(6 * 60 * 60);

/// What of the tests is run, and what for.
#[derive(Clone, Copy)]
pub(crate) enum Tier {
    /// What runs each time.
    Gate,
    /// The same, and tests rewrite what they expect.
    Bless,
    /// The second tier: all of it.
    Campaign,
}

/// Tests that are run together.
pub(crate) struct Suite {
    /// The package.
    pub(crate) package: String,
    /// What of the package: its unit tests, a test program, or a module of it.
    pub(crate) name: String,
    executable: PathBuf,
    folder: PathBuf,
    /// What the names of its tests begin with.
    filter: Option<String>,
}

/// What cargo is called as.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Builds every test program of the workspace, and the commands that they start.
pub(crate) fn build(root: &Path) -> Result<Vec<Suite>> {
    let build = Command::new(cargo())
        .args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"])
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("building the tests")?;
    if !build.status.success() {
        bail!("the tests were not built: {}", build.status);
    }
    let mut suites = Vec::new();
    for line in String::from_utf8_lossy(&build.stdout).lines() {
        suites.extend(suites_of(line)?);
    }
    Ok(suites)
}

/// The suites in the program that a message of cargo is about, if it is one of tests.
fn suites_of(message: &str) -> Result<Vec<Suite>> {
    let Ok(message) = serde_json::from_str::<Json>(message) else { return Ok(Vec::new()) };
    let (Some(executable), true) = (message["executable"].as_str(), message["profile"]["test"] == true) else {
        return Ok(Vec::new());
    };
    let manifest = message["manifest_path"].as_str().context("cargo names no manifest")?;
    let folder = Path::new(manifest).parent().context("a manifest without a folder")?.to_owned();
    let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let target = message["target"]["name"].as_str().unwrap_or_default();
    let name = match message["target"]["kind"][0].as_str() {
        Some("test") => target.to_owned(),
        _ => "units".to_owned(),
    };
    let suite = |name: &str, filter| {
        let (package, folder) = (package.clone(), folder.clone());
        Suite { package, name: name.to_owned(), executable: executable.into(), folder, filter }
    };
    if package == BY_MODULE && name == "all" {
        let source = message["target"]["src_path"].as_str().context("cargo names no source")?;
        let text = fs::read_to_string(source).with_context(|| format!("reading {source}"))?;
        let modules = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
        return Ok(modules.map(|module| suite(module, Some(format!("{module}::")))).collect());
    }
    Ok(vec![suite(&name, None)])
}

impl Suite {
    /// Runs its tests, for no longer than the limit of the tier.
    pub(crate) fn run(&self, tier: Tier) -> Result<()> {
        let (env, limit): (&[(&str, &str)], _) = match tier {
            Tier::Gate => (&[], LONGEST),
            Tier::Bless => (&BLESS, LONGEST),
            Tier::Campaign => (&[("COTAN_CAMPAIGN", "1")], LONGEST_OF_CAMPAIGN),
        };
        let mut command = Command::new(&self.executable);
        command.args(&self.filter).current_dir(&self.folder).envs(env.iter().copied());
        command.env("CARGO_MANIFEST_DIR", &self.folder);
        let context = || format!("running {}", self.executable.display());
        let mut child = command.spawn().with_context(context)?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().with_context(context)? {
                break status;
            }
            if start.elapsed() > limit {
                child.kill().with_context(context)?;
                child.wait().with_context(context)?;
                bail!("stopped after {} s: the last line of its output names the test that hangs", limit.as_secs());
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        if !status.success() {
            bail!("tests failed: {status}");
        }
        Ok(())
    }

    /// How it is called in the list of steps.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.package, self.name)
    }
}

/// Runs the examples in the documentation of the crates.
pub(crate) fn examples(root: &Path) -> Result<()> {
    let status = Command::new(cargo()).args(["test", "--workspace", "--doc"]).current_dir(root).status();
    let status = status.context("running the examples")?;
    if !status.success() {
        bail!("examples failed: {status}");
    }
    Ok(())
}
