//! What a program prints, on every engine.

use super::Verdict;
use crate::derived_case::Case;
use crate::engines::{Engine, RunError};
use crate::evaluator::Call;
use crate::frontend;
use crate::generate::Construct;
use crate::variant::Variant;
use cotan::Request;
use cotan::host::{fit_arguments, rebuild};

/// The engines that print.
const ENGINES: [Engine; 2] = [Engine::Interpreter, Engine::Compiled(Variant::PLAIN, 2)];

/// The function that prints writes the same on every engine, also before a check fails, and the evaluator agrees about
/// its value.
pub fn output(case: &Case) -> Verdict {
    let Some(generated) = case.subject.source.as_ref().filter(|_| case.subject.constructs.contains(&Construct::Output))
    else {
        return Verdict::Unusable("nothing is printed".to_owned());
    };
    Verdict::of((|| {
        let program = frontend::checked("generated.cot", &generated.program.text())?;
        let lowered = frontend::lower_plain(&program, &Request::function("shown"))?;
        for variant in [generated.clone()].into_iter().chain(generated.failing()) {
            let args = variant.named_arguments();
            let flat = fit_arguments(&lowered.entry, &args).map_err(|e| e.to_string())?;
            let printed = ENGINES.map(|engine| {
                let mut text = String::new();
                let ran = engine.run_with_output(&lowered.module, &lowered.entry.symbol, &flat, &mut |t| text += t);
                (text, ran)
            });
            let [(text, ran), (compiled_text, compiled)] = printed;
            if (&text, ran.is_ok()) != (&compiled_text, compiled.is_ok()) {
                return Err(format!(
                    "expected the output {text:?} and {ran:?}, found {compiled_text:?} and {compiled:?}"
                ));
            }
            let found = match ran {
                Ok(results) => {
                    let mut leaves = lowered.entry.leaf_results.iter().filter_map(|k| results.get(*k).cloned());
                    Ok(rebuild(&lowered.entry.signature.result, &mut leaves).ok_or("no value")?)
                }
                Err(RunError::Check { kind, span }) => Err((kind, span)),
                Err(RunError::Other(e)) => return Err(e),
            };
            let call = Call { program: &program.checked.program, function: "shown", elems: &[], args: &args };
            call.value()?.agrees(found.as_ref().map_err(|e| *e), |_, _| Ok(()))?;
        }
        Ok(())
    })())
}
