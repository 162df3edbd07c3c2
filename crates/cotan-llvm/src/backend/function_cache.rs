//! Function cache: compiled functions are kept by what they were made of, so that another process makes neither their loops
//! nor the text of these again.
//!
//! An entry holds the name of the entry of the objects, what the host knows of the code, and the IR of the function.

use super::{Backend, Code, CompileError, CompileOptions};
use crate::cache::{Key, packed, unpacked};
use crate::emit::symbol;
use cotan_ir::{Module, PrintOptions, VerifiedModule, parse_module, print_module};
use cotan_runtime::{CodeOrigin, CompiledFunction, Reports};
use std::sync::Arc;

impl Backend {
    /// What a function is kept under that was made of this: all of it that decides about the code or what is known of it,
    /// the version of whatever made it included. `None` if nothing is kept: code with probes never is, nor is
    /// that with wavefronts in pieces of one's own choice, or for known sizes.
    pub fn key(&self, made_of: &[&str], options: &CompileOptions) -> Option<Key> {
        let is_for_all = options.probe.is_none() && options.tasks.is_none() && options.known_sizes.is_empty();
        self.engine.cache().filter(|_| is_for_all)?;
        let width = options.width.map_or(String::new(), |width| width.lanes().to_string());
        let effort = if options.is_quick { "quick" } else { "" };
        let kind = if options.is_version { "version" } else { "" };
        let fields: Vec<&str> = made_of.iter().copied().chain([width.as_str(), effort, kind]).collect();
        Some(self.engine.key_of("function", &fields, options.level))
    }

    /// The function of this name that is kept under a key, and the module that is kept with it.
    pub fn kept(&self, key: &Key, name: &str) -> Option<(VerifiedModule, CompiledFunction)> {
        let entry = self.engine.cache()?.load(key)?;
        let [objects, sums, unwatched, reports, ir] = <[Vec<u8>; 5]>::try_from(unpacked(&entry)).ok()?;
        let module = VerifiedModule::new(parse_module(std::str::from_utf8(&ir).ok()?, self.registry).ok()?).ok()?;
        let f = module.function(name)?;
        let code = Code {
            module: Arc::new(self.engine.cached(&Key::from_text(&objects)?, &[symbol(name)], &self.symbols)?),
            origin: CodeOrigin::Cache,
            reports: Arc::new(Reports::from_text(std::str::from_utf8(&reports).ok()?)?),
            regroups_sums: sums == REGROUPED.as_bytes(),
            unwatched: positions(&unwatched)?.map(|unwatched| (f.name.clone(), unwatched)).into_iter().collect(),
        };
        let function = self.function(f, &code).ok()?;
        Some((module, function))
    }

    /// Compiles a function of a module in which no derivative is left to be written, and keeps it under a key with another
    /// module, in which the function has the same signature: what it is a variant of, or the same one.
    pub fn compile_and_keep(
        &self,
        key: &Key,
        beside: &Module,
        module: &VerifiedModule,
        name: &str,
        options: &CompileOptions,
    ) -> Result<CompiledFunction, CompileError> {
        let (code, objects) = self.make(module, &[name], options)?;
        if let Some(cache) = self.engine.cache() {
            let sums = if code.regroups_sums { REGROUPED } else { IN_ORDER };
            let unwatched = code.unwatched.get(name).map_or(UNWATCHED.to_owned(), |unwatched| {
                unwatched.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
            });
            let (reports, ir) = (code.reports.to_text(), print_module(beside, PrintOptions { spans: true }));
            let texts = [&objects.to_text(), sums, &unwatched, &reports, &ir];
            cache.store(key, &packed(&texts.map(str::as_bytes)));
        }
        let f = module.function(name).ok_or_else(|| CompileError::UnknownFunction(name.to_owned()))?;
        self.function(f, &code)
    }
}

/// How lanes add up.
const REGROUPED: &str = "regrouped";
const IN_ORDER: &str = "in order";
/// Of code that does not watch for NaN, in the place of the positions of results that are looked through.
const UNWATCHED: &str = "-";

/// The positions of results, of code that watches for NaN; the outer `None` if they cannot be read.
fn positions(text: &[u8]) -> Option<Option<Vec<usize>>> {
    let text = std::str::from_utf8(text).ok()?;
    if text == UNWATCHED {
        return Some(None);
    }
    text.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>().map(Some)
}
