//! Damaged text: what a file looks like that was cut, pasted or overwritten without regard to what it says.

use crate::random::Rng;

/// Bytes from nowhere, most of them characters.
pub(super) fn random_bytes(rng: &mut Rng) -> Vec<u8> {
    let n = rng.below(300);
    (0..n).map(|_| if rng.chance(0.7) { rng.range(9, 127) as u8 } else { rng.bits() as u8 }).collect()
}

/// Pieces that programs are made of, and some that they should not be.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    ":",
    "..",
    "|",
    "->",
    "=",
    "+/",
    "max/",
    ".*",
    "@",
    "fn ",
    "let ",
    "mut ",
    "for ",
    "while ",
    "if ",
    "else ",
    "return ",
    "grad[x](f)",
    "N",
    "0",
    "-1",
    "1e999",
    "9223372036854775808",
    "i64",
    "f64[N]",
    "f64[_]",
    "tabulate(N, |i| i)",
    "acc_add ",
    "yield ",
    "par ",
    "loop ",
    "switch ",
    "\"",
    "/*",
    "#",
    "\n",
    "é",
    "\u{0}",
    "_",
    "**",
    "as ",
    "x",
    "zeros(3)",
    "break",
    "struct ",
];

/// A text truncated, with pieces removed, repeated, put in or replaced.
pub(super) fn damaged(rng: &mut Rng, mut text: Vec<u8>) -> Vec<u8> {
    if rng.chance(0.25) {
        text.truncate(rng.below(text.len() + 1));
    }
    for _ in 0..rng.below(5) {
        let at = rng.below(text.len() + 1);
        let end = (at + rng.below(20)).min(text.len());
        match rng.below(5) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece = rng.choice(PIECES);
                text.splice(at..at, piece.bytes());
            }
            2 => {
                let piece = rng.choice(PIECES);
                text.splice(at..end, piece.bytes());
            }
            3 => {
                let again = text[at..end].to_vec();
                text.splice(at..at, again);
            }
            _ if at < text.len() => text[at] = rng.bits() as u8,
            _ => {}
        }
    }
    text
}
