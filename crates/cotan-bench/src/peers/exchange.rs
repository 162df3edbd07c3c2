//! A folder in which a peer finds its arguments and leaves its entries.

use crate::Instance;
use anyhow::{Context, Result};
use cotan::host::{HostValue, write_npz};
use std::path::{Path, PathBuf};

/// The file of the arguments.
const ARGUMENTS: &str = "arguments.npz";

/// A folder of this process with the arguments of an instance, removed with this value.
pub(crate) struct Exchange(PathBuf);

impl Exchange {
    /// Writes the arguments of an instance.
    pub(crate) fn hand_over(within: &Path, instance: &Instance) -> Result<Exchange> {
        let folder = Exchange(within.join(std::process::id().to_string()));
        std::fs::create_dir_all(&folder.0).with_context(|| format!("making {}", folder.0.display()))?;
        let mut arguments = Vec::new();
        for (name, value) in &instance.args {
            flatten(name, value, &mut arguments);
        }
        let bytes = write_npz(&arguments).context("expected arguments that are tensors, scalars or structs of them")?;
        let file = folder.arguments();
        std::fs::write(&file, bytes).with_context(|| format!("writing {}", file.display()))?;
        Ok(folder)
    }

    /// Where the arguments are.
    pub(crate) fn arguments(&self) -> PathBuf {
        self.0.join(ARGUMENTS)
    }

    /// Where a peer leaves its entries.
    pub(crate) fn entries(&self, peer: &str) -> PathBuf {
        self.0.join(peer).with_extension("npy")
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // What cannot be removed lies in the target folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Structs are handed over field by field, `model.parent` for the field of an argument.
fn flatten(name: &str, value: &HostValue, out: &mut Vec<(String, HostValue)>) {
    if let HostValue::Struct(fields) = value {
        for (field, value) in fields {
            flatten(&format!("{name}.{field}"), value, out);
        }
    } else {
        out.push((name.to_owned(), value.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_handed_over_under_the_name_of_their_struct() {
        let model = HostValue::Struct(vec![("size".to_owned(), HostValue::i64(3))]);
        let mut found = Vec::new();
        flatten("model", &model, &mut found);
        assert_eq!(found, [("model.size".to_owned(), HostValue::i64(3))]);
    }
}
