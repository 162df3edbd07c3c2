//! Text becomes code, or an error that says why not; never an abort.
#![allow(unsafe_code, reason = "the tests call compiled code")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_llvm::jit::{CompiledModule, Engine, JitError, ModuleText, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_runtime::abi::HostSymbols;
use cotan_runtime::host_symbols;

fn engine() -> Engine {
    Engine::new(&SearchConfig::default(), None).unwrap()
}

fn text(ir: &str, export: &str) -> ModuleText {
    ModuleText { parts: vec![ir.to_owned()], exports: vec![export.to_owned()], level: OptLevel::O2 }
}

fn error(engine: &Engine, ir: &str) -> JitError {
    engine.compile(&text(ir, "f"), &host_symbols()).unwrap_err()
}

/// Calls the exported `f` of type `double (double)`.
fn call(module: &CompiledModule, x: f64) -> f64 {
    let address = module.address("f").unwrap();
    // SAFETY: every test that calls this exports a function of this type.
    let function: extern "C" fn(f64) -> f64 = unsafe { std::mem::transmute(address) };
    function(x)
}

#[test]
fn both_levels_give_the_same_bits() {
    let engine = engine();
    let ir = "define double @f(double %x) {
        %a = fmul double %x, 1.1
        %b = fadd double %a, 0.3
        %c = fdiv double %b, %x
        ret double %c
    }";
    let values: Vec<u64> = [OptLevel::O0, OptLevel::O2]
        .map(|level| ModuleText { level, ..text(ir, "f") })
        .iter()
        .map(|text| engine.compile(text, &host_symbols()).unwrap())
        .map(|compiled| call(&compiled.module, 0.7).to_bits())
        .collect();
    let expected = ((0.7_f64 * 1.1 + 0.3) / 0.7).to_bits();
    assert_eq!(values, [expected, expected]);
}

#[test]
fn functions_that_are_left_to_the_host_are_the_kernels() {
    let ir = "declare double @cotan_digamma(double)
        define double @f(double %x) { %y = call double @cotan_digamma(double %x) ret double %y }";
    let compiled = engine().compile(&text(ir, "f"), &host_symbols()).unwrap();
    for x in [-1.5, 0.1, 3.7, 100.0] {
        let expected = cotan_ops::DIGAMMA.eval(&[cotan_ir::Const::f64(x)]).unwrap();
        assert_eq!(call(&compiled.module, x).to_bits(), expected.bits());
    }
}

#[test]
fn llvm_does_not_replace_a_function_of_the_host_by_its_own() {
    let ir = "declare double @cotan_sin(double)
        define double @f(double %x) {
            %a = call double @cotan_sin(double 1.1)
            %minus = fneg double %x
            %b = call double @cotan_sin(double %minus)
            %c = fsub double %a, %b
            ret double %c
        }";
    let engine = engine();
    let assembly = engine.emit_assembly(&text(ir, "f")).unwrap();
    let calls = assembly.lines().filter(|line| line.contains("cotan_sin"));
    assert_eq!(calls.count(), 2, "{assembly}");
    let compiled = engine.compile(&text(ir, "f"), &host_symbols()).unwrap();
    let sin = |x: f64| cotan_ops::SIN.eval(&[cotan_ir::Const::f64(x)]).unwrap().as_float().unwrap();
    assert_eq!(call(&compiled.module, 0.3).to_bits(), (sin(1.1) - sin(-0.3)).to_bits());
}

#[test]
fn operations_without_an_instruction_are_linked_and_exact() {
    let ir = "define double @f(double %x) { %y = frem double %x, 0.7 ret double %y }";
    let compiled = engine().compile(&text(ir, "f"), &host_symbols()).unwrap();
    assert_eq!(call(&compiled.module, 3.1).to_bits(), (3.1_f64 % 0.7).to_bits());
}

#[test]
fn constants_jump_tables_and_addresses_of_functions_are_linked_across_parts() {
    let choice = "@table = private constant [4 x double] [double 0.5, double 1.5, double 2.5, double 3.5]
        declare double @half(double)
        declare double @twice(double)
        declare double @cotan_sin(double)
        define double @f(double %x) {
          %i = fptosi double %x to i64
          switch i64 %i, label %other [i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d i64 4, label %e]
        a: br label %called
        b: br label %called
        c: br label %called
        d: %at = getelementptr double, ptr @table, i64 %i
          %constant = load double, ptr %at
          ret double %constant
        e: ret double 77.0
        called:
          %function = phi ptr [@half, %a], [@twice, %b], [@cotan_sin, %c]
          %y = call double %function(double %x)
          ret double %y
        other:
          %z = call double @twice(double %x)
          ret double %z
        }";
    let half = "define hidden double @half(double %x) { %y = fmul double %x, 0.5 ret double %y }";
    let twice = "declare hidden double @half(double)
        define double @twice(double %x) { %h = call double @half(double %x) %y = fmul double %h, 4.0 ret double %y }";
    let parts = [choice, half, twice].map(str::to_owned).to_vec();
    for level in [OptLevel::O0, OptLevel::O2] {
        let text = ModuleText { parts: parts.clone(), exports: vec!["f".to_owned()], level };
        let compiled = engine().compile(&text, &host_symbols()).unwrap();
        let sin = cotan_ops::SIN.eval(&[cotan_ir::Const::f64(2.5)]).unwrap().as_float().unwrap();
        let expected = [(0.25, 0.125), (1.5, 3.0), (2.5, sin), (3.5, 3.5), (4.0, 77.0), (9.0, 18.0)];
        for (x, y) in expected {
            assert_eq!(call(&compiled.module, x), y, "f({x})");
        }
    }
}

