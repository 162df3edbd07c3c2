//! JSON texts. A value stays text until its type is known: [`JsonText::value`] reads the elements of a tensor to where they
//! belong, with no tree in between.

use super::{Budget, FileError, error};
use crate::host::HostValue;
use crate::host::json::{Misfit, from_text};
use cotan_lower::entry::HostType;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The most keys of objects that are open at one place of a text. They are held to see that none is there twice.
pub const MAX_KEYS: usize = 1 << 16;

/// A JSON text without mistakes, in which no object has a key twice.
#[derive(Clone, Debug)]
pub struct JsonText {
    text: Arc<Vec<u8>>,
    /// The part that is meant.
    part: Range<usize>,
}

impl JsonText {
    /// Checks a text.
    pub fn new(text: Vec<u8>) -> Result<JsonText, FileError> {
        let mut n_keys = 0;
        let mut parser = serde_json::Deserializer::from_slice(&text);
        let checked = Check { n_keys: &mut n_keys }.deserialize(&mut parser).and_then(|()| parser.end());
        checked.map_err(|e| FileError(e.to_string()))?;
        let part = 0..text.len();
        Ok(JsonText { text: Arc::new(text), part })
    }

    /// The text of this value.
    pub fn text(&self) -> &[u8] {
        &self.text[self.part.clone()]
    }

    /// The value, in a type.
    pub fn value(&self, ty: &HostType, budget: &mut Budget) -> Result<HostValue, Misfit> {
        from_text(self.text(), ty, budget)
    }

    /// The value as a whole number, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        serde_json::from_slice(self.text()).ok()
    }

    /// The part that a key of an object, or a position in a list, names.
    pub fn part(&self, name: &str) -> Result<Option<JsonText>, FileError> {
        match self.entries()? {
            Some(entries) => Ok(entries.into_iter().find(|(key, _)| key == name).map(|(_, part)| part)),
            None => Ok(name.parse().ok().and_then(|at: usize| self.items().into_iter().nth(at))),
        }
    }

    /// The values of a list; none if it is no list.
    fn items(&self) -> Vec<JsonText> {
        let mut scan = Scan { text: self.text(), at: 0 };
        let mut items = Vec::new();
        if scan.peek() == Some(b'[') {
            scan.at += 1;
            while !matches!(scan.peek(), Some(b']') | None) {
                let item = scan.value();
                scan.skip(b',');
                items.push(self.within(item));
            }
        }
        items
    }

    /// A part of this text.
    fn within(&self, part: Range<usize>) -> JsonText {
        let part = self.part.start + part.start..self.part.start + part.end;
        JsonText { text: self.text.clone(), part }
    }

    /// The values of an object by their keys; none if it is no object.
    pub fn entries(&self) -> Result<Option<Vec<(String, JsonText)>>, FileError> {
        let mut scan = Scan { text: self.text(), at: 0 };
        if scan.peek() != Some(b'{') {
            return Ok(None);
        }
        scan.at += 1;
        let mut entries = Vec::new();
        while scan.peek() == Some(b'"') {
            let key = scan.value();
            let Ok(key) = serde_json::from_slice(&self.text()[key]) else { return error("a key is no text") };
            scan.skip(b':');
            let value = scan.value();
            scan.skip(b',');
            entries.push((key, self.within(value)));
        }
        Ok(Some(entries))
    }
}

/// A place in a text without mistakes.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    /// The next character that is no space.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Goes past a character, if it is the next one.
    fn skip(&mut self, c: u8) {
        if self.peek() == Some(c) {
            self.at += 1;
        }
    }

    /// Goes past a value, and says where it stands.
    fn value(&mut self) -> Range<usize> {
        self.peek();
        let start = self.at;
        let mut depth = 0usize;
        while let Some(c) = self.text.get(self.at) {
            match c {
                b'"' => self.string(),
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth > 0 => depth -= 1,
                // The end of what the value stands in.
                b',' | b':' | b']' | b'}' if depth == 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        start..self.at.min(self.text.len())
    }

    /// Goes to the end of a string.
    fn string(&mut self) {
        self.at += 1;
        while let Some(c) = self.text.get(self.at).filter(|c| **c != b'"') {
            self.at += if *c == b'\\' { 2 } else { 1 };
        }
    }
}

/// Goes through a value, and fails at a key that its object has already.
struct Check<'n> {
    /// Keys of the objects around this value.
    n_keys: &'n mut usize,
}

