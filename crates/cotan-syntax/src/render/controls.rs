//! Text that others wrote, shown so that a terminal only shows it: control characters are replaced by pictures of them.
//!
//! Names of files, arguments, keys of data and lines of programs may hold anything, and a message is Cotan's own word. A
//! line break in a name would let that name begin a message of its own.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal may act on the character, or show it where it does not stand.
pub(super) fn is_control(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || is_direction(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether the character decides about the direction of those around it.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What is shown in the place of a character.
pub(super) fn shown(c: char) -> char {
    match u32::from(c) {
        // Lines may end in `\r\n`.
        0x0d => ' ',
        0x7f => '\u{2421}',
        code @ 0..0x20 if is_control(c) => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        _ if is_control(c) => '\u{fffd}',
        _ => c,
    }
}

/// Text of several lines, such as a part of a program.
pub fn visible_text(text: &str) -> Cow<'_, str> {
    if text.contains(is_control) { text.chars().map(shown).collect() } else { Cow::Borrowed(text) }
}

/// Text that stays on its line, such as a name: a line break is shown too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    const LINE_BREAK: char = '\u{240a}';
    if text.contains('\n') {
        return text.chars().map(|c| if c == '\n' { LINE_BREAK } else { shown(c) }).collect();
    }
    visible_text(text)
}

/// JSON text with the same strings in it, of which a terminal only shows them.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::new();
    for c in text.chars() {
        // Such characters stand in strings only. None of them is outside of the first plane.
        if is_control(c) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown() {
        let hostile = "a\u{1b}[2Jb\r\u{7f}\u{9b}\u{202e}\u{2028}\tc\nd";
        assert_eq!(visible_text(hostile), "a\u{241b}[2Jb \u{2421}\u{fffd}\u{fffd}\u{fffd}\tc\nd");
        assert_eq!(visible_line("a\nerror: b"), "a\u{240a}error: b");
        assert_eq!(visible_line("\u{1b}\n"), "\u{241b}\u{240a}");
        assert_eq!(visible_json("\"a\u{9b}\u{7f}b\u{202e}\""), "\"a\\u009b\\u007fb\\u202e\"");
    }

    #[test]
    fn other_text_is_as_it_was() {
        for text in ["x \u{2207}f \u{e9} \u{1f600}", "tabs\tstay"] {
            assert_eq!([visible_text(text), visible_line(text), visible_json(text)], [text; 3]);
        }
        assert_eq!(visible_text("a\nb"), "a\nb");
    }
}
