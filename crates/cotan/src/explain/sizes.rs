//! Sizes by the names of the source: a length in the IR, followed back to parameters, extents and trip counts.

use super::formula::{Formula, Symbol};
use cotan_ir::{Atom, Block, Elem, Function, Loop, Op, Prim, Record, Span, Stmt, Ty, Var};
use cotan_ops::{ADD, CEIL, DIV, FLOOR, FLOOR_DIV, MAX, MIN, MUL, POW, PrimRow, SQRT, SUB, cast_to};
use cotan_syntax::{FileId, SourceMap};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Definitions are followed this far back; a program's sizes are closer to its parameters.
const MAX_DEPTH: usize = 100;

/// Where a variable comes from.
#[derive(Clone, Copy)]
enum Definition<'a> {
    Param,
    /// The result of a statement at a position.
    Result(&'a Stmt, usize),
    /// The index of a region that runs so many times.
    Index(Atom),
    /// The index of a while, or a carried value.
    Changing,
}

/// What the sizes of a function are in terms of its parameters.
pub(super) struct Sizes<'a> {
    f: &'a Function,
    sources: &'a SourceMap,
    definitions: FxHashMap<Var, Definition<'a>>,
    /// The innermost region that binds a variable. Regions are numbered from the outside to the inside.
    regions: FxHashMap<Var, usize>,
    n_regions: usize,
    known: RefCell<FxHashMap<Var, Formula>>,
    /// How often the region of an index runs, for the symbols that stand for indices.
    extents: RefCell<FxHashMap<Symbol, Formula>>,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(f: &'a Function, sources: &'a SourceMap) -> Sizes<'a> {
        let mut sizes = Sizes {
            f,
            sources,
            definitions: f.params.iter().map(|p| (*p, Definition::Param)).collect(),
            regions: FxHashMap::default(),
            n_regions: 0,
            known: RefCell::default(),
            extents: RefCell::default(),
        };
        sizes.block(&f.body, None);
        sizes
    }

    fn define(&mut self, v: Var, definition: Definition<'a>, region: Option<usize>) {
        self.definitions.insert(v, definition);
        region.into_iter().for_each(|region| {
            self.regions.insert(v, region);
        });
    }

    fn block(&mut self, block: &'a Block, region: Option<usize>) {
        for s in &block.stmts {
            s.results.iter().enumerate().for_each(|(k, v)| self.define(*v, Definition::Result(s, k), region));
            if let Op::Loop(l) = &s.op {
                let inner = self.region();
                let index = l.count.map_or(Definition::Changing, Definition::Index);
                self.define(l.index, index, inner);
                l.params.iter().for_each(|p| self.define(*p, Definition::Changing, inner));
                self.block(&l.body, inner);
            } else if let Op::Par(p) = &s.op {
                let inner = self.region();
                for (index, extent) in p.indices.iter().zip(&p.extents) {
                    self.define(*index, Definition::Index(*extent), inner);
                }
                self.block(&p.body, inner);
            } else if let Op::Switch { arms, .. } = &s.op {
                arms.iter().for_each(|arm| self.block(arm, region))
            }
        }
    }

    fn region(&mut self) -> Option<usize> {
        self.n_regions += 1;
        Some(self.n_regions)
    }

    /// The region that binds a variable.
    pub(super) fn region_of(&self, v: Var) -> Option<usize> {
        self.regions.get(&v).copied()
    }

    /// How many iterations of a parallel loop run at the same time.
    pub(super) fn threads(&self) -> Formula {
        self.named("threads", None)
    }

    /// The bytes of a value.
    pub(super) fn bytes(&self, ty: &Ty) -> Formula {
        let elem = Formula::number(ty.elem.bytes() as f64);
        ty.dims.iter().fold(elem, |bytes, dim| bytes.times(&self.atom(dim.atom())))
    }

    /// An i64, or a float made of one.
    pub(super) fn atom(&self, a: Atom) -> Formula {
        self.atom_within(a, MAX_DEPTH)
    }

    fn atom_within(&self, a: Atom, depth: usize) -> Formula {
        match a {
            Atom::Const(c) => {
                let n = c.as_i64().map(|n| n as f64).or_else(|| c.as_float());
                n.map_or_else(|| self.named(&c.to_string(), None), Formula::number)
            }
            Atom::Var(v) => self.var(v, depth),
        }
    }

    fn var(&self, v: Var, depth: usize) -> Formula {
        if let Some(known) = self.known.borrow().get(&v) {
            return known.clone();
        }
        let formula = match depth.checked_sub(1) {
            Some(depth) => self.defined(v, depth),
            None => self.named(self.f.name_of(v), self.region_of(v)),
        };
        self.known.borrow_mut().insert(v, formula.clone());
        formula
    }

    fn defined(&self, v: Var, depth: usize) -> Formula {
        match self.definitions.get(&v) {
            None | Some(Definition::Param) => self.named(self.f.name_of(v), None),
            Some(Definition::Changing) => {
                let name = self.f.name_of(v).to_owned();
                Formula::symbol(Symbol { name, number: v.index() as u32, region: self.region_of(v) })
            }
            Some(Definition::Index(extent)) => self.index(v, self.region_of(v), self.atom_within(*extent, depth)),
            Some(Definition::Result(s, at)) => self.result(v, s, *at, depth),
        }
    }

    fn index(&self, v: Var, region: Option<usize>, extent: Formula) -> Formula {
        let symbol = Symbol { name: self.f.name_of(v).to_owned(), number: 0, region };
        self.extents.borrow_mut().insert(symbol.clone(), extent);
        Formula::symbol(symbol)
    }

    fn result(&self, v: Var, s: &Stmt, at: usize, depth: usize) -> Formula {
        let computed = if let Op::Prim { prim, args } = &s.op {
            self.computed(v, *prim, args, depth)
        } else if let Op::Check { value, .. } = &s.op {
            Some(self.atom_within(*value, depth))
        } else if let Op::Index { array: Atom::Var(array), indices } = &s.op
            && !indices.is_empty()
        {
            if let Some((entry, region)) = self.recorded(*array) {
                // A bound for all iterations, whichever is read here.
                return self.largest(&self.atom_within(entry, depth), region);
            }
            let region = indices.iter().map(|i| self.atom_within(*i, depth).region()).max().flatten();
            Some(self.named(&self.element(*array, indices, depth), region.max(self.region_of(*array))))
        } else if let Op::Loop(l) = &s.op {
            self.of_loop(v, s, l, at, depth)
        } else {
            None
        };
        computed.unwrap_or_else(|| self.opaque(v, s))
    }

    fn computed(&self, v: Var, prim: Prim, args: &[Atom], depth: usize) -> Option<Formula> {
        let is = |row: &'static PrimRow| prim == row.prim();
        let arg = |k: usize| args.get(k).map(|a| self.atom_within(*a, depth));
        if is(&SUB)
            && let Some(Atom::Var(down)) = args.get(1)
            && let Some(Definition::Index(extent)) = self.definitions.get(down)
        {
            // The index of a loop that runs backwards.
            return Some(self.index(v, self.region_of(*down), self.atom_within(*extent, depth)));
        }
        let is_cast = [Elem::I64, Elem::F64].into_iter().any(|elem| prim == cast_to(elem).prim());
        let (a, b) = (arg(0)?, arg(1));
        match b {
            None if is(&CEIL) || is(&FLOOR) || is_cast => Some(a),
            None if is(&SQRT) => a.power(0.5),
            Some(b) if is(&ADD) => Some(a.plus(&b)),
            Some(b) if is(&SUB) => Some(a.minus(&b)),
            Some(b) if is(&MUL) => Some(a.times(&b)),
            Some(b) if is(&FLOOR_DIV) || is(&DIV) => Some(a.over(&b).unwrap_or_else(|| a.called("div", &b))),
            Some(b) if is(&POW) => a.power(b.as_number()?),
            Some(b) if is(&MAX) => Some(at_least(a, b)),
            // Of a bound that is the same in all runs and one that differs, the first tells more.
            Some(b) if is(&MIN) => Some(match a.region().cmp(&b.region()) {
                std::cmp::Ordering::Less => a,
                std::cmp::Ordering::Equal => a.min(b),
                std::cmp::Ordering::Greater => b,
            }),
            None | Some(_) => None,
        }
    }

    /// What a loop stacks in a variable, and the region of its body.
    fn recorded(&self, v: Var) -> Option<(Atom, Option<usize>)> {
        let Some(Definition::Result(s, _)) = self.definitions.get(&v) else { return None };
        let Op::Loop(l) = &s.op else { return None };
        let at = l.split(&s.results).stacked.iter().position(|r| *r == v)?;
        Some((l.body.results[l.params.len() + at], self.region_of(l.index)))
    }

    fn element(&self, array: Var, indices: &[Atom], depth: usize) -> String {
        let indices: Vec<Formula> = indices.iter().map(|i| self.atom_within(*i, depth)).collect();
        let is_known = indices.iter().all(|i| i.region().is_none());
        let list: Vec<String> = indices.iter().map(Formula::to_string).collect();
        // The index of a loop counts from 0, wherever the source begins.
        let list = if is_known { list.join(", ") } else { "..".to_owned() };
        format!("{}[{list}]", self.f.name_of(array))
    }

    /// A variable that was read from an array, as the source would write that.
    pub(super) fn read(&self, v: Var) -> Option<String> {
        let Some(Definition::Result(s, _)) = self.definitions.get(&v) else { return None };
        if let Op::Index { array: Atom::Var(array), indices } = &s.op
            && !indices.is_empty()
        {
            Some(self.element(*array, indices, MAX_DEPTH))
        } else {
            None
        }
    }

    /// The trip count of a while, or what a loop carries and lets grow by the same amount in every iteration.
    fn of_loop(&self, v: Var, s: &Stmt, l: &Loop, at: usize, depth: usize) -> Option<Formula> {
        let Some(count) = l.count else {
            let is_trips = at == 0;
            return is_trips.then(|| self.named(&trips(self.sources, s.span), self.region_of(v)));
        };
        let (p, next) = (l.params.get(at)?, l.body.results.get(at)?);
        let growth = self.atom_within(*next, depth).minus(&self.atom_within((*p).into(), depth));
        if growth.region() >= self.region_of(l.index) {
            return None;
        }
        let start = self.atom_within(*l.inits.get(at)?, depth);
        Some(start.plus(&growth.times(&self.atom_within(count, depth))))
    }

    /// A size that is told by its name and the place where it is computed.
    fn opaque(&self, v: Var, s: &Stmt) -> Formula {
        let is_its_length =
            |r: &Var| self.f.vars[r.index()].record == Some(Record::Old) && self.f.ty(*r).dims[0].var() == Some(v);
        let name = if s.results.iter().any(is_its_length) {
            format!("updates(loop{})", place(self.sources, s.span))
        } else {
            format!("{}{}", self.f.name_of(v), place(self.sources, s.span))
        };
        self.named(&name, self.region_of(v))
    }

    fn named(&self, name: &str, region: Option<usize>) -> Formula {
        Formula::symbol(Symbol { name: name.to_owned(), number: 0, region })
    }

    /// An upper bound of something that differs between the runs of a region, over all its runs.
    pub(super) fn largest(&self, formula: &Formula, region: Option<usize>) -> Formula {
        let Some(region) = region else { return formula.clone() };
        formula.replaced(&|symbol| {
            if symbol.region < Some(region) {
                return None;
            }
            if let Some(extent) = self.extents.borrow().get(symbol) {
                return Some(self.largest(extent, Some(region)));
            }
            Some(self.named(&largest(&symbol.name), None))
        })
    }
}

fn place(sources: &SourceMap, span: Span) -> String {
    match sources.get(FileId(span.file)) {
        Some(file) if span.is_some() => {
            let at = file.line_column(span.start);
            format!(" at {}:{}", at.line, at.column)
        }
        Some(_) | None => String::new(),
    }
}

/// What the trip count of a while is called.
pub(super) fn trips(sources: &SourceMap, span: Span) -> String {
    format!("trips(while{})", place(sources, span))
}

/// What the largest of several sizes is called.
pub(super) fn largest(name: &str) -> String {
    format!("largest {name}")
}

/// The greater of two numbers; that a length is not negative, and a divisor at least one, is no news.
fn at_least(a: Formula, b: Formula) -> Formula {
    let is_small = |f: &Formula| f.as_number().is_some_and(|n| n <= 1.0);
    match (is_small(&a), is_small(&b)) {
        (_, true) => a,
        (true, false) => b,
        (false, false) => a.max(b),
    }
}
