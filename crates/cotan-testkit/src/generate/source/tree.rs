//! Programs as trees of lines: enough structure to print them, to change them without changing what they compute, and to
//! make them smaller.

use std::fmt::Write;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// One that fits a line.
    Line(String),
    /// One with a block, and another block after `else`.
    Block {
        /// The line up to the brace.
        head: String,
        /// The block.
        body: Vec<Stmt>,
        /// The block after `else`.
        otherwise: Option<Vec<Stmt>>,
        /// For a `for` whose bounds are constants and which runs to its end: index, first value, end.
        trips: Option<(String, i64, i64)>,
    },
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The line up to the brace.
    pub head: String,
    /// The statements.
    pub body: Vec<Stmt>,
    /// The value.
    pub result: String,
}

/// A program: declarations, then functions, the last of which is the one to test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Types, and functions that stay as they are.
    pub declarations: Vec<String>,
    /// The functions.
    pub functions: Vec<Function>,
}

impl Stmt {
    /// A block without `else`.
    pub(super) fn block(head: String, body: Vec<Stmt>) -> Stmt {
        Stmt::Block { head, body, otherwise: None, trips: None }
    }

    fn print(&self, indent: usize, out: &mut String) {
        let pad = "  ".repeat(indent);
        match self {
            Stmt::Line(text) => out.push_str(&format!("{pad}{text}\n")),
            Stmt::Block { head, body, otherwise, .. } => {
                out.push_str(&format!("{pad}{head} {{\n"));
                body.iter().for_each(|s| s.print(indent + 1, out));
                if let Some(otherwise) = otherwise {
                    out.push_str(&format!("{pad}}} else {{\n"));
                    otherwise.iter().for_each(|s| s.print(indent + 1, out));
                }
                out.push_str(&format!("{pad}}}\n"));
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Stmt::Line(_) => 1,
            Stmt::Block { body, otherwise, .. } => {
                let all = body.iter().chain(otherwise.iter().flatten());
                1 + all.map(Stmt::count).sum::<usize>()
            }
        }
    }
}

impl Program {
    /// The text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for declaration in &self.declarations {
            out.push_str(&format!("{declaration}\n"));
        }
        for f in &self.functions {
            let _ = writeln!(out, "{} {{", f.head);
            f.body.iter().for_each(|s| s.print(1, &mut out));
            let _ = writeln!(out, "  {}\n}}\n", f.result);
        }
        out
    }

    /// The number of statements, those of blocks included.
    pub fn n_statements(&self) -> usize {
        self.functions.iter().flat_map(|f| &f.body).map(Stmt::count).sum()
    }

    /// The same with every `for` that has constant bounds written out.
    pub fn unrolled(&self) -> Program {
        self.map_blocks(&|stmts| stmts.into_iter().flat_map(unroll).collect())
    }

    /// The same with an element-wise function in place of every sum, difference or product of two whole vectors.
    pub fn scalarised(&self) -> Program {
        let scalarise = |s: &Stmt| s.map_text(&|text| scalarised(text).unwrap_or_else(|| text.to_owned()));
        self.map_blocks(&|stmts| stmts.iter().map(scalarise).collect())
    }

    /// The same with statements whose values nobody needs, one in every block.
    pub fn with_dead_code(&self) -> Program {
        self.map_blocks(&|mut stmts| {
            stmts.insert(0, Stmt::Line("let _dead = sin(0.25) * 4.0".to_owned()));
            stmts
        })
    }

    /// The same with another name for every variable that the generator named.
    pub fn renamed(&self) -> Program {
        let mut renamed = self.map_blocks(&|stmts| stmts);
        for f in &mut renamed.functions {
            // Parameters keep their names: arguments are given by name.
            let kept: Vec<String> = words(&f.head).collect();
            f.body = f.body.iter().map(|s| s.map_text(&|text| rename(text, &kept))).collect();
            f.result = rename(&f.result, &kept);
        }
        renamed
    }

    /// The programs with one statement less, or with a block in place of the statement that holds it.
    pub fn smaller(&self) -> Vec<Program> {
        let mut out = Vec::new();
        for (k, f) in self.functions.iter().enumerate() {
            for body in smaller_blocks(&f.body) {
                let mut program = self.clone();
                program.functions[k].body = body;
                out.push(program);
            }
        }
        out
    }

    fn map_blocks(&self, change: &dyn Fn(Vec<Stmt>) -> Vec<Stmt>) -> Program {
        let mut program = self.clone();
        for f in &mut program.functions {
            f.body = map_block(&f.body, change);
        }
        program
    }
}

impl Stmt {
    fn map_text(&self, change: &dyn Fn(&str) -> String) -> Stmt {
        let all = |stmts: &Vec<Stmt>| stmts.iter().map(|s| s.map_text(change)).collect();
        match self {
            Stmt::Line(text) => Stmt::Line(change(text)),
            Stmt::Block { head, body, otherwise, trips } => Stmt::Block {
                head: change(head),
                body: all(body),
                otherwise: otherwise.as_ref().map(all),
                trips: trips.as_ref().map(|(index, lo, hi)| (change(index), *lo, *hi)),
            },
        }
    }
}

