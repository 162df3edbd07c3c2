//! Generators, oracles and tolerances for tests.
