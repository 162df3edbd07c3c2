//! Scalar instructions. Integers wrap, shifts and divisions are guarded so that none is undefined, floats are IEEE.

use super::function::FunctionEmitter;
use super::text::{constant, register, suffix};
use cotan_ir::{Const, Elem};
use cotan_ops::Instruction;

impl FunctionEmitter<'_> {
    /// Defines `to` by an instruction. `elem` is the type of the operands (of a select: the last two).
    pub(super) fn native(&mut self, to: &str, instruction: Instruction, elem: Elem, args: &[String]) {
        let ty = register(elem);
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
            Instruction::Mul => binary(if float { "fmul" } else { "mul" }),
            Instruction::Div if float => binary("fdiv"),
            Instruction::Rem if float => binary("frem"),
            Instruction::Div | Instruction::Rem => return self.integer_division(to, instruction, elem, a, b),
            Instruction::Neg if float => format!("fneg {ty} {a}"),
            Instruction::Neg => format!("sub {ty} 0, {a}"),
            Instruction::Abs if float => self.intrinsic("fabs", elem, &[a]),
            Instruction::Abs if elem.is_signed() => {
                self.module.declare(&format!("declare {ty} @llvm.abs.{ty}({ty}, i1)"));
                format!("call {ty} @llvm.abs.{ty}({ty} {a}, i1 false)")
            }
            Instruction::Abs | Instruction::Identity => format!("bitcast {ty} {a} to {ty}"),
            Instruction::Fma if float => self.intrinsic("fma", elem, &[a, b, arg(2)]),
            Instruction::Fma => {
                let product = self.define(&binary("mul"));
                format!("add {ty} {product}, {}", arg(2))
            }
            Instruction::Sqrt => self.intrinsic("sqrt", elem, &[a]),
            Instruction::Floor => self.intrinsic("floor", elem, &[a]),
            Instruction::Ceil => self.intrinsic("ceil", elem, &[a]),
            Instruction::Trunc => self.intrinsic("trunc", elem, &[a]),
            Instruction::Copysign => self.intrinsic("copysign", elem, &[a, b]),
            // These pass NaN on and order the zeros.
            Instruction::Min if float => self.intrinsic("minimum", elem, &[a, b]),
            Instruction::Max if float => self.intrinsic("maximum", elem, &[a, b]),
            Instruction::Min => self.intrinsic(if elem.is_signed() { "smin" } else { "umin" }, elem, &[a, b]),
            Instruction::Max => self.intrinsic(if elem.is_signed() { "smax" } else { "umax" }, elem, &[a, b]),
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
            Instruction::Not => format!("xor {ty} {a}, {}", if elem == Elem::Bool { "true" } else { "-1" }),
            Instruction::Shl | Instruction::Shr => {
                let distance = self.shift_distance(elem, b);
                let name = match (instruction, elem.is_signed()) {
                    (Instruction::Shl, _) => "shl",
                    (_, true) => "ashr",
                    (_, false) => "lshr",
                };
                format!("{name} {ty} {a}, {distance}")
            }
            Instruction::ShiftFits => format!("icmp ult i64 {b}, {}", 8 * elem.bytes()),
            Instruction::Select => format!("select i1 {a}, {ty} {b}, {ty} {}", arg(2)),
            Instruction::Cast(target) => self.cast(elem, target, a),
            Instruction::Bitcast(target) => format!("bitcast {ty} {a} to {}", register(target)),
            Instruction::CastFits(target) => return self.cast_fits(to, elem, target, a),
            Instruction::AddFits => return self.fits(to, "add", elem, a, b),
            Instruction::SubFits => return self.fits(to, "sub", elem, a, b),
            Instruction::MulFits => return self.fits(to, "mul", elem, a, b),
        };
        self.line(&format!("{to} = {text}"));
    }

    /// A call of an intrinsic on operands of one type.
    fn intrinsic(&mut self, name: &str, elem: Elem, args: &[&str]) -> String {
        let (ty, suffix) = (register(elem), suffix(elem));
        let types = vec![ty; args.len()].join(", ");
        self.module.declare(&format!("declare {ty} @llvm.{name}.{suffix}({types})"));
        let args: Vec<String> = args.iter().map(|a| format!("{ty} {a}")).collect();
        format!("call {ty} @llvm.{name}.{suffix}({})", args.join(", "))
    }

    /// Quotient or remainder: 0 for a zero divisor; a divisor of -1 negates, so that the least number wraps.
    fn integer_division(&mut self, to: &str, instruction: Instruction, elem: Elem, a: &str, b: &str) {
        let ty = register(elem);
        let sign = if elem.is_signed() { "s" } else { "u" };
        let is_div = instruction == Instruction::Div;
        let by_zero = self.define(&format!("icmp eq {ty} {b}, 0"));
        let mut is_special = by_zero.clone();
        let mut by_minus_one = None;
        if elem.is_signed() {
            let minus = self.define(&format!("icmp eq {ty} {b}, -1"));
            is_special = self.define(&format!("or i1 {by_zero}, {minus}"));
            by_minus_one = Some(minus);
        }
        let divisor = self.define(&format!("select i1 {is_special}, {ty} 1, {ty} {b}"));
        if !is_div {
            // A remainder by 1 is the 0 that both special cases want.
            return self.line(&format!("{to} = {sign}rem {ty} {a}, {divisor}"));
        }
        let mut quotient = self.define(&format!("{sign}div {ty} {a}, {divisor}"));
        if let Some(by_minus_one) = by_minus_one {
            let negated = self.define(&format!("sub {ty} 0, {a}"));
            quotient = self.define(&format!("select i1 {by_minus_one}, {ty} {negated}, {ty} {quotient}"));
        }
        self.line(&format!("{to} = select i1 {by_zero}, {ty} 0, {ty} {quotient}"));
    }

    /// An i64 distance modulo the width, as a value of the type that is shifted.
    fn shift_distance(&mut self, elem: Elem, distance: &str) -> String {
        let masked = self.define(&format!("and i64 {distance}, {}", 8 * elem.bytes() - 1));
        if elem.bytes() == 8 {
            return masked;
        }
        self.define(&format!("trunc i64 {masked} to {}", register(elem)))
    }

    fn cast(&mut self, from: Elem, to: Elem, a: &str) -> String {
        if let Some(storage) = from.storage() {
            let wide = self.widen(storage, a);
            return self.cast(Elem::F32, to, &wide);
        }
        if let Some(storage) = to.storage() {
            let bits = self.narrow(storage, from, a);
            return format!("bitcast i16 {bits} to i16");
        }
        let (source, target) = (register(from), register(to));
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
            let name = format!("fpto{}i.sat.{target}.{}", if to.is_signed() { "s" } else { "u" }, suffix(from));
            self.module.declare(&format!("declare {target} @llvm.{name}({source})"));
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
    fn cast_fits(&mut self, to: &str, from: Elem, target: Elem, a: &str) {
        let Some((least, greatest)) = target.integer_range() else {
            return self.line(&format!("{to} = bitcast i1 true to i1"));
        };
        let ty = register(from);
        if from.is_float() {
            let whole = self.intrinsic("trunc", from, &[a]);
            let whole = self.define(&whole);
            // Both bounds are powers of two or zero, hence exact.
            let low = constant(Const::float(from, least as f64));
            let high = constant(Const::float(from, (greatest + 1) as f64));
            let above = self.define(&format!("fcmp oge {ty} {whole}, {low}"));
            let below = self.define(&format!("fcmp olt {ty} {whole}, {high}"));
            return self.line(&format!("{to} = and i1 {above}, {below}"));
        }
        let (own_least, own_greatest) = from.integer_range().unwrap_or((0, 1));
        let sign = if from.is_signed() { "s" } else { "u" };
        let mut fits = String::from("true");
        for (relation, bound, matters) in [("ge", least, least > own_least), ("le", greatest, greatest < own_greatest)]
        {
            if matters {
                let one = self.define(&format!("icmp {sign}{relation} {ty} {a}, {bound}"));
                fits = self.define(&format!("and i1 {fits}, {one}"));
            }
        }
        self.line(&format!("{to} = bitcast i1 {fits} to i1"));
    }

    /// Whether an operation on integers does not wrap.
    fn fits(&mut self, to: &str, name: &str, elem: Elem, a: &str, b: &str) {
        let ty = register(elem);
        let name = format!("llvm.{}{name}.with.overflow.{ty}", if elem.is_signed() { "s" } else { "u" });
        self.module.declare(&format!("declare {{ {ty}, i1 }} @{name}({ty}, {ty})"));
        let pair = self.define(&format!("call {{ {ty}, i1 }} @{name}({ty} {a}, {ty} {b})"));
        let wraps = self.define(&format!("extractvalue {{ {ty}, i1 }} {pair}, 1"));
        self.line(&format!("{to} = xor i1 {wraps}, true"));
    }
}
