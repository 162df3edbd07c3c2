//! Tests that read the op table and nothing else: a new row is covered by being there.

mod derivatives;
mod fields;
mod kinks;
mod meanings;
mod rows;
mod samples;
mod tensors;
mod values;
