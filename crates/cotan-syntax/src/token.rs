//! Tokens and comments.

use crate::span::Span;

/// A token. Its text is the text of its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
    /// Whether a line ended between the token before and this one.
    pub newline_before: bool,
}

/// A comment. Comments are no tokens; the parser never sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Which kind of comment.
    pub kind: CommentKind,
    /// The whole comment with its marks.
    pub span: Span,
    /// The index of the token that follows it.
    pub before_token: u32,
}

/// The kinds of comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommentKind {
    /// `# ...`
    Line,
    /// `## ...`
    Doc,
    /// `/* ... */`
    Block,
}

/// The spelling of keywords and punctuation, written once for the lexer and for messages.
macro_rules! tokens {
    (keywords { $($keyword:ident = $keyword_text:literal,)* } symbols { $($symbol:ident = $symbol_text:literal,)* }) => {
        /// The kinds of tokens.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum TokenKind {
            /// The end of the file.
            Eof,
            /// Characters that form no token; that has been reported.
            Unknown,
            /// A name.
            Ident,
            /// An integer literal.
            Int,
            /// A float literal.
            Float,
            /// A string literal.
            Str,
            /// A character literal.
            Char,
            $(#[doc = concat!("The keyword `", $keyword_text, "`.")] $keyword,)*
            $(#[doc = concat!("`", $symbol_text, "`")] $symbol,)*
        }

        impl TokenKind {
            /// All keywords.
            pub const KEYWORDS: &'static [Self] = &[$(Self::$keyword,)*];

            /// All punctuation and operators.
            pub const SYMBOLS: &'static [Self] = &[$(Self::$symbol,)*];

            /// The text, if it is the same for all tokens of the kind.
            pub fn text(self) -> Option<&'static str> {
                match self {
                    Self::Eof | Self::Unknown | Self::Ident | Self::Int | Self::Float | Self::Str | Self::Char => None,
                    $(Self::$keyword => Some($keyword_text),)*
                    $(Self::$symbol => Some($symbol_text),)*
                }
            }
        }
    };
}

tokens! {
    keywords {
        Fn = "fn",
        Kernel = "kernel",
        Let = "let",
        Mut = "mut",
        If = "if",
        Else = "else",
        Match = "match",
        For = "for",
        While = "while",
        Break = "break",
        Continue = "continue",
        Return = "return",
        In = "in",
        Struct = "struct",
        Enum = "enum",
        Type = "type",
        Const = "const",
        Import = "import",
        Pub = "pub",
        Trait = "trait",
        Impl = "impl",
        As = "as",
        True = "true",
        False = "false",
    }
    symbols {
        LParen = "(",
        RParen = ")",
        LBracket = "[",
        RBracket = "]",
        LBrace = "{",
        RBrace = "}",
        Comma = ",",
        Semicolon = ";",
        Colon = ":",
        Arrow = "->",
        FatArrow = "=>",
        At = "@",
        Dot = ".",
        DotDot = "..",
        DotDotEq = "..=",
        Bar = "|",
        Amp = "&",
        Caret = "^",
        PlusPlus = "++",
        Question = "?",
        Pipe = "|>",
        OrOr = "||",
        AndAnd = "&&",
        Bang = "!",
        EqEq = "==",
        NotEq = "!=",
        Lt = "<",
        Le = "<=",
        Gt = ">",
        Ge = ">=",
        DotEqEq = ".==",
        DotNotEq = ".!=",
        DotLt = ".<",
        DotLe = ".<=",
        DotGt = ".>",
        DotGe = ".>=",
        Plus = "+",
        Minus = "-",
        DotPlus = ".+",
        DotMinus = ".-",
        Star = "*",
        Slash = "/",
        Percent = "%",
        DotStar = ".*",
        DotSlash = "./",
        DotPercent = ".%",
        StarStar = "**",
        DotStarStar = ".**",
        FoldAdd = "+/",
        FoldMul = "*/",
        FoldSub = "-/",
        FoldDiv = "//",
        Eq = "=",
        PlusEq = "+=",
        MinusEq = "-=",
        StarEq = "*=",
        SlashEq = "/=",
        PercentEq = "%=",
        StarStarEq = "**=",
        DotPlusEq = ".+=",
        DotMinusEq = ".-=",
        DotStarEq = ".*=",
        DotSlashEq = "./=",
        DotPercentEq = ".%=",
        DotStarStarEq = ".**=",
        DotMaxEq = ".max=",
        DotMinEq = ".min=",
    }
}
