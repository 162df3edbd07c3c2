//! Instructions on scalars, or lane by lane. Integers wrap, shifts and divisions are guarded so that none is undefined, floats are IEEE.

use super::text::{constant, in_all_lanes, in_lanes, register, suffix};
use super::writer::FunctionWriter;
use cotan_ir::{Const, Elem};
use cotan_ops::Instruction;

/// Lanes of a part: those of a register of the widest kind, for elements of eight bytes.
const PART: u32 = 8;

/// What an instruction works on: the type of an element, and how many lanes there are of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) elem: Elem,
    pub(super) lanes: u32,
}

impl Form {
    /// The type of a value.
    pub(super) fn ty(self) -> String {
        in_lanes(register(self.elem), self.lanes)
    }

    /// The same number in all lanes.
    fn number(self, n: impl std::fmt::Display) -> String {
        in_all_lanes(register(self.elem), &n.to_string(), self.lanes)
    }

    fn constant(self, c: Const) -> String {
        in_all_lanes(register(self.elem), &constant(c), self.lanes)
    }

    /// The same lanes of another type.
    fn of(self, elem: Elem) -> Form {
        Form { elem, ..self }
    }

    /// The suffix of intrinsics on such values.
    pub(super) fn suffix(self) -> String {
        if self.lanes == 1 { suffix(self.elem).to_owned() } else { format!("v{}{}", self.lanes, suffix(self.elem)) }
    }
}

impl FunctionWriter<'_> {
    /// Defines `to` by an instruction. The form is that of the operands (of a select: of the last two; its condition has
    /// as many lanes).
    pub(super) fn native(&mut self, to: &str, instruction: Instruction, form: Form, args: &[String]) {
        let elem = form.elem;
        let ty = form.ty();
        let bit = form.of(Elem::Bool).ty();
        let arg = |k: usize| args.get(k).map_or("poison", String::as_str);
        let (a, b) = (arg(0), arg(1));
        let float = elem.is_float();
        let binary = |name: &str| format!("{name} {ty} {a}, {b}");
        let compare = |float_name: &str, signed: &str, unsigned: &str| {
            if float {
                format!("fcmp {float_name} {ty} {a}, {b}")
            } else if elem.is_signed() {
                format!("icmp {signed} {ty} {a}, {b}")
            } else {
                format!("icmp {unsigned} {ty} {a}, {b}")
            }
        };
        let text = match instruction {
            Instruction::Add => binary(if float { "fadd" } else { "add" }),
            Instruction::Sub => binary(if float { "fsub" } else { "sub" }),
            Instruction::Mul | Instruction::Mulc => binary(if float { "fmul" } else { "mul" }),
            Instruction::Mulz if float => return guarded_product(self, to, form, [a, b], 2),
            Instruction::Mulg if float => return guarded_product(self, to, form, [a, b], 1),
            Instruction::Mulz | Instruction::Mulg => binary("mul"),
            Instruction::Div if float => binary("fdiv"),
            Instruction::Rem if float => binary("frem"),
            Instruction::Div | Instruction::Rem => return integer_division(self, to, instruction, form, a, b),
            Instruction::Neg if float => format!("fneg {ty} {a}"),
            Instruction::Neg => format!("sub {ty} {}, {a}", form.number(0)),
            Instruction::Abs if float => intrinsic(self, "fabs", form, &[a]),
            Instruction::Abs if elem.is_signed() => magnitude(self, form, a),
            // Behind code that LLVM does not look into, which is none, nothing is known of a number. A `freeze` is pushed to
            // what the number is computed from.
            Instruction::Identity if form.lanes == 1 && elem == Elem::I64 => {
                format!("call i64 asm \"\", \"=r,0\"(i64 {a}) memory(none) nounwind willreturn")
            }
            Instruction::Abs | Instruction::Identity => format!("bitcast {ty} {a} to {ty}"),
            Instruction::Fma if float => intrinsic(self, "fma", form, &[a, b, arg(2)]),
            Instruction::Fma => {
                let product = self.define(&binary("mul"));
                format!("add {ty} {product}, {}", arg(2))
            }
            Instruction::Sqrt => intrinsic(self, "sqrt", form, &[a]),
            Instruction::Floor => intrinsic(self, "floor", form, &[a]),
            Instruction::Ceil => intrinsic(self, "ceil", form, &[a]),
            Instruction::Trunc => intrinsic(self, "trunc", form, &[a]),
            Instruction::Copysign => intrinsic(self, "copysign", form, &[a, b]),
            // These pass NaN on and order the zeros.
            Instruction::Min if float => intrinsic(self, "minimum", form, &[a, b]),
            Instruction::Max if float => intrinsic(self, "maximum", form, &[a, b]),
            Instruction::Min => intrinsic(self, if elem.is_signed() { "smin" } else { "umin" }, form, &[a, b]),
            Instruction::Max => intrinsic(self, if elem.is_signed() { "smax" } else { "umax" }, form, &[a, b]),
            Instruction::Eq => compare("oeq", "eq", "eq"),
            Instruction::Ne => compare("une", "ne", "ne"),
            Instruction::Lt => compare("olt", "slt", "ult"),
            Instruction::Le => compare("ole", "sle", "ule"),
            Instruction::Gt => compare("ogt", "sgt", "ugt"),
            Instruction::Ge => compare("oge", "sge", "uge"),
            Instruction::IsNan => format!("fcmp uno {ty} {a}, {a}"),
            Instruction::And => binary("and"),
            Instruction::Or => binary("or"),
            Instruction::Xor => binary("xor"),
            Instruction::Not => {
                format!("xor {ty} {a}, {}", if elem == Elem::Bool { form.number("true") } else { form.number(-1) })
            }
            Instruction::Shl | Instruction::Shr => shift(self, instruction, form, a, b),
            Instruction::ShiftFits => {
                let distance = form.of(Elem::I64);
                format!("icmp ult {} {b}, {}", distance.ty(), distance.number(8 * elem.bytes()))
            }
            Instruction::Select => format!("select {bit} {a}, {ty} {b}, {ty} {}", arg(2)),
            Instruction::Cast(target) => cast(self, form, target, a),
            Instruction::Bitcast(target) => format!("bitcast {ty} {a} to {}", form.of(target).ty()),
            Instruction::CastFits(target) => return cast_fits(self, to, form, target, a),
            Instruction::AddFits => return fits(self, to, "add", form, a, b),
            Instruction::SubFits => return fits(self, to, "sub", form, a, b),
            Instruction::MulFits => return fits(self, to, "mul", form, a, b),
        };
        self.line(&format!("{to} = {text}"));
    }

    fn part(&mut self, ty: &str, whole: &str, number: u32) -> String {
        // The same in all lanes, and so in those of a part.
        if whole.starts_with("splat") {
            return whole.to_owned();
        }
        let numbers: Vec<String> = (number * PART..(number + 1) * PART).map(|k| format!("i32 {k}")).collect();
        self.define(&format!("shufflevector {ty} {whole}, {ty} poison, <{PART} x i32> <{}>", numbers.join(", ")))
    }
}

