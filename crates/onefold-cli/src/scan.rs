//! `onefold scan`: a collection in, a result folder out.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use anyhow::Result;
use onefold::{ErrorKind, Exec, Format, Input, Memory, Observer, ResultFolder, Source, Spill};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use crate::args::{RoomArgs, ScanArgs, TableFormat, WritingArgs};
use crate::exit::{Done, Usage};
use crate::forecast::Forecast;
use crate::progress::Progress;
use crate::report::{self, RunNotes};
use crate::summary::Summary;
use crate::{output, settings};

static TERMINATED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static RESUMABLE: AtomicBool = AtomicBool::new(false);

/// Whether it was a termination, not Ctrl-C, that stopped us.
pub fn terminated() -> bool {
    TERMINATED.get().is_some_and(|terminated| terminated.load(Ordering::Relaxed))
}

/// Whether a run that stopped can be gone on with.
pub fn resumable() -> bool {
    RESUMABLE.load(Ordering::Relaxed)
}

/// Runs the scan and prints the summary.
pub fn run(args: &ScanArgs) -> Result<Done> {
    let plan = settings::resolve_to_follow(&args.plan)?;
    let memory = memory(&args.room)?;
    let threads = threads(args.threads)?.min(threads_for(memory));
    let began = Instant::now();
    let progress = Progress::new(output::is_watched() && !args.quiet);
    let cancel = signals()?;
    // Only an estimate can do without, and writes nothing there.
    let out = args.out.as_deref().unwrap_or(Path::new("onefold-result"));
    let exec = Exec { threads, observer: &progress, cancel, memory, spill: Some(spill(out, &args.room)?), keep_texts: false };
    let words = |inputs: &[OsString]| inputs.iter().map(|input| input.to_string_lossy().into_owned()).collect();
    let mut folder = result_folder(out, &args.writing, words(&args.inputs), words(&args.against));
    if args.write_kept.as_ref().is_some_and(|kept| kept == out) {
        return Err(Usage(format!("--write-kept and --out must be different folders, not both '{}'", out.display())).into());
    }
    folder.write_kept = args.write_kept.clone();
    let source = source(&args.inputs, &args.against)?;
    if args.estimate {
        let estimate = onefold::estimate(&plan, &exec, source, &folder)?;
        let sampling = progress.timings().iter().map(|(_, seconds)| seconds).sum::<f64>();
        let place = args.room.temp_dir.as_deref().or(args.out.as_deref());
        Forecast { seconds: sampling * estimate.time_factor, estimate: &estimate, place }.print(args.json, args.quiet)?;
        return Ok(Done::Complete);
    }
    if args.room.resume
        && !args.writing.overwrite
        && let Some(saved) = exec.spill.as_ref().map_or(Ok(None), |spill| folder.published_by(spill))?
    {
        if !args.quiet {
            output::error(&format!("'{}' holds the result of this command; there is nothing left to do\n", out.display()));
        }
        return Ok(Done::of(&saved.manifest.counts));
    }
    if args.room.resume && args.inputs.iter().any(|input| input == "-") && exec.spill.as_ref().is_some_and(Spill::has_read_all) {
        output::error("note: all was read before the run was interrupted; standard input is not read again\n");
    }
    let outcome = onefold::run(&plan, &exec, source, &mut folder).inspect_err(|error| {
        let left = error.kind() != ErrorKind::Usage && exec.spill.as_ref().is_some_and(Spill::is_left);
        RESUMABLE.store(left, Ordering::Relaxed);
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let summary = Summary { outcome: &outcome, folder: Some(out), kept: folder.kept.as_ref(), seconds };
    summary.print(args.json, args.quiet)?;
    let done = Done::of(&outcome.counts);
    // The process ends here; millions of small pieces of memory need not be given back one by one.
    std::mem::forget(outcome);
    Ok(done)
}

/// A folder for a result, with its page.
pub fn result_folder(path: &Path, writing: &WritingArgs, inputs: Vec<String>, against: Vec<String>) -> ResultFolder {
    let mut folder = ResultFolder::new(path);
    folder.overwrite = writing.overwrite;
    folder.format = writing.format.map_or_else(Format::default, format);
    folder.command = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    folder.inputs = inputs;
    folder.against = against;
    folder.exclude_list = writing.exclude_list.clone();
    if !writing.no_report {
        // No timings: the same result gives the same page.
        let (command, inputs, format) = (folder.command.clone(), folder.inputs.clone(), folder.format);
        let notes = RunNotes { command, inputs, format, ..RunNotes::default() };
        folder.page = Some(Box::new(move |outcome| Ok(report::from_outcome(outcome, &notes)?.page())));
    }
    folder
}

/// Each thread has buffers of its own: with little memory there are fewer.
fn threads_for(memory: Memory) -> usize {
    const PER_THREAD: u64 = 48 << 20;
    memory.limit().map_or(usize::MAX, |limit| (limit / PER_THREAD).max(1) as usize)
}

fn memory(room: &RoomArgs) -> Result<Memory> {
    Ok(room.memory.as_deref().map_or_else(|| Ok(Memory::half_of_free()), Memory::parse)?)
}

/// The folder for what does not fit in memory: hidden in the output folder, or named after it somewhere else.
fn spill(out: &Path, room: &RoomArgs) -> Result<Spill> {
    let out = std::path::absolute(out)?;
    let folder = match &room.temp_dir {
        None => out.join(".work"),
        Some(folder) if !folder.is_dir() => {
            return Err(Usage(format!("--temp-dir must be a folder that exists, not '{}'", folder.display())).into());
        }
        Some(folder) => {
            let name = blake3::hash(out.as_os_str().as_encoded_bytes()).to_hex();
            std::path::absolute(folder)?.join(format!("onefold-{}", &name[..16]))
        }
    };
    let mut spill = Spill::in_folder(folder);
    spill.resume = room.resume;
    Ok(spill)
}

pub fn threads(asked: Option<usize>) -> Result<usize> {
    match asked {
        Some(threads @ 1..=1024) => Ok(threads),
        Some(other) => Err(Usage(format!("--threads must be from 1 to 1024, not '{other}'")).into()),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

fn format(format: TableFormat) -> Format {
    match format {
        TableFormat::Parquet => Format::Parquet,
        TableFormat::Jsonl => Format::Jsonl,
        TableFormat::Csv => Format::Csv,
    }
}

pub fn source(inputs: &[OsString], against: &[OsString]) -> Result<Source> {
    if inputs.iter().chain(against).filter(|input| *input == "-").count() > 1 {
        return Err(Usage("standard input can be read once only: '-' is given twice".into()).into());
    }
    let input = |name: &OsString| match name.to_str() {
        Some("-") => Input::Stream { name: "-".into(), reader: Box::new(std::io::stdin()) },
        _ => Input::Path(name.into()),
    };
    Ok(Source { inputs: inputs.iter().map(input).collect(), against: against.iter().map(input).collect() })
}

/// The flag that signals set to stop a run; [`terminated`] then tells which kind it was. A second Ctrl-C ends at once.
pub fn signals() -> Result<Arc<AtomicBool>> {
    let (cancel, terminated) = (Arc::new(AtomicBool::new(false)), TERMINATED.get_or_init(Arc::default));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGINT {
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&cancel))?;
        } else {
            // No short cut here: timeout(1) sends its signal twice.
            signal_hook::flag::register(signal, Arc::clone(terminated))?;
        }
        signal_hook::flag::register(signal, Arc::clone(&cancel))?;
    }
    // A file above the limit of `ulimit -f` is then an error of the write, not the end of the process.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    Ok(cancel)
}
