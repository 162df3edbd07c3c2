//! A reader of the part of TOML that `deny.toml` is written in: tables, and keys with strings, booleans, lists and inline
//! tables. What is not of that part is an error with its line, so that nothing is passed over.

use anyhow::{Result, bail};
use serde_json::{Map, Value};

/// The tables of a text by their names; keys in front of the first table are in the table ``.
pub(super) fn read(text: &str) -> Result<Map<String, Value>> {
    let mut tables = Map::new();
    let mut table = String::new();
    let mut rest = Text { rest: text, all: text };
    loop {
        rest.skip_blanks();
        if rest.rest.is_empty() {
            return Ok(tables);
        }
        if rest.take("[") {
            table = rest.bare_key()?;
            rest.expect("]")?;
            if tables.contains_key(&table) {
                bail!("line {}: the table `{table}` stands twice", rest.line());
            }
            tables.insert(table.clone(), Value::Object(Map::new()));
        } else {
            let (key, value) = rest.pair()?;
            let entries = tables.entry(table.clone()).or_insert_with(|| Value::Object(Map::new()));
            if entries.get(&key).is_some() {
                bail!("line {}: the key `{key}` stands twice", rest.line());
            }
            entries[key] = value;
        }
        rest.end_of_line()?;
    }
}

struct Text<'a> {
    rest: &'a str,
    all: &'a str,
}

impl Text<'_> {
    fn line(&self) -> usize {
        let read = self.all.len() - self.rest.len();
        1 + self.all[..read].matches('\n').count()
    }

    /// Goes over white space, ends of lines and comments.
    fn skip_blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                return;
            }
            self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
        }
    }

    fn take(&mut self, mark: &str) -> bool {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, mark: &str) -> Result<()> {
        if self.take(mark) {
            return Ok(());
        }
        let found: String = self.rest.chars().take(20).collect();
        bail!("line {}: expected `{mark}`, found `{}`", self.line(), found.lines().next().unwrap_or_default())
    }

    /// Nothing but a comment stands in the rest of the line.
    fn end_of_line(&mut self) -> Result<()> {
        let line = self.rest.lines().next().unwrap_or_default().trim_start();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        bail!("line {}: expected the end of the line, found `{line}`", self.line())
    }

    fn bare_key(&mut self) -> Result<String> {
        let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let end = self.rest.find(|c| !is_of_key(c)).unwrap_or(self.rest.len());
        if end == 0 {
            bail!("line {}: expected a name of letters, digits, `-` and `_`", self.line());
        }
        let (key, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(key.to_owned())
    }

    /// `key = value`.
    fn pair(&mut self) -> Result<(String, Value)> {
        let key = self.bare_key()?;
        self.skip_blanks();
        self.expect("=")?;
        self.skip_blanks();
        Ok((key, self.value()?))
    }

    fn value(&mut self) -> Result<Value> {
        if self.take("\"") {
            let end = self.rest.find(['"', '\\', '\n']).unwrap_or(self.rest.len());
            let (text, rest) = self.rest.split_at(end);
            self.rest = rest;
            self.expect("\"")?;
            Ok(Value::from(text))
        } else if self.take("true") {
            Ok(Value::Bool(true))
        } else if self.take("false") {
            Ok(Value::Bool(false))
        } else if self.take("[") {
            let mut items = Vec::new();
            self.list("]", |text| {
                items.push(text.value()?);
                Ok(())
            })?;
            Ok(Value::Array(items))
        } else {
            self.expect("{")?;
            let mut entries = Map::new();
            self.list("}", |text| {
                let (key, value) = text.pair()?;
                entries.insert(key, value);
                Ok(())
            })?;
            Ok(Value::Object(entries))
        }
    }

    /// Items with commas between them, and perhaps one behind the last, up to `close`.
    fn list(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        loop {
            self.skip_blanks();
            if self.take(close) {
                return Ok(());
            }
            item(self)?;
            self.skip_blanks();
            if !self.take(",") {
                return self.expect(close);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_have_strings_booleans_lists_and_inline_tables() {
        let text = "# Why.\n[one]\na = \"x\" # here\nb = [\n  \"p\", # too\n  \"q\",\n]\n\n[two-2]\nc = true\n\
                    d = [{ e = \"f\", g = \"h\" }]\n";
        let read = Value::Object(read(text).unwrap());
        let expected = json!({"one": {"a": "x", "b": ["p", "q"]}, "two-2": {"c": true, "d": [{"e": "f", "g": "h"}]}});
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_not_of_the_part_is_refused_with_its_line() {
        for (text, said) in [
            ("[a]\nb = 1\n", "line 2: expected `{`, found `1`"),
            ("[a]\n\nb = \"x\\n\"\n", "line 3: expected `\"`, found `\\n\"`"),
            ("[a.b]\n", "line 1: expected `]`, found `.b]`"),
            ("[a]\n[a]\n", "line 2: the table `a` stands twice"),
            ("[a]\nb = true\nb = true\n", "line 3: the key `b` stands twice"),
            ("[a]\nb = true c\n", "line 2: expected the end of the line, found `c`"),
            ("[a]\nb = [\"x\" \"y\"]\n", "line 2: expected `]`, found `\"y\"]`"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), said);
        }
    }
}
