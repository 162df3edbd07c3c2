//! Failing programs made small.

use crate::generate::source::Generated;

/// More attempts than this are not worth the wait.
const MAX_ATTEMPTS: usize = 600;

/// The smallest variant found that still fails: statements are taken away one by one, the ones with the largest blocks
/// first, as long as `fails` says so.
pub fn shrink(generated: &Generated, fails: impl Fn(&Generated) -> bool) -> Generated {
    let mut smallest = generated.clone();
    let (mut at, mut misses, mut attempts) = (0, 0, 0);
    while attempts < MAX_ATTEMPTS {
        let mut programs = smallest.program.smaller();
        programs.sort_by_key(|p| p.n_statements());
        if misses >= programs.len() {
            break;
        }
        attempts += 1;
        let program = programs.swap_remove(at % programs.len());
        let candidate = Generated { program, ..smallest.clone() };
        if fails(&candidate) {
            (smallest, misses) = (candidate, 0);
        } else {
            (at, misses) = (at + 1, misses + 1);
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::source::{Stmt, generate};

    #[test]
    fn what_does_not_matter_goes() {
        let mut generated = generate(1);
        let needed = Stmt::Line("let needed = 1".to_owned());
        let main = generated.program.functions.len() - 1;
        generated.program.functions[main].body.insert(3, needed.clone());
        let small = shrink(&generated, |g| g.program.functions.iter().any(|f| f.body.contains(&needed)));
        assert_eq!(small.program.n_statements(), 1);
        assert_eq!(small.program.functions[main].body, [needed]);
    }
}
