//! Modules: a file, the files that it imports, and what they import in turn.
//!
//! [`load`] reads nothing itself: a [`Loader`] hands over the files, and the modules of libraries are given as text. So
//! the same graph is built for a folder, an archive or the open buffers of an editor. A module is an extendable list of
//! items; the checker sees all modules of a program at once and resolves a name in the module that it stands in. This
//! file must not know what names mean.

mod cycles;
pub(crate) mod einsum;
pub(crate) mod paths;
mod unknown;

use cotan_ops::Registry;
use std::collections::{BTreeMap, HashMap, VecDeque};

use cotan_syntax::ast::{self, Import, ImportSource, Item, ItemKind, NodeId};
use cotan_syntax::{Diagnostic, FileId, SourceMap, Span, decode, parse};

use crate::codes;

/// Gives the text of imported files.
pub trait Loader: Sync {
    /// The bytes of the file at `path`; `None` if there is no such file, and the reason if it can't be read.
    ///
    /// The path is that of the importing file with the import applied to it, in the same notation as the name of the
    /// first file of the program: `dir/main.cot` with `import ../shared/layers` asks for `shared/layers.cot`.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String>;
}

/// A loader for programs of one file: it has no files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn read(&self, _: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
}

/// A module of a library, imported by its dotted name.
#[derive(Clone, Copy, Debug)]
pub struct LibraryModule {
    /// The name: `std.nn`.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
}

/// What programs may import, and the operations that its modules may use by name.
#[derive(Clone, Debug)]
pub struct Library {
    /// The modules.
    pub modules: Vec<LibraryModule>,
    /// The operations.
    pub registry: &'static Registry,
}

impl Library {
    /// Modules that use operations of the op table.
    pub fn new(modules: &[LibraryModule]) -> Library {
        Library { modules: modules.to_vec(), registry: Registry::standard() }
    }

    /// One more module. Of two with one name the later one counts.
    #[must_use]
    pub fn with_module(mut self, module: LibraryModule) -> Library {
        self.modules.insert(0, module);
        self
    }

    /// The same modules with other operations.
    #[must_use]
    pub fn with_registry(self, registry: &'static Registry) -> Library {
        Library { registry, ..self }
    }
}

/// A module: an index into [`Modules::all`]. It has the number of its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub u32);

/// A module after parsing.
#[derive(Clone, Debug)]
pub struct Module {
    /// What the names of its functions begin with in the program: empty for the first module, `layers` or `std.nn` for
    /// others. No two modules have the same, nor has a declaration of the first module.
    pub label: String,
    /// The syntax tree.
    pub syntax: ast::Module,
    /// The modules behind its imports, by the item. Imports that led nowhere are missing.
    pub imports: BTreeMap<NodeId, ModuleId>,
    /// Whether it belongs to a library: only there may an operation be used by its name in the op table.
    pub is_library: bool,
}

/// The modules of a program.
#[derive(Clone, Debug)]
pub struct Modules {
    /// All modules, that of the program itself first, then in the order in which they are imported.
    pub all: Vec<Module>,
    /// The operations that modules of a library may use.
    pub registry: &'static Registry,
    /// The text of each.
    pub sources: SourceMap,
    /// What the program might have imported.
    pub library: Vec<LibraryModule>,
}

/// What [`load`] gives.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The modules.
    pub modules: Modules,
    /// What is wrong with the syntax of the files and with the imports.
    pub diagnostics: Vec<Diagnostic>,
}

impl Modules {
    /// The module of the program itself.
    pub fn root(&self) -> &Module {
        self.all.first().expect("invariant: a program has a module")
    }
}

impl From<ast::Module> for Modules {
    /// A program of one module, whose imports lead nowhere and whose text is not known.
    fn from(syntax: ast::Module) -> Self {
        Self {
            all: vec![Module { label: String::new(), syntax, imports: BTreeMap::new(), is_library: false }],
            registry: Registry::standard(),
            sources: SourceMap::new(),
            library: Vec::new(),
        }
    }
}

