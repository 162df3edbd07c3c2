//! The front end and the core IR: any text.

use super::damage::{damaged, random_bytes};
use super::{Corpus, Reached, Target, kind_of};
use crate::derived_case::options;
use crate::generate::{ir, source};
use crate::random::Rng;
use cotan::{Program, Request};
use cotan_ir::{PrintOptions, parse_module, print_module, verify_module};

/// Damaged text for one of the targets of texts.
pub(super) fn input(target: Target, corpus: &Corpus, seed: u64, rng: &mut Rng) -> Vec<u8> {
    if target == Target::Ir {
        let text = if rng.chance(0.3) || corpus.ir.is_empty() {
            print_module(&ir::subject(seed).module, PrintOptions::default())
        } else {
            corpus.ir[rng.below(corpus.ir.len())].clone()
        };
        return damaged(rng, text.into_bytes());
    }
    if target == Target::Parser && rng.chance(0.3) {
        return random_bytes(rng);
    }
    let text = if rng.chance(0.5) || corpus.programs.is_empty() {
        source::generate(seed).program.text()
    } else {
        corpus.programs[rng.below(corpus.programs.len())].clone()
    };
    damaged(rng, text.into_bytes())
}

/// Decodes and parses bytes.
pub(super) fn parse(input: &[u8]) -> Result<Reached, String> {
    let file = cotan_syntax::FileId(0);
    let Ok(text) = cotan_syntax::decode(file, input.to_vec()) else {
        return Ok(Reached::from(["no text".to_owned()]));
    };
    let (module, diagnostics) = cotan_syntax::parse(file, &text);
    let outside = diagnostics.iter().find(|d| d.primary.span.end as usize > text.len());
    if let Some(d) = outside {
        return Err(format!("a diagnostic lies outside of the text: {d:?}"));
    }
    drop(module);
    Ok(diagnostics.iter().map(|d| kind_of(&d.message)).collect())
}

/// Checks a program, lowers every function of it, and writes its gradients.
pub(super) fn check(input: &[u8]) -> Result<Reached, String> {
    let text = String::from_utf8_lossy(input);
    let program = Program::check("fuzz.cot", &text, &cotan_sema::Limits::default());
    let mut reached = Reached::new();
    for d in &program.diagnostics {
        cotan_syntax::render::to_text(d, &program.sources, cotan_syntax::render::Style::Plain);
        reached.insert(d.code.to_string());
    }
    if program.has_errors() {
        return Ok(reached);
    }
    let names: Vec<String> = program.checked.program.functions.iter().map(|f| f.name.clone()).collect();
    for name in names {
        // A refusal is an answer; only a malformed module or a panic is a failure.
        if let Ok(lowered) = crate::frontend::lower_plain(&program, &Request::function(&name)) {
            verify_module(&lowered.module).map_err(|all| format!("`{name}` is lowered badly: {}", all[0]))?;
            reached.extend(super::engines::operations(&lowered.module));
        }
        let gradient = cotan::derivative(&name, cotan::DerivativeForm::Grad, &[]);
        if let Ok(lowered) = crate::frontend::lower_plain(&program, &gradient) {
            verify_module(&lowered.module).map_err(|all| format!("the gradient of `{name}`: {}", all[0]))?;
        }
    }
    Ok(reached)
}

/// Reads core IR, prints it and reads it again, and runs what needs no argument.
pub(super) fn read_ir(input: &[u8]) -> Result<Reached, String> {
    let text = String::from_utf8_lossy(input);
    let module = match parse_module(&text, cotan_ops::Registry::standard()) {
        Ok(module) => module,
        Err(e) => return Ok(Reached::from([kind_of(&e.to_string())])),
    };
    if let Err(all) = verify_module(&module) {
        return Ok(all.iter().map(|e| kind_of(&e.to_string())).collect());
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
    Ok(super::engines::operations(&module))
}