/// A product in which a zero of the first `n_guards` factors wins. Masks of more lanes than a register has would be put
/// together from those of the registers, and taken apart again, so the product is written part by part.
fn guarded_product(out: &mut FunctionWriter<'_>, to: &str, form: Form, factors: [&str; 2], n_guards: usize) {
    if form.lanes <= PART {
        return guarded_part(out, to, form, factors, n_guards);
    }
    let ty = form.ty();
    let n_parts = form.lanes / PART;
    let part = Form { lanes: PART, ..form };
    let mut parts = Vec::new();
    for k in 0..n_parts {
        let [a, b] = factors.map(|factor| out.part(&ty, factor, k));
        let product = out.temporary();
        guarded_part(out, &product, part, [&a, &b], n_guards);
        parts.push(product);
    }
    let mut lanes = PART;
    while let [_, _, ..] = parts[..] {
        let ty = Form { lanes, ..form }.ty();
        let numbers: Vec<String> = (0..2 * lanes).map(|k| format!("i32 {k}")).collect();
        let numbers = numbers.join(", ");
        let join = |pair: &[String], out: &mut FunctionWriter<'_>| {
            out.define(&format!("shufflevector {ty} {}, {ty} {}, <{} x i32> <{numbers}>", pair[0], pair[1], 2 * lanes))
        };
        parts = parts.chunks(2).map(|pair| join(pair, out)).collect();
        lanes *= 2;
    }
    out.line(&format!("{to} = bitcast {ty} {} to {ty}", parts[0]));
}

