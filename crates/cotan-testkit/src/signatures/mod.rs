//! Generated signatures with every kind of extent, and every kind of bound of an index, a slice or a count in the body:
//! constant, known and unknown, negative, reversed and past the end. What must happen is worked out here from the numbers
//! alone: an error with its place, before the program runs where it fails in every run, or a result.

mod judge;
mod linear;
mod oracle;

use crate::random::Rng;
pub use judge::{Counts, judge};
pub use linear::Linear;
pub use oracle::Expected;

/// A function and calls of it.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name of the function.
    pub name: String,
    /// The extent of its argument `x` along the axis that the body works on.
    pub extent: Linear,
    /// What decides about the size `N`.
    pub sized: Size,
    /// What the body does.
    pub body: Body,
    /// The calls.
    pub calls: Vec<Call>,
}

/// What decides about the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The extent of `x`.
    Solved,
    /// Another argument, `y: f64[N]`.
    Beside,
    /// The caller, by name.
    Named,
}

/// A slice `lo..hi`; an end may be left out.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// The start.
    pub lo: Option<Linear>,
    /// The end.
    pub hi: Option<Linear>,
    /// Whether the end is in it.
    pub inclusive: bool,
}

/// What a body does.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Reads an element.
    At(Linear),
    /// Sums a slice.
    Sum(Slice),
    /// Counts the elements of a slice, and reads none.
    Length(Slice),
    /// Reads an element of a slice.
    Part(Slice, Linear),
    /// Writes an element.
    Write(Linear),
    /// Writes a slice.
    WriteSlice(Slice),
    /// Writes a slice of each row, in a kernel.
    Kernel(Slice),
    /// Makes so many ones.
    Ones(Linear),
    /// Makes so many elements one by one.
    Tabulate(Linear),
    /// Counts the iterations of a loop; both ends are there.
    Loop(Slice),
    /// Calls a function whose size is the extent without this number.
    Inner(i64),
    /// Gives so many ones back.
    Result(Linear),
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The extent of `x`.
    pub found: i64,
    /// The size that is given, by an argument or by name.
    pub size: i64,
    /// The integer `n`.
    pub value: i64,
}

/// The signature of a number, always the same one.
pub fn signature(number: u64) -> Signature {
    let mut rng = Rng::new(number ^ 0x51_67_4e_41);
    let sized = rng.choice(&[Size::Solved, Size::Beside, Size::Named]);
    let extent = extent(&mut rng, sized);
    let body = body(&mut rng);
    let calls = (0..4).map(|_| call(&mut rng, sized, extent)).collect();
    Signature { name: format!("s{number}"), extent, sized, body, calls }
}

/// The extent of `x`: of a size that is solved from it, with that in it; of one that is given by name, without.
fn extent(rng: &mut Rng, sized: Size) -> Linear {
    let size = match sized {
        Size::Named => 0,
        Size::Solved => rng.choice(&[1, 1, 1, 1, 2, -1]),
        Size::Beside => rng.choice(&[1, 1, 1, 0, 2, -1]),
    };
    let constant = if size < 0 { rng.range(0, 7) } else { rng.range(-3, 6) };
    Linear { size, value: 0, constant }
}

/// An end, a position or a count, of every kind.
fn bound(rng: &mut Rng) -> Linear {
    let (size, value) = rng.choice(&[(0, 0), (0, 0), (0, 0), (1, 0), (1, 0), (0, 1), (0, 1), (1, -1), (2, 0), (-1, 0)]);
    Linear { size, value, constant: rng.range(-3, 6) }
}

fn slice(rng: &mut Rng) -> Slice {
    let hi = Some(bound(rng)).filter(|_| rng.chance(0.8));
    let mut lo = Some(bound(rng)).filter(|_| rng.chance(0.8));
    // Ends that differ by a number are in one relation in every run.
    if let (Some(_), Some(hi), true) = (lo, hi, rng.chance(0.3)) {
        lo = Some(hi.plus(rng.range(-3, 3)));
    }
    Slice { lo, hi, inclusive: hi.is_some() && rng.chance(0.3) }
}

