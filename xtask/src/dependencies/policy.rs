//! What `deny.toml` allows.

use super::toml;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// The rules that are checked here. Each list of the file must be there.
#[derive(Debug)]
pub(super) struct Policy {
    /// The systems whose packages are looked at.
    pub(super) targets: Vec<String>,
    /// Licences.
    pub(super) licences: Vec<String>,
    /// Registries that packages may come from; nothing else may be a source.
    pub(super) registries: Vec<String>,
    /// `name@version` of packages that may be there beside another version.
    pub(super) duplicates: Vec<String>,
    /// Advisories with a decision.
    pub(super) advisories: Vec<String>,
}

impl Policy {
    /// Reads the text of `deny.toml`. A table or key that is not known is an error: it would be obeyed by `cargo deny` alone.
    pub(super) fn read(text: &str) -> Result<Policy> {
        let mut tables = toml::read(text).context("deny.toml")?;
        let mut take = |table: &str, key: &str| {
            let entries = tables.get_mut(table).and_then(Value::as_object_mut);
            entries.and_then(|entries| entries.remove(key)).with_context(|| format!("deny.toml: no `{table}.{key}`"))
        };
        for (table, key) in [("sources", "unknown-registry"), ("sources", "unknown-git"), ("bans", "multiple-versions")]
        {
            if take(table, key)? != "deny" {
                bail!("deny.toml: `{table}.{key}` must be \"deny\"");
            }
        }
        let policy = Policy {
            targets: texts(take("graph", "targets")?, "graph.targets")?,
            licences: texts(take("licenses", "allow")?, "licenses.allow")?,
            registries: texts(take("sources", "allow-registry")?, "sources.allow-registry")?,
            duplicates: reasoned(take("bans", "skip")?, "bans.skip", "crate")?,
            advisories: reasoned(take("advisories", "ignore")?, "advisories.ignore", "id")?,
        };
        let left = tables.iter().find_map(|(table, entries)| Some((table, entries.as_object()?.keys().next()?)));
        match left {
            Some((table, key)) => bail!("deny.toml: `{table}.{key}` is not checked by `cargo xtask tidy`"),
            None => Ok(policy),
        }
    }
}

fn texts(list: Value, key: &str) -> Result<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let texts = list.as_array().and_then(|items| items.iter().map(text).collect());
    texts.with_context(|| format!("deny.toml: `{key}` is no list of strings"))
}

/// The entries of a list of tables, each with a reason.
fn reasoned(list: Value, key: &str, name: &str) -> Result<Vec<String>> {
    let entry = |value: &Value| {
        let entry: &Map<String, Value> = value.as_object()?;
        entry.get("reason")?.as_str().filter(|reason| !reason.is_empty())?;
        (entry.len() == 2).then(|| entry.get(name)?.as_str().map(str::to_owned)).flatten()
    };
    let entries = list.as_array().and_then(|items| items.iter().map(entry).collect());
    entries.with_context(|| format!("deny.toml: `{key}` is no list of tables with `{name}` and `reason`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_repository_is_read_and_an_unknown_key_is_refused() {
        let text = include_str!("../../../deny.toml");
        let policy = Policy::read(text).unwrap();
        assert!(policy.licences.contains(&"MIT".to_owned()), "{policy:?}");
        let more = format!("{text}\n[output]\nfeature-depth = true\n");
        let said = Policy::read(&more).unwrap_err().to_string();
        assert_eq!(said, "deny.toml: `output.feature-depth` is not checked by `cargo xtask tidy`");
    }

    #[test]
    fn an_entry_without_a_reason_and_a_loose_rule_are_refused() {
        let text = include_str!("../../../deny.toml");
        let without = text.replace(", reason = \"ahash", ", because = \"ahash");
        let said = Policy::read(&without).unwrap_err().to_string();
        assert_eq!(said, "deny.toml: `bans.skip` is no list of tables with `crate` and `reason`");
        let loose = text.replace("unknown-git = \"deny\"", "unknown-git = \"warn\"");
        assert_eq!(Policy::read(&loose).unwrap_err().to_string(), "deny.toml: `sources.unknown-git` must be \"deny\"");
    }
}