/// The conditions are those under which the product is wanted, as a mask of a register is: none has to be inverted.
fn guarded_part(out: &mut FunctionWriter<'_>, to: &str, form: Form, factors: [&str; 2], n_guards: usize) {
    let (ty, bit) = (form.ty(), form.of(Elem::Bool).ty());
    let zero = form.constant(Const::zero(form.elem));
    let is_nonzero = |factor: &&str| out.define(&format!("fcmp une {ty} {factor}, {zero}"));
    let guards: Vec<String> = factors[..n_guards].iter().map(is_nonzero).collect();
    let condition = guards.into_iter().reduce(|a, b| out.define(&format!("and {bit} {a}, {b}"))).unwrap_or_default();
    let [a, b] = factors;
    let product = out.define(&format!("fmul {ty} {a}, {b}"));
    out.line(&format!("{to} = select {bit} {condition}, {ty} {product}, {ty} {zero}"));
}

/// A call of an intrinsic on operands of one type.
fn intrinsic(out: &mut FunctionWriter<'_>, name: &str, form: Form, args: &[&str]) -> String {
    let (ty, suffix) = (form.ty(), form.suffix());
    let types = vec![ty.as_str(); args.len()].join(", ");
    out.module.declare(&format!("declare {ty} @llvm.{name}.{suffix}({types})"));
    let args: Vec<String> = args.iter().map(|a| format!("{ty} {a}")).collect();
    format!("call {ty} @llvm.{name}.{suffix}({})", args.join(", "))
}

/// Quotient or remainder: 0 for a zero divisor; a divisor of -1 negates, so that the least number wraps.
fn integer_division(out: &mut FunctionWriter<'_>, to: &str, instruction: Instruction, form: Form, a: &str, b: &str) {
    let (ty, bit) = (form.ty(), form.of(Elem::Bool).ty());
    let (zero, one) = (form.number(0), form.number(1));
    let sign = if form.elem.is_signed() { "s" } else { "u" };
    let is_div = instruction == Instruction::Div;
    let by_zero = out.define(&format!("icmp eq {ty} {b}, {zero}"));
    let mut is_special = by_zero.clone();
    let mut by_minus_one = None;
    if form.elem.is_signed() {
        let minus = out.define(&format!("icmp eq {ty} {b}, {}", form.number(-1)));
        is_special = out.define(&format!("or {bit} {by_zero}, {minus}"));
        by_minus_one = Some(minus);
    }
    let divisor = out.define(&format!("select {bit} {is_special}, {ty} {one}, {ty} {b}"));
    if !is_div {
        // A remainder by 1 is the 0 that both special cases want.
        return out.line(&format!("{to} = {sign}rem {ty} {a}, {divisor}"));
    }
    let mut quotient = out.define(&format!("{sign}div {ty} {a}, {divisor}"));
    if let Some(by_minus_one) = by_minus_one {
        let negated = out.define(&format!("sub {ty} {zero}, {a}"));
        quotient = out.define(&format!("select {bit} {by_minus_one}, {ty} {negated}, {ty} {quotient}"));
    }
    out.line(&format!("{to} = select {bit} {by_zero}, {ty} {zero}, {ty} {quotient}"));
}

/// The magnitude of a signed integer; the least one stays what it is.
fn magnitude(out: &mut FunctionWriter<'_>, form: Form, a: &str) -> String {
    let ty = form.ty();
    let suffix = form.suffix();
    out.module.declare(&format!("declare {ty} @llvm.abs.{suffix}({ty}, i1)"));
    format!("call {ty} @llvm.abs.{suffix}({ty} {a}, i1 false)")
}

fn shift(out: &mut FunctionWriter<'_>, instruction: Instruction, form: Form, a: &str, b: &str) -> String {
    let ty = form.ty();
    let distance = shift_distance(out, form, b);
    let name = match (instruction, form.elem.is_signed()) {
        (Instruction::Shl, _) => "shl",
        (_, true) => "ashr",
        (_, false) => "lshr",
    };
    format!("{name} {ty} {a}, {distance}")
}

/// An i64 distance modulo the width, as a value of the type that is shifted.
fn shift_distance(out: &mut FunctionWriter<'_>, form: Form, distance: &str) -> String {
    let wide = form.of(Elem::I64);
    let last = wide.number(8 * form.elem.bytes() - 1);
    let masked = out.define(&format!("and {} {distance}, {last}", wide.ty()));
    if form.elem.bytes() == 8 {
        return masked;
    }
    out.define(&format!("trunc {} {masked} to {}", wide.ty(), form.ty()))
}