/// Parses a file and everything that it imports. Never fails: what is wrong stands in the diagnostics.
///
/// ```
/// use cotan_sema::modules::{Library, Loader, load};
///
/// struct Shared;
/// impl Loader for Shared {
///     fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
///         let text = "pub fn twice(x: f64) -> f64 = 2.0 * x";
///         Ok((path == "lib/numbers.cot").then(|| text.as_bytes().to_vec()))
///     }
/// }
///
/// let text = "import ./lib/numbers\nfn f(x: f64) -> f64 = numbers.twice(x)";
/// let loaded = load("main.cot", text, &Shared, &Library::new(&[]));
/// assert_eq!(loaded.modules.all[1].label, "numbers");
/// let checked = cotan_sema::check(&loaded.modules, &cotan_sema::Limits::default());
/// assert!(checked.is_valid());
/// ```
pub fn load(name: &str, text: &str, loader: &dyn Loader, library: &Library) -> Loaded {
    let mut graph = Graph {
        loader,
        library: &library.modules,
        sources: SourceMap::new(),
        diagnostics: Vec::new(),
        all: Vec::new(),
        origins: Vec::new(),
        known: HashMap::new(),
        edges: Vec::new(),
        open: VecDeque::new(),
        sums: BTreeMap::new(),
    };
    graph.add(Origin::File(name.to_owned()), String::new(), name, text.to_owned());
    while let Some(module) = graph.open.pop_front() {
        graph.follow_imports(module);
    }
    if !graph.sums.is_empty() {
        let text = graph.sums.values().cloned().collect::<String>();
        graph.add(Origin::Library(einsum::MODULE.to_owned()), einsum::MODULE.to_owned(), einsum::MODULE, text);
    }
    graph.diagnostics.extend(cycles::find(&graph.edges, &graph.sources));
    Loaded {
        modules: Modules {
            all: graph.all,
            registry: library.registry,
            sources: graph.sources,
            library: library.modules.clone(),
        },
        diagnostics: graph.diagnostics,
    }
}

/// Where a module comes from: two imports of one origin are one module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Origin {
    /// The file at a path.
    File(String),
    /// A module of a library, by its dotted name.
    Library(String),
}

/// An import that led to a module.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: ModuleId,
    to: ModuleId,
    span: Span,
}

/// The modules found so far.
struct Graph<'l> {
    loader: &'l dyn Loader,
    library: &'l [LibraryModule],
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    all: Vec<Module>,
    /// Where each module comes from.
    origins: Vec<Origin>,
    /// What each origin led to; `None` for one that has been reported.
    known: HashMap<Origin, Option<ModuleId>>,
    edges: Vec<Edge>,
    /// The modules whose imports are yet to be followed.
    open: VecDeque<ModuleId>,
    /// The functions of the Einstein sums that are used, by name.
    sums: BTreeMap<String, String>,
}

