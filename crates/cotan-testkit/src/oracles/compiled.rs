//! Compiled code against the interpreter, bit for bit.

use super::Verdict;
use super::engines::same_bits;
use crate::case::{Case, joined};
use crate::machine::{compile, shared_backend};
use cotan_ir::Mode;
use cotan_llvm::jit::OptLevel;
use cotan_ops::Value;

/// The function, its forward and its reverse derivative give the bits of the interpreter, whatever the optimisation.
pub fn compiled(case: &Case) -> Verdict {
    Verdict::of((|| {
        let backend = shared_backend()?;
        let subject = &case.subject;
        let jvp = case.first(Mode::Jvp).canonical_name();
        let vjp = case.first(Mode::Vjp).canonical_name();
        let calls: [(&str, Vec<Value>); 3] = [
            (&subject.name, subject.args.clone()),
            (&jvp, joined(&[&subject.args, &case.tangents])),
            (&vjp, case.vjp_arguments()?),
        ];
        for (name, args) in calls {
            let expected = case.run(name, &args)?;
            for level in [OptLevel::O0, OptLevel::O2] {
                let function = compile(backend, &subject.module, name, level)?;
                let found = function.call(&args).map_err(|e| format!("`{name}` compiled at {level:?} fails: {e}"))?;
                same_bits(&found, &expected, &format!("`{name}` compiled at {level:?}"))?;
            }
        }
        Ok(())
    })())
}
