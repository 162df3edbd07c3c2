//! Running a function from outside, and what comes out.

use super::Machine;
use super::derivatives::floats;
use super::frame::{Frame, Generic};
use super::host::{from_host, generics_of};
use super::number::Number;
use super::value::{Failure, Flow, Stop, Value};
use cotan::host::{Arguments, HostValue};
use cotan_ir::{CheckKind, Const, Elem, Span};
use cotan_sema::typed::{
    Callable, CallableKind, Derivative, DerivativeForm, Expr, ExprKind, FnId, Function, FunctionBody, Part, Program,
    Type,
};
use cotan_sema::types;
use std::rc::Rc;

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The result, or the first failed check that it needs.
    pub value: Result<HostValue, Failure>,
    /// Every check that failed, in the order of the source.
    pub failures: Vec<Failure>,
    /// Whether an optimiser may find that the result needs less: one of them decided what runs (a branch, a jump, a
    /// number of iterations), or made a derivative fail, which may not need all that its function needs.
    pub may_need_less: bool,
}

impl Outcome {
    /// Whether an engine may give this: its value, to be compared by `same`, or the check that it reports.
    pub fn agrees(
        &self,
        engine: Result<&HostValue, (CheckKind, Span)>,
        same: impl FnOnce(&HostValue, &HostValue) -> Result<(), String>,
    ) -> Result<(), String> {
        let (kind, span) = match (&self.value, engine) {
            (Ok(expected), Ok(found)) => return same(found, expected),
            (Err(failure), Ok(found)) => {
                return Err(format!("expected {} at {:?}, found {found:?}", failure.kind.code(), failure.span));
            }
            (_, Err(reported)) => reported,
        };
        let is_it = |f: &Failure| (f.kind, f.span.file.0, f.span.start) == (kind, span.file, span.start);
        // Where nothing is needed any failed check may be reported.
        let needed = self.value.as_ref().err().map_or(usize::MAX, |needed| needed.ordinal);
        if self.failures.iter().any(|f| is_it(f) && f.ordinal <= needed) {
            return Ok(());
        }
        let expected: Vec<String> =
            self.failures.iter().take(3).map(|f| format!("{} at {:?}", f.kind.code(), f.span)).collect();
        Err(format!("expected {} or {:?}, found {} at {span:?}", expected.join(", "), self.value, kind.code()))
    }
}

/// A result and how its floats depend on those of the arguments, all in the order of the source.
#[derive(Clone, Debug, Default)]
pub struct Linear {
    /// The floats of the result.
    pub values: Vec<f64>,
    /// For each of them, the derivative with respect to every float of the arguments.
    pub rows: Vec<Vec<f64>>,
}

/// A call of a function from outside.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The program, which has no errors.
    pub program: &'a Program,
    /// The name of the function.
    pub function: &'a str,
    /// What its element type parameters stand for; those that are missing are `f64`, or `i64` where they are integers.
    pub elems: &'a [Elem],
    /// The arguments by name.
    pub args: &'a Arguments,
}

