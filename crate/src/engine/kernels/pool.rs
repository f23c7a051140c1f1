//! Shares out independent tasks over threads.
//!
//! A task writes what no other task writes, and no sum is ever split, so results cannot depend on who ran what or when.
//! `Pool::new(1)` starts nothing and runs everything in place: what a page without shared memory does.
//! On native targets the pool starts its own threads; in a browser the page starts workers, each of which calls [`serve`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A borrowed task function whose lifetime [`Pool::run`] guards.
#[derive(Clone, Copy)]
struct Job {
    task: *const (dyn Fn(usize) + Sync),
    n_tasks: usize,
}
// SAFETY: the pointee is `Sync`, and `Pool::run` does not return while any thread may still use it.
unsafe impl Send for Job {}

#[derive(Default)]
struct State {
    job: Option<Job>,
    /// Grows by one with each job: how a helper knows that a job is new to it.
    epoch: u64,
    /// Helpers that sleep until there is one.
    n_sleeping: usize,
    closed: bool,
    panicked: bool,
}

/// What the threads of a pool share.
#[derive(Default)]
pub struct Shared {
    state: Mutex<State>,
    /// There is a job, or the end.
    changed: Condvar,
    /// The last helper has left a job.
    left: Condvar,
    next: AtomicUsize,
    /// A copy of `State::epoch`, to spin on before sleeping.
    epoch: AtomicUsize,
    /// Helpers inside the present job. They enter with the lock held, so nobody enters a job that was taken back.
    n_inside: AtomicUsize,
}

/// Spins this often for the next job before it sleeps: the layers of a model follow one another within microseconds. A turn
/// takes a nanosecond in WebAssembly, which has no instruction for waiting, and some forty where there is one.
const SPINS: usize = if cfg!(target_arch = "wasm32") { 400_000 } else { 20_000 };

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, job: Job) {
        // SAFETY: `Pool::run` keeps the function alive until every helper has left the job.
        let task = unsafe { &*job.task };
        loop {
            let i = self.next.fetch_add(1, Ordering::Relaxed);
            if i >= job.n_tasks {
                return;
            }
            task(i);
        }
    }
}

/// Runs a helper until the pool is dropped.
pub fn serve(shared: &Shared) {
    let mut seen = 0u64;
    loop {
        for _ in 0..SPINS {
            if shared.epoch.load(Ordering::Acquire) as u64 != seen & (usize::MAX as u64) {
                break;
            }
            std::hint::spin_loop();
        }
        let job = {
            let mut state = shared.lock();
            loop {
                if state.closed {
                    return;
                }
                if state.epoch != seen {
                    seen = state.epoch;
                    if let Some(job) = state.job {
                        shared.n_inside.fetch_add(1, Ordering::Relaxed);
                        break job;
                    }
                }
                state.n_sleeping += 1;
                state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.n_sleeping -= 1;
            }
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| shared.work(job)));
        if outcome.is_err() {
            shared.lock().panicked = true;
        }
        // What the tasks wrote is seen by whoever sees that nobody is inside.
        if shared.n_inside.fetch_sub(1, Ordering::Release) == 1 {
            // With the lock, so that it cannot fall between the other's look and its sleep.
            let _state = shared.lock();
            shared.left.notify_all();
        }
    }
}

/// A set of threads that run tasks together with the caller.
pub struct Pool {
    shared: Arc<Shared>,
    n_threads: usize,
}

impl Pool {
    /// A pool of `n_threads`, the caller included; on native targets the others are started here.
    pub fn new(n_threads: usize) -> Self {
        let shared = Arc::new(Shared::default());
        #[cfg(not(target_arch = "wasm32"))]
        for _ in 1..n_threads {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || serve(&shared));
        }
        Self { shared, n_threads: n_threads.max(1) }
    }

    /// What a helper has to be given to join.
    pub fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Threads, the caller included. Decides how finely work is cut, never what comes out.
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// Calls `task(0) … task(n_tasks − 1)`, each once, in any order, and returns when all are done.
    ///
    /// # Panics
    /// If a task panicked on a helper.
    pub fn run(&self, n_tasks: usize, task: impl Fn(usize) + Sync) {
        if self.n_threads == 1 || n_tasks <= 1 {
            (0..n_tasks).for_each(task);
            return;
        }
        let erased: &(dyn Fn(usize) + Sync) = &task;
        // SAFETY: only the lifetime changes; this function does not return before the job is taken back and all helpers left.
        let erased: &'static (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(erased) };
        let job = Job { task: erased, n_tasks };
        let sleeps = {
            let mut state = self.shared.lock();
            self.shared.next.store(0, Ordering::Relaxed);
            state.job = Some(job);
            state.epoch += 1;
            self.shared.epoch.store(state.epoch as usize, Ordering::Release);
            state.n_sleeping > 0
        };
        // A call to the browser's or system's scheduler, which most jobs of a forward pass can do without.
        if sleeps {
            self.shared.changed.notify_all();
        }
        // Takes the job back and waits for the helpers also when a task of this thread panics.
        let guard = Finish(&self.shared);
        self.shared.work(job);
        drop(guard);
        assert!(!self.shared.lock().panicked, "a task panicked on another thread");
    }
}

struct Finish<'a>(&'a Shared);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        let is_inside = || self.0.n_inside.load(Ordering::Acquire) > 0;
        // From here on nobody enters.
        self.0.lock().job = None;
        for _ in 0..SPINS {
            if !is_inside() {
                return;
            }
            std::hint::spin_loop();
        }
        let mut state = self.0.lock();
        while is_inside() {
            state = self.0.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

/// A buffer that tasks write to at places of which no two overlap.
#[derive(Clone, Copy)]
pub struct Disjoint<'a, T> {
    start: *mut T,
    len: usize,
    marker: std::marker::PhantomData<&'a mut [T]>,
}
// SAFETY: access goes through `slice`, whose callers promise that no two ranges in use overlap.
unsafe impl<T: Send> Send for Disjoint<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    /// Wraps a buffer for the time of one `Pool::run`.
    pub fn new(buffer: &'a mut [T]) -> Self {
        Self { start: buffer.as_mut_ptr(), len: buffer.len(), marker: std::marker::PhantomData }
    }

    /// The elements `at .. at + len`. Panics if they are not inside the buffer.
    ///
    /// # Safety
    /// No other task may use an overlapping range at the same time.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn slice(&self, at: usize, len: usize) -> &'a mut [T] {
        assert!(at <= self.len && len <= self.len - at, "range {at}..{at}+{len} is outside {}", self.len);
        // SAFETY: inside the buffer by the assertion; exclusive by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(at), len) }
    }
}
