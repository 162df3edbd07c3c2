//! Specialised versions: code of a function for calls of small sizes, beside the code for calls of any sizes.
//!
//! Loops of a few iterations, known when code is made, are written out, and their arrays live in registers. So a function
//! whose small sizes are extents of inner loops gets code for the sizes that it is called with, chosen on entry, once calls
//! of these sizes have taken about as long as it takes to make. It gives the same bits, and the same errors at the same
//! places; see [`cotan_opt::versions`]. Where its sums would have another order, or its checks would be others, it is the general
//! code's nest in which the sizes are bound at the end; see [`cotan_cpu::bind_sizes`].

use super::cpu::CodeOptions;
use cotan_ir::{Symbol, VerifiedModule};
use cotan_llvm::{Backend, CompileOptions};
use cotan_opt::KnownExtents;
use cotan_opt::versions::{KnownSize, inner_extents, version};
use cotan_runtime::CompiledFunction;
use cotan_syntax::on_deep_stack;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The sizes that versions are made for.
const SMALL: RangeInclusive<i64> = 1..=16;
/// Versions of a function at most; calls of further sizes run the general code.
const MOST_VERSIONS: usize = 4;

/// When versions for small sizes are made. No result depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionPolicy {
    /// Once calls of the same sizes have taken about as long as the version takes to make.
    #[default]
    WhenTheyPay,
    /// On the first call of these sizes.
    AtOnce,
    /// Never.
    Never,
}

impl VersionPolicy {
    const ALL: [VersionPolicy; 3] = [VersionPolicy::WhenTheyPay, VersionPolicy::AtOnce, VersionPolicy::Never];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            VersionPolicy::WhenTheyPay => "when-they-pay",
            VersionPolicy::AtOnce => "at-once",
            VersionPolicy::Never => "never",
        }
    }
}

impl fmt::Display for VersionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for VersionPolicy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<VersionPolicy, &'static str> {
        let named = VersionPolicy::ALL.into_iter().find(|policy| policy.name() == text);
        named.ok_or("expected when-they-pay, at-once or never")
    }
}

/// A version of a function that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeVersion {
    /// The sizes that it is for, by their names.
    pub sizes: Vec<(String, i64)>,
    /// How long it took to make.
    pub time: Duration,
}

/// What versions are made of.
#[derive(Debug)]
pub(super) struct Maker {
    pub(super) llvm: Arc<Backend>,
    pub(super) code: CodeOptions,
    pub(super) module: VerifiedModule,
    pub(super) symbol: Symbol,
    pub(super) known: Vec<KnownExtents>,
    /// Whether it is a variant of the module that runs, with plain products.
    pub(super) is_plain: bool,
}

/// The versions of a function.
#[derive(Debug)]
pub(super) struct Versions {
    maker: Maker,
    /// The positions of the operands that inner loops are as long as.
    extents: Vec<usize>,
    /// What calls take before a version is made.
    patience: Duration,
    /// Made in order, and never taken away, so that calls read them without a lock.
    all: [OnceLock<Version>; MOST_VERSIONS],
}

/// The version for some sizes, made or not.
#[derive(Debug)]
pub(super) struct Version {
    /// One for each of the extents; `None` where the operand is not small.
    sizes: Vec<Option<i64>>,
    /// Nanoseconds that calls of these sizes have taken.
    spent: AtomicU64,
    /// `None` in it: there is none, and will be none.
    code: OnceLock<Option<Made>>,
}

#[derive(Debug)]
struct Made {
    code: CompiledFunction,
    time: Duration,
}

impl Versions {
    /// `None` if no size of the function is worth a version.
    pub(super) fn new(maker: Maker, patience: Duration) -> Option<Versions> {
        let extents = inner_extents(maker.module.function(&maker.symbol)?);
        (!extents.is_empty()).then(|| Versions { maker, extents, patience, all: Default::default() })
    }

    /// The version for calls with such operands, if there is one or may be one.
    pub(super) fn of(&self, operand: impl Fn(usize) -> Option<i64>) -> Option<&Version> {
        let sizes = || self.extents.iter().map(|k| operand(*k).filter(|n| SMALL.contains(n)));
        if sizes().all(|n| n.is_none()) {
            return None;
        }
        let new = || Version { sizes: sizes().collect(), spent: AtomicU64::new(0), code: OnceLock::new() };
        let all = self.all.iter().map(|version| version.get_or_init(new));
        all.into_iter().find(|version| version.sizes.iter().copied().eq(sizes()))
    }

    /// The code of a version. It is made now if it may be, and calls have taken long enough.
    pub(super) fn code<'v>(&self, version: &'v Version, may_make: bool) -> Option<&'v CompiledFunction> {
        let pays = || may_make && Duration::from_nanos(version.spent.load(Ordering::Relaxed)) >= self.patience;
        if version.code.get().is_none() && !pays() {
            return None;
        }
        let made = version.code.get_or_init(|| on_deep_stack(|| self.made(version)));
        made.as_ref().map(|made| &made.code)
    }

    /// Those that were made.
    pub(super) fn all_made(&self) -> Vec<MadeVersion> {
        let told = |version: &Version| {
            let made = version.code.get()?.as_ref()?;
            let f = self.maker.module.function(&self.maker.symbol)?;
            let named = |(k, size): KnownSize| (f.name_of(f.params[k]).to_owned(), size);
            Some(MadeVersion { sizes: self.known_sizes(version).into_iter().map(named).collect(), time: made.time })
        };
        self.all.iter().filter_map(OnceLock::get).filter_map(told).collect()
    }

    fn known_sizes(&self, version: &Version) -> Vec<KnownSize> {
        self.extents.iter().zip(&version.sizes).filter_map(|(k, n)| Some((*k, (*n)?))).collect()
    }

    fn made(&self, of: &Version) -> Option<Made> {
        let start = Instant::now();
        let Maker { llvm, code, module, symbol, known, is_plain } = &self.maker;
        let plain = if *is_plain { code.plain(module, symbol) } else { None };
        let (first, sizes) = (plain.as_ref().unwrap_or(module), self.known_sizes(of));
        let general = CompileOptions { has_plain_products: plain.is_some(), ..code.options() };
        let code = match version(first, symbol, &sizes, known) {
            Some(special) => {
                let special = crate::pipeline::verified(special);
                llvm.compile(&special, symbol, &CompileOptions { is_version: true, ..general })
            }
            // Sums have the order of the general code's nest, and checks are all there, so that is what sizes are bound in.
            None => llvm.compile(first, symbol, &CompileOptions { known_sizes: sizes, ..general }),
        };
        let code = code.ok()?;
        Some(Made { code, time: start.elapsed() })
    }
}

impl Version {
    /// Takes note of the time of a call of general code.
    pub(super) fn spend(&self, time: Duration) {
        self.spent.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
