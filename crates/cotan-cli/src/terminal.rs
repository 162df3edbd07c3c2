//! What is only for people at a terminal: colours and progress.

use cotan::diagnostics::{Style, visible_line};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Work that takes longer is told of.
const A_WHILE: Duration = Duration::from_secs(2);

/// How messages on stderr look.
pub(crate) fn style() -> Style {
    if has_colours(&std::io::stderr()) { Style::Coloured } else { Style::Plain }
}

/// Whether a person sees what is written to stderr.
pub(crate) fn shows_stderr() -> bool {
    std::io::stderr().is_terminal()
}

/// A word on stdout for something that went well.
pub(crate) fn good(word: &str) -> String {
    on_stdout(word, "32")
}

/// A word on stdout for something that failed.
pub(crate) fn bad(word: &str) -> String {
    on_stdout(word, "1;31")
}

fn on_stdout(word: &str, colour: &str) -> String {
    if has_colours(&std::io::stdout()) { format!("\x1b[{colour}m{word}\x1b[0m") } else { word.to_owned() }
}

/// Whether a stream shows colours: it is a terminal that can, and `NO_COLOR` does not say no.
fn has_colours(stream: &impl IsTerminal) -> bool {
    let is_declined = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    stream.is_terminal() && !is_declined && !is_dumb
}

/// A bar of so many steps, which only a terminal shows.
pub(crate) fn bar(n_steps: usize, task: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(n_steps as u64), draw_target());
    let colour = if style() == Style::Coloured { ".cyan" } else { "" };
    let template = format!("{{msg}} {{bar:30{colour}}} {{pos}}/{{len}}");
    if let Ok(look) = ProgressStyle::with_template(&template) {
        bar.set_style(look);
    }
    bar.set_message(task);
    bar
}

/// A line that says what takes long, which only a terminal shows. It stands still, so that it takes no time from what
/// is measured.
pub(crate) fn status(task: &'static str) -> ProgressBar {
    let line = ProgressBar::with_draw_target(None, draw_target());
    if let Ok(look) = ProgressStyle::with_template("{msg}") {
        line.set_style(look);
    }
    line.set_message(task);
    line.tick();
    line
}

/// Says on a terminal what takes long, once it has taken a while; dropped when it is done.
pub(crate) struct LongWork(Option<Sender<()>>);

/// Work that is told of if it takes long. The line is plain: a program may print while it runs.
pub(crate) fn tell_of_long_work(task: &str) -> LongWork {
    if !shows_stderr() {
        return LongWork(None);
    }
    let ((done, is_done), line) = (channel(), task.to_owned());
    std::thread::spawn(move || {
        if is_done.recv_timeout(A_WHILE) == Err(RecvTimeoutError::Timeout) {
            let _ = writeln!(std::io::stderr(), "{}", visible_line(&line));
        }
    });
    LongWork(Some(done))
}

impl Drop for LongWork {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            // Whoever has told already listens no more.
            let _ = done.send(());
        }
    }
}

fn draw_target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
