//! Derivative forms: as declarations, as expressions, as roots.

use crate::lowering::harness::*;
use cotan_ir::{Block, Elem, Mode, Op};
use cotan_lower::entry::{DerivativeRequest, EntryExtent, Request};
use cotan_sema::typed::{DerivativeForm, DerivativeMode};

const LOSS: &str = "fn loss[N](w: f64[N], x: f64[N], y: f64) -> f64 {
  let pred = +/ (w .* x)
  let err = pred - y
  err * err
}
";

fn args() -> [cotan_ops::Value; 3] {
    [v(&[1.0, 2.0]), v(&[3.0, 4.0]), f(5.0)]
}

fn request(form: DerivativeForm, wrt: &[&str]) -> DerivativeRequest {
    DerivativeRequest { form, wrt: wrt.iter().map(|name| (*name).to_owned()).collect(), mode: None }
}

#[test]
fn declared_gradients() {
    let source = format!(
        "{LOSS}@grad(w) fn dw[N](w: f64[N], x: f64[N], y: f64) -> f64[N] = loss(w, x, y)
@grad(w, y) fn both[N](w: f64[N], x: f64[N], y: f64) -> (f64[N], f64) = loss(w, x, y)
@value_and_grad(y, x) fn all[N](w: f64[N], x: f64[N], y: f64) -> (f64, f64, f64[N]) = loss(w, x, y)
@jvp(w) fn push[N](w: f64[N], x: f64[N], y: f64, dw: f64[N]) -> (f64, f64) = loss(w, x, y)
"
    );
    assert_eq!(floats(&source, "dw", &args()), [[36.0, 48.0]]);
    let both: [&[f64]; 2] = [&[36.0, 48.0], &[-12.0]];
    assert_eq!(floats(&source, "both", &args()), both);
    let all: [&[f64]; 3] = [&[36.0], &[-12.0], &[12.0, 24.0]];
    assert_eq!(floats(&source, "all", &args()), all);
    let [w, x, y] = args();
    assert_eq!(floats(&source, "push", &[w, x, y, v(&[1.0, 0.0])]), [[36.0], [36.0]]);
}

#[test]
fn forms_as_expressions() {
    let source = format!(
        "{LOSS}fn f[N](w: f64[N], x: f64[N], y: f64) -> (f64[N], f64, f64[N], f64[N, N], f64[N], (f64, f64[N])) {{
  let g = grad[w](loss)(w, x, y)
  let (a, t) = jvp[w](loss)(w, x, y, x)
  let h = hessian[w](loss)(w, x, y)
  let hv = hvp[w](loss)(w, x, y, x)
  (g, a + t, jacobian[w](loss)(w, x, y), h, hv, vjp[w](loss)(w, x, y, 2.0))
}}"
    );
    let expected: [&[f64]; 7] = [
        &[36.0, 48.0],
        &[36.0 + 300.0],
        &[36.0, 48.0],
        &[18.0, 24.0, 24.0, 32.0],
        &[150.0, 200.0],
        &[36.0],
        &[72.0, 96.0],
    ];
    assert_eq!(floats(&source, "f", &args()), expected);
}

#[test]
fn roots_ask_for_every_form() {
    let form = |form, wrt: &[&str]| derivative(LOSS, "loss", request(form, wrt), &args());
    assert_eq!(form(DerivativeForm::Grad, &[]), [[36.0, 48.0]]);
    let expected: [&[f64]; 3] = [&[36.0], &[-12.0], &[36.0, 48.0]];
    assert_eq!(form(DerivativeForm::ValueAndGrad, &["y", "w"]), expected);
    assert_eq!(form(DerivativeForm::Jacobian, &["x"]), [[12.0, 24.0]]);
    let expected: [&[f64]; 4] = [&[18.0, 24.0, 24.0, 32.0], &[-6.0, -8.0], &[-6.0, -8.0], &[2.0]];
    assert_eq!(form(DerivativeForm::Hessian, &["w", "y"]), expected);
    let [w, x, y] = args();
    let with = |extra: cotan_ops::Value| [w.clone(), x.clone(), y.clone(), extra];
    let jvp = derivative(LOSS, "loss", request(DerivativeForm::Jvp, &["w"]), &with(v(&[1.0, 1.0])));
    assert_eq!(jvp, [[36.0], [84.0]]);
    let hvp = derivative(LOSS, "loss", request(DerivativeForm::Hvp, &["w"]), &with(v(&[1.0, 1.0])));
    assert_eq!(hvp, [[42.0, 56.0]]);
    let vjp = derivative(LOSS, "loss", request(DerivativeForm::Vjp, &["y"]), &with(f(0.5)));
    assert_eq!(vjp, [[36.0], [-6.0]]);
}

