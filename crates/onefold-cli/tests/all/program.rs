//! The binary under test, with a limit on its time: a hang is a failure, not a wait.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The binary.
pub const ONEFOLD: &str = env!("CARGO_BIN_EXE_onefold");
/// No test needs more, even on two cores that others use as well: a study takes ten seconds alone.
const LIMIT: Duration = Duration::from_secs(60);

/// A command to be run.
pub struct Program {
    command: Command,
    input: Option<Vec<u8>>,
}

/// What came of it.
#[derive(Debug)]
pub struct Ran {
    /// As a shell tells it: 128 + number for a signal.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A command that is running; its standard input stays open until it is dropped.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Program {
    pub fn new<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Self {
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().unwrap());
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Help is wrapped to this where there is no terminal to ask.
        command.env_remove("COLUMNS");
        // A group of its own, so that a shell around the binary dies with it.
        command.process_group(0);
        Program { command, input: None }
    }

    pub fn args<S: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.command.args(words);
        self
    }

    pub fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub fn stdout(mut self, to: impl Into<Stdio>) -> Self {
        self.command.stdout(to);
        self
    }

    /// Given on standard input, which then ends.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self.command.stdin(Stdio::piped());
        self
    }

    /// Runs to the end.
    pub fn run(mut self) -> Ran {
        let input = self.input.take();
        let mut running = self.start();
        let feeding = input.map(|bytes| {
            let mut stdin = running.stdin.take().unwrap();
            // The program may stop reading early; that is its right.
            thread::spawn(move || drop(stdin.write_all(&bytes)))
        });
        let ran = running.wait();
        feeding.into_iter().for_each(|feeding| feeding.join().unwrap());
        ran
    }

    /// Starts with standard input open.
    pub fn open(mut self) -> Running {
        self.command.stdin(Stdio::piped());
        self.start()
    }

    fn start(mut self) -> Running {
        let mut child = self.command.spawn().unwrap();
        let stdout = child.stdout.take().map(drain);
        let stderr = child.stderr.take().map(drain);
        Running { stdin: child.stdin.take(), stdout, stderr, child }
    }
}

impl Running {
    pub fn feed(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    /// Ends standard input.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    pub fn signal(&self, name: &str) {
        assert!(
            Command::new("kill").args([&format!("-{name}"), "--", &format!("-{}", self.child.id())]).status().unwrap().success()
        );
    }

    /// The same, unless it has ended by itself.
    pub fn signal_if_running(&mut self, name: &str) {
        if self.is_running() {
            self.signal(name);
        }
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end, within the limit.
    pub fn wait(&mut self) -> Ran {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > LIMIT => {
                    self.signal("KILL");
                    let _ = self.child.wait();
                    panic!("still running after {LIMIT:?}");
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let text = |pipe: Option<JoinHandle<Vec<u8>>>| {
            pipe.map_or(String::new(), |pipe| String::from_utf8_lossy(&pipe.join().unwrap()).into_owned())
        };
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap());
        let ran = Ran { code, stdout: text(self.stdout.take()), stderr: text(self.stderr.take()) };
        assert!(!ran.stderr.contains("panicked at") && !ran.stderr.contains("stack backtrace"), "a panic: {}", ran.stderr);
        ran
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Ran {
    /// The exit code is what the table of exit codes says.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// The message has the form `error[E0123]: …`, the exit code in the middle of its code, and these words.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        let first = self.stderr.lines().next().unwrap_or_default();
        let code = first.strip_prefix("error[E").and_then(|rest| rest.split_once("]: ")).map(|(code, _)| code);
        assert!(
            code.is_some_and(|code| code.len() == 4 && code.bytes().all(|b| b.is_ascii_digit())),
            "no stable code: {}",
            self.stderr
        );
        for word in words {
            assert!(self.stderr.contains(word), "'{word}' is not in: {}", self.stderr);
        }
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Reads a pipe to its end beside the test, so that a full pipe stops nobody.
fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}
