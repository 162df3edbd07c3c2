//! Checks of gradients at and near kinks: right gradients are never contradicted, and a wrong rule always is.
//!
//! A wrong rule is seeded twice. One that both modes share stands in the program: what `stop_gradient` hides is a part of
//! the value and none of the derivative. One that they do not share is put into what the other mode gives.

use crate::frontend::checked;
use cotan::host::{Arguments, HostValue};
use cotan::{
    CallError, Compiler, Config, DerivativeForm, DerivativeRequest, Engine, GradientCheck, Request, Subject, Verdict,
    check_gradient,
};

/// A function of one variable, and a point at or near one of its kinks.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// The body of `f(x: f64) -> f64`.
    pub body: &'static str,
    /// The point.
    pub at: f64,
    /// The operation that is named, if the check is inconclusive; `None` if it agrees.
    pub kink: Option<&'static str>,
    /// A slope that a wrong rule misses: one with which the derivative is that of no side.
    pub missed: f64,
}

const fn case(name: &'static str, body: &'static str, at: f64, kink: Option<&'static str>, missed: f64) -> Case {
    Case { name, body, at, kink, missed }
}

/// The cases.
pub static CASES: [Case; 44] = [
    case("relu at its kink", "relu(x)", 0.0, Some("relu"), 0.05),
    case("relu a little above", "relu(x - 1.0)", 1.000_000_001, None, 0.05),
    case("relu a little below", "relu(x - 1.0) + x", 0.999_999_999, Some("relu"), 0.05),
    case("square of a positive part", "relu(x) ** 2", 0.0, Some("relu"), 0.05),
    case("magnitude at its kink", "abs(x)", 0.0, None, 1.5),
    case("magnitude of a tiny number", "abs(x)", 1e-9, None, 0.05),
    case("magnitude beside its kink", "abs(x - 1e-12)", 0.0, None, 0.05),
    case("smooth product with a magnitude", "x * abs(x)", 0.0, Some("abs"), 0.05),
    case("maximum at a tie", "max(x, 1.0)", 1.0, None, 0.8),
    case("maximum beside a tie", "max(x, 1.0)", 1.000_000_001, Some("max"), 0.05),
    case("maximum far from a tie", "max(x, 1.0)", 1.5, None, 0.05),
    case("minimum of two lines", "min(x, 3.0 * x + 1e-10)", 0.0, None, 0.05),
    case("clamped at the upper bound", "clamp(x, 0.0, 1.0)", 1.0, Some("clamp"), -0.05),
    case("clamped at the lower bound", "clamp(x, 0.0, 1.0)", 0.0, Some("clamp"), -0.05),
    case("root at zero", "sqrt(x)", 0.0, Some("sqrt"), -1e9),
    case("power at zero", "x ** 1.5", 0.0, Some("**"), 0.5),
    case("branches that meet smoothly", "if x > 0.0 { x * x } else { 0.0 }", 0.0, Some("x > 0.0"), 0.05),
    case("branches that meet in a kink", "if x > 0.0 { 2.0 * x } else { x }", 0.0, Some("x > 0.0"), 0.05),
    case("branches beside their kink", "if x > 1.0 { 2.0 * x } else { x + 1.0 }", 1.000_000_001, Some("x > 1.0"), 0.05),
    case("branches that do not meet", "if x > 0.0 { 1.0 + x } else { x }", 0.0, Some("x > 0.0"), 0.05),
    case("a jump beside the point", "if x > 1.0 { 5.0 + x } else { x }", 1.000_000_001, Some("x > 1.0"), 0.05),
    case("a jump far from the point", "if x > 1.0 { 5.0 + x } else { x }", 1.25, None, 0.05),
    case("floor at a whole number", "floor(x) * x", 2.0, Some("floor"), 0.05),
    case("floor between", "floor(x) * x", 2.5, None, 0.05),
    case("round at a half", "round(x) * x", 2.5, Some("round"), 0.05),
    case("remainder at a whole quotient", "x % 1.0", 3.0, Some("x % 1.0"), 0.05),
    case("a cast at a whole number", "(x as i64) as f64 * x", 3.0, Some("x as i64"), 0.05),
    case("sign at zero", "sign(x) * x + x", 0.0, None, 1.5),
    case("length at zero", "hypot(x, 0.0)", 0.0, None, 1.5),
    case("angle at its cut", "atan2(x, -1.0)", 0.0, Some("atan2"), 0.5),
    case("the least of two at a tie", "sort([x, 1.0])[0]", 1.0, Some("sort([x, 1.0])"), -0.05),
    case("the greatest of several at a tie", "max/[1.0, x, 0.5]", 1.0, None, 0.8),
    case("the greatest of several beside a tie", "max/[1.0, x, 0.5]", 1.000_000_001, Some("max"), 0.05),
    case("the place of the greatest", "[2.0 * x, 3.0 - x][argmax([x, 1.0])]", 1.0, Some("argmax([x, 1.0])"), -0.05),
    case("halving until small", "{ let mut y = x\n while y > 1.0 { y = y * 0.5 }\n y }", 2.0, Some("y > 1.0"), 0.05),
    case("halving, far from a change", "{ let mut y = x\n while y > 1.0 { y = y * 0.5 }\n y }", 3.0, None, 0.05),
    case("Newton's method to a tolerance", NEWTON, 2.0, None, 0.05),
    case("many kinks around the point", "+/ tabulate(2000, |i| relu(x - (i as f64) / 1e3))", 1.0, Some("relu"), 2.0),
    case("a steep slope at a small point", "exp(1e7 * x)", 1e-7, None, 1e6),
    case("a steep slope at zero", "exp(1e7 * x)", 0.0, None, 1e6),
    case("a fast wave", "sin(1e6 * x)", 1.0, None, 1e5),
    case("a flat cube", "x ** 3", 0.0, None, 0.05),
    case("a small slope on a large value", "1e6 + x", 1.0, None, 0.05),
    case("a narrow band", "clamp(1e12 * x, -1.0, 1.0)", 0.0, None, 1e11),
];

