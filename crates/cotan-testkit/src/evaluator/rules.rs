//! Rules that a program gives for its functions: what `@vjp_for` and `@jvp_for` say in place of the derivative of the
//! body. A rule is asked by the derivative of its own mode that was begun last; the other mode differentiates the body.

use super::Machine;
use super::derivatives::floats;
use super::frame::{Closure, Frame, Generic};
use super::number::{Number, Tag, Tangents, add};
use super::value::{Flow, Value, bug, needed};
use cotan_sema::typed::{DerivativeMode, Function};
use std::collections::BTreeSet;
use std::rc::Rc;

impl<'p> Machine<'p> {
    /// The value of a function with its tangents by a rule, if one is to be asked.
    pub(super) fn by_rule(
        &mut self,
        callee: &Closure<'p>,
        function: &'p Function,
        generics: &[Generic],
        args: &[Value],
        functions: &[Option<Closure<'p>>],
    ) -> Flow<Option<Value>> {
        // Types are those of the body that the call stands in.
        self.in_frame(callee.frame.clone(), |machine| by_own_rule(machine, callee, function, generics, args, functions))
    }
}

fn by_own_rule<'p>(
    machine: &mut Machine<'p>,
    callee: &Closure<'p>,
    function: &'p Function,
    generics: &[Generic],
    args: &[Value],
    functions: &[Option<Closure<'p>>],
) -> Flow<Option<Value>> {
    let lifted = function.params.iter().zip(args).filter(|(param, _)| !param.nodiff);
    let tags = lifted.flat_map(|(_, arg)| floats(arg)).filter_map(|x| x.tag()).max();
    let Some(tag) = tags else { return Ok(None) };
    let mode = machine.mode(tag);
    let rule = match mode {
        DerivativeMode::Forward => &function.rules.jvp,
        DerivativeMode::Reverse => &function.rules.vjp,
    };
    let Some(rule) = rule else { return Ok(None) };
    needed(args)?;
    let frame = Rc::new(Frame { generics: generics.to_vec(), ..Frame::default() });
    let rule = Closure { callable: rule, frame };
    let primals: Vec<Value> = args.iter().map(|arg| arg.map(&mut |x| x.primal(tag))).collect();
    let value = machine.apply(callee, primals.clone(), functions)?;
    needed([&value])?;
    let is_active =
        |k: &usize| !function.params[*k].nodiff && !machine.program.tangent(&function.params[*k].ty).is_unit();
    let active: Vec<usize> = (0..args.len()).filter(is_active).collect();
    let rule = Rule { callee, closure: rule, functions, tag, args, primals, active };
    let tangents = match mode {
        DerivativeMode::Forward => tangents_by_jvp(machine, &rule, &value)?,
        DerivativeMode::Reverse => tangents_by_vjp(machine, &rule, &value)?,
    };
    let mut tangents = tangents.into_iter();
    Ok(Some(value.map(&mut |y| match y.elem().is_float() {
        true => Number::with(y.clone(), tag, tangents.next().unwrap_or_default()),
        false => y.clone(),
    })))
}

/// The tangents of each float of the value: for each direction the rule is asked once.
fn tangents_by_jvp<'p>(machine: &mut Machine<'p>, rule: &Rule<'_, 'p>, value: &Value) -> Flow<Vec<Tangents>> {
    let mut all = vec![Tangents::new(); floats(value).len()];
    let xs: Vec<Number> = rule.active.iter().flat_map(|k| floats(&rule.args[*k])).collect();
    let directions: BTreeSet<usize> = xs.iter().flat_map(|x| x.tangents(rule.tag).into_keys()).collect();
    for direction in directions {
        let mut args = rule.primals.clone();
        for k in &rule.active {
            let ty = &rule.callee.callable.params[*k];
            args.push(
                machine.tangent_of(ty, &rule.args[*k], &mut |x| x.tangent(rule.tag, direction).converted(x.elem()))?,
            );
        }
        let given = machine.apply(&rule.closure, args, rule.functions)?;
        let tangents = floats(&given.field(1)?);
        if tangents.len() != all.len() {
            return bug("a rule gives a tangent of another structure than the value");
        }
        all.iter_mut().zip(tangents).for_each(|(all, tangent)| add(all, direction, tangent.computed()));
    }
    Ok(all)
}

/// The tangents of each float of the value: for each of them the rule is asked once.
fn tangents_by_vjp<'p>(machine: &mut Machine<'p>, rule: &Rule<'_, 'p>, value: &Value) -> Flow<Vec<Tangents>> {
    let mut all = Vec::new();
    let xs: Vec<Number> = rule.active.iter().flat_map(|k| floats(&rule.args[*k])).collect();
    for (k, y) in floats(value).iter().enumerate() {
        let mut at = 0;
        let cotangent = machine.tangent_of(&rule.callee.callable.result, value, &mut |y| {
            at += 1;
            if at - 1 == k { Number::one(y.elem()) } else { Number::zero(y.elem()) }
        })?;
        let args = [rule.primals.clone(), vec![value.clone(), cotangent]].concat();
        let cotangents = floats(&machine.apply(&rule.closure, args, rule.functions)?);
        if cotangents.len() != xs.len() {
            return bug("a rule gives cotangents of another structure than the arguments");
        }
        let mut tangents = Tangents::new();
        for (x, cotangent) in xs.iter().zip(&cotangents) {
            for (direction, tangent) in x.tangents(rule.tag) {
                add(&mut tangents, direction, tangent.times(&cotangent.computed()).converted(y.elem().computed()));
            }
        }
        all.push(tangents);
    }
    Ok(all)
}

/// One call of a function that has a rule.
struct Rule<'a, 'p> {
    callee: &'a Closure<'p>,
    closure: Closure<'p>,
    /// What is given for parameters of function type.
    functions: &'a [Option<Closure<'p>>],
    tag: Tag,
    args: &'a [Value],
    primals: Vec<Value>,
    /// The parameters that have a derivative.
    active: Vec<usize>,
}