/// A block changed after the blocks inside it.
fn map_block(stmts: &[Stmt], change: &dyn Fn(Vec<Stmt>) -> Vec<Stmt>) -> Vec<Stmt> {
    let inner = stmts.iter().map(|s| match s {
        Stmt::Line(_) => s.clone(),
        Stmt::Block { head, body, otherwise, trips } => Stmt::Block {
            head: head.clone(),
            body: map_block(body, change),
            otherwise: otherwise.as_ref().map(|b| map_block(b, change)),
            trips: trips.clone(),
        },
    });
    change(inner.collect())
}

fn unroll(stmt: Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::Block { body, trips: Some((index, lo, hi)), .. } => {
            // The block of a branch that is always taken keeps the names of each copy apart.
            let copy = |k: i64| {
                let first = Stmt::Line(format!("let {index} = {k}"));
                Stmt::block("if true".to_owned(), [vec![first], body.clone()].concat())
            };
            (lo..hi).map(copy).collect()
        }
        other @ (Stmt::Line(_) | Stmt::Block { .. }) => vec![other],
    }
}

fn smaller_blocks(stmts: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut out = Vec::new();
    for (k, stmt) in stmts.iter().enumerate() {
        let with = |replacement: Vec<Stmt>| [&stmts[..k], &replacement, &stmts[k + 1..]].concat();
        out.push(with(Vec::new()));
        if let Stmt::Block { head, body, otherwise, trips } = stmt {
            out.push(with(body.clone()));
            for body in smaller_blocks(body) {
                let (head, otherwise, trips) = (head.clone(), otherwise.clone(), trips.clone());
                out.push(with(vec![Stmt::Block { head, body, otherwise, trips }]));
            }
            for less in smaller_blocks(otherwise.as_deref().unwrap_or_default()) {
                let (head, body, trips) = (head.clone(), body.clone(), trips.clone());
                out.push(with(vec![Stmt::Block { head, body, otherwise: Some(less), trips }]));
            }
        }
    }
    out
}

/// `let v = sin(a .* b)` as `let v = map(|p, q| sin(p * q), a, b)`.
fn scalarised(line: &str) -> Option<String> {
    let (name, value) = line.strip_prefix("let ")?.split_once(" = sin(")?;
    let (left, rest) = value.strip_suffix(')')?.split_once(" .")?;
    let (operator, right) = rest.split_once(' ')?;
    let is_plain = |v: &str| !v.is_empty() && v.chars().all(is_word);
    let is_known = is_plain(left) && is_plain(right) && ["+", "-", "*"].contains(&operator);
    is_known.then(|| format!("let {name} = map(|p, q| sin(p {operator} q), {left}, {right})"))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c| !is_word(c)).filter(|w| !w.is_empty()).map(str::to_owned)
}

/// Whether the generator made this name: a letter, then a number.
fn is_variable(word: &str) -> bool {
    let digits = word.strip_prefix(|c: char| c.is_ascii_lowercase());
    digits.is_some_and(|d| !d.is_empty() && d.chars().all(|c| c.is_ascii_digit()))
        && cotan_ir::Elem::from_name(word).is_none()
}

fn rename(text: &str, kept: &[String]) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if is_word(c) {
            word.push(c);
            continue;
        }
        if is_variable(&word) && !kept.contains(&word) {
            out.push_str("other_");
        }
        out.push_str(&word);
        word.clear();
        out.push(c);
    }
    out.pop();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        let line = |text: &str| Stmt::Line(text.to_owned());
        let body = vec![line("s1 += x0 * (i2 as f64)")];
        let trips = Some(("i2".to_owned(), 1, 3));
        let body = vec![
            line("let mut s1 = 0.5"),
            Stmt::Block { head: "for i2 in 1..3".to_owned(), body, otherwise: None, trips },
        ];
        let f = Function { head: "fn f(x0: f64) -> f64".to_owned(), body, result: "s1".to_owned() };
        Program { declarations: Vec::new(), functions: vec![f] }
    }

    fn check(program: &Program, expected: &str) {
        assert_eq!(program.text().split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn programs_print_as_source() {
        let text = "fn f(x0: f64) -> f64 { let mut s1 = 0.5 for i2 in 1..3 { s1 += x0 * (i2 as f64) } s1 }";
        check(&program(), text);
        assert_eq!(program().n_statements(), 3);
    }

    #[test]
    fn loops_with_constant_bounds_unroll() {
        let copies = "if true { let i2 = 1 s1 += x0 * (i2 as f64) } if true { let i2 = 2 s1 += x0 * (i2 as f64) }";
        check(&program().unrolled(), &format!("fn f(x0: f64) -> f64 {{ let mut s1 = 0.5 {copies} s1 }}"));
    }

    #[test]
    fn vector_operations_become_functions_of_elements() {
        let check = |line: &str, expected: Option<&str>| assert_eq!(scalarised(line).as_deref(), expected);
        check("let mut v3 = sin(a .* v2)", Some("let mut v3 = map(|p, q| sin(p * q), a, v2)"));
        check("let v3 = sin(m[.., 0] .+ v2)", None);
        check("v3 = sin(a .* v2)", None);
    }

    #[test]
    fn renaming_spares_parameters_and_types() {
        let text = "fn f(x0: f64) -> f64 { let mut other_s1 = 0.5 \
            for other_i2 in 1..3 { other_s1 += x0 * (other_i2 as f64) } other_s1 }";
        check(&program().renamed(), text);
    }

    #[test]
    fn smaller_programs_lack_one_statement_each() {
        let sizes: Vec<usize> = program().smaller().iter().map(Program::n_statements).collect();
        assert_eq!(sizes, [2, 1, 2, 2]);
    }
}
