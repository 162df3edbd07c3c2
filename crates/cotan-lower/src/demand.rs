//! Demand-driven lowering of the rules of functions that take functions.
//!
//! A call of such a function is specialised, and so are its rules. A rule may call functions with rules again: that of a
//! linear solve calls a solve with the transpose, whose rule calls one with the transpose of that, without end. So a
//! call becomes an IR function without rules (closure conversion), and a rule is lowered where a derivative that the
//! program asks for differentiates the call. Each rule is used up by one order of derivatives, so that ends.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use cotan_ir::{Env, Function as IrFunction, Item, Mode, Symbol, bug, free_vars};

use super::body::{Body, Closure, Value, ir_span};
use super::calls::{Inlined, Lead};
use super::closures::Start;
use super::derivatives::leads_of;
use super::rules::{Ruled, jvp_rule, vjp_rule};
use super::{Instance, Lowering, Result, Signature};
use cotan_sema::typed::{Callable, Function, GenericArg};

/// A call of a function that takes functions and has rules, as an IR function.
pub(super) struct RuledCall<'p> {
    source: &'p Function,
    callee: Closure<'p>,
    generics: &'p [GenericArg],
    functions: Vec<Option<Closure<'p>>>,
    /// How the function begins, and its rules too.
    start: Start<'p>,
    instance: Instance,
}

/// A function, and the derivatives that are taken of it, innermost first.
type Need = (Symbol, Vec<Mode>);

impl<'p> Body<'_, 'p> {
    /// A call of a function that takes functions and has rules.
    pub(super) fn ruled_call(&mut self, call: Inlined<'_, 'p>, args: &[Value]) -> Result<Value> {
        let source = call.source;
        let symbol = self.lowering.free_symbol(&format!("{}.{}", self.symbol, source.name));
        let mut outside = Vec::new();
        for function in call.functions.iter().flatten() {
            let leads = leads_of(self, *function)?;
            outside.extend(leads.into_iter().filter_map(|lead| if let Lead::Atom(a) = lead { Some(a) } else { None }));
        }
        for generic in call.generics {
            if let GenericArg::Size(dim) = generic {
                outside.extend(self.in_frame(call.callee.frame, |body| body.size(dim)));
            }
        }
        let start = self.start(call.callee, symbol);
        let mut inner = start.body(&mut *self.lowering);
        let value = inner.inlined(call, start.args.clone(), |body| body.function_value(source))?;
        let (mut function, results) = start.function(inner.code, value);
        // Rules read what the functions read that are given.
        let used = &start.read_by(&function) | &start.captured_from(&outside);
        function.params = start.params(&used);
        let leads = start.leads(&used);
        let function = self.lowering.module.insert(function);
        let instance = Instance { function, signature: Signature { extents: Vec::new(), results } };
        let value = self.code.call_of(&instance, &leads, args);
        let functions = call.functions.to_vec();
        let Inlined { callee, generics, .. } = call;
        let ruled = RuledCall { source, callee, generics, functions, start, instance };
        self.lowering.ruled.insert(ruled.start.symbol.clone(), Rc::new(ruled));
        Ok(value)
    }
}

impl<'p> Lowering<'p> {
    /// Lowers the rules that derivatives in these functions use and, where the host differentiates a function, those of it.
    pub(super) fn lower_demanded_rules(&mut self, roots: impl Iterator<Item = (Symbol, bool)>) -> Result<()> {
        if self.ruled.is_empty() {
            return Ok(());
        }
        let mut seen: HashSet<Need> = HashSet::new();
        let mut open: VecDeque<Need> = VecDeque::new();
        for (root, is_differentiated) in roots {
            if is_differentiated {
                open.extend([Mode::Jvp, Mode::Vjp].map(|mode| (root.clone(), vec![mode])));
            }
            open.push_back((root, Vec::new()));
        }
        while let Some(need) = open.pop_front() {
            if !seen.insert(need.clone()) {
                continue;
            }
            let (name, modes) = need;
            match self.module.items.get(&name).cloned() {
                Some(Item::Derived(d)) => open.push_back((d.of, [&[d.mode], modes.as_slice()].concat())),
                Some(Item::Function(f)) => self.needs_of_function(&f, &modes, &mut open)?,
                None => bug!("demand", name, "a call of a function that the module lacks"),
            }
        }
        Ok(())
    }