#[test]
fn jacobians_agree_in_both_modes() {
    let source = "fn f[N](x: f64[N], s: f64) -> f64[N, 2] = tabulate(N, |i| [x[i] * x[0], s * x[i]])";
    let args = [v(&[3.0, 5.0]), f(2.0)];
    let expected = [vec![6.0, 0.0, 2.0, 0.0, 5.0, 3.0, 0.0, 2.0]];
    for mode in [DerivativeMode::Forward, DerivativeMode::Reverse] {
        let request = DerivativeRequest { mode: Some(mode), ..request(DerivativeForm::Jacobian, &["x"]) };
        assert_eq!(derivative(source, "f", request, &args), expected);
    }
    let by_scalar = derivative(source, "f", request(DerivativeForm::Jacobian, &["s"]), &args);
    assert_eq!(by_scalar, [[0.0, 3.0, 0.0, 5.0]]);
}

#[test]
fn forms_nest_and_differentiate_lambdas_with_captures() {
    let source = "fn f(a: f64, x: f64) -> (f64, f64, f64) {
  let cube = grad(|y| a * y * y * y)(x)
  let second = grad(grad(|y| a * y * y * y))(x)
  let third = grad(|y| grad(grad(|z| a * z * z * z))(y))(x)
  (cube, second, third)
}";
    assert_eq!(floats(source, "f", &[f(2.0), f(3.0)]), [[54.0], [36.0], [12.0]]);
}

#[test]
fn gradients_of_functions_that_take_functions() {
    let source = "fn slope(f: (f64) -> f64, x: f64) -> f64 = grad(f)(x)
fn twice(f: (f64) -> f64, x: f64) -> f64 = f(f(x))
fn f(a: f64, x: f64) -> (f64, f64) = (slope(|y| a * y * y, x), slope(|y| twice(|z| z * z * a, y), x))";
    assert_eq!(floats(source, "f", &[f(2.0), f(3.0)]), [[12.0], [4.0 * 8.0 * 27.0]]);
}

#[test]
fn no_derivative_flows_where_the_program_says_so() {
    let source = "fn g(x: f64, @nodiff k: f64) -> f64 = x * k
fn f(x: f64) -> f64 = g(x, x) + stop_gradient(x) * x
fn d(x: f64) -> f64 = grad(f)(x)";
    assert_eq!(float(source, "d", &[f(3.0)]), 6.0);
}

#[test]
fn gradients_of_structs_leave_out_what_has_none() {
    let source = "struct P { w: f64[2], n: i64, b: f64 }
fn loss(p: P, x: f64) -> f64 = (p.n as f64) * p.w[1] * x + p.b * p.b
fn f(p: P, x: f64) -> f64 {
  let g = grad(loss)(p, x)
  g.w[1] + g.b
}";
    let args = [v(&[1.0, 2.0]), i(3), f(5.0), f(7.0)];
    assert_eq!(float(source, "f", &args), 21.0 + 10.0);
    let expected: [&[f64]; 2] = [&[0.0, 21.0], &[10.0]];
    assert_eq!(derivative(source, "loss", request(DerivativeForm::Grad, &["p"]), &args), expected);
}

#[test]
fn gradients_through_loops_that_return_early() {
    let source = "fn f[N](v: f64[N], limit: f64) -> f64 {
  let mut s = 0.0
  for x in v {
    s += x * x
    if s > limit { return s * 2.0 }
  }
  s
}
fn d[N](v: f64[N], limit: f64) -> f64[N] = grad(f)(v, limit)";
    let x = v(&[1.0, 2.0, 3.0]);
    assert_eq!(floats(source, "d", &[x.clone(), f(100.0)]), [[2.0, 4.0, 6.0]]);
    assert_eq!(floats(source, "d", &[x, f(4.0)]), [[4.0, 8.0, 0.0]]);
}

