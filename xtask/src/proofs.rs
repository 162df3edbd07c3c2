//! The machine-checked proofs: built, audited, and their executable made.
//!
//! Sources are copied to `target/proofs`, where all that the build makes stays. A file is compiled again when it or a file
//! that it needs has changed; two are compiled at a time, each under a time limit.

use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What Debian calls the packages.
const PACKAGES: &str = "coq libcoq-coquelicot ocaml-nox ocaml-findlib libzarith-ocaml-dev";

/// A call of the prover may take so long.
const LIMIT: Duration = Duration::from_secs(300);

/// How many calls of the prover run at once.
const AT_ONCE: usize = 2;

/// Words that leave a proof open, or assume what is to be proved.
const FORBIDDEN: &[&str] = &[
    "Admitted",
    "admit",
    "give_up",
    "Axiom",
    "Axioms",
    "Parameter",
    "Parameters",
    "Conjecture",
    "Abort",
    "bypass_check",
];

/// What is missing for the proofs, if anything.
pub(crate) fn missing() -> Option<String> {
    let output = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(library) = output("coqc", &["-where"]) else { return Some(says("coqc")) };
    if !Path::new(&library).join("user-contrib/Coquelicot").is_dir() {
        return Some(says("Coquelicot"));
    }
    match output("ocamlfind", &["query", "zarith"]) {
        Some(_) => None,
        None => Some(says("ocamlfind with zarith")),
    }
}

fn says(what: &str) -> String {
    format!("{what} is missing; Debian's packages are {PACKAGES}")
}

/// Builds the proofs and the oracle, and audits what they assume. Says what was done to a terminal only.
#[expect(clippy::print_stderr, reason = "the progress of a command line tool")]
pub(crate) fn build(root: &Path) -> Result<()> {
    if let Some(missing) = missing() {
        bail!("{missing}");
    }
    let start = Instant::now();
    let out = root.join("target/proofs");
    fs::create_dir_all(&out).with_context(|| format!("creating {}", out.display()))?;
    let theories = theories(root, &out)?;
    compile(&out, &theories)?;
    let n_audited = audit(root, &out)?;
    oracle(root, &out)?;
    if std::io::stderr().is_terminal() {
        let seconds = start.elapsed().as_secs_f64();
        eprintln!("proofs: {} theories, {n_audited} theorems audited, oracle built, in {seconds:.0} s", theories.len());
    }
    Ok(())
}

/// Tries to prove broken rules; those that are proved have to be the listed ones, which are right all the same.
#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
pub(crate) fn mutants(root: &Path) -> Result<()> {
    build(root)?;
    let out = root.join("target/proofs");
    let script = rules(root, &["mutants", "10"])?;
    let n_mutants = script.matches("\nGoal ").count();
    copy(&script, &out.join("Mutants.v"))?;
    let found = coqc(&out, "Mutants", Duration::from_secs(1200))?;
    let proved: String =
        found.lines().filter(|line| line.starts_with("PROVED")).map(|line| format!("{line}\n")).collect();
    let n_proved = proved.lines().count();
    same(&root.join("proofs/mutants.expected"), &proved, "the broken rules that are right all the same")?;
    println!(
        "mutants: {n_mutants}, {} refused, {n_proved} proved: all listed in proofs/mutants.expected, with reasons",
        n_mutants - n_proved
    );
    Ok(())
}

/// Writes the rules of the op table for the proofs.
pub(crate) fn export_rules(root: &Path) -> Result<()> {
    let path = root.join("proofs/generated/Rules_gen.v");
    fs::write(&path, rules(root, &[])?).with_context(|| format!("writing {}", path.display()))
}

/// What the binary `rules` prints.
fn rules(root: &Path, args: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "-q", "-p", "cotan-testkit", "--bin", "rules", "--"])
        .args(args)
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("running cargo")?;
    if !output.status.success() {
        bail!("the rules can't be printed");
    }
    String::from_utf8(output.stdout).context("the rules are text")
}

/// The theories, each with those that it needs; their sources are copied if they have changed.
fn theories(root: &Path, out: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut theories = BTreeMap::new();
    for folder in ["theories", "generated"] {
        let folder = root.join("proofs").join(folder);
        for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let path = entry?.path();
            let (Some(name), Some("v")) = (path.file_stem(), path.extension().and_then(|e| e.to_str())) else {
                continue;
            };
            let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            let is_word = |word: &&str| FORBIDDEN.contains(word);
            if let Some(word) = without_comments(&text).split(|c: char| !c.is_alphanumeric() && c != '_').find(is_word)
            {
                bail!("{}: `{word}` leaves something unproved", path.display());
            }
            copy(&text, &out.join(path.file_name().unwrap_or_default()))?;
            theories.insert(name.to_string_lossy().into_owned(), needs(&text));
        }
    }
    Ok(theories)
}

