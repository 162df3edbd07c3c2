use expect_test::expect;

use super::*;

#[test]
fn every_kind_of_declaration_has_a_tree() {
    check_module(
        SAMPLES[0],
        expect![[r#"
        (fn
          (doc "Mean squared error of a linear model.\nTwo lines.")
          mse
          (generics N D)
          (param w (apply f64 D))
          (param x (apply f64 N D))
          (param y (apply f64 N))
          (result f64)
          (block
            (let err (infix (infix x @ w) .- y))
            (value (infix (+/ (infix err .* err)) / (postfix N (as f64))))))
        (kernel
          histogram
          (generics N)
          (param bin (apply i64 N))
          (param weight (apply f64 N))
          (param bins i64 (= 4))
          (result (apply f64 bins))
          (block
            (let (mut h) (postfix zeros (index f64) (call bins)))
            (for
              i
              (.. 0 N)
              (block (+= (postfix h (index (postfix bin (index i)))) (postfix weight (index i)))))
            (value h)))
        (fn
          step
          (generics N)
          (param mut x (apply f64 N))
          (param dt f64)
          (result (apply f64 N))
          (block
            (let (tuple (mut a) _) (tuple dt 31_i64))
            (for
              (@checkpoint (= every 8))
              i
              (postfix (.. 0 N) (field rev) (call))
              (block
                (if
                  (infix (infix (postfix x (index i)) > 1.0) && (! (infix a == 2.0)))
                  (block (-= (postfix x (index i)) dt))
                  (infix (postfix x (index i)) <= (- 1.0))
                  (block (value break))
                  (block (value continue)))
                (max= (postfix x (index i)) 2.5e-3)))
            (while (infix a < 3.0) (block (*= a 2.0) (+= a 1.0)))
            (= (postfix x (index (.. 0 2))) (array a a))
            (= (tuple a (postfix x (index 1))) (tuple (postfix x (index 1)) a))
            (.*= x 2.0)
            (value x)))
        (fn
          lambdas
          (param v (apply f64 _))
          (result f64)
          (block
            (let s (postfix fold (call 0.0 (lambda (params acc x) (infix acc + x)) v)))
            (let m (|> v (postfix map (call (lambda (params (: x f64)) (infix x ** 2.0)))) sum))
            (let
              p
              (|>
                (infix
                  (fold (lambda (params a b) (infix a * b)) (init 1.0) v)
                  +
                  (max/ v)
                  -
                  (*/ v)
                  +
                  (max/ (select (= axis 0)) (array v v)))
                sum))
            (let big (let-in (let t s) (infix t * t)))
            (let
              c
              (match
                (tuple (postfix s (as i64)) true)
                (=> (tuple 0 _) 1.0)
                (=> (tuple (or (..= 1 9) (.. 10 20)) b) (if b) (block (value 2.0)))
                (=> _ (return m))))
            (postfix each (call v (lambda (params x) (block (value (postfix print (call "x = é\n")))))))
            (value
              (if
                (infix s > 0.0)
                (block (value (infix m + p)))
                (block (value (infix (ascribe big f64) .+ c)))))))
        (fn @io main (result i32) (block (postfix print (call 'A')) (value 0)))
    "#]],
    );
    check_module(
        SAMPLES[1],
        expect![[r#"
        (import std.nn)
        (import ./layers/dense (as dense))
        (import ../shared)
        (const pub N i64 4)
        (type Grid (generics H W) (apply f64 H W))
        (struct
          (doc "A parameter set.")
          pub
          Params
          (generics K D)
          (field mu (apply f64 K D))
          (field @nodiff label i64)
          (field pair (tuple f64 (apply f64 (infix K * (infix K + 1) / 2)))))
        (enum Shape (variant Dot) (variant Circle f64) (variant Box (field w f64) (field h f64)))
        (trait Area (fn area (param s Self) (result f64)))
        (impl
          (generics K)
          Area
          (apply Quad K)
          (fn
            area
            (param s (apply Quad K))
            (result f64)
            (infix (postfix s (field w)) * (postfix s (field h)))))
        (fn
          area
          (param s Shape)
          (param scale (function f64 (result f64)))
          (result f64)
          (match
            s
            (=> (variant Shape.Dot) 0.0)
            (=> (variant Circle r) (infix pi * (infix r ** 2)))
            (=> (struct Shape.Box (w w) (h height) ..) (postfix scale (call (infix w * height))))))
        (fn
          softmax
          (generics (: T Float) ..S (: M nat))
          (param x (apply T (.. open S) M))
          (result (apply T (.. open S) M))
          (block
            (let
              p
              (struct
                Params
                (mu (postfix zeros (index f64) (call 3)))
                (label 1)
                (.. (postfix x (field defaults)))))
            (let
              q
              (struct
                nn.Params
                (generics 3 2)
                (mu (postfix p (field mu)))
                (label (postfix p (field pair) (field 1) (index 0)))))
            (value (postfix f (index 4 8) (call x (= stride 2)) (field 0) (field 1)))))
    "#]],
    );
    check_module(
        SAMPLES[2],
        expect![[r#"
        (fn
          loss
          (generics N)
          (param w (apply f32 N))
          (param x (apply f32 N))
          (param y f32)
          (result f32)
          (block (let pred (+/ (infix w .* x))) (let err (infix pred - y)) (value (infix err * err))))
        (fn
          (@grad w)
          dloss_dw
          (generics N)
          (param w (apply f32 N))
          (param x (apply f32 N))
          (param y f32)
          (result (apply f32 N))
          (postfix loss (call w x y)))
        (fn
          (@value_and_grad w b)
          (@mode reverse)
          both
          (param w f64)
          (param b f64)
          (param @nodiff c f64)
          (result (tuple f64 f64 f64))
          (infix (infix w * b) + c))
        (fn
          (@vjp_for g)
          g_vjp
          (param x f64)
          (param y f64)
          (param y_cot f64)
          (result f64)
          (block
            (let j (postfix jacobian (index x (= mode forward)) (call g) (call x)))
            (let h (postfix hvp (call g) (call x 1.0_f64)))
            (value
              (block
                @recompute
                (value
                  (infix
                    y_cot
                    *
                    (postfix j (index (.. open open)))
                    *
                    (postfix h (index (.. 1 open) (.. open open) _))))))))
    "#]],
    );
}

#[test]
fn doc_comments_belong_to_the_next_declaration() {
    let source = "## One.\n##  Two.\nfn f() -> f64 = 1.0 ## Not of g.\n# Nor this.\nfn g() -> f64 = 1.0\n@io\n## Of h.\nfn h() -> f64 = 1.0";
    let (module, diagnostics) = parse(FileId(0), source);
    assert_eq!(diagnostics, []);
    let docs: Vec<_> = module.items.iter().map(|item| item.doc.as_ref().map(|doc| doc.text.as_str())).collect();
    assert_eq!(docs, [Some("One.\n Two."), None, Some("Of h.")]);
}

#[test]
fn main_may_leave_its_result_out() {
    check_module(
        "fn main() { print(1) }",
        expect![[r#"
        (fn main (block (value (postfix print (call 1)))))
    "#]],
    );
}

#[test]
fn spans_cover_what_was_written() {
    let source = "@grad(w) fn f(w: f64) -> f64 = (w + 1.0) * g(w)";
    let (module, _) = parse(FileId(0), source);
    let item = &module.items[0];
    assert_eq!(&source[item.span.range()], source);
    let crate::ast::ItemKind::Function(function) = &item.kind else {
        panic!("{item:?}");
    };
    assert_eq!(&source[function.signature.span.range()], "fn f(w: f64) -> f64");
    assert_eq!(&source[function.body.span.range()], "(w + 1.0) * g(w)");
    let crate::ast::ExprKind::Binary(chain) = &function.body.kind else {
        panic!("{item:?}");
    };
    assert_eq!(&source[chain.first.span.range()], "(w + 1.0)");
    assert_eq!(&source[chain.rest[0].op_span.range()], "*");
    assert_eq!(&source[chain.rest[0].operand.span.range()], "g(w)");
}

#[test]
fn tokens_and_comments_cover_the_whole_text() {
    for source in SAMPLES {
        let (module, _) = parse(FileId(0), source);
        let mut spans: Vec<_> = module.tokens.iter().map(|token| token.span).collect();
        spans.extend(module.comments.iter().map(|comment| comment.span));
        spans.sort();
        let mut end = 0;
        for span in spans {
            assert_eq!(source[end..span.start as usize].trim(), "");
            end = span.end as usize;
        }
        assert_eq!(end, source.len());
    }
}