    /// What a function needs of others for these derivatives.
    fn needs_of_function(&mut self, f: &IrFunction, modes: &[Mode], open: &mut VecDeque<Need>) -> Result<()> {
        // A derivative has what it is the derivative of in it.
        for k in 0..modes.len() {
            open.push_back((f.name.clone(), [&modes[..k], &modes[k + 1..]].concat()));
        }
        let Some((mode, later)) = modes.split_first() else {
            open.extend(f.body.callees().map(|callee| (callee.clone(), Vec::new())));
            return Ok(());
        };
        let rules = self.rules_of(f, *mode)?;
        open.extend(rules.all().map(|rule| (rule.clone(), later.to_vec())));
        if rules.of_mode(*mode).is_none() {
            open.extend(f.body.callees().map(|callee| (callee.clone(), modes.to_vec())));
        }
        Ok(())
    }

    /// The rules of a function that a derivative of this mode looks at: that of the mode or, without one, the other one, which
    /// stands against a change of modes inside of a sweep.
    fn rules_of(&mut self, f: &IrFunction, mode: Mode) -> Result<Rules> {
        let mut rules = Rules { vjp: f.custom_vjp.clone(), jvp: f.custom_jvp.clone() };
        let Some(call) = self.ruled.get(&f.name).cloned() else { return Ok(rules) };
        let of_source = &call.source.rules;
        let other = match mode {
            Mode::Vjp => Mode::Jvp,
            Mode::Jvp => Mode::Vjp,
        };
        let rule = |mode| match mode {
            Mode::Vjp => of_source.vjp.as_ref(),
            Mode::Jvp => of_source.jvp.as_ref(),
        };
        let found = [mode, other].into_iter().find_map(|mode| Some((mode, rule(mode)?)));
        if let Some((mode, rule)) = found
            && rules.of_mode(mode).is_none()
        {
            let name = self.lower_rule(&call, mode, rule)?;
            match mode {
                Mode::Vjp => rules.vjp = Some(name),
                Mode::Jvp => rules.jvp = Some(name),
            }
            let marked = IrFunction { custom_vjp: rules.vjp.clone(), custom_jvp: rules.jvp.clone(), ..f.clone() };
            self.module.insert(marked);
        }
        Ok(rules)
    }

    /// Lowers a rule for one call.
    fn lower_rule(&mut self, call: &RuledCall<'p>, mode: Mode, rule: &'p Callable) -> Result<Symbol> {
        let RuledCall { source, callee, generics, functions, start, instance } = call;
        let suffix = match mode {
            Mode::Vjp => "vjp_rule",
            Mode::Jvp => "jvp_rule",
        };
        let symbol = self.free_symbol(&format!("{}.{suffix}", start.symbol));
        let mut body = start.body(self);
        body.symbol = symbol.clone();
        body.code.b.set_span(ir_span(rule.span));
        let inlined = Inlined { source, callee: *callee, generics, functions };
        let value = body.inlined(inlined, start.args.clone(), |body| {
            // The rule has the variables of the function.
            let ruled = Ruled { function: source, instance, rule, functions, env: Env::new() };
            match mode {
                Mode::Vjp => vjp_rule(body, ruled),
                Mode::Jvp => jvp_rule(body, ruled),
            }
        })?;
        let Body { code, .. } = body;
        let mut adapter = code.b.finish(&symbol, value);
        adapter.params = instance.function.params.iter().chain(&adapter.params).copied().collect();
        if let Some(v) = free_vars(&adapter, &adapter.body, &adapter.params).first() {
            bug!("demand", adapter, "a rule reads `{}`, which its function does not", adapter.name_of(*v));
        }
        self.n_operations += adapter.vars.len();
        self.module.insert(adapter);
        Ok(symbol)
    }
}

/// The names of rules.
struct Rules {
    vjp: Option<Symbol>,
    jvp: Option<Symbol>,
}

impl Rules {
    fn all(&self) -> impl Iterator<Item = &Symbol> {
        self.vjp.iter().chain(&self.jvp)
    }

    fn of_mode(&self, mode: Mode) -> Option<&Symbol> {
        match mode {
            Mode::Vjp => self.vjp.as_ref(),
            Mode::Jvp => self.jvp.as_ref(),
        }
    }
}