impl Call<'_> {
    /// Runs the function.
    pub fn value(&self) -> Result<Outcome, String> {
        let function = self.program.function(self.id()?);
        self.run(function, |machine, generics, args| {
            let value = machine.run(function, generics, args, &[])?;
            machine.to_host(&function.result, &value)
        })
    }

    /// The gradient of the function, whose result is a float: of one parameter that of it, of several a tuple.
    pub fn gradient(&self, wrt: &[&str]) -> Result<Outcome, String> {
        let id = self.id()?;
        let function = self.program.function(id);
        let position = |name: &&str| {
            let at = function.params.iter().position(|param| param.name == **name);
            at.ok_or_else(|| format!("there is no parameter `{name}`"))
        };
        let wrt: Vec<usize> = wrt.iter().map(position).collect::<Result<_, _>>()?;
        let mut tangents: Vec<Type> = wrt.iter().map(|k| self.program.tangent(&function.params[*k].ty)).collect();
        let ty = if tangents.len() == 1 { tangents.remove(0) } else { Type::Tuple(tangents) };
        let base = Callable {
            span: function.name_span,
            params: function.params.iter().map(|param| param.ty.clone()).collect(),
            result: function.result.clone(),
            kind: CallableKind::Function { function: id, generics: types::Generic::as_args(&function.generics) },
        };
        let derivative = Derivative { span: function.span, form: DerivativeForm::Grad, mode: None, base, wrt };
        self.run(function, |machine, _, args| {
            let base = machine.closure(&derivative.base);
            let value = machine.derivative(&derivative, &base, args, &[])?;
            machine.to_host(&ty, &value)
        })
    }

    /// How every float of the result depends on every float of the arguments.
    pub fn linear(&self) -> Result<Linear, String> {
        let function = self.program.function(self.id()?);
        let mut linear = Linear::default();
        self.run(function, |machine, generics, mut args| {
            let (tag, n) = machine.lift_all(&mut args);
            let value = machine.run(function, generics, args, &[])?;
            if let Some(failure) = value.first_failure() {
                return Err(Stop::Failed(failure));
            }
            for y in floats(&value) {
                let float = |x: &Number| x.plain().as_float().unwrap_or(f64::NAN);
                linear.values.push(float(&y));
                linear.rows.push((0..n).map(|direction| float(&y.tangent(tag, direction))).collect());
            }
            Ok(HostValue::unit())
        })?;
        Ok(linear)
    }

    fn id(&self) -> Result<FnId, String> {
        let id = self.program.function_named(self.function);
        id.ok_or_else(|| format!("there is no function `{}`", self.function))
    }

    fn run<'p>(
        &'p self,
        function: &'p Function,
        work: impl FnOnce(&mut Machine<'p>, Vec<Generic>, Vec<Value>) -> Flow<HostValue>,
    ) -> Result<Outcome, String> {
        let mut machine = Machine::new(self.program);
        let mut args: Vec<Value> = Vec::with_capacity(function.params.len());
        for param in &function.params {
            args.push(match (self.args.get(&param.name), &param.default) {
                (Some(value), _) => from_host(self.program, &param.ty, value),
                (None, Some(Expr { kind: ExprKind::Local(before), .. })) => args[before.0 as usize].clone(),
                (None, Some(default)) => {
                    machine.expr(default).map_err(|stop| format!("the default of `{}`: {stop:?}", param.name))?
                }
                (None, None) => return Err(format!("there is no argument `{}`", param.name)),
            });
        }
        let generics = generics_of(self.program, function, self.elems, self.args, &args);
        machine.frame = Rc::new(Frame { generics: generics.clone(), ..Frame::default() });
        let value = match work(&mut machine, generics, args) {
            Ok(value) => Ok(value),
            Err(Stop::Failed(failure)) => Err(failure),
            Err(Stop::Bug(message)) => return Err(message),
            Err(Stop::Break | Stop::Continue | Stop::Return(_)) => return Err("a jump out of a function".to_owned()),
        };
        // What could not be printed is needed, whatever the result is.
        let value = match (value, machine.unprinted) {
            (Err(needed), Some(unprinted)) if needed.ordinal < unprinted.ordinal => Err(needed),
            (_, Some(unprinted)) => Err(unprinted),
            (value, None) => value,
        };
        Ok(Outcome { value, failures: machine.checks.failures, may_need_less: machine.may_need_less })
    }
}

/// Whether some function of the program takes a derivative: then its values are only as exact as derivatives are.
pub fn takes_derivatives(program: &Program) -> bool {
    let is_one = |function: &Function| match &function.body {
        FunctionBody::Source(body) => has_derivative(Part::Expr(&body.value)),
        FunctionBody::Derivative(_) => true,
        FunctionBody::Required(_) => false,
    };
    program.functions.iter().any(is_one)
}

fn has_derivative(part: Part<'_>) -> bool {
    let mut found = false;
    let mut inside = |part: Part<'_>| found = found || has_derivative(part);
    match part {
        Part::Expr(e) => e.each_part(&mut inside),
        Part::Callable(Callable { kind: CallableKind::Derivative(_), .. }) => found = true,
        Part::Callable(callable) => callable.each_part(&mut inside),
    }
    found
}

/// Whether two values of one type have one shape and the same bits; any NaN is the same as any other.
pub fn same_host(found: &HostValue, expected: &HostValue) -> Result<(), String> {
    match (found, expected) {
        (HostValue::Scalar(a), HostValue::Scalar(b)) if same_scalar(*a, *b) => Ok(()),
        (HostValue::Tensor(a), HostValue::Tensor(b)) if (a.elem, &a.dims) == (b.elem, &b.dims) => {
            let differs = (0..a.bits.len()).find(|k| !same_scalar(a.get(*k), b.get(*k)));
            match differs {
                Some(k) => Err(format!("element {k}: expected {}, found {}", b.get(k), a.get(k))),
                None => Ok(()),
            }
        }
        (HostValue::Array { dims: a, items: xs }, HostValue::Array { dims: b, items: ys }) if a == b => {
            xs.iter().zip(ys).try_for_each(|(x, y)| same_host(x, y))
        }
        (HostValue::Tuple(xs), HostValue::Tuple(ys)) if xs.len() == ys.len() => {
            xs.iter().zip(ys).try_for_each(|(x, y)| same_host(x, y))
        }
        (HostValue::Struct(xs), HostValue::Struct(ys)) if xs.len() == ys.len() => {
            xs.iter().zip(ys).try_for_each(|((a, x), (b, y))| {
                if a != b {
                    return Err(format!("expected the field `{b}`, found `{a}`"));
                }
                same_host(x, y).map_err(|e| format!("`{a}`: {e}"))
            })
        }
        (HostValue::Enum { variant: a, payload: None }, HostValue::Enum { variant: b, payload: None }) if a == b => {
            Ok(())
        }
        (HostValue::Enum { variant: a, payload: Some(x) }, HostValue::Enum { variant: b, payload: Some(y) })
            if a == b =>
        {
            same_host(x, y).map_err(|e| format!("`{a}`: {e}"))
        }
        (
            HostValue::Scalar(_)
            | HostValue::Tensor(_)
            | HostValue::Array { .. }
            | HostValue::Tuple(_)
            | HostValue::Struct(_)
            | HostValue::Enum { .. },
            _,
        ) => Err(format!("expected {expected:?}, found {found:?}")),
    }
}

