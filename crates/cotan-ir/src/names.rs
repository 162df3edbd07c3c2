//! Names of variables in the text form: the base name where it is free, else with a number.

use crate::{Block, Function, Stmt, Var};
use rustc_hash::FxHashMap;

/// One name per variable of a function, no two the same.
pub(crate) struct Names(Vec<String>);

impl Names {
    /// Numbers equal base names in the order in which the text binds them: `x`, `x.1`, `x.2`. Variables that nothing
    /// binds come last.
    pub(crate) fn new(f: &Function) -> Names {
        let mut naming = Naming { f, uses: FxHashMap::default(), names: vec![None; f.vars.len()] };
        f.params.iter().for_each(|v| naming.bind(*v));
        naming.block(&f.body);
        (0..f.vars.len() as u32).for_each(|v| naming.bind(Var(v)));
        Names(naming.names.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// The name of a variable; a variable outside the function's table, which only a broken function has, shows its
    /// number.
    pub(crate) fn of(&self, v: Var) -> String {
        self.0.get(v.index()).cloned().unwrap_or_else(|| format!("_unknown_{}", v.0))
    }
}

struct Naming<'a> {
    f: &'a Function,
    uses: FxHashMap<String, usize>,
    names: Vec<Option<String>>,
}

impl Naming<'_> {
    fn bind(&mut self, v: Var) {
        let Some(None) = self.names.get(v.index()) else { return };
        let base = plain(self.f.name_of(v));
        let n = self.uses.entry(base.clone()).or_default();
        self.names[v.index()] = Some(if *n == 0 { base } else { format!("{base}.{n}") });
        *n += 1;
    }

    fn block(&mut self, b: &Block) {
        for Stmt { results, op, .. } in &b.stmts {
            results.iter().for_each(|v| self.bind(*v));
            op.binders().into_iter().for_each(|v| self.bind(v));
            op.blocks().iter().for_each(|b| self.block(b));
        }
    }
}

/// Words of the text form that cannot be variables, because a constant or the start of a line reads the same.
const RESERVED: [&str; 9] = ["acc_add", "false", "inf", "inf_f32", "nan", "nan_f32", "return", "true", "yield"];

/// Whether a word stands for something else than a variable.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || word.starts_with("nan_0x")
}

/// Whether a name may start with this character.
pub(crate) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name may go on with this character; dots only separate parts.
pub(crate) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The base name as a word without dots (those belong to the numbers) that reads as a variable.
fn plain(name: &str) -> String {
    let word: String = name.chars().map(|c| if continues_name(c) { c } else { '_' }).collect();
    if !word.starts_with(starts_name) || is_reserved(&word) { format!("_{word}") } else { word }
}
