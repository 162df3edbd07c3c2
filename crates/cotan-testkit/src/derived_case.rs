//! Derived cases: a program with arguments and its derivatives, which oracles are asked about.

use crate::generate::Construct;
use crate::generate::source::Generated;
use crate::random::Rng;
use cotan_ad::{Lengths, derivative};
use cotan_interp::{Limits, Options, run};
use cotan_ir::{Derived, Elem, Function, Mode, Module, Symbol};
use cotan_ops::Value;
use cotan_opt::InlineLimit;
use std::collections::BTreeSet;

/// A way to a derivative: transforms in the order in which they are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Forward mode.
    Jvp,
    /// Reverse mode.
    Vjp,
    /// Forward over forward.
    JvpOfJvp,
    /// Forward over reverse.
    JvpOfVjp,
    /// Reverse over forward.
    VjpOfJvp,
    /// Reverse over reverse.
    VjpOfVjp,
}

impl Way {
    /// Every way.
    pub const ALL: [Way; 6] = [Way::Jvp, Way::Vjp, Way::JvpOfJvp, Way::JvpOfVjp, Way::VjpOfJvp, Way::VjpOfVjp];

    /// As mathematicians write it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Jvp => "jvp",
            Way::Vjp => "vjp",
            Way::JvpOfJvp => "jvp∘jvp",
            Way::JvpOfVjp => "jvp∘vjp",
            Way::VjpOfJvp => "vjp∘jvp",
            Way::VjpOfVjp => "vjp∘vjp",
        }
    }
}

/// What a program and its arguments are, before anything is derived.
#[derive(Clone, Debug)]
pub struct Subject {
    /// How to make it again.
    pub label: String,
    /// Names the random directions.
    pub seed: u64,
    /// The program, ready to be differentiated.
    pub module: Module,
    /// The function.
    pub name: Symbol,
    /// Its arguments.
    pub args: Vec<Value>,
    /// What the program is made of.
    pub constructs: BTreeSet<Construct>,
    /// The variants of the typed tree that were found in it.
    pub variants: BTreeSet<&'static str>,
    /// Arguments with which checks may fail.
    pub failing: Vec<Vec<Value>>,
    /// The source, if it was made from one.
    pub source: Option<Generated>,
}

impl Subject {
    /// A function of a module, of which nothing else is known.
    pub fn new(label: String, module: Module, name: Symbol, args: Vec<Value>) -> Subject {
        let (constructs, variants) = (BTreeSet::new(), BTreeSet::new());
        Subject { label, seed: 1, module, name, args, constructs, variants, failing: Vec::new(), source: None }
    }

    /// The program as text, with its arguments.
    pub fn text(&self) -> String {
        let program = match &self.source {
            Some(generated) => generated.program.text(),
            None => cotan_ir::print_module(&self.module, cotan_ir::PrintOptions::default()),
        };
        let args: Vec<String> = self.args.iter().map(|v| format!("# {v:?}\n")).collect();
        format!("{program}\n# arguments:\n{}", args.concat())
    }

    /// The number of statements of the program, in the language that it was made in.
    pub fn n_statements(&self) -> usize {
        match &self.source {
            Some(generated) => generated.program.n_statements(),
            None => self.module.functions().map(|f| f.n_stmts()).sum(),
        }
    }
}

/// A subject with directions, results and derivatives.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program and its arguments.
    pub subject: Subject,
    /// With what bounds its derivatives are written: in every other program all loops run backwards, so that records
    /// are met where tangents would be cheaper, and in most of them calls that are in the module stay calls.
    pub limits: cotan_ad::Limits,
    /// Positions of the float parameters.
    pub wrt: Vec<usize>,
    /// Positions of the float results.
    pub outs: Vec<usize>,
    /// The results.
    pub results: Vec<Value>,
    /// A tangent for every float parameter.
    pub tangents: Vec<Value>,
    /// Another one, for second derivatives.
    pub second_tangents: Vec<Value>,
    /// A cotangent for every float result.
    pub cotangents: Vec<Value>,
}

/// Enough for any generated program, and a bound on one that does not end.
const STEPS: u64 = 200_000_000;

/// The options of all runs.
pub fn options() -> Options {
    Options { limits: Limits { steps: STEPS, ..Limits::default() }, ..Options::default() }
}

impl Case {
    /// Runs the subject and writes its first derivatives. An error is a failure of what is tested.
    pub fn new(subject: Subject) -> Result<Case, String> {
        let f = function(&subject.module, &subject.name)?;
        let wrt: Vec<usize> = (0..f.params.len()).filter(|k| f.ty(f.params[*k]).is_float()).collect();
        let outs: Vec<usize> = (0..f.body.results.len()).filter(|k| f.is_float(f.body.results[*k])).collect();
        let is_even = subject.seed.is_multiple_of(2);
        let limits = if is_even { cotan_ad::Limits::DEFAULT } else { cotan_ad::Limits::REVERSE_ALONE };
        let inlines = (subject.seed / 2) % 4 == 3;
        let inline = if inlines { InlineLimit::DEFAULT } else { InlineLimit::NONE };
        let limits = cotan_ad::Limits { inline, ..limits };
        let (results, tangents, second_tangents, cotangents) = Default::default();
        let mut case = Case { subject, limits, wrt, outs, results, tangents, second_tangents, cotangents };
        case.run_and_draw()?;
        for mode in [Mode::Jvp, Mode::Vjp] {
            let d = case.first(mode);
            case.write(&d)?;
        }
        Ok(case)
    }