fn same_scalar(a: Const, b: Const) -> bool {
    let is_nan = |c: Const| c.as_float().is_some_and(f64::is_nan);
    a == b || a.elem() == b.elem() && is_nan(a) && is_nan(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::checked;

    const PROGRAM: &str = "
fn unused(v: f64[3], i: i64) -> f64 {
  let a = v[i]
  2.0
}
fn in_order(v: f64[3], i: i64) -> f64 = v[i] + v[0 - i]
fn other_local(v: f64[3], i: i64) -> f64 {
  let mut s = 1.0
  let mut t = 2.0
  if v[i] > 0.0 { s = 3.0 }
  t += 1.0
  t
}
fn same_local(v: f64[3], i: i64) -> f64 {
  let mut s = 1.0
  if v[i] > 0.0 { s = 3.0 }
  s
}
fn left_early(v: f64[3], i: i64) -> f64 {
  if v[i] > 0.0 { return 1.0 }
  2.0
}
fn other_element(v: f64[3], i: i64) -> f64 {
  let t = tabulate(4, |k| v[k + i - 9])
  t[1]
}
fn counted(v: f64[3], i: i64) -> f64 {
  let mut n = 0.0
  for x in [v, v][i] { n += 1.0 }
  n
}
fn pushed(v: f64[3], i: i64) -> f64 = vjp[x](|x| 2.0 * x)(1.0, v[i]).1
fn cut(v: f64[3], i: i64) -> f64 = v[0] * stop_gradient(v[1]) + max/ v
";

    fn arguments() -> Arguments {
        Arguments::from([
            ("v".to_owned(), HostValue::f64s(&[3], &[1.0, 5.0, 5.0])),
            ("i".to_owned(), HostValue::i64(9)),
        ])
    }

    fn outcome(function: &str) -> Outcome {
        let program = checked("test.cot", PROGRAM).expect("no errors");
        let args = arguments();
        let call = Call { program: &program.checked.program, function, elems: &[], args: &args };
        call.value().expect("no bug")
    }

    fn reported(failure: &Failure) -> (CheckKind, Span) {
        let span = failure.span;
        (failure.kind, Span::new(span.file.0, span.start, span.end))
    }

    #[test]
    fn a_failed_check_that_nobody_needs_may_be_skipped_or_reported() {
        for (function, value) in [("unused", 2.0), ("other_local", 3.0), ("other_element", 5.0), ("counted", 3.0)] {
            let outcome = outcome(function);
            let value = HostValue::f64(value);
            assert_eq!(outcome.value, Ok(value.clone()), "{function}");
            assert_eq!(outcome.agrees(Ok(&value), same_host), Ok(()));
            assert_eq!(outcome.agrees(Err(reported(&outcome.failures[0])), same_host), Ok(()));
            assert!(outcome.agrees(Ok(&HostValue::f64(0.0)), same_host).is_err());
        }
    }

    #[test]
    fn whoever_needs_a_failed_check_fails_with_it() {
        for function in ["same_local", "left_early", "pushed"] {
            let outcome = outcome(function);
            let failure = outcome.failures[0];
            assert_eq!((failure.kind, outcome.value.clone()), (CheckKind::IndexRange, Err(failure)), "{function}");
            assert!(outcome.agrees(Ok(&HostValue::f64(1.0)), same_host).is_err());
            assert!(outcome.agrees(Err((CheckKind::CastRange, reported(&failure).1)), same_host).is_err());
        }
    }

    #[test]
    fn the_first_of_the_failed_checks_that_are_needed_is_the_one_to_report() {
        let outcome = outcome("in_order");
        let needed = outcome.value.clone().expect_err("an index is out of range");
        assert_eq!((outcome.failures.len(), needed), (2, outcome.failures[0]));
        assert_eq!(outcome.agrees(Err(reported(&outcome.failures[0])), same_host), Ok(()));
        assert!(outcome.agrees(Err(reported(&outcome.failures[1])), same_host).is_err());
    }

    #[test]
    fn gradients_stop_where_they_should_and_ties_share() {
        let program = checked("test.cot", PROGRAM).expect("no errors");
        let args = arguments();
        let call = Call { program: &program.checked.program, function: "cut", elems: &[], args: &args };
        let gradient = call.gradient(&["v"]).expect("no bug").value;
        assert_eq!(gradient, Ok(HostValue::f64s(&[3], &[5.0, 0.5, 0.5])));
        let linear = call.linear().expect("no bug");
        assert_eq!((linear.values, linear.rows), (vec![10.0], vec![vec![5.0, 0.5, 0.5]]));
    }
}