#[test]
fn requests_that_make_no_sense_are_errors() {
    let source = "fn f(x: f64, @nodiff k: f64, n: i64) -> (f64, f64) = (x * k, x)
fn g(x: f64) -> f64 = x
fn h(x: i64) -> f64 = 1.0
fn t(f: (f64) -> f64) -> f64 = f(1.0)
fn u(x: f64) -> (i64, f64) = (1, x)";
    let code = |name: &str, form, wrt: &[&str]| errors(source, &Request::derivative(name, request(form, wrt)));
    assert_eq!(code("u", DerivativeForm::Grad, &["x"]), ["E0502"]);
    assert_eq!(code("f", DerivativeForm::Hessian, &["x"]), ["E0502"]);
    assert_eq!(code("f", DerivativeForm::Jvp, &["k"]), ["E0509"]);
    assert_eq!(code("f", DerivativeForm::Jvp, &["n"]), ["E0501"]);
    assert_eq!(code("f", DerivativeForm::Jvp, &["y"]), ["E0503"]);
    assert_eq!(code("f", DerivativeForm::Jvp, &["x", "x"]), ["E0508"]);
    assert_eq!(code("h", DerivativeForm::Grad, &[]), ["E0505"]);
    assert_eq!(errors(source, &Request::function("t")), ["E0206"]);
    assert_eq!(errors(source, &Request::function("nobody")), ["E0201"]);
}

#[test]
fn entries_say_what_a_derivative_is_of() {
    let root = Request::derivative("loss", request(DerivativeForm::ValueAndGrad, &["y", "w"]));
    let entry = lowered(LOSS, &root).entries.remove(0);
    assert_eq!((&*entry.symbol, entry.signature.wrt.as_slice()), ("loss.value_and_grad", &[2, 0][..]));
    assert_eq!(entry.signature.show(&entry.signature.result), "(f64, f64, f64[N])");
    let root = Request { elems: vec![Elem::F32], ..Request::function("f") };
    let entry = lowered("fn f[T: Float, N](x: T[N], y: T[2*N]) -> T[N+1] = y[0..N+1]", &root).entries.remove(0);
    assert_eq!(&*entry.symbol, "f.f32");
    assert_eq!(entry.signature.show(&entry.signature.params[1].ty), "f32[2*N]");
    assert_eq!(entry.signature.show(&entry.signature.result), "f32[N + 1]");
    let [EntryExtent::Size(extent)] = entry.extents.as_slice() else { panic!("one extent is a function of sizes") };
    assert_eq!(entry.signature.show_dim(extent), "2*N");
}

#[test]
fn generic_roots_default_to_f64() {
    let source = "fn sq[T: Float](x: T) -> T = x * x
fn n[T: Integer](x: T) -> T = x";
    assert_eq!(derivative(source, "sq", request(DerivativeForm::Grad, &[]), &[f(3.0)]), [[6.0]]);
    assert_eq!(float(source, "n", &[i(3)]), 3.0);
}

#[test]
fn gradients_by_several_parameters_take_one_reverse_sweep() {
    let source = format!(
        "{LOSS}@grad(w, y) fn both[N](w: f64[N], x: f64[N], y: f64) -> (f64[N], f64) = loss(w, x, y)\n\
         fn again[N](w: f64[N], x: f64[N], y: f64) -> (f64[N], f64) = grad[w, y](loss)(w, x, y)"
    );
    for name in ["both", "again"] {
        let text = text(&source, name);
        assert_eq!((text.matches("derive ").count(), text.matches(" = vjp ").count()), (1, 1), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("_cot") && line.contains("call")).count(), 1, "{text}");
    }
}

#[test]
fn the_mode_of_a_jacobian_is_chosen_from_its_sizes() {
    let forms = |n: i64, m: i64| {
        text(
            &format!(
                "fn f(x: f64[{n}]) -> f64[{m}] = [{}]\nfn g(x: f64[{n}]) -> f64[{m}, {n}] = jacobian(f)(x)",
                vec!["x[0]"; m as usize].join(", ")
            ),
            "g",
        )
    };
    let wide = forms(9, 2);
    assert!(wide.contains(" = vjp f ") && !wide.contains(" = jvp f "), "{wide}");
    let tall = forms(2, 9);
    assert!(tall.contains(" = jvp f ") && !tall.contains(" = vjp f "), "{tall}");
}