fn body(rng: &mut Rng) -> Body {
    match rng.below(14) {
        0 | 1 => Body::At(bound(rng)),
        2 | 3 => Body::Sum(slice(rng)),
        4 => Body::Length(slice(rng)),
        5 => Body::Part(slice(rng), bound(rng)),
        6 => Body::Write(bound(rng)),
        7 => Body::WriteSlice(slice(rng)),
        8 => Body::Kernel(slice(rng)),
        9 => Body::Ones(bound(rng)),
        10 => Body::Tabulate(bound(rng)),
        11 => {
            let (lo, hi) = (Some(bound(rng)), Some(bound(rng)));
            Body::Loop(Slice { lo, hi, inclusive: rng.chance(0.3) })
        }
        12 => Body::Inner(rng.range(-3, 6)),
        _ => Body::Result(Linear { value: 0, ..bound(rng) }),
    }
}

/// Arguments that fit mostly.
fn call(rng: &mut Rng, sized: Size, extent: Linear) -> Call {
    let (size, value) = (rng.range(-3, 7), rng.range(-4, 9));
    let fitting = extent.at(size.max(0), 0).max(0);
    let found = if rng.chance(0.8) { fitting } else { rng.range(0, 8) };
    // An array has no negative extents; a size by name may be any number.
    let size = if sized == Size::Beside { size.max(0) } else { size };
    Call { found, size, value }
}

impl Signature {
    /// The source text.
    pub fn text(&self) -> String {
        let (name, extent) = (&self.name, self.extent);
        let y = if self.sized == Size::Beside { ", y: f64[N]" } else { "" };
        let is_kernel = matches!(self.body, Body::Kernel(_));
        let (item, x) =
            if is_kernel { ("kernel", format!("f64[2, {extent}]")) } else { ("fn", format!("f64[{extent}]")) };
        let head = format!("{item} {name}[N](x: {x}{y}, n: i64)");
        match self.body {
            Body::At(p) => format!("{head} -> f64 = x[{p}]\n"),
            Body::Sum(slice) => format!("{head} -> f64 = +/ x[{slice}]\n"),
            Body::Length(slice) => format!("{head} -> f64 = +/ (zeros_like(x[{slice}]) .+ 1.0)\n"),
            Body::Part(slice, p) => format!("{head} -> f64 = x[{slice}][{p}]\n"),
            Body::Write(p) => format!("{head} -> f64 {{\n  let mut z = x\n  z[{p}] = 0.5\n  +/ z\n}}\n"),
            Body::WriteSlice(slice) => format!("{head} -> f64 {{\n  let mut z = x\n  z[{slice}] .-= 0.5\n  +/ z\n}}\n"),
            Body::Kernel(slice) => format!(
                "{head} -> f64[2, {extent}] {{\n  let mut w = x\n  for i in 0..2 {{\n    w[i, {slice}] .-= 0.5\n  }}\n  w\n}}\n"
            ),
            Body::Ones(n) => format!("{head} -> f64 = +/ ones[f64]({n})\n"),
            Body::Tabulate(n) => format!("{head} -> f64 = +/ tabulate({n}, |i| 1.0)\n"),
            Body::Loop(slice) => {
                format!("{head} -> f64 {{\n  let mut s = 0.0\n  for i in {slice} {{ s += 1.0 }}\n  s\n}}\n")
            }
            Body::Inner(less) => {
                let inner = Linear { size: 1, value: 0, constant: less };
                format!("{head} -> f64 = inner_{name}(x)\nfn inner_{name}[N](v: f64[{inner}]) -> f64 = N as f64\n")
            }
            Body::Result(n) => format!("{head} -> f64[{n}] = ones[f64]({n})\n"),
        }
    }
}

impl std::fmt::Display for Slice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = |end: Option<Linear>| end.map_or(String::new(), |end| end.to_string());
        write!(f, "{}{}{}", end(self.lo), if self.inclusive { "..=" } else { ".." }, end(self.hi))
    }
}
