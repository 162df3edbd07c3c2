//! Tests that read the op table and nothing else: a new row is covered by being there.

mod denotations;
mod derivatives;
mod fields;
mod kinks;
mod rows;
mod samples;
mod tensors;
mod values;