    /// The same program, whose derivatives are written, with other arguments.
    pub fn at(&self, args: Vec<Value>) -> Result<Case, String> {
        let mut case = self.clone();
        case.subject.args = args;
        case.run_and_draw()?;
        Ok(case)
    }

    /// The results, and directions that fit them.
    fn run_and_draw(&mut self) -> Result<(), String> {
        let subject = &self.subject;
        self.results = run(&subject.module, &subject.name, &subject.args, &options())
            .map_err(|e| format!("the program itself fails: {e}"))?;
        let mut rng = Rng::new(subject.seed ^ 0x5eed);
        let mut like = |values: &[Value], at: &[usize]| -> Vec<Value> {
            at.iter().map(|k| random_like(&mut rng, &values[*k])).collect()
        };
        self.tangents = like(&subject.args, &self.wrt);
        self.second_tangents = like(&subject.args, &self.wrt);
        self.cotangents = like(&self.results, &self.outs);
        Ok(())
    }

    /// The same with a direction along one float parameter alone.
    pub fn along(&self, parameter: usize) -> Case {
        let mut case = self.clone();
        for (_, tangent) in case.tangents.iter_mut().enumerate().filter(|(k, _)| *k != parameter) {
            *tangent = Value::zeros(tangent.elem, &tangent.dims);
        }
        case
    }

    /// Writes the second derivatives.
    pub fn derive_twice(&mut self) -> Result<(), String> {
        for (outer, inner) in second_orders() {
            let d = self.second(outer, inner);
            self.write(&d)?;
        }
        Ok(())
    }

    /// The first derivative in all float parameters and results.
    pub fn first(&self, mode: Mode) -> Derived {
        Derived { of: self.subject.name.clone(), mode, wrt: self.wrt.clone(), outs: self.outs.clone() }
    }

    /// The derivative of the derivative in the same parameters.
    pub fn second(&self, outer: Mode, inner: Mode) -> Derived {
        let n = match inner {
            Mode::Jvp => self.outs.len(),
            Mode::Vjp => self.wrt.len(),
        };
        let first = self.results.len();
        let of = self.first(inner).canonical_name();
        Derived { of, mode: outer, wrt: self.wrt.clone(), outs: (first..first + n).collect() }
    }

    fn write(&mut self, d: &Derived) -> Result<(), String> {
        derivative(&mut self.subject.module, d, &self.limits).map_err(|e| format!("no derivative: {e}"))?;
        Ok(())
    }

    /// The element type of the floats: f32 if there is any of those, or of those whose derivatives are.
    pub fn elem(&self) -> Elem {
        let is_single = self.subject.constructs.contains(&Construct::NarrowFloat)
            || self.results.iter().chain(&self.subject.args).any(|v| v.elem.computed() == Elem::F32);
        if is_single { Elem::F32 } else { Elem::F64 }
    }

    /// Runs a function of the module on the interpreter.
    pub fn run(&self, name: &str, args: &[Value]) -> Result<Vec<Value>, String> {
        run(&self.subject.module, name, args, &options()).map_err(|e| format!("`{name}` fails: {e}"))
    }

    /// The results of the function, and the tangents of its float results.
    pub fn run_jvp(&self) -> Result<(Vec<Value>, Vec<Value>), String> {
        let args = joined(&[&self.subject.args, &self.tangents]);
        let mut all = self.run(&self.first(Mode::Jvp).canonical_name(), &args)?;
        let tangents = all.split_off(self.results.len());
        Ok((all, tangents))
    }

    /// The results of the function, and the cotangents of its float parameters.
    pub fn run_vjp(&self) -> Result<(Vec<Value>, Vec<Value>), String> {
        let mut all = self.run(&self.first(Mode::Vjp).canonical_name(), &self.vjp_arguments()?)?;
        let cotangents = all.split_off(self.results.len());
        Ok((all, cotangents))
    }

    /// The arguments of the reverse derivative: those of the function, lengths, cotangents.
    pub fn vjp_arguments(&self) -> Result<Vec<Value>, String> {
        self.vjp_arguments_at(&self.subject.args)
    }

    fn vjp_arguments_at(&self, args: &[Value]) -> Result<Vec<Value>, String> {
        let f = function(&self.subject.module, &self.subject.name)?;
        let lengths = lengths(f, &self.outs, &self.cotangents);
        Ok(joined(&[args, &lengths, &self.cotangents]))
    }

    /// The names of the function, of its forward and of its reverse derivative.
    pub fn names(&self) -> [String; 3] {
        let derivative = |mode| self.first(mode).canonical_name().to_string();
        [self.subject.name.to_string(), derivative(Mode::Jvp), derivative(Mode::Vjp)]
    }