impl<'de> DeserializeSeed<'de> for Check<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Check<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Check { n_keys: self.n_keys })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = object.next_key::<String>()? {
            *self.n_keys += 1;
            if *self.n_keys > MAX_KEYS {
                return Err(A::Error::custom(format!("expected at most {MAX_KEYS} keys, found more")));
            }
            if let Some(key) = keys.replace(key.clone()) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice in one object")));
            }
            object.next_value_seed(Check { n_keys: self.n_keys })?;
        }
        *self.n_keys -= keys.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<(String, String)> {
        let text = JsonText::new(text.as_bytes().to_vec()).expect("JSON");
        let entries = text.entries().expect("keys").expect("an object");
        let shown = |text: &JsonText| String::from_utf8_lossy(text.text()).trim_end().to_owned();
        entries.iter().map(|(key, value)| (key.clone(), shown(value))).collect()
    }

    #[test]
    fn an_object_is_cut_into_the_texts_of_its_values() {
        let text = r#" { "a" : [1, {"b": "]}"}] , "\u0062\"" :-1.5e3,"c":"x\\\"}" , "d": null } "#;
        let expected = [("a", r#"[1, {"b": "]}"}]"#), ("b\"", "-1.5e3"), ("c", r#""x\\\"}""#), ("d", "null")];
        assert_eq!(entries(text), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert_eq!(entries("{}"), []);
        let list = JsonText::new(b"[1]".to_vec()).expect("JSON");
        assert!(list.entries().expect("keys").is_none());
    }

    #[test]
    fn parts_are_found_by_keys_and_positions() {
        let text = JsonText::new(br#"{"a": [1, [2, "x]"], {"b": 3}], "0": []}"#.to_vec()).expect("JSON");
        let part = |path: &[&str]| {
            let part = path.iter().try_fold(text.clone(), |at, name| at.part(name).expect("keys"))?;
            Some(String::from_utf8_lossy(part.text()).into_owned())
        };
        assert_eq!(part(&["a", "1"]).as_deref(), Some(r#"[2, "x]"]"#));
        assert_eq!(part(&["a", "2", "b"]).as_deref(), Some("3"));
        assert_eq!(part(&["0"]).as_deref(), Some("[]"));
        for path in [&["0", "0"][..], &["a", "3"], &["a", "b"], &["a", "0", "0"], &["c"]] {
            assert_eq!(part(path), None, "{path:?}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_every_depth() {
        for text in [
            r#"{"x": 1, "x": 2}"#,
            r#"{"x": [{"a": 1, "\u0061": 2}]}"#,
            r#"{"a": 1, "x": {"a": 2, "b": {"a": 3, "c": 4, "c": 5}}}"#,
        ] {
            let refused = JsonText::new(text.as_bytes().to_vec()).unwrap_err().to_string();
            assert!(refused.contains("stands twice in one object"), "{text}: {refused}");
        }
        assert!(JsonText::new(br#"{"a": 1, "x": {"a": 2}, "y": {"a": 3}}"#.to_vec()).is_ok());
    }

    #[test]
    fn only_so_many_keys_are_held() {
        let object = |n: usize| {
            let keys: Vec<String> = (0..n).map(|k| format!("\"{k}\":0")).collect();
            format!("{{{}}}", keys.join(","))
        };
        let list = format!("[{},{}]", object(MAX_KEYS), object(MAX_KEYS));
        assert!(JsonText::new(list.into_bytes()).is_ok());
        assert!(JsonText::new(object(MAX_KEYS + 1).into_bytes()).is_err());
        let nested = format!("{{\"a\":{}}}", object(MAX_KEYS));
        assert!(JsonText::new(nested.into_bytes()).is_err());
    }
}
