//! Mutants of a program that still look like programs: tokens exchanged, numbers at the edges of their types, lines moved.

use crate::random::Rng;

/// Numbers at which something changes.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "64",
    "1000",
    "4294967296",
    "9223372036854775807",
    "0.0",
    "1.0",
    "-0.5",
    "1e-300",
    "1e300",
    "inf",
    "nan",
];

/// Tokens that may stand for one another.
const CLASSES: &[&[&str]] = &[
    &["+", "-", "*", "/", "**", "%"],
    &[".+", ".-", ".*", "./", ".**"],
    &["<", ">", "<=", ">=", "==", "!="],
    &["+=", "-=", "*=", "max=", "min=", "="],
    &["..", "..="],
    &["f64", "f32", "f16", "i64", "i32", "u8", "bool"],
    &["sin", "exp", "sqrt", "log", "abs", "tanh", "sigmoid", "floor"],
    &["for", "while", "if", "match"],
    &["fn", "kernel"],
    &["let", "let mut"],
    &["and", "or"],
];

/// A program with one to three changes; another one gives what is put in.
pub(super) fn mutated(rng: &mut Rng, text: &str, other: &str) -> String {
    let mut tokens: Vec<String> = tokens(text);
    for _ in 0..1 + rng.below(3) {
        change(rng, &mut tokens, other);
    }
    tokens.concat()
}

fn change(rng: &mut Rng, tokens: &mut Vec<String>, other: &str) {
    let words: Vec<usize> = (0..tokens.len()).filter(|k| !is_blank(&tokens[*k])).collect();
    if words.is_empty() {
        return;
    }
    let at = words[rng.below(words.len())];
    let second = words[rng.below(words.len())];
    match rng.below(9) {
        0 => tokens.swap(at, second),
        1 => drop(tokens.remove(at)),
        2 => tokens.insert(at, tokens[at].clone()),
        3 => tokens[at] = tokens[second].clone(),
        4 | 5 => {
            // A number, if there is one.
            let numbers: Vec<usize> =
                words.into_iter().filter(|k| tokens[*k].starts_with(|c: char| c.is_ascii_digit())).collect();
            if let Some(k) = numbers.get(rng.below(numbers.len())) {
                tokens[*k] = rng.choice(NUMBERS).to_owned();
            }
        }
        6 | 7 => {
            let token = tokens[at].clone();
            if let Some(class) = CLASSES.iter().find(|class| class.contains(&token.as_str())) {
                tokens[at] = rng.choice(class).to_owned();
            }
        }
        _ => change_lines(rng, tokens, other),
    }
}

/// Removes, repeats or exchanges lines, or puts in one of another program.
fn change_lines(rng: &mut Rng, tokens: &mut Vec<String>, other: &str) {
    let text = tokens.concat();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (at, second) = (rng.below(lines.len()), rng.below(lines.len()));
    match rng.below(4) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[second]),
        2 => lines.swap(at, second),
        _ => {
            let foreign: Vec<&str> = other.split_inclusive('\n').collect();
            if !foreign.is_empty() {
                lines.insert(at, foreign[rng.below(foreign.len())]);
            }
        }
    }
    *tokens = self::tokens(&lines.concat());
}

fn is_blank(token: &str) -> bool {
    token.starts_with(char::is_whitespace) || token.starts_with('#')
}

/// A text in pieces: words, numbers, operators, white space, comments.
fn tokens(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | ':' | '"' | '@' | '|' => 2,
        _ => 3,
    };
    let mut out: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if kind(first) == 2 {
            first.len_utf8()
        } else {
            rest.find(|c| kind(c) != kind(first) || c == '#').unwrap_or(rest.len())
        };
        let (token, left) = rest.split_at(end.max(first.len_utf8()));
        out.push(token.to_owned());
        rest = left;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_make_up_the_text() {
        let text = "# why\nfn f(x: f64[3]) -> f64 = x[0 ..=1][0] .+ 2.5e3 # é\n";
        let all = tokens(text);
        assert_eq!(all.concat(), text);
        assert!(
            all.iter().any(|t| t == "..=") && all.iter().any(|t| t == "[") && all.iter().any(|t| t == "# why"),
            "{all:?}"
        );
    }

    #[test]
    fn a_mutant_of_nothing_is_text_too() {
        for seed in 0..50 {
            mutated(&mut Rng::new(seed), "", "");
            mutated(&mut Rng::new(seed), "x", "\n");
        }
    }
}
