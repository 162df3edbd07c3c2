//! Random functions of the core IR with every construct, made so that passes find something to do: few different
//! operands, constants with identities, statements said twice, carried values that stay as they are, accumulators at
//! their own slots, branches on constants.
//!
//! Every check is needed by the first result of the function, so that no pass may drop its error.

use super::rng::Rng;
use cotan_ir::{
    Acc, AccKind, Atom, Block, Builder, CheckKind, Const, Dim, Elem, Function, Loop, Module, Monoid, Op, ParResult,
    ReversePolicy, Span, Ty, Var,
};
use cotan_ops::{
    ABS, ADD, AND, DIV, EQ, FILL, FROM_ELEMENTS, IN_RANGE, LT, MAX, MIN, MUL, MULZ, NEG, NOT, OR, PrimRow, SELECT, SIN,
    SUB, TO_F64, XOR,
};

/// Which primitives a program may use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// All that the generator knows.
    Floats,
    /// Only what is defined in any field, where contraction is exact.
    Field,
}

/// A module of two functions, `g` and `f`, of which the second may call the first.
pub(crate) fn program(seed: u64, arithmetic: Arithmetic) -> Module {
    let mut rng = Rng::new(seed);
    let mut module = Module::default();
    let g = Generator::new(&mut rng, arithmetic, None).function("g", 5);
    let g = module.insert(g);
    let size = 6 + rng.below(10);
    let f = Generator::new(&mut rng, arithmetic, Some(&g)).function("f", size);
    module.insert(f);
    module
}

/// What is in scope.
#[derive(Clone, Default)]
struct Pool {
    floats: Vec<Atom>,
    ints: Vec<Atom>,
    bools: Vec<Atom>,
    /// Vectors of any length.
    vectors: Vec<Var>,
    accs: Vec<Var>,
    /// Values that the result of the block must depend on.
    live: Vec<Atom>,
}

struct Generator<'a> {
    rng: &'a mut Rng,
    b: Builder,
    arithmetic: Arithmetic,
    callee: Option<&'a Function>,
    n: Var,
    /// Regions that may still be opened.
    regions: usize,
    position: u32,
}

fn scalar(elem: Elem) -> Ty {
    Ty::scalar(elem)
}

