//! The text form: printer and grammar.
//!
//! ```text
//! module    = { function | derived }
//! derived   = "derive" symbol "=" ("jvp" | "vjp") symbol "wrt" positions "of" positions
//! positions = "(" [ int { "," int } ] ")"
//! function  = "fn" symbol "(" [ binding { "," binding } ] ")" [ "vjp" symbol ] [ "jvp" symbol ] block("return")
//! block(w)  = "{" { statement } w atoms "}"                      one statement, and `w atoms`, to a line
//! statement = [ binding { "," binding } "=" ] operation          a region's span stands before its first block
//! operation = name atoms [ "{" [ int { "," int } ] "}" ] [ span ]           primitive or tensor op (attributes)
//!           | atom at [ span ]                                              read
//!           | "update" atom at "=" atom [ span ]
//!           | "acc_add" variable at "=" atom [ span ]                       no results
//!           | "check" atom code "(" atoms ")" atom [ span ]
//!           | "call" symbol "(" atoms ")" [ span ]
//!           | "par" [ index "<" atom { "," index "<" atom } ] [ "(" kind { "," kind } ")" ] [ accs ] [ span ]
//!             block("yield")
//!           | "loop" index "<" atom [ carried ] [ accs ] [ span ] block("yield")
//!           | "while" index [ carried ] [ accs ] [ span ] block("yield")
//!           | "switch" atom [ span ] { block("yield") }
//! at        = "[" atoms "]"
//! kind      = "stack" | monoid "from" atom
//! carried   = "(" binding "=" atom { "," binding "=" atom } ")"
//! accs      = "acc" "(" acc { "," acc } ")"
//! acc       = binding ( monoid | "log" ) [ "from" atom ]
//! index     = variable [ ":" type [ "record" ] ]                 i64 unless it says otherwise
//! binding   = variable ":" type [ "record" ]
//! type      = element [ "[" dim { "," dim } "]" ]
//! dim       = int | variable
//! atoms     = [ atom { "," atom } ]
//! atom      = variable | constant                                constants as `Const` displays them
//! span      = "@" int ":" int ".." int [ ":" role ]              file, first byte, one past the last
//! symbol    = name { "." part } | string                         quoted where it is not made of plain parts
//! variable  = name [ "." int ]                                   `x`, `x.1`, `x.2`: three variables of base name `x`
//! ```
//!
//! A line ends a statement, except inside parentheses and brackets. `//` starts a comment. Names of primitives and
//! tensor operations are disjoint and none of the words that start the other operations. A variable is visible from
//! where it is bound to the end of the function: scopes are the verifier's business.
//!
//! ```
//! use cotan_ir::{Builder, Elem, Ty};
//!
//! let mut b = Builder::new();
//! let n = b.param("n", Ty::scalar(Elem::I64));
//! let x = b.param("x", Ty::new(Elem::F64, vec![n.into()]));
//! let first = b.index(x.into(), &[cotan_ir::Atom::i64(0)]);
//! let function = b.finish("first", vec![first.into()]);
//! assert_eq!(function.to_string(), "fn first(n: i64, x: f64[n]) {\n  elem: f64 = x[0]\n  return elem\n}\n");
//! ```

use crate::names::{Names, continues_name, starts_name};
use crate::{
    Acc, AccKind, Atom, Block, Derived, Dim, Elem, Function, Item, Mode, Module, Op, ParResult, Role, Span, Stmt,
    Symbol, Ty, Var,
};
use std::fmt;

/// What the text form shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// The source span of every statement that has one.
    pub spans: bool,
}

/// The text of a module, its members by name.
pub fn print_module(module: &Module, options: PrintOptions) -> String {
    let items = module.items.iter().map(|(name, item)| match item {
        Item::Function(f) => print_function(f, options),
        Item::Derived(d) => derive_line(name, d) + "\n",
    });
    items.collect::<Vec<_>>().join("\n")
}

