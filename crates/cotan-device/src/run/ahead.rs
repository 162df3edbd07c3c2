//! Rounds that are queued ahead of what the host knows (speculative execution): twice as many each time, up to a limit, and what it
//! knew behind each of them is kept until the device has told which of them were.

use super::Host;
use crate::device::{Device, RunError};
use crate::plan::Rounds;

/// The most rounds that are queued before the host waits.
const MOST: u64 = 64;

impl<'h, D: Device> Host<'h, D> {
    /// Takes rounds until one has ended the loop.
    pub(super) fn rounds(&mut self, rounds: &'h Rounds) -> Result<(), RunError> {
        let cells = [self.cell(rounds.live)?, self.cell(rounds.count)?];
        let (mut before, mut n_ahead) = (0, 1);
        loop {
            let mut states = Vec::new();
            let mut outcome = Ok(());
            while outcome.is_ok() && (states.len() as u64) < n_ahead {
                states.push(self.state.clone());
                let may = self.spend();
                outcome = self.behind_kernels(may).and_then(|()| self.list(&rounds.body));
            }
            // A device that can't tell any more has failed in front of what the host has met.
            let [is_live, count] = self.device.scalars(cells)?;
            if is_live != 0 {
                // What the host has met is met by a round that is.
                outcome?;
            } else {
                let n_taken = usize::try_from(count.saturating_sub(before)).unwrap_or(usize::MAX);
                if let Some(state) = states.into_iter().nth(n_taken) {
                    self.state = state;
                }
                return Ok(());
            }
            (before, n_ahead) = (count, (2 * n_ahead).min(MOST));
        }
    }
}
