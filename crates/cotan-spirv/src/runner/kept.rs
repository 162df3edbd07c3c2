//! Kernels that are kept between processes (persistent cache): their SPIR-V, and what the driver has made of it.
//!
//! What is kept is named by all that it depends on. In front of it stand its length and a hash, so that nothing damaged comes
//! to a driver, which trusts what it is given.

use crate::emit::Kernel as Module;
use crate::features::Features;
use crate::kernels::Stage;
use crate::numbers::Numbers;
use crate::vulkan::{Code, Device, PipelineCache};
use cotan_device::Plan;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Where bytes are kept under names. Nothing about it is an error: what can't be had is made again.
pub trait KernelStore {
    /// What is kept under a name.
    fn load(&self, name: &[&str]) -> Option<Vec<u8>>;

    /// Keeps bytes.
    fn store(&self, name: &[&str], bytes: &[u8]);
}

/// How what is kept begins.
const MARK: &[u8; 16] = b"cotan kernels 1\n";

/// The code of a stage of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnedCode {
    words: Vec<u32>,
    workgroup: u32,
    needs: Features,
}

/// What is kept of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The stages of all kernels, in order.
    pub(super) code: Vec<OwnedCode>,
    /// What the driver has said of its pipelines.
    pub(super) pipelines: Vec<u8>,
}

/// The kernels of a plan where they are kept.
pub(super) struct KeptKernels<'k> {
    store: Option<&'k dyn KernelStore>,
    name: Vec<String>,
    /// What was found.
    found: Option<Vec<u8>>,
}

impl OwnedCode {
    pub(super) fn of(module: &Module) -> OwnedCode {
        OwnedCode { words: module.words().to_vec(), workgroup: module.workgroup(), needs: module.needs() }
    }
}

impl<'k> From<&'k OwnedCode> for Code<'k> {
    fn from(code: &'k OwnedCode) -> Code<'k> {
        Code { words: &code.words, workgroup: code.workgroup, needs: code.needs }
    }
}

impl<'k> KeptKernels<'k> {
    pub(super) fn new(
        device: &Device,
        numbers: &Numbers,
        plan: &Plan,
        workgroup: u32,
        store: Option<&'k dyn KernelStore>,
    ) -> KeptKernels<'k> {
        let info = device.info();
        let name = || {
            vec![
                "kernels of a plan".to_owned(),
                info.name.clone(),
                info.driver.clone(),
                info.version.clone(),
                format!("{:?}", info.identity),
                format!("{:?}", info.features),
                format!("{:?}", numbers.to_bytes()),
                workgroup.to_string(),
                format!("{plan:?}"),
            ]
        };
        KeptKernels { store, name: if store.is_some() { name() } else { Vec::new() }, found: None }
    }

    fn name(&self) -> Vec<&str> {
        self.name.iter().map(String::as_str).collect()
    }

    /// What is kept, if it is whole.
    pub(super) fn load(&mut self) -> Option<Kept> {
        self.found = self.store.and_then(|store| store.load(&self.name()));
        Kept::of_bytes(self.found.as_ref()?)
    }

    /// Keeps code and what the driver says of it, unless that is what was found.
    pub(super) fn store(&self, code: Vec<OwnedCode>, cache: &PipelineCache) {
        let Some(store) = self.store else { return };
        let kept = Kept { code, pipelines: cache.bytes().unwrap_or_default() };
        let bytes = kept.to_bytes();
        if self.found.as_ref() != Some(&bytes) {
            store.store(&self.name(), &bytes);
        }
    }
}

impl Kept {
    /// Whether it has as many stages as the kernels of a plan.
    pub(super) fn fit(&self, plan: &Plan) -> bool {
        self.code.len() == plan.kernels.iter().map(|kernel| Stage::of(kernel).len()).sum::<usize>()
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        put(&mut payload, self.code.len());
        for code in &self.code {
            payload.extend(code.workgroup.to_le_bytes());
            payload.extend(code.needs.to_bits().to_le_bytes());
            put(&mut payload, code.words.len());
            payload.extend(code.words.iter().flat_map(|word| word.to_le_bytes()));
        }
        payload.extend(&self.pipelines);
        let mut bytes = MARK.to_vec();
        put(&mut bytes, payload.len());
        bytes.extend(hash(&payload).to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    /// `None` if the bytes are others.
    fn of_bytes(bytes: &[u8]) -> Option<Kept> {
        let mut rest = bytes.strip_prefix(MARK)?;
        let len = usize::try_from(take(&mut rest)?).ok()?;
        let told = take(&mut rest)?;
        if rest.len() != len || hash(rest) != told {
            return None;
        }
        let n_stages = take(&mut rest)?;
        let mut code = Vec::new();
        for _ in 0..n_stages {
            let (workgroup, needs) = (take_word(&mut rest)?, take_word(&mut rest)?);
            let n_words = usize::try_from(take(&mut rest)?).ok()?;
            let (words, behind) = rest.split_at_checked(n_words.checked_mul(4)?)?;
            rest = behind;
            let (words, _) = words.as_chunks();
            let words = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
            code.push(OwnedCode { words, workgroup, needs: Features::of_bits(needs) });
        }
        Some(Kept { code, pipelines: rest.to_vec() })
    }
}

fn put(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u64).to_le_bytes());
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*first))
}

fn take_word(bytes: &mut &[u8]) -> Option<u32> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*first))
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_is_nothing() {
        let needs = Features { float64: true, addresses: true, ..Features::default() };
        let code = |words: &[u32]| OwnedCode { words: words.to_vec(), workgroup: 64, needs };
        let kept = Kept { code: vec![code(&[1, 2, 3]), code(&[])], pipelines: vec![7; 5] };
        let bytes = kept.to_bytes();
        assert_eq!(Kept::of_bytes(&bytes), Some(kept));
        for at in 0..bytes.len() {
            assert_eq!(Kept::of_bytes(&bytes[..at]), None, "{at}");
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_eq!(Kept::of_bytes(&damaged), None, "bit {bit} of byte {at}");
            }
        }
        assert_eq!(Kept::of_bytes(&[bytes.as_slice(), &[0]].concat()), None);
    }
}
