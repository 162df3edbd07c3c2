//! What generated programs are made of, and a table of what was tested under which derivative.

use crate::case::Way;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

macro_rules! constructs {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// A construct of programs. Those of the source come first, then those that only the core IR has.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Construct { $($(#[doc = $doc])* $name,)* }

        impl Construct {
            /// Every construct.
            pub const ALL: &'static [Construct] = &[$(Construct::$name,)*];
        }
    };
}

constructs! {
    /// A function of scalars.
    ScalarFunction,
    /// Dotted operators and lifted functions on whole tensors.
    Dotted,
    /// A matrix product.
    MatrixProduct,
    /// `+/` over a tensor.
    SumFold,
    /// `*/` over a tensor.
    ProductFold,
    /// `max/` or `min/` over a tensor.
    ExtremeFold,
    /// `tabulate` over one index.
    Tabulate,
    /// `tabulate` over two indices.
    Tabulate2,
    /// `tabulate` inside `tabulate`.
    TabulateNested,
    /// `map`.
    Map,
    /// `scan`.
    Scan,
    /// `fold` with a lambda.
    Fold,
    /// `iterate`.
    Iterate,
    /// `iterate_until`.
    IterateUntil,
    /// `if` as an expression on data.
    IfExpression,
    /// `if` as a statement.
    IfStatement,
    /// `for` with a constant number of trips.
    ForConstant,
    /// `for` over a size.
    ForSize,
    /// `for` bounded by an outer index.
    ForOuterIndex,
    /// `for` bounded by an element of an i64 array.
    ForArrayBound,
    /// `for` bounded by a cast of a float.
    ForCastBound,
    /// `for` in reverse.
    ForReversed,
    /// `for` over the elements of a tensor.
    ForElements,
    /// `for` inside `for`.
    ForNested,
    /// `while` on data and a counter.
    While,
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return` in a branch.
    Return,
    /// Assignment to a scalar.
    Assign,
    /// `a[i] = ..`
    ElementUpdate,
    /// `a[i] += ..` and the like.
    ElementAccumulate,
    /// `m[i] = ..` of a whole row.
    RowUpdate,
    /// `a[lo..hi] = ..`
    SliceUpdate,
    /// An element is read that an earlier iteration wrote.
    ReadAfterWrite,
    /// An index that is computed or read from an array.
    ComputedIndex,
    /// A slice that is read.
    Slice,
    /// A gather by an array of indices.
    Gather,
    /// A value of a struct type.
    Struct,
    /// A tuple.
    Tuple,
    /// A call of a function generic over sizes.
    Call,
    /// `stop_gradient`.
    StopGradient,
    /// A derivative form inside the program.
    DerivativeForm,
    /// A cast between float types.
    FloatCast,
    /// A fold by a function.
    FoldBy,
    /// `-/` or `//`, from left to right.
    OrderedFold,
    /// `mean`, `norm`, `dot`, `trace`, `sum` or `prod`.
    NamedSum,
    /// `sort`.
    Sort,
    /// `cumsum` or `cumprod`.
    RunningTotal,
    /// `argmax` or `argmin`.
    PositionOfExtreme,
    /// `transpose`, `reshape`, `broadcast`, `diag`, `reverse` or `concat`.
    Rearranged,
    /// `zip`, with a pattern that takes it apart.
    Zip,
    /// A range or `iota` as a tensor of numbers.
    NumbersInOrder,
    /// `|>`
    Pipe,
    /// Integers of narrow types, casts and wrapping operations.
    NarrowInteger,
    /// A call that moves a `mut` argument.
    MovedArgument,
    /// What a function gives beside its loss.
    ValueBesideLoss,
    /// `jacobian`, `hessian` or `hvp` inside the program.
    MatrixForm,
    /// A call of a function with rules of its own.
    Rule,
    /// Arguments by name and by default; a constant.
    NamedArgument,
    /// `vmap`.
    Vmap,
    /// A kernel: own elements, sums and maxima at any index, a tiled loop.
    Kernel,

    /// A parallel loop.
    Par,
    /// A result reduced with a monoid.
    ParReduced,
    /// An accumulator of a sum, on a parallel loop.
    ParAccumulator,
    /// An accumulator of extremes.
    ExtremeAccumulator,
    /// A counted loop.
    Loop,
    /// An accumulator on a sequential loop.
    LoopAccumulator,
    /// A stacked result of a counted loop.
    LoopStacked,
    /// A while loop.
    WhileLoop,
    /// A stacked result of run-time length.
    WhileStacked,
    /// Lazy branches by a truth value.
    Switch,
    /// Lazy branches by a number.
    SwitchByNumber,
    /// A call of a function of the module.
    CallOfFunction,
    /// A functional update.
    Update,
    /// A write to an accumulator.
    AccAdd,
    /// A structural operation on tensors.
    TensorOperation,
}

/// How often each construct was tested under each derivative.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    cells: BTreeMap<(Construct, Way), usize>,
}

impl Coverage {
    /// Counts a program with these constructs.
    pub fn count(&mut self, constructs: &BTreeSet<Construct>, ways: &[Way]) {
        for construct in constructs {
            for way in ways {
                *self.cells.entry((*construct, *way)).or_default() += 1;
            }
        }
    }

    /// Adds the counts of another table.
    pub fn merge(&mut self, other: &Coverage) {
        for (cell, n) in &other.cells {
            *self.cells.entry(*cell).or_default() += n;
        }
    }

    /// One cell.
    pub fn get(&self, construct: Construct, way: Way) -> usize {
        self.cells.get(&(construct, way)).copied().unwrap_or(0)
    }

    /// The smallest cell, over all constructs and ways.
    pub fn least(&self) -> (Construct, Way, usize) {
        let cells = Construct::ALL.iter().flat_map(|c| Way::ALL.map(|way| (*c, way, self.get(*c, way))));
        cells.min_by_key(|(_, _, n)| *n).unwrap_or((Construct::ScalarFunction, Way::Jvp, 0))
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<20}", "programs with")?;
        Way::ALL.iter().try_for_each(|way| write!(f, "{:>9}", way.name()))?;
        for construct in Construct::ALL {
            write!(f, "\n{:<20}", format!("{construct:?}"))?;
            Way::ALL.iter().try_for_each(|way| write!(f, "{:>9}", self.get(*construct, *way)))?;
        }
        Ok(())
    }
}
