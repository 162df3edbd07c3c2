//! A small function that an LLVM of an untested version must compile and link correctly.

use std::sync::Arc;

use super::compile::{Output, compile};
use super::link::link;
use super::options::OptLevel;
use super::target::Target;
use super::thread::on_compiler_thread;
use crate::load::Llvm;
use cotan_runtime::abi::HostSymbols;

/// A loop, a phi, a vector operation and a call of the host: `sum of twice(i)` for `i < n`.
const TEXT: &str = r"
declare i64 @twice(i64)
declare i64 @llvm.vector.reduce.add.v2i64(<2 x i64>)

define i64 @self_test(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <2 x i64> [ zeroinitializer, %entry ], [ %more, %loop ]
  %t = call i64 @twice(i64 %i)
  %v = insertelement <2 x i64> zeroinitializer, i64 %t, i64 1
  %more = add <2 x i64> %sum, %v
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  %r = call i64 @llvm.vector.reduce.add.v2i64(<2 x i64> %more)
  ret i64 %r
}
";

extern "C" fn twice(x: i64) -> i64 {
    2 * x
}

/// Compiles and runs the test at every level; the error says what went wrong.
pub(super) fn self_test(llvm: &Arc<Llvm>) -> Result<(), String> {
    let compiled = on_compiler_thread(llvm, |llvm| {
        let target = Target::host(llvm)?;
        let mut symbols = HostSymbols::new();
        // SAFETY: `twice` has the declared signature and lives as long as the process.
        unsafe { symbols.define("twice", twice as *const ()) };
        let mut modules = Vec::new();
        for level in [OptLevel::O0, OptLevel::O2] {
            let object = compile(llvm, &target, &target.machine(llvm, level)?, TEXT, level, Output::Object)?;
            modules.push(link(&[object], &["self_test".to_owned()], &symbols)?);
        }
        Ok(modules)
    });
    for module in compiled.map_err(|error| format!("self-test: {error}"))? {
        let Some(address) = module.address("self_test") else {
            return Err("self-test: the function is missing".to_owned());
        };
        // SAFETY: this is the signature in the text, and the module is live.
        let result = unsafe {
            let function: extern "C" fn(i64) -> i64 = std::mem::transmute(address);
            function(10)
        };
        if result != 90 {
            return Err(format!("self-test: compiled code gave {result} instead of 90"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{SearchConfig, search};

    #[test]
    fn a_tested_version_passes() {
        let (llvm, _) = search(&SearchConfig::default(), Llvm::open, |llvm| llvm.version);
        assert_eq!(self_test(&llvm.unwrap()), Ok(()));
    }
}
