//! `cotan run`: calls a function and prints its result. What the function itself prints comes before.

use super::watch;
use crate::args::RunArgs;
use crate::diagnostics::Failure;
use crate::exit;
use crate::input;
use crate::look::Look;
use crate::output;
use crate::session::Session;
use crate::terminal;
use cotan::Request;
use cotan::host::HostValue;

pub(crate) fn run(args: &RunArgs) -> Result<u8, Failure> {
    if args.watch { watch::watch(&args.call, &|| once(args)) } else { once(args) }
}

/// Runs the program.
fn once(args: &RunArgs) -> Result<u8, Failure> {
    let session = Session::open(&args.call.file, &args.call.engine)?;
    let name = args.function.as_deref().unwrap_or("main");
    let raw = input::read(&args.call.inputs)?;
    let told = terminal::tell_of_long_work(&format!("compiling `{name}`"));
    let function = session.function(&session.at_types_of(&raw, Request::function(name)))?;
    drop(told);
    let told = terminal::tell_of_long_work(&format!("running `{name}`; Ctrl-C stops it"));
    let result = session.run(name, &function, &raw, &mut |text| output::printed(text, args.call.json))?;
    drop(told);
    let is_program = args.function.is_none() && !args.call.json;
    if let Some(integer) = result.as_scalar().and_then(|c| c.as_integer()).filter(|_| is_program) {
        // `main` of a program speaks through its exit code.
        return Ok(integer.rem_euclid(256) as u8);
    }
    let is_silent = is_program && result == HostValue::unit();
    let text = if is_silent { String::new() } else { Look::new(&args.call).value(&result) };
    output::deliver(&args.call, &output::object([("result", result)]), || text)?;
    Ok(exit::DONE)
}
