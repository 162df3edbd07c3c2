//! Minimum cut of a flow network, by Dinic's algorithm.

use std::collections::VecDeque;

/// The capacity of an edge that is never cut.
const NEVER: u64 = u64::MAX / 4;
/// The greatest capacity of others: a million of them are less than one that is never cut.
const MOST: u64 = 1 << 40;

/// A directed network with capacities.
#[derive(Debug, Default)]
pub(crate) struct Network {
    /// The edges that leave each node, by position in `edges`.
    leaving: Vec<Vec<usize>>,
    /// Every edge is followed by its reverse.
    edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: usize,
    /// What can still flow.
    left: u64,
}

impl Network {
    /// A new node.
    pub(crate) fn node(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.leaving.len() - 1
    }

    /// A new edge. Capacities beyond some limit are all alike.
    pub(crate) fn edge(&mut self, from: usize, to: usize, capacity: u64) {
        self.connect(from, to, capacity.min(MOST));
    }

    /// A new edge that is never cut. Every way from the source to the sink needs one that can be.
    pub(crate) fn tie(&mut self, from: usize, to: usize) {
        self.connect(from, to, NEVER);
    }

    fn connect(&mut self, from: usize, to: usize, capacity: u64) {
        self.leaving[from].push(self.edges.len());
        self.edges.push(Edge { to, left: capacity });
        self.leaving[to].push(self.edges.len());
        self.edges.push(Edge { to: from, left: 0 });
    }

    /// For each node whether it is on the side of the source in the minimum cut nearest to the sink.
    pub(crate) fn cut(mut self, source: usize, sink: usize) -> Vec<bool> {
        while let Some(levels) = self.levels(source, sink) {
            self.saturate(&levels, source, sink);
        }
        let mut reaches_sink = vec![false; self.leaving.len()];
        reaches_sink[sink] = true;
        let mut work = vec![sink];
        while let Some(at) = work.pop() {
            for e in &self.leaving[at] {
                let from = self.edges[*e].to;
                if self.edges[e ^ 1].left > 0 && !std::mem::replace(&mut reaches_sink[from], true) {
                    work.push(from);
                }
            }
        }
        reaches_sink.into_iter().map(|reaches| !reaches).collect()
    }

    /// The distances from the source, if something can still flow to the sink.
    fn levels(&self, source: usize, sink: usize) -> Option<Vec<usize>> {
        let mut levels = vec![usize::MAX; self.leaving.len()];
        levels[source] = 0;
        let mut work = VecDeque::from([source]);
        while let Some(at) = work.pop_front() {
            for e in &self.leaving[at] {
                let Edge { to, left } = self.edges[*e];
                if left > 0 && levels[to] == usize::MAX {
                    levels[to] = levels[at] + 1;
                    work.push_back(to);
                }
            }
        }
        (levels[sink] != usize::MAX).then_some(levels)
    }

    /// Fills all shortest paths.
    fn saturate(&mut self, levels: &[usize], source: usize, sink: usize) {
        let mut next = vec![0; self.leaving.len()];
        let mut path: Vec<usize> = Vec::new();
        loop {
            let at = path.last().map_or(source, |e| self.edges[*e].to);
            if at == sink {
                let flow = path.iter().map(|e| self.edges[*e].left).min().unwrap_or(0);
                for e in path.drain(..) {
                    self.edges[e].left -= flow;
                    self.edges[e ^ 1].left += flow;
                }
                continue;
            }
            let ahead = self.leaving[at].get(next[at]).copied();
            match ahead {
                Some(e) if self.edges[e].left > 0 && levels[self.edges[e].to] == levels[at] + 1 => path.push(e),
                Some(_) => next[at] += 1,
                None => match path.pop() {
                    // The edge to a node from which nothing leads on.
                    Some(e) => next[self.edges[e ^ 1].to] += 1,
                    None => return,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network of edges between the nodes 0 (source), 1 (sink) and others: its cut.
    fn cut(n: usize, edges: &[(usize, usize, u64)]) -> Vec<bool> {
        let mut network = Network::default();
        (0..n).for_each(|_| {
            network.node();
        });
        edges.iter().for_each(|(from, to, capacity)| match *capacity {
            NEVER => network.tie(*from, *to),
            capacity => network.edge(*from, *to, capacity),
        });
        network.cut(0, 1)
    }

    #[test]
    fn the_cheapest_edges_separate_the_source_from_the_sink() {
        let found = cut(4, &[(0, 2, NEVER), (2, 3, 5), (3, 1, 7), (2, 1, 1)]);
        assert_eq!(found, [true, false, true, false]);
    }

    #[test]
    fn of_equal_cuts_the_one_next_to_the_sink_is_taken() {
        let found = cut(4, &[(0, 2, NEVER), (2, 3, 5), (3, 1, 5)]);
        assert_eq!(found, [true, false, true, true]);
    }

    #[test]
    fn edges_that_are_never_cut_stay_whatever_others_cost() {
        // Two ways that share an edge to the sink, each of them tied up to there.
        let found =
            cut(5, &[(0, 2, NEVER), (0, 3, NEVER), (2, 4, NEVER), (3, 4, NEVER), (4, 1, u64::MAX), (3, 1, u64::MAX)]);
        assert_eq!(found, [true, false, true, true, true]);
    }

    #[test]
    fn flow_finds_its_way_back() {
        // The shortest path takes the edge from 2 to 3, which the best flow does not use.
        let edges = [(0, 2), (2, 3), (3, 1), (2, 4), (4, 5), (5, 1), (0, 6), (6, 7), (7, 3)];
        let edges = edges.map(|(from, to)| (from, to, 1));
        let found = cut(8, &edges);
        let value: u64 = edges.iter().filter(|(from, to, _)| found[*from] && !found[*to]).map(|e| e.2).sum();
        assert_eq!(value, 2);
    }
}
