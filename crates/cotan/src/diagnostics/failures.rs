//! Failures as diagnostics: why something was not compiled, or has no result, with its place in the source.

use super::{Diagnostic, FileId, Span};
use crate::sparse::SparseError;
use crate::{CallError, CheckFailure, CompileError, Program, codes};
use cotan_ir::CheckKind;
use cotan_sema::typed::Function as Declaration;

/// What to do about a failure of Cotan itself.
pub const HOW_TO_REPORT: &str = "report the program, its arguments and this message to the project";

/// The longest source text that a message quotes.
const MAX_QUOTED: usize = 40;

impl CompileError {
    /// What there is to report, at the function that was asked for.
    pub fn diagnostics(&self, program: &Program, function: &str) -> Vec<Diagnostic> {
        match self {
            CompileError::Diagnostics(all) => all.clone(),
            CompileError::Request(unfit) => {
                let diagnostic = Diagnostic::error(codes::UNFIT_REQUEST, Span::default(), unfit.message.clone());
                vec![unfit.help.iter().fold(diagnostic, |diagnostic, help| diagnostic.help(help))]
            }
            CompileError::Device(unknown) => {
                let diagnostic = Diagnostic::error(codes::UNSUPPORTED_DEVICE, Span::default(), unknown.to_string());
                vec![diagnostic.help(unknown.help())]
            }
            CompileError::NoDevice(none) => {
                let diagnostic = Diagnostic::error(none.code(), Span::default(), none.to_string());
                vec![diagnostic.help(none.help())]
            }
            CompileError::Unsupported(unsupported) => {
                let place = if unsupported.span.is_some() {
                    source_span(unsupported.span)
                } else {
                    program.name_span(function)
                };
                let diagnostic = Diagnostic::error(codes::UNSUPPORTED_CONSTRUCT, place, unsupported.to_string());
                vec![diagnostic.help(format!("the nearest that works: {}", unsupported.lack.nearest))]
            }
            CompileError::Derivative(error) => {
                vec![Diagnostic::error(codes::DERIVATIVE_LIMIT, program.name_span(function), error.to_string())]
            }
            CompileError::Backend(message) => vec![bug(program, function, message)],
        }
    }
}

impl CallError {
    /// What there is to report of a call of a function: with the place in the source that failed, or else at the function
    /// or parameter.
    pub fn diagnostic(&self, program: &Program, function: &str) -> Diagnostic {
        match self {
            CallError::Arguments(misfit) => {
                let span = |name: &str| program.parameter_span(function, name);
                let diagnostic = Diagnostic::error(misfit.code(), span(misfit.name()), misfit.to_string());
                let others = misfit.other_names().into_iter();
                others.fold(diagnostic, |diagnostic, name| diagnostic.label(span(name), "this one too"))
            }
            CallError::Check(failure) => {
                let span = source_span(failure.span);
                let message = program.assertion(failure).unwrap_or_else(|| failure.to_string());
                let diagnostic = Diagnostic::error(codes::of_check(failure.kind), span, message);
                match program.surroundings(span) {
                    Some(f) => diagnostic.note(format!("{}in `{}`", program.quoted(span), f.name)),
                    None => diagnostic,
                }
            }
            CallError::OutOfMemory(error) => {
                let site = error.site.as_ref().filter(|site| site.span.is_some());
                let span =
                    site.map_or_else(|| program.name_span(function), |site| program.first_line(source_span(site.span)));
                let diagnostic = Diagnostic::error(codes::LIMIT, span, error.to_string()).help(error.remedy());
                match program.surroundings(span) {
                    Some(f) => diagnostic.note(format!("in `{}`, while `{function}` was running", f.name)),
                    None => diagnostic,
                }
            }
            CallError::Nan(origin) => {
                let (span, nan) = (source_span(origin.span()), codes::of_check(CheckKind::Nan));
                let diagnostic = Diagnostic::error(nan, span, origin.message(&program.sources)).help(origin.help());
                match program.surroundings(span) {
                    Some(f) => diagnostic.note(format!("while `{function}` was running, in `{}`", f.name)),
                    None => diagnostic,
                }
            }
            CallError::NanArgument(argument) => {
                let span = program.parameter_span(function, &argument.name);
                Diagnostic::error(codes::of_check(CheckKind::Nan), span, argument.to_string())
                    .help("no operation made it; give numbers, or leave out what has none")
            }
            CallError::Limit(_) => {
                self.stopped(codes::LIMIT, program, function).help("see that the loops end, or allow more")
            }
            CallError::Device(failure) => self.stopped(codes::DEVICE_FAILED, program, function).help(failure.help()),
            CallError::TimedOut => self.stopped(codes::TIMED_OUT, program, function),
            CallError::Cancelled => self.stopped(codes::CANCELLED, program, function).help("call it again"),
            CallError::Unsupported(message) | CallError::Bug(message) => bug(program, function, message),
        }
    }

