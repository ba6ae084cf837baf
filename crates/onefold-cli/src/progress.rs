//! Progress on standard error, for people; stage timings for the manifest.

use std::sync::Mutex;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use onefold::{Observer, Stage};

use crate::numbers::to_milliseconds;

/// Watches a run.
pub struct Progress {
    shown: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bar: Option<ProgressBar>,
    began: Option<Instant>,
    timings: Vec<(Stage, f64)>,
}

impl Progress {
    /// Draws only where `shown`.
    pub fn new(shown: bool) -> Self {
        Progress { shown, state: Mutex::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.state.lock().ok().map(|mut state| work(&mut state))
    }
}

/// What a stage does, in words.
fn label(stage: Stage) -> &'static str {
    match stage {
        Stage::Read => "reading",
        Stage::Learn => "counting",
        Stage::Fingerprint => "indexing",
        Stage::Join => "comparing",
        Stage::Rank => "ranking",
        Stage::Cluster => "clustering",
        Stage::Report => "writing",
        other => other.name(),
    }
}

fn style(stage: Stage, known: bool) -> ProgressStyle {
    let template = match (stage, known) {
        // Other stages know their size where they read inputs, too.
        (Stage::Read | Stage::Learn | Stage::Report, true) => {
            "{msg:18} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta} left"
        }
        (Stage::Read, false) => "{msg:18} {spinner} {bytes} {bytes_per_sec}",
        (_, true) => "{msg:18} {bar:30} {human_pos}/{human_len} {per_sec} {eta} left",
        (_, false) => "{msg:18} {spinner} {elapsed}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Observer for Progress {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        self.with(|state| {
            state.began = Some(Instant::now());
            if self.shown {
                let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.set_style(style(stage, total.is_some()));
                bar.set_message(label(stage));
                bar.enable_steady_tick(std::time::Duration::from_millis(120));
                state.bar = Some(bar);
            }
        });
    }

    fn advance(&self, _stage: Stage, amount: u64) {
        if self.shown {
            self.with(|state| state.bar.as_ref().inspect(|bar| bar.inc(amount)).is_some());
        }
    }

    fn end(&self, stage: Stage) {
        self.with(|state| {
            if let Some(bar) = state.bar.take() {
                bar.finish_and_clear();
            }
            if let Some(began) = state.began.take() {
                let seconds = began.elapsed().as_secs_f64();
                // A stage may be entered twice.
                match state.timings.iter_mut().find(|(known, _)| *known == stage) {
                    Some((_, before)) => *before = to_milliseconds(*before + seconds),
                    None => state.timings.push((stage, to_milliseconds(seconds))),
                }
            }
        });
    }

    fn timings(&self) -> Vec<(Stage, f64)> {
        self.with(|state| state.timings.clone()).unwrap_or_default()
    }
}
