//! What the host does may panic: that is an error of the call, and nothing unwinds through compiled code.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::host::{Arguments, HostValue};
use cotan::{CallError, Compiler, Config, Engine, Request};

#[test]
fn d9_a_panic_of_the_output_is_an_error_of_the_call() {
    let text = "@io fn f(n: i64) -> i64 {\n  for k in 0..n { print(k) }\n  n\n}";
    let compiler = Compiler::new(Config::default()).unwrap();
    let program = compiler.check("panics.cot", text);
    let f = compiler.function(&program, &Request::function("f"), Engine::CPU).unwrap();
    assert!(f.is_compiled());
    let args = Arguments::from([("n".to_owned(), HostValue::i64(3))]);
    let mut n_pieces = 0;
    let mut broken = |_: &str| {
        n_pieces += 1;
        assert!(n_pieces < 2, "the host is broken");
    };
    let Err(CallError::Bug(message)) = f.call_with_output(&args, &mut broken) else { panic!("no error") };
    assert!(message.contains("the host is broken"), "{message}");
    assert_eq!(n_pieces, 2, "nobody is asked to write after a panic");
    let mut written = String::new();
    assert_eq!(f.call_with_output(&args, &mut |piece| written.push_str(piece)), Ok(HostValue::i64(3)));
    assert_eq!(written.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2"]);
}