/// The text of a function.
pub fn print_function(f: &Function, options: PrintOptions) -> String {
    let mut printer = Printer { f, names: Names::new(f), options, text: String::new() };
    printer.function();
    printer.text
}

/// The line of a statement of `f`; of one with inner blocks, what stands before them.
pub fn print_stmt(f: &Function, s: &Stmt) -> String {
    Printer::new(f).head(s)
}

impl fmt::Display for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&print_function(self, PrintOptions::default()))
    }
}

impl fmt::Display for Module {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&print_module(self, PrintOptions::default()))
    }
}

/// A derivative to be written, as a line of the module.
pub(crate) fn derive_line(name: &str, d: &Derived) -> String {
    let mode = match d.mode {
        Mode::Jvp => "jvp",
        Mode::Vjp => "vjp",
    };
    let (wrt, outs) = (list(&d.wrt, usize::to_string), list(&d.outs, usize::to_string));
    format!("derive {} = {mode} {} wrt ({wrt}) of ({outs})", symbol(name), symbol(&d.of))
}

/// The name of a function as the text form writes it.
fn symbol(name: &str) -> String {
    let plain =
        name.starts_with(starts_name) && name.split('.').all(|p| !p.is_empty() && p.chars().all(continues_name));
    let escaped = || name.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    if plain { name.to_owned() } else { format!("\"{}\"", escaped()) }
}

