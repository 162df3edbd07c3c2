//! Random and damaged input: whatever it is, nothing panics.

use crate::case::{Case, options};
use crate::files::{files, tests_folder, workspace_file};
use crate::generate::{ir, source};
use crate::oracles::{Verdict, compiled};
use crate::parallel::guarded;
use crate::random::Rng;
use cotan::{Program, Request};
use cotan_ir::{PrintOptions, parse_module, print_module, verify_module};
use std::fs;

/// What is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The decoder and parser: bytes.
    Parser,
    /// The checker, lowering and differentiation: damaged programs.
    Checker,
    /// The parser and verifier of the core IR: damaged IR text.
    Ir,
    /// Compiled code against the interpreter: whole programs.
    Differential,
}

impl Target {
    /// Every target.
    pub const ALL: [Target; 4] = [Target::Parser, Target::Checker, Target::Ir, Target::Differential];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Parser => "parser",
            Target::Checker => "checker",
            Target::Ir => "ir",
            Target::Differential => "differential",
        }
    }

    /// The target of that name.
    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|t| t.name() == name)
    }
}

/// An input that broke something.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The input.
    pub input: Vec<u8>,
    /// What happened.
    pub message: String,
}

/// The texts that inputs are made of.
#[derive(Clone, Debug)]
pub struct Corpus {
    programs: Vec<String>,
    ir: Vec<String>,
}

impl Corpus {
    /// The programs and IR files of the repository.
    pub fn load() -> Corpus {
        let read = |folder: std::path::PathBuf, ending: &str| {
            files(&folder, ending).iter().filter_map(|path| fs::read_to_string(path).ok()).collect::<Vec<_>>()
        };
        let mut programs = read(tests_folder(), ".cot");
        programs.extend(read(workspace_file("examples"), ".cot"));
        Corpus { programs, ir: read(tests_folder().join("ir"), ".cir") }
    }
}

/// Feeds one random input; the seed names it.
pub fn feed(target: Target, corpus: &Corpus, seed: u64) -> Result<(), Failure> {
    let mut rng = Rng::new(seed);
    let input = match target {
        Target::Parser if rng.chance(0.3) => random_bytes(&mut rng),
        Target::Parser | Target::Checker => {
            let text = if rng.chance(0.5) || corpus.programs.is_empty() {
                source::generate(seed).program.text()
            } else {
                corpus.programs[rng.below(corpus.programs.len())].clone()
            };
            damaged(&mut rng, text.into_bytes())
        }
        Target::Ir => {
            let text = if rng.chance(0.3) || corpus.ir.is_empty() {
                print_module(&ir::subject(seed).module, PrintOptions::default())
            } else {
                corpus.ir[rng.below(corpus.ir.len())].clone()
            };
            damaged(&mut rng, text.into_bytes())
        }
        Target::Differential => seed.to_le_bytes().to_vec(),
    };
    guarded(|| judge(target, &input)).and_then(|r| r).map_err(|message| Failure { input, message })
}

/// Gives one input to a target: what is wrong with the outcome. For the differential target the first eight bytes are
/// the seed of a program.
pub fn judge(target: Target, input: &[u8]) -> Result<(), String> {
    match target {
        Target::Parser => parse(input),
        Target::Checker => check(input),
        Target::Ir => read_ir(input),
        Target::Differential => {
            let mut seed = [0; 8];
            seed.iter_mut().zip(input).for_each(|(s, byte)| *s = *byte);
            compare(u64::from_le_bytes(seed))
        }
    }
}

fn random_bytes(rng: &mut Rng) -> Vec<u8> {
    let n = rng.below(300);
    (0..n).map(|_| if rng.chance(0.7) { rng.range(9, 127) as u8 } else { rng.bits() as u8 }).collect()
}

