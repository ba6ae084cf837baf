//! The first of two passes over the bytes, where words are left out by how many documents have them.

use std::sync::{Arc, Mutex};

use crossbeam_channel::Receiver;

use super::catalog::Listed;
use super::document::Workbench;
use super::ingest::{Reading, Weighed};
use super::keep::Keeper;
use super::resume::{Done, Journal};
use crate::document::Document;
use crate::error::{Error, Result};
use crate::exec::{Exec, Observer, Way, give_back};
use crate::learn::Frequencies;
use crate::normalize::CommonWords;
use crate::plan::Plan;
use crate::run::Stage;

/// What reads is what learns, for now.
struct Learning<'a>(&'a dyn Observer);

impl Observer for Learning<'_> {
    fn advance(&self, _stage: Stage, amount: u64) {
        self.0.advance(Stage::Learn, amount);
    }
}

/// Counts in how many documents each word is, and says which words are in too many.
pub(super) fn common_words(
    plan: &Plan,
    exec: &Exec<'_>,
    listed: &[Listed],
    memory: &[(Vec<Document>, bool)],
    min_idf: f64,
) -> Result<CommonWords> {
    let total: u64 = listed.iter().map(|listed| listed.file.bytes).sum();
    exec.stage(Stage::Learn, (total > 0).then_some(total), || {
        let observer = Learning(exec.observer);
        let exec = Exec {
            threads: exec.threads,
            observer: &observer,
            cancel: Arc::clone(&exec.cancel),
            memory: exec.memory,
            ..Exec::default()
        };
        let keeper = Keeper::new(plan, &exec, Journal::new(plan, listed, &[])?, Way::Cached, false);
        let reading = Reading { plan, exec: &exec, listed, keeper: &keeper };
        let all = Mutex::new(Frequencies::default());
        let (_, fed) = reading.share_out(Vec::new(), memory, Done::default(), |units| count(&reading, units, &all))?;
        fed?;
        exec.check()?;
        let all = all.into_inner().map_err(|_| Error::Bug("a thread failed while it counted words".into()))?;
        Ok(all.common(min_idf))
    })
}

fn count(reading: &Reading<'_>, units: &Receiver<Weighed>, all: &Mutex<Frequencies>) -> Result<()> {
    let bench = || Workbench::counting(reading.plan, reading.keeper.most_work());
    let mut workbench = bench();
    reading.each_unit(units, |unit, _| {
        reading.work_on(unit, &mut workbench);
        reading.check_weight(&workbench)?;
        let mut all = all.lock().map_err(|_| Error::Bug("a thread failed while it counted words".into()))?;
        all.take(workbench.counted(), reading.exec.memory)?;
        if reading.keeper.is_heavy(workbench.bytes()) {
            workbench = bench();
            give_back();
        }
        Ok(())
    })
}
