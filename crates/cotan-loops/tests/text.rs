//! The complete text form of loop nests: it is read as it is written, and what is no nest is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_loops::{parse_nest, print_nest};
use cotan_ops::Registry;

const EVERY_NODE: &str = r#"fn "every node"(n: i64, x[]: f64[n, n]) {
  local n: i64 lanes 1
  local i: i64 lanes 1
  local v: f64 lanes 1
  local v: f64 lanes 4
  local sum: f64 lanes 1 mutable
  local mask: bool lanes 4
  local go: bool lanes 1 mutable
  local lanes: i64 lanes 4
  local k: i64 lanes 1
  local c: f64 lanes 1
  local f: f32 lanes 1
  local call: f64 lanes 1
  buffer x: f64 param 0
  buffer y: f64 result 0 @ 1 20 30 cp
  buffer t: f64 arena record
  buffer t: f64 frame
  buffer s: f64 stack
  buffer b: f64 bound
  buffer e: i64 frame
  regroups
  watch y
  alloc y: f64[n, n] as result 0
  alloc t: f64[n]
  alloc t.1: f64[3] in frame
  alloc e: i64[2] in frame
  record f64[n]
  stack s: f64
  extend s to n
  bind b to s[3]
  sum := 0.0
  go := true
  for i < n lanes(4) may fork(steps 3.5, sums sum by add of (), t[] by max of (n)) flushing independent in blocks {
    v = x[i]
    v.1 = lanes x[i] where mask
    lanes = iota i
    mask = lt.i64 lanes, n
    lanes y[lanes] = v.1 where mask
    lanes y[i] = v.1
    sum add= v
    t[i] max= v
  }
  while go {
    go := false
  }
  for k < 3 wavefront(stages 2, slots n) independent {
    scope {
      v = lane v.1, k
    }
  }
  reduce i < n, k < 3 into sum by add of (), t[] by max of (n) {
    sum add= c
  }
  for k < 3 parallel independent in order {
    segment {
      c = fold add v.1
    }
  }
  if go {
    c = host sin.f64 v
    k = first mask
  }
  else {
    f = cast(f32).f64 v
    product y[] step (n, 1) = x[] step (n, 1) by x[3] step (1, n), f64[n, n, n]
  }
  case 0 of n {
  }
  case 1 of n {
    copy x[] to y[2], n
  }
  case 0 of k {
    y[]: f64[n, n] = routine cholesky(x[]: f64[n, n])[]
  }
  close blocks add t[] of 1 by 4, last k
  combine levels max t[] of n, total k
  check true R0001(k, n) @ 0 3 9 
  print "a \"quoted\"\n line", x[]: f64[n, n] extents e[]
  print ""
  call, y[]: f64[n], new b rank 2 = call "g<f64>"(n, 3.5, x[]: f64[n, n])
  return y[]: f64[n, n], call
}
"#;

#[test]
fn every_node_is_read_as_it_is_written() {
    let nest = parse_nest(EVERY_NODE, Registry::standard()).unwrap();
    // A role without letters leaves nothing at the end of its line.
    assert_eq!(print_nest(&nest), EVERY_NODE.replace("3 9 \n", "3 9\n"));
    assert_eq!(parse_nest(&print_nest(&nest), Registry::standard()), Ok(nest));
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let error = parse_nest(text, Registry::standard()).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn what_is_no_nest_is_refused_with_its_line() {
    refused("", "line 1: the text ends too early");
    refused("fn \"f\"() {\n", "line 1: the text ends too early");
    refused("fn f() {\n}", "line 1: expected a quoted text, found `f`");
    refused("fn \"f\"() {\n  x := 1\n  return\n}\n", "line 2: expected a local, found `x`");
    refused(
        "fn \"f\"() {\n  local x: i64 lanes 1\n  x = twice.i64 x\n  return\n}\n",
        "line 3: expected an instruction, found `twice.i64`",
    );
    refused("fn \"f\"() {\n  while {\n  return\n}\n", "line 2: expected a local, found `{`");
    refused(
        "fn \"f\"() {\n  local i: i64 lanes 1\n  reduce i < 3 {\n  }\n  return\n}\n",
        "line 3: expected `into`, found `{`",
    );
    refused("fn \"f\"() {\n  unroll {\n  return\n}\n", "line 2: expected a loop, a branch or a scope, found `unroll`");
    refused("fn \"f\"() {\n  case 1 of 2 {\n  }\n  return\n}\n", "line 2: expected case 0, found 1");
    refused("fn \"f\"() {\n  print \"a\n  return\n}\n", "line 2: a quoted text without end");
    refused("fn \"f\"() {\n  return\n}\nfn\n", "line 4: text behind the end of the function");
    refused("fn \"f\"() {\n  return 1 2\n}\n", "line 2: expected the end of the line, found `2`");
}

#[test]
fn lists_nest_only_so_deep() {
    let text = format!("fn \"f\"() {{\n{}", "scope {\n".repeat(500));
    refused(&text, "line 401: lists nest deeper than 400");
}
