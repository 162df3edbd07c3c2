use expect_test::expect;

use super::{check_body, check_module};

#[test]
fn operators_bind_as_the_table_says() {
    check_body(
        "a |> f || b && c == d .. e + f * g @ h",
        expect!["(|> a (infix f || (infix b && (infix c == (.. d (infix e + (infix f * (infix g @ h))))))))"],
    );
    check_body("-x ** 2.0", expect!["(- (infix x ** 2.0))"]);
    check_body("2.0 ** -x ** y", expect!["(infix 2.0 ** (- (infix x ** y)))"]);
    check_body("a - b .+ c * d / e % f", expect!["(infix a - b .+ (infix c * d / e % f))"]);
    check_body("+/ a .* b", expect!["(infix (+/ a) .* b)"]);
    check_body("+/ -v ** 2", expect!["(infix (+/ (- v)) ** 2)"]);
    check_body("!a && -b < c", expect!["(infix (! a) && (infix (- b) < c))"]);
    check_body("a @ b ** c", expect!["(infix a @ (infix b ** c))"]);
    check_body(
        "x as f64 * y.z[0](1).1",
        expect!["(infix (postfix x (as f64)) * (postfix y (field z) (index 0) (call 1) (field 1)))"],
    );
    check_body("a .<= b", expect!["(infix a .<= b)"]);
}

#[test]
fn runs_of_one_level_are_flat_and_parentheses_group() {
    check_body("a + (b + c) - d", expect!["(infix a + (infix b + c) - d)"]);
    check_body("(a - b) - c", expect!["(infix (infix a - b) - c)"]);
    check_body("a || b || c", expect!["(infix a || b || c)"]);
    check_body("a |> f(1) |> g", expect!["(|> a (postfix f (call 1)) g)"]);
}

#[test]
fn folds_are_prefix_operators_and_names_before_a_slash_divide() {
    check_body("max/ v + or/ b", expect!["(infix (max/ v) + (or/ b))"]);
    check_body("max / v", expect!["(infix max / v)"]);
    check_body("2.0 * f/v", expect!["(infix 2.0 * f / v)"]);
    check_body("f/0.0/v", expect!["(infix f / 0.0 / v)"]);
    check_body("(|a, b| a)/v", expect!["(fold (lambda (params a b) a) v)"]);
    check_body(
        "(|a, b| a)/0.0/v[0] ** 2",
        expect!["(infix (fold (lambda (params a b) a) (init 0.0) (postfix v (index 0))) ** 2)"],
    );
    check_body("// v - -/ w", expect!["(infix (// v) - (-/ w))"]);
    check_body("*/+/ m", expect!["(*/ (+/ m))"]);
}

#[test]
fn a_selector_is_exactly_all_or_an_axis_before_an_operand() {
    check_body("+/[axis=0] m", expect!["(+/ (select (= axis 0)) m)"]);
    check_body("+/[axis = 0, keep = true] m", expect!["(+/ (select (= axis 0) (= keep true)) m)"]);
    check_body("max/[all] m", expect!["(max/ (select all) m)"]);
    check_body("+/[all]", expect!["(+/ (array all))"]);
    check_body("+/[all, x] + m", expect!["(infix (+/ (array all x)) + m)"]);
}

#[test]
fn ranges_may_be_open_in_brackets() {
    check_body(
        "a[.., 1.., ..n, lo..hi, ..=2]",
        expect!["(postfix a (index (.. open open) (.. 1 open) (.. open n) (.. lo hi) (..= open 2)))"],
    );
    check_body("0..n + 1", expect!["(.. 0 (infix n + 1))"]);
}

#[test]
fn brackets_hold_types_and_named_arguments() {
    check_body("zeros[f64[N, _]](n)", expect!["(postfix zeros (index (postfix f64 (index N _))) (call n))"]);
    check_body(
        "jacobian[w, mode = forward](f)(w, x)",
        expect!["(postfix jacobian (index w (= mode forward)) (call f) (call w x))"],
    );
    check_body(
        "vmap[0, _, -1, out = 1](f)(x, w, y)",
        expect!["(postfix vmap (index 0 _ (- 1) (= out 1)) (call f) (call x w y))"],
    );
    check_body("f[..S](x, stride = 2)", expect!["(postfix f (index (.. open S)) (call x (= stride 2)))"]);
}

#[test]
fn tuples_have_commas_and_ascriptions_have_parentheses() {
    check_body("()", expect!["(tuple)"]);
    check_body("(a)", expect!["a"]);
    check_body("(a,)", expect!["(tuple a)"]);
    check_body("(a, f(b,),)", expect!["(tuple a (postfix f (call b)))"]);
    check_body("(a + b : f64[N])", expect!["(ascribe (infix a + b) (apply f64 N))"]);
    check_body("t.0.1", expect!["(postfix t (field 0) (field 1))"]);
}

#[test]
fn lambdas_and_let_in_reach_as_far_as_they_can() {
    check_body(
        "map(|x, (a, mut b), z: f64[2]| x + a, v)",
        expect!["(postfix map (call (lambda (params x (tuple a (mut b)) (: z (apply f64 2))) (infix x + a)) v))"],
    );
    check_body("|| 1.0 + 2.0", expect!["(lambda (params) (infix 1.0 + 2.0))"]);
    check_body("let x: f64 = 1.0 in x * x", expect!["(let-in (let x f64 1.0) (infix x * x))"]);
    check_body("1.0 + let x = 1.0 in x * x", expect!["(infix 1.0 + (let-in (let x 1.0) (infix x * x)))"]);
}

#[test]
fn struct_literals_are_not_read_in_heads() {
    check_body("P { x: 1.0, y, ..p }", expect!["(struct P (x 1.0) (y y) (.. p))"]);
    check_body("S.Box { w: 1.0 }", expect!["(struct S.Box (w 1.0))"]);
    check_body("if a { b } else { c }", expect!["(if a (block (value b)) (block (value c)))"]);
    check_body(
        "if (P { x: 1.0 }).x < y { b } else { c }",
        expect!["(if (infix (postfix (struct P (x 1.0)) (field x)) < y) (block (value b)) (block (value c)))"],
    );
    check_body("match s { x => x }", expect!["(match s (=> x x))"]);
}

#[test]
fn literals_keep_their_suffixes() {
    check_body(
        "[1, 1_000_i64, 0xff, 1.5, 2e-3_f32, 1_f64, true, 'a', \"b\"]",
        expect![[r#"(array 1 1000_i64 255 1.5 2e-3_f32 1_f64 true 'a' "b")"#]],
    );
    check_body("1..2", expect!["(.. 1 2)"]);
    check_body("2 .* v .- 2.*v", expect!["(infix (infix 2 .* v) .- (infix 2 .* v))"]);
}

#[test]
fn words_before_an_equals_sign_assign() {
    check_module(
        "fn f() -> () {\n  x max= 1\n  x.max = 2\n  v .max= w\n  v .**= 2\n  (a, b) = (b, a)\n}",
        expect![[r#"
        (fn
          f
          (result (tuple))
          (block
            (max= x 1)
            (= (postfix x (field max)) 2)
            (.max= v w)
            (.**= v 2)
            (= (tuple a b) (tuple b a))))
    "#]],
    );
}
