//! The numbers of a text file, one after another.

use anyhow::{Context, Result, bail, ensure};
use cotan::host::HostValue;
use cotan::host::Value;
use std::str::FromStr;

/// What is left of a file. Errors count the tokens from 1.
pub(super) struct Tokens<'a> {
    rest: Box<dyn Iterator<Item = &'a str> + 'a>,
    position: usize,
}

impl<'a> Tokens<'a> {
    /// The words of a text.
    pub(super) fn words(text: &'a str) -> Tokens<'a> {
        Tokens { rest: Box::new(text.split_whitespace()), position: 0 }
    }

    /// The parts of a line between colons.
    pub(super) fn fields(line: &'a str) -> Tokens<'a> {
        Tokens { rest: Box::new(line.trim().split(':')), position: 0 }
    }

    pub(super) fn word(&mut self) -> Result<&'a str> {
        self.position += 1;
        let Some(token) = self.rest.next() else { bail!("expected token {}, found the end", self.position) };
        Ok(token)
    }

    pub(super) fn next<T: FromStr>(&mut self) -> Result<T> {
        let token = self.word()?;
        token.parse().ok().with_context(|| format!("token {}: expected a number, found `{token}`", self.position))
    }

    pub(super) fn size(&mut self) -> Result<usize> {
        let n: u32 = self.next()?;
        Ok(n as usize)
    }

    pub(super) fn floats(&mut self, n: usize) -> Result<Vec<f64>> {
        (0..n).map(|_| self.next()).collect()
    }

    pub(super) fn tensor(&mut self, dims: &[usize]) -> Result<HostValue> {
        let count = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).context("sizes overflow")?;
        let elements = self.floats(count)?;
        Ok(tensor(dims, &elements))
    }

    /// Nothing may be left.
    pub(super) fn end(mut self) -> Result<()> {
        ensure!(self.rest.next().is_none(), "expected the end after token {}", self.position);
        Ok(())
    }
}

/// A tensor of f64.
pub(super) fn tensor(dims: &[usize], elements: &[f64]) -> HostValue {
    HostValue::f64s(&extents(dims), elements)
}

/// A tensor of i64.
pub(super) fn integers(dims: &[usize], elements: &[i64]) -> HostValue {
    HostValue::Tensor(Value::i64s(&extents(dims), elements))
}

fn extents(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|d| *d as i64).collect()
}
