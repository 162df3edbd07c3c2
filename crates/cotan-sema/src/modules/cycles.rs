//! Modules that import themselves, directly or by way of others.

use cotan_syntax::{Diagnostic, FileId, SourceMap};

use super::{Edge, ModuleId};
use crate::codes;

/// An error for each import that closes a cycle.
pub(super) fn find(edges: &[Edge], sources: &SourceMap) -> Vec<Diagnostic> {
    let n = edges.iter().map(|edge| edge.from.0.max(edge.to.0) + 1).max().unwrap_or(0) as usize;
    let mut imports: Vec<Vec<Edge>> = vec![Vec::new(); n];
    for edge in edges {
        imports[edge.from.0 as usize].push(*edge);
    }
    let mut is_done = vec![false; n];
    // How far down the way each module stands.
    let mut place: Vec<Option<usize>> = vec![None; n];
    // The way to the module that is looked at, with how many of its imports have been followed.
    let mut path: Vec<(ModuleId, usize)> = Vec::new();
    let mut errors = Vec::new();
    // Every module is imported from the first one, by some way.
    path.extend((n > 0).then_some((ModuleId(0), 0)));
    place.iter_mut().take(1).for_each(|place| *place = Some(0));
    while let Some((module, next)) = path.last_mut() {
        let module = *module;
        let Some(edge) = imports[module.0 as usize].get(*next).copied() else {
            is_done[module.0 as usize] = true;
            place[module.0 as usize] = None;
            path.pop();
            continue;
        };
        *next += 1;
        if let Some(start) = place[edge.to.0 as usize] {
            let cycle: Vec<ModuleId> = path[start..].iter().map(|(open, _)| *open).collect();
            errors.push(error(&cycle, edge, sources));
        } else if !is_done[edge.to.0 as usize] {
            place[edge.to.0 as usize] = Some(path.len());
            path.push((edge.to, 0));
        }
    }
    errors
}

fn error(cycle: &[ModuleId], closing: Edge, sources: &SourceMap) -> Diagnostic {
    let name = |module: &ModuleId| sources.get(FileId(module.0)).map_or("?", |file| file.name());
    let names: Vec<String> = cycle.iter().chain([&closing.to]).map(|module| format!("`{}`", name(module))).collect();
    let message = format!("expected modules that don't import themselves, found that {}", names.join(" imports "));
    Diagnostic::error(codes::MODULE_CYCLE, closing.span, message).help("move what both need into a module of its own")
}
