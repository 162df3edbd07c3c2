//! Broken certificates: the gradient code changed in one place.

use crate::random::Rng;

/// A certificate with something wrong in it.
#[derive(Clone, Debug)]
pub struct Broken {
    /// What was done to it.
    pub what: String,
    /// Its text.
    pub text: String,
}

/// The certificate with a change in one line of the code, or in the place of one input.
pub fn broken(text: &str, rng: &mut Rng) -> Option<Broken> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let word = |line: &str, k: usize| line.split(' ').nth(k).and_then(|n| n.parse::<usize>().ok());
    let n_inputs = word(&lines[0], 1)?;
    let n_program = n_inputs + lines.iter().filter(|l| !l.starts_with("code") && is_step(l)).count();
    // Lines that were added only say where cotangents are, and are no code of the gradient.
    let added: Vec<usize> = lines
        .iter()
        .find(|line| line.starts_with("unfold"))
        .map(|line| line.split(' ').skip(1).filter_map(|n| n.parse().ok()).collect())
        .unwrap_or_default();
    let code: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("code")).collect();
    let own: Vec<usize> =
        code.iter().enumerate().filter(|(k, _)| !added.contains(&(n_program + k))).map(|(_, at)| *at).collect();
    for _ in 0..50 {
        let kind = rng.below(4);
        if kind == 3 {
            let at = lines.iter().position(|line| line.starts_with("places"))?;
            let mut places: Vec<String> = lines[at].split(' ').map(str::to_owned).collect();
            let input = 1 + rng.below(n_inputs.max(1));
            let other = format!("{}", rng.below(n_program + code.len()));
            if places.get(input)? == &other {
                continue;
            }
            let what = format!("the cotangent of input {} at {other} in place of {}", input - 1, places[input]);
            places[input] = other;
            lines[at] = places.join(" ");
            return Some(Broken { what, text: joined(&lines) });
        }
        if own.is_empty() {
            continue;
        }
        let at = rng.choice(&own);
        let line = lines[at].strip_prefix("code ")?.to_owned();
        let changed = match kind {
            0 => first_operand(&line, &["Add", "Sub"]),
            1 => first_operand(&line, &["Mul", "Div"]),
            // The opposite of zero is zero.
            _ => (line != "(Q 0 1)").then(|| format!("(Neg {line})")),
        };
        let Some(changed) = changed else { continue };
        let what = format!("{changed} in place of {line}");
        lines[at] = format!("code {changed}");
        return Some(Broken { what, text: joined(&lines) });
    }
    None
}

fn is_step(line: &str) -> bool {
    ["use ", "constant ", "choice "].iter().any(|word| line.starts_with(word))
}

fn joined(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// `a` of `(Add a b)`, if the term is one of these.
fn first_operand(term: &str, heads: &[&str]) -> Option<String> {
    let inner = heads.iter().find_map(|head| term.strip_prefix(&format!("({head} ")))?;
    let mut depth = 0usize;
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 && (c == ')' || c == ' ') {
            return Some(inner[..=at].trim().to_owned());
        }
    }
    None
}
