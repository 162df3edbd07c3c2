//! Functions, and what their operands and results are.

use crate::compiler::{ProgramState, text, write};
use crate::handle::{Handle, Object};
use crate::status::{CotanError, Failure, Outcome, Status, status_of};
use crate::tensor::number_of;
use cotan::host::{Elem, HostType};
use cotan::{DerivativeForm, DerivativeMode, DerivativeRequest, Function, Request};
use std::ffi::{CString, c_char};
use std::sync::Arc;

/// `cotan_request`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "the header says what they are")]
pub struct CotanRequest {
    pub function: *const c_char,
    pub derivatives: *const CotanDerivative,
    pub n_derivatives: usize,
}

/// `cotan_derivative`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "the header says what they are")]
pub struct CotanDerivative {
    pub form: i32,
    pub mode: i32,
    pub wrt: *const *const c_char,
    pub n_wrt: usize,
}

/// `cotan_leaf`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "the header says what they are")]
pub struct CotanLeaf {
    pub name: *const c_char,
    pub element: i32,
    pub rank: i32,
}

/// A function, and the program that it is of.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) function: Function,
    pub(crate) name: String,
    pub(crate) program: Arc<ProgramState>,
    pub(crate) args: Vec<LeafState>,
    pub(crate) results: Vec<LeafState>,
}

/// An operand or a result.
#[derive(Debug)]
pub(crate) struct LeafState {
    name: CString,
    pub(crate) elem: Elem,
    pub(crate) rank: usize,
}

impl State {
    /// Why a call has no result.
    pub(crate) fn failure(&self, error: &cotan::CallError) -> Failure {
        let program = &self.program.program;
        Failure::of_call(error, error.diagnostic(program, &self.name), &program.sources)
    }
}

const FORMS: [(i32, DerivativeForm); 7] = [
    (1, DerivativeForm::Grad),
    (2, DerivativeForm::ValueAndGrad),
    (3, DerivativeForm::Jvp),
    (4, DerivativeForm::Vjp),
    (5, DerivativeForm::Jacobian),
    (6, DerivativeForm::Hessian),
    (7, DerivativeForm::Hvp),
];

/// What a request asks for.
///
/// # Safety
/// Its pointers are NULL or point to what the header says.
unsafe fn wanted(request: &CotanRequest) -> Outcome<Request> {
    // SAFETY: by this function's contract.
    let name = unsafe { text("request.function", request.function) }?;
    if request.derivatives.is_null() && request.n_derivatives > 0 {
        return Err(Failure::null("request.derivatives"));
    }
    let derivatives = (0..request.n_derivatives).map(|k| {
        // SAFETY: by this function's contract there are so many.
        unsafe { derivative(&*request.derivatives.add(k)) }
    });
    let mut derivatives = derivatives.collect::<Outcome<Vec<_>>>()?.into_iter();
    Ok(Request { form: derivatives.next(), more: derivatives.collect(), ..Request::function(name) })
}

/// A derivative of a request.
///
/// # Safety
/// As of [`wanted`].
unsafe fn derivative(of: &CotanDerivative) -> Outcome<DerivativeRequest> {
    let unknown = |what: &str, number: i32| Failure::new(Status::Value, format!("there is no {what} {number}"));
    let form = FORMS.into_iter().find(|(number, _)| *number == of.form);
    let (_, form) = form.ok_or_else(|| unknown("form", of.form))?;
    let mode = match of.mode {
        0 => None,
        1 => Some(DerivativeMode::Forward),
        2 => Some(DerivativeMode::Reverse),
        other => return Err(unknown("mode", other)),
    };
    if of.wrt.is_null() && of.n_wrt > 0 {
        return Err(Failure::null("wrt"));
    }
    let wrt = (0..of.n_wrt).map(|k| {
        // SAFETY: by this function's contract there are so many names.
        unsafe { text("wrt", *of.wrt.add(k)).map(str::to_owned) }
    });
    Ok(DerivativeRequest { form, wrt: wrt.collect::<Outcome<_>>()?, mode })
}