#[test]
fn jacobians_of_one_mode_are_those_with_the_mode_in_brackets() {
    let form = |form: &str| {
        let source = format!(
            "@mode(reverse) fn f(x: f64[9], s: f64) -> f64[2] = [s * x[0], x[1]]\n\
             fn g(x: f64[9], s: f64) -> (f64[2, 9], f64[2]) = {form}(f)(x, s)"
        );
        text(&source, "g")
    };
    let (forward, reverse) = (form("jacfwd[x, s]"), form("jacrev[x, s]"));
    assert_eq!(forward, form("jacobian[x, s, mode = forward]"));
    assert_eq!(reverse, form("jacobian[x, s, mode = reverse]"));
    assert!(forward.contains(" = jvp f ") && !forward.contains(" = vjp f "), "{forward}");
    assert!(reverse.contains(" = vjp f ") && !reverse.contains(" = jvp f "), "{reverse}");
}

#[test]
fn a_hessian_is_forward_over_reverse_if_it_is_not_told() {
    let form =
        |form: &str| text(&format!("{LOSS}fn g(w: f64[3], x: f64[3]) -> f64[3, 3] = {form}(loss)(w, x, 1.0)"), "g");
    let hessian = form("hessian[w]");
    assert_eq!(hessian, form("hessian[w, mode = forward]"));
    let reverse = form("hessian[w, mode = reverse]");
    // The gradient is a function of its own, in reverse in both.
    assert_eq!((hessian.matches(" = vjp loss ").count(), hessian.matches(" = jvp ").count()), (1, 1), "{hessian}");
    assert_eq!((reverse.matches(" = vjp ").count(), reverse.matches(" = jvp ").count()), (2, 0), "{reverse}");
}

/// The loops of the functions that are not derivatives, by function: name and the mode that is asked for.
fn loop_modes(source: &str, root: &Request) -> Vec<(String, Option<Mode>)> {
    fn walk(block: &Block, modes: &mut Vec<Option<Mode>>) {
        for s in &block.stmts {
            if let Op::Loop(l) = &s.op {
                modes.push(l.kept.mode);
            }
            s.op.blocks().iter().for_each(|b| walk(b, modes));
        }
    }
    let module = lowered(source, root).module;
    let modes = module.functions().flat_map(|f| {
        let mut modes = Vec::new();
        walk(&f.body, &mut modes);
        modes.into_iter().map(|mode| (f.name.to_string(), mode)).collect::<Vec<_>>()
    });
    modes.collect()
}

#[test]
fn a_mode_reaches_the_loops_of_blocks_and_of_what_is_called() {
    let source = "fn power(x: f64) -> f64 {
  let mut y = x
  for i in 0..3 { y = y * x }
  y
}
fn block(x: f64) -> f64 = @mode(forward) { power(x) + @mode(reverse) { power(x) } }
@mode(reverse) fn whole(x: f64) -> f64 = power(x)
@mode(forward) fn pushed(x: f64) -> f64 = power(x)
fn nested(x: f64) -> f64 = @mode(reverse) { pushed(x) }
";
    let modes = |root: Request| loop_modes(source, &root);
    let power = |suffix: &str, mode: Option<Mode>| (format!("power{suffix}"), mode);
    let of = |name: &str, mode: Option<DerivativeMode>| {
        Request::derivative(name, DerivativeRequest { mode, ..request(DerivativeForm::Grad, &["x"]) })
    };
    let (forward, reverse) = (power(".forward", Some(Mode::Jvp)), power(".reverse", Some(Mode::Vjp)));
    assert_eq!(modes(Request::function("power")), [power("", None)]);
    for (root, expected) in [
        (Request::function("block"), vec![&forward, &reverse]),
        (Request::function("whole"), vec![&reverse]),
        (Request::function("pushed"), vec![&forward]),
        // The caller goes before the function that it calls, and so does whoever takes the derivative.
        (Request::function("nested"), vec![&reverse]),
        (of("pushed", Some(DerivativeMode::Reverse)), vec![&reverse]),
        (of("power", Some(DerivativeMode::Reverse)), vec![&reverse]),
        (of("power", None), vec![&power("", None)]),
    ] {
        let found = modes(root.clone());
        expected.into_iter().for_each(|wanted| assert!(found.contains(wanted), "{root:?}: {wanted:?} in {found:?}"));
    }
}
