//! Programs that run, under `tests/run`: what their headers say is what every engine gives.

#[path = "../support/files.rs"]
mod files;
mod check;
mod header;

use cotan_testkit::parallel;
use files::{expect_none, programs};

#[test]
fn every_header_can_be_read() {
    let mut problems = Vec::new();
    for file in programs("run") {
        let text = String::from_utf8(file.bytes).expect("programs that run are text");
        if let Err(reason) = header::cases(&text) {
            problems.push(format!("{}: {reason}", file.name));
        }
    }
    expect_none(&problems);
}

#[test]
fn programs_give_what_their_headers_say_in_every_way_to_run_them() {
    let failures = parallel::map(&programs("run"), |file| {
        let text = String::from_utf8(file.bytes.clone()).expect("programs that run are text");
        check::check(&file.name, &text)
    });
    expect_none(&failures.concat());
}
