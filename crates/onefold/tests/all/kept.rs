//! `write_kept` when the inputs change or the run is stopped at a moment of our choosing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use onefold::{Error, Exec, Input, Observer, Outcome, Plan, ResultFolder, Stage, run};

/// Does something when a stage begins.
struct When<F: Fn() + Sync>(Stage, F);

impl<F: Fn() + Sync> Observer for When<F> {
    fn begin(&self, stage: Stage, _total: Option<u64>) {
        if stage == self.0 {
            (self.1)();
        }
    }
}

type Change = dyn Fn(&Path) + Sync;

fn words(name: &str) -> String {
    (0..40).map(|n| format!("{name}{n} ")).collect()
}

/// A page, a table, lines and an archive, each with two documents that are kept.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let page = |kind: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{}", words(kind));
    let record = |kind: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://x/{kind}\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{}\r\n\r\n",
            page(kind).len(),
            page(kind)
        )
    };
    let rows = |a: &str, b: &str| format!("{{\"text\":\"{}\"}}\n{{\"text\":\"{}\"}}\n", words(a), words(b));
    let contents = [
        ("a.txt", words("a")),
        ("b.jsonl", rows("b", "c")),
        ("c.csv", format!("text,n\n{},1\n{},2\n", words("d"), words("e"))),
        ("d.warc", record("f") + &record("g")),
    ];
    contents
        .map(|(name, text)| {
            fs::write(folder.join(name), text).unwrap();
            folder.join(name)
        })
        .to_vec()
}

fn scan(folder: &Path, inputs: &[PathBuf], cancel: Arc<AtomicBool>, observer: &dyn Observer) -> Result<Outcome, Error> {
    let mut result = ResultFolder::new(folder.join("out"));
    result.write_kept = Some(folder.join("deep/kept"));
    let source: Vec<Input> = inputs.iter().map(|path| Input::Path(path.clone())).collect();
    run(&Plan::default(), &Exec { threads: 2, observer, cancel, ..Exec::default() }, source, &mut result)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn keep_time(path: &Path, change: impl FnOnce()) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    change();
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn an_input_that_changed_is_noticed_and_nothing_is_left() {
    let changes: [(&str, &Change); 4] = [
        ("bytes", &|path| fs::write(path, "short").unwrap()),
        ("written to", &|path| {
            let later = SystemTime::now() + Duration::from_secs(9);
            fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
        }),
        ("No such file", &|path| fs::remove_file(path).unwrap()),
        ("another file", &|path| {
            let copy = path.with_extension("new");
            keep_time(path, || {
                fs::copy(path, &copy).unwrap();
                fs::rename(&copy, path).unwrap();
            });
        }),
    ];
    for (word, change) in changes {
        for at in 0..4 {
            let folder = tempfile::tempdir().unwrap();
            let inputs = inputs(folder.path());
            let observer = When(Stage::Rank, || change(&inputs[at]));
            let error = scan(folder.path(), &inputs, Arc::default(), &observer).unwrap_err();
            let text = error.to_string();
            assert_eq!(error.code(), "E0503", "{text}");
            assert!(text.contains(word) && text.contains(&inputs[at].display().to_string()), "{text}");
            assert!(names(folder.path()).iter().all(|name| name.len() > 4), "{:?}", names(folder.path()));
        }
    }
}

/// A file of the same size and time whose rows moved: the places no longer fit.
#[test]
fn rows_that_moved_are_noticed() {
    let moved: [(usize, [(&str, &str); 2]); 3] =
        [(1, [("b39 ", "b39 x"), ("c0 ", "c0")]), (2, [("d39 ", "d39 x"), ("e0 ", "e0")]), (3, [("x/f", "x/ff"), ("g0 ", "g0")])];
    for (at, edits) in moved {
        let folder = tempfile::tempdir().unwrap();
        let inputs = inputs(folder.path());
        let path = &inputs[at];
        let observer = When(Stage::Rank, || {
            let text = fs::read_to_string(path).unwrap();
            let other = edits.iter().fold(text.clone(), |text, (from, to)| text.replacen(from, to, 1));
            assert!(other.len() == text.len() && other != text);
            keep_time(path, || fs::write(path, &other).unwrap());
        });
        let error = scan(folder.path(), &inputs, Arc::default(), &observer).unwrap_err();
        assert_eq!(error.code(), "E0503", "{error}");
        assert!(error.to_string().contains("record 2 is not where it was"), "{error}");
    }
}

#[test]
fn a_run_that_is_stopped_while_it_writes_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs(folder.path());
    let cancel = Arc::new(AtomicBool::new(false));
    let observer = When(Stage::Report, || cancel.store(true, Ordering::Relaxed));
    let error = scan(folder.path(), &inputs, Arc::clone(&cancel), &observer).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert_eq!(names(folder.path()), ["a.txt", "b.jsonl", "c.csv", "d.warc"]);
}

/// Somebody else puts something where the folder should be, while we work.
#[test]
fn what_appears_at_the_target_meanwhile_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs(folder.path());
    let theirs = folder.path().join("deep/kept/theirs");
    let observer = When(Stage::Rank, || {
        fs::create_dir_all(theirs.parent().unwrap()).unwrap();
        fs::write(&theirs, "mine").unwrap();
    });
    let error = scan(folder.path(), &inputs, Arc::default(), &observer).unwrap_err();
    assert_eq!(error.code(), "E0206", "{error}");
    assert_eq!(names(&folder.path().join("deep/kept")), ["theirs"]);
    assert_eq!(names(&folder.path().join("deep")), ["kept"]);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn documents_in_memory_cannot_be_written_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut result = ResultFolder::new(folder.path().join("out"));
    result.write_kept = Some(folder.path().join("kept"));
    let document = onefold::Document { text: words("a"), ..Default::default() };
    let error = run(&Plan::default(), &Exec::default(), vec![Input::Documents(vec![document])], &mut result).unwrap_err();
    assert_eq!(error.code(), "E0207", "{error}");
    drop(result);
    assert!(names(folder.path()).is_empty());
}
