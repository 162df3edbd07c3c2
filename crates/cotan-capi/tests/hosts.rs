//! The programs of `tests/hosts` through the functions of the header: values and derivatives have the bits of calls from Rust, and
//! errors their codes.
#![allow(unsafe_code, clippy::unwrap_used, reason = "functions of a C library are called; a test fails by panicking")]

use cotan::host::{Arguments, Elem, HostType, Value, fit_arguments, from_json};
use cotan::{CallError, Compiler, Config, DerivativeForm, Engine, Request, derivative};
use cotan_c::{
    CotanConfig, CotanDerivative, CotanError, CotanRequest, CotanTensor, Handle, Status, cotan_call,
    cotan_compiler_free, cotan_compiler_new, cotan_error_free, cotan_function_free, cotan_function_new,
    cotan_program_free, cotan_program_load, cotan_tensor_free, number_of,
};
use serde_json::Value as Json;
use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

fn no_error() -> CotanError {
    CotanError { status: 0, code: [0; 12], text: null_mut() }
}

/// Calls something that gives a status; the code and text of its error.
fn expect_ok(what: &str, call: impl FnOnce(*mut CotanError) -> Status) {
    let mut error = no_error();
    let status = call(&raw mut error);
    if status != Status::Ok {
        // SAFETY: there is an error, whose text is one.
        let text = unsafe { CStr::from_ptr(error.text) }.to_string_lossy().into_owned();
        panic!("{what}: {status:?}: {text}");
    }
}

/// A handle that a function of the library writes.
fn made(what: &str, make: impl FnOnce(*mut Handle, *mut CotanError) -> Status) -> Handle {
    let mut handle = MaybeUninit::uninit();
    expect_ok(what, |error| make(handle.as_mut_ptr(), error));
    // SAFETY: it was written, as the status says.
    unsafe { handle.assume_init() }
}

/// The elements of a value in their native width, in words.
fn packed(value: &Value) -> Vec<u64> {
    let bytes = value.elem.bytes();
    let all: Vec<u8> = value.bits.iter().flat_map(|bits| bits.to_le_bytes()[..bytes].to_vec()).collect();
    let words = all.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    words.chain([0]).collect()
}

/// The extents and bytes of a result.
type Found = (Vec<i64>, Vec<u8>);

/// A call of a function on flat leaves: its results, or the code of the error.
fn called(function: Handle, leaves: &[Value], n_results: usize) -> Result<Vec<Found>, String> {
    let words: Vec<Vec<u64>> = leaves.iter().map(packed).collect();
    let tensors: Vec<CotanTensor> = leaves
        .iter()
        .zip(&words)
        .map(|(value, words)| CotanTensor {
            data: words.as_ptr().cast_mut().cast(),
            element: number_of(value.elem),
            rank: value.dims.len() as i32,
            extents: value.dims.as_ptr(),
            strides: null(),
        })
        .collect();
    let nothing = CotanTensor { data: null_mut(), element: 0, rank: 0, extents: null(), strides: null() };
    let mut results = vec![nothing; n_results];
    let mut error = no_error();
    // SAFETY: arguments and results are what the header says.
    let status = unsafe {
        cotan_call(function, tensors.as_ptr(), tensors.len(), results.as_mut_ptr(), n_results, &raw mut error)
    };
    if status != Status::Ok {
        // SAFETY: the code ends with a zero, and the error is one of the library.
        let code = unsafe { CStr::from_ptr(error.code.as_ptr()) }.to_string_lossy().into_owned();
        // SAFETY: as above.
        unsafe { cotan_error_free(&raw mut error) };
        return Err(code);
    }
    let taken = results.iter_mut().map(|result| {
        let elem = Elem::ALL.into_iter().find(|elem| number_of(*elem) == result.element).unwrap();
        // SAFETY: the call has made a result with so many extents and elements.
        let (dims, data) = unsafe {
            let dims = match result.rank {
                0 => Vec::new(),
                rank => std::slice::from_raw_parts(result.extents, rank as usize).to_vec(),
            };
            let n = dims.iter().product::<i64>() as usize * elem.bytes();
            let data = std::slice::from_raw_parts(result.data.cast::<u8>(), n).to_vec();
            cotan_tensor_free(result);
            (dims, data)
        };
        (dims, data)
    });
    Ok(taken.collect())
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts");
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "cot"));
    all.sort();
    all
}