    /// A call that was stopped, shown at the name of the function.
    fn stopped(&self, code: super::Code, program: &Program, function: &str) -> Diagnostic {
        Diagnostic::error(code, program.name_span(function), self.to_string())
            .note(format!("while `{function}` was running"))
    }
}

impl SparseError {
    /// What there is to report of a sparse derivative of a function.
    pub fn diagnostics(&self, program: &Program, function: &str) -> Vec<Diagnostic> {
        match self {
            SparseError::Compile(error) => error.diagnostics(program, function),
            SparseError::Call(error) => vec![error.diagnostic(program, function)],
            SparseError::Form(_) | SparseError::Shape { .. } => {
                vec![Diagnostic::error(codes::UNFIT_REQUEST, Span::default(), self.to_string())]
            }
        }
    }
}

/// Cotan itself failed at a function.
fn bug(program: &Program, function: &str, message: &str) -> Diagnostic {
    let message = format!("this is a bug of Cotan: {message}");
    Diagnostic::error(codes::BUG, program.name_span(function), message).help(HOW_TO_REPORT)
}

/// A place that the IR carries along.
fn source_span(span: cotan_ir::Span) -> Span {
    Span::new(FileId(span.file), span.start, span.end)
}

impl Program {
    /// What an assertion says that does not hold.
    fn assertion(&self, failure: &CheckFailure) -> Option<String> {
        let [start, end] = failure.args[..] else { return None };
        let (start, end) = (u32::try_from(start).ok()?, u32::try_from(end).ok()?);
        let string = self.sources.slice(Span::new(FileId(failure.span.file), start, end));
        let text = string.strip_prefix('"')?.strip_suffix('"')?;
        (failure.kind == CheckKind::Assertion).then(|| format!("assertion failed: {text}"))
    }

    /// Where the name of a function stands.
    pub fn name_span(&self, function: &str) -> Span {
        self.declaration(function).map(|f| f.name_span).unwrap_or_default()
    }

    /// Where a parameter of a function stands; the name of the function if it has no such parameter.
    fn parameter_span(&self, function: &str, parameter: &str) -> Span {
        let param = self.declaration(function).and_then(|f| f.params.iter().find(|p| p.name == parameter));
        param.map_or_else(|| self.name_span(function), |p| p.span)
    }

    /// The part of a place on its first line: of a loop, its head.
    fn first_line(&self, span: Span) -> Span {
        let length = self.sources.slice(span).find('\n').unwrap_or((span.end - span.start) as usize);
        Span { end: span.start + length as u32, ..span }
    }

    /// The source text of a place, where it fits into a message.
    fn quoted(&self, span: Span) -> String {
        let text = self.sources.slice(span);
        let is_shown = !text.is_empty() && text.len() <= MAX_QUOTED && !text.contains('\n');
        if is_shown { format!("`{text}` ") } else { String::new() }
    }

    /// The function that a place lies in: the last one that starts before it.
    fn surroundings(&self, span: Span) -> Option<&Declaration> {
        let functions = self.checked.program.functions.iter();
        functions.filter(|f| f.span.file == span.file && f.span.start <= span.start).max_by_key(|f| f.span.start)
    }
}
