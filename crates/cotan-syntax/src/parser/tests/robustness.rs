//! No text makes the parser panic, loop, or give spans that are not in the text.

use super::*;

/// Marsaglia's xorshift generator with 64 bits of state.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

fn assert_sound(source: &str) {
    let (module, diagnostics) = parse(FileId(0), source);
    for diagnostic in &diagnostics {
        let labels = diagnostic.labels.iter().map(|label| label.span);
        for span in labels.chain([diagnostic.primary.span]) {
            assert!(source.get(span.range()).is_some(), "{diagnostic:?} in {source:?}");
        }
    }
    for item in &module.items {
        assert!(source.get(item.span.range()).is_some(), "{item:?} in {source:?}");
    }
    // An error node in the tree always has a diagnostic.
    if dump::module(&module).contains("<error>") {
        assert!(!diagnostics.is_empty(), "{source:?}");
    }
}

#[test]
fn random_text_is_handled() {
    let mut random = XorShift(0x9e37_79b9_7f4a_7c15);
    let alphabet: Vec<char> = "(){}[]<>=!+-*/.,;:@|&^%#\"'\\ \n_aefmx019é×".chars().collect();
    for _ in 0..3000 {
        let len = random.below(60);
        let text: String = (0..len).map(|_| alphabet[random.below(alphabet.len())]).collect();
        assert_sound(&text);
        assert_sound(&format!("fn f(x: f64) -> f64 {{ {text} }}"));
    }
}

#[test]
fn random_tokens_are_handled() {
    let mut random = XorShift(0x2545_f491_4f6c_dd1d);
    let words: Vec<&str> = crate::token::TokenKind::KEYWORDS
        .iter()
        .chain(crate::token::TokenKind::SYMBOLS)
        .filter_map(|kind| kind.text())
        .chain(["x", "max", "1", "2.0", "\n", "_", "axis", "f64"])
        .collect();
    for _ in 0..3000 {
        let text: Vec<&str> = (0..random.below(30)).map(|_| words[random.below(words.len())]).collect();
        assert_sound(&text.join(" "));
        assert_sound(&format!("fn f(x: f64) -> f64 {{ {} }}", text.join(" ")));
    }
}

#[test]
fn truncated_programs_are_handled() {
    for sample in SAMPLES {
        for (at, _) in sample.char_indices() {
            assert_sound(&sample[..at]);
        }
    }
}

#[test]
fn mutated_programs_are_handled() {
    let mut random = XorShift(0xd1b5_4a32_d192_ed03);
    for case in 0..3000 {
        let mut chars: Vec<char> = SAMPLES[case % SAMPLES.len()].chars().collect();
        for _ in 0..=random.below(4) {
            let at = random.below(chars.len());
            let from = random.below(chars.len());
            match random.below(4) {
                0 => {
                    chars.remove(at);
                }
                1 => chars.insert(at, chars[from]),
                2 => chars.swap(at, from),
                _ => {
                    let end = (from + 20).min(chars.len());
                    let copy = chars[from..end].to_vec();
                    chars.splice(at..at, copy);
                }
            }
        }
        assert_sound(&chars.into_iter().collect::<String>());
    }
}

#[test]
fn large_files_are_handled() {
    let sample = SAMPLES.concat();
    let times = 10_000_000 / sample.len() + 1;
    let source = sample.repeat(times);
    let (module, diagnostics) = parse(FileId(0), &source);
    assert_eq!(diagnostics, []);
    let n_items = parse(FileId(0), &sample).0.items.len();
    assert_eq!(module.items.len(), times * n_items);
}