fn without_comments(text: &str) -> String {
    let (mut depth, mut kept) = (0usize, String::new());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("(*") {
            depth += 1;
            rest = &rest[2..];
        } else if rest.starts_with("*)") {
            depth = depth.saturating_sub(1);
            rest = &rest[2..];
        } else {
            if depth == 0 {
                kept.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    kept
}

/// The theories of ours that a theory requires.
fn needs(text: &str) -> BTreeSet<String> {
    let text = without_comments(text);
    let lists = text.split("From Cotan Require").skip(1).filter_map(|after| after.split('.').next());
    let words = lists.flat_map(str::split_whitespace).filter(|word| !["Import", "Export"].contains(word));
    words.map(str::to_owned).collect()
}

/// Writes a file unless it says that already, so that its time tells when it changed.
fn copy(text: &str, to: &Path) -> Result<()> {
    if fs::read_to_string(to).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(to, text).with_context(|| format!("writing {}", to.display()))
}

/// Compiles what is not up to date, each theory after those that it needs.
fn compile(out: &Path, theories: &BTreeMap<String, BTreeSet<String>>) -> Result<()> {
    let (mut done, mut left): (BTreeSet<String>, BTreeSet<&String>) = (BTreeSet::new(), theories.keys().collect());
    while !left.is_empty() {
        let ready: Vec<&String> =
            left.iter().copied().filter(|name| theories[*name].iter().all(|need| done.contains(need))).collect();
        if ready.is_empty() {
            bail!("theories need each other, or one that is not there: {left:?}");
        }
        let stale: Vec<&String> = ready.iter().copied().filter(|name| is_stale(out, name, &theories[*name])).collect();
        let (queue, failure) = (Mutex::new(stale), Mutex::new(None));
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some(name) = queue.lock().ok().and_then(|mut queue| queue.pop()) {
                        if let (Err(e), Ok(mut failure)) = (coqc(out, name, LIMIT), failure.lock()) {
                            *failure = Some(e);
                        }
                    }
                });
            }
        });
        if let Some(e) = failure.into_inner().ok().flatten() {
            return Err(e);
        }
        left.retain(|name| !ready.contains(name));
        done.extend(ready.into_iter().cloned());
    }
    Ok(())
}

fn is_stale(out: &Path, name: &str, needs: &BTreeSet<String>) -> bool {
    let time =
        |name: &str, ending: &str| fs::metadata(out.join(format!("{name}.{ending}"))).and_then(|m| m.modified()).ok();
    let Some(made) = time(name, "vo") else { return true };
    let is_newer = |other: Option<_>| other.is_none_or(|time| time > made);
    is_newer(time(name, "v")) || needs.iter().any(|need| is_newer(time(need, "vo")))
}

/// Compiles one file; gives what it prints.
fn coqc(out: &Path, name: &str, limit: Duration) -> Result<String> {
    let file = |ending: &str| out.join(format!("{name}.{ending}"));
    let create = |path: PathBuf| File::create(&path).with_context(|| format!("creating {}", path.display()));
    let mut child = Command::new("coqc")
        .args(["-q", "-w", "-ambiguous-paths,-extraction-reserved-identifier", "-Q", ".", "Cotan"])
        .arg(format!("{name}.v"))
        .current_dir(out)
        .stdout(create(file("out"))?)
        .stderr(create(file("err"))?)
        .spawn()
        .context("running coqc")?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("{name}.v takes more than {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if !status.success() {
        bail!("{name}.v: {}", fs::read_to_string(file("err")).unwrap_or_default().trim());
    }
    fs::read_to_string(file("out")).with_context(|| format!("reading {}", file("out").display()))
}

/// Holds what the headline theorems assume against the list on file; gives their number.
fn audit(root: &Path, out: &Path) -> Result<usize> {
    let text = fs::read_to_string(root.join("proofs/audit.v")).context("reading proofs/audit.v")?;
    copy(&text, &out.join("audit.v"))?;
    let printed = coqc(out, "audit", LIMIT)?;
    let names = text.lines().filter_map(|line| line.strip_prefix("Print Assumptions ")?.strip_suffix('.'));
    let (names, assumed): (Vec<&str>, _) = (names.collect(), assumptions(&printed));
    if names.len() != assumed.len() {
        bail!("the audit names {} theorems and Coq answers for {}", names.len(), assumed.len());
    }
    let found: String = names.iter().zip(assumed).map(|(name, assumed)| format!("{name}: {assumed}\n")).collect();
    same(&root.join("proofs/axioms.expected"), &found, "what the theorems assume")?;
    Ok(names.len())
}

