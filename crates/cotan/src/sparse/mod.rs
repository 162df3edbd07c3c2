//! Sparse Jacobians and Hessians: pattern, colouring, products with a few directions, and what the entries are.
//!
//! The pattern is found by a run that writes down which operations it does ([`cotan_interp::tape`]), so it goes through
//! loops, branches and indexing. A colouring says which columns (or rows) one product tells apart. Compiled code multiplies by
//! one direction for each colour, all in one call, and each entry is read off its product. Pattern, colouring and code are
//! made once by [`SparseJacobian::new`]; [`SparseJacobian::evaluate`] uses them at any point with the same pattern.
//!
//! ```
//! use cotan::host::{Arguments, HostValue};
//! use cotan::sparse::SparseJacobian;
//! use cotan::{Compiler, Config, DerivativeForm, Engine, derivative};
//!
//! let compiler = Compiler::new(Config::default())?;
//! let source = "fn steps[N](x: f64[N]) -> f64[N] = tabulate(N, |i| if i == 0 { x[0] } else { x[i] * x[i - 1] })";
//! let program = compiler.check("steps.cot", source);
//! let request = derivative("steps", DerivativeForm::Jacobian, &["x"]);
//! let args = Arguments::from([("x".to_owned(), HostValue::f64s(&[4], &[1.0, 2.0, 3.0, 4.0]))]);
//! let jacobian = SparseJacobian::new(&compiler, &program, &request, Engine::CPU, &args)?;
//! let matrix = jacobian.evaluate(&args)?;
//! assert_eq!(matrix.row(2).collect::<Vec<_>>(), [(1, 3.0), (2, 2.0)]);
//! assert_eq!(jacobian.colouring().count(), 2);
//! assert!(jacobian.check(&args, &matrix)?.is_ok);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What must not be known here: how programs are compiled, and how derivatives are written.

mod base;
mod colouring;
mod matrix;
mod orders;
mod pattern;
mod product_check;
mod products;
mod saturation;
mod sides;
mod spy;
mod trace;

use crate::host::{ArgumentMisfit, Arguments, fit_arguments};
use crate::{CallError, CompileError, Compiler, DerivativeForm, DerivativeMode, Engine, Function, Program, Request};
use base::Base;
pub use colouring::Colouring;
use cotan_ir::Const;
use cotan_lower::entry::Entry;
use cotan_ops::Value;
pub use matrix::SparseMatrix;
pub use pattern::SparsePattern;
pub use product_check::ProductCheck;
use sides::{Placed, Side};
pub use spy::spy_plot;
use std::fmt;

/// Why there is no sparse matrix.
#[derive(Clone, Debug)]
pub enum SparseError {
    /// The program has errors, or the request does not fit it.
    Compile(CompileError),
    /// A call has no result: that which finds the pattern, or one that evaluates.
    Call(CallError),
    /// A request for something else than a Jacobian or a Hessian; `None` for that of a function.
    Form(Option<DerivativeForm>),
    /// The arguments have other shapes than those that the pattern was found at.
    Shape {
        /// Rows and columns of the pattern.
        expected: (usize, usize),
        /// Rows and columns at these arguments.
        found: (usize, usize),
    },
}

/// The Jacobian of a function, or the Hessian of a scalar function, with what it takes to evaluate it sparsely.
///
/// The rows are the floats of the result, the columns those of the parameters that the request names: parameter by parameter,
/// leaf by leaf (field by field of a struct), each leaf row-major. Of a Hessian both are those of the parameters.
#[derive(Debug)]
pub struct SparseJacobian {
    pattern: SparsePattern,
    colouring: Colouring,
    /// How the base is called.
    entry: Entry,
    products: Function,
    rows: Side,
    columns: Side,
    /// The lengths that the base found out where the pattern was found.
    lengths: Vec<i64>,
}

/// Directions and products of one call have about so many elements; what takes more is cut into several calls.
const ELEMENTS_OF_A_CALL: usize = 1 << 23;

impl SparseJacobian {
    /// Finds pattern and colouring at these arguments, and compiles the products. The request is for a Jacobian or a
    /// Hessian; its mode is chosen by the number of colours if it is left open, and is forward for a Hessian.
    ///
    /// The pattern holds wherever the run takes the same branches, trips and indices; see [`SparseJacobian::check`].
    pub fn new(
        compiler: &Compiler,
        program: &Program,
        request: &Request,
        engine: Engine,
        args: &Arguments,
    ) -> Result<SparseJacobian, SparseError> {
        let base = Base::new(compiler, program, request)?;
        let flat = fit_arguments(&base.entry, args)?;
        let found = trace::pattern(compiler, &base, &flat)?;
        let pattern = if base.is_symmetric { found.pattern.symmetrised() } else { found.pattern };
        let mode = request.form.as_ref().and_then(|form| form.mode);
        let mode = mode.or(base.is_symmetric.then_some(DerivativeMode::Forward));
        let colouring = Colouring::new(&pattern, mode);
        let products = base.products(compiler, colouring.mode(), engine)?;
        let (rows, columns) = base.sides().ok_or_else(|| without_function(&base))?;
        Ok(SparseJacobian { pattern, colouring, entry: base.entry, products, rows, columns, lengths: found.lengths })
    }

    /// Where the entries are.
    pub fn pattern(&self) -> &SparsePattern {
        &self.pattern
    }

