//! Buffers that nobody uses at the moment: fresh memory costs time.

use std::sync::Mutex;

/// See the module. Threads take one and put it back.
#[derive(Debug)]
pub(crate) struct Idle<T>(Mutex<Vec<T>>);

impl<T> Default for Idle<T> {
    fn default() -> Self {
        Idle(Mutex::default())
    }
}

impl<T> Idle<T> {
    /// One of them, or a new one.
    pub(crate) fn take_or(&self, new: impl FnOnce() -> T) -> T {
        self.0.lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_else(new)
    }

    /// One that nobody uses any more.
    pub(crate) fn put(&self, buffers: T) {
        if let Ok(mut idle) = self.0.lock() {
            idle.push(buffers);
        }
    }
}

impl<T: Default> Idle<T> {
    /// One of them, or an empty one.
    pub(crate) fn take(&self) -> T {
        self.take_or(T::default)
    }
}
