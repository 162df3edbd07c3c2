//! Certificates of gradients: that they are made of every kind of straight-line program and of the examples, and, where the
//! checker is built, that it accepts them and refuses broken ones.

use cotan::certificate::{Certificate, NoCertificate};
use cotan_ir::Module;
use cotan_testkit::certificates::{Verdict, broken, of_case, straight_line, verdict};
use cotan_testkit::derived_case::Case;
use cotan_testkit::model::{examples, executable};
use cotan_testkit::random::Rng;

fn straight_lines() -> Vec<String> {
    let certificate = |seed| {
        let case = Case::new(straight_line(seed)).expect("the program is well formed");
        of_case(&case).expect("the derivative is there").unwrap_or_else(|e| panic!("seed {seed}: {e}")).text
    };
    (1..=20).map(certificate).collect()
}

/// Whether the checker is there; says so if not.
#[expect(clippy::print_stderr, reason = "a test says what it leaves out")]
fn is_built() -> bool {
    if executable().is_none() {
        eprintln!("the checker is not built (`cargo xtask proofs`), so no certificate was checked");
    }
    executable().is_some()
}

#[test]
fn certificates_of_straight_line_programs_are_accepted_and_broken_ones_refused() {
    let texts = straight_lines();
    assert!(texts.iter().all(|text| text.starts_with("inputs ") && text.ends_with("\nend\n")));
    if !is_built() {
        return;
    }
    let is_accepted = |text: &String| verdict(text).expect("the checker runs") == Verdict::Accepted;
    let accepted: Vec<&String> = texts.iter().filter(|text| is_accepted(text)).collect();
    assert!(accepted.len() >= 19, "{} of 20 accepted", accepted.len());
    let mut rng = Rng::new(3);
    let broken: Vec<_> = accepted.iter().filter_map(|text| broken(text, &mut rng)).collect();
    let right: Vec<&str> = broken.iter().filter(|b| is_accepted(&b.text)).map(|b| b.what.as_str()).collect();
    // A place may be changed to one that has the same value; and what the square in the slope of `erf` is rounded by is 0 for
    // real numbers, so code without it means the same.
    assert!(right.len() <= 2 && broken.len() > 15, "accepted of {}: {right:#?}", broken.len());
}

#[test]
fn loops_updates_and_products_of_the_examples_have_certificates() {
    for (name, subject) in examples() {
        let case = subject.and_then(Case::new).expect("the example has a derivative");
        let certificate = of_case(&case).expect("the derivative is there").unwrap_or_else(|e| panic!("{name}: {e}"));
        if is_built() {
            assert_eq!(verdict(&certificate.text), Ok(Verdict::Accepted), "{name}");
        }
    }
}

#[test]
fn truth_values_that_are_compared_are_refused_and_not_taken_for_numbers() {
    let reason = refusal("fn f(x: f64) -> f64 = if (x < 1.0) == (x * x < 3.0) { sin(x) } else { x * x }");
    assert!(reason.is_none_or(|reason| reason.contains("the proofs know no rule")));
}

#[test]
fn what_the_proofs_do_not_know_is_named() {
    let reason = refusal("fn f(x: f64) -> f64 = lgamma(x) * x").expect("there is no rule");
    assert!(reason.contains("`lgamma`"), "{reason}");
}

#[test]
fn code_may_read_values_of_the_program_and_have_logarithms_of_its_numbers() {
    let bodies = [
        "pow(7.0, x) * x",
        "log2(x) * log2(x) + 2.0 * log2(x)",
        "hypot(x, 3.0) + x / hypot(x, 3.0)",
        "pow(exp(x), 1.0 / 3.0)",
    ];
    for body in bodies {
        let certificate = certificate_of(&format!("fn f(x: f64) -> f64 = {body}"));
        let certificate = certificate.unwrap_or_else(|e| panic!("{body}: {e}"));
        if is_built() {
            assert_eq!(verdict(&certificate.text), Ok(Verdict::Accepted), "{body}");
        }
    }
}

/// A rotation has 1 - cos(x) of one cotangent at two places: as a factor, and as a difference of two products.
#[test]
fn of_cotangents_that_have_one_value_each_is_the_one_that_is_made_of_what_goes_into_it() {
    let body = "let v = sin(2.0 * x); let c = cos(x); \
        let diagonal = (1.0 - v * v) * c + v * v; let other = v * exp(x) * (1.0 - c); \
        (diagonal + other) * (diagonal + other)";
    let certificate = certificate_of(&format!("fn f(x: f64) -> f64 = {{ {body} }}")).expect("the rules are proved");
    if is_built() {
        assert_eq!(verdict(&certificate.text), Ok(Verdict::Accepted));
    }
}

/// Why the gradient of `f` has no certificate, if it has none.
fn refusal(text: &str) -> Option<String> {
    certificate_of(text).err().map(|reason| reason.to_string())
}

/// The certificate of the gradient of `f`.
fn certificate_of(text: &str) -> Result<Certificate, NoCertificate> {
    let program = cotan_testkit::frontend::checked("f.cot", text).expect("the program is right");
    let lowered =
        cotan_testkit::frontend::lower_to_derive(&program, &cotan::Request::function("f")).expect("it is lowered");
    let args = vec![cotan_ops::Value::f64s(&[], &[2.5])];
    let (module, name) = (Module::clone(&lowered.module), lowered.entry.symbol.clone());
    let case = Case::new(cotan_testkit::derived_case::Subject::new("f".to_owned(), module, name, args))
        .expect("it is derived");
    of_case(&case).expect("the derivative is there")
}