/// Pieces that programs are made of, and some that they should not be.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    ":",
    "..",
    "|",
    "->",
    "=",
    "+/",
    "max/",
    ".*",
    "@",
    "fn ",
    "let ",
    "mut ",
    "for ",
    "while ",
    "if ",
    "else ",
    "return ",
    "grad[x](f)",
    "N",
    "0",
    "-1",
    "1e999",
    "9223372036854775808",
    "i64",
    "f64[N]",
    "f64[_]",
    "tabulate(N, |i| i)",
    "acc_add ",
    "yield ",
    "par ",
    "loop ",
    "switch ",
    "\"",
    "/*",
    "#",
    "\n",
    "é",
    "\u{0}",
    "_",
    "**",
    "as ",
    "x",
    "zeros(3)",
    "break",
    "struct ",
];

/// A text truncated, with pieces removed, repeated, put in or replaced.
fn damaged(rng: &mut Rng, mut text: Vec<u8>) -> Vec<u8> {
    if rng.chance(0.25) {
        text.truncate(rng.below(text.len() + 1));
    }
    for _ in 0..rng.below(5) {
        let at = rng.below(text.len() + 1);
        let end = (at + rng.below(20)).min(text.len());
        match rng.below(5) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece = rng.choice(PIECES);
                text.splice(at..at, piece.bytes());
            }
            2 => {
                let piece = rng.choice(PIECES);
                text.splice(at..end, piece.bytes());
            }
            3 => {
                let again = text[at..end].to_vec();
                text.splice(at..at, again);
            }
            _ if at < text.len() => text[at] = rng.bits() as u8,
            _ => {}
        }
    }
    text
}

fn parse(input: &[u8]) -> Result<(), String> {
    let file = cotan::syntax::FileId(0);
    if let Ok(text) = cotan::syntax::decode(file, input.to_vec()) {
        let (module, diagnostics) = cotan::syntax::parse(file, &text);
        let outside = diagnostics.iter().find(|d| d.primary.span.end as usize > text.len());
        if let Some(d) = outside {
            return Err(format!("a diagnostic lies outside of the text: {d:?}"));
        }
        drop(module);
    }
    Ok(())
}

fn check(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let program = Program::check("fuzz.cot", &text, &cotan::sema::Limits::default());
    for d in &program.diagnostics {
        cotan::syntax::render::to_text(d, &program.sources, cotan::syntax::render::Style::Plain);
    }
    if program.has_errors() {
        return Ok(());
    }
    let names: Vec<String> = program.checked.program.functions.iter().map(|f| f.name.clone()).collect();
    for name in names {
        // A refusal is an answer; only a malformed module or a panic is a failure.
        if let Ok(lowered) = crate::front::lower_plain(&program, &Request::function(&name)) {
            verify_module(&lowered.module).map_err(|all| format!("`{name}` is lowered badly: {}", all[0]))?;
        }
        let gradient = cotan::derivative(&name, cotan::DerivativeForm::Grad, &[]);
        if let Ok(lowered) = crate::front::lower_plain(&program, &gradient) {
            verify_module(&lowered.module).map_err(|all| format!("the gradient of `{name}`: {}", all[0]))?;
        }
    }
    Ok(())
}

fn read_ir(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let Ok(module) = parse_module(&text, cotan_ops::Registry::standard()) else { return Ok(()) };
    if verify_module(&module).is_err() {
        return Ok(());
    }
    let printed = print_module(&module, PrintOptions::default());
    let again = parse_module(&printed, cotan_ops::Registry::standard())
        .map_err(|e| format!("what is printed does not parse: {e}"))?;
    if print_module(&again, PrintOptions::default()) != printed {
        return Err("printing and parsing changes the module".to_owned());
    }
    for f in module.functions().filter(|f| f.params.is_empty()) {
        drop(cotan_interp::run(&module, &f.name, &[], &options()));
    }
    Ok(())
}

fn compare(seed: u64) -> Result<(), String> {
    let subject = if seed.is_multiple_of(2) { ir::subject(seed) } else { source::subject(seed)? };
    match compiled(&Case::new(subject)?) {
        Verdict::Holds | Verdict::Unusable(_) => Ok(()),
        Verdict::Fails(reason) => Err(reason),
    }
}
