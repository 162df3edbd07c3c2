//! The partials of the op table against arithmetic of more than sixty digits, and that arithmetic against what is known.

use cotan::host::{Arguments, HostValue};
use cotan::{Compiler, Config, Engine, Request};
use cotan_ir::Elem;
use cotan_ops::lookup;
use cotan_testkit::exact::{
    BOUND, EXCEPTIONS, Number, cosh, exact_partials, exp, judged, ln, ln_2, pi, polygamma, power, sin_cos, sinh, units,
    worst_errors,
};
use cotan_testkit::parallel;
use cotan_testkit::random::Rng;

/// How many points each partial is compared at: few of the 10,000 of `accept sound`, or as many as `COTAN_PARTIALS` says.
fn count() -> usize {
    std::env::var("COTAN_PARTIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

fn whole(n: i64) -> Number {
    Number::whole(n)
}

/// That two numbers agree in more than 70 digits.
fn same(what: &str, found: Number, expected: Number) {
    let scale = expected.exponent().max(found.exponent());
    let difference = found - expected;
    assert!(
        difference.is_zero() || difference.exponent() <= scale - 240,
        "{what}: {} of {}",
        difference.rough(),
        expected.rough()
    );
}

#[test]
fn exact_arithmetic_gives_known_digits() {
    let known = [
        ("pi", pi(), "3.141592653589793238462643383279502884197169399375105820974944592307816406286209"),
        ("ln 2", ln_2(), "0.6931471805599453094172321214581765680755001343602552541206800094933936219696947"),
        ("e", exp(whole(1)), "2.718281828459045235360287471352662497757247093699959574966967627724076630353548"),
        (
            "sin 1e22",
            sin_cos(Number::of(1e22)).0,
            "-0.8522008497671888017727058937530293682617621504100436562565093260259103119920962",
        ),
        (
            "cos 2^1000",
            sin_cos(whole(1).scaled(1000)).1,
            "0.9872460775989134842399017963294680056270379668341074928488420389638803481261774",
        ),
        (
            "psi 1",
            -polygamma(0, whole(1)),
            "0.5772156649015328606065120900824024310421593359399235988057672348848677267776647",
        ),
        (
            "psi -10.5",
            polygamma(0, Number::of(-10.5)),
            "2.398239129535781613367831646087861290321530727367359221055798372273785416209401",
        ),
        (
            "psi''' 1/4",
            polygamma(3, Number::of(0.25)),
            "1538.782144009188396022791243829035056768401846645663017012313039578530513182696",
        ),
        (
            "psi'' -7/4",
            polygamma(2, Number::of(-1.75)),
            "-124.2138213542305819249587424730886718870738501032052837480321606418167378893612",
        ),
        (
            "e^(1/10)",
            exp(whole(10).reciprocal()),
            "1.105170918075647624811707826490246668224547194737518718792863289440967966747654",
        ),
    ];
    for (what, found, digits) in known {
        same(what, found, Number::decimal(digits));
    }
}

#[test]
fn exact_arithmetic_keeps_identities() {
    let mut rng = Rng::new(27);
    for _ in 0..60 {
        let (a, b) = (rng.span(-40.0, 40.0), rng.span(0.5, 60.0));
        let (x, y) = (Number::of(a), Number::of(b));
        same("quotient", x / y * y, x);
        same("sum", (x + y) - y, x);
        same("product", (x + y) * (x - y), x * x - y * y);
        same("root", y.sqrt() * y.sqrt(), y);
        same("exp of log", exp(ln(y)), y);
        same("exp of a sum", exp(x + y), exp(x) * exp(y));
        same("power", power(y, x) * power(y, whole(1) - x), y);
        same("hyperbolic", cosh(y) * cosh(y) - whole(1), sinh(y) * sinh(y));
        let ((s, c), (s2, c2)) = (sin_cos(x), sin_cos(x.scaled(1)));
        same("circle", s * s + c * c, whole(1));
        same("double sine", s2, (s * c).scaled(1));
        same("double cosine", c2, (c - s) * (c + s));
        for n in [0, 1, 4, 9] {
            let factorial = (1..=n).fold(whole(1), |f, k| f * whole(k));
            let step = factorial / (0..=n).fold(whole(1), |power, _| power * y);
            let signed = if n % 2 == 0 { step } else { -step };
            same("gamma's recurrence", polygamma(n, y + whole(1)), polygamma(n, y) + signed);
        }
    }
    let whole_turns = sin_cos(pi() * whole(123)).0;
    assert!(whole_turns.is_zero() || whole_turns.exponent() < -290);
    assert_eq!(whole(-7).scaled(-1).trunc(), whole(-3));
    assert_eq!(whole(-7).scaled(-1).round(), whole(-4));
    assert_eq!([5, -5, 6, 0].map(|n| whole(n).quarter()), [1, 3, 2, 0]);
    assert_eq!(Number::of(5e-324).rough(), 5e-324);
}

#[test]
fn units_are_those_of_the_exact_number() {
    let one = whole(1);
    assert_eq!(units(1.0 + f64::EPSILON, one, Elem::F64), 1.0);
    assert_eq!(units(1.0, one + one.scaled(-53), Elem::F64), 0.5);
    assert_eq!(units(5e-324, one.scaled(-1075), Elem::F64), 0.5);
    assert_eq!(units(f64::INFINITY, one.scaled(3000), Elem::F64), 0.0);
    assert_eq!(units(f64::MAX, one.scaled(1024), Elem::F64), 1.0);
    assert!(units(f64::NAN, one, Elem::F64).is_infinite());
    assert_eq!(units(1.0 + f64::from(f32::EPSILON), one, Elem::F32), 1.0);
}

#[test]
fn every_row_with_a_partial_is_judged() {
    let (rows, missing) = judged();
    assert!(missing.is_empty(), "no closed form for {missing:?}");
    assert!(rows.len() > 50);
    assert!(EXCEPTIONS.len() <= 6);
    for name in ["sigmoid", "tanh", "erf", "log1p", "expm1", "hypot", "atan2"] {
        assert!(exact_partials(lookup(name).expect("a row of that name")).is_some());
        assert!(EXCEPTIONS.iter().all(|exception| exception.row != name), "{name} may not be excepted");
    }
}

#[test]
fn f4_partials_are_within_eight_units_of_sixty_digits() {
    let count = count();
    let (rows, _) = judged();
    let rows: Vec<_> = rows.into_iter().flat_map(|row| [(row, Elem::F64), (row, Elem::F32)]).collect();
    let all = parallel::map(&rows, |(row, elem)| (*elem, worst_errors(row, *elem, count, 2027)));
    let mut failures = Vec::new();
    for (elem, worst) in all.iter().flat_map(|(elem, all)| all.iter().map(move |worst| (elem, worst))) {
        let (error, at) = &worst.error;
        if *error > BOUND {
            failures.push(format!("{} {} {elem}: {error:.3e} at {at:?}", worst.row, worst.operand));
        }
        assert!(worst.points > count / 10, "{}: only {} points", worst.row, worst.points);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn f4_softplus_is_within_eight_units_of_sixty_digits() {
    let program = "import std.nn\nfn total[N](x: f64[N]) -> f64 = +/ map(|a: f64| nn.softplus(a), x)\n\
                   @grad(x) fn slopes[N](x: f64[N]) -> f64[N] = total(x)";
    let compiler = Compiler::new(Config::default()).expect("a compiler");
    let checked = compiler.check("softplus.cot", program);
    let function = compiler.function(&checked, &Request::function("slopes"), Engine::INTERPRETER).expect("it compiles");
    let mut rng = Rng::new(4);
    let mut x: Vec<f64> = (0..count()).map(|_| rng.span(-745.0, 745.0)).collect();
    x.extend((0..count()).map(|_| rng.span(-4.0, 4.0) * 2.0_f64.powi(rng.range(-1000, 8) as i32)));
    let n = i64::try_from(x.len()).expect("few points");
    let args: Arguments = [("x".to_owned(), HostValue::f64s(&[n], &x))].into_iter().collect();
    let slopes = function.call(&args).expect("no error").floats();
    assert_eq!(slopes.len(), x.len());
    for (x, slope) in x.iter().zip(slopes) {
        let exact = (whole(1) + exp(-Number::of(*x))).reciprocal();
        assert!(units(slope, exact, Elem::F64) <= BOUND, "softplus at {x}: {slope}");
    }
}
