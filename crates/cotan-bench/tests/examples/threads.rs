//! Derivatives on several threads.

use crate::instances::{all, compiler};
use cotan::Engine;
use cotan_bench::evaluate;

#[test]
fn derivatives_have_the_same_bits_on_any_number_of_threads() {
    let bits = |threads: usize| -> Vec<(String, u64, Vec<u64>)> {
        let compiler = compiler(threads);
        let each = all(&compiler).into_iter().map(|instance| {
            let (value, entries) = evaluate(&compiler, &instance, Engine::Cpu).expect("it runs");
            (instance.objective, value.to_bits(), entries.iter().map(|x| x.to_bits()).collect())
        });
        each.collect()
    };
    let on_one = bits(1);
    for threads in [2, 3, 4, 8] {
        for (one, several) in on_one.iter().zip(bits(threads)) {
            assert!(*one == several, "{} on {threads} threads", one.0);
        }
    }
}