impl Graph<'_> {
    fn add(&mut self, origin: Origin, label: String, name: &str, text: String) -> ModuleId {
        let id = ModuleId(self.all.len() as u32);
        let file = self.sources.add(name, text);
        let text = self.sources.get(file).map_or("", |file| file.text());
        let (syntax, mut diagnostics) = parse(file, text);
        einsum::uses(&syntax.tokens, text, &mut self.sums);
        self.diagnostics.append(&mut diagnostics);
        let is_library = matches!(origin, Origin::Library(_));
        self.all.push(Module { label, syntax, imports: BTreeMap::new(), is_library });
        self.known.insert(origin.clone(), Some(id));
        self.origins.push(origin);
        self.open.push_back(id);
        id
    }

    fn follow_imports(&mut self, from: ModuleId) {
        let items = &self.all[from.0 as usize].syntax.items;
        let imports: Vec<(NodeId, Span, Import)> = items
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Import(import) => Some((item.id, item.span, import.clone())),
                ItemKind::Function(_)
                | ItemKind::Struct(_)
                | ItemKind::Enum(_)
                | ItemKind::TypeAlias(_)
                | ItemKind::Const(_)
                | ItemKind::Trait(_)
                | ItemKind::Impl(_)
                | ItemKind::Error => None,
            })
            .collect();
        for (item, whole, import) in imports {
            let Some((origin, span)) = self.origin(from, &import.source) else { continue };
            let found = match self.known.get(&origin) {
                Some(known) => *known,
                None => {
                    let found = self.open_module(&origin, &import.source, (span, whole));
                    self.known.insert(origin, found);
                    found
                }
            };
            if let Some(to) = found {
                self.all[from.0 as usize].imports.insert(item, to);
                self.edges.push(Edge { from, to, span });
            }
        }
    }

    /// Where an import leads; `None` if its path is incomplete, which has been reported.
    fn origin(&self, from: ModuleId, source: &ImportSource) -> Option<(Origin, Span)> {
        match source {
            ImportSource::Library(path) => {
                let names: Vec<&str> = path.segments.iter().map(|segment| segment.name.as_str()).collect();
                let is_complete = !names.is_empty() && names.iter().all(|name| !name.is_empty());
                is_complete.then(|| (Origin::Library(names.join(".")), path.span))
            }
            ImportSource::Relative { parents, segments, span } => {
                let names: Vec<&str> = segments.iter().map(|segment| segment.name.as_str()).collect();
                if names.iter().any(|name| name.is_empty()) {
                    return None;
                }
                let origin = match &self.origins[from.0 as usize] {
                    Origin::File(path) => Origin::File(paths::relative_file(path, *parents, &names)),
                    Origin::Library(name) => Origin::Library(paths::relative_library(name, *parents, &names)),
                };
                Some((origin, *span))
            }
        }
    }

    /// Reads the module of an import that has not been seen before; reports one that can't be read.
    fn open_module(&mut self, origin: &Origin, source: &ImportSource, (span, whole): (Span, Span)) -> Option<ModuleId> {
        match origin {
            Origin::Library(name) => match self.library.iter().find(|module| module.name == name) {
                Some(module) => {
                    let file = format!("{}.cot", name.replace('.', "/"));
                    let label = self.free_label(name);
                    Some(self.add(origin.clone(), label, &file, module.text.to_owned()))
                }
                None => {
                    self.diagnostics.push(unknown::report(name, self.library, span, whole));
                    None
                }
            },
            Origin::File(path) => {
                let bytes = match self.loader.read(path) {
                    Ok(Some(bytes)) => bytes,
                    Ok(None) => {
                        self.report_missing_file(path, source, span);
                        return None;
                    }
                    Err(reason) => {
                        let message = format!("expected a module in `{path}`, found that it can't be read: {reason}");
                        let diagnostic = Diagnostic::error(codes::MODULE_NOT_FOUND, span, message);
                        self.diagnostics.push(diagnostic.help("see that the file may be read"));
                        return None;
                    }
                };
                let file = FileId(self.all.len() as u32);
                let text = match decode(file, bytes) {
                    Ok(text) => text,
                    Err(invalid) => {
                        self.diagnostics.push(*invalid.diagnostic);
                        invalid.valid
                    }
                };
                let label = self.free_label(paths::stem(path));
                Some(self.add(origin.clone(), label, path, text))
            }
        }
    }

    /// A label that neither another module has nor a declaration of the first one.
    fn free_label(&self, wanted: &str) -> String {
        let is_taken = |label: &str| {
            self.all.iter().any(|module| module.label == label)
                || self.all[0].syntax.items.iter().any(|item| item_name(item) == Some(label))
        };
        let numbered = (2..).map(|n: u64| format!("{wanted}.{n}"));
        let mut candidates = std::iter::once(wanted.to_owned()).chain(numbered);
        candidates.find(|label| !is_taken(label)).expect("invariant: finitely many labels are taken")
    }

    fn report_missing_file(&mut self, path: &str, source: &ImportSource, span: Span) {
        let written = paths::written(source);
        let message = format!("expected a module at `{written}`, found no file `{path}`");
        self.diagnostics.push(
            Diagnostic::error(codes::MODULE_NOT_FOUND, span, message)
                .note(format!("`{path}` was tried"))
                .help("the path is that of a file without `.cot`, relative to the importing file"),
        );
    }
}

/// The name that a declaration introduces.
fn item_name(item: &Item) -> Option<&str> {
    let ident = match &item.kind {
        ItemKind::Function(it) => &it.signature.name,
        ItemKind::Struct(it) => &it.name,
        ItemKind::Enum(it) => &it.name,
        ItemKind::TypeAlias(it) => &it.name,
        ItemKind::Const(it) => &it.name,
        ItemKind::Trait(it) => &it.name,
        ItemKind::Impl(_) | ItemKind::Import(_) | ItemKind::Error => return None,
    };
    Some(&ident.name)
}