fn list<T>(items: &[T], show: impl FnMut(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// Prints parts of one function under one choice of names.
pub(crate) struct Printer<'a> {
    f: &'a Function,
    names: Names,
    options: PrintOptions,
    text: String,
}

impl<'a> Printer<'a> {
    /// A printer of single statements of `f`.
    pub(crate) fn new(f: &'a Function) -> Printer<'a> {
        Printer { f, names: Names::new(f), options: PrintOptions::default(), text: String::new() }
    }

    fn function(&mut self) {
        self.text = self.header();
        self.block(&self.f.body, "return", 0);
        self.text += "\n";
    }

    /// The line of a function before its body.
    pub(crate) fn header(&self) -> String {
        let f = self.f;
        let rule = |word, rule: &Option<Symbol>| rule.as_deref().map(|r| format!(" {word} {}", symbol(r)));
        let rules = [rule("vjp", &f.custom_vjp), rule("jvp", &f.custom_jvp)].map(Option::unwrap_or_default).concat();
        format!("fn {}({}){rules}", symbol(&f.name), list(&f.params, |v| self.binding(*v)))
    }

    fn block(&mut self, b: &Block, end: &str, indent: usize) {
        self.text += " {\n";
        for s in &b.stmts {
            self.text += &" ".repeat(indent + 2);
            self.text += &self.head(s);
            s.op.blocks().iter().for_each(|b| self.block(b, "yield", indent + 2));
            self.text += "\n";
        }
        self.text += &format!("{:indent$}  {}\n{:indent$}}}", "", self.end(end, b), "");
    }

    /// The line that ends a block.
    pub(crate) fn end(&self, word: &str, b: &Block) -> String {
        self.operation(word, &b.results)
    }

    /// A statement without its inner blocks.
    pub(crate) fn head(&self, s: &Stmt) -> String {
        let equals = if s.results.is_empty() { "" } else { " = " };
        let span = if self.options.spans && s.span != Span::NONE {
            let Span { file, start, end, role } = s.span;
            let colon = if role == Role::VALUE { "" } else { ":" };
            format!(" @{file}:{start}..{end}{colon}{role}")
        } else {
            String::new()
        };
        format!("{}{equals}{}{span}", list(&s.results, |v| self.binding(*v)), self.op(&s.op))
    }

    fn op(&self, op: &Op) -> String {
        match op {
            Op::Prim { prim, args } => self.operation(prim.name(), args),
            Op::Tensor { op, args, attrs } if attrs.is_empty() => self.operation(op.name(), args),
            Op::Tensor { op, args, attrs } => {
                format!("{} {{{}}}", self.operation(op.name(), args), list(attrs, i64::to_string))
            }
            Op::Index { array, indices } => self.place(*array, indices),
            Op::Update { array, indices, value } => {
                format!("update {} = {}", self.place(*array, indices), self.atom(*value))
            }
            Op::AccAdd { acc, indices, value } => {
                format!("acc_add {} = {}", self.place((*acc).into(), indices), self.atom(*value))
            }
            Op::Par(p) => {
                let kinds = list(&p.kinds, |k| match k {
                    ParResult::Stacked => "stack".to_owned(),
                    ParResult::Reduced { monoid, init } => format!("{} from {}", monoid.name(), self.atom(*init)),
                });
                let levels: Vec<_> = p.indices.iter().zip(&p.extents).collect();
                let levels = list(&levels, |(i, n)| format!("{} < {}", self.index(**i), self.atom(**n)));
                let space = if levels.is_empty() { "" } else { " " };
                format!("par{space}{levels}{}{}", group("", &kinds), self.accs(&p.accs))
            }
            Op::Loop(l) => {
                let head = match l.count {
                    Some(n) => format!("loop {} < {}", self.index(l.index), self.atom(n)),
                    None => format!("while {}", self.index(l.index)),
                };
                let carried: Vec<_> = l.params.iter().zip(&l.inits).collect();
                let carried = list(&carried, |(p, init)| format!("{} = {}", self.binding(**p), self.atom(**init)));
                format!("{head}{}{}{}", group("", &carried), self.accs(&l.accs), l.kept)
            }
            Op::Switch { selector, .. } => format!("switch {}", self.atom(*selector)),
            Op::Call { callee, args } => format!("call {}({})", symbol(callee), self.atoms(args)),
            Op::Check { cond, kind, args, value } => {
                format!("check {} {}({}) {}", self.atom(*cond), kind.code(), self.atoms(args), self.atom(*value))
            }
        }
    }

    fn operation(&self, name: &str, args: &[Atom]) -> String {
        if args.is_empty() { name.to_owned() } else { format!("{name} {}", self.atoms(args)) }
    }

    fn place(&self, array: Atom, indices: &[Atom]) -> String {
        format!("{}[{}]", self.atom(array), self.atoms(indices))
    }

    fn accs(&self, accs: &[Acc]) -> String {
        let acc = |a: &Acc| {
            let kind = match a.kind {
                AccKind::Reduce(monoid) => monoid.name(),
                AccKind::Log => "log",
            };
            let init = a.init.map(|i| format!(" from {}", self.atom(i))).unwrap_or_default();
            format!("{} {kind}{init}", self.binding(a.var))
        };
        group(" acc", &list(accs, acc))
    }

    fn atoms(&self, atoms: &[Atom]) -> String {
        list(atoms, |a| self.atom(*a))
    }

    pub(crate) fn atom(&self, a: Atom) -> String {
        match a {
            Atom::Var(v) => self.names.of(v),
            Atom::Const(c) => c.to_string(),
        }
    }

    fn index(&self, v: Var) -> String {
        let plain = self.f.vars.get(v.index()).is_some_and(|i| i.ty == Ty::scalar(Elem::I64) && i.record.is_none());
        if plain { self.names.of(v) } else { self.binding(v) }
    }

    fn binding(&self, v: Var) -> String {
        let name = self.names.of(v);
        match self.f.vars.get(v.index()) {
            Some(info) => {
                let record = info.record.map(|record| format!(" record {record}")).unwrap_or_default();
                format!("{name}: {}{record}", self.ty(&info.ty))
            }
            None => name,
        }
    }

    pub(crate) fn ty(&self, ty: &Ty) -> String {
        let dim = |d: &Dim| match d {
            Dim::Const(n) => n.to_string(),
            Dim::Var(v) => self.names.of(*v),
        };
        let dims = list(&ty.dims, dim);
        if dims.is_empty() { ty.elem.to_string() } else { format!("{}[{dims}]", ty.elem) }
    }
}

fn group(word: &str, items: &str) -> String {
    if items.is_empty() { String::new() } else { format!("{word} ({items})") }
}
