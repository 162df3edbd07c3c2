//! Licence expressions as packages state them: SPDX, and the older `MIT/Apache-2.0`.

use std::collections::BTreeSet;

/// Whether the licences that are allowed fulfil an expression; the error says which are missing. Those that were needed
/// are added to `used`.
pub(super) fn fulfilled(expression: &str, allowed: &[String], used: &mut BTreeSet<String>) -> Result<(), String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    let outcome = reader.any();
    if !reader.words.is_empty() {
        return Err(format!("`{expression}` is no licence expression"));
    }
    match outcome {
        Outcome::Fulfilled(of) => {
            used.extend(of);
            Ok(())
        }
        Outcome::Missing(all) => Err(format!("none of `{}` is allowed", all.join("`, `"))),
        Outcome::Malformed => Err(format!("`{expression}` is no licence expression")),
    }
}

enum Outcome {
    /// By these licences.
    Fulfilled(Vec<String>),
    /// None of these is allowed.
    Missing(Vec<String>),
    Malformed,
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            Some(_) | None => false,
        }
    }

    /// `a OR b`: all that are allowed are offered, so all count as needed.
    fn any(&mut self) -> Outcome {
        let mut outcome = self.all();
        while self.take("OR") {
            outcome = match (outcome, self.all()) {
                (Outcome::Malformed, _) | (_, Outcome::Malformed) => Outcome::Malformed,
                (Outcome::Fulfilled(a), Outcome::Fulfilled(b)) => Outcome::Fulfilled([a, b].concat()),
                (Outcome::Fulfilled(a), Outcome::Missing(_)) | (Outcome::Missing(_), Outcome::Fulfilled(a)) => {
                    Outcome::Fulfilled(a)
                }
                (Outcome::Missing(a), Outcome::Missing(b)) => Outcome::Missing([a, b].concat()),
            };
        }
        outcome
    }

    /// `a AND b`.
    fn all(&mut self) -> Outcome {
        let mut outcome = self.one();
        while self.take("AND") {
            outcome = match (outcome, self.one()) {
                (Outcome::Malformed, _) | (_, Outcome::Malformed) => Outcome::Malformed,
                (Outcome::Fulfilled(a), Outcome::Fulfilled(b)) => Outcome::Fulfilled([a, b].concat()),
                (Outcome::Missing(a), _) | (_, Outcome::Missing(a)) => Outcome::Missing(a),
            };
        }
        outcome
    }

    fn one(&mut self) -> Outcome {
        if self.take("(") {
            let outcome = self.any();
            return if self.take(")") { outcome } else { Outcome::Malformed };
        }
        let Some((name, rest)) = self.words.split_first() else { return Outcome::Malformed };
        if ["AND", "OR", "WITH", ")"].contains(name) {
            return Outcome::Malformed;
        }
        self.words = rest;
        let mut licence = (*name).to_owned();
        if self.take("WITH") {
            let Some((exception, rest)) = self.words.split_first() else { return Outcome::Malformed };
            self.words = rest;
            licence = format!("{licence} WITH {exception}");
        }
        if self.allowed.contains(&licence) {
            Outcome::Fulfilled(vec![licence])
        } else {
            Outcome::Missing(vec![licence])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str) -> Result<(), String> {
        let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        fulfilled(expression, &allowed, &mut BTreeSet::new())
    }

    #[test]
    fn one_of_several_is_enough_and_all_of_several_are_needed() {
        for fine in [
            "MIT",
            "GPL-3.0 OR MIT",
            "GPL-3.0/MIT",
            "MIT AND Zlib",
            "(GPL-3.0 OR MIT) AND Zlib",
            "GPL-3.0 OR Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(check(fine), Ok(()), "{fine}");
        }
        for (wrong, said) in [
            ("GPL-3.0", "none of `GPL-3.0` is allowed"),
            ("Apache-2.0", "none of `Apache-2.0` is allowed"),
            ("MIT WITH LLVM-exception", "none of `MIT WITH LLVM-exception` is allowed"),
            ("GPL-3.0 OR GPL-2.0", "none of `GPL-3.0`, `GPL-2.0` is allowed"),
            ("MIT AND GPL-3.0", "none of `GPL-3.0` is allowed"),
            ("(MIT OR Zlib) AND (GPL-3.0 OR GPL-2.0)", "none of `GPL-3.0`, `GPL-2.0` is allowed"),
        ] {
            assert_eq!(check(wrong), Err(said.to_owned()));
        }
        for malformed in ["", "MIT OR", "MIT Zlib", "(MIT", "MIT)", "OR MIT", "MIT WITH"] {
            assert_eq!(check(malformed), Err(format!("`{malformed}` is no licence expression")));
        }
    }
}
