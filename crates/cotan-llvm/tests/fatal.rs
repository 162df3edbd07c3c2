//! LLVM ends the process when it meets an operation that the target lacks; here it must not. A
//! program of its own, because the library is not used again afterwards.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_llvm::jit::{Engine, JitError, ModuleText, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_runtime::host_symbols;

#[test]
fn when_llvm_gives_up_the_process_lives_and_later_modules_are_refused() {
    let engine = Engine::new(&SearchConfig::default(), None).unwrap();
    let mut text = ModuleText {
        parts: vec![
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            define i32 @f() { %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() ret i32 %t }"
                .to_owned(),
        ],
        exports: vec!["f".to_owned()],
        level: OptLevel::O2,
    };
    let JitError::Fatal(message) = engine.compile(&text, &host_symbols()).unwrap_err() else {
        panic!("another kind of error");
    };
    assert!(message.to_lowercase().contains("cannot select"), "{message}");
    text.parts = vec!["define i32 @f() { ret i32 1 }".to_owned()];
    assert!(matches!(engine.compile(&text, &host_symbols()), Err(JitError::Fatal(_))));
}