/// A root by iteration, which stops where the error is small.
const NEWTON: &str = "{ let mut y = 1.0\n while abs(y * y - x) > 1e-12 { y = 0.5 * (y + x / y) }\n y }";

/// What checks of a case find: of the right gradient, of one whose rule both modes have wrong, and of one that they have not.
pub struct Found {
    /// The right one; with the kinks that are named.
    pub right: (Verdict, Vec<String>),
    /// The rule is wrong in both modes.
    pub shared: Verdict,
    /// The rule is wrong in one.
    pub one_mode: Verdict,
}

/// The checks of a case.
pub fn find(case: &Case) -> Result<Found, String> {
    let missed = format!("({}) + stop_gradient({:e} * x)", case.body, case.missed);
    let (right, kinks) = check(case, case.body, &|tangent| tangent)?;
    let wrong = |tangent: f64| if tangent.is_finite() { 1.01 * tangent + 0.013 } else { 0.0 };
    let (shared, one_mode) = (check(case, &missed, &|tangent| tangent)?.0, check(case, case.body, &wrong)?.0);
    Ok(Found { right: (right, kinks), shared, one_mode })
}

/// Checks the gradient of a body. What the other mode gives is made of what it should give.
fn check(case: &Case, body: &str, seed: &dyn Fn(f64) -> f64) -> Result<(Verdict, Vec<String>), String> {
    let program = checked(case.name, &format!("fn f(x: f64) -> f64 = {body}"))?;
    let compiler = Compiler::new(Config::default())?;
    let function = |request: &Request| {
        compiler.function(&program, request, Engine::INTERPRETER).map_err(|e| format!("{}: {e:?}", case.name))
    };
    let derived = |form, mode| {
        let derivative = DerivativeRequest { form, wrt: vec!["x".to_owned()], mode };
        function(&Request::derivative("f", derivative))
    };
    let fail = |e: CallError| format!("{}: {e:?}", case.name);
    let args = Arguments::from([("x".to_owned(), HostValue::f64(case.at))]);
    let reverse = derived(DerivativeForm::Grad, None)?;
    let gradient = reverse.call(&args).map_err(fail)?;
    let forward = derived(DerivativeForm::Jvp, None)?;
    let direction = forward.signature().params.last().map(|param| param.name.clone()).unwrap_or_default();
    let mut other_mode = |tangents: &[HostValue]| {
        let args = args.clone().into_iter().chain([(direction.clone(), tangents[0].clone())]).collect();
        let result = forward.call(&args)?.floats();
        Ok(seed(result.last().copied().unwrap_or(f64::NAN)))
    };
    let primal = function(&Request::function("f"))?;
    let wrt = ["x".to_owned()];
    let gradient = [gradient];
    let subject =
        Subject { function: &primal, args: &args, wrt: &wrt, gradient: &gradient, other_mode: &mut other_mode };
    let found: GradientCheck = check_gradient(subject, None, &mut |_, _| {}).map_err(fail)?;
    Ok((found.verdict(), found.kinks(&program.sources)))
}

/// What is wrong with the checks of a case; nothing if they are as they should be.
pub fn wrong(case: &Case) -> Result<Vec<String>, String> {
    let Found { right: (verdict, kinks), shared, one_mode } = find(case)?;
    let mut wrong = Vec::new();
    let expected = if case.kink.is_some() { Verdict::Inconclusive } else { Verdict::Agrees };
    if verdict != expected {
        wrong.push(format!("{}: expected that it {}, found {}", case.name, expected.word(), verdict.word()));
    }
    if let Some(kink) = case.kink
        && !kinks.iter().any(|text| text.starts_with(&format!("`{kink}`")))
    {
        wrong.push(format!("{}: expected the kink `{kink}`, found {kinks:?}", case.name));
    }
    for (verdict, seed) in [(shared, "that both modes share"), (one_mode, "of one mode")] {
        if verdict != Verdict::Differs {
            wrong.push(format!("{}: a wrong rule {seed} is missed: {}", case.name, verdict.word()));
        }
    }
    Ok(wrong)
}
