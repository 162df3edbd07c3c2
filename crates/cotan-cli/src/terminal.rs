//! What is only for people at a terminal: colours and progress, both on stderr.

use cotan::syntax::render::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Whether messages have colours: on a terminal that can show them, unless `NO_COLOR` says no.
pub(crate) fn style() -> Style {
    let is_declined = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    if std::io::stderr().is_terminal() && !is_declined && !is_dumb { Style::Coloured } else { Style::Plain }
}

/// A bar of so many steps, which only a terminal shows.
pub(crate) fn bar(n_steps: usize, task: &'static str) -> ProgressBar {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(n_steps as u64), target);
    let colour = if style() == Style::Coloured { ".cyan" } else { "" };
    let template = format!("{{msg}} {{bar:30{colour}}} {{pos}}/{{len}}");
    if let Ok(look) = ProgressStyle::with_template(&template) {
        bar.set_style(look);
    }
    bar.set_message(task);
    bar
}
