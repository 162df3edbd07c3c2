//! Random functions of the core IR: what lowering does not (yet) make, but derivative passes must take. Accumulators
//! written from any depth, extremes with ties, while loops with stacked results of run-time length, arrays updated in
//! place through branches and inner loops, calls.
//!
//! Every function has the same parameters ([`arguments`]), so that any two can call one another. Indices are in range
//! by construction and values stay bounded, so a run never fails and differences are meaningful.

mod regions;
mod statements;

use crate::derived_case::Subject;
use crate::generate::Construct;
use crate::random::Rng;
use cotan_ir::{Atom, Builder, Const, Elem, Function, Module, Ty, Var};
use cotan_ops::Value;
use std::collections::BTreeSet;

/// The size of one function.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Statements chosen at the top level, before what they need.
    pub statements: usize,
    /// Regions inside regions.
    pub depth: usize,
    /// Whether loop bodies only read and update carried arrays, so that undo logs are needed at every depth.
    pub in_place: bool,
}

/// A random program from a seed: two functions, of which the second may call the first.
pub fn subject(seed: u64) -> Subject {
    of_size(seed, |rng, in_place| Size { statements: 7 + rng.below(5), depth: if in_place { 3 } else { 2 }, in_place })
}

/// The same with few statements, for who wants many programs.
pub fn small_subject(seed: u64) -> Subject {
    of_size(seed, |rng, in_place| Size { statements: 1 + rng.below(3), depth: 1 + rng.below(2), in_place })
}

fn of_size(seed: u64, size: impl Fn(&mut Rng, bool) -> Size) -> Subject {
    let mut rng = Rng::new(seed);
    let in_place = rng.chance(0.4);
    let mut module = Module::default();
    let mut constructs = BTreeSet::new();
    let callee = Generator::new(&mut rng, Size { statements: 3, depth: 1, in_place: false }, None, &mut constructs)
        .function("callee");
    let callee = module.insert(callee);
    let mut used = BTreeSet::new();
    let size = size(&mut rng, in_place);
    let f = Generator::new(&mut rng, size, Some(&callee), &mut used).function("f");
    if used.contains(&Construct::CallOfFunction) {
        used.extend(constructs);
    }
    let name = module.insert(f).name.clone();
    let args = arguments(&mut rng);
    Subject { seed, constructs: used, ..Subject::new(format!("IR program {seed}"), module, name, args) }
}

/// A size, two scalars, two vectors, a matrix and a vector of indices.
fn arguments(rng: &mut Rng) -> Vec<Value> {
    let n = rng.range(1, 5);
    let mut floats = |dims: &[i64]| {
        let elements: Vec<f64> = (0..cotan_ops::count(dims)).map(|_| rng.span(-1.2, 1.2)).collect();
        Value::f64s(dims, &elements)
    };
    let mut args = vec![Value::i64s(&[], &[n])];
    args.extend([floats(&[]), floats(&[]), floats(&[n]), floats(&[n]), floats(&[n, n])]);
    let indices: Vec<i64> = (0..n).map(|_| rng.range(0, n)).collect();
    args.push(Value::i64s(&[n], &indices));
    args
}

/// What is in scope, by type.
#[derive(Clone, Debug, Default)]
struct Pool {
    scalars: Vec<Atom>,
    integers: Vec<Atom>,
    /// Integers that are in range for every array.
    indices: Vec<Atom>,
    vectors: Vec<Atom>,
    matrices: Vec<Atom>,
    accs: Vec<Var>,
}

impl Pool {
    /// Adds a float by its rank.
    fn add(&mut self, rank: usize, value: Atom) {
        match rank {
            0 => self.scalars.push(value),
            1 => self.vectors.push(value),
            _ => self.matrices.push(value),
        }
    }
}

/// Writes one function.
struct Generator<'a> {
    rng: &'a mut Rng,
    b: Builder,
    size: Size,
    callee: Option<&'a Function>,
    constructs: &'a mut BTreeSet<Construct>,
    /// Statements that may still be chosen.
    budget: usize,
    n: Atom,
    index_array: Atom,
}

impl<'a> Generator<'a> {
    fn new(
        rng: &'a mut Rng,
        size: Size,
        callee: Option<&'a Function>,
        constructs: &'a mut BTreeSet<Construct>,
    ) -> Generator<'a> {
        let (n, index_array) = (Atom::i64(0), Atom::i64(0));
        Generator { rng, b: Builder::new(), size, callee, constructs, budget: size.statements * 3, n, index_array }
    }

    fn function(mut self, name: &str) -> Function {
        let n = self.b.param("n", Ty::scalar(Elem::I64));
        self.n = n.into();
        let float = |dims: usize| Ty::new(Elem::F64, vec![n.into(); dims]);
        let mut pool = Pool::default();
        for (name, rank) in [("x", 0), ("y", 0), ("a", 1), ("c", 1), ("m", 2)] {
            let v = self.b.param(name, float(rank));
            pool.add(rank, v.into());
        }
        self.index_array = self.b.param("ix", Ty::new(Elem::I64, vec![n.into()])).into();
        pool.integers.extend([Atom::i64(1), self.n]);
        self.fill(&mut pool, self.size.statements, 0);
        let mut results = vec![self.scalar(&pool), pool.scalars[pool.scalars.len() - 1]];
        results.push(pool.vectors[pool.vectors.len() - 1]);
        if self.rng.chance(0.4) {
            results.push(pool.matrices[pool.matrices.len() - 1]);
        }
        self.b.finish(name, results)
    }

    /// Marks that the program has a construct.
    fn has(&mut self, construct: Construct) {
        self.constructs.insert(construct);
    }

    // ---- choices

    fn scalar(&mut self, pool: &Pool) -> Atom {
        if self.rng.chance(0.08) {
            let hundredths = self.rng.range(-100, 101);
            return Const::f64(hundredths as f64 / 100.0).into();
        }
        *self.rng.recent(&pool.scalars)
    }

    fn vector(&mut self, pool: &Pool) -> Atom {
        *self.rng.recent(&pool.vectors)
    }

    fn matrix(&mut self, pool: &Pool) -> Atom {
        *self.rng.recent(&pool.matrices)
    }

    fn modulo(&mut self, a: Atom, b: Atom) -> Atom {
        self.b.prim(cotan_ops::FLOOR_MOD.prim(), &[a, b]).into()
    }

    /// An index in range.
    fn at(&mut self, pool: &Pool) -> Atom {
        let p = self.rng.unit();
        if !pool.indices.is_empty() && p < 0.6 {
            let i = *self.rng.recent(&pool.indices);
            if p < 0.4 {
                return i;
            }
            let step = Atom::i64(self.rng.range(1, 3));
            let moved = self.b.prim(cotan_ops::ADD.prim(), &[i, step]);
            return self.modulo(moved.into(), self.n);
        }
        let any = *self.rng.recent(&pool.integers);
        let i = self.modulo(any, self.n);
        if p < 0.8 { self.b.index(self.index_array, &[i]).into() } else { i }
    }

    /// A number of trips.
    fn count(&mut self, pool: &Pool) -> Atom {
        match self.rng.below(3) {
            0 => self.n,
            1 => Atom::i64(self.rng.range(0, 4)),
            _ => {
                let any = *self.rng.recent(&pool.integers);
                self.modulo(any, Atom::i64(4))
            }
        }
    }
}