/// The function or its derivative through the library, beside the same from Rust.
fn same(compiler: &Compiler, made_by: Handle, path: &Path, form: Option<DerivativeForm>, file: &Json) {
    let text = std::fs::read_to_string(path).unwrap();
    let program = compiler.check("host.cot", &text);
    let name = file["fn"].as_str().unwrap();
    let wrt: Vec<String> = serde_json::from_value(file["wrt"].clone()).unwrap();
    let names: Vec<&str> = wrt.iter().map(String::as_str).collect();
    let request = form.map_or_else(|| Request::function(name), |form| derivative(name, form, &names));
    let f = compiler.function(&program, &request, Engine::CPU).unwrap();
    let c_path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: handles are of the library, and pointers are what the header says.
    let loaded = made("loading", |out, error| unsafe { cotan_program_load(made_by, c_path.as_ptr(), out, error) });
    let c_name = CString::new(name).unwrap();
    let c_wrt: Vec<CString> = wrt.iter().map(|name| CString::new(name.as_str()).unwrap()).collect();
    let pointers: Vec<*const c_char> = c_wrt.iter().map(|name| name.as_ptr()).collect();
    let number = if form == Some(DerivativeForm::Vjp) { 4 } else { 2 };
    let asked = CotanDerivative { form: number, mode: 0, wrt: pointers.as_ptr(), n_wrt: pointers.len() };
    let n_derivatives = usize::from(form.is_some());
    let wanted = CotanRequest { function: c_name.as_ptr(), derivatives: &raw const asked, n_derivatives };
    // SAFETY: as above.
    let function = made("compiling", |out, error| unsafe { cotan_function_new(loaded, &raw const wanted, out, error) });
    let n_numbers = f.signature().sizes.len() + f.entry().extents.len();
    for call in file["calls"].as_array().unwrap() {
        let json = |name: &str| if name == "cotangent" { call.get(name) } else { call["args"].get(name) };
        let typed = |json: &Json, ty: &HostType| from_json(json, ty).unwrap();
        let params = f.signature().params.iter();
        let args: Arguments =
            params.filter_map(|param| Some((param.name.clone(), typed(json(&param.name)?, &param.ty)))).collect();
        let flat = fit_arguments(f.entry(), &args).unwrap();
        let found = called(function, &flat[n_numbers..], f.entry().leaf_results.len());
        match f.call_flat(&flat) {
            Ok(values) => {
                let expected: Vec<Found> = f
                    .entry()
                    .leaf_results
                    .iter()
                    .map(|at| &values[*at])
                    .map(|value| {
                        let bytes = value.elem.bytes();
                        let data = value.bits.iter().flat_map(|bits| bits.to_le_bytes()[..bytes].to_vec()).collect();
                        (value.dims.clone(), data)
                    })
                    .collect();
                assert!(found == Ok(expected), "{} {form:?}: other results", path.display());
            }
            Err(error @ CallError::Check(_)) => {
                let code = error.diagnostic(&program, name).code.as_str().to_owned();
                assert_eq!(found.err(), Some(code), "{}", path.display());
            }
            Err(other) => panic!("{}: {other}", path.display()),
        }
    }
    // SAFETY: handles are of the library.
    let freed = unsafe { (cotan_function_free(function), cotan_program_free(loaded), cotan_function_free(function)) };
    assert_eq!(freed, (Status::Ok, Status::Ok, Status::Handle), "a handle is freed once");
}

#[test]
fn the_programs_of_all_hosts_have_the_bits_of_calls_from_rust() {
    let compiler = Compiler::new(Config::default()).unwrap();
    let config = CotanConfig::default();
    // SAFETY: pointers are what the header says.
    let made_by = made("a compiler", |out, error| unsafe { cotan_compiler_new(&raw const config, out, error) });
    let all = programs();
    assert!(all.len() >= 30, "{} programs", all.len());
    for path in &all {
        let file: Json = serde_json::from_str(&std::fs::read_to_string(path.with_extension("json")).unwrap()).unwrap();
        same(&compiler, made_by, path, None, &file);
        let has_gradient = file["calls"].as_array().unwrap().iter().any(|call| call.get("gradient").is_some());
        let form = if has_gradient { DerivativeForm::ValueAndGrad } else { DerivativeForm::Vjp };
        same(&compiler, made_by, path, Some(form), &file);
    }
    // SAFETY: the handle is of the library.
    assert_eq!(unsafe { cotan_compiler_free(made_by) }, Status::Ok);
}
