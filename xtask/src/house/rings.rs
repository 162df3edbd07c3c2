//! Strongly connected components of imports: files of a crate that import each other in a ring.

use super::modules::Modules;
use super::source::Crate;
use std::collections::BTreeMap;

/// The rings of all crates, each by its files; the longest first.
pub(super) fn rings(crates: &[Crate]) -> Vec<Vec<String>> {
    let mut rings: Vec<Vec<String>> = crates.iter().flat_map(rings_of).collect();
    rings.sort_by_key(|ring| std::cmp::Reverse(ring.len()));
    rings
}

fn rings_of(one: &Crate) -> Vec<Vec<String>> {
    let modules = Modules::of(one);
    let edges: Vec<Vec<usize>> = (0..one.files.len()).map(|k| modules.imports(one, k)).collect();
    let components = components(&edges).into_iter().filter(|files| files.len() > 1);
    let path = |k: &usize| one.files.get(*k).map(|file| file.path.clone()).unwrap_or_default();
    components.map(|files| files.iter().map(path).collect()).collect()
}

/// Strongly connected components of a graph (Tarjan 1972).
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    struct Search<'a> {
        edges: &'a [Vec<usize>],
        /// When each was found; the earliest that each reaches.
        found: BTreeMap<usize, (usize, usize)>,
        open: Vec<usize>,
        done: Vec<Vec<usize>>,
    }
    impl Search<'_> {
        fn visit(&mut self, k: usize) -> usize {
            let number = self.found.len();
            self.found.insert(k, (number, number));
            self.open.push(k);
            let mut low = number;
            for &next in self.edges.get(k).into_iter().flatten() {
                match self.found.get(&next) {
                    None => low = low.min(self.visit(next)),
                    Some((other, _)) if self.open.contains(&next) => low = low.min(*other),
                    Some(_) => {}
                }
            }
            if low == number {
                let from = self.open.iter().position(|open| *open == k).unwrap_or_default();
                let mut component = self.open.split_off(from);
                component.sort_unstable();
                self.done.push(component);
            }
            low
        }
    }
    let mut search = Search { edges, found: BTreeMap::new(), open: Vec::new(), done: Vec::new() };
    for k in 0..edges.len() {
        if !search.found.contains_key(&k) {
            search.visit(k);
        }
    }
    search.done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_those_that_reach_each_other() {
        let edges = [vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![0]];
        let mut found: Vec<Vec<usize>> = components(&edges).into_iter().filter(|one| one.len() > 1).collect();
        found.sort();
        assert_eq!(found, [vec![0, 1, 2], vec![3, 4]]);
    }
}