    /// Which of them share a product.
    pub fn colouring(&self) -> &Colouring {
        &self.colouring
    }

    /// The matrix at these arguments, which must have the shapes of those that the pattern was found at. Where they lead
    /// through other branches, trips or indices, the pattern may not be that of the matrix, and entries be wrong;
    /// [`SparseJacobian::check`] finds that out.
    pub fn evaluate(&self, args: &Arguments) -> Result<SparseMatrix, SparseError> {
        let flat = fit_arguments(&self.entry, args)?;
        let call = self.placed(&flat)?;
        let per_direction = (call.n_given() + call.n_found()).max(1);
        let n_at_once = (ELEMENTS_OF_A_CALL / per_direction).max(1);
        let mut data = vec![0.0; self.pattern.entries()];
        let count = self.colouring.count();
        for first in (0..count).step_by(n_at_once) {
            let n = n_at_once.min(count - first);
            let mut directions = vec![0.0; n * call.n_given()];
            for (line, colour) in self.colouring.colours().iter().enumerate() {
                let colour = colour.map(|colour| colour as usize).filter(|colour| (first..first + n).contains(colour));
                if let Some(colour) = colour {
                    directions[(colour - first) * call.n_given() + line] = 1.0;
                }
            }
            let products = self.multiply(&flat, &call, n, &directions)?;
            self.recover(&products, first..first + n, call.n_found(), &mut data);
        }
        Ok(SparseMatrix { pattern: self.pattern.clone(), data, elem: self.columns.widest() })
    }

    /// Reads the entries of some colours off their products, one after the other.
    fn recover(&self, products: &[f64], range: std::ops::Range<usize>, n_found: usize, data: &mut [f64]) {
        let colours = self.colouring.colours();
        let product = |line: usize| colours[line].map(|c| c as usize).filter(|c| range.contains(c));
        let mut data = data.iter_mut();
        for (row, columns) in self.pattern.rows().enumerate() {
            for (column, x) in columns.iter().zip(&mut data) {
                let column = *column as usize;
                let (line, other) = match self.colouring.mode() {
                    DerivativeMode::Forward => (column, row),
                    DerivativeMode::Reverse => (row, column),
                };
                if let Some(colour) = product(line) {
                    *x = products[(colour - range.start) * n_found + other];
                }
            }
        }
    }

    /// Where directions and products lie at these operands.
    fn placed(&self, flat: &[Value]) -> Result<Placement, SparseError> {
        let (rows, columns) = (self.rows.placed(flat, &self.lengths), self.columns.placed(flat, &self.lengths));
        let (expected, found) = (self.pattern.shape(), (sides::count(&rows), sides::count(&columns)));
        if expected != found {
            return Err(SparseError::Shape { expected, found });
        }
        Ok(match self.colouring.mode() {
            DerivativeMode::Forward => Placement { given: columns, found: rows },
            DerivativeMode::Reverse => Placement { given: rows, found: columns },
        })
    }

    /// Products with `n` directions, both one after the other.
    fn multiply(
        &self,
        flat: &[Value],
        call: &Placement,
        n: usize,
        directions: &[f64],
    ) -> Result<Vec<f64>, SparseError> {
        let numbers = std::iter::once(n as i64).chain(self.lengths.iter().copied());
        let mut args = flat.to_vec();
        args.extend(numbers.map(|n| Value::from(Const::i64(n))));
        args.extend(call.given.iter().map(|leaf| leaf.gathered(n, call.n_given(), directions)));
        let results = self.products.call_beyond(&args, flat.len())?;
        let mut products = vec![0.0; n * call.n_found()];
        for (leaf, result) in call.found.iter().zip(&results) {
            leaf.scatter(result, n, call.n_found(), &mut products);
        }
        Ok(products)
    }
}

/// The leaves of a call's directions and products.
struct Placement {
    given: Vec<Placed>,
    found: Vec<Placed>,
}

impl Placement {
    fn n_given(&self) -> usize {
        sides::count(&self.given)
    }

    fn n_found(&self) -> usize {
        sides::count(&self.found)
    }
}

fn without_function(base: &Base) -> SparseError {
    SparseError::Call(CallError::Bug(format!("there is no function `{}`", base.entry.symbol)))
}

impl fmt::Display for SparseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SparseError::Compile(e) => e.fmt(f),
            SparseError::Call(e) => e.fmt(f),
            SparseError::Form(form) => {
                let found = form.map_or("a function", DerivativeForm::as_str);
                write!(f, "a sparse matrix: expected a request for a jacobian or a hessian, found {found}")
            }
            SparseError::Shape { expected, found } => write!(
                f,
                "the pattern has {} rows and {} columns, at these arguments there are {} and {}",
                expected.0, expected.1, found.0, found.1
            ),
        }
    }
}

impl std::error::Error for SparseError {}

impl From<CompileError> for SparseError {
    fn from(e: CompileError) -> SparseError {
        SparseError::Compile(e)
    }
}

impl From<CallError> for SparseError {
    fn from(e: CallError) -> SparseError {
        SparseError::Call(e)
    }
}

impl From<ArgumentMisfit> for SparseError {
    fn from(e: ArgumentMisfit) -> SparseError {
        SparseError::Call(e.into())
    }
}

impl From<cotan_interp::RuntimeError> for SparseError {
    fn from(e: cotan_interp::RuntimeError) -> SparseError {
        SparseError::Call(e.into())
    }
}