impl<'a> Generator<'a> {
    fn new(rng: &'a mut Rng, arithmetic: Arithmetic, callee: Option<&'a Function>) -> Generator<'a> {
        let mut b = Builder::new();
        let n = b.param("n", scalar(Elem::I64));
        Generator { rng, b, arithmetic, callee, n, regions: 6, position: 0 }
    }

    /// `(n: i64, k: i64, c: bool, x: f64, y: f64, a: f64[n], d: f64[3])`.
    fn function(mut self, name: &str, size: usize) -> Function {
        let n = self.n;
        let k = self.b.param("k", scalar(Elem::I64));
        let c = self.b.param("c", scalar(Elem::Bool));
        let x = self.b.param("x", scalar(Elem::F64));
        let y = self.b.param("y", scalar(Elem::F64));
        let a = self.b.param("a", Ty::new(Elem::F64, vec![n.into()]));
        let d = self.b.param("d", Ty::new(Elem::F64, vec![Dim::Const(3)]));
        let mut pool = Pool {
            floats: vec![x.into(), y.into()],
            ints: vec![n.into(), k.into()],
            bools: vec![c.into()],
            vectors: vec![a, d],
            ..Pool::default()
        };
        self.statements(&mut pool, size, 0);
        let mut results = vec![self.live_sum(&pool), self.float(&pool), self.int(&pool)];
        let last = pool.vectors[pool.vectors.len() - 1];
        results.extend(self.b.var_ty(last).dims.iter().map(|d| d.atom()).collect::<Vec<_>>());
        results.push(last.into());
        self.b.finish(name, results)
    }

    // ---- operands

    fn float(&mut self, pool: &Pool) -> Atom {
        match self.rng.below(6) {
            0 => Const::f64(self.rng.choice(&[0.0, -0.0, 1.0, 2.0, -1.5])).into(),
            _ => self.rng.recent(&pool.floats),
        }
    }

    fn int(&mut self, pool: &Pool) -> Atom {
        match self.rng.below(3) {
            0 => Atom::i64(self.rng.choice(&[0, 1, 2, 3, -1])),
            _ => self.rng.recent(&pool.ints),
        }
    }

    fn bool(&mut self, pool: &Pool) -> Atom {
        match self.rng.below(4) {
            0 => Const::bool(self.rng.chance(2)).into(),
            _ => self.rng.recent(&pool.bools),
        }
    }

    /// A vector of this length.
    fn vector(&mut self, pool: &Pool, length: Dim) -> Var {
        let all: Vec<Var> = pool.vectors.iter().copied().filter(|v| self.b.var_ty(*v).dims == [length]).collect();
        self.rng.choice(&all)
    }

    /// A count from 0 to 3.
    fn count(&mut self, pool: &Pool) -> Atom {
        let k = self.int(pool);
        let k = self.prim(&MAX, &[k, Atom::i64(0)]);
        self.prim(&MIN, &[k.into(), Atom::i64(3)]).into()
    }

    fn prim(&mut self, row: &'static PrimRow, args: &[Atom]) -> Var {
        self.b.prim(row.prim(), args)
    }

    fn var(&mut self, name: &str, elem: Elem) -> Var {
        self.b.var(name, scalar(elem))
    }

    /// The sum of everything that must stay alive.
    fn live_sum(&mut self, pool: &Pool) -> Atom {
        let mut sum = Atom::from(Const::f64(0.0));
        for a in &pool.live {
            let term = if self.b.ty(*a).is_float() { *a } else { self.prim(&TO_F64, &[*a]).into() };
            sum = self.prim(&ADD, &[sum, term]).into();
        }
        sum
    }

    // ---- statements

    fn statements(&mut self, pool: &mut Pool, n: usize, depth: usize) {
        for _ in 0..n {
            self.position += 1;
            self.b.set_span(Span::new(0, self.position, self.position + 1));
            let may_open = depth < 3 && self.regions > 0;
            match self.rng.below(if may_open { 23 } else { 14 }) {
                0..=2 => self.arithmetic(pool),
                3 => self.integers(pool),
                4 => self.condition(pool),
                5 => self.filled(pool),
                6 => self.elementwise(pool),
                7 | 8 => self.read(pool),
                9 => self.updated(pool),
                10 => self.checked(pool),
                11 => self.again(pool),
                12 => self.write(pool),
                13 => self.call(pool),
                14 | 15 => self.par(pool, depth),
                16 => self.matrix(pool),
                17 => self.counted(pool, depth),
                18 => self.repeat_while(pool, depth),
                19 => self.branch(pool, depth),
                20 => self.neighbours(pool),
                21 => self.renamed_length(pool),
                _ => self.branch_of_lengths(pool),
            }
        }
    }

    fn arithmetic(&mut self, pool: &mut Pool) {
        let (a, b) = (self.float(pool), self.float(pool));
        let fields: [&'static PrimRow; 5] = [&ADD, &MUL, &SUB, &MUL, &MULZ];
        let floats: [&'static PrimRow; 8] = [&ADD, &MUL, &SUB, &MUL, &MULZ, &DIV, &MAX, &MIN];
        let row =
            if self.arithmetic == Arithmetic::Field { self.rng.choice(&fields) } else { self.rng.choice(&floats) };
        let v = match self.rng.below(8) {
            0 => self.prim(&NEG, &[a]),
            1 if self.arithmetic == Arithmetic::Floats => self.prim(&SIN, &[a]),
            2 if self.arithmetic == Arithmetic::Floats => self.prim(&ABS, &[a]),
            3 => {
                let c = self.bool(pool);
                self.prim(&SELECT, &[c, a, b])
            }
            _ => self.prim(row, &[a, b]),
        };
        pool.floats.push(v.into());
    }

    fn integers(&mut self, pool: &mut Pool) {
        let (a, b) = (self.int(pool), self.int(pool));
        let rows: [&'static PrimRow; 5] = [&ADD, &SUB, &MUL, &MAX, &MIN];
        let row = self.rng.choice(&rows);
        pool.ints.push(self.prim(row, &[a, b]).into());
    }

    fn condition(&mut self, pool: &mut Pool) {
        let (a, b) = (self.int(pool), self.int(pool));
        let (p, q) = (self.bool(pool), self.bool(pool));
        let v = match self.rng.below(8) {
            0 => self.prim(&AND, &[p, q]),
            1 => self.prim(&OR, &[p, q]),
            2 => self.prim(&XOR, &[p, q]),
            3 => self.prim(&NOT, &[p]),
            4 => self.prim(&EQ, &[a, b]),
            5 if self.arithmetic == Arithmetic::Floats => {
                let (x, y) = (self.float(pool), self.float(pool));
                self.prim(&LT, &[x, y])
            }
            _ => self.prim(&LT, &[a, b]),
        };
        pool.bools.push(v.into());
    }

    fn filled(&mut self, pool: &mut Pool) {
        if self.rng.chance(3) {
            let elements = [self.float(pool), self.float(pool), self.float(pool)];
            let ty = Ty::new(Elem::F64, vec![Dim::Const(3)]);
            return pool.vectors.push(self.b.tensor(FROM_ELEMENTS.op(), &elements, &[], ty));
        }
        let value = self.float(pool);
        let dim = self.rng.choice(&[Dim::Var(self.n), Dim::Const(3)]);
        pool.vectors.push(self.b.tensor(FILL.op(), &[value], &[], Ty::new(Elem::F64, vec![dim])));
    }

    /// A primitive on vectors, sometimes on constants alone, which take the shape of the result.
    fn elementwise(&mut self, pool: &mut Pool) {
        let v = self.rng.recent(&pool.vectors);
        let ty = self.b.var_ty(v).clone();
        let same: Vec<Var> = pool.vectors.iter().copied().filter(|w| *self.b.var_ty(*w) == ty).collect();
        let constant = Const::f64(self.rng.choice(&[0.0, -0.0, 1.0, 3.0])).into();
        let other = if self.rng.chance(2) { constant } else { self.rng.choice(&same).into() };
        let rows: [&'static PrimRow; 4] = [&ADD, &MUL, &SUB, &MULZ];
        let row = self.rng.choice(&rows);
        let args = match self.rng.below(6) {
            0 => vec![constant, Const::f64(2.0).into()],
            1 => vec![other, v.into()],
            _ => vec![v.into(), other],
        };
        let result = self.b.var(row.name(), ty);
        self.b.push(vec![result], Op::Prim { prim: row.prim(), args });
        pool.vectors.push(result);
    }

    /// An index into a vector, behind a check that mostly holds.
    fn index_of(&mut self, v: Var, pool: &mut Pool) -> Atom {
        let extent = self.b.var_ty(v).dims[0].atom();
        let mut i = self.int(pool);
        if !self.rng.chance(12) {
            i = self.prim(&MAX, &[i, Atom::i64(0)]).into();
            let last = self.prim(&SUB, &[extent, Atom::i64(1)]);
            i = self.prim(&MIN, &[i, last.into()]).into();
        }
        let holds = self.prim(&IN_RANGE, &[i, extent]);
        let checked = self.b.check(holds.into(), CheckKind::IndexRange, &[i, extent], i, None);
        pool.live.push(checked.into());
        checked.into()
    }

    fn read(&mut self, pool: &mut Pool) {
        let v = self.rng.recent(&pool.vectors);
        let element = if self.rng.chance(6) {
            let whole = self.b.index(v.into(), &[]);
            pool.vectors.push(whole);
            return;
        } else {
            let i = self.index_of(v, pool);
            self.b.index(v.into(), &[i])
        };
        pool.floats.push(element.into());
    }

    fn updated(&mut self, pool: &mut Pool) {
        let v = self.rng.recent(&pool.vectors);
        let i = self.index_of(v, pool);
        let value = self.float(pool);
        pool.vectors.push(self.b.update(v.into(), &[i], value));
    }

    fn checked(&mut self, pool: &mut Pool) {
        let k = self.int(pool);
        let holds = self.prim(&LT, &[Atom::i64(-20), k]);
        let kind = self.rng.choice(&[CheckKind::NegativeSize, CheckKind::DivisionByZero]);
        if self.rng.chance(2) {
            let value = self.float(pool);
            let checked = self.b.check(holds.into(), kind, &[k], value, None);
            pool.floats.push(checked.into());
            pool.live.push(checked.into());
        } else {
            let checked = self.b.check(holds.into(), kind, &[k], k, None);
            pool.ints.push(checked.into());
            pool.live.push(checked.into());
        }
    }

    /// A statement of this block once more.
    fn again(&mut self, pool: &mut Pool) {
        let simple: Vec<(Var, Op)> = self
            .b
            .stmts()
            .iter()
            .filter(|s| s.op.blocks().is_empty() && s.results.len() == 1)
            .map(|s| (s.results[0], s.op.clone()))
            .collect();
        if simple.is_empty() {
            return;
        }
        let (like, op) = simple[self.rng.below(simple.len())].clone();
        if matches!(op, Op::Call { .. }) {
            return;
        }
        let ty = self.b.var_ty(like).clone();
        let is_check = matches!(op, Op::Check { .. });
        let v = self.b.var("again", ty.clone());
        self.b.push(vec![v], op);
        match (ty.elem, ty.rank()) {
            (Elem::F64, 0) => pool.floats.push(v.into()),
            (Elem::F64, 1) => pool.vectors.push(v),
            (Elem::I64, 0) => pool.ints.push(v.into()),
            (Elem::Bool, 0) => pool.bools.push(v.into()),
            _ => {}
        }
        if is_check && ty.is_scalar() {
            pool.live.push(v.into());
        }
    }

    fn write(&mut self, pool: &mut Pool) {
        let Some(acc) = pool.accs.last().copied() else { return };
        let ty = self.b.var_ty(acc).clone();
        let value = self.float(pool);
        if ty.is_scalar() {
            self.b.acc_add(acc, &[], value);
        } else {
            let i = self.index_of(acc, pool);
            self.b.acc_add(acc, &[i], value);
        }
    }

    fn call(&mut self, pool: &mut Pool) {
        let Some(g) = self.callee else { return };
        let n = self.n;
        let (a, d) = (self.vector(pool, n.into()), self.vector(pool, Dim::Const(3)));
        let (k, c) = (self.int(pool), self.bool(pool));
        let (x, y) = (self.float(pool), self.float(pool));
        let results = self.b.call(g, &[n.into(), k, c, x, y, a.into(), d.into()]);
        pool.live.push(results[0].into());
        pool.floats.push(results[1].into());
        pool.ints.push(results[2].into());
        pool.vectors.push(results[results.len() - 1]);
    }

    // ---- regions

    /// An accumulator with a start value.
    fn acc(&mut self, pool: &mut Pool, monoids: &[Monoid]) -> Acc {
        if self.rng.chance(2) {
            self.filled(pool);
        }
        let init: Atom = if self.rng.chance(4) { self.float(pool) } else { self.rng.recent(&pool.vectors).into() };
        let ty = self.b.ty(init);
        let monoid = self.rng.choice(monoids);
        Acc { var: self.b.var("acc", ty), kind: AccKind::Reduce(monoid), init: Some(init) }
    }

    fn par(&mut self, pool: &mut Pool, depth: usize) {
        self.regions -= 1;
        let monoids: &[Monoid] = match self.arithmetic {
            Arithmetic::Floats => &[Monoid::Add, Monoid::Add, Monoid::Add, Monoid::Max, Monoid::Min],
            Arithmetic::Field => &[Monoid::Add],
        };
        let accs: Vec<Acc> = (0..self.rng.below(3)).map(|_| self.acc(pool, monoids)).collect();
        let own = accs.iter().find(|a| self.b.var_ty(a.var).rank() == 1).map(|a| self.b.var_ty(a.var).dims[0]);
        let extent = own.unwrap_or(self.rng.choice(&[Dim::Var(self.n), Dim::Const(3), Dim::Const(0)]));
        let i = self.var("i", Elem::I64);
        let start = self.float(pool);
        let mut inner = Pool { live: Vec::new(), ..pool.clone() };
        inner.ints.push(i.into());
        inner.accs.extend(accs.iter().map(|a| a.var));
        self.b.open_block();
        let size = 2 + self.rng.below(4);
        self.statements(&mut inner, size, depth + 1);
        for acc in &accs {
            if *self.b.var_ty(acc.var).dims == [extent] && self.rng.chance(2) {
                let value = self.float(&inner);
                self.b.acc_add(acc.var, &[i.into()], value);
            }
        }
        let results = vec![self.live_sum(&inner), self.float(&inner), self.float(&inner), self.int(&inner)];
        let body = self.b.close_block(results);
        let add = |init| ParResult::Reduced { monoid: Monoid::Add, init };
        let kinds = vec![add(Const::f64(0.0).into()), ParResult::Stacked, add(start), add(Atom::i64(1))];
        let out = self.b.finish_par(vec![i], vec![extent.atom()], kinds, accs, body);
        pool.live.push(out[0].into());
        pool.vectors.push(out[1]);
        pool.floats.push(out[2].into());
        pool.ints.push(out[3].into());
        self.take_accs(pool, &out[4..]);
    }

    /// A matrix accumulated over two levels, at their own indices or the other way round, and one of its rows.
    fn matrix(&mut self, pool: &mut Pool) {
        self.regions -= 1;
        let dims = vec![self.rng.choice(&[Dim::Var(self.n), Dim::Const(3)]), Dim::Const(3)];
        let ty = Ty::new(Elem::F64, dims.clone());
        let start = self.float(pool);
        let init = self.b.tensor(FILL.op(), &[start], &[], ty.clone());
        let acc = Acc { var: self.b.var("m", ty), kind: AccKind::Reduce(Monoid::Add), init: Some(init.into()) };
        let (i, j) = (self.var("i", Elem::I64), self.var("j", Elem::I64));
        let mut inner = pool.clone();
        inner.ints.extend([Atom::from(i), j.into()]);
        self.b.open_block();
        self.arithmetic(&mut inner);
        let value = self.float(&inner);
        let is_square = dims[0] == dims[1];
        let at = if is_square && self.rng.chance(3) { [j.into(), i.into()] } else { [i.into(), j.into()] };
        self.b.acc_add(acc.var, &at, value);
        let body = self.b.close_block(Vec::new());
        let extents = dims.iter().map(|d| d.atom()).collect();
        let m = self.b.finish_par(vec![i, j], extents, Vec::new(), vec![acc], body)[0];
        let row = self.index_of(m, pool);
        pool.vectors.push(self.b.index(m.into(), &[row]));
    }

    /// Writes to the elements beside the own one, under conditions or into an array that is long enough.
    fn neighbours(&mut self, pool: &mut Pool) {
        self.regions -= 1;
        let init = match self.rng.below(2) {
            0 => self.rng.recent(&pool.vectors),
            _ => {
                let (c, longer) = (self.float(pool), self.prim(&ADD, &[self.n.into(), Atom::i64(2)]));
                self.b.tensor(FILL.op(), &[c], &[], Ty::new(Elem::F64, vec![longer.into()]))
            }
        };
        let ty = self.b.var_ty(init).clone();
        let length = ty.dims[0].atom();
        let acc = Acc { var: self.b.var("acc", ty), kind: AccKind::Reduce(Monoid::Add), init: Some(init.into()) };
        let i = self.var("i", Elem::I64);
        let mut inner = pool.clone();
        inner.ints.push(i.into());
        self.b.open_block();
        for _ in 0..2 + self.rng.below(3) {
            self.arithmetic(&mut inner);
            let value = self.float(&inner);
            let offset = self.rng.choice(&[-1, 0, 0, 1, 2]);
            let at = self.prim(&ADD, &[i.into(), Atom::i64(offset)]).into();
            let mut fits: Atom = self.prim(&IN_RANGE, &[at, length]).into();
            if self.rng.chance(3) {
                let another = self.bool(&inner);
                fits = self.prim(&AND, &[fits, another]).into();
            }
            self.b.open_block();
            self.arithmetic(&mut inner.clone());
            let value = if self.rng.chance(2) { self.prim(&NEG, &[value]).into() } else { value };
            self.b.acc_add(acc.var, &[at], value);
            let written = self.b.close_block(Vec::new());
            self.b.open_block();
            let left = self.b.close_block(Vec::new());
            self.b.push(Vec::new(), Op::Switch { selector: fits, arms: vec![written, left] });
        }
        let (kinds, results) = match self.rng.below(2) {
            0 => (Vec::new(), Vec::new()),
            _ => (vec![ParResult::Stacked], vec![self.float(&inner)]),
        };
        let body = self.b.close_block(results);
        let out = self.b.finish_par(vec![i], vec![self.n.into()], kinds, vec![acc], body);
        pool.vectors.extend(out);
    }

    /// A vector under a type that names its length otherwise, which is mostly the same one.
    fn renamed_length(&mut self, pool: &mut Pool) {
        let v = self.rng.recent(&pool.vectors);
        let found = self.b.var_ty(v).dims[0].atom();
        let other = if self.rng.chance(6) { self.n.into() } else { found };
        let expected: Atom = self.prim(&MAX, &[other, Atom::i64(0)]).into();
        let ty = Ty::new(Elem::F64, vec![Dim::from_atom(expected)]);
        let holds = self.prim(&EQ, &[expected, found]);
        let same = self.b.check(holds.into(), CheckKind::ShapeMismatch, &[expected, found], v.into(), Some(ty));
        pool.vectors.push(same);
        let i = self.var("i", Elem::I64);
        self.b.open_block();
        let element = self.b.index(same.into(), &[i.into()]);
        let body = self.b.close_block(vec![element.into()]);
        let sum = ParResult::Reduced { monoid: Monoid::Add, init: Const::f64(0.0).into() };
        pool.live.push(self.b.finish_par(vec![i], vec![expected], vec![sum], Vec::new(), body)[0].into());
    }

    fn take_accs(&mut self, pool: &mut Pool, finals: &[Var]) {
        for v in finals {
            if self.b.var_ty(*v).is_scalar() {
                pool.floats.push((*v).into());
            } else {
                pool.vectors.push(*v);
            }
        }
    }

    fn counted(&mut self, pool: &mut Pool, depth: usize) {
        let count = self.count(pool);
        self.sequential(pool, depth, Some(count));
    }

    fn repeat_while(&mut self, pool: &mut Pool, depth: usize) {
        self.sequential(pool, depth, None);
    }

    /// Carries a truth value (the condition of a while), a sum of what must stay alive, the length of a log, a float,
    /// an integer and a vector.
    fn sequential(&mut self, pool: &mut Pool, depth: usize, count: Option<Atom>) {
        self.regions -= 1;
        let mut accs: Vec<Acc> = (0..self.rng.below(2)).map(|_| self.acc(pool, &[Monoid::Add])).collect();
        let n_sums = accs.len();
        let log_ty = Ty::new(Elem::F64, vec![Dim::Const(0)]);
        accs.push(Acc { var: self.b.var("log", log_ty), kind: AccKind::Log, init: None });
        let log = accs[n_sums].var;
        let vector = self.rng.recent(&pool.vectors);
        let inits = vec![
            self.bool(pool),
            Const::f64(0.0).into(),
            Atom::i64(0),
            self.float(pool),
            self.int(pool),
            Atom::from(vector),
        ];
        let params: Vec<Var> =
            inits.iter().map(|a| self.b.ty(*a)).collect::<Vec<_>>().into_iter().map(|ty| self.b.var("p", ty)).collect();
        let index = self.var("t", Elem::I64);
        let mut inner = Pool { live: Vec::new(), ..pool.clone() };
        inner.bools.push(params[0].into());
        inner.floats.push(params[3].into());
        inner.ints.extend([params[4].into(), Atom::from(index)]);
        inner.vectors.push(params[5]);
        inner.accs.extend(accs[..n_sums].iter().map(|a| a.var));
        self.b.open_block();
        let size = 2 + self.rng.below(4);
        self.statements(&mut inner, size, depth + 1);
        let position = self.logged(&mut inner, log, params[2].into());
        let condition = self.bool(&inner);
        let early = self.prim(&LT, &[index.into(), Atom::i64(2)]);
        let condition = self.prim(&AND, &[condition, early.into()]);
        let sum = self.live_sum(&inner);
        let live = self.prim(&ADD, &[params[1].into(), sum]);
        let same: Vec<Var> = {
            let ty = self.b.var_ty(vector).clone();
            inner.vectors.iter().copied().filter(|v| *self.b.var_ty(*v) == ty).collect()
        };
        let stays = self.rng.chance(3);
        let next_float = if stays { params[3].into() } else { self.float(&inner) };
        let next_int = if self.rng.chance(3) { params[4].into() } else { self.int(&inner) };
        let next_vector = self.rng.recent(&same);
        let element = self.float(&inner);
        let results = vec![condition.into(), live.into(), position, next_float, next_int, next_vector.into(), element];
        let body = self.b.close_block(results);
        let out =
            self.b.finish_loop(Loop { index, count, params, inits, accs, body, kept: ReversePolicy::default() }, &[2]);
        let out = &out[usize::from(count.is_none())..];
        pool.bools.push(out[0].into());
        pool.live.push(out[1].into());
        pool.ints.extend([Atom::from(out[2]), out[4].into()]);
        pool.floats.push(out[3].into());
        self.take_accs(pool, &out[6..]);
        pool.vectors.push(out[5]);
    }

    /// Writes to the log, perhaps in one branch only; gives the next position.
    fn logged(&mut self, pool: &mut Pool, log: Var, position: Atom) -> Atom {
        let value = self.float(pool);
        match self.rng.below(3) {
            0 => position,
            1 => {
                self.b.acc_add(log, &[position], value);
                self.prim(&ADD, &[position, Atom::i64(1)]).into()
            }
            _ => {
                let c = self.bool(pool);
                self.b.open_block();
                self.b.acc_add(log, &[position], value);
                let next = self.prim(&ADD, &[position, Atom::i64(1)]);
                let written = self.b.close_block(vec![next.into()]);
                self.b.open_block();
                let skipped = self.b.close_block(vec![position]);
                self.b.finish_switch(c, vec![written, skipped])[0].into()
            }
        }
    }

    fn branch(&mut self, pool: &mut Pool, depth: usize) {
        self.regions -= 1;
        let selector = if self.rng.chance(2) { self.bool(pool) } else { self.int(pool) };
        let n_arms = if self.b.ty(selector).elem == Elem::Bool { 2 } else { 1 + self.rng.below(3) };
        let arms: Vec<Block> = (0..n_arms)
            .map(|_| {
                let mut inner = Pool { live: Vec::new(), ..pool.clone() };
                self.b.open_block();
                let size = self.rng.below(4);
                self.statements(&mut inner, size, depth + 1);
                let sum = self.live_sum(&inner);
                let results = vec![sum, self.float(&inner), self.int(&inner), self.bool(&inner)];
                self.b.close_block(results)
            })
            .collect();
        let out = self.b.finish_switch(selector, arms);
        pool.live.push(out[0].into());
        pool.floats.push(out[1].into());
        pool.ints.push(out[2].into());
        pool.bools.push(out[3].into());
    }

    /// Arms that give vectors of different lengths, each beside its length.
    fn branch_of_lengths(&mut self, pool: &mut Pool) {
        let selector = self.bool(pool);
        let arms = (0..2)
            .map(|_| {
                self.b.open_block();
                let results = match self.rng.below(3) {
                    0 => {
                        let v = self.rng.recent(&pool.vectors);
                        vec![self.b.var_ty(v).dims[0].atom(), v.into()]
                    }
                    1 => {
                        let k = self.count(pool);
                        let value = self.float(pool);
                        let ty = Ty::new(Elem::F64, vec![Dim::from_atom(k)]);
                        vec![k, self.b.tensor(FILL.op(), &[value], &[], ty).into()]
                    }
                    _ => {
                        let ty = Ty::new(Elem::F64, vec![Dim::Const(2)]);
                        vec![Atom::i64(2), self.b.tensor(FILL.op(), &[Const::f64(1.0).into()], &[], ty).into()]
                    }
                };
                self.b.close_block(results)
            })
            .collect();
        let length = self.var("length", Elem::I64);
        let vector = self.b.var("vector", Ty::new(Elem::F64, vec![length.into()]));
        self.b.push(vec![length, vector], Op::Switch { selector, arms });
        pool.ints.push(length.into());
        pool.vectors.push(vector);
    }
}