#[test]
fn a_variable_in_the_text_is_an_error() {
    let ir = "@count = internal global i64 0
        define i64 @f() { %n = load i64, ptr @count %m = add i64 %n, 1 store i64 %m, ptr @count ret i64 %m }";
    let JitError::Link(message) = error(&engine(), ir) else {
        panic!("another kind of error");
    };
    assert!(message.starts_with("code has no variables, found `.bss"), "{message}");
}

#[test]
fn a_function_that_two_parts_define_is_an_error() {
    let part = "define double @f(double %x) { ret double %x }".to_owned();
    let text = ModuleText { parts: vec![part.clone(), part], exports: vec!["f".to_owned()], level: OptLevel::O2 };
    let JitError::Link(message) = engine().compile(&text, &host_symbols()).unwrap_err() else {
        panic!("another kind of error");
    };
    assert_eq!(message, "`f` is defined twice");
}

#[test]
fn text_that_does_not_parse_is_an_error_with_its_line() {
    let JitError::InvalidIr(message) = error(&engine(), "define void @f() {\n  nonsense\n}") else {
        panic!("another kind of error");
    };
    assert!(message.contains("cotan:2:3"), "{message}");
}

#[test]
fn text_that_breaks_a_rule_of_the_ir_is_an_error() {
    let ir = "define i64 @f(i1 %c) {
        br i1 %c, label %a, label %b
      a:
        %x = add i64 1, 2
        br label %b
      b:
        ret i64 %x
    }";
    let JitError::InvalidIr(message) = error(&engine(), ir) else {
        panic!("another kind of error");
    };
    assert!(message.contains("does not dominate all uses"), "{message}");
}

#[test]
fn a_symbol_that_only_the_process_has_is_an_error() {
    let ir = "declare i32 @getpid()
        define i32 @f() { %p = call i32 @getpid() ret i32 %p }";
    let JitError::Link(message) = error(&engine(), ir) else {
        panic!("another kind of error");
    };
    assert!(message.contains("getpid"), "{message}");
}

#[test]
fn an_export_that_the_text_does_not_define_is_an_error() {
    let JitError::Link(message) = error(&engine(), "define void @g() { ret void }") else {
        panic!("another kind of error");
    };
    assert!(message.contains('f'), "{message}");
}

#[test]
fn modules_compile_on_several_threads_with_one_engine() {
    let engine = engine();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let engine = &engine;
            scope.spawn(move || {
                for round in 0..5 {
                    let add = f64::from(thread * 100 + round);
                    let ir = format!("define double @f(double %x) {{ %y = fadd double %x, {add:?} ret double %y }}");
                    let compiled = engine.compile(&text(&ir, "f"), &HostSymbols::new()).unwrap();
                    assert_eq!(call(&compiled.module, 0.5), 0.5 + add);
                }
            });
        }
    });
}

#[test]
fn a_long_chain_of_dependent_operations_compiles() {
    let mut ir = "define double @f(double %x) {\n%v0 = fadd double %x, 0.0\n".to_owned();
    for i in 1..=5000 {
        ir += &format!("%v{i} = fadd double %v{}, %x\n", i - 1);
    }
    ir += "ret double %v5000\n}";
    let compiled = engine().compile(&text(&ir, "f"), &HostSymbols::new()).unwrap();
    assert_eq!(call(&compiled.module, 1.0), 5001.0);
}

#[test]
fn assembly_text_names_the_function_and_its_instruction() {
    let ir = "define double @f(double %x) { %y = fdiv double %x, 3.0 ret double %y }";
    let assembly = engine().emit_assembly(&text(ir, "f")).unwrap();
    assert!(assembly.contains("\nf:"), "{assembly}");
    let divides = ["divsd", "fdiv"].iter().any(|name| assembly.contains(name));
    assert!(divides, "{assembly}");
}

#[test]
fn the_target_describes_this_machine() {
    let engine = engine();
    let target = engine.target();
    assert!(target.triple.starts_with(std::env::consts::ARCH), "{target:?}");
    assert!([128, 256, 512].contains(&target.vector_bits));
}