    /// The arguments of those three, with these arguments of the function.
    pub fn calls(&self, args: &[Value]) -> Result<[Vec<Value>; 3], String> {
        Ok([args.to_vec(), joined(&[args, &self.tangents]), self.vjp_arguments_at(args)?])
    }

    /// The arguments of the function, and those with which checks may fail.
    pub fn argument_lists(&self) -> impl Iterator<Item = &[Value]> {
        [&self.subject.args].into_iter().chain(&self.subject.failing).map(Vec::as_slice)
    }

    /// The derivative of the derivative, and the arguments that it is called with.
    pub fn second_call(&self, outer: Mode, inner: Mode) -> Result<(Derived, Vec<Value>), String> {
        let base = match inner {
            Mode::Jvp => joined(&[&self.subject.args, &self.tangents]),
            Mode::Vjp => self.vjp_arguments()?,
        };
        let seeds = match (outer, inner) {
            (Mode::Jvp, Mode::Jvp | Mode::Vjp) => &self.second_tangents,
            (Mode::Vjp, Mode::Jvp) => &self.cotangents,
            (Mode::Vjp, Mode::Vjp) => &self.tangents,
        };
        let d = self.second(outer, inner);
        let more = match outer {
            Mode::Jvp => Vec::new(),
            Mode::Vjp => lengths(function(&self.subject.module, &d.of)?, &d.outs, seeds),
        };
        Ok((d, joined(&[&base, &more, seeds])))
    }

    /// The second derivative in the two directions, summed with the cotangents: one number whatever the way. With it,
    /// the largest magnitude that entered.
    pub fn second_derivative(&self, outer: Mode, inner: Mode) -> Result<(f64, f64), String> {
        let weights = match (outer, inner) {
            (Mode::Jvp, Mode::Jvp) => &self.cotangents,
            (Mode::Jvp, Mode::Vjp) => &self.tangents,
            (Mode::Vjp, Mode::Jvp | Mode::Vjp) => &self.second_tangents,
        };
        let (d, args) = self.second_call(outer, inner)?;
        let all = self.run(&d.canonical_name(), &args)?;
        let of_interest = &all[all.len() - weights.len()..];
        Ok(dot(of_interest, weights))
    }
}

/// Both modes of both modes: (outer, inner).
pub fn second_orders() -> [(Mode, Mode); 4] {
    [(Mode::Jvp, Mode::Jvp), (Mode::Jvp, Mode::Vjp), (Mode::Vjp, Mode::Jvp), (Mode::Vjp, Mode::Vjp)]
}

/// The function of that name.
pub fn function<'m>(module: &'m Module, name: &str) -> Result<&'m Function, String> {
    module.function(name).map(|f| f.as_ref()).ok_or_else(|| format!("there is no function `{name}`"))
}

/// The lengths that a reverse derivative of `f` is told, read off cotangents of the results `outs`.
pub fn lengths(f: &Function, outs: &[usize], cotangents: &[Value]) -> Vec<Value> {
    let lengths = Lengths::of(f, outs);
    let mut values = vec![0; lengths.names.len()];
    for (axes, cot) in lengths.axes.iter().zip(cotangents) {
        for (axis, extent) in axes.iter().zip(&cot.dims) {
            if let Some(n) = axis {
                values[*n] = *extent;
            }
        }
    }
    values.into_iter().map(|n| Value::i64s(&[], &[n])).collect()
}

/// Lists of operands one after the other.
pub fn joined(parts: &[&[Value]]) -> Vec<Value> {
    parts.concat()
}

/// The inner product of two lists of floats of the same shapes, and the sum of the magnitudes of its terms.
pub fn dot(xs: &[Value], ys: &[Value]) -> (f64, f64) {
    let (mut sum, mut scale) = (0.0, 0.0);
    for (x, y) in xs.iter().zip(ys) {
        for (a, b) in floats(x).into_iter().zip(floats(y)) {
            sum += a * b;
            scale += (a * b).abs();
        }
    }
    (sum, scale)
}

/// The floats of a value; none of a value of another type.
pub fn floats(value: &Value) -> Vec<f64> {
    value.floats().unwrap_or_default()
}

/// A tensor of floats of the type of `like`.
pub fn float_value(like: &Value, elements: &[f64]) -> Value {
    let bits = elements.iter().map(|x| cotan_ir::Const::float(like.elem, *x).bits()).collect();
    Value { elem: like.elem, dims: like.dims.clone(), bits }
}

fn random_like(rng: &mut Rng, like: &Value) -> Value {
    let elements: Vec<f64> = like.bits.iter().map(|_| rng.span(-1.0, 1.0)).collect();
    tangent_value(like, &elements)
}

/// A tangent or cotangent of a value, with these elements.
pub fn tangent_value(like: &Value, elements: &[f64]) -> Value {
    float_value(&Value { elem: like.elem.computed(), ..like.clone() }, elements)
}
