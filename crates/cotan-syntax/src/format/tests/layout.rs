use super::super::format;
use crate::FileId;
use expect_test::{Expect, expect};

fn check(source: &str, expected: Expect) {
    let text = format(FileId(0), source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"));
    expected.assert_eq(&text);
    assert_eq!(format(FileId(0), &text).as_ref(), Ok(&text), "formatted twice");
}

#[test]
fn white_space_between_tokens_is_normal() {
    check(
        "fn  f( x:f64 ,n :i64 )->f64[ n ]=+/ (v)*-x**2.0 + a [i , j]  . y+f( k=2 )as f32-max/[axis=0]m",
        expect![[r#"
            fn f(x: f64, n: i64) -> f64[n] = +/(v) * -x ** 2.0 + a[i, j].y + f(k = 2) as f32 - max/[axis = 0] m
        "#]],
    );
}

#[test]
fn sizes_and_ends_of_ranges_are_dense() {
    check(
        "fn f[D](a: f64[D * (D + 1) / 2, D - 1]) -> f64 = +/ a[i + 1..D * 2 - 1, ..]\nfn g(n: i64) -> i64 = +/ (0..n - -1)",
        expect![[r#"
            fn f[D](a: f64[D*(D+1)/2, D-1]) -> f64 = +/ a[i+1..D*2-1, ..]
            fn g(n: i64) -> i64 = +/(0..n - -1)
        "#]],
    );
}

#[test]
fn brackets_of_derivative_forms_keep_their_holes_and_names() {
    check(
        "fn f(x: f64[2, 3], w: f64) -> f64[3, 2] = vmap[ 0,_ ,- 1, out=1 ](jacfwd [w,s](g))(x,w , x)",
        expect![[r#"
            fn f(x: f64[2, 3], w: f64) -> f64[3, 2] = vmap[0, _, -1, out = 1](jacfwd[w, s](g))(x, w, x)
        "#]],
    );
}

#[test]
fn a_fold_by_a_function_stays_tight_and_a_division_does_not() {
    check(
        "fn f(v: f64[3], n: f64) -> f64 = add/v + add/1.0/v + n/2.0/n + (|a, b| a)/v",
        expect![[r#"
        fn f(v: f64[3], n: f64) -> f64 = add/v + add/1.0/v + n / 2.0 / n + (|a, b| a)/v
    "#]],
    );
}

#[test]
fn tokens_that_would_merge_stay_apart() {
    check(
        "fn f(v: f64[3], max: f64) -> f64 = - // v + 1 .x - - -/ v + (max / max) + !!a",
        expect![[r#"
        fn f(v: f64[3], max: f64) -> f64 = - // v + 1 .x - --/ v + (max / max) + !!a
    "#]],
    );
}

#[test]
fn long_signatures_have_a_parameter_a_line() {
    check(
        "@value_and_grad(alphas, means) fn gradient[N, D, K](alphas: f64[K], means: f64[K, D], x: f64[N, D], gamma: f64) -> (f64, f64[K]) = objective(alphas, means, x, gamma)",
        expect![[r#"
            @value_and_grad(alphas, means) fn gradient[N, D, K](
              alphas: f64[K],
              means: f64[K, D],
              x: f64[N, D],
              gamma: f64,
            ) -> (f64, f64[K]) = objective(alphas, means, x, gamma)
        "#]],
    );
}

#[test]
fn a_value_goes_to_the_next_line_if_it_fits_only_there() {
    check(
        "fn f() -> f64 {
  let total_of_everything = first_function(argument_one) + second_function(argument_two) + third(1.0)
  let total_of_everything = first_function(argument_one) + second_function(argument_two) + third(1.0) + more + more
  total
}",
        expect![[r#"
            fn f() -> f64 {
              let total_of_everything =
                first_function(argument_one) + second_function(argument_two) + third(1.0)
              let total_of_everything =
                first_function(argument_one) + second_function(argument_two) + third(1.0) + more + more
              total
            }
        "#]],
    );
}

#[test]
fn operators_end_lines_and_pipes_begin_them() {
    check(
        "fn f() -> f64 {
  let ok = first_condition_that_is_long(a, b) && second_condition_that_is_long(c, d) || third_condition(e)
  let a = some_long_name_of_a_value |> first_function(argument) |> second_function(argument) |> third_function
  let b = v
    |> map(|x| x) |> sum
  if first_condition_that_is_long(a, b) && second_condition_that_is_long(c, d) || third_condition(e) { 1.0 } else { 2.0 }
}",
        expect![[r#"
            fn f() -> f64 {
              let ok =
                first_condition_that_is_long(a, b) && second_condition_that_is_long(c, d) || third_condition(e)
              let a = some_long_name_of_a_value
                |> first_function(argument)
                |> second_function(argument)
                |> third_function
              let b = v
                |> map(|x| x)
                |> sum
              if first_condition_that_is_long(a, b) && second_condition_that_is_long(c, d) ||
                  third_condition(e) {
                1.0
              } else {
                2.0
              }
            }
        "#]],
    );
}

#[test]
fn blocks_in_calls_open_on_the_line_of_the_call() {
    check(
        "fn f() -> f64 {
  let a = tabulate(n, |i| {
  let x = i
  x })
  let b = fold(0.0, |acc, x| {
    acc + x }, values)
  let c = outer(tabulate(n, |i| inner(i, |j| {
    j })))
  iterate_until(0.0, |s| {
    s }, |s| {
    true }, 10)
}",
        expect![[r#"
            fn f() -> f64 {
              let a = tabulate(n, |i| {
                let x = i
                x
              })
              let b = fold(0.0, |acc, x| {
                acc + x
              }, values)
              let c = outer(tabulate(n, |i| inner(i, |j| {
                j
              })))
              iterate_until(
                0.0,
                |s| {
                  s
                },
                |s| {
                  true
                },
                10,
              )
            }
        "#]],
    );
}

#[test]
fn braces_stay_as_the_author_opened_them() {
    check(
        "struct A { x: f64, y: f64 }
struct B {
  x: f64, y: f64 }
enum E { Dot, Circle(f64), Box { w: f64,
h: f64 } }
fn f(e: E) -> f64 = match e { Dot => 0.0, Circle(r) if r > 1.0 => r, E.Box { w, .. } => { w } }
fn g() -> B {
  let a = A { x: 1.0
    y: 2.0 }
  for i in 0..3 { a; b }
  while c { x += 1.0 }
  B {
    x: 1.0, ..a }
}",
        expect![[r#"
            struct A { x: f64, y: f64 }
            struct B {
              x: f64
              y: f64
            }
            enum E { Dot, Circle(f64), Box { w: f64, h: f64 } }
            fn f(e: E) -> f64 = match e { Dot => 0.0, Circle(r) if r > 1.0 => r, E.Box { w, .. } => { w } }
            fn g() -> B {
              let a = A { x: 1.0, y: 2.0 }
              for i in 0..3 {
                a
                b
              }
              while c { x += 1.0 }
              B {
                x: 1.0,
                ..a
              }
            }
        "#]],
    );
}

#[test]
fn rows_of_an_array_are_kept_and_numbers_fill_lines() {
    check(
        "fn f() -> f64[3, 3] {
  let a = [[1.0, 0.0],
    [0.0, 1.0]]
  let b = [1.0, 2.0,
    3.0, 4.0]
  let c = [1000.0, 1001.0, 1002.0, 1003.0, 1004.0, 1005.0, 1006.0, 1007.0, 1008.0, 1009.0, 1010.0, 1011.0, -1012.0]
  [a, b, c]
}",
        expect![[r#"
            fn f() -> f64[3, 3] {
              let a = [
                [1.0, 0.0],
                [0.0, 1.0],
              ]
              let b = [
                1.0, 2.0,
                3.0, 4.0,
              ]
              let c = [
                1000.0, 1001.0, 1002.0, 1003.0, 1004.0, 1005.0, 1006.0, 1007.0, 1008.0, 1009.0, 1010.0, 1011.0,
                -1012.0,
              ]
              [a, b, c]
            }
        "#]],
    );
}

#[test]
fn a_semicolon_is_kept_only_where_it_takes_the_value_away() {
    check(
        "const N: i64 = 4;
fn f() -> () { let x = 1; g(x); }
fn h() -> () {
  g(1);
  let y = 2;
}",
        expect![[r#"
            const N: i64 = 4
            fn f() -> () {
              let x = 1
              g(x);
            }
            fn h() -> () {
              g(1)
              let y = 2
            }
        "#]],
    );
}

#[test]
fn comments_stay_with_what_they_are_about() {
    check(
        "# About the file.


# More.
fn f(a: f64, # the first
     # the second
     b: f64 /* inline */) -> f64 { # trailing
  # own line
  let x = a + # left
    b   # right

  # before the value
  /* lead */ x / y /* end */
  # at the end
}
## Documentation.
@io
## More of it.
fn main() -> () {
  # nothing
}
struct S {
  ## The x.
  x: f64, # trailing x

  # about y
  y: f64
  # end
}
# The end.",
        expect![[r#"
            # About the file.

            # More.
            fn f(
              a: f64, # the first
              # the second
              b: f64, /* inline */
            ) -> f64 { # trailing
              # own line
              let x = a + # left
                b # right

              # before the value
              /* lead */ x / y /* end */
              # at the end
            }
            ## Documentation.
            @io
            ## More of it.
            fn main() -> () {
              # nothing
            }
            struct S {
              ## The x.
              x: f64 # trailing x

              # about y
              y: f64
              # end
            }
            # The end.
        "#]],
    );
}

#[test]
fn signatures_and_imports() {
    check(
        "import   std . nn   as  n
import ../shared / layers
pub   trait  Area[T:Float]{ @nodiff fn area( s : Self ) -> f64
 fn b(s:Self)->() }
impl [ K , ..S ] Area for Q[K,..S]{ fn area(s: Q[K])->f64=1.0 }
type F=( f64 , f64[ 3 ] )
fn step[N](mut x:f64[N],@nodiff dt:f64=0.1,f:(f64,i64)->f64)->f64[N]{x}",
        expect![[r#"
            import std.nn as n
            import ../shared/layers
            pub trait Area[T: Float] { @nodiff fn area(s: Self) -> f64, fn b(s: Self) -> () }
            impl[K, ..S] Area for Q[K, ..S] { fn area(s: Q[K]) -> f64 = 1.0 }
            type F = (f64, f64[3])
            fn step[N](mut x: f64[N], @nodiff dt: f64 = 0.1, f: (f64, i64) -> f64) -> f64[N] { x }
        "#]],
    );
}

#[test]
fn an_empty_file_stays_empty() {
    check("\n\n", expect![[""]]);
    check(
        "# Only a comment.",
        expect![[r#"
        # Only a comment.
    "#]],
    );
}

#[test]
fn a_file_with_errors_is_not_formatted() {
    let errors = format(FileId(0), "fn f( -> f64").expect_err("an error");
    assert_eq!(errors[0].code.as_str(), "E0141");
}

#[test]
fn a_field_of_a_number_stays_one() {
    check(
        "fn f() -> f64 = 7 . 3 + 2_u8 . 0 + t . 0 . 1",
        expect![[r#"
            fn f() -> f64 = 7 . 3 + 2_u8 . 0 + t.0.1
        "#]],
    );
}