fn cast(out: &mut FunctionWriter<'_>, form: Form, to: Elem, a: &str) -> String {
    let from = form.elem;
    // Loops that compute with storage types have no lanes.
    if let Some(storage) = from.storage() {
        let wide = out.widen(storage, a);
        return cast(out, form.of(Elem::F32), to, &wide);
    }
    if let Some(storage) = to.storage() {
        let bits = out.narrow(storage, from, a);
        return format!("bitcast i16 {bits} to i16");
    }
    let (source, target) = (form.ty(), form.of(to).ty());
    if from.is_float() && to.is_float() {
        return match (from, to) {
            (Elem::F32, Elem::F64) => format!("fpext {source} {a} to {target}"),
            (Elem::F64, Elem::F32) => format!("fptrunc {source} {a} to {target}"),
            _ => format!("bitcast {source} {a} to {target}"),
        };
    }
    if to.is_float() {
        let sign = if from.is_signed() { "s" } else { "u" };
        return format!("{sign}itofp {source} {a} to {target}");
    }
    if from.is_float() {
        let sign = if to.is_signed() { "s" } else { "u" };
        let name = format!("fpto{sign}i.sat.{}.{}", form.of(to).suffix(), form.suffix());
        out.module.declare(&format!("declare {target} @llvm.{name}({source})"));
        return format!("call {target} @llvm.{name}({source} {a})");
    }
    let bits = |elem: Elem| if elem == Elem::Bool { 1 } else { 8 * elem.bytes() };
    match bits(from).cmp(&bits(to)) {
        std::cmp::Ordering::Greater => format!("trunc {source} {a} to {target}"),
        std::cmp::Ordering::Equal => format!("bitcast {source} {a} to {target}"),
        std::cmp::Ordering::Less if from.is_signed() => format!("sext {source} {a} to {target}"),
        std::cmp::Ordering::Less => format!("zext {source} {a} to {target}"),
    }
}

/// Whether a value keeps its meaning as an integer of type `target`; a fraction may be cut.
fn cast_fits(out: &mut FunctionWriter<'_>, to: &str, form: Form, target: Elem, a: &str) {
    let (from, bits) = (form.elem, form.of(Elem::Bool));
    let (ty, bit) = (form.ty(), bits.ty());
    let Some((least, greatest)) = target.integer_range() else {
        return out.line(&format!("{to} = bitcast {bit} {} to {bit}", bits.number("true")));
    };
    if from.is_float() {
        let whole = intrinsic(out, "trunc", form, &[a]);
        let whole = out.define(&whole);
        // Both bounds are powers of two or zero, hence exact.
        let low = form.constant(Const::float(from, least as f64));
        let high = form.constant(Const::float(from, (greatest + 1) as f64));
        let above = out.define(&format!("fcmp oge {ty} {whole}, {low}"));
        let below = out.define(&format!("fcmp olt {ty} {whole}, {high}"));
        return out.line(&format!("{to} = and {bit} {above}, {below}"));
    }
    let (own_least, own_greatest) = from.integer_range().unwrap_or((0, 1));
    let sign = if from.is_signed() { "s" } else { "u" };
    let mut fits = bits.number("true");
    for (relation, bound, matters) in [("ge", least, least > own_least), ("le", greatest, greatest < own_greatest)] {
        if matters {
            let one = out.define(&format!("icmp {sign}{relation} {ty} {a}, {}", form.number(bound)));
            fits = out.define(&format!("and {bit} {fits}, {one}"));
        }
    }
    out.line(&format!("{to} = bitcast {bit} {fits} to {bit}"));
}

/// Whether an operation on integers does not wrap.
fn fits(out: &mut FunctionWriter<'_>, to: &str, name: &str, form: Form, a: &str, b: &str) {
    let (ty, bit) = (form.ty(), form.of(Elem::Bool).ty());
    let sign = if form.elem.is_signed() { "s" } else { "u" };
    let name = format!("llvm.{sign}{name}.with.overflow.{}", form.suffix());
    out.module.declare(&format!("declare {{ {ty}, {bit} }} @{name}({ty}, {ty})"));
    let pair = out.define(&format!("call {{ {ty}, {bit} }} @{name}({ty} {a}, {ty} {b})"));
    let wraps = out.define(&format!("extractvalue {{ {ty}, {bit} }} {pair}, 1"));
    out.line(&format!("{to} = xor {bit} {wraps}, {}", form.of(Elem::Bool).number("true")));
}
