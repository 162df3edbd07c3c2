//! Derivatives on several threads.

use crate::examples::instances::{all, compiler};
use cotan::Engine;
use cotan::host::fit_arguments;
use cotan_bench::product_chain;
use std::num::NonZeroUsize;

#[test]
fn derivatives_have_the_same_bits_on_any_number_of_threads() {
    let compiler = compiler(8);
    // A product that is cut into blocks.
    for instance in all(&compiler).into_iter().chain([product_chain(300)]) {
        let program = compiler.check(&instance.file, &instance.source);
        let request = instance.gradient.as_ref().expect("a derivative");
        let function = compiler.function(&program, request, Engine::CPU).expect("it compiles");
        let args = fit_arguments(function.entry(), &instance.args).expect("arguments that fit");
        let on = |n: usize| {
            let threads = NonZeroUsize::new(n).expect("a number of threads");
            function.on_threads(threads).call_flat(&args).expect("it runs")
        };
        let on_one = on(1);
        for threads in [2, 3, 4, 5, 6, 7, 8] {
            assert!(on(threads) == on_one, "{} on {threads} threads", request.function);
        }
    }
}
