//! Operators and their spelling.

/// The spelling of each operator, written once for both directions.
macro_rules! operators {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* #[doc = concat!("`", $text, "`")] $variant,)*
        }

        impl $name {
            /// All operators of this kind.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The operator as it is written.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

operators! {
    /// An infix operator with two values. Ranges and `|>` have nodes of their own.
    BinaryOp {
        Or = "||",
        And = "&&",
        Eq = "==",
        Ne = "!=",
        Lt = "<",
        Le = "<=",
        Gt = ">",
        Ge = ">=",
        DotEq = ".==",
        DotNe = ".!=",
        DotLt = ".<",
        DotLe = ".<=",
        DotGt = ".>",
        DotGe = ".>=",
        Add = "+",
        Sub = "-",
        DotAdd = ".+",
        DotSub = ".-",
        Mul = "*",
        Div = "/",
        Rem = "%",
        DotMul = ".*",
        DotDiv = "./",
        DotRem = ".%",
        MatMul = "@",
        Pow = "**",
        DotPow = ".**",
    }
}

operators! {
    /// A prefix operator.
    UnaryOp {
        Neg = "-",
        Not = "!",
    }
}

operators! {
    /// A prefix operator that folds a tensor.
    FoldOp {
        Add = "+/",
        Mul = "*/",
        Sub = "-/",
        Div = "//",
        Max = "max/",
        Min = "min/",
        And = "and/",
        Or = "or/",
    }
}

operators! {
    /// An assignment operator.
    AssignOp {
        Set = "=",
        Add = "+=",
        Sub = "-=",
        Mul = "*=",
        Div = "/=",
        Rem = "%=",
        Pow = "**=",
        Max = "max=",
        Min = "min=",
        DotAdd = ".+=",
        DotSub = ".-=",
        DotMul = ".*=",
        DotDiv = "./=",
        DotRem = ".%=",
        DotPow = ".**=",
        DotMax = ".max=",
        DotMin = ".min=",
    }
}

operators! {
    /// The type that a numeric literal names after an underscore, as in `1.0_f32`.
    Suffix {
        I8 = "i8",
        I16 = "i16",
        I32 = "i32",
        I64 = "i64",
        U8 = "u8",
        U16 = "u16",
        U32 = "u32",
        U64 = "u64",
        F16 = "f16",
        BF16 = "bf16",
        F32 = "f32",
        F64 = "f64",
    }
}

impl BinaryOp {
    /// The operator with a dot if this one has none, and the other way round: `+` and `.+`.
    /// `&&`, `||` and `@` have no counterpart.
    pub fn counterpart(self) -> Option<Self> {
        Some(match self {
            Self::Or | Self::And | Self::MatMul => return None,
            Self::Eq => Self::DotEq,
            Self::Ne => Self::DotNe,
            Self::Lt => Self::DotLt,
            Self::Le => Self::DotLe,
            Self::Gt => Self::DotGt,
            Self::Ge => Self::DotGe,
            Self::DotEq => Self::Eq,
            Self::DotNe => Self::Ne,
            Self::DotLt => Self::Lt,
            Self::DotLe => Self::Le,
            Self::DotGt => Self::Gt,
            Self::DotGe => Self::Ge,
            Self::Add => Self::DotAdd,
            Self::Sub => Self::DotSub,
            Self::DotAdd => Self::Add,
            Self::DotSub => Self::Sub,
            Self::Mul => Self::DotMul,
            Self::Div => Self::DotDiv,
            Self::Rem => Self::DotRem,
            Self::DotMul => Self::Mul,
            Self::DotDiv => Self::Div,
            Self::DotRem => Self::Rem,
            Self::Pow => Self::DotPow,
            Self::DotPow => Self::Pow,
        })
    }

    /// Whether the operator begins with a dot, which makes it element-wise.
    pub fn is_dotted(self) -> bool {
        self.as_str().starts_with('.')
    }
}

impl AssignOp {
    /// The arithmetic that the assignment does, without the `=`; none for `=`, `max=`, `min=` and
    /// their dotted forms, which are no infix operators.
    pub fn binary(self) -> Option<BinaryOp> {
        match self {
            Self::Set | Self::Max | Self::Min | Self::DotMax | Self::DotMin => None,
            Self::Add => Some(BinaryOp::Add),
            Self::Sub => Some(BinaryOp::Sub),
            Self::Mul => Some(BinaryOp::Mul),
            Self::Div => Some(BinaryOp::Div),
            Self::Rem => Some(BinaryOp::Rem),
            Self::Pow => Some(BinaryOp::Pow),
            Self::DotAdd => Some(BinaryOp::DotAdd),
            Self::DotSub => Some(BinaryOp::DotSub),
            Self::DotMul => Some(BinaryOp::DotMul),
            Self::DotDiv => Some(BinaryOp::DotDiv),
            Self::DotRem => Some(BinaryOp::DotRem),
            Self::DotPow => Some(BinaryOp::DotPow),
        }
    }
}

impl Suffix {
    /// Whether the type is one of the floating-point types.
    pub fn is_float(self) -> bool {
        match self {
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => true,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::U8 | Self::U16 | Self::U32 | Self::U64 => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counterpart_differs_by_the_leading_dot_only() {
        for &op in BinaryOp::ALL {
            if let Some(other) = op.counterpart() {
                assert_eq!(other.counterpart(), Some(op));
                assert_ne!(op.is_dotted(), other.is_dotted());
                assert_eq!(op.as_str().trim_start_matches('.'), other.as_str().trim_start_matches('.'));
            }
        }
    }

    #[test]
    fn an_assignment_is_its_operator_and_an_equals_sign() {
        for &op in AssignOp::ALL {
            if let Some(binary) = op.binary() {
                assert_eq!(op.as_str(), format!("{}=", binary.as_str()));
            }
        }
    }
}