/// What each theorem assumes: the names of axioms, or `nothing`.
fn assumptions(printed: &str) -> Vec<String> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    for line in printed.lines() {
        if line == "Axioms:" || line.starts_with("Closed under") {
            all.push(Vec::new());
        } else if let (false, Some(last)) = (line.starts_with(' '), all.last_mut()) {
            last.push(line.split(" :").next().unwrap_or(line));
        }
    }
    all.iter().map(|axioms| if axioms.is_empty() { "nothing".to_owned() } else { axioms.join(", ") }).collect()
}

/// Compares with a file, or rewrites it if `COTAN_BLESS` is set. Lines of the file that begin with `#` are comments.
fn same(path: &Path, found: &str, what: &str) -> Result<()> {
    let on_file = fs::read_to_string(path).unwrap_or_default();
    let (comments, expected): (Vec<&str>, Vec<&str>) = on_file.lines().partition(|line| line.starts_with('#'));
    if expected.iter().copied().eq(found.lines()) {
        return Ok(());
    }
    if std::env::var_os("COTAN_BLESS").is_none() {
        bail!("{what} differ from {}; found:\n{found}", path.display());
    }
    let comments: String = comments.iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, comments + found).with_context(|| format!("writing {}", path.display()))
}

/// Takes the model out of the theories and compiles it, if anything has changed.
fn oracle(root: &Path, out: &Path) -> Result<()> {
    for name in ["Extract.v", "oracle.ml"] {
        let path = root.join("proofs/oracle").join(name);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        copy(&text, &out.join(name))?;
    }
    let time = |name: &str| fs::metadata(out.join(name)).and_then(|m| m.modified()).ok();
    let made = time("oracle");
    let inputs = ["Extract.v", "oracle.ml", "Exec.vo", "Certificate.vo"];
    if made.is_some() && inputs.into_iter().all(|name| time(name) <= made) {
        return Ok(());
    }
    coqc(out, "Extract", LIMIT)?;
    let output = Command::new("ocamlfind")
        .args([
            "ocamlopt",
            "-w",
            "-a",
            "-package",
            "zarith",
            "-linkpkg",
            "model.mli",
            "model.ml",
            "oracle.ml",
            "-o",
            "oracle",
        ])
        .current_dir(out)
        .output()
        .context("running ocamlfind")?;
    if !output.status.success() {
        bail!("the oracle does not compile: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All theories as one text.
    fn sources(root: &Path) -> String {
        let files = ["theories", "generated"].map(|folder| fs::read_dir(root.join("proofs").join(folder)).unwrap());
        let paths = files.into_iter().flatten().map(|entry| entry.unwrap().path());
        paths.map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    #[test]
    fn what_is_audited_is_stated_and_expected() {
        let root = crate::root();
        let text = fs::read_to_string(root.join("proofs/audit.v")).unwrap();
        let names: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("Print Assumptions ")?.strip_suffix('.')).collect();
        let expected = fs::read_to_string(root.join("proofs/axioms.expected")).unwrap();
        assert_eq!(expected.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect::<Vec<_>>(), names);
        let sources = without_comments(&sources(&root));
        for name in names {
            let is_stated = ["Theorem", "Corollary", "Lemma"].iter().any(|kind| {
                let stated = format!("{kind} {name}");
                sources
                    .match_indices(&stated)
                    .any(|(at, _)| !sources[at + stated.len()..].starts_with(char::is_alphanumeric))
            });
            assert!(is_stated, "{name} is stated nowhere");
        }
    }

    #[test]
    fn comments_nest_and_are_left_out() {
        assert_eq!(without_comments("a (* Admitted (* twice *) *) b"), "a  b");
        assert_eq!(
            needs("From Cotan Require Import A\n  B. (* From Cotan Require Import C. *)"),
            ["A", "B"].map(str::to_owned).into()
        );
    }

    #[test]
    fn assumptions_belong_to_their_theorems() {
        let printed = "Axioms:\nclassic : forall P : Prop, P \\/ ~ P\nlong\n  : nat\nClosed under the global context\n";
        assert_eq!(assumptions(printed), ["classic, long", "nothing"]);
    }
}
