//! Drops the variables that nothing binds any more, and numbers the others in order of binding.

use cotan_ir::{Builder, Env, Function};

/// The same function with a table of just its own variables.
pub fn compact(f: &Function) -> Function {
    let mut b = Builder::new();
    let mut env = Env::new();
    for p in &f.params {
        let ty = env.ty(f.ty(*p));
        let new = b.param(f.name_of(*p), ty);
        env.insert(*p, new.into());
    }
    for s in &f.body.stmts {
        b.copy_stmt(f, s, &mut env);
    }
    let results = env.atoms(&f.body.results);
    let mut new = b.finish(&f.name, results);
    new.custom_vjp = f.custom_vjp.clone();
    new.custom_jvp = f.custom_jvp.clone();
    new
}