fn leaves<'t>(types: impl Iterator<Item = (&'t str, &'t HostType)>) -> Vec<LeafState> {
    let named = |name: &str| CString::new(name).unwrap_or_default();
    let of_type = |(name, ty): (&'t str, &'t HostType)| {
        let leaves = ty.leaves().into_iter();
        leaves.map(move |leaf| LeafState { name: named(name), elem: leaf.elem, rank: leaf.dims.len() })
    };
    types.flat_map(of_type).collect()
}

fn compiled(program: Arc<ProgramState>, request: Request) -> Outcome<Handle> {
    let (compiler, source) = (&program.made_by.compiler, &program.program);
    let name = request.function.clone();
    let failure = |error: cotan::CompileError| {
        Failure::of_compilation(&error, &error.diagnostics(source, &name), &source.sources)
    };
    let resolved = compiler.resolve(source, request, &|_| None).map_err(failure)?;
    let function = compiler.function(source, &resolved.request, program.made_by.engine).map_err(failure)?;
    let signature = function.signature();
    let mut args = leaves(signature.params.iter().map(|param| (param.name.as_str(), &param.ty)));
    args.extend(leaves(function.free_sizes().map(|name| (name, &HostType::Scalar(Elem::I64)))));
    let results = leaves(std::iter::once(("", &signature.result)));
    let slots = Arc::clone(&program.made_by.slots);
    let state = State { name, args, results, program: Arc::clone(&program), function };
    Ok(slots.handle(Object::Function(Arc::new(state))))
}

/// Compiles a function.
///
/// # Safety
/// The handle is zero, or one that this library made; pointers are NULL or point to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_function_new(
    program: Handle,
    request: *const CotanRequest,
    out: *mut Handle,
    error: *mut CotanError,
) -> Status {
    let make = || {
        // SAFETY: by this function's contract.
        let (program, request) = unsafe { (program.program()?, request.as_ref()) };
        let request = request.ok_or_else(|| Failure::null("request"))?;
        // SAFETY: by this function's contract.
        compiled(program, unsafe { wanted(request) }?)
    };
    // SAFETY: by this function's contract.
    unsafe { status_of(error, || write("out", out, make)) }
}

/// Frees a function.
///
/// # Safety
/// The handle is zero, or one that this library made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_function_free(function: Handle) -> Status {
    let slots = |object: &Object| match object {
        Object::Function(state) => Some(Arc::clone(&state.program.made_by.slots)),
        Object::Compiler(_) | Object::Program(_) => None,
    };
    // SAFETY: by this function's contract.
    unsafe { status_of(std::ptr::null_mut(), || function.free("a function", slots)) }
}

/// How many operands and results there are.
///
/// # Safety
/// The handle is zero, or one that this library made; pointers are NULL or point to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_function_counts(
    function: Handle,
    n_args: *mut usize,
    n_results: *mut usize,
    error: *mut CotanError,
) -> Status {
    // SAFETY: by this function's contract.
    unsafe {
        status_of(error, || {
            let state = function.function()?;
            write("n_args", n_args, || Ok(state.args.len()))?;
            write("n_results", n_results, || Ok(state.results.len()))
        })
    }
}

fn told(leaves: &[LeafState], k: usize, is_named: bool) -> Outcome<CotanLeaf> {
    let leaf = leaves.get(k).ok_or_else(|| {
        Failure::new(Status::Value, format!("there are {} of them, counted from 0: there is no {k}", leaves.len()))
    })?;
    let name = if is_named { leaf.name.as_ptr() } else { std::ptr::null() };
    Ok(CotanLeaf { name, element: number_of(leaf.elem), rank: leaf.rank as i32 })
}

/// An operand.
///
/// # Safety
/// The handle is zero, or one that this library made; pointers are NULL or point to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_function_argument(
    function: Handle,
    k: usize,
    out: *mut CotanLeaf,
    error: *mut CotanError,
) -> Status {
    // SAFETY: by this function's contract.
    unsafe { status_of(error, || write("out", out, || told(&function.function()?.args, k, true))) }
}

/// A result.
///
/// # Safety
/// The handle is zero, or one that this library made; pointers are NULL or point to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_function_result(
    function: Handle,
    k: usize,
    out: *mut CotanLeaf,
    error: *mut CotanError,
) -> Status {
    // SAFETY: by this function's contract.
    unsafe { status_of(error, || write("out", out, || told(&function.function()?.results, k, false))) }
}
