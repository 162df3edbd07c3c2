//! What generated programs are made of, and a table of what was tested under which derivative.

use super::variants;
use crate::derived_case::Way;
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
    /// A fold of given axes, or of all.
    FoldAxes,
    /// `mean`, `norm`, `dot`, `trace`, `sum` or `prod`.
    NamedSum,
    /// `sort` or `argsort`.
    Sort,
    /// `cumsum` or `cumprod`.
    RunningTotal,
    /// `argmax` or `argmin`.
    PositionOfExtreme,
    /// `transpose`, `reshape`, `broadcast`, `diag`, `reverse` or `concat`.
    Rearranged,
    /// `zeros`, `ones`, `full` or `zeros_like`.
    Filled,
    /// `zip`, with a pattern that takes it apart.
    Zip,
    /// `each`.
    Each,
    /// A range or `iota` as a tensor of numbers.
    NumbersInOrder,
    /// A range with its end.
    Range,
    /// `[a, b]`
    ArrayLiteral,
    /// `|>`
    Pipe,
    /// `let` with its body behind it.
    LetIn,
    /// A block as a value.
    BlockValue,
    /// Integers of narrow types, casts and wrapping operations.
    NarrowInteger,
    /// An integer of any type.
    EveryInteger,
    /// Folds of integers, wrapping operations on tensors of them.
    IntegerFolds,
    /// `f16` and `bf16`.
    NarrowFloat,
    /// `and/`, `or/`, comparisons of tensors.
    TruthFolds,
    /// `&&`, `||`, `!=` as values.
    Logic,
    /// A character.
    Character,
    /// `pi`, `e`, `inf`, `nan`.
    NamedConstant,
    /// `**` with exponents of all types.
    Power,
    /// A size that is an integer argument.
    IntegerDim,
    /// Sizes that are computed from others.
    SizeArithmetic,
    /// A type that is told and checked at run time.
    Ascribed,
    /// A call that moves a `mut` argument.
    MovedArgument,
    /// `match` on an enum.
    EnumMatch,
    /// A derivative with respect to an enum, or of one.
    EnumDerivative,
    /// An enum that a loop carries.
    EnumCarried,
    /// `match` on integers and truth values.
    MatchNumbers,
    /// `match` on a float.
    MatchFloat,
    /// `match` on a struct.
    MatchStruct,
    /// `match` as a statement.
    MatchStatement,
    /// A pattern of a struct in `let`.
    StructPattern,
    /// A function of a trait.
    TraitMethod,
    /// A type parameter.
    TypeParameter,
    /// A parameter in brackets that is given.
    GivenParameter,
    /// A function as an argument.
    FunctionParameter,
    /// A shape pack.
    ShapePack,
    /// A tensor of structs.
    TensorOfStructs,
    /// Part of a matrix as a place.
    ColumnPlace,
    /// A whole tensor that is updated.
    WholeUpdate,
    /// Compound assignments of all kinds.
    CompoundAssign,
    /// A tuple of places.
    TuplePlaces,
    /// `for` over the elements of a tensor in reverse.
    BackwardElements,
    /// `for` over the rows of a matrix.
    RowElements,
    /// `for` over a range with its end.
    InclusiveRange,
    /// What a function gives beside its loss.
    ValueBesideLoss,
    /// `jacobian`, `hessian` or `hvp` inside the program.
    MatrixForm,
    /// A derivative that is declared by an attribute.
    DeclaredDerivative,
    /// A derivative with respect to a struct, or of one.
    StructDerivative,
    /// A derivative whose mode is given.
    Mode,
    /// `@recompute`
    Recompute,
    /// `@checkpoint`
    Checkpoint,
    /// A call of a function with rules of its own.
    Rule,
    /// A parameter through which no derivative flows.
    NoDerivative,
    /// Arguments by name and by default; a constant.
    NamedArgument,
    /// `vmap`.
    Vmap,
    /// A kernel: own elements, sums and extremes at any index, a tiled loop.
    Kernel,
    /// A kernel that accumulates products.
    KernelProducts,
    /// A kernel whose iterations own blocks and strided elements.
    KernelBlocks,
    /// Functions of an imported module.
    Module,
    /// A function that prints.
    Output,

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

impl Construct {
    /// The constructs of the source.
    pub fn of_source() -> &'static [Construct] {
        &Construct::ALL[..Construct::Par as usize]
    }

    /// Whether finite differences see something else than a derivative: roundings, or what is hidden from derivatives.
    pub fn hides_from_differences(self) -> bool {
        [Construct::StopGradient, Construct::NoDerivative, Construct::NarrowFloat].contains(&self)
    }
}

/// How often each construct was tested under each derivative, and in how many programs each variant of the typed tree
/// was found.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    cells: BTreeMap<(Construct, Way), usize>,
    variants: BTreeMap<&'static str, usize>,
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

    /// Counts a checked program that consists of these variants of the typed tree.
    pub fn count_variants(&mut self, found: &BTreeSet<&'static str>) {
        found.iter().for_each(|variant| *self.variants.entry(variant).or_default() += 1);
    }

    /// The variant of the typed tree that is in the fewest programs, and in how many.
    pub fn least_variant(&self) -> (&'static str, usize) {
        let found = |variant: &'static str| (variant, self.variants.get(variant).copied().unwrap_or(0));
        variants::all().map(found).min_by_key(|(_, n)| *n).unwrap_or_default()
    }

    /// Adds the counts of another table.
    pub fn merge(&mut self, other: &Coverage) {
        for (variant, n) in &other.variants {
            *self.variants.entry(variant).or_default() += n;
        }
        for (cell, n) in &other.cells {
            *self.cells.entry(*cell).or_default() += n;
        }
    }

    /// One cell.
    pub fn get(&self, construct: Construct, way: Way) -> usize {
        self.cells.get(&(construct, way)).copied().unwrap_or(0)
    }

    /// The smallest cell, over these constructs and all ways.
    pub fn least(&self, constructs: &[Construct]) -> (Construct, Way, usize) {
        let cells = constructs.iter().flat_map(|c| Way::ALL.map(|way| (*c, way, self.get(*c, way))));
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
        variants::all()
            .try_for_each(|variant| write!(f, "\n{variant:<36}{:>9}", self.variants.get(variant).copied().unwrap_or(0)))
    }
}
