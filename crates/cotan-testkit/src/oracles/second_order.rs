//! Second derivatives: the four ways to one agree, and it does not matter in which order the directions are taken.

use super::Verdict;
use crate::derived_case::{Case, second_orders};
use crate::tolerances::{Property, close, tolerance};
use cotan_ir::Mode;

/// Forward over forward, forward over reverse, reverse over forward and reverse over reverse give one number; so does
/// the first of them with its two directions exchanged (the Hessian is symmetric). The case is derived twice.
pub fn second_order(case: &Case) -> Verdict {
    Verdict::of((|| {
        let mut found = Vec::new();
        for (outer, inner) in second_orders() {
            let (value, scale) = case.second_derivative(outer, inner)?;
            found.push((format!("{} of {}", name(outer), name(inner)), value, scale));
        }
        let mut exchanged = case.clone();
        std::mem::swap(&mut exchanged.tangents, &mut exchanged.second_tangents);
        let (value, scale) = exchanged.second_derivative(Mode::Jvp, Mode::Vjp)?;
        found.push(("jvp of vjp, directions exchanged".to_owned(), value, scale));

        let tolerance = tolerance(Property::SecondOrder, case.elem());
        let scale = found.iter().fold(0.0, |m: f64, (_, _, s)| if s.is_finite() { m.max(*s) } else { m });
        let (first_name, first, _) = &found[0];
        match found.iter().find(|(_, value, _)| !close(*first, *value, scale, tolerance)) {
            None => Ok(()),
            Some((name, value, _)) => Err(format!("second derivative: {first} by {first_name}, {value} by {name}")),
        }
    })())
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Jvp => "jvp",
        Mode::Vjp => "vjp",
    }
}
